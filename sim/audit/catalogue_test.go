package audit_test

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"lockstep/scenarios"
	"lockstep/sim/audit"
	"lockstep/sim/trace"
)

// log is a run as MONITOR would print it on the run's only server.
type log struct {
	t       *trace.Trace
	entries []audit.Entry
	by      map[int]*trace.Event // the command that a line belongs to
	told    *audit.Report        // once it was asked for
}

// later is by how much a log is later than its run, whose clocks begin soon after 1970: an audit
// takes a number for a stamp only if it is one of our time.
const later = 1_700_000_000 * time.Second

// dated returns a command with its stamps put off likewise, in seconds or milliseconds.
func dated(args []string) []string {
	args = slices.Clone(args)
	at := 2
	switch name := strings.ToUpper(args[0]); {
	case name == "SET" && len(args) > 5 && strings.EqualFold(args[4], "PXAT"):
		at = 5
	case name == "SET" && len(args) > 4 && strings.EqualFold(args[3], "PXAT"):
		at = 4
	case name != "SETNX" && name != "GETSET":
		return args
	}
	switch n, err := strconv.ParseInt(args[at], 10, 64); {
	case err != nil:
	case n < 100_000:
		args[at] = strconv.FormatInt(n+int64(later/time.Second), 10)
	default:
		args[at] = strconv.FormatInt(n+later.Milliseconds(), 10)
	}
	return args
}

// logged are the runs of the catalogue that leave a log of one server.
var logged = sync.OnceValue(func() (all []loggedRun) {
	for _, c := range scenarios.Matrix(1) {
		if c.Err != nil || len(c.Trace.Nodes) != 1 {
			continue
		}
		if l := logOf(c.Trace); len(l.entries) > 0 { // the server isn't down from the start
			all = append(all, loggedRun{c, l})
		}
	}
	return all
})

type loggedRun struct {
	scenarios.Cell
	*log
}

// logOf writes a run's log. Commands of scripts are written from what the script did: it looked
// at the record first, and then did what changed.
func logOf(t *trace.Trace) *log {
	l := &log{t: t, by: map[int]*trace.Event{}}
	base := time.Duration(trace.Epoch.UnixNano()) + later
	line := func(e *trace.Event, from string, args ...string) {
		l.by[len(l.entries)+1] = e
		l.entries = append(l.entries, audit.Entry{Line: len(l.entries) + 1, At: base + e.At.Truncate(time.Microsecond), From: from, Args: dated(args)})
	}
	for i := range t.Events {
		e := &t.Events[i]
		if e.Kind != trace.KindExecute || len(e.Args) == 0 || e.Client == trace.None {
			continue
		}
		line(e, t.Clients[e.Client], e.Args...)
		if name := strings.ToUpper(e.Args[0]); name != "EVAL" && name != "EVALSHA" || strings.HasPrefix(e.Reply, "error NOSCRIPT") {
			continue
		}
		line(e, "lua", "GET", t.Key)
		for j := range e.Changes {
			if ch := &e.Changes[j]; ch.Key == t.Key {
				l.did(e, ch, line)
			}
		}
		if t.Counter && len(e.Changes) == 0 {
			line(e, "lua", "INCR", t.Key)
		}
	}
	return l
}

func (l *log) did(e *trace.Event, ch *trace.Change, line func(e *trace.Event, from string, args ...string)) {
	life := func(r *trace.Record) string { return strconv.FormatInt((r.Expires - e.At).Milliseconds(), 10) }
	reentrant := l.t.Strategy == "reentrant"
	switch {
	case ch.After == nil:
		line(e, "lua", "DEL", ch.Key)
	case reentrant && e.Phase == trace.PhaseRelease:
		line(e, "lua", "HINCRBY", ch.Key, e.Args[4], "-1")
	case reentrant:
		line(e, "lua", "HINCRBY", ch.Key, e.Args[4], "1")
		line(e, "lua", "PEXPIRE", ch.Key, e.Args[5])
	case l.t.Counter && (ch.Before == nil || ch.Before.Value != ch.After.Value):
		if line(e, "lua", "INCR", ch.Key); ch.Before == nil && ch.After.Expires != trace.Never {
			line(e, "lua", "PEXPIRE", ch.Key, life(ch.After))
		}
	case ch.Before == nil:
		line(e, "lua", "SET", ch.Key, ch.After.Value, "NX", "PX", life(ch.After))
	case ch.Before.Expires != ch.After.Expires:
		line(e, "lua", "PEXPIRE", ch.Key, life(ch.After))
	}
}

