package tui

import (
	"github.com/charmbracelet/bubbles/key"
	tea "github.com/charmbracelet/bubbletea"
)

// room is one of the screens: the matrix, the player, a list, the help. It draws
// above the footer, and knows which keys work in it.
type room interface {
	update(tea.Msg) (tea.Cmd, outcome)
	draw(*canvas, rect)
	footerKeys() []key.Binding // the last two are always shown
	help() page
}

// outcome is what a screen asks of the router after a message. The zero outcome
// asks for nothing.
type outcome struct {
	open  room    // go to this screen; esc comes back
	to    openMsg // go to the screen that this message names, which is made by the app
	close bool    // go back
}

// typist is a screen that may be taking text: then letters are letters, and no
// key but ctrl+c quits.
type typist interface{ typing() bool }

// starter is a screen that has something to compute when it opens.
type starter interface{ start() tea.Cmd }

// resumer is a screen that brings itself up to date when the reader comes back to it.
type resumer interface{ resume() }

// paster is a screen that has a use for pasted text.
type paster interface{ paste(string) }

// click is the left button or the wheel, at a place on the canvas.
type click struct{ x, y, wheel int }

// in reports whether the click is within a part of the canvas.
func (c click) in(r rect) bool { return r.holds(c.x, c.y) }
