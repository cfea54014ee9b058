package scenarios

import (
	"strings"
	"testing"
)

// A lock that withstands one run with a fault, and breaks in others of the catalogue with the same one, is said to.
func TestElsewhere(t *testing.T) {
	own := script(t, "title: Mine\nsetup:\n  clients: {A: }\n  replicas: 2\nscript:\n  - run: A\n    to: work\n  - down: n1\n  - failover: {to: n1r1}\n  - run: all\n")
	plain := script(t, "title: Mine\nsetup:\n  clients: {A: }\nscript:\n  - run: all\n")
	if got := own.Elsewhere("setpx-wait"); !strings.Contains(got, "the same faults (down, failover): failover-wait (DG OV)") {
		t.Errorf("a failover: %q", got)
	}
	if got := own.Elsewhere("redlock-strict-errors"); strings.Contains(got, "failover") {
		t.Errorf("independent servers: %q", got)
	}
	if got := plain.Elsewhere("setpx-wait"); got != "" {
		t.Errorf("no fault: %q", got)
	}
}
