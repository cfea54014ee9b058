package strategies

import (
	"bufio"
	"bytes"
	"io"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
)

// What the three articles' code sends, and what the locks of the catalogue send, to the byte.
//
// A command stands in a line here, its words as they go over the wire. The key is lock, the TTL
// 10 s, the token (the article's request id) A-1, and the time 1616089611.250. A script is its
// name, since ours do the same as theirs in other words. One deviation holds for all and is not
// listed: go-redis writes the names of commands in small letters and the PHP clients in
// capitals, which Redis takes for the same.

const (
	chinese  = "Chinese article, "
	japanese = "Japanese article, "
	english  = "English article, "
)

// The situations in which a client asks, or releases.
const (
	free    = "the lock is free"
	taken   = "another holds the lock"
	expired = "another's stamp has passed"
	release = "release"
)

// Reasons that several deviations have.
const (
	byDigest = "go-redis's Script.Run sends the digest first, and the text once to a server that doesn't know it"
	noCode   = "the source prints no code for this: it is that of the lock beside it"
)

// wireRow is one situation, and the commands that its source's code sends in it. Where ours
// differ, they are in sends, with the reason.
type wireRow struct {
	strategy  string
	source    string // with the part, and the line of the code, counted from the function's head or the listing's
	situation string
	prints    string
	sends     string
	because   string
}

