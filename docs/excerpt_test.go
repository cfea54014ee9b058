package docs_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"lockstep/scenarios"
	"lockstep/sim/trace"
)

// An excerpt is that part of a trace which proves a violation. It is chosen by
// rule, so that nobody can leave out what doesn't fit the story:
//
//   - the events that the monitor names;
//   - whatever changed a record or the database, and every fault, up to the last of
//     them;
//   - of the acquisitions that the proof is about: all that the nodes executed in
//     the phase that an event of the proof belongs to, up to that event, and when
//     their leases began and ended;
//   - pauses of the clients that the proof is about, of a tenth of a TTL and more;
//   - what else the page asks for by kind, of those clients: clock, refused ...;
//   - what the resource refused, also after the violation: that is the harm which
//     did not come of it.
//
// Of a livelock only the round that repeats is shown. Where events are left out,
// the gap in their numbers shows it.
type excerpt struct {
	t       *trace.Trace
	proof   *trace.Violation
	clients map[int]bool
	phases  map[part]int // and up to which event of the proof
	extra   []string     // kinds
}

// part is a phase of an acquisition.
type part struct {
	client, acq int
	phase       trace.Phase
}

func newExcerpt(t *trace.Trace, v *trace.Violation, extra []string) *excerpt {
	x := &excerpt{t: t, proof: v, clients: map[int]bool{}, phases: map[part]int{}, extra: extra}
	for _, seq := range v.Events {
		e := &t.Events[seq-1]
		if e.Client == trace.None {
			continue
		}
		x.clients[e.Client] = true
		phase := e.Phase
		if e.Kind == trace.KindGranted || e.Kind == trace.KindRefused || e.Kind == trace.KindFailed {
			phase = trace.PhaseAcquire
		}
		x.phases[part{e.Client, e.Acq, phase}] = seq
	}
	return x
}

// milestones are where a lease begins and ends.
var milestones = []trace.Kind{trace.KindGranted, trace.KindEnter, trace.KindLeave, trace.KindLapse, trace.KindRelease, trace.KindExtended}

// faults are what went wrong.
var faults = []trace.Kind{
	trace.KindCrash, trace.KindHang, trace.KindThreadEnd, trace.KindWallStep, trace.KindNodeStep, trace.KindDown, trace.KindUp,
	trace.KindNetwork, trace.KindLost, trace.KindTimeout, trace.KindFailover, trace.KindSync, trace.KindEvict, trace.KindFlush, trace.KindReject, trace.KindUpdate,
}

func (x *excerpt) keeps(e *trace.Event) bool {
	mine := x.clients[e.Client]
	switch {
	case slices.Contains(x.proof.Events, e.Seq), slices.Contains(faults, e.Kind), len(e.Changes) > 0:
		return true
	case e.Kind == trace.KindExecute:
		return e.Seq <= x.phases[part{e.Client, e.Acq, e.Phase}]
	case slices.Contains(milestones, e.Kind), slices.Contains(x.extra, e.Kind.String()):
		return mine
	case e.Kind == trace.KindResume:
		return mine && e.By >= x.t.TTL/10
	case e.Kind == trace.KindPause:
		return mine && x.pausedFor(e) >= x.t.TTL/10
	}
	return false
}

// pausedFor is how long a pause lasted: to the next event of its client that
// ends it, or to the end of the proof.
func (x *excerpt) pausedFor(pause *trace.Event) time.Duration {
	for i := range x.t.Events[pause.Seq:] {
		if e := &x.t.Events[pause.Seq:][i]; e.Client == pause.Client && e.Kind == trace.KindResume {
			return e.At - pause.At
		}
	}
	return x.t.TTL // for ever
}

func (x *excerpt) String() string {
	var b strings.Builder
	first, last := 1, x.proof.Events[len(x.proof.Events)-1]
	if x.proof.Code == trace.LV {
		first = x.proof.Events[0]
	}
	for i := range x.t.Events {
		e := &x.t.Events[i]
		if e.Seq >= first && e.Seq <= last && x.keeps(e) || e.Seq > last && e.Kind == trace.KindReject {
			b.WriteString(x.t.Line(e) + "\n")
		}
		if e.Seq == last {
			fmt.Fprintf(&b, "%12s  !! %s  %s\n", "", x.proof.Code, x.proof.Text)
		}
	}
	return b.String()
}

// record makes an excerpt: trace STRATEGY SCENARIO CODE [KIND ...]
func record(spec string) (string, error) {
	words := strings.Fields(spec)
	if len(words) < 3 {
		return "", fmt.Errorf("a trace needs a strategy, a scenario and a code")
	}
	st, err := scenarios.FindStrategy(words[0])
	if err != nil {
		return "", err
	}
	s, err := scenarios.Find(words[1])
	if err != nil {
		return "", err
	}
	code, known := trace.ParseCode(words[2])
	if !known {
		return "", fmt.Errorf("unknown code %q", words[2])
	}
	t, err := s.Run(st, 1)
	if err != nil {
		return "", err
	}
	for i := range t.Violations {
		if v := &t.Violations[i]; v.Code == code {
			return "```\n" + newExcerpt(t, v, words[3:]).String() + "```\n", nil
		}
	}
	return "", fmt.Errorf("%s under %s shows %s, and no %s", st.Name, s.Name, t.Verdict(), code)
}

// An excerpt leaves out only what its rule says: the proof is all there, in order.
func TestExcerptHoldsTheProof(t *testing.T) {
	s, err := scenarios.Find("release-gap")
	if err != nil {
		t.Fatal(err)
	}
	st, err := scenarios.FindStrategy("get-then-del")
	if err != nil {
		t.Fatal(err)
	}
	tr, err := s.Run(st, 1)
	if err != nil {
		t.Fatal(err)
	}
	for i := range tr.Violations {
		v := &tr.Violations[i]
		text := newExcerpt(tr, v, nil).String()
		at := 0
		for _, seq := range v.Events {
			line := tr.Line(&tr.Events[seq-1])
			found := strings.Index(text[at:], line)
			if found < 0 {
				t.Errorf("%s: the excerpt lacks\n%s\nor has it out of order:\n%s", v.Code, line, text)
				continue
			}
			at += found
		}
		if strings.Count(text, "\n") >= len(tr.Events) {
			t.Errorf("%s: an excerpt that leaves nothing out", v.Code)
		}
	}
}
