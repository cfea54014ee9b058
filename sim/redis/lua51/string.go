package lua51

import (
	"slices"
	"strings"

	lua "github.com/yuin/gopher-lua"
)

// maxResults is how many values a function may have on its stack.
const maxResults = 8000

// room tells whether a function may push so many values.
func room(l *lua.LState, n int) bool { return n <= maxResults-l.GetTop() }

// place returns a place in a text of some length, which may be told from its end.
func place(i, length int) int {
	if i < 0 {
		i += length + 1
	}
	return max(0, i)
}

// sub is string.sub.
func sub(l *lua.LState) int {
	s := checkText(l, 1, "sub")
	from := max(1, place(int(Integer(checkNumber(l, 2, "sub"))), len(s)))
	to := min(len(s), place(optInteger(l, 3, "sub", -1), len(s)))
	if from > to {
		l.Push(lua.LString(""))
		return 1
	}
	l.Push(lua.LString(s[from-1 : to]))
	return 1
}

// bytes is string.byte.
func bytes(l *lua.LState) int {
	s := checkText(l, 1, "byte")
	from := place(optInteger(l, 2, "byte", 1), len(s))
	to := min(len(s), place(optInteger(l, 3, "byte", from), len(s)))
	from = max(1, from)
	if from > to {
		return 0
	}
	if !room(l, to-from+1) {
		broken(l, "stack overflow (string slice too long)")
	}
	for _, c := range []byte(s[from-1 : to]) {
		l.Push(lua.LNumber(c))
	}
	return to - from + 1
}

// char is string.char.
func char(l *lua.LState) int {
	b := make([]byte, l.GetTop())
	for i := range b {
		c := checkInt(l, i+1, "char")
		if c != int(byte(c)) {
			badArgument(l, i+1, "char", "invalid value")
		}
		b[i] = byte(c)
	}
	l.Push(lua.LString(b))
	return 1
}

// repeat is string.rep.
func repeat(l *lua.LState) int {
	s := checkText(l, 1, "rep")
	l.Push(lua.LString(strings.Repeat(s, max(0, checkInt(l, 2, "rep")))))
	return 1
}

// size is string.len.
func size(l *lua.LState) int {
	l.Push(lua.LNumber(len(checkText(l, 1, "len"))))
	return 1
}

// reverse is string.reverse.
func reverse(l *lua.LState) int {
	b := []byte(checkText(l, 1, "reverse"))
	slices.Reverse(b)
	l.Push(lua.LString(b))
	return 1
}
