package cli

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"lockstep/scenarios"
	"lockstep/sim/explore/report"
	"lockstep/tui"
	"lockstep/tui/game"
)

func newCourse() *cobra.Command {
	var show display
	var plain bool
	cmd := &cobra.Command{
		Use:   "course [LESSON]",
		Short: "Take the course, or one lesson of it",
		Long: `Take the course, or one lesson of it, by its number or its name. In a terminal it opens
the list of lessons, at the step that comes next for you, or the lesson that you name, at its
first step; anywhere else it is printed.`,
		Example: `  lockstep course
  lockstep course 6
  lockstep course fencing --plain`,
		Args: atMostOne,
		RunE: func(cmd *cobra.Command, args []string) error {
			number, lessons := 0, scenarios.Course()
			if len(args) > 0 {
				var err error
				if number, err = scenarios.FindLesson(lessons, args[0]); err != nil {
					return err
				}
			}
			out := cmd.OutOrStdout()
			switch {
			case !plain && terminal(out) && terminal(cmd.InOrStdin()):
				return show.run(tui.Options{Seed: 1, Course: true, Lesson: number})
			case number == 0:
				return writeLessons(out, lessons)
			}
			return writeLesson(out, &lessons[number-1], number)
		},
	}
	show.flags(cmd)
	cmd.Flags().BoolVar(&plain, "plain", false, "print it as text (the default without a terminal)")
	return cmd
}

func writeLessons(out io.Writer, lessons []scenarios.Lesson) error {
	var b strings.Builder
	for i, l := range lessons {
		fmt.Fprintf(&b, "%2d  %-12s %-34s %s\n", i+1, l.Name, l.Title, report.Count(len(l.Steps), "step"))
	}
	_, err := io.WriteString(out, b.String())
	return err
}

// writeLesson prints a lesson, with the verdicts as they come out of the runs.
func writeLesson(out io.Writer, l *scenarios.Lesson, number int) error {
	var b strings.Builder
	fmt.Fprintf(&b, "Lesson %d: %s\n\n%s", number, l.Title, unlabelled(l.Text))
	for i, step := range l.Steps {
		t, err := runOnce(step.Strategy, step.Scenario, 1)
		if err != nil {
			return err
		}
		fmt.Fprintf(&b, "\n%d  %s under %s: %s\n", i+1, step.Strategy, step.Scenario, t.Verdict())
		b.WriteString(wrap("  ", 3, step.Text))
	}
	_, err := io.WriteString(prose(out), b.String())
	return err
}

func newPlay() *cobra.Command {
	var show display
	var goal string
	cmd := &cobra.Command{
		Use:   "play [LOCK|LEVEL]",
		Short: "Break a lock yourself: you are the scheduler",
		Long: `Break a lock yourself: you decide which client makes the next step, when time passes and
what fails. Hints come from a search of all schedules. Without a LOCK it opens the list of
levels; a number opens that level. A LOCK opens the level of breaking it, or of breaking it so
that the violation of --goal comes of it: where several levels fit, the first that you have
not won, and the screen names the others; where none does, a game without a number. It takes
a terminal.`,
		Example:           "  lockstep play                         the list of levels\n  lockstep play 3                       level 3\n  lockstep play get-then-del --goal FR",
		Args:              atMostOne,
		ValidArgsFunction: completeRun,
		RunE: func(cmd *cobra.Command, args []string) error {
			o := tui.Options{Seed: 1, Game: true}
			if n, err := strconv.Atoi(strings.Join(args, "")); err == nil {
				if all := len(scenarios.Levels()); n < 1 || n > all {
					return fmt.Errorf("there is no level %d: the game has levels 1 to %d", n, all)
				}
				o.Level = n
			} else if len(args) == 1 {
				st, err := lockNamed(args[0])
				if err != nil {
					return err
				}
				o.Strategy = st
			}
			if goal != "" && len(args) == 0 {
				return errors.New("--goal needs a LOCK to break; without one, lockstep play opens the levels, which have goals of their own")
			}
			if goal != "" {
				codes, err := parseCodes("goal", goal, game.Goals)
				if err != nil {
					return err
				}
				if len(codes) != 1 {
					return fmt.Errorf("--goal: a game has one goal, such as FR, and not %q", goal)
				}
				if !slices.Contains(game.Goals, codes[0]) { // or it would be about another one
					return fmt.Errorf("--goal: no game is about %s; its goal is one of %s", codes[0], strings.Join(game.Goals.Strings(), ", "))
				}
				o.Goal = &codes[0]
			}
			if !terminal(cmd.OutOrStdout()) || !terminal(cmd.InOrStdin()) {
				return errors.New("lockstep play takes a terminal; anywhere else lockstep explore prints the least schedule that breaks a lock")
			}
			return show.run(o)
		},
	}
	show.flags(cmd)
	cmd.Flags().StringVar(&goal, "goal", "", "the violation to reach, as a `CODE` such as FR (default: the lock's usual one)")
	return cmd
}
