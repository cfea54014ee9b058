package scenarios

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"lockstep/sim"
	"lockstep/sim/redis"
	"lockstep/sim/trace"
)

// loader turns a document into a Scenario, part by part.
type loader struct{ s *Scenario }

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

func tokens(v value) (sim.Tokens, error) {
	return word(v, "a kind of tokens", named("kind of tokens", sim.ParseTokens, sim.UniqueTokens, sim.SameTokens, sim.MangledTokens))
}

func workload(v value) (trace.Workload, error) {
	return word(v, "a workload", named("workload", trace.ParseWorkload, trace.Counter, trace.Cache))
}

func resource(v value) (sim.Resource, error) {
	return word(v, "a kind of resource", named("resource", sim.ParseResource, sim.Plain, sim.Fenced, sim.FencedWrites))
}

// named makes a parser say which of the known words was meant.
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
		return x, Unknown(what, s, known)
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

// scripts reads whether the nodes know the strategy's scripts already.
func (l *loader) scripts(v value) error {
	s, err := v.text("warm or cold")
	if err == nil && s != "warm" && s != "cold" {
		err = v.wrap(Unknown("state of the script cache", s, []string{"warm", "cold"}))
	}
	l.s.setup.cold = s == "cold"
	return err
}

// clients is a list of names, or a mapping of names to what is special about them.
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
		if err := l.client(e.at, &c); err != nil {
			return err
		}
		if e.value.what() == "nothing" {
			continue
		}
		if err := e.value.fields(map[string]func(value) error{
			"work":   into(&l.last().Work, notNegative),
			"insist": into(&l.last().Insist, positive),
			"offset": into(&l.last().Offset, value.duration),
			"rate":   into(&l.last().Rate, rate),
			"cycles": into(&l.last().Cycles, cycles),
			"extend": into(&l.last().Extend, yes),
			"checks": into(&l.last().Checks, yes),

			"failopen":    into(&l.last().FailOpen, yes),
			"fallthrough": into(&l.last().FallThrough, yes),
			"recheck":     l.recheck,
		}); err != nil {
			return err
		}
	}
	return nil
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

// fits reports what the parts of a setup say against each other.
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
	if err == nil && (n < 1 || n > sim.MaxCycles) {
		err = v.errorf("a client can have 1 to %d cycles, not %d", sim.MaxCycles, n)
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

// nodes is how many a lock on several servers has.
func nodes(v value) (int, error) {
	n, err := v.integer()
	if err == nil && (n < 2 || n > sim.MaxNodes) {
		err = v.errorf("a lock on several servers can have 2 to %d of them, not %d", sim.MaxNodes, n)
	}
	return n, err
}

func yes(v value) (bool, error) {
	s, err := v.text("true or false")
	if err == nil && s != "true" && s != "false" {
		err = v.errorf("%q is neither true nor false", clip(s))
	}
	return s == "true", err
}

func (l *loader) last() *sim.ClientConfig { return &l.s.setup.clients[len(l.s.setup.clients)-1] }

func (l *loader) clientNames(v value) error {
	names := v.list()
	if len(names) == 0 {
		return v.errorf("no client is named")
	}
	for _, name := range names {
		text, err := name.text("the names of clients")
		if err != nil {
			return err
		}
		c := newClient(text)
		if err := l.client(name, &c); err != nil {
			return err
		}
	}
	return nil
}

func (l *loader) client(at value, c *sim.ClientConfig) error {
	if err := sim.ValidName(c.Name); err != nil {
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
	return nil
}

// maxSteps bounds a script; what a class can follow is far less.
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
	for _, at := range steps {
		st, err := l.step(at)
		if err != nil {
			return err
		}
		l.s.script = append(l.s.script, step{at: at, action: st})
	}
	return nil
}

// step is one entry of a script.
type step struct {
	at     value
	action action
}

// stepKeys are the words that a step can begin with. Each says what it does to
// the rest of the mapping.
var stepKeys = map[string]func(*loader, value, []entry) (action, error){
	"say":       (*loader).say,
	"ask":       (*loader).ask,
	"run":       (*loader).run,
	"wait":      (*loader).wait,
	"pause":     clientStep(func(c string) sim.Fault { return sim.Pause{Client: c} }),
	"resume":    clientStep(func(c string) sim.Fault { return sim.Resume{Client: c} }),
	"crash":     clientStep(func(c string) sim.Fault { return sim.Crash{Client: c} }),
	"hang":      clientStep(func(c string) sim.Fault { return sim.Hang{Client: c} }),
	"end":       clientStep(func(c string) sim.Fault { return sim.EndThread{Client: c} }),
	"clock":     (*loader).clock,
	"drop":      (*loader).drop,
	"lose":      (*loader).lose,
	"hold":      clientStep(func(c string) sim.Fault { return sim.Hold{Client: c} }),
	"free":      (*loader).free,
	"delay":     (*loader).delay,
	"duplicate": (*loader).duplicate,
	"cut":       (*loader).cut,
	"heal":      (*loader).heal,
	"slow":      (*loader).slow,
	"failover":  (*loader).failover,
	"rejoin":    nodeStep(func(n string) sim.Fault { return sim.Rejoin{Server: n} }),
	"lag":       (*loader).lag,
	"evict":     nodeStep(func(n string) sim.Fault { return sim.Evict{Node: n} }),
	"flush":     nodeStep(func(n string) sim.Fault { return sim.ForgetScripts{Node: n} }),
	"down":      nodeStep(func(n string) sim.Fault { return sim.Down{Node: n} }),
	"update":    (*loader).update,
	"up":        nodeStep(func(n string) sim.Fault { return sim.Up{Node: n} }),
}

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
	// The order of a mapping's keys means nothing: the step is whichever is one.
	head := slices.IndexFunc(entries, isStep)
	if head < 0 {
		return nil, entries[0].at.wrap(Unknown("step", entries[0].key, sortedKeys(stepKeys)))
	}
	h, more := entries[head], slices.Delete(slices.Clone(entries), head, head+1)
	if second := slices.IndexFunc(more, isStep); second >= 0 {
		e := more[second]
		return nil, e.at.errorf("%q and %q are two steps: each begins with a dash of its own", h.key, e.key)
	}
	return stepKeys[h.key](l, h.value, more)
}

