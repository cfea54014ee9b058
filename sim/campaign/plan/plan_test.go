package plan

import (
	"slices"
	"strings"
	"testing"

	"lockstep/sim/campaign/job"
)

func catalogue(t *testing.T) job.Locks {
	t.Helper()
	locks, err := job.Catalogue()
	if err != nil {
		t.Fatal(err)
	}
	return locks
}

// abouts lists what jobs are about.
func abouts(jobs []job.Job) (all []string) {
	for i := range jobs {
		all = append(all, jobs[i].About())
	}
	return all
}

// A file is all combinations that make sense, each once, in its order.
func TestParse(t *testing.T) {
	c, err := Parse("x.yaml", []byte(`campaign: nightly
locks: [setnx, extend-unchecked, redlock]
searches:
  - cycles: [1, 1]
    nodes: [3, 5]
    callers: [plain, extends]
    faults: ["pause,crash", "crash=1,pause=1"]
    codes: [pd, "DG,FR"]
    ttls: [12s, 12000ms]
random:
  seeds: 1-2500
  chunk: 1000
  locks: setnx
  codes: PD
known:
  setnx: PD
limits: {time: 90s, memory: 1GiB}
`), catalogue(t), "e")
	if err != nil {
		t.Fatal(err)
	}
	const bounds = " clients=2 cycles=1 faults=crash=1,pause=1 "
	want := []string{
		"setnx" + bounds + "caller=plain ttl=12s codes=DG,FR,PD",
		"extend-unchecked" + bounds + "caller=plain ttl=12s codes=DG,FR,PD",
		"extend-unchecked" + bounds + "caller=extends ttl=12s codes=DG,FR,PD",
		"redlock" + bounds + "caller=plain ttl=12s nodes=3 codes=DG,FR,PD",
		"redlock" + bounds + "caller=plain ttl=12s nodes=5 codes=DG,FR,PD",
		"setnx seeds=1-1000 clients=2 cycles=2 faults=crash=1,pause=1 caller=plain ttl=12s codes=PD",
		"setnx seeds=1001-2000 clients=2 cycles=2 faults=crash=1,pause=1 caller=plain ttl=12s codes=PD",
		"setnx seeds=2001-2500 clients=2 cycles=2 faults=crash=1,pause=1 caller=plain ttl=12s codes=PD",
	}
	if got := abouts(c.Jobs); !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if s := c.Jobs[0].Search; s.Time != "1m30s" || s.Memory != 1<<30 {
		t.Errorf("limits %q and %d", s.Time, s.Memory)
	}
	if omitted := strings.Join(c.Omitted(), "\n"); !strings.Contains(omitted, "callers: setnx has no way to extend a lease") || !strings.Contains(omitted, "redlock has no way") {
		t.Error(omitted)
	}
	if !slices.Equal(c.Known["setnx"], []string{"PD"}) || c.Name != "nightly" {
		t.Errorf("%+v", c)
	}
}

