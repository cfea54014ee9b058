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
