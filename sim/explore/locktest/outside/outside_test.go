package outside_test

import (
	"context"
	"crypto/rand"
	"errors"
	mrand "math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"lockstep/sim/explore/locktest/outside"
	"lockstep/sim/explore/locktest/outside/testdata/helper"
	"lockstep/sim/testenv"
	"lockstep/sim/trace"
	"lockstep/strategies"
)

// base is a lock that does nothing.
type base struct{}

func (base) Acquire(context.Context) (*strategies.Lease, error) { return nil, errors.ErrUnsupported }
func (base) Release(context.Context, *strategies.Lease) error   { return nil }
func lock(l strategies.Lock) func() strategies.Strategy {
	return func() strategies.Strategy {
		return strategies.Strategy{Nodes: 1, New: func([]*redis.Client, string, strategies.Options) strategies.Lock { return l }}
	}
}

type byClock struct {
	base
	at time.Time
}

func (l *byClock) Acquire(context.Context) (*strategies.Lease, error) {
	if l.stale() {
		return nil, nil
	}
	return nil, nil
}
func (l *byClock) stale() bool { return time.Since(l.at) > time.Second } // want time.Since
func (l *byClock) Age() time.Duration {
	return time.Since(l.at)
}

type byHelper struct{ base }

func (byHelper) Release(context.Context, *strategies.Lease) error {
	if helper.Stale(time.Time{}) {
		return nil
	}
	helper.Count++ // want the variable Count
	return nil
}

type teller interface{ Now() time.Time }

type byInterface struct {
	base
	clock teller
}

func (l byInterface) Acquire(context.Context) (*strategies.Lease, error) {
	l.clock.Now()
	return nil, nil
}

type fixed struct{}

func (fixed) Now() time.Time { return time.Time{} }

type wallClock struct{}

func (wallClock) Now() time.Time { return time.Now() } // want time.Now

func newByInterface(c teller) *byInterface {
	l := &byInterface{clock: wallClock{}} // unless there is another
	if c != nil {
		l.clock = c
	}
	return l
}

type byField struct {
	base
	now func() time.Time
}

func (l *byField) Acquire(context.Context) (*strategies.Lease, error) {
	l.now()
	return nil, nil
}

func newByField(now func() time.Time) *byField {
	l := &byField{now: time.Now} // want time.Now
	if now != nil {
		l.now = now
	}
	return l
}

type sleeps struct{ base }

func (sleeps) Acquire(ctx context.Context) (*strategies.Lease, error) {
	for range 3 {
		select {
		case <-time.After(time.Second): // want time.After
		case <-ctx.Done():
		}
	}
	<-time.Tick(time.Second) // want time.Tick
	return nil, nil
}

var (
	mu      sync.Mutex
	held    = map[string]bool{}
	slots   = make(chan struct{}, 1)
	answers = map[string]string{"yes": "no"}
	script  = redis.NewScript("return 1")
	errBusy = errors.New("busy")
	tally   counter
)

type counter struct{ n int }

func (c *counter) add() { c.n++ } // want the variable tally

type globals struct {
	base
	rdb *redis.Client
}

func (l globals) Acquire(ctx context.Context) (*strategies.Lease, error) {
	mu.Lock()         // want the variable mu
	defer mu.Unlock() // want the variable mu
	if held["a"] {
		return nil, errBusy
	}
	held["a"] = true    // want the variable held
	delete(held, "b")   // want the variable held
	slots <- struct{}{} // want the variable slots
	tally.add()
	script.Run(ctx, l.rdb, nil)
	_ = answers["yes"]
	return nil, nil
}

type draws struct{ base }

func (draws) Acquire(context.Context) (*strategies.Lease, error) {
	if mrand.IntN(20) == 0 { // want math/rand/v2.IntN
		return nil, nil
	}
	_ = rand.Text()       // want crypto/rand.Text
	if os.Getpid() == 0 { // want os.Getpid
		_, _ = os.ReadFile("x") // want os.ReadFile
	}
	return nil, nil
}

type excused struct{ base }

func (excused) Acquire(context.Context) (*strategies.Lease, error) {
	start := time.Now() //lockstep:outside only for the histogram
	_ = start
	_ = helper.Stale(start) //lockstep:outside it is logged
	return nil, nil
}

type hooked struct {
	base
	rdb *redis.Client
}

type hook struct{}

func (hook) DialHook(next redis.DialHook) redis.DialHook { return next }
func (hook) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	<-time.After(time.Second) // want time.After
	return next
}
func (hook) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}

type embedding struct{ *byClock }

type shadow struct{ base }

func (shadow) Acquire(context.Context) (*strategies.Lease, error) {
	time := fixed{}
	if time.Now().IsZero() {
		return nil, errBusy
	}
	return nil, nil
}

type byFunctions struct {
	base
	acquire func() bool
}

func (l byFunctions) Acquire(context.Context) (*strategies.Lease, error) {
	l.acquire()
	return nil, nil
}

// captured is a lock whose function has variables from around its constructor.
func captured() func() strategies.Strategy {
	holder := ""
	now := time.Now // want time.Now
	acquire := func() bool {
		holder = "me" // want the variable holder
		return holder == "" && now().IsZero()
	}
	return func() strategies.Strategy {
		return strategies.Strategy{Nodes: 1, New: func([]*redis.Client, string, strategies.Options) strategies.Lock {
			return byFunctions{acquire: acquire}
		}}
	}
}

// ownCaptured is one whose function has variables of its constructor, as each lock has its own.
func ownCaptured() func() strategies.Strategy {
	return func() strategies.Strategy {
		return strategies.Strategy{Nodes: 1, New: func([]*redis.Client, string, strategies.Options) strategies.Lock {
			holder := ""
			return byFunctions{acquire: func() bool {
				holder = "me"
				return holder == ""
			}}
		}}
	}
}

