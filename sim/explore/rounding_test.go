package explore

import (
	"context"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"lockstep/sim/testenv"
	"lockstep/sim/trace"
	"lockstep/strategies"
)

// harmLate deletes the lock's record if that is still one's own and another is gone.
var harmLate = redis.NewScript(`if redis.call("GET", KEYS[1]) == ARGV[1] and redis.call("EXISTS", KEYS[2]) == 0 then return redis.call("DEL", KEYS[1]) end return 0`)

// late is a lock that extends its record once, and deletes it if it is still there when a second
// record is gone. That takes an extension more than 6 s after the beginning, at which the record, of
// 12 s, still lives; and an end of the cycle at which it has not come to its end, although the other, of
// 18 s, has. At multiples of 6 s that is so only if a record is there at the very end of its life.
var late = mutant{
	acquire: func(ctx context.Context, m *mutant) (*strategies.Lease, error) {
		token := m.Token()
		if err := m.set(ctx, m.nodes[0], token, 12*time.Second); err != nil {
			return nil, err
		}
		if err := m.nodes[0].Set(ctx, m.key+":2", token, 18*time.Second).Err(); err != nil {
			return nil, err
		}
		at := m.Clock.Monotonic()
		if err := held(compareExpire.Run(ctx, m.nodes[0], []string{m.key}, token, 12000).Int()); err != nil {
			return nil, err
		}
		if err := harmLate.Run(ctx, m.nodes[0], []string{m.key, m.key + ":2"}, token).Err(); err != nil {
			return nil, err
		}
		return &strategies.Lease{Token: token, Deadline: at + 12*time.Second}, nil
	},
	release: rightRelease,
}

// TestRecordAtItsEnd: rounded to multiples of a grid, a record that was met with shortly before its end is
// met with at its end. Without bounds, and in a certificate's search, a lock for which that
// matters is not said to hold; and within bounds time stops there, so it is found.
func TestRecordAtItsEnd(t *testing.T) {
	s := mutantStrategy(late, 1)
	s.Scripts = append(s.Scripts, harmLate)
	s.New = func(nodes []*redis.Client, key string, o strategies.Options) strategies.Lock { // which draws no token
		m := late
		m.nodes, m.key, m.Options = nodes, key, o
		return &m
	}
	b := Defaults(s)
	b.Codes, b.Faults, b.Cycles = trace.Verdict{trace.DG}, Budget{Pause: 2}, 1
	r, err := Run(context.Background(), b, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if r.Finding(trace.DG).Answer != Violated {
		t.Errorf("within bounds: %s", r.Summary())
	}
	if !testenv.CI() {
		return
	}
	for _, certify := range []bool{false, true} {
		if !certify && !testenv.Whole() {
			continue // before its own, a search with a certificate makes the one without
		}
		b := Defaults(s)
		b.Codes, b.Faults, b.Cycles = trace.Verdict{trace.DG}, Budget{Pause: Any}, Any
		r, err := Run(context.Background(), b, Options{Certify: certify})
		if err != nil {
			t.Fatal(err)
		}
		if answer := r.Finding(trace.DG).Answer; answer.Holds() || r.Grid != 6*time.Second {
			t.Errorf("certify %t: %s, at multiples of %s", certify, r.Summary(), r.Grid)
		}
	}
}
