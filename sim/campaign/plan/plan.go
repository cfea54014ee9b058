// Package plan reads a campaign's file, and makes the list of its jobs: every lock with every
// combination of bounds, and random schedules in chunks of seeds.
package plan

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"lockstep/scenarios"
	"lockstep/sim/campaign/job"
	"lockstep/sim/explore"
	"lockstep/sim/trace"
)

// Campaign is a campaign: its jobs in the order of its file.
type Campaign struct {
	Name string
	Jobs []job.Job // no two alike
	// LeftOut are combinations that make no sense for a lock, such as callers who extend a lease
	// of a lock that can't: how many, by reason.
	LeftOut map[string]int
	// Known are codes that a lock is known to violate, by its name.
	Known map[string][]string
}

// maxFile is far more than any campaign needs, in bytes, and maxJobs more than any fleet has
// done by the next campaign.
const (
	maxFile = 64 << 10
	maxJobs = 1_000_000
)

// file is a campaign's file.
type file struct {
	Campaign, Locks words
	Searches        []searches
	Random          []random
	Limits          limits
	Known           map[string]words
}

// searches is an entry of the file: all combinations of its lists.
type searches struct{ Locks, Clients, Cycles, Tries, Nodes, Faults, Callers, Resources, TTLs, Codes words }

// random is an entry of the file: the seeds for all combinations of its lists.
type random struct{ Locks, Seeds, Chunk, Clients, Cycles, Faults, Callers, TTLs, Codes words }

// limits cut off searches that exceed them.
type limits struct{ Time, Memory words }

