package outside_test

import (
	"context"
	"fmt"
	"iter"
	"log"
	"log/slog"
	mrand "math/rand"
	"os"
	"reflect"
	"regexp"
	"runtime"
	"sort"
	"sync"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"

	"github.com/redis/go-redis/v9"

	"lockstep/sim/explore/locktest"
	"lockstep/sim/explore/locktest/outside/testdata/backoff"
	"lockstep/sim/explore/locktest/outside/testdata/helper"
	"lockstep/sim/explore/locktest/outside/testdata/kit"
	"lockstep/sim/testenv"
	"lockstep/strategies"
)

// sink takes what a linter would say is not used.
func sink(time.Time) {}

// asks is a lock whose Acquire is a function.
type asks func(ctx context.Context)

func (f asks) Acquire(ctx context.Context) (*strategies.Lease, error) {
	f(ctx)
	return nil, errBusy
}
func (asks) Release(context.Context, *strategies.Lease) error { return nil }

type (
	nodes       = []*redis.Client
	options     = strategies.Options
	constructor = func(nodes, string, options) strategies.Lock
)

type stopwatch struct{ began time.Time }

func (s *stopwatch) late() bool { return time.Since(s.began) > time.Second } // want time.Since

type embeds struct {
	base
	*stopwatch
}

func (e *embeds) Acquire(context.Context) (*strategies.Lease, error) {
	if e.late() {
		return nil, nil
	}
	return nil, errBusy
}

// defaultClock is what locks go by unless they are told another.
var defaultClock teller = wallClock{}

type embedsInterface struct {
	base
	teller
}

func (e embedsInterface) Acquire(context.Context) (*strategies.Lease, error) {
	e.Now()
	return nil, errBusy
}

type onceDefault struct {
	base
	once sync.Once
	now  func() time.Time
}

func (l *onceDefault) Acquire(context.Context) (*strategies.Lease, error) {
	l.once.Do(func() { l.now = time.Now }) // want time.Now
	l.now()
	return nil, errBusy
}

func memo[T any](f func() T) T { return f() }

type generic[C teller] struct {
	base
	clock C
}

func (l *generic[C]) Acquire(context.Context) (*strategies.Lease, error) {
	l.clock.Now()
	return nil, errBusy
}

type copies struct {
	base
	now func() time.Time
}

func (l *copies) Acquire(context.Context) (*strategies.Lease, error) {
	c := *l
	c.now()
	return nil, errBusy
}

type change func(*configured)

type configured struct {
	base
	now  func() time.Time
	wait func(time.Duration)
}

func withNow(now func() time.Time) change { return func(c *configured) { c.now = now } }

func withoutWait() change { return func(c *configured) { c.wait = func(time.Duration) {} } }

func newConfigured(changes ...change) *configured {
	c := &configured{now: fixed{}.Now, wait: time.Sleep}
	for _, o := range changes {
		o(c)
	}
	return c
}

func (l *configured) Acquire(context.Context) (*strategies.Lease, error) {
	l.now()
	l.wait(time.Second)
	return nil, errBusy
}

var nowFunc func() time.Time

func init() { nowFunc = time.Now } // want time.Now

var (
	clockOf  = map[string]func() time.Time{"wall": time.Now} // want time.Now
	seq      atomic.Int64
	host, _  = os.Hostname() // want os.Hostname
	identity = fmt.Sprintf("%s-%d", host, 1)
	cache    = map[string]string{}
	buffers  = sync.Pool{New: func() any { return new([]byte) }}
	hits     int
	pattern  = regexp.MustCompile("^a")
	holder   atomic.Value
	current  atomic.Pointer[configured]
	ticking  = time.NewTicker(time.Hour) // want time.NewTicker
)

func pointer() *int { return &hits }

type stamp struct{}

func (stamp) String() string { return time.Now().String() } // want time.Now

type byAge []time.Time

func (b byAge) Len() int           { return len(b) }
func (b byAge) Swap(i, j int)      { b[i], b[j] = b[j], b[i] }
func (b byAge) Less(i, j int) bool { return time.Since(b[i]) < time.Since(b[j]) } // want time.Since

type cached struct {
	base
	m  map[string]string
	mu *sync.Mutex
	n  *int
}

func (l *cached) Acquire(context.Context) (*strategies.Lease, error) {
	l.note("a")
	return nil, errBusy
}

