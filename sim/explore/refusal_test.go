package explore

import (
	"context"
	"errors"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"lockstep/sim"
	"lockstep/sim/explore/behaviour"
	"lockstep/sim/explore/space"
	"lockstep/sim/testenv"
	"lockstep/sim/trace"
	"lockstep/strategies"
)

// before is the right lock, which does something else before it asks for the record.
func before(do func(context.Context, *mutant) error) strategies.Strategy {
	return mutantStrategy(mutant{release: rightRelease, acquire: func(ctx context.Context, m *mutant) (*strategies.Lease, error) {
		if err := do(ctx, m); err != nil && !errors.Is(err, redis.Nil) {
			return nil, err
		}
		return rightAcquire(ctx, m)
	}}, 1)
}

// sends is before with a command.
func sends(words ...any) strategies.Strategy {
	return before(func(ctx context.Context, m *mutant) error { return m.nodes[0].Do(ctx, words...).Err() })
}

// runs is before with a script of the lock's key.
func runs(script string, args ...any) strategies.Strategy {
	return before(func(ctx context.Context, m *mutant) error {
		return m.nodes[0].Eval(ctx, script, []string{m.key}, args...).Err()
	})
}

// TestRefusals: what the search has no model of is refused at its first use, by name, with
// the line and what to do.
func TestRefusals(t *testing.T) {
	for name, c := range map[string]struct {
		lock strategies.Strategy
		want string // of the error
	}{
		"RANDOMKEY":         {sends("RANDOMKEY"), "the search can't follow RANDOMKEY of A at LINE: its reply is not a function of the keys; ask for a key by its name"},
		"another database":  {sends("select", 1), "the search can't follow SELECT of A at LINE: the search knows database 0 alone; keep everything in that"},
		"a function":        {sends("FCALL", "f", 0), "the search can't follow FCALL of A at LINE: the simulated server has no functions; send the code by EVAL"},
		"expiry of a field": {sends("HPEXPIRE", "h", 100, "FIELDS", 1, "f"), "the search can't follow HPEXPIRE of A at LINE: the expiry of single fields is not modelled; give the field a key of its own, or put its expiry into the value"},
		"a new command":     {sends("NOSUCH"), "the search can't follow NOSUCH of A at LINE: the search doesn't know this command; use those of strings, hashes, lists, sets and sorted sets, or a script"},
		"an option":         {sends("SET", "k", "v", "IFDEQ", "x"), "the search can't follow SET IFDEQ of A at LINE: this option is not modelled; use others, or a script"},
		"a copy elsewhere":  {sends("COPY", "k", "l", "DB", 1, "REPLACE"), "the search can't follow COPY DB 1 of A at LINE: the search knows database 0 alone; keep everything in that"},
		"an option of ZADD": {sends("ZADD", "k", "NEW", 1, "m"), "the search can't follow ZADD NEW of A at LINE: this option is not modelled; use others, or a script"},
		"SCRIPT KILL":       {sends("SCRIPT", "KILL"), "the search can't follow SCRIPT KILL of A at LINE: it is about the server, not about a script; use SCRIPT LOAD, EXISTS or FLUSH"},
		"INFO":              {sends("INFO"), "the search can't follow INFO of A at LINE: its reply isn't the same when the lock is run again from its beginning: it tells of more than keys and their values"},
		"an order":          {before(twoMembers), "the search can't follow SMEMBERS of A at LINE: the order of its reply is Redis's own affair where there are several members; use SISMEMBER or SCARD"},
		"in a script": {runs(`return redis.call(ARGV[1], KEYS[1])`, "spop"),
			"the search can't follow SPOP in a script of A at LINE: its reply is drawn at random, not a function of the key; use a command that names the member or field"},
		"caught by a script": {runs(`redis.pcall("RANDOMKEY") return 1`), "the search can't follow RANDOMKEY in a script of A at LINE: its reply is not a function of the keys; ask for a key by its name"},
		"a wait in a transaction": {before(func(ctx context.Context, m *mutant) error {
			_, err := m.nodes[0].TxPipelined(ctx, func(p redis.Pipeliner) error { return p.BZPopMin(ctx, 0, "free").Err() })
			return err
		}), "the search can't follow BZPOPMIN of A at LINE: in a script or a transaction it waits for nothing; use the form without B"},
		"a wait in a pipeline": {before(func(ctx context.Context, m *mutant) error {
			_, err := m.nodes[0].Pipelined(ctx, func(p redis.Pipeliner) error {
				p.BLPop(ctx, time.Second, "free")
				return p.Ping(ctx).Err()
			})
			return err
		}), "the search can't follow PING in a pipeline with a command that waits at its server of A at LINE: it has no model of those that wait behind that; send them when it has been answered"},
		"a long wait at a server": {sends("BLPOP", "free", 200_000), "the search can't follow BLPOP of A at LINE: it counts waits up to 2 days; use a shorter timeout, or none"},
		"a long wait":             {before(func(ctx context.Context, m *mutant) error { return m.nodes[0].BLPop(ctx, 72*time.Hour, "free").Err() }), "the search can't follow BLPOP of A at LINE: it counts waits up to 2 days; use a shorter timeout, or none"},
		"CONFIG":                  {sends("CONFIG", "GET", "maxmemory"), "the search can't follow CONFIG of A at LINE: it is about the server and not about its keys, but for CONFIG SET notify-keyspace-events; give the lock as an option what it needs to know"},
		"an event": {before(func(ctx context.Context, m *mutant) error {
			if err := m.nodes[0].ConfigSet(ctx, "notify-keyspace-events", "KEA").Err(); err != nil {
				return err
			}
			return m.nodes[0].MSet(ctx, "a", 1).Err()
		}), "the search can't follow MSET of A at LINE: its keyspace notifications are not modelled; use SET, DEL, EXPIRE, or simple commands of lists, sets and hashes"},
		"BLMPOP":            {sends("BLMPOP", 1, 1, "free", "LEFT"), "the search can't follow BLMPOP of A at LINE: of the commands that wait at the server it is not modelled; use BLPOP or BZPOPMIN"},
		"a shard's channel": {sends("SPUBLISH", "c", "m"), "the search can't follow SPUBLISH of A at LINE: channels of a cluster's shards are not modelled; use SUBSCRIBE and PUBLISH"},
		"PUBSUB":            {sends("PUBSUB", "NUMSUB", "c"), "the search can't follow PUBSUB of A at LINE: its reply is about the server and not about its keys; PUBLISH replies how many have got the message"},
		"a library of scripts": {runs(`return redis.call("SET", "hint", cmsgpack.pack(redis.call("PTTL", KEYS[1])))`),
			"the search can't follow cmsgpack in a script of A at LINE: the simulated server's Lua lacks this library of Redis's; use cjson, string and math"},
		"another library": {runs(`return pcall(function() return struct.pack("I4", 1) end)`),
			"the search can't follow struct in a script of A at LINE: the simulated server's Lua lacks this library of Redis's; use cjson, string and math"},
		"a draw": {runs(`return math.random(1, 6)`),
			"the search can't follow math.random in a script of A at LINE: which numbers a script draws depends on the version of Redis; draw them in the client, and pass them as arguments"},
	} {
		t.Run(strings.ReplaceAll(name, " ", "-"), func(t *testing.T) {
			_, err := Run(context.Background(), Bounds{Strategy: c.lock, Clients: 1, Cycles: 1, TTL: 12 * time.Second}, Options{})
			refuses(t, err, c.want)
		})
	}
}

