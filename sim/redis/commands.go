package redis

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// The search's closed world: the commands, with their options, of which a [Server]'s model
// is right, and for all others the reason why it isn't. Nothing here restricts a [Node],
// which scenarios use: it executes every command that miniredis knows.
//
// The model is right if a reply, and the memory after it, are a function of a [Snapshot] and
// the command, and are Redis's own. The conformance tests compare the commands with a real
// server.

// command is one command of the closed world.
type command struct {
	words   int            // that come before its options; anyWords if it has none
	options map[string]int // by option: the number of words that follow it
	clock   bool           // it reads the server's clock
	life    bool           // it tells how long a key still lives
	refuses func(call) (option, why string)
	why     string // the reason why the command itself is refused
}

// anyWords are the words of a command without options: all of them are data.
const anyWords = -1

// modelled has a command a line: its name; after a bar, the number of words before its
// options; and the options. An option's number is that of the words that follow it, and an
// exclamation mark stands for a reading of the server's clock.
const modelled = `
GET
SET | 2 NX XX GET KEEPTTL PX=1 EX=1 PXAT=1! EXAT=1! IFEQ=1 IFNE=1
SETNX
SETEX
PSETEX
GETSET
GETDEL
GETEX | 1 PX=1 EX=1 PXAT=1! EXAT=1! PERSIST
DELEX | 1 IFEQ=1 IFNE=1
MGET
MSET
MSETNX
APPEND
STRLEN
GETRANGE
INCR
DECR
INCRBY
DECRBY

DEL
UNLINK
EXISTS
TOUCH
TYPE
RENAME
RENAMENX
COPY
PERSIST
TTL
PTTL
EXPIRE | 2 NX XX GT LT
PEXPIRE | 2 NX XX GT LT
EXPIREAT ! | 2 NX XX GT LT
PEXPIREAT ! | 2 NX XX GT LT
EXPIRETIME !
PEXPIRETIME !

HSET
HSETNX
HMSET
HGET
HMGET
HGETALL
HKEYS
HVALS
HDEL
HEXISTS
HLEN
HSTRLEN
HINCRBY

LPUSH
RPUSH
LPUSHX
RPUSHX
LPOP
RPOP
LLEN
LRANGE
LINDEX
LSET
LREM
LTRIM
LINSERT
LMOVE
RPOPLPUSH
LPOS | 2 RANK=1 COUNT=1 MAXLEN=1

SADD
SREM
SCARD
SISMEMBER
SMISMEMBER
SMEMBERS
SMOVE

ZADD
ZREM
ZCARD
ZCOUNT
ZSCORE
ZMSCORE
ZINCRBY
ZRANK | 2
ZREVRANK | 2
ZRANGE | 3 BYSCORE REV WITHSCORES LIMIT=2
ZREVRANGE | 3 WITHSCORES
ZRANGEBYSCORE | 3 WITHSCORES LIMIT=2
ZREVRANGEBYSCORE | 3 WITHSCORES LIMIT=2
ZREMRANGEBYSCORE
ZREMRANGEBYRANK
ZPOPMIN
ZPOPMAX

MULTI
EXEC
DISCARD
WATCH
UNWATCH

EVAL
EVALSHA
EVAL_RO
EVALSHA_RO
SCRIPT

SELECT
PING
ECHO
TIME !
WAIT
CONFIG

PUBLISH
SUBSCRIBE
PSUBSCRIBE
UNSUBSCRIBE
PUNSUBSCRIBE

BLPOP
BRPOP
BLMOVE
BRPOPLPUSH
BZPOPMIN
BZPOPMAX`

