package timeline

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"lockstep/sim/trace"
)

// Question is a prediction that a reader is asked to make. It comes from the run: the right
// answer is computed, and so are the plausible wrong ones.
//
// Invariants: 0 <= Pos < Until <= Last; 2 <= len(Choices) <= 5; 0 <= Right < len(Choices).
type Question struct {
	Pos     int // the position at which it is asked: before the event that decides it
	Until   int // the position at which the answer is to be seen
	Text    string
	Spoken  string // for a room, which sees no numbers of events; empty if it is Text
	Choices []string
	Lead    string // words before the choices, if the question doesn't introduce them
	Right   int
	Lesser  []int         // of one for the worst: the choices that come true, too, and are not the worst
	Why     string        // the event or the state that proves the answer
	Script  bool          // it is one of the script's
	Note    int           // of one of the script's: the Index of its note
	Then    string        // of one of the script's: its text at the answer
	Said    int           // of one of the script's: the position of its words, or that of an answer after them
	At      time.Duration // of one of the script's: the instant of that
	Moment  time.Duration // of one of the script's, not about the verdict: the instant with which its text begins
	Tells   string        // of one of the script's that keeps its own moment: the earlier violation or refusal that may tell its answer, and advice
	Of      *trace.Event  // the command that its text names, of the moment after which it is asked, or nil

	about string // of one of the script's: as its note has it; of one for the worst: verdict
}

// verdict is the subject of a question for the worst that comes of a run.
const verdict = "verdict"

// Words by which an author's text asks for the worst, or of the end, or names its moment. The program doesn't say the same around it then.
var (
	namesWorst  = regexp.MustCompile(`(?i)\bworst\b`)
	namesEnd    = regexp.MustCompile(`(?i)\b(in the end|at the end)\b`)
	namesMoment = regexp.MustCompile(`(?i)\b(once|as soon as|by the time|after)\b[^.?!]*\?`)
	namesTime   = regexp.MustCompile(`(?i)\b(at|after|before|by|until|from|t ?=) ?(t ?= ?)?\d+(\.\d+)? ?` + unitOfTime + `\b|\b` + spanOfTime + ` (later|earlier|before|after)\b`)
	namesSpan   = regexp.MustCompile(`(?i)\b` + spanOfTime + ` later\b`)
)

const (
	unitOfTime = `(ms|s|secs?|min|h|milliseconds?|seconds?|minutes?|hours?)`
	spanOfTime = `(\d+(?:\.\d+)? ?|(?:an?|half an?|one|two|three|four|five|six|ten|twenty|thirty|sixty) )` + unitOfTime
)

// numbers are the words for them in [spanOfTime].
var numbers = map[string]float64{"a": 1, "an": 1, "half a": 0.5, "half an": 0.5, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6,
	"ten": 10, "twenty": 20, "thirty": 30, "sixty": 60}

// Later is the span that an author's words name since the words before, such as "a minute later", and its text there; or nothing.
func (q *Question) Later() (words string, span time.Duration) {
	said := namesSpan.FindStringSubmatch(q.Then)
	if !q.Script || said == nil {
		return "", 0
	}
	number, unit, one := strings.ToLower(strings.TrimSpace(said[1])), strings.ToLower(said[2]), time.Second
	n, err := strconv.ParseFloat(number, 64)
	if err != nil {
		n = numbers[number]
	}
	switch {
	case unit == "ms", strings.HasPrefix(unit, "milli"):
		one = time.Millisecond
	case strings.HasPrefix(unit, "m"):
		one = time.Minute
	case strings.HasPrefix(unit, "h"):
		one = time.Hour
	}
	return said[0], time.Duration(n * float64(one))
}

// ForVerdict reports whether the worst that comes of the run is asked for.
func (q *Question) ForVerdict() bool { return q.about == verdict }

// Worded is the text of a question, or its text for a room, where the screen shows an instant: of a later one it says that this is still
// to come. The instant is left out where the author's words name an event: it may differ between the locks, and tell the answer.
func (q *Question) Worded(text string, now time.Duration) string {
	rest, dated := strings.CutPrefix(text, "At "+trace.Brief(q.Moment))
	switch {
	case !dated || q.Moment <= now:
		return text
	case namesMoment.MatchString(q.Then):
		return "Later" + rest
	}
	return "Later, at " + trace.Brief(q.Moment) + rest
}

