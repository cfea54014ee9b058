// Package scenarios loads and runs scripts: YAML files in which a teacher shows how
// a lock fails. A script steers by a client's position in its protocol, and never by
// a command that only one strategy sends; so one script runs under every strategy,
// and the matrix of both is honest. The built-in scripts are in scripts/, and
// course.yaml makes a course of them.
package scenarios

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"lockstep/docs/failures"
	"lockstep/scenarios/text"
	"lockstep/sim"
	"lockstep/sim/process"
	"lockstep/sim/redis"
	"lockstep/sim/suggest"
	"lockstep/sim/trace"
	"lockstep/strategies"
)

// Scenario is a script, with the verdict that it expects of each strategy.
type Scenario struct {
	Name   string // of a built-in script its file's, without .yaml; of a user's, the path
	Title  string
	Shows  string // one line for lists
	Source string // where the field met it, if anywhere

	setup    setup
	script   []step
	notes    []note
	expect   map[string]expectation
	variants []*Scenario
	file     string
	builtin  bool // its expectations cover the whole catalogue
}

// setup is a scenario's changes to a run's configuration. A nil or zero part keeps the
// strategy's default.
type setup struct {
	ttl, timeout, latency time.Duration
	noLatency             bool
	retry                 retryChange
	clients               []process.Config
	persistence           redis.Persistence
	replicas              int
	lag                   time.Duration
	noLag                 bool
	nodes                 int
	workload              trace.Workload
	recheck               value // the place where a client's recheck is set, if any is
	resource              *sim.Resource
	cold                  bool
	tokens                process.Tokens
	line                  value
}

type retryChange struct {
	tries         *int
	delay, jitter *time.Duration
}

// note is a text of the script, by its number from 1.
type note struct {
	kind   trace.NoteKind
	text   string
	answer string
	at     string   // its file and line
	under  []string // the strategies that it holds for; none means all
	among  servers
	having []having
}

// NoteAt is the file and the line of a note, by its Index in a trace.
func (s *Scenario) NoteAt(index int) string { return s.notes[index-1].at }

// Asks reports whether the script asks anything, be it under some locks only.
func (s *Scenario) Asks() bool {
	return slices.ContainsFunc(s.notes, func(n note) bool { return n.kind == trace.NoteAsk })
}

// having are the words that are told in the place of a text where a client believes that it holds the lock.
type having struct{ client, text string }

// servers is the number of servers of the locks that a text holds for.
type servers string

const (
	oneServer      servers = "one"
	severalServers servers = "several"
)

func parseServers(s string) (servers, error) {
	known := []string{string(oneServer), string(severalServers)}
	if slices.Contains(known, s) {
		return servers(s), nil
	}
	return "", suggest.Unknown("number of servers", s, known)
}

// holds reports whether a text is told, or a question asked, in a run of a lock.
func (n *note) holds(st strategies.Strategy) bool {
	several := st.Nodes > 1
	return (n.under == nil || slices.Contains(n.under, st.Name)) && (n.among == "" || several == (n.among == severalServers))
}

//go:embed scripts/*.yaml course.yaml
var builtin embed.FS

// order is the order of teaching: a failure, and then the failure of its cure. A scenario that it doesn't have follows
// the one before it on its page of the ways to fail.
var order = []string{
	"crash-holding", "crash-mid-acquire", "expire-lost", "server-crash-mid-acquire", "no-finally", "ttl-truthy", "ttl-seconds", "ttl-unit",
	"takeover-race", "nil-between", "loser-raises-stamp", "loser-lowers-stamp", "stale-deadline",
	"equal-stamp", "equal-stamp-late-read", "clock-skew",
	"late-release", "worker-exit", "commit-after-release", "token-collision", "release-gap", "duplicate-release", "release-lost", "reply-lost", "token-mangled", "late-request", "script-flush", "wrong-type",
	"extend-races-expiry", "extend-after-gap", "late-extension", "watchdog-hung-worker", "watchdog-dies",
	"pause-past-ttl", "pause-after-check", "pause-replies-in-flight", "cut-off", "fail-open",
	"fenced-write-unfenced-read", "fence-minted-late", "fence-lost",
	"server-clock-jump", "eviction", "restart-no-fsync", "power-cut", "restart-delayed",
	"failover", "failover-wait", "split-brain",
	"minority-down", "majority-down", "one-node", "slow-node", "clock-steps-back", "split-vote",
	"contention", "stampede", "stampede-slow", "stampede-crash", "stampede-fallthrough",
}

