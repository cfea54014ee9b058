package explore

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"lockstep/sim"
	"lockstep/sim/explore/agree"
	"lockstep/sim/explore/bounds"
	"lockstep/sim/explore/certificate"
	"lockstep/sim/explore/space"
	"lockstep/sim/explore/unfit"
	"lockstep/sim/trace"
	"lockstep/strategies"
)

// concludeEndless finds the least schedules of a search without bounds within smaller bounds,
// where the engine confirms them. A violation that isn't found there is not decided: the
// situations of such a search stand for many schedules each. It also has the engine play
// random schedules, and makes sure that names make no difference.
func concludeEndless(ctx context.Context, m *space.Model, r *Result) error {
	if err := m.Recheck(); err != nil {
		return err
	}
	if err := errors.Join(r.unlessOver(ctx, m.Servers.Alike(ctx, m.Reached(), m.Bounds.Clients)), m.OnGrid()); err != nil {
		return err
	}
	if err := r.smaller(ctx); err != nil {
		return err
	}
	r.unconfirm()
	b := m.Bounds
	b.Waits = bounds.WaitsMustEnd
	b.Others = false // their deeds are no choices that the engine could play
	exact, err := space.NewModel(b, false)
	if err != nil {
		return err
	}
	defer exact.Close()        //nolint:errcheck // its drivers have nothing to lose
	exact.KeepsRequests = true // their copies are counted as the engine does
	p := agree.NewPlayer(exact)
	w, err := sim.New(p.Config())
	if err != nil {
		return err
	}
	for seed := range uint64(samples) {
		err = errors.Join(err, p.Play(w, seed))
	}
	return errors.Join(err, w.Close())
}

// unconfirm takes back the codes that were found and have no schedule.
func (r *Result) unconfirm() {
	for _, c := range r.Found {
		if r.Find(c) == nil {
			r.Unconfirmed = append(r.Unconfirmed, c)
		}
	}
	r.Found = slices.DeleteFunc(r.Found, func(c trace.Code) bool { return r.Find(c) == nil })
}

// errKeeps is the error of a lock that keeps more from cycle to cycle than its fields show.
var errKeeps = errors.New("the lock keeps something from one cycle to the next that its fields don't show, such as a WATCH or MULTI that is still open on a connection, a connection of its own, or a variable in a closure: a search of it needs a bound on cycles")

// digitize lets time stop at the multiples of a grid: see [space.Model.Digitize]. The spans that
// clients begin are learnt from a small search. A smaller one, before it, shows soon what most
// of the locks are refused for.
func digitize(ctx context.Context, m *space.Model, opt Options) error {
	inMemory := opt.dir == nil
	opt = opt.inMemory()
	small := smallIn(m.Bounds)
	smallest := small
	smallest.Cycles, smallest.Faults = 1, Budget{Pause: min(1, small.Faults[Pause])}
	learn := func(b Bounds) error {
		return withModel(b, func(small *space.Model) error {
			if small.Timed() {
				return unfit.ErrRestless
			}
			s, err := rounds(ctx, small, opt)
			if err == nil {
				if err = small.Digital(); err != nil && small.Bounds.Remembers && !m.Bounds.Remembers {
					err = errKeeps
				}
			}
			if err == nil && opt.Certify {
				err = uncertifiable(small)
			}
			switch {
			case err != nil:
				return err
			case s.cut || s.why == outOfMemory || s.why != "" && ctx.Err() != nil:
				return fmt.Errorf("%w: %s", unfit.ErrCutShort, s.why)
			case s.why != "":
				return errors.New(s.why)
			}
			if inMemory && !small.Clients.Single() {
				m.WakeEarly() // their waits multiply
			}
			err = m.Digitize(small)
			if inMemory && errors.Is(err, unfit.ErrFine) && m.WakeEarly() {
				m.LooseWaits = true
				err = m.Digitize(small)
			}
			return err
		})
	}
	if err := learn(smallest); err != nil {
		return err
	}
	return learn(small)
}

// uncertifiable fails if a lock opens transactions, or starts threads: no certificate can be made of it.
func uncertifiable(m *space.Model) error {
	if command := m.Clients.Sends("WATCH", "MULTI"); command != "" {
		return fmt.Errorf("%s sends %s, and a certificate knows nothing of open transactions: search without one", m.Config.Strategy.Name, command)
	}
	if !m.Clients.Single() {
		return fmt.Errorf("%s starts threads of its own, and a certificate knows nothing of these: search without one", m.Config.Strategy.Name)
	}
	return nil
}

// smallIn returns bounds that show most of a lock's behaviour.
func smallIn(b Bounds) Bounds {
	b.Cycles, b.Clients, b.Others = 2, min(2, b.Clients), false
	for k := range b.Faults {
		if b.Faults[k] = min(1, b.Faults[k]); FaultKind(k) > ReplyLost {
			b.Faults[k] = 0
		}
	}
	return b
}

// smallerThan lists smaller bounds in which a violation is looked for that can't be followed within
// these: with two clients; with three, too, if a process may take the place of one that has crashed; and if there is any
// number of them, with three and four. At last there are two faults of each kind, with two clients and one cycle: more takes too long.
func smallerThan(b Bounds) (list []Bounds) {
	most := min(2, b.Clients)
	if b.Faults[Crash] == Any {
		most = min(3, b.Clients+1)
	}
	if b.Others {
		most = MaxClients
	}
	large := b
	b.Others, b.Waits = false, bounds.WaitsEnd
	for each := range uint8(2) {
		was := b.Faults
		for k := range b.Faults {
			b.Faults[k] = min(each+1, large.Faults[k])
		}
		if each > 0 && b.Faults == was {
			break
		}
		for b.Clients = min(2, large.Clients); b.Clients <= most; b.Clients++ {
			for b.Cycles = 1; b.Cycles <= min(2-int(each), large.Cycles); b.Cycles++ {
				list = append(list, b)
			}
		}
		most = min(2, most)
	}
	return list
}

// certify makes the certificate of a search that has closed.
func certify(ctx context.Context, m *space.Model, opt Options) (*certificate.Certificate, error) {
	h, rows, needs, err := m.Certificate()
	if err != nil {
		return nil, err
	}
	resolve := func(string) (strategies.Strategy, error) { return m.Config.Strategy, nil }
	told := func(done, of int) {
		opt.progress(Progress{States: int64(of), Certified: done, Concluding: true})
	}
	return certificate.Make(ctx, h, rows, needs, certificate.Options{Workers: opt.Workers, Resolve: resolve, Progress: told})
}

// uncertified returns the reason why no certificate can be made of a search within the bounds,
// or nil.
func uncertified(b *Bounds) error {
	if !b.Endless() || b.Faults[Pause] != Any {
		return fmt.Errorf("a certificate is of a search without bounds: it takes --cycles any and pause=any")
	}
	for k, n := range b.Faults {
		switch kind := FaultKind(k); kind {
		case Crash, Pause, ReplyLost:
			if n != 0 && n != Any {
				return fmt.Errorf("a certificate can't count %s: it takes none or any number of them", kind.Words(2))
			}
		default:
			if n != 0 {
				return fmt.Errorf("a certificate knows nothing of %s yet", kind.Words(2))
			}
		}
	}
	for _, c := range b.Sought() {
		if !slices.Contains(certificate.Provable(), c) {
			return fmt.Errorf("a certificate can't claim %s: choose --codes from %s", c, certificate.Provable())
		}
	}
	if b.Nodes > 1 || b.Strategy.Nodes > 1 {
		return fmt.Errorf("a certificate is of a lock on one server")
	}
	return nil
}