// Dated is the instant that an author's words name, as they have it, or nothing: "at 63s", "a minute later".
func (q *Question) Dated() string {
	if !q.Script {
		return ""
	}
	return namesTime.FindString(q.Then)
}

// TellsEarly says, for the author of a script, that an event while a question is open may tell its answer, as its words, or a lease in between, keep it to
// its own moment; and what to do. It is empty for any other question.
func (q *Question) TellsEarly() string {
	if q.Tells == "" {
		return ""
	}
	return fmt.Sprintf("this question is open until %s, and %s", trace.Brief(q.Moment), q.Tells)
}

// SettledBy reports whether a question of another run is the same one and has the same answer.
func (q *Question) SettledBy(o *Question) bool {
	same := o.Text == q.Text
	if q.Script {
		same = o.Then == q.Then // a lock may take a millisecond more to get there
	}
	return same && o.Script == q.Script && slices.Equal(o.Choices, q.Choices) && o.Right == q.Right
}

// Leading are the words of a script that stand above one of its questions, with nothing but a wait between them, and that are told only
// where it is answered: those who are asked are to have them before, with their instant.
func (t *Timeline) Leading(q *Question) (words []string) {
	if !q.Script || q.about == verdict || q.Pos >= q.Said {
		return nil
	}
	for _, n := range t.Notes {
		if n.Kind == trace.NoteSay && n.Index < q.Note && n.At < q.At && t.Before(n.Seq) == q.Said {
			words = append(words, "Later, at "+trace.Brief(n.At)+": "+n.Prose())
		}
	}
	return words
}

// mostChoices is the greatest number of sets to choose from.
const mostChoices = 5

// mostOfAKind is the greatest number of questions of each derived kind in a run.
const mostOfAKind = 2

// Questions are the predictions of a run, in the order of asking:
// those of the script, and those about the points that decide the run: whether a client gets the lock
// that another one believes to hold, what a release does to a record that is no longer its
// own, and whether the resource takes a late write. A run with none of these asks what will
// come of it. None of them but the script's is asked while another one is open, and none but the script's shares a position with
// another one: see inTurn.
func (t *Timeline) Questions() []Question {
	q := quiz{Timeline: t, s: t.NewState()}
	for i := range t.Notes {
		if n := &t.Notes[i]; n.Kind == trace.NoteAsk && n.Answer != "" {
			q.script(n)
		}
	}
	q.inTurn()
	for i := range q.all {
		q.word(&q.all[i])
	}
	counts := [3]int{}
	asked := map[int]bool{}
	for i := range t.Events {
		e := &t.Events[i]
		if e.Client != trace.None && t.Clients[e.Client] != trace.Probe {
			for kind, ask := range [...]func(int) bool{q.entry, q.release, q.write} {
				if counts[kind] < mostOfAKind && !asked[4*e.Client+kind] && ask(i) {
					counts[kind]++
					asked[4*e.Client+kind] = true
				}
			}
		}
		q.s.Apply(e)
	}
	if len(q.all) == 0 && t.Last() > 1 {
		q.outcome(q.firstFault(), "What will come of this?")
	}
	return q.sorted()
}

// QuestionsApart are the questions for a view that asks only one at a position: of several that the script asks at one, each later one is
// asked at the next that is free before its answer, or else the one before it at the last that is free.
func (t *Timeline) QuestionsApart() []Question {
	q := quiz{Timeline: t, all: t.Questions()}
	q.spread()
	return q.sorted()
}

// sorted are the questions in the order of asking.
func (q *quiz) sorted() []Question {
	slices.SortStableFunc(q.all, func(a, b Question) int { return a.Pos - b.Pos })
	return slices.CompactFunc(q.all, func(a, b Question) bool { return a.Pos == b.Pos && !(a.Script && b.Script) })
}

func (q *quiz) spread() {
	taken := func(pos int) bool { return slices.ContainsFunc(q.all, func(o Question) bool { return o.Pos == pos }) }
	for i := range q.all {
		later := &q.all[i]
		before := slices.IndexFunc(q.all[:i], func(o Question) bool { return o.Pos == later.Pos })
		if !later.Script || before < 0 {
			continue
		}
		pos := later.Pos + 1
		for pos < later.Until && taken(pos) {
			pos++
		}
		if pos < later.Until {
			later.Pos = pos
			continue
		}
		for pos = later.Pos - 1; pos > 0 && taken(pos); pos-- {
		}
		q.all[before].Pos = max(pos, 0)
	}
}

