package tui

import (
	"lockstep/sim/timeline"

	"github.com/charmbracelet/bubbles/key"
	tea "github.com/charmbracelet/bubbletea"
)

// shown is a player of a run that no scenario steers: the schedule is the run's
// own, so there is no other lock to play it with, and no other story.
type shown struct{ *player }

func newShown(s *stage, m findingMsg) *shown {
	p := newPlayer(s, m.strategy, 0)
	p.title, p.sought = m.trace.Title, &m.sought
	p.display(timeline.New(m.trace), 0)
	return &shown{p}
}

func (s *shown) start() tea.Cmd { return nil }

func (s *shown) update(msg tea.Msg) (tea.Cmd, outcome) {
	if k, is := msg.(tea.KeyMsg); is && !s.typing() {
		for _, b := range s.foreign() {
			if key.Matches(k, b) {
				s.notice = "This run is a schedule of its own: no script could be played with another lock."
				return nil, outcome{}
			}
		}
	}
	return s.player.update(msg)
}

// foreign are the player's keys that need a scenario.
func (s *shown) foreign() []key.Binding {
	k := &s.keys
	return []key.Binding{k.Strategy, k.Scenario, k.Compare, k.Rung}
}

func (s *shown) footerKeys() []key.Binding { return without(s.player.footerKeys(), s.foreign()) }

func (s *shown) help() page {
	p := s.player.help()
	p.title = "a schedule that was found"
	p.about = "The least schedule of a search, as the whole engine has run it, event by event. " + p.about
	p.keys = without(p.keys, s.foreign())
	return p
}

// without leaves out bindings, by their keys.
func without(all, some []key.Binding) []key.Binding {
	var rest []key.Binding
	for _, b := range all {
		keep := true
		for _, s := range some {
			keep = keep && b.Keys()[0] != s.Keys()[0]
		}
		if keep {
			rest = append(rest, b)
		}
	}
	return rest
}
