package fuzz

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"

	"lockstep/strategies"
)

// collection is the collection of locks as outsiders write them. Each says what is wrong with
// it, or that nothing is.
func collection() (all []*subject) {
	for _, some := range [][]*subject{waits, stamps, names, tokens, memories, chances, widths, commands, windows, staged, listeners} {
		all = append(all, some...)
	}
	return all
}

type (
	acquire = func(context.Context, *lock) (*strategies.Lease, error)
	release = func(context.Context, *lock, *strategies.Lease) error
)

// takesOver is the right acquisition, except that it seizes the record if it is refused and a
// condition holds.
func takesOver(when func(context.Context, *lock) (bool, error)) acquire {
	return func(ctx context.Context, l *lock) (*strategies.Lease, error) {
		lease, err := take(ctx, l)
		if !refused(err) {
			return lease, err
		}
		if yes, err := when(ctx, l); err != nil || !yes {
			return nil, errors.Join(err, strategies.ErrNotAcquired)
		}
		return seize(ctx, l)
	}
}

// waits are locks that decide by how much time has passed, or is left.
var waits = []*subject{
	custom("takeover-below-3s", "A is in its section with 2 s of its lease left; B takes the record over: two leases are live", steps{
		acquire: takesOver(func(ctx context.Context, l *lock) (bool, error) {
			left, err := l.rdb.PTTL(ctx, l.key).Result()
			return left >= 0 && left < 3*time.Second, err
		})}),
	custom("takeover-at-ttl-0", "TTL rounds half a second to 0, and B takes over what still has 0.4 s; the lease has a little less", steps{
		acquire: takesOver(func(ctx context.Context, l *lock) (bool, error) {
			left, err := l.rdb.TTL(ctx, l.key).Result()
			return left == 0, err
		})}),
	custom("takeover-without-expiry", "A's record has no expiry until its second command; B takes it for an orphan, and A's PEXPIRE finds B's record and says 1", steps{
		acquire: func(ctx context.Context, l *lock) (*strategies.Lease, error) {
			token, sent := l.Token(), l.Clock.Monotonic()
			won, err := l.rdb.SetNX(ctx, l.key, token, 0).Result()
			if err != nil {
				return nil, err
			}
			if won {
				_, err := l.rdb.PExpire(ctx, l.key, l.TTL).Result()
				return l.lease(token, sent), err
			}
			if left, err := l.rdb.PTTL(ctx, l.key).Result(); err != nil || left != -1 {
				return nil, errors.Join(err, strategies.ErrNotAcquired)
			}
			return seize(ctx, l)
		}}),
	custom("reply-within-half", "it refuses a reply that took longer than half of the TTL, and counts from it if it took less: a record ends up to 6 s before the lease", steps{
		acquire: func(ctx context.Context, l *lock) (*strategies.Lease, error) {
			token, sent := l.Token(), l.Clock.Monotonic()
			if err := l.set(ctx, l.key, token); err != nil {
				return nil, err
			}
			got := l.Clock.Monotonic()
			if got-sent > l.TTL/2 {
				_ = give(ctx, l, &strategies.Lease{Token: token})
				return nil, strategies.ErrNotAcquired
			}
			return l.lease(token, got), nil
		}}),
	custom("slow-no-is-stale", "a refusal that took 5 s is thought out of date: B seizes A's record while A's lease is live", steps{
		acquire: func(ctx context.Context, l *lock) (*strategies.Lease, error) {
			sent := l.Clock.Monotonic()
			lease, err := take(ctx, l)
			if refused(err) && l.Clock.Monotonic()-sent > 5*time.Second {
				return seize(ctx, l)
			}
			return lease, err
		}}),
	custom("slow-no-cleans-up", "a refusal that took a third of the TTL makes B delete what it thinks its own record", steps{
		acquire: func(ctx context.Context, l *lock) (*strategies.Lease, error) {
			sent := l.Clock.Monotonic()
			lease, err := take(ctx, l)
			if refused(err) && l.Clock.Monotonic()-sent > l.TTL/3 {
				return nil, errors.Join(l.rdb.Del(ctx, l.key).Err(), strategies.ErrNotAcquired)
			}
			return lease, err
		}}),
	custom("transaction-prolongs", "a refused MULTI(SETNX, PEXPIRE) prolongs the holder's record", steps{
		acquire: func(ctx context.Context, l *lock) (*strategies.Lease, error) {
			token, sent := l.Token(), l.Clock.Monotonic()
			var won *redis.BoolCmd
			if _, err := l.rdb.TxPipelined(ctx, func(p redis.Pipeliner) error {
				won = p.SetNX(ctx, l.key, token, 0)
				p.PExpire(ctx, l.key, l.TTL)
				return nil
			}); err != nil {
				return nil, err
			}
			if !won.Val() {
				return nil, strategies.ErrNotAcquired
			}
			return l.lease(token, sent), nil
		}}),
	custom("extend-when-fresh", "with more than a third of the TTL left Extend sends nothing, and yet counts from now: the record ends before the lease", steps{
		extend: func(ctx context.Context, l *lock, lease *strategies.Lease) error {
			left, err := l.rdb.PTTL(ctx, l.key).Result()
			if err != nil {
				return err
			}
			if left > l.TTL/3 {
				lease.Deadline = l.Clock.Monotonic() + l.TTL - l.grace()
				return nil
			}
			return prolong(ctx, l, lease)
		}}, extending),
	custom("extend-tells", "Acquire tells no deadline, and Extend one two seconds after the record's end", steps{
		acquire: func(ctx context.Context, l *lock) (*strategies.Lease, error) {
			token := l.Token()
			return &strategies.Lease{Token: token}, l.set(ctx, l.key, token)
		},
		extend: func(ctx context.Context, l *lock, lease *strategies.Lease) error {
			sent := l.Clock.Monotonic()
			lease.Deadline = sent + l.TTL + 2*time.Second
			return held(compareExpire.Run(ctx, l.rdb, []string{l.key}, lease.Token, l.TTL.Milliseconds()).Int())
		}}, extending),
	custom("extend-untells", "Extend takes the deadline away, so the lease lasts a TTL from then on; and it gives the record half of one", steps{
		extend: func(ctx context.Context, l *lock, lease *strategies.Lease) error {
			lease.Deadline = 0
			return held(compareExpire.Run(ctx, l.rdb, []string{l.key}, lease.Token, l.TTL.Milliseconds()/2).Int())
		}}, extending),
	custom("extend-blindly", "PEXPIRE prolongs whatever record there is", steps{
		extend: func(ctx context.Context, l *lock, lease *strategies.Lease) error {
			sent := l.Clock.Monotonic()
			if ok, err := l.rdb.PExpire(ctx, l.key, l.TTL).Result(); err != nil || !ok {
				return errors.Join(err, strategies.ErrNotHeld)
			}
			lease.Deadline = sent + l.TTL - l.grace()
			return nil
		}}, extending),
	custom("extend-says-yes", "the script says 0, and Extend says nil", steps{
		extend: func(ctx context.Context, l *lock, lease *strategies.Lease) error {
			sent := l.Clock.Monotonic()
			if err := prolong(ctx, l, lease); err != nil && !errors.Is(err, strategies.ErrNotHeld) {
				return err
			}
			lease.Deadline = sent + l.TTL - l.grace()
			return nil
		}}, extending),
	custom("extend-by-set", "SET XX puts A's token in the place of B's", steps{
		extend: func(ctx context.Context, l *lock, lease *strategies.Lease) error {
			sent := l.Clock.Monotonic()
			if ok, err := l.rdb.SetXX(ctx, l.key, lease.Token, l.TTL).Result(); err != nil || !ok {
				return errors.Join(err, strategies.ErrNotHeld)
			}
			lease.Deadline = sent + l.TTL - l.grace()
			return nil
		}}, extending),
	custom("hasty-release", "with less than 2 s left there is no time for a script: a pause between the look at the clock and the DEL, and it deletes B's record", steps{
		release: func(ctx context.Context, l *lock, lease *strategies.Lease) error {
			if left := lease.Deadline - l.Clock.Monotonic(); left > 0 && left < 2*time.Second {
				return del(ctx, l, lease)
			}
			return give(ctx, l, lease)
		}}),
	custom("unchanged-for-5s", "B finds the same token after 5 s, and takes A for dead", steps{
		acquire: takesOver(func(ctx context.Context, l *lock) (bool, error) {
			before, err := l.rdb.Get(ctx, l.key).Result()
			if err != nil {
				return false, strategies.ErrNotAcquired
			}
			if err := l.Clock.Sleep(ctx, 5*time.Second); err != nil {
				return false, err
			}
			after, err := l.rdb.Get(ctx, l.key).Result()
			return err == nil && before == after, nil
		})}),
	custom("unchanged-and-half-over", "the same after 1 s, with less than half of the TTL left", steps{
		acquire: takesOver(func(ctx context.Context, l *lock) (bool, error) {
			before, err := l.rdb.Get(ctx, l.key).Result()
			if err != nil {
				return false, strategies.ErrNotAcquired
			}
			if err := l.Clock.Sleep(ctx, time.Second); err != nil {
				return false, err
			}
			after, err := l.rdb.Get(ctx, l.key).Result()
			if err != nil || before != after {
				return false, strategies.ErrNotAcquired
			}
			left, err := l.rdb.PTTL(ctx, l.key).Result()
			return left < l.TTL/2, err
		})}),
	custom("sleeps-out-the-ttl", "B sleeps until A's record must be over, and doesn't ask again: C has it by then", steps{
		acquire: takesOver(func(ctx context.Context, l *lock) (bool, error) {
			left, err := l.rdb.PTTL(ctx, l.key).Result()
			if err != nil || left < 0 {
				return false, err
			}
			return true, l.Clock.Sleep(ctx, left)
		})}),
	custom("deadline-in-whole-seconds", "the deadline is rounded up to a second: a record that began at 0.5 ends before it", steps{
		acquire: func(ctx context.Context, l *lock) (*strategies.Lease, error) {
			lease, err := take(ctx, l)
			if err == nil {
				lease.Deadline = (lease.Deadline + time.Second - 1).Truncate(time.Second)
			}
			return lease, err
		}}),
	custom("second-try-steals", "a client that was refused once takes the lock at its second try, whoever has it", steps{
		acquire: func(ctx context.Context, l *lock) (*strategies.Lease, error) {
			if l.pending {
				l.pending = false
				return seize(ctx, l)
			}
			lease, err := take(ctx, l)
			l.pending = refused(err)
			return lease, err
		}}, twice),
	custom("second-try-deletes", "a client that was refused deletes the record before it tries again", steps{
		acquire: func(ctx context.Context, l *lock) (*strategies.Lease, error) {
			if l.pending {
				if err := l.rdb.Del(ctx, l.key).Err(); err != nil {
					return nil, err
				}
			}
			lease, err := take(ctx, l)
			l.pending = refused(err)
			return lease, err
		}}, twice),
}

