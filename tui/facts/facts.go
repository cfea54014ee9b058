// Package facts lists the state of a run at a position, and the changes of its last event.
package facts

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"lockstep/sim/timeline"
	"lockstep/sim/trace"
	"lockstep/tui/draw"
)

// Lines is the state at a position, and above it the changes that the last event
// made. Its durations count up to the instant that the cursor stands at, which is later than that event
// where words are told after a time in which nothing happens.
func Lines(r *timeline.Timeline, pos int, before, now *trace.State) []draw.Line {
	t := r.Trace
	lines := []draw.Line{{draw.Text("just changed", draw.Title)}}
	changed := changes(r, pos, before, now)
	if len(changed) == 0 {
		changed = []draw.Line{{draw.Text("  nothing that anyone could see", draw.Dim)}}
	}
	lines = append(lines, changed...)
	held := *now
	held.At = r.Now(pos)
	now = &held
	lines = append(lines, nil, draw.Line{draw.Text("state at "+trace.Brief(now.At), draw.Title)})
	for i := range now.Clients {
		if r.Acts(i) && (r.Clients[i] != trace.Probe || r.Begun(i, pos)) {
			lines = append(lines, Client(t, now, i)...)
		}
	}
	for i := range now.Nodes {
		lines = append(lines, nodeLines(r, pos, now, i)...)
	}
	return append(lines, storeLines(t, &now.Store)...)
}

// Holders lists who has held the lock when, up to a position: by the records in Redis, and by the clients' beliefs. Its title says what
// it covers: also where the cursor is, if that has gone back to the evidence.
func Holders(r *timeline.Timeline, pos, cursor, width int) []draw.Line {
	ended := r.Ended(pos) // a game goes on
	so := draw.Either(ended, "", " so far")
	title := draw.Line{draw.Text(" who held the lock"+so+", up to "+trace.Brief(r.Now(pos)), draw.Title)}
	switch {
	case !ended && cursor < pos:
		title = append(title, draw.Text(" (the cursor is at "+trace.Brief(r.Now(cursor))+")", draw.Plain))
	case !ended:
		title = append(title, draw.Text(", where the cursor is", draw.Plain))
	default:
		title = append(title, draw.Text(", the end of the run", draw.Plain))
	}
	lines := []draw.Line{title}
	for _, h := range r.Tenures(pos) {
		l := draw.Line{draw.Text("  "+r.Clients[h.Client]+"  ", draw.ClientInk(h.Client)), draw.Text(r.Describe(&h, pos), draw.Plain)}
		lines = append(lines, l.Hanging(width)...)
	}
	if len(lines) == 1 {
		lines = append(lines, draw.Line{draw.Text("  nobody has held the lock yet", draw.Dim)})
	}
	return lines
}

// WentBack says of a position to which a key has gone back from a later one that it is one in the past, and the key that returns; of another it says
// nothing.
func WentBack(r *timeline.Timeline, pos, from int, key string) string {
	if pos >= from {
		return ""
	}
	return fmt.Sprintf(": back in time, to %s; %s returns to %s", trace.Brief(r.Now(pos)), key, trace.Brief(r.Now(from)))
}

// HoldersAtEnd is that list at the end of a run, and nothing before it.
func HoldersAtEnd(r *timeline.Timeline, pos, width int) []draw.Line {
	if pos == 0 || pos < r.Last() {
		return nil
	}
	return Holders(r, pos, pos, width)
}

// Breach names a violation by its place among all of a run, with the key that goes to the next; in brief, without how many kinds there are: the
// codes stand at the top, each once.
func Breach(r *timeline.Timeline, at int, brief bool, key string) string {
	b, kinds, more := r.Breaches[at], "", ""
	if n := len(r.Verdict()); n < len(r.Breaches) && !brief {
		kinds = fmt.Sprintf(", of %d %s", n, draw.Either(n == 1, "kind", "kinds"))
	}
	if at+1 < len(r.Breaches) {
		more = "; " + key + " for the next"
	}
	return fmt.Sprintf("violation %d of %d%s: %s (%s)%s", at+1, len(r.Breaches), kinds, b.Code.Name(), b.Code, more)
}

// Millisecond says of a record that expires why it has lived a millisecond longer than it was given, or nothing.
func Millisecond(r *timeline.Timeline, pos int) string {
	e := r.Event(pos)
	if e == nil || e.Kind != trace.KindExpire {
		return ""
	}
	given, known := r.Given(e)
	if !known {
		return ""
	}
	return fmt.Sprintf("Why the record expires at %s: it was stored at %s, to be kept for %s, and Redis keeps a record through its last millisecond.", trace.Brief(e.At), trace.Brief(e.At-given-time.Millisecond), trace.Brief(given))
}

