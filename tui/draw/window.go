package draw

// The least window in which the interface is whole, in cells.
const (
	MinWidth  = 80
	MinHeight = 24
)

// FrameRows are the rows of the header, of the footer, and of the lines between them
// and the body.
const FrameRows = 4

// InSight is the first of n things to show where only room of them fit, such that the
// thing at the cursor is among them. The view scrolls no further than it must.
func InSight(first, at, room, n int) int {
	first = min(first, max(n-room, 0))
	return min(max(first, at-room+1), at)
}

// LeftOf is the width of the first column of rows: half, or as much more or less as the longest row of
// one column needs and the other leaves.
func LeftOf(rows []Line, r Rectangle, columns int) int {
	if columns == 1 {
		return r.W + 1
	}
	need := [2]int{}
	for n, l := range rows {
		need[n/max(r.H, 1)] = max(need[n/max(r.H, 1)], l.Width()+1)
	}
	if need[0] > r.W/2 {
		return max(min(need[0], r.W-need[1]), r.W/2)
	}
	return max(min(r.W/2, r.W-need[1]), need[0])
}

// Widest is the width of the widest of some rows.
func Widest(rows []Line) (n int) {
	for _, l := range rows {
		n = max(n, l.Width())
	}
	return n
}
