package explore

import (
	"context"
	"errors"
	"math/rand/v2"
	"net"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"lockstep/sim/testenv"
	"lockstep/strategies"
)

// waitingLocks are locks that wait for messages, or at their servers, in many ways. Not all are right.
func waitingLocks() map[string]strategies.Strategy {
	return map[string]strategies.Strategy{
		"subscribe":       whoWaits(subscriber(true)),
		"subscribe alone": whoWaits(subscriber(false)),
		"pattern":         whoWaits(listener),
		"turnstile":       turnstile(2 * time.Second),
		"turnstile, 0":    turnstile(0),
		"baton":           baton(),
		"zset":            ticket(),
		"watchdog":        watched(turnstile(4 * time.Second)),
		"across cycles":   keepsSubscription(),
		"immortal":        immortal(true),
		"notified":        notified(true, "KEA", false),
		"by expiry alone": notified(true, "Kx", true),
	}
}

// whoWaits is a lock that is released by a script which publishes, and in which a client that is refused waits.
func whoWaits(wait func(ctx context.Context, m *mutant) error) strategies.Strategy {
	s := mutantStrategy(mutant{acquire: func(ctx context.Context, m *mutant) (*strategies.Lease, error) {
		lease, err := rightAcquire(ctx, m)
		if !errors.Is(err, strategies.ErrNotAcquired) {
			return lease, err
		}
		if err := wait(ctx, m); err != nil {
			return nil, err
		}
		return rightAcquire(ctx, m)
	}, release: func(ctx context.Context, m *mutant, l *strategies.Lease) error {
		n, err := m.nodes[0].Eval(ctx, `if redis.call("GET", KEYS[1]) ~= ARGV[1] then return 0 end
			redis.call("DEL", KEYS[1])
			return 1 + redis.call("PUBLISH", "free", ARGV[1])`, []string{m.key}, l.Token).Int()
		if err == nil && n == 0 {
			err = strategies.ErrNotHeld
		}
		return err
	}}, 1)
	return s
}

// timedOut leaves out the error of a wait that has ended without a message.
func timedOut(err error) error {
	var e net.Error
	if errors.As(err, &e) && e.Timeout() {
		return nil
	}
	return err
}

// subscriber waits for a message for 5s, and if asks is set only if it isn't granted the lock when it has subscribed.
func subscriber(asks bool) func(context.Context, *mutant) error {
	return func(ctx context.Context, m *mutant) error {
		sub := m.nodes[0].Subscribe(ctx, "free")
		defer sub.Close() //nolint:errcheck // it is gone
		if _, err := sub.ReceiveTimeout(ctx, 3*time.Second); err != nil {
			return timedOut(err)
		}
		if n, err := m.nodes[0].Exists(ctx, m.key).Result(); asks && (err != nil || n == 0) {
			return err
		}
		_, err := sub.ReceiveTimeout(ctx, 5*time.Second)
		return timedOut(err)
	}
}

// notified is a lock whose waiters wait for a keyspace notification about its record: by a pattern, or by the names of
// the events.
func notified(asks bool, flags string, byPattern bool) strategies.Strategy {
	s := mutantStrategy(mutant{release: rightRelease, acquire: func(ctx context.Context, m *mutant) (*strategies.Lease, error) {
		lease, err := rightAcquire(ctx, m)
		if !errors.Is(err, strategies.ErrNotAcquired) {
			return lease, err
		}
		if err := m.nodes[0].ConfigSet(ctx, "notify-keyspace-events", flags).Err(); err != nil {
			return nil, err
		}
		sub := m.nodes[0].Subscribe(ctx, "__keyevent@0__:del", "__keyevent@0__:expired")
		if byPattern {
			sub = m.nodes[0].PSubscribe(ctx, "__keyspace@0__:"+m.key)
		}
		defer sub.Close() //nolint:errcheck // it is gone
		if _, err := sub.ReceiveTimeout(ctx, time.Second); err != nil {
			return nil, err
		}
		if !byPattern {
			if _, err := sub.ReceiveTimeout(ctx, time.Second); err != nil { // the second confirmation
				return nil, err
			}
		}
		if lease, err := rightAcquire(ctx, m); asks && !errors.Is(err, strategies.ErrNotAcquired) {
			return lease, err
		}
		if _, err := sub.ReceiveTimeout(ctx, 2*m.TTL); timedOut(err) != nil {
			return nil, err
		}
		return rightAcquire(ctx, m)
	}}, 1)
	return s
}

func listener(ctx context.Context, m *mutant) error {
	sub := m.nodes[0].PSubscribe(ctx, "f*", "*e")
	defer sub.Close() //nolint:errcheck // it is gone
	for range 3 {
		if _, err := sub.ReceiveTimeout(ctx, 4*time.Second); err != nil {
			return timedOut(err)
		}
	}
	return sub.PUnsubscribe(ctx, "f*")
}

