package compare

import (
	"slices"

	"lockstep/sim/timeline"
	"lockstep/sim/trace"
	"lockstep/tui/draw"
	"lockstep/tui/pane"
)

// compareFrame are the rows of the header, the rules and the footer.
const compareFrame = 5

// usualRows are the rows of clients that the words leave each run in the least window: those of two clients.
const usualRows = 4

// twoAxesFrom is the height from which on the lower run has times and a ruler of its own in any case. In less, rows of clients take their
// place as long as the upper run's are true of both.
const twoAxesFrom = 30

// axisRows are the rows that the two diagrams have above their lanes.
func (m *Compare) axisRows(h int) [2]int {
	if h < twoAxesFrom && !m.apart[m.at] {
		return [2]int{pane.AxisRows, 0}
	}
	return [2]int{pane.AxisRows, pane.AxisRows}
}

// everApart says, by step, whether an event of the lower run stands below other times than its own by then: more than a hundredth of
// the TTL off, so that a command more or less is no difference.
func everApart(al *timeline.Alignment) []bool {
	all, so := make([]bool, len(al.Steps)), false
	upper, lower := al.Runs[0], al.Runs[1]
	for step, at := range al.Steps {
		if step > 0 && al.Steps[step-1][1] != at[1] {
			now, slack := lower.When(at[1]), upper.TTL/100
			so = so || now < upper.When(at[0])-slack || now > upper.When(min(at[0]+1, upper.Last()))+slack
		}
		all[step] = so
	}
	return all
}

// rows are the parts of a window: the lines that are told, the lanes of both diagrams, and the rows that these lack.
type rows struct {
	told    int
	lanes   [2][]pane.Lane
	missing pane.Missing
}

// divide gives both diagrams all rows that have something to show, if these and the words fit into a window. If not, it chooses the
// same rows for both, so that each shows the rows with which the other one is compared.
func (m *Compare) divide(w, h int) rows {
	axes := m.axisRows(h)
	room, at := h-compareFrame-axes[0]-axes[1], m.alignment.Steps[m.at]
	var whole [2]int
	for side, r := range m.alignment.Runs {
		whole[side] = pane.WholeRows(r, at[side]) - pane.AxisRows
	}
	if told := len(m.told(w, room-whole[0]-whole[1])); whole[0]+whole[1]+told <= room {
		d := rows{told: told}
		for side, r := range m.alignment.Runs {
			half := (room - told) / 2
			d.lanes[side] = pane.PlanLanes(r, at[side], min(max(half, whole[side]), room-told-whole[1-side]))
		}
		return d
	}
	return m.chosen(w, room)
}

// chosen has the rows of the clients that count first, as many as the words leave both diagrams.
func (m *Compare) chosen(w, room int) (d rows) {
	at, tiers := m.alignment.Steps[m.at], m.tiers()
	for _, r := range m.alignment.Runs {
		room -= len(pane.ChosenLanes(r, func(timeline.Lane) bool { return false }))
	}
	first := len(tiers[0])
	want := min(2*first, max(first+1, usualRows)) // in each: both rows of the first ones, as long as these are few
	d.told = max(min(len(m.told(w, room-2*want)), room-2*first), leastTold)
	list := m.ranked(tiers)
	list = list[:min(max(room-d.told, 0)/2, len(list))]
	for side, r := range m.alignment.Runs {
		d.lanes[side] = pane.ChosenLanes(r, func(l timeline.Lane) bool { return slices.Contains(list, l) })
		missed := pane.Missed(r, at[side], d.lanes[side])
		if len(r.Nodes) > 1 {
			missed.Rows = append(missed.Rows, "nodes")
		}
		d.missing = d.missing.With(missed)
	}
	// The violations stand in the title, and their row comes last.
	d.missing.Rows = slices.DeleteFunc(d.missing.Rows, func(name string) bool { return name == "broken" })
	return d
}

// ranked are the lanes of some tiers of clients, of the resource and of the violations, those first without which the comparison says
// least: of each tier the deeds of all, and then their beliefs; where something breaks, first the beliefs of those who believe then
// that they have the lock. Clients that haven't begun believe nothing.
func (m *Compare) ranked(tiers [][]int) (list []timeline.Lane) {
	for _, tier := range tiers {
		for _, client := range tier {
			list = append(list, timeline.Lane{Kind: timeline.Deeds, Index: client})
		}
		thinking := slices.DeleteFunc(slices.Clone(tier), func(client int) bool { return !m.begun(client) })
		if m.breaks() {
			slices.SortStableFunc(thinking, func(a, b int) int { return m.believing(b) - m.believing(a) })
		}
		for _, client := range thinking {
			list = append(list, timeline.Lane{Kind: timeline.Belief, Index: client})
		}
	}
	return append(list, timeline.Lane{Kind: timeline.Store}, timeline.Lane{Kind: timeline.Violations})
}

