package layout

import "lockstep/tui/draw"

// The sizes at which more comes to a game.
const (
	bothFrom    = 30 // rows, for code and diagram at a time
	leastOwn    = 6
	LeastMoves  = 5
	columnsFrom = 76 // columns, for two columns of moves
	gameStatus  = 2
)

// Game says where each part of the screen is. A part that has no place is empty.
type Game struct {
	Header  draw.Rectangle
	Goal    draw.Rectangle
	Diagram draw.Rectangle
	Status  draw.Rectangle
	Code    draw.Rectangle
	Moves   draw.Rectangle
	Columns int // of the moves
	Rows    int // of the moves in each, in the last frame
	Left    int // columns of the window of the first of these, of the last frame
	Rules   []draw.Rectangle
}

// GameWishes are the needs of the parts, which the layout weighs beside the size of the window.
type GameWishes struct {
	Goal, Moves int                // of how many rows
	Most        int                // moves, of which there have been so many at a time
	Debrief     int                // of how many rows, which take the place of the moves; 0 before the win
	Diagram     func(rows int) int // the number of the rows on offer that the diagram would take
	Code        bool               // where there is room for one: the code, and not the diagram
	CodeRows    int                // of the code at most, where there is room for both
}

// ArrangeGame is the layout for a window: a pure function of its size and the wishes. From
// the top: the goal, the diagram over the whole width, the event and the holders, the
// code, the moves; or, once the goal is reached, the debrief at once below it.
func ArrangeGame(w, h int, want GameWishes) Game {
	l := Game{Header: draw.Rect(0, 0, w, 1), Rules: []draw.Rectangle{draw.Rect(0, 1, w, 1), draw.Rect(0, h-2, w, 1)}, Columns: 1}
	if w >= columnsFrom && want.Moves > LeastMoves {
		l.Columns = 2
	}
	y, rows := 2, h-draw.FrameRows
	take := func(n int) draw.Rectangle {
		r := draw.Rect(0, y, w, n)
		y, rows = y+n, rows-n
		return r
	}
	rule := func() { l.Rules = append(l.Rules, take(1)) }
	l.Goal = take(want.Goal)
	columns := 1
	if w >= columnsFrom && max(want.Moves, want.Most) > LeastMoves {
		columns = 2
	}
	moves := max(LeastMoves, rows/5, min((max(want.Moves, want.Most)+columns-1)/columns, rows/3)) // some to spare: more may come later
	if want.Debrief > 0 {
		moves = min(want.Debrief, rows-gameStatus-1)
	}
	both := h >= bothFrom && rows-moves-gameStatus-3 >= 2*leastOwn
	room := rows - moves - gameStatus - 1 // and one rule
	if want.Debrief > 0 && !both && !want.Code {
		room-- // words have another one below them
	}
	code, diagram := want.shares(room, both)
	if want.Debrief > 0 { // above all else, next to the goal
		used := gameStatus + code + diagram + 1
		if both {
			used += 2
		} else if diagram > 0 {
			used++
		}
		l.Moves = take(rows - used)
		rule()
	}
	if diagram > 0 || both {
		l.Diagram = take(diagram)
		rule()
	}
	l.Status = take(gameStatus)
	if both {
		rule()
	}
	if code > 0 {
		l.Code = take(code)
	}
	if want.Debrief > 0 {
		return l
	}
	if code > 0 || l.Diagram.Empty() {
		rule()
	}
	l.Moves = take(rows)
	return l
}

// shares are how many of the rows that are left the code and the diagram have: both, or the one that is wished for.
func (want *GameWishes) shares(room int, both bool) (code, diagram int) {
	switch {
	case !both && room < leastOwn/2:
		return 0, 0
	case both:
		room -= 2
		least := leastOwn
		if want.Diagram(room-least+1)-want.Diagram(room-least) > 1 { // then each client has a row for its belief
			least--
		}
		code = min(max(room-want.Diagram(room-least), least), want.CodeRows)
		diagram = min(want.Diagram(room-code), room-code) // which has steps, and may leave some
		return max(code, min(room-diagram, want.CodeRows)), diagram
	case want.Code:
		return room, 0
	}
	return 0, room
}

// Both reports whether there is room for the code and the diagram.
func (l *Game) Both() bool { return !l.Code.Empty() && !l.Diagram.Empty() }
