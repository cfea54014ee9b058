package cli

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"lockstep/sim/testenv"
)

// lively are flags for a search for livelocks that takes a second.
const lively = " --cycles any --tries 2 --retry-delay 200ms --ttl 1s --codes LV --faults "

func TestLivelockRefusals(t *testing.T) {
	for _, tt := range []struct{ args, want string }{
		{"setpx-lua --codes LV", "a livelock has no end: a search for LV takes --cycles any"},
		{"setpx-lua --codes LV --cycles any", "with one try at a time nobody keeps asking: a search for LV takes --tries 2 or more, and a lock that waits between two (see --retry-delay)"},
		{"setpx-lua --codes LV --cycles any --tries 2", "a search for LV takes none or any number of crashes of clients: they end at some time anyway"},
		{"setpx-lua --codes LV --cycles any --tries 2 --faults delay=1", "a search for LV knows nothing of requests held up yet"},
		{"setpx-lua --codes LV --cycles any --tries 2 --faults none --clients 1",
			"in a livelock two or more clients keep each other out: a search for LV takes --clients 2 or more"},
		{"setpx-lua --codes LV --cycles any --tries 2 --faults none --clients any",
			"a search for LV takes so many clients as are stated: an environment in place of others gives back what it doesn't have, so nobody can rely on it"},
		{"setpx-lua --codes LV --cycles any --tries 2 --faults none --disk x", "a search for LV can't go on on disk: it needs its whole graph in memory"},
		{"setpx-lua --codes LV --cycles any --tries 2 --faults none --certificate x", "a search for LV has more situations than a certificate: make that by a search of its own"},
		{"setpx-lua --retry-delay -1s", "--retry-delay: -1s is less than nothing"},
		{"setpx-lua --retry-delay 1s --certificate x", "--certificate: it is of the lock with its own delay between two tries, without --retry-delay"},
	} {
		if _, errs, status := run(t, "", strings.Fields("explore "+tt.args)...); status != 2 || errs != "lockstep: "+tt.want+"\n" {
			t.Errorf("%s: exit status %d: %s", tt.args, status, errs)
		}
	}
}

// What holds is said with what it assumes, and with the longest wait; a livelock with the schedule
// that comes round, which can be saved and replayed.
func TestLivelockText(t *testing.T) {
	testenv.Long(t)
	out, errs, status := run(t, "", strings.Fields("explore setpx-lua"+lively+"crash=any")...)
	flat := strings.Join(strings.Fields(out), " ")
	for _, want := range []string{
		"LV livelock: holds for every schedule of 2 clients, if at some time nothing goes wrong any more, and messages and code take no time",
		"with up to 2 tries each time, 200ms apart",
		"wait if nobody holds the lock and somebody keeps asking, somebody is granted it within 1.2s, whatever was left behind before",
		"assumed for LV and for that wait: at some time things stop going wrong",
		"A record goes before or after whatever happens in the millisecond that ends its life",
	} {
		if !strings.Contains(flat, want) {
			t.Errorf("exit status %d: %q is missing in\n%s%s", status, want, out, errs)
		}
	}
	if strings.Contains(flat, "callers that ask again") || status != 0 {
		t.Errorf("exit status %d\n%s", status, out)
	}
	if out, _, status := run(t, "", strings.Fields("explore setpx-lua --cycles any --tries 2 --codes LV --faults none")...); status != 3 ||
		!strings.Contains(out, "setpx-lua: not decided, because clients ask again and again without waiting") {
		t.Errorf("exit status %d\n%s", status, out)
	}
	file := filepath.Join(t.TempDir(), "livelock.yaml")
	out, errs, status = run(t, "", strings.Fields("explore redlock-no-elapsed --nodes 2"+lively+"none --save "+file)...)
	if flat := strings.Join(strings.Fields(out), " "); status != 1 || !strings.Contains(flat, "a schedule with no fault comes to a situation after 2 steps, and to the same again after 37 steps more, for ever") ||
		!strings.Contains(flat, "2 clients keep trying and nobody gets the lock") {
		t.Errorf("exit status %d\n%s%s", status, out, errs)
	}
	if data := content(t, file); !strings.Contains(data, `title: "A schedule in which redlock-no-elapsed shows a livelock"`) || !strings.Contains(data, " --retry-delay 200ms ") {
		t.Errorf("%s", data)
	}
	if _, _, status := run(t, "", "run", "redlock-no-elapsed", file, "--fail-on", "LV"); status != 1 {
		t.Errorf("the file doesn't show LV: exit status %d", status)
	}
}

func TestLivelockAsJSON(t *testing.T) {
	testenv.Long(t)
	type lasting struct {
		Wait, Unbounded string
		Stated          map[string]string
	}
	for args, want := range map[string]lasting{
		"setpx-lua" + lively + "none":                           {Wait: "200ms"},
		"redlock-no-elapsed --nodes 2" + lively + "none --json": {Unbounded: "there are clients of whom none is ever granted it, however long they ask"},
	} {
		out, _, _ := run(t, "", strings.Fields("explore --json "+args)...)
		var r struct {
			Lasting  *lasting
			Verdicts map[string]struct {
				Answer      string
				Least       bool
				Steps, Turn int
			}
		}
		if err := json.Unmarshal([]byte(out), &r); err != nil {
			t.Fatal(err)
		}
		if l := r.Lasting; l == nil || l.Wait != want.Wait || l.Unbounded != want.Unbounded || l.Stated["wait"] == "" || l.Stated["assumed"] == "" {
			t.Errorf("%s: %+v", args, r.Lasting)
		}
		v := r.Verdicts["LV"]
		if want.Wait != "" && v.Answer != "holds for every schedule" || want.Wait == "" && (v.Answer != "violated" || v.Least || v.Turn != 37 || v.Steps != 39) {
			t.Errorf("%s: %+v", args, v)
		}
	}
}
