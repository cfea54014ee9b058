package cli

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"lockstep/sim/claims"
	"lockstep/sim/explore"
	"lockstep/sim/explore/report"
	"lockstep/sim/timeline"
)

// writeResult prints the findings of a search: first the answers and the least schedules, then what
// was searched and what it came to. On a terminal, off which its first rows may have gone, the answer is the last row, too.
func writeResult(out io.Writer, r *explore.Result) error {
	text, err := resultText(r, terminal(out))
	if err == nil {
		_, err = io.WriteString(unbroken(out), text)
	}
	return err
}

func resultText(r *explore.Result, again bool) (string, error) {
	var b strings.Builder
	p := printer(func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) })
	findings(p, r)
	for _, v := range r.Violated {
		if err := counterexample(&b, p, v); err != nil {
			return "", err
		}
	}
	p("\nWhat was searched")
	p.items([]report.Item{report.Covered(r)})
	p.items(report.Bounds(&r.Bounds))
	p("\nWhat it came to")
	p.items(report.Effort(r))
	p.items(report.Worth(r))
	assumptions(p, r)
	if again {
		p("\n%s", headline(r))
	}
	return b.String(), nil
}

type printer func(format string, args ...any)

func (p printer) items(items []report.Item) {
	for _, i := range items {
		p("%s", i)
	}
}

// headline is the answer in one clause.
func headline(r *explore.Result) string {
	return strings.TrimSuffix(report.Wrap(r.Bounds.Strategy.Name+":", 2, r.Summary()), "\n")
}

// findings is the short answer.
func findings(p printer, r *explore.Result) {
	p("%s", headline(r))
	for _, f := range r.Findings() {
		p.items([]report.Item{{Label: f.Code.String(), Text: report.Text(f)}})
	}
}

// assumptions lists those of the lock's claims that state of schedules without bounds what the
// search has found within them. A claim that is about a code which the search did not look for, or has
// seen violated, is left out.
func assumptions(p printer, r *explore.Result) {
	said := map[int]bool{}
	for _, c := range r.Bounds.Sought() {
		for _, n := range claims.For(r.Bounds.Strategy.Name, c.String()) {
			if !r.Holds(c) || said[n] {
				continue
			}
			said[n] = true
			claim := claims.All[n-1]
			var held []string
			for _, c := range r.Bounds.Sought() {
				if slices.Contains(claim.Never, c.String()) && r.Holds(c) {
					held = append(held, fmt.Sprintf("no %s (%s)", c.Name(), c))
				}
			}
			beyond := "Within these bounds"
			if r.Closed {
				beyond = "With these faults and clients"
			}
			text := fmt.Sprintf("%s the search has found %s. That there is none beyond them either is claim %d, which lockstep explain claim %[3]d states in full", beyond, strings.Join(held, " and "), n)
			if others := r.Violated; len(others) > 0 {
				var codes []string
				for _, v := range others {
					codes = append(codes, v.Code.String())
				}
				text += fmt.Sprintf(" (of %s, which the search has found, it says nothing)", strings.Join(codes, ", "))
			}
			p("\n%s", strings.TrimSuffix(unlabelled(text+". Random runs have not refuted it, as long as"), "\n"))
			for _, a := range claim.Assumptions {
				p("  - %s", a.Text)
			}
		}
	}
}

func counterexample(b *strings.Builder, p printer, v *explore.Counterexample) error {
	p("\n%s", unlabelled(report.Headline(v.Trace, v.Code)))
	if faults := report.Faults(v); len(faults) > 0 {
		p.items(faults)
		p("")
	}
	return timeline.Plain(b, v.Trace)
}

type jsonResult struct {
	Strategy    string                 `json:"strategy"`
	Bounds      jsonBounds             `json:"bounds"`
	Answer      string                 `json:"answer"`  // the least favourable of the verdicts', in the words of [explore.Answer.Apart] if something is lacking
	Summary     string                 `json:"summary"` // the answer in one clause, with all that takes away from it
	Complete    bool                   `json:"complete"`
	Closed      bool                   `json:"closed"`
	UnderWay    int                    `json:"under_way,omitempty"`
	Why         string                 `json:"why,omitempty"`
	Depth       int                    `json:"depth"`
	States      int64                  `json:"states"`
	Transitions int64                  `json:"transitions"`
	Commands    int                    `json:"commands"` // with more than one worker it may differ from run to run, as seconds do: see [explore.Result]
	Seconds     float64                `json:"seconds"`
	Verdicts    map[string]jsonVerdict `json:"verdicts"`
	Vacuity     jsonVacuity            `json:"vacuity"`
	Near        jsonNear               `json:"near_misses"`
	Lasting     *jsonLasting           `json:"lasting,omitempty"` // if LV was sought, and the search has closed
}