// stamped is a lock whose record has a stamp and no expiry. stale decides by its age.
func stamped(now func(context.Context, *lock) (time.Time, error), stale func(age, ttl time.Duration) bool) acquire {
	return func(ctx context.Context, l *lock) (*strategies.Lease, error) {
		sent := l.Clock.Monotonic()
		at, err := now(ctx, l)
		if err != nil {
			return nil, err
		}
		token := strconv.FormatInt(at.UnixMilli(), 10) + " " + l.Token()
		won, err := l.rdb.SetNX(ctx, l.key, token, 0).Result()
		if err != nil {
			return nil, err
		}
		if won {
			return l.lease(token, sent), nil
		}
		read, err := l.rdb.Get(ctx, l.key).Result()
		if err != nil {
			return nil, strategies.ErrNotAcquired
		}
		var ms int64
		for _, digit := range read {
			if digit == ' ' {
				break
			}
			ms = 10*ms + int64(digit-'0')
		}
		if !stale(time.Duration(at.UnixMilli()-ms)*time.Millisecond, l.TTL) {
			return nil, strategies.ErrNotAcquired
		}
		swapped, err := compareSwap.Run(ctx, l.rdb, []string{l.key}, read, token).Int()
		if err != nil || swapped == 0 {
			return nil, errors.Join(err, strategies.ErrNotAcquired)
		}
		return l.lease(token, sent), nil
	}
}

