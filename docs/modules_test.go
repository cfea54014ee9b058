package docs_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/semver"
)

// TestModulesAgree: a module of its own that uses this checkout asks for no older version of
// anything than the checkout does; else the go command refuses to work in it ("updates to go.mod
// needed"), and only there.
func TestModulesAgree(t *testing.T) {
	root := filepath.Join("..", "go.mod")
	_, main := requirements(t, root)
	seen := 0
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || d.Name() != "go.mod" || path == root {
			return err
		}
		file, versions := requirements(t, path)
		if !replaces(file, "lockstep") {
			return nil
		}
		seen++
		for module, version := range versions {
			if semver.Compare(version, main[module]) < 0 {
				t.Errorf("%s requires %s %s, and %s %s: go mod tidy there", path, module, version, root, main[module])
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if seen == 0 {
		t.Error("no module of its own was found")
	}
}

// requirements reads a go.mod, and the version of each module that it requires.
func requirements(t *testing.T, path string) (*modfile.File, map[string]string) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	file, err := modfile.Parse(path, text, nil)
	if err != nil {
		t.Fatal(err)
	}
	versions := map[string]string{}
	for _, r := range file.Require {
		versions[r.Mod.Path] = r.Mod.Version
	}
	return file, versions
}

// replaces says whether a module uses another one from a folder.
func replaces(file *modfile.File, module string) bool {
	for _, r := range file.Replace {
		if r.Old.Path == module {
			return true
		}
	}
	return false
}
