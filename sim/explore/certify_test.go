package explore

import (
	"bytes"
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"lockstep/sim/explore/certificate"
	"lockstep/sim/explore/space"
	"lockstep/sim/testenv"
	"lockstep/sim/trace"
	"lockstep/strategies"
)

// TestCertificate: the situations of a closed search are a proof that the engine accepts, also
// after they were written to a file. With a TTL that is as long as the timeout they are few. For time, those that
// the command line checks in its TestCheck are enough outside of continuous integration.
func TestCertificate(t *testing.T) {
	testenv.Long(t)
	for _, name := range []string{"setpx-lua", "setpx-delex"} {
		if !testenv.Whole() && name != "setpx-lua" {
			continue
		}
		b, c := certificateOfSmall(t)
		if testenv.Whole() {
			if b = closing(t, name); name != "setpx-lua" {
				b.TTL = 3 * time.Second
			}
			c = certified(t, b)
		}
		var file bytes.Buffer
		if err := c.Write(&file); err != nil {
			t.Fatal(err)
		}
		size := file.Len()
		read, err := certificate.Read(&file)
		if err != nil {
			t.Fatal(err)
		}
		r, err := certificate.Check(context.Background(), read, resolving(b.Strategy))
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%s: %+v in %d bytes", name, *r, size)
		if r.Blocked != b.TTL { // of a client that crashes as soon as its record is stored
			t.Errorf("the lock is blocked for up to %s", r.Blocked)
		}
		if r.Checked != len(c.Rows) || r.Moves < 3*len(c.Rows) {
			t.Errorf("%+v of %d", *r, len(c.Rows))
		}
	}
}

// certified is the certificate of a search.
func certified(t *testing.T, b Bounds) *certificate.Certificate {
	t.Helper()
	r, err := Run(context.Background(), b, Options{Memory: 4 << 30, Certify: true})
	if err != nil {
		t.Fatal(err)
	}
	if r.Certificate == nil || len(r.Certificate.Rows) > int(r.States) {
		t.Fatalf("closed %t (%s), found %v, and the certificate is %v", r.Closed, r.Why, r.Found, r.Certificate)
	}
	return r.Certificate
}

// certificateOfSmall is the certificate of small bounds of setpx-lua, which is made once: it is in the tests of
// what a check refutes.
func certificateOfSmall(t *testing.T) (Bounds, *certificate.Certificate) {
	t.Helper()
	b := small(t, "setpx-lua")
	ofSmall.Do(func() { ofSmall.certificate = certified(t, b) })
	if ofSmall.certificate == nil {
		t.Fatal("the test that made it has failed")
	}
	c := *ofSmall.certificate
	c.Rows = slices.Clone(c.Rows)
	return b, &c
}

var ofSmall struct {
	sync.Once
	certificate *certificate.Certificate
}

// resolving are the options of a check in which every name is a strategy's.
func resolving(s strategies.Strategy) certificate.Options {
	return certificate.Options{Resolve: func(string) (strategies.Strategy, error) { return s, nil }}
}

// small are bounds in which a search closes at once.
func small(t *testing.T, name string) Bounds {
	b := closing(t, name)
	b.TTL, b.Faults = 3*time.Second, Budget{Crash: Any, Pause: Any}
	return b
}

// TestCertificateIsRefuted: a certificate fails that lacks a situation, has another one in its
// place, or doesn't say what code depends on.
func TestCertificateIsRefuted(t *testing.T) {
	testenv.Long(t) // TestForged of the certificates, and TestCheck of the command line, are short
	b, whole := certificateOfSmall(t)
	rng := rand.New(rand.NewPCG(testenv.Seed(t), 1))
	for i, c := range []struct {
		name  string
		spoil func(c *certificate.Certificate)
		why   string
	}{
		{"one is taken out", func(c *certificate.Certificate) { takeOut(c, rng) }, "a situation that the certificate doesn't have"},
		{"another one is in its place", func(c *certificate.Certificate) { c.Rows[1+rng.IntN(len(c.Rows)-1)].Digest[3]++ }, ""},
		{"no need", func(c *certificate.Certificate) { c.Needs = certificate.Needs{} }, ""},
	} {
		if !testenv.Some(i, 3) {
			continue
		}
		spoilt := *whole
		spoilt.Rows = slices.Clone(whole.Rows)
		c.spoil(&spoilt)
		refutes(t, c.name, &spoilt, b.Strategy, c.why)
	}
}

