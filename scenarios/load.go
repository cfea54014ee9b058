package scenarios

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"lockstep/sim"
	"lockstep/sim/process"
	"lockstep/sim/redis"
	"lockstep/sim/suggest"
	"lockstep/sim/trace"
)

// loader turns a document into a Scenario, part by part.
type loader struct {
	s       *Scenario
	unnamed bool          // a client's name is wrong, so that the script can't be held to the names
	clock   time.Duration // the least instant at which the next step can begin
}

func (l *loader) setup(v value) error {
	u := &l.s.setup
	u.line = v
	return v.fields(map[string]func(value) error{
		"ttl":         l.ttl,
		"timeout":     into(&u.timeout, positive),
		"latency":     l.latency,
		"retry":       l.retry,
		"clients":     l.clients,
		"persistence": into(&u.persistence, persistence),
		"replicas":    into(&u.replicas, replicas),
		"lag":         l.lagOfAll,
		"nodes":       into(&u.nodes, nodes),
		"workload":    into(&u.workload, workload),
		"resource":    l.resource,
		"scripts":     l.scripts,
		"tokens":      into(&u.tokens, tokens),
	})
}

// word reads a word and converts it; the conversion's error gets its place.
func word[T any](v value, form string, parse func(string) (T, error)) (T, error) {
	s, err := v.text(form)
	if err != nil {
		var zero T
		return zero, err
	}
	x, err := parse(s)
	return x, v.wrap(err)
}

func persistence(v value) (redis.Persistence, error) {
	return word(v, "a policy", named("persistence", redis.ParsePersistence, redis.PersistNone, redis.PersistEverysec, redis.PersistAlways))
}

func tokens(v value) (process.Tokens, error) {
	return word(v, "a kind of tokens", named("kind of tokens", process.ParseTokens, process.UniqueTokens, process.SameTokens, process.MangledTokens))
}

func workload(v value) (trace.Workload, error) {
	return word(v, "a workload", named("workload", trace.ParseWorkload, trace.Counter, trace.Cache))
}

func resource(v value) (sim.Resource, error) {
	return word(v, "a kind of resource", named("resource", sim.ParseResource, sim.Plain, sim.Fenced, sim.FencedWrites))
}

// named adds a suggestion from the known words to a parser's error.
func named[T fmt.Stringer](what string, parse func(string) (T, error), all ...T) func(string) (T, error) {
	return func(s string) (T, error) {
		x, err := parse(s)
		if err == nil {
			return x, nil
		}
		var known []string
		for _, k := range all {
			known = append(known, k.String())
		}
		return x, suggest.Unknown(what, s, known)
	}
}

func (l *loader) ttl(v value) error {
	d, err := positive(v)
	if err == nil && d < time.Millisecond {
		return v.errorf("Redis counts in milliseconds, and %s is less than one", d)
	}
	l.s.setup.ttl = d
	return err
}

func (l *loader) latency(v value) error {
	d, err := notNegative(v)
	l.s.setup.latency, l.s.setup.noLatency = d, d == 0
	return err
}

func (l *loader) lagOfAll(v value) error {
	d, err := notNegative(v)
	l.s.setup.lag, l.s.setup.noLag = d, d == 0
	return err
}

func (l *loader) resource(v value) error {
	r, err := resource(v)
	l.s.setup.resource = &r
	return err
}

func (l *loader) retry(v value) error {
	r := &l.s.setup.retry
	return v.fields(map[string]func(value) error{
		"tries": func(v value) error {
			n, err := v.integer()
			if err == nil && n < 0 {
				err = v.errorf("\"tries\" is %d, and can't be less than 0; 0 means for ever", n)
			}
			r.tries = &n
			return err
		},
		"delay": func(v value) error {
			d, err := positive(v)
			r.delay = &d
			return err
		},
		"jitter": func(v value) error {
			d, err := notNegative(v)
			r.jitter = &d
			return err
		},
	})
}

// scripts reads whether the nodes have the strategy's scripts cached already.
func (l *loader) scripts(v value) error {
	s, err := v.text("warm or cold")
	if err == nil && s != "warm" && s != "cold" {
		err = v.wrap(suggest.Unknown("state of the script cache", s, []string{"warm", "cold"}))
	}
	l.s.setup.cold = s == "cold"
	return err
}

