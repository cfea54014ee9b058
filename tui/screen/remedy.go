package screen

import (
	"slices"

	"lockstep/sim/trace"
)

// remedies are the locks that are named first as those that withstand.
var remedies = []string{"setpx-lua", "fenced", "setpx-get", "setpx-wait", "redlock", "naive-del", "getset-equal"}

// Remedy is the place of a lock that doesn't show a code under a scenario in which another lock has
// shown that and perhaps others: one of the first, by their names, if there is any; else one that shows
// nothing, or at least no failure that the other lock doesn't show. It is -1 where none is known.
func (a *App) Remedy(scenario, strategy int, code trace.Code, shown trace.Verdict, first []string) int {
	worse := func(v trace.Verdict) bool {
		return slices.ContainsFunc(v, func(c trace.Code) bool { return c.Failure() && (c == code || !slices.Contains(shown, c)) })
	}
	best := -1
	for _, name := range slices.Concat(first, remedies) {
		i := a.Library.Strategy(name)
		if i < 0 || i == strategy {
			continue
		}
		v, known := a.verdictOf(scenario, i)
		switch {
		case !known || worse(v):
		case !slices.ContainsFunc(v, trace.Code.Failure):
			return i
		case best < 0:
			best = i
		}
	}
	return best
}

// verdictOf is the verdict of a lock under a scenario: as it was run, or as the scenario
// expects it, to which a test holds the engine.
func (a *App) verdictOf(scenario, strategy int) (trace.Verdict, bool) {
	if cell := a.Grid.At(scenario, strategy); cell.Known {
		return cell.Verdict, true
	}
	return a.Library.Scenarios[scenario].Expect(a.Library.Strategies[strategy].Name)
}
