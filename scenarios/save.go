package scenarios

import (
	"cmp"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"lockstep/sim"
	"lockstep/sim/explore"
	"lockstep/sim/fault"
	"lockstep/sim/process"
	"lockstep/sim/trace"
)

// FromSchedule writes a schedule that violates a code as a scenario file, which
// gives the same events under the schedule's strategy. It narrates what happens,
// by rule, and expects the verdict of a whole run. head goes into the file as a
// comment.
//
// It fails where the language of scenarios has no words for something in the
// schedule: a server of its own policy, moves of several clients at once.
func FromSchedule(title, shows, head string, code trace.Code, schedule sim.Schedule) ([]byte, error) {
	w, err := worlds.take(schedule.Config, true)
	if err != nil {
		return nil, err
	}
	defer worlds.give(w)
	s := saver{w: w, cfg: schedule.Config}
	for _, line := range strings.Split(strings.TrimSpace(head), "\n") {
		s.line("# %s", line)
	}
	s.line("title: %s", quoted(title))
	s.line("shows: %s", quoted(shows))
	s.setup()
	s.line("script:")
	if err := s.script(schedule.Moves); err != nil {
		return nil, err
	}
	t, err := s.check(code)
	if err != nil {
		return nil, err
	}
	s.line("expect:")
	s.line("  - verdict: [%s]", strings.Join(t.Verdict().Strings(), ", "))
	s.line("    under: [%s]", t.Strategy)
	s.line("    because: %s", quoted(because(t, code)))
	return []byte(s.text.String()), nil
}

// FromSearch writes a search's counterexample as [FromSchedule] writes a schedule.
// The file, of that name, names the commands that find and show it.
func FromSearch(b *explore.Bounds, c *explore.Counterexample, file string) ([]byte, error) {
	lock := b.Strategy.Name
	which := "The least schedule"
	if c.Turn > 0 || c.Random {
		which = "A schedule"
	}
	return FromSchedule(fmt.Sprintf("%s in which %s shows %s", which, lock, c.Code.Named()),
		fmt.Sprintf("%s (%s): %s", c.Code.Name(), c.Code, c.Wrong()),
		fmt.Sprintf("Found by: %s\nShown by: lockstep run %s %s", SearchCommand(b), lock, file), c.Code, c.Schedule)
}

// orAny is a bound as flags have it.
func orAny(n int) string {
	if n == explore.Any {
		return "any"
	}
	return strconv.Itoa(n)
}

// SearchCommand is the command line that asks for a search within these bounds.
func SearchCommand(b *explore.Bounds) string {
	var faults []string
	for k, n := range b.Faults {
		if n > 0 {
			faults = append(faults, fmt.Sprintf("%s=%s", explore.FaultKind(k), orAny(int(n))))
		}
	}
	clients := strconv.Itoa(b.Clients)
	if b.Others {
		clients = "any"
	}
	text := fmt.Sprintf("lockstep explore %s --clients %s --cycles %s --faults %s", b.Strategy.Name, clients, orAny(b.Cycles),
		cmp.Or(strings.Join(faults, ","), "none"))
	if b.Tries > 1 {
		text += fmt.Sprintf(" --tries %d", b.Tries)
	}
	if usual, err := FindStrategy(b.Strategy.Name); err == nil && usual.Retry != b.Strategy.Retry {
		text += " --retry-delay " + b.Strategy.Retry.Delay.String()
	}
	if b.Strategy.Nodes > 1 && b.Nodes > 0 {
		text += fmt.Sprintf(" --nodes %d", b.Nodes)
	}
	if len(b.Codes) > 0 {
		text += " --codes " + strings.Join(b.Codes.Strings(), ",")
	}
	if c := b.Caller(); c != "plain" {
		text += " --caller " + c
	}
	if b.Strategy.Fences {
		text += " --resource " + b.Resource.String()
	}
	return text + " --ttl " + b.TTL.String()
}

// because is the monitor's text.
func because(t *trace.Trace, code trace.Code) string {
	i := slices.IndexFunc(t.Violations, func(violation trace.Violation) bool { return violation.Code == code })
	return sentence(t.Violations[i].Text)
}