func (l *cached) note(key string) {
	if l.mu != nil {
		l.mu.Lock() // want the variable mu
	}
	if l.m != nil {
		l.m[key] = key // want the variable cache
	}
	if l.n != nil {
		*l.n++ // want the variable hits
	}
}

type registry struct{ n int }

func (r *registry) next(context.Context) { r.n++ } // want the variable r

func (r *registry) make([]*redis.Client, string, strategies.Options) strategies.Lock {
	r.n++ // want the variable r
	return base{}
}

// seen is a map that all locks get from around their constructor.
func seen() constructor {
	seen := map[string]bool{}
	return func(nodes, string, options) strategies.Lock {
		mine := seen
		return asks(func(context.Context) {
			mine["a"] = true // want the variable seen
		})
	}
}

func counting() constructor {
	n := 0
	return func(nodes, string, options) strategies.Lock {
		n++ // want the variable n
		return base{}
	}
}

func bound() constructor {
	r := &registry{}
	return func(nodes, string, options) strategies.Lock { return asks(r.next) }
}

func factory() constructor { return new(registry).make }

// limits are copied into each lock.
type limits struct {
	tries int
	names []string
}

type limited struct {
	base
	limits
	seen map[string]int
}

func (l *limited) Acquire(context.Context) (*strategies.Lease, error) {
	l.tries--
	l.seen[l.names[0]]++
	return nil, errBusy
}

func ownCopy() constructor {
	shared := limits{tries: 3, names: []string{"a"}}
	return func(nodes, string, options) strategies.Lock {
		return &limited{limits: shared, seen: map[string]int{}}
	}
}

// given is what a helper of tests does that gets the clock.
func given(now func() time.Time) constructor {
	return func(nodes, string, options) strategies.Lock { return asks(func(context.Context) { now() }) }
}

//go:linkname nanotime runtime.nanotime
func nanotime() int64

type settings struct {
	now   func() time.Time
	sleep func(time.Duration)
}

// withSettings takes defaults, as libraries do, and copies them into the lock.
type withSettings struct {
	base
	s settings
}

func newWithSettings(changes ...func(*settings)) *withSettings {
	s := settings{now: time.Now, sleep: time.Sleep}
	for _, c := range changes {
		c(&s)
	}
	return &withSettings{s: s}
}

func (l *withSettings) Acquire(context.Context) (*strategies.Lease, error) {
	l.s.now()
	l.s.sleep(time.Second)
	return nil, errBusy
}

func countTo(n int) iter.Seq[int] {
	return func(yield func(int) bool) {
		for i := range n {
			<-time.After(time.Second) // want time.After
			if !yield(i) {
				return
			}
		}
	}
}

type clockKey struct{}

