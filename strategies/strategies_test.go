package strategies

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"testing"
	"time"
)

func TestEveryStrategyLocks(t *testing.T) {
	for _, s := range All() {
		t.Run(s.Name, func(t *testing.T) {
			w := newWorld(t, s.Name)
			a, b := w.process("A"), w.process("B")

			a.acquires()
			w.pass(ttl / 2)
			b.isRefused()
			a.releases()
			w.storesNothing()
			b.acquires()
			a.isRefused()
			b.releases()
			w.storesNothing()
		})
	}
}

func TestEveryLeaseEndsByItself(t *testing.T) {
	for _, s := range All() {
		t.Run(s.Name, func(t *testing.T) {
			w := newWorld(t, s.Name)
			a, b := w.process("A"), w.process("B")

			a.acquires()
			w.pass(ttl - time.Second)
			b.isRefused()
			w.pass(time.Second + ms)
			switch s.Name {
			case "timestamp-del", "timestamp-overwritten": // the stamp's own second counts in full
				b.isRefused()
				w.pass(time.Second)
			case "getset-redisio": // stamps are rounded up, and a second is added
				b.isRefused()
				w.pass(2 * time.Second)
			case "watchdog": // as long as the process lives
				b.isRefused()
				a.pauses()
				w.pass(ttl)
			}
			if s.NoTTL {
				b.isRefused()
				return
			}
			b.acquires()
		})
	}
}

func TestAcquireAsksAgainAsItsSourceDoes(t *testing.T) {
	for _, s := range All() {
		if s.Retry == (Retry{}) { // it doesn't sleep: see TestMessageWakesWaiter, TestLoopWithoutSleep
			continue
		}
		t.Run(s.Name, func(t *testing.T) {
			w := newWorld(t, s.Name)
			a, b := w.process("A"), w.insistent("B", s.Retry)

			a.acquires()
			tries := s.Retry.Tries
			if tries == 0 { // for ever: until A lets go
				tries = 4
				w.onNap = func() {
					if len(w.naps) == tries-1 {
						a.releases()
					}
				}
				b.acquires()
			} else {
				b.isRefused()
			}
			pause := s.Retry.Delay + s.Retry.Jitter/2 // this world draws half of the jitter
			if want := slices.Repeat([]time.Duration{pause}, tries-1); !slices.Equal(w.naps, want) {
				t.Errorf("slept %v, want %v", w.naps, want)
			}
		})
	}
}

// TestLoopWithoutSleep: the Japanese article's part 5 asks again at once, and so for as long
// as the holder takes.
func TestLoopWithoutSleep(t *testing.T) {
	for _, name := range []string{"timestamp-del", "timestamp-overwritten"} {
		w := newWorld(t, name)
		a, b := w.process("A"), w.insistent("B", w.strategy.Retry)

		a.acquires()
		refusals := 0
		var refused func()
		refused = func() {
			if refusals++; refusals == 3 {
				a.releases()
				return
			}
			b.after("get", refused)
		}
		b.after("get", refused)
		b.sends("setnx get setnx get setnx get setnx", b.acquires)
		if len(w.naps) != 0 {
			t.Errorf("%s slept: %v", name, w.naps)
		}
	}
}

// TestMessageWakesWaiter: the release comes while the waiter is about to wait, and the message
// is there before the record could have expired.
func TestMessageWakesWaiter(t *testing.T) {
	w := newWorld(t, "setpx-subscribe")
	a, b := w.process("A"), w.insistent("B", Retry{})

	a.acquires()
	b.after("pttl", func() { a.releases() })
	b.acquires()
	if len(w.naps) != 0 {
		t.Errorf("it slept: %v", w.naps)
	}
}

func TestAcquireGivesUpWithItsContext(t *testing.T) {
	w := newWorld(t, "setpx-lua")
	a, b := w.process("A"), w.insistent("B", pollForever)
	ctx, cancel := context.WithCancel(t.Context())

	a.acquires()
	b.after("set", cancel)
	if _, err := b.lock.Acquire(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("B acquires: %v, want %v", err, context.Canceled)
	}
}

