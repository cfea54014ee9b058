package explore

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"lockstep/sim/explore/madeup"
	"lockstep/sim/testenv"
	"lockstep/sim/trace"
	"lockstep/strategies"
)

// TestAlike: a search that follows one of the states that differ in clients' names alone counts as many states,
// transitions and near misses as one that follows all of them, and finds the same.
func TestAlike(t *testing.T) {
	testenv.LongRaced(t) // TestSameEachTime has workers
	t.Parallel()
	few, many := Budget{Crash: 1, Pause: 1}, Budget{Crash: 1, Pause: 1, ReplyLost: 1, HoldRequest: 1, Duplicate: 1}
	for i, c := range []struct {
		lock            string
		clients, cycles int
		faults          Budget
	}{
		{"setpx-lua", 2, 1, many},
		{"setpx-subscribe", 3, 1, few},
		{"timestamp-overwritten", 2, 1, few},
		{"setpx-watch", 2, 1, Budget{Pause: 1, ReplyLost: 1, Duplicate: 1}},
		{"get-then-del", 3, 1, Budget{Crash: 1, Pause: 1, Restart: 1, Evict: 1}},
		{"watchdog", 2, 2, few},
		{"setpx-wait", 2, 1, Budget{Crash: 1, Pause: 1, Failover: 1}},
		{"pxat-client-clock", 2, 1, Budget{ClientClock: 1, ServerClock: 1}},
		{"fenced", 3, 1, few},
		{"setpx-lua", 4, 1, Budget{Pause: 1}},
		{"reentrant", 3, 1, Budget{Pause: 1, ReplyLost: 1, HoldRequest: 1}},
		{"redlock", 2, 1, few},
	} {
		t.Run(fmt.Sprintf("%s-%d", c.lock, c.clients), func(t *testing.T) {
			switch {
			case i >= 10:
				testenv.Longest(t)
			case i >= 3:
				testenv.Long(t) // one of each kind is enough elsewhere
			}
			b := Defaults(strategy(t, c.lock))
			b.Clients, b.Cycles, b.Faults = c.clients, c.cycles, c.faults
			sameByName(t, b, false)
		})
	}
}

// TestAlikeMadeUp is TestAlike for locks that are made up, most of them wrong.
func TestAlikeMadeUp(t *testing.T) {
	testenv.Long(t) // TestAlike has others
	t.Parallel()
	for n := range madeup.Number {
		if testenv.Some(n, madeup.Number) {
			b := Bounds{Strategy: madeup.Lock(n, 12*time.Second), Clients: 2, Cycles: 2, TTL: 12 * time.Second, Record: "lock", Faults: Budget{Crash: 1, Pause: 1, HoldRequest: 1}}
			t.Run(b.Strategy.Name, func(t *testing.T) { sameByName(t, b, false) })
		}
	}
}

