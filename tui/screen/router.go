package screen

import (
	"fmt"
	"slices"
	"strings"

	"github.com/charmbracelet/bubbles/key"
	tea "github.com/charmbracelet/bubbletea"

	"lockstep/sim/trace"
	"lockstep/tui/draw"
)

// Router shows the screen on top: keys and clicks go to it, timers and results to
// all, which know their own by their numbers. It knows nothing of any screen's work.
//
// Invariants: len(screens) > 0; no screen is on the stack twice; the screen on top is in
// started.
type Router struct {
	*App
	screens []Screen // the last one is drawn
	started map[Screen]bool
	make    func(OpenMsg) (Screen, error)
	w, h    int // of the window, in cells
	mouse   bool
}

// NewRouter shows the last of some screens; esc leads back through the others to the first. If that
// closes, the program ends. open makes the screens that screens ask for by messages.
func NewRouter(app *App, open func(OpenMsg) (Screen, error), screens ...Screen) *Router {
	return &Router{App: app, make: open, screens: screens, started: map[Screen]bool{}}
}

// Init starts the screen on top. Those below it wait until they are seen.
func (m *Router) Init() tea.Cmd { return m.start(m.Top()) }

// start has a screen compute its contents, the first time that it is seen.
func (m *Router) start(s Screen) tea.Cmd {
	if m.started[s] {
		return nil
	}
	m.started[s] = true
	if s, is := s.(starter); is {
		return s.Start()
	}
	return nil
}

// Update routes.
func (m *Router) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.w, m.h = max(msg.Width, 0), max(msg.Height, 0)
		if m.w > 0 && m.h > 0 && m.tooSmall() {
			return m, m.tell(HiddenMsg{})
		}
		return m, nil
	case tea.KeyMsg:
		if r, is := m.Top().(paster); is && msg.Paste && !m.tooSmall() {
			r.Paste(string(msg.Runes))
		}
		var cmds []tea.Cmd
		for _, k := range strokes(msg) {
			cmds = append(cmds, m.typed(k))
		}
		return m, tea.Batch(cmds...)
	case tea.MouseMsg:
		return m, m.clicked(msg)
	}
	cmds := []tea.Cmd{m.Grid.Update(msg)}
	for _, s := range m.screens {
		cmd, _ := s.Update(msg)
		cmds = append(cmds, cmd)
	}
	return m, tea.Batch(cmds...)
}

// strokes takes apart the keys that bubbletea read in one go: a key that is held down on
// a slow line arrives as one message with many characters. Pasted text is not typing.
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

func (m *Router) typed(k tea.KeyMsg) tea.Cmd {
	switch {
	case k.String() == "ctrl+c", key.Matches(k, m.Keys.Quit) && !m.Typing():
		return tea.Quit
	case key.Matches(k, m.Keys.Suspend):
		return tea.Suspend
	case m.tooSmall():
		return nil
	case key.Matches(k, m.Keys.Mouse) && !m.Typing():
		return m.toggleMouse()
	case key.Matches(k, m.Keys.Help) && !m.Typing():
		if _, open := m.Top().(*help); !open {
			page := m.Top().Help()
			return m.cover(&help{App: m.App, page: page, words: m.wordsInSight(&page)})
		}
	}
	return m.tell(k)
}

// tell sends a message to the screen on top, and goes where it wants to go.
func (m *Router) tell(msg tea.Msg) tea.Cmd {
	cmd, out := m.Top().Update(msg)
	if out.Close && len(m.screens) == 1 {
		return tea.Batch(cmd, tea.Quit)
	}
	if out.Close {
		m.leave(len(m.screens) - 1)
		if r, is := m.Top().(resumer); is {
			r.Resume()
		}
		if out.To == nil && out.Open == nil {
			cmd = tea.Batch(cmd, m.start(m.Top()))
		}
	}
	return tea.Batch(cmd, m.goTo(out))
}

// goTo shows the screen that an outcome asks for, if it asks for any.
func (m *Router) goTo(out Outcome) tea.Cmd {
	if out.To != nil {
		s, err := m.make(out.To)
		if err != nil {
			refused, _ := m.Top().Update(RefusedMsg{err})
			return refused
		}
		out.Open = s
	}
	if out.Open == nil {
		return nil
	}
	if i := slices.Index(m.screens, out.Open); i >= 0 { // it is one that leads here
		m.leave(i + 1)
		return m.start(out.Open)
	}
	return tea.Batch(m.cover(out.Open), m.start(out.Open))
}

