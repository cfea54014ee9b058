package libraries

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"strconv"
	"strings"
	"time"

	"github.com/redis/rueidis"
	"github.com/redis/rueidis/rueidislock"

	"lockstep/sim/bubble"
	"lockstep/strategies"
)

// Rueidislock is rueidislock on one server, without client-side caching.
var Rueidislock = bubble.Library{Background: true, Outgoing: predictable, New: rueidisLock}

const prefix0 = "rueidislock:0:"

func rueidisLock(p *bubble.Process) bubble.Lock {
	locker, err := rueidislock.NewLocker(rueidislock.LockerOption{
		KeyMajority: 1, KeyValidity: p.TTL,
		ClientOption: rueidis.ClientOption{
			InitAddress: []string{"127.0.0.1:7000"}, DisableCache: true, ForceSingleClient: true, AlwaysRESP2: true, DisableRetry: true,
			RingScaleEachConn: 2, ReadBufferEachConn: 1024, WriteBufferEachConn: 1024, // of each process: there are thousands in a search
			Dialer: net.Dialer{KeepAlive: 365 * 24 * time.Hour}, // the library pings as often
			DialFn: func(string, *net.Dialer, *tls.Config) (net.Conn, error) { return p.Dial(0), nil },
		},
	})
	if err != nil {
		panic(err)
	}
	p.AtEnd(locker.Close)
	var held context.Context
	var release context.CancelFunc
	try := func(ctx context.Context) (err error) {
		held, release, err = locker.TryWithContext(ctx, p.Key)
		return err
	}
	return bubble.Lock{
		Acquire: func(ctx context.Context) error { return retry(ctx, p.Retry, func() error { return try(ctx) }) },
		Release: func(context.Context) error {
			lost := held.Err()
			release()
			if lost != nil {
				return strategies.ErrNotHeld
			}
			return nil
		},
		Refusals: []error{rueidislock.ErrNotLocked},
	}
}

// retry asks as often as the policy says, and no sooner than WithContext does.
func retry(ctx context.Context, r strategies.Retry, ask func() error) error {
	for n := 1; ; n++ {
		err := ask()
		if n == r.Tries || !errors.Is(err, rueidislock.ErrNotLocked) {
			return err
		}
		select {
		case <-time.After(max(pause(r), 20*time.Millisecond)):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// predictable edits a command: its key is the run's, its token, which comes from math/rand, is named
// after the client, and an instant is on the client's wall clock.
func predictable(p *bubble.Process, args []string) {
	for i, a := range args {
		switch {
		case strings.HasPrefix(a, prefix0):
			args[i] = strings.TrimPrefix(a, prefix0)
			if i+1 < len(args) {
				args[i+1] = p.Alias(args[i+1])
			}
		case i == 5 && len(a) == 12: // since 1970, in the year 2000
			if n, err := strconv.ParseInt(a, 10, 64); err == nil {
				args[i] = strconv.FormatInt(p.Wall(n), 10)
			}
		}
	}
}
