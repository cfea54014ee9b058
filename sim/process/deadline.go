package process

import (
	"context"
	"errors"
	"net"
	"reflect"
	"time"

	"github.com/redis/go-redis/v9"
)

// This file recovers the timeout that client code has passed to a call which sets its own:
// BLPop, ReceiveTimeout of a PubSub, or any call of a client that WithTimeout has made.
//
// go-redis adds the timeout to a reading of the machine's clock and hands its connection only
// the sum. Another reading would differ by the time that has passed in between, and a run
// would not be reproducible. But the library keeps its reading, in the connection's usedAt, so
// the difference is the timeout to the nanosecond.

// connected ends the handshake of a connection, and lets it see the library's reading of the
// clock. It is go-redis's OnConnect: go-redis calls it for a new connection after the
// handshake. It fails if the library keeps its connections in other fields than versions 9.22
// and 9.23 do.
func (c *Client) connected(_ context.Context, handle *redis.Conn) error {
	pooled := field(field(reflect.ValueOf(handle), "connPool"), "cn")
	usedAt := field(field(pooled, "usedAt"), "v")
	wire := field(field(field(pooled, "netConnAtomic"), "v"), "conn")
	if !usedAt.IsValid() || !usedAt.CanInt() || !wire.IsValid() {
		return errors.New("this version of go-redis keeps its connections otherwise than 9.22 and 9.23, so timeouts of its calls can't be seen: adapt sim/process/deadline.go")
	}
	c.rt.connecting.Lock()
	defer c.rt.connecting.Unlock()
	for _, conn := range c.conns {
		if reflect.ValueOf(conn).Pointer() == pointee(wire).Pointer() {
			conn.greeted, conn.usedAt = true, usedAt
		}
	}
	return nil
}

// field returns a field of a struct behind pointers and interfaces, or the zero Value.
func field(v reflect.Value, name string) reflect.Value {
	if v = pointee(v); v.Kind() == reflect.Pointer {
		v = v.Elem()
	}
	if v.Kind() != reflect.Struct {
		return reflect.Value{}
	}
	return v.FieldByName(name)
}

// pointee returns the value in an interface.
func pointee(v reflect.Value) reflect.Value {
	for v.Kind() == reflect.Interface {
		v = v.Elem()
	}
	return v
}

// timed is the value for a context with a deadline.
const timed = breach("it passes a context with a deadline, an instant of the machine's clock, which virtual time never comes to: " +
	"leave context.WithTimeout and context.WithDeadline out; the run's own timeout ends a wait for a reply, and Options.Clock says how long anything has taken")

// refuseTimed ends the run at the thread's next stop if a context has a deadline, and returns an error for
// the code until then: no time passes on the machine's clock in a run, so that the deadline would never come,
// and nobody would know. It doesn't panic, as go-redis may hold a mutex. A killed thread is past all that.
func (c *Client) refuseTimed(ctx context.Context) error {
	if _, has := ctx.Deadline(); !has {
		return nil
	}
	if t := c.rt.current; t != nil && t.dead {
		return nil
	}
	c.rt.refuse(&Panic{Client: c.Name, Value: timed, Source: strayedFrom()})
	return timed
}

// timedCalls is a hook of go-redis, by which calls with such a context are refused. A client that
// WithTimeout has made has no hooks: searches refuse that, too.
type timedCalls struct{ c *Client }

var _ redis.Hook = timedCalls{}

// DialHook leaves the dial as it is: the call that takes it has been looked at.
func (timedCalls) DialHook(next redis.DialHook) redis.DialHook { return next }

// ProcessHook looks at the context of a command.
func (h timedCalls) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		if err := h.c.refuseTimed(ctx); err != nil {
			return err
		}
		return next(ctx, cmd)
	}
}

// ProcessPipelineHook looks at the context of a pipeline or a transaction.
func (h timedCalls) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		if err := h.c.refuseTimed(ctx); err != nil {
			return err
		}
		return next(ctx, cmds)
	}
}

// contextDeadline is the value for a wait that a context ends.
const contextDeadline = "the deadline of a context ends a wait for Redis, and that is an instant of the machine's clock: pass a timeout, by PubSub.ReceiveTimeout"

// SetReadDeadline takes the timeout of a call that sets its own; see [Op.Wait]. go-redis calls
// it for no other: those wait as long as the run's configuration says. So does WAIT here,
// although go-redis would grant it ten seconds more, and so does a client for which WithTimeout
// has turned the timeout off: it looks like one that the lock has made from another's Options.
func (c *Conn) SetReadDeadline(at time.Time) error {
	if !c.greeted || c.awaitsReplicas {
		return nil
	}
	if at.IsZero() {
		if c.pops || c.subscribes {
			c.wait = Forever
		}
		return nil
	}
	c.wait = 0
	if c.usedAt.IsValid() && at == at.Round(0) { // contexts keep a monotonic reading, which Round takes away
		c.wait = at.Sub(time.Unix(0, c.usedAt.Int()))
	}
	if c.wait <= 0 {
		c.Client.rt.refuse(&Panic{Client: c.Client.Name, Value: contextDeadline, Source: callerSource(c.Client.rt.sources)})
		return net.ErrClosed
	}
	return nil
}

// Lasts reports whether the server may keep something of the connection's commands beyond their replies: a
// subscription, or a command that waits there.
func (c *Conn) Lasts() bool { return c.subscribes || c.pops }

// Subscribes reports whether a command that can begin a subscription was sent on the connection.
func (c *Conn) Subscribes() bool { return c.subscribes }

// Timeout returns for how long the next read waits if the lock's code has said so by WithTimeout,
// and 0 if it hasn't. The timeouts of commands that wait at their server, and of a
// PubSub, don't count.
func (c *Conn) Timeout() time.Duration {
	if c.pops || c.subscribes {
		return 0
	}
	return c.wait
}