func TestRedlockCleansUpEvenIfItsCallerIsGone(t *testing.T) {
	w := newWorld(t, "redlock")
	a := w.insistent("A", Retry{Tries: 3})
	ctx, cancel := context.WithCancel(t.Context())

	a.to(2).after("set", cancel)
	if _, err := a.lock.Acquire(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("A acquires: %v, want %v", err, context.Canceled)
	}
	w.storesNothing()
}

func TestWhoExtends(t *testing.T) {
	for _, s := range All() {
		w := newWorld(t, s.Name)
		_, extends := w.process("A").lock.(Extender)
		if want := slices.Contains([]string{"reentrant", "extend-unchecked", "extend-recreate", "watchdog"}, s.Name); extends != want {
			t.Errorf("%s extends leases: %v, want %v", s.Name, extends, want)
		}
		if s.Extends() != extends {
			t.Errorf("%s extends leases: %v; in the catalogue: %v", s.Name, extends, s.Extends())
		}
	}
}

func TestWhoFences(t *testing.T) {
	for _, s := range All() {
		w := newWorld(t, s.Name)
		a := w.process("A")
		a.acquires()
		if fences := a.lease.Fence != 0; fences != s.Fences {
			t.Errorf("%s hands out fencing tokens: %v; in the catalogue: %v", s.Name, fences, s.Fences)
		}
	}
}

func TestIncrExpireCountsInSeconds(t *testing.T) {
	for given, want := range map[time.Duration]time.Duration{
		300 * ms: time.Second, 1900 * ms: time.Second, ttl: ttl,
	} {
		w := newWorld(t, "incr-expire")
		w.ttl = given
		w.process("A").acquires()
		if got := w.servers[0].TTL(lockKey); got != want {
			t.Errorf("TTL %v: key expires in %v, want %v", given, got, want)
		}
	}
}

// A dialogue shows a strategy's flaw, or that it hasn't got another's, in the
// fewest sentences.
type dialogue struct {
	strategy, story string
	play            func(w *world, a, b, c *process)
}

