package cli

import (
	"errors"

	"github.com/spf13/cobra"
)

// newCampaign says where campaigns are: the packages that they link take longer to compile than all the rest.
func newCampaign() *cobra.Command {
	return &cobra.Command{
		Use:   "campaign",
		Short: "Search many locks within many bounds: a program of its own",
		Long: `A campaign searches many locks within many bounds, on one machine or on many. The program
for that links a queue and the drivers of three clouds, so it is a module of its own:

  go -C sim/campaign build -o ../../lockstep-campaign .
  ./lockstep-campaign run FILE.yaml

docs/scale.md, beside it in the sources, shows how to write the file, and what searches cost.`,
		DisableFlagParsing: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 && (args[0] == "--help" || args[0] == "-h") {
				return cmd.Help()
			}
			return errors.New("campaigns are carried out by a program of their own: go -C sim/campaign build -o ../../lockstep-campaign . && ./lockstep-campaign run FILE.yaml")
		},
	}
}