func isStep(e entry) bool {
	_, known := stepKeys[e.key]
	return known
}

// rest reads the keys of a step besides its own.
func rest(entries []entry, known map[string]func(value) error) error {
	for _, e := range entries {
		read, is := known[e.key]
		if !is && len(known) == 0 {
			return e.at.errorf("unknown key %q: this step has no further keys", clip(e.key))
		}
		if !is {
			return e.at.wrap(Unknown("key", e.key, sortedKeys(known)))
		}
		if err := read(e.value); err != nil {
			return err
		}
	}
	return nil
}

func (l *loader) say(v value, more []entry) (action, error) {
	n := note{kind: trace.NoteSay}
	var err error
	if n.text, err = v.sentence(); err != nil {
		return nil, err
	}
	err = rest(more, map[string]func(value) error{"under": func(v value) error {
		for _, s := range v.list() {
			name, err := s.strategy()
			if err != nil {
				return err
			}
			n.under = append(n.under, name)
		}
		return nil
	}})
	l.s.notes = append(l.s.notes, n)
	return say{len(l.s.notes)}, err
}

func (l *loader) ask(v value, more []entry) (action, error) {
	n := note{kind: trace.NoteAsk}
	var err error
	if n.text, err = v.sentence(); err != nil {
		return nil, err
	}
	err = rest(more, map[string]func(value) error{
		"answer": into(&n.answer, func(v value) (answer, error) { return word(v, "what to ask for", parseAnswer) }),
	})
	if err == nil && n.answer == "" {
		err = v.errorf("a question needs an answer: one of %s", strings.Join(answers, ", "))
	}
	l.s.notes = append(l.s.notes, n)
	return say{len(l.s.notes)}, err
}

func (l *loader) run(v value, more []entry) (action, error) {
	r := run{within: time.Minute}
	var err error
	if r.who, err = l.clientList(v); err != nil {
		return nil, err
	}
	var to, span, count value
	err = rest(more, map[string]func(value) error{
		"to": func(v value) error {
			to = v
			p, err := word(v, "a position", parsePosition)
			r.to = &p
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
				err = v.wrap(Unknown("alternative", s, []string{"stop"}))
			}
			r.needed = true
			return err
		},
	})
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

// maxOwnSteps bounds how many steps of a client are counted at once.
const maxOwnSteps = 10_000

// clientList reads a client's name, a list of them, or all.
func (l *loader) clientList(v value) ([]string, error) {
	var names []string
	for _, item := range v.list() {
		name, err := item.text("a client's name")
		if err != nil {
			return nil, err
		}
		if name == "all" {
			names = append(names, l.s.Clients()...)
			continue
		}
		if err := l.knows(name); err != nil {
			return nil, item.wrap(err)
		}
		names = append(names, name)
	}
	if len(names) == 0 {
		return nil, v.errorf("no client is named")
	}
	return names, nil
}