var dialogues = []dialogue{
	{"setnx", "a dead holder blocks for ever, though its stamp has passed", func(w *world, a, b, c *process) {
		a.acquires()
		w.stores(1, stampInSeconds(w, ttl))
		w.neverExpires()
		w.pass(1000 * ttl)
		b.isRefused()
	}},
	{"setnx", "a duplicate release deletes the next holder's", func(w *world, a, b, c *process) {
		a.acquires()
		a.losesReplyOf("del")
		a.releasesWith(errLost)
		b.acquires()
		a.releases()
		c.acquires()
	}},

	{"setnx-expire", "a client that dies between the two commands blocks for ever", func(w *world, a, b, c *process) {
		a.loses("expire")
		a.failsToAcquire()
		w.stores(1, "A-1")
		w.neverExpires()
		w.pass(1000 * ttl)
		b.isRefused()
	}},
	{"setnx-expire", "a late release deletes the next holder's", lateReleaseDeletes},

	{"incr-expire", "a retry after a lost reply is refused by its own count", func(w *world, a, b, c *process) {
		a.losesReplyOf("eval")
		a.failsToAcquire()
		a.isRefused()
		w.stores(1, "2")
		w.pass(ttl)
		a.acquires()
	}},
	{"incr-expire", "a refusal raises the count, not the expiry", func(w *world, a, b, c *process) {
		a.acquires()
		w.pass(ttl - ms)
		b.isRefused()
		w.stores(1, "2")
		w.pass(ms)
		b.acquires()
	}},
	{"incr-expire", "a late release deletes the next holder's", lateReleaseDeletes},

	{"timestamp-del", "an expired stamp is replaced by a fresh one", func(w *world, a, b, c *process) {
		a.acquires()
		w.stores(1, stampInSeconds(w, ttl))
		w.pass(ttl + 749*ms)
		b.isRefused() // in the stamp's own second, which is not before itself
		w.pass(ms)
		b.acquires()
		w.stores(1, stampInSeconds(w, ttl))
		w.neverExpires()
		c.isRefused()
	}},
	{"timestamp-del", "two that have read the expired stamp both take over", func(w *world, a, b, c *process) {
		c.acquires()
		w.pass(ttl + time.Second)
		b.after("get", a.acquires)
		b.acquires()
	}},
	{"timestamp-del", "a client that comes between DEL and SETNX has the lock", func(w *world, a, b, c *process) {
		a.acquires()
		w.pass(ttl + time.Second)
		b.after("del", c.acquires)
		b.isRefused()
		w.stores(1, c.lease.Token)
	}},
	{"timestamp-del", "a release between SETNX and GET is enough, with no time passing", func(w *world, a, b, c *process) {
		a.acquires()
		b.before("get", a.releases)
		b.after("get", c.acquires)
		b.acquires()
	}},
	{"timestamp-del", "a stamp that is stored late is free for all at once", staleStamp},
	{"timestamp-del", "a fast wall clock sees an expired stamp", fastClockTakesOver},
	{"timestamp-del", "a late release deletes the next holder's", lateReleaseDeletes},

	{"timestamp-overwritten", "a takeover stores the expired stamp again, and the next is let in at once", func(w *world, a, b, c *process) {
		a.acquires()
		expired := a.lease.Token
		w.pass(ttl + time.Second)
		b.sends("setnx get del setnx", b.acquires)
		w.stores(1, expired)
		c.acquires()
		w.stores(1, expired)
	}},
	{"timestamp-overwritten", "a waiter gets the rest of the lease that it has waited for", func(w *world, a, b, c *process) {
		a.acquires()
		w.pass(ttl - time.Second)
		waiter := w.insistent("B", Retry{Tries: 2})
		waiter.after("get", a.releases)
		waiter.acquires()
		w.stores(1, a.lease.Token)
		w.pass(2 * time.Second)
		c.acquires() // and B has most of its lease left
	}},
	{"timestamp-overwritten", "a key that is gone leaves no stamp to store", func(w *world, a, b, c *process) {
		a.acquires()
		b.before("get", a.releases)
		b.acquires()
		w.stores(1, "")
		c.acquires()
	}},
	{"timestamp-overwritten", "a client that comes between DEL and SETNX has the lock", func(w *world, a, b, c *process) {
		a.acquires()
		w.pass(ttl + time.Second)
		b.after("del", c.acquires)
		b.isRefused()
		w.stores(1, c.lease.Token)
	}},
	{"timestamp-overwritten", "a fast wall clock sees an expired stamp", fastClockTakesOver},
	{"timestamp-overwritten", "a late release deletes the next holder's", lateReleaseDeletes},

	{"getset-equal", "an expired stamp is swapped for a fresh one", func(w *world, a, b, c *process) {
		a.acquires()
		w.stores(1, stamp(w, ttl))
		w.pass(ttl)
		b.isRefused()
		w.pass(ms)
		b.acquires()
		w.stores(1, stamp(w, ttl))
		c.isRefused()
	}},
	{"getset-equal", "the loser's earlier stamp replaces the winner's, and a third takes over", func(w *world, a, b, c *process) {
		c.acquires()
		w.pass(ttl + ms)
		losing := stamp(w, ttl)
		b.after("get", func() { w.pass(ttl - ms); a.acquires() })
		b.isRefused()
		w.stores(1, losing)
		w.pass(2 * ms)
		c.acquires() // and A has most of its lease left
	}},
	{"getset-equal", "a stamp that is expired, but not the one that was read, is a loss", func(w *world, a, b, c *process) {
		a.acquires()
		w.pass(ttl + ms)
		b.before("getset", func() { _ = w.servers[0].Set(lockKey, "1") })
		b.isRefused()
	}},
	{"getset-equal", "a key that goes between SETNX and GET is refused", func(w *world, a, b, c *process) {
		a.acquires()
		b.before("get", a.releases)
		b.isRefused()
		w.storesNothing()
	}},
	{"getset-equal", "a key that goes between GET and GETSET leaves a phantom", func(w *world, a, b, c *process) {
		a.acquires()
		w.pass(ttl + ms)
		b.before("getset", a.releases)
		b.isRefused()
		w.stores(1, stamp(w, ttl))
		c.isRefused()
	}},
	{"getset-equal", "a stamp that is stored late is free for all at once", staleStamp},
	{"getset-equal", "a fast wall clock sees an expired stamp", fastClockTakesOver},
	{"getset-equal", "a late release deletes the next holder's", lateReleaseDeletes},

	{"getset-expired", "an expired stamp without expiry is swapped for a fresh one with", func(w *world, a, b, c *process) {
		a.loses("expire")
		a.failsToAcquire()
		w.neverExpires()
		w.pass(ttl)
		b.isRefused()
		w.pass(time.Second)
		b.acquires()
		w.stores(1, stampInSeconds(w, ttl))
		w.pass(ttl)
		w.storesNothing()
	}},
	{"getset-expired", "the loser overwrites the winner's stamp and wipes its expiry", func(w *world, a, b, c *process) {
		c.loses("expire")
		c.failsToAcquire()
		w.pass(ttl + time.Second)
		losing := stampInSeconds(w, ttl)
		b.after("get", func() { w.pass(time.Second); a.acquires() })
		b.isRefused()
		w.stores(1, losing)
		w.neverExpires()
	}},
	{"getset-expired", "a release between SETNX and GET lets the loser overwrite a third one's record", func(w *world, a, b, c *process) {
		a.acquires()
		b.before("get", a.releases)
		b.after("get", c.acquires)
		b.isRefused() // though the record is its stamp now
		w.neverExpires()
	}},
	{"getset-expired", "a key that is gone counts as expired, twice", func(w *world, a, b, c *process) {
		a.acquires()
		b.before("get", a.releases)
		b.acquires()
	}},
	{"getset-expired", "in the key's last second a release does nothing", func(w *world, a, b, c *process) {
		a.acquires()
		w.pass(ttl - 400*ms)
		a.releases()
		w.stores(1, a.lease.Token)
		b.isRefused()
	}},
	{"getset-expired", "a TTL of -2 is true: a late release deletes what comes next", func(w *world, a, b, c *process) {
		a.acquires()
		w.pass(ttl)
		a.after("ttl", b.acquires)
		a.releases()
		w.storesNothing()
	}},
	{"getset-expired", "a TTL of -1 is true: a release deletes a record without expiry", func(w *world, a, b, c *process) {
		a.acquires()
		w.pass(ttl)
		b.loses("expire")
		b.failsToAcquire()
		w.neverExpires()
		a.releases()
		w.storesNothing()
	}},
	{"getset-expired", "a stamp that is stored late is free for all at once", staleStamp},
	{"getset-expired", "a fast wall clock sees an expired stamp", fastClockTakesOver},
	{"getset-expired", "a late release deletes the next holder's", lateReleaseDeletes},

	{"naive-del", "a late release deletes the next holder's", lateReleaseDeletes},

	{"get-then-del", "a late release finds another's token", lateReleaseIsTold},
	{"get-then-del", "a release finds no key", func(w *world, a, b, c *process) {
		a.acquires()
		w.pass(ttl)
		a.releasesWith(ErrNotHeld)
	}},
	{"get-then-del", "the key changes hands between the two", func(w *world, a, b, c *process) {
		a.acquires()
		a.after("get", func() { w.pass(ttl); b.acquires() })
		a.releases()
		c.acquires()
	}},

	{"fixed-value", "a late release deletes the next holder's", lateReleaseDeletes},
	{"fixed-value", "a release finds no key", func(w *world, a, b, c *process) {
		a.acquires()
		w.pass(ttl)
		a.releasesWith(ErrNotHeld)
	}},

	{"setpx-lua", "a late release finds another's token", lateReleaseIsTold},
	{"setpx-lua", "a duplicate release spares the next holder's", func(w *world, a, b, c *process) {
		a.acquires()
		a.losesReplyOf("eval")
		a.releasesWith(errLost)
		b.acquires()
		a.releasesWith(ErrNotHeld)
		c.isRefused()
	}},
	{"setpx-lua", "a fast wall clock changes nothing", func(w *world, a, b, c *process) {
		a.acquires()
		w.wall = w.wall.Add(ttl + time.Second)
		b.isRefused()
	}},

	{"redlock", "two nodes of five down: it goes on", func(w *world, a, b, c *process) {
		w.down[1], w.down[4] = true, true
		a.acquires()
		b.isRefused()
		a.releases()
		b.acquires()
	}},
	{"redlock", "three nodes of five down: refused, and nothing left behind", func(w *world, a, b, c *process) {
		w.down[1], w.down[3], w.down[5] = true, true, true
		a.isRefused()
		w.storesNothing()
	}},
	{"redlock", "a lost reply counts as a no, and is cleaned up", func(w *world, a, b, c *process) {
		for n := 1; n <= 3; n++ {
			a.to(n).losesReplyOf("set")
		}
		a.isRefused()
		w.storesNothing()
	}},
	{"redlock", "a lost reply does not cost the majority of the others", func(w *world, a, b, c *process) {
		a.to(1).losesReplyOf("set")
		a.to(5).losesReplyOf("set")
		a.acquires()
		a.releases()
		w.storesNothing()
	}},
	{"redlock", "a lease that ran out while it was being collected is refused", func(w *world, a, b, c *process) {
		a.to(3).after("set", func() { w.pass(ttl - 102*ms) })
		a.isRefused()
		w.storesNothing()
	}},
	{"redlock", "a lease with a millisecond left is granted", func(w *world, a, b, c *process) {
		a.to(3).after("set", func() { w.pass(ttl - 103*ms) })
		a.acquires()
	}},
	{"redlock", "a wall clock that is set back deceives nobody", func(w *world, a, b, c *process) {
		a.to(5).after("set", func() { w.pass(ttl); w.wall = w.wall.Add(-ttl) })
		a.isRefused()
	}},
	{"redlock", "a minority's vote is given back", func(w *world, a, b, c *process) {
		b.acquires()
		w.servers[3].FlushAll()
		w.servers[4].FlushAll()
		a.isRefused()
		for n, want := range []string{b.lease.Token, b.lease.Token, b.lease.Token, "", ""} {
			w.stores(n+1, want)
		}
	}},
	{"redlock", "three nodes that forget let a second one in", func(w *world, a, b, c *process) {
		a.acquires()
		for n := range 3 {
			w.servers[n].FlushAll()
		}
		b.acquires()
		a.releasesWith(ErrNotHeld)
		c.isRefused()
	}},
	{"redlock", "nobody can tell what a release did on nodes that do not answer", func(w *world, a, b, c *process) {
		a.acquires()
		w.down[3], w.down[4], w.down[5] = true, true, true
		a.releasesWith(errLost)
		w.stores(1, "")
		w.stores(3, a.lease.Token)
	}},
	{"redlock", "a release that most nodes confirm is a release", func(w *world, a, b, c *process) {
		a.acquires()
		w.down[1], w.down[3] = true, true
		a.releases()
		for n, want := range []string{a.lease.Token, "", a.lease.Token, "", ""} {
			w.stores(n+1, want)
		}
	}},
	{"redlock", "a late release finds other tokens", lateReleaseIsTold},

	{"redlock-hyperf", "one failing node ends it, and the others' records stay", func(w *world, a, b, c *process) {
		w.down[3] = true
		a.failsToAcquire()
		w.stores(1, "A-1")
		w.stores(2, "A-1")
		w.stores(4, "")
		w.down[3] = false
		b.isRefused() // three of five are free, and it wants four
		w.pass(ttl)
		b.acquires()
	}},
	{"redlock-hyperf", "three of five are not enough for it", func(w *world, a, b, c *process) {
		for n := range 2 {
			_ = w.servers[n].Set(lockKey, "somebody")
		}
		a.isRefused()
		for n, want := range []string{"somebody", "somebody", "", "", ""} {
			w.stores(n+1, want)
		}
		w.servers[1].FlushAll()
		a.acquires()
	}},
	{"redlock-hyperf", "a wall clock that is set back revives a lease that has run out", func(w *world, a, b, c *process) {
		a.to(5).after("set", func() { w.pass(ttl); w.wall = w.wall.Add(-ttl) })
		a.acquires()
		if left := a.lease.Deadline - w.mono; left != ttl-102*ms {
			w.t.Errorf("A believes that it has %v left, want the whole lease", left)
		}
		w.stores(1, "") // no node but the last agrees
	}},
	{"redlock-hyperf", "a lease that ran out while it was being collected is refused", func(w *world, a, b, c *process) {
		a.to(3).after("set", func() { w.pass(ttl - 102*ms) })
		a.isRefused()
		w.storesNothing()
	}},
	{"redlock-hyperf", "a release ends at the first node that fails", func(w *world, a, b, c *process) {
		a.acquires()
		w.down[2] = true
		a.releasesWith(errLost)
		w.stores(1, "")
		w.stores(3, a.lease.Token)
	}},
	{"redlock-hyperf", "all tries share one token", func(w *world, _, b, c *process) {
		b.acquires()
		a := w.insistent("A", Retry{Tries: 2})
		a.to(5).after("eval", b.releases)
		a.acquires()
		w.stores(1, "A-2")
	}},
	{"redlock-hyperf", "a late release spares the next holder's, and says nothing", func(w *world, a, b, c *process) {
		a.acquires()
		w.pass(ttl)
		b.acquires()
		a.releases()
		c.isRefused()
	}},
}

