// Package strategies holds ways to lock with Redis, one file each, written as
// they are written in production: plain go-redis, nothing else. The right ones
// can be copied as they stand; the wrong ones say at the top of their file
// which window they leave open.
//
// A strategy may learn of the world only through its arguments: its Redis
// clients, its [Clock], its source of tokens. None of them calls time.Now,
// time.Sleep or a global random source, so the same code runs in production
// with [SystemClock] and [RandomToken], and under a scheduler that owns time.
package strategies

import (
	"context"
	"errors"
	"time"

	"github.com/redis/go-redis/v9"
)

// ErrNotAcquired means that the lock was refused: Redis was asked and answered
// that somebody else holds it. A network error is not a refusal: it leaves open
// whether the lock was taken, and is returned as it came.
var ErrNotAcquired = errors.New("lock not acquired")

// ErrNotHeld means that Release or Extend found the lock gone or in other hands.
var ErrNotHeld = errors.New("lock not held")

// Lock is one way to lock one key. A Lock belongs to one process and holds no
// lock state of its own: the Lease has all that Release needs.
type Lock interface {
	// Acquire tries, as often as its retry policy says, and returns the lease,
	// ErrNotAcquired, or the error of the command that failed. With an error the
	// lease doesn't count, and without one it is not nil.
	Acquire(ctx context.Context) (*Lease, error)
	// Release gives the lease up. It returns ErrNotHeld where the strategy can
	// tell that the lock was no longer the caller's.
	Release(ctx context.Context, lease *Lease) error
}

// Extender is a Lock whose leases can be prolonged by another TTL.
type Extender interface {
	// Extend moves the lease's deadline, if it has one, or returns ErrNotHeld.
	Extend(ctx context.Context, lease *Lease) error
}

// Stopper is a Lock that keeps something besides its Redis clients, such as a process.
type Stopper interface {
	// Stop ends that. It is called when the lock will not be called any more, also in the
	// midst of a call that will never return, and may be called again.
	Stop()
}

// Lease is the result of Acquire.
type Lease struct {
	// Token is the value stored under the key: the proof of ownership where it
	// is unique, a mere mark where it is not.
	Token string
	// Deadline is the instant, on the caller's Clock.Monotonic, from which the
	// caller must no longer count on the lock. Zero where the strategy exposes
	// none: its caller gets a mere yes.
	Deadline time.Duration
	// Fence is the fencing token, to be sent along with every access to the
	// resource. Zero where the strategy has none.
	Fence int64

	stop  func() // ends the thread that keeps the lease alive; nil where none does
	holds int    // how often a lock that can be entered again has been entered
}

// Clock is all that a strategy may know of time.
type Clock interface {
	// Now is the wall clock: comparable between machines as far as their clocks
	// agree, and free to jump.
	Now() time.Time
	// Monotonic counts from an arbitrary origin, in this process only; it never
	// jumps.
	Monotonic() time.Duration
	// Sleep returns after d on the monotonic clock, or early with ctx's error. It
	// need not notice at once that ctx is done, so look at ctx afterwards.
	Sleep(ctx context.Context, d time.Duration) error
}

// Retry is how often, and how far apart, Acquire asks again after a refusal.
type Retry struct {
	Tries  int           // attempts in all; 0 means for ever
	Delay  time.Duration // between two attempts; 0 means without a pause
	Jitter time.Duration // up to this much more, drawn anew each time
}

// Options are the settings and functions that every strategy needs besides its Redis clients.
type Options struct {
	TTL    time.Duration
	Retry  Retry
	Clock  Clock
	Token  func() string                           // a new token on every call
	Random func(below time.Duration) time.Duration // uniform in [0, below)
	Go     func(func())                            // starts a thread of this process
}

// retry runs one attempt after another until one is not refused, or the policy
// gives up. Anything but a refusal ends it at once: after a network error
// nobody knows what Redis did, and asking again might find one's own lock.
func retry(ctx context.Context, o Options, attempt func(context.Context) (*Lease, error)) (*Lease, error) {
	for n := 1; ; n++ {
		lease, err := attempt(ctx)
		if !errors.Is(err, ErrNotAcquired) || n == o.Retry.Tries {
			return lease, err
		}
		delay := o.Retry.Delay
		if o.Retry.Jitter > 0 {
			delay += o.Random(o.Retry.Jitter)
		}
		if delay > 0 {
			err = o.Clock.Sleep(ctx, delay)
		} else {
			err = ctx.Err()
		}
		if err != nil {
			return nil, err
		}
	}
}

// drift is how much of a lease is given up to clocks that run at different
// rates: a hundredth of the TTL, and two milliseconds for Redis's own
// granularity of expiry, as the Redlock description suggests.
func drift(ttl time.Duration) time.Duration {
	return ttl/100 + 2*time.Millisecond
}

// conn is a go-redis client, or one of its connections.
type conn interface {
	Process(ctx context.Context, cmd redis.Cmder) error
}

// setNX sends SETNX key value, which answers 1 or 0, and reports whether the value was stored.
// go-redis's own SetNX sends SET key value NX, which answers OK or nil.
func setNX(ctx context.Context, rdb conn, key string, value any) (stored bool, err error) {
	cmd := redis.NewBoolCmd(ctx, "setnx", key, value)
	_ = rdb.Process(ctx, cmd)
	return cmd.Result()
}

// setPXNX sends SET key value PX ttl NX, and reports whether the value was stored. The order of
// the options is that in which the articles' PHP clients write them. go-redis's own SetNX
// sends EX in place of PX if the TTL is in whole seconds.
func setPXNX(ctx context.Context, rdb conn, key, value string, ttl time.Duration) (stored bool, err error) {
	cmd := redis.NewBoolCmd(ctx, "set", key, value, "PX", ttl.Milliseconds(), "NX")
	_ = rdb.Process(ctx, cmd)
	return cmd.Result()
}
