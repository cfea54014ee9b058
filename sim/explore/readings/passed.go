package readings

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"lockstep/sim/redis"
)

// storing are the commands that do the same with any number in their first words: so many of them.
var storing = map[string]int{"SET": 3, "SETNX": 3, "GETSET": 3, "HSET": 99, "HSETNX": 99, "HMSET": 99, "GET": 99, "DEL": 99, "APPEND": 99, "ECHO": 99, "PUBLISH": 99}

// ageless are commands that do the same however long their keys still live.
var ageless = func() map[string]bool {
	all := map[string]bool{}
	for _, name := range strings.Fields("PING ECHO PUBLISH GET SET MSET MSETNX GETDEL APPEND SETNX GETSET DEL UNLINK EXISTS TYPE STRLEN INCR DECR INCRBY DECRBY HGET HMGET HGETALL HSET HSETNX HEXISTS HDEL HLEN " +
		"LLEN LRANGE LPUSH RPUSH SADD SREM SCARD SISMEMBER ZADD ZREM ZCARD ZSCORE ZRANK MULTI WATCH UNWATCH DISCARD") {
		all[name] = true
	}
	return all
}()

// Ageless reports whether a command, by its first word, does the same however long keys still live.
func Ageless(command string) bool {
	name, _, _ := strings.Cut(command, " ")
	return ageless[strings.ToUpper(name)]
}

// stores returns how many of a command's first words are no numbers by which a server decides.
func stores(args []string) int { return min(len(args), storing[strings.ToUpper(args[0])]) }

// MayDecide reports whether a server may decide by a number in a command.
func MayDecide(args []string) bool { return stores(args) < len(args) }

// Decides reports whether a server may decide by a number in which two alike commands differ.
func Decides(a, b []string) bool { return !slices.Equal(a[stores(a):], b[stores(b):]) }

var digits = regexp.MustCompile(`[0-9]+`)

// Passed are the numbers in which two alike commands differ.
type Passed struct {
	Numbers map[int64]int64   // by the number in the one: that in the other
	follows map[string]string // the same as texts
	after   map[string]bool   // those in the other
}

// PassedIn returns them.
func PassedIn(one, two []string) Passed {
	p := Passed{map[int64]int64{}, map[string]string{}, map[string]bool{}}
	for i, word := range one {
		from, to := digits.FindAllString(word, -1), digits.FindAllString(two[i], -1)
		for n := range from {
			if n < len(to) && from[n] != to[n] {
				p.follows[from[n]], p.after[to[n]] = to[n], true
				a, err := strconv.ParseInt(from[n], 10, 64)
				b, fails := strconv.ParseInt(to[n], 10, 64)
				if err == nil && fails == nil {
					p.Numbers[a] = b
				}
			}
		}
	}
	return p
}

// Followed returns a snapshot in which those in the one command have become those in the other, and reports whether it had
// none of the latter before: those are of another reading, and equal by chance.
func (p Passed) Followed(snap redis.Snapshot) (_ redis.Snapshot, clear bool) {
	clear = true
	snap.Keys = slices.Clone(snap.Keys)
	for i, key := range snap.Keys {
		snap.Keys[i] = key.Renamed(func(text string) string {
			return digits.ReplaceAllStringFunc(text, func(number string) string {
				clear = clear && !p.after[number]
				return cmp.Or(p.follows[number], number)
			})
		})
	}
	return snap, clear
}