// unmodelled has the reasons why commands are refused, with alternatives for a lock.
var unmodelled = []struct{ commands, why string }{
	{"RANDOMKEY", "its reply is not a function of the keys; ask for a key by its name"},
	{"SRANDMEMBER SPOP HRANDFIELD ZRANDMEMBER", "its reply is drawn at random, not a function of the key; use a command that names the member or field"},
	{"MOVE SWAPDB", databaseZero},
	{"KEYS SCAN SSCAN HSCAN ZSCAN SORT SORT_RO", "the order of its reply is Redis's own affair; ask for keys, fields and members by their names"},
	{"SUNION SINTER SDIFF", "the order of its reply is Redis's own affair; use SISMEMBER, or store the result and count it"},
	{"SUNIONSTORE SINTERSTORE SDIFFSTORE SINTERCARD", "sets are modelled one by one; use SADD, SREM and SISMEMBER"},
	{"DBSIZE", "Redis counts keys that have expired until it comes across them; use EXISTS"},
	{"FLUSHALL FLUSHDB", "no lock should delete what belongs to others; use DEL"},
	{"FCALL FCALL_RO FUNCTION", "the simulated server has no functions; send the code by EVAL"},
	{"HEXPIRE HPEXPIRE HEXPIREAT HPEXPIREAT HPERSIST HTTL HPTTL HEXPIRETIME HPEXPIRETIME HGETDEL HGETEX HSETEX",
		"the expiry of single fields is not modelled; give the field a key of its own, or put its expiry into the value"},
	{"INCRBYFLOAT HINCRBYFLOAT", "Redis computes it with more digits than the simulated server; count in integers"},
	{"BLMPOP BZMPOP", "of the commands that wait at the server it is not modelled; use BLPOP or BZPOPMIN"},
	{"SSUBSCRIBE SUNSUBSCRIBE SPUBLISH", "channels of a cluster's shards are not modelled; use SUBSCRIBE and PUBLISH"},
	{"PUBSUB", "its reply is about the server and not about its keys; PUBLISH replies how many have got the message"},
	{"LMPOP ZMPOP ZRANGESTORE ZUNION ZINTER ZDIFF ZUNIONSTORE ZINTERSTORE ZDIFFSTORE ZINTERCARD",
		"lists and sorted sets are modelled one by one; use a command with one key"},
	{"ZRANGEBYLEX ZREVRANGEBYLEX ZLEXCOUNT ZREMRANGEBYLEX", "ranges of members by their text are not modelled; use ranges by score or by rank"},
	{"XADD XLEN XRANGE XREVRANGE XREAD XDEL XTRIM XSETID XINFO XGROUP XREADGROUP XACK XPENDING XCLAIM XAUTOCLAIM XDELEX XACKDEL",
		"streams are not modelled; use a list or a sorted set"},
	{"SETBIT GETBIT BITCOUNT BITPOS BITOP BITFIELD BITFIELD_RO", "bitmaps are not modelled; use a hash or a set"},
	{"PFADD PFCOUNT PFMERGE PFDEBUG PFSELFTEST", "HyperLogLogs are not modelled; use a set"},
	{"GEOADD GEODIST GEOHASH GEOPOS GEORADIUS GEORADIUS_RO GEORADIUSBYMEMBER GEORADIUSBYMEMBER_RO GEOSEARCH GEOSEARCHSTORE",
		"geographical sets are not modelled; use a sorted set"},
	{"SETRANGE SUBSTR", "the simulated server has some of its cases otherwise than Redis; use GET and SET"},
	{"LCS DIGEST MSETEX", "the simulated server doesn't have it; use GET and SET"},
	{"DUMP RESTORE RESTORE-ASKING MIGRATE", "the serialised form of values is not modelled; use COPY, or write the value anew"},
	{"OBJECT MEMORY DEBUG", "its reply depends on how Redis stores the value, or on when that was last used; use a command that reads the value"},
	{"INFO COMMAND LATENCY LOLWUT SLOWLOG MODULE ACL CLUSTER ROLE LASTSAVE",
		"its reply is about the server and not about its keys; give the lock as an option what it needs to know"},
	{"CLIENT HELLO AUTH RESET QUIT READONLY READWRITE ASKING", "outside of the handshake of a connection it is not modelled; set it in the client's options"},
	{"SAVE BGSAVE BGREWRITEAOF SHUTDOWN FAILOVER REPLICAOF SLAVEOF SYNC PSYNC REPLCONF MONITOR WAITAOF",
		"it administers the server; restarts and failovers are faults of the search's budget"},
}

