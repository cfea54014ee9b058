package cli

import (
	"io"
	"net"
	"os"
	"strings"
	"testing"
	"time"
)

// monitored is a log in which A is slow: B has had the lock for a second when A gives it back.
const monitored = `OK
1700000000.000000 [0 10.0.0.3:5003] "del" "order:17"
1700000001.000000 [0 10.0.0.1:5001] "set" "order:17" "5f0c" "NX" "PX" "3000"
1700000004.500000 [0 10.0.0.2:5002] "set" "order:17" "99ab" "NX" "PX" "3000"
1700000005.500000 [0 10.0.0.1:5001] "del" "order:17"
`

// TestAudit: the lock, the catalogue's like it, and the violations are told, and the exit status
// says so if it is asked to.
func TestAudit(t *testing.T) {
	out, errs, status := run(t, monitored, "audit", "-")
	for _, want := range []string{"4 commands of 3 connections, 2023-11-14 22:13:20.000 to 22:13:25.500 UTC\n", "\norder:17\n  2 grants, no refusal\n",
		"  taken by SET NX PX, with a token of each holder's own\n", "  like naive-del\n", "\n  falls to ", "  (lockstep run naive-del ",
		"  in this log: two holders at a time (1)\n", `line 5, 22:13:25.500: DEL of the holder of "5f0c"`, "What a log can't show\n"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	if status != 0 || errs != "" {
		t.Errorf("exit status %d, %s", status, errs)
	}
	if _, _, status := run(t, monitored, "audit", "-", "--fail-on", "foreign-release"); status != 1 {
		t.Errorf("exit status %d", status)
	}
	if _, _, status := run(t, monitored, "audit", "-", "--fail-on", "no-expiry"); status != 0 {
		t.Errorf("exit status %d", status)
	}
	if out, _, status := run(t, monitored, "audit", "-", "--json"); status != 0 || !strings.Contains(out, `"Kind": "foreign-release"`) {
		t.Errorf("exit status %d\n%s", status, out)
	}
}

// lost is a log in which the server has lost the first record: the scripts' own commands show it.
const lost = `OK
1700000000.000000 [0 10.0.0.3:5003] "del" "order:17"
1700000001.000000 [0 10.0.0.1:5001] "set" "order:17" "a1f3" "NX" "PX" "30000"
1700000002.000000 [0 10.0.0.2:5002] "set" "order:17" "b7c9" "NX" "PX" "30000"
1700000005.000000 [0 10.0.0.1:5001] "evalsha" "cafe" "1" "order:17" "a1f3"
1700000005.000000 [0 lua] "get" "order:17"
1700000006.000000 [0 10.0.0.2:5002] "evalsha" "cafe" "1" "order:17" "b7c9"
1700000006.000000 [0 lua] "get" "order:17"
1700000006.000000 [0 lua] "del" "order:17"
`

// TestAuditContradiction: a log that contradicts what a server would have answered is never said to
// be clear, and can be asked for by name.
func TestAuditContradiction(t *testing.T) {
	plain := strings.Join(strings.SplitAfter(lost, "\n")[:4], "") + `1700000005.000000 [0 10.0.0.2:5002] "del" "order:17"` + "\n"
	for log, want := range map[string][]string{
		lost:  {"two holders at a time (1)", "the log contradicts itself (2)", "2 grants, no refusal"},
		plain: {"the log contradicts itself (1)", "(possible: "},
	} {
		out, _, status := run(t, log, "audit", "-", "--fail-on", "contradiction")
		for _, w := range want {
			if !strings.Contains(out, w) {
				t.Errorf("no %q in\n%s", w, out)
			}
		}
		if status != 1 || strings.Contains(out, "nothing went wrong") {
			t.Errorf("exit status %d\n%s", status, out)
		}
		if out, _, _ := run(t, log, "audit", "-", "--json"); !strings.Contains(out, `"Kind": "contradiction"`) {
			t.Error(out)
		}
	}
}

// scripted is a connection to a server that says what it has to say, until the time is over.
type scripted struct {
	net.Conn
	says  io.Reader
	heard strings.Builder
}

func (s *scripted) Read(b []byte) (int, error) {
	n, err := s.says.Read(b)
	if err == io.EOF {
		err = os.ErrDeadlineExceeded
	}
	return n, err
}

func (s *scripted) Write(b []byte) (int, error) { return s.heard.Write(b) }

func (s *scripted) SetDeadline(time.Time) error { return nil }

// TestListen: no whole line is lost of what a server says, even if it says all at once.
func TestListen(t *testing.T) {
	for _, lines := range []string{monitored, monitored[:150]} {
		conn := &scripted{says: strings.NewReader("+OK\r\n+OK\r\n" + lines)}
		log, err := listen(t.Context(), conn, [][]string{{"AUTH", "secret"}, {"MONITOR"}}, time.Hour)
		if whole := lines[:strings.LastIndex(lines, "\n")+1]; err != nil || log != whole {
			t.Errorf("%v, %q", err, log)
		}
		if heard := conn.heard.String(); heard != "*2\r\n$4\r\nAUTH\r\n$6\r\nsecret\r\n*1\r\n$7\r\nMONITOR\r\n" {
			t.Errorf("it sends %q", heard)
		}
	}
	conn := &scripted{says: strings.NewReader("-NOAUTH Authentication required.\r\n")}
	if _, err := listen(t.Context(), conn, [][]string{{"MONITOR"}}, time.Hour); err == nil || err.Error() != "MONITOR: NOAUTH Authentication required." {
		t.Error(err)
	}
}

// TestAuditRefusals: an error says what is wrong, and never a password.
func TestAuditRefusals(t *testing.T) {
	for _, tt := range []struct{ in, args, want string }{
		{"hello\n", "audit -", `standard input: line 1 is none of MONITOR's: it begins with no time: "hello"`},
		{"", "audit -", "standard input: the log has no command"},
		{"", "audit", "audit needs a FILE|- (see lockstep audit --help)"},
		{"", "audit - --fail-on two-holders,nonsense", `--fail-on: "nonsense" is no kind of finding; there are two-holders, foreign-release, late-extension, contradiction, no-expiry, lost-lease`},
		{"", "audit --redis localhost:6379", "--redis: it is to be a URL such as redis://localhost:6379"},
		{"", "audit --redis redis://:secret@127.0.0.1:1", "127.0.0.1:1: "},
	} {
		out, errs, status := run(t, tt.in, strings.Fields(tt.args)...)
		if !strings.HasPrefix(errs, "lockstep: "+tt.want) || status != 2 || out != "" || strings.Contains(errs, "secret") {
			t.Errorf("lockstep %s: exit status %d\n%s%s", tt.args, status, out, errs)
		}
	}
}
