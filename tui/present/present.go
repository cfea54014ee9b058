// Package present shows the runs of a playlist to a room, one after another: one key goes on.
package present

import (
	"fmt"
	"math"
	"slices"

	"github.com/charmbracelet/bubbles/key"
	tea "github.com/charmbracelet/bubbletea"

	"lockstep/scenarios"
	"lockstep/scenarios/site"
	"lockstep/sim/timeline"
	"lockstep/sim/trace"
	"lockstep/tui/draw"
	"lockstep/tui/picker"
	"lockstep/tui/player"
	"lockstep/tui/quiz"
	"lockstep/tui/screen"
)

// Present is a player that knows the next run.
//
// Invariant: 0 <= at < len(showings).
type Present struct {
	*player.Player
	title     string // of the playlist
	showings  []scenarios.Showing
	at        int
	scroll    int  // of the words
	wantsCode bool // a room reads the diagram and the words first: the code comes when it is asked for
	showsCode bool // in the last frame
	paged     bool // the words are as the key that goes on has scrolled them: the last page may have rows to spare
	beyond    int  // lines of the words that the last frame had no rows for
	page      int  // rows of the words in it
	backward  bool // the reader came from the run after this one
	teaching  bool // the app's mode before, which comes back
	leaving   bool // the last key asked whether to end the presentation
	rehearses bool // the room is empty: the author of a script is told the texts for an author
	led       bool // the keys that go on and back have led here: the stop before was on the screen
	titled    bool // the last frame had the title where the diagram is else

	seen    map[int]trace.Verdict // of the showings that were run
	quizzes map[int]*quiz.Quiz    // of the showings that were left, with the room's answers
}

// New presents a playlist from its beginning. It has at least one showing, and the library has all of them.
func New(app *screen.App, list scenarios.Playlist) *Present {
	p := &Present{title: list.Title, showings: list.Showings, teaching: app.Teaching, seen: map[int]trace.Verdict{}, quizzes: map[int]*quiz.Quiz{}}
	app.Teaching = true
	p.Player = p.playerOf(app)
	return p
}

func (p *Present) playerOf(app *screen.App) *player.Player {
	s := &p.showings[p.at]
	shown := player.New(app, app.Library.Strategy(s.Strategy.Name), scenarioOf(app.Library, s))
	shown.Measure, shown.OwnQuestions, shown.Scrolls, shown.Untold, shown.Rehearsing = longestTold, true, true, true, p.rehearses
	for at := range p.at {
		if left := p.quizzes[at]; left != nil && p.showings[at].Scenario.Name == s.Scenario.Name {
			shown.Settled = append(shown.Settled, left.Settled()...)
		}
	}
	return shown
}

// scenarioOf is the place of a showing's scenario in a library.
func scenarioOf(lib *screen.Library, s *scenarios.Showing) int {
	if sc := lib.Scenario(s.Scenario); sc >= 0 {
		return sc
	}
	return max(lib.Named(s.Scenario.Name), 0) // its file has changed since
}

// FitsAnyWindow has the screen drawn in small windows, too.
func (p *Present) FitsAnyWindow() {}

// Update takes a key, or the outcome of a run.
func (p *Present) Update(msg tea.Msg) (tea.Cmd, screen.Outcome) {
	k, is := msg.(tea.KeyMsg)
	if !is {
		if again, is := msg.(againMsg); is {
			p.learn(again)
			return nil, screen.Outcome{}
		}
		had := p.Run
		cmd, out := p.Player.Update(msg)
		if p.Run != had {
			cmd, p.led = tea.Batch(cmd, p.note(had != nil)), p.backward
		}
		if had == nil && p.Run != nil {
			p.returned()
		}
		return cmd, out
	}
	p.Notice = ""
	leaving := p.leaving
	p.leaving = false
	switch {
	case key.Matches(k, p.Keys.Up):
		p.scroll, p.paged = min(p.scroll, p.beyond)-1, false
		return nil, screen.Outcome{}
	case key.Matches(k, p.Keys.Down):
		p.scroll, p.paged = p.scroll+1, false
		return nil, screen.Outcome{}
	}
	scrolled, asked := p.scroll, leaving || p.ended()
	p.scroll, p.paged = 0, p.paged && key.Matches(k, p.Keys.Close, p.Keys.Enter, p.Keys.Play, p.Keys.PageDown, p.Keys.Next)
	switch {
	case key.Matches(k, p.Keys.Close):
		return nil, p.leave(asked, scrolled)
	case key.Matches(k, p.Keys.Enter, p.Keys.Play, p.Keys.PageDown, p.Keys.Next):
		return p.readOn(scrolled), screen.Outcome{}
	case key.Matches(k, p.Keys.PageUp, p.Keys.Undo, p.Keys.Previous):
		return p.goBack(), screen.Outcome{}
	case key.Matches(k, p.Keys.Compare):
		return p.compareWith(k)
	case p.Run != nil && key.Matches(k, p.Keys.Export):
		return nil, picker.ExportWith(p.App, p.Run.Trace, p.Player, &picker.Site{Name: "playlist", About: "pages with all runs of the playlist, in their order", Folder: "playlist", Files: p.site})
	case key.Matches(k, p.Keys.Source):
		p.toggleCode()
	case key.Matches(k, p.Keys.Teach):
		p.rehearse()
	case p.Run != nil && key.Matches(k, p.Keys.Guess):
		if p.GuessKeys() != nil && scrolled < p.beyond {
			p.Notice = "These are the choices."
		} else {
			p.Adjust(k)
		}
		p.scroll = math.MaxInt // the question, with the outcome of the key, stands below all words
	case p.Run != nil && key.Matches(k, p.Keys.Forward, p.Keys.Back, p.Keys.First, p.Keys.Last, p.Keys.Violation, p.Keys.Evidence, p.Keys.In, p.Keys.Out):
		was := p.Pos
		p.Adjust(k)
		p.led = p.led && p.Pos == was
	}
	return nil, screen.Outcome{}
}

