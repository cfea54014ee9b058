package explore

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"lockstep/sim"
	"lockstep/sim/testenv"
	"lockstep/sim/trace"
	"lockstep/strategies"
)

// mutant is a correct lock with one thing wrong in it. The lock is SET NX PX with
// a token, released by a script that compares: each of the functions that are set
// takes the place of one of its steps.
type mutant struct {
	nodes []*redis.Client
	key   string
	strategies.Options
	id   string        // a token of this process
	last time.Duration // that some keep for the next cycle

	acquire func(context.Context, *mutant) (*strategies.Lease, error)
	release func(context.Context, *mutant, *strategies.Lease) error
	extend  func(context.Context, *mutant, *strategies.Lease) error
}

var (
	compareDelete = redis.NewScript(`if redis.call("GET", KEYS[1]) == ARGV[1] then return redis.call("DEL", KEYS[1]) end return 0`)
	compareExpire = redis.NewScript(`if redis.call("GET", KEYS[1]) == ARGV[1] then return redis.call("PEXPIRE", KEYS[1], ARGV[2]) end return 0`)
	comparePart   = redis.NewScript(`local v = redis.call("GET", KEYS[1])
if v and string.sub(v, 2, 3) == string.sub(ARGV[1], 2, 3) then return redis.call("DEL", KEYS[1]) end return 0`)
	deleteAny = redis.NewScript(`return redis.call("DEL", KEYS[1])`)
	setFence  = redis.NewScript(`if redis.call("SET", KEYS[1], ARGV[1], "NX", "PX", ARGV[2]) then return redis.call("INCR", KEYS[2]) end return 0`)
)

func (m *mutant) Acquire(ctx context.Context) (*strategies.Lease, error) { return m.acquire(ctx, m) }

func (m *mutant) Release(ctx context.Context, l *strategies.Lease) error { return m.release(ctx, m, l) }

// mutantExtends is one that can extend.
type mutantExtends struct{ *mutant }

func (m mutantExtends) Extend(ctx context.Context, l *strategies.Lease) error {
	return m.extend(ctx, m.mutant, l)
}

func mutantStrategy(m mutant, nodes int) strategies.Strategy {
	s := strategies.Strategy{Name: "mutant", Nodes: nodes, Timeout: 3 * time.Second, Retry: strategies.Retry{Tries: 1},
		Scripts: []*redis.Script{compareDelete, compareExpire, comparePart, deleteAny, setFence}}
	s.New = func(nodes []*redis.Client, key string, o strategies.Options) strategies.Lock {
		c := m
		c.nodes, c.key, c.Options, c.id = nodes, key, o, o.Token()
		if c.extend != nil {
			return mutantExtends{&c}
		}
		return &c
	}
	return s
}

// set is the step that stores the record.
func (m *mutant) set(ctx context.Context, n *redis.Client, token string, ttl time.Duration) error {
	won, err := n.SetNX(ctx, m.key, token, ttl).Result()
	if err == nil && !won {
		err = strategies.ErrNotAcquired
	}
	return err
}

func (m *mutant) grace() time.Duration { return m.TTL/100 + 2*time.Millisecond }

// rightAcquire and rightRelease are the correct lock.
func rightAcquire(ctx context.Context, m *mutant) (*strategies.Lease, error) {
	token, sent := m.Token(), m.Clock.Monotonic()
	if err := m.set(ctx, m.nodes[0], token, m.TTL); err != nil {
		return nil, err
	}
	return &strategies.Lease{Token: token, Deadline: sent + m.TTL - m.grace()}, nil
}

func rightRelease(ctx context.Context, m *mutant, l *strategies.Lease) error {
	return held(compareDelete.Run(ctx, m.nodes[0], []string{m.key}, l.Token).Int())
}

func rightExtend(ctx context.Context, m *mutant, l *strategies.Lease) error {
	sent := m.Clock.Monotonic()
	if err := held(compareExpire.Run(ctx, m.nodes[0], []string{m.key}, l.Token, m.TTL.Milliseconds()).Int()); err != nil {
		return err
	}
	l.Deadline = sent + m.TTL - m.grace()
	return nil
}

func held(n int, err error) error {
	if err == nil && n == 0 {
		err = strategies.ErrNotHeld
	}
	return err
}

