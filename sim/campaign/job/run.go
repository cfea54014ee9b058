package job

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"lockstep/sim/explore"
	"lockstep/sim/explore/report"
	"lockstep/sim/explore/trials"
	"lockstep/sim/trace"
	"lockstep/strategies"
)

// Outcome holds the findings of a job. It depends on the job alone, except where a search was cut
// off at its limit of time: [Took] has the values that depend on the machine.
type Outcome struct {
	Job Job `json:"job"`
	// Refused is why the lock can't be searched, or its schedules can't be played: its code
	// panics, hangs, or isn't deterministic. Nothing else is set then.
	Refused string `json:"refused,omitempty"`
	// Complete: every schedule within the bounds, or of the seeds, was covered.
	Complete bool      `json:"complete"`
	Why      string    `json:"why,omitempty"` // if it is not complete
	Answer   string    `json:"answer"`        // in one clause
	Findings []Finding `json:"findings"`      // of each code that was looked for; of random schedules, of those violated
	States   int64     `json:"states"`        // or schedules played
	// Of a search only.
	Transitions int64  `json:"transitions,omitempty"`
	Depth       int    `json:"depth,omitempty"`
	Bounds      []Item `json:"bounds,omitempty"` // stated in words
}

// Item is a statement with its label.
type Item struct {
	Label string `json:"label"`
	Text  string `json:"text"`
}

// Finding is the answer for one code.
type Finding struct {
	Code     string `json:"code"`
	Violated bool   `json:"violated"`
	Holds    bool   `json:"holds"`
	Text     string `json:"text"` // the whole answer, in words
	Least    *Least `json:"least,omitempty"`
}

// Least is a schedule that violates a code: of a search the least, unless the search has missed it and a random one shows it; of
// random schedules the first that was met with, shrunk.
type Least struct {
	Schedule string   `json:"schedule"` // for lockstep replay
	Headline string   `json:"headline"`
	Faults   []string `json:"faults,omitempty"`
	Switches int      `json:"switches,omitempty"`
	Steps    int      `json:"steps,omitempty"`
	Seed     uint64   `json:"seed,omitempty"`
	Times    int      `json:"times,omitempty"`  // how many seeds violate the code
	Random   bool     `json:"random,omitempty"` // the search has missed it
}

// Took has the time that a job took, and its worker. It is different each time.
type Took struct {
	Seconds float64 `json:"seconds"`
	Worker  string  `json:"worker"`
}

// Result is the outcome of a job, as it is kept.
type Result struct {
	Outcome Outcome `json:"outcome"`
	Took    Took    `json:"took"`
}

// Encode returns the one form of a result as bytes.
func (r *Result) Encode() []byte {
	text, err := json.Marshal(r)
	if err != nil {
		panic(err) // it consists of numbers and texts
	}
	return append(text, '\n')
}

// Violated lists the codes that some schedule violates.
func (o *Outcome) Violated() (codes []string) {
	for _, f := range o.Findings {
		if f.Violated {
			codes = append(codes, f.Code)
		}
	}
	return codes
}

// Decided reports whether there is an answer for every code.
func (o *Outcome) Decided() bool {
	if o.Refused != "" || !o.Complete {
		return false
	}
	for _, f := range o.Findings {
		if !f.Violated && !f.Holds {
			return false
		}
	}
	return true
}

// Lacks is the error of a worker without a job's lock, or without its code. Another one may have it.
type Lacks struct{ What string }

// Error says what the worker lacks.
func (l *Lacks) Error() string { return "this worker lacks " + l.What }

// Senseless is the error of a job that nobody can carry out.
type Senseless struct{ Because error }

// Error says why no worker could carry the job out.
func (s *Senseless) Error() string { return "the job makes no sense: " + s.Because.Error() }

// Unwrap returns the reason.
func (s *Senseless) Unwrap() error { return s.Because }

// find returns the lock of a job.
func (all Locks) find(j *Job) (*Lock, error) {
	l, err := all.Find(j.Lock)
	switch {
	case err != nil:
		return nil, &Lacks{fmt.Sprintf("the lock %q", clip(j.Lock))}
	case l.Code != j.Code:
		return nil, &Lacks{fmt.Sprintf("the code of %s that the job is about (%s, and here it is %s)", l.Name, clip(j.Code), l.Code)}
	}
	return l, nil
}

func clip(s string) string {
	if r := []rune(s); len(r) > 60 {
		return string(r[:60]) + "..."
	}
	return s
}

// Check refuses a job that can't be carried out with these locks: a [Lacks] or a [Senseless].
func (all Locks) Check(j *Job) error {
	l, err := all.find(j)
	if err != nil {
		return err
	}
	if j.Search != nil {
		_, err = j.Search.Bounds(l.Strategy)
	} else {
		_, err = j.Random.Bounds(l.Strategy)
	}
	if err != nil {
		return &Senseless{err}
	}
	return nil
}

// Run carries out a job on one core. progress, if it isn't nil, is told the number of states or
// schedules so far, some times a second. Run fails with a [Lacks] or a [Senseless], with the
// cause of ctx's end, and with a bug of the search. A lock that can't be searched is no failure
// but an outcome.
func (all Locks) Run(ctx context.Context, j *Job, progress func(states int64)) (*Outcome, error) {
	if err := all.Check(j); err != nil {
		return nil, err
	}
	l, err := all.find(j)
	if err != nil {
		return nil, err
	}
	if progress == nil {
		progress = func(int64) {}
	}
	if j.Search != nil {
		return search(ctx, j, l, progress)
	}
	return random(ctx, j, l, progress)
}

