package fuzz

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"lockstep/sim/testenv"
	"lockstep/strategies"
)

// lasting is how a lock is made that keeps its subscription from one cycle to the next. Whoever is
// refused waits for a message, and does what it is told.
type lasting struct {
	events  bool // keyspace notifications, and no PUBLISH
	early   bool // it subscribes before it asks for the first time
	drains  bool // it reads what has come before it asks
	span    time.Duration
	heard   int  // what it does then: see act
	counts  bool // messages of earlier cycles count
	renews  int  // it subscribes anew after so many cycles
	careful bool // the release compares
}

func (s lasting) String() string {
	return fmt.Sprintf("lasting-%t-%t-%t-%s-%d-%t-%d-%t", s.events, s.early, s.drains, s.span, s.heard, s.counts, s.renews, s.careful)
}

// drawLasting draws a lock: what it does when it has heard something, and how it listens, are chance.
func drawLasting(rng *rand.Rand) lasting {
	return lasting{events: rng.IntN(2) == 0, early: rng.IntN(2) == 0, drains: rng.IntN(2) == 0, span: []time.Duration{300 * time.Millisecond, time.Second, 13 * time.Second}[rng.IntN(3)],
		heard: rng.IntN(5), counts: rng.IntN(4) == 0, renews: rng.IntN(3), careful: rng.IntN(4) > 0}
}

type lastingLock struct {
	*lock
	lasting
	sub   *redis.PubSub
	asked int
	news  int
}

func (l *lastingLock) listen(ctx context.Context) error {
	if l.sub != nil {
		return nil
	}
	if l.events {
		if err := l.rdb.ConfigSet(ctx, "notify-keyspace-events", "Kgx").Err(); err != nil {
			return err
		}
		l.sub = l.rdb.Subscribe(ctx, "__keyspace@0__:"+l.key) // of two channels, the library asks in any order when it connects again
	} else {
		l.sub = l.rdb.Subscribe(ctx, "freed")
	}
	return nil
}

// hear waits for a message. It returns "" if there was none.
func (l *lastingLock) hear(ctx context.Context, span time.Duration) (string, error) {
	for {
		got, err := l.sub.ReceiveTimeout(ctx, span)
		var late net.Error
		if errors.As(err, &late) && late.Timeout() {
			return "", nil
		}
		if err != nil {
			return "", err
		}
		if m, is := got.(*redis.Message); is && (!l.events || m.Payload == "del" || m.Payload == "expired") {
			return m.Payload, nil
		}
	}
}

func (l *lastingLock) Acquire(ctx context.Context) (*strategies.Lease, error) {
	if l.asked++; l.renews > 0 && l.asked > l.renews && l.sub != nil {
		_ = l.sub.Close()
		l.sub, l.asked = nil, 1
	}
	if l.early {
		if err := l.listen(ctx); err != nil {
			return nil, err
		}
	}
	if !l.counts {
		l.news = 0
	}
	if l.drains && l.sub != nil {
		for {
			m, err := l.hear(ctx, time.Millisecond)
			if err != nil {
				return nil, err
			}
			if m == "" {
				break
			}
			l.news++
		}
	}
	lease, err := take(ctx, l.lock)
	if !refused(err) {
		return lease, err
	}
	if err := l.listen(ctx); err != nil {
		return nil, err
	}
	saw, err := l.rdb.Get(ctx, l.key).Result()
	if err != nil && !errors.Is(err, redis.Nil) {
		return nil, err
	}
	m, err := l.hear(ctx, l.span)
	if err != nil {
		return nil, err
	}
	if m != "" {
		l.news++
	}
	return l.act(ctx, m != "" && (m == saw || m == "expired"))
}

// act is what a client does that was refused and has waited. It may have heard of the record that it saw.
func (l *lastingLock) act(ctx context.Context, ofIt bool) (*strategies.Lease, error) {
	switch {
	case l.heard == 0, l.heard == 1 && l.news > 0:
		return take(ctx, l.lock)
	case l.heard == 2 && l.news > 0, l.heard == 3 && ofIt, l.heard == 4 && l.news > 1:
		return seize(ctx, l.lock)
	}
	return nil, strategies.ErrNotAcquired
}

func (l *lastingLock) Release(ctx context.Context, lease *strategies.Lease) error {
	switch {
	case !l.careful:
		return errors.Join(del(ctx, l.lock, lease), l.rdb.Publish(ctx, "freed", lease.Token).Err())
	case l.events:
		return give(ctx, l.lock, lease)
	}
	return giveAndTell(ctx, l.lock, lease)
}

func (s lasting) subject() *subject {
	of := custom(s.String(), "", steps{})
	of.strategy.Name = "lasting"
	of.strategy.Timeout = time.Second
	made := of.strategy.New
	of.strategy.New = func(nodes []*redis.Client, key string, o strategies.Options) strategies.Lock {
		return &lastingLock{lock: made(nodes, key, o).(*lock), lasting: s}
	}
	return of
}

// TestLasting: the search finds what random schedules show of locks that keep a subscription.
func TestLasting(t *testing.T) {
	testenv.Long(t)
	t.Logf("seed %d", *seed)
	rng := rand.New(rand.NewPCG(*seed, 7))
	for n := range drawn(testenv.Count(1, 60)) {
		s := drawLasting(rng)
		f := newFuzzer(s.subject(), *seed*1000+uint64(n))
		f.limit = *stateLimit
		f.fuzz(t)
	}
}
