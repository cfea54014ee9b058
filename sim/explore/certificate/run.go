package certificate

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"lockstep/sim"
	"lockstep/sim/fault"
	"lockstep/sim/process"
	"lockstep/sim/trace"
)

// run is a run of the engine, with its clients' pasts since their cycles began.
type run struct {
	*setup
	w      *sim.World
	as     []int // by place: the engine's client in it
	spare  int   // the engine's next client that no place has had
	locals []local
	survey sim.Survey
	exact  bool          // records live for as long as Redis lets them, and the text has all spans
	unit   time.Duration // in which spans are written down: the grid, unless it is for behavior
	err    error         // of an operation of which a certificate knows nothing

	text, raw, part []byte // buffers
}

// local is a client's past since its cycle began.
type local struct {
	seen  []byte          // its lock's memory of earlier cycles, and the results of its operations
	conns []*process.Conn // in the order in which it first used them in the cycle
	read  bool            // it has read its monotonic clock
	since time.Duration   // since it first did; no longer than Far after the last time
	last  time.Duration   // since at the last time
}

// newRun makes a run, which begin begins.
func (s *setup) newRun() (*run, error) {
	w, err := sim.New(s.cfg)
	if err != nil {
		return nil, err
	}
	r := &run{setup: s, unit: s.Grid, w: w, locals: make([]local, len(s.cfg.Clients)+1)}
	w.Observer = r.observe
	return r, nil
}

// begin takes the run to where every schedule begins.
func (r *run) begin() error {
	if err := r.w.Reset(r.cfg, false); err != nil {
		return err
	}
	r.as, r.err = r.as[:0], nil
	for i := range r.Places {
		r.as = append(r.as, i)
	}
	r.spare = r.Places
	for i := range r.locals {
		l := &r.locals[i]
		l.seen, l.conns = l.seen[:0], l.conns[:0]
		l.read, l.since, l.last = false, 0, 0
	}
	return nil
}

// goTo takes the run from the beginning along a path.
func (r *run) goTo(path []Move) error {
	if err := r.begin(); err != nil {
		return err
	}
	for i, m := range path {
		if err := r.make(m); err != nil {
			return fmt.Errorf("move %d of %d (%s): %w", i+1, len(path), m, err)
		}
	}
	return nil
}

// errDisabled is the error of a move that can't be made where the run is.
var errDisabled = errors.New("it can't be made there")

// errNoSpare is the error of a crash that no client is left to make up for.
var errNoSpare = errors.New("the engine has no client left that could take the place of one that crashes")

// make makes a move.
func (r *run) make(m Move) error {
	if m.Kind == Ticks {
		r.tick()
		return r.failure()
	}
	if int(m.Place) >= r.Places {
		return errDisabled
	}
	who := r.as[m.Place]
	switch m.Kind {
	case Crashes:
		return r.crash(int(m.Place))
	case LosesReply:
		if !r.sends(who) {
			return errDisabled
		}
		if err := r.w.Inject(fault.LoseReply{Client: r.cfg.Clients[who].Name}); err != nil {
			return err
		}
	case Steps:
		if !r.w.Ready(sim.SetOf(who)) {
			return errDisabled
		}
	default:
		return errDisabled
	}
	r.w.Step(sim.SetOf(who))
	r.endCycle(who)
	return r.failure()
}

// failure is why the run can't go on, or nil.
func (r *run) failure() error { return errors.Join(r.err, r.w.Err()) }

// crash ends the process at a place, and puts another there.
func (r *run) crash(place int) error {
	if r.spare == len(r.cfg.Clients) {
		return errNoSpare
	}
	if err := r.w.Inject(fault.Crash{Client: r.cfg.Clients[r.as[place]].Name}); err != nil {
		return err
	}
	r.as[place] = r.spare
	r.spare++
	return nil
}

// tick lets time pass to the next multiple of the grid. Records that Redis would keep for one
// more millisecond are gone then.
func (r *run) tick() { r.pass(r.Grid) }

// pass lets so much time pass.
func (r *run) pass(by time.Duration) {
	r.w.Wait(by)
	if !r.exact {
		r.w.ExpireEarly()
	}
	for _, who := range r.as {
		if l := &r.locals[who]; l.read {
			l.since = min(l.since+by, l.last+r.Far)
		}
	}
}

// sends reports whether a client's next step would send a command.
func (r *run) sends(who int) bool {
	t := r.next(who)
	return t != nil && t.Op.Kind == process.OpSend
}

// next surveys a client, and returns the thread that performs its next operation, if any can.
func (r *run) next(who int) (next *sim.ThreadSurvey) {
	r.w.Survey(who, &r.survey)
	for i := range r.survey.Threads {
		if t := &r.survey.Threads[i]; !t.Over && !t.Waits && (next == nil || t.Turn < next.Turn) {
			next = t
		}
	}
	return next
}

