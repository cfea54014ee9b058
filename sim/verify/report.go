package verify

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
)

// Report adds up the results of many replays.
type Report struct {
	Version    string // of the servers
	Runs       int
	Whole      int // runs that were replayed to their ends
	Replies    int
	Keys       int
	Restarts   int
	Promotions int
	Writes     int                 // that reached a replica
	Lacks      map[string][]string // by command or option that the server doesn't know: the runs that need it
	Stopped    map[string][]string // by reason: the other runs that were replayed in part
	Found      []Found             // in the order of the runs
}

// Found is a run with differences.
type Found struct {
	Run         string
	Differences []Difference
}

// Replayer replays runs, one at a time.
type Replayer interface {
	// Replay replays a run. A difference is a part of the result; it fails if a server does.
	Replay(r Run) (Result, error)
	// Close ends its connections and removes its servers or keys.
	Close() error
}

// All replays runs, by as many replayers at once as there are. It closes them. It calls done,
// unless it is nil, after each run, and stops when ctx is done. It fails if a server does.
func All(ctx context.Context, runs []Run, replayers []Replayer, done func(n int)) (*Report, error) {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	results := make([]Result, len(runs))
	next := make(chan int)
	var mu sync.Mutex
	finished := 0
	var wg sync.WaitGroup
	for _, x := range replayers {
		wg.Go(func() {
			for i := range next {
				var err error
				if results[i], err = x.Replay(runs[i]); err != nil {
					stop(err)
				}
				mu.Lock()
				if finished++; done != nil {
					done(finished)
				}
				mu.Unlock()
			}
			if err := x.Close(); err != nil {
				stop(err)
			}
		})
	}
	for i := range runs {
		select {
		case next <- i:
			continue
		case <-ctx.Done():
		}
		break
	}
	close(next)
	wg.Wait()
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	return sum(runs, results), nil
}

// sum adds up results.
func sum(runs []Run, results []Result) *Report {
	r := &Report{Runs: len(runs), Lacks: map[string][]string{}, Stopped: map[string][]string{}}
	for i, x := range results {
		name := runs[i].Name()
		r.Replies += x.Replies
		r.Keys += x.Keys
		r.Restarts += x.Restarts
		r.Promotions += x.Promotions
		r.Writes += x.Writes
		switch {
		case len(x.Differences) > 0:
			r.Found = append(r.Found, Found{Run: name, Differences: x.Differences})
		case x.Lacks != "":
			r.Lacks[x.Lacks] = append(r.Lacks[x.Lacks], name)
		case x.Stopped != "":
			r.Stopped[x.Stopped] = append(r.Stopped[x.Stopped], name)
		default:
			r.Whole++
		}
	}
	return r
}

// NewExacts makes several Exacts, for [All]. It fails if [Tools] does.
func NewExacts(n int) (all []Replayer, version string, err error) {
	for range n {
		x, err := NewExact()
		if err == nil && version == "" {
			version, err = x.Version()
		}
		if err != nil {
			for _, x := range all {
				err = errors.Join(err, x.Close())
			}
			return nil, "", err
		}
		all = append(all, x)
	}
	return all, version, nil
}

// Partly lists the reasons why runs were replayed in part, each with the number of the runs,
// sorted.
func (r *Report) Partly() (lines []string) {
	for _, command := range slices.Sorted(maps.Keys(r.Lacks)) {
		lines = append(lines, fmt.Sprintf("%d up to the first %s, which %s doesn't know", len(r.Lacks[command]), command, r.Version))
	}
	for _, why := range slices.Sorted(maps.Keys(r.Stopped)) {
		lines = append(lines, fmt.Sprintf("%d in part: %s", len(r.Stopped[why]), why))
	}
	return lines
}

// counted is a number with its noun.
func counted(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// String returns the report as text.
func (r *Report) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s on %s: %s and %s compared, with %s, %s, %s\n", counted(r.Runs, "run", "runs"), r.Version, counted(r.Replies, "reply", "replies"),
		counted(r.Keys, "key", "keys"), counted(r.Restarts, "restart", "restarts"), counted(r.Promotions, "promotion", "promotions"),
		counted(r.Writes, "write to a replica", "writes to replicas"))
	fmt.Fprintf(&b, "%d of them to their ends\n", r.Whole)
	for _, line := range r.Partly() {
		fmt.Fprintf(&b, "%s\n", line)
	}
	if len(r.Found) == 0 {
		b.WriteString("no difference\n")
		return b.String()
	}
	fmt.Fprintf(&b, "%d with a difference:\n", len(r.Found))
	for _, f := range r.Found {
		for _, d := range f.Differences {
			fmt.Fprintf(&b, "  %s: %s\n", f.Run, d)
		}
	}
	return b.String()
}
