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
	"slices"
	"strings"

	"lockstep/sim/timeline"
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

// Page is a player's surroundings.
type Page struct {
	Other *trace.Trace // a run of the same scenario, shown below in step with the page's own; or nil
	Links []Link       // to other pages, in this order

	Before, After string // words of a talk, told above the player and, for who asks for them, below it; may be empty
}

// Link leads from a page to another one of the same site.
type Link struct{ To, Text string }

// HTML returns a page with a player in it and nothing around it: see [Page.HTML].
func HTML(t *trace.Trace) string { return Page{}.HTML(t) }

// HTML returns one page with a player in it: the timeline with the future hidden, and at
// every event the state, its changes, the note and the line of the strategy. It opens at the
// first failure that its script expects, or else at the first of all; with another run below, at the first
// that only one of the two shows; and at the beginning if its script asks its readers anything.
// The page makes no request to the network, and its own policy forbids any.
// States are folded and put into words here; the page's script only selects among them.
func (p Page) HTML(t *trace.Trace) string {
	d, data, other := p.contents(t)
	encoded, err := json.Marshal(data)
	if err != nil {
		panic("export: a trace of strings and numbers does not marshal: " + err.Error())
	}
	var text strings.Builder
	timeline.Plain(&text, t) //nolint:errcheck // a Builder takes everything
	digest := sha256.Sum256([]byte(pageScript))
	unmet := ""
	if expectation, met := t.Expectation(); !met && !data.asks { // else the end tells it, behind the answers
		unmet = sentence(expectation)
	}
	var b bytes.Buffer
	if err := page.Execute(&b, map[string]any{
		"Unmet": unmet,
		"Trace": t, "Links": p.Links, "Before": p.Before, "After": p.After, "Heading": d.heading(), "Last": d.Last(), "Poster": data.Poster, "Plain": text.String(),
		"Policy":   "default-src 'none'; base-uri 'none'; form-action 'none'; style-src 'unsafe-inline'; script-src 'sha256-" + base64.StdEncoding.EncodeToString(digest[:]) + "'",
		"Style":    template.CSS(pageStyle),     //nolint:gosec // ours
		"Script":   template.JS(pageScript),     //nolint:gosec // ours
		"Data":     template.JS(encoded),        //nolint:gosec // JSON, in which < > and & are escaped
		"Timeline": template.HTML(d.canvas("")), //nolint:gosec // every text in it has gone through escape
		"Second":   template.HTML(other),        //nolint:gosec // the same
	}); err != nil {
		panic("export: the page cannot be written: " + err.Error())
	}
	return b.String()
}

// contents are the drawing of a page, the data for its script, and the second drawing, which may be empty.
func (p Page) contents(t *trace.Trace) (d *drawing, data *pageData, other string) {
	if p.Other == nil {
		d = draw(t, true)
		data = d.pageData()
		data.ask(d.QuestionsApart())
		return d, data, ""
	}
	runs := [2]*annotated{read(t), read(p.Other)}
	al := timeline.Align(runs[0].Timeline, runs[1].Timeline)
	axes := alignedAxes(al, runs, plot)
	d = drawOn(runs[0], axes[0], true)
	below := drawOn(runs[1], axes[1], true)
	data = d.pageData()
	data.Other = d.compared(below, al)
	if part, any := al.Unshared(); any {
		data.Start, data.Poster = max(1, al.Steps[part.Step][0]), parts(al, part)
	} else if data.Poster == breaks {
		data.Poster = strings.TrimSuffix(breaks, ".") + "; " + below.Strategy + " breaks in no other way in this run."
	}
	data.ask(d.QuestionsApart())
	return d, data, below.canvas("-2")
}

// ask has a page open at the beginning if its script asks anything: to show first what breaks gives the answer away.
func (f *pageData) ask(questions []timeline.Question) {
	if slices.ContainsFunc(questions, func(q timeline.Question) bool { return q.Script }) {
		f.Start, f.Poster, f.asks = 0, "", true
	}
}

// sentence is a clause as a sentence.
func sentence(s string) string {
	if s == "" {
		return ""
	}
	return trace.Capital(s) + "."
}

