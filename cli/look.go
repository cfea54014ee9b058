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

var themes = []string{"auto", "dark", "light", "mono"}

// home opens the terminal interface on the matrix.
func (l *look) home() error { return l.run(tui.Options{Seed: 1}) }

// open opens it on one cell of the matrix, in the player.
func (l *look) open(strategy, scenario string, seed uint64) error {
	st, err := scenarios.FindStrategy(strategy)
	if err != nil {
		return err
	}
	s, err := scenarios.Find(scenario)
	if err != nil {
		return err
	}
	return l.run(tui.Options{Strategy: st, Scenario: s, Seed: seed})
}

func (l *look) run(o tui.Options) error {
	if !slices.Contains(themes, l.theme) {
		return scenarios.Unknown("theme", l.theme, themes)
	}
	o.Exports = exports()
	o.Theme, o.ASCII, o.NoColor = l.theme, l.ascii, os.Getenv("NO_COLOR") != ""
	return tui.Run(o)
}

// exports are the formats as the player offers them.
func exports() []tui.Export {
	var all []tui.Export
	for _, f := range formats {
		all = append(all, tui.Export{Name: f.name, About: f.about, Extension: f.extensions[0], Write: f.write})
	}
	return all
}
