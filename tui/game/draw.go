package game

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"lockstep/sim/explore"
	"lockstep/sim/trace"
	"lockstep/tui/code"
	"lockstep/tui/draw"
	"lockstep/tui/layout"
	"lockstep/tui/levels"
	"lockstep/tui/pane"
	"lockstep/tui/screen"
	"lockstep/tui/tried"
	"lockstep/tui/views"
)

const (
	numbered = 9                    // moves that have a key of their own
	year     = 365 * 24 * time.Hour // no move waits so long: only the probe does
)

// viewLeadsTo names the view, or the code, to which the view's key leads.
func (s *Game) viewLeadsTo() string {
	switch {
	case s.plan.Both():
	case s.coded:
		return "view: " + s.View()
	case s.NextView() == views.Timeline:
		return "view: code"
	}
	return s.NextView().Ahead(false)
}

// Draw puts the parts where the layout says.
func (s *Game) Draw(c *draw.Canvas, r draw.Rectangle) {
	goal := s.standing(r.W)
	var told []draw.Line
	if s.won() {
		told = s.debriefing(min(r.W, draw.LongestLine*3/2))
	}
	moves := len(s.options)
	if s.still != "" {
		moves++
	}
	l := layout.ArrangeGame(r.W, r.H+1, layout.GameWishes{Goal: len(goal), Moves: moves, Most: s.most, Debrief: len(told), Code: s.coded, CodeRows: 1 + len(code.Of(s.cfg.Strategy.File)), Diagram: s.diagramRows})
	s.plan = l
	for _, rule := range l.Rules {
		c.Fill(rule, s.Theme.Rule, draw.Dim)
	}
	s.drawAside(c, l.Rules[0])
	s.DrawNotice(c, l.Rules[1], l.Rules[1])
	s.DrawHeader(c, l.Header)
	c.Lines(l.Goal, goal, 0)
	s.DrawDiagram(c, l.Diagram, 0)
	if s.listsNothing() {
		c.Text(l.Diagram.X+1, l.Diagram.Y, l.Diagram.W-2, "this view lists what has happened: nothing yet", draw.Dim)
	}
	s.DrawStatus(c, l.Status)
	s.drawClock(c, l.Status)
	s.drawCode(c, l.Code)
	if s.won() {
		s.beyond = max(len(told)-l.Moves.H, 0)
		s.scroll = min(s.scroll, s.beyond)
		c.Lines(l.Moves, told, s.scroll)
		return
	}
	s.drawMoves(c, l.Moves)
}

// drawAside says, on a rule, in words what is broken without being the goal, or that something else was tried in the place of the
// last move: a row of its own would push all others down. The lock that withstands the moves is named once there are such moves.
func (s *Game) drawAside(c *draw.Canvas, rule draw.Rectangle) {
	text := ""
	if !s.won() {
		text = s.sideEffects(rule.W - 4)
	}
	if up := s.here.Parent; up != nil && len(up.Tried) > 1 {
		others := len(up.Tried) - 1
		text = fmt.Sprintf(" in place of your last move you have tried %s: %s %s there ", draw.Plural(others, "other"),
			draw.Either(others == 1, s.Keys.Next.Help().Key, s.Keys.Previous.Help().Key+" and "+s.Keys.Next.Help().Key), draw.Either(others == 1, "goes", "go"))
	}
	c.Text(rule.X+1, rule.Y, rule.W-2, text, draw.Plain)
}

// sideEffects names the codes that the run shows so far, the latest first, as far as there is room, and says that they aren't the goal: as they
// come, a reader may never have met them, or take them for it.
func (s *Game) sideEffects(room int) string {
	var told trace.Verdict
	text, after := "", ""
	for i := len(s.Run.Violations) - 1; i >= 0; i-- {
		code := s.Run.Violations[i].Code
		if slices.Contains(told, code) {
			continue
		}
		named := fmt.Sprintf("%s (%s)", code.Named(), code)
		if len(told) > 0 {
			if more := text + "; " + named; draw.Width(more+after) <= room {
				text = more
			}
			continue
		}
		told = append(told, code)
		text = "Broken: " + named
		if s.quest != nil && code != s.goal {
			text, after = "On the way: "+named, s.beside()
		}
		if draw.Width(text+after) > room {
			after = ". Not the goal."
		}
		if meaning := ": " + code.Meaning(); draw.Width(text+meaning+after) <= room {
			text += meaning
		}
	}
	return draw.Either(text == "", "", " "+text+after+" ")
}