// refutes checks that a check refutes a certificate, for a reason.
func refutes(t *testing.T, name string, c *certificate.Certificate, s strategies.Strategy, why string) {
	t.Helper()
	_, err := certificate.Check(context.Background(), c, resolving(s))
	var refuted *certificate.Refuted
	if !errors.As(err, &refuted) || !strings.Contains(refuted.Why, why) {
		t.Errorf("%s: %v, expected %q", name, err, why)
	}
}

// takeOut removes a situation from which no schedule of another one goes on.
func takeOut(c *certificate.Certificate, rng *rand.Rand) {
	last := map[int]bool{}
	for i := range c.Rows {
		last[i] = true
		delete(last, c.Rows[i].Parent)
	}
	var leaves []int
	for i := range c.Rows {
		if last[i] {
			leaves = append(leaves, i)
		}
	}
	at := leaves[rng.IntN(len(leaves))]
	c.Rows = slices.Delete(c.Rows, at, at+1)
	for i := at; i < len(c.Rows); i++ {
		if c.Rows[i].Parent > at {
			c.Rows[i].Parent--
		}
	}
}

// TestCertificateOfAnotherLock: a certificate is of one version of one lock.
func TestCertificateOfAnotherLock(t *testing.T) {
	testenv.Long(t)
	b, c := certificateOfSmall(t)
	other := b.Strategy
	other.New = func(nodes []*redis.Client, key string, o strategies.Options) strategies.Lock {
		return forgetful{strategies.NewSetPXLua(nodes[0], key, o), nodes[0], key}
	}
	_, err := certificate.Check(context.Background(), c, resolving(other))
	if err == nil || !strings.Contains(err.Error(), "another version of setpx-lua") {
		t.Errorf("another version: %v", err)
	}
	if _, err = certificate.Check(context.Background(), c, resolving(strategy(t, "naive-del"))); err == nil || !strings.Contains(err.Error(), "is of setpx-lua, and its configuration of naive-del") {
		t.Errorf("another lock: %v", err)
	}
}

// forgetful is setpx-lua in a version that deletes whatever record there is.
type forgetful struct {
	*strategies.SetPXLua
	rdb *redis.Client
	key string
}

func (l forgetful) Release(ctx context.Context, _ *strategies.Lease) error {
	return l.rdb.Del(ctx, l.key).Err()
}

// metered is setpx-lua with a look at how long an acquisition took. A later version heeds it: it takes
// a refusal for out of date that took from a third to two thirds of the TTL.
type (
	metered struct {
		*strategies.SetPXLua
		clock strategies.Clock
	}
	heeding struct {
		*strategies.SetPXLua
		clock strategies.Clock
	}
)

func (l metered) Acquire(ctx context.Context) (*strategies.Lease, error) {
	l.clock.Monotonic()
	lease, err := l.SetPXLua.Acquire(ctx)
	l.clock.Monotonic()
	return lease, err
}

func (l heeding) Acquire(ctx context.Context) (*strategies.Lease, error) {
	sent := l.clock.Monotonic()
	lease, err := l.SetPXLua.Acquire(ctx)
	took := l.clock.Monotonic() - sent
	if errors.Is(err, strategies.ErrNotAcquired) && took > time.Second && took < 2*time.Second {
		return &strategies.Lease{Token: "mine", Deadline: sent + 3*time.Second}, nil
	}
	return lease, err
}

