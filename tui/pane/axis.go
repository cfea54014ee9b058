package pane

import (
	"slices"

	"lockstep/sim/timeline"
	"lockstep/tui/draw"
)

// Axis lays a timeline out in columns. An event with a mark begins a new column. If the
// run does not fit the window, the axis is wider, and the window follows the cursor in
// half-window steps, so that it stands still for most of the cursor's moves.
//
// Invariant: Cols ascends with the positions, so an event is never to the left of an
// earlier one.
type Axis struct {
	Cols []int // by position: Cols[0] is the start, Cols[k] the event that led to k
	gaps []gap
}

// gap is a gap of the timeline that has columns between its ends.
type gap struct {
	timeline.Gap
	from, to int // columns of the events before and after it
}

// scaleOf measures in columns. The probe's events, commands and proofs without a
// mark share columns; an access to the resource has a name beside its mark.
func scaleOf(clients []string) *timeline.Scale {
	name := 1
	for _, short := range draw.ShortNames(clients) {
		name = max(name, draw.Width(short))
	}
	return &timeline.Scale{
		Doubling: timeline.Unit, Slack: timeline.Unit, Endless: 2 * timeline.Unit,
		Room: [...]int{timeline.Shared: 0, timeline.Aside: 0, timeline.Sent: 0, timeline.Proof: 0,
			timeline.Fatal: timeline.Unit, timeline.Own: timeline.Unit, timeline.Touch: (1 + name) * timeline.Unit},
	}
}

// fitColumns fills a window of width columns. A run that goes on, of few events as yet, is not spread thin: else
// everything would move with each event.
func fitColumns(width int, ended bool) timeline.Fit {
	f := timeline.Fit{Width: (width - 2) * timeline.Unit, Most: 4 * timeline.Unit, Least: timeline.Unit / 20, Crowded: timeline.Unit / 4}
	if ended {
		f.Most = width * timeline.Unit
	}
	return f
}

// newAxis lays the events out for a window of width columns. zoom 0 is the
// whole run if it fits; each step up doubles all distances, each step down halves them.
func newAxis(r *timeline.Timeline, width, zoom int) *Axis {
	return axisOf(r, columnsOf(r.Shares(scaleOf(r.Clients)), width, zoom, r.Ended(r.Last())))
}

// AlignedAxes are two aligned runs' axes, in step with each other, and the columns of the steps.
func AlignedAxes(a *timeline.Alignment, width, zoom int) (axes [2]*Axis, cols []int) {
	cols = columnsOf(a.Shares(scaleOf(a.Runs[0].Clients)), width, zoom, true)
	for side, r := range a.Runs {
		axes[side] = axisOf(r, a.Places(side, cols))
	}
	return axes, cols
}

func axisOf(r *timeline.Timeline, cols []int) *Axis {
	a := &Axis{Cols: cols}
	for _, g := range r.Gaps {
		if from, to := cols[g.Pos], cols[g.Pos+1]; to-from >= 2 {
			a.gaps = append(a.gaps, gap{g, from, to})
		}
	}
	return a
}

// columnsOf gives each of a row of shares its column. The start has one to itself.
func columnsOf(shares []timeline.Share, width, zoom int, ended bool) []int {
	cols := timeline.Lay(shares, fitColumns(width, ended))
	for i := 1; i < len(cols); i++ {
		cols[i] = 1 + scaled(cols[i], zoom)/timeline.Unit
	}
	return cols
}

// scaled is x doubled zoom times, or halved -zoom times.
func scaled(x, zoom int) int {
	if zoom < 0 {
		return x >> min(-zoom, 30)
	}
	return x << min(zoom, 10)
}

// Width is the number of columns that the whole axis takes.
func (a *Axis) Width() int { return a.Cols[len(a.Cols)-1] + 1 }

// Window is the first column to show for a cursor. It moves by half a window,
// and never further than needed to show the end.
func (a *Axis) Window(pos, width int) int { return windowAt(a.Cols[pos], a.Width(), width) }

func windowAt(col, all, width int) int {
	if all <= width {
		return 0
	}
	half := max(width/2, 1)
	return min(max(col/half-1, 0)*half, max(all-width, 0))
}

// At is the last position whose column is col or to the left of it.
func (a *Axis) At(col int) int {
	i, _ := slices.BinarySearch(a.Cols, col+1)
	return max(i-1, 0)
}

// Axes keeps the axis that was drawn last: frames at the same size share it.
type Axes struct {
	width, zoom int   // that it was laid out for
	Axis        *Axis // or nil
}

// Of is the axis of a run for a plot of so many columns: the one that was drawn last, if it
// fits. The run must be the same until the Axes are replaced.
func (a *Axes) Of(r *timeline.Timeline, width, zoom int) *Axis {
	if a.Axis == nil || a.width != width || a.zoom != zoom {
		*a = Axes{width, zoom, newAxis(r, width, zoom)}
	}
	return a.Axis
}

// MostZoom is the greatest number of times that distances can be doubled, or halved.
const MostZoom = 6
