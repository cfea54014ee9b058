package scenarios

import (
	"testing"

	"lockstep/sim/testenv"
	"lockstep/sim/trace"
)

// Ran is a run of the catalogue, for the tests of the packages in this folder: it is run once for them all.
func Ran(t testing.TB, scenario, strategy string) *trace.Trace {
	t.Helper()
	testenv.LongRaced(t)
	return cell{scenario, strategy}.of(t)
}
