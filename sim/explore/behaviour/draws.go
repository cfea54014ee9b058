package behaviour

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"lockstep/sim/explore/intern"
	"lockstep/sim/explore/readings"
	"lockstep/sim/process"
)

// drawing is a draw: the next operation of a thread in a history.
type drawing struct {
	history uint32
	thread  uint8
}

// Draws returns the random numbers, in nanoseconds, between which a search chooses when a
// thread draws one: the least, the middle and the greatest of the range; and of [readings.Samples]
// others, or of all where the range has no more, one for each different next step of the
// client. Two sleeps are the same step, and so are commands that differ in whole numbers
// alone, such as a TTL: there, the greatest and the least make the difference. Where the next
// step is neither, what the number decides comes later, and all numbers of a range that has
// no more than [readings.Samples] are chosen between. Of a range of
// whole milliseconds they are whole milliseconds, as the search counts time in these. It
// fails as [Clients.After] does.
func (k *Clients) Draws(history uint32, thread int) ([]int64, error) {
	at := drawing{history, uint8(thread)}
	if known, is := k.draws.Get(at); is {
		return *known, nil
	}
	below, unit := k.At(history).Threads[thread].Below, int64(1)
	if below%int64(time.Millisecond) == 0 {
		unit = int64(time.Millisecond)
	}
	numbers := []int64{0}
	for _, n := range []int64{below / unit / 2, below/unit - 1} {
		if !slices.Contains(numbers, n*unit) {
			numbers = append(numbers, n*unit)
		}
	}
	seen := map[string]bool{}
	for i, n := range append(slices.Clone(numbers), readings.Sampled(below/unit, unit)...) {
		out, err := k.After(Transition{From: history, Thread: at.thread, Seen: Observation{Kind: SawDraw, Value: n}})
		if err != nil {
			return nil, err
		}
		step := k.stepText(&out)
		later := below/unit <= readings.Samples && !slices.Contains(numbers, n) && !k.shows(&out, at.thread)
		if i >= len(numbers) && !seen[step] || later {
			numbers = append(numbers, n)
		}
		seen[step] = true
	}
	k.draws.Put(at, numbers)
	return numbers, nil
}

// shows reports whether a thread's next step is one in which the number it has drawn shows: a
// command or a sleep.
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