// enabled lists all moves that can be made where the run is.
func (r *run) enabled() (moves []Move) {
	for place, who := range r.as {
		if t := r.next(who); t != nil {
			moves = append(moves, Move{Steps, uint8(place)})
			if r.Faults.ReplyLost && t.Op.Kind == process.OpSend {
				moves = append(moves, Move{LosesReply, uint8(place)})
			}
		}
		if r.Faults.Crash {
			moves = append(moves, Move{Crashes, uint8(place)})
		}
	}
	return append(moves, Move{Kind: Ticks})
}

// violated lists the codes claimed that the run has violated.
func (r *run) violated() (found trace.Verdict) {
	for _, c := range r.w.Verdict() {
		if slices.Contains(r.codes, c) {
			found = append(found, c)
		}
	}
	return found
}

// observe writes down the result of an operation.
func (r *run) observe(client, thread int, op *process.Op) {
	l := &r.locals[client]
	l.seen = append(l.seen, '\n', byte('0'+thread))
	switch op.Kind {
	case process.OpStart:
		l.seen = append(l.seen, 'b')
	case process.OpMark:
		l.seen = append(append(l.seen, 'm'), op.Mark.String()...)
	case process.OpSleep:
		l.seen = append(l.seen, 'z')
	case process.OpSend:
		l.seen = strconv.AppendInt(append(l.seen, 's'), int64(l.number(op.Conn)), 10)
	case process.OpReceive:
		l.seen = strconv.AppendInt(append(l.seen, 'r'), int64(l.number(op.Conn)), 10)
		l.seen = appendReply(append(l.seen, ' '), op)
	case process.OpRead, process.OpWrite, process.OpQuery:
		l.seen = append(l.seen, 'a')
		if op.Err != nil {
			l.seen = append(l.seen, '!')
		}
	case process.OpClock:
		r.reads(l, op)
	default:
		r.err = fmt.Errorf("%s draws a random number, of which a certificate knows nothing", r.Lock)
	}
}

// reads writes down a reading of a clock.
func (r *run) reads(l *local, op *process.Op) {
	if op.Wall {
		r.err = fmt.Errorf("%s reads true time, of which a certificate knows nothing", r.Lock)
		return
	}
	l.read, l.last = true, l.since
	l.seen = r.appendSpan(append(l.seen, 'c'), l.since)
}

// number returns the number of a connection in the order of first use.
func (l *local) number(c *process.Conn) int {
	if i := slices.Index(l.conns, c); i >= 0 {
		return i
	}
	l.conns = append(l.conns, c)
	return len(l.conns) - 1
}

// endCycle makes a client forget its last cycle if it is between two: all that it still knows
// then is in the fields of its lock.
func (r *run) endCycle(who int) {
	r.w.Survey(who, &r.survey)
	if !between(r.survey.Threads) {
		return
	}
	l := &r.locals[who]
	l.seen, l.conns = appendMemory(l.seen[:0], r.w.Lock(who)), l.conns[:0]
	l.read, l.since, l.last = false, 0, 0
}

// between reports whether a client with these threads is about to ask for the lock.
func between(threads []sim.ThreadSurvey) bool {
	if main := threads[0]; main.Over || !main.Started || main.Op.Kind != process.OpMark || main.Op.Mark != trace.KindAcquire {
		return false
	}
	return !slices.ContainsFunc(threads[1:], func(t sim.ThreadSurvey) bool { return !t.Over })
}

// rests reports whether all clients are between two cycles, or have not begun.
func (r *run) rests() bool {
	return !slices.ContainsFunc(r.as, func(who int) bool {
		r.w.Survey(who, &r.survey)
		return !between(r.survey.Threads) && r.survey.Threads[0].Started
	})
}

// appendReply appends a reply that a client has read, without the lengths of its words, as
// these depend on the names of tokens.
func appendReply(to []byte, op *process.Op) []byte {
	if op.Err != nil {
		return append(append(to, '!'), op.Err.Error()...)
	}
	for rest := op.Reply; len(rest) > 0; {
		line, after, _ := bytes.Cut(rest, []byte("\r\n"))
		rest = after
		n, err := strconv.Atoi(string(line[min(1, len(line)):]))
		if len(line) == 0 || line[0] != '$' || err != nil || n < 0 || n > len(rest) {
			to = append(append(to, line...), ' ')
			continue
		}
		to = strconv.AppendQuote(append(to, '$'), string(rest[:n]))
		rest = rest[min(n+2, len(rest)):]
	}
	return to
}