// tiers are the clients in the order in which they are given rows. First come those that act at the cursor, with those that take part in
// a violation there; or where there is none, with those that have had a part in one before, or have stood otherwise in one run than in
// the other. The latter come next where they aren't first, then the others that have begun, then the probe, then the rest.
func (m *Compare) tiers() [][]int {
	var acting, breaking, involved []int
	for side, r := range m.alignment.Runs {
		pos := m.alignment.Steps[m.at][side]
		if m.at > 0 && m.alignment.Steps[m.at-1][side] != pos && r.Event(pos).Client != trace.None {
			acting = append(acting, r.Event(pos).Client)
		}
		all, fresh := r.Breached(pos)
		for _, b := range fresh {
			breaking = append(breaking, r.Parties(b)...)
		}
		for _, b := range all {
			involved = append(involved, r.Parties(b)...)
		}
	}
	involved = append(involved, m.unlike[m.at]...)
	first := append(acting, breaking...)
	if len(breaking) == 0 {
		first = append(acting, involved...)
	}
	var begun, probe, rest []int
	clients := m.clients()
	for client, name := range clients {
		switch {
		case name == trace.Probe:
			if m.begun(client) {
				probe = append(probe, client)
			}
		case m.begun(client):
			begun = append(begun, client)
		default:
			rest = append(rest, client)
		}
	}
	var tiers [][]int
	placed := map[int]bool{}
	for i, tier := range [][]int{first, involved, begun, probe, rest} {
		tier = slices.DeleteFunc(slices.Clone(tier), func(c int) bool {
			return placed[c] || i < 2 && len(breaking) == 0 && clients[c] == trace.Probe
		})
		slices.Sort(tier)
		tier = slices.Compact(tier)
		for _, c := range tier {
			placed[c] = true
		}
		tiers = append(tiers, tier)
	}
	return tiers
}

// clients are the names of the clients of both runs, of which the probe may be in one only.
func (m *Compare) clients() []string {
	all := m.alignment.Runs[0].Clients
	if other := m.alignment.Runs[1].Clients; len(other) > len(all) {
		return other
	}
	return all
}

// begun reports whether a client has had a part in an event of either run.
func (m *Compare) begun(client int) bool {
	at := m.alignment.Steps[m.at]
	for side, r := range m.alignment.Runs {
		if client < len(r.Clients) && r.Begun(client, at[side]) {
			return true
		}
	}
	return false
}

// breaks reports whether something breaks at the cursor.
func (m *Compare) breaks() bool {
	for side, r := range m.alignment.Runs {
		if _, fresh := r.Breached(m.alignment.Steps[m.at][side]); len(fresh) > 0 {
			return true
		}
	}
	return false
}

// believing counts the runs in which a client believes at the cursor that it has the lock.
func (m *Compare) believing(client int) (n int) {
	for side, r := range m.alignment.Runs {
		if all := r.Moments[m.alignment.Steps[m.at][side]].Clients; client < len(all) && all[client].Believed {
			n++
		}
	}
	return n
}

// everUnlike are, by step, the clients that have stood otherwise in one run than in the other so far.
func everUnlike(al *timeline.Alignment) [][]int {
	all := make([][]int, len(al.Steps))
	var so []int
	for step := range al.Steps {
		for _, client := range al.Unlike(step) {
			if !slices.Contains(so, client) {
				so = append(slices.Clip(so), client)
			}
		}
		all[step] = so
	}
	return all
}

// compareLayout says where the two runs are: a pure function of the window.
type compareLayout struct {
	header  draw.Rectangle
	titles  [2]draw.Rectangle // a rule with a name in it
	halves  [2]draw.Rectangle
	differs draw.Rectangle
	told    draw.Rectangle
}

// arrangeCompare gives the lanes, below the rows of their axes, the rows that so many lines of words leave them.
func arrangeCompare(w, h int, lanes, axes [2]int, told int) compareLayout {
	l := compareLayout{header: draw.Rect(0, 0, w, 1)}
	room := h - compareFrame - told
	upper := min(lanes[0]+axes[0], room-min(lanes[1]+axes[1], room/2))
	lower := min(lanes[1]+axes[1], room-upper)
	y := 1
	for i, rows := range []int{upper, lower} {
		l.titles[i] = draw.Rect(0, y, w, 1)
		l.halves[i] = draw.Rect(0, y+1, w, rows)
		y += 1 + rows
	}
	l.differs = draw.Rect(0, y, w, 1)
	l.told = draw.Rect(0, y+1, w, h-2-y)
	return l
}