// vote is Redlock, of which a mutant sets the quorum, whether it looks at the time
// once it has that, and whom it asks to forget a lost election.
func vote(quorum func(nodes int) int, looks bool, cleans func(won bool) bool) func(context.Context, *mutant) (*strategies.Lease, error) {
	return func(ctx context.Context, m *mutant) (*strategies.Lease, error) {
		token, sent := m.Token(), m.Clock.Monotonic()
		votes, got := 0, map[int]bool{}
		for i, n := range m.nodes {
			if m.set(ctx, n, token, m.TTL) == nil {
				got[i] = true
				votes++
			}
		}
		deadline := sent + m.TTL - m.grace()
		if votes >= quorum(len(m.nodes)) && (!looks || m.Clock.Monotonic() < deadline) {
			if !looks {
				deadline = m.Clock.Monotonic() + m.TTL - m.grace()
			}
			return &strategies.Lease{Token: token, Deadline: deadline}, nil
		}
		for i, n := range m.nodes {
			if cleans(got[i]) {
				compareDelete.Run(ctx, n, []string{m.key}, token)
			}
		}
		return nil, strategies.ErrNotAcquired
	}
}

func unvote(ctx context.Context, m *mutant, l *strategies.Lease) error {
	n := 0
	for _, node := range m.nodes {
		deleted, _ := compareDelete.Run(ctx, node, []string{m.key}, l.Token).Int()
		n += deleted
	}
	return held(min(n, max(0, n-len(m.nodes)/2)), nil)
}

func always(bool) bool { return true }

func majority(nodes int) int { return nodes/2 + 1 }

// mutation is one that the search must kill.
type mutation struct {
	name   string
	what   string // happens in the counterexample, or why there is none
	m      mutant
	code   trace.Code
	shows  string // the event by which a reader sees it
	nodes  int
	faults map[FaultKind]uint8
	bounds func(*Bounds)
}

