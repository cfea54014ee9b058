package cli

import (
	"os"
	"slices"

	"github.com/spf13/cobra"

	"lockstep/scenarios"
	"lockstep/sim/suggest"
	"lockstep/tui"
)

// display is the flags that decide how the terminal interface is drawn.
type display struct {
	theme theme
	ascii bool
}

// theme is a flag's value that is checked when it is read: a misspelt one is refused
// even where no player opens.
type theme string

var themes = []string{"auto", "dark", "light", "mono"}

// Set takes one of the themes, and no other word.
func (t *theme) Set(s string) error {
	if !slices.Contains(themes, s) {
		return suggest.Unknown("theme", s, themes)
	}
	*t = theme(s)
	return nil
}

func (t *theme) String() string { return string(*t) }

// Type stands for the value in the help.
func (t *theme) Type() string { return "string" }

func (d *display) flags(cmd *cobra.Command) {
	d.theme = "auto"
	cmd.Flags().Var(&d.theme, "theme", "colours: auto, dark, light or mono")
	cmd.Flags().BoolVar(&d.ascii, "ascii", false, "draw the player without box characters")
}

// home opens the terminal interface on its first screen.
func (d *display) home() error { return d.run(tui.Options{Seed: 1}) }

// open opens it on one cell of the matrix, in the player.
func (d *display) open(strategy, scenario string, seed uint64) error {
	o, err := playable(strategy, scenario, seed)
	if err != nil {
		return err
	}
	return d.run(o)
}

// playable is the run to open. A script of the user's own is run first: of one that can't be run the player
// would have nothing to show but why, and that belongs into the shell, from where it is mended.
func playable(strategy, scenario string, seed uint64) (o tui.Options, err error) {
	st, err := findLock(strategy, scenario)
	if err != nil {
		return o, err
	}
	s, err := scenarios.Find(scenario)
	if err != nil {
		return o, err
	}
	if s.Path() != "" {
		if _, err := s.Run(st, seed); err != nil {
			return o, err
		}
	}
	return tui.Options{Strategy: st, Scenario: s, Seed: seed}, nil
}

func (d *display) run(o tui.Options) error {
	look := d.look()
	o.Exports, o.Rename = exports(), asCalled
	o.Theme, o.ASCII, o.NoColor = look.Theme, look.ASCII, look.NoColor
	return tui.Run(o)
}

// look is the options that have to do with it alone.
func (d *display) look() tui.Options {
	return tui.Options{Theme: string(d.theme), ASCII: d.ascii, NoColor: os.Getenv("NO_COLOR") != ""}
}

// exports are the formats as the player offers them.
func exports() []tui.Export {
	var all []tui.Export
	for _, f := range formats {
		all = append(all, tui.Export{Name: f.name, About: f.about, Extension: f.extensions[0], Write: f.write})
	}
	return all
}
