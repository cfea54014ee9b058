package cli

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"lockstep/cli/module"
)

// usual is the program's name where nobody has called it: in documents, in tests, and in the files that it writes,
// which outlive the call.
const usual = "lockstep"

// called is the command by which the reader has started the program, so that the commands which it suggests can be pasted.
var called = usual

// CalledAs has the program suggest commands as it was called itself, by its first argument.
func CalledAs(program string) {
	wd, _ := os.Getwd() //nolint:errcheck // then it is not in the sources
	called = commandOf(program, wd)
}

// commandOf is the command that starts a program again, as a shell takes it: the name or the path by which it was called; and
// of one that go run has built, which is gone by then, that.
func commandOf(program, wd string) string {
	switch {
	case program == "":
		return usual
	case !ofGoRun(program):
		return quoted(program)
	case module.IsSources(wd):
		return "go run ."
	}
	return "go run lockstep" // elsewhere in the module
}

// ofGoRun reports whether a program is where go run puts its own: in a folder for this build, or in its cache.
func ofGoRun(program string) bool {
	for _, part := range strings.Split(filepath.ToSlash(program), "/") {
		if strings.HasPrefix(part, "go-build") {
			return true
		}
	}
	cache := os.Getenv("GOCACHE")
	return cache != "" && strings.HasPrefix(program, filepath.Clean(cache)+string(filepath.Separator))
}

// suggested is the program's name before one of its commands, or in its usage: not in a path, nor in a sentence about it.
var suggested = regexp.MustCompile(`(^|[^\w./-])` + usual + `( (?:` + strings.Join(commands, "|") + `)\b| --[a-z]| \[|  )`)

// commands are the names of all commands. They stand here a second time because the commands themselves need them.
var commands = strings.Fields("list run export matrix replay explore check verify audit serve new advise explain course play present campaign completion help")

// asCalled is a text in which the suggested commands begin as the reader called the program.
func asCalled(text string) string {
	if called == usual {
		return text
	}
	return suggested.ReplaceAllStringFunc(text, func(s string) string { return strings.Replace(s, usual, called, 1) })
}
