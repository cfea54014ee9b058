package explore

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"lockstep/sim/explore/behaviour"
	"lockstep/sim/explore/unfit"
	"lockstep/sim/testenv"
	"lockstep/sim/trace"
	"lockstep/strategies"
)

// TestSaysTheSameOfUnfitLocks: of a lock that several clients, or one in several places, show to be unfit, it is told the same
// however many workers there are, and whichever of them is the first to meet with it.
func TestSaysTheSameOfUnfitLocks(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	refused := func(do func(l *tokenLock, mine string) error) strategies.Strategy {
		return tokenStrategy(tokenLock{refused: do})
	}
	for name, c := range map[string]struct {
		lock strategies.Strategy
		want string
	}{
		"an order in the code":  {refused(takeOver), "with other tokens"},
		"an order in Redis":     {tokenStrategy(tokenLock{script: greatest}), "with other tokens"},
		"a part of a token":     {tokenStrategy(tokenLock{value: func(token string) string { return token[:4] }}), "with other tokens"},
		"panics":                {refused(func(_ *tokenLock, mine string) error { panic("refused: " + mine) }), "refused: A1-"},
		"a command of no model": {refused(func(l *tokenLock, mine string) error { return l.rdb.Do(ctx, "OBJECT", "FREQ", mine).Err() }), "OBJECT of A"},
		"the owner's": {refused(func(l *tokenLock, _ string) error {
			theirs, _ := l.rdb.Get(ctx, l.key).Result()
			panic("the record is " + theirs)
		}), "the record is B1-"},
		"no end": {refused(func(l *tokenLock, _ string) error {
			for {
				l.Clock.Monotonic()
			}
		}), "comes to no end"},
	} {
		t.Run(strings.ReplaceAll(name, " ", "-"), func(t *testing.T) {
			b := Bounds{Strategy: c.lock, Clients: 2, Cycles: 2, TTL: 12 * time.Second, Faults: Budget{Crash: 1, Pause: 1}, Codes: trace.Verdict{trace.FN}}
			if name == "no end" {
				b.Cycles, b.Faults = 1, Budget{}
			}
			first := ""
			for _, workers := range []int{1, 8, 3, 2}[:testenv.Quick(2, 4)] {
				r, err := Run(t.Context(), b, Options{Workers: workers, Patience: time.Minute})
				said := fmt.Sprint(err)
				if err == nil {
					said = r.Finding(trace.FN).String()
				}
				if first == "" {
					first = said
				}
				if said != first || !strings.Contains(said, c.want) {
					t.Errorf("%d workers: %s\nand before: %s", workers, said, first)
				}
			}
		})
	}
}

// TestLeastOfErrors: of several errors the same one is kept in whatever order they come, and one after which the search
// begins again before all others.
func TestLeastOfErrors(t *testing.T) {
	errs := []error{nil, &behaviour.Unlike{Client: "B", Once: "a read"}, &behaviour.Unlike{Client: "A", Once: "a write"},
		&behaviour.Unlike{Client: "A", Once: "a read", Again: "x"}, &behaviour.Unlike{Client: "A", Once: "a read", Again: "w"}, errors.New("what else")}
	of := func(errs []error) error {
		var least unfit.Least
		together(3, func(worker int) {
			for _, n := range order(worker, len(errs)) {
				least.Add(errs[n])
			}
		})
		return least.Err()
	}
	if got := of(errs[:1]); got != nil {
		t.Errorf("nothing is %v", got)
	}
	if got := of(errs); !errors.Is(got, errs[4]) {
		t.Errorf("the least is %v", got)
	}
	timed := fmt.Errorf("with words: %w", unfit.ErrTimed)
	if got := of(append(errs, timed)); !errors.Is(got, timed) {
		t.Errorf("a search that begins again tells %v", got)
	}
}
