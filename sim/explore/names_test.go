package explore

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"lockstep/sim/explore/behaviour"
	"lockstep/sim/explore/naming"
	"lockstep/sim/explore/space"
	"lockstep/sim/testenv"
	"lockstep/sim/trace"
	"lockstep/strategies"
)

// tokenLock is SET NX PX with compare-and-delete, whose steps may use tokens for more than
// that.
type tokenLock struct {
	rdb *redis.Client
	key string
	strategies.Options
	made    string                                // a token drawn by New, if that draws one
	value   func(token string) string             // the record's value; nil: the token
	refused func(l *tokenLock, mine string) error // after a refusal; nil: nothing more
	script  *redis.Script                         // that releases
	draws   int                                   // further tokens that Acquire draws
	marks   bool                                  // it keeps in mind
	lost    bool                                  // that a lease of its own was lost
}

func (l *tokenLock) stored(token string) string {
	if l.value == nil {
		return token
	}
	return l.value(token)
}

func (l *tokenLock) Acquire(ctx context.Context) (*strategies.Lease, error) {
	token, sent := l.Token(), l.Clock.Monotonic()
	for range l.draws {
		token = l.Token()
	}
	won, err := l.rdb.SetNX(ctx, l.key, l.stored(token), l.TTL).Result()
	if err == nil && !won {
		if err = strategies.ErrNotAcquired; l.refused != nil {
			err = errors.Join(err, l.refused(l, token))
		}
	}
	if err != nil {
		return nil, err
	}
	return &strategies.Lease{Token: token, Deadline: sent + l.TTL - l.TTL/100 - 2*time.Millisecond}, nil
}

func (l *tokenLock) Release(ctx context.Context, lease *strategies.Lease) error {
	err := held(l.script.Run(ctx, l.rdb, []string{l.key}, l.stored(lease.Token)).Int())
	l.lost = l.lost || l.marks && errors.Is(err, strategies.ErrNotHeld)
	return err
}

// greatest deletes a record whose token is not the greater one.
var greatest = redis.NewScript(`local v = redis.call("GET", KEYS[1])
if v and v <= ARGV[1] then return redis.call("DEL", KEYS[1]) end return 0`)

// tokenStrategy is the strategy of a tokenLock.
func tokenStrategy(lock tokenLock) strategies.Strategy {
	s := strategies.Strategy{Name: "tokens", Nodes: 1, Timeout: 3 * time.Second, Scripts: []*redis.Script{compareDelete, greatest}}
	s.New = func(nodes []*redis.Client, key string, o strategies.Options) strategies.Lock {
		l := lock
		l.rdb, l.key, l.Options = nodes[0], key, o
		if l.script == nil {
			l.script = compareDelete
		}
		if l.made != "" {
			l.made = o.Token()
		}
		return &l
	}
	return s
}

