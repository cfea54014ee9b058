package cli

import (
	"embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"lockstep/cli/module"
)

// starter is the lock and its test that a new module begins with, and the script that a new scenario
// begins with. The lock and the test are a package of this module, too, so that they are compiled,
// checked and tested with it.
//
//go:embed starter/lock.go starter/lock_test.go starter/scenario.yaml
var starter embed.FS

func newNew() *cobra.Command {
	var sources string
	cmd := &cobra.Command{
		Use:   "new DIR|FILE.yaml",
		Short: "Write something of your own to begin with: a lock with its test, or a scenario",
		Long: `Write a scenario to begin with into FILE.yaml, with comments that say what its parts
are; or write a Go module into DIR, which must be empty or not exist yet: lock.go, a lock on
one Redis server as in production; lock_test.go, which has every schedule of it
searched; go.mod and go.sum. In it go test passes at once, and fails with the
schedule as soon as a line of the lock is broken.

The module needs the sources of Lockstep, which is not published: its go.mod has a
replace line with their folder. They are looked for above the working directory
and then where this program was built; --lockstep says where else they are.`,
		Example: `  lockstep new my.yaml && lockstep run naive-del my.yaml
  lockstep new mylock && cd mylock && go test -v
  lockstep new ~/src/mylock --lockstep ~/src/lockstep`,
		Args: exactly("DIR or a FILE.yaml"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if ext := strings.ToLower(filepath.Ext(args[0])); ext == ".yaml" || ext == ".yml" {
				return writeScenario(cmd.OutOrStdout(), args[0])
			}
			if args[0] == "" {
				return errors.New("the name is empty: it is a DIR or a FILE.yaml, as in lockstep new my.yaml")
			}
			if name, is := strings.CutSuffix(args[0], filepath.Ext(args[0])); is && slices.Contains(notFolders, strings.ToLower(filepath.Ext(args[0]))) {
				return fmt.Errorf("%s would be a folder with a lock in Go; a scenario is a file whose name ends in .yaml: did you mean lockstep new %s.yaml?", args[0], quoted(strings.TrimSuffix(name, ".yaml")))
			}
			if slices.Contains(notLocks, strings.ToLower(args[0])) {
				return fmt.Errorf("%s would be a folder with a lock in Go; a scenario is a file: lockstep new %[1]s.yaml writes one (and lockstep new ./%[1]s the folder)", args[0])
			}
			from, err := module.Find(sources)
			if err != nil {
				return err
			}
			return writeModule(cmd.OutOrStdout(), args[0], from)
		},
	}
	cmd.Flags().StringVar(&sources, "lockstep", "", "the `FOLDER` with the sources of Lockstep, such as a clone of it")
	return cmd
}

// notLocks are names that nobody gives to a lock: who does so wants a scenario.
var notLocks = []string{"scenario", "scenarios", "script", "scripts", "yaml", "test", "lesson", "file"}

// notFolders are how the names of files end that nobody gives to a folder.
var notFolders = []string{".txt", ".json", ".yam", ".ymal", ".yaml~", ".toml", ".md"}

// writeScenario writes a script into a file that doesn't exist yet.
func writeScenario(out io.Writer, path string) error {
	text, err := starter.ReadFile("starter/scenario.yaml")
	if err != nil {
		return err
	}
	w, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%s is there already, and is left as it is; a new scenario needs another name", path)
	}
	if err != nil {
		return cannotWrite(path, err)
	}
	_, err = io.WriteString(w, strings.ReplaceAll(string(text), "FILE", quoted(filepath.Base(path))))
	if err := errors.Join(err, w.Close()); err != nil {
		return cannotWrite(path, err)
	}
	_, err = fmt.Fprintf(prose(out), "%s has a scenario, and says what its parts are.\nRun it, and edit it while it is open:\n\n  lockstep run naive-del %s\n", path, quoted(path))
	return err
}

// writeModule writes the files of a new module into a folder that is empty or doesn't exist.
// It overwrites nothing, and after an error it leaves nothing that it has written.
func writeModule(out io.Writer, dir, sources string) (err error) {
	lock, err := fs.Sub(starter, "starter")
	if err != nil {
		return err
	}
	files, err := module.Files(dir, sources, lock)
	if err != nil {
		return err
	}
	switch entries, err := os.ReadDir(dir); {
	case errors.Is(err, fs.ErrNotExist):
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return cannotWrite(dir, err)
		}
	case err != nil:
		return cannotWrite(dir, err)
	case len(entries) > 0:
		return fmt.Errorf("%s is not empty: it has %s; a new module needs a folder of its own", dir, entries[0].Name())
	}
	var written []string
	defer func() {
		if err != nil {
			for _, path := range written {
				os.Remove(path) //nolint:errcheck,gosec // the first error counts
			}
		}
	}()
	for _, f := range files {
		path := filepath.Join(dir, f.Name)
		w, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
		if err != nil {
			return cannotWrite(path, err)
		}
		written = append(written, path)
		_, err = w.WriteString(f.Text)
		if err := errors.Join(err, w.Close()); err != nil {
			return cannotWrite(path, err)
		}
	}
	_, err = fmt.Fprintf(out, `The folder %s is a Go module with a lock, in lock.go, and a test that searches every
schedule of it:

  cd %s
  go test -v

Break a line of lock.go, say the comparison in release, and run it again.
Its go.mod finds Lockstep in %s: change the replace line if that moves.
`, dir, quoted(dir), sources)
	return err
}

// quoted is a path as a shell takes it.
func quoted(path string) string {
	if regexp.MustCompile(`^[\w./~+@:\\-]+$`).MatchString(path) {
		return path
	}
	return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'"
}