// explain gives the meaning of the last violation, if that isn't the goal: once, as the code stands on the screen from then on.
func (s *Game) explain() {
	if n := len(s.Run.Violations); n > 0 && s.quest != nil {
		if code := s.Run.Violations[n-1].Code; code != s.goal && !slices.Contains(s.met, code) {
			s.met = append(s.met, code)
			s.Notice = fmt.Sprintf("%s (%s).", trace.Capital(levels.Meaning(code)), code)
		}
	}
}

// beside says of a code that isn't the goal what it is to the reader: it may look like the end of the level.
func (s *Game) beside() string {
	return ". Not the goal" + draw.Either(s.known && s.refused == nil && s.hint.Reachable, ", which can still be reached.", ".")
}

// listsNothing reports whether the view is a list of events, and there is none.
func (s *Game) listsNothing() bool { return s.Run.Last() == 0 && slices.Contains(lists[:], s.View()) }

// lists are the views that have a row for each event.
var lists = [...]string{views.Ladder.String(), views.Trace.String()}

// diagramRows is how many of the rows on offer the view of the run takes: a list of events no more than there are.
func (s *Game) diagramRows(rows int) int {
	if slices.Contains(lists[:], s.View()) {
		rows = min(rows, s.Run.Last()+2)
	}
	return s.DiagramRows(rows)
}

// drawClock puts the instant at which the game stands above the event, where time has passed since, and says of a client that
// has finished how its attempt failed, if it did. The end of the run is at no instant that tells anything.
func (s *Game) drawClock(c *draw.Canvas, r draw.Rectangle) {
	if s.quest != nil && s.drained && s.Pos == s.Run.Last() {
		c.Fill(draw.Rect(r.X, r.Y, r.W, 1), " ", draw.Plain)
		l := draw.Line{draw.Text(" in the end  ", draw.Strong), draw.Text(draw.Either(s.State.At > year, "a test client asks "+draw.Times(tried.Probed(s.Run.Trace))+", the last time ten years later", "a test client asks for the lock"), draw.Plain)}
		c.Line(r.X, r.Y, r.W, l.Fitted(r.W, s.Theme.More))
		return
	}
	e, number, told, why := s.Run.Event(s.Pos), "", "", ""
	if e != nil {
		number, told = fmt.Sprintf("#%d  ", e.Seq), s.Run.Actor(e)+" "+s.Run.Text(e)
		why = draw.Either(e.Kind == trace.KindDone, s.inVain(e.Client), "")
	}
	var l draw.Line
	switch {
	case s.now > s.State.At && s.Pos == s.Run.Last():
		l = draw.Line{draw.Text(" "+trace.Brief(s.now)+"  ", draw.Strong), draw.Text(draw.Either(e == nil, "nothing has happened yet", "last event, at "+trace.Brief(s.State.At)+": "), draw.Plain), draw.Text(number, draw.Dim), draw.Text(told+why, draw.Dim)}
	case why != "":
		l = draw.Line{draw.Text(" "+trace.Brief(e.At)+"  ", draw.Strong), draw.Text(number, draw.Plain), draw.Text(told+why, draw.Plain)}
	default:
		return
	}
	if l.Width() > r.W { // the trace has its number
		l = slices.Delete(l, len(l)-2, len(l)-1)
	}
	c.Fill(draw.Rect(r.X, r.Y, r.W, 1), " ", draw.Plain)
	c.Line(r.X, r.Y, r.W, pane.ShortenedLine(l, r.W).Fitted(r.W, s.Theme.More))
}

