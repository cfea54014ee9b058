package redis

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"lockstep/sim/redis/redistest"
)

// A node is a miniredis with corrections. Here it stands beside a real server: the
// same commands to both, and the replies compared byte for byte. No reply in this
// file depends on how much time passes between two commands.

// dialogues are what two connections, A and B, say to a server that is empty at
// first. A word in single quotes may hold spaces.
var dialogues = []struct{ name, lines string }{
	{"SET with its options", `
		A SET k v NX PX 60000
		A SET k w NX PX 60000
		A GET k
		A SET k w XX
		A TTL k
		A SET other x XX
		A SET k y GET
		A SET fresh y GET
		A SET k z NX GET
		A SET new z NX GET
		A GET new
		A SET k v PX notanumber
		A SET k v EX 10 PX 10
		A SET k v BOGUS
		A SET k
		A GET`},
	{"SETNX, GETSET, GETDEL", `
		A SETNX k v
		A SETNX k w
		A GETSET k w
		A GETSET fresh x
		A GETSET fresh y
		A GETDEL fresh
		A GETDEL fresh
		A SETNX k`},
	{"GETSET clears the expiry", `
		A SET k v PX 60000
		A GETSET k w
		A TTL k
		A SET k v PX 60000
		A SET k w KEEPTTL
		A TTL k
		A SET k x
		A TTL k`},
	{"TTL rounds", `
		A SET k v PX 1990
		A TTL k
		A PEXPIRE k 1490
		A TTL k
		A PEXPIRE k 2490
		A TTL k
		A PEXPIRE k 2990
		A TTL k
		A PEXPIRE k 490
		A TTL k
		A EXPIRE k 100
		A TTL k
		A EVAL 'return redis.call("TTL", KEYS[1])' 1 k
		A PEXPIRE k 1990
		A EVAL 'return redis.pcall("ttl", KEYS[1])' 1 k
		A MULTI
		A PEXPIRE k 1990
		A TTL k
		A PEXPIRE k 1490
		A TTL k
		A EXEC`},
	{"TTL of what has none", `
		A TTL k
		A PTTL k
		A SET k v
		A TTL k
		A PTTL k
		A MULTI
		A TTL k
		A TTL missing
		A EXEC
		A EVAL 'return {redis.call("TTL", KEYS[1]), redis.call("PTTL", KEYS[1]), redis.call("TTL", "missing")}' 1 k
		A TTL
		A TTL k k`},
	{"EXPIRE and PERSIST", `
		A EXPIRE k 100
		A SET k v
		A EXPIRE k 100
		A PERSIST k
		A PERSIST k
		A TTL k
		A EXPIRE k 100 XX
		A EXPIRE k 100 NX
		A EXPIRE k 200 NX
		A EXPIRE k 50 GT
		A EXPIRE k 50 LT
		A TTL k
		A EXPIRE k notanumber
		A EXPIRE k 0
		A GET k
		A SET k v
		A PEXPIRE k -1
		A EXISTS k
		A EXPIRE k 100`},
	{"an expiry that is no sooner, and a copy", `
		A EVAL 'redis.call("SET", "k", "v", "PX", 60000) return {redis.call("PEXPIRE", "k", 60000, "LT"), redis.call("EXPIRE", "k", 60, "LT"), redis.call("PEXPIRE", "k", 50000, "GT"), redis.call("PEXPIRE", "k", 50000, "LT")}' 0
		A SET other w
		A COPY other k
		A COPY other k REPLACE
		A TTL k
		A COPY missing k REPLACE
		A COPY other k DB 0
		A COPY other k DB 0 REPLACE
		A COPY other k REPLACE DB 0
		A GET k
		A COPY k k
		A COPY other k DB +0
		A COPY other k REPLACE DB 07
		A COPY other k DB 9223372036854775807
		A COPY other k DB -2147483649 REPLACE
		A COPY other k DB 9223372036854775808
		A COPY other k DB 16
		A COPY other k DB 15
		A COPY other k DB -1
		A SELECT 16
		A SELECT -1
		A SELECT +0
		A SELECT 9223372036854775807
		A SELECT 15
		A GET k
		A SELECT 0
		A COPY other k FOO DB +0
		A COPY other k DB x
		A COPY other k DB`},
	{"a list that has one element, moved to itself", `
		A RPUSH l 7
		A PEXPIRE l 60000
		A RPOPLPUSH l l
		A RPOPLPUSH l l l
		A LMOVE l l LEFT RIGHT
		A LMOVE l l
		A LMOVE l l LEFT ASIDE
		A LMOVE l l LEFT RIGHT LEFT
		A PERSIST l`},
	{"counting", `
		A INCR n
		A INCR n
		A INCRBY n 40
		A GET n
		A DECR n
		A SET n notanumber
		A INCR n
		A SET n 9223372036854775807
		A INCR n
		A INCR`},
	{"DEL, EXISTS, TYPE", `
		A DEL k
		A SET k v
		A EXISTS k
		A EXISTS k k missing
		A TYPE k
		A TYPE missing
		A DEL k missing k
		A EXISTS k
		A DEL`},
	{"the wrong type", `
		A RPUSH list a b
		A GET list
		A INCR list
		A GETSET list v
		A SET list v
		A GET list
		A HSET h f v
		A GET h
		A HGET h f
		A HGET h missing
		A HINCRBY h n 2
		A HDEL h f n
		A EXISTS h`},
	{"compare and delete", `
		A SET k A1 PX 60000
		B EVAL 'if redis.call("GET", KEYS[1]) == ARGV[1] then return redis.call("DEL", KEYS[1]) end return 0' 1 k B1
		A GET k
		A EVAL 'if redis.call("GET", KEYS[1]) == ARGV[1] then return redis.call("DEL", KEYS[1]) end return 0' 1 k A1
		A EVAL 'if redis.call("GET", KEYS[1]) == ARGV[1] then return redis.call("DEL", KEYS[1]) end return 0' 1 k A1
		A GET k`},
	{"what scripts return", `
		A EVAL 'return 1' 0
		A EVAL 'return "text"' 0
		A EVAL 'return {1, 2, {3, "four"}}' 0
		A EVAL 'return nil' 0
		A EVAL 'return false' 0
		A EVAL 'return true' 0
		A EVAL 'return 3.99' 0
		A EVAL 'return redis.call("GET", KEYS[1])' 1 missing
		A EVAL 'return redis.call("GET", KEYS[1]) == false' 1 missing
		A EVAL 'return redis.call("SET", KEYS[1], ARGV[1], "NX", "PX", ARGV[2])' 1 k v 60000
		A EVAL 'return redis.call("SET", KEYS[1], ARGV[1], "NX", "PX", ARGV[2])' 1 k v 60000
		A EVAL 'return {ok="FINE"}' 0
		A EVAL 'return redis.status_reply("FINE")' 0
		A EVAL 'return tonumber(ARGV[1]) + 1' 0 41
		A EVAL 'return #KEYS + #ARGV' 2 a b c
		A EVAL 'return {KEYS[1], ARGV[1], ARGV[2]}' 1 a b
		A EVAL 'return 1'
		A EVAL 'return 1' 1
		A EVAL 'return 1' -1`},
	{"digests", `
		A EVALSHA e0e1f9fabfc9d4800c877a703b823ac0578ff8db 0
		A SCRIPT LOAD 'return 1'
		A EVALSHA e0e1f9fabfc9d4800c877a703b823ac0578ff8db 0
		A SCRIPT EXISTS e0e1f9fabfc9d4800c877a703b823ac0578ff8db 0000000000000000000000000000000000000000
		A SCRIPT FLUSH
		A EVALSHA e0e1f9fabfc9d4800c877a703b823ac0578ff8db 0
		A EVAL 'return 1' 0
		A EVALSHA e0e1f9fabfc9d4800c877a703b823ac0578ff8db 0
		A EVALSHA e0e1f9fabfc9d4800c877a703b823ac0578ff8db`},
	{"a fencing token", `
		A EVAL 'if redis.call("SET", KEYS[1], ARGV[1], "NX", "PX", ARGV[2]) then return redis.call("INCR", KEYS[2]) end return 0' 2 k fence A1 60000
		B EVAL 'if redis.call("SET", KEYS[1], ARGV[1], "NX", "PX", ARGV[2]) then return redis.call("INCR", KEYS[2]) end return 0' 2 k fence B1 60000
		A DEL k
		B EVAL 'if redis.call("SET", KEYS[1], ARGV[1], "NX", "PX", ARGV[2]) then return redis.call("INCR", KEYS[2]) end return 0' 2 k fence B1 60000`},
	{"a counting lock", `
		A EVAL 'local n = redis.call("INCR", KEYS[1]) if n == 1 then redis.call("EXPIRE", KEYS[1], ARGV[1]) end return n' 1 k 100
		B EVAL 'local n = redis.call("INCR", KEYS[1]) if n == 1 then redis.call("EXPIRE", KEYS[1], ARGV[1]) end return n' 1 k 100
		A TTL k
		A GET k`},
	{"a transaction", `
		A MULTI
		A SET k v
		A INCR n
		B GET k
		A GET k
		A EXEC
		B GET k
		A EXEC
		A DISCARD
		A MULTI
		A MULTI
		A SET k w
		A DISCARD
		A GET k`},
	{"a transaction with an error", `
		A MULTI
		A SET k v
		A INCR k
		A EXEC
		A GET k
		A MULTI
		A SET k
		A EXEC`},
	{"a transaction that is refused", `
		A MULTI
		A WATCH k
		A SET k v
		A EVAL_RO 'return redis.call("GET", "k")' 0
		A EVAL 'return foo' 0
		A BLPOP list 0
		A PEXPIRE k 100000 NX
		A TTL k
		A EXEC
		A MULTI
		A SET k w
		A GET
		A EXEC
		A GET k
		A WATCH k
		A EXEC
		B SET k w
		A MULTI
		A GET k
		A EXEC`},
	{"WATCH, undisturbed", `
		A SET k v
		A WATCH k
		A GET k
		B GET k
		A MULTI
		A DEL k
		A EXEC
		B GET k`},
	{"WATCH, and a conflict", `
		A SET k v
		A WATCH k
		B SET k v
		A MULTI
		A DEL k
		A EXEC
		B GET k
		A MULTI
		A DEL k
		A EXEC
		B GET k`},
	{"WATCH, and other conflicts", `
		A WATCH k
		B SET k v
		A MULTI
		A SET k w
		A EXEC
		A WATCH k
		B DEL k
		B SET k v
		A MULTI
		A SET k w
		A EXEC
		A WATCH k
		B EXPIRE k 100
		A MULTI
		A SET k w
		A EXEC
		A WATCH k
		B DEL missing
		A MULTI
		A SET k w
		A EXEC
		A GET k`},
	{"WATCH, and the least of changes", `
		B HSET h f 1 g 1
		A WATCH h
		B HDEL h f
		A MULTI
		A EXEC
		A WATCH h
		B HDEL h f
		B RENAME h h
		A MULTI
		A EXEC
		B RENAME none none
		B RENAMENX h h`},
	{"WATCH of what one changes oneself", `
		A SET k v
		A WATCH k
		A SET k w
		A MULTI
		A DEL k
		A EXEC
		A GET k`},
	{"UNWATCH with a word too many leaves the watch as it is", `
		A WATCH k
		B SET k v
		A UNWATCH UNWATCH
		A WATCH other k
		A MULTI
		A EXEC`},
	{"UNWATCH and DISCARD", `
		A SET k v
		A WATCH k
		B SET k w
		A UNWATCH
		A MULTI
		A GET k
		A EXEC
		A WATCH k
		B SET k x
		A MULTI
		A DISCARD
		A MULTI
		A GET k
		A EXEC
		A WATCH`},
	{"WATCH over an expiry", `
		A SET k v PX 60000
		A WATCH k
		B PEXPIRE k -1
		A MULTI
		A SET k w
		A EXEC
		A EXISTS k`},
	{"words with anything in them", `
		A SET k 'two words'
		A GET k
		A SET 'a key' ''
		A GET 'a key'
		A STRLEN 'a key'`},
	{"GETRANGE", `
		A GETRANGE none 0 3
		A SET k token
		A GETRANGE k 0 2
		A GETRANGE k 0 4
		A GETRANGE k 0 5
		A GETRANGE k 1 99
		A GETRANGE k 4 4
		A GETRANGE k 5 5
		A GETRANGE k 99 100
		A GETRANGE k 3 1
		A GETRANGE k 1 0
		A GETRANGE k -2 -1
		A GETRANGE k -1 -2
		A GETRANGE k -99 -98
		A GETRANGE k -98 -99
		A GETRANGE k -99 1
		A GETRANGE k 0 x
		A GETRANGE k 0 01
		A GETRANGE k 0
		A RPUSH l a
		A GETRANGE l 0 1`},
	{"EVAL keeps the script", `
		A EVALSHA e0e1f9fabfc9d4800c877a703b823ac0578ff8db 0
		A EVAL 'return 1' 0
		B EVALSHA e0e1f9fabfc9d4800c877a703b823ac0578ff8db 0
		A SCRIPT EXISTS e0e1f9fabfc9d4800c877a703b823ac0578ff8db`},
	{"absolute expiries", `
		A SET k v PXAT 1
		A EXISTS k
		A TTL k
		A SET k v
		A SET k w NX PXAT 1
		A GET k
		A SET k w XX EXAT 1
		A GET k
		A SET k v
		A SET k w PXAT 1 GET
		A EXISTS k
		A EVAL "return redis.call('SET', KEYS[1], 'v', 'NX', 'PXAT', '1')" 1 k
		A EXISTS k
		A MULTI
		A SET k v PXAT 1
		A EXISTS k
		A EXEC
		A SET k v
		A EXPIREAT k 1
		A EXISTS k`},
	{"digests in capitals", `
		A SCRIPT LOAD 'return 1'
		A EVALSHA E0E1F9FABFC9D4800C877A703B823AC0578FF8DB 0
		A SCRIPT EXISTS E0E1F9FABFC9D4800C877A703B823AC0578FF8DB`},
	{"which scripts are kept", `
		A EVAL 'return 1' -1
		A EVALSHA e0e1f9fabfc9d4800c877a703b823ac0578ff8db 0
		A EVAL 'return redis.call("NOSUCH")' 0
		A SCRIPT EXISTS d2d46e1a6d649b69c2d54d611f6557fbcdc54a7a
		A EVALSHA nosuch 0
		A EVALSHA nosuch 1
		A EVALSHA nosuch x
		A SCRIPT LOAD 'return 1'
		A SCRIPT FLUSH ASYNC
		A SCRIPT EXISTS e0e1f9fabfc9d4800c877a703b823ac0578ff8db
		A SCRIPT FLUSH SYNC
		A SCRIPT EXISTS`},
	{"scripts in a transaction", `
		A SCRIPT LOAD 'return 1'
		A MULTI
		A EVALSHA e0e1f9fabfc9d4800c877a703b823ac0578ff8db 0
		A EVAL 'return {KEYS[1], ARGV[1], redis.call("SET", KEYS[1], ARGV[1])}' 1 k v
		A SCRIPT FLUSH
		A EVALSHA e0e1f9fabfc9d4800c877a703b823ac0578ff8db 0
		B EVALSHA e0e1f9fabfc9d4800c877a703b823ac0578ff8db 0
		A EXEC
		A EVALSHA e0e1f9fabfc9d4800c877a703b823ac0578ff8db 0
		A MULTI
		A SCRIPT LOAD 'return 1'
		B EVALSHA e0e1f9fabfc9d4800c877a703b823ac0578ff8db 0
		A DISCARD
		B EVALSHA e0e1f9fabfc9d4800c877a703b823ac0578ff8db 0
		A MULTI
		A SCRIPT LOAD 'return 1'
		A EXEC
		B EVALSHA e0e1f9fabfc9d4800c877a703b823ac0578ff8db 0
		A SCRIPT FLUSH
		A MULTI
		A EVAL 'return 1' 0
		A EXEC
		B EVALSHA e0e1f9fabfc9d4800c877a703b823ac0578ff8db 0
		A SCRIPT FLUSH
		A WATCH k
		B SET k w
		A MULTI
		A SCRIPT LOAD 'return 1'
		A EXEC
		B EVALSHA e0e1f9fabfc9d4800c877a703b823ac0578ff8db 0`},
	{"KEYS and ARGV", `
		A EVAL 'return {#KEYS, #ARGV}' 0
		A EVAL 'return {#KEYS, #ARGV}' 2 a b
		A EVAL 'return {#KEYS, #ARGV, KEYS[2], ARGV[1], KEYS[3], 9}' 2 a b c
		A EVAL 'return {type(KEYS), type(KEYS[1]), type(ARGV[1])}' 1 1 2
		A EVAL 'KEYS[1] = "mine" KEYS.x = 1 table.insert(ARGV, "more") return {KEYS[1], ARGV[1]}' 1 k
		A EVAL 'return {KEYS[1], KEYS.x, #ARGV}' 1 k
		A EVAL 'return {KEYS[1], #ARGV}' 1 k
		A EVAL 'KEYS = nil' 1 k
		A EVAL 'return 1' 2 a
		A EVAL 'return 1' notanumber
		A EVAL 'return 1' 1.5 a`},
	{"from Lua", `
		A EVAL 'return {1, 2.9, -2.9, 1e15, "s", "", true, false, {}, {{}}, {1, {2, {3}}}}' 0
		A EVAL 'return {1, nil, 3}' 0
		A EVAL 'return {n = 1}' 0
		A EVAL 'return {1, 2, n = 1}' 0
		A EVAL 'return {1, {ok = "GOOD"}, {err = "BAD thing"}}' 0
		A EVAL 'return {ok = 1}' 0
		A EVAL 'return {err = 1}' 0
		A EVAL 'return {err = "just text"}' 0
		A EVAL 'return {err = "E", ok = "O", 1}' 0
		A EVAL 'return {ok = "two" .. string.char(13, 10) .. "lines", 1}' 0
		A EVAL 'return {err = "two" .. string.char(13, 10) .. "lines"}' 0
		A EVAL 'return tostring' 0
		A EVAL 'return {tostring, 1}' 0
		A EVAL 'return 1, 2' 0
		A EVAL 'return' 0
		A EVAL '' 0
		A EVAL 'return 1/0' 0
		A EVAL 'return -1/0' 0
		A EVAL 'return 0/0' 0
		A EVAL 'return 1e300' 0
		A EVAL 'return {double = 3.5}' 0
		A EVAL 'return {map = {field = "value"}}' 0
		A EVAL 'return {set = {member = true}}' 0
		A EVAL 'return setmetatable({}, {__index = function() return 1 end})' 0
		A EVAL 'return _G' 0
		A EVAL 'return string.rep("x", 5000)' 0`},
	{"to Lua", `
		A SET k v
		A SET n 12
		A RPUSH list a b c
		A EVAL 'local r = redis.call("GET", "k") return {type(r), r}' 0
		A EVAL 'local r = redis.call("GET", "missing") return {type(r), r}' 0
		A EVAL 'local r = redis.call("INCR", "n") return {type(r), r}' 0
		A EVAL 'local r = redis.call("SET", "k", "w") return {type(r), r.ok, r}' 0
		A EVAL 'local r = redis.call("SET", "k", "w", "NX") return {type(r), r}' 0
		A EVAL 'local r = redis.call("LRANGE", "list", 0, -1) return {type(r), #r, r[3], r}' 0
		A EVAL 'local r = redis.call("MGET", "k", "missing", "n") return {#r, r[2], r}' 0
		A EVAL 'local r = redis.call("TYPE", "k") return {type(r), r.ok}' 0
		A EVAL 'local r = redis.call("SCAN", "0") return {type(r), #r, r[1]}' 0
		A EVAL 'local r = redis.pcall("INCR", "k") return {type(r), r.err}' 0
		A EVAL 'local r = redis.call("KEYS", "none*") return {type(r), #r}' 0
		A EVAL 'local r = redis.call("GET", "k") return r == ARGV[1]' 0 w
		A EVAL 'redis.setresp(3) return {redis.call("GET", "missing") == nil, redis.call("HSET", "h", "f", "v"), redis.call("HGETALL", "h").map.f}' 0
		A EVAL 'return redis.call("HGETALL", "h")' 0
		A EVAL 'return redis.call("GET", "missing") == nil' 0`},
	{"the words of a script's command", `
		A EVAL 'return redis.call("SET", KEYS[1], 3.99)' 1 k
		A GET k
		A EVAL 'return redis.call("SET", KEYS[1], 10)' 1 k
		A GET k
		A EVAL 'return redis.call("MSET", "a", 1e15, "b", 1e20, "c", -0.5, "d", 1e-7, "e", 123456789012345, "f", 2^53, "g", 0.1 + 0.2)' 0
		A MGET a b c d e f g
		A EVAL 'return redis.call("set", "k", "v", "px", 60000, "nx")' 0
		A EVAL 'return redis.call()' 0
		A EVAL 'return redis.pcall()' 0
		A EVAL 'return redis.call("GET", {})' 0
		A EVAL 'return redis.call("GET", nil)' 0
		A EVAL 'return redis.pcall("GET", true)' 0
		A EVAL 'return redis.pcall("GET", print)' 0`},
	{"errors of commands", `
		A SET k text
		A RPUSH list a
		A EVAL 'return redis.call("INCR", "k")' 0
		A EVAL 'return redis.pcall("INCR", "k")' 0
		A EVAL 'return redis.call("GET", "list")' 0
		A EVAL 'return redis.pcall("GET", "list")' 0
		A EVAL 'return redis.call("NOSUCH")' 0
		A EVAL 'return redis.pcall("NOSUCH", 1)' 0
		A EVAL 'return redis.call("GET")' 0
		A EVAL 'return redis.pcall("GET")' 0
		A EVAL 'return redis.call("SET", "k", "v", "BOGUS")' 0
		A EVAL 'redis.call("SET", "before", "1") redis.call("INCR", "k") redis.call("SET", "after", "1")' 0
		A EXISTS before after
		A EVAL 'redis.pcall("INCR", "k") return redis.call("SET", "after", "1")' 0
		A EVAL 'return pcall(redis.call, "INCR", "k")' 0
		A EVAL 'local ok, e = pcall(redis.call, "INCR", "k") return {tostring(ok), type(e), e}' 0
		A EVAL 'local ok, e = pcall(function() return redis.call("INCR", "k") end) return e' 0
		A EVAL 'local ok, e = pcall(function() return redis.call("INCR", "k") end) error(e)' 0
		A EVAL 'local r = redis.pcall("INCR", "k") return redis.error_reply(r.err)' 0
		A EVAL 'local r = redis.pcall("INCR", "k") if r.err then return {"failed", r.err} end' 0
		A GET k`},
	{"errors of scripts", `
		A EVAL 'error("boom")' 0
		A EVAL 'error("boom", 0)' 0
		A EVAL 'error({err = "MY boom"})' 0
		A EVAL 'error({err = "boom"})' 0
		A EVAL 'local function f() error("deep") end f()' 0
		A EVAL 'local ok, e = pcall(function() error("x") end) return e' 0
		A EVAL 'local ok, e = pcall(function() error({code = 7}) end) return {tostring(ok), type(e), e.code}' 0
		A EVAL 'return {pcall(function() return 1, 2 end)}' 0
		A EVAL 'assert(false)' 0
		A EVAL 'assert(false, "told you")' 0
		A EVAL 'return assert(1, "fine")' 0
		A EVAL 'return 1' 0
		A EVAL 'return foo' 0
		A EVAL 'foo = 1' 0
		A EVAL 'function f() return 1 end return f()' 0
		A EVAL 'return loadstring("return 1 + 1")()' 0
		A EVAL 'return coroutine.wrap(function() return 5 end)()' 0
		A EVAL 'local co = coroutine.create(function(a) local b = coroutine.yield(a + 1) return b * 2 end) local _, x = coroutine.resume(co, 1) local _, y = coroutine.resume(co, 5) return {x, y}' 0`},
	{"the redis library", `
		A EVAL 'return redis.error_reply("X")' 0
		A EVAL 'return redis.error_reply("MY X")' 0
		A EVAL 'return redis.error_reply("-MY X")' 0
		A EVAL 'return redis.error_reply("three words here")' 0
		A EVAL 'return redis.error_reply("")' 0
		A EVAL 'return redis.error_reply(1)' 0
		A EVAL 'return redis.error_reply()' 0
		A EVAL 'return redis.error_reply("X").err' 0
		A EVAL 'return redis.status_reply("two words")' 0
		A EVAL 'return redis.status_reply("X").ok' 0
		A EVAL 'return redis.status_reply({})' 0
		A EVAL 'return redis.sha1hex("")' 0
		A EVAL 'return redis.sha1hex(12)' 0
		A EVAL 'return redis.sha1hex()' 0
		A EVAL 'return redis.replicate_commands()' 0
		A EVAL 'return redis.set_repl(redis.REPL_ALL)' 0
		A EVAL 'return redis.setresp(4)' 0
		A EVAL 'return redis.setresp()' 0
		A EVAL 'return redis.log(redis.LOG_DEBUG, "x")' 0
		A EVAL 'return redis.log("x")' 0
		A EVAL 'return redis.log(9, "x")' 0
		A EVAL 'return redis.log("y", "x")' 0
		A EVAL 'return {redis.LOG_DEBUG, redis.LOG_VERBOSE, redis.LOG_NOTICE, redis.LOG_WARNING}' 0
		A EVAL 'return redis.nosuch' 0
		A EVAL 'return cjson.encode({1, 2, {a = "b"}})' 0
		A EVAL 'return cjson.decode(ARGV[1])[2].a' 0 [1,{"a":"b"}]`},
	{"what scripts may not do", `
		A EVAL 'return redis.call("EVAL", "return 1", 0)' 0
		A EVAL 'return redis.pcall("EVALSHA", "x", 0)' 0
		A EVAL 'return redis.pcall("MULTI")' 0
		A EVAL 'return redis.pcall("EXEC")' 0
		A EVAL 'return redis.pcall("watch", "k")' 0
		A EVAL 'return redis.pcall("SCRIPT", "FLUSH")' 0
		A EVAL 'return redis.pcall("SUBSCRIBE", "c")' 0
		A EVAL 'return redis.pcall("BLPOP", "k", 0)' 0
		A EVAL 'return redis.pcall("WAIT", 1, 0)' 0
		A EVAL_RO 'return redis.call("SET", "k", "v")' 0
		A EVAL_RO 'return redis.pcall("SET", "k", "v")' 0
		A EVAL_RO 'return redis.call("GET", "k")' 0
		A EVAL 'return redis.call("SET", "k", "v")' 0
		A SCRIPT LOAD 'return redis.call("GET", "k")'
		A EVALSHA_RO d2428e829a956514aaf12c7d1a4e64957e9b1cb4 0
		A EVAL 'string.x = 1' 0
		A EVAL 'string.format = nil' 0
		A EVAL 'redis.call = nil' 0
		A EVAL 'math.pi = 3' 0
		A EVAL 'cjson.encode = nil' 0
		A EVAL '_G.x = 1' 0
		A EVAL '_G.redis = nil' 0
		A EVAL 'rawset(_G, "x", 1)' 0
		A EVAL 'rawset(string, "x", 1)' 0
		A EVAL 'table.insert(string, 1)' 0
		A EVAL 'setmetatable(_G, {})' 0
		A EVAL 'setmetatable(redis, {})' 0
		A EVAL 'return rawget(_G, "x")' 0
		A EVAL 'return type(rawget(_G, "redis"))' 0
		A EVAL 'return getmetatable(string)' 0
		A EVAL 'local n = 0 for k in pairs(coroutine) do n = n + 1 end return n' 0
		A EVAL 'local n = 0 for k in next, coroutine do n = n + 1 end return n' 0
		A EVAL 'return (("x"):rep(3)):upper() .. string.format("%05.1f|%s|%d", 3.14159, "s", 7)' 0
		A EVAL 'return print' 0
		A EVAL 'return os' 0
		A EVAL 'return io' 0
		A EVAL 'return debug' 0
		A EVAL 'return require' 0
		A EVAL 'return module' 0
		A EVAL 'return setfenv' 0
		A EVAL 'return getfenv' 0
		A EVAL 'return newproxy' 0
		A EVAL 'return dofile' 0
		A EVAL 'return package' 0`},
	{"mended commands in scripts", `
		A EVAL 'return {redis.call("SET", "k", "v", "PXAT", 1), redis.call("EXISTS", "k")}' 0
		A EVAL 'redis.call("SET", "k", "v", "PX", 1990) return {redis.call("TTL", "k"), redis.call("SET", "k", "w", "XX", "PXAT", 1), redis.call("GET", "k"), redis.call("TTL", "k")}' 0
		A EVAL 'redis.call("RPUSH", "l", 1) return redis.call("TTL", "l", "l")' 0`},
	{"WATCH of what a script changes", `
		A WATCH k
		B EVAL 'return redis.call("SET", KEYS[1], "v")' 1 k
		A MULTI
		A GET k
		A EXEC
		A WATCH k
		A EVAL 'return redis.call("GET", KEYS[1])' 1 k
		A MULTI
		A GET k
		A EXEC`},
	{"headers of scripts", `
		A EVAL '#!lua|return redis.call("SET", KEYS[1], "v")' 1 k
		A EVAL_RO '#!lua|return redis.call("GET", KEYS[1])' 1 k
		A EVAL '#!lua flags=no-writes|return redis.call("SET", KEYS[1], "v")' 1 k
		A EVAL '#!lua flags=no-writes,allow-stale|return redis.call("GET", KEYS[1])' 1 k
		A EVAL_RO '#!lua flags=no-writes|return redis.call("GET", KEYS[1])' 1 k
		A EVAL '#!lua flags=|return error("on line 2")' 0
		A EVAL '#!lua name=x|return 1' 0
		A EVAL '#!lua flags=no-write|return 1' 0
		A EVAL '#!python|return 1' 0
		A EVAL '#!lua' 0
		A SCRIPT LOAD '#!lua flags=no-writes|return 1'
		A SCRIPT LOAD '#!js|return 1'`},
	{"booleans of scripts", `
		A EVAL 'redis.setresp(3) return {true, false}' 0
		A EVAL 'redis.setresp(3) return false' 0
		A EVAL 'redis.setresp(2) return {true, false}' 0`},
	{"WATCH, and what fails in a script or a transaction", `
		B HSET h f v
		A WATCH h
		B EVAL 'return redis.pcall("GETSET", KEYS[1], "v")' 1 h
		B EVAL 'return redis.call("SET", KEYS[1], "v", "GET")' 1 h
		B MULTI
		B SET h v GET
		B LSET h 9 v
		B EXEC
		A MULTI
		A EXEC
		A WATCH h
		B MULTI
		B HSET h f v
		B GETSET h v
		B EXEC
		A MULTI
		A EXEC`},
	{"a list of one element moved to itself is a change to who watches", `
		A RPUSH l 7
		A WATCH l
		B RPOPLPUSH l l
		A MULTI
		A EXEC
		A WATCH l
		B LMOVE l l LEFT RIGHT
		A MULTI
		A EXEC`},
	{"scores that are instants", `
		A ZADD z 1700000000000 now 1700000000123.5 soon -2000000000 past 3.0 three
		A ZSCORE z now
		A ZMSCORE z now soon past three none
		A ZINCRBY z 60000000000 now
		A ZADD z INCR 1000000000 now
		A ZADD z XX INCR 0 now
		A ZRANGE z 0 -1 WITHSCORES
		A ZREVRANGEBYSCORE z +inf -inf WITHSCORES
		A EVAL 'return {redis.call("ZSCORE", "z", "now"), redis.call("ZRANGE", "z", -1, -1, "WITHSCORES")[2]}' 0
		A ZPOPMAX z
		A ZADD z 1760000000000 now
		A BZPOPMAX z 0
		A ZPOPMIN z 2
		A ZSCORE z
		A ZSCORE none m
		A ZMSCORE none m`},
	{"scores that are no numbers", `
		A ZADD z inf a 1 b
		A ZADD z nan b
		A ZADD z NX 2 c nan d
		A ZCARD z
		A ZADD z 1 nan
		A ZINCRBY z nan b
		A ZINCRBY z -inf a
		A ZADD z INCR -inf a
		A ZRANGE z 0 -1 WITHSCORES`},
	{"endless waits", `
		A RPUSH l a b
		A BLPOP l inf
		A BLPOP l 9223372036854775807
		A BLPOP l 1e3`},
	{"numbers as texts in Lua", `
		A EVAL 'return {tostring(1e15), tostring(1e14), tostring(99999999999999), tostring(123456789012345), 1700000000123 .. "", 1e100 .. ""}' 0
		A EVAL 'return {tostring(1700000000.5), tostring(1/3), 0.1 + 0.2 .. "", tostring(1/0), tostring(-1/0), tostring(0/0), tostring(2^53), tostring(math.huge), tostring(math.pi)}' 0
		A EVAL 'redis.call("MSET", "a", 10, "b", 1/0, "c", -1/0, "d", 0/0, "e", 1e16, "f", 2^63, "g", 100.25) return redis.call("MGET", "a", "b", "c", "d", "e", "f", "g")' 0
		A EVAL 'local z = -0 return {tostring(z), redis.call("ECHO", z)}' 0
		A EVAL 'return {string.len(1e15), string.sub(1e15, 1, 3), table.concat({1.5, 1e15, "x"}, 1e14), redis.sha1hex(1e15), (("x"):gsub("x", 1e15))}' 0
		A EVAL 'local s = "" for i = 1, 3 do s = s .. i .. "," end return {s, 1 .. 2, #(1 .. ""), 1 .. 2 == "12"}' 0
		A EVAL 'local function f(...) return select("#", ...) end return {f("a" .. "b", 1 .. ""), ("a" .. "b"), "x" .. 1 .. "y" .. 2.5}' 0
		A EVAL 'local t = setmetatable({}, {__concat = function(a, b) return "c" end}) return {t .. "x", "x" .. t, "a" .. "b" .. t, t .. t}' 0
		A EVAL 'return "x" .. nil' 0
		A EVAL 'return {} .. "x"' 0
		A EVAL 'return loadstring("return 1e15 .. 2")()' 0
		A EVAL 'local n = 0 return load(function() n = n + 1 return ({"return ", "1e15", " .. 2"})[n] end)()' 0`},
	{"texts as numbers in Lua", `
		A EVAL 'return {tonumber("1e3"), tonumber("0x10"), tonumber("010"), tonumber(" 10 "), tonumber("+5"), tonumber("1."), tonumber(".5e1"), tonumber("0x1p4"), tonumber("1e400")}' 0
		A EVAL 'return {tostring(tonumber("")), tostring(tonumber("1_0")), tostring(tonumber("0b1")), tostring(tonumber("0o7")), tostring(tonumber("10a")), tostring(tonumber("--5")), tostring(tonumber("1e")), tostring(tonumber(".")), tostring(tonumber("0x")), tostring(tonumber(false)), tostring(tonumber("inf"))}' 0
		A EVAL 'return {tonumber("ff", 16), tonumber("-ff", 16), tonumber("zz", 36), tonumber("7", "8"), tostring(tonumber("8", 8)), tostring(tonumber("", 16))}' 0
		A EVAL 'return tonumber("10", 99)' 0
		A EVAL 'return tonumber()' 0
		A EVAL 'return {010 + 0, "010" + 1, -"010", "0x10" * 1, "1e2" - 1, "7" / 2, "7" % 4, 2 ^ "3", " 5 " + 1}' 0
		A EVAL 'return {tostring(1e300 % 7), tostring(1 % 0.1), tostring(5 % (1/0)), tostring(-5 % 3), tostring(5 % -3), tostring("7" % "4"), setmetatable({}, {__mod = function(a, b) return b end}) % 9}' 0
		A EVAL 'return "x" % 2' 0
		A EVAL 'return "1_0" * 1' 0
		A EVAL 'return "0b1" + 1' 0
		A EVAL 'return "" + 1' 0
		A EVAL 'return -"x"' 0
		A EVAL 'for i = "1", ARGV[1], "2" do redis.call("RPUSH", "l", i) end return redis.call("LRANGE", "l", 0, -1)' 0 5
		A EVAL 'for i = 1, ARGV[2] do return i end' 0 4`},
	{"string.format", `
		A EVAL 'return string.format("%5.1f|%-8s|%8s|%08.3f|%+.2e|%g|%g|%g|%.14g|%f", 3.14159, "ab", "cd", -3.14159, 12345.678, 0.0001, 1e-5, 1700000000123, 2^53, 1.5)' 0
		A EVAL 'return string.format("%10.3s|%-10d|%x|%X|%#x|%o|%u|%i|%c|%5d|%05d|%+d|%.3d|%x", "abcdef", 42, 255, 255, 255, 8, 42, 3.7, 65, -42, -42, 42, 5, -1)' 0
		A EVAL 'return string.format("%g|%5.1f|%d|%s|%s|%%", 0/0, 1/0, "0x10", 1e15, 0.1)' 0
		A EVAL 'return string.format("%x|%x|%x|%5s|%s", 1e300, 2^63, -2^63, "a" .. string.char(0) .. "b", string.char(0))' 0
		A EVAL 'return string.format("%q", "a" .. string.char(10, 34, 92, 13, 0))' 0
		A EVAL 'return string.format("%d", "x")' 0
		A EVAL 'return string.format("%s", nil)' 0
		A EVAL 'return string.format("%s", true)' 0
		A EVAL 'return string.format("%s")' 0
		A EVAL 'return string.format("%y", 1)' 0
		A EVAL 'return string.format("%")' 0
		A EVAL 'return string.format("%123d", 1)' 0
		A EVAL 'return {string.lower("ÀB"), string.upper("àb")}' 0`},
	{"tables of Lua", `
		A EVAL 'local t = {} for i = 1, 30 do t[i] = {i % 3, i} end table.sort(t, function(a, b) return a[1] < b[1] end) local r = {} for i = 1, 30 do r[i] = t[i][2] end return r' 0
		A EVAL 'local t = {} for i = 1, 50 do t[i] = (i * 7919) % 101 end table.sort(t) return t' 0
		A EVAL 'local t = {3, 1, 2, 5, 4, 6} table.sort(t, function() return true end) return t' 0
		A EVAL 'local t = {"b", "a", "C"} table.sort(t) return t' 0
		A EVAL 'return table.concat({1, 2, 3}, ",", 2, 5)' 0
		A EVAL 'return table.concat({1, true})' 0
		A EVAL 'local r = {} for k, v in pairs({10, 20, x = 30}) do r[#r + 1] = tostring(k) end return r' 0`},
	{"errors of a script's own", `
		A EVAL 'error(12)' 0
		A EVAL 'error()' 0
		A EVAL 'error(true)' 0
		A EVAL 'error(1e15, 0)' 0
		A EVAL 'error("a" .. string.char(0) .. "b")' 0
		A EVAL 'local function f() error("x", 2) end f()' 0
		A EVAL 'return {pcall(error, "x")}' 0
		A EVAL 'return {pcall(error)}' 0`},
	{"cjson", `
		A EVAL 'return {cjson.encode({}), cjson.encode({a = {}}), cjson.encode({1, 2, nil, 4}), cjson.encode({[1] = "a", [3] = "c"}), cjson.encode({["1"] = "a"}), cjson.encode({[0] = 1}), cjson.encode({[1.5] = 1})}' 0
		A EVAL 'return {cjson.encode(1e15), cjson.encode(1/3), cjson.encode(1700000000123), cjson.encode(true), cjson.encode(nil), cjson.encode("a/b<&>é"), cjson.encode("q" .. string.char(34, 92, 8, 9, 10, 12, 13, 0, 31, 127))}' 0
		A EVAL 'return cjson.encode(1/0)' 0
		A EVAL 'return cjson.encode({[1000] = "a"})' 0
		A EVAL 'return cjson.encode(function() end)' 0
		A EVAL 'return cjson.encode({[true] = 1})' 0
		A EVAL 'local t = {} t[1] = t return cjson.encode(t)' 0
		A EVAL 'return cjson.encode()' 0
		A EVAL 'local v = cjson.decode(ARGV[1]) return {type(v.a), tostring(v.a == nil), v.a and "yes" or "no", tostring(v.a), tostring(v.a == cjson.null), cjson.encode(v)}' 0 {"a":null}
		A EVAL 'return {1, cjson.null, 3}' 0
		A EVAL 'return redis.call("SET", "k", cjson.null)' 0
		A EVAL 'return cjson.encode(cjson.decode(ARGV[1]))' 0 {"n":12345678901234567890}
		A EVAL 'return cjson.encode(cjson.decode(ARGV[1]))' 0 '[null,1,[],{},"x",-1.5e3,true]'
		A EVAL 'return cjson.decode(ARGV[1]).a' 0 '{"a":"\u20ac\ud83d\ude00\/\n"}'
		A EVAL 'return cjson.decode(ARGV[1]).a' 0 {"a":0x10}
		A EVAL 'return cjson.decode(ARGV[1]).a' 0 {"a":01}
		A EVAL 'return cjson.decode(ARGV[1]).a' 0 {"a":1,"a":2}
		A EVAL 'return pcall(cjson.decode, "x")' 0
		A EVAL 'return cjson.decode("")' 0
		A EVAL 'return cjson.decode(".5")' 0
		A EVAL 'return cjson.decode("x")' 0
		A EVAL 'return cjson.decode(ARGV[1])' 0 {"a":1,}
		A EVAL 'return cjson.decode(ARGV[1])' 0 '{"a" 1}'
		A EVAL 'return cjson.decode(ARGV[1])' 0 '[1 2]'
		A EVAL 'return cjson.decode(ARGV[1])' 0 '[1] x'
		A EVAL 'return cjson.decode(ARGV[1])' 0 '"x'
		A EVAL 'return cjson.decode(ARGV[1])' 0 '"\q"'
		A EVAL 'return cjson.decode(ARGV[1])' 0 '"\ud83d"'
		A EVAL 'return cjson.decode()' 0
		A EVAL 'return cjson.decode(false)' 0`},
	{"patterns", `
		A EVAL 'local r = {} for w in ("^a held"):gmatch("^.") do r[#r+1]=w end return r' 0
		A EVAL 'local r = {} for w in ("held"):gmatch("^.") do r[#r+1]=w end return r' 0
		A EVAL 'local r = {} for k, v in ("a=1, b=2"):gmatch("(%w+)=(%w+)") do r[#r+1] = k .. v end return r' 0
		A EVAL 'local r = {} for k in ("abc"):gmatch("()") do r[#r+1] = k end for k in ("a b"):gfind("%a") do r[#r+1] = k end return r' 0
		A EVAL 'local r = {} for k in ("abc"):gmatch("b*") do r[#r+1] = k end return {r, type(("x"):gmatch("x"))}' 0
		A EVAL 'return {("x"):find("x", 1e300, true)}' 0
		A EVAL 'return {("x"):find("x", 0/0, true)}' 0
		A EVAL 'return {("xyz"):find("y", -2, true), ("xyz"):find("", 10), ("xyz"):find("z", "2")}' 0
		A EVAL 'return {("abc"):match("()", 4), ("abc"):match("()", 5), ("abc"):find("", 4)}' 0
		A EVAL 'return {("aaa"):gsub("a", "b", 0), ("aaa"):gsub("a", "b", -1), ("aaa"):gsub("a", "%0%0", 2), ("aaa"):gsub("a", "b", "1")}' 0
		A EVAL 'return {("hello world"):gsub("(o)(.?)", "%2%1")}' 0
		A EVAL 'return {("abc"):gsub("", "-"), ("abc"):gsub("^a", "x"), ("abc"):gsub("b*", "-"), ("x"):gsub("x", "a%"), (string.gsub(1234, 2, 9))}' 0
		A EVAL 'return {("xyz"):gsub("%w", {x = 1, y = false, z = "q"})}' 0
		A EVAL 'return {("x"):gsub("x", function() return false end)}' 0
		A EVAL 'return ("x"):gsub("x", function() return {} end)' 0
		A EVAL 'return ("x"):gsub("x", function() return true end)' 0
		A EVAL 'return ("x"):gsub("x", {x = true})' 0
		A EVAL 'return string.gsub("x", "x", nil)' 0
		A EVAL 'return ("x"):gsub("x", "%9")' 0
		A EVAL 'return {("THE (quick) fox"):find("%((%a+)%)"), ("THE quick"):match("%f[%a]%a+", 4)}' 0
		A EVAL 'return {("THE (quick) fox"):find("%f[%a]%a+%f[%A]")}' 0
		A EVAL 'return {("[[a]b]c"):match("%b[]"), ("x]y"):match("[]]"), ("a-b"):match("[a-]+"), ("a-b"):match("[%a-]+"), ("^"):match("[%^]"), ("]"):match("[^%]]") == nil}' 0
		A EVAL 'return {("key = value"):match("^(%w+)%s*=%s*(%w+)$")}' 0
		A EVAL 'return {("aXbX"):match(".-X"), ("aXbX"):match(".*X"), ("aXbX"):match("X?b"), ("aa"):match("(a)%1"), ("ab"):match("[b-a]") == nil}' 0
		A EVAL 'return {("a" .. string.char(0) .. "b"):find(string.char(0)), ("a" .. string.char(0) .. "b"):find("%z"), ("ab"):find("b" .. string.char(0) .. "(")}' 0
		A EVAL 'return {("a.b"):find(".", 1, true), ("a.b"):find("%."), ("a.b"):gsub("%.", "%%")}' 0
		A EVAL 'local r = {} for _, c in ipairs({"a", "c", "d", "l", "p", "s", "u", "w", "x", "z", "q", "A", "C", "D", "L", "P", "S", "U", "W", "X", "Z", "-"}) do local n = 0 for i = 0, 255 do if string.char(i):match("%" .. c) then n = n + i end end r[#r + 1] = n end return r' 0
		A EVAL 'return {#{("x"):find(("()"):rep(32))}, #{pcall(string.find, "x", ("()"):rep(33))}}' 0
		A EVAL 'return ("x"):find("%f")' 0
		A EVAL 'return ("x"):find("[a")' 0
		A EVAL 'return ("x"):find("[]")' 0
		A EVAL 'return ("x"):find("[^]")' 0
		A EVAL 'return ("x"):find("%")' 0
		A EVAL 'return ("x"):find("(")' 0
		A EVAL 'return ("x"):find("(x")' 0
		A EVAL 'return ("x"):find(")")' 0
		A EVAL 'return ("x"):find("%1")' 0
		A EVAL 'return ("x"):find("%b")' 0
		A EVAL 'return ("x"):find("%bx")' 0
		A EVAL 'return ("x"):find("(x%1)")' 0`},
	{"arguments of functions of Lua", `
		A EVAL 'return {string.sub("abc", "1", "2"), ("x"):rep("2"), string.char("65"), string.byte("abc", "2"), math.floor("1.5"), math.max("3", 2), select("2", 1, 5), unpack({1,2,3}, "2")}' 0
		A EVAL 'return {math.fmod("7", 4), math.min(3, "2", 4), math.abs("-3"), math.pow("2", 3), select(-1, 1, 2, 3), select("#", nil, nil)}' 0
		A EVAL 'return {("abc"):sub(-2), ("abc"):sub(2, -2), ("abc"):sub(0), ("abc"):sub(-100, 100), ("abc"):sub(3, 2), ("abc"):sub(1e300), ("abc"):sub(1, 1e300), ("abc"):sub(1.9, 2.9)}' 0
		A EVAL 'return {("abc"):byte(), ("abc"):byte(-1), ("abc"):byte(10), ("abc"):byte(0), ("abc"):len(), ("abc"):reverse(), string.reverse(12), #("x"):rep(-1), ("x"):rep(1e300), ("abc"):byte(1, -1)}' 0
		A EVAL 'return string.char(256)' 0
		A EVAL 'return string.char(-1)' 0
		A EVAL 'return string.rep()' 0
		A EVAL 'return string.sub("x", "y")' 0
		A EVAL 'return math.floor()' 0
		A EVAL 'return math.floor({})' 0
		A EVAL 'return math.max()' 0
		A EVAL 'return math.fmod(1)' 0
		A EVAL 'return select(0)' 0
		A EVAL 'return select(-5, 1)' 0
		A EVAL 'return select({})' 0
		A EVAL 'return unpack()' 0
		A EVAL 'return unpack({}, {})' 0
		A EVAL 'return {#{unpack({}, 1, 7997)}, #{("x"):rep(7997):byte(1, -1)}, #{unpack({}, 2, 1)}}' 0
		A EVAL 'return #{unpack({}, 1, 7998)}' 0
		A EVAL 'return #{unpack({}, 1, 1000000)}' 0
		A EVAL 'return {unpack({}, -2147483648, 2147483647)}' 0
		A EVAL 'return #{("x"):rep(7998):byte(1, -1)}' 0
		A EVAL 'return {("x"):rep(1048000):byte(1, -1)} ~= nil' 0
		A EVAL 'return {pcall(assert, false, "m")}' 0
		A EVAL 'return {pcall(assert, nil)}' 0
		A EVAL 'return {pcall(assert)}' 0
		A EVAL 'return {pcall(assert, false, {})}' 0
		A EVAL 'return assert(false, 12)' 0
		A EVAL 'return {pcall(string.rep, "x", {})}' 0
		A EVAL 'local t = {1, 2} table.insert(t, "1", 9) table.remove(t, "2") return t' 0
		A EVAL 'local t = {1, 2, 3} table.insert(t, 7, "x") return {t[7], t[4] == nil, t}' 0
		A EVAL 'local t = {1, 2, 3} table.insert(t, -1, "x") return {t[-1], t[0], t}' 0
		A EVAL 'local t = {1, 2, 3} return {select("#", table.remove(t, 0)), select("#", table.remove(t, 5)), select("#", table.remove({})), table.remove(t, 1), table.remove(t), t}' 0
		A EVAL 'table.insert({}, 1, 2, 3)' 0
		A EVAL 'table.insert({})' 0
		A EVAL 'table.insert(nil, 1)' 0
		A EVAL 'table.insert({}, {}, 1)' 0
		A EVAL 'table.remove()' 0
		A EVAL 'setmetatable("x", {})' 0`},
	{"calls that nest", `
		A EVAL 'local function f(n) if n == 0 then return 0 end return 1 + f(n - 1) end return {pcall(f, 300)}' 0
		A EVAL 'local function f(n) if n == 0 then return 0 end return 1 + f(n - 1) end return {pcall(f, 16380)}' 0
		A EVAL 'local function f(n) if n == 0 then return 0 end return 1 + f(n - 1) end return {pcall(f, 16381)}' 0
		A EVAL 'local function f(n) if n == 0 then return 0 end return 1 + f(n - 1) end return f(20000)' 0
		A EVAL 'local function f(n) if n == 0 then error("deep") end return 1 + f(n - 1) end return {pcall(f, 15000)}' 0
		A EVAL 'local d, m = 0 local function f() d = d + 1 local ok, e = pcall(f) m = m or e end f() return {d, m}' 0
		A EVAL 'local d = 0 local function f() d = d + 1 return (("x"):gsub("x", f)) end local ok, e = pcall(f) return {d, e}' 0
		A EVAL 'local d = 0 local function f() d = d + 1 return coroutine.wrap(f)() end local ok, e = pcall(f) return {d, e}' 0`},
	{"variables of functions outlive errors", `
		A EVAL 'local n = 0 local function inc() n = n + 1 end for i = 1, 3 do pcall(function() inc() error("x") end) inc() end return n' 0
		A EVAL 'local n = 0 local function inc() n = n + 1 end for i = 1, 3 do pcall(function() inc() redis.call("NOSUCH") end) inc() end return n' 0
		A EVAL 'local n = 0 local function inc() n = n + 1 end for i = 1, 3 do pcall(function() inc() return nil + 1 end) inc() end return n' 0
		A EVAL 'local function f(n) if n == 0 then return nil + 1 end return 1 + f(n - 1) end return {(pcall(f, 15000))}' 0
		A EVAL 'return {pcall(nil)}' 0
		A EVAL 'return {pcall(setmetatable({}, {__call = function(t, a) return a end}), 7)}' 0`},
	{"coroutines", `
		A EVAL 'local c = coroutine.create(coroutine.yield) coroutine.resume(c) return {coroutine.resume(c)}' 0
		A EVAL 'return {pcall(coroutine.wrap, coroutine.yield)}' 0
		A EVAL 'local c = coroutine.create(function() local a = coroutine.yield(1) return coroutine.yield(a + 1) end) local r = {} for i = 1, 5 do local x = {coroutine.resume(c, i * 10)} r[#r+1] = tostring(x[1]) .. tostring(x[2]) .. #x .. coroutine.status(c) end return r' 0
		A EVAL 'local w = coroutine.wrap(function() return coroutine.yield(1) end) return {w(), w(7), pcall(w)}' 0
		A EVAL 'local c c = coroutine.create(function() return coroutine.resume(c) end) return {coroutine.resume(c)}' 0
		A EVAL 'local c c = coroutine.create(function() local d = coroutine.create(function() return coroutine.status(c), coroutine.resume(c) end) return coroutine.resume(d) end) return {coroutine.resume(c)}' 0
		A EVAL 'local c = coroutine.create(function() return pcall(coroutine.yield, 1) end) return {coroutine.resume(c)}' 0
		A EVAL 'local c = coroutine.create(function() return (("x"):gsub("x", function() coroutine.yield(1) end)) end) return {coroutine.resume(c)}' 0
		A EVAL 'return {pcall(coroutine.wrap(function() error("x") end))}' 0
		A EVAL 'return {pcall(coroutine.resume, 1)}' 0
		A EVAL 'local function f() end return {tostring(coroutine.running()), coroutine.status(coroutine.create(f))}' 0
		A EVAL 'return coroutine.yield(1)' 0`},
	{"what a script knows of its server", `
		A EVAL 'return {redis.REDIS_VERSION, redis.REDIS_VERSION_NUM, tostring(redis.acl_check_cmd("GET", "k"))}' 0`},
	{"words that Lua has had since", `
		A EVAL 'goto x' 0
		A EVAL 'for i = 1, 3 do if i == 2 then goto continue end end' 0
		A EVAL 'return loadstring("goto x") == nil' 0`},
}

