package player

import (
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"lockstep/scenarios"
	"lockstep/tui/screen"
)

// A script that its author is writing is run again when its file changes. The file is looked at
// now and then: that works on every system and with every editor, also those that replace it.

// pollEvery is the time between two looks.
const pollEvery = 500 * time.Millisecond

// watchMsg says that it is time to look at the file of the run that is shown.
type watchMsg struct {
	load int
	of   screen.Stamp // the version that is shown
}

// fileMsg is the outcome of a look: the version that was found, and if it is a new one, the scenario
// in it, or why there is none.
type fileMsg struct {
	load     int
	of       screen.Stamp
	fresh    bool
	scenario *scenarios.Scenario
	err      error
}

// watch has the file looked at later on, if there is one.
func (p *Player) watch(load int, of screen.Stamp) tea.Cmd {
	if load != p.load || p.Library.Scenarios[p.scenario].Path() == "" || p.Title != "" {
		return nil
	}
	return p.After(pollEvery, watchMsg{load, of})
}

func (p *Player) look(m watchMsg) tea.Cmd {
	if m.load != p.load {
		return nil
	}
	sc := p.Library.Scenarios[p.scenario]
	return func() tea.Msg {
		found := screen.StampOf(sc.Path())
		if found == m.of || found == (screen.Stamp{}) { // an editor that replaces a file leaves none for a moment
			return fileMsg{load: m.load, of: m.of}
		}
		fresh, err := scenarios.Find(sc.Name)
		return fileMsg{m.load, found, true, fresh, err}
	}
}

// changed begins the message about a new version on the screen.
const changed = "The file has changed: "

// ofFile reports whether the notice is of the file, and not of a key: it stands where the file's errors do.
func (p *Player) ofFile() bool { return strings.HasPrefix(p.Notice, changed) }

// reread runs a new version, and goes to the same place in it. A file that can't be read or
// run leaves the run as it is.
func (p *Player) reread(m fileMsg) tea.Cmd {
	switch {
	case m.load != p.load:
		return nil
	case m.err != nil && p.Run == nil: // no run is left to be spared
		p.failed, p.Notice = m.err, ""
	case m.err != nil:
		p.fail(m.err)
	case m.fresh:
		p.Grid.Replace(p.scenario, m.scenario)
		p.from = p.Pos
		cmd := p.reload(-1)
		p.rerun = true
		p.Notice = changed + "a new run."
		return cmd
	}
	return p.watch(m.load, m.of)
}

// fail keeps the run that is shown, and has it said as long as that is so that it is not the file's, and why.
func (p *Player) fail(err error) {
	p.Stale[p.scenario], p.Notice = screen.OutOfDate(p.Library.Scenarios[p.scenario].Path(), err), ""
}
