// Package claims lists the claims about locks, and the assumptions on which they rest. The
// tests of the engine, the documents and the report of a search use the one list.
package claims

import (
	"fmt"
	"slices"
	"strings"

	"lockstep/sim/trace"
)

// Claim is a claim about a kind of lock, with its assumptions, on which its worth depends.
// Each claim has a test of the engine that tries to refute it while its assumptions hold,
// and for each assumption tests that break it and thereby the claim. A test checks that this
// list and those tests have the same entries.
type Claim struct {
	Text  string
	Of    []string // the strategies with which that is tried; none for a claim about many
	Never []string // codes that no run shows while the assumptions hold
	Proof string   // the test in package sim that tries to refute it; none yet if empty
	How   string   // the means of that test, without its strategies if those are Of: see Means

	// Assumptions, each with its breaches. Every breach is a subtest of
	// Proof + "Assumptions".
	Assumptions []Assumption
}

// Assumption is a sentence, and the ways in which it is broken.
type Assumption struct {
	Text     string
	Breaches []Breach
}

// Breach is a way in which an assumption is broken. Where a run of the catalogue does so, and shows an outcome that the claim
// excludes, its lock and its scenario are named; else both are empty, and a test alone does.
type Breach struct{ Text, Lock, Scenario string }

// BrokenBy are the texts of the breaches, as a list.
func (a *Assumption) BrokenBy() string {
	var texts []string
	for _, b := range a.Breaches {
		texts = append(texts, b.Text)
	}
	return strings.Join(texts, "; ")
}

