package timeline_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"lockstep/scenarios"
	"lockstep/sim/testenv"
	"lockstep/sim/timeline"
	"lockstep/sim/trace"
	"lockstep/strategies"
)

// TestCauseContributes: whatever a cause names has contributed, in every run of every script with every
// lock. The criterion is Lamport's order, which this test makes from the trace alone: what a cause names
// must be evidence or come before some of it, by the order of events of a client's thread or of a server,
// or by a message. Three kinds contribute by what did not happen since: a pause, in which the record must
// expire; the end of a client, which must come before the refusal; and the loss of the message for which
// a client waited that gave up.
func TestCauseContributes(t *testing.T) {
	named := 0
	for i, sc := range scenarios.All() {
		for j, st := range strategies.All() {
			if !testenv.CI() && (i+j)%4 != 0 {
				continue // for time
			}
			tr, err := sc.Run(st, 1)
			if err != nil {
				continue
			}
			tl := timeline.New(tr)
			if len(tl.Breaches) == 0 {
				continue
			}
			before := happensBefore(tl)
			for _, b := range tl.Breaches {
				seqs, lost := tl.CauseEvents(b)
				for _, seq := range seqs {
					named++
					ok := slices.ContainsFunc(b.Events, func(of int) bool { return before(seq, of) })
					switch e := &tl.Events[seq-1]; e.Kind {
					case trace.KindPause:
						ok = seq < lost && tl.Events[lost-1].Kind == trace.KindExpire
					case trace.KindCrash, trace.KindTimeout:
						ok = ok || seq < b.Events[1]
					case trace.KindLost:
						ok = ok || slices.ContainsFunc(seqs, func(of int) bool {
							gave := &tl.Events[of-1]
							return gave.Kind == trace.KindTimeout && gave.Client == e.Client && gave.Command == e.Command && seq < of
						})
					}
					if !ok {
						t.Errorf("%s, %s, %s: event #%d comes before none of %v: %s", sc.Name, st.Name, b.Code, seq, b.Events, tl.Cause(b))
					}
				}
			}
		}
	}
	if named < 3000 && testenv.CI() || named < 750 {
		t.Errorf("the causes name %d events", named)
	}
}

// happensBefore returns Lamport's order of a run's events, with equality.
func happensBefore(tl *timeline.Timeline) func(seq, of int) bool {
	past := make([]map[int]bool, len(tl.Events)+1)
	last := map[[2]int]int{} // by client and by server: its newest event
	for i := range tl.Events {
		e := &tl.Events[i]
		own := map[int]bool{e.Seq: true}
		join := func(seq int) {
			for s := range past[seq] {
				own[s] = true
			}
		}
		if e.Ref != trace.None {
			join(e.Ref)
		}
		for _, at := range [][2]int{{0, e.Client}, {1, e.Node}} {
			remote := at[0] == 0 && onServer(e.Kind) || at[0] == 1 && !onServer(e.Kind)
			if at[1] != trace.None && !remote {
				join(last[at])
				last[at] = e.Seq
			}
		}
		past[e.Seq] = own
	}
	return func(seq, of int) bool { return past[of][seq] }
}

// onServer reports whether an event that may name a client and a server happens on the server.
func onServer(k trace.Kind) bool {
	switch k {
	case trace.KindExecute, trace.KindUnreachable, trace.KindBlock, trace.KindPush, trace.KindReplicate, trace.KindExpire, trace.KindEvict,
		trace.KindStray, trace.KindFlush, trace.KindSync, trace.KindFailover, trace.KindNodeStep, trace.KindDown, trace.KindUp:
		return true
	}
	return false
}

// A release that comes after both of the accesses has not led to the lost update: the lock that asks
// whose record it removes loses the same one, by the same three events.
func TestCauseIsNoneThatComesAfter(t *testing.T) {
	for _, lock := range []string{"naive-del", "setpx-lua"} {
		tl := runOf(t, lock, `title: Pay
setup:
  clients: {A: , B: {work: 5s}}
  ttl: 10s
script:
  - run: A
    to: after work first
  - pause: A
  - until: 12s
  - run: B
    to: after work first
  - resume: A
  - run: A
  - run: B
`)
		last := tl.Breaches[len(tl.Breaches)-1]
		if got := tl.Cause(last); last.Code != trace.SW || got != "A is paused at 2ms, A's record expires at 10.002s, B gets the lock at 12.002s; so B overwrites what A wrote since B read: an update is lost." {
			t.Errorf("%s, %s: %s", lock, last.Code, got)
		}
	}
}