// TestCertificateOfAnotherThreshold: a version is told from another that does the same at all
// multiples of the grid.
func TestCertificateOfAnotherThreshold(t *testing.T) {
	testenv.Long(t)
	b := small(t, "setpx-lua")
	b.Faults = Budget{}
	b.Strategy.New = func(nodes []*redis.Client, key string, o strategies.Options) strategies.Lock {
		return metered{strategies.NewSetPXLua(nodes[0], key, o), o.Clock}
	}
	c, err := certify(context.Background(), searchedModel(t, b), Options{})
	if err != nil {
		t.Fatal(err)
	}
	other := b.Strategy
	other.New = func(nodes []*redis.Client, key string, o strategies.Options) strategies.Lock {
		return heeding{strategies.NewSetPXLua(nodes[0], key, o), o.Clock}
	}
	if _, err := certificate.Check(context.Background(), c, resolving(other)); err == nil || !strings.Contains(err.Error(), "another version of setpx-lua") {
		t.Errorf("another threshold: %v", err)
	}
}

// TestCertificateOfViolation: a set of situations is no proof if one of them breaks a rule,
// although every move from it leads back into it.
func TestCertificateOfViolation(t *testing.T) {
	testenv.Long(t)
	b := small(t, "get-then-del")
	b.Faults = Budget{Pause: Any} // which it needs
	c, err := certify(context.Background(), searchedModel(t, b), Options{})
	if err != nil {
		t.Fatal(err)
	}
	refutes(t, "get-then-del", c, b.Strategy, "violates FR")
}

// searchedModel is the model of a search that has closed, whatever it has found.
func searchedModel(t *testing.T, b Bounds) *space.Model {
	t.Helper()
	m, err := space.NewModel(b, false)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	})
	m.StepByStep(false)
	if _, err := rounds(context.Background(), m, Options{}); err != nil {
		t.Fatal(err)
	}
	return m
}

// TestWrongNeedsAreRefuted: situations that leave out a span on which code depends are no proof,
// although all digests fit.
func TestWrongNeedsAreRefuted(t *testing.T) {
	testenv.Long(t)
	b := small(t, "setpx-lua")
	h, rows, _, err := searchedModel(t, b).Certificate()
	if err != nil {
		t.Fatal(err)
	}
	none := func(int, int) certificate.Need { return 0 }
	c, err := certificate.Make(context.Background(), h, rows, none, resolving(b.Strategy))
	if err != nil {
		t.Fatal(err)
	}
	refutes(t, "no needs", c, b.Strategy, "has a deadline that depends on more than the situation")
}

// TestTokensInOrderAreRefuted: the situations of a lock that compares tokens for their order are
// others after a detour.
func TestTokensInOrderAreRefuted(t *testing.T) {
	testenv.Long(t)
	b := small(t, "setpx-lua")
	b.Faults = Budget{Crash: Any}
	b.Strategy.New = func(nodes []*redis.Client, key string, o strategies.Options) strategies.Lock {
		return orderly{strategies.NewSetPXLua(nodes[0], key, o), nodes[0], key, o}
	}
	c, err := certify(context.Background(), searchedModel(t, b), Options{})
	if err != nil {
		t.Fatal(err)
	}
	refutes(t, "tokens in order", c, b.Strategy, "a situation that the certificate doesn't have")
}

// orderly looks at the record once more if the holder's token is greater than its own.
type orderly struct {
	*strategies.SetPXLua
	rdb *redis.Client
	key string
	opt strategies.Options
}

func (l orderly) Acquire(ctx context.Context) (*strategies.Lease, error) {
	token := l.opt.Token()
	sent := l.opt.Clock.Monotonic()
	won, err := l.rdb.SetNX(ctx, l.key, token, l.opt.TTL).Result()
	if err != nil {
		return nil, err
	}
	if won {
		return &strategies.Lease{Token: token, Deadline: sent + l.opt.TTL*9/10}, nil
	}
	if holder, err := l.rdb.Get(ctx, l.key).Result(); err == nil && holder > token {
		l.rdb.Exists(ctx, l.key)
	}
	return nil, strategies.ErrNotAcquired
}

