package redis

import (
	"errors"
	"strings"
	"testing"

	"lockstep/sim/resp"
)

// TestQuestions asks a Server one question after the other, each on the memory after the one
// before.
func TestQuestions(t *testing.T) {
	for name, dialogue := range map[string]string{
		"an equal value stored anew disturbs a WATCH": `
			A SET k v = OK
			A WATCH k = OK
			B SET k v = OK
			A MULTI = OK
			A DEL k = QUEUED
			A EXEC = nil`,
		"an equal value of a transaction does": `
			A SET k v = OK
			A WATCH k = OK
			B MULTI = OK
			B SET k v = QUEUED
			B EXEC = [OK]
			A MULTI = OK
			A EXEC = nil`,
		"reading doesn't": `
			A RPUSH k v = 1
			A WATCH k = OK
			B LRANGE k 0 -1 = [v]
			B LREM k 0 w = 0
			A MULTI = OK
			A EXEC = []`,
		"a command after a WATCH happens once": `
			A WATCH k = OK
			A INCR n = 1
			B GET n = 1
			A INCR n = 2
			B GET n = 2`,
		"a script of a read-only call is cached": `
			A EVAL_RO return(1) 0 = 1
			B EVALSHA_RO 76f8ce45a3f6ee3a9e8a2e38c9ac36b65f4bb3a9 0 = error NOSCRIPT No matching script. Please use EVAL.
			B SCRIPT LOAD return(1) = DIGEST
			A EVALSHA_RO DIGEST 0 = 1`,
	} {
		t.Run(strings.ReplaceAll(name, " ", "-"), func(t *testing.T) {
			s, err := NewServer("k")
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			var memory Snapshot
			for line := range strings.Lines(strings.TrimSpace(strings.ReplaceAll(dialogue, "DIGEST", digestOf("return(1)")))) {
				command, want, _ := strings.Cut(strings.TrimSpace(line), " = ")
				words := strings.Fields(command)
				a, err := s.Run(memory, int(words[0][0]-'A'), words[1:])
				if err != nil {
					t.Fatal(err)
				}
				if got := resp.Text(a.Reply); got != want {
					t.Errorf("%s = %s, want %s", command, got, want)
				}
				memory = a.After
			}
		})
	}
}

// TestClockIsRead: whether a command reads the server's clock is found out by executing it.
func TestClockIsRead(t *testing.T) {
	s, err := NewServer("k")
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for _, c := range []struct {
		words string
		reads bool
	}{
		{"TIME", true}, {"SET k v PXAT 1", true}, {"SET k PXAT PX 1", false}, {"GETEX k EXAT 1", true}, {"EXPIREAT k 1", true},
		{"PEXPIRETIME k", true}, {"PTTL k", false}, {"ECHO TIME", false},
		{"EVAL return(redis.call(ARGV[1])) 0 tIME", true}, {"EVAL if(ARGV[1])then(redis.call)('TIME')end 0", false}, {"SCRIPT LOAD return(redis.call('TIME'))", false},
	} {
		a, err := s.Run(Snapshot{}, 0, strings.Fields(c.words))
		if err != nil {
			t.Fatal(err)
		}
		if a.Clock != c.reads {
			t.Errorf("%s: it reads the clock: %t", c.words, a.Clock)
		}
	}
	memory := Snapshot{}
	for i, words := range []string{"MULTI", "TIME", "EXEC"} { // it is read at EXEC
		a, err := s.Run(memory, 0, []string{words})
		if err != nil || a.Clock != (i == 2) {
			t.Errorf("%s: it reads the clock: %t, %v", words, a.Clock, err)
		}
		memory = a.After
	}
}

// TestRefusedInTransaction: a draw in a script of a transaction is refused as elsewhere.
func TestRefusedInTransaction(t *testing.T) {
	s, err := NewServer("k")
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	memory := Snapshot{}
	for _, words := range [][]string{{"MULTI"}, {"EVAL", "return math.random(6)", "0"}} {
		a, err := s.Run(memory, 0, words)
		if err != nil {
			t.Fatal(err)
		}
		memory = a.After
	}
	_, err = s.Run(memory, 0, []string{"EXEC"})
	if refused := (*Unmodelled)(nil); !errors.As(err, &refused) || refused.What != "math.random" || !refused.Script {
		t.Errorf("%v", err)
	}
}
