package tui

import (
	"fmt"
	"slices"

	"github.com/charmbracelet/bubbles/key"
	tea "github.com/charmbracelet/bubbletea"
)

// root is the router: keys and clicks go to the screen on top, timers and results to
// all, which know their own by their numbers. It knows nothing of what a screen does.
//
// Invariant: len(rooms) > 0.
type root struct {
	*stage
	rooms []room // the last one is drawn
	make  func(openMsg) (room, error)
	w, h  int // of the window, in cells
	mouse bool
}

// newRouter opens a first screen. make makes those that screens ask for by messages.
func newRouter(s *stage, make func(openMsg) (room, error), first room) *root {
	return &root{stage: s, make: make, rooms: []room{first}}
}

func (m *root) Init() tea.Cmd { return start(m.rooms[0]) }

func start(r room) tea.Cmd {
	if s, is := r.(starter); is {
		return s.start()
	}
	return nil
}

func (m *root) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.w, m.h = max(msg.Width, 0), max(msg.Height, 0)
		return m, nil
	case tea.KeyMsg:
		if r, is := m.top().(paster); is && msg.Paste && !m.tooSmall() {
			r.paste(string(msg.Runes))
		}
		var cmds []tea.Cmd
		for _, k := range strokes(msg) {
			cmds = append(cmds, m.typed(k))
		}
		return m, tea.Batch(cmds...)
	case tea.MouseMsg:
		return m, m.clicked(msg)
	}
	cmds := []tea.Cmd{m.board.update(msg)}
	for _, r := range m.rooms {
		cmd, _ := r.update(msg)
		cmds = append(cmds, cmd)
	}
	return m, tea.Batch(cmds...)
}

// strokes takes apart what bubbletea read in one go: a key that is held down on
// a slow line arrives as one message with many characters. Pasted text is no typing.
func strokes(k tea.KeyMsg) []tea.KeyMsg {
	switch {
	case k.Paste:
		return nil
	case k.Type != tea.KeyRunes || len(k.Runes) < 2:
		return []tea.KeyMsg{k}
	}
	var all []tea.KeyMsg
	for i := range k.Runes {
		all = append(all, tea.KeyMsg{Type: tea.KeyRunes, Runes: k.Runes[i : i+1], Alt: k.Alt})
	}
	return all
}

func (m *root) typed(k tea.KeyMsg) tea.Cmd {
	switch {
	case k.String() == "ctrl+c", key.Matches(k, m.keys.Quit) && !m.typing():
		return tea.Quit
	case key.Matches(k, m.keys.Suspend):
		return tea.Suspend
	case m.tooSmall():
		return nil
	case key.Matches(k, m.keys.Mouse) && !m.typing():
		return m.toggleMouse()
	case key.Matches(k, m.keys.Help) && !m.typing():
		if _, open := m.top().(*help); !open {
			m.rooms = append(m.rooms, &help{stage: m.stage, page: m.top().help()})
			return nil
		}
	}
	return m.tell(k)
}

// tell sends a message to the screen on top, and goes where it wants to go.
func (m *root) tell(msg tea.Msg) tea.Cmd {
	cmd, out := m.top().update(msg)
	if out.close && len(m.rooms) == 1 { // the last one leaves for the matrix, which never closes
		out = outcome{to: homeMsg{}}
		defer func() { m.rooms = m.rooms[len(m.rooms)-1:] }()
	}
	if out.close {
		m.rooms = m.rooms[:len(m.rooms)-1]
		if r, is := m.top().(resumer); is {
			r.resume()
		}
	}
	return tea.Batch(cmd, m.goTo(out))
}

// goTo shows the screen that an outcome asks for, if it asks for any.
func (m *root) goTo(out outcome) tea.Cmd {
	if out.to != nil {
		r, err := m.make(out.to)
		if err != nil {
			refused, _ := m.top().update(refusedMsg{err})
			return refused
		}
		out.open = r
	}
	if out.open == nil {
		return nil
	}
	if i := slices.Index(m.rooms, out.open); i >= 0 { // it is one that leads here
		m.rooms = m.rooms[:i+1]
		return nil
	}
	m.rooms = append(m.rooms, out.open)
	return start(out.open)
}

func (m *root) typing() bool {
	t, is := m.top().(typist)
	return is && t.typing()
}

// toggleMouse takes the mouse from the terminal, or gives it back: while the
// program has it, the terminal selects no text, so it is the reader's choice.
func (m *root) toggleMouse() tea.Cmd {
	if m.mouse = !m.mouse; m.mouse {
		return tea.EnableMouseCellMotion
	}
	return tea.DisableMouse
}

func (m *root) clicked(e tea.MouseMsg) tea.Cmd {
	c := click{x: e.X, y: e.Y}
	switch {
	case m.tooSmall() || e.Action != tea.MouseActionPress:
		return nil
	case e.Button == tea.MouseButtonWheelUp:
		c.wheel = -1
	case e.Button == tea.MouseButtonWheelDown:
		c.wheel = 1
	case e.Button != tea.MouseButtonLeft:
		return nil
	}
	return m.tell(c)
}

func (m *root) top() room { return m.rooms[len(m.rooms)-1] }

func (m *root) tooSmall() bool { return m.w < minWidth || m.h < minHeight }

// View draws the frame: never wider or taller than the window.
func (m *root) View() string {
	if m.w == 0 || m.h == 0 {
		return ""
	}
	c := newCanvas(m.w, m.h, m.theme.more)
	if m.tooSmall() {
		drawTooSmall(c)
		return c.render(m.theme)
	}
	m.top().draw(c, rect{0, 0, m.w, m.h - 1})
	foot := rect{0, m.h - 1, m.w, 1}
	if m.mouse {
		text := "mouse: " + m.keys.Mouse.Help().Key + " gives it back "
		foot.w -= textWidth(text)
		c.text(foot.w, foot.y, textWidth(text), text, inkStrong)
	}
	footer(c, foot, m.top().footerKeys())
	return c.render(m.theme)
}

// drawTooSmall says what is wrong in as many lines as there are.
func drawTooSmall(c *canvas) {
	text := fmt.Sprintf("lockstep needs %d x %d; this window has %d x %d. Make it larger, or q to quit.", minWidth, minHeight, c.w, c.h)
	lines := wrap(text, c.w)
	for i, s := range lines {
		if i == c.h-1 && len(lines) > c.h {
			c.text(0, i, c.w, s+c.more+c.more, inkStrong)
			return
		}
		c.text(0, i, c.w, s, inkStrong)
	}
}