var (
	setPlace  = redis.NewScript(`if redis.call("GET", KEYS[2]) == "taken" then return 0 end redis.call("SET", KEYS[2], "taken") redis.call("SET", KEYS[1], ARGV[1], "PX", ARGV[2]) return 1`)
	freePlace = redis.NewScript(`if redis.call("GET", KEYS[1]) ~= ARGV[1] then return 0 end redis.call("SET", KEYS[2], "free") return redis.call("DEL", KEYS[1])`)
)

// goneWithin is a lock whose holder has a place, and a record that expires. Another takes the place
// over if it sees the record, and some time later no more.
func goneWithin(span time.Duration) acquire {
	return func(ctx context.Context, l *lock) (*strategies.Lease, error) {
		lease := &strategies.Lease{Token: l.Token()}
		if n, err := setPlace.Run(ctx, l.rdb, []string{l.key, l.key + ":place"}, lease.Token, l.TTL.Milliseconds()).Int(); err != nil || n == 1 {
			return lease, err
		}
		at := l.Clock.Now()
		if n, err := l.rdb.Exists(ctx, l.key).Result(); err != nil || n == 0 {
			return nil, errors.Join(err, strategies.ErrNotAcquired)
		}
		if err := l.set(ctx, l.key, lease.Token); err != nil {
			return nil, err
		}
		if l.Clock.Now().Sub(at) >= span {
			return nil, errors.Join(give(ctx, l, lease), strategies.ErrNotAcquired)
		}
		return lease, nil
	}
}

