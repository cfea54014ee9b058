package certificate

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	"lockstep/sim"
	"lockstep/sim/process"
	"lockstep/sim/trace"
)

// situation writes down where the run is. Runs with equal texts can go on in the same way: see
// the package comment. The text is valid until the next call.
func (r *run) situation() ([]byte, error) {
	b := r.raw[:0]
	for place, who := range r.as {
		b = append(append(b, "\nclient "...), byte('A'+place), '\n')
		b = r.appendClient(b, who)
	}
	s := r.w.State()
	for addr, node := range s.Primary {
		b = strconv.AppendInt(append(b, "\nnode "...), int64(addr+1), 10)
		for i := range s.Nodes[node].Records {
			b = r.appendRecord(b, &s.Nodes[node].Records[i])
		}
		for _, digest := range r.w.Scripts(node) {
			b = append(append(b, " script "...), digest...)
		}
	}
	r.raw = b
	r.text = appendRenamed(r.text[:0], b)
	return r.text, r.failure()
}

// digest returns the digest of where the run is.
func (r *run) digest() (Digest, error) {
	text, err := r.situation()
	return digestOf(text), err
}

// appendClient appends the part of a client: its past, its state under the rules, its
// threads, and its connections.
func (r *run) appendClient(b []byte, who int) []byte {
	l, st := &r.locals[who], &r.w.State().Clients[who]
	need := r.need(who)
	b = append(append(b, l.seen...), '\n')
	b = append(append(b, st.Phase.String()...), ' ')
	for _, is := range [...]bool{st.Lease.Believed, st.Lease.Live, st.Lease.Inside, st.Hung, st.Stopped} {
		b = strconv.AppendBool(append(b, ' '), is)
	}
	switch {
	case !st.Lease.Live:
	case st.Lease.Deadline == trace.Never:
		b = append(b, " forever"...)
	default: // it ends at no instant of the grid before the next
		b = r.appendSpan(append(b, " for "...), r.roundUp(st.Lease.Deadline-r.w.Now()))
	}
	if l.read && need&Reading != 0 {
		b = r.appendSpan(append(b, " since "...), l.since)
	}
	r.w.Survey(who, &r.survey)
	if r.Given && !r.cfg.Strategy.NoTTL && st.Phase == trace.PhaseAcquire && st.Lease.Granter > st.Began {
		b = r.appendSpan(append(b, " stored "...), min(r.w.Now()-r.survey.GrantSent, r.roundUp(r.cfg.TTL))) // no lease is live after that
	}
	for i := range r.survey.Threads {
		b = r.appendThread(b, l, i)
	}
	for i := range r.survey.Conns {
		b = r.appendConn(b, l, &r.survey.Conns[i], need)
	}
	return b
}

func (r *run) appendThread(b []byte, l *local, i int) []byte {
	t := &r.survey.Threads[i]
	b = strconv.AppendInt(append(b, "\nthread "...), int64(i), 10)
	switch {
	case t.Over:
		return append(b, " over"...)
	case t.Waits && t.Due == math.MaxInt64:
		b = append(b, " waits for ever"...)
	case t.Waits:
		b = r.appendSpan(append(b, " waits "...), t.Due-r.w.Now())
	default:
		before := 0 // threads that go first
		for _, o := range r.survey.Threads {
			if !o.Over && !o.Waits && o.Turn < t.Turn {
				before++
			}
		}
		b = strconv.AppendInt(append(b, " ready "...), int64(before), 10)
	}
	return appendOperation(b, l, t.Op)
}

// appendOperation appends a thread's next operation.
func appendOperation(b []byte, l *local, op *process.Op) []byte {
	b = strconv.AppendInt(append(b, " op "...), int64(op.Kind), 10)
	if op.Kind == process.OpMark {
		b = append(append(b, ' '), op.Mark.String()...)
	}
	if op.Wall {
		b = append(b, " wall"...)
	}
	if op.Conn != nil {
		n := slices.Index(l.conns, op.Conn)
		if n < 0 {
			n = len(l.conns) // it uses a new one
		}
		b = strconv.AppendInt(append(b, " on "...), int64(n), 10)
		b = strconv.AppendInt(append(b, " to "...), int64(op.Conn.Addr), 10)
	}
	if op.Kind == process.OpSend {
		for _, word := range op.Args {
			b = strconv.AppendQuote(append(b, ' '), word)
		}
	}
	for _, n := range [...]int64{int64(op.Sleep), int64(op.Wait), int64(op.Below), op.Fence} {
		b = strconv.AppendInt(append(b, ' '), n, 10)
	}
	return b
}