var wireRows = []wireRow{
	{"setnx", japanese + "part 4, line 4", free, "SETNX lock 1616089621", "", ""},
	{"setnx", japanese + "part 4, line 4", taken, "SETNX lock 1616089621", "", ""},
	{"setnx", japanese + "part 4", release, "", "DEL lock", "part 4 speaks of deleting the lock and prints no line for it; its other parts use DEL"},

	{"setnx-expire", chinese + "wrong1, lines 2 and 6", free, "SETNX lock A-1\nEXPIRE lock 10000", "SETNX lock A-1\nEXPIRE lock 10",
		"the article gives all its functions the one $expireTime, which is in milliseconds where it is explained; EXPIRE counts in seconds, and so does this lock"},
	{"setnx-expire", chinese + "wrong1, line 2", taken, "SETNX lock A-1", "", ""},
	{"setnx-expire", chinese + "wrongRelease1, line 2", release, "DEL lock", "", ""},
	{"setnx-expire", english + "Acquire Lock", free, "SETNX lock A-1\nEXPIRE lock 10", "", ""},
	{"setnx-expire", chinese + "comment on Laravel, acquire, lines 3 and 6", free, "SETNX lock 1\nEXPIRE lock 10", "SETNX lock A-1\nEXPIRE lock 10",
		"Laravel stores a 1; nothing ever reads the value, so every reply is the same"},
	{"setnx-expire", chinese + "comment on Laravel, release, line 3", release, "DEL lock", "", ""},

	{"incr-expire", chinese + "comment with a script, line 2", free, "EVAL incrExpire 1 lock 10", "EVALSHA incrExpire 1 lock 10\nEVAL incrExpire 1 lock 10", byDigest},
	{"incr-expire", chinese + "comment with a script, line 2", taken, "EVAL incrExpire 1 lock 10", "EVALSHA incrExpire 1 lock 10\nEVAL incrExpire 1 lock 10", byDigest},
	{"incr-expire", chinese + "comment with a script", release, "", "DEL lock", noCode},

	{"timestamp-overwritten", japanese + "part 5, line 7", free, "SETNX lock 1616089621", "", ""},
	{"timestamp-overwritten", japanese + "part 5, lines 7 and 10", taken, "SETNX lock 1616089621\nGET lock", "", ""},
	{"timestamp-overwritten", japanese + "part 5, lines 7, 10 and 13, and 7 again", expired, "SETNX lock 1616089621\nGET lock\nDEL lock\nSETNX lock 1616089610", "", ""},
	{"timestamp-overwritten", japanese + "part 5", release, "", "DEL lock", "part 5 prints no release; its text speaks of deleting the lock"},
	{"timestamp-del", japanese + "part 5, line 7", free, "SETNX lock 1616089621", "", ""},
	{"timestamp-del", japanese + "part 5, lines 7 and 10", taken, "SETNX lock 1616089621\nGET lock", "", ""},
	{"timestamp-del", japanese + "part 5, lines 7, 10 and 13, and 7 again", expired,
		"SETNX lock 1616089621\nGET lock\nDEL lock\nSETNX lock 1616089610", "SETNX lock 1616089621\nGET lock\nDEL lock\nSETNX lock 1616089621",
		"this is the algorithm that the article means; timestamp-overwritten is its code"},

	{"getset-equal", chinese + "wrong2, line 5", free, "SETNX lock 1616089621250", "", ""},
	{"getset-equal", chinese + "wrong2, lines 5 and 10", taken, "SETNX lock 1616089621250\nGET lock", "", ""},
	{"getset-equal", chinese + "wrong2, lines 5, 10 and 13", expired, "SETNX lock 1616089621250\nGET lock\nGETSET lock 1616089621250", "", ""},
	{"getset-equal", chinese + "wrongRelease1, line 2", release, "DEL lock", "", ""},

	{"getset-expired", japanese + "complete code, lines 26 and 36", free, "SETNX lock 1616089621\nEXPIRE lock 10", "", ""},
	{"getset-expired", japanese + "complete code, lines 26 and 33", taken, "SETNX lock 1616089621\nGET lock", "", ""},
	{"getset-expired", japanese + "complete code, lines 26, 33 and 36", expired, "SETNX lock 1616089621\nGET lock\nGETSET lock 1616089621\nEXPIRE lock 10", "", ""},
	{"getset-expired", japanese + "complete code, lines 43 and 44", release, "TTL lock\nDEL lock", "", ""},

	{"naive-del", chinese + "tryGetLock, line 2", free, "SET lock A-1 PX 10000 NX", "", ""},
	{"naive-del", chinese + "tryGetLock, line 2", taken, "SET lock A-1 PX 10000 NX", "", ""},
	{"naive-del", chinese + "wrongRelease1, line 2", release, "DEL lock", "", ""},
	{"get-then-del", chinese + "tryGetLock, line 2", free, "SET lock A-1 PX 10000 NX", "", ""},
	{"get-then-del", chinese + "wrongRelease2, lines 3 and 5", release, "GET lock\nDEL lock", "", ""},

	{"fixed-value", english + "Acquire Lock, the synopsis of SET", free, "SET lock locked PX 10000 NX", "", ""},
	{"fixed-value", english + "Release Lock", release, "EVAL compareAndDelete 1 lock locked", "EVALSHA compareAndDelete 1 lock locked\nEVAL compareAndDelete 1 lock locked", byDigest},

	{"setpx-lua", chinese + "tryGetLock, line 2", free, "SET lock A-1 PX 10000 NX", "", ""},
	{"setpx-lua", chinese + "tryGetLock, line 2", taken, "SET lock A-1 PX 10000 NX", "", ""},
	{"setpx-lua", english + "Acquire Lock, the synopsis of SET", free, "SET lock A-1 PX 10000 NX", "", ""},
	{"setpx-lua", chinese + "releaseLock, line 4", release, "EVAL compareAndDelete 1 lock A-1", "EVALSHA compareAndDelete 1 lock A-1\nEVAL compareAndDelete 1 lock A-1", byDigest},

	// On every server the same, so one is enough.
	{"redlock", english + "RedLock, step 2", free, "SET lock A-1 NX PX 10000", "SET lock A-1 PX 10000 NX",
		"the algorithm's page prints NX first, and the articles' clients send it last; Redis takes options in any order"},
	{"redlock", english + "RedLock, steps 2 and 5", taken, "SET lock A-1 NX PX 10000\nEVAL compareAndDelete 1 lock A-1",
		"SET lock A-1 PX 10000 NX\nEVALSHA compareAndDelete 1 lock A-1\nEVAL compareAndDelete 1 lock A-1", byDigest + "; the order of the options is as above"},
	{"redlock", english + "RedLock, step 5", release, "EVAL compareAndDelete 1 lock A-1", "EVALSHA compareAndDelete 1 lock A-1\nEVAL compareAndDelete 1 lock A-1", byDigest},

	// The SDK gives phpredis ['NX', 'PX' => $ttl], and phpredis writes the expiry first.
	{"redlock-hyperf", english + "Simple Object Invocation, line 2; the SDK's lockInstance, line 4", free, "SET lock A-1 PX 10000 NX", "", ""},
	{"redlock-hyperf", english + "Simple Object Invocation, line 2; the SDK's lock, lines 12 and 34", taken, "SET lock A-1 PX 10000 NX\nEVAL compareAndDelete 1 lock A-1", "", ""},
	{"redlock-hyperf", english + "Simple Object Invocation, line 5; the SDK's unlockInstance, line 12", release, "EVAL compareAndDelete 1 lock A-1", "", ""},
}

// TestWire plays each situation and compares the commands on the wire with the table.
func TestWire(t *testing.T) {
	for _, row := range wireRows {
		t.Run(row.strategy+"/"+row.situation, func(t *testing.T) {
			want := row.prints
			if row.sends != "" {
				want = row.sends
			}
			if deviates := want != row.prints; deviates != (row.because != "") || !deviates && row.sends != "" {
				t.Errorf("%s: a deviation has a reason, and nothing else has", row.source)
			}
			for n, got := range playWire(t, row) {
				if got != want {
					t.Errorf("%s: to server %d it sends\n%s\nwant\n%s", row.source, n+1, got, want)
				}
			}
		})
	}
}