// turnstile is a lock whose token lies in a list, which the first to come puts there.
func turnstile(patience time.Duration) strategies.Strategy {
	s := mutantStrategy(mutant{acquire: func(ctx context.Context, m *mutant) (*strategies.Lease, error) {
		first, err := m.nodes[0].SetNX(ctx, "begun", 1, 0).Result()
		if err == nil && first {
			err = m.nodes[0].RPush(ctx, "free", "token").Err()
		}
		if err != nil {
			return nil, err
		}
		switch _, err := m.nodes[0].BLPop(ctx, patience, "free").Result(); {
		case errors.Is(err, redis.Nil):
			return nil, strategies.ErrNotAcquired
		case err != nil:
			return nil, err
		}
		return &strategies.Lease{Token: m.Token()}, nil
	}, release: func(ctx context.Context, m *mutant, _ *strategies.Lease) error {
		return m.nodes[0].RPush(ctx, "free", "token").Err()
	}}, 1)
	s.NoTTL = true
	return s
}

// baton is a lock whose holder hands it to whoever waits, by a list with a TTL, and whose record is stored besides.
func baton() strategies.Strategy {
	return mutantStrategy(mutant{acquire: func(ctx context.Context, m *mutant) (*strategies.Lease, error) {
		lease, err := rightAcquire(ctx, m)
		if !errors.Is(err, strategies.ErrNotAcquired) {
			return lease, err
		}
		if err := m.nodes[0].BLMove(ctx, "baton", "taken", "RIGHT", "LEFT", 3*time.Second).Err(); err != nil && !errors.Is(err, redis.Nil) {
			return nil, err
		}
		return rightAcquire(ctx, m)
	}, release: func(ctx context.Context, m *mutant, l *strategies.Lease) error {
		_, err := m.nodes[0].TxPipelined(ctx, func(p redis.Pipeliner) error {
			p.Del(ctx, "baton")
			p.LPush(ctx, "baton", l.Token)
			p.PExpire(ctx, "baton", m.TTL)
			p.Del(ctx, "taken")
			return nil
		})
		return errors.Join(err, rightRelease(ctx, m, l))
	}}, 1)
}

// ticket is a lock whose waiters stand in a sorted set, and take out the least by BZPOPMIN.
func ticket() strategies.Strategy {
	s := turnstile(0)
	made := s.New
	s.New = func(nodes []*redis.Client, key string, o strategies.Options) strategies.Lock {
		m := made(nodes, key, o).(*mutant) //nolint:forcetypeassert // see turnstile
		m.acquire = func(ctx context.Context, m *mutant) (*strategies.Lease, error) {
			if first, err := m.nodes[0].SetNX(ctx, "begun", 1, 0).Result(); err != nil {
				return nil, err
			} else if first {
				m.nodes[0].ZAdd(ctx, "free", redis.Z{Score: 1, Member: "token"})
			}
			switch _, err := m.nodes[0].BZPopMin(ctx, 2500*time.Millisecond, "free", "other").Result(); {
			case errors.Is(err, redis.Nil):
				return nil, strategies.ErrNotAcquired
			case err != nil:
				return nil, err
			}
			return &strategies.Lease{Token: m.Token()}, nil
		}
		m.release = func(ctx context.Context, m *mutant, _ *strategies.Lease) error {
			return m.nodes[0].ZAdd(ctx, "free", redis.Z{Score: 1, Member: "token"}).Err()
		}
		return m
	}
	return s
}

// watched is a lock of which a second thread does something every second while it waits.
func watched(s strategies.Strategy) strategies.Strategy {
	made := s.New
	s.New = func(nodes []*redis.Client, key string, o strategies.Options) strategies.Lock {
		m := made(nodes, key, o).(*mutant) //nolint:forcetypeassert // see turnstile
		take := m.acquire
		m.acquire = func(ctx context.Context, m *mutant) (*strategies.Lease, error) {
			ctx, cancel := context.WithCancel(ctx)
			defer cancel()
			m.Go(func() {
				for m.Clock.Sleep(ctx, 2*time.Second) == nil {
					m.nodes[0].Incr(ctx, "waits")
				}
			})
			return take(ctx, m)
		}
		return m
	}
	return s
}