// TestOwnClockIsSent: what a monotonic clock shows means nothing to others, and not the same in the
// search as in the engine. A lock that sends it is refused, in whatever form it does that.
func TestOwnClockIsSent(t *testing.T) {
	tells := func(tell func(m *mutant, now time.Duration) any) strategies.Strategy {
		return before(func(ctx context.Context, m *mutant) error {
			return m.nodes[0].Set(ctx, "at", tell(m, m.Clock.Monotonic()), 0).Err()
		})
	}
	fenced := mutantStrategy(mutant{release: rightRelease, acquire: func(ctx context.Context, m *mutant) (*strategies.Lease, error) {
		l, err := rightAcquire(ctx, m)
		if err == nil {
			l.Fence = int64(m.Clock.Monotonic())
		}
		return l, err
	}}, 1)
	fenced.Fences = true
	for name, c := range map[string]struct {
		lock strategies.Strategy
		sent string
	}{
		"nanoseconds":  {tells(func(_ *mutant, now time.Duration) any { return int64(now) }), "SET at N of A at LINE"},
		"seconds":      {tells(func(_ *mutant, now time.Duration) any { return int64(now / time.Second) }), "SET at N of A at LINE"},
		"minutes":      {tells(func(_ *mutant, now time.Duration) any { return int64(now / time.Minute) }), "SET at N of A at LINE"},
		"with a token": {tells(func(m *mutant, now time.Duration) any { return m.Token() + "/" + strconv.FormatInt(int64(now), 16) }), "SET at N of A at LINE"},
		"a fence":      {fenced, "the fencing token N of A"},
	} {
		t.Run(strings.ReplaceAll(name, " ", "-"), func(t *testing.T) {
			_, err := Run(context.Background(), Bounds{Strategy: c.lock, Clients: 2, Cycles: 1, TTL: 12 * time.Second, Resource: sim.Fenced}, Options{})
			var r *behaviour.Refusal
			if !errors.As(err, &r) {
				t.Fatalf("it is not refused: %v", err)
			}
			got := regexp.MustCompile(`(at|token) [\w/-]+ of [AB]`).ReplaceAllString(line.ReplaceAllString(err.Error(), "LINE"), "$1 N of A")
			want := "the search can't follow a reading of the monotonic clock in " + c.sent + ": that clock counts from an arbitrary instant, another in each process, so nobody else can tell what its reading means; use a span between two readings, or Clock.Now"
			if got != want {
				t.Errorf("it is refused with\n\t%s\nwant\n\t%s", got, want)
			}
		})
	}
}