func givePlace(ctx context.Context, l *lock, lease *strategies.Lease) error {
	return held(freePlace.Run(ctx, l.rdb, []string{l.key, l.key + ":place"}, lease.Token).Int())
}

// aged is a lock whose record has a stamp in microseconds. Another takes it over after a span, and its
// holder leaves it alone after half of that.
func aged(span time.Duration) steps {
	stampOf := func(token string) time.Time {
		var us int64
		_, _ = fmt.Sscanf(token, "%d ", &us) // what it isn't, is old
		return time.UnixMicro(us)
	}
	return steps{
		acquire: func(ctx context.Context, l *lock) (*strategies.Lease, error) {
			sent := l.Clock.Monotonic()
			token := fmt.Sprintf("%d %s", l.Clock.Now().UnixMicro(), l.Token())
			lease := &strategies.Lease{Token: token, Deadline: sent + 12*time.Second}
			won, err := l.rdb.SetNX(ctx, l.key, token, 0).Result()
			if err != nil || won {
				return lease, err
			}
			old, err := l.rdb.Get(ctx, l.key).Result()
			if err != nil || l.Clock.Now().Sub(stampOf(old)) <= span {
				return nil, strategies.ErrNotAcquired
			}
			if n, err := compareSwap.Run(ctx, l.rdb, []string{l.key}, old, token).Int(); err != nil || n == 0 {
				return nil, errors.Join(err, strategies.ErrNotAcquired)
			}
			return lease, nil
		},
		release: func(ctx context.Context, l *lock, lease *strategies.Lease) error {
			if l.Clock.Now().Sub(stampOf(lease.Token)) > span/2 {
				return strategies.ErrNotHeld
			}
			return give(ctx, l, lease)
		},
	}
}

func ownClock(_ context.Context, l *lock) (time.Time, error) { return l.Clock.Now(), nil }

func serverClock(ctx context.Context, l *lock) (time.Time, error) { return l.rdb.Time(ctx).Result() }

var timeByArgument = redis.NewScript(`local t = redis.call(ARGV[1]) return t[1] * 1000 + math.floor(t[2] / 1000)`)

// wholeSeconds rounds as Unix does.
func wholeSeconds(_ context.Context, l *lock) (time.Time, error) {
	return time.Unix(l.Clock.Now().Unix(), 0), nil
}

// unending makes leases that never end.
func unending(a acquire) acquire {
	return func(ctx context.Context, l *lock) (*strategies.Lease, error) {
		lease, err := a(ctx, l)
		if err == nil {
			lease.Deadline = 0
		}
		return lease, err
	}
}

// stamps are locks that decide by a wall clock or a server's.
var stamps = []*subject{
	custom("stale-at-30s", "the record has no TTL, and a holder's lease no end; after 30 s another calls its stamp stale", steps{
		acquire: unending(stamped(ownClock, func(age, _ time.Duration) bool { return age > 30*time.Second }))}, forever),
	custom("stale-at-a-day", "the same after 24 hours", steps{
		acquire: unending(stamped(ownClock, func(age, _ time.Duration) bool { return age > 24*time.Hour }))}, forever),
	custom("stale-at-half", "a stamp is stale at half of the TTL, and a lease is over at the end of it", steps{
		acquire: stamped(ownClock, func(age, ttl time.Duration) bool { return age > ttl/2 })}),
	custom("stale-with-margin", "a stamp is stale 1.5 s before the TTL is over, for the clocks' sake", steps{
		acquire: stamped(ownClock, func(age, ttl time.Duration) bool { return age > ttl-1500*time.Millisecond })}),
	custom("stale-in-seconds", "a stamp of 0.9 is written as 0, and stale at 12.001: the lease lives until 12.8", steps{
		acquire: stamped(wholeSeconds, func(age, ttl time.Duration) bool { return age >= ttl })}),
	custom("stale-by-server-time", "as stale-at-half, by TIME", steps{
		acquire: stamped(serverClock, func(age, ttl time.Duration) bool { return age > ttl/2 })}),
	custom("stale-by-argument", "as stale-at-half, by a script that is told to call TIME", steps{
		acquire: stamped(func(ctx context.Context, l *lock) (time.Time, error) {
			ms, err := timeByArgument.Run(ctx, l.rdb, []string{l.key}, "TIME").Int64()
			return time.UnixMilli(ms), err
		}, func(age, ttl time.Duration) bool { return age > ttl/2 })}),
	custom("stale-when-right", "nothing is wrong with it but a slow client: a stamp is stale after twice the TTL", steps{
		acquire: stamped(ownClock, func(age, ttl time.Duration) bool { return age > 2*ttl })}),
	custom("stale-at-17s", "a stamp is stale 5 s after the TTL: by a clock that is 14 s behind, 9 s before", steps{
		acquire: stamped(ownClock, func(age, _ time.Duration) bool { return age >= 17*time.Second })}),
	custom("stale-at-17s-by-server-time", "the same by TIME, on a server whose clock jumps by 14 s", steps{
		acquire: stamped(serverClock, func(age, _ time.Duration) bool { return age >= 17*time.Second })}),
	custom("stale-at-40m", "a stamp is stale after 40 minutes, and its author does nothing about it after 20", aged(40*time.Minute)),
	custom("gone-within-5s", "whoever sees the record go within 5 s thinks that it was given back, and it has expired", steps{
		acquire: goneWithin(5 * time.Second), release: givePlace}, forever),
	custom("token-is-the-second", "two clients that take the lock in one second have one token", steps{
		acquire: func(ctx context.Context, l *lock) (*strategies.Lease, error) {
			token, sent := strconv.FormatInt(l.Clock.Now().Unix()/20, 10), l.Clock.Monotonic()
			if err := l.set(ctx, l.key, token); err != nil {
				return nil, err
			}
			return l.lease(token, sent), nil
		}}),
	custom("janitor-at-half-past", "in the second half of each hour a client deletes the record before it asks", steps{
		acquire: func(ctx context.Context, l *lock) (*strategies.Lease, error) {
			if l.Clock.Now().Minute() >= 30 {
				if err := l.rdb.Del(ctx, l.key).Err(); err != nil {
					return nil, err
				}
			}
			return take(ctx, l)
		}}),
}