// TestWireIsComplete: every lock that names an article as its source has a row for each
// situation that it can tell apart.
func TestWireIsComplete(t *testing.T) {
	shown := map[string][]string{}
	for _, row := range wireRows {
		shown[row.strategy] = append(shown[row.strategy], row.situation)
	}
	for _, s := range All() {
		seed := false
		for _, article := range []string{"Chinese article", "Japanese article", "English article", "Chinese and English articles"} {
			seed = seed || strings.Contains(s.Source, article)
		}
		// What timestamp-del sends to release is in no source; get-then-del and fixed-value are
		// refused by the same SET as the locks beside them.
		for _, situation := range []string{free, release} {
			if s.Name != "timestamp-del" && seed != slices.Contains(shown[s.Name], situation) {
				t.Errorf("%s comes from an article: %v; the table has %q of it: %v", s.Name, seed, situation, !seed)
			}
		}
	}
}

// TestRetriesAreTheSources compares how often, and how soon, the articles' locks ask again with
// what their code does.
func TestRetriesAreTheSources(t *testing.T) {
	for _, tt := range []struct {
		strategy, source string
		want             Retry
	}{
		{"setnx", japanese + "part 4: no loop", Retry{Tries: 1}},
		{"setnx-expire", chinese + "wrong1: no loop", Retry{Tries: 1}},
		{"incr-expire", chinese + "comment with a script: no loop", Retry{Tries: 1}},
		{"timestamp-overwritten", japanese + "part 5, line 5: while, without a sleep", Retry{}},
		{"timestamp-del", japanese + "part 5, line 5: while, without a sleep", Retry{}},
		{"getset-equal", chinese + "wrong2, line 22: all else is a refusal", Retry{Tries: 1}},
		{"getset-expired", japanese + "complete code, line 52: sleep(2)", Retry{Delay: 2 * time.Second}},
		{"naive-del", chinese + "tryGetLock: no loop", Retry{Tries: 1}},
		{"get-then-del", chinese + "tryGetLock: no loop", Retry{Tries: 1}},
		{"fixed-value", english + "which prints no loop for one server", Retry{Tries: 1}},
		{"setpx-lua", chinese + "tryGetLock: no loop", Retry{Tries: 1}},
		{"redlock-hyperf", english + "setRetryCount, setRetryDelay; the SDK's lock, line 38: half of the delay to all of it",
			Retry{Tries: 2, Delay: 100 * time.Millisecond, Jitter: 100 * time.Millisecond}},
	} {
		if s, _ := Get(tt.strategy); s.Retry != tt.want {
			t.Errorf("%s (%s): %+v, want %+v", tt.strategy, tt.source, s.Retry, tt.want)
		}
	}
}

// playWire brings about the situation of a row, and returns the commands that a client then
// sends to each server, a command a line.
func playWire(t *testing.T, row wireRow) []string {
	w := newWorld(t, row.strategy)
	a := w.process("A")
	for _, rdb := range a.nodes {
		if err := rdb.Ping(t.Context()).Err(); err != nil {
			t.Fatal(err)
		}
	}
	record := map[string]string{taken: "9999999999999", expired: strconv.FormatInt(w.wall.Add(-time.Second).Unix(), 10)}[row.situation]
	if record != "" {
		for _, m := range w.servers {
			_ = m.Set(lockKey, record)
		}
	}
	if row.situation == release {
		a.acquires()
	}
	for _, wire := range a.wires {
		wire.bytes.Reset()
	}
	switch row.situation {
	case taken:
		a.isRefused()
	case release:
		a.releases()
	default:
		a.acquires()
	}
	var sent []string
	for _, wire := range a.wires {
		sent = append(sent, wireLines(t, wire.bytes.String()))
	}
	return sent
}

// wireLines is the text of the commands in a stream of bytes, which must be of the Redis
// protocol throughout.
func wireLines(t *testing.T, stream string) string {
	t.Helper()
	var lines []string
	in := bufio.NewReader(strings.NewReader(stream))
	number := func(mark byte) int {
		head, err := in.ReadString('\n')
		n, bad := strconv.Atoi(strings.TrimSuffix(strings.TrimPrefix(head, string(mark)), "\r\n"))
		if err != nil || bad != nil || head[0] != mark {
			t.Fatalf("in %q: %q is no number of words or bytes", stream, head)
		}
		return n
	}
	for {
		if _, err := in.Peek(1); err == io.EOF {
			return strings.Join(lines, "\n")
		}
		line := make([]string, number('*'))
		for i := range line {
			length := number('$')
			word := make([]byte, length+len("\r\n"))
			if _, err := io.ReadFull(in, word); err != nil || !bytes.HasSuffix(word, []byte("\r\n")) {
				t.Fatalf("in %q: %q is no word of %d bytes", stream, word, length)
			}
			line[i] = scriptName(string(word[:length]))
		}
		line[0] = strings.ToUpper(line[0])
		lines = append(lines, strings.Join(line, " "))
	}
}

// scriptName is the name of a script of which the word is the digest or the text, or else
// the word.
func scriptName(word string) string {
	for name, script := range map[string]*redis.Script{"compareAndDelete": compareAndDelete, "incrExpire": incrExpire} {
		if word == script.Hash() || redis.NewScript(word).Hash() == script.Hash() {
			return name
		}
	}
	return word
}