var lineOf = regexp.MustCompile(`\(line (\d+)\)`)

// audited are the findings in the words of the engine: who gets the lock beside whom, and which
// commands touch another's record.
func (l *log) audited(t *testing.T) (dg, fr map[string]int) {
	t.Helper()
	r := l.report(t)
	dg, fr = map[string]int{}, map[string]int{}
	for _, lock := range r.Locks {
		if lock.Key != l.t.Key {
			continue
		}
		for _, f := range lock.Findings {
			e := l.by[f.Line]
			switch {
			case f.Kind == audit.TwoHolders && strings.Contains(f.Text, " during the lease of "):
				n, _ := strconv.Atoi(lineOf.FindStringSubmatch(f.Text)[1])
				dg[l.t.Clients[e.Client]+" beside "+l.t.Clients[l.by[n].Client]]++
			case f.Kind == audit.ForeignRelease, f.Kind == audit.LateExtension && len(e.Changes) > 0:
				fr[fmt.Sprint("#", e.Seq)]++
			}
		}
	}
	return dg, fr
}

// report is what the audit says of the log, which it is asked once for all tests.
func (l *log) report(t *testing.T) *audit.Report {
	t.Helper()
	if l.told == nil {
		var err error
		if l.told, err = audit.Audit(l.entries, 0); err != nil {
			t.Fatal(err)
		}
	}
	return l.told
}

var beside = regexp.MustCompile(`^(\S+) .* while (\S+)'s (?:lease )?is live$`)

// judged are the violations that the engine's monitors have found.
func (l *log) judged() (dg, fr map[string]int) {
	dg, fr = map[string]int{}, map[string]int{}
	for i := range l.t.Violations {
		v := &l.t.Violations[i]
		switch v.Code {
		case trace.DG:
			names := beside.FindStringSubmatch(v.Text)
			dg[names[1]+" beside "+names[2]]++
		case trace.FR:
			for _, seq := range v.Events {
				if e := &l.t.Events[seq-1]; e.Kind == trace.KindExecute && e.At == v.At {
					fr[fmt.Sprint("#", seq)] = 1
				}
			}
		}
	}
	return dg, fr
}

// blind are the runs about which a log can't say the same as the monitors, by what a log can't
// show: those in which that happens, and else scenarios, for these locks.
var blind = []struct {
	limit     string // the beginning of one of audit.Blind
	happens   func(*trace.Trace) bool
	locks     []string
	scenarios []string
}{
	{limit: "no losses", happens: losesRecords},
	{limit: "no releases that are sent twice", happens: releasesTwice},
	{"no clocks and no deadlines", nil, []string{"setnx-expire", "incr-expire", "getset-expired", "pxat-client-clock"}, []string{"ttl-seconds", "clock-skew.slow"}},
	{"no winners of stamps", nil, []string{"timestamp-del", "timestamp-overwritten", "getset-redisio", "getset-equal", "getset-expired"}, []string{
		"takeover-race", "nil-between", "loser-raises-stamp", "loser-lowers-stamp", "stale-deadline", "equal-stamp", "equal-stamp-late-read", "clock-skew", "clock-skew.slow",
		"pause-replies-in-flight", "fence-minted-late", "clock-steps-back", "stampede-crash"}},
	{"no winners of stamps", nil, []string{"timestamp-overwritten"}, []string{"late-release", "release-gap"}}, // it stores one that has passed
	{"no owners of counts", nil, []string{"reentrant"}, []string{"token-collision"}},
}

// losesRecords tells whether a server answers without a record that it has lost on its own account, or might, as its clock
// jumps. Nobody misses one that it has again when it comes back, or that would have expired by then.
func losesRecords(t *trace.Trace) bool {
	lost := map[string]time.Duration{} // until when it would live, by key
	for i := range t.Events {
		e := &t.Events[i]
		for _, until := range lost {
			if e.Kind == trace.KindExecute && (until == trace.Never || e.At < until) {
				return true
			}
		}
		if e.Kind == trace.KindNodeStep {
			return true
		}
		for _, c := range e.Changes {
			if c.After != nil {
				delete(lost, c.Key)
			} else if e.Kind.Fault() {
				lost[c.Key] = c.Before.Expires
			}
		}
	}
	return false
}

