package report

import (
	"encoding/json"
	"encoding/xml"
	"slices"
	"strings"
	"testing"

	"lockstep/sim/campaign/job"
	"lockstep/sim/campaign/plan"
)

// search is a result of a search of a lock with a number of cycles.
func search(lock, cycles string, findings ...job.Finding) job.Result {
	j := job.Job{Lock: lock, Code: "c0de", Search: &job.Search{Clients: "2", Cycles: cycles, Faults: "none", Caller: "plain", Resource: "plain", TTL: "12s"}}
	return job.Result{Outcome: job.Outcome{Job: j, Complete: true, Answer: "the answer", States: 1234, Findings: findings}, Took: job.Took{Seconds: 1.5}}
}

func holds(code string) job.Finding { return job.Finding{Code: code, Holds: true, Text: "holds"} }

func violated(code string, steps int) job.Finding {
	return job.Finding{Code: code, Violated: true, Text: "violated", Least: &job.Least{Schedule: "<" + code + ">'&", Headline: "x.go:1: it <breaks>", Steps: steps, Switches: 1}}
}

// random is a result of ten random schedules.
func random(first uint64, findings ...job.Finding) job.Result {
	j := job.Job{Lock: "setnx", Code: "c0de", Random: &job.Random{First: first, Last: first + 9, Clients: 2, Cycles: 1, Faults: "pause=1", Caller: "plain", TTL: "12s"}}
	return job.Result{Outcome: job.Outcome{Job: j, Complete: true, States: 10, Findings: findings}}
}

func seeded(code string, seed uint64, times int) job.Finding {
	f := violated(code, 0)
	f.Least.Seed, f.Least.Times = seed, times
	return f
}

func campaign() *plan.Campaign {
	return &plan.Campaign{Name: "test", LeftOut: map[string]int{"it makes no sense": 2}, Known: map[string][]string{"setnx": {"PD"}}}
}

func lines(r *Report) string { return strings.Join(r.Since.lines(), "\n") }

