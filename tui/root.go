package tui

import (
	"fmt"

	"github.com/charmbracelet/bubbles/key"
	tea "github.com/charmbracelet/bubbletea"
)

// room is a screen: the player, a list, the help. It draws between the header's
// place and the footer, and knows which keys work in it.
type room interface {
	update(tea.Msg) (tea.Cmd, outcome)
	draw(*canvas, rect)
	footerKeys() []key.Binding // the last two are always shown
}

// outcome is what a room wants of the root after a message.
type outcome struct {
	open  room // go there; esc comes back
	close bool // go back
}

// root routes: messages to the room on top, timers and results to the rooms
// that wait for them. It knows nothing of what a room does.
type root struct {
	keys  keyMap
	theme *theme
	rooms []room // the last is the one that one sees
	w, h  int
}

func (m *root) Init() tea.Cmd {
	if s, is := m.rooms[0].(interface{ start() tea.Cmd }); is {
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
		var cmds []tea.Cmd
		for _, k := range strokes(msg) {
			cmds = append(cmds, m.typed(k))
		}
		return m, tea.Batch(cmds...)
	}
	var cmds []tea.Cmd
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
	case key.Matches(k, m.keys.Quit):
		return tea.Quit
	case key.Matches(k, m.keys.Suspend):
		return tea.Suspend
	case m.tooSmall():
		return nil
	}
	cmd, out := m.top().update(k)
	switch {
	case out.open != nil:
		m.rooms = append(m.rooms, out.open)
	case out.close && len(m.rooms) > 1:
		m.rooms = m.rooms[:len(m.rooms)-1]
	}
	return cmd
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
	footer(c, rect{0, m.h - 1, m.w, 1}, m.top().footerKeys())
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