// standing is the goal and the distance to it, in a few rows.
func (s *Game) standing(width int) []draw.Line {
	t := draw.Paragraphs{Width: width}
	if s.quest == nil {
		t.Add(draw.Strong, "", "Go on from here as you like; anything may go wrong. So far "+draw.Plural(s.here.Depth, "move")+". "+s.Keys.Scenario.Help().Key+" lists the levels.")
		return t.Lines
	}
	title := s.title
	if title != "" {
		title += ": "
	}
	goal := fmt.Sprintf("%s (%s)", s.goal.Named(), s.goal)
	if s.won() {
		t.Add(draw.Good, "", s.Theme.Granted+" GOAL REACHED! "+draw.Either(title != "", title, "It is ")+goal+".")
		return t.Lines
	}
	task, goal := title+s.task, "Goal: "+goal
	bare, rules := s.packed(width-1, task, goal+draw.Either(s.goal == trace.PD, ": "+deadlock, "")+".")
	full, told := s.packed(width-1, task, goal+": "+levels.Meaning(s.goal)+".")
	if rows := func(a, b string) int { return len(draw.Wrap(a, width-1)) + len(draw.Wrap(b, width-1)) }; rows(full, told) == rows(bare, rules) {
		bare, rules = full, told
	}
	t.Add(draw.Strong, "", bare)
	t.Add(draw.Plain, "", rules)
	text, k := s.outlook(width)
	t.Add(k, "", text)
	return t.Lines
}

// packed are the task and the goal with the rules of the level behind them: each behind the one that takes no further row for it.
func (s *Game) packed(width int, task, goal string) (string, string) {
	for _, rule := range s.rules() {
		if len(draw.Wrap(task+rule, width)) == len(draw.Wrap(task, width)) {
			task += rule
		} else {
			goal += rule
		}
	}
	return task, goal
}

// rules say how often each client asks, which faults are allowed, and how long a lease is.
func (s *Game) rules() []string {
	allowed := " Allowed: " + strings.TrimPrefix(screen.FaultsText(s.bounds), "at most ")
	rules := []string{s.asks(), strings.TrimSuffix(allowed, " of a client") + "."}
	if all, n := s.cfg.Strategy.Nodes, len(s.cfg.Nodes); n > 1 {
		rules = append(rules, " "+draw.Plural(n, "server")+draw.Either(n < all, fmt.Sprintf(", not %d.", all), "."))
	}
	return append(rules, s.lease())
}

// lease says what ends by itself, and when, in the terms of the goal: where a record is to be left for ever it is the record, and a
// client that is to be refused at once, or hit by a command that comes twice, needs no time to pass.
func (s *Game) lease() string {
	ttl, faults := trace.Brief(s.cfg.TTL), s.bounds.Faults
	faults[explore.ReplyLost], faults[explore.Duplicate] = 0, 0
	switch {
	case s.cfg.Strategy.NoTTL:
		return " Records don't expire."
	case s.goal == trace.PD:
		return " The TTL is " + ttl + "."
	case (s.goal == trace.FN || s.goal == trace.FR) && faults == explore.Budget{}:
		return ""
	}
	return " A lock lasts " + ttl + " (its lease)."
}

// asks says how often each client asks for the lock, where it is as often as the others.
func (s *Game) asks() string {
	first := &s.cfg.Clients[0]
	for i := range s.cfg.Clients {
		if c := &s.cfg.Clients[i]; c.Cycles != first.Cycles || c.Insist > 0 {
			return ""
		}
	}
	text := " Each client asks once"
	if first.Cycles > 1 {
		text = fmt.Sprintf(" Each client asks %d times", first.Cycles)
	}
	switch n := s.cfg.Retry.Tries; {
	case n == 0:
		return text + ", until it gets the lock."
	case n > 1:
		return fmt.Sprintf("%s, in up to %d tries.", text, n)
	}
	return text + "."
}