// keepsSubscription is a lock that subscribes once, and listens whenever it is refused.
func keepsSubscription() strategies.Strategy {
	s := whoWaits(nil)
	made := s.New
	s.New = func(nodes []*redis.Client, key string, o strategies.Options) strategies.Lock {
		m := made(nodes, key, o).(*mutant) //nolint:forcetypeassert // see whoWaits
		var sub *redis.PubSub
		m.acquire = func(ctx context.Context, m *mutant) (*strategies.Lease, error) {
			if sub == nil {
				sub = m.nodes[0].Subscribe(ctx, "free")
				if _, err := sub.ReceiveTimeout(ctx, time.Second); err != nil {
					return nil, errors.Join(err, sub.Close())
				}
			}
			lease, err := rightAcquire(ctx, m)
			if !errors.Is(err, strategies.ErrNotAcquired) {
				return lease, err
			}
			if _, err := sub.ReceiveTimeout(ctx, time.Second); timedOut(err) != nil {
				return nil, err
			}
			return rightAcquire(ctx, m)
		}
		return m
	}
	return s
}

// TestFaithfulWaits is TestFaithful for locks that wait for messages, or at their servers.
func TestFaithfulWaits(t *testing.T) {
	t.Parallel()
	for name, s := range waitingLocks() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := Bounds{Strategy: s, Clients: 3, Cycles: 2, TTL: 12 * time.Second}
			b.Faults = Budget{1, 3, 1, 1, 1, 1, 1, 1, Evict: 1}
			expectAgreement(t, b, uint64(testenv.Quick(160, 800)))
			b.Faults = Budget{Crash: 1, Pause: 3, ReplyLost: 1, HoldRequest: 1, Duplicate: 1, ClientClock: 1, Failover: 1}
			expectAgreement(t, b, uint64(testenv.Quick(80, 400)))
			seed := uint64(4)
			draws := 1
			if testenv.Whole() && !testenv.Raced {
				draws = 24
			}
			for ; draws > 0; draws-- {
				b := drawBounds(s, rand.New(rand.NewPCG(seed, uint64(draws))))
				b.Checks, b.Extend, b.Clients = false, false, min(b.Clients, 3)
				if err := agreement(b, 40); err != nil {
					b.Strategy.New = nil
					t.Fatalf("seed %d: %+v\n%s", draws, b, err)
				}
			}
		})
	}
}

// takesMessage takes the message for a grant, and stores no record.
func takesMessage() strategies.Strategy {
	s := whoWaits(nil)
	made := s.New
	s.New = func(nodes []*redis.Client, key string, o strategies.Options) strategies.Lock {
		m := made(nodes, key, o).(*mutant) //nolint:forcetypeassert // see whoWaits
		m.acquire = func(ctx context.Context, m *mutant) (*strategies.Lease, error) {
			lease, err := rightAcquire(ctx, m)
			if !errors.Is(err, strategies.ErrNotAcquired) {
				return lease, err
			}
			sub := m.nodes[0].Subscribe(ctx, "free")
			defer sub.Close() //nolint:errcheck // it is gone
			for range 2 {
				if _, err := sub.ReceiveTimeout(ctx, m.TTL); err != nil {
					return nil, errors.Join(strategies.ErrNotAcquired, timedOut(err))
				}
			}
			return &strategies.Lease{Token: m.Token(), Deadline: m.Clock.Monotonic() + m.TTL - m.grace()}, nil
		}
		return m
	}
	return s
}

// immortal is a lock whose record has no TTL, and whose waiters wait for a message for as long as it takes.
func immortal(subscribes bool) strategies.Strategy {
	s := whoWaits(nil)
	made := s.New
	s.NoTTL = true
	s.New = func(nodes []*redis.Client, key string, o strategies.Options) strategies.Lock {
		m := made(nodes, key, o).(*mutant) //nolint:forcetypeassert // see whoWaits
		m.acquire = func(ctx context.Context, m *mutant) (*strategies.Lease, error) {
			token := m.Token()
			err := m.set(ctx, m.nodes[0], token, 0)
			if !errors.Is(err, strategies.ErrNotAcquired) {
				return &strategies.Lease{Token: token}, err
			}
			if subscribes {
				sub := m.nodes[0].Subscribe(ctx, "free")
				defer sub.Close() //nolint:errcheck // it is gone
				for range 2 {
					if _, err := sub.Receive(ctx); err != nil {
						return nil, err
					}
				}
			} else if err := m.nodes[0].BLPop(ctx, 0, "nothing").Err(); err != nil {
				return nil, err
			}
			return nil, strategies.ErrNotAcquired
		}
		return m
	}
	return s
}

// glimpse is a lock whose clients subscribe for a moment, and whose holder takes whoever it can tell for its heir: that
// others listen for no longer than it takes to read the confirmation is seen by the count that PUBLISH replies.
func glimpse() strategies.Strategy {
	return mutantStrategy(mutant{acquire: func(ctx context.Context, m *mutant) (*strategies.Lease, error) {
		sub := m.nodes[0].Subscribe(ctx, "free")
		_, err := sub.ReceiveTimeout(ctx, time.Second)
		if err := errors.Join(err, sub.Close()); err != nil {
			return nil, err
		}
		if n, err := m.nodes[0].Exists(ctx, "heir").Result(); err != nil || n == 0 {
			lease, err := rightAcquire(ctx, m)
			return lease, err
		}
		return &strategies.Lease{Token: m.Token()}, nil
	}, release: func(ctx context.Context, m *mutant, l *strategies.Lease) error {
		n, err := m.nodes[0].Publish(ctx, "free", "").Result()
		if err == nil && n > 0 {
			err = m.nodes[0].Set(ctx, "heir", 1, 0).Err()
		}
		return errors.Join(err, rightRelease(ctx, m, l))
	}}, 1)
}

