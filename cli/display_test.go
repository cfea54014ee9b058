package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A script that can be read, but not run, opens no player: the error is the shell's.
func TestScriptThatCannotBeRunOpensNothing(t *testing.T) {
	const head = "title: x\nscript:\n  - run: A\n"
	for text, want := range map[string]string{
		head + "  - until: 500ms\n": "late.yaml:4: ",
		head + "  - until: 40s\n":   "",
	} {
		path := filepath.Join(t.TempDir(), "late.yaml")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		o, err := playable("naive-del", path, 1)
		switch {
		case want == "" && (err != nil || o.Scenario == nil):
			t.Errorf("%q: %v", text, err)
		case want != "" && (err == nil || !strings.Contains(err.Error(), want)):
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}
