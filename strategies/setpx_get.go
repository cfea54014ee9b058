package strategies

import (
	"context"
	"errors"
	"time"

	"github.com/redis/go-redis/v9"
)

// SetPXGet is the single-server lock for a network that loses replies.
//
//	acquire   SET key token NX GET PX ttl
//	          no reply: again, with the same token, up to three times
//	          won if there was no value, or if the value is that token;
//	          no reply to the last one: the release, and the error
//	release   EVALSHA (EVAL where the server lacks the script):
//	          if GET key == token then DEL key
//
// Source: Redis documentation, SET, whose options NX and GET go together since 7.0; the
// cure for go-redis issue 2985.
//
// A lost reply leaves open whether the lock was taken. SET with NX can't be sent again to
// find out, since it is refused by the caller's own token. With GET it returns the value
// that stood in the way, and the caller recognises its token. If no reply comes at all, a
// compare-and-delete leaves nothing behind that would block the others. One danger
// remains: a request that is still under way then stores a record that nobody knows of,
// for one TTL.
type SetPXGet struct {
	rdb *redis.Client
	key string
	opt Options
}

// NewSetPXGet locks key on one Redis server, of version 7.0 or newer.
func NewSetPXGet(rdb *redis.Client, key string, o Options) *SetPXGet {
	return &SetPXGet{rdb: rdb, key: key, opt: o}
}

// Acquire stores a token under the key, with an expiry, unless the key exists.
func (l *SetPXGet) Acquire(ctx context.Context) (*Lease, error) {
	return retry(ctx, l.opt, l.try)
}

func (l *SetPXGet) try(ctx context.Context) (*Lease, error) {
	const resends = 3
	token := l.opt.Token()
	var first time.Duration
	for n := 0; ; n++ {
		sent := l.opt.Clock.Monotonic() // before the command: Redis starts counting later, never earlier
		if n == 0 {
			first = sent
		}
		held, err := l.rdb.Do(ctx, "SET", l.key, token, "NX", "GET", "PX", l.opt.TTL.Milliseconds()).Text()
		switch {
		case errors.Is(err, redis.Nil): // there was none: this very command stored it
			return &Lease{Token: token, Deadline: l.deadline(sent)}, nil
		case err == nil && held == token && n > 0: // an earlier one did, and its reply was lost
			return l.found(ctx, token, l.deadline(first))
		case err == nil:
			return nil, ErrNotAcquired
		case answered(err):
			return nil, err
		case n == resends || ctx.Err() != nil:
			l.cleanUp(ctx, token)
			return nil, err
		}
	}
}

// found returns the lease of a token that an earlier command has stored, unless the attempts
// to learn of it have taken all of its time.
func (l *SetPXGet) found(ctx context.Context, token string, deadline time.Duration) (*Lease, error) {
	if l.opt.Clock.Monotonic() >= deadline {
		l.cleanUp(ctx, token)
		return nil, ErrNotAcquired
	}
	return &Lease{Token: token, Deadline: deadline}, nil
}

func (l *SetPXGet) deadline(sent time.Duration) time.Duration {
	return sent + l.opt.TTL - drift(l.opt.TTL)
}

// answered reports whether an error is the server's reply, and not the lack of one.
func answered(err error) bool {
	var reply redis.Error
	return errors.As(err, &reply)
}

// cleanUp deletes the token if it was stored after all, even if the caller has stopped
// waiting. It can't do more than ask: the record expires in any case.
func (l *SetPXGet) cleanUp(ctx context.Context, token string) {
	_ = compareAndDelete.Run(context.WithoutCancel(ctx), l.rdb, []string{l.key}, token).Err()
}

// Release deletes the key if it still holds the lease's token.
func (l *SetPXGet) Release(ctx context.Context, lease *Lease) error {
	deleted, err := compareAndDelete.Run(ctx, l.rdb, []string{l.key}, lease.Token).Int()
	if err != nil {
		return err
	}
	if deleted == 0 {
		return ErrNotHeld
	}
	return nil
}
