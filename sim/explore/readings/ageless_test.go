package readings

import (
	"slices"
	"strings"
	"testing"

	"lockstep/sim/redis"
)

// TestAgeless: real Redis commands do the same whether a key has a millisecond to live or a day.
func TestAgeless(t *testing.T) {
	s, err := redis.NewServer("lock")
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	after := func(command string, left int64) redis.Answer {
		snap := redis.Snapshot{}
		for _, build := range []string{"RPUSH list a b", "HSET hash f 1", "SADD set a", "SET text 1", "ZADD zset 1 a"} {
			a, err := s.Run(snap, 0, strings.Fields(build))
			if err != nil {
				t.Fatal(err)
			}
			snap = a.After
		}
		snap.Keys = slices.Clone(snap.Keys)
		for i := range snap.Keys {
			snap.Keys[i].Left = left
		}
		a, err := s.Run(snap, 0, strings.Fields(command))
		if err != nil {
			t.Fatal(err)
		}
		for i := range a.After.Keys { // those that the command has left as they were
			if a.After.Keys[i].Left == left {
				a.After.Keys[i].Left = 0
			}
		}
		return a
	}
	calls := map[string][]string{
		"PING": {"PING"}, "ECHO": {"ECHO a"}, "PUBLISH": {"PUBLISH c m"}, "GET": {"GET text"}, "MSET": {"MSET text 2"}, "MSETNX": {"MSETNX text 2"},
		"SET":    {"SET text 2", "SET text 2 NX", "SET text 2 XX GET", "SET text 2 PX 50", "SET text 2 KEEPTTL", "SET text 2 EX 5 NX"},
		"GETDEL": {"GETDEL text"}, "APPEND": {"APPEND text 2"}, "SETNX": {"SETNX text 2"}, "GETSET": {"GETSET text 2"}, "DEL": {"DEL text"}, "UNLINK": {"UNLINK text"},
		"EXISTS": {"EXISTS text"}, "TYPE": {"TYPE list"}, "STRLEN": {"STRLEN text"}, "INCR": {"INCR text"}, "DECR": {"DECR text"}, "INCRBY": {"INCRBY text 5"}, "DECRBY": {"DECRBY text 5"},
		"HGET": {"HGET hash f"}, "HMGET": {"HMGET hash f g"}, "HGETALL": {"HGETALL hash"}, "HSET": {"HSET hash g 2"}, "HSETNX": {"HSETNX hash f 2"}, "HEXISTS": {"HEXISTS hash f"},
		"HDEL": {"HDEL hash f"}, "HLEN": {"HLEN hash"}, "LLEN": {"LLEN list"}, "LRANGE": {"LRANGE list 0 -1"}, "LPUSH": {"LPUSH list c"}, "RPUSH": {"RPUSH list c"},
		"SADD": {"SADD set b"}, "SREM": {"SREM set a"}, "SCARD": {"SCARD set"}, "SISMEMBER": {"SISMEMBER set a"}, "ZADD": {"ZADD zset 2 b"}, "ZREM": {"ZREM zset a"},
		"ZCARD": {"ZCARD zset"}, "ZSCORE": {"ZSCORE zset a"}, "ZRANK": {"ZRANK zset a"}, "MULTI": {"MULTI"}, "WATCH": {"WATCH text"}, "UNWATCH": {"UNWATCH"}, "DISCARD": {"DISCARD"},
	}
	for name := range ageless {
		if len(calls[name]) == 0 {
			t.Errorf("%s isn't tried", name)
		}
		for _, command := range calls[name] {
			short, long := after(command, 1), after(command, 86_400_000)
			if string(short.Reply) != string(long.Reply) || short.After.Encoded() != long.After.Encoded() {
				t.Errorf("%s: %q, and %q", command, short.Reply, long.Reply)
			}
		}
	}
}