// differences are where the node is known to answer otherwise than a real server: in
// the last of the commands. No strategy depends on any of them. One that is gone
// must go from this list.
var differences = []struct{ lines, redis, node string }{
	{`A EVAL 'return type(bit)' 0`, "$5\r\ntable\r\n", "-ERR user_script:1: Script attempted to access nonexistent global variable 'bit' script: 1b03e735c03072284f716e56cf7272b87958129e, on @user_script:1.\r\n"},
	{`A EVAL 'return 1 + nil' 0`, "-ERR user_script:1: attempt to perform arithmetic on a nil value script: e8f647a6e338d050a115f7d097171925636246d4, on @user_script:1.\r\n", "-ERR user_script:1: cannot perform add operation between number and nil script: e8f647a6e338d050a115f7d097171925636246d4, on @user_script:1.\r\n"},
	{`A EVAL 'x x' 0`, "-ERR Error compiling script (new function): user_script:1: '=' expected near 'x'\r\n", "-ERR Error compiling script (new function): user_script line:1(column:3) near 'x':   parse error \r\n"},
	{`A EVAL 'return ("x"):rep({})' 0`, "-ERR user_script:1: bad argument #1 to 'rep' (number expected, got table) script: 9596de726fd7b7aad5ede2a715a0e109b942fd2d, on @user_script:1.\r\n", "-ERR user_script:1: bad argument #2 to 'rep' (number expected, got table) script: 9596de726fd7b7aad5ede2a715a0e109b942fd2d, on @user_script:1.\r\n"},
	{`A EVAL 'local function f(n) if n > 0 then return 1 + f(n - 1) end return 0 end return coroutine.wrap(f)(300)' 0`, ":300\r\n", "-ERR user_script:1: user_script:1: stack overflow script: f84ed0119ea86c96ea810ad951088275d08d945e, on @user_script:1.\r\n"},
	{`A EVAL 'local x pcall(function() local y = 5 x = function() return y end error("z") end) local a, b, c = 1, 2, 3 return x()' 0`, ":5\r\n", ":3\r\n"},
	{`A EVAL 'table.sort(string)' 0`, "$-1\r\n", "-ERR Attempt to modify a readonly table script: e8f5c42877611b1c4f18cf48845bd686cc355891, on @user_script:1.\r\n"},
	{`A EVAL 'return type(getmetatable(_G))' 0`, "$5\r\ntable\r\n", "$3\r\nnil\r\n"},
}

