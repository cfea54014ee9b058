package audit

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
)

const (
	compare = `if redis.call('get',KEYS[1])==ARGV[1] then return redis.call('del',KEYS[1]) end`
	prolong = `if redis.call('get',KEYS[1])==ARGV[1] then return redis.call('pexpire',KEYS[1],ARGV[2]) end`
)

// logOf writes lines such as "1.5 A set lock t nx px 3000" as MONITOR does. A word is put
// together by underscores; RELEASE, its HASH and EXTEND stand for a script's call.
func logOf(lines ...string) string {
	var b strings.Builder
	fmt.Fprintln(&b, "OK")
	for _, line := range lines {
		words := strings.Fields(line)
		from := map[string]string{"A": "10.0.0.1:5001", "B": "10.0.0.2:5002", "C": "10.0.0.3:5003", "D": "10.0.0.4:5004", "lua": "lua"}[words[1]]
		fmt.Fprintf(&b, "17000000%s000 [0 %s]", words[0], from)
		for _, w := range words[2:] {
			switch w {
			case "RELEASE":
				w = compare
			case "EXTEND":
				w = prolong
			case "HASH":
				w = hashOf(compare)
			}
			fmt.Fprintf(&b, ` "%s"`, strings.ReplaceAll(w, `"`, `\"`))
		}
		fmt.Fprintln(&b)
	}
	return b.String()
}

