package redis

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// randomCommands are commands with their options, in which K stands for one of a few keys,
// N for a number, T for a TTL that no other command has, V for a value, S for a score, and [ ]
// for a part that may lack. None of their replies depends on how much time passes.
var randomCommands = strings.Split(strings.TrimSpace(`
GET K
SET K V [NX] [GET]
SET K V XX [KEEPTTL]
SET K V PX T000 [NX]
SET K V EX T [XX] [GET]
SETNX K V
SETEX K T V
PSETEX K T000 V
GETSET K V
GETDEL K
GETEX K [EX T]
GETEX K PERSIST
MGET K K
MSET K V K V
MSETNX K V K V
APPEND K V
STRLEN K
INCR K
DECR K
INCRBY K N
DECRBY K N
DEL K [K]
UNLINK K
EXISTS K [K]
TOUCH K
TYPE K
RENAME K K
RENAMENX K K
COPY K K [REPLACE]
PERSIST K
TTL K
EXPIRE K T
EXPIRE K T NX
EXPIRE K T XX
EXPIRE K T GT
EXPIRE K T LT
PEXPIRE K T000 [GT]
PEXPIRE K -1
HSET K f V [g V]
HSETNX K f V
HMSET K f V
HGET K f
HMGET K f g
HDEL K f [g]
HEXISTS K g
HLEN K
HSTRLEN K f
HINCRBY K g N
LPUSH K V [V]
RPUSH K V [V]
LPUSHX K V
RPUSHX K V
LPOP K [N]
RPOP K [N]
LLEN K
LRANGE K N N
LINDEX K N
LSET K N V
LREM K N V
LTRIM K N N
LINSERT K BEFORE V V
LINSERT K AFTER V V
LMOVE a b LEFT RIGHT
LMOVE c a RIGHT RIGHT
LMOVE K K RIGHT LEFT
RPOPLPUSH K K
LPOS K V
LPOS K V RANK -1 COUNT 2
SADD K V [V]
SREM K V [V]
SCARD K
SISMEMBER K V
SMISMEMBER K V V
SMOVE K K V
ZADD K S V [S V]
ZADD K NX S V
ZADD K XX CH S V
ZADD K GT CH S V
ZADD K LT S V
ZADD K INCR S V
ZREM K V [V]
ZCARD K
ZCOUNT K S S
ZCOUNT K -inf (S
ZSCORE K V
ZMSCORE K V V
ZINCRBY K S V
ZRANK K V
ZREVRANK K V
ZRANGE K N N [WITHSCORES]
ZRANGE K N N REV
ZRANGE K -inf S BYSCORE
ZRANGE K S -inf BYSCORE REV LIMIT 0 1
ZREVRANGE K N N [WITHSCORES]
ZRANGEBYSCORE K -inf S [WITHSCORES] [LIMIT 0 1]
ZREVRANGEBYSCORE K +inf S
ZREMRANGEBYSCORE K S S
ZREMRANGEBYRANK K N N
ZPOPMIN K [N]
ZPOPMAX K
MULTI
EXEC
EXEC
DISCARD
WATCH K [K]
UNWATCH
ECHO V`), "\n")

// randomWords makes a command of a template.
func randomWords(r *rand.Rand, template string) (words []string) {
	pick := func(all ...string) string { return all[r.IntN(len(all))] }
	skips := false
	for word := range strings.FieldsSeq(template) {
		opens := strings.HasPrefix(word, "[")
		if opens {
			skips = r.IntN(2) == 0
		}
		closes := strings.HasSuffix(word, "]")
		switch w := strings.Trim(word, "[]"); {
		case skips:
		case w == "K":
			words = append(words, pick("a", "b", "c"))
		case w == "N":
			words = append(words, pick("-2", "-1", "0", "1", "2"))
		case w == "T" || w == "T000":
			words = append(words, fmt.Sprint(1000+r.IntN(1<<20))+w[1:])
		case w == "V":
			words = append(words, pick("v", "w", "x y", "7", ""))
		case strings.TrimPrefix(w, "(") == "S":
			words = append(words, strings.TrimSuffix(w, "S")+pick("-1.5", "0", "1", "2.25", "1000000"))
		default:
			words = append(words, w)
		}
		skips = skips && !closes
	}
	return words
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
	for seed := range uint64(150) {
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
			words := randomWords(r, randomCommands[r.IntN(len(randomCommands))])
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

// TestRandomWatch: after each of the commands, with keys of any type, a real server and a
// chain of questions agree whether a connection that watches a key has been disturbed.
func TestRandomWatch(t *testing.T) {
	pair := newPair(t)
	s, err := NewServer("a")
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	setups := []string{"ECHO none", "SET K 7", "SET K v EX 1000", "HSET K f v", "RPUSH K v w v", "SADD K v w", "ZADD K 1 v 2 w"}
	for seed := range uint64(1000) {
		r := rand.New(rand.NewPCG(seed, 17))
		pair.empty(t)
		var memory Snapshot
		var story strings.Builder
		ask := func(who string, words []string) (same bool) {
			a, err := s.Run(memory, int(who[0]-'A'), words)
			if err != nil {
				return true // it is refused
			}
			memory = a.After
			redis, _ := pair.askWords(t, who, words)
			fmt.Fprintf(&story, "%s %q = %q\n", who, words, redis)
			return sameReply(redis, string(a.Reply))
		}
		for _, key := range []string{"a", "b", "c"} {
			ask("A", strings.Fields(strings.ReplaceAll(setups[r.IntN(len(setups))], "K", key)))
		}
		words := randomWords(r, randomCommands[r.IntN(len(randomCommands))])
		if words[0] == "MULTI" || slices.Contains(words, "GT") || slices.Contains(words, "LT") { // a real server's clock runs on, so what is given twice is later
			continue
		}
		for _, key := range []string{"a", "b", "c"} {
			ask("A", []string{"WATCH", key})
			ask("B", words)
			ask("A", []string{"MULTI"})
			if !ask("A", []string{"EXEC"}) {
				t.Errorf("seed %d: they disagree whether %s has changed\n%s", seed, key, story.String())
				break
			}
		}
	}
}
