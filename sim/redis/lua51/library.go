package lua51

import (
	"fmt"
	"math"

	lua "github.com/yuin/gopher-lua"
)

// Refuse is told what a script has used that differs from Redis, and why, with an alternative.
type Refuse func(what, why string)

// Why a script mustn't use anything that shows the order of a table's fields, or an address.
const (
	OrderOfFields = "the order of a table's fields is Lua's own affair where there are several; use an array"
	addresses     = "the address of a value is Redis's own affair; use the value's type"
	lacking       = "the simulated server's Lua lacks it; do without"
	holes         = "the length of a table with a hole is any of several numbers; fill it, or count"
)

// Base replaces functions of the base library. environment is the table of a script's globals.
func Base(l *lua.LState, base, environment *lua.LTable, refuse Refuse) {
	environment.RawSetString(concatenation, l.NewFunction(join))
	environment.RawSetString(modulo, l.NewFunction(mod))
	environment.RawSetString(hash, l.NewFunction(func(l *lua.LState) int { return lengthOf(l, refuse) }))
	for _, bound := range bounds {
		environment.RawSetString(bound, l.NewFunction(toBound(bound)))
	}
	l.SetFuncs(base, map[string]lua.LGFunction{
		"error": raise, "tonumber": toNumber,
		"tostring": func(l *lua.LState) int { return toString(l, refuse) },
		"load":     loadFunction, "loadstring": loadString,
		"assert": assert, "select": selected, "unpack": func(l *lua.LState) int { return unpack(l, refuse) },
	})
}

// where returns the line of a script's function on a level of the stack, as an error begins, or nothing.
func where(l *lua.LState, level int) string {
	if at, there := l.GetStack(level); there {
		if _, err := l.GetInfo("Sl", at, lua.LNil); err == nil && at.What != "G" {
			return fmt.Sprintf("%s:%d: ", at.Source, at.CurrentLine)
		}
	}
	return ""
}

// broken raises an error of a function of a library. It tells the line if a script's function called that.
func broken(l *lua.LState, format string, args ...any) {
	Raise(l, lua.LString(where(l, 1)+fmt.Sprintf(format, args...)))
}

// Raise raises an error. The machine would first trace its stack, in the square of its depth, and part functions that
// are still needed from the variables that they share.
func Raise(l *lua.LState, v lua.LValue) {
	panic(&lua.ApiError{Type: lua.ApiErrorRun, Object: v, StackTrace: "unknown"})
}

// raise is error: it tells the line if the message is a text or a number, and a script's function called it.
func raise(l *lua.LState) int {
	v, level := l.Get(1), optInt(l, 2, "error", 1)
	if message, is := text(v); is && level > 0 {
		v = lua.LString(where(l, level) + message)
	}
	Raise(l, v)
	return 0
}

// assert is assert.
func assert(l *lua.LState) int {
	if l.GetTop() == 0 {
		badArgument(l, 1, "assert", "value expected")
	}
	if lua.LVAsBool(l.Get(1)) {
		return l.GetTop()
	}
	message := "assertion failed!"
	if l.Get(2) != lua.LNil {
		message = checkText(l, 2, "assert")
	}
	broken(l, "%s", message)
	return 0
}

// selected is select.
func selected(l *lua.LState) int {
	n := l.GetTop()
	if s, is := l.Get(1).(lua.LString); is && len(s) > 0 && s[0] == '#' {
		l.Push(lua.LNumber(n - 1))
		return 1
	}
	i := checkInt(l, 1, "select")
	if i < 0 {
		i += n
	}
	if i < 1 {
		badArgument(l, 1, "select", "index out of range")
	}
	return n - min(i, n)
}

// unpack is unpack.
func unpack(l *lua.LState, refuse Refuse) int {
	t := CheckTable(l, 1, "unpack")
	first := optInt(l, 2, "unpack", 1)
	last := lastOf(l, 3, "unpack", t, refuse)
	if first > last {
		return 0
	}
	if !room(l, last-first+1) {
		broken(l, "too many results to unpack")
	}
	for i := first; i <= last; i++ {
		l.Push(t.RawGetInt(i))
	}
	return last - first + 1
}