type stamped struct {
	base
	at time.Time
}

func hooking() func() strategies.Strategy {
	return func() strategies.Strategy {
		return strategies.Strategy{Nodes: 1, New: func(nodes []*redis.Client, _ string, _ strategies.Options) strategies.Lock {
			nodes[0].AddHook(hook{})
			return &hooked{rdb: nodes[0]}
		}}
	}
}

func constructing() func() strategies.Strategy {
	return func() strategies.Strategy {
		return strategies.Strategy{Nodes: 1, New: func([]*redis.Client, string, strategies.Options) strategies.Lock {
			return &stamped{at: time.Now()} // want time.Now
		}}
	}
}

type byAlias struct{ base }

func (byAlias) Acquire(context.Context) (*strategies.Lease, error) {
	now := time.Now // want time.Now
	if now().IsZero() {
		return nil, errBusy
	}
	return nil, nil
}

// production is a lock with defaults, which its adapter for a search replaces.
type production struct {
	base
	sleep func(time.Duration)
	token func() string
	clock teller
}

func newProduction() *production {
	return &production{sleep: time.Sleep, token: helper.Token, clock: wallClock{}} // want time.Sleep
}

func (l *production) Acquire(context.Context) (*strategies.Lease, error) {
	l.sleep(time.Second)
	if l.token() == "" || l.clock.Now().IsZero() {
		return nil, errBusy
	}
	return nil, nil
}

func replaced() func() strategies.Strategy {
	return func() strategies.Strategy {
		return strategies.Strategy{Nodes: 1, New: func(_ []*redis.Client, _ string, o strategies.Options) strategies.Lock {
			l := newProduction()
			l.sleep = func(d time.Duration) { _ = o.Clock.Sleep(context.Background(), d) }
			l.token, l.clock = o.Token, o.Clock
			return l
		}}
	}
}

// line is the text of a line.
func line(t *testing.T, at trace.Source) string {
	file := filepath.Base(at.File)
	if name := strings.TrimSuffix(file, ".go"); name == "helper" || name == "backoff" || name == "kit" {
		file = filepath.Join("testdata", name, file)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(strings.Split(string(text), "\n")[at.Line-1])
}

// TestFind: each use is found, at its line, which says so; and what isn't reached, or is set to
// something else, is not.
func TestFind(t *testing.T) {
	testenv.LongRaced(t)
	for name, c := range map[string]struct {
		lock func() strategies.Strategy
		want string
	}{
		"nothing":                {lock(base{}), ""},
		"a method's clock":       {lock(&byClock{}), "time.Since"},
		"an embedded lock's":     {lock(embedding{&byClock{}}), "time.Since"},
		"another package's":      {lock(byHelper{}), "the variable Count, time.Since"},
		"an interface's":         {lock(newByInterface(nil)), "time.Now"},
		"an interface's, given":  {lock(newByInterface(fixed{})), ""},
		"another's type":         {lock(newByInterface(helper.Clock{})), "time.Now"},
		"the simulator's real":   {lock(newByInterface(strategies.NewSystemClock())), "strategies.NewSystemClock"},
		"a field's function":     {lock(newByField(nil)), "time.Now"},
		"a field's, given":       {lock(newByField(fixed{}.Now)), ""},
		"a field's method value": {lock(newByField(wallClock{}.Now)), "time.Now"},
		"sleeps":                 {lock(sleeps{}), "time.After, time.Tick"},
		"variables":              {lock(globals{}), "the variable held, the variable mu, the variable slots, the variable tally"},
		"draws":                  {lock(draws{}), "os.Getpid, os.ReadFile, rand.Text, v2.IntN"},
		"excused":                {lock(excused{}), "helper.Stale: it is logged, time.Now: only for the histogram"},
		"a captured variable":    {captured(), "the variable holder, time.Now"},
		"defaults":               {lock(newProduction()), "rand.Text, time.Now, time.Sleep"},
		"defaults, replaced":     {replaced(), ""},
		"a constructor's own":    {ownCaptured(), ""},
		"hooks":                  {lock(&hooked{}), ""},
		"hooks, named":           {hooking(), "time.After"},
		"a local alias":          {lock(byAlias{}), "time.Now"},
		"a constructor's":        {constructing(), "time.Now"},
		"another's name":         {lock(shadow{}), ""},
	} {
		t.Run(name, func(t *testing.T) { finds(t, c.lock(), c.want) })
	}
}

// finds checks what is found in a lock, in the order of names, and that each line says so.
func finds(t *testing.T, s strategies.Strategy, want string) {
	t.Helper()
	found, err := outside.Find(s)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, u := range found.Uses {
		what := u.What[strings.LastIndexByte(u.What, '/')+1:]
		if u.Reason != "" {
			what += ": " + u.Reason
		} else if text := line(t, u.Source); !strings.HasSuffix(text, "// want "+u.What) && !strings.Contains(text, "New: func") && // which is for a value that it makes
			!strings.Contains(text, what) { // the case itself
			t.Errorf("%s at line %d, which is %s", u.What, u.Source.Line, text)
		}
		got = append(got, what)
	}
	slices.Sort(got)
	if got := strings.Join(slices.Compact(got), ", "); got != want {
		t.Errorf("found %s, not %s", got, want)
	}
}

// TestCatalogue: nothing is found in locks that ask Options for all that they need, and keep what they remember in
// fields.
func TestCatalogue(t *testing.T) {
	testenv.LongRaced(t)
	for _, s := range strategies.All() {
		if found, err := outside.FindIn(s, "lockstep/strategies"); err != nil || len(found.Uses)+len(found.Kept) > 0 {
			t.Errorf("%s: %v, %v", s.Name, found, err)
		}
	}
}
