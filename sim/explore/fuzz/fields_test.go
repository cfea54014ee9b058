package fuzz

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"lockstep/sim/explore"
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

// fields are locks by the form of their memory.
var fields = map[string]func(*lock) memory{
	"behind-a-first-field": func(*lock) memory { return newGuarded() },
	"empty-slice":          func(*lock) memory { return &emptied{} },
	"empty-map":            func(*lock) memory { return &emptiedMap{} },
	"another-pointer":      func(*lock) memory { p := new(int); return &moved{first: p, now: p} },
	"neighbours":           func(*lock) memory { return &neighbours{fresh: true} },
	"another-client":       func(l *lock) memory { return &preferring{all: []*redis.Client{l.rdb, new(redis.Client)}, now: l.rdb} },
}

// TestFieldsCount: whatever the form in which a lock's fields remember something, its histories
// don't join.
func TestFieldsCount(t *testing.T) {
	for name, remembers := range fields {
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
				if r.Find(trace.DG) == nil {
					t.Errorf("%d cycles: %s", cycles, r.Summary())
				}
			}
		})
	}
}