// sameByName searches both ways, and fails if the results differ, or if the first search doesn't find out whether names
// matter.
func sameByName(t *testing.T, b Bounds, matter bool) {
	t.Helper()
	r, err := Run(t.Context(), b, Options{})
	if err != nil {
		t.Fatal(err)
	}
	b.ByName = true
	all, err := Run(t.Context(), b, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := counted(r), counted(all); got != want {
		t.Errorf("states that differ in names are one:\n%s\nand if they aren't:\n%s", got, want)
	}
	if r.Bounds.ByName != matter {
		t.Errorf("names are taken to matter: %t", r.Bounds.ByName)
	}
}

func counted(r *Result) string {
	text := fmt.Sprintf("complete %t %s: %d states, %d transitions, depth %d, found %s, %+v, %+v", r.Complete, r.Why, r.States, r.Transitions, r.Depth, r.Found, r.Near, r.Vacuity)
	for _, v := range r.Violated {
		text += fmt.Sprintf("\n%s %s", v.Code, v.Schedule)
	}
	for _, f := range r.Findings() {
		text += fmt.Sprintf("\n%s %s", f.Code, f)
	}
	return text
}

// TestTellsClientsApart: where names make a difference, be it to code, to Redis, or to code that comes to it in one way
// only, states that differ in them are followed one by one.
func TestTellsClientsApart(t *testing.T) {
	testenv.LongRaced(t)
	t.Parallel()
	for name, lock := range map[string]tokenLock{
		"an order in the code":          {refused: takeOver},
		"an order in Redis":             {script: greatest},
		"a client in Redis":             {script: nobodyOf("B")},
		"a client that deletes":         {refused: ofB(func(l *tokenLock) error { return l.rdb.Del(context.Background(), l.key).Err() })},
		"a client that sleeps":          {refused: ofB(func(l *tokenLock) error { return l.Clock.Sleep(context.Background(), time.Second) })},
		"a part of a token":             {value: func(token string) string { return token[:1] + "x" }},
		"after a lease that was lost":   {marks: true, refused: afterLost},
		"the order of a set's members":  {refused: firstInLine},
		"members that are kept in mind": {marks: true, refused: ofB(func(l *tokenLock) error { l.lost = true; return nil })},
	} {
		t.Run(strings.ReplaceAll(name, " ", "-"), func(t *testing.T) {
			if name != "an order in Redis" && name != "a client that sleeps" {
				testenv.Long(t)
			}
			b := Bounds{Strategy: tokenStrategy(lock), Clients: 2, Cycles: 2, TTL: 12 * time.Second, Faults: Budget{Crash: 1, Pause: 1}}
			b.Codes = trace.Verdict{trace.SW, trace.DG, trace.OV, trace.FR, trace.FN}
			sameByName(t, b, true)
		})
	}
}

// TestTellsClientsApartByMessages: of two keys that expire at one instant the server tells of that first whose name comes
// first, so a lock that names keys by its tokens tells clients apart, although nothing is executed then.
func TestTellsClientsApartByMessages(t *testing.T) {
	testenv.LongRaced(t)
	t.Parallel()
	s := mutantStrategy(mutant{release: rightRelease, acquire: acquireByMarks}, 1)
	b := Bounds{Strategy: s, Clients: 2, Cycles: 1, TTL: 12 * time.Second, Faults: Budget{Crash: 1}, Record: "lock", Codes: trace.Verdict{trace.PD}}
	sameByName(t, b, true)
	if r, err := Run(t.Context(), b, Options{}); err != nil || r.Find(trace.PD) == nil {
		t.Errorf("nobody is kept out: %v", err)
	}
}

// acquireByMarks acquires, and has each client leave a mark that expires. Who is refused, and hears that its own went first
// although the holder's went at the same time, makes the holder's record last for ever.
func acquireByMarks(ctx context.Context, m *mutant) (*strategies.Lease, error) {
	token, rdb, sent := m.Token(), m.nodes[0], m.Clock.Monotonic()
	err := m.set(ctx, rdb, token, m.TTL)
	if err == nil {
		return &strategies.Lease{Token: token, Deadline: sent + m.TTL - m.grace()}, rdb.Set(ctx, "mark "+token, "", 3*time.Second).Err()
	}
	refused := func(err error) (*strategies.Lease, error) { return nil, errors.Join(strategies.ErrNotAcquired, err) }
	if !errors.Is(err, strategies.ErrNotAcquired) {
		return nil, err
	}
	if err := rdb.ConfigSet(ctx, "notify-keyspace-events", "Ex").Err(); err != nil {
		return refused(err)
	}
	expired := rdb.Subscribe(ctx, "__keyevent@0__:expired")
	defer expired.Close() //nolint:errcheck // it is gone
	if _, err := expired.ReceiveTimeout(ctx, 3*time.Second); err != nil {
		return refused(timedOut(err))
	}
	if err := rdb.Set(ctx, "mark "+token, "", 3*time.Second).Err(); err != nil {
		return refused(err)
	}
	theirs, err := rdb.Get(ctx, m.key).Result()
	if err != nil {
		return refused(nil)
	}
	if n, err := rdb.Exists(ctx, "mark "+theirs).Result(); err != nil || n == 0 {
		return refused(err)
	}
	first, err := expired.ReceiveMessage(ctx)
	if err != nil || first.Payload != "mark "+token {
		return refused(err)
	}
	if n, err := rdb.Exists(ctx, "mark "+theirs).Result(); err != nil || n != 0 {
		return refused(err)
	}
	return refused(rdb.Persist(ctx, m.key).Err())
}

// ofB returns what B alone does when it is refused.
func ofB(do func(*tokenLock) error) func(*tokenLock, string) error {
	return func(l *tokenLock, mine string) error {
		if mine[0] == 'B' {
			return do(l)
		}
		return nil
	}
}

// nobodyOf returns a script that releases by compare-and-delete, and of one client whatever there is.
func nobodyOf(client string) *redis.Script {
	return redis.NewScript(`local v = redis.call("GET", KEYS[1])
if v and (v == ARGV[1] or string.sub(v, 1, 1) == "` + client + `") then return redis.call("DEL", KEYS[1]) end return 0`)
}

// afterLost deletes a record of B's after a lease of its own was lost.
func afterLost(l *tokenLock, mine string) error {
	if !l.lost {
		return nil
	}
	theirs, err := l.rdb.Get(context.Background(), l.key).Result()
	if err == nil && theirs[0] == 'B' {
		err = l.rdb.Del(context.Background(), l.key).Err()
	}
	return err
}

// firstInLine has those that are refused queue up, at one score, and the first of them delete the record.
func firstInLine(l *tokenLock, mine string) error {
	ctx := context.Background()
	if err := l.rdb.ZAdd(ctx, "line", redis.Z{Member: mine}).Err(); err != nil {
		return err
	}
	first, err := l.rdb.ZRange(ctx, "line", 0, 0).Result()
	if err == nil && len(first) > 0 && first[0] != mine {
		err = errors.Join(l.rdb.Del(ctx, l.key).Err(), l.rdb.ZRem(ctx, "line", mine).Err())
	}
	return err
}
