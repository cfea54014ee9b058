package explore

import (
	"slices"
	"strings"
	"testing"

	"lockstep/sim/monitor"
)

// TestEveryRuleIsSearched: a rule is one that the search finds broken by some lock of the
// catalogue, or it says why it isn't looked for.
func TestEveryRuleIsSearched(t *testing.T) {
	sought := new(Bounds).Sought()
	for i := range monitor.Rules {
		r := &monitor.Rules[i]
		finds := false
		for _, c := range leasts {
			finds = finds || strings.Contains(c.want, r.Code.String()+" ")
		}
		if searched := r.NotSearched == ""; searched != finds || searched != slices.Contains(sought, r.Code) {
			t.Errorf("%s: said to be searched %t, found in some search %t, sought %t", r.Code, searched, finds, slices.Contains(sought, r.Code))
		}
	}
}
