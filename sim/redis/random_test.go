package redis

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"lockstep/sim/redis/redistest"
	"lockstep/sim/testenv"
)

// randomWords makes a command of a template, with one of a few keys and a TTL that no other
// command has. No reply depends on how much time passes.
func randomWords(r *rand.Rand, template string) []string {
	pick := func(all ...string) string { return all[r.IntN(len(all))] }
	return redistest.Expand(r, template, func(w string) string {
		switch {
		case w == "K":
			return pick("a", "b", "c")
		case w == "N":
			return pick("-2", "-1", "0", "1", "2")
		case w == "T" || w == "T000":
			return fmt.Sprint(1000+r.IntN(1<<20)) + w[1:]
		case w == "V":
			return pick("v", "w", "x y", "7", "")
		case strings.TrimPrefix(w, "(") == "S":
			return strings.TrimSuffix(w, "S") + pick("-1.5", "0", "1", "2.25", "1000000")
		}
		return w
	})
}

// TestRandomCommands: to random commands of two connections a real server, a node, and a
// chain of questions to a Server give the same replies, the wording of errors aside.
func TestRandomCommands(t *testing.T) {
	pair := newPair(t)
	s, err := NewServer("a")
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for seed := range uint64(testenv.Quick(60, 150)) {
		r := rand.New(rand.NewPCG(seed, 13))
		for _, conn := range pair.real {
			conn.ask(t, "DISCARD")
			conn.ask(t, "UNWATCH")
		}
		pair.empty(t)
		var memory Snapshot
		var story strings.Builder
		for range 60 {
			who := r.IntN(2)
			words := randomWords(r, redistest.Commands[r.IntN(len(redistest.Commands))])
			a, err := s.Run(memory, who, words)
			if refused := (*Unmodelled)(nil); errors.As(err, &refused) {
				continue
			} else if err != nil {
				t.Fatalf("seed %d: %v: %v", seed, words, err)
			}
			redis, node := pair.askWords(t, string(rune('A'+who)), words)
			memory = a.After
			fmt.Fprintf(&story, "%c %q = %q\n", 'A'+who, words, redis)
			if !sameReply(redis, node) || node != string(a.Reply) {
				t.Errorf("seed %d:\n%s\tnode   %q\n\tserver %q", seed, story.String(), node, a.Reply)
				break
			}
		}
	}
}

// sameReply reports whether two replies are equal to a program, to which the wording of an
// error doesn't matter.
func sameReply(a, b string) bool {
	return errorText.ReplaceAllString(a, "-$1") == errorText.ReplaceAllString(b, "-$1")
}

var errorText = regexp.MustCompile(`(?m)^-([A-Z]+) .*$`)

// TestRandomWatch: after each of the commands, by itself, in a script or in a transaction, with keys
// of any type, a real server and a chain of questions agree whether a connection that watches a key has been disturbed.
func TestRandomWatch(t *testing.T) {
	pair := newPair(t)
	s, err := NewServer("a")
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	setups := []string{"ECHO none", "SET K 7", "SET K v EX 1000", "HSET K f v", "HSET K f v g 7", "RPUSH K v", "RPUSH K 7 7", "RPUSH K v w v", "SADD K v", "SADD K v w", "ZADD K 1 v", "ZADD K 1 v 2 w"}
	for seed := range uint64(testenv.Quick(250, testenv.Count(800, 20_000))) {
		r := rand.New(rand.NewPCG(seed, 17))
		for _, conn := range pair.real {
			conn.ask(t, "DISCARD")
			conn.ask(t, "UNWATCH")
		}
		pair.empty(t)
		var memory Snapshot
		var story strings.Builder
		ask := func(who string, words []string) (same bool) {
			a, err := s.Run(memory, int(who[0]-'A'), words)
			if err != nil {
				return true // it is refused
			}
			memory = a.After
			redis, node := pair.askWords(t, who, words)
			fmt.Fprintf(&story, "%s %q = %q\n", who, words, redis)
			return sameReply(redis, node) && sameReply(redis, string(a.Reply))
		}
		for _, key := range []string{"a", "b", "c"} {
			ask("A", strings.Fields(strings.ReplaceAll(setups[r.IntN(len(setups))], "K", key)))
		}
		words := randomWords(r, redistest.Commands[r.IntN(len(redistest.Commands))])
		if words[0] == "MULTI" || slices.Contains(words, "GT") || slices.Contains(words, "LT") { // a real server's clock runs on, so what is given twice is later
			continue
		}
		for _, key := range []string{"a", "b", "c"} {
			ask("A", []string{"WATCH", key})
			switch r.IntN(3) {
			case 0:
				ask("B", words)
			case 1:
				ask("B", append([]string{"EVAL", "return redis.call(unpack(ARGV))", "0"}, words...))
			default:
				ask("B", []string{"MULTI"})
				ask("B", words)
				ask("B", []string{"EXEC"})
			}
			ask("A", []string{"MULTI"})
			if !ask("A", []string{"EXEC"}) {
				t.Errorf("seed %d: they disagree whether %s has changed\n%s", seed, key, story.String())
				break
			}
		}
	}
}