// habits are cases that were thought up before the code that finds them.
var habits = map[string]struct {
	lock constructor
	want string
}{
	"embedded struct":           {func(nodes, string, options) strategies.Lock { return &embeds{stopwatch: &stopwatch{}} }, "time.Since"},
	"embedded interface":        {func(nodes, string, options) strategies.Lock { return embedsInterface{teller: wallClock{}} }, "time.Now"},
	"embedded interface, given": {func(nodes, string, options) strategies.Lock { return embedsInterface{teller: fixed{}} }, ""},
	"a package's default": {func(nodes, string, options) strategies.Lock {
		return asks(func(context.Context) { defaultClock.Now() })
	}, "time.Now"},
	"a retry library": {func(nodes, string, options) strategies.Lock {
		return asks(func(context.Context) { _ = backoff.Retry(func() error { return nil }, backoff.Constant(1)) })
	}, "time.NewTimer"},
	"a retry library's jitter": {func(nodes, string, options) strategies.Lock {
		return asks(func(context.Context) { (&backoff.Exponential{}).Next() })
	}, "v2.N"},
	"sync.Once default": {func(nodes, string, options) strategies.Lock { return &onceDefault{} }, "time.Now"},
	"method value": {func(nodes, string, options) strategies.Lock {
		return asks(func(context.Context) { f := wallClock{}.Now; sink(f()) })
	}, "time.Now"},
	"method expression": {func(nodes, string, options) strategies.Lock {
		return asks(func(context.Context) { f := wallClock.Now; sink(f(wallClock{})) })
	}, "time.Now"},
	"generic function": {func(nodes, string, options) strategies.Lock {
		return asks(func(context.Context) { memo(wallClock{}.Now) })
	}, "time.Now"},
	"generic type":        {func(nodes, string, options) strategies.Lock { return &generic[wallClock]{} }, "time.Now"},
	"generic type, given": {func(nodes, string, options) strategies.Lock { return &generic[fixed]{} }, ""},
	"goroutine": {func(nodes, string, options) strategies.Lock {
		return asks(func(context.Context) { go (&stopwatch{}).late() })
	}, "time.Since"},
	"deferred": {func(nodes, string, options) strategies.Lock {
		return asks(func(context.Context) { defer (&stopwatch{}).late() })
	}, "time.Since"},
	"map of functions": {func(nodes, string, options) strategies.Lock { return asks(func(context.Context) { clockOf["wall"]() }) }, "time.Now"},
	"struct copy":      {func(nodes, string, options) strategies.Lock { return &copies{now: wallClock{}.Now} }, "time.Now"},
	"closure of a closure": {func(nodes, string, options) strategies.Lock {
		return asks(func(context.Context) { func() func() bool { return func() bool { return (&stopwatch{}).late() } }()() })
	}, "time.Since"},
	"options": {func(nodes, string, options) strategies.Lock {
		return newConfigured(withNow(wallClock{}.Now), withoutWait())
	}, "time.Now"},
	"options, given": {func(nodes, string, options) strategies.Lock { return newConfigured(withoutWait()) }, ""},
	"settings, given": {func(nodes, string, options) strategies.Lock {
		return newWithSettings(func(s *settings) { s.now, s.sleep = fixed{}.Now, func(time.Duration) {} })
	}, ""},
	"init": {func(nodes, string, options) strategies.Lock { return asks(func(context.Context) { nowFunc() }) }, "time.Now"},
	"a library's registry": {func(nodes, string, options) strategies.Lock {
		return asks(func(context.Context) { backoff.Clock("wall")() })
	}, "time.Now"},
	"a group of threads": {func(nodes, string, options) strategies.Lock {
		return asks(func(context.Context) {
			var g backoff.Group
			g.Go(func() error { (&stopwatch{}).late(); return nil })
			g.Wait()
		})
	}, "time.Since"},
	"atomic counter": {func(nodes, string, options) strategies.Lock {
		return asks(func(context.Context) {
			seq.Add(1) // want the variable seq
		})
	}, "the variable seq"},
	"global mutex in a field": {func(nodes, string, options) strategies.Lock { return &cached{mu: &mu} }, "the variable mu"},
	"global map in a field":   {func(nodes, string, options) strategies.Lock { return &cached{m: cache} }, "the variable cache"},
	"pointer to a global":     {func(nodes, string, options) strategies.Lock { return &cached{n: pointer()} }, "the variable hits"},
	"host name": {func(nodes, string, options) strategies.Lock {
		return asks(func(context.Context) { _ = identity + "x" })
	}, "os.Hostname"},
	"Stringer": {func(nodes, string, options) strategies.Lock {
		return asks(func(context.Context) { _ = fmt.Sprint(stamp{}) })
	}, "time.Now"},
	"sort.Interface": {func(nodes, string, options) strategies.Lock {
		return asks(func(context.Context) { sort.Sort(byAge(nil)) })
	}, "time.Since"},
	"logs": {func(nodes, string, options) strategies.Lock {
		return asks(func(ctx context.Context) { log.Printf("a"); slog.InfoContext(ctx, "a"); fmt.Println("a") })
	}, ""},
	"map from around":            {seen(), "the variable seen"},
	"counter from around":        {counting(), "the variable n"},
	"bound receiver":             {bound(), "the variable r"},
	"constructor of a factory":   {factory(), "the variable r"},
	"pool":                       {func(nodes, string, options) strategies.Lock { return asks(func(context.Context) { buffers.Get() }) }, "the variable buffers"},
	"own copy":                   {ownCopy(), ""},
	"own copy of an own closure": {func(nodes, string, options) strategies.Lock { n := 0; return asks(func(context.Context) { n++ }) }, ""},
	"tables": {func(nodes, string, options) strategies.Lock {
		return asks(func(context.Context) { _ = pattern.MatchString("a") })
	}, ""},
	"a clock given to a helper": {given(wallClock{}.Now), "time.Now"},
	"linked name":               {func(nodes, string, options) strategies.Lock { return asks(func(context.Context) { nanotime() }) }, "outside_test.nanotime"},
	"range over a function": {func(nodes, string, options) strategies.Lock {
		return asks(func(context.Context) {
			for range countTo(3) {
				continue
			}
		})
	}, "time.After"},
	"type assertion": {func(nodes, string, options) strategies.Lock {
		return asks(func(context.Context) {
			var x any = wallClock{}
			if c, is := x.(teller); is {
				c.Now()
			}
		})
	}, "time.Now"},
	"context's value": {func(nodes, string, options) strategies.Lock {
		return asks(func(ctx context.Context) {
			context.WithValue(ctx, clockKey{}, wallClock{}).Value(clockKey{}).(teller).Now()
		})
	}, "time.Now"},
	"recursion": {func(nodes, string, options) strategies.Lock {
		return asks(func(context.Context) {
			var f func(int)
			f = func(n int) {
				if n > 0 {
					f(n - 1)
				}
				(&stopwatch{}).late()
			}
			f(1)
		})
	}, "time.Since"},
	"channel of functions": {func(nodes, string, options) strategies.Lock {
		return asks(func(context.Context) { c := make(chan func() time.Time, 1); c <- wallClock{}.Now; (<-c)() })
	}, "time.Now"},
	"array of functions": {func(nodes, string, options) strategies.Lock {
		return asks(func(context.Context) {
			for _, f := range [...]func() time.Time{wallClock{}.Now} {
				f()
			}
		})
	}, "time.Now"},
	"context.AfterFunc": {func(nodes, string, options) strategies.Lock {
		return asks(func(ctx context.Context) { context.AfterFunc(ctx, func() { (&stopwatch{}).late() }) })
	}, "time.Since"},
	"a ticker of all": {func(nodes, string, options) strategies.Lock { return asks(func(context.Context) { <-ticking.C }) }, "the variable ticking, time.NewTicker"},
	"local type":      {localType(), "time.Since"},
	"lines":           {func(nodes, string, options) strategies.Lock { return asks(linewise) }, "context.WithTimeout, os.Args, os.Getenv, os.Stdin, package unsafe, rand.New, rand.NewSource, reflect.Value.Call, runtime.NumGoroutine, the variable current, the variable hits, the variable holder, time.Until"},
}