// saver writes one schedule as it plays it.
type saver struct {
	w      *sim.World
	cfg    sim.Config
	t      *trace.Trace // so far
	text   strings.Builder
	paused sim.Set // by a step
}

func (s *saver) line(format string, args ...any) {
	fmt.Fprintf(&s.text, format, args...)
	s.text.WriteByte('\n')
}

// quoted is any text as a YAML string.
func quoted(text string) string { return strconv.Quote(text) }

// setup writes the part of the configuration that differs from a scenario's defaults.
func (s *saver) setup() {
	c, usual := &s.cfg, s.usual()
	s.line("setup:")
	differs := func(key string, is, would any) {
		if is != would {
			s.line("  %s: %v", key, is)
		}
	}
	differs("ttl", c.TTL, usual.TTL)
	differs("latency", c.Latency, usual.Latency)
	differs("timeout", c.Timeout, usual.Timeout)
	if c.Retry != usual.Retry {
		s.line("  retry: %s", retryText(c))
	}
	if usual.Strategy.Nodes > 1 {
		differs("nodes", len(c.Nodes), len(usual.Nodes))
	}
	differs("persistence", c.Nodes[0].Persistence, usual.Nodes[0].Persistence)
	differs("replicas", c.Replicas, usual.Replicas)
	if c.Replicas > 0 {
		differs("lag", c.Lag, usual.Lag)
	}
	differs("workload", c.Workload, usual.Workload)
	differs("resource", c.Resource, usual.Resource)
	differs("tokens", c.Tokens, usual.Tokens)
	if c.Cold {
		s.line("  scripts: cold")
	}
	s.line("  clients:")
	for i := range c.Clients {
		s.line("    %s: {%s}", c.Clients[i].Name, strings.Join(clientText(&c.Clients[i]), ", "))
	}
}

// usual is the configuration of a scenario without a setup.
func (s *saver) usual() sim.Config {
	plain := Scenario{Name: "usual"}
	registered, err := FindStrategy(s.cfg.Strategy.Name)
	if err != nil {
		registered = s.cfg.Strategy
	}
	return plain.Config(registered, s.cfg.Seed)
}

func retryText(c *sim.Config) string {
	if c.Retry.Tries == 1 { // then nothing is waited for
		return "{tries: 1}"
	}
	return fmt.Sprintf("{tries: %d, delay: %s, jitter: %s}", c.Retry.Tries, c.Retry.Delay, c.Retry.Jitter)
}

func clientText(cl *process.Config) (parts []string) {
	usual := newClient(cl.Name)
	put := func(key string, is, would any) {
		if is != would {
			parts = append(parts, fmt.Sprintf("%s: %v", key, is))
		}
	}
	put("work", cl.Work, usual.Work)
	put("cycles", cl.Cycles, usual.Cycles)
	put("insist", cl.Insist, usual.Insist)
	put("offset", cl.Offset, usual.Offset)
	put("rate", cl.Rate, usual.Rate)
	put("extend", cl.Extend, usual.Extend)
	put("checks", cl.Checks, usual.Checks)
	put("commitlast", cl.CommitLast, usual.CommitLast)
	put("failopen", cl.FailOpen, usual.FailOpen)
	put("fallthrough", cl.FallThrough, usual.FallThrough)
	put("recheck", cl.Recheck, usual.Recheck)
	return parts
}

// script plays the moves and writes each down, with its effects.
func (s *saver) script(moves []sim.Move) error {
	if err := s.look(); err != nil {
		return err
	}
	for _, move := range joined(moves) {
		if move.Note > 0 {
			continue // the narration is written anew
		}
		before := s.t
		steps, err := s.play(move)
		if err != nil {
			return err
		}
		if err := s.look(); err != nil {
			return err
		}
		n := narration{t: s.t, from: len(before.Events), stands: s.stands(move)}
		if steps != nil {
			s.say(n.tell(move))
		}
		for _, step := range steps {
			s.line("  - %s", step)
		}
		for _, x := range n.broken() {
			s.say(x)
		}
	}
	for i, c := range s.t.StateAt(len(s.t.Events)).Clients {
		if s.paused.Has(i) && !c.Crashed { // else the end of the run would leave it as it is, unlike the schedule's
			s.line("  - resume: %s", s.cfg.Clients[i].Name)
		}
	}
	return nil
}