// All lists the built-in scenarios in the order of teaching.
func All() []*Scenario { return loadBuiltin() }

var loadBuiltin = sync.OnceValue(func() []*Scenario {
	all, err := readScripts(builtin)
	if err != nil {
		panic(Broken{err})
	}
	return all
})

// Broken is the value with which this package panics if a built-in file can't be read. A test sees to it that this never ships: only
// somebody who is writing such a file meets it.
type Broken struct{ Err error } // names the file, below scenarios, and the line

// Error says what is wrong with it, after a sentence by which nobody takes it for a mistake in a file of their own.
func (b Broken) Error() string { return "what is built in is broken: " + b.Err.Error() }

// readScripts reads all scripts, in parallel, as the start of the program waits for that.
func readScripts(from fs.FS) ([]*Scenario, error) {
	files, err := fs.Glob(from, "scripts/*.yaml")
	if err != nil {
		return nil, err
	}
	scripts, failed := make([]*Scenario, len(files)), make([]error, len(files))
	var wg sync.WaitGroup
	for i, file := range files {
		wg.Go(func() { scripts[i], failed[i] = readScript(from, file) })
	}
	wg.Wait()
	if err := errors.Join(failed...); err != nil {
		return nil, err
	}
	var all []*Scenario
	for _, s := range scripts {
		all = append(all, s)
		all = append(all, s.variants...)
	}
	slices.SortStableFunc(all, func(a, b *Scenario) int { return taught(a) - taught(b) })
	return all, nil
}

// taught is a scenario's place in the order of teaching, with room for one behind each that has a place there.
func taught(s *Scenario) int {
	if at := slices.Index(order, s.base()); at >= 0 {
		return 2 * at
	}
	for _, p := range failures.Pages() {
		for at := slices.Index(p.Scenarios, s.base()) - 1; at >= 0; at-- {
			if before := slices.Index(order, p.Scenarios[at]); before >= 0 {
				return 2*before + 1
			}
		}
	}
	return 2 * len(order)
}

// readScript reads a script that is built in.
func readScript(from fs.FS, file string) (*Scenario, error) {
	data, err := fs.ReadFile(from, file)
	if err != nil {
		return nil, err
	}
	s, err := read(file, strings.TrimSuffix(path.Base(file), ".yaml"), data)
	if err != nil {
		return nil, err
	}
	s.builtin = true
	for _, variant := range s.variants {
		variant.builtin = true
	}
	return s, nil
}

// Text returns the file of a built-in script as it is written, with all its variants; of
// any other script it is empty.
func (s *Scenario) Text() string {
	if !s.builtin {
		return ""
	}
	data, err := builtin.ReadFile(s.file)
	if err != nil {
		panic(err) // it has been read from there
	}
	return string(data)
}

// base is the scenario's name without its variant.
func (s *Scenario) base() string {
	name, _, _ := strings.Cut(s.Name, ".")
	return name
}

// Names lists the built-in scenarios' names.
func Names() []string {
	var names []string
	for _, s := range All() {
		names = append(names, s.Name)
	}
	return names
}

// Find gives the built-in scenario of that name, or reads the file at that path.
func Find(nameOrPath string) (*Scenario, error) { return findIn("", nameOrPath) }