// names are locks whose record has another name than they are given.
var names = []*subject{
	custom("prefix-blind-del", "A overruns its lease, B takes the lock, A's DEL deletes B's record, and A has it again while B does", prefixed(blindDelete, true)),
	custom("prefix-without-expiry", "the holder dies, and its record stays: the engine knows no record of that name, and so no PD", prefixed(compareAndDelete, false)),
	custom("prefix", "nothing is wrong", prefixed(compareAndDelete, true)),
}

// prefixed is a lock whose record is called "lock:" and the key.
func prefixed(r release, expires bool) steps {
	return steps{
		acquire: func(ctx context.Context, l *lock) (*strategies.Lease, error) {
			token, sent, last := l.Token(), l.Clock.Monotonic(), time.Duration(0)
			if expires {
				last = l.TTL
			}
			won, err := l.rdb.SetNX(ctx, "lock:"+l.key, token, last).Result()
			if err != nil || !won {
				return nil, errors.Join(err, strategies.ErrNotAcquired)
			}
			return l.lease(token, sent), nil
		},
		release: r,
	}
}

func compareAndDelete(ctx context.Context, l *lock, lease *strategies.Lease) error {
	return held(compareDelete.Run(ctx, l.rdb, []string{"lock:" + l.key}, lease.Token).Int())
}

func blindDelete(ctx context.Context, l *lock, _ *strategies.Lease) error {
	return l.rdb.Del(ctx, "lock:"+l.key).Err()
}

// tokens are locks that look into tokens.
var tokens = []*subject{
	custom("same-end-takes-over", "of two tokens that end alike, one pair in sixteen, the second takes the lock from the first", steps{
		acquire: func(ctx context.Context, l *lock) (*strategies.Lease, error) {
			token, sent := l.Token(), l.Clock.Monotonic()
			err := l.set(ctx, l.key, token)
			if err == nil {
				return l.lease(token, sent), nil
			}
			if holder, get := l.rdb.Get(ctx, l.key).Result(); refused(err) && get == nil && holder[len(holder)-1] == token[len(token)-1] {
				return seize(ctx, l)
			}
			return nil, err
		}}),
	custom("last-digit-alone", "the record has the last digit of the token, which another's token has as well", steps{
		acquire: func(ctx context.Context, l *lock) (*strategies.Lease, error) {
			token, sent := l.Token(), l.Clock.Monotonic()
			token = token[len(token)-1:]
			if err := l.set(ctx, l.key, token); err != nil {
				return nil, err
			}
			return l.lease(token, sent), nil
		}}),
}

// hadOnce is a lock that seizes the record if it remembers to have had it.
func hadOnce(had func(*lock) bool, remember func(*lock, *strategies.Lease)) steps {
	return steps{acquire: func(ctx context.Context, l *lock) (*strategies.Lease, error) {
		if had(l) {
			return seize(ctx, l)
		}
		lease, err := take(ctx, l)
		if err == nil {
			remember(l, lease)
		}
		return lease, err
	}}
}

