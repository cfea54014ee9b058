package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"lockstep/sim/testenv"
)

// proof writes a small certificate, of a lock with a TTL that is as long as its timeout.
func proof(t *testing.T) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "setpx-lua.proof")
	if proved == nil {
		must(t, "", "explore", "setpx-lua", "--ttl", "3s", "--cycles", "any", "--faults", "pause=any", "--codes", "DG,FR,PD", "--certificate", path)
		proved = []byte(content(t, path))
		return path
	}
	if err := os.WriteFile(path, proved, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

var proved []byte // the certificate, once one test has had it made

// TestCheck: all situations of a certificate are checked, which is said with what they prove.
func TestCheck(t *testing.T) {
	path := proof(t)
	whole := must(t, "", "check", path)
	if !strings.Contains(whole, "setpx-lua: proved by ") ||
		!strings.Contains(whole, "no schedule of 2 clients, however long, with any number of pauses of clients, violates DG, FR, PD\n") ||
		!strings.Contains(whole, "asks for the lock any number of times; whoever has it enters without checking; the TTL is 3s, a client waits 3s for a reply; the record is \"lock\"\n") ||
		!strings.Contains(whole, "keeps the others out for 0ms at most\n") {
		t.Error(whole)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	var o, e strings.Builder
	if status := execute(ctx, []string{"check", path}, strings.NewReader(""), &o, &e); status != 3 || o.Len() > 0 || !strings.Contains(e.String(), "proves nothing") {
		t.Errorf("interrupted: exit status %d\n%s%s", status, &o, &e)
	}
}

// TestCheckPart: a part of the situations is chosen by the seed alone, which is stated.
func TestCheckPart(t *testing.T) {
	testenv.Long(t)
	path := proof(t)
	part := must(t, "", "check", path, "--part", "2%", "--seed", "4")
	if again := must(t, "", "check", path, "--part", "2%", "--seed", "4", "--workers", "1"); part != again || !strings.Contains(part, "(seed 4)") || !strings.Contains(part, "this is no proof") {
		t.Errorf("%s\n%s", part, again)
	}
	if fresh := must(t, "", "check", path, "--part", "2%"); !strings.Contains(fresh, "(seed ") || strings.Contains(fresh, "(seed 0)") {
		t.Error(fresh)
	}
}

// TestCheckRefuted: a certificate that lacks its last situation proves nothing.
func TestCheckRefuted(t *testing.T) {
	testenv.Long(t)
	path := proof(t)
	c, err := readCertificate(path)
	if err != nil {
		t.Fatal(err)
	}
	c.Rows = c.Rows[:len(c.Rows)-1]
	var file bytes.Buffer
	if err := c.Write(&file); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, file.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	out, errs, status := run(t, "", "check", path)
	if status != 1 || errs != "" || !strings.Contains(out, "setpx-lua: the certificate proves nothing: situation ") ||
		!strings.Contains(out, "leads to a situation that the certificate doesn't have when ") {
		t.Errorf("exit status %d\n%s%s", status, out, errs)
	}
}

// TestCheckScript checks the script that lockstep new writes, and one that expects something else.
func TestCheckScript(t *testing.T) {
	script := filepath.Join(t.TempDir(), "mine.yaml")
	if _, errs, status := run(t, "", "new", script); status != 0 {
		t.Fatal(errs)
	}
	out, errs, status := run(t, "", "check", script)
	for _, want := range []string{"  naive-del: as expected: FR\n", "  setpx-lua: as expected: ok\n"} {
		if !strings.Contains(out, want) || status != 0 || errs != "" {
			t.Errorf("exit status %d: %q is not in:\n%s%s", status, want, out, errs)
		}
	}
	text, err := os.ReadFile(script)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(script, []byte(strings.Replace(string(text), "includes: [FR]", "verdict: [SW]", 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, _, status = run(t, "", "check", script); status != 1 || !strings.Contains(out, "  naive-del: not as expected: the file expects SW and no other code ("+script+":") {
		t.Errorf("exit status %d:\n%s", status, out)
	}
}

// TestCheckPrintsWhatToPaste: where an expectation is wrong or missing, what check prints makes it right.
func TestCheckPrintsWhatToPaste(t *testing.T) {
	const steps = "script:\n  - {run: A, to: release}\n  - wait: 12s\n  - {run: B, to: work}\n  - run: all\n"
	script := filepath.Join(t.TempDir(), "my.yaml")
	for name, wrong := range map[string]string{
		"none":    "",
		"one":     "expect:\n  - {verdict: [FR, SW], under: [naive-del]}\n",
		"shared":  "expect:\n  - {verdict: ok, under: [naive-del, setpx-lua], because: \"it's \\\"so\\\": done\"}\n",
		"several": "expect:\n  - verdict: [SW]\n    under: [naive-del, get-then-del]\n    because: x\n  - {verdict: ok, under: [setpx-lua]}\n",
	} {
		check := func(expect string) (string, int) {
			if err := os.WriteFile(script, []byte("title: x\nsetup: {clients: {A: , B: {work: 5s}}, ttl: 10s}\n"+steps+expect), 0o600); err != nil {
				t.Fatal(err)
			}
			out, _, status := run(t, "", "check", script)
			return out, status
		}
		out, status := check(wrong)
		_, lines, printed := strings.Cut(out, "\nexpect:\n")
		lines, _, _ = strings.Cut(lines, "\n\n")
		mended, now := check("expect:\n" + lines + "\n")
		if (status == 1) != (wrong != "") || !printed || now != 0 || strings.Contains(mended, "expect:") || !strings.Contains(mended, "as expected: ") {
			t.Errorf("%s: exit status %d, then %d:\n%s\n%s", name, status, now, out, mended)
		}
		for reason, of := range map[string]string{"because: \"it's \\\"so\\\": done\"": "naive-del was", "because: x": "naive-del and get-then-del were"} {
			kept := strings.Contains(strings.ReplaceAll(lines, "\"x\"", "x"), reason)
			asked := strings.Contains(strings.Join(strings.Fields(out), " "), "given for "+of+" written for")
			if given := strings.Contains(wrong, reason); kept != given || asked != given {
				t.Errorf("%s: %s is kept: %t, and asked to be read again: %t\n%s", name, reason, kept, asked, out)
			}
		}
	}
}

// TestCheckVariants: what each variant of a script expects is compared, too, or that of one by its name.
func TestCheckVariants(t *testing.T) {
	script := filepath.Join(t.TempDir(), "my.yaml")
	text := "title: x\nscript:\n  - run: all\nexpect:\n  - {verdict: ok, under: [setpx-lua]}\nvariants:\n" +
		"  right: {title: y, expect: [{verdict: ok, under: [setnx, setpx-lua]}]}\n  wrong: {title: z, expect: [{verdict: [SW], under: [setpx-lua], because: x}]}\n  none: {title: w}\n"
	if err := os.WriteFile(script, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	right := script + ".right: \"y\"\n  setnx: as expected: ok\n  setpx-lua: as expected: ok\n"
	if out, errs, status := run(t, "", "check", script+".right"); out != right+"Nothing to mend.\n" || status != 0 || errs != "" {
		t.Errorf("one variant: exit status %d\n%s%s", status, out, errs)
	}
	out, errs, status := run(t, "", "check", script)
	for _, want := range []string{script + ": \"x\"\n  setpx-lua: as expected: ok\n" + right, script + ".wrong: \"z\"\n  setpx-lua: not as expected: the file expects SW", script + ".none: \"w\"\n  can be run. It expects nothing"} {
		if !strings.Contains(out, want) || status != 1 || errs != "" {
			t.Errorf("exit status %d: %q is not in:\n%s%s", status, want, out, errs)
		}
	}
}

// TestCheckPlaylist: the runs of a playlist are made and compared, and what is wrong with a line is said with its place. A playlist is known by
// its first line, though it be misspelt.
func TestCheckPlaylist(t *testing.T) {
	folder := t.TempDir()
	list, script := filepath.Join(folder, "talk.txt"), filepath.Join(folder, "my.yaml")
	write := func(path, text string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(script, "title: x\nscript:\n  - run: all\nexpect:\n  - {verdict: [SW], under: [setpx-lua], because: x}\n")
	write(list, "# for the class\ntitle Locks\nnaive-del late-release\nsetnx my.yaml\n")
	out, errs, status := run(t, "", "check", list)
	if want := list + ": \"Locks\", 2 to present\n  naive-del late-release: SW DG OV FR\n  setnx " + script + ": ok (the script states none for it; in its \"expect\", - {verdict: ok, under: [setnx]} states that)\nNothing to mend.\n"; out != want || errs != "" || status != 0 {
		t.Errorf("exit status %d: %s\n%s\nwant\n%s", status, errs, out, want)
	}
	write(list, "setpx-lua my.yaml\n")
	if out, _, status = run(t, "", "check", list); status != 1 || !strings.Contains(out, "not as expected: the file expects SW") {
		t.Errorf("exit status %d\n%s", status, out)
	}
	write(list, "naive-dle late-release\nnaive-del late-relaese\nnaive-del mi.yaml\n")
	out, errs, status = run(t, "", "check", list)
	for _, want := range []string{list + `:1: unknown lock "naive-dle"; did you mean "naive-del"?`, list + `:2: unknown scenario "late-relaese"; did you mean "late-release"?`, list + `:3: `, `did you mean "my.yaml"?`} {
		if !strings.Contains(errs, want) || status != 2 || out != "" {
			t.Errorf("exit status %d: %q is not in %s%s", status, want, errs, out)
		}
	}
}

// TestCheckComparesServers: words about servers are listed where other servers store the record under another lock, and a fault that can't be
// made under a lock is said beside the verdict.
func TestCheckComparesServers(t *testing.T) {
	folder := t.TempDir()
	list, script := filepath.Join(folder, "talk.txt"), filepath.Join(folder, "my.yaml")
	const text = `title: Failover
setup: {replicas: 2, lag: 20ms, retry: {tries: 1}}
script:
  - say: A asks for the lock.
  - {run: A, to: work}
  - say: The master dies before any replica knows of it.
  - down: n1
  - failover: {to: n1r1}
  - {run: B, to: work}
expect:
  - {verdict: [SW, DG, OV], under: [setpx-lua], because: x}
  - {verdict: ok, under: [setpx-wait, redlock], because: x}
`
	for path, text := range map[string]string{script: text, list: "setpx-lua my.yaml\nsetpx-wait my.yaml\nredlock my.yaml\n"} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	out, errs, status := run(t, "", "check", list)
	for _, want := range []string{
		"      setpx-lua: before it: A holds the lock; servers n1, n1r1 and n1r2; record on n1\n        after it: B has the lock",
		"      setpx-wait: before it: A holds the lock; servers n1, n1r1 and n1r2; record on n1, n1r1 and n1r2\n        after it: B has been refused",
		"    !! at 10ms: The step at line 8 is not carried out as written under redlock: failover: there is no node \"n1r1\", only n1, n2, n3, n4 and n5. So this run says nothing of redlock under that fault: mend the step, leave the lock out here, ",
		"\n1 thing to mend: 1 line marked !!\n",
	} {
		if status != 1 || !strings.Contains(out, want) {
			t.Errorf("exit status %d, no %q in\n%s%s", status, want, out, errs)
		}
	}
}

// TestCheckOfMisspeltServer: a fault at a server that isn't there is the author's slip. The servers are named, and nothing of the run without
// the fault is put down to the lock or offered to be expected.
func TestCheckOfMisspeltServer(t *testing.T) {
	script := filepath.Join(t.TempDir(), "mis.yaml")
	text := `title: x
setup: {replicas: 1, lag: 20ms}
script:
  - {run: A, to: work}
  - failover: {to: n2r1}
  - {run: B, to: work}
  - run: all
expect:
  - {verdict: [SW, DG, OV], under: [setpx-lua], because: x}
`
	if err := os.WriteFile(script, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	out, errs, status := run(t, "", "check", script)
	if status != 1 || !strings.Contains(out, `there is no node "n2r1", only n1 and n1r1. So this run says nothing of setpx-lua`) || strings.Contains(out, "what this lock does here") || strings.Contains(out, "expect:") {
		t.Errorf("exit status %d:\n%s%s", status, out, errs)
	}
	if err := os.WriteFile(script, []byte(strings.Replace(text, "n2r1", "n1r1", 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, errs, status = run(t, "", "check", script); status != 0 {
		t.Errorf("spelt right: exit status %d:\n%s%s", status, out, errs)
	}
}

// TestCheckSeveral: several files and the scripts and playlists of folders are checked, counted at the end, and the worst is the exit status.
func TestCheckSeveral(t *testing.T) {
	folder := t.TempDir()
	write := func(name, text string) string {
		t.Helper()
		path := filepath.Join(folder, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
		return path
	}
	const script = "title: x\nscript:\n  - run: all\nexpect:\n  - {verdict: VERDICT, under: [setpx-lua], because: x}\n"
	good := write("good.yaml", strings.Replace(script, "VERDICT", "ok", 1))
	write("below/talk.txt", "naive-del late-release\n")
	write("below/notes.txt", "Remember the milk.\n")
	write(".hidden/bad.yaml", "rubbish")
	out, errs, status := run(t, "", "check", folder)
	if status != 0 || errs != "" || !strings.HasSuffix(out, "\n2 files: 2 in order, 0 not, 0 that can't be checked\n") || !strings.Contains(out, "talk.txt: 1 to present\n") {
		t.Errorf("exit status %d: %s%s", status, out, errs)
	}
	wrong := write("wrong.yaml", strings.Replace(script, "VERDICT", "[SW]", 1))
	if out, errs, status = run(t, "", "check", wrong, good); status != 1 || errs != "" || !strings.HasSuffix(out, "\n1 thing to mend: 1 verdict not as expected\n"+good+": \"x\"\n  setpx-lua: as expected: ok\n2 files: 1 in order, 1 not, 0 that can't be checked\n") {
		t.Errorf("exit status %d: %s%s", status, out, errs)
	}
	broken := write("broken.yaml", "titel: x\n")
	if out, errs, status = run(t, "", "check", folder, good); status != 2 || !strings.Contains(errs, "lockstep: "+broken+":1: ") || !strings.HasSuffix(out, "\n5 files: 3 in order, 1 not, 1 that can't be checked\n") {
		t.Errorf("exit status %d: %s%s", status, out, errs)
	}
	if _, errs, status = run(t, "", "check", filepath.Join(folder, ".hidden", ".."), t.TempDir()); status != 2 || !strings.Contains(errs, "has no script (its name ends in .yaml) and no playlist") {
		t.Errorf("exit status %d: %s", status, errs)
	}
}

// TestCheckMinds: the author of a script is told of a question whose "now" is another instant than that of its answer, and of a violation
// before any words; and of neither once they are mended.
func TestCheckMinds(t *testing.T) {
	script := filepath.Join(t.TempDir(), "my.yaml")
	text := `title: x
script:
  - run: A
    to: work
  - pause: A
  - wait: 12s
  - run: B
    to: work
  - ask: Who believes now that it has the lock?
    answer: holders
  - resume: A
  - run: all
expect:
  - {verdict: [SW, OV], under: [setpx-lua], because: x}
`
	mended := strings.NewReplacer("believes now", "believes then", "script:\n", "script:\n  - say: A takes the lock.\n").Replace(text)
	for written, told := range map[string]bool{text: true, mended: false} {
		if err := os.WriteFile(script, []byte(written), 0o600); err != nil {
			t.Fatal(err)
		}
		out, errs, status := run(t, "", "check", script)
		for _, want := range []string{"  ~ " + script + `:9: this question says "now"; it is asked at 0s, while its answer is about 12.004s. Leave it out, or write "then": the moment is put before the question. By then: B is at work.`, " nothing is said before the violation (OV): an audience sees it"} {
			if strings.Contains(out, want) != told || status != 0 || errs != "" {
				t.Errorf("exit status %d: that there is %q: want %t\n%s%s", status, want, told, out, errs)
			}
		}
	}
}

// TestCheckNowOfOneInstant: a question is asked before what decides it, be that in the same instant, and so "now" is wrong there, too.
func TestCheckNowOfOneInstant(t *testing.T) {
	script := filepath.Join(t.TempDir(), "my.yaml")
	text := "title: x\nscript:\n  - say: A takes the lock.\n  - run: A\n    to: work\n  - say: Redis runs out of memory.\n  - evict: n1\n" +
		"  - ask: Whose record does Redis hold now?\n    answer: record\n  - run: A\nexpect:\n  - {verdict: ok, under: [setpx-lua], because: x}\n"
	if err := os.WriteFile(script, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	out, _, _ := run(t, "", "check", script)
	if want := `:8: this question says "now"; it is asked at 2ms, and something happens in that instant before its answer. `; !strings.Contains(out, want) {
		t.Errorf("not %q in\n%s", want, out)
	}
}

// A client that wants the lock and whose command isn't sent has not asked.
func TestCheckSaysThatNothingIsSent(t *testing.T) {
	script := filepath.Join(t.TempDir(), "my.yaml")
	const text = "title: x\nscript:\n  - say: A comes.\n  - run: A\n    to: before acquire first\n  - ask: Who has the lock now?\n    answer: holders\n  - run: all\nexpect:\n  - {verdict: ok, under: [setpx-lua]}\n"
	if err := os.WriteFile(script, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, errs, _ := run(t, "", "check", script); !strings.Contains(out, " By then: A wants the lock; nothing is sent yet.\n") {
		t.Error(out, errs)
	}
}

// TestCheckNowOfSeveralLocks: the wording that is proposed for a question has to be true under every lock of the script, and a refusal is
// said to be no error.
func TestCheckNowOfSeveralLocks(t *testing.T) {
	script := filepath.Join(t.TempDir(), "my.yaml")
	text := `title: x
script:
  - say: A takes the lock.
  - run: A
    to: work
  - pause: A
  - wait: 12s
  - run: B
    STEP
  - ask: Whose record does Redis hold now?
    answer: record
  - resume: A
  - run: all
expect:
  - {verdict: [SW, OV], under: [setpx-lua], because: x}
  - {verdict: ok, under: [setnx], because: x}
`
	for step, want := range map[string]string{
		"within: 9s": `under setnx it is asked at 0s, while its answer is about 12.004s; under setpx-lua it is asked at 0s, while its answer is about 13.006s. Leave it out, or write "then": the moment is put before the question. By then: B has finished.`,
		"to: work":   `Leave it out, or write "then": the moment is put before the question. By then: under setnx B has finished; under setpx-lua B is at work.`,
	} {
		if err := os.WriteFile(script, []byte(strings.Replace(text, "STEP", step, 1)), 0o600); err != nil {
			t.Fatal(err)
		}
		out, _, _ := run(t, "", "check", script)
		if !strings.Contains(out, want) || strings.Count(out, `says "now"`) != 1 {
			t.Errorf("%s: not %q in\n%s", step, want, out)
		}
		if refused := `B was refused, and never came to "work". The script is in order there: it is what this lock does here.`; step == "to: work" && !strings.Contains(out, refused) {
			t.Errorf("%s: not %q in\n%s", step, refused, out)
		}
	}
}

// TestCheckQuestionsTogether: questions stand at one place, of which one is for the verdict, without a word of advice. What follows words
// that tell an outcome under some of the locks only is listed below them, once for a script and its playlist, and what to do about it.
func TestCheckQuestionsTogether(t *testing.T) {
	script := filepath.Join(t.TempDir(), "my.yaml")
	text := `title: x
setup:
  clients: {A: , B: {work: 5s}}
script:
  - say: A is paused at its release, and B comes.
  - ask: What is the worst that comes of this?
    answer: verdict
  - run: A
    to: before release last
  - wait: 12s
  - run: B
    to: work
  - ask: Whose record is it?
    answer: record
  - say: WORDS
  - run: A
  - ask: Who believes that it has it then?
    answer: holders
  - ask: Whose is it then?
    answer: record
  - run: [A, B]
expect:
  - {verdict: FR, under: [naive-del], because: x}
  - {verdict: ok, under: [setpx-lua], because: x}
`
	playlist := filepath.Join(filepath.Dir(script), "talk.txt")
	check := func(words string) (out, errs string, status int) {
		for path, text := range map[string]string{script: strings.Replace(text, "WORDS", words, 1), playlist: "naive-del my.yaml\nsetpx-lua my.yaml\n"} {
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		return run(t, "", "check", script, playlist)
	}
	for _, words := range []string{"A wakes up and goes on.", "If A deletes without a look, B's record goes."} {
		if out, errs, status := check(words); status != 0 || errs != "" || strings.Contains(out, "~ what happens after these words") {
			t.Errorf("%q tells no outcome, exit status %d\n%s%s", words, status, out, errs)
		}
	}
	out, errs, status := check("A's release removes B's record.")
	if status != 0 || errs != "" || strings.Count(out, "~ what happens after these words differs between the locks, ") != 1 {
		t.Errorf("exit status %d\n%s%s", status, out, errs)
	}
	for _, want := range []string{
		"    " + script + ":15: \"A's release removes B's record.\" (\"removes\")\n      naive-del: FR: A's DEL removes B's record\n      setpx-lua: A's release fails: ",
		"Those that are may stay; ",
	} {
		if strings.Count(out, want) != 1 {
			t.Errorf("not once %q in\n%s", want, out)
		}
	}
	if strings.Contains(out, ":5: \"") {
		t.Errorf("words after which the same happens are listed:\n%s", out)
	}
}

// A reason that is told of several locks is compared, and one line says where a question is asked that its place would answer.
func TestCheckComparesReasonsAndPlacesQuestions(t *testing.T) {
	script := filepath.Join(t.TempDir(), "my.yaml")
	text := `title: t
shows: s
setup:
  clients: [A, B]
script:
  - say: A comes.
  - run: A
    to: release
  - say: B comes.
  - ask: Whose record is it?
    answer: record
  - until: 15s
  - run: [A, B]
  - ask: How bad is it?
    answer: verdict
expect:
  - verdict: ok
    under: [setpx-lua, setnx]
    because: B is refused.
`
	if err := os.WriteFile(script, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	out, errs, _ := run(t, "", "check", script)
	for _, want := range []string{":10: slide 1, after the words at line 6 and before those at line 9 (answer: A's record, as of 1.002s)\n", ":14: slide 3, before the last steps above it (answer: nothing goes wrong)\n", ":19: \"B is refused.\" (\"refused\")\n"} {
		if strings.Count(out, script+want)+strings.Count(out, want) == 0 {
			t.Errorf("no %q in\n%s%s", want, out, errs)
		}
	}
}

// Of a playlist, the slides are those of its presentation: a question that an earlier run has settled is asked no more, and has no slide. Of two that
// are asked in another order than they are written, both are listed.
func TestCheckCountsThePlaylistsSlides(t *testing.T) {
	dir := t.TempDir()
	const own = `title: t
setup:
  clients: [A, B]
script:
  - say: A comes.
  - run: A
    to: work
  - ask: Whose record is it?
    answer: record
  - pause: A
  - until: 15s
  - say: B comes.
  - run: B
    within: 5s
  - ask: Whose record is it then?
    answer: record
  - resume: A
  - run: [A, B]
  - say: Half a minute later.
  - until: 45s
  - ask: And whose record at last?
    answer: record
  - ask: How bad is it?
    answer: verdict
`
	for name, text := range map[string]string{"own.yaml": own, "talk.txt": "setnx own.yaml\nsetpx-lua own.yaml\n", "alone.txt": "setpx-lua own.yaml\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, want := range map[string][]string{
		"alone.txt": {"own.yaml:21: slide 7, after the question at line 23 (answer", "own.yaml:23: slide 4, after the words at line 12 and before those at line 19 (answer: an update is lost, or stored too late)\n"},
		"talk.txt":  {"own.yaml:23: under setnx slide 6, after the words at line 12 and before those at line 19 (answer: nothing goes wrong); under setpx-lua slide 3, after the words at line 12 and before those at line 19 (answer: an update is lost, or stored too late)\n"},
	} {
		out, errs, _ := run(t, "", "check", filepath.Join(dir, name))
		for _, w := range want {
			if !strings.Contains(out, w) {
				t.Errorf("%s: no %q in\n%s%s", name, w, out, errs)
			}
		}
	}
}

// A lock that needs more replicas than the script has runs with more servers than its author thought of.
func TestCheckCountsReplicas(t *testing.T) {
	script := filepath.Join(t.TempDir(), "one-replica.yaml")
	text := `title: t
shows: s
setup:
  clients: [A]
  replicas: REPLICAS
script:
  - say: n1 has its replicas.
  - run: all
expect:
  - {verdict: ok, under: [setpx-lua, setpx-wait], because: x}
`
	for replicas, told := range map[string]bool{"1": true, "2": false} {
		if err := os.WriteFile(script, []byte(strings.Replace(text, "REPLICAS", replicas, 1)), 0o600); err != nil {
			t.Fatal(err)
		}
		out, _, _ := run(t, "", "check", script)
		const note = "setpx-wait needs 2 replicas and has them here; the script asks for 1 (replicas: 1)"
		if strings.Contains(out, note) != told || strings.Contains(out, "setpx-lua needs") {
			t.Errorf("replicas: %s: %q told: %t, expected in\n%s", replicas, note, told, out)
		}
	}
}

// TestCheckMarksWhatIsToBeMended: what is marked !! is counted in the last line and is exit status 1, though the verdict is as expected, and goes
// away by each of the ways that the line names; a note is exit status 0.
func TestCheckMarksWhatIsToBeMended(t *testing.T) {
	script := filepath.Join(t.TempDir(), "my.yaml")
	const text = `title: x
setup:
  clients: {A: , B: {work: 5s}}
script:
  - say: A takes the lock.
  - run: A
    to: work
STEPS
  - run: B
    to: read
  - run: all
  - ask: What comes of it?
    answer: verdict
expect:
  - includes: VERDICT
    under: [watchdog]
`
	for _, tt := range []struct {
		steps, verdict string
		status         int
		last           string
	}{
		{"  - wait: 40s", "[SW]", 1, "\n1 thing to mend: 1 line marked !!\n"},
		{"  - wait: 40s", "[FR]", 1, "\n2 things to mend: 1 verdict not as expected, 1 line marked !!\n"},
		{"  - pause: A\n  - wait: 40s\n  - resume: A", "[SW]", 0, "\nNothing to mend.\n"},
		{"  - run: A\n    for: 40s", "[]", 0, "\nNothing to mend.\n"},
	} {
		if err := os.WriteFile(script, []byte(strings.NewReplacer("STEPS", tt.steps, "includes: []", "verdict: ok", "VERDICT", tt.verdict).Replace(strings.Replace(text, "VERDICT", tt.verdict, 1))), 0o600); err != nil {
			t.Fatal(err)
		}
		out, errs, status := run(t, "", "check", script)
		if status != tt.status || errs != "" || !strings.HasSuffix(out, tt.last) || strings.Contains(out, "!!") != (tt.status == 1) || strings.Contains(out, " to mend:") != (tt.status == 1) {
			t.Errorf("%q, %s: exit status %d\n%s%s", tt.steps, tt.verdict, status, out, errs)
		}
	}
}

func TestCheckRefusals(t *testing.T) {
	rubbish := filepath.Join(t.TempDir(), "rubbish")
	if err := os.WriteFile(rubbish, []byte("rubbish"), 0o600); err != nil {
		t.Fatal(err)
	}
	old := filepath.Join(t.TempDir(), "old")
	if err := os.WriteFile(old, []byte("lockstep certificate 0\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	const kinds = "a script (its name ends in .yaml), a playlist (each line is a lock and a scenario, as in lockstep present --help) or a certificate (which lockstep explore --certificate writes)"
	explore := []string{"explore", "setpx-lua", "--codes", "DG", "--certificate", filepath.Join(t.TempDir(), "x")}
	tests := []struct {
		args []string
		want string
	}{
		{[]string{"check"}, `check needs a FILE (see lockstep check --help)`},
		{[]string{"check", "nowhere"}, `there is no file nowhere; what can be checked is ` + kinds},
		{[]string{"check", "chekc.go"}, `there is no file chekc.go; did you mean "check.go"?; what can be checked is ` + kinds},
		{[]string{"check", "gone.yaml.saved"}, `cannot read the scenario gone.yaml: no such file or directory`},
		{[]string{"check", rubbish}, rubbish + ` can't be checked: it is neither ` + strings.Replace(kinds, " or a cert", " nor a cert", 1)},
		{[]string{"check", old}, old + `: the certificate has the format "lockstep certificate 0", and this lockstep reads "lockstep certificate 1": write it again with lockstep explore --certificate`},
		{[]string{"check", old, "--part", "5"}, `--part: "5" is no percentage from above 0% to 100%`},
		{[]string{"check", old, "--workers", "-1"}, `--workers: it takes one or more, or 0 for one a core, and not -1`},
		{explore, `a certificate is of a search without bounds: it takes --cycles any and pause=any`},
		{append(explore, "--cycles", "any", "--faults", "pause=any,crash=1"), `a certificate can't count crashes of clients: it takes none or any number of them`},
	}
	for _, tt := range tests {
		out, errs, status := run(t, "", tt.args...)
		if want := "lockstep: " + tt.want + "\n"; errs != want || status != 2 || out != "" {
			t.Errorf("lockstep %s: exit status %d\n got %s\nwant %s\n out %q", strings.Join(tt.args, " "), status, errs, want, out)
		}
	}
}

// TestNoCertificate: a search that finds something, or doesn't close, says so and leaves the
// file alone.
func TestNoCertificate(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x")
	_, errs, status := run(t, "", strings.Fields("explore get-then-del --ttl 3s --cycles any --faults pause=any --codes FR --certificate "+path)...)
	if want := "lockstep: there is no certificate, so " + path + " is not written: the search has found FR\n"; status != 1 || errs != want {
		t.Errorf("exit status %d\n%s", status, errs)
	}
	if _, err := os.Stat(path); err == nil {
		t.Error("the file was written")
	}
}

// Of a playlist it is said which question a later run asks no more, and where else a lock breaks that has withstood one; of a run that is
// broken, perhaps by the script, that stands beside the verdict.
func TestCheckOfRunsInARow(t *testing.T) {
	dir := t.TempDir()
	const own = "title: Own\nsetup:\n  clients: {A: {work: 5s}, B: }\n  replicas: 2\n  lag: 20ms\nscript:\n  - say: A asks.\n  - run: A\n    to: read\n  - down: n1\n  - failover: {to: n1r1}\n  - say: B asks.\n  - run: B\n    to: work\n  - ask: Who has it?\n    answer: holders\n  - run: all\n"
	for name, text := range map[string]string{
		"held.yaml": own, "once.yaml": strings.Replace(own, "  replicas", "  retry: {tries: 1}\n  replicas", 1),
		"talk.txt": "setpx-lua once.yaml\nsetpx-lua once.yaml\nsetpx-wait once.yaml\nsetpx-wait held.yaml\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	out, errs, _ := run(t, "", "check", filepath.Join(dir, "talk.txt"))
	for want, times := range map[string]int{
		": not asked here, as an earlier run has asked it and shown the same answer.": 1,
		"earlier, above line": 0, // nothing to do about that
		"~ setpx-wait breaks in other runs with the same faults (down, failover): failover-wait (DG OV).": 1,
		"; but a step of the script may be why, and not the lock\n    !! at ":                             1,
	} {
		if got := strings.Count(out, want); got != times {
			t.Errorf("%q: %d times instead of %d\n%s%s", want, got, times, out, errs)
		}
	}
}

// A question whose words keep it to its own moment is open under one of its locks while a violation tells its answer: its author learns of it.
func TestCheckSaysWhatTellsAnAnswer(t *testing.T) {
	script := filepath.Join(t.TempDir(), "my.yaml")
	const text = `title: t
setup:
  clients: {A: , B: {insist: 2s}}
script:
  - say: A's process is killed, and B comes.
  - run: A
    to: after acquire first
  - crash: A
  - run: B
    for: 30s
  - ask: Whose record is it half a minute later?
    answer: record
expect:
  - {verdict: [PD], under: [setnx-expire]}
  - {includes: [BD], under: [setpx-lua]}
`
	if err := os.WriteFile(script, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	out, errs, code := run(t, "", "check", script)
	for _, want := range []string{
		":11: this question is open until 30.001s, and the bounded blocking (BD) at 10.002s, a whole lease before, may tell its answer: see whether it does",
	} {
		if strings.Count(out, script+want) != 1 || code != exitOK {
			t.Errorf("no %q, or several, in\n%s%s", want, out, errs)
		}
	}
}

// So many steps lead into the middle of one lock's acquisition, and before another's first command: a crash there proves nothing of that lock.
func TestCheckSaysOfACrashBeforeAllCommands(t *testing.T) {
	script := filepath.Join(t.TempDir(), "my.yaml")
	const text = `title: t
setup:
  clients: [A, B]
script:
  - say: A comes.
  - run: A
    %s
  - crash: A
  - say: A minute later B comes.
  - wait: 60s
  - run: B
expect:
  - {verdict: [PD], under: [setnx-expire]}
  - {verdict: ok, under: [setpx-lua]}
`
	for to, times := range map[string]int{"steps: 3": 1, "to: after acquire first": 0} {
		if err := os.WriteFile(script, fmt.Appendf(nil, text, to), 0o600); err != nil {
			t.Fatal(err)
		}
		out, errs, code := run(t, "", "check", script)
		if strings.Count(out, "A crashes before it has sent a command, so this run says nothing of setpx-lua") != times || strings.Contains(out, "nothing of setnx-expire") || code != exitOK {
			t.Errorf("%s:\n%s%s", to, out, errs)
		}
	}
}

// A question for a moment in what a client does, below the step that runs it to its end, is asked of that end: its author learns of it, and how to
// stop the step earlier.
func TestCheckSaysThatAQuestionIsOfTheEndOfAStep(t *testing.T) {
	script := filepath.Join(t.TempDir(), "my.yaml")
	const text = `title: t
setup:
  clients: {A: {work: 5s}, B: {work: 50s}}
script:
  - say: A takes the lock.
  - run: A
    to: work
  - say: B asks, later.
  - wait: 12s
  - run: B
%s  - ask: Who has the lock once B has asked?
    answer: holders
  - say: A goes on.
  - run: A
expect:
  - {verdict: [SW, OV], under: [naive-del, setpx-lua]}
`
	for to, times := range map[string]int{"": 2, "    to: work\n": 0} {
		if err := os.WriteFile(script, fmt.Appendf(nil, text, to), 0o600); err != nil {
			t.Fatal(err)
		}
		out, errs, _ := run(t, "", "check", script)
		if strings.Count(out, `, after B has ended: this question says "once B has asked", and at 12.003s the holders or the records are others.`) != times {
			t.Errorf("%q:\n%s%s", to, out, errs)
		}
	}
}

// A question that says how much later it is, above the step in which that time passes, is marked: the answer shown is another moment's.
func TestCheckMarksAQuestionBeforeItsTime(t *testing.T) {
	script := filepath.Join(t.TempDir(), "my.yaml")
	const ask = "  - ask: Whose record does Redis have, a minute later?\n    answer: record\n"
	const text = `title: t
setup:
  clients: {A: , B: }
  ttl: 5s
script:
  - say: A takes the lock and crashes.
  - run: A
    to: work
  - crash: A
%s  - say: A minute goes by.
  - wait: 60s
%s  - say: B comes.
  - run: B
expect:
  - {verdict: ok, under: [setpx-lua]}
`
	for _, tt := range []struct {
		above, below string
		code         int
	}{{ask, "", exitOccurred}, {"", ask, exitOK}} {
		if err := os.WriteFile(script, fmt.Appendf(nil, text, tt.above, tt.below), 0o600); err != nil {
			t.Fatal(err)
		}
		out, errs, code := run(t, "", "check", script)
		if marked := strings.Contains(out, `!! `+script+`:10: asked of 2ms, and this question says "a minute later": at 60.002s the holders or the records are others`); marked != (tt.above != "") || code != tt.code {
			t.Errorf("%q: exit status %d:\n%s%s", tt.above, code, out, errs)
		}
	}
}

// A question for the moment at which a client gives up is asked of that moment, below the step that runs it to its end: there is no note.
func TestCheckLetsAQuestionBeOfTheEnd(t *testing.T) {
	script := filepath.Join(t.TempDir(), "my.yaml")
	const text = `title: t
setup:
  clients: [A]
script:
  - say: A asks, and never hears of it.
  - lose: {reply: A}
  - run: A
  - ask: Whose record does Redis have once A has given up?
    answer: record
expect:
  - {verdict: [PD, FN], under: [setnx]}
`
	if err := os.WriteFile(script, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, errs, code := run(t, "", "check", script); strings.Contains(out, "this question says") || code != exitOK {
		t.Errorf("exit status %d:\n%s%s", code, out, errs)
	}
}

// A question that says "now" is said to be asked at the instant that its slide shows, and not at that of the last event before it.
func TestCheckNamesTheInstantOfTheSlide(t *testing.T) {
	script := filepath.Join(t.TempDir(), "my.yaml")
	const text = "title: t\nsetup: {clients: {A: , B: {work: 5s}}}\nscript:\n  - say: A stops.\n  - {run: A, to: release}\n  - until: 12s\n  - say: B comes.\n  - {run: B, to: work}\n" +
		"  - ask: Who believes now that it has the lock?\n    answer: holders\nexpect:\n  - {verdict: [FR], under: [naive-del]}\n"
	if err := os.WriteFile(script, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, errs, _ := run(t, "", "check", script); !strings.Contains(out, "it is asked at 12s, while its answer is about 12.002s") {
		t.Errorf("%s%s", out, errs)
	}
}

// A question for what a client has done, above all that it does, is asked before that: its author learns of it.
func TestCheckSaysThatAQuestionComesTooEarly(t *testing.T) {
	script := filepath.Join(t.TempDir(), "my.yaml")
	const text = `title: t
script:
  - say: A takes the lock, and the reply is lost.
  - lose: {reply: A}
  - run: A
    to: after acquire first
  - say: Two seconds later B asks.
  - wait: 2s
%s  - ask: Whose record is in Redis when B has asked?
    answer: record
  - say: Then the rest.
  - run: B
expect:
  - {verdict: [FN, BD], under: [setpx-get]}
`
	for step, times := range map[string]int{"": 1, "  - run: B\n    to: after acquire first\n": 0} {
		if err := os.WriteFile(script, fmt.Appendf(nil, text, step), 0o600); err != nil {
			t.Fatal(err)
		}
		out, errs, _ := run(t, "", "check", script)
		if strings.Count(out, `this question says "when B has asked": B does nothing before a step below the question.`) != times {
			t.Errorf("%q:\n%s%s", step, out, errs)
		}
	}
}
