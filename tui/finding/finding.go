// Package finding shows a run that no scenario steers: one that a search has found, or the reader's own moves with another lock.
package finding

import (
	"github.com/charmbracelet/bubbles/key"
	tea "github.com/charmbracelet/bubbletea"

	"lockstep/sim/timeline"
	"lockstep/tui/player"
	"lockstep/tui/screen"
)

// Finding is a player of a run that no scenario steers: the schedule is the run's
// own, so there is no other lock to play it with, and no other story.
type Finding struct {
	*player.Player
	own bool // the moves are the reader's
}

// Open shows a run that was found.
func Open(app *screen.App, m screen.FindingMsg) *Finding {
	p := player.New(app, m.Strategy, 0)
	p.Asks = false // its title has the answer
	p.Title, p.Sought = m.Trace.Title, &m.Sought
	p.Display(timeline.New(m.Trace), m.From)
	return &Finding{p, m.Own}
}

// Start has nothing to compute: the run is there.
func (s *Finding) Start() tea.Cmd { return nil }

// Update takes a key, a click, or the result of something that was asked for.
func (s *Finding) Update(msg tea.Msg) (tea.Cmd, screen.Outcome) {
	if k, is := msg.(tea.KeyMsg); is && !s.Typing() {
		for _, b := range s.foreign() {
			if key.Matches(k, b) {
				s.Notice = "This run is a schedule of its own: no script could be played with another lock."
				return nil, screen.Outcome{}
			}
		}
	}
	return s.Player.Update(msg)
}

// foreign are the player's keys that need a scenario.
func (s *Finding) foreign() []key.Binding {
	k := &s.Keys
	return []key.Binding{k.Strategy, k.Scenario, k.Compare, k.NextStep, k.Present}
}

// FooterKeys are the keys that work here, the most useful first.
func (s *Finding) FooterKeys() []key.Binding {
	return screen.Without(s.Player.FooterKeys(), s.foreign())
}

// Help explains the screen and its keys.
func (s *Finding) Help() screen.Page {
	p := s.Player.Help()
	about := "The least schedule of a search, as the whole engine has run it, event by event. "
	p.Title = "a schedule that was found"
	if s.own {
		p.Title, about = "your moves with another lock", "The moves that you made in the game, adapted where this lock has other commands, event by event. "
	}
	p.About = about + p.About
	p.Keys = screen.Without(p.Keys, s.foreign())
	return p
}