// clients is a list of names, or a mapping of names to settings.
func (l *loader) clients(v value) error {
	l.s.setup.clients, l.s.setup.recheck = nil, value{} // a variant's own take the place of the others
	if v.what() != "a mapping" {
		return l.clientNames(v)
	}
	entries, err := v.entries()
	if err != nil {
		return err
	}
	if len(entries) == 0 {
		return v.errorf("no client is named")
	}
	for _, e := range entries {
		c := newClient(e.key)
		if wrong := l.client(e.at, &c); wrong != nil {
			err = both(err, wrong)
			continue
		}
		if e.value.what() == "nothing" {
			continue
		}
		err = both(err, e.value.fields(map[string]func(value) error{
			"work":   into(&l.last().Work, notNegative),
			"insist": into(&l.last().Insist, positive),
			"offset": into(&l.last().Offset, value.duration),
			"rate":   into(&l.last().Rate, rate),
			"cycles": into(&l.last().Cycles, cycles),
			"extend": into(&l.last().Extend, yes),
			"checks": into(&l.last().Checks, yes),

			"commitlast":  into(&l.last().CommitLast, yes),
			"failopen":    into(&l.last().FailOpen, yes),
			"fallthrough": into(&l.last().FallThrough, yes),
			"recheck":     l.recheck,
		}))
	}
	return err
}

// recheck is read before or after the workload that it goes with: see fits.
func (l *loader) recheck(v value) error {
	c := l.last()
	err := into(&c.Recheck, yes)(v)
	if c.Recheck {
		l.s.setup.recheck = v
	}
	return err
}

// fits reports contradictions between the parts of a setup.
func (l *loader) fits() error {
	if u := &l.s.setup; u.recheck.node != nil && u.workload != trace.Cache {
		return u.recheck.errorf("\"recheck\" looks into the cache again: it goes with \"workload: cache\"")
	}
	return nil
}

func rate(v value) (float64, error) {
	r, err := v.number()
	if err == nil && !(r >= 0.1 && r <= 10) {
		err = v.errorf("a clock can run at a rate of 0.1 to 10, not %g", r)
	}
	return r, err
}

func cycles(v value) (int, error) {
	n, err := v.integer()
	if err == nil && (n < 1 || n > process.MaxCycles) {
		err = v.errorf("a client can have 1 to %d cycles, not %d", process.MaxCycles, n)
	}
	return n, err
}

func replicas(v value) (int, error) {
	n, err := v.integer()
	if err == nil && (n < 0 || n > sim.MaxReplicas) {
		err = v.errorf("a server can have 0 to %d replicas, not %d", sim.MaxReplicas, n)
	}
	return n, err
}

// nodes is the number of servers of a lock that needs several.
func nodes(v value) (int, error) {
	n, err := v.integer()
	if err == nil && (n < 1 || n > sim.MaxNodes) {
		err = v.errorf("a lock on several servers can have 1 to %d of them, not %d", sim.MaxNodes, n)
	}
	return n, err
}

func yes(v value) (bool, error) {
	s, err := v.text("true or false")
	if err == nil && s != "true" && s != "false" {
		err = v.errorf("%q is neither true nor false", suggest.Clip(s))
	}
	return s == "true", err
}

func (l *loader) last() *process.Config { return &l.s.setup.clients[len(l.s.setup.clients)-1] }

func (l *loader) clientNames(v value) error {
	names := v.list()
	if len(names) == 0 {
		return v.errorf("no client is named")
	}
	var all error
	for _, name := range names {
		text, err := name.text("the names of clients")
		if err == nil {
			c := newClient(text)
			err = l.client(name, &c)
		}
		all = both(all, err)
	}
	return all
}

func (l *loader) client(at value, c *process.Config) error {
	was := l.unnamed
	l.unnamed = true
	if err := process.ValidName(c.Name); err != nil {
		return at.wrap(err)
	}
	for _, other := range l.s.setup.clients {
		if other.Name == c.Name {
			return at.errorf("there are two clients named %s", c.Name)
		}
	}
	if len(l.s.setup.clients) == sim.MaxClients {
		return at.errorf("more than %d clients", sim.MaxClients)
	}
	l.s.setup.clients = append(l.s.setup.clients, *c)
	l.unnamed = was
	return nil
}

// maxSteps bounds the length of a script, far above the number that a class can follow.
const maxSteps = 1000

