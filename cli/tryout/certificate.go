package tryout

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"lockstep/sim"
	"lockstep/sim/explore"
	"lockstep/sim/explore/certificate"
	"lockstep/sim/explore/report"
	"lockstep/sim/trace"
)

// Proved says what was checked, and what that proves.
func Proved(out io.Writer, c *certificate.Certificate, r *certificate.Report, seed uint64) error {
	count := func(n int) string { return report.Grouped(int64(n)) }
	if r.Checked < r.Situations {
		_, err := fmt.Fprintf(out, "%s: nothing is wrong in %s of %s situations (seed %d), from which %s moves were made; this is no proof\n",
			c.Lock, count(r.Checked), count(r.Situations), seed, count(r.Moves))
		return err
	}
	waits := ""
	if slices.Contains(c.Codes, trace.PD.String()) {
		waits = fmt.Sprintf("  where all clients are between two cycles, what one has left behind keeps the others out for %s at most\n", trace.Duration(r.Blocked))
	}
	who := "clients"
	if r.Unextended {
		who = "clients that never call the lock's Extend"
	}
	_, err := fmt.Fprintf(out, `%s: proved by %s situations and %s moves
  no schedule of %d %s, however long, with any number of %s, violates %s
  each of them asks for the lock %s; whoever has it %s; the TTL is %s, a client waits %s for a reply; the record is %q
%s  What the proof takes for granted: lockstep's sim/explore/SOUNDNESS.md, "Certificates".
`, c.Lock, count(r.Situations), count(r.Moves), c.Places, who, faultsText(c.Faults), strings.Join(c.Codes, ", "),
		asksText(&r.Config), r.Config.Caller(), trace.Duration(r.Config.TTL), trace.Duration(r.Config.Timeout), r.Config.RecordKey(), waits)
	return err
}

// asksText says how often a client asks for the lock.
func asksText(cfg *sim.Config) string {
	text := "any number of times"
	if n := cfg.Retry.Tries; n > 1 {
		text += fmt.Sprintf(", in up to %d tries each, %s apart", n, trace.Duration(cfg.Retry.Delay))
	}
	if cfg.Resource != sim.Plain {
		text += ", for a resource that is " + cfg.Resource.String()
	}
	return text
}

// faultsText lists the faults that the schedules of a certificate may have.
func faultsText(f certificate.Faults) string {
	kinds := []string{explore.Pause.Words(2)}
	if f.Crash {
		kinds = append(kinds, explore.Crash.Words(2))
	}
	if f.ReplyLost {
		kinds = append(kinds, explore.ReplyLost.Words(2))
	}
	return trace.List(kinds)
}