// memories are locks that remember something from one cycle to the next.
var memories = []*subject{
	custom("cached-lease", "a lease that was given up is still in the field, and good until its deadline: B has the lock by then", steps{
		acquire: func(ctx context.Context, l *lock) (*strategies.Lease, error) {
			if l.cached != nil && l.Clock.Monotonic() < l.cached.Deadline {
				return l.cached, nil
			}
			lease, err := take(ctx, l)
			l.cached = lease
			return lease, err
		}}),
	custom("cached-lease-kept", "nothing is wrong: the record stays, too, until it expires", steps{
		acquire: func(ctx context.Context, l *lock) (*strategies.Lease, error) {
			if l.cached != nil && l.Clock.Monotonic() < l.cached.Deadline {
				return l.cached, nil
			}
			lease, err := take(ctx, l)
			l.cached = lease
			return lease, err
		},
		release: func(_ context.Context, l *lock, lease *strategies.Lease) error {
			if l.Clock.Monotonic() >= lease.Deadline {
				l.cached = nil
				return strategies.ErrNotHeld
			}
			return nil
		}}),
	custom("cached-for-a-ttl-more", "the record stays, and the field is trusted for two seconds longer than it", steps{
		acquire: func(ctx context.Context, l *lock) (*strategies.Lease, error) {
			if now := l.Clock.Monotonic(); l.cached != nil && now < l.until {
				return &strategies.Lease{Token: l.cached.Token, Deadline: l.until}, nil
			}
			lease, err := take(ctx, l)
			if l.cached = lease; err == nil {
				l.until = lease.Deadline + 2*time.Second
			}
			return lease, err
		},
		release: func(context.Context, *lock, *strategies.Lease) error { return nil }}),
	custom("remembered-refusal", "once the TTL that B was told of is over, B takes the lock without asking: A has it again by then", steps{
		acquire: func(ctx context.Context, l *lock) (*strategies.Lease, error) {
			if l.until > 0 && l.Clock.Monotonic() >= l.until {
				l.until = 0
				return seize(ctx, l)
			}
			lease, err := take(ctx, l)
			if refused(err) {
				left, err := l.rdb.PTTL(ctx, l.key).Result()
				if err != nil {
					return nil, err
				}
				l.until = l.Clock.Monotonic() + left
			}
			return lease, err
		}}),
	custom("third-time-lucky", "a client that was refused twice goes in", steps{
		acquire: func(ctx context.Context, l *lock) (*strategies.Lease, error) {
			if l.count == 2 {
				return seize(ctx, l)
			}
			lease, err := take(ctx, l)
			if refused(err) {
				l.count++
			}
			return lease, err
		}}),
	custom("ten-seconds-only", "what it did less than 10 s ago it thinks still done: it doesn't set the record a second time", steps{
		acquire: func(ctx context.Context, l *lock) (*strategies.Lease, error) {
			now := l.Clock.Monotonic()
			if l.cached != nil && now-l.until < 10*time.Second && now > l.until+time.Second {
				return l.lease(l.cached.Token, now), nil
			}
			lease, err := take(ctx, l)
			if err == nil {
				l.cached, l.until = lease, now
			}
			return lease, err
		}}),
	custom("once-had-atomic", "whoever had it once takes it without asking, and knows by an atomic.Pointer", hadOnce(
		func(l *lock) bool { return l.atomic.Load() != nil },
		func(l *lock, lease *strategies.Lease) { l.atomic.Store(lease) })),
	custom("once-had-table", "the same by a sync.Map", hadOnce(
		func(l *lock) bool { _, had := l.table.Load("had"); return had },
		func(l *lock, _ *strategies.Lease) { l.table.Store("had", true) })),
	custom("once-had-channel", "the same by a channel with room for one", hadOnce(
		func(l *lock) bool { return len(l.channel) > 0 },
		func(l *lock, lease *strategies.Lease) {
			l.channel = make(chan *strategies.Lease, 1)
			l.channel <- lease
		})),
	custom("once-had-closed", "the same by a channel that is closed", hadOnce(
		func(l *lock) bool {
			select {
			case <-l.closed:
				return true
			default:
				return false
			}
		},
		func(l *lock, _ *strategies.Lease) { close(l.closed) })),
	custom("once-had-reply", "the same by the reply that the library has returned", steps{
		acquire: func(ctx context.Context, l *lock) (*strategies.Lease, error) {
			if l.reply != nil && l.reply.Val() {
				return seize(ctx, l)
			}
			token, sent := l.Token(), l.Clock.Monotonic()
			reply := l.rdb.SetNX(ctx, l.key, token, l.TTL)
			if won, err := reply.Result(); err != nil || !won {
				return nil, errors.Join(err, strategies.ErrNotAcquired)
			}
			l.reply = reply
			return l.lease(token, sent), nil
		}}),
	custom("cached-lease-atomic", "a lease that was given up is still in an atomic.Pointer, and good until its deadline", steps{
		acquire: func(ctx context.Context, l *lock) (*strategies.Lease, error) {
			if kept := l.atomic.Load(); kept != nil && l.Clock.Monotonic() < kept.Deadline {
				return kept, nil
			}
			lease, err := take(ctx, l)
			l.atomic.Store(lease)
			return lease, err
		}}),
	custom("fence-of-its-own", "each process counts its own grants: A's 1 and B's 1 look alike to the resource", steps{
		acquire: func(ctx context.Context, l *lock) (*strategies.Lease, error) {
			lease, err := take(ctx, l)
			if err == nil {
				l.count++
				lease.Fence = l.count
			}
			return lease, err
		}}, fences),
}

