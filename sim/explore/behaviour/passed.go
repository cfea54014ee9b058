package behaviour

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"lockstep/sim/explore/intern"
	"lockstep/sim/explore/places"
	"lockstep/sim/explore/readings"
)

// A client may send its reading to a server, which decides by it: a script is told how long a client has waited, a sorted set
// is asked for its members older than a minute, or a TTL is computed from the rest of another and comes to less than
// nothing. The commands after two such readings are alike, and their replies are those to different questions. So they are put
// to servers on equal snapshots: if the answers differ, so do the client's doings.

const (
	// askedEach is the number of questions on which commands of a shape are tried in each situation, askedShape in all.
	askedEach, askedShape = 2, 12
	// maxPassed is the number of answers that are compared so. Beyond, commands are left out, and counted.
	maxPassed = 30_000
)

// passedTo chooses the questions on which commands with other numbers are tried.
func (f *finder) passedTo() {
	type question struct {
		q     Question
		place places.Place
		text  string
	}
	all := map[string][]question{}
	for n := uint32(1); n <= uint32(f.s.answers.Len()); n++ {
		e := f.s.answers.Entries.At(n)
		args := intern.Unpack(*f.k.commands.Value(e.Key.Command))
		if e.Value.Asks || e.Value.Blocks || !readings.MayDecide(args) {
			continue
		}
		shape, snap := readings.Shape(args, f.k.tokens.At), *f.s.Snapshot(e.Key.Snapshot)
		if !strings.Contains(shape, "#") {
			continue
		}
		place := places.Situation(nil, snap, f.k.tokens.At)
		place.Text += (*f.k.Replies.Value(e.Value.Reply))[:1]
		all[shape] = append(all[shape], question{e.Key, place, fmt.Sprintf("%d %q %#v", e.Key.Conn, args, snap)})
	}
	f.asks = map[string][]Question{}
	for shape, list := range all {
		for _, q := range places.Few(list, askedEach, func(q *question) string { return q.text }, func(q *question) *places.Place { return &q.place }) {
			f.asks[shape] = append(f.asks[shape], q.q)
		}
	}
}

// alikeAtServers reports whether servers answer two commands alike, which differ in numbers that have
// followed a reading. A number that is stored as well comes from the same reading, and follows it.
func (f *finder) alikeAtServers(a, b uint32, by int64) bool {
	one, two := intern.Unpack(*f.k.commands.Value(a)), intern.Unpack(*f.k.commands.Value(b))
	if !readings.Decides(one, two) {
		return true
	}
	defer func(was bool) { f.ages = was }(f.ages)
	f.ages = false
	shape, passed := readings.Shape(one, f.k.tokens.At), readings.PassedIn(one, two)
	for i, q := range f.asks[shape] {
		if f.passed--; f.passed < 0 || i >= askedShape {
			f.unasked[shape] = true
			return true
		}
		then, clear := passed.Followed(*f.s.Snapshot(q.Snapshot))
		if !clear {
			continue
		}
		q.Command = a
		x, err := f.s.Run(q)
		q.Command, q.Snapshot = b, f.s.ID(then)
		y, fails := f.s.Run(q)
		if err != nil || fails != nil || x.Asks || y.Asks {
			continue
		}
		if !f.alikeAnswers(x, y, by) || !f.alikeOnceExecuted(q, x, y, by) {
			return false
		}
		kind := f.kindOf(a)
		for _, n := range slices.Sorted(maps.Keys(passed.Numbers)) {
			f.tellings[kind] = readings.Learn(f.tellings[kind], n, passed.Numbers[n], *f.k.Replies.Value(x.Reply), *f.k.Replies.Value(y.Reply), f.k.tokens.At)
		}
	}
	return true
}

// alikeOnceExecuted is alikeAnswers for the EXEC that follows, if the commands were queued.
func (f *finder) alikeOnceExecuted(q Question, x, y Answer, by int64) bool {
	if *f.k.Replies.Value(x.Reply) != "+QUEUED\r\n" {
		return true
	}
	q.Command, q.Snapshot = f.k.commands.ID(intern.Pack([]string{"EXEC"})), x.Snapshot
	one, err := f.s.Run(q)
	q.Snapshot = y.Snapshot
	two, fails := f.s.Run(q)
	return err != nil || fails != nil || one.Asks || two.Asks || f.alikeAnswers(one, two, by)
}