// breaks is said where a page opens at a failure.
const breaks = "Here it breaks."

// parts says what one of two runs shows and the other does not.
func parts(al *timeline.Alignment, part timeline.Unshared) string {
	this, other, code := al.Runs[part.Side].Strategy, al.Runs[1-part.Side].Strategy, part.Breach.Code
	shows := "no " + code.String()
	if part.Fellows > 0 {
		shows = fmt.Sprintf("no more than %d %s", part.Fellows, code)
	}
	return fmt.Sprintf("Here %s breaks (%s, %s), and %s shows %s in this run.", this, code, code.Name(), other, shows)
}

// hiddenWords stand in the part of the picture that is hidden: the first that fits there.
var hiddenWords = []string{"what comes next is hidden", "hidden"}

// canvas is the timeline with the cursor and the fog that the script moves. The parts that it moves are
// known by names with a suffix.
func (d *drawing) canvas(suffix string) string {
	p := &pen{}
	width := labels + d.end + margin
	p.printf(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d" role="img" aria-label="Timeline: the rows are clients, servers and the resource">`,
		width, d.height+8, width, d.height+8)
	if suffix == "" { // the page needs them once
		p.WriteString(style + definitions)
	}
	p.WriteString(d.String())
	p.printf(`<rect id="fog%s" class="ls-fog" x="%d" y="0" width="%d" height="%d"/>`, suffix, width, width, d.height+8) // until the script moves it, nothing is hidden
	p.printf(`<text id="later%s" class="ls-normal ls-dim" x="%d" y="%d">%s</text><g id="over%s" transform="translate(%d 0)"></g>`, suffix, width, ruler+4, hiddenWords[0], suffix, labels)
	p.group(labels, 0, &d.over)
	p.printf(`<g id="cursor%s" transform="translate(%d 0)"><path class="ls-cursor" d="M0 %dV%d"/><path class="ls-fg" d="M-6 %dH6L0 %dZ"/><text id="clock%s" class="ls-small ls-bold ls-mid ls-fg ls-clock" y="%d"></text></g>`,
		suffix, labels, ruler, d.height, ruler-8, ruler+1, suffix, ruler-12)
	p.printf(`<g id="names%s"><rect class="ls-bg" width="%d" height="%d"/>`, suffix, labels-9, d.height)
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

	Start     int        `json:"start"`  // the position at which the page opens
	Poster    string     `json:"poster"` // the words about that position
	Questions []question `json:"questions"`
	Legend    []sign     `json:"legend"`
	Hidden    []string   `json:"hidden"` // words for the part that is hidden
	Other     *second    `json:"other,omitempty"`
	Expected  string     `json:"expected,omitempty"` // whether the verdict is the one that the script's author expects
	asks      bool       // the script asks its readers something
}

// question is a prediction that the reader is asked for.
type question struct {
	Pos     int      `json:"pos"`
	Until   int      `json:"until"`
	Text    string   `json:"text"`
	Lead    string   `json:"lead,omitempty"`
	Choices []string `json:"choices"`
	Right   int      `json:"right"`
	Lesser  []int    `json:"lesser,omitempty"` // choices that are true, too, and not the worst
	Why     string   `json:"why"`
	Told    int      `json:"told,omitempty"` // of one of the script's: the position at which the answer is told to those, too, who haven't been asked
	Then    string   `json:"then,omitempty"` // its text there, of its moment, which is no later one there
}

// sign is an entry of the legend: a bar with a class, or a mark with a path.
type sign struct {
	X     int    `json:"x"` // from which on it is to be seen
	Class string `json:"class"`
	Path  string `json:"path,omitempty"`
	Text  string `json:"text"`
}

// second is the run that is shown below.
type second struct {
	Name    string   `json:"name"`
	Verdict string   `json:"verdict"`
	At      []int    `json:"at"` // its position, by the position of the first, as are the next two
	X       []int    `json:"x"`  // of the cursor, which is never left of the first's
	Times   []string `json:"times"`
	Holders []string `json:"holders"` // by its own position, as the next
	Broken  []string `json:"broken"`  // the codes so far
}