// A lock's claims sum up its searches and random schedules, with the least schedule of all.
func TestClaims(t *testing.T) {
	r := Make(campaign(), "e", []job.Result{
		search("setnx", "1", holds("DG"), violated("PD", 9)), search("setnx", "2", holds("DG"), violated("PD", 7)),
		random(1, seeded("PD", 3, 2)), random(11, seeded("PD", 12, 5), seeded("FR", 14, 1)),
	}, true)
	var got []string
	for i := range r.Locks[0].Claims {
		got = append(got, r.Locks[0].Claims[i].String())
	}
	want := []string{
		"double grant: holds in 2 searches",
		"foreign release: violated by 1 random schedule; the least, with random clients=2 cycles=1 faults=pause=1 caller=plain ttl=12s: seed 14; ",
		"permanent deadlock: violated in 2 of 2 searches, violated by 7 random schedules (known); the least, with clients=2 cycles=2 faults=none caller=plain ttl=12s: no fault, 1 switch, 7 steps",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	entries := r.Locks[0].Entries
	if len(entries) != 3 || entries[2].States != 20 || entries[2].Findings[0].Code != "FR" || entries[2].Findings[1].Least.Seed != 3 || entries[2].Findings[1].Least.Times != 7 {
		t.Errorf("%+v", entries)
	}
	if entries[0].Status != Known || entries[2].Status != Violated || r.States != 2468 || r.Runs != 20 || r.Seconds != 3 {
		t.Errorf("%+v", r)
	}
}

// What is worse than last time is told apart from what is merely different.
func TestCompare(t *testing.T) {
	cut := search("setnx", "1")
	cut.Outcome.Complete = false
	other := search("setnx", "1", holds("DG"))
	other.Outcome.Job.Code, other.Outcome.States = "d1fferent", 1235
	before := []job.Result{search("setnx", "1", holds("DG"))}
	const about = "setnx clients=2 cycles=1 faults=none caller=plain ttl=12s: "
	for _, tt := range []struct {
		name        string
		before, now []job.Result
		want        string
	}{
		{"the first", nil, before, "this is the first"},
		{"the same", before, before, "nothing has changed"},
		{"worse", before, []job.Result{search("setnx", "1", violated("DG", 3))}, "WORSE: " + about + "DG held, and is violated now"},
		{"better", []job.Result{search("setnx", "1", violated("DG", 3))}, before, about + "DG was violated, and holds now"},
		{"another code", before, []job.Result{other}, "setnx: its code has changed\n" + about + "1235 states, and had 1234"},
		{"one more", before, append(slices.Clone(before), search("setnx", "2", holds("DG"))), "setnx: 1 more than last time"},
		{"one less", append(slices.Clone(before), search("naive-del", "2", holds("DG"))), before, "naive-del: 1 of last time are gone"},
		{"undecided", before, []job.Result{cut}, "WORSE: " + about + "DG held, and is not decided now"},
	} {
		r := Make(campaign(), "e", tt.now, false)
		var last *Report
		if tt.before != nil {
			last = Parse(Make(campaign(), "e", tt.before, true).JSON())
		}
		r.Compare(last)
		if got := lines(r); got != tt.want {
			t.Errorf("%s:\n got %s\nwant %s", tt.name, got, tt.want)
		}
	}
	if Parse([]byte(`{"format": 99}`)) != nil || Parse([]byte("nonsense")) != nil {
		t.Error("a report of another format is read")
	}
}

// Each form is well-formed, whatever is in the texts.
func TestForms(t *testing.T) {
	cut := search("naive-del", "1")
	cut.Outcome.Complete, cut.Outcome.Answer = false, "not decided, because of <time>"
	r := Make(campaign(), "e", []job.Result{search("setnx", "1", holds("DG"), violated("PD", 9)), search("naive-del", "2", violated("DG", 9)), cut}, true)
	r.Compare(nil)
	var junit strings.Builder
	if err := r.JUnit(&junit); err != nil {
		t.Fatal(err)
	}
	var read suites
	if err := xml.Unmarshal([]byte(junit.String()), &read); err != nil {
		t.Fatal(err)
	}
	if read.Tests != 3 || read.Failures != 1 || read.Errors != 1 || len(read.Suites) != 2 || read.Suites[1].Cases[0].Failure == nil || read.Suites[1].Cases[1].Error == nil ||
		read.Suites[0].Cases[0].Failure != nil || !strings.Contains(read.Suites[1].Cases[0].Failure.Text, "lockstep replay '<DG>'&'") || read.Time != "4.500" {
		t.Errorf("%+v\n%s", read, &junit)
	}
	var html strings.Builder
	if err := r.HTML(&html); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(html.String(), "<DG>") || strings.Contains(html.String(), "<breaks>") || !strings.Contains(html.String(), "&lt;breaks&gt;") {
		t.Error(html.String())
	}
	var as map[string]any
	if err := json.Unmarshal(r.JSON(), &as); err != nil || as["seconds"] != 4.5 {
		t.Errorf("%v %v", as, err)
	}
	var text strings.Builder
	if err := r.Text(&text); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"campaign test: 2 locks; 1 violated, 1 not decided, 1 violated as is known; 3,702 states; 4.5 s of work", "- this is the first", "- 2 left out: it makes no sense", "engine e"} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("%q is missing in\n%s", want, &text)
		}
	}
}

// Without times a report has none, in any form.
func TestNoTimes(t *testing.T) {
	slow := search("setnx", "1", holds("DG"))
	slow.Took.Seconds = 99
	fast, slower := Make(campaign(), "e", []job.Result{search("setnx", "1", holds("DG"))}, false), Make(campaign(), "e", []job.Result{slow}, false)
	for name, form := range map[string]func(*Report, *strings.Builder) error{
		"text": func(r *Report, b *strings.Builder) error { return r.Text(b) }, "junit": func(r *Report, b *strings.Builder) error { return r.JUnit(b) },
		"html": func(r *Report, b *strings.Builder) error { return r.HTML(b) }, "json": func(r *Report, b *strings.Builder) error { b.Write(r.JSON()); return nil },
	} {
		var a, b strings.Builder
		if err := form(fast, &a); err != nil {
			t.Fatal(err)
		}
		if err := form(slower, &b); err != nil {
			t.Fatal(err)
		}
		if a.String() != b.String() {
			t.Errorf("%s: %s\nand\n%s", name, &a, &b)
		}
	}
}
