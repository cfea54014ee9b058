package sim

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"lockstep/sim/fault"
	"lockstep/sim/parse"
	"lockstep/sim/process"
	"lockstep/sim/redis"
	"lockstep/sim/trace"
	"lockstep/strategies"
)

// Schedule is a run: its configuration, and the choices made in it. Its text is short
// enough to be pasted, has no character that a shell would interpret, and gives the same
// trace on every machine:
//
//	lockstep1,setnx,crash-holding,seed=1,...,--,A:7,crash/A,B:12,@1,:10s
//
// After the -- each word is a move: "A:7" is seven steps in which only A may act,
// ":10s" lets time pass while no client acts, "A~5ms" is a step in which A draws a random
// number and gets 5ms, "@1" is where the scenario's first note stands, and anything else is
// a fault.
type Schedule struct {
	Config Config
	Moves  []Move
}

// Move is one entry of a schedule.
//
// Invariant: exactly one of Count, Wait, Fault, Note and Draws is set; Who is set with Count
// and with Draws, and Draw only with Draws.
type Move struct {
	Who   Set           // the clients that may act, see World.Step
	Count int           // so many steps of them
	Wait  time.Duration // time passes while no client acts, see World.Wait
	Fault fault.Fault   // see World.Inject
	Note  int           // the nth note of the scenario, from 1
	Draws bool          // a step in which a client draws a random number, see Config.Draws,
	Draw  time.Duration // and gets this one
}

// MovesOf returns faults as moves.
func MovesOf(faults ...fault.Fault) (moves []Move) {
	for _, f := range faults {
		moves = append(moves, Move{Fault: f})
	}
	return moves
}

func (v Move) text(names []string) string {
	switch {
	case v.Fault != nil:
		return v.Fault.String()
	case v.Note > 0:
		return fmt.Sprintf("@%d", v.Note)
	case v.Wait > 0:
		return ":" + v.Wait.String()
	}
	var who []string
	for i, n := range names {
		if v.Who.Has(i) {
			who = append(who, n)
		}
	}
	if v.Draws {
		return strings.Join(who, "+") + "~" + v.Draw.String()
	}
	return fmt.Sprintf("%s:%d", strings.Join(who, "+"), v.Count)
}

const (
	// ScheduleVersion is the first word of every schedule.
	ScheduleVersion = "lockstep1"
	movesBegin      = "--"

	// The bounds of a schedule's text. Any run that fits MaxEvents fits them.
	maxLabel         = 128
	maxScheduleText  = 1 << 20
	maxScheduleParts = 1 << 16
)

// Schedule returns the run so far as a schedule.
func (w *World) Schedule() Schedule {
	cfg := w.cfg
	cfg.Watch = nil
	cfg.Clients = cfg.Clients[:len(cfg.Clients)-1]                  // the probe goes without saying
	cfg.Draws = cfg.Draws && w.drew                                 // without a draw it makes no difference
	return Schedule{Config: cfg, Moves: slices.Clone(w.moves.list)} // the world uses its list again
}

// Play makes a schedule's moves, in a world that has been reset to its configuration. It
// calls say, unless it is nil, for each note. It fails if a fault cannot happen where the
// schedule has it, or if the run reaches a bound.
func (w *World) Play(moves []Move, say func(n int)) error {
	for _, v := range moves {
		switch {
		case v.Fault != nil:
			if err := w.Inject(v.Fault); err != nil {
				return fmt.Errorf("the schedule's %s doesn't fit: %w", v.Fault, err)
			}
		case v.Note > 0:
			if say != nil {
				say(v.Note)
			}
		case v.Wait > 0:
			w.Wait(v.Wait)
		case v.Draws:
			if err := w.draw(v); err != nil {
				return err
			}
		default:
			w.Steps(v.Who, v.Count)
		}
		if w.err != nil {
			return w.err
		}
	}
	return nil
}