// stands describes the position of a client that was left in the middle of something.
func (s *saver) stands(move sim.Move) clause {
	i := 0
	for i < len(s.cfg.Clients) && !move.Who.Has(i) {
		i++
	}
	if i == len(s.cfg.Clients) {
		return clause{}
	}
	at, c := s.w.Position(i), clause{who: s.cfg.Clients[i].Name}
	switch {
	case at.Sending && at.Phase == trace.PhaseWork:
		c.what = "is about to access the resource"
	case at.Sending:
		c.what = "is about to send a command"
	case at.Landed:
		c.what = "has not read the reply yet"
	}
	return c
}

// look updates the trace to the world's current one.
func (s *saver) look() (err error) {
	s.t, err = s.w.Trace()
	return err
}

// joined merges consecutive waits: they are apart only for the search, to which each is a
// choice.
func joined(moves []sim.Move) (out []sim.Move) {
	for _, move := range moves {
		if n := len(out); n > 0 && move.Wait > 0 && out[n-1].Wait > 0 {
			out[n-1].Wait += move.Wait
			continue
		}
		out = append(out, move)
	}
	return out
}

// play makes a move, and returns it in the language of scenarios. The drain at the end of
// a run is no step there: every script ends with it.
func (s *saver) play(move sim.Move) (steps []string, err error) {
	since := s.w.Now()
	switch {
	case move.Count > 0:
		return s.run(move)
	case move.Draws:
		return nil, errors.New("a scenario cannot choose a random number, and this schedule does: keep the schedule itself")
	case move.Fault != nil && move.Fault != fault.Fault(fault.Drain{}):
		step, err := faultStep(move.Fault)
		if err != nil {
			return nil, err
		}
		steps = []string{step}
	}
	if err := s.w.Play([]sim.Move{move}, nil); err != nil || move.Wait == 0 {
		return steps, err
	}
	return s.waits(since)
}

// run makes a client's steps. A schedule counts the steps in which time passes until the
// client can act. A script doesn't, and has to wait where such steps come last.
func (s *saver) run(move sim.Move) (steps []string, err error) {
	i := 0
	for i < len(s.cfg.Clients) && move.Who != sim.SetOf(i) {
		i++
	}
	if i == len(s.cfg.Clients) {
		return nil, errors.New("a scenario cannot count the steps of several clients at once, and this schedule does")
	}
	own, since, began := 0, s.w.Now(), s.w.Now()
	for range move.Count {
		acts := s.w.Ready(move.Who)
		if !s.w.Step(move.Who) {
			break
		}
		if acts {
			own, since = own+1, s.w.Now()
		}
	}
	if own > 0 {
		s.paused &^= move.Who
		within := ""
		if took := since - began; took > runWithin {
			within = fmt.Sprintf(", within: %s", took)
		}
		steps = append(steps, fmt.Sprintf("{run: %s, steps: %d%s}", s.cfg.Clients[i].Name, own, within))
	}
	wait, err := s.waits(since)
	return append(steps, wait...), errors.Join(err, s.w.Err())
}

// waits has time pass since an instant. Of a lock with threads of its own, it pauses each client where the schedule begins not to let
// it act: a step that merely waits leaves open whether those threads are to stand still as well, and its author is asked.
func (s *saver) waits(since time.Duration) (steps []string, err error) {
	t, err := s.w.Trace()
	if err != nil {
		return nil, err
	}
	pass := func(to time.Duration) {
		if to > since {
			steps, since = append(steps, fmt.Sprintf("wait: %s", to-since)), to
		}
	}
	threads := slices.ContainsFunc(t.Events, func(e trace.Event) bool { return e.Thread > 0 })
	for _, e := range t.Events {
		if threads && e.Kind == trace.KindPause && e.Note != "" && e.At >= since {
			pass(e.At)
			steps = append(steps, "pause: "+t.Clients[e.Client])
			s.paused |= sim.SetOf(e.Client)
		}
	}
	pass(s.w.Now())
	return steps, nil
}

