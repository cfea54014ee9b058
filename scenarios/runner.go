package scenarios

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"lockstep/sim"
	"lockstep/sim/fault"
	"lockstep/sim/process"
	"lockstep/sim/suggest"
	"lockstep/sim/trace"
	"lockstep/strategies"
)

// Run runs the scenario under a strategy and returns its trace. It fails only if the
// script exceeds a bound of a run, and with a [process.Panic] if the strategy's code panics.
// Where the strategy makes a step impossible, a note in the trace says so, and the script goes
// on.
func (s *Scenario) Run(st strategies.Strategy, seed uint64) (_ *trace.Trace, err error) {
	defer process.CatchPanic(&err)
	cfg := s.Config(st, seed)
	if err := cfg.Validate(); err != nil {
		if s.setup.line.node != nil {
			return nil, s.setup.line.wrap(err)
		}
		return nil, fmt.Errorf("%s: %w", s.file, err)
	}
	w, err := worlds.take(cfg, true)
	if err != nil {
		return nil, err
	}
	defer worlds.give(w)
	r := runner{s: s, w: w, cfg: cfg}
	r.moreReplicas(st)
	if err := r.script(); err != nil {
		return nil, err
	}
	t, err := s.finish(w)
	if err == nil && s.Path() != "" {
		t.Holds = r.holds
		t.HoldUp(r.waits)
	}
	return t, err
}

// moreReplicas tells the author of a script that the lock has more replicas than the script asks for: its words may be of fewer.
func (r *runner) moreReplicas(st strategies.Strategy) {
	if r.s.Path() == "" { // built-in ones are worded for all
		return
	}
	has := r.cfg.Replicas
	st.Replicas = 0
	asked := r.s.Config(st, 1).Replicas
	if asked == 0 || has <= asked {
		return
	}
	r.w.Remark(trace.Note{Kind: trace.NoteMissed, About: trace.Setup,
		Text: fmt.Sprintf("%s needs %d replicas and has them here; the script asks for %d (replicas: %d). See that what it says is so with %d, too.", st.Name, has, asked, asked, has)})
}

// finish takes the trace and fills in the answers, which are known only at the end.
func (s *Scenario) finish(w *sim.World) (*trace.Trace, error) {
	t, err := w.Trace()
	if err != nil {
		return nil, err
	}
	t.Title = s.Title
	if e, of := s.expected(t.Strategy); of != "" && s.Path() != "" { // the tests hold built-in ones to theirs
		t.Expected, t.AtLeast, t.ExpectedAt = e.verdict.String(), e.atLeast, e.given.place()
	}
	for i := range t.Notes {
		if n := &t.Notes[i]; n.Kind == trace.NoteAsk {
			n.About = s.notes[n.Index-1].answer
			n.Answer = t.AnswerTo(n.About, n.Seq)
		}
	}
	return t, nil
}

// Replay plays a schedule. The narration of a built-in scenario that it came from stands
// in its original places.
func Replay(schedule sim.Schedule) (*trace.Trace, error) {
	s := &Scenario{file: schedule.Config.Scenario}
	for _, known := range All() {
		if known.Name == schedule.Config.Scenario {
			s = known
		}
	}
	t, err := s.play(schedule)
	if err != nil || len(s.script) == 0 {
		return t, err
	}
	// A schedule has the places of the script's own notes, but not those of the runner's
	// notes, which say that a position was missed and why. So if the whole run is the
	// script's own, a new run of the script is shown, which also says whom the script has wait.
	told, err := s.Run(schedule.Config.Strategy, schedule.Config.Seed)
	if err == nil && told.Hash == t.Hash && told.Schedule == t.Schedule {
		return told, nil
	}
	return t, nil
}

func (s *Scenario) play(schedule sim.Schedule) (_ *trace.Trace, err error) {
	defer process.CatchPanic(&err)
	w, err := worlds.take(schedule.Config, true)
	if err != nil {
		return nil, err
	}
	defer worlds.give(w)
	r := runner{s: s, w: w, cfg: schedule.Config}
	if err := w.Play(schedule.Moves, r.say); err != nil {
		return nil, err
	}
	return s.finish(w)
}