// draw makes a step in which a client draws a random number. It fails if none is about to.
func (w *World) draw(v Move) error {
	t := w.pick(v.Who)
	if t == nil || t.Op.Kind != process.OpDraw {
		return fmt.Errorf("the schedule's %s doesn't fit: no random number is drawn there", v.text(w.names()))
	}
	t.client.drawn = &v.Draw
	w.Steps(v.Who, 1)
	return nil
}

// names lists the clients' names, the probe's included.
func (w *World) names() (names []string) {
	for _, c := range w.clients {
		names = append(names, c.Name)
	}
	return names
}

// String returns the schedule's text, from which [ParseSchedule] makes an equal schedule.
func (s Schedule) String() string {
	c := &s.Config
	words := []string{
		ScheduleVersion, c.Strategy.Name, c.Scenario,
		"seed=" + strconv.FormatUint(c.Seed, 10),
		"key=" + c.Key,
		"ttl=" + c.TTL.String(),
		"timeout=" + c.Timeout.String(),
		"latency=" + c.Latency.String(),
		fmt.Sprintf("retry=%d/%s/%s", c.Retry.Tries, c.Retry.Delay, c.Retry.Jitter),
		"workload=" + c.Workload.String(),
		"resource=" + c.Resource.String(),
		"cold=" + strconv.FormatBool(c.Cold),
		"replicas=" + strconv.Itoa(c.Replicas),
		"lag=" + c.Lag.String(),
	}
	if c.Tokens != process.UniqueTokens { // so rare that the others do without
		words = append(words, "tokens="+c.Tokens.String())
	}
	if c.Draws {
		words = append(words, "draws=true")
	}
	if c.Record != "" { // of most locks it is the key itself
		words = append(words, "record="+url.QueryEscape(c.Record))
	}
	if c.Tick != 0 { // as rare
		words = append(words, "tick="+c.Tick.String())
	}
	names := make([]string, 0, len(c.Clients)+1)
	for _, cl := range c.Clients {
		names = append(names, cl.Name)
		words = append(words, clientWord(&cl))
	}
	names = append(names, trace.Probe)
	for i, n := range c.Nodes {
		words = append(words, fmt.Sprintf("n%d=%s/%s", i+1, n.Persistence, n.Offset))
	}
	words = append(words, movesBegin)
	for _, v := range s.Moves {
		words = append(words, v.text(names))
	}
	return strings.Join(words, ",")
}

// ParseSchedule reads a schedule's text. Its errors name the wrong word and its right form.
// resolve finds a strategy by name.
func ParseSchedule(text string, resolve func(string) (strategies.Strategy, error)) (Schedule, error) {
	text = strings.TrimSpace(text)
	if text == "" {
		return Schedule{}, errors.New("the schedule is empty")
	}
	if len(text) > maxScheduleText {
		return Schedule{}, fmt.Errorf("the schedule has %d bytes, more than %d: that is not one that a run printed", len(text), maxScheduleText)
	}
	words := strings.Split(text, ",")
	if len(words) > maxScheduleParts {
		return Schedule{}, fmt.Errorf("the schedule has %d words, more than %d", len(words), maxScheduleParts)
	}
	if words[0] != ScheduleVersion {
		return Schedule{}, fmt.Errorf("a schedule begins with %q, this begins with %.40q", ScheduleVersion, words[0])
	}
	if len(words) < 3 {
		return Schedule{}, errors.New("the schedule ends before it names its strategy and scenario")
	}
	strategy, err := resolve(words[1])
	if err != nil {
		return Schedule{}, err
	}
	p := scheduleParser{s: Schedule{Config: Config{Strategy: strategy, Scenario: words[2]}}, seen: map[string]bool{}}
	if !validLabel(words[2]) {
		return Schedule{}, fmt.Errorf("word 3, %.40q, is no scenario's name: letters, digits, '.', '_' and '-' only", words[2])
	}
	return p.parse(words)
}