// returned takes up the room's answers in a run in which it has been before, and goes to its end if the reader comes from the run after it.
func (p *Present) returned() {
	if left := p.quizzes[p.at]; left != nil {
		p.Quiz().Resume(left, p.Pos, p.Pos)
	}
	if p.backward {
		p.backward = false
		p.Adjust(tea.KeyMsg{Type: tea.KeyEnd})
	}
}

// leave goes back to the diagram, hides the code or closes the presentation, about which it asks first in the middle of a playlist, unless it has: a
// room waits, and no one key undoes the way here.
func (p *Present) leave(asked bool, scrolled int) (out screen.Outcome) {
	switch {
	case p.LeaveEvidence(), p.LeaveView():
	case p.showsCode:
		p.toggleCode()
	case !asked && p.at+p.Pos > 0:
		p.leaving, p.scroll = true, scrolled
		p.Notice = p.Keys.Close.Help().Key + " again ends the presentation, in the middle of it."
	default:
		p.Teaching, out.Close = p.teaching, true
	}
	return out
}

// toggleCode shows the code, or hides it. On the slide with the title nobody has acted yet: there it says so.
func (p *Present) toggleCode() {
	if p.wantsCode = !p.wantsCode; p.titled {
		p.Notice = draw.Either(p.wantsCode, "The code comes when somebody acts.", "Without the code.")
	}
}

// rehearse shows the notes for a script's author, or hides them from the room again.
func (p *Present) rehearse() {
	var without []draw.Line
	if p.Run != nil {
		without = p.Narration(longestTold, 0)
	}
	p.rehearses = !p.rehearses
	p.Rehearsing = p.rehearses
	hides := " " + p.Keys.Teach.Help().Key + " hides them."
	switch {
	case !p.rehearses:
		p.Notice = "For the room: no notes for the script's author."
	case p.Run != nil && slices.EqualFunc(without, p.Narration(longestTold, 0), func(a, b draw.Line) bool { return slices.Equal(a, b) }):
		p.Notice = "Rehearsal: no notes (~) here; the check command may have some. " + p.Keys.Teach.Help().Key + " ends it."
	default:
		p.Notice = "Rehearsal: notes for the script's author, marked ~." + hides
	}
}

// compareWith lists the locks to compare with, unless that would tell the answer to an open question.
func (p *Present) compareWith(k tea.KeyMsg) (tea.Cmd, screen.Outcome) {
	if p.keepsVerdict() {
		p.Notice = "Comparing would tell the answer to the question that is open."
		return nil, screen.Outcome{}
	}
	return p.Player.Update(k)
}

// keepsVerdict reports whether a class is asked for the verdict, which the list of locks to compare with would tell.
func (p *Present) keepsVerdict() bool {
	return p.Run != nil && !p.rehearses && p.Quiz().AwaitsVerdict(p.Pos)
}

// site is the playlist as pages, with the versions of its scripts that there are.
func (p *Present) site() (map[string][]byte, error) {
	now := scenarios.Playlist{Title: p.title, Showings: slices.Clone(p.showings)}
	for i := range now.Showings {
		s := &now.Showings[i]
		if sc := p.Library.Named(s.Scenario.Name); sc >= 0 {
			s.Scenario = p.Library.Scenarios[sc]
		}
	}
	files, err := site.Playlist(now)
	if err != nil {
		return nil, err
	}
	all := map[string][]byte{}
	for _, f := range files {
		all[f.Name] = f.Content
	}
	return all, nil
}