func (l *loader) script(v value) error {
	if v.what() != "a list" {
		return v.wants("a list of steps")
	}
	steps := v.list()
	if len(steps) == 0 {
		return v.errorf("the script has no steps")
	}
	if len(steps) > maxSteps {
		return v.errorf("the script has %d steps, more than %d", len(steps), maxSteps)
	}
	var all error
	begun := false // something has happened by then
	for _, at := range steps {
		st, err := l.step(at)
		words, says := st.(say)
		_, waits := st.(wait)
		if begun = begun || !says && !waits; says && err == nil && !begun && slices.Contains([]string{"holders", "record"}, l.s.notes[words.n-1].answer) {
			err = at.errorf("nothing has happened yet, so there is nothing to predict: put the question behind a step that does something, such as \"run\"")
		}
		all = both(all, err)
		l.s.script = append(l.s.script, step{at: at, action: st})
	}
	return all
}

// step is one entry of a script.
type step struct {
	at     value
	action action
}

// StepsFor are the steps of which something consists, or to which it belongs, that somebody may take for a step.
var StepsFor = map[string][]string{"answer": {"ask"}, "choices": {"ask"}, "options": {"ask"}, "restart": {"down", "up"}, "reorder": {"hold", "free"}, "partition": {"cut", "heal"}}

// unknownStep is the error of a step with this key.
func unknownStep(key string) error {
	switch steps := StepsFor[key]; len(steps) {
	case 1:
		return fmt.Errorf("%q is no step: it belongs to %q", key, steps[0])
	case 2:
		return fmt.Errorf("%q is no step: it is two, %q and %q", key, steps[0], steps[1])
	}
	return suggest.Unknown("step", key, sortedKeys(stepKeys))
}

// stepKeys are the words that a step can begin with. Each says what it does to
// the rest of the mapping.
var stepKeys = func() map[string]func(*loader, value, []entry) (action, error) {
	keys := map[string]func(*loader, value, []entry) (action, error){
		"say":   (*loader).say,
		"ask":   (*loader).ask,
		"run":   (*loader).run,
		"wait":  (*loader).wait,
		"until": (*loader).until,
	}
	for key, forms := range FaultSteps() {
		keys[key] = func(l *loader, v value, more []entry) (action, error) { return l.fault(forms, v, more) }
	}
	return keys
}()

func (l *loader) step(at value) (action, error) {
	if form := at.what(); form != "a mapping" {
		if err := at.plain(); err != nil {
			return nil, err
		}
		return nil, at.errorf("a step consists of keys and values, as in \"run: A\", and this is %s", form)
	}
	entries, err := at.entries()
	if err != nil {
		return nil, err
	}
	if len(entries) == 0 {
		return nil, at.errorf("the step is empty; it is one of %s", strings.Join(sortedKeys(stepKeys), ", "))
	}
	// The order of a mapping's keys means nothing: exactly one of them names the step.
	head := slices.IndexFunc(entries, isStep)
	if head < 0 {
		return nil, entries[0].at.wrap(unknownStep(entries[0].key))
	}
	h, more := entries[head], slices.Delete(slices.Clone(entries), head, head+1)
	if second := slices.IndexFunc(more, isStep); second >= 0 {
		e := more[second]
		return nil, e.at.errorf("%q and %q are two steps: each begins with a dash of its own", h.key, e.key)
	}
	for _, e := range more {
		if end, lasts := lasting[h.key]; lasts && e.key == "for" {
			return nil, e.at.errorf("%q has no %q: it lasts until %s; as a step of its own, %q lets time pass", h.key, e.key, end, "wait: "+exampleOf(e.value))
		}
	}
	return stepKeys[h.key](l, h.value, more)
}

// lasting are steps whose effect lasts, with the step that ends it: their authors are tempted to give them a
// duration.
var lasting = map[string]string{
	"pause": "the client is resumed, or run by name",
	"down":  `an "up"`, "unplug": `an "up"`, "cut": `a "heal"`, "hold": `a "free"`,
}

// exampleOf is a duration as the author wrote it, if it is one.
func exampleOf(v value) string {
	if text, err := v.text("a duration"); err == nil {
		if _, err := v.duration(); err == nil {
			return text
		}
	}
	return "10s"
}

func isStep(e entry) bool {
	_, known := stepKeys[e.key]
	return known
}

