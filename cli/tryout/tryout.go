// Package tryout checks a file of the user's own: a script is run under each lock of which it expects something, and the runs of a playlist
// are made; of both it is said what came of that, and of a certificate what it proves.
package tryout

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"lockstep/scenarios"
	"lockstep/scenarios/text"
	"lockstep/sim/explore/certificate"
	"lockstep/sim/suggest"
	"lockstep/sim/timeline"
	"lockstep/sim/trace"
	"lockstep/strategies"
)

// Check checks a file, one of several of which the same is listed once, or with nil the only one. It reports whether nothing is to be mended.
type Check func(out io.Writer, path string, listed Listed) (inOrder bool, err error)

// faults are the mistakes to be mended in a file: a run of it comes out otherwise than it says, or isn't the run that it describes.
// A mistake that may stay is a note, and no fault.
type faults struct {
	unmet  int // verdicts that are not as expected
	marked int // lines marked !!
}

func (f *faults) add(o faults) { f.unmet, f.marked = f.unmet+o.unmet, f.marked+o.marked }

// closing counts them in a line. If there are none it says so of the only file; several are counted at their end.
func (f faults) closing(only bool) string {
	var parts []string
	if f.unmet > 0 {
		parts = append(parts, plural(f.unmet, "verdict")+" not as expected")
	}
	if f.marked > 0 {
		parts = append(parts, plural(f.marked, "line")+" marked !!")
	}
	switch {
	case parts != nil:
	case only:
		return "Nothing to mend.\n"
	default:
		return ""
	}
	return plural(f.unmet+f.marked, "thing") + " to mend: " + strings.Join(parts, ", ") + "\n"
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// kinds are the files that can be checked, for the user of one that can't be.
const kinds = "a script (its name ends in .yaml), a playlist (each line is a lock and a scenario, as in lockstep present --help) or a certificate (which lockstep explore --certificate writes)"

// Of is the check for a file: nil for a certificate, which takes more than its path. Its errors name the kinds of files that can be checked.
func Of(path string) (Check, error) {
	_, gone := os.Stat(path)
	if scenarios.IsScript(path) || gone != nil && scenarios.IsScript(strings.TrimSuffix(path, filepath.Ext(path))) { // or a variant's name
		return Script, nil
	}
	if errors.Is(gone, fs.ErrNotExist) {
		hint := suggest.Hint(filepath.Base(path), text.Beside(path, func(string) bool { return true }))
		return nil, fmt.Errorf("there is no file %s%s; what can be checked is %s", path, hint, kinds)
	}
	begin, err := beginning(path)
	switch {
	case err != nil:
		return nil, fmt.Errorf("cannot read %s: %w", path, err)
	case certificate.Begins(begin):
		return nil, nil
	case utf8.ValidString(begin) && scenarios.BeginsPlaylist(begin):
		return Playlist, nil
	}
	return nil, fmt.Errorf("%s can't be checked: it is neither %s", path, strings.Replace(kinds, " or a cert", " nor a cert", 1))
}

// Files are the files that are named, and the scripts and playlists in and below the folders that are, in the order of their names; hidden folders are left out.
func Files(named []string) (files []string, err error) {
	for _, path := range named {
		if info, err := os.Stat(path); err != nil || !info.IsDir() {
			files = append(files, path) // if there is none, its check says so
			continue
		}
		before := len(files)
		err := filepath.WalkDir(path, func(file string, d fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case d.IsDir() && file != path && strings.HasPrefix(d.Name(), "."):
				return fs.SkipDir
			case !d.IsDir() && ofFolder(file):
				files = append(files, file)
			}
			return nil
		})
		if err != nil {
			return nil, fmt.Errorf("cannot read the folder %s: %w", path, err)
		}
		if len(files) == before {
			return nil, fmt.Errorf("the folder %s has no script (its name ends in .yaml) and no playlist (.txt, and each line is a lock and a scenario)", path)
		}
	}
	return files, nil
}

// ofFolder reports whether a file of a folder is meant: a text that is no playlist may be anything.
func ofFolder(file string) bool {
	if filepath.Ext(file) != ".txt" {
		return scenarios.IsScript(file)
	}
	begin, err := beginning(file)
	return err == nil && scenarios.BeginsPlaylist(begin)
}