// Offers plays a schedule, and lists for each client and each server the faults of a
// menu that can be chosen then: see [sim.World.Offers].
func Offers(schedule sim.Schedule) (_ map[string][]sim.Offer, err error) {
	defer process.CatchPanic(&err)
	w, err := worlds.take(schedule.Config, true)
	if err != nil {
		return nil, err
	}
	defer worlds.give(w)
	if err := w.Play(schedule.Moves, nil); err != nil {
		return nil, err
	}
	t, err := w.Trace()
	if err != nil {
		return nil, err
	}
	offers := map[string][]sim.Offer{}
	for _, actor := range slices.Concat(t.Clients, t.Nodes) {
		offers[actor] = w.Offers(actor)
	}
	return offers, nil
}

// Clock plays a schedule, and returns the instant at which it ends. Its last event may have
// been earlier: waiting leaves no event if nothing happens meanwhile.
func Clock(schedule sim.Schedule) (time.Duration, error) {
	w, err := worlds.take(schedule.Config, true)
	if err != nil {
		return 0, err
	}
	defer worlds.give(w)
	if err := w.Play(schedule.Moves, nil); err != nil {
		return 0, err
	}
	return w.Now(), nil
}

// pool keeps worlds for reuse: making one means making go-redis clients.
//
// Invariant, outside of mu: len(idle) <= maxIdle.
type pool struct {
	mu   sync.Mutex
	idle []*sim.World
}

var worlds pool

// maxIdle is the number of worlds kept: the shapes of the catalogue, times two.
const maxIdle = 16

func (p *pool) take(cfg sim.Config, record bool) (*sim.World, error) {
	p.mu.Lock()
	i := slices.IndexFunc(p.idle, func(w *sim.World) bool { return w.Fits(cfg) })
	var w *sim.World
	if i >= 0 {
		w = p.idle[i]
		p.idle = slices.Delete(p.idle, i, i+1)
	}
	p.mu.Unlock()
	if w == nil {
		var err error
		if w, err = sim.New(cfg); err != nil {
			return nil, err
		}
	}
	if err := w.Reset(cfg, record); err != nil {
		return nil, errors.Join(err, w.Close())
	}
	return w, nil
}

// give returns a world to the pool. Its threads end now, not at its next use.
func (p *pool) give(w *sim.World) {
	w.Stop()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.idle = append(p.idle, w)
	if len(p.idle) > maxIdle {
		_ = p.idle[0].Close() // its connections are in process: closing them cannot fail in a way that matters
		p.idle = slices.Delete(p.idle, 0, 1)
	}
}

// Close ends all worlds that are kept for reuse.
func Close() error {
	worlds.mu.Lock()
	defer worlds.mu.Unlock()
	var all error
	for _, w := range worlds.idle {
		all = errors.Join(all, w.Close())
	}
	worlds.idle = nil
	return all
}

// runner carries out a script in a world.
type runner struct {
	s     *Scenario
	w     *sim.World
	cfg   sim.Config
	holds []trace.Hold
	waits []trace.Span
	at    value // the step at hand
}

// action is the effect of a step.
type action interface{ do(r *runner) error }

func (r *runner) script() error {
	if r.s.Path() == "" { // to the author of a file it is a pause where a `wait` makes it: see trace.HoldUp
		r.w.Scripted()
	}
	for i, st := range r.s.script {
		r.at = st.at
		err := st.action.do(r)
		if errors.Is(err, errWindow) {
			r.leaveOut(r.s.script[i+1:])
			break
		}
		if err != nil {
			return st.at.wrap(err)
		}
		if err := r.w.Err(); err != nil {
			return st.at.wrap(mended(err))
		}
	}
	if err := errors.Join(r.w.Drain(), r.w.Err()); err != nil {
		return r.s.script[len(r.s.script)-1].at.errorf("after this, the last step: %w", mended(err))
	}
	return nil
}

// mended adds to a run's error the setting in the script's setup that prevents it, if one is known.
func mended(err error) error {
	if e := (*sim.Endless)(nil); errors.As(err, &e) && len(e.Asking) > 0 {
		return fmt.Errorf("%w; `retry: {tries: 1}` in its setup lets each client ask once", err)
	}
	return err
}

// errWindow ends a script that has nothing to show under this strategy.
var errWindow = errors.New("the window does not open")

