package cli

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"lockstep/sim/testenv"
	"lockstep/sim/verify"
)

func TestVerify(t *testing.T) {
	testenv.Need(t, verify.Tools())
	text := must(t, "", "verify", "setpx-lua", "pause-past-ttl")
	for _, want := range []string{"1 run on ", "1 of them to their ends", "no difference"} {
		if !strings.Contains(text, want) {
			t.Errorf("it does not say %q:\n%s", want, text)
		}
	}
}

func TestVerifyRefusals(t *testing.T) {
	for _, tc := range []struct {
		args []string
		want string
	}{
		{[]string{"setpx-lau"}, `did you mean "setpx-lua"?`},
		{[]string{"setpx-lua", "no-such"}, `no-such`},
		{[]string{"setpx-lua", "contention", "x"}, `"x", which is one argument too many`},
		{[]string{"setpx-lua", "contention", "--redis", ""}, "--redis needs an address, such as localhost:6379"},
		{[]string{"setpx-lua", "contention", "--redis", "nonsense"}, "--redis nonsense is no address: it is to be one such as localhost:6379"},
		{[]string{"setpx-lua", "contention", "--redis", "/no/such/socket"}, "/no/such/socket"},
	} {
		var out, errs bytes.Buffer
		if status := Main(append([]string{"verify"}, tc.args...), nil, &out, &errs); status != exitUsage || !strings.Contains(errs.String(), tc.want) {
			t.Errorf("%q: status %d, %q, want %q", tc.args, status, errs.String(), tc.want)
		}
	}
}

func TestDifferencesAreTheExitStatus(t *testing.T) {
	var out bytes.Buffer
	r := &verify.Report{Version: "Redis 1.2.3", Runs: 1, Found: []verify.Found{{Run: "x under y",
		Differences: []verify.Difference{{Event: 7, Server: "n1", What: "GET k", Simulated: "v", Real: "nil"}}}}}
	if err := writeVerified(&out, r); err != exit(exitOccurred) { //nolint:errorlint // it is returned as it is
		t.Errorf("got %v", err)
	}
	if want := "x under y: #7, n1, GET k: simulated v, real nil"; !strings.Contains(out.String(), want) {
		t.Errorf("it does not say %q:\n%s", want, out.String())
	}
}

// A replay that is cut short is not taken for one without a difference.
func TestVerifyIsInterrupted(t *testing.T) {
	testenv.Need(t, verify.Tools())
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	var out, errs bytes.Buffer
	if status := execute(ctx, []string{"verify", "setpx-lua", "contention"}, nil, &out, &errs); status != exitPartial || out.Len() > 0 {
		t.Errorf("status %d, %q, %q", status, out.String(), errs.String())
	}
}
