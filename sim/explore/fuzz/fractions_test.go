package fuzz

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"lockstep/sim/explore"
	"lockstep/sim/testenv"
	"lockstep/sim/trace"
	"lockstep/strategies"
)

// outlasting is a lock whose lease ends later than so long after the command that stored its record.
func outlasting(late time.Duration) *subject {
	return custom("outlasting-by-"+late.String(), "A's record is gone a TTL after the millisecond in which it was stored, and A's lease goes on", steps{acquire: func(ctx context.Context, l *lock) (*strategies.Lease, error) {
		token, sent := l.Token(), l.Clock.Monotonic()
		if err := l.set(ctx, l.key, token); err != nil {
			return nil, err
		}
		return &strategies.Lease{Token: token, Deadline: sent + l.TTL + late}, nil
	}})
}

var takeStamped = redis.NewScript(`local at = redis.call("HGET", KEYS[1], "at")
if at and tonumber(ARGV[2]) - tonumber(at) < tonumber(ARGV[3]) then return 0 end
redis.call("HSET", KEYS[1], "owner", ARGV[1], "at", ARGV[2])
return 1`)

var giveStamped = redis.NewScript(`if redis.call("HGET", KEYS[1], "owner") == ARGV[1] then return redis.call("DEL", KEYS[1]) end return 0`)

// stampedWhole is a lock whose record has no TTL, and the millisecond in which its client asked. Who asks so much later takes it over.
func stampedWhole(more time.Duration) *subject {
	return custom("stamped-"+more.String()+"-longer", "A's stamp is up to a millisecond older than its lease", steps{
		acquire: func(ctx context.Context, l *lock) (*strategies.Lease, error) {
			token, sent, now := l.Token(), l.Clock.Monotonic(), l.Clock.Now().UnixMilli()
			won, err := takeStamped.Run(ctx, l.rdb, []string{l.key}, token, now, (l.TTL + more).Milliseconds()).Int()
			if err == nil && won == 0 {
				err = strategies.ErrNotAcquired
			}
			if err != nil {
				return nil, err
			}
			return &strategies.Lease{Token: token, Deadline: sent + l.TTL}, nil
		},
		release: func(ctx context.Context, l *lock, lease *strategies.Lease) error {
			return held(giveStamped.Run(ctx, l.rdb, []string{l.key}, lease.Token).Int())
		}})
}

// TestFractions: a lock that lets a lease overlap with the next by less than a millisecond isn't said to hold, as the engine
// shows it at an instant between two milliseconds. One that lets a millisecond more pass still is.
func TestFractions(t *testing.T) {
	testenv.Long(t)
	const fraction = 900 * time.Microsecond
	for _, c := range []struct {
		of    *subject
		after time.Duration // the instant of A's asking, cut off to milliseconds
		wrong bool
	}{
		{outlasting(0), 12001 * time.Millisecond, false},
		{outlasting(500 * time.Microsecond), 12001 * time.Millisecond, true},
		{outlasting(time.Millisecond), 12001 * time.Millisecond, true},
		{stampedWhole(0), 12 * time.Second, true},
		{stampedWhole(time.Millisecond), 12001 * time.Millisecond, false},
	} {
		t.Run(c.of.name, func(t *testing.T) {
			s := setting{clients: 2, cycles: 1, ttl: 12 * time.Second, seed: 1, tries: 1}
			p := &player{subject: c.of}
			defer p.Close() //nolint:errcheck // nothing is written
			if err := p.play(s, []op{{Wait: fraction}, {Who: 0, Count: 8}, {Wait: c.after - fraction}, {Who: 1, Count: 8}}); err != nil {
				t.Fatal(err)
			}
			if slices.Contains(p.Verdict(), trace.DG) != c.wrong {
				t.Errorf("the engine shows %s by %s", p.Verdict(), p.Line())
			}
			b := s.bounds(c.of)
			b.Faults, b.Codes = p.Cost().Faults, trace.Verdict{trace.DG}
			r, err := explore.Run(t.Context(), b, explore.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if r.Holds(trace.DG) == c.wrong {
				t.Errorf("the search says %s", r.Summary())
			}
		})
	}
}