// rest reads the keys of a step besides its own.
func rest(entries []entry, known map[string]func(value) error) error {
	var err error
	for _, e := range entries {
		switch read, is := known[e.key]; {
		case is:
			err = both(err, read(e.value))
		case e.key == "under":
			err = both(err, e.at.errorf("a step is made under every lock, and has no effect where a lock has no use for it: \"under\" belongs to \"say\" and \"ask\""))
		case len(known) == 0:
			err = both(err, e.at.errorf("unknown key %q: this step has no further keys", suggest.Clip(e.key)))
		default:
			err = both(err, e.at.wrap(suggest.Unknown("key", e.key, sortedKeys(known))))
		}
	}
	return err
}

func (l *loader) say(v value, more []entry) (action, error) {
	n := note{kind: trace.NoteSay, at: v.place()}
	var err error
	if n.text, err = v.sentence(); err != nil {
		return nil, err
	}
	known := n.limits()
	known["having"] = func(v value) error { return l.having(&n, v) }
	err = rest(more, known)
	l.s.notes = append(l.s.notes, n)
	return say{len(l.s.notes)}, err
}

// limits are the keys that limit a note to the locks of which it is true.
func (n *note) limits() map[string]func(value) error {
	return map[string]func(value) error{
		"under": func(v value) error {
			for _, s := range v.list() {
				name, err := s.strategy()
				if err != nil {
					return err
				}
				n.under = append(n.under, name)
			}
			return nil
		},
		"servers": into(&n.among, func(v value) (servers, error) { return word(v, "one or several", parseServers) }),
	}
}

func (l *loader) having(n *note, v value) error {
	entries, err := v.entries()
	for _, e := range entries {
		text, wrong := e.value.sentence()
		n.having, err = append(n.having, having{e.key, text}), both(err, both(e.at.wrap(l.knows(e.key)), wrong))
	}
	return err
}

func (l *loader) ask(v value, more []entry) (action, error) {
	n := note{kind: trace.NoteAsk, at: v.place()}
	var err error
	if n.text, err = v.sentence(); err != nil {
		return nil, err
	}
	for _, e := range more {
		if slices.Contains([]string{"choices", "options", "wrong"}, e.key) {
			return nil, e.at.errorf("unknown key %q: the choices of a question can't be written; they are computed, the wrong ones as the right one, so that it is right under every lock", e.key)
		}
	}
	known := n.limits()
	known["answer"] = into(&n.answer, func(v value) (string, error) { return word(v, "what to ask for", parseAnswer) })
	err = rest(more, known)
	if err == nil && n.answer == "" {
		err = v.errorf("a question needs an answer: one of %s", strings.Join(answers, ", "))
	}
	l.s.notes = append(l.s.notes, n)
	return say{len(l.s.notes)}, err
}

func (l *loader) run(v value, more []entry) (action, error) {
	r := run{within: runWithin}
	who, err := l.clientList(v)
	r.who = who
	var to, span, count value
	err = both(err, rest(more, map[string]func(value) error{
		"to": func(v value) error {
			to = v
			p, err := word(v, "a position", parsePosition)
			r.to, r.at = &p, v
			return err
		},
		"for": func(v value) error {
			span = v
			return into(&r.span, positive)(v)
		},
		"steps": func(v value) error {
			count = v
			n, err := v.integer()
			if err == nil && (n < 1 || n > maxOwnSteps) {
				err = v.errorf("a run can have 1 to %d steps, not %d", maxOwnSteps, n)
			}
			r.steps = n
			return err
		},
		"within": into(&r.within, positive),
		"otherwise": func(v value) error {
			s, err := v.text("an alternative")
			if err == nil && s != "stop" {
				err = v.wrap(suggest.Unknown("alternative", s, []string{"stop"}))
			}
			r.needed = true
			return err
		},
	}))
	switch {
	case err != nil:
		return nil, err
	case r.to != nil && r.span != 0:
		return nil, span.errorf("a run has a to or a for, not both")
	case r.steps != 0 && (r.to != nil || r.span != 0):
		return nil, count.errorf("a run has a to, a for, or steps: one of them")
	case r.steps != 0 && len(r.who) != 1:
		return nil, count.errorf("steps are counted of one client, not of %d", len(r.who))
	case r.needed && r.to == nil:
		return nil, v.errorf("\"otherwise\" goes with \"to\"")
	case r.to != nil && len(r.who) != 1:
		return nil, to.errorf("only one client can be run to a position, not %d", len(r.who))
	}
	return r, nil
}

