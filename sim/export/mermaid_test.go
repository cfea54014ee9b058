package export

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"lockstep/sim/timeline"
	"lockstep/sim/trace"
)

// These show, in order: who overlaps whom, a deletion that hits another's record,
// and five servers of which one is slow.
func TestMermaidGolden(t *testing.T) {
	for _, cell := range [][2]string{{"setpx-lua", "pause-past-ttl"}, {"get-then-del", "release-gap"}, {"redlock", "slow-node"}} {
		golden(t, cell[0]+"."+cell[1]+".mmd", Mermaid(record(t, cell[0], cell[1])))
	}
}

var (
	mermaidHead  = regexp.MustCompile(`^(accTitle:|accDescr:|title) (.+)$`)
	mermaidParty = regexp.MustCompile(`^participant (c\d+|n\d+) as (.+)$`)
	mermaidArrow = regexp.MustCompile(`^(c\d+|n\d+|resource)(->>|-->>|--x)(c\d+|n\d+|resource): (.+)$`)
	mermaidNote  = regexp.MustCompile(`^Note over ([a-z]+\d*)(?:,([a-z]+\d*))?: (.+)$`)
	mermaidBar   = regexp.MustCompile(`^(activate|deactivate) (c\d+)$`)
	mermaidBreak = regexp.MustCompile(`<br/>|#\d+;`)
)

// checkMermaid reads a diagram by as much of Mermaid's grammar as we write, and
// refuses anything else: a participant that isn't declared, a letter that would
// need to be a reference, blocks and bars that don't match.
func checkMermaid(t *testing.T, diagram string) (texts []string) {
	t.Helper()
	lines := strings.Split(strings.TrimSuffix(diagram, "\n"), "\n")
	if lines[0] != "sequenceDiagram" || !utf8.ValidString(diagram) {
		t.Errorf("it begins with %q", lines[0])
	}
	known, busy, blocks := map[string]bool{"resource": true}, map[string]bool{}, 0
	party := func(names ...string) {
		for _, n := range names {
			if n != "" && !known[n] {
				t.Errorf("%q is no participant", n)
			}
		}
	}
	for _, line := range lines[1:] {
		line = strings.TrimPrefix(line, "    ")
		text := ""
		if m := mermaidHead.FindStringSubmatch(line); m != nil {
			text = m[2]
		} else if m := mermaidParty.FindStringSubmatch(line); m != nil {
			known[m[1]], text = true, m[2]
		} else if m := mermaidArrow.FindStringSubmatch(line); m != nil {
			party(m[1], m[3])
			text = m[4]
		} else if m := mermaidNote.FindStringSubmatch(line); m != nil {
			party(m[1], m[2])
			text = m[3]
		} else if m := mermaidBar.FindStringSubmatch(line); m != nil {
			party(m[2])
			if on := m[1] == "activate"; on == busy[m[2]] {
				t.Errorf("%s, which is so already", line)
			} else {
				busy[m[2]] = on
			}
		} else if strings.HasPrefix(line, "rect rgba(") {
			blocks++
		} else if line == "end" && blocks > 0 {
			blocks--
		} else if line != "participant resource" {
			t.Errorf("not a line of a sequence diagram: %q", line)
		}
		if bare := mermaidBreak.ReplaceAllString(text, ""); strings.ContainsAny(bare, "#;:<>&%$\\\"`{}\x00\x1b\u2028") {
			t.Errorf("a letter that Mermaid may take for its own: %q", text)
		}
		texts = append(texts, text)
	}
	if blocks != 0 {
		t.Errorf("%d blocks are open at the end", blocks)
	}
	return texts
}

func TestMermaidIsValid(t *testing.T) {
	eachRun(t, func(t *testing.T, trace *trace.Trace) { checkMermaid(t, Mermaid(trace)) })
	if run := spoilt(); slices.Contains(run.Clients, "end") {
		checkMermaid(t, Mermaid(run))
	} else {
		t.Errorf("no client of %v has a name that means something to Mermaid", run.Clients)
	}
}

// Every command and every reply is there, in order, and so is every violation.
func TestMermaidIsComplete(t *testing.T) {
	eachRun(t, func(t *testing.T, tr *trace.Trace) {
		rest := Mermaid(tr)
		if len(rest) > mermaidMost {
			t.Fatalf("%d bytes", len(rest))
		}
		for i := range tr.Events {
			e := &tr.Events[i]
			arrow := ""
			switch e.Kind {
			case trace.KindSend:
				arrow = fmt.Sprintf("c%d->>n%d: #35;%d ", e.Client, e.Node, e.Seq)
			case trace.KindReceive:
				arrow = fmt.Sprintf("n%d-->>c%d: #35;%d ", e.Node, e.Client, e.Seq)
			case trace.KindPause, trace.KindCrash, trace.KindExpire:
				arrow = fmt.Sprintf(": #35;%d ", e.Seq)
			default:
				continue
			}
			_, after, found := strings.Cut(rest, arrow)
			if !found {
				t.Fatalf("%s is missing, or not in its place", tr.Line(e))
			}
			rest = after
		}
		for _, v := range tr.Violations {
			if want := fmt.Sprintf("%[1]s %[2]s %[3]s %[1]s", severity(v.Code), v.Code, strings.ToUpper(v.Code.Name())); !strings.Contains(Mermaid(tr), want) {
				t.Errorf("no %q", want)
			}
		}
	})
}