// beginning is the first part of a file, in which a playlist has its first line.
func beginning(path string) (string, error) {
	f, err := os.Open(path) //nolint:gosec // the user names it
	if err != nil {
		return "", err
	}
	defer f.Close() //nolint:errcheck // it was only read
	const most = 4 << 10
	data, err := io.ReadAll(io.LimitReader(f, most))
	for n := len(data); n > len(data)-utf8.UTFMax && n > 0; n-- { // a character may be cut
		if utf8.Valid(data[:n]) {
			data = data[:n]
			break
		}
	}
	return string(data), err
}

// Playlist makes the runs of a playlist, and prints for each whether its verdict is the one that its script expects, and the notes for
// the script's author.
func Playlist(out io.Writer, path string, listed Listed) (inOrder bool, err error) {
	list, err := scenarios.LoadPlaylist(path)
	if err != nil {
		return false, err
	}
	only, listed := listed == nil, listed.orOwn()
	title := ""
	if list.Title != "" {
		title = fmt.Sprintf("%q, ", list.Title)
	}
	said, wrong := fmt.Sprintf("%s: %s%d to present\n", path, title, len(list.Showings)), faults{}
	var asked []late
	var moves []moved
	var words []passage
	before := map[string][]timeline.Question{} // of the runs of each script
	for _, s := range list.Showings {
		c, err := came(s.Scenario, s.Strategy, s.Strategy.Name+" "+s.Scenario.Name, before[s.Scenario.Name])
		if err != nil {
			return false, err
		}
		said += c.text + notes(notAgain(s.Scenario, c.questions, before[s.Scenario.Name]), "    ")
		wrong.add(c.wrong)
		before[s.Scenario.Name] = append(before[s.Scenario.Name], c.questions...)
		asked, moves = append(asked, c.asked...), append(moves, c.moved...)
		words = append(words, c.words...)
		if c.wrong.unmet > 0 && !c.unmade {
			said += fmt.Sprintf("    lockstep check %s prints the lines that expect what came\n", s.Scenario.Name)
		}
	}
	_, err = io.WriteString(out, said+notes(advise(asked), "  ")+elsewhere(moves)+compared(words, listed)+wrong.closing(only))
	return wrong == faults{}, err
}

// Script finds the script of a name as it can be run: a file with all its variants, or one of its variants. It prints for each lock of which
// something is expected whether the verdict is that, and the notes for the script's author, and reports whether nothing is to be mended.
func Script(out io.Writer, name string, listed Listed) (inOrder bool, err error) {
	s, err := scenarios.Find(name)
	if err != nil {
		return false, err
	}
	only, listed := listed == nil, listed.orOwn()
	text, wrong := "", faults{}
	for _, s := range append([]*scenarios.Scenario{s}, s.Variants()...) {
		said, of, err := try(s, listed)
		if err != nil {
			return false, err
		}
		text += said
		wrong.add(of)
	}
	_, err = io.WriteString(out, text+wrong.closing(only))
	return wrong == faults{}, err
}

// try says what came of a scenario under each lock of which it expects something.
func try(s *scenarios.Scenario, listed Listed) (text string, wrong faults, err error) {
	text = fmt.Sprintf("%s: %q\n", s.Name, s.Title)
	var asked []late
	var moves []moved
	var words []passage
	var all []entry
	unmade := false
	for _, name := range scenarios.StrategyNames() {
		if _, stated := s.Expect(name); !stated {
			continue
		}
		st, err := scenarios.FindStrategy(name)
		if err != nil {
			return "", wrong, err
		}
		c, err := came(s, st, name, nil)
		if err != nil {
			return "", wrong, err
		}
		text, all = text+c.text, append(all, entryOf(s, name, c.verdict))
		wrong.add(c.wrong)
		unmade = unmade || c.unmade
		asked, moves = append(asked, c.asked...), append(moves, c.moved...)
		words = append(words, c.words...)
	}
	text += notes(advise(asked), "  ") + elsewhere(moves) + compared(words, listed)
	if len(all) == 0 {
		text += fmt.Sprintf("  can be run. It expects nothing of any lock, so there is nothing to compare: lockstep run LOCK %s --plain shows what comes of one.\n", s.Name)
		if lines := expectable(s); lines != "" {
			text += toPaste(s, "To expect what comes of two locks, add", "", lines)
		}
	}
	if wrong.unmet > 0 && !unmade { // a verdict without the fault is nothing to expect
		text += toPaste(s, "If what came is right, put this in the place of its \"expect\"", reread(all), expectation(all))
	}
	return text, wrong, nil
}

