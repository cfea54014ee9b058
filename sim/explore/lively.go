package explore

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"lockstep/sim"
	"lockstep/sim/explore/certificate"
	"lockstep/sim/explore/liveness"
	"lockstep/sim/explore/space"
	"lockstep/sim/trace"
)

// unlively returns the reason why no search within the bounds can look for livelocks, or nil.
func unlively(b *Bounds, opt *Options) error {
	switch {
	case opt.Certify:
		return errors.New("a search for LV has more situations than a certificate: make that by a search of its own")
	case opt.Disk != "":
		return errors.New("a search for LV can't go on on disk: it needs its whole graph in memory")
	case !b.Endless():
		return errors.New("a livelock has no end: a search for LV takes --cycles any")
	case b.Others:
		return errors.New("a search for LV takes so many clients as are stated: an environment in place of others gives back what it doesn't have, so nobody can rely on it")
	case b.Tries < 2:
		return errors.New("with one try at a time nobody keeps asking: a search for LV takes --tries 2 or more, and a lock that waits between two (see --retry-delay)")
	case b.Clients < 2:
		return errors.New("in a livelock two or more clients keep each other out: a search for LV takes --clients 2 or more")
	}
	for k, n := range b.Faults {
		switch kind := FaultKind(k); kind {
		case Crash, Pause, ReplyLost:
			if n != 0 && n != Any {
				return fmt.Errorf("a search for LV takes none or any number of %s: they end at some time anyway", kind.Words(2))
			}
		default:
			if n != 0 {
				return fmt.Errorf("a search for LV knows nothing of %s yet", kind.Words(2))
			}
		}
	}
	return nil
}

// lively is a model's states, for package liveness.
type lively struct {
	*space.Explorer
	moves []liveness.Move
}

func (l *lively) Clients() int       { return l.Bounds.Clients }
func (l *lively) Nodes() int         { return len(l.Explorer.Config.Nodes) }
func (l *lively) Config() sim.Config { return l.Explorer.Config }

func (l *lively) Moves(state []uint32) ([]liveness.Move, error) {
	l.View(state)
	choices := slices.Clone(l.Enabled())
	l.Follow(state)
	all := l.Followed()
	l.moves = l.moves[:0]
	for i := 0; i*l.Width < len(all); i++ {
		m := liveness.Move{By: certificate.Move{Kind: liveness.Expires}, To: all[i*l.Width : (i+1)*l.Width]}
		if i < len(choices) {
			c := choices[i]
			m.By.Place = c.Who
			switch c.Kind {
			case space.Acts:
				m.By.Kind = certificate.Steps
			case space.ActsAndLosesReply:
				m.By.Kind = certificate.LosesReply
			case space.Crashes:
				m.By.Kind = certificate.Crashes
			case space.Passes:
				m.By, m.Millis = certificate.Move{Kind: certificate.Ticks}, c.By
			default:
				return nil, fmt.Errorf("a search for LV can't have this choice: %+v", c)
			}
		}
		l.moves = append(l.moves, m)
	}
	return l.moves, l.Err
}

// live has the graph of a closed search read, for livelocks.
func live(ctx context.Context, m *space.Model, r *Result, opt Options) (err error) {
	if !m.Clients.Single() {
		why := "the lock has threads of its own: in which order those of one client wake up at one instant, no search tries"
		r.Liveness = &liveness.Result{Because: why, Unbounded: why}
		return nil
	}
	l, err := liveness.Read(ctx, &lively{Explorer: m.Explorer()}, r.States, opt.full)
	if err != nil {
		return err
	}
	if r.Liveness = l; l.Lasso == nil {
		return nil
	}
	v, err := livelock(l.Lasso)
	if err != nil {
		return err
	}
	r.Found, r.Violated = append(r.Found, trace.LV), append(r.Violated, v)
	r.sort()
	return nil
}

// livelock has the engine play a livelock once more, for its trace.
func livelock(l *liveness.Lasso) (v *Counterexample, err error) {
	cfg := l.Schedule.Config
	cfg.Scenario = sim.Label("livelock")
	w, err := sim.New(cfg)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, w.Close()) }()
	if err := errors.Join(w.Reset(cfg, true), w.Play(l.Schedule.Moves, nil)); err != nil {
		return nil, err
	}
	t, err := w.Trace()
	if err != nil {
		return nil, err
	}
	if !slices.Contains(t.Verdict(), trace.LV) {
		return nil, fmt.Errorf("the engine says %s of a livelock\n%s", t.Verdict(), t.Schedule)
	}
	t.Title = "A schedule with " + trace.LV.Named()
	v = &Counterexample{Code: trace.LV, Schedule: w.Schedule(), Steps: l.Prefix + l.Turn, Turn: l.Turn, Trace: t}
	for _, f := range l.Faults {
		kind := Pause
		switch f.By {
		case certificate.Crashes:
			kind = Crash
		case certificate.LosesReply:
			kind = ReplyLost
		}
		v.Faults = append(v.Faults, Fault{Kind: kind, Text: f.Text})
	}
	return v, nil
}