func localType() constructor {
	type mine struct{ *embeds }
	return func(nodes, string, options) strategies.Lock {
		type inner struct{ *mine }
		return inner{&mine{&embeds{stopwatch: &stopwatch{}}}}
	}
}

// linewise does one thing a line.
func linewise(ctx context.Context) {
	_ = os.Getenv("POD")                             // want os.Getenv
	_ = reflect.ValueOf(linewise).Call(nil)          // want reflect.Value.Call
	_ = runtime.NumGoroutine()                       // want runtime.NumGoroutine
	current.Store(nil)                               // want the variable current
	*pointer()++                                     // want the variable hits
	holder.Store(1)                                  // want the variable holder
	at, _ := ctx.Deadline()                          //
	_ = time.Until(at)                               // want time.Until
	source := mrand.NewSource(at.UnixNano())         // want math/rand.NewSource
	_ = mrand.New(source)                            // want math/rand.New
	ctx, stop := context.WithTimeout(ctx, time.Hour) // want context.WithTimeout
	stop()
	_ = len(os.Args)                 // want os.Args
	_ = os.Stdin                     // want os.Stdin
	_ = *(*int)(unsafe.Pointer(&at)) // want package unsafe
	_ = unsafe.Slice(unsafe.StringData("a"), 1)
	_ = unsafe.StringData("a") == unsafe.StringData("b") // want package unsafe
	_ = ctx
}

type closed struct {
	base
	acquire func(context.Context)
}

func (c closed) Acquire(ctx context.Context) (*strategies.Lease, error) {
	c.acquire(ctx)
	return nil, errBusy
}

// inner is behind a closure, where reflection doesn't see whether its default was replaced.
type inner struct{ now func() time.Time }

func newInner() *inner { return &inner{now: time.Now} } // want time.Now

func (i *inner) acquire(context.Context) { i.now() }

type pointed struct {
	base
	in atomic.Pointer[inner]
}