var mutants = []mutation{
	{name: "release without compare", what: "A overruns its lease; B takes the lock; A's DEL deletes B's record",
		code: trace.FR, shows: "DEL lock", faults: map[FaultKind]uint8{Pause: 1},
		m: mutant{release: func(ctx context.Context, m *mutant, _ *strategies.Lease) error {
			return m.nodes[0].Del(ctx, m.key).Err()
		}}},
	{name: "script that does not compare", what: "the same with a script: atomic is not enough",
		code: trace.FR, shows: "EVALSHA", faults: map[FaultKind]uint8{Pause: 1},
		m: mutant{release: func(ctx context.Context, m *mutant, l *strategies.Lease) error {
			return held(deleteAny.Run(ctx, m.nodes[0], []string{m.key}, l.Token).Int())
		}}},
	{name: "compare of a part of the token", what: "A2-... and B2-... look alike to the script, and A's deletes B's record",
		code: trace.FR, shows: "EVALSHA", faults: map[FaultKind]uint8{Pause: 1},
		m: mutant{release: func(ctx context.Context, m *mutant, l *strategies.Lease) error {
			return held(comparePart.Run(ctx, m.nodes[0], []string{m.key}, l.Token).Int())
		}}},
	{name: "GET outside of the script", what: "A's GET finds its token; the key expires; B takes the lock; A's DEL deletes B's",
		code: trace.FR, shows: "GET lock", faults: map[FaultKind]uint8{Pause: 1},
		m: mutant{release: func(ctx context.Context, m *mutant, l *strategies.Lease) error {
			if v, err := m.nodes[0].Get(ctx, m.key).Result(); err != nil || v != l.Token {
				return strategies.ErrNotHeld
			}
			return m.nodes[0].Del(ctx, m.key).Err()
		}}},
	{name: "token per process", what: "A's release is held up, until its record has expired and it has the lock once more, with the same token: it deletes the new record, and B takes the lock",
		code: trace.DG, shows: "request goes on: EVALSHA", faults: map[FaultKind]uint8{HoldRequest: 1, Pause: 1}, bounds: func(b *Bounds) { b.Cycles = 2 },
		m: mutant{acquire: func(ctx context.Context, m *mutant) (*strategies.Lease, error) {
			sent := m.Clock.Monotonic()
			if err := m.set(ctx, m.nodes[0], m.id, m.TTL); err != nil {
				return nil, err
			}
			return &strategies.Lease{Token: m.id, Deadline: sent + m.TTL - m.grace()}, nil
		}}},
	{name: "one token for all", what: "A overruns its lease; B takes the lock; to A's script B's token is its own",
		code: trace.FR, shows: "EVALSHA", faults: map[FaultKind]uint8{Pause: 1},
		m: mutant{acquire: constantToken}},
	{name: "SET without NX", what: "B's SET replaces A's record",
		code: trace.DG, shows: "SET lock",
		m: mutant{acquire: func(ctx context.Context, m *mutant) (*strategies.Lease, error) {
			token, sent := m.Token(), m.Clock.Monotonic()
			if err := m.nodes[0].Set(ctx, m.key, token, m.TTL).Err(); err != nil {
				return nil, err
			}
			return &strategies.Lease{Token: token, Deadline: sent + m.TTL - m.grace()}, nil
		}}},
	{name: "GET before SET", what: "A and B both find the lock free, and both set it",
		code: trace.DG, shows: "GET lock",
		m: mutant{acquire: func(ctx context.Context, m *mutant) (*strategies.Lease, error) {
			if err := m.nodes[0].Get(ctx, m.key).Err(); !errors.Is(err, redis.Nil) {
				return nil, errors.Join(strategies.ErrNotAcquired, err)
			}
			token, sent := m.Token(), m.Clock.Monotonic()
			if err := m.nodes[0].Set(ctx, m.key, token, m.TTL).Err(); err != nil {
				return nil, err
			}
			return &strategies.Lease{Token: token, Deadline: sent + m.TTL - m.grace()}, nil
		}}},
	{name: "PEXPIRE outside of SET", what: "A sets the key and dies before it gives it an expiry",
		code: trace.PD, shows: "(no expiry)", faults: map[FaultKind]uint8{Crash: 1},
		m: mutant{acquire: func(ctx context.Context, m *mutant) (*strategies.Lease, error) {
			token, sent := m.Token(), m.Clock.Monotonic()
			if err := m.set(ctx, m.nodes[0], token, 0); err != nil {
				return nil, err
			}
			if err := m.nodes[0].PExpire(ctx, m.key, m.TTL).Err(); err != nil {
				return nil, err
			}
			return &strategies.Lease{Token: token, Deadline: sent + m.TTL - m.grace()}, nil
		}}},
	{name: "deadline counted from the reply", what: "A is paused between its SET and the look at its clock: its record ends before its lease",
		code: trace.DG, shows: "SET lock", faults: map[FaultKind]uint8{Pause: 2}, bounds: func(b *Bounds) { b.Clients = 3 },
		m: mutant{acquire: func(ctx context.Context, m *mutant) (*strategies.Lease, error) {
			token := m.Token()
			if err := m.set(ctx, m.nodes[0], token, m.TTL); err != nil {
				return nil, err
			}
			return &strategies.Lease{Token: token, Deadline: m.Clock.Monotonic() + m.TTL - m.grace()}, nil
		}}},
	{name: "TTL in the wrong unit", what: "the record lives 12 ms, the lease 12 s",
		code: trace.DG, shows: "SET lock", faults: map[FaultKind]uint8{Pause: 1},
		m: mutant{acquire: func(ctx context.Context, m *mutant) (*strategies.Lease, error) {
			token, sent := m.Token(), m.Clock.Monotonic()
			if err := m.set(ctx, m.nodes[0], token, m.TTL/1000); err != nil {
				return nil, err
			}
			return &strategies.Lease{Token: token, Deadline: sent + m.TTL - m.grace()}, nil
		}}},
	{name: "lease longer than the record", what: "the holder counts on a grace that Redis does not give",
		code: trace.DG, shows: "SET lock", faults: map[FaultKind]uint8{Pause: 1},
		m: mutant{acquire: func(ctx context.Context, m *mutant) (*strategies.Lease, error) {
			token, sent := m.Token(), m.Clock.Monotonic()
			if err := m.set(ctx, m.nodes[0], token, m.TTL); err != nil {
				return nil, err
			}
			return &strategies.Lease{Token: token, Deadline: sent + m.TTL + m.grace()}, nil // meant: minus
		}}},
	{name: "an error taken for a yes", what: "B is refused, the reply is lost, and B goes in",
		code: trace.DG, shows: "is lost", faults: map[FaultKind]uint8{ReplyLost: 1, Pause: 1},
		m: mutant{acquire: func(ctx context.Context, m *mutant) (*strategies.Lease, error) {
			token, sent := m.Token(), m.Clock.Monotonic()
			if err := m.set(ctx, m.nodes[0], token, m.TTL); errors.Is(err, strategies.ErrNotAcquired) {
				return nil, err
			}
			return &strategies.Lease{Token: token, Deadline: sent + m.TTL - m.grace()}, nil
		}}},
	{name: "no expiry at all", what: "the holder dies", code: trace.PD, shows: "crashes", faults: map[FaultKind]uint8{Crash: 1},
		m: mutant{acquire: func(ctx context.Context, m *mutant) (*strategies.Lease, error) {
			token, sent := m.Token(), m.Clock.Monotonic()
			if err := m.set(ctx, m.nodes[0], token, 0); err != nil {
				return nil, err
			}
			return &strategies.Lease{Token: token, Deadline: sent + m.TTL - m.grace()}, nil
		}}},
	{name: "a refused client cleans up", what: "B is refused, and deletes A's record",
		code: trace.FR, shows: "DEL lock",
		m: mutant{acquire: func(ctx context.Context, m *mutant) (*strategies.Lease, error) {
			l, err := rightAcquire(ctx, m)
			if err != nil {
				m.nodes[0].Del(ctx, m.key)
			}
			return l, err
		}}},
	{name: "extension without a check", what: "A's record expires and B takes the lock; A's PEXPIRE finds B's record and answers 1, and A has its lease back",
		code: trace.DG, shows: "PEXPIRE lock", faults: map[FaultKind]uint8{Pause: 1}, bounds: func(b *Bounds) { b.Extend = true },
		m: mutant{extend: func(ctx context.Context, m *mutant, l *strategies.Lease) error {
			sent := m.Clock.Monotonic()
			if ok, err := m.nodes[0].PExpire(ctx, m.key, m.TTL).Result(); err != nil || !ok {
				return errors.Join(strategies.ErrNotHeld, err)
			}
			l.Deadline = sent + m.TTL - m.grace()
			return nil
		}}},
	{name: "extension that ignores the answer", what: "A's record is gone, its script says 0, and A counts on another TTL; B takes the lock",
		code: trace.DG, shows: "EVALSHA", faults: map[FaultKind]uint8{Pause: 1}, bounds: func(b *Bounds) { b.Extend = true },
		m: mutant{extend: func(ctx context.Context, m *mutant, l *strategies.Lease) error {
			if err := rightExtend(ctx, m, l); err != nil && !errors.Is(err, strategies.ErrNotHeld) {
				return err
			}
			l.Deadline = m.Clock.Monotonic() + m.TTL - m.grace()
			return nil
		}}},
	{name: "fence minted late", what: "A sets and is paused for longer than its lease; B sets, mints 1 and writes; A mints 2 and writes",
		code: trace.SW, shows: "INCR lock:fence", faults: map[FaultKind]uint8{Pause: 1}, bounds: func(b *Bounds) { b.Resource = sim.Fenced },
		m: mutant{acquire: func(ctx context.Context, m *mutant) (*strategies.Lease, error) {
			l, err := rightAcquire(ctx, m)
			if err == nil {
				l.Fence, err = m.nodes[0].Incr(ctx, m.key+":fence").Result()
			}
			return l, err
		}}},
	{name: "fence drawn and not sent", what: "the resource has nothing to compare, and lets A write after B",
		code: trace.SW, shows: "writes", faults: map[FaultKind]uint8{Pause: 1}, bounds: func(b *Bounds) { b.Resource = sim.Fenced },
		m: mutant{acquire: func(ctx context.Context, m *mutant) (*strategies.Lease, error) {
			l, err := fencedAcquire(ctx, m)
			if err == nil {
				l.Fence = 0
			}
			return l, err
		}}},
	{name: "quorum of half", what: "A has n1, B has n2, and both have half of two",
		code: trace.DG, shows: "n2", nodes: 2, faults: map[FaultKind]uint8{ReplyLost: 1, HoldRequest: 1},
		m: mutant{acquire: vote(func(n int) int { return n / 2 }, true, always), release: unvote}},
	{name: "Redlock without the elapsed check", what: "A is paused for longer than its lease while it collects votes, and counts from the last",
		code: trace.DG, shows: "SET lock", nodes: 3, faults: map[FaultKind]uint8{Pause: 1},
		m: mutant{acquire: vote(majority, false, always), release: unvote}},
}

