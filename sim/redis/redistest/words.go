package redistest

import (
	"math/rand/v2"
	"strings"
)

// Commands are templates of commands on strings, hashes, lists, sets, sorted sets and
// transactions, for [Expand]: K stands for a key, N for a number, T for a TTL in seconds and T000
// for one in milliseconds, V for a value, and S for a score. None of their replies depends on an order that Redis
// chooses.
var Commands = strings.Split(strings.TrimSpace(`
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
GETRANGE K N N
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
COPY K K [DB 0] [REPLACE]
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
WATCH K K
WATCH K K
GETRANGE K N N
UNWATCH
ECHO V`), "\n")

// Expand makes the words of a command of a template. A part in brackets is left out half of the
// time, and fill returns the text of each word that isn't.
func Expand(r *rand.Rand, template string, fill func(word string) string) (words []string) {
	skips := false
	for word := range strings.FieldsSeq(template) {
		if strings.HasPrefix(word, "[") {
			skips = r.IntN(2) == 0
		}
		if !skips {
			words = append(words, fill(strings.Trim(word, "[]")))
		}
		skips = skips && !strings.HasSuffix(word, "]")
	}
	return words
}
