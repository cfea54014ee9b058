package job

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"go/parser"
	"go/token"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"time"
)

// Version names the code that carries out jobs.
type Version struct {
	// Engine is part of each job's name. It is the digest of the sources of all packages that
	// the search and the random schedules are made of, except the locks, and of the modules that
	// they use. Where this program can't see those sources, or they have changed since it was
	// built, it is the digest of the program.
	Engine string
	// Build is the digest of the program. A worker takes jobs of its own build only.
	Build string
}

// These decide what an engine finds, besides its own sources.
var engineModules = []string{"github.com/alicebob/miniredis/v2", "github.com/redis/go-redis/v9", "github.com/yuin/gopher-lua"}

// Current returns the version of this program. It fails if the program can't be read.
func Current() (Version, error) {
	path, err := os.Executable()
	if err != nil {
		return Version{}, err
	}
	f, err := os.Open(path)
	if err != nil {
		return Version{}, err
	}
	defer f.Close() //nolint:errcheck // nothing is written
	info, err := f.Stat()
	if err != nil {
		return Version{}, err
	}
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return Version{}, err
	}
	v := Version{Build: hex.EncodeToString(h.Sum(nil))[:16]}
	v.Engine = "build-" + v.Build
	if root, found := sourceRoot(); found {
		if of, err := engineOf(root, info.ModTime()); err == nil {
			v.Engine = of
		}
	}
	return v, nil
}

// sourceRoot is the folder of the sources that this program was built from, if it is still there.
func sourceRoot() (string, bool) {
	_, file, _, known := runtime.Caller(0)
	if !known || !filepath.IsAbs(file) {
		return "", false
	}
	root := filepath.Join(filepath.Dir(file), "..", "..", "..")
	mod, err := os.ReadFile(filepath.Join(root, "go.mod"))
	return root, err == nil && strings.HasPrefix(string(mod), "module lockstep\n")
}

// engineOf is the digest of the sources below a root, none of which may be newer than the
// program.
func engineOf(root string, built time.Time) (string, error) {
	w := walk{root: root, built: built, seen: map[string]bool{"strategies": true}}
	for _, dir := range []string{"sim/explore", "sim/explore/trials", "sim/explore/report", "sim/campaign/job"} {
		if err := w.visit(dir); err != nil {
			return "", err
		}
	}
	slices.Sort(w.parts)
	w.parts = append(w.parts, runtime.Version())
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, d := range info.Deps {
			if slices.Contains(engineModules, d.Path) {
				w.parts = append(w.parts, d.Path+" "+d.Version+" "+d.Sum)
			}
		}
	}
	return digest([]byte(strings.Join(w.parts, "\x00")))[:16], nil
}

// walk visits packages, and those that they import.
type walk struct {
	root  string
	built time.Time
	seen  map[string]bool
	parts []string
}

func (w *walk) visit(dir string) error {
	if w.seen[dir] {
		return nil
	}
	w.seen[dir] = true
	entries, err := os.ReadDir(filepath.Join(w.root, filepath.FromSlash(dir)))
	if err != nil {
		return err
	}
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), ".go") || strings.HasSuffix(e.Name(), "_test.go") {
			continue
		}
		if err := w.file(dir + "/" + e.Name()); err != nil {
			return err
		}
	}
	return nil
}

func (w *walk) file(name string) error {
	path := filepath.Join(w.root, filepath.FromSlash(name))
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if info.ModTime().After(w.built) {
		return fmt.Errorf("%s is newer than this program", name)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	w.parts = append(w.parts, name+"\n"+string(text))
	f, err := parser.ParseFile(token.NewFileSet(), name, text, parser.ImportsOnly)
	if err != nil {
		return err
	}
	for _, i := range f.Imports {
		if dir, ours := strings.CutPrefix(strings.Trim(i.Path.Value, `"`), "lockstep/"); ours {
			if err := w.visit(dir); err != nil {
				return err
			}
		}
	}
	return nil
}