// ask adds a question, unless another one is open then, and reports whether it has.
func (q *quiz) ask(asked Question) bool {
	if slices.ContainsFunc(q.all, func(o Question) bool { return asked.Pos < o.Until && o.Pos < asked.Until }) {
		return false
	}
	q.all = append(q.all, asked)
	return true
}

// quiz collects questions. s is the state before the event at hand.
type quiz struct {
	*Timeline
	s   *trace.State
	all []Question
}

// script takes over a question of the script, as written, after its instant. It is asked at words that come before, so that
// the event that decides it isn't on the screen, and answered at its own instant, of which its words are; or, where a violation or a
// refusal before that shows the answer, asked of that instant, and answered there: see answerEarly.
func (q *quiz) script(n *trace.Note) {
	at := q.Before(n.Seq)
	asked := Question{Pos: q.PreviousChapter(at), Until: at, Script: true, Note: n.Index, Then: n.Prose(), Said: at, At: n.At, about: n.About}
	switch n.About {
	case verdict:
		q.verdict(&asked)
		return
	case "record":
		asked.Choices, asked.Right = q.sets(at, holders(q.Timeline, q.StateAt(at), true), len(q.Nodes) > 1, q.records)
		q.answerEarly(&asked, true)
		if asked.Why = q.gone(at); n.Answer != trace.NoRecord {
			asked.Why = q.stored(at, n.Answer)
		}
	default:
		asked.Choices, asked.Right = q.sets(at, holders(q.Timeline, q.StateAt(at), false), true, q.names)
		q.answerEarly(&asked, false)
		asked.Why = q.Holders(q.StateAt(asked.Until))
	}
	if asked.Pos < asked.Until {
		q.all = append(q.all, asked)
	}
}

// word words a question of the script that is about an instant: by that, and by the event that tells it apart from others where it is asked.
func (q *quiz) word(asked *Question) {
	if asked.about == verdict {
		return
	}
	text, after := q.moment(asked, asked.record())
	asked.Text = text + ": " + asked.Then
	if after == nil && asked.Dated() != "" { // beside an instant that the author names, another one would be taken for a mistake
		asked.Text = asked.Then
		return
	}
	if by := q.carriedOut(asked.Pos, asked.Until); after == nil && asked.record() && by != nil && !namesMoment.MatchString(asked.Then) {
		asked.Text, asked.Of = text+behind(q.Timeline, by)+": "+asked.Then, by
	}
	if after != nil {
		asked.Spoken = q.spoken(asked.Pos, after) + ": " + asked.Then
		asked.Text = fmt.Sprintf("%s, right after event #%d of %d: %s", text, after.Seq, q.Event(q.Last()).Seq, asked.Then)
	}
}

// moment says of what moment a question of the script is asked: of its instant or, where there is another answer in that already
// where it is asked, or after it is told, of the event after which it has the right one.
func (q *quiz) moment(asked *Question, record bool) (text string, after *trace.Event) {
	asked.Moment = asked.At
	if asked.Until < asked.Said {
		asked.Moment = q.When(asked.Until)
	}
	text = "At " + trace.Brief(asked.Moment)
	answer := holders(q.Timeline, q.StateAt(asked.Until), record)
	for pos := 1; pos <= q.Last(); pos++ {
		if (pos <= asked.Pos || pos > asked.Until) && q.When(pos) == asked.Moment && holders(q.Timeline, q.StateAt(pos), record) != answer {
			return text, q.Event(asked.Until)
		}
	}
	return text, nil
}

// carriedOut is the last command of a client that may write, and that the only server carries out in the instant of an answer and since
// its question, or nil. Before it there may have been another answer, so the question says that it is asked of the moment after it:
// whether or not it changes anything, which would be the answer.
func (q *quiz) carriedOut(asked, until int) *trace.Event {
	for pos := until; pos > asked && q.When(pos) == q.When(until) && len(q.s.Primary) == 1; pos-- {
		if e := q.Event(pos); e.Kind == trace.KindExecute && e.Client != trace.None && !e.Unrun() && len(e.Args) > 0 && !reads(e.Args) {
			return e
		}
	}
	return nil
}

