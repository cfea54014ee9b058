package outside_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"iter"
	"net/url"
	"reflect"
	"slices"
	"sort"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"text/template"
	"unicode/utf8"

	"github.com/redis/go-redis/v9"

	"lockstep/sim/explore/locktest"
	"lockstep/sim/explore/locktest/outside"
	"lockstep/strategies"
)

// keeper is a lock that asks one function, and has fields of other kinds.
type keeper struct {
	base
	ask  func() bool
	all  map[string]func() bool
	undo []func()
	less []int
	n    int
	mu   sync.Mutex
	once sync.Once

	ctx    context.Context
	cancel func()
}

func (k *keeper) Acquire(context.Context) (*strategies.Lease, error) {
	if k.ask() {
		return nil, errBusy
	}
	return nil, nil
}

func (k *keeper) first() bool  { k.ask = k.second; return false }
func (k *keeper) second() bool { k.ask = k.first; k.n++; return false }

// ledger is a value that a method value has captured.
type ledger struct{ n int }

func (l *ledger) bad() bool { l.n++; return l.n > 9 } // keeps the variable l
func (l *ledger) acquire(context.Context, *redis.Client, string, strategies.Options) (string, error) {
	l.n++ // keeps the variable l
	return "", nil
}
func (l *ledger) release(context.Context, *redis.Client, string, string) error { return nil }

func (l *ledger) more() bool { l.n++; return l.n > 9 } // keeps the variable of

// asking is a closure that an instance of a generic function makes.
func asking[T any](of *T, ask func(*T) bool) func() bool { return func() bool { return ask(of) } }

// after is a function for each number.
func after(k *keeper, n int) func() bool {
	return func() bool { // keeps the variable n
		k.ask = after(k, n+1)
		return n > 9
	}
}

// Channels of a package, of which a lock may have one or another.
var quick, slow = make(chan int), make(chan int)

type signalled struct {
	base
	now, wake chan int
	all       map[string]chan int
}

func (s *signalled) Acquire(context.Context) (*strategies.Lease, error) {
	s.wake = make(chan int)
	if local := quick; s.now == local {
		s.now = slow // keeps the variable slow
	}
	s.all["now"] = quick // keeps the variable quick
	return nil, errBusy
}

// countingHook is a hook whose function counts.
type countingHook struct{ hook }

func (countingHook) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	n := 0
	return func(ctx context.Context, cmd redis.Cmder) error {
		n++ // keeps the variable n
		return next(ctx, cmd)
	}
}

// function is a lock that is a function.
type function func() bool

func (f function) Acquire(context.Context) (*strategies.Lease, error) {
	if f() {
		return nil, errBusy
	}
	return nil, nil
}
func (f function) Release(context.Context, *strategies.Lease) error { return nil }

// optional asks the client for more than Redis.
type optional struct {
	base
	rdb *redis.Client
}

func (o *optional) Acquire(context.Context) (*strategies.Lease, error) {
	options := o.rdb.Options()
	options.ClientName += "x"          // keeps the variable that Options returns
	if o.rdb.PoolStats().Hits%3 == 0 { // keeps github.com/redis/go-redis/v9.Client.PoolStats
		return nil, errBusy
	}
	return nil, nil
}

func askedBy(f func() bool) strategies.Lock { return &keeper{ask: f} }

