package fuzz

import (
	"bytes"
	"container/list"
	"context"
	"crypto/sha256"
	"errors"
	"hash"
	"maps"
	"math/big"
	"math/rand/v2"
	"reflect"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"lockstep/sim/explore"
	"lockstep/sim/explore/behaviour"
	"lockstep/sim/testenv"
	"lockstep/sim/trace"
	"lockstep/strategies"
)

// memory is what a lock keeps from one cycle to the next, in a form of its own.
type memory interface {
	keep(token string) // after it has had the lock
	kept() bool        // whether it had the lock before
}

// forgetful is a right lock, except that it seizes the record if it has had it before.
type forgetful struct {
	*lock
	memory memory
}

func (f *forgetful) Acquire(ctx context.Context) (*strategies.Lease, error) {
	if f.memory.kept() {
		return seize(ctx, f.lock)
	}
	lease, err := take(ctx, f.lock)
	if err == nil {
		f.memory.keep(lease.Token)
	}
	return lease, err
}

// guarded has a condition whose mutex is the first field of what it guards, so that pointers to
// both are equal as numbers.
type guarded struct {
	changed *sync.Cond
	state   *struct {
		mu  sync.Mutex
		had bool
	}
}

func newGuarded() *guarded {
	g := &guarded{state: new(struct {
		mu  sync.Mutex
		had bool
	})}
	g.changed = sync.NewCond(&g.state.mu)
	return g
}

func (g *guarded) keep(string) { g.state.had = true }
func (g *guarded) kept() bool  { return g.state.had }

// emptied tells nil from empty.
type emptied struct{ tokens []string }

func (e *emptied) keep(token string) { e.tokens = append(e.tokens, token)[:0] }
func (e *emptied) kept() bool        { return e.tokens != nil }

type emptiedMap struct{ tokens map[string]bool }

func (e *emptiedMap) keep(string) { e.tokens = map[string]bool{} }
func (e *emptiedMap) kept() bool  { return e.tokens != nil }

// moved tells two pointers to equal values apart.
type moved struct{ first, now *int }

func (m *moved) keep(string) { m.now = new(int) }
func (m *moved) kept() bool  { return m.first != m.now }

// neighbours are two answers of which one is no: which of them it is tells the lock.
type neighbours struct{ fresh, had bool }

func (n *neighbours) keep(string) { n.fresh, n.had = false, true }
func (n *neighbours) kept() bool  { return n.had }

// preferring goes over to another of its Redis clients.
type preferring struct {
	all []*redis.Client
	now *redis.Client
}

func (p *preferring) keep(string) { p.now = p.all[1] }
func (p *preferring) kept() bool  { return p.now == p.all[1] }

// slots has a pointer to one of several equal variables: an element of an array, or a field.
type slots struct {
	all [2]int
	now *int
}

func (s *slots) keep(string) { s.now = &s.all[1] }
func (s *slots) kept() bool  { return s.now == &s.all[1] }

type halves struct {
	now        *int // before what it points to
	fresh, had int
}

func (h *halves) keep(string) { h.now = &h.had }
func (h *halves) kept() bool  { return h.now == &h.had }

// windowed has one part of an array or another.
type windowed struct {
	all [4]int
	now []int
}

func (w *windowed) keep(string) { w.now = w.all[2:3:3] }
func (w *windowed) kept() bool  { return &w.now[0] == &w.all[2] }

// popped looks at what lies beyond the length of its slice, and grown at how much fits in.
type popped struct{ stack []bool }

func (p *popped) keep(string) { p.stack = append(p.stack, true)[:0] }
func (p *popped) kept() bool  { return p.stack[:1][0] }

type grown struct{ buffer []byte }

func (g *grown) keep(string) { g.buffer = make([]byte, 0, 64) }
func (g *grown) kept() bool  { return cap(g.buffer) > 32 }

// switched tells two empty channels apart.
type switched struct{ first, second, now chan int }

func (s *switched) keep(string) { s.now = s.second }
func (s *switched) kept() bool  { return s.now == s.second }

// roomy looks at how much fits into its empty channel.
type roomy struct{ signals chan int }

