package certificate

import (
	"errors"
	"fmt"

	"lockstep/sim"
)

// Forge writes a certificate as somebody would who has no search: whatever the engine comes to under a
// header is in it. It fails if that violates what is claimed, or doesn't fit into a number of situations.
func Forge(h Header, cfg sim.Config, resolve Resolve, most int) (c *Certificate, err error) {
	h.Config = sim.Schedule{Config: cfg}.String()
	s, err := h.setup(resolve)
	if err != nil {
		return nil, err
	}
	s.needs = Needs{}
	r, err := s.newRun()
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.w.Close()) }()
	c = &Certificate{Header: h, Needs: s.needs}
	known := map[Digest]bool{}
	if err := c.note(r, known, Row{}); err != nil {
		return nil, err
	}
	for n := 0; n < len(c.Rows); n++ {
		if len(c.Rows) > most {
			return nil, fmt.Errorf("there are more than %d situations", most)
		}
		if err := r.goTo(c.path(n)); err != nil {
			return nil, err
		}
		for _, m := range r.enabled() {
			if err := c.note(r, known, Row{Parent: n, Move: m}); err != nil {
				return nil, err
			}
		}
	}
	c.Behavior, err = r.behavior()
	return c, err
}

// note adds a row unless its situation is known.
func (c *Certificate) note(r *run, known map[Digest]bool, row Row) error {
	err := r.goTo(c.path(row.Parent))
	if len(c.Rows) == 0 {
		err = r.begin()
	} else if err == nil {
		err = r.make(row.Move)
	}
	if err != nil {
		return err
	}
	if v := r.violated(); len(v) > 0 {
		return fmt.Errorf("it violates %s", v)
	}
	for _, who := range r.as {
		c.Needs[r.localKey(who)] = Reading | Sending
	}
	if row.Digest, err = r.digest(); err == nil && !known[row.Digest] {
		known[row.Digest] = true
		c.Rows = append(c.Rows, row)
	}
	return err
}