func (l *loader) knows(client string) error {
	for _, c := range l.s.Clients() {
		if c == client {
			return nil
		}
	}
	return Unknown("client", client, l.s.Clients())
}

func (l *loader) clientName(v value) (string, error) {
	return word(v, "a client's name", func(s string) (string, error) { return s, l.knows(s) })
}

func (l *loader) wait(v value, more []entry) (action, error) {
	d, err := positive(v)
	if err != nil {
		return nil, err
	}
	return wait{d}, rest(more, nil)
}

// update: database
func (l *loader) update(v value, more []entry) (action, error) {
	what, err := v.text("the word database")
	switch {
	case err != nil:
		return nil, err
	case what != "database":
		return nil, v.wrap(Unknown("thing to update", what, []string{"database"}))
	case l.s.setup.workload != trace.Cache:
		return nil, v.errorf("there is no database: it goes with \"workload: cache\"")
	}
	return one(sim.Update{}), rest(more, nil)
}

func clientStep(fault func(string) sim.Fault) func(*loader, value, []entry) (action, error) {
	return func(l *loader, v value, more []entry) (action, error) {
		names, err := l.clientList(v)
		if err != nil {
			return nil, err
		}
		var all inject
		for _, c := range names {
			all = append(all, func(*runner) ([]sim.Fault, error) { return []sim.Fault{fault(c)}, nil })
		}
		return all, rest(more, nil)
	}
}

func nodeStep(fault func(string) sim.Fault) func(*loader, value, []entry) (action, error) {
	return func(l *loader, v value, more []entry) (action, error) {
		nodes, err := nodeList(v)
		if err != nil {
			return nil, err
		}
		return onNodes(nodes, fault), rest(more, nil)
	}
}

func onNodes(nodes []string, fault func(string) sim.Fault) inject {
	return inject{func(r *runner) ([]sim.Fault, error) {
		names, err := r.nodes(nodes)
		var faults []sim.Fault
		for _, n := range names {
			faults = append(faults, fault(n))
		}
		return faults, err
	}}
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
	if hint := didYouMean(s, known[:2]); hint != "" {
		return s, fmt.Errorf("unknown node %q%s", clip(s), hint)
	}
	return s, fmt.Errorf("unknown node %q: it is n1 to n%d, all, or pivot (the one that completes a majority)", clip(s), sim.MaxNodes)
}

func (l *loader) clock(v value, more []entry) (action, error) {
	var by time.Duration
	var client string
	var nodes []string
	err := v.fields(map[string]func(value) error{
		"client": into(&client, l.clientName),
		"node":   into(&nodes, nodeList),
		"by":     into(&by, value.duration),
	})
	switch {
	case err != nil:
		return nil, err
	case (client == "") == (len(nodes) == 0):
		return nil, v.errorf("a clock step names a client or a node")
	case by == 0:
		return nil, v.errorf("a clock step needs \"by\", and not 0: 12s forward, -3s back")
	case client != "":
		return one(sim.WallStep{Client: client, By: by}), rest(more, nil)
	}
	return onNodes(nodes, func(n string) sim.Fault { return sim.NodeStep{Node: n, By: by} }), rest(more, nil)
}

// failover: {to: n1r1, stay: [A]}
func (l *loader) failover(v value, more []entry) (action, error) {
	var f sim.Failover
	err := v.fields(map[string]func(value) error{
		"to":   into(&f.To, replicaName),
		"stay": into(&f.Stay, l.clientList),
	})
	if err == nil && f.To == "" {
		err = v.errorf("say which replica becomes the master: to: n1r1")
	}
	if err != nil {
		return nil, err
	}
	return one(f), rest(more, nil)
}

// lag: {replica: n1r1, by: 5s}
func (l *loader) lag(v value, more []entry) (action, error) {
	var f sim.Lag
	err := v.fields(map[string]func(value) error{
		"replica": into(&f.Replica, replicaName),
		"by":      into(&f.By, notNegative),
	})
	if err == nil && f.Replica == "" {
		err = v.errorf("say which replica lags: replica: n1r1")
	}
	if err != nil {
		return nil, err
	}
	return one(f), rest(more, nil)
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
		return s, fmt.Errorf("unknown replica %q: they are n1r1 to n%dr%d, the first replica of n1 being n1r1", clip(s), sim.MaxNodes, sim.MaxReplicas)
	})
}

// one is a step of one fault that is known already.
func one(f sim.Fault) inject {
	return inject{func(*runner) ([]sim.Fault, error) { return []sim.Fault{f}, nil }}
}

