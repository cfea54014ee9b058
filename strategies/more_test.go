package strategies

import (
	"context"
	"errors"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// The commands of a lock when all goes well, as the head of each file lists them. A
// new server lacks the scripts; scripts, which differ in their digests, look alike
// here. A lock that isn't listed sends the commands of the one that it is like.
func TestCommandsInOrder(t *testing.T) {
	const script = "evalsha eval"
	tests := map[string]struct{ acquire, extend, release string }{
		"setnx":                 {"setnx", "", "del"},
		"setnx-expire":          {"setnx expire", "", "del"},
		"incr-expire":           {script, "", "del"},
		"timestamp-del":         {"setnx", "", "del"},
		"getset-equal":          {"setnx", "", "del"},
		"getset-expired":        {"setnx expire", "", "ttl del"},
		"naive-del":             {"set", "", "del"},
		"get-then-del":          {"set", "", "get del"},
		"fixed-value":           {"set", "", script},
		"setpx-lua":             {"set", "", script},
		"redlock":               {"set", "", script},
		"redlock-hyperf":        {"set", "", "eval"},
		"getset-redisio":        {"setnx", "", "del"},
		"setpx-delex":           {"set", "", "delex"},
		"setpx-watch":           {"set", "", "watch get multi del exec"},
		"setpx-watch-bare":      {"set", "", "watch get del unwatch"},
		"setpx-subscribe":       {"set", "", script},
		"setpx-autoretry":       {"set", "", script},
		"setpx-wait":            {"set wait", "", script},
		"pxat-client-clock":     {script, "", script},
		"reentrant":             {script, "evalsha", script + " evalsha"},
		"extend-unchecked":      {"set", "get pexpire", script},
		"extend-recreate":       {"set", script, script},
		"watchdog":              {"set", script, script},
		"fenced-late":           {"set incr", "", script},
		"fenced":                {script, "", script},
		"redlock-no-elapsed":    {"set", "", script},
		"redlock-wall-clock":    {"set", "", script},
		"redlock-strict-errors": {"set", "", script},
	}
	for _, s := range All() {
		test, listed := tests[Nearest(s.Name, func(name string) bool { return tests[name].acquire != "" })]
		if !listed {
			t.Errorf("the table has neither %s nor a lock that it is like", s.Name)
			continue
		}
		w := newWorld(t, s.Name)
		a := w.process("A")
		a.sends(test.acquire, a.acquires)
		if test.extend != "" {
			a.sends(test.extend, a.extends)
		}
		a.sends(test.release, a.releases)
		w.storesNothing()
	}
}

// The articles' callers get a mere yes, and so does the watchdog's; all others are
// told a deadline.
func TestWhoExposesADeadline(t *testing.T) {
	mereYes := []string{
		"setnx", "setnx-expire", "incr-expire", "timestamp-del", "timestamp-overwritten", "getset-redisio", "getset-equal", "getset-expired",
		"naive-del", "get-then-del", "fixed-value", "watchdog",
	}
	for _, s := range All() {
		w := newWorld(t, s.Name)
		a := w.process("A")
		var want time.Duration
		if !slices.Contains(mereYes, s.Name) {
			want = w.mono + ttl - 102*ms // a hundredth, and two milliseconds
		}
		if s.Name == "pxat-client-clock" { // it allows for no drift
			want = w.mono + ttl
		}
		a.acquires()
		if a.lease.Deadline != want {
			t.Errorf("%s: deadline %v, want %v", s.Name, a.lease.Deadline, want)
		}
		if a.lease.Token == "" {
			t.Errorf("%s: no token", s.Name)
		}
	}
}

// Who doesn't know what Redis did says so, whichever command it was. (Redlock
// counts a failed node as one that refused.)
func TestAnErrorIsNotARefusal(t *testing.T) {
	asksAgain := []string{"setpx-get"} // these may be granted the lock all the same: see their dialogues
	for _, s := range All() {
		if s.Nodes > 1 {
			continue
		}
		w := newWorld(t, s.Name)
		a := w.process("A")
		a.greets()
		a.sent = nil
		a.acquires()
		acquire := len(a.sent)
		a.releases()
		for i, command := range a.sent {
			if command == "unwatch" { // after the fact: go-redis itself ignores it
				continue
			}
			w := newWorld(t, s.Name)
			a := w.process("A")
			if i < acquire && slices.Contains(asksAgain, s.Name) {
				continue
			}
			if i < acquire {
				a.loses(command)
				a.failsToAcquire()
				continue
			}
			a.acquires()
			a.loses(command)
			a.releasesWith(errLost)
		}
	}
}

// moreDialogues are those of the strategies that go beyond the articles.
var moreDialogues = []dialogue{
	{"getset-redisio", "an expired stamp is swapped for a fresh one, without expiry", func(w *world, a, b, c *process) {
		a.acquires()
		w.stores(1, redisIOStamp(w))
		w.neverExpires()
		w.pass(ttl + 1749*ms)
		b.isRefused() // in the stamp's own second
		w.pass(ms)
		b.acquires()
		w.stores(1, redisIOStamp(w))
		w.neverExpires()
		c.isRefused()
	}},
	{"getset-redisio", "the loser's earlier stamp replaces the winner's, and a third takes over", func(w *world, a, b, c *process) {
		c.acquires()
		w.pass(ttl + 2*time.Second)
		losing := redisIOStamp(w)
		b.after("get", func() { w.pass(ttl); a.acquires() })
		b.isRefused()
		w.stores(1, losing)
		w.pass(2 * time.Second)
		c.acquires() // and A has most of its lease left
	}},
	{"getset-redisio", "two in a row that find the stamp expired both win", func(w *world, a, b, c *process) {
		c.acquires()
		w.pass(ttl + 2*time.Second)
		b.before("getset", func() {
			a.before("setnx", func() { w.pass(ttl + 2*time.Second) })
			a.acquires()
		})
		b.acquires()
	}},
	{"getset-redisio", "a key that is gone counts as expired, twice", func(w *world, a, b, c *process) {
		a.acquires()
		b.before("get", a.releases)
		b.acquires()
	}},
	{"getset-redisio", "a release between SETNX and GET lets the loser overwrite a third one's record", func(w *world, a, b, c *process) {
		a.acquires()
		b.before("get", a.releases)
		b.after("get", func() { w.pass(time.Second); c.acquires() })
		b.isRefused()
		w.stores(1, strconv.FormatInt(w.wall.Add(ttl).Unix(), 10)) // B's, a second older than C's
	}},
	{"getset-redisio", "a fast wall clock sees an expired stamp", func(w *world, a, b, c *process) {
		a.acquires()
		w.wall = w.wall.Add(ttl + 2*time.Second) // B's
		b.acquires()
	}},
	{"getset-redisio", "a stamp that is stored late is free for all at once", func(w *world, a, b, c *process) {
		a.before("setnx", func() { w.pass(ttl + 2*time.Second) })
		a.acquires()
		b.acquires()
		c.isRefused()
	}},
	{"getset-redisio", "a late release deletes nothing", func(w *world, a, b, c *process) {
		a.acquires()
		w.pass(ttl + 2*time.Second)
		b.acquires()
		a.sends("", func() { a.releasesWith(ErrNotHeld) })
		c.isRefused()
	}},
	{"getset-redisio", "a release in the stamp's own second is in time", func(w *world, a, b, c *process) {
		a.acquires()
		w.pass(ttl + 1749*ms)
		b.isRefused()
		a.releases()
		w.storesNothing()
	}},
	{"getset-redisio", "the stamp passes between the check and DEL", func(w *world, a, b, c *process) {
		a.acquires()
		a.before("del", func() { w.pass(ttl + 2*time.Second); b.acquires() })
		a.releases()
		c.acquires()
	}},
	{"getset-redisio", "a duplicate release deletes the next holder's", func(w *world, a, b, c *process) {
		a.acquires()
		a.losesReplyOf("del")
		a.releasesWith(errLost)
		b.acquires()
		a.releases()
		c.acquires()
	}},

	{"setpx-delex", "a late release finds another's token", lateReleaseIsTold},
	{"setpx-delex", "a release finds no key", releaseFindsNoKey},
	{"setpx-delex", "a duplicate release spares the next holder's", func(w *world, a, b, c *process) {
		duplicateReleaseIsTold(a, b, c, "delex")
	}},
	{"setpx-delex", "a record of another type is an error, and stays", func(w *world, a, b, c *process) {
		a.acquires()
		w.pass(ttl)
		w.servers[0].HSet(lockKey, "owner", "somebody")
		if err := a.lock.Release(w.t.Context(), a.lease); err == nil || errors.Is(err, ErrNotHeld) {
			w.t.Errorf("A releases: %v, want an error of Redis", err)
		}
		b.isRefused()
	}},

	{"setpx-watch", "a late release finds another's token, and watches no longer", func(w *world, a, b, c *process) {
		a.acquires()
		w.pass(ttl)
		b.acquires()
		a.sends("watch get unwatch", func() { a.releasesWith(ErrNotHeld) })
		c.isRefused()
	}},
	{"setpx-watch", "a release finds no key", releaseFindsNoKey},
	{"setpx-watch", "the key changes hands between GET and EXEC: nothing is deleted", func(w *world, a, b, c *process) {
		a.acquires()
		a.after("get", func() { w.pass(ttl); b.acquires() })
		a.sends("watch get multi del exec", func() { a.releasesWith(ErrNotHeld) })
		w.stores(1, b.lease.Token)
		c.isRefused()
	}},
	{"setpx-watch", "the key expires between GET and EXEC", func(w *world, a, b, c *process) {
		a.acquires()
		a.after("get", func() { w.pass(ttl) })
		a.releasesWith(ErrNotHeld)
		w.storesNothing()
	}},
	{"setpx-watch", "the key changes hands between WATCH and GET", func(w *world, a, b, c *process) {
		a.acquires()
		a.after("watch", func() { w.pass(ttl); b.acquires() })
		a.releasesWith(ErrNotHeld)
		c.isRefused()
	}},
	{"setpx-watch", "a duplicate release spares the next holder's", func(w *world, a, b, c *process) {
		duplicateReleaseIsTold(a, b, c, "exec")
	}},
	{"setpx-watch", "a lost request releases nothing, and says so", func(w *world, a, b, c *process) {
		a.acquires()
		a.loses("get")
		a.releasesWith(errLost)
		b.isRefused()
	}},

	{"setpx-watch-bare", "a late release finds another's token", lateReleaseIsTold},
	{"setpx-watch-bare", "a release finds no key", releaseFindsNoKey},
	{"setpx-watch-bare", "the key changes hands between GET and DEL: the watch is in vain", func(w *world, a, b, c *process) {
		a.acquires()
		a.after("get", func() { w.pass(ttl); b.acquires() })
		a.releases()
		c.acquires()
	}},

	{"setpx-autoretry", "a lost reply, and its own key refuses it", func(w *world, a, b, c *process) {
		a.dropsReplies(1)
		a.isRefused()
		w.stores(1, "A-1")
		w.pass(ttl - ms)
		b.isRefused()
		w.pass(ms)
		b.acquires()
	}},
	{"setpx-autoretry", "a lost reply makes a release that was done report a lost lock", func(w *world, a, b, c *process) {
		a.acquires()
		a.dropsReplies(1)
		a.releasesWith(ErrNotHeld)
		w.storesNothing()
		b.acquires()
	}},
	{"setpx-autoretry", "it gives up in the end", func(w *world, a, b, c *process) {
		a.dropsReplies(1000)
		if lease, err := a.lock.Acquire(w.t.Context()); !errors.Is(err, os.ErrDeadlineExceeded) || lease != nil {
			w.t.Errorf("A acquires: lease %v, error %v, want a timeout", lease, err)
		}
	}},
	{"setpx-autoretry", "a late release finds another's token", lateReleaseIsTold},
	{"setpx-get", "a lost reply, and it recognises its own token", func(w *world, a, b, c *process) {
		a.dropsReplies(1)
		a.acquires()
		w.stores(1, "A-1")
		a.believes(ttl - drift(ttl))
		b.isRefused()
		a.releases()
		b.acquires()
	}},
	{"setpx-get", "a lost request is sent again", func(w *world, a, b, c *process) {
		a.loses("set")
		a.acquires()
		b.isRefused()
	}},
	{"setpx-get", "its lease counts from the first sending, if that stored the record", func(w *world, a, b, c *process) {
		a.greets()
		a.losesReplyOf("set")
		a.before("set", func() { w.pass(3 * time.Second) })
		a.acquires()
		a.believes(ttl - drift(ttl) - 3*time.Second)
	}},
	{"setpx-get", "a token that it finds too late is no lease, and is deleted", func(w *world, a, b, c *process) {
		a.greets()
		a.losesReplyOf("set")
		a.before("set", func() { w.pass(ttl - drift(ttl)) })
		a.isRefused()
		w.storesNothing()
		b.acquires()
	}},
	{"setpx-get", "without any reply it leaves nothing behind", func(w *world, a, b, c *process) {
		a.dropsReplies(4)
		if lease, err := a.lock.Acquire(w.t.Context()); !errors.Is(err, os.ErrDeadlineExceeded) || lease != nil {
			w.t.Errorf("A acquires: lease %v, error %v, want a timeout", lease, err)
		}
		w.storesNothing()
		b.acquires()
	}},
	{"setpx-get", "an error that is a reply is not asked for again", func(w *world, a, b, c *process) {
		if _, err := w.servers[0].RPush(lockKey, "job"); err != nil {
			w.t.Fatal(err)
		}
		a.sends("set", func() {
			if _, err := a.lock.Acquire(w.t.Context()); err == nil || !strings.HasPrefix(err.Error(), "WRONGTYPE") {
				w.t.Errorf("A acquires: %v, want WRONGTYPE", err)
			}
		})
	}},
	{"setpx-get", "an equal token is another's, unless it was sent before", func(w *world, a, b, c *process) {
		if err := w.servers[0].Set(lockKey, "A-1"); err != nil {
			w.t.Fatal(err)
		}
		a.isRefused()
	}},
	{"setpx-get", "a late release finds another's token", lateReleaseIsTold},
	{"setpx-lua", "a lost reply is an error, not a refusal", func(w *world, a, b, c *process) {
		a.dropsReplies(1)
		if lease, err := a.lock.Acquire(w.t.Context()); !errors.Is(err, os.ErrDeadlineExceeded) || lease != nil {
			w.t.Errorf("A acquires: lease %v, error %v, want a timeout", lease, err)
		}
		w.stores(1, "A-1")
	}},

	{"setpx-wait", "one replica of two is enough for it", func(w *world, a, b, c *process) {
		w.acked = 1
		a.acquires()
		b.isRefused()
	}},
	{"setpx-wait", "no replica: refused, and nothing left behind", func(w *world, a, b, c *process) {
		w.acked = 0
		a.isRefused()
		w.storesNothing()
		w.acked = 1
		b.acquires()
	}},
	{"setpx-wait", "nobody can tell how many have it: an error, and nothing left behind", func(w *world, a, b, c *process) {
		a.losesReplyOf("wait")
		a.failsToAcquire()
		w.storesNothing()
	}},
	{"setpx-wait", "a lease that another has taken over meanwhile is not given back", func(w *world, a, b, c *process) {
		a.before("wait", func() { w.pass(ttl); b.acquires(); w.acked = 0 })
		a.isRefused()
		w.stores(1, b.lease.Token)
	}},
	{"setpx-wait", "it asks on the connection that has written", func(w *world, a, b, c *process) {
		w.acked = 0
		a.after("set", func() { // another thread uses a connection of the pool, and keeps it
			conn := a.nodes[0].Conn()
			w.t.Cleanup(func() { _ = conn.Close() })
			if err := conn.Ping(w.t.Context()).Err(); err != nil {
				w.t.Error(err)
			}
		})
		a.isRefused()
	}},
	{"setpx-wait", "a late release finds another's token", lateReleaseIsTold},

	{"pxat-client-clock", "the key expires when the client's clock says so", func(w *world, a, b, c *process) {
		a.acquires()
		w.stores(1, a.lease.Token)
		w.expiresIn(1, ttl)
	}},
	{"pxat-client-clock", "a command that is under way for long takes from the key, not from the lease", func(w *world, a, b, c *process) {
		a.before("evalsha", func() { w.pass(time.Second) })
		a.acquires()
		w.expiresIn(1, ttl-time.Second)
		a.believes(ttl - time.Second)
	}},
	{"pxat-client-clock", "a slow clock: OK, and the key is dead", func(w *world, a, b, c *process) {
		w.wall = w.wall.Add(-ttl - ms) // A's
		a.acquires()
		a.believes(ttl)
		w.storesNothing()
		w.wall = w.wall.Add(ttl + ms) // B's
		b.acquires()
		c.isRefused()
	}},
	{"pxat-client-clock", "a clock that is a little slow: the key is dead before the lease is over", func(w *world, a, b, c *process) {
		w.wall = w.wall.Add(-ttl / 2) // A's
		a.acquires()
		w.pass(ttl / 2)
		b.acquires()
		a.believes(ttl / 2)
	}},
	{"pxat-client-clock", "a fast clock: a dead holder blocks the longer", func(w *world, a, b, c *process) {
		w.wall = w.wall.Add(ttl)
		a.acquires()
		w.pass(2*ttl - ms)
		b.isRefused()
		w.pass(ms)
		b.acquires()
	}},
	{"pxat-client-clock", "a late release finds another's token", lateReleaseIsTold},

	{"reentrant", "a holder may enter again, and leaves as often", func(w *world, a, b, c *process) {
		a.acquires()
		outer := a.lease
		w.pass(ttl / 2)
		a.acquires()
		w.counts("A-1", 2)
		w.expiresIn(1, ttl)
		w.pass(ttl - ms)
		a.releases()
		w.counts("A-1", 1)
		w.expiresIn(1, ttl)
		b.isRefused()
		a.lease = outer
		a.releases()
		b.acquires()
	}},
	{"reentrant", "an extension counts, and is given back with the lease", func(w *world, a, b, c *process) {
		a.acquires()
		w.pass(ttl / 2)
		a.extends()
		a.believes(ttl - 102*ms)
		w.counts("A-1", 2)
		w.expiresIn(1, ttl)
		a.releases()
		w.storesNothing()
	}},
	{"reentrant", "an extension finds another inside", func(w *world, a, b, c *process) {
		a.acquires()
		w.pass(ttl)
		b.acquires()
		a.extendsWith(ErrNotHeld)
		a.releasesWith(ErrNotHeld)
		w.counts("B-2", 1)
	}},
	{"reentrant", "an extension after a gap seems unbroken, until the release counts", func(w *world, a, b, c *process) {
		a.acquires()
		w.pass(ttl)
		b.acquires()
		b.releases()
		a.extends()
		c.isRefused()
		a.releasesWith(ErrNotHeld)
		w.storesNothing()
	}},
	{"reentrant", "a late release takes from the owner's next lease", func(w *world, a, b, c *process) {
		a.acquires()
		late := a.lease
		w.pass(ttl)
		a.acquires()
		a.lease = late
		a.releases()
		b.acquires() // and A's second lease is not over
	}},
	{"reentrant", "an entry whose reply is lost counts, and blocks", func(w *world, a, b, c *process) {
		a.losesReplyOf("eval")
		a.failsToAcquire()
		a.acquires()
		a.releases()
		w.counts("A-1", 1)
		w.pass(ttl - ms)
		b.isRefused()
		w.pass(ms)
		b.acquires()
	}},
	{"reentrant", "a late release finds another's field", func(w *world, a, b, c *process) {
		a.acquires()
		w.pass(ttl)
		b.acquires()
		a.releasesWith(ErrNotHeld)
		c.isRefused()
	}},
	{"reentrant", "a duplicate release spares the next holder's", func(w *world, a, b, c *process) {
		duplicateReleaseIsTold(a, b, c, "eval")
	}},

	{"extend-unchecked", "an extension prolongs key and lease", extensionProlongs},
	{"extend-unchecked", "a late extension finds another's token", lateExtensionIsTold},
	{"extend-unchecked", "the key changes hands between GET and PEXPIRE: another's is prolonged", func(w *world, a, b, c *process) {
		a.acquires()
		a.after("get", func() { w.pass(ttl); b.acquires(); w.pass(ttl / 2) })
		a.extends()
		w.stores(1, b.lease.Token)
		w.expiresIn(1, ttl)
		a.believes(ttl - 102*ms)
		b.believes(ttl/2 - 102*ms)
	}},
	{"extend-unchecked", "the key is gone between GET and PEXPIRE", func(w *world, a, b, c *process) {
		a.acquires()
		a.after("get", func() { w.pass(ttl) })
		a.extendsWith(ErrNotHeld)
		w.storesNothing()
	}},
	{"extend-unchecked", "an extension after a gap finds no key", func(w *world, a, b, c *process) {
		a.acquires()
		w.pass(ttl)
		a.extendsWith(ErrNotHeld)
		w.storesNothing()
	}},
	{"extend-unchecked", "a lost reply of PEXPIRE moves no deadline", func(w *world, a, b, c *process) {
		a.acquires()
		w.pass(time.Second)
		a.losesReplyOf("pexpire")
		a.extendsWith(errLost)
		a.believes(ttl - 102*ms - time.Second)
		w.expiresIn(1, ttl)
	}},
	{"extend-unchecked", "a late release finds another's token", lateReleaseIsTold},

	{"extend-recreate", "an extension prolongs key and lease", extensionProlongs},
	{"extend-recreate", "a late extension finds another's token", lateExtensionIsTold},
	{"extend-recreate", "an extension after a gap seems unbroken", func(w *world, a, b, c *process) {
		a.acquires()
		w.pass(ttl)
		b.acquires()
		b.releases()
		a.extends()
		w.stores(1, a.lease.Token)
		w.expiresIn(1, ttl)
		a.believes(ttl - 102*ms)
		c.isRefused()
		a.releases()
		w.storesNothing()
	}},
	{"extend-recreate", "a lost reply moves no deadline", func(w *world, a, b, c *process) {
		a.acquires()
		w.pass(time.Second)
		a.losesReplyOf("eval")
		a.extendsWith(errLost)
		a.believes(ttl - 102*ms - time.Second)
	}},
	{"extend-recreate", "a late release finds another's token", lateReleaseIsTold},

	{"watchdog", "the lease is prolonged every third of its time", func(w *world, a, b, c *process) {
		a.acquires()
		w.pass(third - ms)
		w.expiresIn(1, ttl-(third-ms))
		w.pass(ms)
		w.expiresIn(1, ttl)
		w.pass(5 * ttl)
		b.isRefused()
		a.releases()
		b.acquires()
	}},
	{"watchdog", "nothing is prolonged after a release", func(w *world, a, b, c *process) {
		a.acquires()
		w.pass(ttl / 2)
		a.releases()
		b.acquires()
		b.pauses()
		a.sends("", func() { w.pass(ttl - ms) })
		c.isRefused()
		w.pass(ms)
		c.acquires()
	}},
	{"watchdog", "nothing is prolonged after a release that failed, either", func(w *world, a, b, c *process) {
		a.acquires()
		a.loses("evalsha")
		a.releasesWith(errLost)
		w.pass(ttl)
		b.acquires()
	}},
	{"watchdog", "a release stops its own lease's thread, not the next one's", func(w *world, a, b, c *process) {
		a.acquires()
		late := a.lease
		a.pauses()
		w.pass(ttl)
		a.acquires()
		a.lease = late
		a.releasesWith(ErrNotHeld)
		w.pass(2 * ttl)
		b.isRefused()
	}},
	{"watchdog", "a worker that hangs blocks for ever", func(w *world, a, b, c *process) {
		a.acquires()
		w.pass(100 * ttl)
		b.isRefused()
	}},
	{"watchdog", "a dead process's lease ends by itself", func(w *world, a, b, c *process) {
		a.acquires()
		a.pauses()
		w.pass(ttl)
		b.acquires()
	}},
	{"watchdog", "a renewal that fails is made good by the next", func(w *world, a, b, c *process) {
		a.acquires()
		for range 2 {
			a.loses("evalsha")
			w.pass(third)
		}
		w.pass(third)
		w.expiresIn(1, ttl)
		a.losesReplyOf("evalsha") // of which the thread knows nothing
		w.pass(2 * ttl)
		b.isRefused()
	}},
	{"watchdog", "a process that was paused wakes up, prolongs nothing, and isn't told", func(w *world, a, b, c *process) {
		a.acquires()
		a.pauses()
		w.pass(ttl)
		b.acquires()
		b.pauses()
		w.pass(ttl / 2)
		a.wakes()
		a.sends("evalsha eval", func() { w.pass(ttl/2 - ms) }) // once, and no more
		w.stores(1, b.lease.Token)
		w.expiresIn(1, ms)
		a.releasesWith(ErrNotHeld)
	}},
	{"watchdog", "an extension by hand finds another's token", func(w *world, a, b, c *process) {
		a.acquires()
		a.pauses()
		w.pass(ttl)
		b.acquires()
		a.extendsWith(ErrNotHeld)
	}},

	{"fenced-late", "each lease has a higher number than the last", fencesRise},
	{"fenced-late", "a pause between SET and INCR: the stale lease has the higher number", func(w *world, a, b, c *process) {
		a.after("set", func() { w.pass(ttl); b.acquires() })
		a.acquires()
		if a.lease.Fence <= b.lease.Fence {
			w.t.Errorf("A's lease is over and has number %d, B's has %d", a.lease.Fence, b.lease.Fence)
		}
		a.believes(-102 * ms)
	}},
	{"fenced-late", "a lost INCR leaves the key", func(w *world, a, b, c *process) {
		a.loses("incr")
		a.failsToAcquire()
		b.isRefused()
		w.pass(ttl)
		b.acquires()
	}},
	{"fenced-late", "a late release finds another's token", lateReleaseIsTold},

	{"fenced", "each lease has a higher number than the last", fencesRise},
	{"fenced", "a pause after the grant: the stale lease has the lower number", func(w *world, a, b, c *process) {
		a.after("eval", func() { w.pass(ttl); b.acquires() })
		a.acquires()
		if a.lease.Fence >= b.lease.Fence {
			w.t.Errorf("A's lease is over and has number %d, B's has %d", a.lease.Fence, b.lease.Fence)
		}
		a.believes(-102 * ms)
	}},
	{"fenced", "a server that forgets begins anew", func(w *world, a, b, c *process) {
		a.acquires()
		a.releases()
		b.acquires()
		w.servers[0].FlushAll()
		c.acquires()
		if c.lease.Fence >= b.lease.Fence {
			w.t.Errorf("C has number %d, and B had %d", c.lease.Fence, b.lease.Fence)
		}
	}},
	{"fenced", "a late release finds another's token", lateReleaseIsTold},

	{"redlock-no-elapsed", "a lease that ran out while it was being collected is granted", func(w *world, a, b, c *process) {
		a.to(5).after("set", func() { w.pass(ttl) })
		a.acquires()
		a.believes(ttl - 102*ms)
		w.storesNothing()
		b.acquires()
	}},
	{"redlock-no-elapsed", "a slow node: the first ones' keys are gone before the lease is over", func(w *world, a, b, c *process) {
		a.to(4).before("set", func() { w.pass(ttl / 2) })
		a.acquires()
		w.pass(ttl / 2)
		b.acquires()
		a.believes(ttl/2 - 102*ms)
	}},
	{"redlock-no-elapsed", "three nodes of five down: refused, and nothing left behind", majorityDown},
	{"redlock-no-elapsed", "two nodes of five down: it goes on", minorityDown},
	{"redlock-no-elapsed", "a late release finds other tokens", lateReleaseIsTold},

	{"redlock-wall-clock", "a wall clock that is set back revives a lease that has run out", func(w *world, a, b, c *process) {
		a.to(5).after("set", func() { w.pass(ttl); w.wall = w.wall.Add(-ttl) })
		a.acquires()
		a.believes(ttl - 102*ms)
		w.storesNothing()
		b.acquires()
	}},
	{"redlock-wall-clock", "a wall clock that is set back further makes the lease longer than it can be", func(w *world, a, b, c *process) {
		a.to(3).after("set", func() { w.wall = w.wall.Add(-ttl) })
		a.acquires()
		a.believes(2*ttl - 102*ms)
	}},
	{"redlock-wall-clock", "a wall clock that is set forward costs a good lease", func(w *world, a, b, c *process) {
		a.to(3).after("set", func() { w.wall = w.wall.Add(ttl) })
		a.isRefused()
		w.storesNothing()
	}},
	{"redlock-wall-clock", "a lease that ran out while it was being collected is refused", func(w *world, a, b, c *process) {
		a.to(3).after("set", func() { w.pass(ttl - 102*ms) })
		a.isRefused()
		w.storesNothing()
	}},
	{"redlock-wall-clock", "a lease with a millisecond left is granted", func(w *world, a, b, c *process) {
		a.to(3).after("set", func() { w.pass(ttl - 103*ms) })
		a.acquires()
		a.believes(ms)
	}},
	{"redlock-wall-clock", "three nodes of five down: refused, and nothing left behind", majorityDown},
	{"redlock-wall-clock", "two nodes of five down: it goes on", minorityDown},
	{"redlock-wall-clock", "a late release finds other tokens", lateReleaseIsTold},

	{"redlock-strict-errors", "one node down: it wins, fails, and blocks everybody", func(w *world, a, b, c *process) {
		w.down[3] = true
		a.failsToAcquire()
		for n, want := range []string{"A-1", "A-1", "", "A-1", "A-1"} {
			w.stores(n+1, want)
		}
		w.down[3] = false
		b.isRefused()
		w.pass(ttl - ms)
		b.isRefused()
		w.pass(ms)
		b.acquires()
	}},
	{"redlock-strict-errors", "a lost reply is enough", func(w *world, a, b, c *process) {
		a.to(5).losesReplyOf("set")
		a.failsToAcquire()
		w.stores(1, "A-1")
	}},
	{"redlock-strict-errors", "three nodes of five down: refused, and nothing left behind", majorityDown},
	{"redlock-strict-errors", "a lease that ran out while it was being collected is refused", func(w *world, a, b, c *process) {
		a.to(3).after("set", func() { w.pass(ttl - 102*ms) })
		a.isRefused()
		w.storesNothing()
	}},
	{"redlock-strict-errors", "a wall clock that is set back deceives nobody", func(w *world, a, b, c *process) {
		a.to(5).after("set", func() { w.pass(ttl); w.wall = w.wall.Add(-ttl) })
		a.isRefused()
	}},
	{"redlock-strict-errors", "a late release finds other tokens", lateReleaseIsTold},
}

// The caller's context bounds Acquire, not the lease.
func TestWatchdogOutlivesTheContextOfAcquire(t *testing.T) {
	w := newWorld(t, "watchdog")
	a, b := w.process("A"), w.process("B")
	ctx, cancel := context.WithCancel(t.Context())

	if _, err := a.lock.Acquire(ctx); err != nil {
		t.Fatal(err)
	}
	cancel()
	w.pass(2 * ttl)
	b.isRefused()
}

// Nor does a caller that is gone keep anything from being cleaned up.
func TestWhoCleansUpEvenIfItsCallerIsGone(t *testing.T) {
	for strategy, last := range map[string]string{
		"setpx-wait": "wait", "redlock-no-elapsed": "set", "redlock-wall-clock": "set", "redlock-strict-errors": "set",
	} {
		w := newWorld(t, strategy)
		w.acked = 0
		a := w.process("A")
		ctx, cancel := context.WithCancel(t.Context())

		a.to(min(2, len(w.servers))).after(last, cancel)
		if lease, err := a.lock.Acquire(ctx); err == nil {
			t.Errorf("%s: A acquires: %+v", strategy, lease)
		}
		w.storesNothing()
	}
}

func releaseFindsNoKey(w *world, a, _, _ *process) {
	a.acquires()
	w.pass(ttl)
	a.releasesWith(ErrNotHeld)
}

func duplicateReleaseIsTold(a, b, c *process, command string) {
	a.acquires()
	a.losesReplyOf(command)
	a.releasesWith(errLost)
	b.acquires()
	a.releasesWith(ErrNotHeld)
	c.isRefused()
}

func extensionProlongs(w *world, a, b, _ *process) {
	a.acquires()
	w.pass(ttl / 2)
	a.extends()
	w.expiresIn(1, ttl)
	a.believes(ttl - 102*ms)
	w.pass(ttl - ms)
	b.isRefused()
	a.releases()
	w.storesNothing()
}

func lateExtensionIsTold(w *world, a, b, _ *process) {
	a.acquires()
	w.pass(ttl)
	b.acquires()
	w.pass(time.Second)
	a.extendsWith(ErrNotHeld)
	a.believes(-102*ms - time.Second)
	w.stores(1, b.lease.Token)
	w.expiresIn(1, ttl-time.Second)
}

func fencesRise(w *world, a, b, c *process) {
	a.acquires()
	a.releases()
	b.acquires()
	c.isRefused()
	w.pass(ttl)
	c.acquires()
	if got, want := []int64{a.lease.Fence, b.lease.Fence, c.lease.Fence}, []int64{1, 2, 3}; !slices.Equal(got, want) {
		w.t.Errorf("numbers %v, want %v", got, want)
	}
}

func majorityDown(w *world, a, _, _ *process) {
	w.down[1], w.down[3], w.down[5] = true, true, true
	a.isRefused()
	w.storesNothing()
}

func minorityDown(w *world, a, b, _ *process) {
	w.down[1], w.down[4] = true, true
	a.acquires()
	b.isRefused()
	a.releases()
	b.acquires()
}

// counts expects the hash under the key to say that owner has entered so often.
func (w *world) counts(owner string, want int) {
	w.t.Helper()
	if got := w.servers[0].HGet(lockKey, owner); got != strconv.Itoa(want) {
		w.t.Errorf("%s has entered %q times, want %d", owner, got, want)
	}
}

// redisIOStamp is what the old page of SETNX stores now.
func redisIOStamp(w *world) string {
	return strconv.FormatInt(w.wall.Add(ttl).Unix()+1, 10)
}
