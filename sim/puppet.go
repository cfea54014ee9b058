package sim

import (
	"errors"
	"lockstep/sim/trace"
	"math"
	"reflect"
	"strings"
	"time"
)

// Puppet is one client of a configuration, apart from any world: the same code
// in the same coroutines, which is told what it sees. What a client does next is
// a function of what it has seen, because clients share nothing; a puppet is how
// that function is found out, one history at a time.
//
// A Puppet is not safe for concurrent use.
type Puppet struct {
	w     *World
	c     *client
	told  []Told
	conns []*conn // by the order in which they were first used
}

// OpKind is what a thread is about to do.
type OpKind = opKind

// The kinds of operation. Their names say what the thread will have done when
// it is fed.
const (
	OpStart   = opStart
	OpSend    = opSend
	OpReceive = opReceive
	OpClock   = opClock
	OpSleep   = opSleep
	OpRead    = opRead
	OpWrite   = opWrite
	OpMark    = opMark
)

// Op is a thread's next operation.
type Op struct {
	Kind  OpKind
	Over  bool       // there is none: the thread has ended
	Mark  trace.Kind // of OpMark: what it will announce
	Phase trace.Phase
	Wall  bool          // of OpClock: which clock
	Sleep time.Duration // of OpSleep
	Conn  int           // of OpSend and OpReceive: the nth connection that it used, from 0
	Addr  int           // and the node that this leads to
	Args  []string      // of OpSend
	Fence int64         // of OpRead and OpWrite

	Source trace.Source // the line of code that it comes from, if the puppet is watched
}

// Told is what a client let be known while it ran: the same as the event of that
// kind. Deadline is a true instant, on the clock by which the puppet is fed.
type Told struct {
	Kind     trace.Kind
	Deadline time.Duration // of KindGranted and KindExtended; Never is none
	Given    bool          // the strategy exposes no deadline: the world gives it one
	Fence    int64
}

// Seen is what a thread learns from its operation: nothing, unless said
// otherwise.
type Seen struct {
	Now     time.Duration // of OpClock: the true instant at which it reads
	Offset  time.Duration // of OpClock: how wrong its wall clock is by now
	Reply   []byte        // of OpReceive
	Timeout bool          // or its patience is over
	Refused bool          // or the node is down; of OpRead and OpWrite: the fencing token is too old
	Lapsed  bool          // of OpClock: if the lease has the deadline that the world gives it, that is past
}

// NewPuppet makes a puppet of a client of a configuration; the index after the
// last is the probe's.
func NewPuppet(cfg Config, index int) (*Puppet, error) {
	cfg.Cold = true // it is whoever holds the strings that answers, so no server need know a script
	w, err := New(cfg)
	if err != nil {
		return nil, err
	}
	if err := w.Reset(cfg, false); err != nil {
		return nil, errors.Join(err, w.Close())
	}
	p := &Puppet{w: w, c: w.clients[index]}
	w.puppet = p
	return p, p.Reset()
}

// Close ends it.
func (p *Puppet) Close() error { return p.w.Close() }

// Reset takes the client back to the beginning of its program.
func (p *Puppet) Reset() error {
	for _, t := range p.c.threads {
		t.kill()
	}
	if err := p.c.mend(); err != nil {
		return err
	}
	p.c.resetConns()
	p.w.now = 0
	p.w.timers.reset()
	p.told, p.conns = p.told[:0], p.conns[:0]
	p.c.reset(&p.w.cfg.Clients[p.c.index])
	return nil
}

// Watch has operations that are announced from now on tell where they come from. It
// takes time, so it is for when that is wanted.
func (p *Puppet) Watch(on bool) { p.w.recording = on }

// Guard looks from now on whether it is one of the client's threads that announces an
// operation: another goroutine's is a [Panic]. It takes time, too, and is for
// operations that nobody has seen yet.
func (p *Puppet) Guard(on bool) { p.w.guarded = on }

// Threads is how many there are, those that have ended included.
func (p *Puppet) Threads() int { return len(p.c.threads) }

// Op is what a thread is about to do.
func (p *Puppet) Op(thread int) Op {
	t := p.c.threads[thread]
	if t.over {
		return Op{Over: true}
	}
	o := &t.op
	op := Op{Kind: o.kind, Mark: o.mark, Phase: t.phase, Wall: o.wall, Sleep: o.d, Args: o.args, Fence: o.fence, Source: o.source}
	if o.kind != opSleep {
		op.Sleep = 0
	}
	if o.conn != nil {
		op.Conn, op.Addr = p.number(o.conn), o.conn.addr
	}
	return op
}

// number is the connection's, in the order of first use: that doesn't depend on
// what the library has kept from earlier runs.
func (p *Puppet) number(c *conn) int {
	for i, known := range p.conns {
		if known == c {
			return i
		}
	}
	p.conns = append(p.conns, c)
	return len(p.conns) - 1
}