// drawMoves lists the moves that can be made, in columns. Those that have no number are reached by the
// cursor's keys, which the rule above says.
func (s *Game) drawMoves(c *draw.Canvas, r draw.Rectangle) {
	if len(s.options) > numbered {
		choose := screen.Pair(s.Keys.Up, s.Keys.Down, "").Help().Key
		c.Text(r.X+1, r.Y-1, r.W-2, fmt.Sprintf(" %s: 1 to %d, or %s and %s ", draw.Plural(len(s.options), "move"), numbered, choose, s.Keys.Enter.Help().Key), draw.Dim)
	}
	if n := draw.Wrap("  "+s.still, r.W-1); s.still != "" && len(s.options) <= (r.H-len(n))*s.plan.Columns { // below the moves, where they leave room
		for i, text := range n {
			c.Text(r.X+1, r.Y+r.H-len(n)+i, r.W-1, text, draw.Dim)
		}
		r.H -= len(n)
	}
	per := max(r.H*s.plan.Columns, 1)
	s.first = draw.InSight(s.first, max(s.at, 0), per, len(s.options))
	rows := make([]draw.Line, 0, per)
	for i := s.first; i < len(s.options) && i-s.first < per; i++ {
		rows = append(rows, s.moveLine(i, i == s.first && s.first > 0 || i-s.first == per-1 && i < len(s.options)-1))
	}
	if len(rows) > r.H {
		if n := s.half(len(rows), r.H); draw.Widest(rows[:n])+draw.Widest(rows[n:])+1 <= r.W {
			r.H = n
		}
	}
	s.plan.Rows = r.H
	s.plan.Left = draw.LeftOf(rows, r, s.plan.Columns)
	for n, l := range rows {
		x, width := r.X, s.plan.Left-1
		if n >= r.H {
			x, width = r.X+s.plan.Left, r.W-s.plan.Left
		}
		c.Line(x, r.Y+n%r.H, width, pane.ShortenedLine(l, width).Fitted(width, s.Theme.More))
	}
}

// half is the number of moves in sight before the second column: none stands alone beside a full one, and the moves of one client
// stand together, as do those of time and those of servers, where there are rows for that.
func (s *Game) half(moves, rows int) int {
	half := (moves + 1) / 2
	for n := half; n <= rows && n < moves; n++ {
		if s.options[s.first+n-1].group() != s.options[s.first+n].group() {
			return n
		}
	}
	return half
}

// moveLine is a move in the list, with a mark if there are more beyond it.
func (s *Game) moveLine(i int, more bool) draw.Line {
	o := &s.options[i]
	mark, number := "  ", "  "
	if i == s.at {
		mark = s.Theme.Pointer + " "
	}
	if more {
		mark = s.Theme.More + mark[len(mark)-1:]
	}
	if i < numbered {
		number = fmt.Sprintf("%d ", i+1)
	}
	l := draw.Line{draw.Text(mark, draw.Here), draw.Text(number, draw.Dim), draw.Text(o.name, o.ink)}
	if i == s.at {
		l[2].Ink = draw.Pick
	}
	return l
}

// drawCode shows what each client does, and the code, with the line on which each of them stands: that of the command that it
// sends next, or whose reply it awaits. The lines about the client at the cursor are in sight.
func (s *Game) drawCode(c *draw.Canvas, r draw.Rectangle) {
	if r.Empty() {
		return
	}
	if s.at != none && s.at < len(s.options) && s.options[s.at].client != trace.None {
		s.recent = s.options[s.at].client
	}
	heads := s.heads(r.W)
	heads = heads[:min(len(heads), r.H)]
	c.Lines(draw.Rect(r.X, r.Y, r.W, len(heads)), heads, 0)
	names := draw.ShortNames(s.Run.Clients)
	var places, idle []code.Place
	for i := range s.cfg.Clients {
		p := s.place(i)
		p.Name, p.Ink = names[i], draw.ClientInk(i)
		if s.Pos > 0 && !s.Run.Begun(i, s.Pos) { // before the first event the names say where all will begin
			p.Name = ""
		}
		switch {
		case !p.Stands:
			idle = append(idle, p)
		case p.Broken || i == s.recent && (len(places) == 0 || !places[0].Broken):
			places = slices.Insert(places, 0, p)
		default:
			places = append(places, p)
		}
	}
	code.Draw(c, draw.Rect(r.X+1, r.Y+len(heads), r.W-1, r.H-len(heads)), append(places, idle...), s.Theme)
}

