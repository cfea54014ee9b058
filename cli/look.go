package cli

import (
	"os"
	"slices"

	"github.com/spf13/cobra"

	"lockstep/scenarios"
	"lockstep/tui"
)

// look is how the player looks.
type look struct {
	theme string
	ascii bool
}

func (l *look) flags(cmd *cobra.Command) {
	cmd.Flags().StringVar(&l.theme, "theme", "auto", "colours of the player: auto, dark, light or mono")
	cmd.Flags().BoolVar(&l.ascii, "ascii", false, "draw the player without box characters")
}

// open runs the player on one cell of the matrix.
func (l *look) open(strategy, scenario string, seed uint64) error {
	known := []string{"auto", "dark", "light", "mono"}
	if !slices.Contains(known, l.theme) {
		return scenarios.Unknown("theme", l.theme, known)
	}
	st, err := scenarios.FindStrategy(strategy)
	if err != nil {
		return err
	}
	s, err := scenarios.Find(scenario)
	if err != nil {
		return err
	}
	return tui.Run(tui.Options{Strategy: st, Scenario: s, Seed: seed, Theme: l.theme, ASCII: l.ascii,
		NoColor: os.Getenv("NO_COLOR") != ""})
}