// commands is the closed world by the commands' names, in capitals.
var commands = func() map[string]*command {
	all := map[string]*command{}
	for line := range strings.Lines(modelled) {
		if names, options, _ := strings.Cut(strings.TrimSpace(line), "|"); names != "" {
			words := strings.Fields(names)
			all[words[0]] = parseCommand(words[1:], strings.Fields(options))
		}
	}
	for _, u := range unmodelled {
		for name := range strings.FieldsSeq(u.commands) {
			all[name] = &command{why: u.why}
		}
	}
	for name, f := range map[string]func(call) (string, string){
		"SCRIPT": refusesScript, "SELECT": refusesSelect, "COPY": refusesCopy, "ZADD": refusesZAdd, "HGETALL": refusesHGetAll, "HKEYS": refusesFields, "HVALS": refusesFields, "SMEMBERS": refusesMembers,
		"CONFIG": refusesConfig, "SUBSCRIBE": refusesSubscription, "PSUBSCRIBE": refusesSubscription, "UNSUBSCRIBE": refusesSubscription, "PUNSUBSCRIBE": refusesSubscription,
	} {
		all[name].refuses = f
	}
	for name := range popsWith {
		all[name].refuses = refusesNested
	}
	all["TTL"].life, all["PTTL"].life = true, true // others read the clock besides
	return all
}()

func parseCommand(marks, options []string) *command {
	c := &command{words: anyWords, clock: len(marks) > 0}
	if len(options) > 0 {
		c.words, _ = strconv.Atoi(options[0])
		c.options = map[string]int{}
		for _, o := range options[1:] {
			name, follow, _ := strings.Cut(strings.TrimSuffix(o, "!"), "=")
			c.options[name], _ = strconv.Atoi(follow)
		}
	}
	return c
}

// clockOptions are the options with an instant on the server's clock.
var clockOptions = map[string]bool{"PXAT": true, "EXAT": true}

// Unmodelled is the error of a command of which the search's model isn't right.
type Unmodelled struct {
	What   string // the command, with its option if that is the reason; or a function of Lua
	Why    string // the reason, and an alternative
	Script bool   // a script called it
}

// Error names the command, the reason and the alternative.
func (u *Unmodelled) Error() string {
	if u.Script {
		return fmt.Sprintf("%s in a script: %s", u.What, u.Why)
	}
	return u.What + ": " + u.Why
}

// audit is a server's notes on the commands that it executes for one question, those of
// scripts and transactions included.
type audit struct {
	clock   bool        // one of them has read the server's clock
	life    bool        // one of them has told how long a key still lives
	refused *Unmodelled // the first of which the model isn't right
}

// call is a command that is about to be executed.
type call struct {
	node   *Node
	name   string   // in capitals
	args   []string // after the name
	script bool     // a script calls it
}

// comparesLives tells of an EXPIRE or one of its kin whether it is carried out only if the key lives less long, or longer, than
// it would then: its reply tells that.
func (c call) comparesLives() bool {
	switch c.name {
	case "EXPIRE", "PEXPIRE", "EXPIREAT", "PEXPIREAT":
		return slices.ContainsFunc(c.args[min(2, len(c.args)):], func(option string) bool { return strings.EqualFold(option, "GT") || strings.EqualFold(option, "LT") })
	}
	return false
}

const strangeOption = "this option is not modelled; use others, or a script"

// judge notes a command before it is executed, and reports whether it is refused.
func (a *audit) judge(c call) (refused bool) {
	row := commands[c.name]
	if row == nil {
		a.refuse(c.name, "the search doesn't know this command; use those of strings, hashes, lists, sets and sorted sets, or a script", c.script)
		return true
	}
	option, why := "", row.why
	if why == "" {
		option, why = row.judge(c)
	}
	if why != "" {
		a.refuse(strings.TrimSpace(c.name+" "+option), why, c.script)
		return true
	}
	a.clock = a.clock || row.clock || row.readsClock(c.args)
	a.life = a.life || row.life || c.comparesLives()
	return false
}