// Label makes a scenario's name, or a path, fit to stand in a schedule.
func Label(s string) string {
	label := strings.Map(func(r rune) rune {
		if validLabel(string(r)) {
			return r
		}
		return '_'
	}, s)
	if label == "" {
		return "-"
	}
	return label[:min(len(label), maxLabel)]
}

func validLabel(s string) bool {
	for _, r := range s {
		if !strings.ContainsRune("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-", r) {
			return false
		}
	}
	return s != "" && len(s) <= maxLabel
}

type scheduleParser struct {
	s     Schedule
	seen  map[string]bool
	names []string
	steps int
}

func (p *scheduleParser) parse(words []string) (Schedule, error) {
	for i := 3; i < len(words); i++ {
		if words[i] == movesBegin {
			return p.moves(words, i+1)
		}
		if err := p.setting(words[i]); err != nil {
			return Schedule{}, fmt.Errorf("word %d, %.60q: %w", i+1, words[i], err)
		}
	}
	return Schedule{}, fmt.Errorf("the schedule has no %q, after which its moves would come", movesBegin)
}

func (p *scheduleParser) moves(words []string, from int) (Schedule, error) {
	for _, name := range []string{"seed", "key", "ttl", "timeout", "latency", "retry", "workload", "resource", "cold", "replicas", "lag"} {
		if !p.seen[name] {
			return Schedule{}, fmt.Errorf("the schedule lacks the setting %q", name)
		}
	}
	if c := &p.s.Config; c.Strategy.Nodes > 1 && len(c.Nodes) > 0 {
		c.Strategy.Nodes = len(c.Nodes) // such a lock runs on as many as it is given
	}
	if err := p.s.Config.Validate(); err != nil {
		return Schedule{}, err
	}
	for _, c := range p.s.Config.Clients {
		p.names = append(p.names, c.Name)
	}
	p.names = append(p.names, trace.Probe)
	for i := from; i < len(words); i++ {
		move, err := p.move(words[i])
		if err != nil {
			return Schedule{}, fmt.Errorf("word %d, %.60q: %w", i+1, words[i], err)
		}
		p.s.Moves = append(p.s.Moves, move)
	}
	return p.s, nil
}

func (p *scheduleParser) setting(word string) error {
	name, value, found := strings.Cut(word, "=")
	if !found {
		return errors.New("a setting has the form name=value")
	}
	if p.seen[name] {
		return fmt.Errorf("%s is set twice", name)
	}
	p.seen[name] = true
	c := &p.s.Config
	var err error
	switch name {
	case "seed":
		c.Seed, err = parse.Seed(value)
	case "key":
		c.Key = value
	case "record":
		c.Record, err = parse.Key(value)
	case "ttl":
		c.TTL, err = parse.Duration(value)
	case "timeout":
		c.Timeout, err = parse.Duration(value)
	case "latency":
		c.Latency, err = parse.Duration(value)
	case "workload":
		c.Workload, err = trace.ParseWorkload(value)
	case "resource":
		c.Resource, err = ParseResource(value)
	case "cold":
		c.Cold, err = parse.Bool(value)
	case "tokens":
		c.Tokens, err = process.ParseTokens(value)
	case "draws":
		c.Draws, err = parse.Bool(value)
	case "tick":
		c.Tick, err = parse.Duration(value)
	case "replicas":
		c.Replicas, err = parse.Number(value)
	case "lag":
		c.Lag, err = parse.Duration(value)
	case "retry":
		c.Retry, err = parseRetry(value)
	default:
		return p.actor(name, value)
	}
	return err
}

func parseRetry(s string) (r strategies.Retry, err error) {
	f := parse.Split(s, 3)
	parse.Read(f, &r.Tries, parse.Number)
	parse.Read(f, &r.Delay, parse.Duration)
	parse.Read(f, &r.Jitter, parse.Duration)
	return r, f.Err
}

// commitLast ends the setting of a client that commits after its release. They are so rare that
// the others do without.
const commitLast = "/commit-last"