// TestTimedContext: a context with a deadline is refused, as none ever comes to it.
func TestTimedContext(t *testing.T) {
	lock := queued()
	made := lock.New
	lock.New = func(nodes []*redis.Client, key string, o strategies.Options) strategies.Lock {
		m := made(nodes, key, o).(*mutant) //nolint:forcetypeassert // see queued
		m.acquire = func(ctx context.Context, m *mutant) (*strategies.Lease, error) {
			ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
			defer cancel()
			return rightAcquire(ctx, m)
		}
		return m
	}
	for _, cycles := range []int{1, Any} {
		_, err := Run(context.Background(), Bounds{Strategy: lock, Clients: 2, Cycles: cycles, TTL: 12 * time.Second}, Options{})
		if err == nil || !line.MatchString(err.Error()) || !strings.Contains(err.Error(), "it passes a context with a deadline") {
			t.Errorf("%d cycles: %v", cycles, err)
		}
	}
}

func twoMembers(ctx context.Context, m *mutant) error {
	if err := m.nodes[0].SAdd(ctx, "s", "a", "b").Err(); err != nil {
		return err
	}
	return m.nodes[0].SMembers(ctx, "s").Err()
}

var line = regexp.MustCompile(`sim/explore/\w+_test\.go:\d+`)

// refuses checks that an error is a refusal with a text, in which LINE stands for a line of
// this package's tests.
func refuses(t *testing.T, err error, want string) {
	t.Helper()
	var r *behaviour.Refusal
	if !errors.As(err, &r) {
		t.Fatalf("it is not refused: %v", err)
	}
	got := strings.Replace(line.ReplaceAllString(err.Error(), "LINE"), " of B at ", " of A at ", 1) // clients are alike
	if got != want {
		t.Errorf("it is refused with\n\t%s\nwant\n\t%s", got, want)
	}
}

