package export

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html/template"
	"path"
	"strings"

	"lockstep/sim/trace"
	"lockstep/strategies"
)

//go:embed player.html
var pageText string

//go:embed player.css
var pageStyle string

//go:embed player.js
var pageScript string

// Parsing cannot fail on a template that a test has executed.
var page = template.Must(template.New("player").Parse(pageText))

// HTML returns one page with a player in it: the timeline with the future hidden, and at
// every event the state, its changes, the note and the line of the strategy. The page
// makes no request to the network, and its own policy forbids any. States are folded and
// put into words here; the page's script only selects among them.
func HTML(t *trace.Trace) string {
	d := draw(t)
	data, err := json.Marshal(d.film())
	if err != nil {
		panic("export: a trace of strings and numbers does not marshal: " + err.Error())
	}
	var text strings.Builder
	t.Plain(&text) //nolint:errcheck // a Builder takes everything
	digest := sha256.Sum256([]byte(pageScript))
	var b bytes.Buffer
	if err := page.Execute(&b, map[string]any{
		"Trace": t, "Heading": d.heading(), "Last": d.Last(), "Plain": text.String(),
		"Policy":   "default-src 'none'; base-uri 'none'; form-action 'none'; style-src 'unsafe-inline'; script-src 'sha256-" + base64.StdEncoding.EncodeToString(digest[:]) + "'",
		"Style":    template.CSS(pageStyle),   //nolint:gosec // ours
		"Script":   template.JS(pageScript),   //nolint:gosec // ours
		"Data":     template.JS(data),         //nolint:gosec // JSON, in which < > and & are escaped
		"Timeline": template.HTML(d.canvas()), //nolint:gosec // every text in it has gone through escape
	}); err != nil {
		panic("export: the page cannot be written: " + err.Error())
	}
	return b.String()
}

// canvas is the timeline with the cursor and the fog that the script moves.
func (d *drawing) canvas() string {
	p := &pen{}
	width := labels + d.end + margin
	p.printf(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d" role="img" aria-label="Timeline: the rows are clients, servers and the store">`,
		width, d.height+8, width, d.height+8)
	p.WriteString(style + definitions)
	p.WriteString(d.String())
	p.printf(`<rect id="fog" class="ls-fog" x="%d" y="0" width="%d" height="%d"/>`, width, width, d.height+8) // until the script moves it, nothing is hidden
	p.printf(`<g id="cursor" transform="translate(%d 0)"><path class="ls-cursor" d="M0 %dV%d"/><path class="ls-fg" d="M-6 %dH6L0 %dZ"/><text id="clock" class="ls-small ls-bold ls-mid ls-fg ls-clock" y="%d"></text></g>`,
		labels, ruler, d.height, ruler-8, ruler+1, ruler-12)
	p.printf(`<g id="names"><rect class="ls-bg" width="%d" height="%d"/>`, labels-9, d.height)
	p.WriteString(d.names.String())
	p.printf("</g></svg>")
	return p.String()
}

// pageData is the data for the player's script: the trace, and the contents of the page at each
// position.
type pageData struct {
	Trace    *trace.Trace `json:"trace"`
	Frames   []frame      `json:"frames"` // by position
	Rows     []stateRow   `json:"rows"`   // each once; frames refer to them
	Chapters []chapter    `json:"chapters"`
	Breaks   []breach     `json:"breaks"`
	Sources  []source     `json:"sources"`
}

// frame is one position.
type frame struct {
	X       int    `json:"x"` // of the cursor
	Time    string `json:"time"`
	Ink     int    `json:"ink"` // of the event's actor, or -1
	Holders string `json:"holders"`
	Level   int    `json:"level"` // 0 calm, 1 something is broken or two believe, 2 something has just broken
	Rows    []int  `json:"rows"`
	Fresh   []int  `json:"fresh"`   // which of Rows the event changed
	Source  *place `json:"source"`  // where the event comes from
	Stands  []spot `json:"stands"`  // where the clients stand
	Chapter int    `json:"chapter"` // index of the last one that has begun, or -1
	Broken  int    `json:"broken"`  // how many of Breaks are complete
}

type stateRow struct {
	Who  string `json:"who"`
	Ink  int    `json:"ink"`
	Text string `json:"text"`
}