func (r *roomy) keep(string) { r.signals = make(chan int, 2) }
func (r *roomy) kept() bool  { return cap(r.signals) == 2 }

// scripted has another script.
type scripted struct{ now *redis.Script }

func (s *scripted) keep(string) { s.now = redis.NewScript("return 2") }
func (s *scripted) kept() bool  { return s.now.Hash() == redis.NewScript("return 2").Hash() }

// typed has a value of one type or another, which have one name and no content.
type typed struct{ now any }

func fresh() any {
	type state struct{}
	return state{}
}

func had() any {
	type state struct{}
	return state{}
}

func (t *typed) keep(string) { t.now = had() }
func (t *typed) kept() bool  { return t.now == had() }

// madeType is a type that is made when the program runs, with parts of one name.
type madeType struct{ now any }

func withPart(part any) any {
	return reflect.Zero(reflect.StructOf([]reflect.StructField{{Name: "Part", Type: reflect.TypeOf(part)}})).Interface()
}

func (m *madeType) keep(string) { m.now = withPart(had()) }
func (m *madeType) kept() bool  { return m.now == withPart(had()) }

// named has given its Redis client a name.
type named struct{ rdb *redis.Client }

func (n *named) keep(string) { n.rdb.Options().ClientName = "had" }
func (n *named) kept() bool  { return n.rdb.Options().ClientName != "" }

// bound has one of two functions of the same code.
type bound struct{ fresh, had, now func() bool }

func (b *bound) keep(string) { b.now = b.had }
func (b *bound) kept() bool  { return b.now() }

type constant bool

func (a constant) is() bool { return bool(a) }

// unread has read a part of its buffer.
type unread struct{ bytes.Buffer }

func (u *unread) keep(string) { u.Next(1) }
func (u *unread) kept() bool  { return u.Len() == 1 }

// placed has an element of a list, boxed a value behind an interface.
type placed struct {
	list list.List
	now  *list.Element
}

func (p *placed) keep(string) { p.now = p.list.Back() }
func (p *placed) kept() bool  { return p.now == p.list.Back() }

type boxed struct{ atomic.Value }

func (b *boxed) keep(string) { b.Store(func() time.Time { return time.Unix(1, 0) }().Add(1)) }
func (b *boxed) kept() bool  { return b.Load().(time.Time) != time.Unix(1, 0) }

// keyed is a map whose keys are pointers to equal values.
type keyed struct {
	first, second *int
	table         map[*int]bool
}

func (k *keyed) keep(string) { k.table = map[*int]bool{k.second: true} }
func (k *keyed) kept() bool  { return k.table[k.second] }

// counted is a big number, seeded a source of random ones, hashed a sum.
type counted struct{ big.Int }

func (c *counted) keep(string) { c.Lsh(big.NewInt(1), 200) }
func (c *counted) kept() bool  { return c.BitLen() > 100 }

type seeded struct{ *rand.PCG }

func (s *seeded) keep(string) { *s.PCG = *rand.NewPCG(1, 3) }
func (s *seeded) kept() bool  { return *s.PCG != *rand.NewPCG(1, 2) }

type hashed struct{ hash.Hash }

func (h *hashed) keep(string) { h.Write([]byte{1}) }
func (h *hashed) kept() bool  { return !bytes.Equal(h.Sum(nil), sha256.New().Sum(nil)) }

// inContext is what a context has.
type inContext struct{ context.Context }

func (c *inContext) keep(string) { c.Context = context.WithValue(c.Context, c, true) }
func (c *inContext) kept() bool  { return c.Value(c) != nil }

// chosen is one function or another.
type chosen struct{ had func() bool }

func (c *chosen) keep(string) { c.had = func() bool { return true } }
func (c *chosen) kept() bool  { return c.had() }

