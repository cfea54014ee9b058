package behaviour

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"lockstep/sim/explore/intern"
	"lockstep/sim/explore/readings"
	"lockstep/sim/process"
)

// drawing is a draw: the next operation of a thread in a history.
type drawing struct {
	history uint32
	thread  uint8
}

// Draws returns the random numbers, in nanoseconds, between which a search chooses when a thread draws one: the least, the
// middle and the greatest of the range; and of [readings.Samples] others, or of all where the range has no more, one for
// each different next step of the client. Two sleeps are the same step, and so are commands that differ in whole numbers
// alone, such as a TTL: there, the greatest and the least make the difference. Where the next step is neither, the
// number decides a later step, and all numbers of a range that has no more than [readings.Samples] are chosen between. Of a
// range of whole milliseconds they are whole milliseconds, as the search counts time in these. It fails as [Clients.After]
// does.
func (k *Clients) Draws(history uint32, thread int) ([]int64, error) {
	at := drawing{history, uint8(thread)}
	if known, is := k.draws.Get(at); is {
		return *known, nil
	}
	below := k.At(history).Threads[thread].Below
	count, unit := readings.Unit(below)
	numbers := []int64{0}
	for _, n := range []int64{below / unit / 2, count - 1} {
		readings.Add(&numbers, n*unit)
	}
	seen := map[string]bool{}
	for i, n := range append(slices.Clone(numbers), readings.Sampled(count, unit)...) {
		out, err := k.After(Transition{From: history, Thread: at.thread, Seen: Observation{Kind: SawDraw, Value: n}})
		if err != nil {
			return nil, err
		}
		step := k.stepText(&out)
		later := count <= readings.Samples && !slices.Contains(numbers, n) && !k.shows(&out, at.thread)
		if i >= len(numbers) && !seen[step] || later {
			numbers = append(numbers, n)
		}
		seen[step] = true
	}
	for _, d := range k.drawn {
		if d.Below == below {
			readings.Add(&numbers, d.Number)
		}
	}
	k.draws.Put(at, numbers)
	return numbers, nil
}

// DrawAlso has searches choose these numbers besides.
func (k *Clients) DrawAlso(list []readings.Draw) {
	k.drawn, k.draws = list, intern.NewMemo[drawing, []int64]()
}

const (
	maxDrawn  = 40_000 // pieces of code that are run to find out what numbers decide later
	drawsEach = 64     // numbers of a range that are compared for that, besides those that were drawn
)

// probeDraws compares the steps after draws, later in the cycle, or in the next, as probes are. Places with too
// many thresholds are left out, and counted.
func (f *finder) probeDraws() {
	var all []candidate
	for from := range uint32(len(f.children)) {
		if slices.ContainsFunc(f.children[from], func(e edge) bool { return e.seen.Kind == SawDraw }) {
			all = append(all, f.candidate(from))
		}
	}
	chosen, _ := few(all, func(c *candidate) string { return c.place.Text })
	probes, keeps := f.probes, f.keeps()
	f.probes, f.loose = maxDrawn, true
	for _, c := range chosen {
		before := *f.found
		if f.probeDraw(c.from, keeps); f.probes <= 0 || f.found.Restless || len(f.found.Drawn) > len(before.Drawn)+2*fewThresholds {
			before.Unprobed++
			*f.found = before
		}
	}
	f.probes, f.loose = probes, false
}

// probeDraw compares the steps after each of some numbers with those after one below that was drawn.
func (f *finder) probeDraw(from uint32, keeps bool) {
	drawn := slices.DeleteFunc(slices.Clone(f.children[from]), func(e edge) bool { return e.seen.Kind != SawDraw })
	count, unit := readings.Unit(f.k.At(from).Threads[drawn[0].thread].Below)
	with := func(v int64) (Observation, bool) { return Observation{SawDraw, v * unit}, true }
	var others []int64
	for _, e := range drawn {
		others = append(others, e.seen.Value/unit)
	}
	base := 0
	for _, v := range readings.Evenly(count, drawsEach, others...) {
		for base+1 < len(drawn) && drawn[base+1].seen.Value < v*unit {
			base++
		}
		a := measured{drawn[base], drawn[base].seen.Value / unit, with}
		f.compareProbe(from, a, v, f.follow)
		if (keeps || f.leaves) && v != a.value {
			f.compareProbe(from, a, v, f.followFar)
		}
		if f.probes <= 0 || f.ctx.Err() != nil {
			return
		}
	}
}

// shows reports whether a thread's next step is one in which the number it has drawn shows: a command or a sleep.
func (k *Clients) shows(out *Outcome, thread uint8) bool {
	switch p := &k.At(out.To).Threads[thread]; p.Kind {
	case process.OpSend, process.OpSleep:
		return true
	case process.OpReceive:
		return p.Wait != 0
	default:
		return p.Over
	}
}

// Drawn returns the number of draws between whose numbers a search has chosen.
func (k *Clients) Drawn() int { return k.draws.Len() }

// stepText describes an outcome up to the length of sleeps and the numbers in commands.
func (k *Clients) stepText(out *Outcome) string {
	h := k.At(out.To)
	var b strings.Builder
	for i := range h.Count {
		p := h.Threads[i]
		fmt.Fprintf(&b, "%d %t %d %t %d %d;", p.Kind, p.Over, p.Mark, p.Wall, p.Conn, p.Below)
		if p.Kind != process.OpSend || p.Over {
			continue
		}
		for _, word := range intern.Unpack(*k.commands.Value(p.Command)) {
			if _, err := strconv.ParseInt(word, 10, 64); err == nil {
				word = "#"
			}
			fmt.Fprintf(&b, " %q", word)
		}
	}
	for _, r := range *k.Reports.At(out.Reports) {
		fmt.Fprintf(&b, " %s", r.Kind)
	}
	return b.String()
}