// Drift says of the first lease that a lock cuts short for clocks that drift why it ends before its time, from where it is granted up to
// the next chapter: a reader who goes on by chapters sees no grant. Else it is empty.
func Drift(r *timeline.Timeline, pos int) string {
	for p := 1; p <= pos; p++ {
		e := r.Event(p)
		if e.Kind != trace.KindGranted || r.Clients[e.Client] == trace.Probe { // nobody asks about the lease of the probe
			continue
		}
		margin := r.MarginOf(e.Client, p)
		if margin == 0 {
			continue
		}
		if pos > max(p, r.NextChapter(p)) {
			return ""
		}
		return fmt.Sprintf("Why %s's lease ends at %s: %s counts the lock's %s from %s's request, and subtracts %s in case the clocks of client and server run at different rates (drift).",
			r.Clients[e.Client], trace.Brief(e.By), r.Strategy, trace.Duration(r.TTL), r.Clients[e.Client], trace.Duration(margin))
	}
	return ""
}

// Client has the lines about a client: its activity, its lease, the command whose reply it awaits, and its place in the code.
func Client(t *trace.Trace, s *trace.State, i int) []draw.Line {
	c := &s.Clients[i]
	what := c.Doing()
	lines := []draw.Line{{draw.Text(" "+t.Clients[i]+"  ", draw.ClientInk(i)), draw.Text(what, draw.Plain)}}
	if text := c.Lease.Describe(s.At); text != "" {
		lines = append(lines, draw.Line{draw.Text("    "+text, draw.Plain)})
	}
	if len(c.Pending) > 0 {
		lines = append(lines, draw.Line{draw.Text("    awaits "+trace.CommandText(c.Pending), draw.Dim)})
	}
	if c.Source.File != "" && c.InStrategy() {
		lines = append(lines, draw.Line{draw.Text(fmt.Sprintf("    at %s:%d", strings.TrimPrefix(c.Source.File, "strategies/"), c.Source.Line), draw.Dim)})
	}
	return lines
}

func nodeLines(t *timeline.Timeline, pos int, s *trace.State, i int) []draw.Line {
	n := &s.Nodes[i]
	name := draw.Text(" "+t.Nodes[i]+"  ", draw.Strong)
	switch {
	case !n.Up:
		return []draw.Line{{name, draw.Text("down", draw.Dim)}}
	case t.Moments[pos].Nodes[i].Successor != trace.None:
		return []draw.Line{{name, draw.Text(t.RetiredTexts(i, pos)[0], draw.Dim)}}
	case len(n.Records) == 0:
		return []draw.Line{{name, draw.Text("empty", draw.Dim)}}
	}
	var lines []draw.Line
	for j := range n.Records {
		rec := &n.Records[j]
		k, owner := draw.Plain, ""
		if rec.Owner != trace.Nobody {
			k, owner = draw.ClientInk(rec.Owner.Client), " ("+t.Clients[rec.Owner.Client]+"'s)"
		}
		left := ", no expiry"
		if rec.Expires != trace.Never {
			// The event has PTTL's answer, a millisecond less than the time left. A lease beside it ends earlier: its holder counts from its request.
			left = ", " + trace.Brief(rec.Left(s.At)) + " left by PTTL, gone at " + trace.Brief(rec.Expires)
		}
		lines = append(lines, draw.Line{name, draw.Text(rec.Key+" = "+rec.Value+owner+left, k)}) // one text, which can be wrapped
		name = draw.Text(strings.Repeat(" ", draw.Width(name.Text)), draw.Plain)
	}
	return lines
}

// storeLines have a line for each number, because a line of several inks isn't wrapped.
func storeLines(t *trace.Trace, st *trace.StoreState) []draw.Line {
	var lines []draw.Line
	if t.Workload == trace.Counter {
		lines = []draw.Line{storeLine(t, st, fmt.Sprintf("value %d, version %d", st.Value, st.Version))}
	} else {
		lines = []draw.Line{
			storeLine(t, st, "cache "+versionWord(st.Value)),
			{draw.Text("          database "+versionWord(st.Database), draw.Plain)},
			{draw.Text(fmt.Sprintf("          rebuilds %d, needed %d", st.Queries, st.Queries-st.Needless), draw.Plain)},
		}
	}
	if st.Fence != 0 {
		lines = append(lines, draw.Line{draw.Text(fmt.Sprintf("          highest fencing token %d", st.Fence), draw.Plain)})
	}
	return lines
}

func storeLine(t *trace.Trace, st *trace.StoreState, holds string) draw.Line {
	l := draw.Line{draw.Text(" resource ", draw.Strong), draw.Text(holds, draw.Plain)}
	for i := len(st.Touches) - 1; i >= 0; i-- {
		if touch := &st.Touches[i]; touch.Write {
			return append(l, draw.Text(" by "+t.Clients[touch.By.Client], draw.ClientInk(touch.By.Client)))
		}
	}
	return l
}

