package certificate

import (
	"errors"
	"math/rand/v2"
)

// detourMoves is the number of moves of a detour before all processes end.
const detourMoves = 16

// goToAfter takes the run along a path as goTo does, but first makes a detour: some moves at
// random, the end of all processes, and a wait until the situation is again the one in which
// every schedule begins. So the path begins with other processes, at another time, on servers
// that have worked before. Code that goes on otherwise knows more than a situation's text has:
// variables of closures, the names of tokens, the date. Where there is no such detour, because
// a record stays for ever or the engine has too few clients, it is goTo.
func (r *run) goToAfter(rng *rand.Rand, start Digest, path []Move) error {
	if err := r.begin(); err != nil {
		return err
	}
	if is, err := r.detour(rng, start); err != nil || !is {
		return errors.Join(err, r.goTo(path))
	}
	for _, m := range path {
		switch err := r.make(m); {
		case errors.Is(err, errNoSpare):
			return r.goTo(path)
		case err != nil:
			return err
		}
	}
	return nil
}

// detour makes a detour, and reports whether the run is where every schedule begins.
func (r *run) detour(rng *rand.Rand, start Digest) (is bool, err error) {
	if !r.Faults.Crash || r.spare+r.Places > len(r.cfg.Clients) {
		return false, nil
	}
	for range detourMoves {
		moves := r.enabled()
		if m := moves[rng.IntN(len(moves))]; m.Kind != Crashes {
			err = errors.Join(err, r.make(m))
		}
	}
	for _, place := range rng.Perm(r.Places) { // so that the names of those that take their places are in any order
		err = errors.Join(err, r.crash(place))
	}
	for range r.Far/r.Grid + 1 {
		d, wrong := r.digest()
		if err = errors.Join(err, wrong); err != nil || d == start {
			return err == nil, err
		}
		err = r.make(Move{Kind: Ticks})
	}
	return false, err
}