// Every kind of event is a message, a note over somebody, or unsaid with a reason.
func TestMermaidKnowsEveryKind(t *testing.T) {
	run := &trace.Trace{Clients: []string{"A"}, Nodes: []string{"n1"}, Masters: 1, Need: 1, TTL: time.Second}
	m := &mermaid{read(run)}
	for k := trace.KindNone; k <= trace.KindStop; k++ {
		e := &trace.Event{Kind: k, Args: []string{"get", "k"}, Changes: []trace.Change{{Key: "k"}}}
		switch line := m.event(e); {
		case unsaid[k] != "" && timeline.ArrowOf(e) != timeline.NoArrow:
			t.Errorf("%s is a message, and unsaid because %s", k, unsaid[k])
		case (line == "") != (unsaid[k] != ""):
			t.Errorf("%s is shown as %q, and unsaid because %q", k, line, unsaid[k])
		}
	}
}

// A run that is too long keeps its story, and says what it has lost.
func TestMermaidLeavesOutWhatIsTooMuch(t *testing.T) {
	long := &trace.Trace{Strategy: "setnx", Scenario: "x.yaml", Clients: []string{"A", "B"}, Nodes: []string{"n1"}, Masters: 1, Need: 1, Key: "lock", TTL: time.Hour}
	add := func(e trace.Event) int {
		e.Seq = len(long.Events) + 1
		long.Events = append(long.Events, e)
		return e.Seq
	}
	round := func(client int, changes []trace.Change) {
		sent := add(trace.Event{Kind: trace.KindSend, Client: client, Ref: trace.None, Args: []string{"setnx", "lock", "1"}})
		done := add(trace.Event{Kind: trace.KindExecute, Client: client, Ref: sent, Args: []string{"setnx", "lock", "1"}, Reply: "0", Changes: changes, Acq: 1})
		add(trace.Event{Kind: trace.KindReceive, Client: client, Ref: done, Reply: "0"})
	}
	round(0, []trace.Change{{Key: "lock", After: &trace.Record{Value: "1", Expires: trace.Never}}})
	const polls = 1000
	for range polls {
		round(1, nil)
	}
	add(trace.Event{Kind: trace.KindCrash, Client: 0, Node: trace.None})
	diagram := Mermaid(long)
	checkMermaid(t, diagram)
	last := len(long.Events) - 1
	for _, want := range []string{"c0->>n0: #35;1 ", "Note over n0: #35;2 ", "n0-->>c0: #35;3 ", fmt.Sprintf("Note over c0: #35;%d ", last+1),
		fmt.Sprintf("... %d messages that changed nothing are left out, #35;4 to #35;%d ...", 2*polls, last)} {
		if !strings.Contains(diagram, want) {
			t.Errorf("no %q in\n%s", want, diagram)
		}
	}
	if len(diagram) > mermaidMost {
		t.Errorf("%d bytes", len(diagram))
	}
}

// However long a run is, its diagram is valid and short enough, and as long as
// there is room for them, the proofs stay.
func TestMermaidIsNeverTooLong(t *testing.T) {
	base := record(t, "setpx-lua", "pause-past-ttl")
	for _, times := range []int{30, 300} {
		long := *base
		long.Events, long.Notes, long.Violations = nil, nil, nil
		for range times {
			first := len(long.Events)
			for _, e := range base.Events {
				e.Seq += first
				e.At += time.Duration(first) * time.Second
				if e.Ref != trace.None {
					e.Ref += first
				}
				long.Events = append(long.Events, e)
			}
			for _, v := range base.Violations {
				v.Events = slices.Clone(v.Events)
				for i := range v.Events {
					v.Events[i] += first
				}
				long.Violations = append(long.Violations, v)
			}
		}
		diagram := Mermaid(&long)
		checkMermaid(t, diagram)
		if len(diagram) > mermaidMost {
			t.Errorf("%d times: %d bytes", times, len(diagram))
		}
		if !strings.Contains(diagram, "left out") {
			t.Errorf("%d times: it does not say that something is left out", times)
		}
		if proofs := strings.Count(diagram, "!! OV "); proofs == 0 || times == 30 && proofs != times {
			t.Errorf("%d times: %d proofs", times, proofs)
		}
	}
}

func TestFold(t *testing.T) {
	for _, tt := range []struct {
		in    string
		width int
		want  string
	}{
		{"", 5, ""},
		{"  one two  three ", 7, "one two|three"},
		{"a abcdefghij b", 6, "a|abcdef|ghij b"},
		{"日本語 日本", 6, "日本語|日本"},
		{"日本語日本", 6, "日本語|日本"},
		{"日本", 1, "日|本"},
		{"long", unbroken, "long"},
	} {
		if got := strings.Join(fold(tt.in, tt.width), "|"); got != tt.want {
			t.Errorf("fold(%q, %d) = %q, want %q", tt.in, tt.width, got, tt.want)
		}
	}
}
