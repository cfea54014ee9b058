package trace

import (
	"strings"
	"testing"
	"time"
)

// Where a violation is expected and missing, it is said what the run lacks: counted from its events, and nothing if a lease
// did end too early.
func TestMissingViolationIsExplained(t *testing.T) {
	const none = "no lease ended before its client began to release the lock"
	at := func(seconds int, kind Kind, client int) Event {
		return Event{At: time.Duration(seconds) * time.Second, Kind: kind, Client: client}
	}
	for _, tt := range []struct {
		expected string
		events   []Event
		want     string
	}{
		{"DG", []Event{at(0, KindGranted, 0), at(1, KindRelease, 0)}, "; in this run " + none + ", and nobody was paused"},
		{"DG", []Event{at(0, KindGranted, 0), at(1, KindPause, 0), at(4, KindResume, 0), at(5, KindRelease, 0)}, none + ", and A stood still longest, for 3s of a lease of 10s"},
		{"DG", []Event{at(0, KindGranted, 0), at(0, KindPause, 1), at(20, KindRelease, 0)}, "; in this run " + none},
		{"DG", []Event{at(0, KindGranted, 0), at(10, KindLapse, 0)}, "the verdict is ok"},
		{"DG", []Event{at(0, KindGranted, 0), at(1, KindRelease, 0), at(2, KindGranted, 2), at(12, KindLapse, 2)}, none + ", and nobody was paused"},
		{"PD", []Event{at(0, KindGranted, 0), at(1, KindCrash, 0)}, "the verdict is ok"},
		{"DG", []Event{at(0, KindRefused, 0)}, "; in this run nobody got the lock"},
	} {
		run := &Trace{Clients: []string{"A", "B", Probe}, TTL: 10 * time.Second, Expected: tt.expected, Events: tt.events}
		if text, met := run.Expectation(); met || !strings.HasSuffix(text, tt.want) {
			t.Errorf("%v: %s, want %s", tt.events, text, tt.want)
		}
	}
	run := &Trace{Expected: "ok", Violations: []Violation{{Code: DG}}}
	if text, met := run.Expectation(); met || strings.Contains(text, "in this run") {
		t.Errorf("of a verdict with more than is expected it is said: %s", text)
	}
}
