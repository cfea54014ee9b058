package lua51

import (
	"slices"
	"strings"
)

// Header is the declaration in the first line of a script, if that begins with #!.
type Header struct{ Is, NoWrites bool }

var flags = []string{"no-writes", "allow-oom", "allow-stale", "no-cluster", "allow-cross-slot-keys"}

// ParseHeader reads a script's header, and returns the script with an empty line in its place. refusal is
// Redis's reply if it is wrong.
func ParseHeader(script string) (h Header, rest, refusal string) {
	if !strings.HasPrefix(script, "#!") {
		return h, script, ""
	}
	h.Is = true
	line, rest, is := strings.Cut(script, "\n")
	words := strings.Fields(line)
	switch {
	case !is:
		return h, "", "ERR Invalid script shebang"
	case words[0] != "#!lua":
		return h, "", "ERR Unexpected engine in script shebang: " + words[0]
	}
	for _, word := range words[1:] {
		list, is := strings.CutPrefix(word, "flags=")
		if !is {
			return h, "", "ERR Unknown lua shebang option: " + word
		}
		for f := range strings.SplitSeq(list, ",") {
			if list != "" && !slices.Contains(flags, f) {
				return h, "", "ERR Unexpected flag in script shebang: " + f
			}
			h.NoWrites = h.NoWrites || f == flags[0]
		}
	}
	return h, "\n" + rest, ""
}
