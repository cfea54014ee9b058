package tui

import (
	"io"
	"strings"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/lipgloss"
	"github.com/charmbracelet/x/ansi"

	"lockstep/tui/draw"
	"lockstep/tui/progress"
	"lockstep/tui/screen"
)

// Snapshot is the frame in a window of that size after these keys were typed, as text
// without colours: documents quote the program itself.
func Snapshot(o Options, width, height int, keys string) string {
	o.NoColor = true
	renderer := draw.NewRenderer(lipgloss.NewRenderer(io.Discard), o.Theme, true)
	var m tea.Model = newRoot(screen.NewLibrary(), &progress.Store{}, o, draw.NewTheme(renderer, true, o.ASCII))
	tell := func(msg tea.Msg) { m, _ = m.Update(msg) }
	if open := m.Init(); open != nil {
		tell(open())
	}
	tell(tea.WindowSizeMsg{Width: width, Height: height})
	for _, r := range keys {
		tell(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune{r}})
	}
	lines := strings.Split(ansi.Strip(m.View()), "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return strings.Join(lines, "\n")
}