// readOn is the one key: to the words for which there was no row, as nothing that is said is passed over, and then on.
func (p *Present) readOn(scrolled int) tea.Cmd {
	if scrolled < p.beyond {
		p.scroll, p.paged = scrolled+draw.PageOf(p.page), true // by whole pages: nobody looks for the line at which to read on
		return nil
	}
	if p.Run != nil && p.Pos == p.Run.Last() && p.at+1 == len(p.showings) {
		p.scroll = scrolled // nothing comes: the last words stay
	}
	p.led = true
	return p.goOn()
}

// goOn goes to the next stop of the run, and from its end to the next run.
func (p *Present) goOn() tea.Cmd {
	switch {
	case p.Awaited(), p.Run != nil && p.Advance(): // a run that isn't there yet is not passed over
		return nil
	case p.at+1 == len(p.showings):
		return nil // the last words say what can be done
	}
	return p.show(p.at + 1)
}

// ended reports whether nothing is left to go on to.
func (p *Present) ended() bool {
	return p.Run != nil && p.Pos == p.Run.Last() && p.at+1 == len(p.showings) && p.scroll >= p.beyond
}

func (p *Present) goBack() tea.Cmd {
	p.led = true
	switch {
	case p.LeaveEvidence(), p.Run != nil && p.Retreat():
		return nil
	case p.at == 0:
		p.Notice = "This is the beginning of the playlist."
		return nil
	}
	cmd := p.show(p.at - 1)
	p.backward = true
	return cmd
}

func (p *Present) show(at int) tea.Cmd {
	if p.Run != nil {
		p.quizzes[p.at] = p.Quiz()
	}
	p.at, p.backward = at, false
	p.Player = p.playerOf(p.App)
	return p.Start()
}

// toSlide describes the keys that go on, go back and leave in the past, to which evidence has led.
const toSlide = "back to the slide"

// FooterKeys are the keys that work here, the most useful first.
func (p *Present) FooterKeys() []key.Binding {
	k := &p.Keys
	if p.InEvidence() && p.scroll >= p.beyond {
		return []key.Binding{screen.As(k.Enter, toSlide), screen.As(k.Evidence, "next evidence"), k.Help, screen.As(k.Close, toSlide), k.Quit}
	}
	on := "go on"
	switch {
	case p.scroll < p.beyond:
		on = "more"
	case p.Run != nil && p.Pos == p.Run.Last():
		on = "next run"
	}
	list := []key.Binding{screen.As(k.Enter, on)}
	if p.ended() || p.Awaited() {
		list = nil
	}
	if p.scroll >= p.beyond { // the choices are on the screen
		list = append(list, p.GuessKeys()...)
	}
	list = append(list, screen.As(k.PageUp, "back"), screen.As(k.Source, draw.Either(p.showsCode, "no code", "code")),
		screen.Pair(k.Back, k.Forward, "event"), k.Compare, screen.Pair(k.In, k.Out, "zoom"), k.Export, k.Help, screen.As(k.Close, draw.Either(p.showsCode, "no code", "end")), k.Quit)
	if p.Run != nil && slices.ContainsFunc(p.Run.Breaches, func(b timeline.Breach) bool { return b.Pos == p.Pos }) {
		list = slices.Insert(list, slices.IndexFunc(list, func(b key.Binding) bool { return b.Help().Key == k.Source.Help().Key }), k.Evidence)
	}
	rehearsal := screen.As(k.Teach, draw.Either(p.rehearses, "for the room", "author's notes"))
	if p.rehearses || p.Pos == 0 && p.showings[p.at].Scenario.Path() != "" { // at the beginning of each run alike, be there notes or not
		list = slices.Insert(list, len(list)-8, rehearsal)
	} else {
		list = slices.Insert(list, len(list)-3, rehearsal)
	}
	at := slices.IndexFunc(list, func(b key.Binding) bool { return b.Help().Key == k.Compare.Help().Key })
	switch {
	case p.keepsVerdict():
		list = slices.Delete(list, at, at+1)
	case p.Run != nil && p.Remedy() != nil: // the words name the key
		list = slices.Insert(slices.Delete(list, at, at+1), min(1, at), k.Compare)
	}
	return list
}

