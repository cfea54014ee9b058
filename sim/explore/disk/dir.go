package disk

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// The files of a directory, besides its runs.
const (
	manifestName = "search.json"
	tablesName   = "tables"
	lockName     = "lock"
	runSuffix    = ".run"
)

// format is the version of all files.
const format = "1"

// Claim is something on which a search depends, such as its lock or one of its bounds. A
// directory has a search of one set of claims.
type Claim struct{ Name, Value string }

// Dir is a directory that has, or is to have, a search on disk. Other processes are kept out
// of it until Close.
type Dir struct {
	path     string
	claims   []Claim
	guard    *os.File
	manifest *manifest // of the last level; nil if there is none
	left     bool      // by another process, and nothing has been done since
	set      *Set      // that is open; nil if none is
}

// manifest is written at the end of each level. Everything that a search needs in order
// to go on is in it, or in files that it names.
type manifest struct {
	Format   string
	Claims   []Claim
	Round    json.RawMessage // see Begin
	Width    int
	Tables   int64 // bytes of that file that count
	Frontier string
	Runs     []string
	Files    int   // that have been numbered so far
	States   int64 // in all runs, those of the frontier included
	Level    json.RawMessage
}

// Open opens a directory for a search with these claims, and makes it if there is none. It
// fails if the directory has a search with other claims, of which it names the first that
// differs; if it has anything else; and if another process works in it.
func Open(path string, claims []Claim) (d *Dir, err error) {
	if err := os.MkdirAll(path, 0o755); err != nil { //nolint:gosec // what is in it is no secret
		return nil, err
	}
	d = &Dir{path: path, claims: append([]Claim{{"format", format}}, claims...)}
	if err := d.checkOwn(); err != nil {
		return nil, err
	}
	if d.guard, err = guard(d.file(lockName)); err != nil {
		return nil, fmt.Errorf("%s: another process searches there: %w", path, err)
	}
	if d.manifest, err = d.read(); err != nil {
		return nil, errors.Join(err, d.guard.Close())
	}
	d.left = d.manifest != nil
	return d, nil
}

func (d *Dir) file(name string) string { return filepath.Join(d.path, name) }

// read reads the manifest, if there is one, and checks whose it is.
func (d *Dir) read() (*manifest, error) {
	data, err := os.ReadFile(d.file(manifestName))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil //nolint:nilnil // there is neither
	}
	if err != nil {
		return nil, err
	}
	m := new(manifest)
	if err := json.Unmarshal(data, m); err != nil {
		return nil, fmt.Errorf("%s is damaged: %w; remove the directory, and begin again", d.file(manifestName), err)
	}
	was := append([]Claim{{"format", m.Format}}, m.Claims...)
	for i, c := range d.claims {
		switch {
		case i < len(was) && was[i] == c:
		case i < len(was) && was[i].Name == c.Name:
			return nil, fmt.Errorf("%s has an unfinished search with another %s: %s, and not %s; name another directory, or remove this one", d.path, c.Name, was[i].Value, c.Value)
		default:
			return nil, fmt.Errorf("%s has an unfinished search that says nothing of the %s; name another directory, or remove this one", d.path, c.Name)
		}
	}
	return m, nil
}

// checkOwn fails if there are files that aren't of a search: the directory was named by mistake.
func (d *Dir) checkOwn() error {
	entries, err := os.ReadDir(d.path)
	for _, e := range entries {
		if !own(e.Name()) {
			return fmt.Errorf("%s has other files, such as %s: a search on disk takes a directory of its own", d.path, e.Name())
		}
	}
	return err
}

// own reports whether a search gives files such a name.
func own(name string) bool {
	return name == manifestName || name == manifestName+".new" || name == tablesName || name == lockName || strings.HasSuffix(name, runSuffix)
}

// Left reports whether another process has left a search there that was cut off, to be resumed.
func (d *Dir) Left() bool { return d.left }

// Round reads the value that Begin was given for the round that was left.
func (d *Dir) Round(into any) error { return json.Unmarshal(d.manifest.Round, into) }

// Level reads the value given at the end of the last level of the search that was left.
func (d *Dir) Level(into any) error { return json.Unmarshal(d.manifest.Level, into) }

// commit has the directory say that a level has ended. When it returns, that is on disk; if it
// fails, the level before counts.
func (d *Dir) commit(m *manifest) error {
	m.Format, m.Claims = format, d.claims[1:]
	data, err := json.MarshalIndent(m, "", "\t")
	if err != nil {
		return err
	}
	if err := writeSynced(d.file(manifestName+".new"), data); err != nil {
		return err
	}
	if err := os.Rename(d.file(manifestName+".new"), d.file(manifestName)); err != nil {
		return err
	}
	d.manifest = m
	return syncDir(d.path)
}

func writeSynced(path string, data []byte) error {
	f, err := os.Create(path) //nolint:gosec // a file of the search's own
	if err != nil {
		return err
	}
	_, err = f.ReadFrom(bytes.NewReader(data))
	return errors.Join(err, f.Sync(), f.Close())
}

// sweep removes all files of a search that the manifest doesn't name.
func (d *Dir) sweep() error {
	entries, err := os.ReadDir(d.path)
	if err != nil {
		return err
	}
	for _, e := range entries {
		name := e.Name()
		keep := name == lockName || d.manifest != nil && (name == manifestName || name == tablesName || name == d.manifest.Frontier || slices.Contains(d.manifest.Runs, name))
		if own(name) && !keep {
			err = errors.Join(err, os.Remove(d.file(name)))
		}
	}
	return err
}

// Remove removes the search, which has come to its end, and closes the directory. It removes
// the directory, too, if nothing is left in it.
func (d *Dir) Remove() error {
	err := d.CloseSet()
	d.manifest = nil
	err = errors.Join(err, d.sweep(), os.Remove(d.file(lockName)), d.Close())
	_ = os.Remove(d.path) // if there is anything else, it stays
	return err
}

// Close closes the set, and lets other processes have the directory. The search can be resumed
// from the end of its last level.
func (d *Dir) Close() error { return errors.Join(d.CloseSet(), d.guard.Close()) }

// CloseSet closes the set's files, and gives up its memory. The directory stays open.
func (d *Dir) CloseSet() (err error) {
	if d.set != nil {
		err, d.set = d.set.close(), nil
	}
	return err
}

// Program returns a digest of the program that runs. Only the same build reads a program's
// files: another may know other states, or pack them otherwise.
func Program() (digest string, err error) {
	path, err := os.Executable()
	if err != nil {
		return "", err
	}
	f, err := os.Open(path) //nolint:gosec // it is this program
	if err != nil {
		return "", err
	}
	defer f.Close() //nolint:errcheck // nothing is written
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil))[:12], nil
}