func TestAgainstRedis(t *testing.T) {
	pair := newPair(t)
	for _, d := range dialogues {
		t.Run(d.name, func(t *testing.T) {
			pair.empty(t)
			for line := range strings.Lines(d.lines) {
				if redis, node := pair.ask(t, line); redis != node {
					t.Errorf("%s\n\tRedis %q\n\tnode  %q", strings.TrimSpace(line), redis, node)
				}
			}
		})
	}
}

func TestKnownDifferences(t *testing.T) {
	pair := newPair(t)
	for _, d := range differences {
		pair.empty(t)
		var redis, node string
		for line := range strings.Lines(d.lines) {
			redis, node = pair.ask(t, line)
		}
		if redis != d.redis || node != d.node {
			t.Errorf("%s\n\tRedis %q, expected %q\n\tnode  %q, expected %q", d.lines, redis, d.redis, node, d.node)
		}
		pair.ask(t, "A DISCARD")
	}
}

// pair is a real server and a node, each with two connections.
type pair struct {
	real  map[string]*realConn
	node  *Node
	peers map[string]*Peer
}

func newPair(t *testing.T) *pair {
	t.Helper()
	server := startRedis(t)
	return &pair{real: map[string]*realConn{"A": server.dial(t), "B": server.dial(t)}, node: newServer(t, Config{}).node}
}

