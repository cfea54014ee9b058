package explore

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"lockstep/sim/testenv"
	"lockstep/sim/trace"
	"lockstep/strategies"
)

// patient is a made-up lock whose code compares a clock with a span of its own: how long its record
// lives and its lease lasts, and what it does when more than the span has passed since the cycle's
// first look at the clock, or less.
type patient struct {
	span, lives, lease time.Duration
	releases           bool // it looks again on its release, and not after the command that acquires
	late, early        string
}

func (p patient) String() string {
	where := "acquire"
	if p.releases {
		where = "release"
	}
	return fmt.Sprintf("record %s, lease %s; at its %s from %s on %q, before %q", p.lives, p.lease, where, p.span, p.late, p.early)
}

// strategy is the lock.
func (p patient) strategy() strategies.Strategy {
	began := func(m *mutant) time.Duration { return m.Clock.Monotonic() }
	does := func(ctx context.Context, m *mutant, began time.Duration, token string) error {
		what := p.early
		if m.Clock.Monotonic()-began >= p.span {
			what = p.late
		}
		var err error
		switch what {
		case "compares and deletes":
			err = compareDelete.Run(ctx, m.nodes[0], []string{m.key}, token).Err()
		case "deletes":
			err = m.nodes[0].Del(ctx, m.key).Err()
		case "deletes and fails":
			if err = m.nodes[0].Del(ctx, m.key).Err(); err == nil {
				err = strategies.ErrNotAcquired
			}
		case "compares, deletes, fails":
			if err = compareDelete.Run(ctx, m.nodes[0], []string{m.key}, token).Err(); err == nil {
				err = strategies.ErrNotAcquired
			}
		case "extends":
			err = compareExpire.Run(ctx, m.nodes[0], []string{m.key}, token, p.lives.Milliseconds()).Err()
		case "fails":
			err = strategies.ErrNotAcquired
		}
		return err
	}
	lock := mutant{
		acquire: func(ctx context.Context, m *mutant) (*strategies.Lease, error) {
			token, at := m.Token(), began(m)
			if err := m.set(ctx, m.nodes[0], token, p.lives); err != nil {
				return nil, err
			}
			if !p.releases {
				if err := does(ctx, m, at, token); err != nil {
					return nil, err
				}
			}
			return &strategies.Lease{Token: token, Deadline: at + p.lease, Fence: 0}, nil
		},
		release: func(ctx context.Context, m *mutant, l *strategies.Lease) error {
			if p.releases {
				return does(ctx, m, l.Deadline-p.lease, l.Token)
			}
			return compareDelete.Run(ctx, m.nodes[0], []string{m.key}, l.Token).Err()
		},
	}
	s := mutantStrategy(lock, 1)
	s.New = func(nodes []*redis.Client, key string, o strategies.Options) strategies.Lock { // which draws no token
		m := lock
		m.nodes, m.key, m.Options = nodes, key, o
		return &m
	}
	return s
}

// hasty are locks of which the code deletes the record of its own while its lease goes on, but only
// between two multiples of the TTL.
var hasty = []patient{
	{span: 6 * time.Second, lives: 12 * time.Second, lease: 12 * time.Second, late: "deletes", early: "goes on"},
	{span: 11878 * time.Millisecond, lives: 12 * time.Second, lease: 12 * time.Second, late: "compares and deletes", early: "goes on"},
}

// drawPatient makes such a lock up, for a TTL of 12 seconds.
func drawPatient(rng *rand.Rand) patient {
	pick := func(list ...time.Duration) time.Duration { return list[rng.IntN(len(list))] }
	p := patient{releases: rng.IntN(2) == 0}
	p.span = pick(11878*time.Millisecond, 12*time.Second, 12001*time.Millisecond, 6*time.Second, time.Second, time.Millisecond, 23*time.Second,
		time.Duration(1+rng.IntN(30_000))*time.Millisecond)
	p.lives = pick(12*time.Second, 12*time.Second, 9*time.Second, 6*time.Second, 15*time.Second)
	p.lease = pick(12*time.Second, 11878*time.Millisecond, 9*time.Second, 5*time.Second, 13*time.Second)
	acts := []string{"goes on", "fails", "compares, deletes, fails", "deletes and fails", "extends", "deletes", "compares and deletes"}
	if p.releases {
		acts = []string{"goes on", "compares and deletes", "compares and deletes", "deletes"}
	}
	p.late, p.early = acts[rng.IntN(len(acts))], acts[rng.IntN(len(acts))]
	return p
}

// TestBranches: a search without bounds lets a clock show what it may show between two instants at
// which time stops. Whatever one cycle or two violate, in searches that stop at the very millisecond at which
// the code changes its mind, a search without bounds doesn't say to hold.
func TestBranches(t *testing.T) {
	testenv.Long(t)
	const seed = 20261123
	t.Logf("seed %d", seed)
	closed, holds, violated, refused := 0, 0, 0, 0
	for n := range uint64(20) {
		if !testenv.Whole() && n != 0 { // a code of it holds, and two don't
			continue
		}
		p := drawPatient(rand.New(rand.NewPCG(seed, n)))
		if n < uint64(len(hasty)) {
			p = hasty[n]
		}
		b := Defaults(p.strategy())
		b.Codes = trace.Verdict{trace.DG, trace.FR, trace.PD}
		b.Faults = Budget{Crash: uint8(n % 2), Pause: 1, ReplyLost: uint8(n / 2 % 2)} // without lost replies the grid is coarse
		b.Timeout = 3 * time.Second
		if b.Cycles = 1; n%8 == 0 {
			b.Cycles = 2
		}
		within, err := Run(context.Background(), b, Options{})
		if err != nil {
			t.Fatalf("%d, %s: %v", n, p, err)
		}
		for k, count := range b.Faults {
			if count > 0 {
				b.Faults[k] = Any
			}
		}
		b.Cycles = Any
		endless, err := Run(context.Background(), b, Options{})
		if err != nil {
			t.Logf("%d, %s: %v", n, p, err)
			refused++
			continue
		}
		for _, c := range b.Codes {
			switch answer := endless.Finding(c).Answer; {
			case slices.Contains(within.Found, c) && answer.Holds():
				t.Errorf("%d, %s: %s holds for every schedule, and doesn't in\n%s", n, p, c, within.Find(c).Schedule)
			case answer == HoldsAlways:
				holds++
			case answer == Violated:
				violated++
			}
		}
		if endless.Closed {
			closed++
		}
	}
	t.Logf("%d closed, %d refused; %d codes hold, %d are violated", closed, refused, holds, violated)
	if holds == 0 || violated == 0 || closed < refused {
		t.Error("these locks show nothing")
	}
}