// A release that was under way while its sender's record went is named by its sending, whether it was held up or arrived
// twice; the pause of a client that had sent it by then has not led to it.
func TestCauseNamesTheLateRelease(t *testing.T) {
	begin := "title: Late\nsetup:\n  clients: {A: , B: {work: 5s}}\n  ttl: 10s\nscript:\n  - run: A\n    to: release\n"
	end := "  - run: B\n    to: work\n  - free: A\n  - run: [A, B]\n    for: 1s\n"
	for name, c := range map[string]struct{ script, want string }{
		"sender paused since":   {begin + "  - hold: A\n  - run: A\n    for: 1s\n  - wait: 11s\n" + end, "A sends DEL at 1.002s, which arrives only at 13.004s, A's record expires at 10.002s, Redis stores B's record at 13.003s; so A's DEL removes B's record (naive_del.go:49)."},
		"sender has timed out":  {begin + "  - hold: A\n  - run: A\n    for: 12s\n" + end, "A sends DEL at 1.002s, which arrives only at 13.004s, A's record expires at 10.002s, Redis stores B's record at 13.003s; so A's DEL removes B's record (naive_del.go:49)."},
		"sender paused earlier": {begin + "  - pause: A\n  - wait: 11s\n  - run: B\n    to: work\n  - resume: A\n  - run: A\n", "A is paused at 1.002s, A's record expires at 10.002s, Redis stores B's record at 12.003s; so A's DEL removes B's record (naive_del.go:49)."},
	} {
		tl := runOf(t, "naive-del", c.script)
		if got := tl.Cause(tl.Breaches[0]); got != c.want {
			t.Errorf("%s: %s", name, got)
		}
	}
	tl := runUnder(t, "naive-del", "duplicate-release")
	if got, want := tl.Cause(tl.Breaches[0]), "A sends DEL at 1.002s, which arrives once more at 3.003s, A releases the lock at 1.003s, Redis stores B's record at "; !strings.HasPrefix(got, want) {
		t.Error(got)
	}
}

// A release that arrives once more, and removes the record of its own client's next acquisition, is no release of that: neither
// in the cause nor in the list of who held the lock.
func TestEarlierReleaseIsNotTheRelease(t *testing.T) {
	const script = `title: Twice
setup:
  clients: {A: {cycles: 2, work: 4s}, B: {work: 8s}}
  retry: {tries: 1}
script:
  - run: A
    to: after release change
  - duplicate: {request: A, after: 2s}
  - run: A
    for: 3s
  - run: B
    to: work
`
	tl := runOf(t, "naive-del", script)
	if got, want := tl.Cause(tl.Breaches[0]), "A's DEL, sent at 4.002s, removes A's newer record at 6.003s; so B gets the lock while A's lease is live."; got != want {
		t.Error(got)
	}
	held := tl.Tenures(tl.Last())[0]
	if got, want := tl.Describe(&held, tl.Last()), "record 1ms to 4.003s (released by A), and 4.005s to 6.003s (deleted by A's earlier release); "; !strings.HasPrefix(got, want) {
		t.Error(got)
	}
}

// Why another can get the lock after a failover is that the replica lacks a record; and who has it already, and extends
// it, doesn't get it once more.
func TestCauseNamesTheMissingRecord(t *testing.T) {
	tl := runOf(t, "watchdog", "title: Late copy\nsetup:\n  clients: {A: {work: 5s}, B: {work: 5s}}\n  ttl: 10s\n  replicas: 1\n  lag: 20ms\n"+
		"script:\n  - run: A\n    to: work\n  - down: n1\n  - failover: {to: n1r1}\n  - run: B\n    to: work\n  - run: all\n")
	var got []string
	for _, b := range tl.Breaches {
		if b.Code == trace.DG {
			got = append(got, tl.Cause(b))
		}
	}
	want := []string{"n1r1 takes over without A's record at 2ms; so B gets the lock while A's lease is live.",
		"n1r1 takes over without A's record at 2ms; so B extends its lease while A's is live."}
	if !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}