// appendConn appends the state of a connection, if that differs from a new one's. The connections
// that a client has used in its cycle have numbers.
func (r *run) appendConn(b []byte, l *local, c *sim.ConnSurvey, need Need) []byte {
	if c.UnderWay > 0 && !c.Torn || c.Begun || c.Ended || c.Unanswered {
		r.err = fmt.Errorf("%s has a request under way, a transaction, a subscription or a broken connection, of which a certificate knows nothing", r.Lock)
	}
	n := slices.Index(l.conns, c.Conn)
	if n < 0 && !c.Torn && len(c.Inbox) == 0 {
		return b
	}
	b = strconv.AppendInt(append(b, "\nconnection "...), int64(n), 10)
	if c.Torn {
		b = append(b, " torn"...)
	}
	for _, reply := range c.Inbox {
		b = appendReply(append(b, " has "...), &process.Op{Reply: reply})
	}
	if need&Sending != 0 {
		b = r.appendSpan(append(b, " sent "...), min(r.w.Now()-c.SentAt, r.Far))
	}
	return b
}

// appendRecord appends a key of a node, and whose it is. An acquisition that is over matters no
// more than one of a client that is gone.
func (r *run) appendRecord(b []byte, rec *trace.HeldRecord) []byte {
	b = strconv.AppendQuote(append(b, "\nkey "...), rec.Key)
	b = strconv.AppendQuote(append(b, " = "...), rec.Value)
	if rec.Expires != trace.Never {
		b = r.appendSpan(append(b, " for "...), rec.Expires-time.Millisecond-r.w.Now()) // see tick
	}
	if rec.Key != r.w.State().Key {
		return b
	}
	for place, who := range r.as {
		if rec.Owner == r.w.State().Acquisition(who) && r.w.State().Clients[who].Phase != trace.PhaseIdle {
			return append(append(b, " of "...), byte('A'+place))
		}
	}
	return append(b, " left"...)
}

// roundUp returns the first multiple of the unit that isn't less than a span.
func (r *run) roundUp(d time.Duration) time.Duration { return (d + r.unit - 1) / r.unit * r.unit }

// appendSpan appends a span in units, which are those of the grid. A span that is no multiple of it would end
// between two instants at which clients act.
func (r *run) appendSpan(b []byte, d time.Duration) []byte {
	if d%r.unit != 0 {
		r.err = fmt.Errorf("%s has begun a span that ends off the grid: %s, which is no multiple of %s", r.Lock, trace.Duration(d), trace.Duration(r.unit))
	}
	return strconv.AppendInt(b, int64(d/r.unit), 10)
}

// localKey is the digest of a client's past since its cycle began, the key of [Needs].
func (r *run) localKey(who int) Digest {
	r.part = appendRenamed(r.part[:0], r.locals[who].seen)
	return digestOf(r.part)
}

// need returns the spans on which a client's code still depends.
func (r *run) need(who int) Need {
	switch {
	case r.exact:
		return Reading | Sending
	case r.needs == nil:
		return 0
	}
	return r.needs[r.localKey(who)]
}

// appendRenamed appends a text in which each token has a name by the order in which tokens
// first occur in it. A token begins with its client's name and a number: see
// [process.Client].
func appendRenamed(to, text []byte) []byte {
	var known [][]byte
	from := 0 // the text before that is in to
	for dash := 0; ; dash++ {
		next := bytes.IndexByte(text[dash:], '-') // of which a text has few
		if next < 0 {
			return append(to, text[from:]...)
		}
		dash += next
		begin, end := tokenAround(text, dash)
		if begin < from || begin == end {
			continue
		}
		token := text[begin:end]
		at := slices.IndexFunc(known, func(k []byte) bool { return string(k) == string(token) })
		if at < 0 {
			at, known = len(known), append(known, token)
		}
		to = strconv.AppendInt(append(append(to, text[from:begin]...), '~'), int64(at), 10)
		from = end
	}
}

// tokenAround returns where the token begins and ends that has its hyphen here, or twice the same if none has.
func tokenAround(text []byte, hyphen int) (begin, end int) {
	begin, end = hyphen, hyphen+5
	for begin > 0 && text[begin-1] >= '0' && text[begin-1] <= '9' {
		begin--
	}
	if begin == hyphen || begin == 0 || text[begin-1] < 'A' || text[begin-1] > 'Z' || end > len(text) {
		return 0, 0
	}
	for _, c := range text[hyphen+1 : end] {
		if (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return 0, 0
		}
	}
	return begin - 1, end
}
