// Package live is the screen of a server whose clients are programs of their own: the
// events so far, the requests that are on their way, and the controls of the gate and the clock.
package live

import (
	"fmt"
	"net"
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"lockstep/sim/serve"
	"lockstep/sim/timeline"
	"lockstep/sim/trace"
	"lockstep/tui/draw"
	"lockstep/tui/pane"
)

// Server is the part of a [serve.Server] that the screen needs.
type Server interface {
	View() serve.View
	Do(control string) error
	Addresses() []string
}

// Screen is the screen, as a program of bubbletea's.
//
// Invariant: run is the timeline of view's trace, or of its end if that is long.
type Screen struct {
	server Server
	theme  *draw.Theme
	view   serve.View
	run    *timeline.Timeline
	begins int // Seq of the first event in run

	w, h    int
	picked  int // the id of the request at the cursor, if that is on its way
	typing  bool
	typed   string
	message string // of the last control
	failed  bool
}

// New makes the screen of a server.
func New(s Server, t *draw.Theme) *Screen {
	l := &Screen{server: s, theme: t}
	l.look()
	return l
}

// tickMsg asks the screen to look at the server again.
type tickMsg struct{}

// refresh is how often the screen looks.
const refresh = time.Second / 8

func tick() tea.Cmd { return tea.Tick(refresh, func(time.Time) tea.Msg { return tickMsg{} }) }

// Init implements tea.Model.
func (l *Screen) Init() tea.Cmd { return tick() }

// mostEvents is how many of the newest events the picture shows. The record has all.
const mostEvents = 400

// look takes the server's present state.
func (l *Screen) look() {
	before := l.view.Trace
	l.view = l.server.View()
	t := l.view.Trace
	if before != nil && len(before.Events) == len(t.Events) && len(before.Notes) == len(t.Notes) && l.run != nil {
		return
	}
	l.begins = 1
	if n := len(t.Events); n > mostEvents {
		tail := *t
		tail.Events = t.Events[n-mostEvents:]
		tail.Violations, tail.Notes = nil, nil
		l.begins = tail.Events[0].Seq
		for _, v := range t.Violations {
			if v.Events[0] >= l.begins {
				tail.Violations = append(tail.Violations, v)
			}
		}
		t = &tail
	}
	l.run = timeline.New(t)
}

// Update implements tea.Model.
func (l *Screen) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tickMsg:
		l.look()
		return l, tick()
	case tea.WindowSizeMsg:
		l.w, l.h = msg.Width, msg.Height
	case tea.KeyMsg:
		return l, l.keys(msg)
	}
	return l, nil
}

// keys takes a key, or several that have arrived together: each of them counts.
func (l *Screen) keys(msg tea.KeyMsg) (cmd tea.Cmd) {
	if len(msg.Runes) > 1 {
		for _, r := range msg.Runes {
			one := tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune{r}}
			if r == ' ' {
				one.Type = tea.KeySpace
			}
			if c := l.keys(one); c != nil {
				cmd = c // to quit
			}
		}
		return cmd
	}
	if l.typing {
		return l.edit(msg)
	}
	return l.press(msg)
}

// edit takes a key into the line of a control.
func (l *Screen) edit(k tea.KeyMsg) tea.Cmd {
	switch k.Type {
	case tea.KeyEnter:
		l.typing = false
		l.do(l.typed)
	case tea.KeyEsc:
		l.typing = false
	case tea.KeyCtrlC:
		return tea.Quit
	case tea.KeyBackspace:
		if l.typed != "" {
			l.typed = l.typed[:len(l.typed)-1]
		}
	case tea.KeySpace:
		l.typed += " "
	case tea.KeyRunes:
		for _, r := range k.Runes {
			if r > ' ' && r <= '~' {
				l.typed += string(r)
			}
		}
	}
	return nil
}

// do carries out a control, and shows its result.
func (l *Screen) do(control string) {
	err := l.server.Do(control)
	l.message, l.failed = control, err != nil
	if err != nil {
		l.message = err.Error()
	}
	l.look()
}

// onRequest are the keys that do something to the request at the cursor.
var onRequest = map[string]string{"r": "release %d", "d": "drop %d", "l": "lose-reply %d", "w": "delay %d 5s", "t": "late %d 5s"}