func (p *pointed) Acquire(context.Context) (*strategies.Lease, error) {
	p.in.Load().now()
	return nil, errBusy
}

type demanding struct {
	base
	now func() time.Time
}

func newDemanding(_ nodes, key string, _ options) strategies.Lock {
	if key == "" {
		panic("a lock needs a key")
	}
	return &demanding{now: time.Now} // want time.Now
}

func (d *demanding) Acquire(context.Context) (*strategies.Lease, error) {
	d.now()
	return nil, errBusy
}

var locks = map[string]*embeds{}

// known has one lock for each key.
func known(_ nodes, key string, _ options) strategies.Lock {
	if locks[key] == nil {
		locks[key] = &embeds{} // want the variable locks
	}
	return locks[key]
}

type counts struct {
	base
	n    int
	once sync.Once
	mu   sync.Mutex
	by   map[string]int
	wake chan int
}

func (c *counts) Acquire(ctx context.Context) (*strategies.Lease, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.once.Do(func() { c.by, c.wake = map[string]int{}, make(chan int, 1) })
	c.by["a"]++
	for _, n := range c.by {
		c.n += n
	}
	select {
	case c.wake <- 1:
	case <-ctx.Done():
	}
	return nil, fmt.Errorf("busy: %w", errBusy)
}

// same returns one lock to all.
func same() constructor {
	one := &shares{}
	return func(nodes, string, options) strategies.Lock { return one }
}

type shares struct {
	base
	n int
}

func (s *shares) Acquire(context.Context) (*strategies.Lease, error) {
	s.n++ // want the variable one
	return nil, errBusy
}

func ofClock() constructor {
	clock := strategies.NewSystemClock()
	return func(nodes, string, options) strategies.Lock {
		return asks(func(context.Context) {
			_ = clock.Monotonic() // want lockstep/strategies.SystemClock.Monotonic
		})
	}
}

// ofServer has a client of a server of its own.
func ofServer() constructor {
	rdb := redis.NewClient(&redis.Options{})
	return func(nodes, string, options) strategies.Lock { return asks(func(ctx context.Context) { rdb.Ping(ctx) }) } // the variable rdb
}

// drawn is what the runtime draws.
func drawn(ctx context.Context) {
	a, b := make(chan int), make(chan int)
	select { // want select
	case <-a:
	case <-b:
	}
	for key := range map[string]bool{"a": true} { // want range over a map
		drawn(context.WithValue(ctx, clockKey{}, key))
	}
	for range time.Tick(time.Second) { // want time.Tick
		time.AfterFunc(time.Second, func() {}) // want time.AfterFunc
	}
	nowFunc = nil // want the variable nowFunc
}

func init() { helper.Now = time.Now } // want time.Now

var setNow func() time.Time

func setClock(now func() time.Time) { setNow = now }

type counted struct{ n int }

func (c *counted) acquire(context.Context, *redis.Client, string, options) (string, error) {
	c.n++ // want the variable c
	return "", nil
}

func (c *counted) release(context.Context, *redis.Client, string, string) error { return nil }

// ofFunctions is a lock of methods of one value, which all clients share.
func ofFunctions() constructor {
	c := &counted{}
	return locktest.Functions(c.acquire, c.release)
}

// twice has a value that reflection sees, with another clock than its default, and one that it doesn't see.
type twice struct {
	base
	seen    *inner
	acquire func(context.Context)
}

func (l *twice) Acquire(ctx context.Context) (*strategies.Lease, error) {
	l.seen.now()
	l.acquire(ctx)
	return nil, errBusy
}

func replacing() *inner {
	in := newInner()
	in.now = fixed{}.Now
	return in
}

type byPointer struct {
	onlySeen
	pointer atomic.Pointer[inner]
}

func (l *byPointer) Release(context.Context, *strategies.Lease) error {
	l.pointer.Load().now()
	return nil
}

type byMap struct {
	onlySeen
	values sync.Map
}

func (l *byMap) Release(context.Context, *strategies.Lease) error {
	in, _ := l.values.Load("a")
	in.(*inner).now()
	return nil
}

type contextual struct {
	base
	ctx context.Context
}

func (l *contextual) Acquire(context.Context) (*strategies.Lease, error) {
	l.ctx.Value(clockKey{}).(teller).Now()
	return nil, errBusy
}

type onlySeen struct {
	base
	seen *inner
}