// findIn is Find, with paths from a folder.
func findIn(folder, name string) (*Scenario, error) {
	for _, s := range All() {
		if s.Name == name {
			return s, nil
		}
	}
	path := name
	if folder != "" && !filepath.IsAbs(name) {
		path = filepath.Join(folder, name)
	}
	ext := filepath.Ext(path)
	if IsScript(path) {
		return Load(path)
	}
	if file := strings.TrimSuffix(path, ext); IsScript(file) {
		return loadVariant(file, strings.TrimPrefix(ext, "."))
	}
	if strings.ContainsAny(name, `/\`) {
		return Load(path)
	}
	scripts := scriptsBeside(path)
	if slices.Contains(scripts, name+".yaml") {
		return nil, fmt.Errorf("unknown scenario %q; did you mean %q?", name, name+".yaml")
	}
	if hint := suggest.Hint(name, slices.Concat(Names(), scripts)); hint != "" {
		return nil, fmt.Errorf("unknown scenario %q%s", suggest.Clip(name), hint)
	}
	return nil, fmt.Errorf("unknown scenario %q: lockstep list has the built-in ones, and the name of a file of your own ends in .yaml", suggest.Clip(name))
}

// IsScript reports whether a path is named as scripts are.
func IsScript(path string) bool {
	ext := filepath.Ext(path)
	return ext == ".yaml" || ext == ".yml"
}

// scriptsBeside are the names of the scripts in the folder of a path.
func scriptsBeside(path string) (names []string) { return text.Beside(path, IsScript) }

// loadVariant reads a file, for the variant of that name: my.yaml.fast is the
// variant fast of my.yaml.
func loadVariant(file, name string) (*Scenario, error) {
	s, err := Load(file)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, variant := range s.variants {
		known := strings.TrimPrefix(variant.Name, s.Name+".")
		if known == name {
			return variant, nil
		}
		names = append(names, known)
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("%s has no variants", file)
	}
	return nil, fmt.Errorf("%s: %w", file, suggest.Unknown("variant", name, names))
}

// Load reads a scenario from a file. Errors name the file, the line and the culprit.
func Load(file string) (*Scenario, error) {
	data, err := text.Read(file, maxFile)
	if err != nil {
		hint := ""
		if errors.Is(err, fs.ErrNotExist) {
			hint = suggest.Hint(filepath.Base(file), scriptsBeside(file))
			if name := strings.TrimSuffix(filepath.Base(file), filepath.Ext(file)); hint == "" && slices.Contains(Names(), name) {
				hint = fmt.Sprintf("; %q without .yaml is a built-in scenario", name)
			}
		}
		return nil, fmt.Errorf("cannot read the scenario %s: %w%s", file, err, hint)
	}
	return read(file, file, data)
}

func read(file, name string, data []byte) (*Scenario, error) {
	doc, err := parse(file, data, aScenario)
	if err != nil {
		return nil, err
	}
	s := &Scenario{Name: name, file: file}
	l := loader{s: s}
	var script, variants value
	err = doc.fields(map[string]func(value) error{
		"title":    into(&s.Title, value.sentence),
		"shows":    into(&s.Shows, value.sentence),
		"source":   into(&s.Source, value.sentence),
		"setup":    l.setup,
		"script":   func(v value) error { script = v; return nil },
		"expect":   l.expect,
		"variants": func(v value) error { variants = v; return nil },
	})
	if err == nil && s.Title == "" {
		err = doc.errorf("the scenario has no title")
	}
	if err == nil && script.node == nil { // else its key may be misspelled
		err = doc.errorf("the scenario has no script")
	}
	if script.node == nil || l.unnamed {
		return nil, err
	}
	if len(s.setup.clients) == 0 {
		s.setup.clients = []process.Config{newClient("A"), newClient("B")}
	}
	err = both(err, l.fits())
	// The script comes last: it may name only clients that the setup has.
	err = both(err, l.script(script))
	if err == nil && variants.node != nil { // they have the same script
		err = l.variants(variants, script)
	}
	if err != nil {
		return nil, err
	}
	return s, nil
}

// variants reads the scenario's variants: the same script with one difference in its
// setup, and with verdicts of its own.
func (l *loader) variants(v, script value) error {
	entries, err := v.entries()
	if err != nil {
		return err
	}
	for _, e := range entries {
		err = both(err, l.variant(e, script))
	}
	return err
}

func (l *loader) variant(e entry, script value) error {
	if e.key != sim.Label(e.key) || strings.Contains(e.key, ".") {
		return e.at.errorf("a variant cannot be named %q: use letters, digits, '_' and '-'", suggest.Clip(e.key))
	}
	base := l.s
	s := &Scenario{Name: base.Name + "." + e.key, Title: base.Title, Shows: base.Shows, Source: base.Source, setup: base.setup, file: base.file}
	own := loader{s: s}
	if err := e.value.fields(map[string]func(value) error{
		"title":  into(&s.Title, value.sentence),
		"shows":  into(&s.Shows, value.sentence),
		"source": into(&s.Source, value.sentence),
		"setup":  own.setup,
		"expect": own.expect,
	}); err != nil {
		return err
	}
	if s.Title == base.Title {
		return e.at.errorf("the variant %s has no title of its own", e.key)
	}
	err := own.fits()
	if err == nil {
		err = own.script(script)
	}
	if err != nil {
		return within(err, "in the variant "+e.key)
	}
	base.variants = append(base.variants, s)
	return nil
}

// Config is the configuration of a run of the scenario under a strategy.
func (s *Scenario) Config(st strategies.Strategy, seed uint64) sim.Config {
	cfg := sim.Config{
		Strategy: st, Scenario: sim.Label(s.label()), Key: "lock", TTL: 10 * time.Second,
		Retry: st.Retry, Timeout: st.Timeout, Latency: time.Millisecond, Lag: time.Millisecond, Seed: seed,
		Workload: s.setup.workload, Cold: s.setup.cold, Tokens: s.setup.tokens, Clients: slices.Clone(s.setup.clients),
	}
	switch {
	case s.setup.resource != nil:
		cfg.Resource = *s.setup.resource
	case st.Fences:
		cfg.Resource = sim.Fenced
	}
	set := func(to *time.Duration, d time.Duration) {
		if d != 0 {
			*to = d
		}
	}
	set(&cfg.TTL, s.setup.ttl)
	set(&cfg.Timeout, s.setup.timeout)
	set(&cfg.Latency, s.setup.latency)
	if s.setup.noLatency {
		cfg.Latency = 0
	}
	if r := s.setup.retry; r.tries != nil {
		cfg.Retry.Tries = *r.tries
	}
	if r := s.setup.retry; r.delay != nil {
		cfg.Retry.Delay = *r.delay
	}
	if r := s.setup.retry; r.jitter != nil {
		cfg.Retry.Jitter = *r.jitter
	}
	// Independent nodes have no replicas: they would not be independent.
	if st.Nodes == 1 {
		cfg.Replicas = max(s.setup.replicas, st.Replicas)
	}
	set(&cfg.Lag, s.setup.lag)
	if s.setup.noLag {
		cfg.Lag = 0
	}
	if st.Nodes > 1 && s.setup.nodes > 0 {
		cfg.Strategy.Nodes = s.setup.nodes
	}
	for range cfg.Strategy.Nodes {
		cfg.Nodes = append(cfg.Nodes, redis.Config{Persistence: s.setup.persistence})
	}
	return cfg
}

// Caller describes how the scenario's clients use the lock under a strategy, as
// sim.Config.Caller does.
func (s *Scenario) Caller(st strategies.Strategy) string {
	cfg := s.Config(st, 1)
	return cfg.Caller()
}

// Path is the path of the file that a user's scenario is in; "" is that of a built-in one.
func (s *Scenario) Path() string {
	if s.builtin {
		return ""
	}
	return s.file
}

// Variants are the scenario's, in the order of its file.
func (s *Scenario) Variants() []*Scenario { return s.variants }

// label is the scenario's name as schedules carry it: of a file only its base.
func (s *Scenario) label() string { return filepath.Base(s.Name) }

// Clients lists the names of the clients in the script.
func (s *Scenario) Clients() []string {
	var names []string
	for _, c := range s.setup.clients {
		names = append(names, c.Name)
	}
	return names
}

func newClient(name string) process.Config {
	return process.Config{Name: name, Rate: 1, Cycles: 1, Work: time.Second}
}
