package scenarios

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"lockstep/sim"
	"lockstep/sim/testenv"
	"lockstep/sim/trace"
)

// varied has three variants: one with other clients, one that changes a part of
// a setting, and one that changes nothing that can be seen in the run.
const varied = `title: base
shows: what it shows
source: nowhere
setup:
  clients: {A: {work: 4s}, B: {work: 5s, insist: 2s}}
  retry: {tries: 3, delay: 2s}
  latency: 3ms
script:
  - say: here
  - run: A
    to: work
  - run: all
expect:
  - verdict: [DG]
    under: [setnx]
    because: "x"
variants:
  clients:
    title: other clients
    shows: something else
    setup:
      clients: [B, A]
  retry:
    title: fewer tries
    source: elsewhere
    setup:
      retry: {tries: 1}
      latency: 0s
  plain: {title: nothing else}
`

func saved(t *testing.T, yaml string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "my.yaml")
	if err := os.WriteFile(file, []byte(yaml), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

func found(t testing.TB, name string) *Scenario {
	t.Helper()
	s, err := Find(name)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// A variant is the base with what it sets itself, and the base stays as it is.
func TestVariantOfAFile(t *testing.T) {
	file := saved(t, varied)
	base := found(t, file)
	work := func(s *Scenario) (all []string) {
		for _, c := range s.Config(strategy(t, "setpx-lua"), 1).Clients {
			all = append(all, c.Name+" "+c.Work.String()+" "+c.Insist.String())
		}
		return all
	}
	asAbove := []string{"A 4s 0s", "B 5s 2s"}
	for _, tt := range []struct {
		variant, title, shows, source string
		clients                       []string
		tries                         int
		latency                       time.Duration
	}{
		{"clients", "other clients", "something else", "nowhere", []string{"B 1s 0s", "A 1s 0s"}, 3, 3 * time.Millisecond},
		{"retry", "fewer tries", "what it shows", "elsewhere", asAbove, 1, 0},
		{"plain", "nothing else", "what it shows", "nowhere", asAbove, 3, 3 * time.Millisecond},
		{"", "base", "what it shows", "nowhere", asAbove, 3, 3 * time.Millisecond}, // last: the others have left it alone
	} {
		s := base
		if tt.variant != "" {
			s = found(t, file+"."+tt.variant)
		}
		equal(t, tt.variant+": texts", []string{s.Title, s.Shows, s.Source}, tt.title, tt.shows, tt.source)
		equal(t, tt.variant+": clients", work(s), tt.clients...)
		cfg := s.Config(strategy(t, "setpx-lua"), 1)
		if cfg.Retry.Tries != tt.tries || cfg.Retry.Delay != 2*time.Second || cfg.Latency != tt.latency {
			t.Errorf("%s: retry %+v, latency %s", tt.variant, cfg.Retry, cfg.Latency)
		}
		if _, stated := s.Expect("setnx"); stated != (tt.variant == "") {
			t.Errorf("%s: what the base expects is not what a variant does", tt.variant)
		}
	}
}

// A variant runs its base's script, under a name of its own, and its schedule
// plays without the file.
func TestVariantRuns(t *testing.T) {
	file := saved(t, varied)
	base, variant := mustRun(t, found(t, file), "setpx-lua"), mustRun(t, found(t, file+".retry"), "setpx-lua")
	if base.Scenario != "my.yaml" || variant.Scenario != "my.yaml.retry" || variant.Title != "fewer tries" {
		t.Errorf("%q; %q, %q", base.Scenario, variant.Scenario, variant.Title)
	}
	equal(t, "the base", of(base, trace.KindGranted)[:1], "6ms A has the lock, token A1-e39f, lease until 9.898s (10s less 102ms in case clocks drift apart)")
	equal(t, "the variant", of(variant, trace.KindGranted)[:1], "0ms A has the lock, token A1-e39f, lease until 9.898s (10s less 102ms in case clocks drift apart)")
	schedule, err := sim.ParseSchedule(variant.Schedule, FindStrategy)
	if err != nil {
		t.Fatal(err)
	}
	again, err := Replay(schedule)
	if err != nil {
		t.Fatal(err)
	}
	if again.Hash != variant.Hash || again.Hash == base.Hash {
		t.Errorf("hashes: base %s, variant %s, replayed %s", base.Hash, variant.Hash, again.Hash)
	}
}

func TestBuiltinVariant(t *testing.T) {
	base, always := found(t, "restart-no-fsync"), found(t, "restart-no-fsync.always")
	if got := mustRun(t, base, "setpx-lua").Verdict().String(); got != "DG OV" {
		t.Errorf("the base: %s", got)
	}
	trace := mustRun(t, always, "setpx-lua")
	if got := trace.Verdict().String(); got != "ok" || trace.Scenario != "restart-no-fsync.always" {
		t.Errorf("the variant, called %s: %s", trace.Scenario, got)
	}
	schedule, err := sim.ParseSchedule(trace.Schedule, FindStrategy)
	if err != nil {
		t.Fatal(err)
	}
	again, err := Replay(schedule)
	if err != nil {
		t.Fatal(err)
	}
	if plain(t, again) != plain(t, trace) {
		t.Error("a replay tells it otherwise")
	}
}

func TestVariantsThatThereAreNot(t *testing.T) {
	file, without := saved(t, varied), saved(t, "title: x\nscript: [say: x]\n")
	for name, want := range map[string]string{
		file + ".clinets":         `FILE: unknown variant "clinets"; did you mean "clients"?`,
		file + ".zzzzzzzz":        `FILE: unknown variant "zzzzzzzz": it is one of clients, retry, plain`,
		without + ".fast":         "FILE has no variants",
		"gone.yaml.fast":          "cannot read the scenario gone.yaml: no such file or directory",
		"restart-no-fsync.alwyas": `unknown scenario "restart-no-fsync.alwyas"; did you mean "restart-no-fsync.always"?`,
	} {
		_, err := Find(name)
		if err == nil {
			t.Errorf("%s is found", name)
			continue
		}
		got := strings.NewReplacer(file, "FILE", without, "FILE").Replace(err.Error())
		if got != want {
			t.Errorf("%s\ngot  %s\nwant %s", name, got, want)
		}
	}
}

// With jitter a split vote heals under every seed.
func TestJitterHeals(t *testing.T) {
	testenv.LongRaced(t)
	split := found(t, "split-vote.jitter")
	for seed := range uint64(30) {
		tr, err := split.Run(strategy(t, "redlock"), seed)
		if err != nil {
			t.Fatal(err)
		}
		granted := slices.ContainsFunc(tr.Events, func(e trace.Event) bool {
			return e.Kind == trace.KindGranted && tr.Actor(&e) != trace.Probe && e.At <= time.Second
		})
		if !granted || len(tr.Verdict()) != 0 {
			t.Errorf("seed %d: %s, and somebody has the lock within a second: %t", seed, tr.Verdict(), granted)
		}
	}
}
