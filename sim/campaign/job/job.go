// Package job says what one piece of a campaign is: a search of a lock within bounds, or random
// schedules of it; and carries it out.
//
// A job is named by the digest of all that decides its outcome: the code of the lock, the bounds
// or the seeds, and the engine. So equal names have equal outcomes, no matter who carries them out and
// however often, and an outcome that is known needn't be computed again. A job has no code and no
// command in it: it names a lock, and a worker that has no such lock lacks it.
package job

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"lockstep/scenarios"
	"lockstep/sim/explore"
	"lockstep/sim/explore/trials"
	"lockstep/sim/trace"
	"lockstep/strategies"
)

// Format is the version of jobs and outcomes. It is part of each name, so a change of either
// makes all outcomes new.
const Format = 1

// Job is a search, or random schedules.
//
// Invariant: exactly one of Search and Random is set.
type Job struct {
	Format int     `json:"format"`
	Engine string  `json:"engine"` // the digest of the code that carries it out: see [Engine]
	Lock   string  `json:"lock"`   // its name
	Code   string  `json:"code"`   // the digest of its code: see [Lock]
	Search *Search `json:"search,omitempty"`
	Random *Random `json:"random,omitempty"`
}

// Search is the bounds of a search, in the words of lockstep explore's flags.
type Search struct {
	Clients  string `json:"clients"` // a number, or any
	Cycles   string `json:"cycles"`
	Tries    int    `json:"tries"`
	Nodes    int    `json:"nodes"`
	Faults   string `json:"faults"`
	Caller   string `json:"caller"`
	Resource string `json:"resource"`
	TTL      string `json:"ttl"`
	Codes    string `json:"codes,omitempty"` // none is all

	// The search is cut off beyond these; 0 and "" are without limit. They are part of the
	// job: a search that was cut off is made again with greater ones.
	Memory int64  `json:"memory,omitempty"` // bytes of the visited set
	Time   string `json:"time,omitempty"`
}

// Random is random schedules: one for each seed from First to Last.
type Random struct {
	First   uint64 `json:"first"`
	Last    uint64 `json:"last"`
	Clients int    `json:"clients"`
	Cycles  int    `json:"cycles"`
	Faults  string `json:"faults"`
	Caller  string `json:"caller"`
	TTL     string `json:"ttl"`
	Codes   string `json:"codes,omitempty"` // none is all
}

// MaxSeeds is the greatest number of seeds in a job.
const MaxSeeds = 100_000

// maxPayload is the greatest length of a job as bytes, many times that of any real one.
const maxPayload = 8 << 10

// Encode returns the one form of a job as bytes.
func (j *Job) Encode() []byte {
	text, err := json.Marshal(j)
	if err != nil {
		panic(err) // it consists of numbers and texts
	}
	return text
}

// Name is the digest of the job.
func (j *Job) Name() string { return digest(j.Encode())[:32] }