// behind says that it is asked of the moment after a command.
func behind(t *Timeline, e *trace.Event) string { return ", after " + t.Named(e) }

// Named is a client's command by the names of both.
func (t *Timeline) Named(e *trace.Event) string {
	name := strings.ToUpper(e.Args[0])
	if strings.HasPrefix(name, "EVAL") {
		name = "script"
	}
	return fmt.Sprintf("%s's %s", t.Clients[e.Client], name)
}

// spoken is the moment after an event in words: that of a command by its name. The name of any other event would be the answer, so
// it says that this is a step, where the picture is of the same instant already and may show another answer: the one
// that comes next where it is asked, and the last one where it is answered.
func (q *quiz) spoken(asked int, after *trace.Event) string {
	text := "At " + trace.Brief(after.At)
	switch {
	case after.Kind == trace.KindExecute && after.Client != trace.None && len(after.Args) > 0:
		return text + behind(q.Timeline, after)
	case q.When(asked) == after.At:
		return text + ", after this step"
	}
	return text
}

// verdict asks the script's question about the verdict: where it stands, if all its choices are open there, and else at the last words
// before that at which they are, though another question of the file stand before it: asked no later than this one, that would be asked
// before the words that lead to it, and they would be told while it is open. It is answered where the event that decides it has happened,
// even if the question's own place is before that. Its words are the same under every lock.
func (q *quiz) verdict(asked *Question) {
	at := asked.Said
	q.worst(asked)
	asked.Text = asked.Then
	if q.Over(at) && !namesWorst.MatchString(asked.Then) && !namesEnd.MatchString(asked.Then) {
		asked.Text = "In the end: " + asked.Then
	}
	asked.Pos = q.undecidedAt(at)
	if asked.Until > at {
		asked.Said, asked.At = asked.Until, q.Now(asked.Until)
	}
	if asked.Pos < asked.Until {
		q.all = append(q.all, *asked)
	}
}

// undecidedAt is a position, or else the last one before it at which a chapter begins and no outcome is ruled out yet.
func (t *Timeline) undecidedAt(at int) int {
	for at > 0 && t.decided(at) {
		at = t.PreviousChapter(at)
	}
	return at
}

// harmful reports whether a violation up to a position rules out that nothing goes wrong.
func (t *Timeline) harmful(at int) bool {
	return slices.ContainsFunc(t.Breaches, func(b Breach) bool { return b.Pos <= at && b.Code.Harm() > 0 })
}

// decided reports whether some outcomes are ruled out at a position: a question for the verdict that stands there gives a part of its answer away.
func (t *Timeline) decided(at int) bool {
	b := t.damage()
	return b != nil && b.Pos <= at || t.Over(at) || t.harmful(at)
}

// damage is the first violation of the worst kind, after which nothing changes the answer to a question for the worst, or nil.
func (t *Timeline) damage() *Breach {
	for i := range t.Breaches {
		if t.Breaches[i].Code.Harm() == trace.Damages {
			return &t.Breaches[i]
		}
	}
	return nil
}

// shownBefore are the positions of the first violation or refusal before a question's own words, where one key stops and the
// holders, or records, are the same: of the first one, and of the first in the last lease before these words; or that of the words. The belief or
// the record of a whole lease before may have ended, and a question is whether it has. Where the question is asked, the picture shows whose
// record there is; that an access to the resource finds the same tells nothing: the question is whether a release leaves it so.
func (q *quiz) shownBefore(asked *Question, record bool) (first, recent int) {
	answer := holders(q.Timeline, q.StateAt(asked.Said), record)
	first = asked.Said
	stays := record && holders(q.Timeline, q.StateAt(asked.Pos), record) == answer
	for pos := asked.Pos + 1; pos < asked.Said; pos++ {
		if stays = stays && holders(q.Timeline, q.StateAt(pos), record) == answer; stays && Touches(q.Event(pos)) {
			continue
		}
		if _, fresh := q.Breached(pos); len(fresh) == 0 && q.Refusal(pos) == "" || holders(q.Timeline, q.StateAt(pos), record) != answer {
			continue
		}
		first = min(first, pos)
		if asked.At-q.When(pos) < q.TTL {
			return first, pos
		}
	}
	return first, asked.Said
}