// say writes a note for the schedule's strategy, in lines that fit a page.
func (s *saver) say(text string) {
	const width = 100
	if text == "" {
		return
	}
	s.line("  - say: >-")
	line := ""
	for _, word := range strings.Fields(text) {
		if line != "" && len(line)+1+len(word) > width {
			s.line("      %s", line)
			line = ""
		}
		line = strings.TrimPrefix(line+" "+word, " ")
	}
	s.line("      %s", line)
	s.line("    under: [%s]", s.cfg.Strategy.Name) // another lock takes another course
}

// check loads the written file, runs it, and compares its run with the schedule's.
func (s *saver) check(code trace.Code) (*trace.Trace, error) {
	loaded, err := read("saved.yaml", "saved.yaml", []byte(s.text.String()))
	if err != nil {
		return nil, fmt.Errorf("the scenario that was made of the schedule cannot be loaded: %w", err)
	}
	got, want := loaded.Config(s.usual().Strategy, s.cfg.Seed), s.cfg
	got.Scenario, got.Strategy, want.Strategy = want.Scenario, sim.Config{}.Strategy, sim.Config{}.Strategy
	if want.Retry.Tries == 1 {
		got.Retry = want.Retry
	}
	if want.Replicas == 0 {
		got.Lag = want.Lag
	}
	if !reflect.DeepEqual(got, want) {
		return nil, fmt.Errorf("a scenario has no words for the schedule's configuration:\n%+v\n%+v", got, want)
	}
	t, err := loaded.Run(s.usual().Strategy, s.cfg.Seed)
	if err != nil {
		return nil, err
	}
	if !slices.Contains(t.Verdict(), code) {
		return nil, fmt.Errorf("the schedule does not violate %s", code)
	}
	for i := range s.t.Events {
		if i >= len(t.Events) || !t.Events[i].Same(&s.t.Events[i]) {
			return nil, fmt.Errorf("the scenario that was made of the schedule goes another way at event #%d", i+1)
		}
	}
	return t, nil
}

// narration describes the effects of a move: the events from a point on.
type narration struct {
	t      *trace.Trace
	from   int
	stands clause // the present position of the client that has acted
}

func sentence(text string) string {
	if text == "" {
		return ""
	}
	return trace.Capital(text) + "."
}

// broken describes the violations, in their order.
func (n *narration) broken() (texts []string) {
	found := slices.SortedStableFunc(slices.Values(n.t.Violations), func(a, b trace.Violation) int { return a.Last() - b.Last() })
	for _, violation := range found {
		if violation.Last() > n.from {
			texts = append(texts, fmt.Sprintf("Here it breaks (%s, %s): %s", violation.Code, violation.Code.Name(), sentence(violation.Text)))
		}
	}
	return texts
}

func (n *narration) tell(move sim.Move) string {
	var all []string
	switch {
	case move.Wait > 0:
		all = append(all, trace.Duration(move.Wait)+" pass.")
	case move.Fault != nil:
		if says := fault.SpecOf(move.Fault).Says; strings.Contains(says, "%s") {
			all = append(all, fmt.Sprintf(says, fault.Args(move.Fault)[0]))
		} else if says != "" {
			all = append(all, says)
		}
	}
	return strings.Join(append(all, n.sentences()...), " ")
}

// clause is an actor with an action. Clauses that differ only in their places are merged
// into one with several.
type clause struct{ who, what, where string }

// sentences describes the events: consecutive events of one actor make one sentence.
func (n *narration) sentences() (out []string) {
	var said []string
	who := ""
	end := func() {
		if len(said) > 0 {
			out = append(out, who+" "+trace.List(said)+".")
		}
		said = nil
	}
	var last clause
	for i := n.from; i < len(n.t.Events); i++ {
		c := n.clause(i)
		switch {
		case c.what == "":
			continue
		case c.who != who:
			end()
			who = c.who
		case c.what == last.what && c.where != "" && len(said) > 0:
			said[len(said)-1] += " and " + c.where
			continue
		}
		said = append(said, strings.TrimSpace(c.what+" "+c.where))
		last = c
	}
	if n.stands.what != "" {
		if n.stands.who != who {
			end()
			who = n.stands.who
		}
		said = append(said, n.stands.what)
	}
	end()
	return out
}