// TestNamesMatter: a lock that does more with tokens than to compare them for equality is
// refused without a bound on cycles, as tokens and clients aren't interchangeable then.
func TestNamesMatter(t *testing.T) {
	for name, c := range map[string]struct {
		lock tokenLock
		want string // in the error; empty: the search closes
	}{
		"equality":             {tokenLock{}, ""},
		"an order in Redis":    {tokenLock{script: greatest}, "with other tokens"},
		"an order in the code": {tokenLock{refused: takeOver}, "with other tokens"},
		"a last digit":         {tokenLock{refused: takeOverOfTheSameEnd}, "with other tokens"},
		"a part of a token":    {tokenLock{value: func(token string) string { return token[:4] }}, "with other tokens"},
		"a token in New":       {tokenLock{made: "drawn"}, "draw it in Acquire"},
		"too many":             {tokenLock{draws: 20}, "so many tokens"},
	} {
		t.Run(strings.ReplaceAll(name, " ", "-"), func(t *testing.T) {
			if name == "an order in the code" || name == "a part of a token" || name == "a last digit" || name == "equality" {
				testenv.Long(t) // TestTokensInKeys has a lock that closes
			}
			s := tokenStrategy(c.lock)
			b := Bounds{Strategy: s, Clients: 2, Cycles: Any, TTL: 12 * time.Second, Faults: Budget{Crash: Any, Pause: Any}, Codes: trace.Verdict{trace.DG}}
			if testenv.Whole() {
				b.Faults[ReplyLost] = Any
			}
			r, err := Run(context.Background(), b, Options{Memory: 1 << 30})
			if c.want == "" {
				if err != nil || !r.Closed {
					t.Errorf("it doesn't close: %+v, %v", r, err)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("nobody noticed: %+v, %v", r, err)
			}
			var unlike *behaviour.Unlike
			if errors.As(err, &unlike) && unlike.Once == unlike.Again {
				t.Errorf("the error doesn't say what differs: %v", err)
			}
			t.Log(err)
		})
	}
}

// TestTokensInKeys: a lock that names other keys by its tokens closes, and search and engine agree about these
// keys, whose names differ.
func TestTokensInKeys(t *testing.T) {
	s := tokenStrategy(tokenLock{refused: func(l *tokenLock, mine string) error {
		err := l.rdb.Set(context.Background(), "refused "+mine, "", 0).Err()
		return errors.Join(err, l.rdb.Del(context.Background(), "refused "+mine).Err())
	}})
	b := Bounds{Strategy: s, Clients: 2, Cycles: Any, TTL: 12 * time.Second, Faults: Budget{Pause: Any}, Codes: trace.Verdict{trace.DG}}
	if r, err := Run(context.Background(), b, Options{Memory: 1 << 30}); err != nil || !r.Closed {
		t.Errorf("it doesn't close: %+v, %v", r, err)
	}
}

// takeOver deletes the record if its token is the greater one.
func takeOver(l *tokenLock, mine string) error {
	theirs, err := l.rdb.Get(context.Background(), l.key).Result()
	if err == nil && mine < theirs {
		err = l.rdb.Del(context.Background(), l.key).Err()
	}
	return err
}

// takeOverOfTheSameEnd deletes the record if its token ends as this one does: one pair of random
// tokens in sixteen.
func takeOverOfTheSameEnd(l *tokenLock, mine string) error {
	theirs, err := l.rdb.Get(context.Background(), l.key).Result()
	if err == nil && mine[len(mine)-1] == theirs[len(theirs)-1] {
		err = l.rdb.Del(context.Background(), l.key).Err()
	}
	return err
}

// TestNamesMatterWithinBounds: a search with a bound on cycles says of such a lock that it decides
// nothing, and still shows what it has found.
func TestNamesMatterWithinBounds(t *testing.T) {
	for name, lock := range map[string]tokenLock{
		"a last digit":      {refused: takeOverOfTheSameEnd},
		"a truncated value": {value: func(token string) string { return token[len(token)-1:] }},
		"an order":          {refused: takeOver},
	} {
		t.Run(strings.ReplaceAll(name, " ", "-"), func(t *testing.T) {
			s := tokenStrategy(lock)
			r, err := Run(t.Context(), Bounds{Strategy: s, Clients: 2, Cycles: 1, TTL: 12 * time.Second, Faults: Budget{Pause: 1}}, Options{})
			if err != nil {
				t.Fatal(err)
			}
			if f := r.Finding(trace.SW); f.Answer != Violated || f.Least == nil {
				t.Errorf("%s: %s", f.Code, f)
			}
			f := r.Finding(trace.FN)
			if f.Answer != NotDecided || !strings.Contains(f.String(), "the lock compares tokens otherwise than for equality") {
				t.Errorf("%s: %s", f.Code, f)
			}
			t.Log(f)
		})
	}
}

// TestNamesMatterLate: so does a search of a lock that looks into tokens only where few histories come to.
func TestNamesMatterLate(t *testing.T) {
	testenv.Long(t) // TestNamesMatter is short
	s := tokenStrategy(tokenLock{marks: true, refused: func(l *tokenLock, mine string) error {
		if l.lost {
			return takeOverOfTheSameEnd(l, mine)
		}
		return nil
	}})
	s.Scripts = nil // so that the first release takes longer
	b := Bounds{Strategy: s, Clients: 2, Cycles: 2, TTL: 12 * time.Second, Faults: Budget{Crash: 1, Pause: 1}, Codes: trace.Verdict{trace.DG}, Remembers: true}
	r, err := Run(t.Context(), b, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if f := r.Finding(trace.DG); f.Answer != NotDecided || !strings.Contains(f.String(), "the lock compares tokens otherwise than for equality") {
		t.Errorf("%s: %s", f.Code, f)
	}
}

// drawing is a lock that draws a token besides, for nothing.
type drawing struct {
	strategies.Lock
	token func() string
}

func (l *drawing) Acquire(ctx context.Context) (*strategies.Lease, error) {
	l.token()
	return l.Lock.Acquire(ctx)
}

// TestNobodyHasTokens: what a lock did that draws no tokens runs once more once, as to choose others makes no difference.
func TestNobodyHasTokens(t *testing.T) {
	var made [2]int
	for i := range made {
		s := strategy(t, "timestamp-del")
		inner := s.New
		s.New = func(nodes []*redis.Client, key string, o strategies.Options) strategies.Lock {
			made[i]++
			if i == 1 {
				return &drawing{inner(nodes, key, o), o.Token}
			}
			return inner(nodes, key, o)
		}
		b := Defaults(s)
		b.Cycles, b.Faults = 1, Budget{}
		m, err := space.NewModel(b, true)
		if err != nil {
			t.Fatal(err)
		}
		search, err := rounds(t.Context(), m, Options{Workers: 1})
		if err != nil {
			t.Fatal(err)
		}
		search.giveUp()
		made[i] = 0
		r := &Result{Bounds: b, Complete: true}
		if err := retell(t.Context(), r, m); err != nil || r.Undecided != "" {
			t.Error(r.Undecided, err)
		}
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	}
	if made[0] == 0 || made[1] < made[0]*len(naming.Disguises)/2 {
		t.Errorf("without tokens the lock is made %d times, and with tokens %d times", made[0], made[1])
	}
}
