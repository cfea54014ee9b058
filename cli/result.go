package cli

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"lockstep/sim"
	"lockstep/sim/claims"
	"lockstep/sim/explore"
	"lockstep/sim/trace"
)

// writeResult tells what a search has shown, and what not.
func writeResult(out io.Writer, r *explore.Result) error {
	var b strings.Builder
	p := printer(func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) })
	verdicts(p, r)
	p("\nWhat was searched")
	bounds(p, &r.Bounds)
	p("\nWhat it came to")
	effort(p, r)
	vacuity(p, r)
	assumptions(p, r)
	for _, v := range r.Violated {
		if err := counterexample(&b, p, v); err != nil {
			return err
		}
	}
	_, err := io.WriteString(out, b.String())
	return err
}

type printer func(format string, args ...any)

// item prints a labelled text, in lines that fit a page.
func (p printer) item(label, format string, args ...any) {
	p("%s", strings.TrimSuffix(wrapped(fmt.Sprintf("  %-9s", label), 12, fmt.Sprintf(format, args...)), "\n"))
}

// page is how many columns a printed line has at most.
const page = 110

// wrapped is a text behind a label, in lines that fit a page; all but the first are
// indented.
func wrapped(label string, indent int, text string) string {
	var b strings.Builder
	line := label
	for _, word := range strings.Fields(text) {
		if len(line)+1+len(word) > page {
			b.WriteString(line + "\n")
			line = strings.Repeat(" ", indent-1)
		}
		line += " " + word
	}
	return b.String() + line + "\n"
}

// verdicts is the short answer.
func verdicts(p printer, r *explore.Result) {
	var holds, open trace.Verdict
	for _, c := range r.Bounds.Sought() {
		switch {
		case r.Holds(c):
			holds = append(holds, c)
		case !slices.Contains(r.Found, c):
			open = append(open, c)
		}
	}
	p("%s: %s", r.Bounds.Strategy.Name, answer(r))
	for _, c := range r.Found {
		p("  violated  %-3s  %s: %s", c, c.Name(), least(r.Find(c)))
	}
	for _, c := range holds {
		but := ""
		if c == trace.GAP && !r.Vacuity.Extended { // then it is not put to the test
			but = ", and no lease was extended (see --caller)"
		}
		p("  holds     %-3s  no schedule within the bounds shows %s%s", c, c.Named(), but)
	}
	for _, c := range open {
		p("  open      %-3s  no schedule with %s has been found yet, which proves nothing", c, c.Named())
	}
}

func answer(r *explore.Result) string {
	if !r.Complete {
		return fmt.Sprintf("the search is not complete: %s", r.Why)
	}
	return "every schedule within the bounds was searched"
}

func least(v *explore.Counterexample) string {
	if v == nil {
		return "some schedule shows it, and there was no time to find the least"
	}
	which := "the least schedule"
	if v.Within != nil {
		which = "there was no time to find the least schedule; within smaller bounds it"
	}
	return fmt.Sprintf("%s has %s, %s between clients, %s", which,
		count(len(v.Faults), "fault"), count(v.Switches, "switch"), count(v.Steps, "step"))
}

func count(n int, what string) string {
	switch n {
	case 0:
		return "no " + what
	case 1:
		return "1 " + what
	}
	if strings.HasSuffix(what, "s") || strings.HasSuffix(what, "ch") {
		what += "e"
	}
	return fmt.Sprintf("%s %ss", grouped(int64(n)), what)
}

// bounds are what the result is limited to.
func bounds(p printer, b *explore.Bounds) {
	cfg, err := b.Config()
	if err != nil {
		return // it has been searched: its bounds are good
	}
	p.item("clients", "%s, each of which asks for the lock %s; whoever has it %s", trace.List(names(&cfg)), times(b.Cycles), cfg.Caller())
	p.item("servers", "%s, with nothing on disk; the TTL is %s, a client waits %s for a reply", count(len(cfg.Nodes), "server"), trace.Duration(cfg.TTL), trace.Duration(cfg.Timeout))
	p.item("order", "every order of the clients' steps: each command, reply, look at a clock, access to the resource")
	p.item("faults", "in one schedule at most %s", b.Faults)
	p.item("instants", "whatever can go wrong does so between any two steps. Time goes on to the next of: a record's expiry, "+
		"a lease's deadline, the end of a sleep or of a client's patience, two seconds after a TTL since a client's look at its wall clock")
	p.item("not in it", "%s", b.Outside())
}