type place struct {
	File int `json:"file"` // index of Sources
	Line int `json:"line"`
}

// spot is a client on a line of code.
type spot struct {
	place
	Client string `json:"client"`
	Ink    int    `json:"ink"`
}

// chapter is what is said at one position.
type chapter struct {
	Pos   int    `json:"pos"`
	Notes []said `json:"notes"`
}

type said struct {
	Kind   string `json:"kind"`
	Text   string `json:"text"`
	Answer string `json:"answer,omitempty"`
}

type breach struct {
	Pos    int    `json:"pos"`
	Code   string `json:"code"`
	Name   string `json:"name"`
	Text   string `json:"text"`
	Events []int  `json:"events"` // positions that the proving events lead to
}

type source struct {
	File string `json:"file"`
	Code string `json:"code"`
}

func (d *drawing) film() *pageData {
	f := &pageData{Trace: d.Trace, Chapters: []chapter{}, Breaks: []breach{}, Sources: []source{}}
	for i := range d.Notes {
		n := &d.Notes[i]
		pos := d.Before(n.Seq)
		if k := len(f.Chapters); k == 0 || f.Chapters[k-1].Pos != pos {
			f.Chapters = append(f.Chapters, chapter{Pos: pos})
		}
		c := &f.Chapters[len(f.Chapters)-1]
		c.Notes = append(c.Notes, said{n.Kind.String(), n.Prose(), n.Answer})
	}
	for i := range d.Violations {
		v := &d.Violations[i]
		b := breach{Pos: d.After(v.Last()), Code: v.Code.String(), Name: v.Code.Name(), Text: v.Text}
		for _, seq := range v.Events {
			b.Events = append(b.Events, d.After(seq))
		}
		f.Breaks = append(f.Breaks, b)
	}
	files := f.sources(d.Trace)
	known := map[stateRow]int{}
	states := statesOf(d.Trace)
	for pos := range states {
		f.Frames = append(f.Frames, d.frame(pos, states, f, files, known))
	}
	return f
}

// statesOf are the states of a run, by position. The list of touches only ever
// grows, so that all states can share it: copies of it would take the square of
// the run's length.
func statesOf(t *trace.Trace) []*trace.State {
	states := make([]*trace.State, 0, len(t.Events)+1)
	s := t.NewState()
	keep := func() {
		touches := s.Store.Touches
		s.Store.Touches = nil
		c := s.Clone()
		s.Store.Touches, c.Store.Touches = touches, touches[:len(touches):len(touches)]
		states = append(states, c)
	}
	keep()
	for i := range t.Events {
		s.Apply(&t.Events[i])
		keep()
	}
	return states
}

// sources collects the code of the strategy, and of the others that it calls.
// The index is by file, as events name it.
func (f *pageData) sources(t *trace.Trace) map[string]int {
	index := map[string]int{}
	for i := range t.Events {
		file := t.Events[i].Source.File
		if _, known := index[file]; known || file == "" {
			continue
		}
		for _, s := range strategies.All() {
			if file == "strategies/"+s.File {
				index[file] = len(f.Sources)
				f.Sources = append(f.Sources, source{file, s.Code()})
				break
			}
		}
	}
	return index
}

func (d *drawing) frame(pos int, states []*trace.State, f *pageData, files map[string]int, known map[stateRow]int) frame {
	s := states[pos]
	fr := frame{X: labels + d.x[pos], Time: trace.Brief(s.At), Ink: -1, Holders: d.Holders(s), Stands: d.stands(s, files), Chapter: -1}
	if pos > 0 {
		e := &d.Events[pos-1]
		fr.Ink = d.inkNumber(d.Doer(e))
		if file, has := files[e.Source.File]; has {
			fr.Source = &place{file, e.Source.Line}
		}
	}
	fr.Rows, fr.Fresh = d.frameRows(pos, states, f, known)
	for i := range f.Chapters {
		if f.Chapters[i].Pos <= pos {
			fr.Chapter = i
		}
	}
	fr.Level = min(1, max(0, s.Believers()-1))
	for _, b := range f.Breaks {
		if b.Pos <= pos {
			fr.Broken++
			fr.Level = max(fr.Level, 1)
		}
		if b.Pos == pos {
			fr.Level = 2
		}
	}
	return fr
}

