package tui

// The least window in which the interface is whole, in cells.
const (
	minWidth  = 80
	minHeight = 24
)

// frameRows are the rows of the header, of the footer, and of the lines between them
// and the body.
const frameRows = 4

// inSight is the first of n things to show of which room fit, such that the one
// at the cursor is among them: it moves no further than it must.
func inSight(first, at, room, n int) int {
	first = min(first, max(n-room, 0))
	return min(max(first, at-room+1), at)
}
