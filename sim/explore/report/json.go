package report

import (
	"slices"
	"time"

	"lockstep/sim/explore"
)

type jsonResult struct {
	Strategy    string                 `json:"strategy"`
	Bounds      any                    `json:"bounds"`
	Answer      string                 `json:"answer"`  // the least favourable of the verdicts', in the words of [explore.Answer.Apart] if something is lacking
	Summary     string                 `json:"summary"` // the answer in one clause, with all that takes away from it
	Complete    bool                   `json:"complete"`
	Closed      bool                   `json:"closed"`
	UnderWay    int                    `json:"under_way,omitempty"`
	Why         string                 `json:"why,omitempty"`
	Depth       int                    `json:"depth"`
	States      int64                  `json:"states"`
	Transitions int64                  `json:"transitions"`
	Commands    int                    `json:"commands"`     // with more than one worker it may differ from run to run, as seconds do: see [explore.Result]
	Trials      int                    `json:"trials"`       // random schedules that the engine played to doubt the claims
	TrialsMeant int                    `json:"trials_meant"` // so many it was to play: if trials are fewer, they were cut short
	Seconds     float64                `json:"seconds"`
	Verdicts    map[string]jsonVerdict `json:"verdicts"`
	Vacuity     jsonVacuity            `json:"vacuity"`
	Near        jsonNear               `json:"near_misses"`
	Lasting     *jsonLasting           `json:"lasting,omitempty"` // if LV was sought, and the search has closed
}

// jsonLasting has the answers of a search's graph about those who keep asking.
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
	// Stated has the text's statements of the bounds, by label: some hold for every search, and
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
	Random   bool        `json:"random,omitempty"` // the search has missed it, and a random schedule shows it
	Turn     int         `json:"turn,omitempty"`   // of a livelock, how many of the steps, at the end, come round again
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

// JSON returns a value that encoding/json writes as the result of a search, which took so long.
func JSON(r *explore.Result, took time.Duration) any {
	lacks := slices.ContainsFunc(r.Findings(), func(f explore.Finding) bool { return len(f.But) > 0 })
	j := jsonResult{Strategy: r.Bounds.Strategy.Name, Bounds: BoundsJSON(&r.Bounds), Answer: r.Answer().Apart(lacks), Summary: r.Summary(), Complete: r.Complete,
		Closed: r.Closed, UnderWay: r.UnderWay, Why: r.Why, Depth: r.Depth, States: r.States, Transitions: r.Transitions, Commands: r.Commands,
		Trials: r.Trials, TrialsMeant: r.TrialsMeant, Seconds: took.Seconds(), Verdicts: map[string]jsonVerdict{},
		Vacuity: jsonVacuity{r.Vacuity.Reacquired, r.Vacuity.Extended, []string{}},
		Near:    jsonNear{r.Near.Refused, r.Near.Compared, r.Near.NotHeld, r.Near.Fenced}}
	for _, k := range r.Vacuity.Unused {
		j.Vacuity.Unused = append(j.Vacuity.Unused, k.String())
	}
	for _, c := range r.Bounds.Sought() {
		f := r.Finding(c)
		v := jsonVerdict{Answer: f.Answer.Apart(len(f.But) > 0), Of: f.Of, Because: f.Because, But: f.But}
		if found := f.Least; found != nil {
			v.jsonCounterexample = &jsonCounterexample{found.Within == nil && found.Turn == 0 && !found.Random, found.Trace.Schedule, []jsonFault{},
				found.Switches, found.Steps, found.Random, found.Turn}
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
		for _, item := range Lasting(r) {
			j.Lasting.Stated[item.Label] = item.Line()
		}
	}
	return j
}

// BoundsJSON returns the bounds of a search as [JSON] has them.
func BoundsJSON(b *explore.Bounds) any {
	j := jsonBounds{Clients: b.Clients, Others: b.Others, Cycles: b.Cycles, Tries: max(1, b.Tries), Faults: map[string]uint8{}, Caller: b.Caller(),
		Resource: b.Resource.String(), TTL: b.TTL.String(), Switches: b.Switches, Codes: b.Sought().Strings(), Stated: map[string]string{}}
	for _, i := range Bounds(b) {
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
