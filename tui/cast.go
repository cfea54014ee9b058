package tui

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/lipgloss"
	"github.com/muesli/termenv"

	"lockstep/sim/timeline"
	"lockstep/sim/trace"
	"lockstep/tui/draw"
	"lockstep/tui/player"
	"lockstep/tui/progress"
	"lockstep/tui/screen"
)

// The terminal of a recording.
const (
	castWidth  = 100
	castHeight = 30
)

// Cast writes a run as the player plays it to a reader, as a recording in version 2 of asciinema's
// format: a header, and a line for each frame. The frames follow each other at the pace of a run
// that is watched. The same run gives the same bytes.
func Cast(w io.Writer, t *trace.Trace) error {
	out := bufio.NewWriter(w)
	enc := json.NewEncoder(out)
	enc.SetEscapeHTML(false)
	r, p := stage(t)
	if err := enc.Encode(map[string]any{"version": 2, "width": castWidth, "height": castHeight,
		"title": fmt.Sprintf("%s under %s", t.Strategy, t.Scenario), "env": map[string]string{"TERM": "xterm-256color"}}); err != nil {
		return err
	}
	const home, clear, rest = "\x1b[H", "\x1b[2J", "\x1b[K"
	text := clear
	var at time.Duration
	for pos := range p.Run.Last() + 1 {
		stay := p.Watch(pos)
		_, fresh := p.Run.Breached(pos)
		if pos > 0 && pos < p.Run.Last() && len(fresh) == 0 && !p.Run.Matters(pos-1) { // nothing is to be seen of it
			continue
		}
		text += home + strings.Join(strings.Split(r.View(), "\n"), rest+"\r\n") + rest
		if err := enc.Encode([]any{json.Number(fmt.Sprintf("%.3f", at.Seconds())), "o", text}); err != nil {
			return err
		}
		text, at = "", at+stay
	}
	if err := enc.Encode([]any{json.Number(fmt.Sprintf("%.3f", at.Seconds())), "o", ""}); err != nil { // the last frame stays as long as any
		return err
	}
	return out.Flush()
}

// stage is a player of a run in a terminal that isn't there.
func stage(t *trace.Trace) (*screen.Router, *player.Player) {
	base := lipgloss.NewRenderer(io.Discard)
	base.SetColorProfile(termenv.TrueColor)
	lib := screen.NewLibrary()
	theme := draw.NewTheme(draw.NewRenderer(base, "dark", false), false, false)
	app := screen.NewApp(lib, &progress.Store{}, theme, t.Seed, nil)
	sc := lib.Named(t.Scenario)
	p := player.New(app, max(lib.Strategy(t.Strategy), 0), max(sc, 0))
	p.Asks = false // nobody is there to answer
	if sc < 0 {
		p.Title = draw.Either(t.Title != "", t.Title, t.Scenario)
	} else {
		p.Remedies = lib.Remedies(sc, p.Strategy, t, nil)
	}
	p.Display(timeline.New(t), 0)
	r := screen.NewRouter(app, nil, p)
	r.Update(tea.WindowSizeMsg{Width: castWidth, Height: castHeight})
	return r, p
}
