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
	theme theme
	ascii bool
}

// theme is a flag's value that is looked at when it is read: who has misspelt it
// learns so even where no player opens.
type theme string

var themes = []string{"auto", "dark", "light", "mono"}

// Set takes one of the themes, and no other word.
func (t *theme) Set(s string) error {
	if !slices.Contains(themes, s) {
		return scenarios.Unknown("theme", s, themes)
	}
	*t = theme(s)
	return nil
}

func (t *theme) String() string { return string(*t) }

// Type is what the help says of the value.
func (t *theme) Type() string { return "string" }

func (l *look) flags(cmd *cobra.Command) {
	l.theme = "auto"
	cmd.Flags().Var(&l.theme, "theme", "colours of the player: auto, dark, light or mono")
	cmd.Flags().BoolVar(&l.ascii, "ascii", false, "draw the player without box characters")
}

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
	o.Exports = exports()
	o.Theme, o.ASCII, o.NoColor = string(l.theme), l.ascii, os.Getenv("NO_COLOR") != ""
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
