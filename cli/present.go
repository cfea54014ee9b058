package cli

import (
	"errors"

	"github.com/spf13/cobra"

	"lockstep/scenarios"
	"lockstep/tui"
)

func newPresent() *cobra.Command {
	var show display
	cmd := &cobra.Command{
		Use:   "present FILE|[LOCK] SCENARIO|[LOCK] FILE.yaml",
		Short: "Present a run or a playlist, with one key to go on",
		Long: `Present to a room one run, of a scenario under LOCK (without it: the first of lockstep list
that its "expect" names and says breaks), or a playlist of runs. Each line of its file is a lock and a scenario, or a
lesson of the course, or one step of a lesson; what follows a # is a comment:

  title Locks in practice      # of the playlist
  say What goes wrong here?    # words before the next run
  naive-del late-release       # a run
  lesson release               # all steps of a lesson
  lesson 6 2                   # its second step
  setpx-lua my-scenario.yaml   # a script of your own, beside the playlist

Enter, space and page down go on, page up goes back, s shows the code, e goes to the events
that prove a violation, and enter from them back to the slide. T shows what is for the author
of a script, marked ~: which steps had no effect, and which verdicts are not as expected. A
script is run again when its file changes. In the course, p presents a lesson so.
lockstep new talk.txt writes a playlist to begin with, and lockstep new my.yaml a script.`,
		Example: "  lockstep present talk.txt\n  lockstep present my.yaml\n  lockstep present naive-del my.yaml",
		Args: func(cmd *cobra.Command, args []string) error {
			return exactly([][]string{{"FILE"}, {"LOCK", "SCENARIO"}}[min(len(args)/2, 1)]...)(cmd, args)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			list, err := scenarios.PlaylistOf(args...)
			switch {
			case err != nil:
				return err
			case !terminal(cmd.OutOrStdout()) || !terminal(cmd.InOrStdin()):
				return errors.New("lockstep present takes a terminal; anywhere else lockstep run prints one run")
			}
			return show.run(tui.Options{Seed: 1, Present: &list})
		},
	}
	show.flags(cmd)
	return cmd
}