// answerEarly has a question answered where a violation or a refusal shortly before its own moment shows the answer. A question whose words
// name its moment keeps that, unless it is the very instant. One that names it by an event alone ("once A has ...") gives it up, too, if a
// single client acts from there to that moment.
func (q *quiz) answerEarly(asked *Question, record bool) {
	first, at := q.shownBefore(asked, record)
	keeps := asked.Dated() != "" || namesMoment.MatchString(asked.Then) && !q.alone(at, asked.Said)
	switch {
	case first == asked.Said:
	case at == asked.Said:
		asked.Tells = q.giveaway(first) + ", a whole lease before, may tell its answer: see whether it does"
	case keeps && q.When(at) != asked.At:
		asked.Tells = q.giveaway(at) + " may tell its answer: leave the moment out of its text, and it is asked of that instant"
	default:
		asked.Until = q.through(at, asked)
	}
}

// through is Through, unless the answer to a question is another one there, or time has passed before the question.
func (q *quiz) through(at int, asked *Question) int {
	to := q.Through(at)
	if to == asked.Said && q.When(at) != asked.At || holders(q.Timeline, q.StateAt(to), asked.record()) != holders(q.Timeline, q.StateAt(at), asked.record()) {
		return at
	}
	return to
}

// alone reports whether all that happens from a position on, up to another one, is of one client.
func (t *Timeline) alone(from, to int) bool {
	for pos := from; pos <= to; pos++ {
		if c := t.Event(pos).Client; c == trace.None || c != t.Event(from).Client {
			return false
		}
	}
	return true
}

// giveaway is the violation or the refusal at a position, in a few words.
func (t *Timeline) giveaway(pos int) string {
	if _, fresh := t.Breached(pos); len(fresh) > 0 {
		return fmt.Sprintf("the %s (%s) at %s", fresh[0].Code.Name(), fresh[0].Code, trace.Brief(t.When(pos)))
	}
	return "the refusal at " + trace.Brief(t.When(pos))
}

// holders is the set of clients, by bit, that believe that they hold the lock, or whose
// record a server has.
func holders(t *Timeline, s *trace.State, record bool) (set int) {
	for i := range s.Clients {
		if !record && s.Clients[i].Lease.Believed {
			set |= 1 << i
		}
	}
	for i := range s.Nodes {
		if rec := s.LockRecord(i); record && rec != nil && rec.Owner != trace.Nobody {
			set |= 1 << rec.Owner.Client
		}
	}
	return set
}

// sets offers a set of clients at a position among others, small ones first, in the words of an argument; of more than one client only if
// there can be several. These are the last two that have asked for the lock by then, who are the same under nearly all locks: offered nowhere
// but where it is the answer, a pair would give that away.
func (q *quiz) sets(at, truth int, pairs bool, words func(set int) string) (choices []string, right int) {
	n := len(q.Clients)
	if n > 0 && q.Clients[n-1] == trace.Probe {
		n--
	}
	all := []int{0}
	for i := range n {
		all = append(all, 1<<i)
	}
	if n > 1 && pairs {
		all = append(all, q.lastTwo(at))
	}
	if !slices.Contains(all, truth) {
		all = append(all, truth)
	}
	for i := len(all) - 1; len(all) > mostChoices; i-- {
		if all[i] != truth {
			all = slices.Delete(all, i, i+1)
		}
	}
	for i, set := range all {
		if set == truth {
			right = i
		}
		choices = append(choices, words(set))
	}
	return choices, right
}

// lastTwo are the two clients that have been the last to ask for the lock by a position, or the first two if fewer have.
func (q *quiz) lastTwo(at int) (set int) {
	clients := []int{}
	for pos := at; pos > 0 && len(clients) < 2; pos-- {
		if e := q.Event(pos); e.Kind == trace.KindAcquire && !q.Probing(e) && !slices.Contains(clients, e.Client) {
			clients = append(clients, e.Client)
		}
	}
	for i := 0; len(clients) < 2; i++ {
		if !slices.Contains(clients, i) {
			clients = append(clients, i)
		}
	}
	return 1<<clients[0] | 1<<clients[1]
}

// records says whose records there are.
func (q *quiz) records(set int) string {
	var whose []string
	for i, name := range q.Clients {
		if set&(1<<i) != 0 {
			whose = append(whose, name+"'s record")
		}
	}
	if whose == nil {
		return trace.NoRecord
	}
	return trace.List(whose)
}

