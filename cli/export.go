package cli

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"lockstep/scenarios"
	"lockstep/scenarios/site"
	"lockstep/sim/export"
	"lockstep/sim/suggest"
	"lockstep/sim/timeline"
	"lockstep/sim/trace"
	"lockstep/tui"
)

// format is a form in which a run can be exported.
type format struct {
	name       string
	about      string
	extensions []string // of files that are taken to be in it
	write      func(io.Writer, *trace.Trace) error
}

var formats = []format{
	{"text", "what run --plain prints", []string{".txt", ".trace"}, timeline.Plain},
	{"json", "what run --json prints", []string{".json"}, func(w io.Writer, t *trace.Trace) error { return writeJSON(w, t) }},
	{"mermaid", "a sequence diagram, for documents that render Mermaid", []string{".mmd", ".mermaid"}, written(export.Mermaid)},
	{"svg", "a picture of the timeline, light or dark as its reader's system is", []string{".svg"}, written(export.SVG)},
	{"html", "one page with a player in it, which needs no network", []string{".html", ".htm"}, written(export.HTML)},
	{"cast", "a recording of the player in asciinema's format, version 2", []string{".cast"}, tui.Cast},
}

func written(document func(*trace.Trace) string) func(io.Writer, *trace.Trace) error {
	return func(w io.Writer, t *trace.Trace) error {
		_, err := io.WriteString(w, document(t))
		return err
	}
}

// chooseFormat finds the format that is asked for, or that the name of the file
// implies; without either it is text. A name that implies another format than the one
// that is asked for is refused: a reader of the file trusts its name.
func chooseFormat(name, file string) (*format, error) {
	told := formatOf(file)
	if name == "" {
		switch {
		case told != nil:
			return told, nil
		case file == "":
			return &formats[0], nil
		}
		var extensions []string
		for i := range formats {
			extensions = append(extensions, formats[i].extensions...)
		}
		return nil, fmt.Errorf("cannot tell the format from the name %q: end it in one of %s, or say --format", file, strings.Join(extensions, ", "))
	}
	for i := range formats {
		f := &formats[i]
		switch {
		case name != f.name:
		case told != nil && told != f:
			return nil, fmt.Errorf("--format asks for %s, and %q is named like %s: end the name in %s, or leave --format out", f.name, file, told.name, f.extensions[0])
		default:
			return f, nil
		}
	}
	return nil, suggest.Unknown("format", name, formatNames())
}

// firstExtensions are the extensions that the help names, one of each format.
func firstExtensions() (all []string) {
	for _, f := range formats {
		all = append(all, f.extensions[0])
	}
	return all
}

func formatNames() (names []string) {
	for _, f := range formats {
		names = append(names, f.name)
	}
	return names
}

// formatOf is the format that the name of a file implies, or nil.
func formatOf(file string) *format {
	extension := strings.ToLower(filepath.Ext(file))
	for i := range formats {
		if slices.Contains(formats[i].extensions, extension) {
			return &formats[i]
		}
	}
	return nil
}

func formatsHelp() string {
	var b strings.Builder
	for _, f := range formats {
		fmt.Fprintf(&b, "  %-8s %s\n", f.name, f.about)
	}
	return b.String()
}

// exporting holds the values of export's flags.
type exporting struct {
	format, file, compare, course, playlist string
	seed                                    uint64
}