// chances are locks that draw.
var chances = []*subject{
	custom("one-del-in-twenty", "in one of twenty draws the release compares nothing", steps{
		release: func(ctx context.Context, l *lock, lease *strategies.Lease) error {
			if l.Random(20) == 13 {
				return del(ctx, l, lease)
			}
			return give(ctx, l, lease)
		}}, drawing),
	custom("one-set-in-twenty", "in one of twenty draws the SET has no NX", steps{
		acquire: func(ctx context.Context, l *lock) (*strategies.Lease, error) {
			if l.Random(20) == 7 {
				return seize(ctx, l)
			}
			return take(ctx, l)
		}}, drawing),
	custom("ttl-with-jitter", "the record ends up to a quarter of the TTL before the lease", steps{
		acquire: func(ctx context.Context, l *lock) (*strategies.Lease, error) {
			token, sent := l.Token(), l.Clock.Monotonic()
			won, err := l.rdb.SetNX(ctx, l.key, token, l.TTL-l.Random(l.TTL/4).Truncate(time.Millisecond)).Result()
			if err != nil || !won {
				return nil, errors.Join(err, strategies.ErrNotAcquired)
			}
			return l.lease(token, sent), nil
		}}, drawing),
}

var (
	setWide = redis.NewScript(`if redis.call("SET", KEYS[1], ARGV[1], "NX", "PX", ARGV[2]) then return redis.call("INCRBY", KEYS[2], 3000000000) end return 0`)
)

// widths are locks with large numbers.
var widths = []*subject{
	custom("fence-of-3e9", "nothing is wrong", steps{
		acquire: func(ctx context.Context, l *lock) (*strategies.Lease, error) {
			token, sent := l.Token(), l.Clock.Monotonic()
			fence, err := setWide.Run(ctx, l.rdb, []string{l.key, l.key + ":fence"}, token, l.TTL.Milliseconds()).Int64()
			if err != nil || fence == 0 {
				return nil, errors.Join(err, strategies.ErrNotAcquired)
			}
			lease := l.lease(token, sent)
			lease.Fence = fence
			return lease, nil
		}}, fences),
	custom("fence-of-3e9-late", "it is drawn after the record is set: a client that was paused in between has the greater one", steps{
		acquire: func(ctx context.Context, l *lock) (*strategies.Lease, error) {
			lease, err := take(ctx, l)
			if err == nil {
				lease.Fence, err = l.rdb.IncrBy(ctx, l.key+":fence", 3_000_000_000).Result()
			}
			return lease, err
		}}, fences),
	custom("fence-cut-to-32-bits", "3e9, 6e9, 9e9 become -1294967296, 1705032704, 410065408: the second holder is let in after the third", steps{
		acquire: func(ctx context.Context, l *lock) (*strategies.Lease, error) {
			lease, err := take(ctx, l)
			if err == nil {
				var fence int64
				fence, err = l.rdb.IncrBy(ctx, l.key+":fence", 3_000_000_000).Result()
				lease.Fence = int64(int32(fence))
			}
			return lease, err
		}}, fences),
	custom("sleeps-for-weeks", "B sleeps for four weeks, and then doesn't ask", steps{
		acquire: takesOver(func(ctx context.Context, l *lock) (bool, error) {
			return true, l.Clock.Sleep(ctx, 4*7*24*time.Hour)
		})}),
	custom("ttl-of-a-month", "A overruns a lease of 30 days, and deletes B's record", steps{release: del}, weeks),
	custom("ttl-of-a-month-right", "nothing is wrong", steps{}, weeks),
	custom("seventeen-connections", "nothing is wrong but the number of connections", steps{acquire: over(17, exists, take)}),
	custom("seventeen-connections-wrong", "the release compares nothing", steps{acquire: over(17, exists, take), release: del}),
	custom("impatient-yes", "it waits half a second for the reply, and takes none for a yes", steps{
		acquire: func(ctx context.Context, l *lock) (*strategies.Lease, error) {
			token, sent := l.Token(), l.Clock.Monotonic()
			won, err := l.rdb.WithTimeout(500*time.Millisecond).SetNX(ctx, l.key, token, l.TTL).Result()
			if err == nil && !won {
				return nil, strategies.ErrNotAcquired
			}
			return l.lease(token, sent), nil
		}}),
	custom("ping-first", "nothing is wrong: it tries out three connections", steps{acquire: over(3, ping, take)}),
}

