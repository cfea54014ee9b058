package certificate

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"time"

	"lockstep/sim"
	"lockstep/sim/trace"
)

// Lasso is a way to a situation, and moves that are to lead back to it again and again, by which
// no client gets the lock.
type Lasso struct {
	Config       sim.Config // with the clients that run at a time
	Places       int
	Grid         time.Duration
	Prefix, Turn []Move
}

// turns is how often the moves of a turn are made. Before the first, a client may still
// remember more than it does after each.
const turns = 2

// Play has the engine make the moves, and returns them as a schedule. why is the reason for which
// they don't show a livelock, or "": the situation after the second turn must be that after the first
// in all that any client, server or connection has, up to tokens; no client may be granted the lock
// in a turn; and the engine's own monitor must have found the livelock.
//
// Records live for as long as Redis lets them, unlike in a check of a certificate.
func (l *Lasso) Play() (s sim.Schedule, why string, err error) {
	cfg, err := l.config()
	if err != nil {
		return s, "", err
	}
	const long = 1000 * time.Hour
	r, err := (&setup{Header: &Header{Lock: cfg.Strategy.Name, Places: l.Places, Grid: l.Grid, Far: long / l.Grid * l.Grid, Given: true}, cfg: cfg}).newRun()
	if err != nil {
		return s, "", err
	}
	defer func() { err = errors.Join(err, r.w.Close()) }()
	r.exact = true
	if err := r.goTo(l.Prefix); err != nil {
		return s, err.Error(), nil
	}
	var before []byte
	for n := range turns {
		for i, m := range l.Turn {
			had := r.believers()
			if err := r.make(m); err != nil {
				return s, fmt.Sprintf("move %d of its turn (%s): %s", i+1, m, err), nil
			}
			if r.believers()&^had != 0 {
				return s, "a client is granted the lock", nil
			}
		}
		text, err := r.situation()
		if err != nil {
			return s, err.Error(), nil
		}
		if n == turns-1 && !bytes.Equal(text, before) {
			return s, "its moves lead to another situation", nil
		}
		before = bytes.Clone(text)
	}
	if !slices.Contains(r.w.Verdict(), trace.LV) {
		return s, "its monitor finds no livelock", nil
	}
	return r.w.Schedule(), "", nil
}

// believers returns the set of the places whose clients believe that they have the lock.
func (r *run) believers() (set uint8) {
	for place, who := range r.as {
		if r.w.State().Clients[who].Lease.Believed {
			set |= 1 << place
		}
	}
	return set
}

// config is the configuration with a client more for each crash.
func (l *Lasso) config() (sim.Config, error) {
	cfg := l.Config
	cfg.Clients, cfg.Watch = slices.Clone(cfg.Clients), nil
	for _, m := range l.Prefix {
		if m.Kind == Crashes {
			c := cfg.Clients[0]
			c.Name = string(rune('A' + len(cfg.Clients)))
			cfg.Clients = append(cfg.Clients, c)
		}
	}
	return cfg, cfg.Validate()
}