func newExport() *cobra.Command {
	var e exporting
	cmd := &cobra.Command{
		Use:   "export LOCK SCENARIO|FILE.yaml",
		Short: "Write one run in a form that you can pass on",
		Long: `Run one lock under one scenario, as lockstep run does, and write the run
in one of these forms:

` + formatsHelp() + `
Without --format, the name of the file tells: ` + strings.Join(firstExtensions(), ", ") + `. A
file is replaced only once the whole of it has been written.

It reports on standard error which files it wrote.

A page opens where the run first breaks. With --compare it shows a second lock below,
in step, and opens where one of the two breaks and the other does not. A page whose
script asks something opens at the beginning, as any page does whose address ends in #0.
It can stand in another page:

  <iframe src="release-gap.html" width="100%" height="640"></iframe>

With --course you name no run: the whole course is written into a folder, as pages
that link to each other. With --playlist the runs of a playlist are written, in their
order, into the folder that --output names; a run is shown with the next one below, if
that is another lock under the same scenario whose script asks nothing about it. Begin
with index.html: it keeps closed what its pages ask.`,
		Example: `  lockstep export get-then-del release-gap -o release-gap.html --compare setpx-lua
  lockstep export setpx-lua pause-past-ttl --format svg > pause.svg
  lockstep export naive-del late-release -o late.cast && asciinema play late.cast
  lockstep export --course site
  lockstep export --playlist talk.txt -o talk`,
		Args:              exportArgs,
		ValidArgsFunction: completeRun,
		RunE: func(cmd *cobra.Command, args []string) error {
			if cmd.Flags().Changed("course") {
				return exportCourse(cmd.ErrOrStderr(), e.course)
			}
			if cmd.Flags().Changed("playlist") {
				return exportPlaylist(cmd.ErrOrStderr(), e.playlist, e.file)
			}
			if cmd.Flags().Changed("output") && e.file == "" {
				return errors.New("--output needs the name of a file")
			}
			return e.run(cmd.OutOrStdout(), cmd.ErrOrStderr(), args)
		},
	}
	cmd.Flags().StringVarP(&e.format, "format", "f", "", "one of "+strings.Join(formatNames(), ", "))
	cmd.Flags().StringVarP(&e.file, "output", "o", "", "the `FILE` to write; without it, standard output")
	cmd.Flags().StringVar(&e.compare, "compare", "", "in a page, show this `LOCK` below")
	cmd.Flags().StringVar(&e.course, "course", "", "write a site with all lessons into the folder `DIR`")
	cmd.Flags().StringVar(&e.playlist, "playlist", "", "write a site with the runs of the playlist `FILE` into a folder")
	cmd.Flags().Uint64Var(&e.seed, "seed", 1, "where tokens and jitter come from")
	exclusive(cmd, "course", "format")
	exclusive(cmd, "course", "output")
	exclusive(cmd, "course", "compare")
	exclusive(cmd, "course", "playlist")
	exclusive(cmd, "playlist", "format")
	exclusive(cmd, "playlist", "compare")
	return cmd
}

// exportArgs wants a run, unless a flag names more than one.
func exportArgs(cmd *cobra.Command, args []string) error {
	if cmd.Flags().Changed("course") || cmd.Flags().Changed("playlist") {
		return noArgs(cmd, args)
	}
	if len(args) == 1 {
		if info, err := os.Stat(args[0]); err == nil && info.Mode().IsRegular() {
			return fmt.Errorf("export needs a LOCK and a SCENARIO; if %s is a playlist: lockstep export --playlist %[1]s -o FOLDER", args[0])
		}
	}
	return exactly("LOCK", "SCENARIO")(cmd, args)
}

func (e *exporting) run(out, errs io.Writer, args []string) error {
	f, err := chooseFormat(e.format, e.file)
	if err != nil {
		return err
	}
	t, err := runOnce(args[0], args[1], e.seed)
	if err != nil {
		return err
	}
	write := f.write
	if e.compare != "" {
		if f.name != "html" {
			return fmt.Errorf("--compare is for pages, and not for %s: say --format html", f.name)
		}
		other, err := runOnce(e.compare, args[1], e.seed)
		if err != nil {
			return fmt.Errorf("--compare: %w", err) // the scenario ran above: this is about the lock
		}
		write = written(export.Page{Other: other}.HTML)
	}
	if e.file == "" {
		sayUnmet(errs, t)
		return write(out, t)
	}
	if err := replaceFile(e.file, func(w io.Writer) error { return write(w, t) }); err != nil {
		return err
	}
	what := fmt.Sprintf("%s under %s", args[0], args[1])
	if e.compare != "" {
		what += ", with " + e.compare + " below"
	}
	fmt.Fprintf(errs, "%s written: %s, as %s\n", e.file, what, f.name) //nolint:errcheck // the file is what counts
	sayUnmet(errs, t)
	return nil
}

// sayUnmet says of a run that its verdict is not the one that the author of its script expects.
func sayUnmet(errs io.Writer, t *trace.Trace) {
	if text, met := t.Expectation(); !met {
		fmt.Fprintf(errs, "%s under %s: %s\n", t.Strategy, t.Scenario, text) //nolint:errcheck // the document is what counts
	}
}