func (p *pair) empty(t *testing.T) {
	t.Helper()
	p.real["A"].ask(t, "FLUSHALL")
	p.real["A"].ask(t, "SCRIPT", "FLUSH")
	p.node.Reset(Config{})
	p.peers = map[string]*Peer{"A": NewPeer(p.node), "B": NewPeer(p.node)}
}

// ask sends a line to both, over the connection that its first word names.
func (p *pair) ask(t *testing.T, line string) (redis, node string) {
	t.Helper()
	words := quoted(line)
	if len(words) == 0 {
		return "", ""
	}
	return p.askWords(t, words[0], words[1:])
}

func (p *pair) askWords(t *testing.T, who string, words []string) (redis, node string) {
	t.Helper()
	reply, _ := p.node.Execute(0, p.peers[who], words)
	return p.real[who].ask(t, words...), string(reply)
}

// TestEndlessTable returns a table that holds itself.
func TestEndlessTable(t *testing.T) {
	pair := newPair(t)
	pair.empty(t)
	if redis, node := pair.ask(t, "A EVAL 'local t = {} t[1] = t return t' 0"); redis != node {
		t.Errorf("Redis gives up after %d levels, the node after %d", strings.Count(redis, "*"), strings.Count(node, "*"))
	}
}

// TestCommandsOutOfScripts holds the list of commands that scripts may not use to
// the flags of a real server's commands.
func TestCommandsOutOfScripts(t *testing.T) {
	conn := startRedis(t).dial(t)
	names := regexp.MustCompile(`\$\d+\r\n([a-z_-]+)\r\n`).FindAllStringSubmatch(conn.ask(t, "COMMAND", "LIST"), -1)
	if len(names) < 200 {
		t.Fatalf("there are %d commands", len(names))
	}
	for _, m := range names {
		name := m[1] // what is said of it includes its subcommands
		refused := strings.Contains(conn.ask(t, "COMMAND", "INFO", name), "+noscript\r\n")
		if listed := notInScripts(strings.ToUpper(name)); refused != listed {
			t.Errorf("%s: Redis refuses it to scripts: %v; the node: %v", name, refused, listed)
		}
	}
}