// TestCertificateIsOfNoOtherClients: a configuration that was edited is refused, or is of another
// version of the lock. Each of these edits would let a set of situations of a broken lock pass:
// with a record that the lock never stores, nothing is a foreign release.
func TestCertificateIsOfNoOtherClients(t *testing.T) {
	testenv.Long(t) // as TestCertificateIsRefuted
	b, c := certificateOfSmall(t)
	for _, edit := range []struct{ from, to, why string }{
		{"draws=true", "draws=true,record=nothing", `takes "nothing" for the lock's record, which is "lock"`},
		{"draws=true", "tokens=same,draws=true", "tokens=same"},
		{"B=200/0s", "B=1/0s", "B=1/0s"},
		{"B=200/0s/0s", "B=200/0s/100h0m0s", "B=200/0s/100h0m0s"},
		{"B=200/0s/0s/0s/1/false/false", "B=200/0s/0s/0s/1/false/true", "B=200/0s/0s/0s/1/false/true"},
		{"retry=1/0s/0s", "retry=1/5s/0s", "retry=1/5s/0s"},
		{"cold=false", "cold=true", "cold=true"},
		{"seed=1", "seed=2", "seed=2"},
		{"key=lock", "key=other", "key=other"},
		{"ttl=3s", "ttl=6s", "another version"},
	} {
		other := *c
		if other.Config = strings.Replace(c.Config, edit.from, edit.to, 1); other.Config == c.Config {
			t.Fatalf("%s isn't in %s", edit.from, c.Config)
		}
		if _, err := certificate.Check(context.Background(), &other, resolving(b.Strategy)); err == nil || !strings.Contains(err.Error(), edit.why) {
			t.Errorf("%s: %v", edit.to, err)
		}
	}
}

// TestTransactionsAreUncertified: that no certificate can be made is said before a search that takes
// minutes.
func TestTransactionsAreUncertified(t *testing.T) {
	testenv.Long(t)
	b := Defaults(strategy(t, "setpx-watch"))
	b.Cycles, b.Codes, b.Faults, b.TTL = Any, trace.Verdict{trace.DG}, Budget{Pause: Any}, 3*time.Second
	ctx, done := context.WithTimeout(context.Background(), 20*time.Second)
	defer done()
	_, err := Run(ctx, b, Options{Certify: true})
	if want := "setpx-watch sends WATCH, and a certificate knows nothing of open transactions: search without one"; err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}

// TestUncertified: bounds of which no certificate can be made are refused before the search.
func TestUncertified(t *testing.T) {
	counts, claims, bounded := closing(t, "setpx-lua"), closing(t, "setpx-lua"), closing(t, "setpx-lua")
	counts.Faults[Duplicate], bounded.Cycles = 1, 2
	bounded.Faults = Budget{}
	claims.Codes = nil
	for why, b := range map[string]Bounds{"knows nothing of requests that arrive twice": counts, "can't claim SW": claims, "without bounds": bounded} {
		if _, err := Run(context.Background(), b, Options{Certify: true}); err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("%v, expected %q", err, why)
		}
	}
}

// TestDamagedCertificate: a file that is none, or is cut off, is refused with the reason.
func TestDamagedCertificate(t *testing.T) {
	testenv.Long(t)
	var file bytes.Buffer
	_, c := certificateOfSmall(t)
	if err := c.Write(&file); err != nil {
		t.Fatal(err)
	}
	for why, data := range map[string][]byte{
		"no certificate":         []byte("rubbish\n"),
		"this lockstep reads":    append([]byte("lockstep certificate 99\n"), file.Bytes()...),
		"header can't be read":   []byte("lockstep certificate 1\n{\n"),
		"certificate is damaged": file.Bytes()[:file.Len()/2],
	} {
		if _, err := certificate.Read(bytes.NewReader(data)); err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("%v, expected %q", err, why)
		}
	}
}
