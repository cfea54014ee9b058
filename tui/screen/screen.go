// Package screen has the parts that the screens of the terminal interface share: the interface of a screen,
// the messages by which it asks for another one, the router that shows it, the keys, the
// help, and the app, with all that is known to every screen.
package screen

import (
	"github.com/charmbracelet/bubbles/key"
	tea "github.com/charmbracelet/bubbletea"

	"lockstep/tui/draw"
)

// Screen is one of the screens: the matrix, the player, a list, the help. It draws
// above the footer, and knows which keys work in it.
type Screen interface {
	Update(tea.Msg) (tea.Cmd, Outcome)
	Draw(*draw.Canvas, draw.Rectangle)
	FooterKeys() []key.Binding // the most useful first; help, back and quit are always shown, and last
	Help() Page
}

// Outcome is a screen's request to the router after a message. The zero outcome
// asks for nothing.
type Outcome struct {
	Open  Screen  // go to this screen; esc comes back
	To    OpenMsg // go to the screen that this message names, which is made by the app
	Close bool    // go back
}

// typist is a screen that may be taking text: then letters are letters, and no
// key but ctrl+c quits.
type typist interface{ Typing() bool }

// starter is a screen that has something to compute when it opens.
type starter interface{ Start() tea.Cmd }

// scaler is a screen that is drawn in any window, however small.
type scaler interface{ FitsAnyWindow() }

// resumer is a screen that brings itself up to date when the reader comes back to it.
type resumer interface{ Resume() }

// paster is a screen that has a use for pasted text.
type paster interface{ Paste(string) }

// Click is the left button or the wheel, at a place on the canvas.
type Click struct{ X, Y, Wheel int }

// In reports whether the click is within a part of the canvas.
func (c Click) In(r draw.Rectangle) bool { return r.Holds(c.X, c.Y) }