// A lock of which no dialogue tells plays those of the one that it is like.
func TestDialogues(t *testing.T) {
	told := map[string][]dialogue{}
	for _, d := range slices.Concat(dialogues, moreDialogues) {
		told[d.strategy] = append(told[d.strategy], d)
	}
	for _, s := range All() {
		mine := told[Nearest(s.Name, func(name string) bool { return told[name] != nil })]
		if mine == nil {
			t.Errorf("no dialogue tells of %s, or of a lock that it is like", s.Name)
		}
		for _, d := range mine {
			t.Run(s.Name+"/"+d.story, func(t *testing.T) {
				if d.strategy != s.Name {
					t.Logf("the dialogue is that of %s; one of %s in more_test.go would take its place", d.strategy, s.Name)
				}
				w := newWorld(t, s.Name)
				d.play(w, w.process("A"), w.process("B"), w.process("C"))
			})
		}
	}
}

func lateReleaseDeletes(w *world, a, b, c *process) {
	a.acquires()
	w.pass(ttl + time.Second) // some count in seconds
	b.acquires()
	a.releases()
	w.storesNothing()
	c.acquires()
}

func lateReleaseIsTold(w *world, a, b, c *process) {
	a.acquires()
	w.pass(ttl)
	b.acquires()
	a.releasesWith(ErrNotHeld)
	c.isRefused()
	b.releases()
	w.storesNothing()
}

func staleStamp(w *world, a, b, c *process) {
	a.before("setnx", func() { w.pass(ttl + time.Second) })
	a.acquires()
	b.acquires()
	c.isRefused()
}

func fastClockTakesOver(w *world, a, b, c *process) {
	a.acquires()
	w.wall = w.wall.Add(ttl + time.Second) // B's, and Redis's keys don't follow it
	b.acquires()
}

// stamp is a wall clock reading in Unix milliseconds, so far from now.
func stamp(w *world, ahead time.Duration) string {
	return strconv.FormatInt(w.wall.Add(ahead).UnixMilli(), 10)
}

// stampInSeconds is a wall clock reading in Unix seconds, so far from now.
func stampInSeconds(w *world, ahead time.Duration) string {
	return strconv.FormatInt(w.wall.Add(ahead).Unix(), 10)
}