// message reads which half of whose request a network fault is about.
func (l *loader) message(v value, extra map[string]func(value) error) (client string, reply bool, err error) {
	half := func(isReply bool) func(value) error {
		return func(v value) error {
			if client != "" {
				return v.errorf("a step is about a request or about a reply, not both")
			}
			reply = isReply
			return into(&client, l.clientName)(v)
		}
	}
	known := map[string]func(value) error{"request": half(false), "reply": half(true)}
	for k, f := range extra {
		known[k] = f
	}
	if err := v.fields(known); err != nil {
		return "", false, err
	}
	if client == "" {
		return "", false, v.errorf("say whose: request: A, or reply: A")
	}
	return client, reply, nil
}

func (l *loader) drop(v value, more []entry) (action, error) {
	client, reply, err := l.message(v, nil)
	if err != nil {
		return nil, err
	}
	return one(sim.Drop{Client: client, Reply: reply}), rest(more, nil)
}

// lose: {reply: A}
func (l *loader) lose(v value, more []entry) (action, error) {
	var client string
	err := v.fields(map[string]func(value) error{"reply": into(&client, l.clientName)})
	if err == nil && client == "" {
		err = v.errorf("say whose: reply: A")
	}
	if err != nil {
		return nil, err
	}
	return one(sim.LoseReply{Client: client}), rest(more, nil)
}

// free: A, with nth: 2
func (l *loader) free(v value, more []entry) (action, error) {
	f := sim.Free{N: 1}
	var err error
	if f.Client, err = l.clientName(v); err != nil {
		return nil, err
	}
	err = rest(more, map[string]func(value) error{
		"nth": into(&f.N, func(v value) (int, error) {
			n, err := v.integer()
			if err == nil && n < 1 {
				err = v.errorf("\"nth\" is %d, and counts from 1", n)
			}
			return n, err
		}),
	})
	return one(f), err
}

func (l *loader) delay(v value, more []entry) (action, error) {
	var by time.Duration
	client, reply, err := l.message(v, map[string]func(value) error{"by": into(&by, positive)})
	if err == nil && by == 0 {
		err = v.errorf("a delay needs \"by\"")
	}
	if err != nil {
		return nil, err
	}
	return one(sim.Delay{Client: client, Reply: reply, By: by}), rest(more, nil)
}

func (l *loader) duplicate(v value, more []entry) (action, error) {
	var late time.Duration
	client, reply, err := l.message(v, map[string]func(value) error{"after": into(&late, notNegative)})
	if err == nil && reply {
		err = v.errorf("only a request can arrive twice: a client reads one reply for each")
	}
	if err != nil {
		return nil, err
	}
	return one(sim.Duplicate{Client: client, After: late}), rest(more, nil)
}

// links reads the links that a network fault is about: one client, some nodes.
func (l *loader) links(v value, extra map[string]func(value) error) (client string, nodes []string, err error) {
	nodes = []string{"all"}
	known := map[string]func(value) error{
		"client": into(&client, l.clientName),
		"nodes":  into(&nodes, nodeList),
	}
	for k, f := range extra {
		known[k] = f
	}
	if err := v.fields(known); err != nil {
		return "", nil, err
	}
	if client == "" {
		return "", nil, v.errorf("say whose link: client: A")
	}
	return client, nodes, nil
}

func (l *loader) cut(v value, more []entry) (action, error) {
	var way sim.Direction
	client, nodes, err := l.links(v, map[string]func(value) error{
		"direction": into(&way, func(v value) (sim.Direction, error) {
			return word(v, "a direction", named("direction", sim.ParseDirection, sim.Both, sim.Requests, sim.Replies))
		}),
	})
	if err != nil {
		return nil, err
	}
	return onNodes(nodes, func(n string) sim.Fault { return sim.Cut{Client: client, Node: n, Direction: way} }), rest(more, nil)
}

func (l *loader) heal(v value, more []entry) (action, error) {
	client, nodes, err := l.links(v, nil)
	if err != nil {
		return nil, err
	}
	return onNodes(nodes, func(n string) sim.Fault { return sim.Heal{Client: client, Node: n} }), rest(more, nil)
}

func (l *loader) slow(v value, more []entry) (action, error) {
	request, reply := time.Duration(-1), time.Duration(-1)
	client, nodes, err := l.links(v, map[string]func(value) error{
		"request": into(&request, notNegative),
		"reply":   into(&reply, notNegative),
	})
	if err == nil && (request < 0 || reply < 0) {
		err = v.errorf("say how slow the link is both ways: request: 6s, reply: 1ms")
	}
	if err != nil {
		return nil, err
	}
	return onNodes(nodes, func(n string) sim.Fault {
		return sim.Slow{Client: client, Node: n, Request: request, Reply: reply}
	}), rest(more, nil)
}