// An error names the file, the line and the word, and what was meant.
func TestRefusals(t *testing.T) {
	locks := catalogue(t)
	const head = "campaign: x\nlocks: setnx\n"
	for _, tt := range []struct{ text, want string }{
		{"", "x.yaml:1: a campaign is one YAML document with a name, locks, and searches or random"},
		{"[", "x.yaml:1: this is not YAML: "},
		{"a: b: c", "x.yaml:1: this is not YAML: "},
		{"campaign", `x.yaml:1: a campaign has keys and values, and this is campaign`},
		{"campaign: x\x00", "x.yaml:1: this is not text: it has the character U+0000"},
		{"campaign: x\nlocks: \"\x1b[2J\"", "x.yaml:2: this is not text: it has the character U+001B"},
		{"locks: setnx\nsearches: {}", "x.yaml:1: campaign is missing"},
		{"campaign: X Y\nlocks: setnx\nsearches: {cycles: 1}", `x.yaml:1: campaign: the name "X Y" isn't one of up to 63 small letters, digits and hyphens`},
		{"campaign: ../../etc\nlocks: setnx", `x.yaml:1: campaign: the name "../../etc" isn't`},
		{head, "x.yaml:1: the campaign has nothing to do: it needs searches or random"},
		{"campaign: x\nsearches:\n  - cycles: 1", "x.yaml:1: locks is missing: name locks, or write all"},
		{"campaign: x\nlocks:\n  - setnx\n  - setpx-lau\nsearches:\n  - cycles: 1", `x.yaml:4: locks: unknown lock "setpx-lau"; did you mean "setpx-lua"?`},
		{head + "serches:\n  - cycles: 1", `x.yaml:3: unknown key "serches"; did you mean "searches"?`},
		{head + "searches:\n  - cycels: 1", `x.yaml:4: unknown key "cycels"; did you mean "cycles"?`},
		{head + "searches:\n  - cycles: 1\n    cycles: 2", `x.yaml:5: "cycles" is here twice: it is on line 4 already`},
		{head + "searches:\n  - cycles: []", "x.yaml:4: the list is empty"},
		{head + "searches:\n  - cycles:", "x.yaml:4: a value is missing"},
		{head + "searches: []", "x.yaml:3: searches is empty"},
		{head + "searches:\n  - cycles: {a: b}", "x.yaml:4: a word or a list of words belongs here"},
		{head + "searches:\n  - cycles: &a 1", "x.yaml:4: a word or a list of words belongs here"},
		{head + "searches:\n  - clients: [2,\n      5]", `x.yaml:5: clients: "5" is neither a number from 1 to 4 nor any`},
		{head + "searches:\n  - faults: crsh=1", `x.yaml:4: faults: unknown kind of fault "crsh"; did you mean "crash"?`},
		{head + "searches:\n  - callers: extend", `x.yaml:4: callers: unknown caller "extend"; did you mean "extends"?`},
		{head + "searches:\n  - ttls: 12", `x.yaml:4: ttls: "12" is no duration; write 12s or 500ms`},
		{head + "searches:\n  - codes: DX", `x.yaml:4: codes: unknown code "DX"`},
		{head + "searches:\n  - tries: 0", `x.yaml:4: tries: "0" is no number from 1 to 9`},
		{head + "searches:\n  - callers: extends", "x.yaml:1: no combination makes sense for any of the locks: 1 left out: callers: setnx has no way to extend a lease"},
		{head + "random:\n  - chunk: 5", "x.yaml:4: seeds is missing"},
		{head + "random:\n  - seeds: 9-1", `x.yaml:4: seeds: "9-1" is no range of seeds; write 1-20000`},
		{head + "random:\n  - seeds: 1-9\n    chunk: 0", `x.yaml:5: chunk: "0" is no number of seeds from 1 to 100000`},
		{head + "random:\n  - seeds: 1-4000000000000000000\n    chunk: 1", "x.yaml:4: the campaign has more than 1000000 jobs"},
		{head + "random:\n  - seeds: 1-9\n    clients: any", "x.yaml:5: random: a random schedule has a number of clients and of cycles, and not any"},
		{head + "limits: {time: soon}\nrandom: {seeds: 1-9}", `x.yaml:3: limits: time: "soon" is no duration; write 10m or 30s`},
		{head + "limits: {memory: much}\nrandom: {seeds: 1-9}", `x.yaml:3: limits: memory: "much" is not a size of memory; write 512MB or 2GiB`},
		{head + "known: {setnxx: PD}\nrandom: {seeds: 1-9}", `x.yaml:3: known: unknown lock "setnxx"; did you mean "setnx"?`},
		{head + "known: {setnx: QQ}\nrandom: {seeds: 1-9}", `x.yaml:3: known: setnx: unknown code "QQ"`},
		{"campaign: [x, y]\n", "x.yaml:1: campaign: there is one, and this is a second"},
	} {
		_, err := Parse("x.yaml", []byte(tt.text), locks, "e")
		if err == nil || !strings.HasPrefix(err.Error(), tt.want) {
			t.Errorf("%q:\n got %v\nwant %s", tt.text, err, tt.want)
		}
	}
}

// No input makes the reader panic, or takes it for ever.
func FuzzParse(f *testing.F) {
	f.Add("campaign: x\nlocks: setnx\nsearches:\n  - cycles: 1\nrandom: {seeds: 1-9}\nknown: {setnx: PD}")
	f.Add("campaign: &a [*a]\n<<: !!binary x\n")
	f.Add("? a\n: - b\n  - |\n   c\n")
	locks, err := job.Catalogue()
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(_ *testing.T, text string) {
		if c, err := Parse("x.yaml", []byte(text), locks, "e"); err == nil {
			_ = c.Omitted()
		}
	})
}
