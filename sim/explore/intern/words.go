package intern

import (
	"strconv"
	"strings"
)

// Pack makes one text of the words of a command, from which Unpack makes them again.
func Pack(args []string) string {
	var b strings.Builder
	for _, a := range args {
		b.WriteString(strconv.Itoa(len(a)))
		b.WriteByte(' ')
		b.WriteString(a)
	}
	return b.String()
}

// Unpack returns the words of a command that Pack has made one text of.
func Unpack(s string) (args []string) {
	for s != "" {
		n, rest, _ := strings.Cut(s, " ")
		size, _ := strconv.Atoi(n)
		args = append(args, rest[:size])
		s = rest[size:]
	}
	return args
}
