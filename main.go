// Lockstep shows how Redis locks fail: it runs real lock code against real Redis
// commands in virtual time. See README.md.
package main

import (
	"os"

	"lockstep/cli"
)

func main() {
	cli.CalledAs(os.Args[0])
	os.Exit(cli.Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}