func (l *Screen) press(k tea.KeyMsg) tea.Cmd {
	key := k.String()
	if control, is := onRequest[key]; is {
		if i := l.at(); i >= 0 {
			l.do(fmt.Sprintf(control, l.view.Waiting[i].ID))
		} else {
			l.message, l.failed = "no request is on its way: g holds those that come", true
		}
		return nil
	}
	switch key {
	case "q", "ctrl+c":
		return tea.Quit
	case "up", "k":
		l.move(-1)
	case "down", "j":
		l.move(1)
	case "g":
		l.do(draw.Either(l.view.Shut, "open", "hold"))
	case " ":
		l.do(draw.Either(l.view.Goes, "stop", "run"))
	case "+":
		l.do("advance 1s")
	case ":":
		l.typing, l.typed = true, ""
	}
	return nil
}

// at returns the index of the request at the cursor: the one that is picked, or the oldest; -1 if
// there is none.
func (l *Screen) at() int {
	for i, w := range l.view.Waiting {
		if w.ID >= l.picked {
			return i
		}
	}
	return len(l.view.Waiting) - 1
}

func (l *Screen) move(by int) {
	if i := l.at(); i >= 0 {
		l.picked = l.view.Waiting[min(max(i+by, 0), len(l.view.Waiting)-1)].ID
	}
}

// View implements tea.Model.
func (l *Screen) View() string {
	if l.w == 0 || l.h == 0 {
		return ""
	}
	c := draw.NewCanvas(l.w, l.h, l.theme.More)
	if l.w < draw.MinWidth || l.h < draw.MinHeight {
		for i, text := range draw.Wrap(fmt.Sprintf("lockstep needs %d x %d; this window has %d x %d. Make it larger, or q to quit.", draw.MinWidth, draw.MinHeight, l.w, l.h), l.w) {
			c.Text(0, i, l.w, text, draw.Strong)
		}
		return c.Render(l.theme)
	}
	lanes := pane.PlanLanes(l.run, l.run.Last(), max(l.h/2-pane.AxisRows, 6))
	said := draw.Wrap(l.message, l.w-2)
	p := arrange(l.w, l.h, pane.AxisRows+len(lanes), len(l.view.Waiting), max(len(said), 1))
	l.drawHeader(c, p.header)
	l.drawRun(c, p.run, lanes)
	l.drawHolders(c, p.holders)
	l.drawWaiting(c, p.waiting)
	l.drawRecord(c, p.record)
	l.drawFooter(c, p.footer, said)
	return c.Render(l.theme)
}

// plan is where the parts of the screen are.
type plan struct{ header, run, holders, waiting, record, footer draw.Rectangle }

// arrange lays the screen out: the picture first, then at most half of the rest for the requests on
// their way, and the newest events in the other rows. The last message has at most a quarter of the window.
func arrange(w, h, rows, waiting, said int) (p plan) {
	said = min(said, h/4)
	p.header = draw.Rect(0, 0, w, 1)
	p.run = draw.Rect(0, 2, w, min(rows, h-8-said))
	p.holders = draw.Rect(0, p.run.Y+p.run.H+1, w, 1)
	rest := draw.Rect(0, p.holders.Y+1, w, h-2-said-p.holders.Y)
	n := min(max(waiting, 1)+1, max(rest.H/2, 2))
	p.waiting = draw.Rect(0, rest.Y, w, n)
	p.record = draw.Rect(0, rest.Y+n, w, rest.H-n)
	p.footer = draw.Rect(0, h-1-said, w, 1+said)
	return p
}

func (l *Screen) drawHeader(c *draw.Canvas, r draw.Rectangle) {
	v := &l.view
	where := l.server.Addresses()
	address := where[0]
	if len(where) > 1 {
		address = fmt.Sprintf("%s and %d more", address, len(where)-1)
	}
	line := draw.Line{draw.Text(" "+address, draw.Title), draw.Text("  "+trace.Instant(v.Now.Truncate(time.Millisecond))+"  ", draw.Plain),
		draw.Text(draw.Either(v.Goes, "time runs", "time stands still"), draw.Dim),
		draw.Text(draw.Either(v.Shut, "  gate closed", "  gate open"), draw.Dim), draw.Text("  "+draw.Plural(v.Connections, "connection"), draw.Dim)}
	if v.Full {
		line = append(line, draw.Text("  the record is full", draw.Breach))
	}
	if codes := v.Trace.Verdict(); len(codes) > 0 {
		line = append(line, draw.Text("  !! "+codes.String(), draw.Breach))
	}
	c.Line(r.X, r.Y, r.W, line.Fitted(r.W, c.More))
}