// keeping are locks with a memory that a search doesn't see, and locks without; each with the number of lines that keep
// something, which say so.
var keeping = map[string]struct {
	lock  constructor
	lines int
}{
	"a counter": {func(nodes, string, options) strategies.Lock {
		n := 0
		return askedBy(func() bool {
			n++ // keeps the variable n
			return n > 9
		})
	}, 1},
	"containers": {func(nodes, string, options) strategies.Lock {
		m, s, c, a, v := map[string]int{}, make([]int, 1), make(chan int, 9), [2]int{}, struct{ n int }{}
		var grown []int
		return askedBy(func() bool {
			m["a"]++                 // keeps the variable m
			s[0]++                   // keeps the variable s
			c <- 1                   // keeps the variable c
			a[1]++                   // keeps the variable a
			v.n++                    // keeps the variable v
			grown = append(grown, 1) // keeps the variable grown
			return len(c) > 7
		})
	}, 6},
	"what Go's own packages change by the way": {func(nodes, string, options) strategies.Lock {
		var (
			failed *url.Error
			text   bytes.Buffer
			sum    = fnv.New32()
			log    io.Writer
			letter = make([]byte, 4)
			list   = []int{1, 0}
			table  = map[string]int{}
			words  = strings.NewReader("three words here")
		)
		page := template.Must(template.New("page").Parse("a page"))
		return askedBy(func() bool {
			_ = errors.As(io.EOF, &failed)                                 // keeps the variable failed
			fmt.Fprint(&text, "more")                                      // keeps the variable text
			_ = binary.Write(&text, binary.BigEndian, int8(1))             // keeps the variable text
			_ = page.Execute(&text, nil)                                   // keeps the variable text
			fmt.Fprint(sum, "more")                                        // keeps the variable sum
			_, _ = words.Seek(1, io.SeekCurrent)                           // keeps the variable words
			utf8.EncodeRune(letter, 'a')                                   // keeps the variable letter
			reflect.Copy(reflect.ValueOf(list), reflect.ValueOf(list[1:])) // keeps the variable list
			reflect.ValueOf(table).Clear()                                 // keeps the variable table
			if log != nil {
				fmt.Fprint(log, "it is asked")
			}
			var own bytes.Buffer
			fmt.Fprint(&own, "an answer")
			return failed != nil || own.Len() > 9
		})
	}, 9},
	"a generic function's closure": {func(nodes, string, options) strategies.Lock { return askedBy(asking(&ledger{}, (*ledger).more)) }, 1},
	"what Go's own packages change": {func(nodes, string, options) strategies.Lock {
		var (
			mu sync.Mutex
			m  sync.Map
			n  atomic.Int64
			i  int64
			b  bytes.Buffer
			w  io.Writer = &b
			h            = fnv.New32a()
			u            = url.Values{}
		)
		return askedBy(func() bool {
			mu.Lock()
			defer mu.Unlock()
			m.Store("a", 1)               // keeps the variable m
			n.Add(1)                      // keeps the variable n
			atomic.AddInt64(&i, 1)        // keeps the variable i
			b.WriteByte(1)                // keeps the variable b
			_, _ = w.Write([]byte{1})     // keeps the variable w
			_, _ = h.Write([]byte{1})     // keeps the variable h
			u.Add("a", "b")               // keeps the variable u
			return mu.TryLock() || i == 9 // keeps the variable mu
		})
	}, 8},
	"one function that another has": {func(nodes, string, options) strategies.Lock {
		n := 0
		count := func() int {
			n++ // keeps the variable n
			return n
		}
		return askedBy(func() bool { return count() > 9 })
	}, 1},
	"a value behind a function": {func(nodes, string, options) strategies.Lock {
		l := &keeper{}
		get := func() *keeper { return l }
		return askedBy(func() bool {
			get().n++ // keeps the variable l
			return false
		})
	}, 1},
	"another of the lock's type": {func(nodes, string, options) strategies.Lock {
		other := &keeper{}
		return &keeper{ask: func() bool {
			other.n++ // keeps the variable other
			return other.n > 9
		}}
	}, 1},
	"a second that the same line makes": {func(nodes, string, options) strategies.Lock {
		made := func() *keeper { return &keeper{} }
		k, other := made(), made()
		k.ask = func() bool {
			other.n++ // keeps the variable other
			return false
		}
		return k
	}, 1},
	"the last that a loop makes": {func(nodes, string, options) strategies.Lock {
		var k, other *keeper
		for range 2 {
			k, other = &keeper{}, k
		}
		k.ask = func() bool {
			other.n++ // keeps the variable other
			return false
		}
		return k
	}, 1},
	"a client's hooks": {func(n nodes, _ string, _ options) strategies.Lock {
		return askedBy(func() bool {
			n[0].AddHook(countingHook{}) // keeps the variable n
			return false
		})
	}, 2},
	"a method value": {func(nodes, string, options) strategies.Lock { return askedBy((&ledger{}).bad) }, 1},
	"functions": {func(n nodes, key string, o options) strategies.Lock {
		l := &ledger{}
		return locktest.Functions(l.acquire, l.release)(n, key, o)
	}, 1},
	"a lock that is a function": {func(nodes, string, options) strategies.Lock {
		n := 0
		return function(func() bool { n++; return n > 9 }) // keeps the variable n
	}, 1},
	"a function for each number": {func(nodes, string, options) strategies.Lock { k := &keeper{}; k.ask = after(k, 0); return k }, 1},
	"a hook's function": {func(n nodes, _ string, _ options) strategies.Lock {
		n[0].AddHook(countingHook{})
		return askedBy(func() bool { return false })
	}, 1},
	"a channel of all": {func(nodes, string, options) strategies.Lock { return &signalled{now: quick} }, 2},
	"a client's":       {func(n nodes, _ string, _ options) strategies.Lock { return &optional{rdb: n[0]} }, 2},
	"another package's method": {func(nodes, string, options) strategies.Lock {
		n := new(atomic.Int64)
		count := n.Add // keeps the variable that the method Add is of
		return askedBy(func() bool { return count(1) > 9 })
	}, 1},
	"a function of a map": {func(nodes, string, options) strategies.Lock {
		n := 0
		k := &keeper{all: map[string]func() bool{"a": func() bool { n++; return n > 9 }}} // keeps the variable n
		k.ask = func() bool { return k.all["a"]() }
		return k
	}, 1},
	"a function of a later cycle": {func(nodes, string, options) strategies.Lock {
		k := &keeper{}
		k.ask = func() bool { n := 0; k.ask = func() bool { n++; return n > 9 }; return false } // keeps the variable n
		return k
	}, 1},
	"a generator": {func(nodes, string, options) strategies.Lock {
		next, _ := iter.Pull(func(yield func(bool) bool) { // keeps a result of iter.Pull
			for n := 0; yield(n > 9); n++ {
			}
		})
		return askedBy(func() bool { is, _ := next(); return is })
	}, 1},
	"contexts that end": {func(nodes, string, options) strategies.Lock {
		ctx, cancel := context.WithCancel(context.Background()) // keeps a result of context.WithCancel
		return askedBy(func() bool { defer cancel(); return ctx.Err() != nil })
	}, 1},
	"what is undone later": {func(nodes, string, options) strategies.Lock {
		k := &keeper{}
		k.ask = func() bool {
			was := k.n
			k.undo = append(k.undo, func() { k.n = was }) // keeps the variable was
			return false
		}
		return k
	}, 1},

	"a constant": {func(nodes, string, options) strategies.Lock {
		most := 3
		return askedBy(func() bool { return most < 0 })
	}, 0},
	"the lock itself": {func(nodes, string, options) strategies.Lock {
		k := &keeper{}
		k.ask = func() bool { k.mu.Lock(); defer k.mu.Unlock(); k.n++; return k.n > 9 }
		return k
	}, 0},
	"what is locked and cancelled": {func(nodes, string, options) strategies.Lock {
		var mu sync.Mutex
		var locker sync.Locker = &mu
		k := &keeper{ask: func() bool { locker.Lock(); defer locker.Unlock(); return false }}
		ctx, cancel := context.WithCancel(context.Background())
		k.ctx, k.cancel = ctx, cancel
		return k
	}, 0},
	"the lock's own methods": {func(nodes, string, options) strategies.Lock { k := &keeper{}; k.ask = k.first; return k }, 0},
	"local variables": {func(n nodes, _ string, _ options) strategies.Lock {
		return askedBy(func() bool {
			var got *redis.StringCmd
			_, _ = n[0].TxPipelined(context.Background(), func(p redis.Pipeliner) error { got = p.Get(context.Background(), "a"); return nil })
			return got == nil
		})
	}, 0},
	"functions that are only asked": {func(nodes, string, options) strategies.Lock {
		k := &keeper{less: []int{1, 2}}
		k.ask = func() bool {
			done := false
			k.once.Do(func() { done = true })
			sort.Slice(k.less, func(i, j int) bool { done = !done; return k.less[i] < k.less[j] })
			return done
		}
		return k
	}, 0},
}

