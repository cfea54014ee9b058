package certificate

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"lockstep/sim"
	"lockstep/sim/process"
)

// Make makes a certificate of situations of which only the parents and the moves are set. It
// has the engine write each down. needs returns the spans on which the code of the client at a place
// of a row still depends. Make fails if a row can't be reached in the engine, or written down.
func Make(ctx context.Context, h Header, rows []Row, needs func(row, place int) Need, opt Options) (*Certificate, error) {
	s, err := h.setup(opt.Resolve)
	if err != nil {
		return nil, err
	}
	c := &Certificate{Header: h, Rows: rows, Needs: Needs{}}
	k := &checker{Certificate: c, setup: s}
	every := numbers(len(rows))
	var mu sync.Mutex
	err = k.all(ctx, every, opt, func(r *run, row int) error {
		if err := r.goTo(c.path(row)); err != nil {
			return err
		}
		for place, who := range r.as {
			if n := needs(row, place); n != 0 {
				key := r.localKey(who)
				mu.Lock()
				c.Needs[key] |= n
				mu.Unlock()
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	s.needs = c.Needs
	err = k.all(ctx, every, opt, func(r *run, row int) error {
		if err := r.goTo(c.path(row)); err != nil {
			return err
		}
		d, err := r.digest()
		c.Rows[row].Digest = d
		return err
	})
	if err != nil {
		return nil, err
	}
	c.unite()
	r, err := s.newRun()
	if err != nil {
		return nil, err
	}
	c.Behavior, err = r.behavior()
	return c, errors.Join(err, r.w.Close())
}

// unite makes one row of those with equal digests: the search may know states apart that
// differ in the names of tokens alone.
func (c *Certificate) unite() {
	first := map[Digest]int{}
	to := make([]int, len(c.Rows))
	kept := c.Rows[:0]
	for i, row := range c.Rows {
		at, known := first[row.Digest]
		if !known {
			at = len(kept)
			first[row.Digest] = at
			row.Parent = to[row.Parent]
			kept = append(kept, row)
		}
		to[i] = at
	}
	c.Rows = kept
}

// ConfigText is the form in which a certificate has a configuration: with as many clients as
// its rows need, those that take the places of crashed ones included.
func ConfigText(cfg sim.Config, rows []Row) (string, error) {
	crashes := make([]int, len(rows))
	most := 0
	for i := range rows {
		if i == 0 {
			continue
		}
		crashes[i] = crashes[rows[i].Parent]
		if rows[i].Move.Kind == Crashes {
			crashes[i]++
		}
		most = max(most, crashes[i])
	}
	clients := append([]process.Config(nil), cfg.Clients...)
	more := most + 1 // each situation may see one crash more
	if len(clients)+more > sim.MaxClients {
		return "", fmt.Errorf("a certificate can't have a situation to which only schedules with %d crashes lead: each of these, and one more there, takes another process, and the engine has %d in all",
			most, sim.MaxClients)
	}
	if room := sim.MaxClients - len(clients) - more; room > 0 {
		more += min(room, len(clients)) // for detours
	}
	for range more {
		c := clients[0]
		c.Name = string(rune('A' + len(clients)))
		clients = append(clients, c)
	}
	cfg.Clients, cfg.Watch = clients, nil
	if err := cfg.Validate(); err != nil {
		return "", err
	}
	return sim.Schedule{Config: cfg}.String(), nil
}