// fields are locks by the form of their memory.
var fields = map[string]func(*lock) memory{
	"behind-a-first-field": func(*lock) memory { return newGuarded() },
	"empty-slice":          func(*lock) memory { return &emptied{} },
	"empty-map":            func(*lock) memory { return &emptiedMap{} },
	"another-pointer":      func(*lock) memory { p := new(int); return &moved{first: p, now: p} },
	"neighbours":           func(*lock) memory { return &neighbours{fresh: true} },
	"an-element":           func(*lock) memory { s := new(slots); s.now = &s.all[0]; return s },
	"a-field":              func(*lock) memory { h := new(halves); h.now = &h.fresh; return h },
	"a-part":               func(*lock) memory { w := new(windowed); w.now = w.all[1:2:2]; return w },
	"beyond-the-length":    func(*lock) memory { return &popped{make([]bool, 0, 1)} },
	"capacity":             func(*lock) memory { return &grown{make([]byte, 0, 32)} },
	"another-channel":      func(*lock) memory { c := make(chan int); return &switched{c, make(chan int), c} },
	"read-offset":          func(*lock) memory { u := new(unread); u.WriteString("aa"); return u },
	"list-element":         func(*lock) memory { p := new(placed); p.now = p.list.PushBack(1); p.list.PushBack(1); return p },
	"atomic-value":         func(*lock) memory { b := new(boxed); b.Store(time.Unix(1, 0)); return b },
	"map-by-pointers": func(*lock) memory {
		k := &keyed{new(int), new(int), nil}
		k.table = map[*int]bool{k.first: true}
		return k
	},
	"room":      func(*lock) memory { return &roomy{make(chan int)} },
	"script":    func(*lock) memory { return &scripted{redis.NewScript("return 1")} },
	"type":      func(*lock) memory { return &typed{fresh()} },
	"made-type": func(*lock) memory { return &madeType{withPart(fresh())} },
	"options":   func(l *lock) memory { return &named{l.rdb} },
	"method": func(*lock) memory {
		b := &bound{fresh: constant(false).is, had: constant(true).is}
		b.now = b.fresh
		return b
	},
	"big-number":     func(*lock) memory { return new(counted) },
	"source":         func(*lock) memory { return &seeded{rand.NewPCG(1, 2)} },
	"hash":           func(*lock) memory { return &hashed{sha256.New()} },
	"context":        func(*lock) memory { return &inContext{context.Background()} },
	"function":       func(*lock) memory { return &chosen{func() bool { return false }} },
	"another-client": func(l *lock) memory { return &preferring{all: []*redis.Client{l.rdb, new(redis.Client)}, now: l.rdb} },
}

// TestFieldsCount: whatever the form in which a lock's fields remember something, its histories
// don't join. It isn't left to the joins that are tried at the end.
func TestFieldsCount(t *testing.T) {
	for i, name := range slices.Sorted(maps.Keys(fields)) {
		if !testenv.Some(i, testenv.Quick(32, 4)) {
			continue
		}
		remembers := fields[name]
		t.Run(name, func(t *testing.T) {
			s := custom(name, "", steps{}).strategy
			made := s.New
			s.New = func(nodes []*redis.Client, key string, o strategies.Options) strategies.Lock {
				l := made(nodes, key, o).(*lock)
				return &forgetful{l, remembers(l)}
			}
			for _, cycles := range []int{2, explore.Any} {
				b := explore.Defaults(s)
				b.Cycles, b.TTL, b.Codes, b.Faults = cycles, 3*time.Second, trace.Verdict{trace.DG}, explore.Budget{}
				if cycles == explore.Any {
					b.Faults[explore.Pause] = explore.Any
				}
				r, err := explore.Run(context.Background(), b, explore.Options{})
				if err != nil {
					t.Fatal(err)
				}
				if r.Find(trace.DG) == nil || r.Bounds.Remembers {
					t.Errorf("%d cycles, joined %t: %s", cycles, r.Bounds.Remembers, r.Summary())
				}
			}
		})
	}
}

// everKept has for each lock whether it had the record: a variable of the package.
var everKept sync.Map

type registered struct{ now *int }

func (r *registered) keep(string) { everKept.Store(r.now, true) }
func (r *registered) kept() bool  { _, had := everKept.Load(r.now); return had }

// captured has variables that closures share.
type captured struct {
	had  func() bool
	have func()
}

func newCaptured() *captured {
	kept := false
	return &captured{func() bool { return kept }, func() { kept = true }}
}

