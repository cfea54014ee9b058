package fuzz

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"lockstep/sim/explore"
	"lockstep/sim/testenv"
	"lockstep/sim/trace"
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

// TestAsksForLives: nothing is said of every schedule of a lock that asks how long a key still lives, by a command or in a script: what
// it does by that may differ in a window which no probe meets, as here.
func TestAsksForLives(t *testing.T) {
	inScript := redis.NewScript(`local left = redis.call("PTTL", KEYS[1]) return left > 7100 and left < 7130 and 1 or 0`)
	for name, soon := range map[string]func(context.Context, *lock) (bool, error){
		"command": func(ctx context.Context, l *lock) (bool, error) {
			left, err := l.rdb.PTTL(ctx, l.key).Result()
			return left > 7100*time.Millisecond && left < 7130*time.Millisecond, err
		},
		"script": func(ctx context.Context, l *lock) (bool, error) {
			return inScript.Run(ctx, l.rdb, []string{l.key}).Bool()
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
