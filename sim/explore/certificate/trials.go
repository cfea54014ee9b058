package certificate

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"lockstep/sim/trace"
)

// A check tries random schedules of the claim, besides making every move from every situation:
// those try the assumptions of situations. In some, time passes by any number of
// milliseconds, and records live for as long as Redis lets them: that multiples of the grid
// suffice as instants, and that longer spans than Far are alike. In others time passes as in
// the certificate, and a process lives through many cycles: that its code keeps nothing of them
// where its fields don't show it.
const (
	trials     = 1500
	longTrials = 60
	trialMoves = 120
	longMoves  = 600
)

// try plays random schedule n of the claim, and fails with [Refuted] if it violates the claim, or leads
// to a situation that the certificate doesn't have.
func (k *checker) try(r *run, n int) error {
	rng := rand.New(rand.NewPCG(uint64(n), 17))
	var why string
	var err error
	if n < longTrials {
		why, err = k.onTheGrid(r, rng)
	} else {
		why, err = k.atAnyTime(r, rng)
	}
	if err == nil && why != "" {
		err = &Refuted{Row: trace.None, Why: why, Schedule: r.w.Schedule().String()}
	}
	return err
}

// onTheGrid plays a long schedule of the certificate's own moves.
func (k *checker) onTheGrid(r *run, rng *rand.Rand) (why string, err error) {
	if err := r.begin(); err != nil {
		return "", err
	}
	for range longMoves {
		m, can := r.draw(rng, 16)
		if !can {
			return "", nil
		}
		if _, why := k.follow(r, m); why != "" {
			return why, nil
		}
	}
	return "", nil
}

// atAnyTime plays a schedule in which time passes by any number of milliseconds.
func (k *checker) atAnyTime(r *run, rng *rand.Rand) (why string, err error) {
	grid := r.unit
	r.exact, r.unit = true, time.Millisecond
	defer func() { r.exact, r.unit = false, grid }()
	if err := r.begin(); err != nil {
		return "", err
	}
	often := 2 + rng.IntN(20)
	for range trialMoves {
		m, can := r.draw(rng, often)
		if !can {
			break
		}
		if m.Kind == Ticks {
			r.pass(r.someTime(rng))
			err = r.failure()
		} else {
			err = r.make(m)
		}
		if v := r.violated(); len(v) > 0 {
			return "violates " + v.String(), nil
		}
		if err != nil {
			return "fails (" + err.Error() + ")", nil
		}
	}
	if !r.claims(trace.PD) || !r.rests() {
		return "", nil
	}
	return k.drain(r)
}

// draw draws a move that can be made: about every so-manyth is one by which time passes, and few
// are faults. It reports false if no client is left that could take the place of one that crashes.
func (r *run) draw(rng *rand.Rand, often int) (m Move, can bool) {
	moves := r.enabled()
	for {
		m = moves[rng.IntN(len(moves))]
		switch {
		case m.Kind == Ticks && len(moves) > 1 && rng.IntN(often) > 0, m.Kind == LosesReply && rng.IntN(4) > 0, m.Kind == Crashes && rng.IntN(20) > 0:
			continue
		}
		return m, m.Kind != Crashes || r.spare < len(r.cfg.Clients)
	}
}

// someTime draws a span in whole milliseconds: up to two TTLs, of any order of magnitude, or about as
// long as until something is due.
func (r *run) someTime(rng *rand.Rand) time.Duration {
	ttl := r.cfg.TTL.Milliseconds()
	switch rng.IntN(4) {
	case 0:
		if next, any := r.w.Next(); any {
			return max(time.Millisecond, next-r.w.Now()+time.Duration(rng.IntN(3)-1)*time.Millisecond).Truncate(time.Millisecond)
		}
	case 1:
		return time.Duration(math.Exp(rng.Float64()*math.Log(float64(100*ttl)))) * time.Millisecond
	}
	return time.Duration(1+rng.Int64N(2*ttl)) * time.Millisecond
}

// linger stays in a situation that waiting doesn't change, for up to a thousand steps of the grid.
// Each move must then lead to the same situation as without, which is in next. It returns the reason for
// which that refutes the certificate, or "".
func (k *checker) linger(r *run, row int, path []Move, moves []Move, next []Digest) (why string) {
	rng := rand.New(rand.NewPCG(uint64(row), 19))
	at := slices.IndexFunc(moves, func(m Move) bool { return m.Kind == Ticks })
	if next[at] != k.Rows[row].Digest {
		return ""
	}
	for i, m := range moves {
		if i == at {
			continue
		}
		err := r.goTo(path)
		for range 1 + rng.IntN(1<<rng.IntN(11)) {
			err = errors.Join(err, r.make(moves[at]))
		}
		if err == nil {
			err = r.make(m)
		}
		d, wrong := r.digest()
		switch err := errors.Join(err, wrong); {
		case err != nil:
			return fmt.Sprintf("can't go on after a long wait (%s)", err)
		case d != next[i]:
			return fmt.Sprintf("goes on in another way after a long wait, when %s", m)
		}
	}
	return ""
}