// notes are lines for the author of a script.
func notes(lines []string, indent string) (text string) {
	for _, l := range lines {
		text += indent + "~ " + l + "\n"
	}
	return text
}

// outcome is the result of a run.
type outcome struct {
	text    string
	wrong   faults
	verdict trace.Verdict
	moved   []moved   // the questions in it, with those that are asked elsewhere than they stand
	unmade  bool      // a fault of the script: the run is of none that its author meant
	asked   []late    // the questions in it of which its author has to hear
	words   []passage // of the script, with the events after them

	questions []timeline.Question // that the script asks
}

// came is the outcome of a run under a label, after others that have settled questions, with notes for its author, also on gaps for an audience.
func came(s *scenarios.Scenario, st strategies.Strategy, label string, settled []timeline.Question) (outcome, error) {
	t, err := s.Run(st, 1)
	if err != nil {
		return outcome{}, err
	}
	verdict, met := t.Expectation()
	wrong := faults{}
	if !met {
		wrong.unmet = 1
	}
	switch {
	case s.Path() == "": // the program's own tests have compared its verdict with the expected one
		verdict = t.Verdict().String()
	case t.Expected == "":
		verdict = fmt.Sprintf("%s (the script states none for it; in its \"expect\", %s states that)", t.Verdict(), entryOf(s, st.Name, t.Verdict()))
	}
	if s.Path() == "" {
		return outcome{text: fmt.Sprintf("  %s: %s\n", label, verdict), wrong: wrong}, nil
	}
	var lines []string
	warnings, held, unmade := "", false, false
	for i := range t.Notes {
		n := &t.Notes[i]
		if n.Kind != trace.NoteMissed {
			continue
		}
		text := n.Prose()
		if n.About != trace.Setup {
			text = fmt.Sprintf("at %s: %s", trace.Brief(n.At), text)
		}
		if n.About == "refused" && !unmade {
			text += " The script is in order there: it is what this lock does here."
		}
		why := n.About == "wait" && len(t.Violations) > 0 // a run that is to praise a lock may be spoilt by that, in front of a class
		if n.About == trace.Unmade {
			unmade = true
			text = strings.TrimSuffix(text, ".") + fmt.Sprintf(". So this run says nothing of %s under that fault: mend the step, leave the lock out here, or give it a script with a fault that it has.", st.Name)
		}
		if held = held || why; why || n.About == trace.Unmade {
			wrong.marked++
			warnings += "    !! " + text + "\n"
			continue
		}
		lines = append(lines, text)
	}
	for _, text := range misdated(s, t) {
		wrong.marked++
		warnings += "    !! " + text + "\n"
	}
	lines = append(lines, slices.DeleteFunc([]string{unsaid(t), withstood(s, t)}, func(text string) bool { return text == "" })...)
	lines = slices.Concat(lines, toldEarly(s, t), moments(s, t), idleCrashes(t))
	verdict += hedged(t, held)
	return outcome{text: fmt.Sprintf("  %s: %s\n", label, verdict) + warnings + notes(lines, "    "), wrong: wrong, verdict: t.Verdict(), unmade: unmade, asked: lates(s, t), moved: movedOf(s, t, settled), words: passages(s, t), questions: ofScript(t)}, nil
}

// hedged is the reservation about the verdict of a run that shows less of a lock than its script asks for, or shows a step of that: an ok of a
// run in which the fault did not happen is no praise.
func hedged(t *trace.Trace, held bool) (text string) {
	if steps := t.Missed(); steps > 0 {
		text += fmt.Sprintf("; but %d of the script's steps did not do what the script asks for", steps)
	}
	if slices.ContainsFunc(t.Notes, func(n trace.Note) bool { return n.About == trace.LeftOut }) {
		text += "; its script ends early"
	}
	if held {
		text += "; but a step of the script may be why, and not the lock"
	}
	return text
}

// withstood says of a lock that has broken nothing where else it does: see [scenarios.Scenario.Elsewhere].
func withstood(s *scenarios.Scenario, t *trace.Trace) string {
	if len(t.Violations) > 0 {
		return ""
	}
	return s.Elsewhere(t.Strategy)
}