// leaveOut notes, for the author of a script, that it ends with the step at hand, and which questions are not asked.
func (r *runner) leaveOut(rest []step) {
	var lines []string
	for _, st := range rest {
		if words, says := st.action.(say); says && r.s.notes[words.n-1].kind == trace.NoteAsk && r.s.notes[words.n-1].holds(r.cfg.Strategy) {
			lines = append(lines, strconv.Itoa(st.at.line()))
		}
	}
	asked := ""
	switch len(lines) {
	case 0:
	case 1:
		asked = fmt.Sprintf(" Its question at line %s is not asked.", lines[0])
	default:
		asked = fmt.Sprintf(" Its questions at lines %s are not asked.", trace.List(lines))
	}
	r.aside(trace.LeftOut, "So the script ends here under %s, with the step at line %d (otherwise: stop), and the rest of it is left out.%s", r.cfg.Strategy.Name, r.at.line(), asked)
}

// missed notes, for the author of a script, that a step had nothing to act on under this strategy. The readers of a
// built-in script are no authors, and its words allow for locks that do without the step: it says nothing.
func (r *runner) missed(format string, args ...any) { r.aside("", format, args...) }

// unmade notes that a fault was not made under this strategy: the audience of the run, and not its author alone, would take it for a run
// with that fault.
func (r *runner) unmade(why error) {
	r.aside(trace.Unmade, "The step at line %d is not carried out as written under %s: %s", r.at.line(), r.cfg.Strategy.Name, why)
}

// aside notes something for the author of a script that is not built in.
func (r *runner) aside(about, format string, args ...any) {
	if r.s.Path() != "" {
		r.w.Remark(trace.Note{Kind: trace.NoteMissed, About: about, Text: fmt.Sprintf(format, args...)})
	}
}

// instead tells the readers of a built-in script what happens in the place of its subject.
func (r *runner) instead(format string, args ...any) {
	if r.s.Path() == "" {
		r.w.Remark(trace.Note{Kind: trace.NoteMissed, Text: fmt.Sprintf(format, args...)})
	}
}

// say is a note of the script.
type say struct{ n int }

func (a say) do(r *runner) error {
	r.say(a.n)
	return nil
}

func (r *runner) say(n int) {
	note := trace.Note{Index: n, Text: fmt.Sprintf("(note %d of %s)", n, r.cfg.Scenario)} // of a user's file: unknown here
	if n <= len(r.s.notes) {
		written := &r.s.notes[n-1]
		if !written.holds(r.cfg.Strategy) {
			return
		}
		note.Kind, note.Text = written.kind, r.words(written)
	}
	r.w.Remark(note)
}

// words are those of a text, or the others that it has for this moment.
func (r *runner) words(n *note) string {
	if len(n.having) == 0 {
		return n.text
	}
	t, err := r.w.Trace()
	if err != nil {
		return n.text // nobody is told anything in a run that isn't recorded
	}
	state := t.StateAt(len(t.Events))
	for _, h := range n.having {
		if i, known := r.w.Client(h.client); known && state.Clients[i].Lease.Believed {
			return h.text
		}
	}
	return n.text
}

// wait lets time pass while no client acts.
type wait struct{ d time.Duration }

func (a wait) do(r *runner) error {
	r.pass(a.d)
	return nil
}

// pass lets time pass, and notes for the author of a script which client's renewal thread stood still meanwhile until its record was gone.
func (r *runner) pass(d time.Duration) {
	var before sim.Set
	for i := range r.w.Clients() {
		if r.w.MissedRenewal(i) {
			before |= sim.SetOf(i)
		}
	}
	r.waits = append(r.waits, trace.Span{From: r.w.Now(), To: r.w.Now() + d})
	r.w.Wait(d)
	for i := range r.w.Clients() {
		if name := r.cfg.Clients[i].Name; r.w.MissedRenewal(i) && !before.Has(i) {
			r.aside("wait", "%s: %s's renewal thread, too, stands still while this step waits, and the record expires. "+
				"If %s is to go on meanwhile, write \"run: %s\" with \"for: %s\" instead; if it is to stop, put \"pause: %s\" before this step.", r.at.place(), name, name, name, trace.Duration(d), name)
		}
	}
}

// waitUntil lets time pass to an instant of the run, while no client acts.
type waitUntil struct{ at time.Duration }

func (a waitUntil) do(r *runner) error {
	if now := r.w.Now(); now > a.at {
		return fmt.Errorf("%s is past under %s: it is %s when this step begins", trace.Duration(a.at), r.cfg.Strategy.Name, trace.Duration(now))
	}
	r.pass(a.at - r.w.Now())
	return nil
}