// compared describes another run for the player's script.
func (d *drawing) compared(o *drawing, al *timeline.Alignment) *second {
	s := &second{Name: o.Strategy, Verdict: o.Verdict().String(), At: make([]int, d.Last()+1)}
	for _, step := range al.Steps {
		s.At[step[0]] = step[1]
	}
	for pos, state := range statesOf(o.Trace) {
		all, _ := o.Breached(pos)
		var codes trace.Verdict
		for _, b := range all {
			codes = append(codes, b.Code)
		}
		broken := ""
		if len(codes) > 0 {
			worst := codes.Sorted()
			broken = severity(worst[0]) + " " + worst.String()
		}
		s.Holders = append(s.Holders, o.Holders(state))
		s.Broken = append(s.Broken, broken)
	}
	for pos, at := range s.At {
		s.X = append(s.X, labels+max(o.x[at], d.x[pos]))
		s.Times = append(s.Times, trace.Brief(al.Clock(pos, at)))
	}
	return s
}

// signs are the entries of the legend.
func (d *drawing) signs() []sign {
	all := []sign{}
	for _, bar := range barWords {
		if x, is := d.used[kindOfBar(bar.class)]; is {
			all = append(all, sign{X: labels + x, Class: bar.class, Text: bar.what})
		}
	}
	for _, g := range glyphWords {
		if x, is := d.used[g.name]; is {
			all = append(all, sign{labels + x, glyphClass(g.name, "0"), glyphs[g.name], g.what})
		}
	}
	if x, is := d.used[idle]; is {
		all = append(all, sign{labels + x, "ls-f0", "M-2 0A2 2 0 1 0 2 0A2 2 0 1 0-2 0Z", idleWords})
	}
	return all
}

