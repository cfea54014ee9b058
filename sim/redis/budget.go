package redis

import (
	"context"
	"errors"

	lua "github.com/yuin/gopher-lua"
)

// maxInstructions is how many instructions of Lua's machine a script may execute: about half a
// second's, and thousands of times those of a lock's. A real server goes on with a script that
// doesn't end, and replies BUSY to all others until somebody sends SCRIPT KILL; a simulated one,
// whose clock stands still meanwhile, would hang the world.
const maxInstructions = 10_000_000

// budget ends a script that has executed too many instructions. It is the context of the
// virtual machine, which asks it before each instruction whether it is done; so the end depends
// on the script alone, and not on how fast this machine is. A straight script is run without one.
type budget struct {
	context.Context
	left int
}

func newBudget() *budget { return &budget{Context: context.Background()} }

// Done counts an instruction, and implements [context.Context].
func (b *budget) Done() <-chan struct{} {
	if b.left--; b.left >= 0 {
		return nil
	}
	return over
}

// Err implements [context.Context].
func (b *budget) Err() error { return errEndless }

var over = func() <-chan struct{} {
	c := make(chan struct{})
	close(c)
	return c
}()

var errEndless = errors.New("the script doesn't end: it has executed 10,000,000 instructions of Lua")

// bound gives a coroutine, which is a virtual machine of its own, the script's budget.
func (m *luaVM) bound(coroutines *lua.LTable) {
	for _, name := range []string{"create", "wrap"} {
		f := coroutines.RawGetString(name).(*lua.LFunction).GFunction
		coroutines.RawSetString(name, m.l.NewFunction(func(l *lua.LState) int {
			n := f(l)
			switch made := l.Get(-1).(type) {
			case *lua.LState:
				made.SetContext(m.budget)
			case *lua.LFunction:
				made.Upvalues[0].Value().(*lua.LState).SetContext(m.budget)
			}
			return n
		}))
	}
}