// nodes resolves node references under this strategy. Nodes that it doesn't have
// are an error, together with those that it does have.
func (r *runner) nodes(refs []string) (names []string, err error) {
	have := r.w.Nodes()
	var missing []string
	for _, ref := range refs {
		switch ref {
		case "all":
			for i := range have {
				names = append(names, fmt.Sprintf("n%d", i+1))
			}
		case "pivot":
			names = append(names, fmt.Sprintf("n%d", have/2+1))
		default:
			if int(ref[1]-'0') > have {
				missing = append(missing, ref)
				continue
			}
			names = append(names, ref)
		}
	}
	if len(missing) > 0 {
		err = fmt.Errorf("%s runs on %s: there is no %s", r.cfg.Strategy.Name, plural(have, "node"), strings.Join(missing, ", "))
	}
	return names, err
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// run lets clients act: to a position, for a number of steps, for a time, or until
// they are done.
type run struct {
	who    []string
	to     *position
	at     value // the place of to in the file
	steps  int   // of the only client; time that passes until it can act counts as none
	span   time.Duration
	within time.Duration
	needed bool // the rest of the script is pointless unless the position is reached
}

func (a run) do(r *runner) error {
	from, began := r.w.Events(), r.w.Now()
	err := a.act(r)
	if why := r.soFar().Kept(trace.Span{From: began, To: r.w.Now()}, from, a.who); why != "" {
		r.aside("wait", "%s: %s", r.at.place(), why)
	}
	return err
}

// soFar is the run of a script of one's own, or an empty one.
func (r *runner) soFar() *trace.Trace {
	if r.s.Path() != "" {
		if t, err := r.w.Trace(); err == nil {
			return t
		}
	}
	return &trace.Trace{}
}

// keptOut notes in the place of a missed step that its client was refused, and reports whether it was: that may be the purpose of a lock.
func (r *runner) keptOut(client int, rest string) bool {
	how := r.soFar().KeptOut(client)
	if how != "" {
		r.aside("refused", "%s %s, %s", r.cfg.Clients[client].Name, how, rest)
	}
	return how != ""
}

func (a run) act(r *runner) error {
	var who sim.Set
	client := trace.None
	for _, name := range a.who {
		client, _ = r.w.Client(name)
		who |= sim.SetOf(client)
		for i := range r.holds {
			r.holds[i].Ended = r.holds[i].Ended || r.holds[i].Client == client
		}
		if r.w.Frozen(client) {
			if err := r.w.Inject(fault.Resume{Client: name}); err != nil {
				return err
			}
		}
	}
	if a.steps > 0 {
		r.count(a, client)
		return nil
	}
	if a.to == nil {
		limit := a.span
		if limit == 0 {
			limit = a.within
		}
		r.until(who, r.w.Now()+limit, func() bool { return a.span == 0 && r.allOver(who) })
		return nil
	}
	return r.runTo(a, client, who)
}

// count makes a number of a client's own steps.
func (r *runner) count(a run, client int) {
	who, made := sim.SetOf(client), 0
	for limit := r.w.Now() + a.within; made < a.steps; made++ {
		if r.w.Position(client).Over || !r.until(who, limit, func() bool { return r.w.Ready(who) }) || !r.w.Step(who) {
			r.missed("%s makes %s, not %d: it has nothing more to do within %s", a.who[0], plural(made, "step"), a.steps, trace.Duration(a.within))
			return
		}
	}
}

func (r *runner) allOver(who sim.Set) bool {
	for i := range r.w.Clients() {
		if who.Has(i) && !r.w.Position(i).Over {
			return false
		}
	}
	return true
}

// until steps the clients until the condition holds or the limit is reached. It
// reports whether the condition held.
func (r *runner) until(who sim.Set, limit time.Duration, done func() bool) bool {
	for !done() {
		if !r.w.Ready(who) {
			next, any := r.w.Next()
			if !any || next > limit {
				r.w.Wait(limit - r.w.Now())
				return done()
			}
		}
		if !r.w.Step(who) {
			return false
		}
	}
	return true
}

// runTo runs one client to a position. If it can't get there, because it skips the phase,
// is refused, or has nothing left to do, the trace says so.
func (r *runner) runTo(a run, client int, who sim.Set) error {
	pos := *a.to
	name := a.who[0]
	why := ""
	if pos.scouted() {
		var err error
		if pos.nth, err = r.ahead(pos, client, a.within); err != nil {
			return err
		}
	}
	entered := r.w.Position(client).Phase == pos.phase
	done := r.cycleEnd(client)
	stop := func() bool {
		at := r.w.Position(client)
		entered = entered || at.Phase == pos.phase
		switch {
		case pos.reached(at), pos.side == atDone && done(at):
			return true
		case pos.change && pos.nth == 0 && entered && at.Phase != pos.phase:
			why = fmt.Sprintf("no command of its %s changes the lock's record", pos.phase)
		case at.Over:
			why = "it is through with its program"
		case pos.side >= before && entered && at.Phase != pos.phase:
			why = fmt.Sprintf("under %s it leaves %s earlier", r.cfg.Strategy.Name, pos.phase)
		}
		return why != ""
	}
	reached := r.until(who, r.w.Now()+a.within, stop)
	switch {
	case (why != "" || !reached) && r.keptOut(client, fmt.Sprintf("and never came to %q.", pos.text)):
	case why != "":
		r.missed("%s never stands at %q: %s", name, pos.text, why)
	case !reached:
		r.missed("%s does not get to %q within %s", name, pos.text, trace.Duration(a.within))
	default:
		r.holds = append(r.holds, trace.Hold{Client: client, Place: pos.text, Line: a.at.place(), From: r.w.Events() + 1, Unread: pos.unread()})
		return nil
	}
	if a.needed {
		r.instead("With %s %s", r.cfg.Strategy.Name, trace.NoMoment)
		return errWindow
	}
	if r.s.Path() != "" || !r.w.Position(client).Over {
		return nil
	}
	t, err := r.w.Trace()
	if err == nil {
		r.instead("%s", t.Fared(client))
	}
	return err
}

// cycleEnd detects the end of the cycle that a client is in, or about to begin. That is
// when the client, having held the lock or given up, is about to ask for it anew; or when
// its next request is about to arrive.
func (r *runner) cycleEnd(client int) func(sim.Position) bool {
	insists := r.cfg.Clients[client].Insist > 0
	began, tried, held := false, false, false
	return func(at sim.Position) bool {
		began = began || at.Sending || at.Phase != trace.PhaseIdle
		switch {
		case at.Over:
			return true
		case at.About == trace.KindWant:
			return began
		case at.About == trace.KindAcquire:
			return held || tried && !insists
		case at.Phase == trace.PhaseAcquire:
			tried = true
		case at.Phase != trace.PhaseIdle:
			held = true
		}
		return false
	}
}

// ahead resolves "the nth command from the end of a phase", or "the last that changes the
// lock's record", by running ahead on the same schedule in another world. If the phase
// doesn't end in time, or has no such command, the number is left as it is: it then
// matches no position.
func (r *runner) ahead(pos position, client int, within time.Duration) (int, error) {
	w, err := worlds.take(r.cfg, pos.change)
	if err != nil {
		return 0, err
	}
	defer worlds.give(w)
	if err := w.Play(r.w.Schedule().Moves, nil); err != nil {
		return 0, err
	}
	scout := runner{s: r.s, w: w, cfg: r.cfg}
	most, entered := 0, false
	ended := scout.until(sim.SetOf(client), w.Now()+within, func() bool {
		at := w.Position(client)
		if at.Phase == pos.phase {
			entered, most = true, at.Sent
		}
		return at.Over || entered && at.Phase != pos.phase
	})
	if !ended || !entered {
		return pos.nth, nil
	}
	if pos.change {
		return lastChange(w, pos.phase, client)
	}
	return most + 1 + pos.nth, nil
}

// lastChange is the number of the command of a client's newest such phase that
// was the last to change the lock's record, on any node; 0 if none did.
func lastChange(w *sim.World, phase trace.Phase, client int) (int, error) {
	t, err := w.Trace()
	if err != nil {
		return 0, err
	}
	ours := func(e trace.Event) bool { return e.Client == client && e.Thread == 0 && e.Phase == phase }
	acq := 0
	for _, e := range slices.Backward(t.Events) {
		switch {
		case !ours(e):
		case acq != 0 && e.Acq != acq:
			return 0, nil // an earlier cycle's
		case e.Kind == trace.KindExecute && !e.Copy && slices.ContainsFunc(e.Changes, func(c trace.Change) bool { return c.Key == t.Key }):
			return e.Command, nil
		default:
			acq = e.Acq
		}
	}
	return 0, nil
}

// answers are the subjects of questions; the right answer is computed from the trace.
var answers = []string{"holders", "record", "verdict"}

func parseAnswer(s string) (string, error) {
	if slices.Contains(answers, s) {
		return s, nil
	}
	return "", suggest.Unknown("answer", s, answers)
}
