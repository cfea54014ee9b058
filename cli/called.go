package cli

import (
	"os"
	"regexp"
	"strings"

	"lockstep/cli/module"
)

// usual is the program's name where nobody has called it: in documents and in tests.
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
	case !module.OfGoRun(program):
		return quoted(program)
	case module.IsSources(wd):
		return "go run ."
	}
	return "go run lockstep" // elsewhere in the module
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

// inFolder is a file's text with commands as the reader calls the program, if they work in its folder: a path from here doesn't, nor does go run.
func inFolder(dir, text string) string {
	if dir != "." && strings.ContainsAny(called, " /\\") && !strings.HasPrefix(called, "/") {
		return text
	}
	return asCalled(text)
}
