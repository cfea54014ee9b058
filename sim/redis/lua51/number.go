package lua51

import (
	"errors"
	"math"
	"strconv"
	"strings"

	lua "github.com/yuin/gopher-lua"
)

// Text returns a number as tostring and concatenation show it: with 14 digits.
func Text(f float64) string { return Digits(f, 14) }

// Digits returns a number as C's %g with so many digits.
func Digits(f float64, precision int) string {
	switch {
	case math.IsNaN(f):
		return "-nan" // on x86 it is that of 0/0
	case math.IsInf(f, 0):
		return strings.ToLower(strings.TrimPrefix(strconv.FormatFloat(f, 'g', -1, 64), "+"))
	}
	return strconv.FormatFloat(f, 'g', precision, 64)
}

// Word returns a number as a word of a command, with 17 digits (since Redis 7.2, as few as tell it from others).
func Word(f float64) string {
	if f == math.Trunc(f) && math.Abs(f) < 1e15 && (f != 0 || !math.Signbit(f)) {
		return strconv.FormatInt(int64(f), 10)
	}
	return Digits(f, 17)
}

// Integer returns a number without its fraction. Redis casts, which makes a number out of range the
// least integer (on x86).
func Integer(f float64) int64 {
	if f >= -(1<<63) && f < 1<<63 {
		return int64(f)
	}
	return math.MinInt64
}

const space = " \t\n\v\f\r"

// Number reads a number as C's strtod does, with space around it.
func Number(text string) (f float64, ok bool) {
	text = strings.Trim(text, space)
	body := strings.ToLower(strings.TrimLeft(text, "+-"))
	if len(text)-len(body) > 1 || body == "" || strings.Contains(body, "_") {
		return 0, false
	}
	switch {
	case body == "inf" || body == "infinity" || body == "nan":
	case strings.HasPrefix(body, "0x"):
		if !strings.Contains(body, "p") {
			text += "p0"
		}
	case body[0] != '.' && (body[0] < '0' || body[0] > '9'):
		return 0, false
	}
	f, err := strconv.ParseFloat(text, 64)
	return f, err == nil || errors.Is(err, strconv.ErrRange)
}

// number returns the number that a value is, or is the text of.
func number(v lua.LValue) (f float64, ok bool) {
	switch v := v.(type) {
	case lua.LNumber:
		return float64(v), true
	case lua.LString:
		return Number(string(v))
	}
	return 0, false
}

// text returns the text that a value is, or the text of the number that it is.
func text(v lua.LValue) (s string, ok bool) {
	switch v := v.(type) {
	case lua.LString:
		return string(v), true
	case lua.LNumber:
		return Text(float64(v)), true
	}
	return "", false
}

// TextOf returns the text of a value that is a text or a number, or nothing.
func TextOf(v lua.LValue) string {
	s, _ := text(v)
	return s
}

// badArgument raises the error about an argument of a function.
func badArgument(l *lua.LState, n int, function, why string) {
	if at, there := l.GetStack(1); there { // called by pcall or such, it has no name
		if _, err := l.GetInfo("S", at, lua.LNil); err == nil && at.What == "G" {
			function = "?"
		}
	}
	broken(l, "bad argument #%d to '%s' (%s)", n, function, why)
}

// wrongType raises the error about an argument of another type than a function takes.
func wrongType(l *lua.LState, n int, function, wanted string) {
	got := "no value"
	if n <= l.GetTop() {
		got = l.Get(n).Type().String()
	}
	badArgument(l, n, function, wanted+" expected, got "+got)
}

func checkText(l *lua.LState, n int, function string) string {
	s, ok := text(l.Get(n))
	if !ok {
		wrongType(l, n, function, "string")
	}
	return s
}

func checkNumber(l *lua.LState, n int, function string) float64 {
	f, ok := number(l.Get(n))
	if !ok {
		wrongType(l, n, function, "number")
	}
	return f
}

