package redis

import (
	"context"
	"errors"

	lua "github.com/yuin/gopher-lua"
)

// maxInstructions is how many instructions of Lua's machine a script may execute: about half a
// second's, and thousands of times those of a lock's. A real server goes on with a script that
// doesn't end, and replies BUSY to all others until somebody sends SCRIPT KILL; a simulated one,
// whose clock stands still meanwhile, would hang the world. The steps of a function that one
// instruction calls, as of a pattern's match, count as instructions.
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

// spend counts steps that a function of a library takes for one instruction.
func (b *budget) spend(l *lua.LState, steps int) {
	if b.left -= steps; b.left < 0 {
		l.RaiseError("%s", errEndless.Error())
	}
}

// Err implements [context.Context].
func (b *budget) Err() error { return errEndless }

var over = func() <-chan struct{} {
	c := make(chan struct{})
	close(c)
	return c
}()

var errEndless = errors.New("the script doesn't end: it has executed 10,000,000 instructions of Lua")