// TestClosedWorld: for each command of a real server, the search either has a model or the
// reason why not.
func TestClosedWorld(t *testing.T) {
	conn := startRedis(t).dial(t)
	for _, m := range regexp.MustCompile(`\$\d+\r\n([a-z_-]+)\r\n`).FindAllStringSubmatch(conn.ask(t, "COMMAND", "LIST"), -1) {
		if commands[strings.ToUpper(m[1])] == nil {
			t.Errorf("%s is in no list", m[1])
		}
	}
}

// TestReplicaAgainstRedis holds what a replica answers, and which commands it refuses,
// to a real server that has been made one.
func TestReplicaAgainstRedis(t *testing.T) {
	pair := newPair(t)
	pair.empty(t)
	for line := range strings.Lines("A SET k v\nB MULTI\nB SET k w\nB GET k") {
		pair.ask(t, line)
	}
	pair.real["A"].ask(t, "REPLICAOF", "127.0.0.1", "1") // nobody there, so it stays as it is
	pair.node.Replica = true
	for line := range strings.Lines(`
		A GET k
		A EXISTS k
		A SET k w
		A SET k w IFEQ v
		A GETSET k w
		A DEL k
		A INCR n
		A PEXPIRE k 100
		A FLUSHALL
		A SWAPDB 0 1
		A EVAL 'return redis.call("GET", KEYS[1])' 1 k
		A EVAL 'return redis.call("DEL", KEYS[1])' 1 k
		A EVAL 'return redis.pcall("DEL", KEYS[1])' 1 k
		A EVAL 'return redis.pcall("DEL", KEYS[1]).err' 1 k
		A WATCH k
		A MULTI
		A GET k
		A EXEC
		A MULTI
		A SET k w
		A GET k
		A EXEC
		A MULTI
		A GET k
		A EXEC
		A MULTI
		A DEL k
		A DISCARD
		A MULTI
		A GET k
		A EXEC
		B EXEC
		A GET k`) {
		if redis, node := pair.ask(t, line); redis != node {
			t.Errorf("%s\n\tRedis %q\n\tnode  %q", strings.TrimSpace(line), redis, node)
		}
	}
	known := 0
	for _, m := range regexp.MustCompile(`\$\d+\r\n([a-z_-]+)\r\n`).FindAllStringSubmatch(pair.real["A"].ask(t, "COMMAND", "LIST"), -1) {
		name := strings.ToUpper(m[1])
		if !pair.node.redis.Server().IsRegisteredCommand(name) {
			continue
		}
		known++
		writes := strings.Contains(pair.real["A"].ask(t, "COMMAND", "INFO", name), "+write\r\n")
		if got := pair.node.writes(name); got != writes {
			t.Errorf("%s: to Redis it writes: %t; to the node: %t", name, writes, got)
		}
	}
	if known < 150 {
		t.Errorf("only %d commands are known to both", known)
	}
}

