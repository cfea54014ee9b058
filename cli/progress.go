package cli

import (
	"fmt"
	"io"
	"time"

	"lockstep/sim/explore"
	"lockstep/sim/explore/report"
)

// progress is a line on the progress of a search. It is shown only on a terminal.
type progress struct {
	w     io.Writer
	live  bool
	start time.Time
}

func newProgress(w io.Writer) *progress {
	return &progress{w: w, live: terminal(w), start: time.Now()}
}

func (p *progress) show(at explore.Progress) {
	if at.Resumed {
		fmt.Fprintf(p.w, "lockstep: going on with a search that was cut off at depth %d, after %s\n", at.Depth, report.Count(int(at.States), "state"))
	}
	if p.live {
		fmt.Fprint(p.w, report.Live(progressText(at, time.Since(p.start))))
	}
}

func progressText(at explore.Progress, took time.Duration) string {
	if at.Certified > 0 {
		return fmt.Sprintf("%s states; %s of them are in the certificate", report.Grouped(at.States), report.Grouped(int64(at.Certified)))
	}
	if at.Doubting {
		return fmt.Sprintf("%s states; playing random schedules", report.Grouped(at.States))
	}
	if at.Concluding {
		return fmt.Sprintf("%s states; looking for the least schedules", report.Grouped(at.States))
	}
	rate := int64(float64(at.States) / max(took.Seconds(), 0.001))
	size := report.Grouped(int64(at.Bytes)/1e6) + " MB"
	if at.Disk > 0 {
		size += ", " + report.Grouped(at.Disk/1e6) + " MB on disk"
	}
	return fmt.Sprintf("%s states (%s), %s a second; depth %d, %s to go", report.Grouped(at.States), size, report.Grouped(rate), at.Depth, report.Grouped(int64(at.Frontier)))
}

func (p *progress) end() {
	if p.live {
		fmt.Fprint(p.w, report.Live(""))
	}
}

// took prints the duration of the search, apart from the result, which is always the same.
func (p *progress) took(r *explore.Result, d time.Duration) {
	if p.live {
		fmt.Fprintf(p.w, "%s states in %s\n", report.Grouped(r.States), d.Round(time.Millisecond))
	}
}