// exportCourse writes the site of the course into a folder, which it makes if need be.
func exportCourse(errs io.Writer, dir string) error {
	if dir == "" {
		return errors.New("--course needs the name of a folder")
	}
	files, err := site.Course(scenarios.Course())
	if err != nil {
		return err
	}
	return writeSite(errs, dir, files)
}

// exportPlaylist writes the site of a playlist into a folder, which it makes if need be.
func exportPlaylist(errs io.Writer, file, dir string) error {
	switch {
	case file == "":
		return errors.New("--playlist needs the name of a file")
	case dir == "":
		return errors.New("--playlist needs --output with the name of a folder")
	}
	list, err := scenarios.LoadPlaylist(file)
	if err != nil {
		return err
	}
	files, err := site.Playlist(list)
	if err != nil {
		return err
	}
	return writeSite(errs, dir, files)
}

func writeSite(errs io.Writer, dir string, files []site.File) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return cannotWrite(dir, err)
	}
	for _, f := range files {
		if err := replaceFile(filepath.Join(dir, f.Name), func(w io.Writer) error {
			_, err := w.Write(f.Content)
			return err
		}); err != nil {
			return err
		}
	}
	fmt.Fprintf(errs, "%s written: %d files; begin with %s\n", dir, len(files), filepath.Join(dir, site.Index)) //nolint:errcheck // the files are what counts
	return nil
}

// canReplace reports in advance the error that replaceFile would return, for callers that
// have much to compute before they can write.
func canReplace(path string) error {
	target, _, err := replaceable(path)
	if err != nil || target == "" {
		return err
	}
	temp, err := tempBeside(target)
	if err != nil {
		return cannotWrite(path, err)
	}
	if err := errors.Join(temp.Close(), os.Remove(temp.Name())); err != nil {
		return cannotWrite(path, err)
	}
	return nil
}

// replaceable inspects a path: target is the file behind any links, and empty
// where path is no regular file and cannot be replaced, as a pipe or /dev/null.
func replaceable(path string) (target string, mode fs.FileMode, err error) {
	switch old, err := os.Stat(path); {
	case err == nil && old.IsDir():
		return "", 0, fmt.Errorf("cannot write %s: it is a directory", path)
	case err == nil && !old.Mode().IsRegular():
		return "", 0, nil
	case err == nil:
		if target, err = filepath.EvalSymlinks(path); err != nil {
			return "", 0, cannotWrite(path, err)
		}
		return target, old.Mode().Perm(), nil
	}
	return path, 0o644, nil
}

func tempBeside(target string) (*os.File, error) {
	return os.CreateTemp(filepath.Dir(target), "."+filepath.Base(target)+".*")
}

func cannotWrite(path string, err error) error {
	var at *fs.PathError
	if errors.As(err, &at) {
		err = at.Err // without its path, which the user never gave
	}
	if dir := filepath.Dir(path); errors.Is(err, fs.ErrNotExist) {
		if _, missing := os.Stat(dir); missing != nil {
			return fmt.Errorf("cannot write %s: there is no folder %s", path, dir)
		}
	}
	return fmt.Errorf("cannot write %s: %w", path, err)
}

// replaceFile replaces a file atomically: a reader finds the old or the new one, never
// half of one, and after an error the old one.
func replaceFile(path string, write func(io.Writer) error) (err error) {
	target, mode, err := replaceable(path)
	switch {
	case err != nil:
		return err
	case target == "":
		return writeThrough(path, write)
	}
	temp, err := tempBeside(target)
	if err != nil {
		return cannotWrite(path, err)
	}
	defer func() {
		if err != nil {
			temp.Close()           //nolint:errcheck,gosec // the first error counts
			os.Remove(temp.Name()) //nolint:errcheck,gosec // the first error counts
			err = cannotWrite(path, err)
		}
	}()
	if err := write(temp); err != nil {
		return err
	}
	if err := temp.Chmod(mode); err != nil {
		return err
	}
	if err := temp.Close(); err != nil {
		return err
	}
	return os.Rename(temp.Name(), target)
}

// writeThrough writes to a path that is no regular file and cannot be replaced: a pipe, a
// terminal, /dev/null.
func writeThrough(path string, write func(io.Writer) error) error {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return cannotWrite(path, err)
	}
	if err := write(f); err != nil {
		f.Close() //nolint:errcheck,gosec // the first error counts
		return cannotWrite(path, err)
	}
	if err := f.Close(); err != nil {
		return cannotWrite(path, err)
	}
	return nil
}