// TestTTLRoundsAsRedisDoes asks for the TTL of a key that has exactly so many
// milliseconds left. A real server's clock runs on: the script tries until the
// millisecond is the same before and after.
func TestTTLRoundsAsRedisDoes(t *testing.T) {
	const script = `for i = 1, 100000 do
  redis.call("SET", KEYS[1], "v", "PX", ARGV[1])
  local before = redis.call("PTTL", KEYS[1])
  local ttl = redis.call("TTL", KEYS[1])
  if before == tonumber(ARGV[1]) and redis.call("PTTL", KEYS[1]) == before then return ttl end
end
return "never"`
	conn := startRedis(t).dial(t)
	s := newServer(t, Config{})
	for _, millis := range []int{499, 500, 501, 999, 1000, 1001, 1499, 1500, 1501, 2499, 2500, 9999, 10000} {
		args := []string{"EVAL", script, "1", "k", strconv.Itoa(millis)}
		want := conn.ask(t, args...)
		if got, _ := s.node.Execute(0, s.conn, args); string(got) != want {
			t.Errorf("with %d ms left, Redis says %q, the node %q", millis, want, got)
		}
	}
}

// TestExpiryInstantAsInRedis: for one millisecond a key is still there although
// PTTL says 0.
func TestExpiryInstantAsInRedis(t *testing.T) {
	conn := startRedis(t).dial(t)
	for range 20 { // a machine that is busy may miss the millisecond
		conn.ask(t, "SET", "k", "v", "PX", "3")
		last, reply := "", ""
		for reply != ":-2\r\n" {
			last, reply = reply, conn.ask(t, "PTTL", "k")
		}
		if last == ":0\r\n" {
			return
		}
	}
	t.Error("nobody ever saw a key with no time left")
}