// versionWord is the content of a cache or a database.
func versionWord(v int64) string {
	if v == 0 {
		return "empty"
	}
	return fmt.Sprintf("version %d", v)
}

// changes lists the differences between the states before and after the event that led to a position.
func changes(r *timeline.Timeline, pos int, before, now *trace.State) []draw.Line {
	t, e := r.Trace, r.Event(pos)
	if e == nil {
		return nil
	}
	var lines []draw.Line
	say := func(k draw.Ink, name, format string, args ...any) {
		lines = append(lines, draw.Line{draw.Text("  "+name+": ", k), draw.Text(fmt.Sprintf(format, args...), draw.Plain)})
	}
	for i := range now.Clients {
		for _, text := range clientChanges(&before.Clients[i], &now.Clients[i]) {
			say(draw.ClientInk(i), t.Clients[i], "%s", text)
		}
	}
	for _, ch := range e.Changes {
		say(draw.Strong, t.Nodes[e.Node], "%s", recordChange(&ch))
	}
	for i := range now.Nodes {
		if before.Nodes[i].Up != now.Nodes[i].Up {
			say(draw.Strong, t.Nodes[i], "%s", draw.Either(now.Nodes[i].Up, "up again", "down"))
		}
	}
	if now.Store.Version != before.Store.Version || now.Store.Database != before.Store.Database || now.Store.Queries != before.Store.Queries {
		say(draw.Strong, "resource", "%s", storeChange(t.Workload, e, &before.Store, &now.Store))
	}
	if b, n := before.Believers(), now.Believers(); b != n {
		k := draw.Strong
		if n > 1 && r.Clashes(pos-1, pos) {
			k = draw.Breach
		}
		say(k, "believers", "%d -> %d", b, n)
	}
	return lines
}

func storeChange(w trace.Workload, e *trace.Event, before, now *trace.StoreState) string {
	switch {
	case w == trace.Counter:
		return fmt.Sprintf("%d -> %d, version %d", before.Value, now.Value, now.Version)
	case e.Kind == trace.KindUpdate:
		return fmt.Sprintf("database %s -> %s", versionWord(before.Database), versionWord(now.Database))
	case e.Kind == trace.KindQuery && now.Needless > before.Needless:
		return "one rebuild more, and not needed"
	case e.Kind == trace.KindQuery:
		return "one rebuild more"
	}
	return fmt.Sprintf("cache %s -> %s", versionWord(before.Value), versionWord(now.Value))
}

func clientChanges(before, now *trace.ClientState) []string {
	var texts []string
	b, n := before.Doing(), now.Doing()
	if more, only := strings.CutPrefix(n, b+", "); only {
		texts = append(texts, "now "+more)
	} else if less, only := strings.CutPrefix(b, n+", "); only {
		texts = append(texts, "no longer "+less)
	} else if b != n {
		texts = append(texts, b+" -> "+n)
	}
	switch b, n := &before.Lease, &now.Lease; {
	case !b.Believed && n.Believed:
		texts = append(texts, "believes that it holds the lock")
	case b.Believed && !n.Believed:
		texts = append(texts, "no longer believes that it holds the lock")
	case b.Live && !n.Live:
		texts = append(texts, "lease over, by its own clock")
	case b.Deadline != n.Deadline && n.Believed:
		texts = append(texts, "lease prolonged until "+trace.Brief(n.Deadline))
	}
	if len(before.Pending) == 0 && len(now.Pending) > 0 {
		texts = append(texts, "sent "+trace.CommandText(now.Pending))
	}
	return texts
}

func recordChange(c *trace.Change) string {
	switch {
	case c.Before == nil && c.After != nil:
		return fmt.Sprintf("%s: none -> %s", c.Key, c.After.Value)
	case c.After == nil && c.Before != nil:
		return fmt.Sprintf("%s: %s -> gone", c.Key, c.Before.Value)
	case c.After == nil:
		return c.Key + ": gone"
	case c.Before.Value == c.After.Value:
		return fmt.Sprintf("%s: %s, expiry moved", c.Key, c.After.Value)
	}
	return fmt.Sprintf("%s: %s -> %s", c.Key, c.Before.Value, c.After.Value)
}

// Whereabouts are the broken properties and the place in the run and in the course, long or short. The place in the course
// is shortened beside broken properties, and goes if that leaves the title whole. That in the run stays, and in one form: a counter that
// comes and goes, or is now in brackets, reads as another one.
func Whereabouts(course, short, broken, run draw.Line, room int) draw.Line {
	if all := slices.Concat(course, broken, run); len(broken) == 0 || all.Width() <= room {
		return all
	}
	least := slices.Concat(broken, run)
	if all := slices.Concat(short, least); all.Width() <= room || least.Width() > room { // a title is cut without it, too
		return all
	}
	return least
}
