package queue

import (
	"fmt"
	"time"

	"lockstep/sim/explore/report"
)

// Progress tells how far a campaign has come.
type Progress struct {
	Started time.Time
	Total   int   // jobs
	Known   int   // whose results were there at the start
	Done    int   // that have a result, those known included
	Aside   int   // that were set aside
	Running int   // that a worker is at
	States  int64 // of the results, and so far of those that are running; schedules count as states
	Rest    Estimate

	running int64 // states of the running ones
}

// Estimate is the time that the rest takes, as far as it is known.
type Estimate struct {
	Left   time.Duration // for the jobs whose like has been done
	Likes  int           // those jobs
	Others int           // jobs with bounds that no job has had yet: nobody knows
}

// String returns the progress in one line.
func (p Progress) String() string {
	text := fmt.Sprintf("%d of %d done, %d running, %s states", p.Done, p.Total, p.Running, report.Grouped(p.States))
	if p.Known > 0 {
		text += fmt.Sprintf("; %d were known", p.Known)
	}
	if p.Aside > 0 {
		text += fmt.Sprintf("; %d set aside", p.Aside)
	}
	return text + p.Rest.String()
}

// String returns the estimate as the end of a line.
func (e Estimate) String() string {
	switch {
	case e.Likes == 0 && e.Others == 0:
		return ""
	case e.Likes == 0:
		return fmt.Sprintf("; time unknown for %d", e.Others)
	case e.Others == 0:
		return fmt.Sprintf("; about %s left", e.Left.Round(time.Second))
	}
	return fmt.Sprintf("; about %s for %d, unknown for %d", e.Left.Round(time.Second), e.Likes, e.Others)
}

// report tells the progress.
func (c *Coordinator) report() error {
	if c.Progress == nil {
		return nil
	}
	p := &c.progress
	p.Done, p.Aside, p.States = len(c.results), len(c.aside), p.running
	spent, count := map[string]float64{}, map[string]int{}
	for _, r := range c.results {
		p.States += r.Outcome.States
		shape := r.Outcome.Job.Shape()
		spent[shape] += r.Took.Seconds
		count[shape]++
	}
	p.Rest = Estimate{}
	left := 0.0
	for _, name := range c.outstanding() {
		shape := c.byName[name].Shape()
		if count[shape] == 0 {
			p.Rest.Others++
			continue
		}
		p.Rest.Likes++
		left += spent[shape] / float64(count[shape])
	}
	p.Rest.Left = time.Duration(left / float64(max(1, p.Running)) * float64(time.Second))
	c.Progress(*p)
	return nil
}