// Help explains the screen and its keys.
func (p *Present) Help() screen.Page {
	k := &p.Keys
	return screen.Page{
		Title: "the presenter",
		About: "The runs of a playlist, one after another. One key goes on: to words for which there was no row, to the next words, to the answer of a question, to a violation, to an access that the resource refuses, to a release or an extension that fails before the last words and the last violation are told, and from the end of a run to the next one. " +
			"At a violation " + k.Evidence.Help().Key + " leads to the events that prove it, one after another; from them " + k.Enter.Help().Key + ", " + k.PageUp.Help().Key + " and " + k.Close.Help().Key + " lead back to the slide, and nowhere else. " +
			"A script that asks the room itself is asked nothing else. A script of your own is run again when its file changes.",
		Keys: append([]key.Binding{screen.As(k.Enter, "go on"), screen.As(k.Play, "go on"), screen.As(k.PageDown, "go on"), screen.As(k.Next, "go on"),
			screen.As(k.PageUp, "go back"), screen.As(k.Undo, "go back"), screen.As(k.Previous, "go back"), screen.As(k.Source, "code on and off"),
			screen.As(k.Teach, "rehearse: the notes for a script's author, marked ~, on and off"), screen.As(k.Guess, "predict the answer"), k.Up, k.Down, k.Back, k.Forward, k.First, k.Last, k.Violation, k.Evidence, screen.As(k.Compare, "beside another lock"), k.Export, k.In, k.Out}, k.Always()...),
		Signs: p.Player.Help().Signs,
	}
}

// words are the narration, set for the last row of a room: where not all of it has room in so many rows, without that which the slide
// before has told; the closing, which sums up, goes last.
func (p *Present) words(width, rows int) []draw.Line {
	p.Recaps = true
	p.Recaps = rows == 0 || len(p.allWords(width, 0, true)) <= rows // the slide before has told that: the choices of a question are worth more
	all := p.allWords(width, rows, true)
	if rows == 0 || len(all) <= rows || p.Run == nil || p.Pos == 0 || !p.led {
		return all
	}
	p.Fresh = true
	defer func() { p.Fresh = false }()
	if all = p.allWords(width, rows, true); len(all) > rows && p.Before() >= p.Run.Told() {
		all = p.allWords(width, rows, false)
	}
	return all
}

// allWords have the opening of a lesson before the narration and, if asked for, its closing behind it, and evidence and gaps as far as there are rows.
func (p *Present) allWords(width, rows int, closes bool) []draw.Line {
	t := draw.Paragraphs{Width: width}
	s := &p.showings[p.at]
	if p.Run == nil {
		return nil
	}
	if p.begins() && !p.titled {
		t.Add(draw.Title, "", p.title)
		t.Gap()
	}
	if p.Pos == 0 && s.Opening != "" {
		t.Add(draw.Strong, "", s.Opening)
		t.Gap()
	}
	for _, l := range p.Narration(width, rows) {
		bold := slices.Clone(l)
		for i := range bold {
			if bold[i].Ink == draw.Plain {
				bold[i].Ink = draw.Strong
			}
		}
		t.Lines = append(t.Lines, bold)
	}
	if closes && p.Pos >= p.Run.Told() && s.Closing != "" {
		t.Gap()
		t.Add(draw.Strong, "", s.Closing)
	}
	if p.Pos == p.Run.Last() {
		p.contrast(&t)
	}
	if p.Pos == p.Run.Last() && p.at+1 == len(p.showings) {
		t.Gap()
		t.Add(draw.Dim, "", "The end: "+p.Keys.Enter.Help().Key+" does nothing more, "+p.Keys.PageUp.Help().Key+" goes back, "+p.Keys.Close.Help().Key+" closes.")
	}
	return t.Lines
}

// begins reports whether this is the beginning of a playlist that has a title.
func (p *Present) begins() bool { return p.title != "" && p.at == 0 && p.Pos == 0 }

// drawTitle draws the title of the playlist in the place of a diagram in which nothing has happened yet.
func (p *Present) drawTitle(c *draw.Canvas, r draw.Rectangle) {
	var t draw.Paragraphs
	t.Width = max(min(r.W-2*margin, longestTold), 1)
	t.Add(draw.Title, "", p.title)
	t.Gap()
	t.Add(draw.Dim, "", draw.Plural(len(p.showings), "run"))
	top := r.Y + max((r.H-len(t.Lines))/2, 0)
	for i, l := range t.Lines {
		left := max((r.W-l.Width())/2, 0)
		c.Line(r.X+left, top+i, r.W-left, l)
	}
}

// place is where the run is in the playlist, and whether the room is empty.
func (p *Present) place() string {
	return fmt.Sprintf(" %srun %d of %d ", draw.Either(p.rehearses, "rehearsal, ", ""), p.at+1, len(p.showings))
}
