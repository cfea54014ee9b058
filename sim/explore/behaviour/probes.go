package behaviour

import (
	"fmt"
	"maps"
	"slices"

	"lockstep/sim/explore/intern"
	"lockstep/sim/explore/places"
	"lockstep/sim/explore/readings"
	"lockstep/sim/process"
)

// Two readings between which the code's doings are compared may lie on the same side of two thresholds: it changes its mind
// and back between them, or after both. So the finder also runs code after readings that no schedule has had.

const (
	// maxProbes is the number of pieces of code that are run for probes. Beyond, places are left out, and counted.
	maxProbes = 40_000
	// placesEach is the number of histories, or of situations of a server, that are probed of each kind: see package places.
	placesEach = 2
	// fewPlaces is the number of situations of a server that are probed for commands of a kind.
	fewPlaces = 128
	// fewThresholds is the number of thresholds that probes of a place may show.
	fewThresholds = 12
	// manyRuns is the number of pieces of code that show each threshold of a few, and most of one place.
	manyRuns = 2000
	// probeDepth is the number of histories after a probe that are compared.
	probeDepth = 40
)

// candidate is a history after which readings may be probed.
type candidate struct {
	from       uint32
	place      places.Place // the client's steps and observations in the cycle, the last first
	roughly    string       // the same, with texts left out that it was given
	lately     string       // the part of the place since three replies
	everything string
	state      string // the place, with an outline of the lock's fields at the beginning of the cycle, large numbers aside
	kept       string // the same, with all of their content
}

// probeClients probes the readings of clients, and the answers that tell how long a key lives. Which histories are probed
// depends on their contents alone, and not on the order in which workers came to them. First are those of which something
// was done that others haven't done, then those of which something was seen, at last, or ever.
func (f *finder) probeClients() {
	var all []candidate
	for from := range uint32(len(f.children)) {
		if len(f.groups(from)) > 0 {
			all = append(all, f.candidate(from))
		}
	}
	f.found.Probed = len(all) > 0
	places.Tell(all, func(c *candidate) *places.Place { return &c.place })
	chosen, rest := few(all, func(c *candidate) string { return c.roughly }, func(c *candidate) string { return c.lately },
		func(c *candidate) string { return c.place.Text }, func(c *candidate) string { return c.place.States })
	f.probeEach(chosen, f.probe)
	f.probeMemories(chosen, rest)
}

// probeEach probes the readings after histories, as long as there is time.
func (f *finder) probeEach(list []candidate, probe func(uint32, []measured)) {
	for _, c := range list {
		if f.ctx.Err() != nil {
			return
		}
		if f.probes <= 0 {
			f.found.Unprobed++
			continue
		}
		groups := f.groups(c.from)
		for _, key := range slices.Sorted(maps.Keys(groups)) {
			f.probePlace(c.from, groups[key], probe)
		}
	}
}

// few takes the first few candidates of each kind, by one sense of it after another.
func few(all []candidate, kinds ...func(*candidate) string) (chosen, rest []candidate) {
	return places.Choose(all, placesEach, func(c *candidate) string { return c.everything }, kinds...)
}

// probePlace is probe for a place that changes its mind a few times. Of one that does so at each
// second, say, there are more thresholds than a search can stop at.
func (f *finder) probePlace(from uint32, group []measured, probe func(uint32, []measured)) {
	before := *f.found
	probe(from, group)
	if f.found.Since(&before) > fewThresholds {
		before.Unprobed, before.Restless, before.Line = f.found.Unprobed, true, f.k.lineBy(from, int(group[0].thread))
		*f.found = before
	}
}

// probe runs the code after probes between and beyond the readings of a group.
func (f *finder) probe(from uint32, group []measured) {
	origin, list := f.probesOf(from, group)
	defer func() { f.states = false }()
	for _, v := range list {
		f.states = v <= origin+2*f.k.cfg.TTL.Milliseconds()+1 // further on, something that counts spans has many
		for _, m := range group {                             // each of which may have been followed by something else
			if f.probes > 0 && f.ctx.Err() == nil {
				f.compareProbe(from, m, v, f.follow)
			}
		}
	}
}