func auditOf(t *testing.T, lines ...string) *Report {
	t.Helper()
	entries, others, err := Read(strings.NewReader(logOf(lines...)))
	if err != nil {
		t.Fatal(err)
	}
	if len(entries) != len(lines) || others != 0 {
		t.Fatalf("%d entries and %d other lines, of %d", len(entries), others, len(lines))
	}
	r, err := Audit(entries, others)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestFindings: each thing that can go wrong is found where it is, and not where it isn't.
func TestFindings(t *testing.T) {
	released := []string{"00.000 A set lock ta nx px 3000", "01.000 B set lock tb nx px 3000",
		"02.000 A eval RELEASE 1 lock ta", "02.000 lua get lock", "02.000 lua del lock", "02.500 B set lock tb nx px 3000"}
	for name, tt := range map[string]struct {
		lines []string
		want  []string // kind, sure, line, a part of the text
	}{
		"all is well": {lines: released},
		"a script that takes the lock if it does not exist": {
			lines: []string{"00.000 A eval TAKE 1 lock ta", "00.000 lua exists lock", "00.000 lua set lock ta px 3000", "01.000 B eval TAKE 1 lock tb", "01.000 lua exists lock",
				"03.500 B eval TAKE 1 lock tb", "03.500 lua exists lock", "03.500 lua set lock tb px 3000", "04.000 A del lock"},
			want: []string{`two-holders likely 10 the holder of "ta" gives it back when the holder of "tb" has had it for 500ms`,
				`foreign-release certain 10 DEL of the holder of "ta", whose record expired 1s ago, removes that of the holder of "tb" (line 10)`},
		},
		"a script that is late, and somebody else has the lock": {
			lines: []string{"00.000 A set lock ta nx px 3000", "03.500 B set lock tb nx px 3000", "04.000 A eval RELEASE 1 lock ta", "04.000 lua get lock",
				"05.000 B eval RELEASE 1 lock tb", "05.000 lua get lock", "05.000 lua del lock"},
			want: []string{`two-holders likely 4 the holder of "ta" gives it back by EVAL 1s after its record expired; the holder of "tb" has taken it since, 500ms ago (line 4)`},
		},
		"a script that is late, and nobody has the lock": {
			lines: append(released, "05.600 B eval RELEASE 1 lock tb", "05.600 lua get lock"),
			want:  []string{`lost-lease certain 8 the holder of "tb" gives it back by EVAL 100ms after its record expired`},
		},
		"a DEL of another's record": {
			lines: []string{"00.000 A set lock ta nx px 3000", "03.500 B set lock tb nx px 3000", "04.000 A del lock"},
			want: []string{`two-holders likely 4 the holder of "ta" gives it back when the holder of "tb" has had it for 500ms`,
				`foreign-release certain 4 DEL of the holder of "ta", whose record expired 1s ago, removes that of the holder of "tb" (line 4)`},
		},
		"a DEL of another's record without tokens": {
			lines: []string{"00.000 A set lock 1 nx px 3000", "03.500 B set lock 1 nx px 3000", "04.000 A del lock"},
			want:  []string{`two-holders possible 4 10.0.0.1:5001 gives it back`, `foreign-release possible 4 DEL of 10.0.0.1:5001`},
		},
		"a DEL after another's release": {
			lines: []string{"00.000 A set lock ta nx px 3000", "03.500 B set lock tb nx px 3000", "03.700 B del lock", "04.000 A del lock"},
			want:  []string{`two-holders likely 5 the holder of "ta" gives it back by DEL 1s after its record expired; the holder of "tb" has taken it since, 500ms ago (line 4)`},
		},
		"an extension after the loss": {
			lines: []string{"00.000 A set lock ta nx px 3000", "01.000 A eval EXTEND 1 lock ta 3000", "01.000 lua get lock", "01.000 lua pexpire lock 3000",
				"04.500 B set lock tb nx px 3000", "05.000 A eval EXTEND 1 lock ta 3000", "05.000 lua get lock"},
			want: []string{`late-extension certain 7 the holder of "ta" extends it by EVAL 1s after its record expired; the holder of "tb" has taken it since (line 7)`},
		},
		"a PEXPIRE of another's record": {
			lines: []string{"00.000 A set lock ta nx px 3000", "04.000 B set lock tb nx px 3000", "05.000 A pexpire lock 3000"},
			want: []string{`two-holders likely 4 the holder of "ta" extends it during the lease of the holder of "tb" (line 4), which has had it for 1s; the record of the holder of "ta" expired`,
				`late-extension certain 4 the holder of "ta" extends it by PEXPIRE 2s after its record expired`},
		},
		"a lease whose record another has removed": {
			lines: []string{"00.000 A set lock ta nx px 9000", "12.000 B set lock tb nx px 9000", "15.000 A del lock", "16.000 C set lock tc nx px 9000", "17.000 B del lock",
				"18.000 D set lock td nx px 9000", "19.000 C del lock"},
			want: []string{`two-holders likely 4 the holder of "ta" gives it back when the holder of "tb" has had it for 3s (line 4)`,
				`two-holders likely 5 the holder of "tc" gets it during the lease of the holder of "tb" (line 4), which lasts for another 5s; the record of the holder of "tb" was removed by DEL of the holder of "ta" (line 5)`,
				`two-holders likely 7 the holder of "td" gets it during the lease of the holder of "tc" (line 6), which lasts for another 7s`,
				`foreign-release certain 4 DEL of the holder of "ta", whose record expired 6s ago, removes that of the holder of "tb" (line 4)`,
				`foreign-release certain 6 DEL of the holder of "tb", whose record was removed by DEL of the holder of "ta" (line 5) 2s ago, removes that of the holder of "tc" (line 6)`,
				`foreign-release certain 8 DEL of the holder of "tc"`},
		},
		"a lease whose record another has removed, and a release that compares": {
			lines: []string{"00.000 A set lock ta nx px 9000", "12.000 B set lock tb nx px 9000", "15.000 A del lock", "16.000 C set lock tc nx px 9000",
				"17.000 B eval RELEASE 1 lock tb", "17.000 lua get lock", "18.000 C eval RELEASE 1 lock tc", "18.000 lua get lock", "18.000 lua del lock"},
			want: []string{`two-holders likely 4 the holder of "ta" gives`, `two-holders likely 5 the holder of "tc" gets it during the lease of the holder of "tb"`, `foreign-release certain 4 DEL of`},
		},
		"a lease whose record another has removed, and that is over when the next one comes": {
			lines: []string{"00.000 A set lock ta nx px 3000", "04.000 B set lock tb nx px 3000", "05.000 A del lock", "07.000 C set lock tc nx px 3000"},
			want:  []string{`two-holders likely 4`, `foreign-release certain 4`},
		},
		"a removal by a stranger": {
			lines: []string{"00.000 A set lock ta nx px 9000", "01.000 D del lock", "02.000 B set lock tb nx px 9000", "03.000 A eval RELEASE 1 lock ta", "03.000 lua get lock",
				"04.000 B eval RELEASE 1 lock tb", "04.000 lua get lock", "04.000 lua del lock"},
			want: []string{`two-holders likely 5 the holder of "ta" gives it back by EVAL 2s after its record was removed by DEL of 10.0.0.4:5004 (line 4); the holder of "tb" has taken it since, 1s ago`,
				`foreign-release likely 3 DEL of 10.0.0.4:5004 removes the record of the holder of "ta" (line 3), which acts as the holder later (line 6)`},
		},
		"a release through another connection of a pool": {
			lines: []string{"00.000 A set lock ta nx px 9000", "01.000 D del lock", "02.000 B set lock tb nx px 9000", "03.000 D del lock"},
		},
		"a removal through a pool that looks like a late release": {
			lines: []string{"00.000 A set lock ta nx px 3000", "01.000 D del lock", "02.000 A set lock tb nx px 3000", "06.000 B set lock tc nx px 3000", "07.000 A del lock"},
			want:  []string{`two-holders possible 6`, `foreign-release possible 6`},
		},
		"a flush": {
			lines: []string{"00.000 A set lock ta nx px 9000", "01.000 D flushall", "02.000 B set lock tb nx px 9000"},
			want:  []string{`two-holders likely 4 the holder of "tb" gets it during the lease of the holder of "ta" (line 3), which lasts for another 7s; the record of the holder of "ta" was removed by FLUSHALL of 10.0.0.4:5004 (line 4)`},
		},
		"a script that removes what it does not compare": {
			lines: []string{"00.000 A set lock 1 nx px 3000", "04.000 B set lock 1 nx px 3000", "05.000 A eval RELEASE 1 lock 1", "05.000 lua get lock", "05.000 lua del lock"},
			want:  []string{`two-holders possible 6`, `foreign-release possible 6 DEL of 10.0.0.1:5001`},
		},
		"no expiry": {
			lines: []string{"00.000 A setnx lock ta", "00.001 A expire lock 3", "01.000 A del lock", "02.000 B setnx lock tb", "09.000 B del lock", "20.000 C ping"},
			want:  []string{`no-expiry certain 5 the holder of "tb"'s record has no expiry, for 7s`},
		},
		"no expiry to the end": {
			lines: []string{"00.000 A setnx lock ta", "05.000 B setnx lock tb", "20.000 C ping"},
			want:  []string{`no-expiry certain 2 the holder of "ta"'s record has no expiry, for 20s`},
		},
		"a record that was lost, as two scripts show": {
			lines: []string{"00.000 A set lock ta nx px 9000", "01.000 B set lock tb nx px 9000", "02.000 A eval RELEASE 1 lock ta", "02.000 lua get lock",
				"03.000 B eval RELEASE 1 lock tb", "03.000 lua get lock", "03.000 lua del lock", "04.000 C set lock tc nx px 9000"},
			want: []string{`two-holders likely 3 the holder of "tb" gets it during the lease of the holder of "ta" (line 3), which lasts for another 8s; the record of the holder of "ta" was lost by then, as line 9 shows`,
				`contradiction certain 4 a script of the holder of "ta" (line 3) reads the record and leaves it`,
				`contradiction certain 8 a script's DEL shows that Redis had the record of the holder of "tb", which was taken for refused (line 4), as that of the holder of "ta" (line 3) should have been there: a record was lost, or the lock was granted, unseen`},
		},
		"a record that was lost, as an extension shows": {
			lines: []string{"00.000 A set lock ta nx px 3000", "01.000 B set lock tb nx px 3000", "02.000 B eval EXTEND 1 lock tb 3000", "02.000 lua get lock", "02.000 lua pexpire lock 3000",
				"04.500 C set lock tc nx px 3000", "05.500 D set lock td nx px 3000", "06.000 D eval RELEASE 1 lock td", "06.000 lua get lock", "06.000 lua del lock"},
			want: []string{`two-holders likely 3 the holder of "tb" gets it during the lease of the holder of "ta" (line 3), which lasts for another 2s`, `contradiction certain 6 a script's PEXPIRE`},
		},
		"a record that was lost, as a script shows that is known by its hash": {
			lines: []string{"00.000 A set lock ta nx px 9000", "01.000 B set lock tb nx px 9000", "01.500 B eval RELEASE 1 lock tb", "01.500 lua get lock", "02.000 A evalsha HASH 1 lock ta", "02.000 lua get lock"},
			want:  []string{`contradiction certain 6`},
		},
		"a holder that extends its record after the other was refused": {
			lines: []string{"00.000 A set lock ta nx px 3000", "01.000 B set lock tb nx px 3000", "02.000 A eval EXTEND 1 lock ta 3000", "02.000 lua get lock", "02.000 lua pexpire lock 3000",
				"03.000 B eval RELEASE 1 lock tb", "03.000 lua get lock", "03.000 lua del lock"},
			want: []string{`contradiction certain 9 a script's DEL`},
		},
		"a script that removes a record after its end": {
			lines: []string{"00.000 A set lock ta nx px 3000", "04.000 A eval RELEASE 1 lock ta", "04.000 lua get lock", "04.000 lua del lock", "05.000 B set lock tb nx px 3000"},
			want:  []string{`contradiction likely 3 a script of the holder of "ta" (line 3) uses its record by EVAL, which expired 1s ago`},
		},
		"a script that stores its token where a record should be": {
			lines: []string{"00.000 A eval TAKE 1 lock ta", "00.000 lua exists lock", "00.000 lua set lock ta px 3000", "01.000 B eval TAKE 1 lock tb", "01.000 lua exists lock", "01.000 lua set lock tb px 3000"},
			want:  []string{`two-holders likely 7 the holder of "tb" gets it during the lease of the holder of "ta"`, `contradiction likely 7 a script finds no record and stores its own`},
		},
		"a DEL after a refusal": {
			lines: []string{"00.000 A set lock ta nx px 9000", "01.000 B set lock tb nx px 9000", "02.000 B del lock"},
			want:  []string{`contradiction possible 4 DEL of 10.0.0.2:5002, as a holder sends it, whose SET was taken for refused (line 4), as the record of the holder of "ta" (line 3) should have been there`},
		},
		"a DEL after a refusal without tokens": {
			lines: []string{"00.000 A set lock 1 nx px 9000", "01.000 B set lock 1 nx px 9000", "02.000 B del lock"},
			want:  []string{`contradiction possible 4 DEL of 10.0.0.2:5002`},
		},
		"a script after a refusal without tokens": {
			lines: []string{"00.000 A set lock 1 nx px 9000", "01.000 B set lock 1 nx px 9000", "02.000 B eval RELEASE 1 lock 1", "02.000 lua get lock", "02.000 lua del lock"},
			want:  []string{`contradiction possible 4 EVAL of 10.0.0.2:5002`},
		},
		"a GET and a DEL after a refusal": {
			lines: []string{"00.000 A set lock ta nx px 9000", "01.000 B set lock tb nx px 9000", "02.000 B get lock", "02.001 B del lock"},
			want:  []string{`contradiction possible 5 DEL of 10.0.0.2:5002`},
		},
		"a DEL after a refusal, and after the other's lease": {
			lines: []string{"00.000 A set lock ta nx px 3000", "01.000 B set lock tb nx px 3000", "04.000 B del lock"},
			want:  []string{`contradiction possible 4 DEL of 10.0.0.2:5002`},
		},
		"a PEXPIRE after a refusal": {
			lines: []string{"00.000 A setnx lock ta", "00.000 A pexpire lock 9000", "01.000 B setnx lock tb", "01.000 B pexpire lock 9000", "02.000 A del lock"},
			want:  []string{`contradiction possible 5 PEXPIRE of 10.0.0.2:5002`},
		},
		"a script after a refusal without tokens, when there is no record": {
			lines: []string{"00.000 A set lock 1 nx px 9000", "01.000 B set lock 1 nx px 9000", "02.000 A eval RELEASE 1 lock 1", "02.000 lua get lock", "02.000 lua del lock", "03.000 B eval RELEASE 1 lock 1", "03.000 lua get lock"},
			want:  []string{`contradiction possible 7 EVAL of 10.0.0.2:5002`},
		},
		"a count that should not be the first": {
			lines: []string{"00.000 A incr lock", "00.000 A pexpire lock 9000", "01.000 B incr lock", "01.000 B pexpire lock 9000", "02.000 A del lock"},
			want:  []string{`contradiction possible 5 PEXPIRE of 10.0.0.2:5002`},
		},
		"a count that is too high": {
			lines: []string{"00.000 A incr lock", "00.000 A pexpire lock 9000", "01.000 B incr lock", "02.000 A del lock", "03.000 B incr lock", "03.000 B pexpire lock 9000", "04.000 B del lock"},
		},
		"a repair after a refusal": {
			lines: []string{"00.000 A setnx lock ta", "00.100 B setnx lock tb", "00.100 B pexpire lock 9000", "02.000 A del lock"},
		},
		"a script that finds another's record after a refusal": {
			lines: []string{"00.000 A set lock ta nx px 9000", "01.000 B set lock tb nx px 9000", "01.000 B eval RELEASE 1 lock tb", "01.000 lua get lock",
				"02.000 A eval EXTEND 1 lock ta 9000", "02.000 lua get lock", "02.000 lua pexpire lock 9000", "03.000 A eval RELEASE 1 lock ta", "03.000 lua get lock", "03.000 lua del lock"},
		},
		"a script that was called and did nothing, as it was not known": {
			lines: []string{"00.000 A set lock ta nx px 9000", "01.000 B set lock tb nx px 9000", "02.000 A evalsha RELEASE 1 lock ta", "02.000 A eval RELEASE 1 lock ta", "02.000 lua get lock", "02.000 lua del lock"},
		},
		"a DEL after a refusal and a grant": {
			lines: []string{"00.000 A set lock ta nx px 9000", "01.000 B set lock tb nx px 9000", "02.000 A del lock", "03.000 B set lock tb nx px 9000", "04.000 B del lock"},
		},
		"a counter that is no lock": {lines: []string{"00.000 A incr hits", "00.001 A expire hits 60", "00.002 B incr hits"}},
	} {
		t.Run(name, func(t *testing.T) {
			r := auditOf(t, append([]string{"00.000 C del lock"}, tt.lines...)...) // then it is known to be free
			var got []string
			for _, l := range r.Locks {
				for _, f := range l.Findings {
					got = append(got, fmt.Sprintf("%s %s %d %s", f.Kind, f.Sure, f.Line-1, f.Text))
				}
			}
			if !slices.EqualFunc(got, tt.want, strings.HasPrefix) {
				t.Errorf("found\n%s\nexpected\n%s", strings.Join(got, "\n"), strings.Join(tt.want, "\n"))
			}
		})
	}
}

// TestWhatWasThereBefore: a grant that depends on what was there before the log is none that is
// certain.
func TestWhatWasThereBefore(t *testing.T) {
	r := auditOf(t, "00.000 A set lock ta nx px 3000", "03.500 B set lock tb nx px 3000", "04.000 A pexpire lock 9000")
	if f := r.Locks[0].Findings; len(f) != 2 || slices.ContainsFunc(f, func(f Finding) bool { return f.Sure != Possible || !strings.Contains(f.Why, "when the log began") }) {
		t.Errorf("%+v", f)
	}
}

// TestKeysOfOneKind: locks whose keys differ in numbers alone are one.
func TestKeysOfOneKind(t *testing.T) {
	r := auditOf(t, "00.000 A set order:17:lock a nx px 900", "00.001 A set order:18:lock b nx px 900", "00.002 A set user:7 c nx ex 9", "00.003 B set cart:0f8fad5b-d9cb-469f-a165-70867728950e d nx ex 9")
	var keys []string
	for _, l := range r.Locks {
		keys = append(keys, fmt.Sprint(l.Key, " ", l.Keys))
	}
	slices.Sort(keys)
	if want := []string{"cart:0f8fad5b-d9cb-469f-a165-70867728950e 1", "order:*:lock 2", "user:7 1"}; !slices.Equal(keys, want) {
		t.Errorf("%q, expected %q", keys, want)
	}
}

// TestRead: every escape of MONITOR's is read, and what is none of its lines is told by its number.
func TestRead(t *testing.T) {
	entries, others, err := Read(strings.NewReader("OK\r\n" +
		`1339518083.107412 [0 [::1]:60866] "set" "a \"b\" \\ ] \"" "\n\r\t\a\b\x00\xff"` + "\n" +
		"something else\n" + `+1339518083.200000 [3 unix:/tmp/a b.sock] "ping"` + "\n"))
	if err != nil || others != 1 || len(entries) != 2 {
		t.Fatal(entries, others, err)
	}
	if e := entries[0]; e.From != "[::1]:60866" || !slices.Equal(e.Args, []string{"set", `a "b" \ ] "`, "\n\r\t\a\b\x00\xff"}) || e.At.String() != "372088h21m23.107412s" {
		t.Errorf("%+v", e)
	}
	if e := entries[1]; e.From != "unix:/tmp/a b.sock" || e.DB != 3 || e.Line != 4 {
		t.Errorf("%+v", e)
	}
	var bad *Malformed
	if _, _, err := Read(strings.NewReader("\nhello\n")); !errors.As(err, &bad) || bad.Line != 2 {
		t.Error(err)
	}
}

// FuzzRead: no text makes it fail otherwise than by an error.
func FuzzRead(f *testing.F) {
	f.Add(logOf("00.000 A set lock ta nx px 3000", "04.000 A eval RELEASE 1 lock ta", "04.000 lua del lock"))
	f.Add("1.000000 [0 x] \"eval\" \"\" \"-1\"\n")
	f.Fuzz(func(t *testing.T, text string) {
		entries, others, err := Read(strings.NewReader(text))
		if err != nil || len(entries) == 0 {
			return
		}
		if _, err := Audit(entries, others); err != nil {
			t.Error(err)
		}
	})
}