// jsonLasting is what the graph of a search says of those who keep asking.
type jsonLasting struct {
	Wait      string            `json:"wait,omitempty"`      // the longest for a free lock
	Unbounded string            `json:"unbounded,omitempty"` // why there is none
	Stated    map[string]string `json:"stated"`              // in the words of the text, by label
}

type jsonBounds struct {
	Clients  int              `json:"clients"`
	Others   bool             `json:"any_number_of_others"`
	Cycles   int              `json:"cycles"`
	Tries    int              `json:"tries"`
	Nodes    int              `json:"nodes"`
	Faults   map[string]uint8 `json:"faults"`
	Caller   string           `json:"caller"`
	Resource string           `json:"resource"`
	TTL      string           `json:"ttl"`
	Timeout  string           `json:"timeout"`
	Switches int              `json:"switches"` // 0 is without limit
	Codes    []string         `json:"codes"`
	// Stated is what the text says of the bounds, by label: some hold for every search, and
	// no other field has them.
	Stated map[string]string `json:"stated"`
}

// jsonVerdict is the search's answer for one code, in the words of the text: a program that
// takes one answer for another should not find a boolean to do it with.
type jsonVerdict struct {
	Answer  string   `json:"answer"`
	Of      string   `json:"of,omitempty"` // how many clients, if it holds for every schedule
	Because []string `json:"because,omitempty"`
	But     []string `json:"but,omitempty"`
	*jsonCounterexample
}

type jsonCounterexample struct {
	Least    bool        `json:"least"` // within the bounds; if not, within smaller ones
	Schedule string      `json:"schedule"`
	Faults   []jsonFault `json:"faults"`
	Switches int         `json:"switches"`
	Steps    int         `json:"steps"`
	Turn     int         `json:"turn,omitempty"` // of a livelock, how many of the steps, at the end, come round again
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
	lacks := slices.ContainsFunc(r.Findings(), func(f explore.Finding) bool { return len(f.But) > 0 })
	j := jsonResult{Strategy: r.Bounds.Strategy.Name, Bounds: boundsAsJSON(&r.Bounds), Answer: r.Answer().Apart(lacks), Summary: r.Summary(), Complete: r.Complete,
		Closed: r.Closed, UnderWay: r.UnderWay, Why: r.Why, Depth: r.Depth, States: r.States, Transitions: r.Transitions, Commands: r.Commands, Seconds: took.Seconds(), Verdicts: map[string]jsonVerdict{},
		Vacuity: jsonVacuity{r.Vacuity.Reacquired, r.Vacuity.Extended, []string{}},
		Near:    jsonNear{r.Near.Refused, r.Near.Compared, r.Near.NotHeld, r.Near.Fenced}}
	for _, k := range r.Vacuity.Unused {
		j.Vacuity.Unused = append(j.Vacuity.Unused, k.String())
	}
	for _, c := range r.Bounds.Sought() {
		f := r.Finding(c)
		v := jsonVerdict{Answer: f.Answer.Apart(len(f.But) > 0), Of: f.Of, Because: f.Because, But: f.But}
		if found := f.Least; found != nil {
			v.jsonCounterexample = &jsonCounterexample{found.Within == nil && found.Turn == 0, found.Trace.Schedule, []jsonFault{}, found.Switches, found.Steps, found.Turn}
			for _, f := range found.Faults {
				v.Faults = append(v.Faults, jsonFault{f.Kind.String(), f.Text, f.Essential, f.Replaced})
			}
		}
		j.Verdicts[c.String()] = v
	}
	if l := r.Liveness; l != nil {
		j.Lasting = &jsonLasting{Unbounded: l.Unbounded, Stated: map[string]string{}}
		if l.Unbounded == "" {
			j.Lasting.Wait = l.Wait.String()
		}
		for _, item := range report.Lasting(r) {
			j.Lasting.Stated[item.Label] = item.Line()
		}
	}
	return j
}

func boundsAsJSON(b *explore.Bounds) jsonBounds {
	j := jsonBounds{Clients: b.Clients, Others: b.Others, Cycles: b.Cycles, Tries: max(1, b.Tries), Faults: map[string]uint8{}, Caller: b.Caller(),
		Resource: b.Resource.String(), TTL: b.TTL.String(), Switches: b.Switches, Codes: b.Sought().Strings(), Stated: map[string]string{}}
	for _, i := range report.Bounds(b) {
		j.Stated[i.Label] = i.Line()
	}
	for k, n := range b.Faults {
		j.Faults[explore.FaultKind(k).String()] = n
	}
	if cfg, err := b.Config(); err == nil {
		j.Nodes, j.Timeout = len(cfg.Nodes), cfg.Timeout.String()
	}
	return j
}