// CheckTable returns an argument that is a table.
func CheckTable(l *lua.LState, n int, function string) *lua.LTable {
	t, is := l.Get(n).(*lua.LTable)
	if !is {
		wrongType(l, n, function, "table")
	}
	return t
}

// checkInt returns an argument that is a number as C's int.
func checkInt(l *lua.LState, n int, function string) int {
	return int(int32(Integer(checkNumber(l, n, function))))
}

// optInt returns an argument that is a number as C's int, or the value none if it is missing.
func optInt(l *lua.LState, n int, function string, none int) int {
	if l.Get(n) == lua.LNil {
		return none
	}
	return checkInt(l, n, function)
}

// optInteger returns an argument that is a number, without its fraction, or the value none if it is missing.
func optInteger(l *lua.LState, n int, function string, none int) int {
	if l.Get(n) == lua.LNil {
		return none
	}
	return int(Integer(checkNumber(l, n, function)))
}

// toNumber is tonumber.
func toNumber(l *lua.LState) int {
	base := optInt(l, 2, "tonumber", 10)
	if base != 10 {
		l.Push(inBase(checkText(l, 1, "tonumber"), base))
		if base < 2 || base > 36 {
			badArgument(l, 2, "tonumber", "base out of range")
		}
		return 1
	}
	if l.GetTop() == 0 {
		badArgument(l, 1, "tonumber", "value expected")
	}
	if f, ok := number(l.Get(1)); ok {
		l.Push(lua.LNumber(f))
	} else {
		l.Push(lua.LNil)
	}
	return 1
}

// inBase reads a number as C's strtoul does.
func inBase(text string, base int) lua.LValue {
	text = strings.ToLower(strings.Trim(text, space))
	digits, negative := strings.CutPrefix(text, "-")
	if !negative {
		digits = strings.TrimPrefix(digits, "+")
	}
	if base == 16 {
		digits = strings.TrimPrefix(digits, "0x")
	}
	if base < 2 || base > 36 || strings.ContainsAny(digits, "+-_") {
		return lua.LNil
	}
	v, err := strconv.ParseUint(digits, base, 64)
	if err != nil && !errors.Is(err, strconv.ErrRange) {
		return lua.LNil
	}
	if negative && err == nil {
		v = -v
	}
	return lua.LNumber(v)
}

// arithmetic returns an operation of which one operand is a text.
func arithmetic(operation func(a, b float64) float64) lua.LGFunction {
	return func(l *lua.LState) int {
		var of [2]float64
		for i := range of {
			f, ok := number(l.Get(i + 1))
			if !ok {
				l.RaiseError("attempt to perform arithmetic on a %s value", l.Get(i+1).Type().String())
			}
			of[i] = f
		}
		l.Push(lua.LNumber(operation(of[0], of[1])))
		return 1
	}
}

// operations are those of numbers, by their events in a metatable.
var operations = map[string]func(a, b float64) float64{
	"__add": func(a, b float64) float64 { return a + b },
	"__sub": func(a, b float64) float64 { return a - b },
	"__mul": func(a, b float64) float64 { return a * b },
	"__div": func(a, b float64) float64 { return a / b },
	"__mod": remainder,
	"__pow": math.Pow,
}

// remainder rounds after each step on every processor.
func remainder(a, b float64) float64 { return a - float64(math.Floor(a/b)*b) }

// mod is the operator % between its operands.
func mod(l *lua.LState) int {
	for n := 1; n <= 2; n++ {
		if _, is := l.Get(n).(*lua.LTable); !is {
			continue
		}
		if op := l.GetMetaField(l.Get(n), "__mod"); op != lua.LNil {
			l.Push(op)
			l.Push(l.Get(1))
			l.Push(l.Get(2))
			l.Call(2, 1)
			return 1
		}
	}
	return arithmetic(remainder)(l)
}

// negate is the minus before a text.
func negate(l *lua.LState) int {
	f, ok := number(l.Get(1))
	if !ok {
		l.RaiseError("attempt to perform arithmetic on a %s value", l.Get(1).Type().String())
	}
	l.Push(lua.LNumber(-f))
	return 1
}
