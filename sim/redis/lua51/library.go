package lua51

import (
	"fmt"
	"math"
	"strings"

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
	frontiers     = "the simulated server's Lua has no frontiers in patterns; match the text around instead"
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
	})
}

// raise is error: it tells the line if the message is a text or a number, and a script's function called it.
func raise(l *lua.LState) int {
	v, level := l.Get(1), optInt(l, 2, "error", 1)
	if message, is := text(v); is && level > 0 {
		if at, there := l.GetStack(level); there {
			if _, err := l.GetInfo("Sl", at, lua.LNil); err == nil && at.What != "G" {
				message = fmt.Sprintf("%s:%d: %s", at.Source, at.CurrentLine, message)
			}
		}
		v = lua.LString(message)
	}
	l.Error(v, 0)
	return 0
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

// texts has the functions of strings with the number of their arguments that are text: a number
// becomes one.
var texts = map[string]int{"byte": 1, "find": 2, "gmatch": 2, "gsub": 3, "len": 1, "match": 2, "rep": 1, "reverse": 1, "sub": 1}

// Strings replaces functions of the library string, and gives texts the arithmetic of numbers.
func Strings(l *lua.LState, library *lua.LTable, refuse Refuse) {
	for name, n := range texts {
		f := library.RawGetString(name).(*lua.LFunction)
		var upvalues []lua.LValue
		for _, u := range f.Upvalues {
			upvalues = append(upvalues, u.Value())
		}
		library.RawSetString(name, l.NewClosure(func(l *lua.LState) int {
			for i := 1; i <= min(n, l.GetTop()); i++ {
				if f, is := l.Get(i).(lua.LNumber); is {
					l.Replace(i, lua.LString(Text(float64(f))))
				}
			}
			if pattern, is := l.Get(2).(lua.LString); is && n > 1 && strings.Contains(string(pattern), "%f") {
				refuse("%f", frontiers)
			}
			return f.GFunction(l)
		}, upvalues...))
	}
	library.RawSetString("gfind", library.RawGetString("gmatch"))
	l.SetFuncs(library, map[string]lua.LGFunction{
		"format": format,
		"lower":  func(l *lua.LState) int { return mapped(l, "lower", 'A', 'Z') },
		"upper":  func(l *lua.LState) int { return mapped(l, "upper", 'a', 'z') },
	})
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
func Tables(l *lua.LState, library *lua.LTable, refuse Refuse) {
	l.SetFuncs(library, map[string]lua.LGFunction{"concat": concat, "sort": sort})
	lack(l, library, "table", refuse, "foreach", "foreachi", "setn")
}

// Math replaces the fields of the library math that differ.
func Math(library *lua.LTable) { library.RawSetString("huge", lua.LNumber(math.Inf(1))) }

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
			l.RaiseError("%s.%s is not simulated", name, f)
			return 0
		}))
	}
}