// All are the claims, in their order.
var All = []Claim{
	{
		Text: "On one server, SET NX PX with a unique token and an atomic compare-and-delete never grants twice, " +
			"under any pause, crash, loss, delay, reordering, duplicate, or error of a client's wall clock.",
		Of:    []string{"setpx-lua", "setpx-watch", "setpx-delex", "watchdog"},
		Never: []string{"DG"},
		Proof: "TestClaim1",
		How: "random schedules of pauses, crashes, hangs, lost, late and repeated messages, cut and slow links, steps of wall clocks, " +
			"and restarts that lose nothing",
		Assumptions: []Assumption{
			{"no unexpired record of the lock is lost", []Breach{
				{"a restart without persistence", "setpx-lua", "restart-no-fsync"},
				{"a power cut within the second that everysec may lose", "setpx-lua", "power-cut"},
				{"an eviction", "setpx-lua", "eviction"},
				{Text: "FLUSHALL"},
				{"a failover to a replica that has not got the lock's record", "setpx-lua", "failover"},
				{"a failover to one that has not got it, where another has", "setpx-lua", "failover-wait"},
				{"a failover, and a holder that stays with the old master", "setpx-lua", "split-brain"},
			}},
			{"the server's clock does not jump forward", []Breach{{"a jump of a TTL", "setpx-lua", "server-clock-jump"}}},
			{"clocks differ in speed by less than the margin that the lock takes off its lease", []Breach{{Text: "a client's clock is 2% slow"}}},
			{"the token is unique to the acquisition", []Breach{
				{"one value for all", "fixed-value", "late-release"},
				{Text: "one token for all acquisitions of a process"},
			}},
			{"nothing but compare-and-delete and compare-and-extend touches the lock's record", []Breach{
				{"a plain DEL", "naive-del", "late-release"},
				{"a GET and then a DEL", "get-then-del", "release-gap"},
				{"WATCH without MULTI", "setpx-watch-bare", "release-gap"},
				{"an extension that checks first", "extend-unchecked", "extend-races-expiry"},
				{Text: "a stranger's DEL"},
			}},
			{"the deadline is the monotonic reading before the send, plus the TTL, less a margin for clock speeds", []Breach{
				{Text: "counted from the reply"},
				{Text: "less what the wall clock says it took"},
				{Text: "without the margin"},
			}},
		},
	},
	{
		Text: "Claim 1 does not exclude OV: a pause that is longer than the lease overlaps, however right the lock and however often " +
			"its holder looks at the clock. Only a resource that checks fencing tokens stops the damage.",
		Proof: "TestClaim2",
		How:   "a pause before the write, with and without a look at the clock just before it; with setpx-lua, setpx-watch, setpx-delex, redlock and fenced",
		Assumptions: []Assumption{
			{"the pause is longer than what is left of the lease", []Breach{{Text: "a shorter one"}}},
			{"the resource checks the tokens", []Breach{{Text: "a resource that takes every access"}}},
		},
	},
	{
		Text:  "With a fencing token there is no SW, not even where the lock itself has failed and two clients hold it at once.",
		Of:    []string{"fenced"},
		Never: []string{"SW"},
		Proof: "TestClaim3",
		How:   "the random schedules of claim 1, with evictions and steps of the server's clock as well",
		Assumptions: []Assumption{
			{"the token is minted with the grant, in one step", []Breach{{"a token drawn by a later command", "fenced-late", "fence-minted-late"}}},
			{"tokens increase strictly", []Breach{
				{Text: "a reading of the client's wall clock"},
				{Text: "the same token for all"},
			}},
			{"the counter is durable", []Breach{
				{"a restart without persistence", "fenced", "fence-lost"},
				{"a failover to a replica that lags", "fenced", "failover"},
				{"the same, and a holder that stays with the old master", "fenced", "split-brain"},
			}},
			{"the resource registers the tokens of readers", []Breach{{"a resource that looks at writes only", "fenced", "fenced-write-unfenced-read"}}},
			{"the resource refuses lower tokens", []Breach{{Text: "a resource that takes every access"}}},
			{"every access carries its token", []Breach{
				{Text: "a lock that draws none"},
				{"a caller that goes ahead though the lock service doesn't answer", "fenced", "fail-open"},
				{"a caller that goes ahead though it was refused", "fenced", "stampede-fallthrough"},
			}},
		},
	},
	{
		Text:  "Redlock never grants twice, whatever else a minority of its servers and the network do.",
		Of:    []string{"redlock"},
		Never: []string{"DG"},
		Proof: "TestClaim4",
		How:   "random schedules of three servers and of five, of which fewer than half are down",
		Assumptions: []Assumption{
			{"the servers fail independently of each other", []Breach{{Text: "three of five lose power together"}}},
			{"a holder has a true majority", []Breach{{Text: "half of an even number"}}},
			{"no record that a holder counts on is lost during its lease", []Breach{
				{"a restart without persistence", "redlock", "restart-no-fsync"},
				{"a power cut within the second that everysec may lose", "redlock", "power-cut"},
				{"an eviction", "redlock", "eviction"},
			}},
			{"the token is unique to the acquisition", []Breach{{"one token for all", "redlock", "token-collision"}}},
			{"no server's clock jumps forward", []Breach{{"a jump of a TTL", "redlock", "server-clock-jump"}}},
			{"clocks differ in speed by less than the margin that the lock takes off its lease", []Breach{{Text: "a client's clock is 3% slow"}}},
			{"the deadline leaves a margin for clock speeds", []Breach{{Text: "a deadline of a full TTL, on a clock that is 0.5% slow"}}},
			{"the clock is read before the first send", []Breach{
				{Text: "read after the first vote"},
				{Text: "read after the last vote"},
			}},
			{"elapsed time is measured on a monotonic clock", []Breach{{"on a wall clock that is set back", "redlock-wall-clock", "clock-steps-back"}}},
		},
	},
	{
		Text:  "A lock with a TTL can be had again within one TTL of its holder's crash.",
		Proof: "TestClaim5",
		How:   "a crash after every single step of the holder, with every strategy that sets its TTL at once. Stamps in whole seconds last up to two seconds longer",
		Assumptions: []Assumption{
			{"the TTL is set together with the record", []Breach{
				{"there is none", "setnx", "crash-holding"},
				{"it is set by a second command", "setnx-expire", "crash-mid-acquire"},
			}},
			{"nothing that the dead client sent is still under way", []Breach{{Text: "a request that arrives five seconds later"}}},
			{"the server's clock does not jump back", []Breach{{Text: "a jump of five seconds"}}},
			{"where the record is a stamp, clocks agree", []Breach{{Text: "a dead client's clock that was fast"}}},
			{"the holder is dead and not hung", []Breach{{"a thread that goes on renewing", "watchdog", "watchdog-hung-worker"}}},
		},
	},
	{
		Text: "An exhaustive search proves a claim within its bounds: so many clients, cycles, instants, and faults of each kind. " +
			"What it covered is part of what it says.",
		How: "`lockstep explore` does that, and prints what it covered. It rests on this: what the search remembers is what the whole engine does " +
			"(`TestFaithful`, and within drawn bounds `TestFaithfulWidely`); a walk through all schedules that remembers nothing finds the same (`TestBruteForce`); the code is deterministic " +
			"(`TestNondeterminism`); and the search has come to its end (`TestLimits`). That it would find what is wrong, `TestMutants` and `TestCatalogue` show",
	},
}

// Means are the means of the claim's test, and the strategies with which it is tried.
func (c *Claim) Means() string {
	if len(c.Of) == 0 {
		return c.How
	}
	return c.How + "; with " + trace.List(c.Of)
}

// Tried says what tries to refute the claim, and by which commands a reader does so: one for those who have the program
// alone, and one that takes the sources, and says so.
func (c *Claim) Tried() string {
	if c.Proof == "" {
		return "Tried by: " + c.Means() + "."
	}
	text := fmt.Sprintf("Tried by: %s.", c.Means())
	if len(c.Never) > 0 {
		text += fmt.Sprintf(" They never see %s.", strings.Join(c.Never, " or "))
	}
	if len(c.Of) > 0 {
		text += fmt.Sprintf(" The program itself can search all schedules within bounds: lockstep explore %s --codes %s.", c.Of[0], strings.Join(c.Never, ","))
	}
	text += fmt.Sprintf(" For those who have the sources of Lockstep: go test ./sim -run %s tries those schedules again.", c.Proof)
	return text
}

// For returns the claims by which a strategy never shows a code, by their numbers from 1.
func For(strategy, code string) (numbers []int) {
	for i, c := range All {
		if slices.Contains(c.Of, strategy) && slices.Contains(c.Never, code) {
			numbers = append(numbers, i+1)
		}
	}
	return numbers
}
