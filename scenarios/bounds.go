package scenarios

import (
	"fmt"
	"strconv"
	"strings"

	"lockstep/sim"
	"lockstep/sim/explore"
	"lockstep/sim/suggest"
)

// Callers lists the ways in which the callers of a search can use its lock.
func Callers() []string { return []string{"plain", "checks", "extends"} }

// SetCaller sets how the callers of a search use its lock, by a name of [Callers]. It fails if
// the lock can't be used so.
func SetCaller(b *explore.Bounds, name string) error {
	switch name {
	case "plain":
	case "checks":
		b.Checks = true
	case "extends":
		if b.Extend = true; !b.Strategy.Extends() {
			return fmt.Errorf("%s has no way to extend a lease", b.Strategy.Name)
		}
	default:
		return suggest.Unknown("caller", name, Callers())
	}
	return nil
}

// SetResource sets how the resource of a search treats fencing tokens: plain, fenced or
// fenced-writes. It fails if the lock has none for it to check.
func SetResource(b *explore.Bounds, name string) error {
	r, err := sim.ParseResource(name)
	switch {
	case err != nil:
		return suggest.Unknown("resource", name, []string{"plain", "fenced", "fenced-writes"})
	case r != sim.Plain && !b.Strategy.Fences:
		return fmt.Errorf("%s hands out no fencing tokens that a resource could check", b.Strategy.Name)
	}
	b.Resource = r
	return nil
}

// ParseFaults reads the faults that one schedule of a search may have, as in "crash=1,pause";
// "none" is no fault at all.
func ParseFaults(list string) (b explore.Budget, err error) {
	if list == "none" {
		return b, nil
	}
	seen := map[explore.FaultKind]bool{}
	for _, word := range strings.Split(list, ",") {
		name, count, counted := strings.Cut(strings.TrimSpace(word), "=")
		kind, known := explore.ParseFaultKind(name)
		n := 1
		switch {
		case name == "":
			return b, fmt.Errorf("%q lacks a kind of fault; no fault at all is the word none", list)
		case !known:
			return b, suggest.Unknown("kind of fault", name, explore.FaultKinds())
		case seen[kind]:
			return b, fmt.Errorf("%s is here twice", kind)
		}
		if counted {
			if n, err = ParseCount(count, 0, maxFaults); err != nil {
				return b, fmt.Errorf("%s: %w", name, err)
			}
		}
		seen[kind], b[kind] = true, uint8(n)
	}
	return b, nil
}

// maxFaults is the greatest budget of a kind of fault: no search with more ever finishes.
const maxFaults = 9

// ParseCount reads a number within limits, or "any", which is [explore.Any].
func ParseCount(text string, least, most int) (int, error) {
	if text == "any" {
		return explore.Any, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < least || n > most {
		return 0, fmt.Errorf("%q is neither a number from %d to %d nor any", suggest.Clip(text), least, most)
	}
	return n, nil
}

var units = []struct {
	name  string
	bytes int64
}{{"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}, {"KB", 1e3}, {"MB", 1e6}, {"GB", 1e9}}

// ParseSize reads a size of memory, such as 512MB or 1.5GiB, in bytes.
func ParseSize(text string) (int64, error) {
	for _, u := range units {
		number, is := strings.CutSuffix(text, u.name)
		if !is {
			continue
		}
		n, err := strconv.ParseFloat(number, 64)
		if err != nil || !(n > 0 && n <= 1e6) {
			break
		}
		return int64(n * float64(u.bytes)), nil
	}
	return 0, fmt.Errorf("%q is not a size of memory; write 512MB or 2GiB", suggest.Clip(text))
}
