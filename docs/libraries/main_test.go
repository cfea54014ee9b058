package libraries

import (
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime/debug"
	"testing"

	"lockstep/sim/spawn"
)

// TestMain has the collector run a quarter as often: a search makes thousands of clients, which all
// are garbage soon.
func TestMain(m *testing.M) {
	debug.SetGCPercent(400)
	os.Exit(m.Run())
}

// share is where a second process puts what it has found.
var share = flag.String("share", "", "make the searches that a second process makes, and put their rows into this file")

// rows are what the page says of a search.
type rows struct{ Row, Least string }

// second runs the searches of a second process, and returns how to wait for what it has found, by
// name. A process moves one bubble at a time, because all of them draw from one source of random
// numbers; so two of them are twice as fast.
func second(t *testing.T) (wait func() map[string]rows) {
	folder, err := spawn.New("lockstep-libraries-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := folder.Close(); err != nil {
			t.Error(err)
		}
	})
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	answer := folder.Path("rows.json")
	cmd := exec.Command(program, "-test.run=^TestPage$", "-share", answer, fmt.Sprintf("-update=%t", *update)) //nolint:gosec // this very program
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = cmd.Stdout
	process, err := folder.Start(cmd)
	if err != nil {
		t.Fatal(err)
	}
	return func() (found map[string]rows) {
		said, err := io.ReadAll(out)
		if err != nil {
			t.Fatal(err)
		}
		process.Kill() // it has ended
		text, err := os.ReadFile(answer)
		if err != nil {
			t.Fatalf("the second process has failed: %s\n%s", err, said)
		}
		if err := json.Unmarshal(text, &found); err != nil {
			t.Fatal(err)
		}
		return found
	}
}

// shares makes the searches of the second process.
func shares(t *testing.T) {
	found := map[string]rows{}
	for i := range searches {
		if s := &searches[i]; s.second && !s.left() {
			found[s.name] = rowsOf(t, s)
		}
	}
	text, err := json.Marshal(found)
	if err != nil {
		t.Fatal(err)
	}
	if t.Failed() {
		return // without a file, which says so
	}
	if err := os.WriteFile(*share, text, 0o600); err != nil {
		t.Fatal(err)
	}
}