// clause describes one event, if it is worth telling.
func (n *narration) clause(i int) clause {
	e := &n.t.Events[i]
	c := clause{who: n.t.Actor(e)}
	switch e.Kind {
	case trace.KindAcquire:
		c.what = "asks for the lock"
	case trace.KindGranted:
		c.what = "gets the lock (without a deadline)"
		if e.By != trace.Never {
			c.what = fmt.Sprintf("gets the lock (until %s)", trace.Duration(e.By))
		}
	case trace.KindExecute:
		return n.executed(i)
	case trace.KindFailover:
		c.what = "becomes the master"
	case trace.KindExpire, trace.KindNodeStep, trace.KindDown, trace.KindUp:
		return n.ofNode(i)
	case trace.KindPause:
		c.what = "is paused"
	case trace.KindLapse:
		c.what = "is past its deadline"
	case trace.KindRefused, trace.KindFailed, trace.KindEnter, trace.KindRead, trace.KindWrite, trace.KindLeave, trace.KindReleased, trace.KindReleaseFailed,
		trace.KindExtended, trace.KindExtendFailed, trace.KindTimeout, trace.KindDisconnect, trace.KindCrash, trace.KindWallStep, trace.KindResume, trace.KindReject:
		c.what = n.t.Text(e)
	case trace.KindRelease:
		c.what = "begins to release"
	case trace.KindExtend:
		c.what = "begins to extend"
	}
	return c
}

// executed describes a command's effect on the lock's record or, without one, the record
// that it found.
func (n *narration) executed(i int) clause {
	e := &n.t.Events[i]
	c := clause{who: n.t.Clients[e.Client], where: "on " + n.t.Nodes[e.Node]}
	command, whose := strings.ToUpper(e.Args[0]), n.whose(i, e.Node, e.Client)
	at := slices.IndexFunc(e.Changes, func(x trace.Change) bool { return x.Key == n.t.Key })
	if at < 0 {
		if asks := slices.Contains(e.Args, n.t.Key) && e.Reply != "QUEUED" && !strings.HasPrefix(e.Reply, "error"); !asks {
			return clause{}
		}
		c.what = fmt.Sprintf("finds %s (%s)", whose, command)
		return c
	}
	x := e.Changes[at]
	switch {
	case x.Before == nil:
		c.what = fmt.Sprintf("stores its record (%s)", command)
	case x.After == nil:
		c.what = fmt.Sprintf("removes %s (%s)", whose, command)
	case x.Before.Value != x.After.Value:
		c.what = fmt.Sprintf("replaces %s (%s)", whose, command)
	default:
		c.what = fmt.Sprintf("moves the expiry of %s (%s)", whose, command)
	}
	return c
}

// whose describes the record on a node before an event, from the client's point of view.
func (n *narration) whose(i, node, client int) string {
	r := n.t.StateAt(i).LockRecord(node)
	switch {
	case r == nil:
		return "no record"
	case r.Owner == trace.Nobody:
		return "a record of nobody's"
	case r.Owner.Client == client:
		return "its own record"
	}
	return n.t.Clients[r.Owner.Client] + "'s record"
}

// ofNode describes an event of a node, and its effect on the lock's record there.
func (n *narration) ofNode(i int) clause {
	e := &n.t.Events[i]
	c := clause{who: n.t.Nodes[e.Node]}
	gone := slices.ContainsFunc(e.Changes, func(x trace.Change) bool { return x.Key == n.t.Key && x.After == nil })
	lost := ""
	if gone {
		lost = n.whose(i, e.Node, trace.None)
	}
	switch e.Kind {
	case trace.KindExpire:
		if gone {
			c.what = "drops " + lost + ", whose time is up"
		}
		return c
	case trace.KindNodeStep:
		c.what = fmt.Sprintf("has its clock jump by %s", trace.Duration(e.By))
	case trace.KindDown:
		c.what = e.DownText()
	case trace.KindUp:
		c.what = "comes back, " + e.Note
	}
	if gone {
		c.what += " and loses " + lost
	}
	return c
}
