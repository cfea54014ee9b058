// Lockstep-campaign searches many locks within many bounds, on one machine or on many.
//
// It is a module of its own because it links a queue and the drivers of three clouds,
// which take longer to compile than all the rest of Lockstep.
package main

import (
	"os"

	"lockstep/sim/campaign/command"
)

func main() { os.Exit(command.Main(os.Args[1:], os.Stdout, os.Stderr)) }
