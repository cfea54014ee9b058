package tui

import (
	"os"

	"github.com/charmbracelet/lipgloss"

	"lockstep/tui/draw"
	"lockstep/tui/live"
)

// Live shows a server whose clients are programs of their own on the terminal, until the user
// quits. Of the options it takes the look.
func Live(s live.Server, o Options) error {
	renderer := draw.NewRenderer(lipgloss.NewRenderer(os.Stdout), o.Theme, o.mono())
	return show(live.New(s, draw.NewTheme(renderer, o.mono(), o.ASCII)))
}