// TestCauseIsTheReturnWithoutARecord: a server that is down gives the lock to nobody; one that comes back empty does.
func TestCauseIsTheReturnWithoutARecord(t *testing.T) {
	tl := runOf(t, "setpx-lua", "title: Restart\nsetup:\n  clients: {A: {work: 6s}, B: {work: 3s}}\n  ttl: 30s\n"+
		"script:\n  - run: A\n    to: read\n  - wait: 1s\n  - down: n1\n  - wait: 1s\n  - up: n1\n  - run: B\n    to: read\n  - run: all\n")
	for _, b := range tl.Breaches {
		if why := tl.Cause(b); b.Code != trace.SW && !strings.HasPrefix(why, "n1 comes back without A's record at 2.002s; so ") {
			t.Errorf("%s: %s", b.Code, why)
		}
	}
	if len(tl.Breaches) == 0 {
		t.Error("nothing breaks")
	}
}

// TestOverslept: a violation is no lock's doing if its client was paused inside past its lease, and is the lock's, or nobody knows
// whose, where its lease was over before it entered, where it worked for longer without a pause, where a record was lost or
// removed, and where a resource took an old token.
func TestOverslept(t *testing.T) {
	for _, tt := range []struct {
		lock, scenario string
		want           trace.Verdict
	}{
		{"setpx-lua", "pause-past-ttl", trace.Verdict{trace.SW, trace.OV}},
		{"naive-del", "pause-past-ttl", trace.Verdict{trace.SW, trace.OV}}, // and FR, later
		{"fenced", "pause-past-ttl", trace.Verdict{trace.OV}},
		{"redlock", "pause-after-check", trace.Verdict{trace.SW, trace.OV}},
		{"setnx", "pause-past-ttl", nil},
		{"setpx-lua", "pause-replies-in-flight", nil},
		{"setpx-wait", "clock-steps-back", nil},
		{"setpx-lua", "watchdog-dies", nil},
		{"setpx-lua", "commit-after-release", nil},
		{"setpx-lua", "worker-exit", nil},
		{"setpx-lua", "failover", nil},
		{"naive-del", "late-release", nil},
		{"fenced-late", "fence-minted-late", nil},
		{"fenced", "fenced-write-unfenced-read", trace.Verdict{trace.OV}},
	} {
		tl := runUnder(t, tt.lock, tt.scenario)
		for _, c := range trace.Codes {
			if got := timeline.Overslept(tl.Trace, c); got != slices.Contains(tt.want, c) {
				t.Errorf("%s under %s, %s, overslept: %v", tt.lock, tt.scenario, c, got)
			}
		}
	}
}

func runOf(t *testing.T, lock, script string) *timeline.Timeline {
	t.Helper()
	path := filepath.Join(t.TempDir(), "own.yaml")
	if err := os.WriteFile(path, []byte(script), 0o600); err != nil {
		t.Fatal(err)
	}
	return runUnder(t, lock, path)
}

// runUnder runs a lock under a scenario, by its name or its path.
func runUnder(t *testing.T, lock, scenario string) *timeline.Timeline {
	t.Helper()
	sc, err := scenarios.Find(scenario)
	if err != nil {
		t.Fatal(err)
	}
	st, err := scenarios.FindStrategy(lock)
	if err != nil {
		t.Fatal(err)
	}
	tr, err := sc.Run(st, 1)
	if err != nil {
		t.Fatal(err)
	}
	return timeline.New(tr)
}

