package cli

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"lockstep/sim/testenv"
)

// shell is a lock in a few lines of the shell, without an adapter: it takes the lock whoever has it.
const shell = `#!/bin/sh
exec 4<&3
echo '{"type":"hello","lockstep":1,"lock":"shell","executions":"once","servers":1,"timeout":3000000}' >&3
while read -r line <&4; do
	case $line in
	*'"begin"'*) echo '{"type":"begun"}' ;;
	*'"acquire"'*) echo '{"type":"granted","token":"t"}' ;;
	*'"release"'*) echo '{"type":"RELEASED"}' ;;
	esac >&3
done
`

func shellLock(t *testing.T, change ...string) string {
	t.Helper()
	_, err := exec.LookPath("sh")
	testenv.Need(t, err)
	path := filepath.Join(t.TempDir(), "lock.sh")
	text := strings.NewReplacer(change...).Replace(shell)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return "sh " + path
}

func TestExec(t *testing.T) {
	command := shellLock(t, "RELEASED", "released")
	out := must(t, "", "run", "--exec", command, "pause-past-ttl", "--plain")
	if !strings.HasPrefix(out, "shell under pause-past-ttl: SW OV") {
		t.Errorf("%.200s", out)
	}
	if again := must(t, out, "replay", "--exec", command, "-"); again != out {
		t.Errorf("a replay prints\n%s", again)
	}
	_, errs, status := run(t, "", "run", "shell", "pause-past-ttl")
	if status != exitUsage || !strings.Contains(errs, `unknown lock "shell"`) {
		t.Errorf("exit status %d\n%s", status, errs)
	}
}

func TestExecRefusals(t *testing.T) {
	command := shellLock(t)
	for _, tt := range []struct {
		args []string
		want string
	}{
		{[]string{"run", "--exec", command}, "run needs a SCENARIO"},
		{[]string{"run", "--exec", command, "setnx", "pause-past-ttl"}, `run got "pause-past-ttl", which is one argument too many`},
		{[]string{"explore", "--exec", command, "setnx"}, `explore got "setnx", which is one argument too many`},
		{[]string{"run", "--exec", command, "pause-past-tll"}, `unknown scenario "pause-past-tll"; did you mean "pause-past-ttl"?`},
		{[]string{"run", "--exec", command, "--exec-timeout", "0s", "pause-past-ttl"}, "--exec-timeout: a process needs some time"},
		{[]string{"run", "--exec", " ", "pause-past-ttl"}, "--exec: there is no command to start"},
		{[]string{"run", "--exec", shellLock(t, `"shell"`, `"setnx"`), "pause-past-ttl"}, "--exec: a lock of the catalogue is named setnx: it needs another name"},
		{[]string{"run", "--exec", command, "pause-past-ttl"},
			"'s lock: the process of \"" + command + "\" has sent \"{\\\"type\\\":\\\"RELEASED\\\"}\" where a message should be: its type \"RELEASED\" is none of hello, begun,"},
		{[]string{"explore", "--exec", command}, "is none of hello, begun,"},
		{[]string{"explore", "--exec", command, "--cycles", "any"}, "shell may keep something of each cycle"},
	} {
		out, errs, status := run(t, "", tt.args...)
		if status != exitUsage || out != "" || !strings.Contains(errs, tt.want) {
			t.Errorf("lockstep %q: exit status %d\n got %s\nwant %s", tt.args, status, errs, tt.want)
		}
	}
}

// TestExecWavers: a lock that does not do the same twice is told, with the event.
func TestExecWavers(t *testing.T) {
	command := shellLock(t, "RELEASED", "released", `"token":"t"`, `"token":"'$$'"`)
	_, errs, status := run(t, "", "run", "--exec", command, "pause-past-ttl", "--plain")
	if status != exitUsage || !strings.Contains(errs, "the lock is not deterministic: run twice, it once goes on with") {
		t.Errorf("exit status %d\n%s", status, errs)
	}
}