func (l *Screen) drawRun(c *draw.Canvas, r draw.Rectangle, lanes []pane.Lane) {
	if l.run.Last() == 0 {
		_, port, _ := net.SplitHostPort(l.server.Addresses()[0])
		c.Text(r.X+1, r.Y, r.W-2, "nobody has come yet. Try:  redis-cli -p "+port+" SET lock A NX PX 5000", draw.Dim)
		return
	}
	var axes pane.Axes
	axis := axes.Of(l.run, r.W-pane.LabelWidth, 0)
	pane.DrawTimeline(c, r, pane.Scene{Timeline: l.run, Pos: l.run.Last(), Axis: axis, Column: axis.Cols[l.run.Last()], All: axis.Width(), Lanes: lanes, Theme: l.theme})
}

// drawHolders says who holds the lock, and how sure that is.
func (l *Screen) drawHolders(c *draw.Canvas, r draw.Rectangle) {
	if l.view.Trace.Key == "" {
		c.Text(r.X+1, r.Y, r.W-2, "no key has been used as a lock", draw.Dim)
		return
	}
	pos := l.run.Last()
	line, _ := pane.Holders(l.run, pos, l.run.StateAt(pos), r.W)
	line = append(draw.Line{draw.Text(" "+l.view.Trace.Key+": ", draw.Strong)}, line...)
	line = append(line, draw.Text("  ("+serve.Inferred+")", draw.Dim))
	c.Line(r.X, r.Y, r.W, line.Fitted(r.W, c.More))
}

func (l *Screen) drawWaiting(c *draw.Canvas, r draw.Rectangle) {
	if len(l.view.Waiting) == 0 {
		c.Text(r.X+1, r.Y, r.W-2, "no request is on its way", draw.Dim)
		return
	}
	c.Text(r.X+1, r.Y, r.W-2, "on their way", draw.Title)
	room, at := r.H-1, l.at()
	first := draw.InSight(0, at, room, len(l.view.Waiting))
	for row := 0; row < room && first+row < len(l.view.Waiting); row++ {
		w := l.view.Waiting[first+row]
		line := draw.Line{draw.Text(fmt.Sprintf(" #%-4d %s -> %s  ", w.ID, w.Client, w.Node), draw.Plain), draw.Text(w.Command, draw.Strong), draw.Text("  "+w.Why, draw.Dim)}.Fitted(r.W, c.More)
		if first+row == at {
			line = line.Selected(r.W)
		}
		c.Line(r.X, r.Y+1+row, r.W, line)
	}
}

// drawRecord shows the newest events, and below each the violations that it completes.
func (l *Screen) drawRecord(c *draw.Canvas, r draw.Rectangle) {
	t := l.view.Trace
	var lines []draw.Line
	for i := len(t.Events) - 1; i >= 0 && len(lines) < r.H; i-- {
		e := &t.Events[i]
		for _, v := range t.Violations {
			if v.Last() == e.Seq {
				lines = append(lines, draw.Line{draw.Text(fmt.Sprintf("   !! %s  %s", v.Code, v.Text), draw.Breach)})
			}
		}
		ink := draw.Dim
		if e.Client != trace.None {
			ink = draw.ClientInk(e.Client)
		}
		text := strings.TrimSpace(t.Line(e))
		if len(text) > 4*r.W {
			text = text[:4*r.W]
		}
		lines = append(lines, draw.Line{draw.Text(" "+text, ink)})
	}
	for row := 0; row < min(r.H, len(lines)); row++ {
		c.Line(r.X, r.Y+min(r.H, len(lines))-1-row, r.W, lines[row].Fitted(r.W, c.More))
	}
}

func (l *Screen) drawFooter(c *draw.Canvas, r draw.Rectangle, said []string) {
	for i, text := range said[:min(len(said), r.H-1)] {
		c.Text(r.X+1, r.Y+i, r.W-2, text, map[bool]draw.Ink{false: draw.Dim, true: draw.Breach}[l.failed])
	}
	r.Y += r.H - 2
	if l.typing {
		c.Text(r.X+1, r.Y+1, r.W-2, ":"+l.typed+"_", draw.Strong)
		return
	}
	c.Text(r.X+1, r.Y+1, r.W-2, "g gate r release d drop l lose-reply w delay t late space time +1s :all q quit", draw.Dim)
}