func digest(parts ...[]byte) string {
	h := sha256.New()
	for _, p := range parts {
		fmt.Fprintf(h, "%d\n", len(p))
		h.Write(p)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// Decode reads a job from a queue, and refuses everything that [Job.Encode] doesn't write, and
// bounds that make no sense: anybody who can write to the queue may have made it up.
func Decode(payload []byte) (*Job, error) {
	if len(payload) > maxPayload {
		return nil, fmt.Errorf("the job has %d bytes, more than %d", len(payload), maxPayload)
	}
	read := json.NewDecoder(bytes.NewReader(payload))
	read.DisallowUnknownFields()
	var j Job
	if err := read.Decode(&j); err != nil {
		return nil, fmt.Errorf("this is no job: %w", err)
	}
	if _, err := read.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("this is no job: something follows it")
	}
	if !bytes.Equal(j.Encode(), payload) {
		return nil, errors.New("the job isn't in the form in which campaigns write it")
	}
	if j.Format != Format {
		return nil, fmt.Errorf("the job has format %d, and this program reads %d", j.Format, Format)
	}
	if (j.Search == nil) == (j.Random == nil) {
		return nil, errors.New("a job is a search or random schedules: exactly one of them")
	}
	return &j, nil
}

// Bounds returns the bounds of a search of a lock. It fails if they make no sense.
func (s *Search) Bounds(of strategies.Strategy) (explore.Bounds, error) {
	b := explore.Bounds{Strategy: of, Tries: s.Tries, Nodes: s.Nodes}
	var err error
	if b.Clients, err = scenarios.ParseCount(s.Clients, 1, explore.MaxClients); err != nil {
		return b, fmt.Errorf("clients: %w", err)
	}
	if b.Clients == explore.Any { // two real ones, and an environment in place of all others
		b.Clients, b.Others = 2, true
	}
	if b.Cycles, err = scenarios.ParseCount(s.Cycles, 1, 9); err != nil {
		return b, fmt.Errorf("cycles: %w", err)
	}
	if b.Faults, err = scenarios.ParseFaults(s.Faults); err != nil {
		return b, fmt.Errorf("faults: %w", err)
	}
	if err := scenarios.SetCaller(&b, s.Caller); err != nil {
		return b, fmt.Errorf("callers: %w", err)
	}
	if err := scenarios.SetResource(&b, s.Resource); err != nil {
		return b, fmt.Errorf("resources: %w", err)
	}
	if b.TTL, err = time.ParseDuration(s.TTL); err != nil {
		return b, fmt.Errorf("ttls: %q is no duration", s.TTL)
	}
	if b.Codes, err = codes(s.Codes); err != nil {
		return b, fmt.Errorf("codes: %w", err)
	}
	if s.Tries < 1 {
		return b, fmt.Errorf("tries: a lock asks once or more often, not %d times", s.Tries)
	}
	if s.Nodes < 1 {
		return b, fmt.Errorf("nodes: a lock runs on 1 node or more, not on %d", s.Nodes)
	}
	if _, err := s.limit(); err != nil || s.Memory < 0 {
		return b, fmt.Errorf("a limit makes no sense: %q, %d bytes", s.Time, s.Memory)
	}
	return b, b.Check()
}

// limit is the time that the search may take; 0 is without limit.
func (s *Search) limit() (time.Duration, error) {
	if s.Time == "" {
		return 0, nil
	}
	d, err := time.ParseDuration(s.Time)
	if err == nil && d <= 0 {
		err = errors.New("not positive")
	}
	return d, err
}

// Bounds returns the bounds that the schedules have in common: of the faults, which kinds there are. It fails if that makes no sense.
func (r *Random) Bounds(of strategies.Strategy) (explore.Bounds, error) {
	b := explore.Defaults(of)
	if err := scenarios.SetCaller(&b, r.Caller); err != nil {
		return b, fmt.Errorf("callers: %w", err)
	}
	b.Clients, b.Cycles = r.Clients, r.Cycles
	var err error
	if b.Faults, err = scenarios.ParseFaults(r.Faults); err != nil {
		return b, fmt.Errorf("faults: %w", err)
	}
	if b.Faults[explore.Pause] == 0 {
		return b, errors.New("faults: in a random schedule time passes anywhere, which is a pause: name pause among its faults")
	}
	if b.TTL, err = time.ParseDuration(r.TTL); err != nil {
		return b, fmt.Errorf("ttls: %q is no duration", r.TTL)
	}
	if b.Codes, err = codes(r.Codes); err != nil {
		return b, fmt.Errorf("codes: %w", err)
	}
	if r.First > r.Last || r.Last-r.First >= MaxSeeds {
		return b, fmt.Errorf("seeds: a job has 1 to %d seeds, and not those from %d to %d", MaxSeeds, r.First, r.Last)
	}
	_, err = trials.Config(&b)
	return b, err
}

// About is the subject of a job, apart from versions: the lock and the bounds or the seeds, in words.
// Two reports are compared by it.
func (j *Job) About() string {
	return j.Lock + " " + j.Shape()
}

// Shape is About without the lock.
func (j *Job) Shape() string {
	if r := j.Random; r != nil {
		return fmt.Sprintf("seeds=%d-%d clients=%d cycles=%d faults=%s caller=%s ttl=%s", r.First, r.Last, r.Clients, r.Cycles, r.Faults, r.Caller, r.TTL) + sought(r.Codes)
	}
	s := j.Search
	text := fmt.Sprintf("clients=%s cycles=%s faults=%s caller=%s ttl=%s", s.Clients, s.Cycles, s.Faults, s.Caller, s.TTL)
	if s.Tries > 1 {
		text += fmt.Sprintf(" tries=%d", s.Tries)
	}
	if s.Nodes > 1 {
		text += fmt.Sprintf(" nodes=%d", s.Nodes)
	}
	if s.Resource != "plain" {
		text += " resource=" + s.Resource
	}
	return text + sought(s.Codes)
}

func sought(codes string) string {
	if codes == "" {
		return ""
	}
	return " codes=" + codes
}

// codes reads a list such as DG,FR.
func codes(list string) (all trace.Verdict, err error) {
	if list == "" {
		return nil, nil
	}
	for _, word := range strings.Split(list, ",") {
		c, err := scenarios.ParseCode(word)
		if err != nil {
			return nil, err
		}
		all = append(all, c...)
	}
	return all.Sorted(), nil
}
