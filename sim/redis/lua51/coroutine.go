package lua51

import (
	lua "github.com/yuin/gopher-lua"
)

// coroutines are the functions of the machine's that make a coroutine, and resume one.
type coroutines struct {
	create, proceed lua.LGFunction
	limits          *Limits
}

// Coroutines replaces functions of the library coroutine.
func Coroutines(l *lua.LState, library *lua.LTable, limits *Limits) {
	of := func(name string) lua.LGFunction { return library.RawGetString(name).(*lua.LFunction).GFunction }
	c := coroutines{create: of("create"), proceed: of("resume"), limits: limits}
	l.SetFuncs(library, map[string]lua.LGFunction{
		"create": func(l *lua.LState) int {
			l.Push(c.made(l, "create"))
			return 1
		},
		"resume": func(l *lua.LState) int { return c.resume(l, thread(l, "resume")) },
		"status": func(l *lua.LState) int {
			l.Push(lua.LString(status(l, thread(l, "status"))))
			return 1
		},
		"wrap": func(l *lua.LState) int {
			co := c.made(l, "wrap")
			l.Push(l.NewFunction(func(l *lua.LState) int { return c.wrapped(l, co) }))
			return 1
		},
		"yield": func(l *lua.LState) int {
			if limits.calls > limits.resumed {
				Raise(l, lua.LString("attempt to yield across metamethod/C-call boundary"))
			}
			return -1
		},
	})
}

// made returns a coroutine of a function of the script's.
func (c coroutines) made(l *lua.LState, name string) *lua.LState {
	if f, is := l.Get(1).(*lua.LFunction); !is || f.IsG {
		badArgument(l, 1, name, "Lua function expected")
	}
	c.create(l)
	co := l.Get(-1).(*lua.LState)
	co.SetContext(c.limits.Context)
	return co
}

// thread returns an argument that is a coroutine.
func thread(l *lua.LState, name string) *lua.LState {
	co, is := l.Get(1).(*lua.LState)
	if !is {
		badArgument(l, 1, name, "coroutine expected")
	}
	return co
}

// status returns what a coroutine is to the one that runs.
func status(l, co *lua.LState) string {
	switch {
	case co.Dead:
		return "dead"
	case l == co:
		return "running"
	}
	for p := l.Parent; p != nil; p = p.Parent {
		if p == co {
			return "normal"
		}
	}
	return "suspended"
}

// resume goes on with a coroutine, which is before its arguments on the stack.
func (c coroutines) resume(l, co *lua.LState) int {
	why, x := "C stack overflow", c.limits
	if s := status(l, co); s != "suspended" {
		why = "cannot resume " + s + " coroutine"
	} else if x.returns[co] {
		delete(x.returns, co)
		co.Dead = true
		l.Insert(lua.LTrue, 2)
		return l.GetTop() - 1
	} else if x.calls < maxCalls {
		calls, resumed := x.calls, x.resumed
		x.calls++
		x.resumed = x.calls
		n := c.proceed(l)
		x.calls, x.resumed = calls, resumed
		if _, is := co.GetStack(0); !is && !co.Dead { // it ended with return coroutine.yield()
			if x.returns == nil {
				x.returns = map[*lua.LState]bool{}
			}
			x.returns[co] = true
		}
		return n
	}
	l.Push(lua.LFalse)
	l.Push(lua.LString(why))
	return 2
}

// wrapped goes on with a coroutine, whose errors are the caller's.
func (c coroutines) wrapped(l, co *lua.LState) int {
	l.Insert(co, 1)
	n := c.resume(l, co)
	if lua.LVAsBool(l.Get(-n)) {
		return n - 1
	}
	why := l.Get(-1)
	if s, is := text(why); is {
		why = lua.LString(where(l, 1) + s)
	}
	Raise(l, why)
	return 0
}