// Load reads a campaign's file.
func Load(path string, locks job.Locks, engine string) (*Campaign, error) {
	info, err := os.Stat(path)
	if err == nil && info.Size() > maxFile {
		err = fmt.Errorf("%s:1: the file has more than %d bytes, the most that a campaign can have", path, maxFile)
	}
	if err != nil {
		return nil, err
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return Parse(path, text, locks, engine)
}

// Parse reads a campaign from the text of a file. Errors begin with the file and the line.
func Parse(path string, text []byte, locks job.Locks, engine string) (*Campaign, error) {
	f, err := read(path, text)
	if err != nil {
		return nil, err
	}
	p := &planner{reader: reader{path}, locks: locks, engine: engine, seen: map[string]bool{}, c: &Campaign{LeftOut: map[string]int{}, Known: map[string][]string{}}}
	if err := p.campaign(f); err != nil {
		return nil, err
	}
	return p.c, nil
}

// planner makes the jobs of a file.
type planner struct {
	reader
	locks  job.Locks
	engine string
	limits job.Search // with its limits only
	c      *Campaign
	seen   map[string]bool
}

// aName is a campaign's name: it becomes part of paths and URLs.
var aName = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,62}$`)

func (p *planner) campaign(f *file) error {
	name, err := p.one(f.Campaign, "campaign", "")
	if err != nil {
		return err
	}
	if !aName.MatchString(name) {
		return p.errorf(f.Campaign.line, "campaign: the name %q isn't one of up to 63 small letters, digits and hyphens", clip(name))
	}
	p.c.Name = name
	if err := p.limit(f.Limits); err != nil {
		return err
	}
	for _, lock := range slices.Sorted(keys(f.Known)) {
		if err := p.known(lock, f.Known[lock]); err != nil {
			return err
		}
	}
	if len(f.Searches)+len(f.Random) == 0 {
		return p.errorf(1, "the campaign has nothing to do: it needs searches or random")
	}
	for _, s := range f.Searches {
		if err := p.searches(&s, f.Locks); err != nil {
			return err
		}
	}
	for _, r := range f.Random {
		if err := p.random(&r, f.Locks); err != nil {
			return err
		}
	}
	if len(p.c.Jobs) == 0 {
		return p.errorf(1, "no combination makes sense for any of the locks: %s", p.c.Omitted()[0])
	}
	return nil
}

// Omitted tells which combinations were left out, a sentence for each reason.
func (c *Campaign) Omitted() (all []string) {
	for _, reason := range slices.Sorted(keys(c.LeftOut)) {
		all = append(all, fmt.Sprintf("%d left out: %s", c.LeftOut[reason], reason))
	}
	return all
}

func keys[V any](m map[string]V) func(func(string) bool) {
	return func(yield func(string) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}

func (p *planner) limit(l limits) error {
	if len(l.Time.all) > 0 {
		text, err := p.one(l.Time, "limits: time", "")
		if err != nil {
			return err
		}
		d, err := time.ParseDuration(text)
		if err != nil || d <= 0 {
			return p.errorf(l.Time.line, "limits: time: %q is no duration; write 10m or 30s", clip(text))
		}
		p.limits.Time = d.String()
	}
	if len(l.Memory.all) > 0 {
		text, err := p.one(l.Memory, "limits: memory", "")
		if err != nil {
			return err
		}
		if p.limits.Memory, err = scenarios.ParseSize(text); err != nil {
			return p.errorf(l.Memory.line, "limits: memory: %w", err)
		}
	}
	return nil
}

func (p *planner) known(lock string, codes words) error {
	if _, err := p.locks.Find(lock); err != nil {
		return p.errorf(codes.line, "known: %w", err)
	}
	for _, w := range codes.all {
		for _, code := range fields(w.text) {
			c, err := scenarios.ParseCode(code)
			if err != nil {
				return p.errorf(w.line, "known: %s: %w", lock, err)
			}
			p.c.Known[lock] = append(p.c.Known[lock], c.Strings()...)
		}
	}
	return nil
}

// one is the value of a key that has just one; without it, it is the default, if there is any.
func (p *planner) one(w words, key, otherwise string) (string, error) {
	switch {
	case len(w.all) == 1:
		return w.all[0].text, nil
	case len(w.all) > 1:
		return "", p.errorf(w.all[1].line, "%s: there is one, and this is a second", key)
	case otherwise == "":
		return "", p.errorf(w.line, "%s is missing", key)
	}
	return otherwise, nil
}

// chosen are the locks of an entry: its own, or the campaign's.
func (p *planner) chosen(own, all words) ([]job.Lock, error) {
	w := own
	if len(w.all) == 0 {
		w = all
	}
	if len(w.all) == 0 {
		return nil, p.errorf(1, "locks is missing: name locks, or write all")
	}
	var locks []job.Lock
	for _, name := range w.all {
		if name.text == "all" {
			locks = append(locks, p.locks...)
			continue
		}
		l, err := p.locks.Find(name.text)
		if err != nil {
			return nil, p.errorf(name.line, "locks: %w", err)
		}
		locks = append(locks, *l)
	}
	return locks, nil
}

// or is a list, or its default.
func (w words) or(otherwise ...string) []word {
	if len(w.all) > 0 {
		return w.all
	}
	var all []word
	for _, text := range otherwise {
		all = append(all, word{text, w.line})
	}
	return all
}

func (p *planner) searches(s *searches, all words) error {
	locks, err := p.chosen(s.Locks, all)
	if err != nil {
		return err
	}
	if err := p.check(s); err != nil {
		return err
	}
	codes := joined(s.Codes)
	for _, l := range locks {
		clients, cycles, nodes, resource := job.Defaults(l.Strategy)
		err := product([][]word{s.Clients.or(clients), s.Cycles.or(cycles), s.Tries.or("1"), s.Nodes.or(strconv.Itoa(nodes)),
			s.Faults.or("crash=1,pause=1"), s.Callers.or("plain"), s.Resources.or(resource), s.TTLs.or(job.DefaultTTL.String())}, func(w []word) error {
			tries, _ := strconv.Atoi(w[2].text)
			n, _ := strconv.Atoi(w[3].text)
			if l.Nodes == 1 {
				n = 1 // the nodes of a plan are for locks on several
			}
			return p.add(&job.Job{Format: job.Format, Engine: p.engine, Lock: l.Name, Code: l.Code, Search: &job.Search{Clients: w[0].text, Cycles: w[1].text,
				Tries: tries, Nodes: n, Faults: canonical(w[4].text), Caller: w[5].text, Resource: w[6].text, TTL: duration(w[7].text), Codes: codes,
				Memory: p.limits.Memory, Time: p.limits.Time}}, w[0].line)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// joined is a list of codes as one word, each of them once, the worst first.
func joined(w words) string {
	var all trace.Verdict
	for _, x := range w.all {
		for _, code := range fields(x.text) {
			c, _ := scenarios.ParseCode(code) // has been checked
			all = append(all, c...)
		}
	}
	return strings.Join(slices.Compact(all.Sorted()).Strings(), ",")
}

// canonical is the one way to write a budget of faults.
func canonical(t string) string {
	b, err := scenarios.ParseFaults(t)
	if err != nil {
		return t // has been refused
	}
	var all []string
	for k, n := range b {
		switch {
		case n == explore.Any:
			all = append(all, explore.FaultKind(k).String()+"=any")
		case n > 0:
			all = append(all, fmt.Sprintf("%s=%d", explore.FaultKind(k), n))
		}
	}
	return cmp.Or(strings.Join(all, ","), "none")
}

// check refuses words that make no sense for any lock, each with its own line. Combinations that
// make none for some lock are left out later.
func (p *planner) check(s *searches) error {
	each := func(key string, w words, check func(string) error) error {
		for _, x := range w.all {
			if err := check(x.text); err != nil {
				return p.errorf(x.line, "%s: %w", key, err)
			}
		}
		return nil
	}
	return cmp.Or(
		each("clients", s.Clients, func(t string) error { _, err := scenarios.ParseCount(t, 1, 4); return err }),
		each("cycles", s.Cycles, func(t string) error { _, err := scenarios.ParseCount(t, 1, 9); return err }),
		each("tries", s.Tries, number(1, 9)),
		each("nodes", s.Nodes, number(1, 9)),
		each("faults", s.Faults, func(t string) error { _, err := scenarios.ParseFaults(t); return err }),
		each("callers", s.Callers, member("caller", scenarios.Callers())),
		each("resources", s.Resources, member("resource", []string{"plain", "fenced", "fenced-writes"})),
		each("ttls", s.TTLs, isDuration),
		each("codes", s.Codes, isCodes),
	)
}

// add adds a job, unless it makes no sense for its lock or is there already.
func (p *planner) add(j *job.Job, line int) error {
	if err := p.locks.Check(j); err != nil {
		var senseless *job.Senseless
		if !errors.As(err, &senseless) {
			return p.errorf(line, "%w", err)
		}
		p.c.LeftOut[senseless.Because.Error()]++
		return nil
	}
	if name := j.Name(); !p.seen[name] {
		p.seen[name] = true
		p.c.Jobs = append(p.c.Jobs, *j)
	}
	if len(p.c.Jobs) > maxJobs {
		return p.errorf(line, "the campaign has more than %d jobs", maxJobs)
	}
	return nil
}

func (p *planner) random(r *random, all words) error {
	locks, err := p.chosen(r.Locks, all)
	if err != nil {
		return err
	}
	if err := p.check(&searches{Clients: r.Clients, Cycles: r.Cycles, Faults: r.Faults, Callers: r.Callers, TTLs: r.TTLs, Codes: r.Codes}); err != nil {
		return err
	}
	first, last, chunk, err := p.seeds(r)
	if err != nil {
		return err
	}
	for _, l := range locks {
		clients, cycles, _, _ := job.Defaults(l.Strategy)
		err := product([][]word{r.Clients.or(clients), r.Cycles.or(cycles), r.Faults.or("crash=1,pause=1"), r.Callers.or("plain"), r.TTLs.or(job.DefaultTTL.String())}, func(w []word) error {
			n, err := strconv.Atoi(w[0].text)
			c, err2 := strconv.Atoi(w[1].text)
			if err := cmp.Or(err, err2); err != nil {
				return p.errorf(w[0].line, "random: a random schedule has a number of clients and of cycles, and not any")
			}
			for from := first; from <= last; from += chunk {
				to := min(last, from+chunk-1)
				if err := p.add(&job.Job{Format: job.Format, Engine: p.engine, Lock: l.Name, Code: l.Code, Random: &job.Random{First: from, Last: to,
					Clients: n, Cycles: c, Faults: canonical(w[2].text), Caller: w[3].text, TTL: duration(w[4].text), Codes: joined(r.Codes)}}, w[0].line); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// theChunk is how many seeds a job has unless the file says otherwise: some seconds of work.
const theChunk = "5000"

// seeds reads a range such as 1-20000, and the size of the chunks.
func (p *planner) seeds(r *random) (first, last, chunk uint64, err error) {
	text, err := p.one(r.Seeds, "seeds", "")
	if err != nil {
		return 0, 0, 0, err
	}
	from, to, _ := strings.Cut(text, "-")
	first, err1 := strconv.ParseUint(from, 10, 62)
	last, err2 := strconv.ParseUint(to, 10, 62)
	if err1 != nil || err2 != nil || first > last {
		return 0, 0, 0, p.errorf(r.Seeds.line, "seeds: %q is no range of seeds; write 1-20000", clip(text))
	}
	text, err = p.one(r.Chunk, "chunk", theChunk)
	if err != nil {
		return 0, 0, 0, err
	}
	chunk, err = strconv.ParseUint(text, 10, 32)
	if err != nil || chunk < 1 || chunk > job.MaxSeeds {
		return 0, 0, 0, p.errorf(r.Chunk.line, "chunk: %q is no number of seeds from 1 to %d", clip(text), job.MaxSeeds)
	}
	if (last-first)/chunk > maxJobs {
		return 0, 0, 0, p.errorf(r.Seeds.line, "the campaign has more than %d jobs", maxJobs)
	}
	return first, last, chunk, nil
}

// product calls f with each combination of one word of each list.
func product(lists [][]word, f func([]word) error) error {
	var chosen []word
	var next func(i int) error
	next = func(i int) error {
		if i == len(lists) {
			return f(chosen)
		}
		for _, w := range lists[i] {
			chosen = append(chosen[:i], w)
			if err := next(i + 1); err != nil {
				return err
			}
		}
		return nil
	}
	return next(0)
}