// TestWaits: what a search says of locks that wait.
func TestWaits(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		lock   strategies.Strategy
		faults Budget
		found  string // violations
		asleep bool
		stuck  bool // nobody can have the lock, and no record is to blame
		cycles int  // that are enough to show it
	}{
		"subscribe":             {whoWaits(subscriber(true)), Budget{}, "", false, false, 1},
		"subscribe, pauses":     {whoWaits(subscriber(true)), Budget{Crash: 1, Pause: 1}, "SW OV", false, false, 1},
		"subscribe, lost":       {whoWaits(subscriber(true)), Budget{Crash: 1, ReplyLost: 1}, "FN", false, false, 1},
		"a message for a grant": {takesMessage(), Budget{}, "SW DG OV", false, false, 2},
		"notified":              {notified(true, "KEA", false), Budget{Crash: 1}, "", false, false, 1},
		"notified, pauses":      {notified(true, "Kxg", true), Budget{Pause: 1}, "SW OV", false, false, 1},
		"glimpse":               {glimpse(), Budget{}, "SW DG OV", false, false, 2},
		"turnstile":             {turnstile(2 * time.Second), Budget{}, "", false, false, 1},
		"turnstile, crash":      {turnstile(2 * time.Second), Budget{Crash: 1}, "", false, true, 1},
		"turnstile, lost":       {turnstile(2 * time.Second), Budget{ReplyLost: 1}, "", false, true, 1},
		"turnstile, 0":          {turnstile(0), Budget{Crash: 1}, "", true, true, 1},
		"zset":                  {ticket(), Budget{Crash: 1, Pause: 1}, "", false, true, 1},
		"immortal":              {immortal(true), Budget{}, "", true, false, 1},
		"immortal, crash":       {immortal(true), Budget{Crash: 1}, "PD", true, false, 1},
		"immortal by BLPOP":     {immortal(false), Budget{Crash: 1}, "PD", true, false, 1},
		"across cycles":         {keepsSubscription(), Budget{Crash: 1}, "", false, false, 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := Bounds{Strategy: c.lock, Clients: 2, Cycles: c.cycles, TTL: 12 * time.Second, Faults: c.faults}
			switch name {
			case "notified, pauses", "across cycles", "subscribe, pauses", "subscribe, lost", "notified", "a message for a grant", "glimpse":
				testenv.Long(t)
			}
			if testenv.Whole() {
				b.Cycles = 2 // with faults, ten times as many situations
			}
			r, err := Run(context.Background(), b, Options{})
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("%d states, %v, complete %t %s", r.States, r.Found, r.Complete, r.Why)
			if got := r.Found.String(); got != c.found && !(c.found == "" && len(r.Found) == 0) {
				t.Errorf("found %s, expected %s", got, c.found)
			}
			if !r.Complete {
				t.Errorf("it came to no end: %s", r.Why)
			}
			if got := r.Vacuity.Asleep != ""; got != c.asleep || r.Vacuity.Stuck != c.stuck {
				t.Errorf("asleep %q, stuck %t", r.Vacuity.Asleep, r.Vacuity.Stuck)
			}
		})
	}
}

// TestBruteForceWaits is TestBruteForce for locks that wait for messages, or at their servers. If the token of a
// turnstile is lost the walk finds UA, for which a search doesn't look.
func TestBruteForceWaits(t *testing.T) {
	testenv.Long(t) // TestFaithfulWaits is short
	t.Parallel()
	for name, c := range map[string]struct {
		lock   strategies.Strategy
		faults []FaultKind
	}{
		"subscribe": {whoWaits(subscriber(true)), []FaultKind{Crash, Pause, ReplyLost}},
		"message":   {takesMessage(), []FaultKind{Crash, Pause, ReplyLost}},
		"notified":  {notified(true, "KEA", false), []FaultKind{Crash, Pause}},
		"turnstile": {turnstile(2 * time.Second), []FaultKind{Pause}},
		"zset":      {ticket(), []FaultKind{Pause}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, k := range c.faults {
				b := Bounds{Strategy: c.lock, Clients: 2, Cycles: 1, TTL: 12 * time.Second, Switches: 2}
				b.Faults[k] = 1
				bruteForceAgrees(t, b)
			}
		})
	}
}