// survivors are mutations that no search within these bounds can tell from the
// correct lock.
var survivors = []mutation{
	{name: "no drift", what: "all clocks of a search run at one rate, and Redis keeps a record for a millisecond more than the TTL",
		code: trace.DG, faults: map[FaultKind]uint8{Pause: 2, Crash: 1},
		m: mutant{acquire: func(ctx context.Context, m *mutant) (*strategies.Lease, error) {
			l, err := rightAcquire(ctx, m)
			if err == nil {
				l.Deadline += m.grace()
			}
			return l, err
		}}},
	{name: "clean-up only where it was told yes", what: "a record whose reply was lost stays behind, and blocks others until it expires: that is bounded, and a search does not look for it",
		code: trace.PD, nodes: 2, faults: map[FaultKind]uint8{ReplyLost: 1, Crash: 1},
		m: mutant{acquire: vote(majority, true, func(won bool) bool { return won }), release: unvote}},
}

func constantToken(ctx context.Context, m *mutant) (*strategies.Lease, error) {
	sent := m.Clock.Monotonic()
	if err := m.set(ctx, m.nodes[0], "locked", m.TTL); err != nil {
		return nil, err
	}
	return &strategies.Lease{Token: "locked", Deadline: sent + m.TTL - m.grace()}, nil
}

