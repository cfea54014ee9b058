package driver

import (
	"fmt"
	"slices"

	"lockstep/sim/process"
	"lockstep/sim/trace"
)

// StandsLike reports whether two clients are about to do the same.
func (d *Driver) StandsLike(other *Driver) bool {
	if d.Threads() != other.Threads() {
		return false
	}
	for i := range d.Threads() {
		p, q := d.Operation(i), other.Operation(i)
		if !alike(p, q) || !p.Over && (p.Fence != q.Fence || !slices.Equal(p.Args, q.Args)) {
			return false
		}
	}
	return true
}

// alike reports whether two operations differ in nothing but their Args and Fence.
func alike(p, q Operation) bool {
	return p.Over == q.Over && (p.Over || p.Kind == q.Kind && p.Wall == q.Wall && p.Mark == q.Mark && p.Conn == q.Conn && p.Sleep == q.Sleep && p.Wait == q.Wait && p.Below == q.Below)
}

// SendsOtherwise returns the thread of a client that is about to send something else than that of another,
// and the command or fencing token, or -1. A command of another name is another decision, and no difference in arguments.
func (d *Driver) SendsOtherwise(other *Driver) (thread int, what string) {
	for i := range min(d.Threads(), other.Threads()) {
		p, q := d.Operation(i), other.Operation(i)
		switch {
		case p.Over || !alike(p, q):
		case p.Fence != q.Fence:
			return i, fmt.Sprintf("the fencing token %d", p.Fence)
		case p.Kind == process.OpSend && len(p.Args) == len(q.Args) && p.Args[0] == q.Args[0] && !slices.Equal(p.Args, q.Args):
			return i, trace.CommandText(p.Args)
		}
	}
	return -1, ""
}
