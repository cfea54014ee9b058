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

// keeper is a lock that keeps its lease until a release of it has succeeded, and returns it to
// whoever asks meanwhile. Its caller is told no deadline.
type keeper struct {
	rdb *redis.Client
	key string
	strategies.Options
	kept string // the token
}

func (k *keeper) Acquire(ctx context.Context) (*strategies.Lease, error) {
	if k.kept != "" {
		return &strategies.Lease{Token: k.kept}, nil
	}
	token := k.Token()
	won, err := k.rdb.SetNX(ctx, k.key, token, k.TTL).Result()
	if err != nil {
		return nil, err
	}
	if !won {
		return nil, strategies.ErrNotAcquired
	}
	k.kept = token
	return &strategies.Lease{Token: token}, nil
}

func (k *keeper) Release(ctx context.Context, l *strategies.Lease) error {
	err := held(compareDelete.Run(ctx, k.rdb, []string{k.key}, l.Token).Int())
	if err == nil {
		k.kept = ""
	}
	return err
}

// TestKeptLease: a lease that Acquire returns without having sent anything lasts, if it tells no
// deadline, from the call on, in the search as in the engine: nobody else could tell the caller
// that it is an old one.
func TestKeptLease(t *testing.T) {
	s := strategies.Strategy{Name: "keeper", Nodes: 1, Timeout: 3 * time.Second, Scripts: []*redis.Script{compareDelete},
		New: func(nodes []*redis.Client, key string, o strategies.Options) strategies.Lock {
			return &keeper{rdb: nodes[0], key: key, Options: o}
		}}
	for name, faults := range map[string]Budget{"expired": {Pause: 1}, "reply lost": {Pause: 1, ReplyLost: 1}} {
		t.Run(name, func(t *testing.T) {
			if name == "reply lost" {
				testenv.Long(t)
			}
			for _, remembers := range []bool{false, true} {
				b := Defaults(s)
				b.Faults, b.Remembers, b.Codes = faults, remembers, trace.Verdict{trace.DG}
				r, err := Run(t.Context(), b, Options{})
				if err != nil {
					t.Fatal(err)
				}
				if r.Find(trace.DG) == nil {
					t.Errorf("%s, where another has got the lock meanwhile", r.Summary())
				}
				expectAgreement(t, b, 100)
			}
		})
	}
}
