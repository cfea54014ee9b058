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
	"lockstep/scenarios"
)

// starter is the lock and its test that a new module begins with, and the script and the playlist that new ones
// begin with. The lock and the test are a package of this module, too, so that they are compiled,
// checked and tested with it.
//
//go:embed starter/lock.go starter/lock_test.go starter/scenario.yaml starter/playlist.txt
var starter embed.FS

func newNew() *cobra.Command {
	var sources string
	cmd := &cobra.Command{
		Use:   "new DIR|FILE.yaml|FILE.txt",
		Short: "Write a lock with its test, a scenario or a playlist to begin with",
		Long: `Write a scenario to begin with into FILE.yaml, or a playlist to present into FILE.txt, with
comments that say what its parts are; or write a Go module into DIR, which must be empty or not exist yet: lock.go, a lock on
one Redis server as in production; lock_test.go, which has every schedule of it
searched; go.mod and go.sum. In it go test passes at once, and fails with the
schedule as soon as a line of the lock is broken.

The module needs the sources of Lockstep, which is not published: its go.mod has a
replace line with their folder. They are looked for above the working directory
and then where this program was built; --lockstep says where else they are.`,
		Example: `  lockstep new my.yaml && lockstep run naive-del my.yaml
  lockstep new talk.txt && lockstep present talk.txt
  lockstep new mylock && cd mylock && go test -v
  lockstep new ~/src/mylock --lockstep ~/src/lockstep`,
		Args: exactly("DIR, a FILE.yaml or a FILE.txt"),
		RunE: func(cmd *cobra.Command, args []string) error {
			ext := strings.ToLower(filepath.Ext(args[0]))
			switch {
			case ext == ".yaml" || ext == ".yml":
				return writeFile(cmd.OutOrStdout(), args[0], "scenario", "starter/scenario.yaml", "Run it, and edit it while it is open:\n\n  lockstep run naive-del")
			case ext == ".txt" && !scenarios.IsScript(args[0][:len(args[0])-len(ext)]):
				return writeFile(cmd.OutOrStdout(), args[0], "playlist", "starter/playlist.txt", "Show it in a terminal:\n\n  lockstep present")
			}
			if args[0] == "" {
				return errors.New("the name is empty: it is a DIR, a FILE.yaml or a FILE.txt, as in lockstep new my.yaml")
			}
			if name, is := strings.CutSuffix(args[0], filepath.Ext(args[0])); is && slices.Contains(notFolders, ext) {
				return fmt.Errorf("%s would be a folder with a lock in Go; a scenario is a file whose name ends in .yaml: did you mean lockstep new %s.yaml?", args[0], quoted(strings.TrimSuffix(name, ".yaml")))
			}
			if name := strings.ToLower(args[0]); name == "playlist" || name == "talk" {
				return fmt.Errorf("%s would be a folder with a lock in Go; a playlist is a file: lockstep new %[1]s.txt writes one (and lockstep new ./%[1]s the folder)", args[0])
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

// notLocks are names that nobody gives to a lock: a user who does so wants a scenario.
var notLocks = []string{"scenario", "scenarios", "script", "scripts", "yaml", "test", "lesson", "file"}

// notFolders are how the names of files end that nobody gives to a folder.
var notFolders = []string{".txt", ".json", ".yam", ".ymal", ".yaml~", ".toml", ".md"}

// writeFile writes a starter into a file that doesn't exist yet, and says what to do with it.
func writeFile(out io.Writer, path, kind, from, next string) error {
	text, err := starter.ReadFile(from)
	if err != nil {
		return err
	}
	w, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%s is there already, and is left as it is; a new %s needs another name", path, kind)
	}
	if err != nil {
		return cannotWrite(path, err)
	}
	_, err = io.WriteString(w, strings.ReplaceAll(inFolder(filepath.Dir(path), string(text)), "FILE", quoted(filepath.Base(path))))
	if err := errors.Join(err, w.Close()); err != nil {
		return cannotWrite(path, err)
	}
	_, err = fmt.Fprintf(prose(out), "%s has a %s, and says what its parts are.\n%s %s\n", path, kind, next, quoted(path))
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
