package fuzz

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"lockstep/sim/explore"
	"lockstep/sim/testenv"
	"lockstep/sim/trace"
	"lockstep/strategies"
)

// intent is a lock under which whoever is refused announces that by a key with a life of its own, and takes the lock over if both
// the announcement and the record are nearly over: the one was stored some time before the other ends.
func intent(life, announced, left time.Duration) *subject {
	return custom(fmt.Sprintf("intent-of-%s", life), "B announces itself, and takes over a record of which a second is left", steps{
		acquire: takesOver(func(ctx context.Context, l *lock) (bool, error) {
			won, err := l.rdb.SetNX(ctx, l.key+":intent", "i", life).Result()
			if err != nil || won {
				return false, err
			}
			announcement, err1 := l.rdb.PTTL(ctx, l.key+":intent").Result()
			record, err2 := l.rdb.PTTL(ctx, l.key).Result()
			return announcement >= 0 && announcement < announced && record >= 0 && record < left, errors.Join(err1, err2)
		})})
}

// TestLivesThatEndTogether: time stops so long before each expiry as any key lives, and not only as the record does.
func TestLivesThatEndTogether(t *testing.T) {
	for i, c := range [][3]time.Duration{{6000, 3000, 3000}, {2000, 1000, 1000}, {3000, 1000, 400}, {3000, 300, 1000}, {4000, 2000, 1000}, {6000, 3000, 1000}} {
		if !testenv.Some(i, 1) {
			continue
		}
		of := intent(c[0]*time.Millisecond, c[1]*time.Millisecond, c[2]*time.Millisecond)
		b := explore.Defaults(of.strategy)
		b.Faults = explore.Budget{explore.Pause: 1}
		b.Codes = trace.Verdict{trace.DG}
		r, err := explore.Run(t.Context(), b, explore.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if r.Find(trace.DG) == nil {
			t.Errorf("%v: %s", c, r.Summary())
		}
	}
}

// suspicion is a lock under which whoever is refused stores a suspicion with a life of its own. In the last second of that it is
// confirmed, for another span, and in the last second of that and of the record somebody takes over: two lives end one after the
// other before a third.
func suspicion(suspected, confirmed time.Duration) *subject {
	return custom(fmt.Sprintf("suspicion-of-%s-and-%s", suspected, confirmed), "B suspects A, confirms that, and takes over a record of which a second is left", steps{
		acquire: takesOver(func(ctx context.Context, l *lock) (bool, error) {
			suspects, confirms := l.key+":suspected", l.key+":confirmed"
			if won, err := l.rdb.SetNX(ctx, suspects, "s", suspected).Result(); err != nil || won {
				return false, err
			}
			confirmation, err1 := l.rdb.PTTL(ctx, confirms).Result()
			record, err2 := l.rdb.PTTL(ctx, l.key).Result()
			suspicion, err3 := l.rdb.PTTL(ctx, suspects).Result()
			switch err := errors.Join(err1, err2, err3); {
			case err != nil || suspicion < 0:
				return false, err
			case confirmation >= 0:
				return confirmation < time.Second && record >= 0 && record < time.Second, nil
			case suspicion > time.Second:
				return false, nil
			}
			return false, errors.Join(l.rdb.Set(ctx, confirms, "c", confirmed).Err(), l.rdb.Set(ctx, suspects, "s", l.TTL).Err())
		})})
}

// patient is a lock under which whoever is refused announces that, and in the last of the announcement sleeps, and takes over if as
// little is left of the record then: a life and a sleep end one after the other before the record's life.
func patient(announced, sleep, left time.Duration) *subject {
	return custom(fmt.Sprintf("patient-for-%s-and-%s", announced, sleep), "B announces itself, sleeps, and takes over a record of which little is left", steps{
		acquire: takesOver(func(ctx context.Context, l *lock) (bool, error) {
			won, err := l.rdb.SetNX(ctx, l.key+":intent", "i", announced).Result()
			if err != nil || won {
				return false, err
			}
			announcement, err := l.rdb.PTTL(ctx, l.key+":intent").Result()
			if err != nil || announcement < 0 || announcement > left {
				return false, err
			}
			if err := l.Clock.Sleep(ctx, sleep); err != nil {
				return false, err
			}
			record, err := l.rdb.PTTL(ctx, l.key).Result()
			return record >= 0 && record < left, err
		})})
}

// TestLivesInChains: time stops where a life must begin for another to follow, or a sleep, before a third ends.
func TestLivesInChains(t *testing.T) {
	for i, of := range []*subject{
		patient(5*time.Second, 2300*time.Millisecond, 300*time.Millisecond),
		suspicion(5*time.Second, 3100*time.Millisecond),
		patient(5*time.Second, 2300*time.Millisecond, time.Second),
		patient(4*time.Second, 4*time.Second, time.Second),
		suspicion(4*time.Second, 4*time.Second),
	} {
		if !testenv.Sampled(i, 5) {
			continue
		}
		b := explore.Defaults(of.strategy)
		b.Faults = explore.Budget{explore.Pause: 1}
		b.Codes = trace.Verdict{trace.DG}
		if strings.HasPrefix(of.name, "suspicion") {
			b.Cycles = 3
		}
		r, err := explore.Run(t.Context(), b, explore.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if r.Find(trace.DG) == nil {
			t.Errorf("%s: %s", of.name, r.Summary())
		}
	}
}

// longLease is a lock whose records live for a span of its own, and its leases for another.
func longLease(record, lease time.Duration) *subject {
	return custom(fmt.Sprintf("lasts-for-%s", lease), "of a lease that outlasts the record", steps{
		acquire: func(ctx context.Context, l *lock) (*strategies.Lease, error) {
			token, asked := l.Token(), l.Clock.Monotonic()
			if err := l.setFor(ctx, l.key, token, record); err != nil {
				return nil, err
			}
			return &strategies.Lease{Token: token, Deadline: asked + lease}, nil
		}})
}

// TestLongLeases: a client that has been paused since it read its clock has so much less of a lease, however long that is. The clock
// stood still after a hundred TTLs, and a lease of hours seemed to be live when its record had gone: the search said DG of a right
// lock, and the engine didn't.
func TestLongLeases(t *testing.T) {
	for lease, right := range map[time.Duration]bool{21*time.Minute - time.Second: true, 36*time.Hour - time.Minute: true, 47 * time.Hour: false} {
		record := 36 * time.Hour
		if lease < time.Hour {
			record = 21 * time.Minute
		}
		b := explore.Defaults(longLease(record, lease).strategy)
		b.Cycles, b.Codes = 1, trace.Verdict{trace.DG}
		r, err := explore.Run(t.Context(), b, explore.Options{})
		if err != nil {
			t.Errorf("%s: %v", lease, err)
		} else if r.Holds(trace.DG) != right || r.Find(trace.DG) == nil != right {
			t.Errorf("%s: %s", lease, r.Summary())
		}
	}
}

// TestProbesLease: how long a lease lasts that the search's probe is granted after years doesn't matter, nor from when it counts.
func TestProbesLease(t *testing.T) {
	of := custom("a-minute-of-grace", "", steps{
		acquire: func(ctx context.Context, l *lock) (*strategies.Lease, error) {
			asked, now := l.Clock.Monotonic(), l.Clock.Now()
			stamp := strconv.FormatInt(now.Add(l.TTL+time.Minute).UnixMilli(), 10)
			lease := &strategies.Lease{Token: stamp, Deadline: asked + l.TTL}
			won, err := l.rdb.SetNX(ctx, l.key, stamp, 0).Result()
			if err != nil || won {
				return lease, err
			}
			old, err := l.rdb.Get(ctx, l.key).Result()
			if errors.Is(err, redis.Nil) {
				return nil, strategies.ErrNotAcquired
			} else if err != nil {
				return nil, err
			}
			if due, err := strconv.ParseInt(old, 10, 64); err != nil || due > now.UnixMilli() {
				return nil, errors.Join(err, strategies.ErrNotAcquired)
			}
			//lint:ignore SA1019 GETSET is what such locks are about
			was, err := l.rdb.GetSet(ctx, l.key, stamp).Result()
			if err != nil || was != old {
				return nil, errors.Join(err, strategies.ErrNotAcquired)
			}
			return lease, nil
		}})
	b := explore.Defaults(of.strategy)
	b.Cycles, b.Faults, b.Codes = 1, explore.Budget{explore.Crash: 1}, trace.Verdict{trace.DG, trace.PD}
	r, err := explore.Run(t.Context(), b, explore.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if !r.Holds(trace.DG) || !r.Holds(trace.PD) {
		t.Error(r.Summary())
	}
}

// TestAsksForLives: nothing is said of every schedule of a lock that asks how long a key still lives, by a command or in a script: what
// it does by that may differ in a window which no probe meets, as here.
func TestAsksForLives(t *testing.T) {
	inScript := redis.NewScript(`local left = redis.call("PTTL", KEYS[1]) return left > 7100 and left < 7130 and 1 or 0`)
	compared := redis.NewScript(`
		redis.call("COPY", KEYS[1], KEYS[2])
		local longer = redis.call("PEXPIRE", KEYS[2], 7100, "LT")
		redis.call("COPY", KEYS[1], KEYS[2], "REPLACE")
		local shorter = redis.call("PEXPIRE", KEYS[2], 7130, "GT")
		redis.call("DEL", KEYS[2])
		return longer * shorter`)
	for name, soon := range map[string]func(context.Context, *lock) (bool, error){
		"command": func(ctx context.Context, l *lock) (bool, error) {
			left, err := l.rdb.PTTL(ctx, l.key).Result()
			return left > 7100*time.Millisecond && left < 7130*time.Millisecond, err
		},
		"script": func(ctx context.Context, l *lock) (bool, error) {
			return inScript.Run(ctx, l.rdb, []string{l.key}).Bool()
		},
		"comparison": func(ctx context.Context, l *lock) (bool, error) {
			return compared.Run(ctx, l.rdb, []string{l.key, l.key + ":copy"}).Bool()
		},
	} {
		b := explore.Defaults(custom("asks-by-a-"+name, "B takes over with 7.1 s left", steps{acquire: takesOver(soon)}).strategy)
		b.Cycles, b.Faults, b.Codes = explore.Any, explore.Budget{explore.Pause: explore.Any}, trace.Verdict{trace.DG}
		r, err := explore.Run(t.Context(), b, explore.Options{})
		if err == nil {
			t.Errorf("%s: %s", name, r.Summary())
		} else if !strings.Contains(err.Error(), "asks how long a key still lives") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
