package command

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"lockstep/sim/campaign/job"
	"lockstep/sim/campaign/report"
	"lockstep/sim/redis/redistest"
)

var quiet = flag.Bool("quiet", false, "the machine has two cores and nothing else to do: TestWorkersShareTheWork has 200 jobs, and insists on speed")

// sharing is a campaign of twenty searches for each lock: with two cycles, a tenth of a second to a
// second each.
const sharing = `campaign: sharing
locks: [%s]
searches:
  - cycles: %d
    callers: [plain, checks]
    ttls: [3s, 4s, 5s, 6s, 7s, 8s, 9s, 10s, 11s, 12s]
    codes: DG,FR,PD
`

// Two workers share the work. On a quiet machine they take half the time of one, and the queue
// takes little; elsewhere times say nothing.
func TestWorkersShareTheWork(t *testing.T) {
	s := newShared(t)
	file := s.file("campaign.yaml", fmt.Sprintf(sharing, "setpx-lua", 1))
	if *quiet {
		file = s.file("campaign.yaml", fmt.Sprintf(sharing, "setpx-lua, setpx-watch, fenced, get-then-del, naive-del, setpx-get, setpx-delex, setnx-expire, incr-expire, setpx-autoretry", 2))
		alone, both := s.carryOut(file, 1), s.carryOut(file, 2)
		if gain := alone.Seconds() / both.Seconds(); gain < 1.8 {
			t.Errorf("two workers are only %.2f times as fast as one", gain)
		} else {
			t.Logf("two workers are %.2f times as fast as one", gain)
		}
		return
	}
	s.carryOut(file, 2)
}

// carryOut carries out a campaign with some workers, and returns the time that it took.
func (s *shared) carryOut(file string, workers int) time.Duration {
	s.Helper()
	log := newLines()
	queue := "redis-socket://" + redistest.Start(s.T)
	results := filepath.Join(s.dir, fmt.Sprint(workers))
	for range workers {
		s.worker(log, "--queue", queue, "--results", results)
	}
	begun := time.Now()
	if _, status := s.run(log, file, "--queue", queue, "--results", results); status == exitUsage {
		s.Fatal(log)
	}
	took := time.Since(begun)
	seconds, by := spent(s.T, results)
	if len(by) != workers {
		s.Errorf("%d workers did the work of %d: %v", len(by), workers, by)
	}
	jobs := readReport(s.T, results, "sharing").Jobs
	overhead := (took*time.Duration(workers) - time.Duration(seconds*float64(time.Second))) / time.Duration(jobs)
	if *quiet {
		s.Logf("%d jobs, %d workers: %s, of which the queue took %s a job", jobs, workers, took.Round(time.Millisecond), overhead.Round(10*time.Microsecond))
		if jobs < 200 || overhead > 20*time.Millisecond {
			s.Errorf("the queue takes %s a job", overhead)
		}
	}
	return took
}

// readReport is the last report of a campaign in a folder of results.
func readReport(t *testing.T, results, campaign string) *report.Report {
	t.Helper()
	var r report.Report
	if err := json.Unmarshal(content(t, filepath.Join(results, "campaigns", campaign, "last.json")), &r); err != nil {
		t.Fatal(err)
	}
	return &r
}

// spent is the time that the jobs in a folder of results took, in seconds, and how many each
// worker did.
func spent(t *testing.T, results string) (seconds float64, by map[string]int) {
	t.Helper()
	by = map[string]int{}
	for path := range modified(t, results) {
		var r job.Result
		if err := json.Unmarshal(content(t, path), &r); err != nil {
			t.Fatal(err)
		}
		seconds += r.Took.Seconds
		by[r.Took.Worker]++
	}
	return seconds, by
}

func content(t *testing.T, path string) []byte {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return text
}