func (q *quiz) names(set int) string {
	var in []string
	for i, name := range q.Clients {
		if set&(1<<i) != 0 {
			in = append(in, name)
		}
	}
	if in == nil {
		return "nobody"
	}
	return trace.List(in)
}

// others names the clients but one that believe that they hold the lock.
func (q *quiz) others(s *trace.State, client int) string {
	return q.names(holders(q.Timeline, s, false) &^ (1 << client))
}

// believing says of clients, by their names, that they believe that they hold the lock, whether or not their leases are over:
// "beside A" would leave open whether it is beside one whose lease is over.
func believing(names string) string {
	if strings.Contains(names, " and ") {
		return names + " still believe that they have it"
	}
	return names + " still believes that it has it"
}

// entry asks, at the first command of a call of Acquire, whether it gets the lock that
// another client believes to hold.
func (q *quiz) entry(i int) bool {
	e := &q.Events[i]
	if e.Kind != trace.KindExecute || e.Phase != trace.PhaseAcquire || e.Command != 1 || e.Copy || q.others(q.s, e.Client) == "nobody" {
		return false
	}
	for j := i + 1; j < q.Last(); j++ {
		o := &q.Events[j]
		if o.Client != e.Client {
			continue
		}
		right, others := 0, q.others(q.s, e.Client)
		switch o.Kind {
		case trace.KindGranted:
			if right = 1; q.others(q.StateAt(j+1), e.Client) != "nobody" {
				right, others = 2, q.others(q.StateAt(j+1), e.Client)
			}
		case trace.KindRefused, trace.KindFailed, trace.KindSleep, trace.KindTimeout:
		case trace.KindCrash, trace.KindStop:
			return false
		default:
			continue
		}
		name := q.Clients[e.Client]
		return q.ask(Question{Pos: i, Until: j + 1, Text: fmt.Sprintf("%s's request arrives at %s. Does %s get the lock?", name, trace.Brief(e.At), name),
			Choices: []string{"no, not now", "yes, and nobody else believes that it has it", "yes, while " + believing(others)},
			Right:   right, Why: q.whyEntry(i, j)})
	}
	return false
}

// release asks what a command of a release does, where the record is not the client's own
// any more.
func (q *quiz) release(i int) bool {
	e := &q.Events[i]
	if e.Kind != trace.KindExecute || e.Phase != trace.PhaseRelease || e.Node == trace.None || len(q.s.Primary) > 1 || reads(e.Args) || e.Unrun() {
		return false
	}
	rec := q.s.LockRecord(e.Node)
	other := q.others(q.s, e.Client)
	if rec != nil && rec.Owner.Client == e.Client && rec.Owner.N == e.Acq || rec == nil && other == "nobody" {
		return false
	}
	if rec != nil && rec.Owner != trace.Nobody {
		other = q.Clients[rec.Owner.Client]
	}
	name, right := q.Clients[e.Client], 2
	if slices.ContainsFunc(e.Changes, func(c trace.Change) bool { return c.Key == q.s.Key && c.After == nil }) {
		right = 1
	}
	return q.ask(Question{Pos: i, Until: i + 1, Text: fmt.Sprintf("%s at %s. What does it do?", arrival(name, e), trace.Brief(e.At)),
		Choices: []string{"it removes " + name + "'s own record", "it removes " + other + "'s record", "it changes nothing"}, Right: right,
		Why: q.whyRelease(i)})
}

// arrival says that a command of a release arrives, which its client may have sent long before, and only once. A script's
// digest says nothing: a reader only needs to know that it runs in one step.
func arrival(name string, e *trace.Event) string {
	what := name + "'s " + trace.CommandText(e.Args) + " arrives"
	if strings.HasPrefix(strings.ToUpper(e.Args[0]), "EVAL") {
		what = name + "'s release, a script that Redis runs in one step, arrives"
	}
	if e.Copy {
		what += " a second time"
	}
	return what
}

// reads reports whether a command is one that changes nothing.
func reads(args []string) bool {
	return len(args) > 0 && slices.Contains([]string{"GET", "TTL", "PTTL", "WATCH", "UNWATCH", "MULTI", "EXISTS"}, strings.ToUpper(args[0]))
}

