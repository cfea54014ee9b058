package fuzz

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"lockstep/sim/testenv"
	"lockstep/strategies"
)

// quorum is how a lock on several servers is made. With a majority for need, and all else zero, it is
// Redlock.
type quorum struct {
	nodes   int
	need    int // votes
	checks  validity
	cleans  servers // where a lock that was refused cleans up
	frees   servers // where a release deletes
	blindly bool    // it deletes whatever is there
	token   int     // a new one for each try, for each cycle, or for the whole process
	first   time.Duration
	back    bool // it asks the last server first
	stops   bool // at a majority
	breaks  bool // at the first that fails
	tells   int  // the deadline: by the first sending, none, or by the last reply
	tries   int
}

// validity is how a lock checks that its lease is not over when it has its votes.
type validity int

const (
	strict  validity = iota // that time is left after the last vote
	never                   // not at all
	late                    // counts from the last vote
	perVote                 // after each vote
	half                    // more than half
)

// servers are those on which a lock deletes its record.
type servers int

const (
	everywhere servers = iota
	granting           // where it got a vote
	nowhere
	firstAlone
	refusing
)

func (q quorum) String() string {
	return fmt.Sprintf("quorum-%d-%d-%d-%d-%d-%t-%d-%s-%t-%t-%t-%d-%d", q.nodes, q.need, q.checks, q.cleans, q.frees, q.blindly, q.token, q.first, q.back, q.stops, q.breaks, q.tells, q.tries)
}

// drawQuorum draws a lock with up to four things that may be wrong.
func drawQuorum(rng *rand.Rand, nodes int) quorum {
	q := quorum{nodes: nodes, need: nodes/2 + 1, tries: 1}
	for range 1 + rng.IntN(4) {
		switch rng.IntN(12) {
		case 0:
			q.need = 1 + rng.IntN(nodes)
		case 1, 2:
			q.checks = validity(rng.IntN(5))
		case 3, 4:
			q.cleans = servers(rng.IntN(5))
		case 5:
			q.frees = servers(rng.IntN(5))
		case 6:
			q.blindly = rng.IntN(2) == 0
		case 7:
			q.token = rng.IntN(3)
		case 8:
			q.first = []time.Duration{time.Second, 6 * time.Second, 24 * time.Second, 11 * time.Second}[rng.IntN(4)]
		case 9:
			q.back = rng.IntN(2) == 0
		case 10:
			q.stops, q.breaks = rng.IntN(2) == 0, rng.IntN(3) == 0
		case 11:
			q.tells = rng.IntN(3)
		}
	}
	if rng.IntN(4) == 0 {
		q.tries = 2
	}
	return q
}

type quorumLock struct {
	quorum
	redis []*redis.Client
	key   string
	strategies.Options
	kept string // its token
}

func (l *quorumLock) Acquire(ctx context.Context) (*strategies.Lease, error) {
	if l.quorum.token == 1 {
		l.kept = ""
	}
	for n := 1; ; n++ {
		lease, err := l.try(ctx)
		if err != strategies.ErrNotAcquired || n == l.Retry.Tries { //nolint:errorlint // it is never wrapped here
			return lease, err
		}
		if err := l.Clock.Sleep(ctx, l.Retry.Delay); err != nil {
			return nil, err
		}
	}
}

func (l *quorumLock) sequence() []int {
	all := make([]int, l.nodes)
	for i := range all {
		all[i] = i
	}
	if l.back {
		slices.Reverse(all)
	}
	return all
}