// TestTooLargeForASearch: numbers that a search can't represent are refused by name, and none
// of them wraps.
func TestTooLargeForASearch(t *testing.T) {
	sleeps := func(d time.Duration) strategies.Strategy {
		return before(func(ctx context.Context, m *mutant) error { return m.Clock.Sleep(ctx, d) })
	}
	lasts := func(d time.Duration) strategies.Strategy {
		return mutantStrategy(mutant{release: rightRelease, acquire: func(ctx context.Context, m *mutant) (*strategies.Lease, error) {
			l, err := rightAcquire(ctx, m)
			if err == nil {
				l.Deadline += d
			}
			return l, err
		}}, 1)
	}
	for name, c := range map[string]struct {
		lock strategies.Strategy
		want string
	}{
		"a sleep":    {sleeps(30 * 24 * time.Hour), "the search can't follow a sleep of 30 days of A at LINE: it counts up to 2 days; use a shorter one"},
		"a TTL":      {sends("SET", "other", "v", "EX", 30*24*3600), "the search can't follow SET other v EX 2592000 of A at LINE: it counts the life of other up to 2 days; use a shorter TTL, or none"},
		"a deadline": {lasts(30 * 24 * time.Hour), "the search can't follow a lease with a deadline 720h0m11.878s after the cycle's first reading of the clock of A at LINE: it counts up to 10 days; use a shorter TTL, and the monotonic clock"},
		"many connections": {before(func(ctx context.Context, m *mutant) error {
			for range 17 {
				conn := redis.NewClient(m.nodes[0].Options())
				defer conn.Close() //nolint:errcheck // it is the number that counts
				if err := conn.Exists(ctx, "other").Err(); err != nil {
					return err
				}
			}
			return nil
		}), "the search can't follow connection number 17 of A at LINE: it follows 16 of a client within a cycle; use one and keep it"},
		"a long pipeline": {before(func(ctx context.Context, m *mutant) error {
			_, err := m.nodes[0].Pipelined(ctx, func(p redis.Pipeliner) error {
				for range space.MaxList + 1 {
					p.Incr(ctx, "n")
				}
				return nil
			})
			return err
		}), "the search can't follow a reply of A: it follows " + strconv.Itoa(space.MaxList) + " replies that wait for a client; use fewer commands in a pipeline or transaction, or a script"},
	} {
		t.Run(strings.ReplaceAll(name, " ", "-"), func(t *testing.T) {
			_, err := Run(context.Background(), Bounds{Strategy: c.lock, Clients: 1, Cycles: 1, TTL: 12 * time.Second}, Options{})
			refuses(t, err, c.want)
		})
	}
	for name, spoil := range map[string]func(*Bounds){
		"TTL": func(b *Bounds) { b.TTL = 30 * 24 * time.Hour }, "timeout": func(b *Bounds) { b.Timeout = 30 * 24 * time.Hour },
	} {
		b := Defaults(strategy(t, "setpx-lua"))
		spoil(&b)
		if _, err := Run(context.Background(), b, Options{}); err == nil || !strings.Contains(err.Error(), "can be 2h0m0s at most") {
			t.Errorf("a %s of 30 days: %v", name, err)
		}
	}
}