// TestKept: each line at which code changes what only a closure leads to is found, and says so; what a lock keeps in its
// fields, or in variables of one call, is not.
func TestKept(t *testing.T) {
	for name, c := range keeping {
		t.Run(name, func(t *testing.T) {
			found, err := outside.Find(strategies.Strategy{Nodes: 1, New: c.lock})
			if err != nil {
				t.Fatal(err)
			}
			if len(found.Uses) > 0 {
				t.Errorf("it uses %v", found.Uses)
			}
			lines := slices.CompactFunc(found.Kept, func(a, b outside.Use) bool { return a.Source == b.Source })
			if len(lines) != c.lines {
				t.Errorf("%d lines keep something, not %d: %v", len(lines), c.lines, found.Kept)
			}
			for _, u := range found.Kept {
				if text := line(t, u.Source); !strings.Contains(text+" ", "// keeps "+u.What+" ") {
					t.Errorf("%s at line %d, which is %s", u.What, u.Source.Line, text)
				}
			}
		})
	}
}

// asker is an interface of which a lock may have a method.
type asker interface{ bad() bool }

// askerOf is one with a parameter.
type askerOf[T any] interface{ bad() T }

// TestMethodsOfInterfaces: a method of an interface, as a value, doesn't show whose it is; the error says so.
func TestMethodsOfInterfaces(t *testing.T) {
	find := func(ask func(asker) func() bool) (*outside.Found, error) {
		return outside.Find(strategies.Strategy{Nodes: 1, New: func([]*redis.Client, string, strategies.Options) strategies.Lock { return askedBy(ask(&ledger{})) }})
	}
	for name, ask := range map[string]func(asker) func() bool{
		"plain":   func(a asker) func() bool { return a.bad },
		"generic": func(a asker) func() bool { return askerOf[bool](a).bad },
	} {
		_, err := find(ask)
		if err == nil || !errors.Is(err, outside.ErrNoSource) || !strings.Contains(err.Error(), ".bad is a method of an interface as a value") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