// clientWord is a client's setting.
func clientWord(cl *process.Config) string {
	word := fmt.Sprintf("%s=%d/%s/%s/%s/%s/%t/%t/%t/%t/%t", cl.Name, cl.Cycles, cl.Work, cl.Insist, cl.Offset,
		strconv.FormatFloat(cl.Rate, 'g', -1, 64), cl.Extend, cl.Checks, cl.FailOpen, cl.FallThrough, cl.Recheck)
	if cl.CommitLast {
		word += commitLast
	}
	return word
}

// actor reads a client's or a node's setting.
func (p *scheduleParser) actor(name, value string) error {
	c := &p.s.Config
	if name == fmt.Sprintf("n%d", len(c.Nodes)+1) {
		var n redis.Config
		f := parse.Split(value, 2)
		parse.Read(f, &n.Persistence, redis.ParsePersistence)
		parse.Read(f, &n.Offset, parse.Duration)
		c.Nodes = append(c.Nodes, n)
		return f.Err
	}
	cl := process.Config{Name: name}
	if rest, last := strings.CutSuffix(value, commitLast); last {
		value, cl.CommitLast = rest, true
	}
	f := parse.Split(value, 10)
	parse.Read(f, &cl.Cycles, parse.Number)
	parse.Read(f, &cl.Work, parse.Duration)
	parse.Read(f, &cl.Insist, parse.Duration)
	parse.Read(f, &cl.Offset, parse.Duration)
	parse.Read(f, &cl.Rate, parse.Float)
	parse.Read(f, &cl.Extend, parse.Bool)
	parse.Read(f, &cl.Checks, parse.Bool)
	parse.Read(f, &cl.FailOpen, parse.Bool)
	parse.Read(f, &cl.FallThrough, parse.Bool)
	parse.Read(f, &cl.Recheck, parse.Bool)
	c.Clients = append(c.Clients, cl)
	return f.Err
}

func (p *scheduleParser) move(word string) (Move, error) {
	if rest, is := strings.CutPrefix(word, "@"); is {
		n, err := strconv.Atoi(rest)
		if err != nil || n < 1 {
			return Move{}, errors.New("a note is @ and its number, from 1")
		}
		return Move{Note: n}, nil
	}
	if who, number, is := strings.Cut(word, "~"); is {
		d, err := time.ParseDuration(number)
		if err != nil || d < 0 {
			return Move{}, errors.New("a draw is a client, ~ and a duration from 0")
		}
		v, err := p.run(who, "1")
		v.Count, v.Draws, v.Draw = 0, true, d
		return v, err
	}
	who, count, is := strings.Cut(word, ":")
	if !is {
		f, err := fault.Parse(word)
		return Move{Fault: f}, err
	}
	if who == "" {
		d, err := time.ParseDuration(count)
		if err != nil || d <= 0 {
			return Move{}, errors.New("a wait is : and a duration greater than 0")
		}
		return Move{Wait: d}, nil
	}
	return p.run(who, count)
}

func (p *scheduleParser) run(who, count string) (Move, error) {
	n, err := strconv.Atoi(count)
	if err != nil || n < 1 {
		return Move{}, errors.New("the number of steps is a whole number from 1")
	}
	if p.steps += n; n > 2*MaxEvents || p.steps > 2*MaxEvents {
		return Move{}, fmt.Errorf("more than %d steps: no run is that long", 2*MaxEvents)
	}
	v := Move{Count: n}
	for _, name := range strings.Split(who, "+") {
		i := indexOf(p.names, name)
		if i < 0 {
			return Move{}, fmt.Errorf("there is no client %q: the schedule has %s", name, strings.Join(p.names, ", "))
		}
		v.Who |= SetOf(i)
	}
	return v, nil
}

func indexOf(names []string, name string) int {
	for i, n := range names {
		if n == name {
			return i
		}
	}
	return -1
}