// frameRows returns the state at a position, as indices of the film's rows, and as fresh the
// rows that the event before it has changed.
func (d *drawing) frameRows(pos int, states []*trace.State, f *pageData, known map[stateRow]int) (rows, fresh []int) {
	s := states[pos]
	before := *states[max(pos-1, 0)]
	before.At = s.At // so that what only time has changed does not count
	old := map[stateRow]int{}
	for _, r := range d.stateRows(&before, pos) {
		old[r]++
	}
	fresh = []int{}
	for i, r := range d.stateRows(s, pos) {
		if old[r]--; old[r] < 0 {
			fresh = append(fresh, i)
		}
		if _, has := known[r]; !has {
			known[r] = len(f.Rows)
			f.Rows = append(f.Rows, r)
		}
		rows = append(rows, known[r])
	}
	return rows, fresh
}

// stands returns each client's line in the strategy's code.
func (d *drawing) stands(s *trace.State, files map[string]int) []spot {
	spots := []spot{}
	for i := range s.Clients {
		c := &s.Clients[i]
		if file, has := files[c.Source.File]; has && c.InStrategy() {
			spots = append(spots, spot{place{file, c.Source.Line}, d.Clients[i], d.inkNumber(i)})
		}
	}
	return spots
}

// inkNumber returns the number of a client's colour, or -1.
func (r *annotated) inkNumber(client int) int {
	if client == trace.None || r.Clients[client] == trace.Probe {
		return -1
	}
	return client % patterns
}

// stateRows describes a state in words: the actions and beliefs of each client that has begun
// by a position, each node's records, and the store.
func (r *annotated) stateRows(s *trace.State, pos int) []stateRow {
	var rows []stateRow
	for i := range s.Clients {
		if r.takesPart(i) && (r.Clients[i] != trace.Probe || r.Begun(i, pos)) {
			rows = append(rows, r.clientRows(s, i)...)
		}
	}
	for i := range s.Nodes {
		rows = append(rows, r.nodeRows(s, i)...)
	}
	rows = append(rows, stateRow{"believers", -1, fmt.Sprint(s.Believers())})
	store := fmt.Sprintf("value %d, version %d", s.Store.Value, s.Store.Version)
	if s.Store.Fence != 0 {
		store += fmt.Sprintf(", highest fence %d", s.Store.Fence)
	}
	for i := len(s.Store.Touches) - 1; i >= 0; i-- {
		if touch := &s.Store.Touches[i]; touch.Write {
			store += ", by " + r.Clients[touch.By.Client]
			break
		}
	}
	return append(rows, stateRow{"store", -1, store})
}

func (r *annotated) clientRows(s *trace.State, i int) []stateRow {
	c, ink := &s.Clients[i], r.inkNumber(i)
	rows := []stateRow{{r.Clients[i], ink, c.Doing()}}
	more := func(text string) { rows = append(rows, stateRow{"", ink, text}) }
	if text := c.Lease.Describe(s.At); text != "" {
		more(text)
	}
	if len(c.Pending) > 0 {
		more("awaits " + trace.CommandText(c.Pending))
	}
	if c.Source.File != "" && c.InStrategy() {
		more(fmt.Sprintf("at %s:%d", path.Base(c.Source.File), c.Source.Line))
	}
	return rows
}

func (r *annotated) nodeRows(s *trace.State, i int) []stateRow {
	n, name := &s.Nodes[i], r.Nodes[i]
	switch {
	case !n.Up:
		return []stateRow{{name, -1, "down"}}
	case len(n.Records) == 0:
		return []stateRow{{name, -1, "empty"}}
	}
	var rows []stateRow
	for j := range n.Records {
		rec := &n.Records[j]
		row := stateRow{name, -1, rec.Key + " = " + rec.Value}
		if rec.Owner != trace.Nobody {
			row.Ink = r.inkNumber(rec.Owner.Client)
			row.Text += " (" + r.Clients[rec.Owner.Client] + "'s)"
		}
		if rec.Expires == trace.Never {
			row.Text += ", no expiry"
		} else {
			row.Text += ", " + trace.Brief(rec.Left(s.At)) + " left"
		}
		rows = append(rows, row)
		name = ""
	}
	return rows
}
