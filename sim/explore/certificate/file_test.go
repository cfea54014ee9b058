package certificate_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"lockstep/sim/explore/certificate"
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
