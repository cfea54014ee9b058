package scenarios

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"lockstep/strategies"
)

var update = flag.Bool("update", false, "rewrite the golden traces")

// divider stands between two runs in a golden file.
var divider = strings.Repeat("=", 100) + "\n"

// Beside each script stands what it gives under every strategy, to be read in
// review: go test ./scenarios -run Golden -update writes it anew.
func TestGolden(t *testing.T) {
	for _, s := range All() {
		t.Run(s.Name, func(t *testing.T) {
			var runs []string
			for _, st := range strategies.All() {
				runs = append(runs, plain(t, cell{s.Name, st.Name}.of(t)))
			}
			file, got := s.Name+".trace", strings.Join(runs, divider)
			if *update {
				if err := os.WriteFile(file, []byte(got), 0o644); err != nil { //nolint:gosec // a document is for everybody
					t.Fatal(err)
				}
				return
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatalf("%v\ngo test ./scenarios -run Golden -update", err)
			}
			differ(t, "scenarios/"+file+" is not what the run gives (go test ./scenarios -run Golden -update)", got, string(want))
		})
	}
}

// No golden file outlives its script.
func TestGoldenHasAScript(t *testing.T) {
	files, err := filepath.Glob("*.trace")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if _, err := Find(strings.TrimSuffix(file, ".trace")); err != nil {
			t.Errorf("scenarios/%s: %v", file, err)
		}
	}
}