// frame is one position.
type frame struct {
	X       int    `json:"x"` // of the cursor
	Time    string `json:"time"`
	Ink     int    `json:"ink"` // of the event's actor, or -1
	Holders string `json:"holders"`
	Level   int    `json:"level"` // 0 calm, 1 something is broken or two clash, 2 something has just broken
	Rows    []int  `json:"rows"`
	Fresh   []int  `json:"fresh"`   // which of Rows the event changed
	Source  *place `json:"source"`  // where the event comes from
	Stands  []spot `json:"stands"`  // where the clients stand
	Chapter int    `json:"chapter"` // index of the last one that has begun, or -1
	Broken  int    `json:"broken"`  // how many of Breaks are complete

	Clash string   `json:"clash,omitempty"` // the fact that makes two believers a violation
	Dated []string `json:"dated,omitempty"` // the words before each of the chapter's notes; or none at all
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

// chapter has the notes of one position.
type chapter struct {
	Pos   int    `json:"pos"`
	Notes []said `json:"notes"`
}

type said struct {
	Kind   string `json:"kind"`
	Text   string `json:"text"`
	Answer string `json:"answer,omitempty"`
	Until  int    `json:"until,omitempty"` // of a question: the position from which on the answer stands beside it
}

type breach struct {
	Pos    int    `json:"pos"`
	Sign   string `json:"sign"` // "!!", or "~" of a violation that is reported and no failure
	Code   string `json:"code"`
	Name   string `json:"name"`
	Text   string `json:"text"`
	Cause  string `json:"cause"`
	Events []int  `json:"events"` // positions that the proving events lead to
}

type source struct {
	File string `json:"file"`
	Code string `json:"code"`
}

func (d *drawing) pageData() *pageData {
	f := &pageData{Trace: d.Trace, Chapters: []chapter{}, Breaks: []breach{}, Sources: []source{}, Questions: []question{}, Legend: d.signs(), Hidden: hiddenWords}
	expectation, _ := d.Expectation()
	f.Expected = sentence(expectation)
	questions := d.QuestionsApart()
	for i := range d.Notes {
		n := &d.Notes[i]
		pos := d.Before(n.Seq)
		if k := len(f.Chapters); k == 0 || f.Chapters[k-1].Pos != pos {
			f.Chapters = append(f.Chapters, chapter{Pos: pos})
		}
		c := &f.Chapters[len(f.Chapters)-1]
		c.Notes = append(c.Notes, said{n.Kind.String(), n.Prose(), n.Answer, d.settled(n, questions)})
	}
	for _, q := range questions {
		asked := question{Pos: q.Pos, Until: q.Until, Text: strings.Join(append(d.Leading(&q), q.Worded(q.Text, d.Now(q.Pos))), " "), Lead: q.Lead, Choices: q.Choices, Right: q.Right, Lesser: q.Lesser, Why: q.Why}
		if q.Script {
			asked.Told, asked.Then = q.Said, q.Text
		}
		f.Questions = append(f.Questions, asked)
	}
	awaited := false // it opens at the first failure, and rather at one that the author of the script expects
	for i := range d.Violations {
		v := &d.Violations[i]
		b := breach{Pos: d.After(v.Last()), Sign: severity(v.Code), Code: v.Code.String(), Name: v.Code.Name(), Text: v.Text, Cause: d.Cause(timeline.Breach{Violation: v, Pos: d.After(v.Last())})}
		if expected := slices.Contains(strings.Fields(d.Expected), b.Code); f.Start == 0 && v.Code.Failure() || expected && !awaited {
			f.Start, awaited, f.Poster = b.Pos, expected, breaks
			if !v.Code.Failure() {
				f.Poster = fmt.Sprintf("Here it shows %s (%s), which is no failure.", b.Code, b.Name)
			}
		}
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

// settled is the position from which on the answer to a question of the script is no secret: the state is
// beside it there. Of other notes it means nothing.
func (d *drawing) settled(n *trace.Note, questions []timeline.Question) int {
	pos := d.Before(n.Seq)
	for _, q := range questions {
		if q.Said == pos && q.Then == n.Prose() || q.Text == n.Prose() {
			return max(pos, q.Until)
		}
	}
	return pos
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
	if fr.Chapter >= 0 {
		fr.Dated = d.dated(f.Chapters[fr.Chapter].Pos, pos)
	}
	if fr.Clash = d.Clash(pos); fr.Clash != "" {
		fr.Level = 1
	}
	for _, b := range f.Breaks {
		if b.Pos <= pos {
			fr.Broken++
		}
		if b.Sign != alarm {
			continue
		}
		if b.Pos <= pos {
			fr.Level = max(fr.Level, 1)
		}
		if b.Pos == pos {
			fr.Level = 2
		}
	}
	return fr
}

// dated are the words before each of the notes of one place at a position, or nil if there are none.
func (d *drawing) dated(place, pos int) []string {
	var all []string
	for i := range d.Notes {
		if n := &d.Notes[i]; d.Before(n.Seq) == place {
			all = append(all, d.Marked(n, pos, d.When(pos)))
		}
	}
	if !slices.ContainsFunc(all, func(s string) bool { return s != "" }) {
		return nil
	}
	return all
}

// frameRows returns the state at a position, as indices of the data's rows, and as fresh the
// rows that the event before it has changed.
func (d *drawing) frameRows(pos int, states []*trace.State, f *pageData, known map[stateRow]int) (rows, fresh []int) {
	s := states[pos]
	before := *states[max(pos-1, 0)]
	before.At = s.At // so that changes by time alone do not count
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
// by a position, each node's records, and the resource.
func (r *annotated) stateRows(s *trace.State, pos int) []stateRow {
	var rows []stateRow
	for i := range s.Clients {
		if r.takesPart(i) && (r.Clients[i] != trace.Probe || r.Begun(i, pos)) {
			rows = append(rows, r.clientRows(s, i)...)
		}
	}
	for i := range s.Nodes {
		rows = append(rows, r.nodeRows(s, pos, i)...)
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
	return append(rows, stateRow{"resource", -1, store})
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

func (r *annotated) nodeRows(s *trace.State, pos, i int) []stateRow {
	n, name := &s.Nodes[i], r.Nodes[i]
	switch {
	case !n.Up:
		return []stateRow{{name, -1, "down"}}
	case r.Moments[pos].Nodes[i].Successor != trace.None:
		return []stateRow{{name, -1, r.RetiredTexts(i, pos)[0]}}
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