func (l *quorumLock) try(ctx context.Context) (*strategies.Lease, error) {
	token := l.kept
	if token == "" || l.quorum.token == 0 {
		token = l.Token()
	}
	l.kept = token
	sent := l.Clock.Monotonic()
	var votes []int
	last := sent
	for _, i := range l.sequence() {
		ttl := l.TTL
		if i == 0 && l.first > 0 {
			ttl = l.first
		}
		won, err := l.redis[i].SetArgs(ctx, l.key, token, redis.SetArgs{Mode: "NX", TTL: ttl}).Result()
		if err == nil && won == "OK" {
			votes = append(votes, i)
		} else if l.breaks {
			break
		}
		if l.checks == perVote {
			if last = l.Clock.Monotonic(); last-sent > l.TTL/2 {
				break
			}
		}
		if l.stops && len(votes) >= l.need {
			break
		}
	}
	deadline := sent + l.TTL - l.TTL/100 - 2*time.Millisecond
	now := sent
	if l.checks != never {
		now = l.Clock.Monotonic()
	}
	valid := now < deadline
	switch l.checks {
	case late:
		valid, deadline = true, now+l.TTL-l.TTL/100-2*time.Millisecond
	case half:
		valid = now-sent < l.TTL/2
	}
	if len(votes) >= l.need && valid {
		lease := &strategies.Lease{Token: token, Deadline: deadline}
		switch l.tells {
		case 1:
			lease.Deadline = 0
		case 2:
			lease.Deadline = l.Clock.Monotonic() + l.TTL
		}
		return lease, nil
	}
	l.free(context.WithoutCancel(ctx), token, l.cleans, votes)
	return nil, strategies.ErrNotAcquired
}

func (l *quorumLock) free(ctx context.Context, token string, where servers, votes []int) (freed int, failed error) {
	for i, rdb := range l.redis {
		voted := slices.Contains(votes, i)
		if where == nowhere || where == granting && !voted || where == refusing && voted || where == firstAlone && i > 0 {
			continue
		}
		n, err := 0, error(nil)
		if l.blindly {
			var deleted int64
			deleted, err = rdb.Del(ctx, l.key).Result()
			n = int(deleted)
		} else {
			n, err = compareDelete.Run(ctx, rdb, []string{l.key}, token).Int()
		}
		freed += n
		if err != nil {
			failed = err
		}
	}
	return freed, failed
}

func (l *quorumLock) Release(ctx context.Context, lease *strategies.Lease) error {
	all := make([]int, l.need) // the first of them
	for i := range all {
		all[i] = i
	}
	n, err := l.free(ctx, lease.Token, l.frees, all)
	if err == nil && n < l.need {
		err = strategies.ErrNotHeld
	}
	return err
}

func (q quorum) subject() *subject {
	s := &subject{name: q.String(), tries: q.tries, nodes: q.nodes}
	s.strategy = strategies.Strategy{Name: "quorum", Nodes: q.nodes, Timeout: 500 * time.Millisecond, Retry: strategies.Retry{Tries: 1, Delay: 200 * time.Millisecond},
		New: func(nodes []*redis.Client, key string, o strategies.Options) strategies.Lock {
			return &quorumLock{quorum: q, redis: nodes, key: key, Options: o}
		}}
	return s
}

var (
	lockCount  = flag.Int("locks", 0, "how many locks TestQuorums and TestLasting draw; 0 for the usual number")
	stateLimit = flag.Int64("limit", 60_000, "how many states each of their searches may have")
)

// drawn is how many locks a test draws, with its usual number.
func drawn(usual int) int { return cmp.Or(*lockCount, usual) }

// TestQuorums: the search finds what random schedules show of locks on several servers. Those on five, of which a
// search takes minutes, are left to the larger run.
func TestQuorums(t *testing.T) {
	testenv.Long(t)
	t.Logf("seed %d", *seed)
	rng := rand.New(rand.NewPCG(*seed, 5))
	for n := range drawn(testenv.Count(10, 60)) {
		servers := 3
		if testenv.Whole() && n%3 == 2 {
			servers = 5
		}
		f := newFuzzer(drawQuorum(rng, servers).subject(), *seed*1000+uint64(n))
		f.limit = *stateLimit
		f.fuzz(t)
	}
}

// fuzz plays some hundred random schedules of a lock, and reports.
func (f *fuzzer) fuzz(t *testing.T) {
	t.Helper()
	defer f.Close() //nolint:errcheck // nothing is written
	for range 10 * *runs {
		if err := f.run(); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("%s: %d runs, %d violations, %d searches, %d too big, %d found, %d refused", f.subject.name, f.counts.runs, f.counts.violations,
		len(f.answers), f.counts.tooBig, len(f.shown), len(f.refused))
	f.report(t)
}