// write asks whether the resource takes a write of a client after which another one was granted
// the lock.
func (q *quiz) write(i int) bool {
	e := &q.Events[i]
	right := 0
	switch e.Kind {
	case trace.KindWrite:
	case trace.KindReject:
		right = 1
	default:
		return false
	}
	mine := q.s.Clients[e.Client].Lease.Granted
	if !slices.ContainsFunc(q.s.Clients, func(c trace.ClientState) bool { return mine != trace.None && c.Lease.Granted > mine }) {
		return false
	}
	name := q.Clients[e.Client]
	return q.ask(Question{Pos: i, Until: i + 1, Text: fmt.Sprintf("%s goes to the resource at %s. Does the resource let it write?", name, trace.Brief(e.At)),
		Choices: []string{"yes", "no, it refuses " + name}, Right: right, Why: q.whyWrite(i)})
}

// firstFault is the position after the first thing that goes wrong, or that after the first
// event.
func (q *quiz) firstFault() int {
	for i := range q.Events {
		if q.Events[i].Kind.Fault() {
			return min(i+1, q.Last()-1)
		}
	}
	return 1
}

// outcomes are the worst that can come of a run, by the [trace.Harm] of its violations, in the words of a person who hasn't learned the codes. All of them are
// offered under every lock, so that the list doesn't tell the outcome.
var outcomes = [...]string{
	"nothing goes wrong",
	trace.Delays:  "a client is refused without need, or waits long",
	trace.Blocks:  "nobody ever gets the lock again",
	trace.Shares:  "two have it at once, or one loses it unnoticed",
	trace.Damages: "an update is lost, or stored too late",
}

// outcome asks for the worst that the run shows, before the first violation is complete.
func (q *quiz) outcome(at int, text string) {
	asked := Question{Pos: at, Text: text}
	q.worst(&asked)
	if len(q.Breaches) > 0 {
		asked.Pos = min(at, q.Breaches[0].Pos-1)
	}
	if asked.Pos >= 0 && asked.Pos < asked.Until {
		q.all = append(q.all, asked)
	}
}

// Unbroken is why nothing goes wrong in a run.
const Unbroken = "No property broke."

// worst offers the worst that the run shows among all that can come of one. It is decided by the first violation of the worst
// kind there is, or by one after which no client does anything, or else by the end of the run: up to there a worse one could
// follow. Words that come later, and other questions, decide nothing.
func (q *quiz) worst(asked *Question) {
	asked.about, asked.Choices, asked.Right = verdict, outcomes[:], 0
	if !namesWorst.MatchString(asked.Text + asked.Then) {
		asked.Lead = "At worst:"
	}
	asked.Until, asked.Why = q.Last(), Unbroken
	for _, b := range q.Breaches {
		n := int(b.Code.Harm())
		if n > 0 && !slices.Contains(asked.Lesser, n) {
			asked.Lesser = append(asked.Lesser, n)
		}
		if n > asked.Right {
			asked.Right, asked.Why = n, q.Cause(b)
			if q.Over(b.Pos) {
				asked.Until = b.Pos
			}
		}
	}
	if b := q.damage(); b != nil {
		asked.Until = b.Pos
	}
	if asked.Right == int(trace.Delays) && q.neverHad() {
		asked.Right, asked.Until = int(trace.Blocks), q.Last()
	}
	asked.Lesser = slices.DeleteFunc(asked.Lesser, func(n int) bool { return n == asked.Right })
}

// neverHad reports whether nobody gets the lock after the story: the probe asks in vain, for ten years or until nothing can
// change any more.
func (q *quiz) neverHad() bool {
	asked := false
	for i := range q.Events {
		if e := &q.Events[i]; e.Client != trace.None && q.Probing(e) {
			if e.Kind == trace.KindGranted {
				return false
			}
			asked = true
		}
	}
	return asked && q.Ended(q.Last())
}

// stored is the answer to a question for the record as a sentence: "n1: B1-a586 (B's)" becomes "n1 stores B1-a586 (B's)".
// Of a single server it says since when, too.
func (q *quiz) stored(at int, answer string) string {
	var parts []string
	for _, part := range strings.Split(answer, ", ") {
		node, record, _ := strings.Cut(part, ": ")
		parts = append(parts, node+" stores "+record)
	}
	since := ""
	if rec := q.StateAt(at).LockRecord(q.s.Primary[0]); rec != nil && len(parts) == 1 {
		since = ", since " + trace.Brief(q.Events[rec.Written-1].At)
	}
	return trace.List(parts) + since + "."
}