func names(cfg *sim.Config) (all []string) {
	for _, c := range cfg.Clients {
		all = append(all, c.Name)
	}
	return all
}

func times(n int) string {
	switch n {
	case 1:
		return "once"
	case 2:
		return "twice"
	}
	return fmt.Sprintf("%d times", n)
}

func effort(p printer, r *explore.Result) {
	how := "which are all that there are"
	if !r.Complete {
		how = fmt.Sprintf("among them all that schedules of up to %s lead to; a choice may be several steps", count(r.Depth, "choice"))
	}
	p.item("states", "%s situations, %s", grouped(r.States), how)
	p.item("choices", "%s followed from them", grouped(r.Transitions))
	p.item("Redis", "really executed %s; what it did was remembered for all other times", count(r.Commands, "command"))
	near := []string{count(int(r.Near.Refused), "acquisition") + " refused"}
	if n := r.Near.Compared; n > 0 {
		near = append(near, count(int(n), "comparison")+" in a release that found another's token, or none")
	}
	if n := r.Near.NotHeld; n > 0 {
		near = append(near, count(int(n), "release")+" told that the lock was no longer the caller's")
	}
	if n := r.Near.Fenced; n > 0 {
		near = append(near, count(int(n), "access")+" refused for an old fencing token")
	}
	p.item("near", "over all choices %s", strings.Join(near, "; "))
}

// vacuity says whether all this means anything.
func vacuity(p printer, r *explore.Result) {
	if r.Vacuity.Reacquired {
		p.item("not idle", "the lock was taken, given back, and taken again")
	} else {
		p.item("IDLE", "no schedule takes the lock, gives it back, and takes it again: what holds may hold for want of trying")
	}
	for _, k := range r.Vacuity.Unused {
		why := "there was never an occasion"
		if !r.Complete {
			why = "the search did not get so far"
		}
		p.item("unused", "no schedule had a %s: %s", k.Words(1), why)
	}
}

// assumptions are those of the claims that say the same as the search, but of
// schedules without bounds.
func assumptions(p printer, r *explore.Result) {
	said := map[int]bool{}
	for _, c := range r.Bounds.Sought() {
		for _, n := range claims.For(r.Bounds.Strategy.Name, c.String()) {
			if !r.Holds(c) || said[n] {
				continue
			}
			said[n] = true
			claim := claims.All[n-1]
			p("\nBeyond the bounds that is claim %d of docs/model.md, which random runs have not refuted, as long as", n)
			for _, a := range claim.Assumptions {
				p("  - %s", a.Text)
			}
		}
	}
}

func counterexample(b *strings.Builder, p printer, v *explore.Counterexample) error {
	p("\n%s  %s: %s\n", v.Code, v.Code.Name(), least(v))
	if b := v.Within; b != nil {
		p.item("bounds", "%s, each of which asks for the lock %s; at most %s", count(b.Clients, "client"), times(b.Cycles), b.Faults)
	}
	for _, f := range v.Faults {
		switch {
		case f.Replaced:
			p.item("fault", "%s (tried without: %s takes another fault instead)", f.Text, v.Code)
		case f.Essential:
			p.item("fault", "%s (tried without: no %s)", f.Text, v.Code)
		default:
			p.item("fault", "%s (it happens without as well)", f.Text)
		}
	}
	if len(v.Faults) > 0 || v.Within != nil {
		p("")
	}
	return v.Trace.Plain(b)
}