// probesOf lists the values that are probed of a group, and where their spans begin.
func (f *finder) probesOf(from uint32, group []measured) (origin int64, list []int64) {
	origin, reach := group[0].value, int64(1)<<31-1
	switch group[0].seen.Kind {
	case SawMono, SawMonoLapsed:
		origin = int64(f.k.At(from).Read)
	case SawReply:
		if f.tells[f.kindOf(f.asked(from, group[0].thread))] {
			reach = origin + readings.MaxProbe.Milliseconds()
			break
		}
		origin, reach = 0, max(group[len(group)-1].value, -group[0].value)
	}
	list = readings.Probed(origin, reach, f.k.cfg.TTL.Milliseconds(), group[0].seen.Kind == SawReply && origin == 0, group[0].value < 0)
	if group[0].seen.Kind == SawReply {
		for _, how := range f.tellings[f.kindOf(f.asked(from, group[0].thread))] {
			list = append(list, how.Probes(f.k.cfg.TTL.Milliseconds())...)
		}
		slices.Sort(list)
	}
	return origin, slices.DeleteFunc(slices.Compact(list), func(v int64) bool {
		return slices.ContainsFunc(group, func(m measured) bool { return m.value == v })
	})
}

// compareProbe is compare for a reading that no schedule has had. Client code that fails there is left alone.
func (f *finder) compareProbe(from uint32, a measured, v int64, follow func(from uint32, a, b measured)) {
	seen, _ := a.with(v)
	out, ok := f.tryAfter(Transition{From: from, Thread: a.thread, Seen: seen})
	if !ok {
		return
	}
	b := measured{edge{a.thread, seen, out.To}, v, a.with}
	if b.value < a.value {
		a, b = b, a
	}
	f.begins(from, a)
	follow(from, a, b)
}

// follow compares the steps after a probe with those after a reading, and looks for thresholds between the two at
// the first difference.
func (f *finder) follow(from uint32, a, b measured) {
	queue := []*pair{{a: a.to, b: b.to}}
	for n := 0; len(queue) > 0 && n < probeDepth; n++ {
		p := queue[0]
		queue = queue[1:]
		if p.a == p.b {
			continue
		}
		if f.differs(from, a, b, p) {
			return
		}
		f.leaves = f.leaves || f.keepApart(p, n == 0 || n == probeDepth-1)
		if f.k.At(p.a).BetweenCycles {
			continue // see recall
		}
		for _, x := range f.childrenOf(p) {
			queue = f.followed(queue, p, x)
		}
	}
}

// differs reports whether the doings at a pair differ, and looks for the thresholds if they do.
func (f *finder) differs(from uint32, a, b measured, p *pair) bool {
	if f.alike(p.a, p.b, b.value-a.value) && f.alikeReports(from, a, b, p) {
		return false
	}
	f.bisectProbe(from, a, b, p)
	return true
}

// followed adds to pairs those that come of another by an observation, if both clients can have made it, or one of
// them its echo.
func (f *finder) followed(list []*pair, p *pair, x edge) []*pair {
	one, ok := f.tryAfter(Transition{From: p.a, Thread: x.thread, Seen: x.seen})
	for _, s := range []step{{edge: x}, {x, true}} {
		seen := f.inSecond(s, p.a, p.b)
		if !ok || s.echoes && seen == x.seen {
			break
		}
		if two, fine := f.tryAfter(Transition{From: p.b, Thread: x.thread, Seen: seen}); fine {
			list = append(list, &pair{one.To, two.To, p, s})
		}
	}
	return list
}

// bisectProbe is bisect for a probe. The runs it makes count as probes. If they run out, the place is
// not probed; if they were many, nearly every value is a threshold.
func (f *finder) bisectProbe(from uint32, a, b measured, p *pair) {
	f.k.tolerate(true)
	defer f.k.tolerate(false)
	limit, before := f.limit, f.k.Outcomes.Len()
	f.limit = before + f.probes/4
	_ = f.bisect(from, a, b, p) // if the code fails for a value in between, that is left alone
	used := f.k.Outcomes.Len() - before
	if f.found.Cut && f.ctx.Err() == nil {
		if f.found.Cut, f.found.Unprobed = false, f.found.Unprobed+1; used > manyRuns && !f.found.Restless {
			f.found.Restless, f.found.Line = true, f.k.lineBy(from, int(a.thread))
		}
	}
	f.probes, f.limit = f.probes-used, limit+used
}

// childrenOf lists the transitions that were made from one history of a pair or the other.
func (f *finder) childrenOf(p *pair) (list []edge) {
	for _, id := range []uint32{p.a, p.b} {
		if int(id) < len(f.children) {
			list = append(list, f.children[id]...)
		}
	}
	return list
}

