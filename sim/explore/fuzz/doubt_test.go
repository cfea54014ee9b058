package fuzz

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"

	"lockstep/sim/explore"
	"lockstep/sim/explore/report"
	"lockstep/sim/testenv"
	"lockstep/sim/trace"
	"lockstep/strategies"
)

// missed are locks of whose windows in time the search doesn't know, as SOUNDNESS.md says.
func missed() []*subject {
	const now = `local t = redis.call("TIME") local now = t[1] * 1000000 + t[2] `
	stamp := redis.NewScript(now + `redis.call("SET", KEYS[1] .. ":since", string.format("%d", now)) return 1`)
	since := redis.NewScript(now + `return now - tonumber(redis.call("GET", KEYS[1] .. ":since") or now)`)
	return []*subject{
		custom("held-for-micros", "a script tells for how many microseconds the lock has been held, and B takes it over after 4 to 8.5 s", steps{
			acquire: func(ctx context.Context, l *lock) (*strategies.Lease, error) {
				lease, err := take(ctx, l)
				if err == nil {
					return lease, stamp.Run(ctx, l.rdb, []string{l.key}).Err()
				} else if !refused(err) {
					return nil, err
				}
				n, err := since.Run(ctx, l.rdb, []string{l.key}).Int()
				if err != nil || n < 4_000_000 || n > 8_500_000 {
					return nil, strategies.ErrNotAcquired
				}
				return seize(ctx, l)
			}}),
	}
}

// TestDoubtsOfCopies: a lock whose token is its process's falls to a copy of a release in an earlier cycle, which is further back than
// the requests that a search has arrive twice.
func TestDoubtsOfCopies(t *testing.T) {
	of := custom("process-id", "a copy of A's first release removes its second record", steps{
		acquire: func(ctx context.Context, l *lock) (*strategies.Lease, error) {
			if l.cached == nil {
				l.cached = &strategies.Lease{Token: l.Token()}
			}
			me, sent := l.cached.Token, l.Clock.Monotonic()
			if err := l.set(ctx, l.key, me); err != nil {
				return nil, err
			}
			for _, field := range []string{"host", "since"} {
				if err := l.rdb.HSet(ctx, l.key+":about", field, me).Err(); err != nil {
					return nil, err
				}
			}
			if is, err := l.rdb.Get(ctx, l.key).Result(); err != nil || is != me {
				return nil, strategies.ErrNotAcquired
			}
			return l.lease(me, sent), nil
		}})
	b := explore.Defaults(of.strategy)
	b.Faults, b.Codes = explore.Budget{explore.Duplicate: 1}, trace.Verdict{trace.DG}
	r, err := explore.Run(t.Context(), b, explore.Options{Trials: explore.Trials})
	if err != nil {
		t.Fatal(err)
	}
	if r.Find(trace.DG) == nil {
		t.Error(r.Summary())
	}
}

// TestDoubt: what a search misses, random schedules show. It is reported as violated then, with a schedule that the engine
// plays, and nothing is decided of other codes.
func TestDoubt(t *testing.T) {
	for i, of := range missed() {
		if !testenv.Sampled(i, 2) {
			continue
		}
		b := explore.Defaults(of.strategy)
		b.Cycles, b.Codes = 1, trace.Verdict{trace.DG, trace.FR, trace.PD}
		alone, err := explore.Run(t.Context(), b, explore.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if !alone.Holds(trace.DG) {
			t.Errorf("%s: %s without random schedules: this lock shows nothing any more, take another that is missed", of.name, alone.Summary())
		}
		var before string
		for _, workers := range []int{1, 3} {
			r, err := explore.Run(t.Context(), b, explore.Options{Workers: workers, Trials: explore.Trials})
			if err != nil {
				t.Fatal(err)
			}
			v := r.Find(trace.DG)
			if v == nil || !v.Random || !slices.Contains(v.Trace.Verdict(), trace.DG) {
				t.Fatalf("%s: %s", of.name, r.Summary())
			}
			if v := r.Find(trace.FR); v == nil || !v.Random {
				t.Errorf("%s: %s", of.name, r.Summary())
			}
			if f := r.Finding(trace.PD); f.Answer != explore.NotDecided || !strings.Contains(f.String(), "the search has missed") {
				t.Errorf("%s: PD %s", of.name, f)
			}
			if r.Trials != explore.Trials || v.Switches == 0 {
				t.Errorf("%d were played; there are %d switches", r.Trials, v.Switches)
			}
			if len(v.Faults) != 1 || v.Faults[0].Kind != explore.Pause || !strings.Contains(v.Faults[0].Text, " is paused for ") {
				t.Errorf("%s: its faults are %v", of.name, v.Faults)
			}
			if text := report.Least(v); !strings.Contains(text, "a random schedule shows it") {
				t.Error(text)
			}
			if before != "" && before != v.Trace.Schedule {
				t.Errorf("%s: with other workers another schedule:\n%s\n%s", of.name, before, v.Trace.Schedule)
			}
			before = v.Trace.Schedule
		}
	}
}