// runWithin is how long a run may take, unless it says otherwise.
const runWithin = time.Minute

// maxOwnSteps bounds the number of a client's steps that are counted at once.
const maxOwnSteps = 10_000

// clientList reads a client's name, a list of them, or all. It tells of all that is wrong with it.
func (l *loader) clientList(v value) ([]string, error) {
	var names []string
	var wrong error
	for _, item := range v.list() {
		name, err := item.text("a client's name")
		switch {
		case err != nil:
			wrong = both(wrong, err)
		case name == "all":
			names = append(names, l.s.Clients()...)
		default:
			if err := l.knows(name); err != nil {
				wrong = both(wrong, item.wrap(err))
			}
			names = append(names, name)
		}
	}
	if wrong == nil && len(names) == 0 {
		wrong = v.errorf("no client is named")
	}
	if wrong != nil {
		return nil, wrong
	}
	return names, nil
}

func (l *loader) knows(client string) error {
	for _, c := range l.s.Clients() {
		if c == client {
			return nil
		}
	}
	if first, rest, several := strings.Cut(client, " "); several && l.knows(first) == nil {
		return fmt.Errorf("unknown client %q; did you mean %q? The rest, %q, stands below it as a key of its own, such as \"to: work\", or as another step", suggest.Clip(client), first, suggest.Clip(rest))
	}
	return suggest.Unknown("client", client, l.s.Clients())
}

func (l *loader) clientName(v value) (string, error) {
	return word(v, "a client's name", func(s string) (string, error) { return s, l.knows(s) })
}

func (l *loader) wait(v value, more []entry) (action, error) {
	if s, is, _ := v.scalar(); is {
		if at, instant := strings.CutPrefix(s, "until"); instant {
			return nil, v.errorf("%q is not a duration; a step of its own waits for an instant: until: %s", suggest.Clip(s), suggest.Clip(cmp.Or(strings.TrimLeft(at, ": "), "13s")))
		}
	}
	d, err := positive(v)
	if err != nil {
		return nil, err
	}
	l.clock = min(l.clock+d, trace.MaxTime) // not a sum that overflows
	return wait{d}, rest(more, nil)
}

// until is an instant. One that is past whatever the lock is refused at once; whether it is past under some
// lock only its run can say.
func (l *loader) until(v value, more []entry) (action, error) {
	at, err := positive(v)
	if err != nil {
		return nil, err
	}
	if at < l.clock {
		return nil, v.errorf("%s is past when this step begins: the waits before it come to %s", trace.Duration(at), trace.Duration(l.clock))
	}
	l.clock = min(at, trace.MaxTime)
	return waitUntil{at}, rest(more, nil)
}

// nodeList reads node references: n1 to n9, all, or pivot, which is the node
// that completes the first majority: n1 of one, n3 of five.
func nodeList(v value) ([]string, error) {
	var names []string
	for _, item := range v.list() {
		name, err := word(item, "a node", nodeRef)
		if err != nil {
			return nil, err
		}
		names = append(names, name)
	}
	if len(names) == 0 {
		return nil, v.errorf("no node is named")
	}
	return names, nil
}

func nodeRef(s string) (string, error) {
	known := []string{"all", "pivot"}
	for i := range sim.MaxNodes {
		known = append(known, fmt.Sprintf("n%d", i+1))
	}
	if slices.Contains(known, s) {
		return s, nil
	}
	if hint := suggest.Hint(s, known[:2]); hint != "" {
		return s, fmt.Errorf("unknown node %q%s", suggest.Clip(s), hint)
	}
	return s, fmt.Errorf("unknown node %q: the step names a server, n1 to n%d, all, or pivot (the one that completes a majority: n1 of one, n3 of five); the record there is the lock's", suggest.Clip(s), sim.MaxNodes)
}

func replicaName(v value) (string, error) {
	return word(v, "a replica", func(s string) (string, error) {
		for node := range sim.MaxNodes {
			for replica := range sim.MaxReplicas {
				if s == fmt.Sprintf("n%dr%d", node+1, replica+1) {
					return s, nil
				}
			}
		}
		return s, fmt.Errorf("unknown replica %q: they are n1r1 to n%dr%d, the first replica of n1 being n1r1", suggest.Clip(s), sim.MaxNodes, sim.MaxReplicas)
	})
}