// TestKilledAsRedis kills a real server as soon as it has replied, and starts it again. The
// end of the process costs it nothing that it has given to the operating system. (A power cut
// is more than a test can ask for.)
func TestKilledAsRedis(t *testing.T) {
	for p, options := range map[Persistence][]string{
		PersistNone:     nil,
		PersistEverysec: {"--appendonly", "yes", "--appendfsync", "everysec"},
		PersistAlways:   {"--appendonly", "yes", "--appendfsync", "always"},
	} {
		dir := t.TempDir()
		server := startRedisIn(t, dir, options...)
		server.dial(t).ask(t, "SET", "lock", "A1", "PX", "600000")
		server.kill()
		want := startRedisIn(t, dir, options...).dial(t).ask(t, "GET", "lock")

		s := newServer(t, Config{Persistence: p})
		s.say("SET lock A1 PX 600000", "OK")
		s.node.Down(0)
		if _, err := s.node.Start(0); err != nil {
			t.Fatal(err)
		}
		if got, _ := s.node.Execute(0, NewPeer(s.node), []string{"GET", "lock"}); string(got) != want {
			t.Errorf("%s: after its process was killed Redis has %q, the node %q", p, want, got)
		}
	}
}

// realRedis is a Redis server of this machine's own.
type realRedis struct {
	socket string
	kill   func() // ends the process without a word to it, and waits for its end
}

