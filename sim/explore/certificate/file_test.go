package certificate_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"time"

	"lockstep/sim"
	"lockstep/sim/explore/certificate"
	"lockstep/sim/process"
	"lockstep/sim/redis"
	"lockstep/strategies"
)

// TestWhatAFileSays: a certificate says nothing besides what is checked, and counts each situation once.
func TestWhatAFileSays(t *testing.T) {
	c := certificate.Certificate{Header: certificate.Header{Lock: "forged", Places: 2, Codes: []string{"DG"}},
		Rows: []certificate.Row{{}, {Move: certificate.Move{Place: 1}, Digest: certificate.Digest{1}}}}
	written := func(c certificate.Certificate) []byte {
		var file bytes.Buffer
		if err := c.Write(&file); err != nil {
			t.Fatal(err)
		}
		return file.Bytes()
	}
	right := written(c)
	if _, err := certificate.Read(bytes.NewReader(right)); err != nil {
		t.Fatal(err)
	}
	twice := c
	twice.Rows = append(slices.Clone(c.Rows), certificate.Row{Parent: 1, Digest: certificate.Digest{1}})
	clients := []byte(`"clients":2,`)
	for _, tc := range []struct {
		why  string
		file []byte
	}{
		{"more follows its end", slices.Concat(right, right)},
		{"more follows its end", append(slices.Clone(right), '\n')},
		{"unexpected EOF", right[:len(right)-1]},
		{"its situation 2 is its situation 1 once more", written(twice)},
		{"it says more", bytes.Replace(right, clients, []byte(`"clients":3,"clients":2,`), 1)},
		{"it says more", bytes.Replace(right, clients, []byte(`"clients":2,"servers":3,`), 1)},
		{"it says more", bytes.Replace(right, clients, []byte(`"Clients":2,`), 1)},
	} {
		if _, err := certificate.Read(bytes.NewReader(tc.file)); err == nil || !strings.Contains(err.Error(), tc.why) {
			t.Errorf("%v, expected %q", err, tc.why)
		}
	}
}

// TestManyCrashes: a configuration has a client for each crash that leads to a situation, and for one more, as long as the
// engine has so many.
func TestManyCrashes(t *testing.T) {
	s, known := strategies.Get("setpx-lua")
	if !known {
		t.Fatal("setpx-lua")
	}
	cfg := sim.Config{Strategy: s, Scenario: "many", Key: "lock", TTL: time.Second, Timeout: time.Second, Retry: strategies.Retry{Tries: 1}, Seed: 1,
		Nodes: []redis.Config{{}}, Clients: []process.Config{{Name: "A", Rate: 1, Cycles: 1}, {Name: "B", Rate: 1, Cycles: 1}}}
	rows := make([]certificate.Row, 1, 7)
	for at := range 6 {
		rows = append(rows, certificate.Row{Parent: at, Move: certificate.Move{Kind: certificate.Crashes}})
	}
	if text, err := certificate.ConfigText(cfg, rows[:6]); err != nil || strings.Count(text, "/0s/0s/0s/1/") != sim.MaxClients {
		t.Errorf("five crashes: %v\n%s", err, text)
	}
	const refusal = "a certificate can't have a situation to which only schedules with 6 crashes lead: each of these, and one more there, takes another process, and the engine has 8 in all"
	if _, err := certificate.ConfigText(cfg, rows); err == nil || err.Error() != refusal {
		t.Errorf("six crashes: %v", err)
	}
}
