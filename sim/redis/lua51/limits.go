package lua51

import (
	"context"
	"strings"

	lua "github.com/yuin/gopher-lua"
)

// maxCalls is how deep calls may nest that functions of libraries make.
const maxCalls = 200

// overflow is how many instructions take as long as the machine takes over an overflow of its stack, which it traces. (Where
// calls of libraries nest too deep, it doesn't.)
const overflow = 2_000_000

// Limits are those of a script.
type Limits struct {
	// Context counts the instructions of coroutines.
	Context context.Context
	// Spend is told how many steps a function takes that one instruction calls. It raises an error where a script has taken too many.
	Spend func(l *lua.LState, steps int)

	calls   int                  // of those that nest
	resumed int                  // the calls at the beginning of the coroutine that runs
	returns map[*lua.LState]bool // the coroutines that will return what they are resumed with
}

// Begin is called where a script begins.
func (x *Limits) Begin() { x.calls, x.resumed, x.returns = 1, 0, nil }

// full tells whether calls are nested as deep as they may.
func (x *Limits) full() bool { return x.calls+1 >= maxCalls }

// call calls a function for one of a library.
func (x *Limits) call(l *lua.LState, args, results int) {
	if x.full() {
		Raise(l, lua.LString("C stack overflow"))
	}
	x.calls++
	l.Call(args, results)
	x.calls--
}

// Protected returns pcall or xpcall with the limits.
func (x *Limits) Protected(f lua.LGFunction) lua.LGFunction {
	return func(l *lua.LState) int {
		if x.full() {
			l.Push(lua.LFalse)
			l.Push(lua.LString("C stack overflow"))
			return 2
		}
		calls, resumed := x.calls, x.resumed
		x.calls++
		n := f(l)
		x.calls, x.resumed = calls, resumed
		if why, is := l.Get(-1).(lua.LString); is && n == 2 && l.Get(-2) == lua.LFalse && strings.HasSuffix(string(why), ": stack overflow") {
			x.Spend(l, overflow)
		}
		return n
	}
}

// PCall is pcall, without its limits. With a handler of errors, the machine neither traces its stack, nor parts functions from their
// variables: see [Raise].
func PCall(l *lua.LState) int {
	if l.GetTop() == 0 {
		badArgument(l, 1, "pcall", "value expected")
	}
	why := lua.LValue(lua.LString("attempt to call a " + l.Get(1).Type().String() + " value"))
	_, is := l.Get(1).(*lua.LFunction)
	if !is {
		_, is = l.GetMetaField(l.Get(1), "__call").(*lua.LFunction)
	}
	if is {
		err := l.PCall(l.GetTop()-1, lua.MultRet, same)
		if err == nil {
			l.Insert(lua.LTrue, 1)
			return l.GetTop()
		}
		why = lua.LString(err.Error())
		if api, is := err.(*lua.ApiError); is {
			why = api.Object
		}
	}
	l.Push(lua.LFalse)
	l.Push(why)
	return 2
}

// same is a handler of errors that leaves them as they are.
var same = &lua.LFunction{IsG: true, GFunction: func(*lua.LState) int { return 1 }}