func (c *captured) keep(string) { c.have() }
func (c *captured) kept() bool  { return c.had() }

// TestHiddenMemory: a lock that remembers something where no look at its fields can find it is
// searched without joining its histories, or refused.
func TestHiddenMemory(t *testing.T) {
	testenv.Long(t) // TestFieldsCount is short
	for name, remembers := range map[string]func() memory{
		"captured":    func() memory { return newCaptured() },
		"the package": func() memory { return &registered{new(int)} },
	} {
		s := custom("hidden", "", steps{}).strategy
		made := s.New
		s.New = func(nodes []*redis.Client, key string, o strategies.Options) strategies.Lock {
			return &forgetful{made(nodes, key, o).(*lock), remembers()}
		}
		b := explore.Defaults(s)
		b.TTL, b.Codes, b.Faults, b.Remembers = 3*time.Second, trace.Verdict{trace.DG}, explore.Budget{}, false
		r, err := explore.Run(context.Background(), b, explore.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if r.Find(trace.DG) == nil || !r.Bounds.Remembers {
			t.Errorf("%s: %s", name, r.Summary())
		}
		b.Cycles = explore.Any
		_, err = explore.Run(context.Background(), b, explore.Options{})
		var hidden *behaviour.Remembering
		if !errors.As(err, &hidden) || hidden.Source.File == "" {
			t.Errorf("%s, any number of cycles: %v", name, err)
		}
	}
}

// looking is a hook that reads the record before each acquisition.
type looking struct {
	redis.Hook
	key string
}

func (h looking) DialHook(next redis.DialHook) redis.DialHook { return next }
func (h looking) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}
func (h looking) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		if cmd.Name() == "set" {
			_ = next(ctx, redis.NewStringCmd(ctx, "get", h.key))
		}
		return next(ctx, cmd)
	}
}

// TestHooksEnd: the hooks that a lock's constructor gives to its Redis client end with that lock.
func TestHooksEnd(t *testing.T) {
	s := custom("hooked", "", steps{}).strategy
	made := s.New
	s.New = func(nodes []*redis.Client, key string, o strategies.Options) strategies.Lock {
		nodes[0].AddHook(looking{key: key})
		return made(nodes, key, o)
	}
	b := explore.Defaults(s)
	b.Cycles, b.Codes, b.Faults = 1, trace.Verdict{trace.DG}, explore.Budget{}
	r, err := explore.Run(context.Background(), b, explore.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if !r.Holds(trace.DG) {
		t.Error(r.Summary())
	}
}

// TestCopiesOfEarlierRequests: a lock whose process has one token for all cycles loses its second grant to a copy of the
// first release, within bounds and without.
func TestCopiesOfEarlierRequests(t *testing.T) {
	testenv.Long(t) // TestCopiesOutliveClients is short
	s := custom("one-token", "", steps{
		acquire: func(ctx context.Context, l *lock) (*strategies.Lease, error) {
			sent := l.Clock.Monotonic()
			if l.cached == nil {
				l.cached = &strategies.Lease{Token: l.Token()} // of the process
			}
			_, err := l.rdb.SetArgs(ctx, l.key, l.cached.Token, redis.SetArgs{Get: true, Mode: "NX", TTL: l.TTL}).Result()
			switch {
			case errors.Is(err, redis.Nil): // nothing was stored before
				return l.lease(l.cached.Token, sent), nil
			case err == nil:
				return nil, strategies.ErrNotAcquired
			}
			return nil, err
		}}).strategy
	b := explore.Defaults(s)
	b.TTL, b.Remembers, b.Codes = 3*time.Second, false, trace.Verdict{trace.DG}
	for cycles, faults := range map[int]explore.Budget{
		2:           {explore.Pause: 1, explore.Duplicate: 1},
		explore.Any: {explore.Pause: explore.Any, explore.Duplicate: 1},
	} {
		b.Cycles, b.Faults = cycles, faults
		r, err := explore.Run(context.Background(), b, explore.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if !seen(r, trace.DG) {
			t.Errorf("%d cycles: %s", cycles, r.Summary())
		}
	}
}
