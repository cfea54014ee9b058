package cli

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"lockstep/scenarios"
	"lockstep/strategies"
)

type listed struct {
	Strategies []listedStrategy `json:"strategies"`
	Scenarios  []listedScenario `json:"scenarios"`
}

type listedStrategy struct {
	Name    string `json:"name"`
	Summary string `json:"summary"`
	Source  string `json:"source"`
}

type listedScenario struct {
	Name  string `json:"name"`
	Title string `json:"title"`
	Shows string `json:"shows"`
}

func catalogue() listed {
	var l listed
	for _, s := range strategies.All() {
		l.Strategies = append(l.Strategies, listedStrategy{s.Name, s.Summary, s.Source})
	}
	for _, s := range scenarios.All() {
		l.Scenarios = append(l.Scenarios, listedScenario{s.Name, s.Title, s.Shows})
	}
	return l
}

func newList() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the strategies and the scenarios",
		Args:  noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			l := catalogue()
			if asJSON {
				return writeJSON(cmd.OutOrStdout(), l)
			}
			var b strings.Builder
			w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
			fmt.Fprintln(w, "strategies")
			for _, s := range l.Strategies {
				fmt.Fprintf(w, "  %s\t%s\n", s.Name, s.Summary)
			}
			fmt.Fprintln(w, "\nscenarios")
			for _, s := range l.Scenarios {
				fmt.Fprintf(w, "  %s\t%s\n", s.Name, s.Shows)
			}
			if err := w.Flush(); err != nil {
				return err
			}
			_, err := io.WriteString(prose(cmd.OutOrStdout()), b.String())
			return err
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print as JSON")
	return cmd
}