type jsonResult struct {
	Strategy    string                 `json:"strategy"`
	Bounds      jsonBounds             `json:"bounds"`
	Complete    bool                   `json:"complete"`
	Why         string                 `json:"why,omitempty"`
	Depth       int                    `json:"depth"`
	States      int64                  `json:"states"`
	Transitions int64                  `json:"transitions"`
	Commands    int                    `json:"commands"`
	Seconds     float64                `json:"seconds"`
	Verdicts    map[string]jsonVerdict `json:"verdicts"`
	Vacuity     jsonVacuity            `json:"vacuity"`
	Near        jsonNear               `json:"near_misses"`
}

type jsonBounds struct {
	Clients  int              `json:"clients"`
	Cycles   int              `json:"cycles"`
	Nodes    int              `json:"nodes"`
	Faults   map[string]uint8 `json:"faults"`
	Caller   string           `json:"caller"`
	Resource string           `json:"resource"`
	TTL      string           `json:"ttl"`
	Timeout  string           `json:"timeout"`
	Codes    []string         `json:"codes"`
}

// jsonVerdict: holds is null where the search has not come to its end and has found
// nothing.
type jsonVerdict struct {
	Holds *bool `json:"holds"`
	*jsonCounterexample
}

type jsonCounterexample struct {
	Least    bool        `json:"least"` // within the bounds; if not, within smaller ones
	Schedule string      `json:"schedule"`
	Faults   []jsonFault `json:"faults"`
	Switches int         `json:"switches"`
	Steps    int         `json:"steps"`
}

type jsonFault struct {
	Kind      string `json:"kind"`
	Text      string `json:"text"`
	Essential bool   `json:"essential"`
	Replaced  bool   `json:"replaced,omitempty"` // essential only because another fault would take its place
}

type jsonVacuity struct {
	Reacquired bool     `json:"reacquired"`
	Extended   bool     `json:"extended"`
	Unused     []string `json:"unused"`
}

type jsonNear struct {
	Refused  int64 `json:"refused"`
	Compared int64 `json:"compared"`
	NotHeld  int64 `json:"not_held"`
	Fenced   int64 `json:"fenced"`
}

func resultAsJSON(r *explore.Result, took time.Duration) jsonResult {
	j := jsonResult{Strategy: r.Bounds.Strategy.Name, Bounds: boundsAsJSON(&r.Bounds), Complete: r.Complete, Why: r.Why, Depth: r.Depth,
		States: r.States, Transitions: r.Transitions, Commands: r.Commands, Seconds: took.Seconds(), Verdicts: map[string]jsonVerdict{},
		Vacuity: jsonVacuity{r.Vacuity.Reacquired, r.Vacuity.Extended, []string{}},
		Near:    jsonNear{r.Near.Refused, r.Near.Compared, r.Near.NotHeld, r.Near.Fenced}}
	for _, k := range r.Vacuity.Unused {
		j.Vacuity.Unused = append(j.Vacuity.Unused, k.String())
	}
	for _, c := range r.Bounds.Sought() {
		var v jsonVerdict
		if violated := slices.Contains(r.Found, c); violated || r.Holds(c) {
			holds := !violated
			v.Holds = &holds
		}
		if found := r.Find(c); found != nil {
			v.jsonCounterexample = &jsonCounterexample{found.Within == nil, found.Trace.Schedule, []jsonFault{}, found.Switches, found.Steps}
			for _, f := range found.Faults {
				v.Faults = append(v.Faults, jsonFault{f.Kind.String(), f.Text, f.Essential, f.Replaced})
			}
		}
		j.Verdicts[c.String()] = v
	}
	return j
}

func boundsAsJSON(b *explore.Bounds) jsonBounds {
	j := jsonBounds{Clients: b.Clients, Cycles: b.Cycles, Faults: map[string]uint8{}, Caller: b.Caller(),
		Resource: b.Resource.String(), TTL: b.TTL.String(), Codes: b.Sought().Strings()}
	for k, n := range b.Faults {
		j.Faults[explore.Kind(k).String()] = n
	}
	if cfg, err := b.Config(); err == nil {
		j.Nodes, j.Timeout = len(cfg.Nodes), cfg.Timeout.String()
	}
	return j
}