// A cause says nothing that contradicts its evidence: a record that is said to expire does so at one of these events, where one
// is among them, and of the servers that are down when a client is refused none is left out.
func TestCausesAgreeWithTheirEvidence(t *testing.T) {
	expires, down := regexp.MustCompile(`record (?:on (n\d) )?expires at ([0-9.]+\w*)`), regexp.MustCompile(`((?:n\d(?:, | and )?)+) goe?s? down at`)
	said := [2]int{}
	courseRuns(t, func(t *testing.T, tl *timeline.Timeline) {
		for _, b := range tl.Breaches {
			cause, among := tl.Cause(b), map[string]bool{}
			for _, seq := range b.Events {
				if e := tl.Event(tl.After(seq)); e.Kind == trace.KindExpire {
					among[trace.Brief(e.At)] = true
				}
			}
			for _, m := range expires.FindAllStringSubmatch(cause, -1) {
				if said[0]++; len(among) > 0 && !among[m[2]] {
					t.Errorf("%s: the evidence has expiries at %v: %s", b.Code, among, cause)
				}
				if several := len(tl.Nodes) > 1 && len(tl.NewState().Primary) > 1; several != (m[1] != "") {
					t.Errorf("%s: of %d servers: %s", b.Code, len(tl.Nodes), cause)
				}
			}
			m := down.FindStringSubmatch(cause)
			if m == nil || b.Code != trace.FN {
				continue
			}
			said[1]++
			for n, node := range tl.StateAt(b.Pos).Nodes {
				if named := strings.Contains(m[1], tl.Nodes[n]); named == node.Up {
					t.Errorf("%s: %s is up: %t: %s", b.Code, tl.Nodes[n], node.Up, cause)
				}
			}
		}
	})
	if said[0] == 0 || said[1] == 0 {
		t.Errorf("causes tell of %d expiries and %d servers that are down", said[0], said[1])
	}
}

// The line of code that a violation between two clients is put down to is that of the command that did it, and not that of the
// one by which a client came in afterwards.
func TestCommandIsTheOneThatDidIt(t *testing.T) {
	tl := runUnder(t, "timestamp-del", "takeover-race")
	for _, b := range tl.Breaches {
		e := tl.Command(b)
		switch b.Code {
		case trace.DG, trace.OV, trace.SW:
			if e == nil || tl.Clients[e.Client] != "B" || e.Args[0] != "DEL" && e.Args[0] != "del" {
				t.Errorf("%s is put down to %+v", b.Code, e)
			}
		default:
			if e != nil {
				t.Errorf("%s is between no two clients, and put down to %s", b.Code, tl.Line(e))
			}
		}
	}
}

// What a fence does is said of runs in which it refuses somebody and nothing is lost; and what it refused is what it is called.
func TestWithstood(t *testing.T) {
	const refused = " is older than 2. No update that it took was lost."
	for run, want := range map[[2]string]string{
		{"fenced", "pause-past-ttl"}:             "Two clients overlapped, but the resource refused A's write at 14.004s: fence 1" + refused,
		{"setpx-lua", "pause-past-ttl"}:          "",
		{"fenced", "fenced-write-unfenced-read"}: "",
		{"fenced", "no-finally"}:                 "",
	} {
		tl := runUnder(t, run[0], run[1])
		if got := tl.Withstood(); got != want {
			t.Errorf("%v: %q, want %q; it breaks %v", run, got, want, tl.Verdict())
		}
	}
	lost, kept := 0, 0
	courseRuns(t, func(t *testing.T, tl *timeline.Timeline) {
		refuses := slices.ContainsFunc(tl.Events, func(e trace.Event) bool { return e.Kind == trace.KindReject })
		switch damaged := slices.Contains(tl.Verdict(), trace.SW); {
		case !refuses:
		case damaged:
			lost++
		default:
			kept++
		}
		if said := tl.Withstood() != ""; said != (refuses && !slices.Contains(tl.Verdict(), trace.SW)) {
			t.Errorf("%s under %s: %q", tl.Strategy, tl.Scenario, tl.Withstood())
		}
	})
	if lost+kept == 0 {
		t.Error("nothing is refused in the course")
	}
}

// Where a fence refuses a client, it is said what its number is and where it comes from, and that an overlap did no harm by it.
func TestRefusalExplainsTheFence(t *testing.T) {
	tl := runUnder(t, "fenced", "pause-past-ttl")
	at := tl.NextRefusal(0, tl.Last())
	const want = "fence 1 is older than 2. A fence (fencing token) is the number that comes with the lock: A has got 1, and B 2. Two clients have overlapped (OV), but A's stale access does no harm."
	if got := tl.Refusal(at); !strings.HasSuffix(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