// releasesTwice tells whether a server executes a command of one release twice.
func releasesTwice(t *trace.Trace) bool {
	seen := map[string]bool{}
	for i := range t.Events {
		if e := &t.Events[i]; e.Kind == trace.KindExecute && e.Phase == trace.PhaseRelease {
			command := fmt.Sprint(e.Client, e.Acq, e.Node, e.Args)
			if seen[command] {
				return true
			}
			seen[command] = true
		}
	}
	return false
}

// TestLostRecords: where a server loses a record, no log of a lock whose commands tell it is said to be
// clear, and that of a lock that compares tokens by a script shows the double grant. No other
// log contradicts itself, but for stamps, whose winners it can't show.
func TestLostRecords(t *testing.T) {
	lost := map[string]int{}
	for _, c := range logged() {
		l := c.log
		r := l.report(t)
		findings, contradictions := 0, 0
		for _, lock := range r.Locks {
			findings += len(lock.Findings)
			for _, f := range lock.Findings {
				if f.Kind == audit.Contradiction {
					contradictions++
				}
			}
		}
		of := c.Strategy.Name + " under " + c.Scenario.Name
		dg, _ := l.audited(t)
		want, _ := l.judged()
		stamps := strings.HasPrefix(c.Strategy.Name, "timestamp-") || strings.HasPrefix(c.Strategy.Name, "getset-")
		switch {
		case losesRecords(c.Trace):
			lost[c.Scenario.Name] += contradictions
			untold := c.Strategy.Name == "reentrant" || c.Strategy.Name == "pxat-client-clock" && c.Scenario.Name == "server-clock-jump"
			if findings == 0 && len(want) > 0 && !untold {
				t.Errorf("%s: two holders, and nothing went wrong", of)
			}
			if c.Strategy.Name == "setpx-lua" && (contradictions == 0 && len(want) > 0 || !maps.Equal(dg, want)) {
				t.Errorf("%s: %d contradictions, and the double grants %v, expected %v", of, contradictions, dg, want)
			}
		case contradictions > 0 && !stamps:
			t.Errorf("%s: no record is lost, and the log contradicts itself: %+v", of, r.Locks)
		}
	}
	none := 0
	for _, contradictions := range lost {
		if contradictions == 0 {
			none++
		}
	}
	if none > 1 { // a server that comes back after the lease misses only records without expiry
		t.Errorf("no log contradicts itself under %d of the scenarios %v", none, lost)
	}
}

// TestCatalogue: of each run of the catalogue on one server, the audit of its log finds the
// double grants and the foreign releases that the engine's monitors have found, one for one,
// unless that takes more than a log can show.
func TestCatalogue(t *testing.T) {
	used, runs, found := map[string]int{}, 0, 0
	for _, c := range logged() {
		l := c.log
		dg, fr := l.audited(t)
		wantDG, wantFR := l.judged()
		runs++
		found += len(dg) + len(fr)
		if maps.Equal(dg, wantDG) && maps.Equal(fr, wantFR) {
			continue
		}
		limit := ""
		for _, b := range blind {
			switch {
			case b.happens != nil && b.happens(c.Trace):
				limit = b.limit
				used[limit]++
			case slices.Contains(b.scenarios, c.Scenario.Name) && slices.Contains(b.locks, c.Strategy.Name):
				limit = b.limit
				used[limit+c.Scenario.Name]++
			}
		}
		if limit == "" {
			t.Errorf("%s under %s: the audit finds DG %v and FR %v, and the engine DG %v and FR %v", c.Strategy.Name, c.Scenario.Name, dg, fr, wantDG, wantFR)
		}
	}
	t.Logf("%d runs, %d findings", runs, found)
	for _, b := range blind {
		if !slices.ContainsFunc(audit.Blind, func(s string) bool { return strings.HasPrefix(s, b.limit) }) {
			t.Errorf("a log can't show %q, and the audit doesn't say so", b.limit)
		}
		if b.happens != nil && used[b.limit] == 0 {
			t.Errorf("%q is said to hide what happens, and the audit says what the engine says", b.limit)
		}
		for _, s := range b.scenarios {
			if used[b.limit+s] == 0 {
				t.Errorf("%q is said to hide what happens under %s, and the audit says what the engine says", b.limit, s)
			}
		}
	}
}
