package space

import "fmt"

// Dbg is for debugging.
func (x *Explorer) Dbg() (s string) {
	for i := range x.Bounds.Clients {
		c := &x.s.clients[i]
		if c.Crashed {
			continue
		}
		h := x.history(i)
		s += fmt.Sprintf("%d %+v %v %v %v in %v torn %b gone %b\n", i, h.Threads[:h.Count], c.waits, c.due, c.turn, x.ids.inboxes.Get(c.inbox), c.torn, c.gone)
	}
	s += fmt.Sprintf("held %+v\n", x.ids.helds.Get(x.s.world.held))
	return s
}