// refuse keeps the first refusal.
func (a *audit) refuse(what, why string, script bool) {
	if a.refused == nil {
		a.refused = &Unmodelled{What: what, Why: why, Script: script}
	}
}

// judge returns the reason why a call is refused, with the option that is it, if one is.
func (row *command) judge(c call) (option, why string) {
	if row.refuses != nil {
		return row.refuses(c)
	}
	if row.words == anyWords {
		return "", ""
	}
	for i := row.words; i < len(c.args); i++ {
		word := strings.ToUpper(c.args[i])
		follow, known := row.options[word]
		if !known {
			return word, strangeOption
		}
		i += follow
	}
	return "", ""
}

// readsClock reports whether one of the options is an instant on the server's clock.
func (row *command) readsClock(args []string) bool {
	if row.words == anyWords {
		return false
	}
	for i := row.words; i < len(args); i++ {
		word := strings.ToUpper(args[i])
		if clockOptions[word] {
			return true
		}
		i += row.options[word]
	}
	return false
}

const databaseZero = "the search knows database 0 alone; keep everything in that"

// refusesSelect lets pass the SELECT that libraries send for the database that they are in anyway.
func refusesSelect(c call) (option, why string) {
	if len(c.args) == 1 && c.args[0] == "0" {
		return "", ""
	}
	return "", databaseZero
}

// refusesCopy lets pass DB 0, which go-redis always sends.
func refusesCopy(c call) (option, why string) {
	for i := 2; i < len(c.args); i++ {
		switch word := strings.ToUpper(c.args[i]); {
		case word == "DB" && i+1 < len(c.args):
			if i++; c.args[i] != "0" {
				return "DB " + c.args[i], databaseZero
			}
		case word != "REPLACE":
			return word, strangeOption
		}
	}
	return "", ""
}

func refusesScript(c call) (option, why string) {
	if len(c.args) == 0 {
		return "", ""
	}
	switch sub := strings.ToUpper(c.args[0]); sub {
	case "LOAD", "EXISTS", "FLUSH":
		return "", ""
	default:
		return sub, "it is about the server, not about a script; use SCRIPT LOAD, EXISTS or FLUSH"
	}
}

// refusesZAdd: the options of ZADD end where the scores begin.
func refusesZAdd(c call) (option, why string) {
	for i := 1; i < len(c.args); i++ {
		switch word := strings.ToUpper(c.args[i]); word {
		case "NX", "XX", "GT", "LT", "CH", "INCR":
		default:
			if _, err := strconv.ParseFloat(word, 64); err != nil {
				return word, strangeOption
			}
			return "", ""
		}
	}
	return "", ""
}

// refusesHGetAll refuses it only to scripts: any library makes a map of the reply, and a
// script sees its order.
func refusesHGetAll(c call) (option, why string) {
	if !c.script {
		return "", ""
	}
	return refusesFields(c)
}

func refusesFields(c call) (option, why string) {
	if len(c.args) == 1 {
		if fields, err := c.node.data.HKeys(c.args[0]); err == nil && len(fields) > 1 {
			return "", "the order of its reply is Redis's own affair where there are several fields; use HGET or HMGET"
		}
	}
	return "", ""
}

func refusesMembers(c call) (option, why string) {
	if len(c.args) == 1 {
		if members, err := c.node.data.Members(c.args[0]); err == nil && len(members) > 1 {
			return "", "the order of its reply is Redis's own affair where there are several members; use SISMEMBER or SCARD"
		}
	}
	return "", ""
}

// refusesNested refuses a command that waits at the server in a script or a transaction, where it
// waits for nothing.
func refusesNested(c call) (option, why string) {
	if c.script || c.node.asking.Queues {
		return "", "in a script or a transaction it waits for nothing; use the form without B"
	}
	return "", ""
}

func refusesSubscription(c call) (option, why string) {
	if c.script || c.node.asking.Queues {
		return "", "a script or a transaction can't wait for messages; send it by itself"
	}
	return "", ""
}