// heads say what each client does: side by side, as far as a row has room for them.
func (s *Game) heads(width int) (rows []draw.Line) {
	own := width / max(len(s.cfg.Clients), 1) // columns for each, if they share one
	for i, client := range s.cfg.Clients {
		l := draw.Line{draw.Text(" "+client.Name+"  ", draw.ClientInk(i))}
		l = append(l, draw.Text(s.doing(i, own-l.Width()-1), draw.Plain))
		n := len(rows) - 1
		if n < 0 || max(rows[n].Width()+1, i*own)+l.Width() > width && rows[n].Width()+1+l.Width() > width {
			rows = append(rows, l)
			continue
		}
		at := min(max(rows[n].Width()+1, i*own), width-l.Width()) // each begins at its own place, if it can
		rows[n] = append(append(rows[n], draw.Text(strings.Repeat(" ", at-rows[n].Width()), draw.Plain)), l...)
	}
	return rows
}

// doing is the state of a client, in words for which there is room.
func (s *Game) doing(client, room int) string {
	st := &s.State.Clients[client]
	text := st.Doing() + draw.Either(st.Stopped, s.inVain(client), "")
	if st.Pending != nil && !st.Paused && s.Pos == s.Run.Last() {
		switch next := &s.next[client]; {
		case next.due > 0:
			text = "waits for a reply, until " + trace.Brief(s.now+next.due)
		case next.does == trace.KindTimeout:
			text = "has waited for a reply in vain"
		case next.does == trace.KindReceive:
			text = "has a reply to read"
		}
	}
	if !st.Lease.Believed || st.Phase == trace.PhaseWork { // a client that works there thinks so
		return text
	}
	if thinks := text + ", thinks it has the lock"; draw.Width(thinks) <= room {
		return thinks
	}
	text = strings.Replace(text, "granted, not inside", "granted", 1)
	return text + draw.Either(draw.Width(text)+draw.Width(", thinks it has the lock") <= room, ", thinks it has the lock", ", thinks it has it")
}

// ends says how an attempt to get the lock has ended, of a client that makes no other.
var ends = map[trace.Kind]string{trace.KindGranted: "", trace.KindRefused: ": was refused, and gives up", trace.KindFailed: ": got an error, and gives up"}

// inVain says of a client that has finished how its last attempt failed, if it did.
func (s *Game) inVain(client int) (how string) {
	for i := range s.Run.Events[:s.Pos] {
		if text, is := ends[s.Run.Events[i].Kind]; is && s.Run.Events[i].Client == client {
			how = text
		}
	}
	return how
}

// place is where a client is in the code.
func (s *Game) place(client int) (p code.Place) {
	st, own := &s.State.Clients[client], s.cfg.Strategy.File
	at := trace.Source{}
	if client < len(s.next) {
		at = s.next[client].source
	}
	if at.File == "" && st.Pending != nil && st.InStrategy() {
		at = st.Source
	}
	p.File, p.Line = code.At(at, own)
	p.Stands = p.Line > 0 && p.Line <= len(p.File.Lines)
	if broken, by, _ := s.broken(); by == client && s.Pos == s.Run.Last() { // not while it is replayed
		p.File, p.Line = code.At(trace.Source{File: "strategies/" + broken.File, Line: broken.Line}, own)
		p.Stands, p.Broken = true, true
	}
	if p.Line == 0 && (st.Stopped || st.Crashed) {
		p.File, p.Line = s.lastLine(client)
	}
	if p.Line == 0 {
		p.Line = code.LineOf(p.File.Lines, draw.Either(st.Phase == trace.PhaseIdle || st.Phase == trace.PhaseAcquire, ") Acquire(", ") Release("))
	}
	if p.Line == 0 { // the function is another lock's
		p.File, p.Line = s.lastLine(client)
	}
	return p
}

// lastLine is the last line of the lock on which a client has stood; 0 if there is none.
func (s *Game) lastLine(client int) (code.File, int) {
	for i := s.Pos - 1; i >= 0; i-- {
		if e := &s.Run.Events[i]; e.Client == client && e.Source.File != "" {
			if file, line := code.At(e.Source, s.cfg.Strategy.File); line > 0 {
				return file, line
			}
		}
	}
	return code.At(trace.Source{}, s.cfg.Strategy.File)
}