func (l *onlySeen) Acquire(context.Context) (*strategies.Lease, error) {
	l.seen.now()
	return nil, errBusy
}

func lent() constructor {
	unseen := newInner().acquire
	return func(nodes, string, options) strategies.Lock {
		return &twice{seen: replacing(), acquire: unseen}
	}
}

// names are shared, though what has them is copied.
type names struct {
	base
	limits
}

func (l *names) Acquire(context.Context) (*strategies.Lease, error) {
	l.names[0] = "b" // want the variable shared
	return nil, errBusy
}

func copied() constructor {
	shared := limits{names: []string{"a"}}
	return func(nodes, string, options) strategies.Lock { return &names{limits: shared} }
}

// afterwards are cases that were thought up when the code that finds them was there.
var afterwards = map[string]struct {
	lock constructor
	want string
}{
	"method of what isn't seen": {func(nodes, string, options) strategies.Lock { return closed{acquire: newInner().acquire} }, "time.Now"},
	"captured, with defaults": {func(nodes, string, options) strategies.Lock {
		in := newInner()
		return closed{acquire: func(context.Context) { in.now() }}
	}, "time.Now"},
	"atomic pointer":             {func(nodes, string, options) strategies.Lock { p := &pointed{}; p.in.Store(newInner()); return p }, "time.Now"},
	"a constructor that panics":  {newDemanding, "time.Now"},
	"a lock for each key":        {known, "the variable locks, time.Since"},
	"own memory":                 {func(nodes, string, options) strategies.Lock { return &counts{} }, ""},
	"one lock for all":           {same(), "the variable one"},
	"the simulator's real clock": {ofClock(), "strategies.SystemClock.Monotonic"},
	"methods of one value":       {ofFunctions(), "the variable c"},
	"set by another package":     {func(nodes, string, options) strategies.Lock { return asks(func(context.Context) { helper.Now() }) }, "time.Now"},
	"set by a test":              {func(nodes, string, options) strategies.Lock { return asks(func(context.Context) { setNow() }) }, "time.Now"},
	"given by another package":   {kit.Given(func(now func() time.Time) constructor { return given(now) }), "time.Now"},
	"replaced, as seen":          {func(nodes, string, options) strategies.Lock { return &onlySeen{seen: replacing()} }, ""},
	"replaced, but for one in a closure": {func(nodes, string, options) strategies.Lock {
		unseen := newInner()
		return &twice{seen: replacing(), acquire: func(context.Context) { unseen.now() }}
	}, "time.Now"},
	"replaced, but for one around": {lent(), "time.Now"},
	"replaced, but for one in a pointer": {func(nodes, string, options) strategies.Lock {
		l := &byPointer{onlySeen: onlySeen{seen: replacing()}}
		l.pointer.Store(newInner())
		return l
	}, "time.Now"},
	"replaced, but for one in a sync.Map": {func(nodes, string, options) strategies.Lock {
		l := &byMap{onlySeen: onlySeen{seen: replacing()}}
		l.values.Store("a", newInner())
		return l
	}, "time.Now"},
	"a field's context": {func(nodes, string, options) strategies.Lock {
		return &contextual{ctx: context.WithValue(context.Background(), clockKey{}, wallClock{})}
	}, "time.Now"},
	"names of a copy":             {copied(), "the variable shared"},
	"set by a package it imports": {func(nodes, string, options) strategies.Lock { return asks(func(context.Context) { helper.Other() }) }, "time.Now"},
	"a server of its own":         {ofServer(), "the variable rdb"},
	"drawn by the runtime":        {func(nodes, string, options) strategies.Lock { return asks(drawn) }, "range over a map, select, the variable nowFunc, time.AfterFunc, time.Tick"},
}

func TestAfterwards(t *testing.T) {
	setClock(time.Now) // want time.Now
	for name, c := range afterwards {
		t.Run(name, func(t *testing.T) { finds(t, strategies.Strategy{Nodes: 1, New: c.lock}, c.want) })
	}
}

// TestHabits: what real locks do is found behind what real locks do it by.
func TestHabits(t *testing.T) {
	testenv.LongRaced(t)
	for name, c := range habits {
		t.Run(name, func(t *testing.T) { finds(t, strategies.Strategy{Nodes: 1, New: c.lock}, c.want) })
	}
}