// cover puts a screen on top of the one that is shown.
func (m *Router) cover(s Screen) tea.Cmd {
	cmd, _ := m.Top().Update(HiddenMsg{})
	m.screens = append(m.screens, s)
	return cmd
}

// leave closes all screens but the first n. One that is opened again starts again.
func (m *Router) leave(n int) {
	for _, s := range m.screens[n:] {
		delete(m.started, s)
	}
	m.screens = m.screens[:n]
}

// Typing reports whether the screen on top takes text.
func (m *Router) Typing() bool {
	t, is := m.Top().(typist)
	return is && t.Typing()
}

// toggleMouse takes the mouse from the terminal, or gives it back: while the
// program has it, the terminal selects no text, so it is the reader's choice.
func (m *Router) toggleMouse() tea.Cmd {
	if m.mouse = !m.mouse; m.mouse {
		return tea.EnableMouseCellMotion
	}
	return tea.DisableMouse
}

func (m *Router) clicked(e tea.MouseMsg) tea.Cmd {
	c := Click{X: e.X, Y: e.Y}
	switch {
	case m.tooSmall() || e.Action != tea.MouseActionPress:
		return nil
	case e.Button == tea.MouseButtonWheelUp:
		c.Wheel = -1
	case e.Button == tea.MouseButtonWheelDown:
		c.Wheel = 1
	case e.Button != tea.MouseButtonLeft:
		return nil
	}
	return m.tell(c)
}

// Depth is the number of screens that are open, the one on top included.
func (m *Router) Depth() int { return len(m.screens) }

// Top is the screen that is shown.
func (m *Router) Top() Screen { return m.screens[len(m.screens)-1] }

func (m *Router) tooSmall() bool {
	_, any := m.Top().(scaler)
	return !any && (m.w < draw.MinWidth || m.h < draw.MinHeight)
}

// View draws the frame: never wider or taller than the window.
func (m *Router) View() string {
	if m.w == 0 || m.h == 0 {
		return ""
	}
	return m.frame().Render(m.Theme)
}

// frame is the frame before it is rendered.
func (m *Router) frame() *draw.Canvas {
	c := draw.NewCanvas(m.w, m.h, m.Theme.More)
	if m.tooSmall() {
		drawTooSmall(c)
		return c
	}
	m.Top().Draw(c, draw.Rect(0, 0, m.w, m.h-1))
	foot := draw.Rect(0, m.h-1, m.w, 1)
	if m.mouse {
		text := "  " + m.Keys.Mouse.Help().Key + " mouse off "
		foot.W -= draw.Width(text)
		c.Text(foot.W, foot.Y, draw.Width(text), text, draw.Strong)
	}
	keys := m.Top().FooterKeys()
	if len(m.screens) > 1 && !slices.ContainsFunc(keys, func(b key.Binding) bool { return b.Help().Key == m.Keys.Close.Help().Key }) {
		keys = append(slices.Clip(keys), m.Keys.Close)
	}
	footer(c, foot, keys)
	return c
}

// wordsInSight are the words on the screen with some page that a newcomer may not know.
func (m *Router) wordsInSight(page *Page) []trace.Word {
	if m.w == 0 || m.h == 0 || m.tooSmall() {
		return nil
	}
	c := m.frame()
	var text strings.Builder
	for y := range m.h {
		for x := range m.w {
			text.WriteString(draw.Either(c.Char(x, y) == "", " ", c.Char(x, y)))
		}
		text.WriteByte('\n')
	}
	words := slices.Concat(page.Words, trace.TermsIn(text.String()))
	words = slices.DeleteFunc(words, func(w trace.Word) bool { return page.Prose && w.OfDiagram() })
	return trace.WordsIn(text.String(), words)
}

// drawTooSmall asks for a larger window, in as many lines as there are.
func drawTooSmall(c *draw.Canvas) {
	text := fmt.Sprintf("lockstep needs %d x %d; this window has %d x %d. Make it larger, or q to quit.", draw.MinWidth, draw.MinHeight, c.W, c.H)
	lines := draw.Wrap(text, c.W)
	for i, s := range lines {
		if i == c.H-1 && len(lines) > c.H {
			c.Text(0, i, c.W, s+c.More+c.More, draw.Strong)
			return
		}
		c.Text(0, i, c.W, s, draw.Strong)
	}
}