// Forget numbers connections from 0 again, and drops threads that have ended: between
// two cycles, when none is of any more interest.
func (p *Puppet) Forget() {
	p.conns = p.conns[:0]
	for _, t := range p.c.threads[1:] {
		if !t.over {
			return
		}
	}
	clear(p.c.threads[1:])
	p.c.threads = p.c.threads[:1]
}

// Closed reports whether the client has closed its nth connection.
func (p *Puppet) Closed(n int) bool { return n < len(p.conns) && p.conns[n].closed }

// Acquired is how often the client has called Acquire.
func (p *Puppet) Acquired() int { return p.c.acquired }

// Feed lets a thread perform its operation, with what it sees, and run to the next.
// It returns what the client let be known; the list is valid until the next call.
func (p *Puppet) Feed(thread int, s Seen) []Told {
	t := p.c.threads[thread]
	o := &t.op
	p.told = p.told[:0]
	if o.conn != nil {
		p.number(o.conn)
	}
	switch o.kind {
	case opSend:
		t.command++
	case opReceive:
		p.receive(o, s)
	case opClock:
		p.w.now = s.Now
		o.d = p.c.mono.read(s.Now)
		p.w.state.Clients[p.c.index].Lease.Live = !s.Lapsed
		if o.wall {
			p.c.wall.offset = s.Offset
			o.d = p.c.wall.read(s.Now).Sub(trace.Epoch)
		}
	case opRead, opWrite:
		t.command++
		if s.Refused {
			o.err = errFenced
		}
	case opMark:
		p.w.performMark(t, o)
	}
	t.run()
	return p.told
}

func (p *Puppet) receive(o *op, s Seen) {
	n := p.w.nodes[o.conn.addr]
	o.conn.reader = nil
	switch {
	case s.Timeout:
		o.err = errTimeout(n)
	case s.Refused:
		o.err = errRefused(n)
	default:
		o.reply = append([]byte(nil), s.Reply...)
	}
}

// tell takes the place of the world's emit.
func (p *Puppet) tell(e *trace.Event) {
	p.told = append(p.told, Told{Kind: e.Kind, Deadline: e.By, Given: !p.c.exposes, Fence: e.Fence})
}

// Draws is how many tokens the client has drawn, and how often it has asked for
// randomness otherwise.
func (p *Puppet) Draws() (tokens, random int) { return p.c.tokens, p.c.draws }

// Fingerprint is a digest of what the client's lock remembers in its own fields,
// pointers followed. What it shares with all others, its connections and its
// clock, doesn't count, and what closures capture can't be seen.
func (p *Puppet) Fingerprint() uint64 {
	d := digest{seen: map[uintptr]bool{}}
	d.value(reflect.ValueOf(p.c.lock))
	return d.sum
}

// digest walks through a value's content.
type digest struct {
	sum  uint64
	seen map[uintptr]bool
}

func (d *digest) mix(v uint64) { d.sum = (d.sum^v)*0x9e3779b97f4a7c15 + v>>31 }

func (d *digest) value(v reflect.Value) {
	d.mix(uint64(v.Kind()))
	switch v.Kind() {
	case reflect.Pointer:
		if foreign(v.Type().Elem()) || v.IsNil() || d.seen[v.Pointer()] {
			return
		}
		d.seen[v.Pointer()] = true
		d.value(v.Elem())
	case reflect.Interface:
		d.value(v.Elem())
	case reflect.Struct:
		for i := range v.NumField() {
			d.value(v.Field(i))
		}
	case reflect.Slice, reflect.Array:
		d.mix(uint64(v.Len()))
		for i := range v.Len() {
			d.value(v.Index(i))
		}
	case reflect.Map:
		d.mapping(v)
	case reflect.String:
		for _, b := range []byte(v.String()) {
			d.mix(uint64(b))
		}
	default:
		d.word(v)
	}
}

// foreign types belong to the library or to the simulator.
func foreign(t reflect.Type) bool {
	return strings.HasPrefix(t.PkgPath(), "github.com/redis/go-redis/") || t.PkgPath() == reflect.TypeFor[World]().PkgPath()
}

// mapping digests a map: the order of its keys doesn't count.
func (d *digest) mapping(v reflect.Value) {
	sum := uint64(v.Len())
	for it := v.MapRange(); it.Next(); {
		one := digest{seen: d.seen}
		one.value(it.Key())
		one.value(it.Value())
		sum += one.sum
	}
	d.mix(sum)
}

func (d *digest) word(v reflect.Value) {
	switch {
	case v.CanInt():
		d.mix(uint64(v.Int()))
	case v.CanUint():
		d.mix(v.Uint())
	case v.CanFloat():
		d.mix(math.Float64bits(v.Float()))
	case v.Kind() == reflect.Bool && v.Bool():
		d.mix(1)
	} // functions and channels show nothing
}