func weeks(s *subject) { s.ttl = 30 * 24 * time.Hour }

func exists(ctx context.Context, l *lock, c *redis.Conn) error { return c.Exists(ctx, l.key).Err() }

func ping(ctx context.Context, _ *lock, c *redis.Conn) error { return c.Ping(ctx).Err() }

// over uses so many connections at once before it acquires.
func over(n int, use func(context.Context, *lock, *redis.Conn) error, then acquire) acquire {
	return func(ctx context.Context, l *lock) (*strategies.Lease, error) {
		for range n {
			c := l.rdb.Conn()
			defer c.Close() //nolint:errcheck // nothing is written
			if err := use(ctx, l, c); err != nil {
				return nil, err
			}
		}
		return then(ctx, l)
	}
}

// looksFirst is a lock that sets the record if a look finds none.
func looksFirst(free func(context.Context, *lock) (bool, error)) acquire {
	return func(ctx context.Context, l *lock) (*strategies.Lease, error) {
		yes, err := free(ctx, l)
		if err != nil {
			return nil, err
		}
		if !yes {
			return nil, strategies.ErrNotAcquired
		}
		return seize(ctx, l)
	}
}

// commands are locks that use what few others do.
var commands = []*subject{
	custom("select", "whoever is refused in database 0 is granted the lock in database 1", steps{
		acquire: func(ctx context.Context, l *lock) (*strategies.Lease, error) {
			lease, err := take(ctx, l)
			if !refused(err) {
				return lease, err
			}
			c := l.rdb.Conn()
			defer c.Close() //nolint:errcheck // nothing is written
			if err := c.Select(ctx, 1).Err(); err != nil {
				return nil, err
			}
			token, sent := l.Token(), l.Clock.Monotonic()
			won, err := c.SetNX(ctx, l.key, token, l.TTL).Result()
			if err != nil || !won {
				return nil, errors.Join(err, strategies.ErrNotAcquired)
			}
			return l.lease(token, sent), nil
		}}),
	custom("randomkey", "A and B both find the database empty, and both set the record", steps{
		acquire: looksFirst(func(ctx context.Context, l *lock) (bool, error) {
			_, err := l.rdb.RandomKey(ctx).Result()
			if errors.Is(err, redis.Nil) {
				return true, nil
			}
			return false, err
		})}),
	custom("eval-ro", "A and B both read that there is no record", steps{
		acquire: looksFirst(func(ctx context.Context, l *lock) (bool, error) {
			err := l.rdb.EvalRO(ctx, `return redis.call("GET", KEYS[1])`, []string{l.key}).Err()
			if errors.Is(err, redis.Nil) {
				return true, nil
			}
			return false, err
		})}),
	custom("scan", "A and B both scan, and find no record", steps{
		acquire: looksFirst(func(ctx context.Context, l *lock) (bool, error) {
			keys, _, err := l.rdb.Scan(ctx, 0, l.key, 10).Result()
			return len(keys) == 0, err
		})}),
	custom("hash-with-expiry", "HEXISTS, HSET: both find no field", steps{
		acquire: looksFirst(func(ctx context.Context, l *lock) (bool, error) {
			yes, err := l.rdb.HExists(ctx, l.key+":h", "owner").Result()
			if err != nil || yes {
				return false, err
			}
			if err := l.rdb.HSet(ctx, l.key+":h", "owner", "x").Err(); err != nil {
				return false, err
			}
			return true, l.rdb.HPExpire(ctx, l.key+":h", l.TTL, "owner").Err()
		})}),
	custom("function", "a function that sets the record without a look", steps{
		acquire: func(ctx context.Context, l *lock) (*strategies.Lease, error) {
			const library = "#!lua name=lock\nredis.register_function('seize', function(keys, args) return redis.call('SET', keys[1], args[1], 'PX', args[2]) end)"
			if err := l.rdb.FunctionLoadReplace(ctx, library).Err(); err != nil {
				return nil, err
			}
			token, sent := l.Token(), l.Clock.Monotonic()
			if err := l.rdb.FCall(ctx, "seize", []string{l.key}, token, l.TTL.Milliseconds()).Err(); err != nil {
				return nil, err
			}
			return l.lease(token, sent), nil
		}}),
}