// TestLargeFences: fencing tokens are compared as 64 bits. The mutant mints them downward
// through 2^32, which as 32 bits would be upward.
func TestLargeFences(t *testing.T) {
	const script = `if redis.call("SET", KEYS[1], ARGV[1], "NX", "PX", ARGV[2]) then return redis.call("DECRBY", KEYS[2], 1) end return 0`
	lock := mutantStrategy(mutant{release: rightRelease, acquire: func(ctx context.Context, m *mutant) (*strategies.Lease, error) {
		token, sent := m.Token(), m.Clock.Monotonic()
		if err := m.nodes[0].SetNX(ctx, "fence", 1<<32+2, 0).Err(); err != nil {
			return nil, err
		}
		fence, err := m.nodes[0].Eval(ctx, script, []string{m.key, "fence"}, token, m.TTL.Milliseconds()).Int64()
		if err != nil || fence == 0 {
			return nil, errors.Join(err, strategies.ErrNotAcquired)
		}
		return &strategies.Lease{Token: token, Deadline: sent + m.TTL - m.grace(), Fence: fence}, nil
	}}, 1)
	lock.Fences = true
	b := Defaults(lock)
	b.Cycles, b.Faults = 2, Budget{}
	r, err := Run(context.Background(), b, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if r.Near.Fenced == 0 {
		t.Error("no access was refused for an older token")
	}
}

// TestWait: a WAIT is answered at once as long as enough replicas have everything, and
// refused where Redis would wait.
func TestWait(t *testing.T) {
	waits := func(replicas, inTransaction bool) strategies.Strategy {
		s := before(func(ctx context.Context, m *mutant) error {
			if !inTransaction {
				return m.nodes[0].Wait(ctx, 1, time.Second).Err()
			}
			_, err := m.nodes[0].TxPipelined(ctx, func(p redis.Pipeliner) error { return p.Do(ctx, "WAIT", 1, 0).Err() })
			return err
		})
		s.Replicas = 1
		if replicas {
			s.Replicas = 2
		}
		return s
	}
	for name, c := range map[string]struct {
		lock strategies.Strategy
		want string
	}{
		"enough": {waits(true, false), ""},
		"too few": {waits(false, false), "the search can't follow WAIT 1 1000 of A at LINE: it has no model of a reply that comes late, " +
			"and the replicas that have it all are 0; give the lock one replica more, or search without failover"},
		"in a transaction": {waits(true, true), "the search can't follow WAIT 1 0 of A at LINE: in a transaction it waits for nothing; send it after EXEC"},
	} {
		t.Run(strings.ReplaceAll(name, " ", "-"), func(t *testing.T) {
			_, err := Run(context.Background(), Bounds{Strategy: c.lock, Clients: 1, Cycles: 1, TTL: 12 * time.Second, Faults: Budget{Failover: 1}}, Options{})
			if c.want == "" && err == nil {
				return
			}
			refuses(t, err, c.want)
		})
	}
}

// queued is a lock whose record is a sorted set: the member with the least score has the
// lock, and those who aren't first leave again.
func queued() strategies.Strategy {
	leave := func(ctx context.Context, m *mutant, token string) error {
		return m.nodes[0].ZRem(ctx, m.key, token).Err()
	}
	return mutantStrategy(mutant{
		acquire: func(ctx context.Context, m *mutant) (*strategies.Lease, error) {
			token := m.Token()
			if err := m.nodes[0].ZAdd(ctx, m.key, redis.Z{Score: 1, Member: token}).Err(); err != nil {
				return nil, err
			}
			if rank, err := m.nodes[0].ZRank(ctx, m.key, token).Result(); err != nil || rank > 0 {
				return nil, errors.Join(err, strategies.ErrNotAcquired, leave(ctx, m, token))
			}
			return &strategies.Lease{Token: token}, nil
		},
		release: func(ctx context.Context, m *mutant, l *strategies.Lease) error { return leave(ctx, m, l.Token) },
	}, 1)
}

// TestSharedRecord: a sorted set that clients share as the lock's record is searched for
// double grants, which this one has: among equal scores A's token comes before B's. What
// depends on the record's owner is refused.
func TestSharedRecord(t *testing.T) {
	b := Bounds{Strategy: queued(), Clients: 2, Cycles: 1, TTL: 12 * time.Second, Codes: trace.Verdict{trace.DG}}
	r, err := Run(context.Background(), b, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if r.Find(trace.DG) == nil {
		t.Errorf("%d states, and no double grant: %v", r.States, r.Found)
	}
	b.Clients, b.Codes = 2, trace.Verdict{trace.FR}
	_, err = Run(context.Background(), b, Options{Workers: 1})
	refuses(t, err, "the search can't follow a record that clients share of A at LINE: a list, a set or a sorted set under the lock's own key has no single owner, "+
		"so foreign releases, permanent deadlocks, gaps and false refusals can't be told; keep the collection under another key, or search for DG, OV and SW alone (--codes)")
}

// TestWaitsWithoutBounds: without a bound on cycles there are neither messages nor waits at servers.
func TestWaitsWithoutBounds(t *testing.T) {
	for name, c := range map[string]struct {
		lock strategies.Strategy
		want string
	}{
		"a subscription": {immortal(true), "SUBSCRIBE"},
		"a wait":         {turnstile(time.Second), "BLPOP"},
	} {
		t.Run(strings.ReplaceAll(name, " ", "-"), func(t *testing.T) {
			for _, others := range []bool{false, true} {
				if others && !testenv.CI() {
					continue // seconds
				}
				made := c.lock.New
				c.lock.New = func(nodes []*redis.Client, key string, o strategies.Options) strategies.Lock {
					draw := o.Token
					o.Token = func() string { return "" } // not when the lock is made
					m := made(nodes, key, o).(*mutant)    //nolint:forcetypeassert // see whoWaits
					m.Token = draw
					return m
				}
				b := Bounds{Strategy: c.lock, Clients: 2, Others: others, Cycles: Any, TTL: 12 * time.Second, Faults: Budget{Pause: Any}}
				_, err := Run(context.Background(), b, Options{})
				want := "the search can't follow " + c.want + " of A at sim/explore/waits_test.go:LINE: without a bound on cycles it has neither messages nor commands that wait at a server; search within a bound on cycles"
				if got := regexp.MustCompile(`:\d+:`).ReplaceAllString(strings.Replace(err.Error(), " of B ", " of A ", 1), ":LINE:"); got != want {
					t.Errorf("it is refused with\n\t%s\nwant\n\t%s", got, want)
				}
			}
		})
	}
}