func fencedAcquire(ctx context.Context, m *mutant) (*strategies.Lease, error) {
	token, sent := m.Token(), m.Clock.Monotonic()
	fence, err := setFence.Run(ctx, m.nodes[0], []string{m.key, m.key + ":fence"}, token, m.TTL.Milliseconds()).Int64()
	if err != nil {
		return nil, err
	}
	if fence == 0 {
		return nil, strategies.ErrNotAcquired
	}
	return &strategies.Lease{Token: token, Deadline: sent + m.TTL - m.grace(), Fence: fence}, nil
}

// complete is the mutant with all its steps, and the correct lock beside it.
func (c *mutation) complete() (wrong, right mutant) {
	right = mutant{acquire: rightAcquire, release: rightRelease}
	if c.nodes > 1 {
		right = mutant{acquire: vote(majority, true, always), release: unvote}
	}
	wrong = c.m
	if wrong.acquire == nil {
		wrong.acquire = right.acquire
	}
	if wrong.release == nil {
		wrong.release = right.release
	}
	if c.m.extend != nil {
		right.extend = rightExtend
	}
	if c.code == trace.SW {
		right.acquire = fencedAcquire
	}
	return wrong, right
}

// TestMutants: the search kills each mutant, and finds no violation of that code in the
// correct lock within the same bounds, so the mutation is the cause.
func TestMutants(t *testing.T) {
	t.Parallel()
	for i, c := range mutants {
		if !testenv.Some(i, 12) {
			continue // for time; the larger run kills all
		}
		t.Run(strings.ReplaceAll(c.name, " ", "-"), func(t *testing.T) {
			wrong, right := c.complete()
			if r := searchMutant(t, right, &c); !r.Holds(c.code) {
				t.Fatalf("the correct lock falls too:\n%s", describeLeast(r, c.code))
			}
			r := searchMutant(t, wrong, &c)
			if r.Find(c.code) == nil {
				t.Fatalf("the mutant lives, after %d states", r.States)
			}
			text := describeLeast(r, c.code)
			if !strings.Contains(text, c.shows) {
				t.Errorf("the counterexample does not show %q:\n%s", c.shows, text)
			}
			t.Logf("%s: %s\n%s", c.name, c.what, text)
		})
	}
}

// TestSurvivors: the known blind spots of a search are still blind spots.
func TestSurvivors(t *testing.T) {
	testenv.Long(t)
	for _, c := range survivors {
		wrong, _ := c.complete()
		if r := searchMutant(t, wrong, &c); !r.Holds(c.code) {
			t.Errorf("%s was to live, because %s; but\n%s", c.name, c.what, describeLeast(r, c.code))
		}
	}
}

func searchMutant(t *testing.T, m mutant, c *mutation) *Result {
	t.Helper()
	b := Bounds{Strategy: mutantStrategy(m, max(c.nodes, 1)), Clients: 2, Cycles: 1, TTL: 12 * time.Second, Codes: trace.Verdict{c.code}}
	for k, n := range c.faults {
		b.Faults[k] = n
	}
	if c.bounds != nil {
		c.bounds(&b)
	}
	r, err := Run(context.Background(), b, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if !r.Complete {
		t.Fatalf("the search came to no end: %s", r.Why)
	}
	return r
}

func describeLeast(r *Result, code trace.Code) string {
	v := r.Find(code)
	if v == nil {
		return "nothing"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %d faults, %d switches, %d steps\n", v.Code, len(v.Faults), v.Switches, v.Steps)
	for i := range v.Trace.Events {
		fmt.Fprintln(&b, v.Trace.Line(&v.Trace.Events[i]))
	}
	return b.String()
}
