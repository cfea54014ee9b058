package command

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"

	"github.com/spf13/cobra"

	"lockstep/sim/campaign/job"
	"lockstep/sim/campaign/plan"
)

// cost is the cost of one search, in a process of its own.
type cost struct {
	Lock        string  `json:"lock"`
	Clients     string  `json:"clients"`
	Cycles      string  `json:"cycles"`
	Nodes       int     `json:"nodes"`
	Faults      string  `json:"faults"`
	Complete    bool    `json:"complete"`
	States      int64   `json:"states"`
	Transitions int64   `json:"transitions"`
	Seconds     float64 `json:"seconds"` // of processors, not of the clock on the wall
	Bytes       uint64  `json:"bytes"`   // that the process got from the system
}

// measurement is a file of costs.
type measurement struct {
	Machine string `json:"machine"`
	Go      string `json:"go"`
	Costs   []cost `json:"costs"`
}

func (p *program) measure() *cobra.Command {
	var machine string
	cmd := &cobra.Command{
		Use:   "measure FILE.yaml",
		Short: "Print what each search of a campaign costs, as JSON",
		Long: `Make each search of a campaign in a process of its own, one after the other, and print what
it costs: states, seconds of processors, bytes. docs/scale.md has its tables from this.`,
		Args: exactly("FILE.yaml"),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := plan.Load(args[0], p.locks, p.version.Engine)
			if err != nil {
				return err
			}
			m := measurement{Machine: machine, Go: runtime.Version()}
			for i := range c.Jobs {
				if c.Jobs[i].Search == nil {
					continue
				}
				x, err := measured(cmd.Context(), &c.Jobs[i])
				if err != nil {
					return fmt.Errorf("%s: %w", c.Jobs[i].About(), err)
				}
				p.log(fmt.Sprintf("%s: %d states, %.2f s, %d MB", c.Jobs[i].About(), x.States, x.Seconds, x.Bytes/1e6))
				m.Costs = append(m.Costs, x)
			}
			text, err := json.MarshalIndent(m, "", " ")
			if err != nil {
				return err
			}
			_, err = p.out.Write(append(text, '\n'))
			return err
		},
	}
	cmd.Flags().StringVar(&machine, "machine", fmt.Sprintf("%s/%s, %d cores", runtime.GOOS, runtime.GOARCH, runtime.NumCPU()), "how to name the machine in the file")
	return cmd
}

// measured makes a search in a process of its own.
func measured(ctx context.Context, j *job.Job) (cost, error) {
	path, err := os.Executable()
	if err != nil {
		return cost{}, err
	}
	cmd := exec.CommandContext(ctx, path, "one")
	cmd.Stdin, cmd.Stderr = bytes.NewReader(j.Encode()), os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return cost{}, err
	}
	x := cost{Lock: j.Lock, Clients: j.Search.Clients, Cycles: j.Search.Cycles, Nodes: j.Search.Nodes, Faults: j.Search.Faults}
	if err := json.Unmarshal(out, &x); err != nil {
		return cost{}, err
	}
	x.Seconds = (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds()
	return x, nil
}

// one carries out the job on standard input, for measure.
func (p *program) one() *cobra.Command {
	return &cobra.Command{
		Use:    "one",
		Hidden: true,
		Args:   exactly(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			text, err := io.ReadAll(cmd.InOrStdin())
			if err != nil {
				return err
			}
			j, err := job.Decode(text)
			if err != nil {
				return err
			}
			o, err := p.locks.Run(cmd.Context(), j, nil)
			if err != nil {
				return err
			}
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			return json.NewEncoder(p.out).Encode(map[string]any{"complete": o.Complete, "states": o.States, "transitions": o.Transitions, "bytes": m.Sys})
		},
	}
}
