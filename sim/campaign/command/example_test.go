package command

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"lockstep/sim/campaign/job"
	"lockstep/sim/campaign/plan"
	"lockstep/strategies"
)

// The files that the documents show are campaigns.
func TestFilesOfTheDocuments(t *testing.T) {
	locks, err := job.Catalogue()
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{"../testdata/nightly.yaml", "../../../docs/scale/measure.yaml"} {
		if c, err := plan.Load(file, locks, "e"); err != nil || len(c.Jobs) < 40 {
			t.Errorf("%v", err)
		}
	}
}

// A module's own locks are searched as those of the catalogue are.
func TestLocksOfAModule(t *testing.T) {
	mine, _ := strategies.Get("setpx-lua")
	mine.Name = "mine"
	own, err := job.Module(fstest.MapFS{"lock.go": {Data: []byte("package mine")}}, mine)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	file := filepath.Join(dir, "c.yaml")
	if err := os.WriteFile(file, []byte("campaign: mine\nlocks: [mine, setpx-lua]\nsearches:\n  cycles: 1\n  codes: DG,FR,PD\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var out, errs strings.Builder
	status := execute(t.Context(), []string{"run", file, "--results", filepath.Join(dir, "results")}, &out, &errs, own)
	if status != exitOK || !strings.Contains(out.String(), "\nmine (code "+own[0].Code+")\n  DG   double grant: holds in 1 search") {
		t.Errorf("exit status %d\n%s%s", status, &out, &errs)
	}
	twin := own
	twin[0].Name = "setnx"
	errs.Reset()
	if status := execute(t.Context(), []string{"plan", file}, &out, &errs, twin); status != exitUsage || !strings.Contains(errs.String(), "two locks are called setnx") {
		t.Errorf("exit status %d\n%s", status, &errs)
	}
}