// fewer is how many times fewer random schedules doubt a search here than elsewhere: a campaign has many, most of them small.
const fewer = 8

// errCutOff is the cause of a search's end at one of its own limits.
type errCutOff string

func (e errCutOff) Error() string { return string(e) }

func search(ctx context.Context, j *Job, l *Lock, progress func(int64)) (*Outcome, error) {
	b, err := j.Search.Bounds(l.Strategy)
	if err != nil {
		return nil, &Senseless{err}
	}
	b.Remembers = l.Remembers
	limited, cut := context.WithCancelCause(ctx)
	defer cut(nil)
	if d, err := j.Search.limit(); err == nil && d > 0 {
		var stop func()
		limited, stop = context.WithTimeoutCause(limited, d, errCutOff(fmt.Sprintf("the time limit of %s was reached", d)))
		defer stop()
	}
	r, err := explore.Run(limited, b, explore.Options{Workers: 1, Trials: explore.Trials / fewer, Progress: func(p explore.Progress) {
		progress(p.States)
		if most := j.Search.Memory; most > 0 && int64(p.Bytes) > most {
			cut(errCutOff(fmt.Sprintf("the visited set was to take %s bytes at most", report.Grouped(most))))
		}
	}})
	var cutOff errCutOff
	switch {
	case ctx.Err() != nil: // the worker ends: nobody knows the outcome
		return nil, context.Cause(ctx)
	case err != nil:
		return refused(j, err), nil
	case !r.Complete && !errors.As(context.Cause(limited), &cutOff) && limited.Err() != nil:
		return nil, context.Cause(limited)
	}
	return outcome(j, r), nil
}

// refused is the outcome of a lock that can't be searched. The rest of a long error, such as the
// stack of a panic, isn't the same each time.
func refused(j *Job, err error) *Outcome {
	first, _, _ := strings.Cut(err.Error(), "\n")
	return &Outcome{Job: *j, Refused: first, Answer: "not decided, because the lock can't be searched: " + first, Findings: []Finding{}}
}

func outcome(j *Job, r *explore.Result) *Outcome {
	o := &Outcome{Job: *j, Complete: r.Complete, Why: r.Why, Answer: r.Summary(), Findings: []Finding{},
		States: r.States, Transitions: r.Transitions, Depth: r.Depth}
	for _, i := range append([]report.Item{report.Covered(r)}, report.Bounds(&r.Bounds)...) {
		o.Bounds = append(o.Bounds, Item{i.Label, i.Text})
	}
	for _, f := range r.Findings() {
		out := Finding{Code: f.Code.String(), Violated: f.Answer == explore.Violated, Holds: f.Answer.Holds(), Text: report.Text(f)}
		if v := f.Least; v != nil {
			out.Least = &Least{Schedule: v.Trace.Schedule, Headline: report.Headline(v.Trace, v.Code), Switches: v.Switches, Steps: v.Steps, Random: v.Random}
			for _, i := range report.Faults(v) {
				out.Least.Faults = append(out.Least.Faults, i.Text)
			}
		}
		o.Findings = append(o.Findings, out)
	}
	return o
}

// stretch is how many seeds are played between two reports of progress.
const stretch = 200

func random(ctx context.Context, j *Job, l *Lock, progress func(int64)) (*Outcome, error) {
	b, err := j.Random.Bounds(l.Strategy)
	if err != nil {
		return nil, &Senseless{err}
	}
	var all []*trials.Found
	r := j.Random
	for first := r.First; ; first += stretch {
		last := min(r.Last, first+stretch-1)
		some, err := trials.Play(ctx, b, first, last)
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if err != nil {
			return refused(j, err), nil
		}
		all = join(all, some)
		progress(int64(last - r.First + 1))
		if last == r.Last {
			break
		}
	}
	o := &Outcome{Job: *j, Complete: true, States: int64(r.Last - r.First + 1), Findings: []Finding{}, Answer: "no schedule violates anything"}
	for _, f := range all {
		text := fmt.Sprintf("%s: violated by %s; the first is that of seed %d", f.Code.Name(), report.Count(f.Count, "random schedule"), f.Seed)
		o.Findings = append(o.Findings, Finding{Code: f.Code.String(), Violated: true, Text: text, Least: &Least{Schedule: f.Trace.Schedule,
			Headline: report.Headline(f.Trace, f.Code), Faults: []string{f.Cost.String()}, Seed: f.Seed, Times: f.Count}})
	}
	if len(all) > 0 {
		o.Answer = fmt.Sprintf("%s (%s)", explore.Violated, strings.Join(o.Violated(), ", "))
	}
	return o, nil
}

// join adds the findings of later seeds to those of earlier ones, worst first.
func join(all, more []*trials.Found) (joined []*trials.Found) {
	of := map[trace.Code]*trials.Found{}
	for _, list := range [][]*trials.Found{all, more} {
		for _, f := range list {
			if known := of[f.Code]; known != nil {
				known.Count += f.Count
				continue
			}
			of[f.Code] = f
		}
	}
	for _, c := range trace.Codes {
		if f := of[c]; f != nil {
			joined = append(joined, f)
		}
	}
	return joined
}

// Defaults are the bounds that searches of a lock have where a campaign says nothing of them.
func Defaults(of strategies.Strategy) (clients, cycles string, nodes int, resource string) {
	b := explore.Defaults(of)
	return fmt.Sprint(b.Clients), fmt.Sprint(b.Cycles), cmp.Or(b.Nodes, 1), b.Resource.String()
}

// DefaultTTL is the TTL of a search of which a campaign says nothing.
const DefaultTTL = 12 * time.Second
