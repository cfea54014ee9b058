package tui

import (
	"fmt"
	"strings"

	"lockstep/sim"
	"lockstep/sim/timeline"
)

// stateLines is what is true at a position, and above it what the last event
// changed of it.
func stateLines(r *timeline.Timeline, pos int, before, now *sim.State) []line {
	t := r.Trace
	lines := []line{{{"just changed", inkTitle}}}
	changed := changes(t, r.Event(pos), before, now)
	if len(changed) == 0 {
		changed = []line{{{"  nothing that anyone could see", inkDim}}}
	}
	lines = append(lines, changed...)
	lines = append(lines, nil, line{{"state at " + sim.Brief(now.At), inkTitle}})
	for i := range now.Clients {
		if r.Acts(i) && (r.Clients[i] != sim.Probe || r.Begun(i, pos)) {
			lines = append(lines, clientLines(t, now, i)...)
		}
	}
	for i := range now.Nodes {
		lines = append(lines, nodeLines(t, now, i)...)
	}
	return append(lines, storeLines(t, &now.Store)...)
}

func clientLines(t *sim.Trace, s *sim.State, i int) []line {
	c := &s.Clients[i]
	what := c.Doing()
	lines := []line{{{" " + t.Clients[i] + "  ", clientInk(i)}, {what, inkPlain}}}
	if text := c.Lease.Describe(s.At); text != "" {
		lines = append(lines, line{{"    " + text, inkPlain}})
	}
	if len(c.Pending) > 0 {
		lines = append(lines, line{{"    awaits " + sim.CommandText(c.Pending), inkDim}})
	}
	if c.Source.File != "" && c.InStrategy() {
		lines = append(lines, line{{fmt.Sprintf("    at %s:%d", strings.TrimPrefix(c.Source.File, "strategies/"), c.Source.Line), inkDim}})
	}
	return lines
}

func nodeLines(t *sim.Trace, s *sim.State, i int) []line {
	n := &s.Nodes[i]
	name := span{" " + t.Nodes[i] + "  ", inkStrong}
	switch {
	case !n.Up:
		return []line{{name, {"down", inkDim}}}
	case len(n.Records) == 0:
		return []line{{name, {"empty", inkDim}}}
	}
	var lines []line
	for j := range n.Records {
		rec := &n.Records[j]
		k, owner := inkPlain, ""
		if rec.Owner != sim.Nobody {
			k, owner = clientInk(rec.Owner.Client), " ("+t.Clients[rec.Owner.Client]+"'s)"
		}
		left := ", no expiry"
		if rec.Expires != sim.Never {
			left = ", " + sim.Brief(rec.Left(s.At)) + " left"
		}
		lines = append(lines, line{name, {rec.Key + " = " + rec.Value + owner, k}, {left, inkPlain}})
		name = span{strings.Repeat(" ", textWidth(name.text)), inkPlain}
	}
	return lines
}

func storeLines(t *sim.Trace, st *sim.StoreState) []line {
	if t.Workload == sim.Counter {
		return []line{storeLine(t, st, fmt.Sprintf("value %d, version %d", st.Value, st.Version))}
	}
	return []line{
		storeLine(t, st, "cache "+versionWord(st.Value)),
		{{"        database " + versionWord(st.Database), inkPlain}},
		{{fmt.Sprintf("        rebuilds %d, needed %d", st.Queries, st.Queries-st.Needless), inkPlain}},
	}
}

func storeLine(t *sim.Trace, st *sim.StoreState, holds string) line {
	l := line{{" store  ", inkStrong}, {holds, inkPlain}}
	if st.Fence != 0 {
		l = append(l, span{fmt.Sprintf(", highest fence %d", st.Fence), inkPlain})
	}
	for i := len(st.Touches) - 1; i >= 0; i-- {
		if touch := &st.Touches[i]; touch.Write {
			return append(l, span{" by " + t.Clients[touch.By.Client], clientInk(touch.By.Client)})
		}
	}
	return l
}

// versionWord is what a cache or a database has.
func versionWord(v int64) string {
	if v == 0 {
		return "empty"
	}
	return fmt.Sprintf("version %d", v)
}

// changes lists the differences between the states before and after an event.
func changes(t *sim.Trace, e *sim.Event, before, now *sim.State) []line {
	if e == nil {
		return nil
	}
	var lines []line
	say := func(k ink, name, format string, args ...any) {
		lines = append(lines, line{{"  " + name + ": ", k}, {fmt.Sprintf(format, args...), inkPlain}})
	}
	for i := range now.Clients {
		for _, text := range clientChanges(&before.Clients[i], &now.Clients[i]) {
			say(clientInk(i), t.Clients[i], "%s", text)
		}
	}
	for _, ch := range e.Changes {
		say(inkStrong, t.Nodes[e.Node], "%s", recordChange(&ch))
	}
	for i := range now.Nodes {
		if before.Nodes[i].Up != now.Nodes[i].Up {
			say(inkStrong, t.Nodes[i], "%s", either(now.Nodes[i].Up, "up again", "down"))
		}
	}
	if now.Store.Version != before.Store.Version || now.Store.Database != before.Store.Database || now.Store.Queries != before.Store.Queries {
		say(inkStrong, "store", "%s", storeChange(t.Workload, e, &before.Store, &now.Store))
	}
	if b, n := before.Believers(), now.Believers(); b != n {
		k := inkStrong
		if n > 1 {
			k = inkBreach
		}
		say(k, "believers", "%d -> %d", b, n)
	}
	return lines
}

func storeChange(w sim.Workload, e *sim.Event, before, now *sim.StoreState) string {
	switch {
	case w == sim.Counter:
		return fmt.Sprintf("%d -> %d, version %d", before.Value, now.Value, now.Version)
	case e.Kind == sim.KindUpdate:
		return fmt.Sprintf("database %s -> %s", versionWord(before.Database), versionWord(now.Database))
	case e.Kind == sim.KindQuery && now.Needless > before.Needless:
		return "one rebuild more, and not needed"
	case e.Kind == sim.KindQuery:
		return "one rebuild more"
	}
	return fmt.Sprintf("cache %s -> %s", versionWord(before.Value), versionWord(now.Value))
}

func clientChanges(before, now *sim.ClientState) []string {
	var texts []string
	if b, n := before.Doing(), now.Doing(); b != n {
		texts = append(texts, b+" -> "+n)
	}
	switch b, n := &before.Lease, &now.Lease; {
	case !b.Believed && n.Believed:
		texts = append(texts, "believes that it holds the lock")
	case b.Believed && !n.Believed:
		texts = append(texts, "no more believes that it holds the lock")
	case b.Live && !n.Live:
		texts = append(texts, "lease over, by its own clock")
	case b.Deadline != n.Deadline && n.Believed:
		texts = append(texts, "lease prolonged until "+sim.Brief(n.Deadline))
	}
	if len(before.Pending) == 0 && len(now.Pending) > 0 {
		texts = append(texts, "sent "+sim.CommandText(now.Pending))
	}
	return texts
}

func recordChange(c *sim.Change) string {
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