func toString(l *lua.LState, refuse Refuse) int {
	if l.GetTop() == 0 {
		badArgument(l, 1, "tostring", "value expected")
	}
	switch v := l.Get(1); v.Type() {
	case lua.LTNumber, lua.LTString:
		s, _ := text(v)
		l.Push(lua.LString(s))
	case lua.LTNil, lua.LTBool:
		l.Push(lua.LString(v.String()))
	default:
		switch {
		case v == null:
			l.Push(lua.LString("userdata: (nil)"))
		case l.GetMetaField(v, "__tostring") != lua.LNil:
			l.Push(l.ToStringMeta(v))
		default:
			refuse("tostring of a "+v.Type().String(), addresses)
			l.Push(lua.LString(v.Type().String() + ": 0x0"))
		}
	}
	return 1
}

// Strings replaces the functions of the library string, and gives texts the arithmetic of numbers.
func Strings(l *lua.LState, library *lua.LTable, limits *Limits) {
	l.SetFuncs(library, map[string]lua.LGFunction{
		"byte": bytes, "char": char, "find": find("find", limits), "format": format, "gmatch": gmatch(limits), "gsub": gsub(limits),
		"len": size, "match": find("match", limits), "rep": repeat, "reverse": reverse, "sub": sub,
		"lower": func(l *lua.LState) int { return mapped(l, "lower", 'A', 'Z') },
		"upper": func(l *lua.LState) int { return mapped(l, "upper", 'a', 'z') },
	})
	library.RawSetString("gfind", library.RawGetString("gmatch"))
	meta := l.GetMetatable(lua.LString("")).(*lua.LTable)
	for event, operation := range operations {
		meta.RawSetString(event, l.NewFunction(arithmetic(operation)))
	}
	meta.RawSetString("__unm", l.NewFunction(negate))
}

// mapped changes the case of the letters between two of ASCII.
func mapped(l *lua.LState, function string, from, to byte) int {
	b := []byte(checkText(l, 1, function))
	for i, c := range b {
		if c >= from && c <= to {
			b[i] = c ^ ('a' ^ 'A')
		}
	}
	l.Push(lua.LString(b))
	return 1
}

// Tables replaces functions of the library table.
func Tables(l *lua.LState, library *lua.LTable, refuse Refuse, limits *Limits) {
	l.SetFuncs(library, map[string]lua.LGFunction{
		"concat": func(l *lua.LState) int { return concat(l, refuse) }, "insert": insert(refuse, limits),
		"remove": func(l *lua.LState) int { return remove(l, refuse) }, "sort": sort(refuse, limits),
	})
	lack(l, library, "table", refuse, "foreach", "foreachi", "setn")
}

// numeric has the functions of numbers with how many they take; without any, one or more.
var numeric = map[string]int{"abs": 1, "acos": 1, "asin": 1, "atan": 1, "atan2": 2, "ceil": 1, "cos": 1, "cosh": 1, "deg": 1, "exp": 1,
	"floor": 1, "fmod": 2, "frexp": 1, "ldexp": 2, "log": 1, "log10": 1, "max": 0, "min": 0, "mod": 2, "modf": 1, "pow": 2, "rad": 1,
	"sin": 1, "sinh": 1, "sqrt": 1, "tan": 1, "tanh": 1}

// Math replaces the fields of the library math that differ, and has its functions take texts of numbers.
func Math(l *lua.LState, library *lua.LTable) {
	library.RawSetString("huge", lua.LNumber(math.Inf(1)))
	for name, n := range numeric {
		f := library.RawGetString(name).(*lua.LFunction).GFunction
		library.RawSetString(name, l.NewFunction(func(l *lua.LState) int {
			n := n
			if n == 0 {
				n = max(1, l.GetTop())
			}
			for i := 1; i <= n; i++ {
				l.Replace(i, lua.LNumber(checkNumber(l, i, name)))
			}
			return f(l)
		}))
	}
}

// JSON returns the library cjson.
func JSON(l *lua.LState, refuse Refuse) *lua.LTable {
	library := l.SetFuncs(l.NewTable(), map[string]lua.LGFunction{
		"encode": encode(func() { refuse("cjson.encode", OrderOfFields) }), "decode": decode,
	})
	library.RawSetString("null", null)
	lack(l, library, "cjson", refuse, "new", "encode_sparse_array", "encode_max_depth", "decode_max_depth", "encode_number_precision",
		"encode_keep_buffer", "encode_invalid_numbers", "decode_invalid_numbers")
	return library
}

// lack gives a library functions that the search refuses by their names.
func lack(l *lua.LState, library *lua.LTable, name string, refuse Refuse, functions ...string) {
	for _, f := range functions {
		library.RawSetString(f, l.NewFunction(func(l *lua.LState) int {
			refuse(name+"."+f, lacking)
			broken(l, "%s.%s is not simulated", name, f)
			return 0
		}))
	}
}