// startRedis starts one, on a socket in a directory of the test's, if there is any.
func startRedis(t *testing.T) *realRedis { return startRedisIn(t, t.TempDir()) }

// startRedisIn starts one in a directory, which has the data of the one before it, if it keeps
// any.
func startRedisIn(t *testing.T, dir string, options ...string) *realRedis {
	t.Helper()
	socket, kill := redistest.StartIn(t, dir, options...)
	return &realRedis{socket: socket, kill: kill}
}

// realConn is a connection to it, without any library between.
type realConn struct {
	net.Conn
	in *bufio.Reader
}

func (r *realRedis) dial(t *testing.T) *realConn {
	t.Helper()
	conn, err := net.Dial("unix", r.socket)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return &realConn{Conn: conn, in: bufio.NewReader(conn)}
}

// ask sends a command and returns the reply, as it comes.
func (c *realConn) ask(t *testing.T, words ...string) string {
	t.Helper()
	if err := c.SetDeadline(time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(c, onTheWire(words)); err != nil {
		t.Fatal(err)
	}
	var reply strings.Builder
	if err := c.read(&reply); err != nil {
		t.Fatal(err)
	}
	return reply.String()
}

func (c *realConn) read(to *strings.Builder) error {
	line, err := c.in.ReadString('\n')
	if err != nil {
		return err
	}
	to.WriteString(line)
	size, _ := strconv.Atoi(strings.TrimSpace(line[1:]))
	switch {
	case line[0] == '$' && size >= 0:
		_, err = io.CopyN(to, c.in, int64(size)+2)
	case line[0] == '*':
		for range size {
			if err = c.read(to); err != nil {
				break
			}
		}
	}
	return err
}

// quoted splits a line into words; single quotes keep one together, and a bar ends a script's header.
func quoted(line string) []string {
	var words []string
	for line = strings.TrimSpace(line); line != ""; line = strings.TrimSpace(line) {
		if rest, is := strings.CutPrefix(line, "'"); is {
			word, after, _ := strings.Cut(rest, "'")
			if strings.HasPrefix(word, "#!") {
				word = strings.Replace(word, "|", "\n", 1)
			}
			words, line = append(words, word), after
			continue
		}
		word, after, _ := strings.Cut(line, " ")
		words, line = append(words, word), after
	}
	return words
}

// onTheWire is a command as a client sends it.
func onTheWire(words []string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "*%d\r\n", len(words))
	for _, w := range words {
		fmt.Fprintf(&b, "$%d\r\n%s\r\n", len(w), w)
	}
	return b.String()
}