// tryAfter is After for a transition that needn't be possible: its error counts for nothing.
func (f *finder) tryAfter(tr Transition) (Outcome, bool) {
	before := f.k.Outcomes.Len()
	f.k.tolerate(true)
	defer f.k.tolerate(false)
	out, err := f.k.After(tr)
	used := f.k.Outcomes.Len() - before
	f.probes, f.limit = f.probes-used, f.limit+used
	return out, err == nil
}

// candidate describes a client's steps in a cycle.
func (f *finder) candidate(at uint32) candidate {
	c := candidate{from: at}
	var place, roughly, all []byte // by hand, because it is asked for each history
	lately, replies, tokens := 0, 0, &places.Tokens{At: f.k.tokens.At, Own: f.k.name(f.k.At(at).client)[0]}
	for ; at != 0; at = f.k.At(at).parent {
		h := f.k.At(at)
		from := len(place)
		place = append(readings.Numbered(place, h.thread), ' ')
		place = append(readings.Numbered(place, h.seen.Kind), ' ')
		roughly = append(roughly, place[from:]...)
		all = readings.Numbered(all, h.client)
		if h.seen.Kind == SawReply {
			text := *f.k.Replies.Value(uint32(h.seen.Value))
			class, rough := places.Class(text, tokens)
			place, roughly, all = append(place, class.Text...), append(roughly, rough...), append(all, text...)
			c.place.Values = append(c.place.Values, class.Values...)
			if replies++; replies == 3 {
				lately = len(place)
			}
		} else {
			all = readings.Numbered(append(all, ' '), h.seen.Value)
		}
		if h.seen.Kind == SawDraw { // of which there are a few
			place = readings.Numbered(append(place, '~'), h.seen.Value)
		}
		from = len(place)
		for _, p := range h.Threads[:h.Count] {
			place = readings.Numbered(append(place, '.'), p.Kind)
			place = readings.Numbered(append(place, ' '), p.Mark)
			if p.Kind == process.OpSend && !p.Over {
				place = append(place, f.kindOf(p.Command)...)
			}
		}
		roughly = append(roughly, place[from:]...)
		if h.kept != 0 && c.kept == "" {
			c.state = places.Masked(*f.k.fields.Value(h.fields), f.k.tokens.At)
			c.kept = fmt.Sprint(h.kept)
		}
		if h.BetweenCycles {
			break
		}
	}
	c.place.Text, c.roughly, c.everything = string(place), string(roughly), string(all)
	if c.lately = c.place.Text; lately > 0 {
		c.lately = c.place.Text[:lately]
	}
	c.kept, c.state = c.kept+c.place.Text, c.state+c.place.Text
	return c
}

// probeServers probes the lives of keys, and the time, at which servers have answered questions
// of each kind in each situation.
func (f *finder) probeServers(groups map[string][]asked) error {
	type question struct {
		asked
		place places.Place
		text  string
	}
	kinds := map[string][]question{}
	for _, group := range groups {
		q := group[0]
		args := intern.Unpack(*f.k.commands.Value(q.q.Command))
		snap := *f.s.Snapshot(q.q.Snapshot)
		kind := fmt.Sprint(f.kindOf(q.q.Command), q.of)
		kinds[kind] = append(kinds[kind], question{q, places.Situation(args, snap, f.k.tokens.At), fmt.Sprintf("%q %d %#v", args, q.q.Conn, snap)})
	}
	var all []question
	for _, kind := range slices.Sorted(maps.Keys(kinds)) {
		chosen := places.Few(kinds[kind], placesEach, func(q *question) string { return q.text }, func(q *question) *places.Place { return &q.place })
		f.found.Unprobed += max(0, len(chosen)-fewPlaces)
		all = append(all, chosen[:min(len(chosen), fewPlaces)]...)
	}
	for _, c := range all {
		if f.tired() {
			return nil
		}
		origin, reach := int64(0), f.k.cfg.TTL.Milliseconds()*2
		if c.of.kind == ofClock {
			origin, reach = c.value, c.value+readings.MaxProbe.Milliseconds()
		}
		spans := readings.Spans(f.k.cfg.TTL.Milliseconds())
		if c.of.kind == ofStored { // in seconds, maybe
			spans = append(spans, readings.UpTo(min(readings.MaxSeconds, reach/1000))...)
			slices.Sort(spans)
		}
		lo := origin
		for _, span := range spans {
			v := origin + span
			if v > reach {
				break
			}
			if err := f.bisectServer(c.q, c.q, c.of, lo, v); err != nil {
				return err
			}
			lo = v
		}
	}
	return nil
}
