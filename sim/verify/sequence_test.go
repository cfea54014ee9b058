package verify

import (
	"crypto/sha1"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"lockstep/sim/redis"
	"lockstep/sim/redis/redistest"
	"lockstep/sim/trace"
	"lockstep/strategies"
)

// step is one step of a fuzzed sequence: time passes, and then a connection sends a command.
type step struct {
	wait time.Duration
	who  int
	args []string
}

func (s step) String() string {
	wait := ""
	if s.wait > 0 {
		wait = "+" + s.wait.String()
	}
	return fmt.Sprintf("%10s  %c %s", wait, 'A'+s.who, trace.CommandText(s.args))
}

// lockCommands are templates of the commands that locks use, for [redistest.Expand]. In
// addition to the symbols of [redistest.Commands], U is an instant in seconds, U000 one in
// milliseconds, and F a field.
var lockCommands = strings.Split(strings.TrimSpace(`
SET K V
SET K V NX PX T000
SET K V [NX] [XX] [GET] [PX T000]
SET K V [GET] [EX T] [KEEPTTL] [NX]
SET K V [PXAT U000] [XX] [GET]
SET K V EXAT U [NX]
SETNX K V
SETNX K V
PSETEX K T000 V
SETEX K T V
GET K
GET K
GETSET K V
GETDEL K
GETEX K [PX T000] [EX T]
GETEX K [PXAT U000] [PERSIST]
GETEX K EXAT U
DEL K [K]
UNLINK K
EXISTS K [K]
TYPE K
EXPIRE K T [NX] [XX] [GT]
EXPIRE K T [LT]
PEXPIRE K T000 [NX] [GT]
PEXPIRE K T000 [XX] [LT]
EXPIREAT K U [GT]
PEXPIREAT K U000 [LT] [XX]
PERSIST K
TTL K
PTTL K
PTTL K
EXPIRETIME K
PEXPIRETIME K
INCR K
DECR K
INCRBY K N
HSET K F V [F V]
HSETNX K F V
HINCRBY K F N
HEXISTS K F
HGET K F
HDEL K F [F]
HLEN K
MULTI
EXEC
EXEC
DISCARD
WATCH K [K]
UNWATCH
SCRIPT FLUSH
TIME
PING
ECHO V
PUBLISH channel V`), "\n")

// unorderedCommands are templates of those whose replies have an order that Redis chooses.
var unorderedCommands = strings.Split(strings.TrimSpace(`
HGETALL K
HGETALL K
HKEYS K
HVALS K
SMEMBERS K
SINTER K K
SUNION K [K]
SDIFF K K
KEYS *`), "\n")

// unordered are their names.
var unordered = []string{"HGETALL", "HKEYS", "HVALS", "SMEMBERS", "SINTER", "SUNION", "SDIFF", "KEYS"}

// scriptCommands are templates for the commands of random scripts.
var scriptCommands = slices.DeleteFunc(slices.Concat(lockCommands, lockCommands, redistest.Commands), func(t string) bool {
	name, _, _ := strings.Cut(t, " ")
	return slices.Contains([]string{"MULTI", "EXEC", "DISCARD", "WATCH", "UNWATCH", "SCRIPT", "TIME"}, name)
})

// expressions are templates of what a script computes: N is a number of Lua's, and V a text.
var expressions = strings.Split(strings.TrimSpace(`
tostring(N)
N .. ':' .. V .. N
V .. (N + N)
tostring(N / N)
tostring(N % 7)
N
math.floor(N)
tonumber(V)
tostring(tonumber(V))
tostring(tonumber(V, 16))
tostring(tonumber(V) == N)
select(2, pcall(function() return V + N end))
select(2, pcall(function() return N - V end))
string.format('%d|%5.2f|%g|%.3e|%s|%s', N, N, N, N, N, V)
string.format('%5s|%-5s|%05d|%x|%.14g|%q', V, V, N, N, N, V)
string.format('%s %i', V, V)
table.concat({V, N, V}, N)
cjson.encode(N)
cjson.encode(V)
cjson.encode({N, V, {}, {{V}}})
cjson.encode({[V] = N})
tostring(pcall(cjson.decode, V))
cjson.encode(cjson.decode('[' .. cjson.encode(V) .. ',' .. cjson.encode(N) .. ',null,{}]'))
redis.sha1hex(N)
V:sub(N, 3)
V:rep(2) .. #V
V:upper() .. V:lower() .. V:reverse()
select(2, V:gsub('%d', '<%0>')) .. V:gsub('%d', '<%0>')
V:match('^%s*(.-)%s*$')
tostring(V:find('1'))
V < V
redis.call('ECHO', N)
redis.call('SET', KEYS[1], N)
(function() local t = {V, V, V, V, V, V} table.sort(t) return t end)()
(function() local t = {N, N, N, N, N} table.sort(t, function(a, b) return a > b end) return t end)()
(function() local t = {} for i = 1, #V do t[i] = {#t % 2, i} end table.sort(t, function(a, b) return a[1] < b[1] end) return t end)()
(function() local n = 0 for i = V, V, N do n = n + 1 if n > 9 then break end end return n end)()
(function() error(V) end)()
(function() error(N, 0) end)()`), "\n")

// expression draws what a script computes.
func (d *draws) expression() string {
	template := pick(d, expressions...)
	return placeholders.ReplaceAllStringFunc(template, func(w string) string {
		if w == "N" {
			return pick(d, "0", "1", "-1", "7", "0.1", "-0.5", "2.5e-7", "1e14", "1e15", "99999999999999", "123456789012345", "1700000000123",
				"1700000000123.5", "2^53", "(2^53+1)", "2^63", "-2^63", "1/3", "010", "0x1F", "1e300")
		}
		return "'" + pick(d, "A1", "7", "-3", "", "x y", "1e3", "0x1F", " 12 ", "010", "1_0", "0b1", "5.5", ".5", "1.", "é/<b>", "\\\"\\n\\0", "[1,{}]", "{\"a\":null}", "tru", "1700000000123") + "'"
	})
}

var placeholders = regexp.MustCompile(`\b[NV]\b`)

// lockScripts are the scripts of the catalogue.
var lockScripts = func() (texts []string) {
	for _, s := range strategies.All() {
		for _, script := range s.Scripts {
			if text := redis.ScriptText(script); !slices.Contains(texts, text) {
				texts = append(texts, text)
			}
		}
	}
	return texts
}()

// draws makes random steps.
type draws struct {
	*rand.Rand
	now     time.Duration
	expires []time.Duration // the instants at which keys will be gone
	scripts []string        // sent so far
}

func pick[T any](d *draws, all ...T) T { return all[d.IntN(len(all))] }

// step draws the next step. Some commands are malformed.
func (d *draws) step(last int) step {
	s := step{wait: d.wait(), who: last}
	if d.IntN(4) == 0 {
		s.who = d.IntN(connections)
	}
	d.now += s.wait
	switch n := d.IntN(100); {
	case n < 22:
		s.args = redistest.Expand(d.Rand, pick(d, redistest.Commands...), d.word)
	case n < 25:
		s.args = redistest.Expand(d.Rand, pick(d, unorderedCommands...), d.word)
	case n < 37:
		s.args = d.eval()
	default:
		s.args = redistest.Expand(d.Rand, pick(d, lockCommands...), d.word)
	}
	if spoilt := d.spoil(s.args); d.IntN(12) == 0 && !leftOut(spoilt) {
		s.args = spoilt
	}
	return s
}

// leftOut reports whether a command has a form in which a difference is known: see
// TestKnownForms.
func leftOut(args []string) bool {
	name := strings.ToUpper(args[0])
	long := func(word string) bool { return len(strings.Trim(word, "(-+")) > 17 || word == " 1" }
	return (name == "ZRANK" || name == "ZREVRANK") && len(args) > 3 || strings.HasPrefix(name, "Z") && slices.ContainsFunc(args, long)
}

// connections is how many connections send commands.
const connections = 3

// wait draws how much time passes before a step: often none, sometimes until a key has a
// millisecond to live, or none, or is gone.
func (d *draws) wait() time.Duration {
	switch n := d.IntN(40); {
	case n < 32:
		return 0
	case n < 36 && len(d.expires) > 0:
		at := pick(d, d.expires...) - pick(d, 0, time.Microsecond, time.Millisecond, 2*time.Millisecond)
		return max(0, at-d.now)
	default:
		return pick(d, time.Microsecond, 400*time.Microsecond, time.Millisecond, 499*time.Millisecond, time.Second, 7*time.Second)
	}
}

// word returns the text of a word of a template.
func (d *draws) word(w string) string {
	at := trace.Epoch.Add(d.now)
	switch w {
	case "K":
		return pick(d, "a", "b", "c", "d")
	case "V":
		return pick(d, "A1", "B1", "C1", "7", "-3", "", "x y")
	case "F":
		return pick(d, "f", "g", "A1")
	case "N":
		return pick(d, "-2", "-1", "0", "1", "2", "5")
	case "T":
		return pick(d, "1", "2", "10", "3600", "-1")
	case "T000":
		return pick(d, "1", "2", "499", "500", "1000", "1499", "1500", "10000", "30000")
	case "U":
		return strconv.FormatInt(at.Unix()+int64(pick(d, -1, 0, 1, 2, 60)), 10)
	case "U000":
		return strconv.FormatInt(at.UnixMilli()+int64(pick(d, -1, 0, 1, 2, 1000, 60000)), 10)
	}
	if strings.TrimPrefix(w, "(") == "S" {
		return strings.TrimSuffix(w, "S") + pick(d, "-1.5", "0", "1", "2.25", "1000000", "1700000000000")
	}
	return w
}

// spoil makes a command malformed, as a rule: a word is missing, doubled, or nonsense.
func (d *draws) spoil(args []string) []string {
	args = slices.Clone(args)
	i := d.IntN(len(args))
	switch d.IntN(4) {
	case 0:
		if len(args) > 1 {
			return slices.Delete(args, i, i+1)
		}
	case 1:
		return slices.Insert(args, i, args[i])
	case 2:
		return append(args, pick(d, "", "x", "1", "NX", "KEEPTTL"))
	}
	if i == 0 {
		args[0] = strings.ToLower(args[0])
		return args
	}
	args[i] = pick(d, "", "x", "0", "-1", "1.5", "+7", "07", " 1", "9223372036854775807", "9223372036854775808", "-9223372036854775808", "1e3", "inf")
	if args[i] == "9223372036854775807" && strings.Contains(strings.ToUpper(strings.Join(args, " ")), "AT") {
		args[i] = "0" // no life in a node is that long: see TestLongestLife
	}
	return args
}

// eval draws a command about scripts: with one of the catalogue's, or a random one.
func (d *draws) eval() []string {
	text := ""
	switch n := d.IntN(10); {
	case n < 5:
		text = pick(d, lockScripts...)
	case n < 6 && len(d.scripts) > 0:
		text = pick(d, d.scripts...)
	default:
		text = d.script()
	}
	d.scripts = append(d.scripts, text)
	sum := sha1.Sum([]byte(text))
	digest := hex.EncodeToString(sum[:])
	call := []string{"EVAL", text}
	switch d.IntN(8) {
	case 0:
		return []string{"SCRIPT", "LOAD", text}
	case 1:
		return []string{"SCRIPT", "EXISTS", digest}
	case 2, 3:
		call = []string{"EVALSHA", digest}
	case 4:
		call[0] = "EVAL_RO"
	}
	keys, words := wants(text, "KEYS"), wants(text, "ARGV")
	call = append(call, strconv.Itoa(keys))
	for range keys {
		call = append(call, d.word("K"))
	}
	for range words {
		call = append(call, d.word(pick(d, "V", "V", "T000", "T", "N")))
	}
	return call
}

var indexes = regexp.MustCompile(`(KEYS|ARGV)\[(\d)\]`)

// wants returns how many KEYS or ARGV a script wants.
func wants(text, table string) (most int) {
	for _, m := range indexes.FindAllStringSubmatch(text, -1) {
		if n, _ := strconv.Atoi(m[2]); m[1] == table {
			most = max(most, n)
		}
	}
	return most
}

// script draws a script: some calls, of which some depend on a comparison, and what they
// returned.
func (d *draws) script() string {
	var b strings.Builder
	b.WriteString("local r = {}\n")
	for range 1 + d.IntN(4) {
		call := d.call()
		if d.IntN(4) == 0 {
			call = d.expression()
		}
		switch d.IntN(4) {
		case 0:
			fmt.Fprintf(&b, "if redis.call('GET', KEYS[1]) == ARGV[1] then r[#r + 1] = %s end\n", call)
		case 1:
			fmt.Fprintf(&b, "if redis.call('EXISTS', KEYS[1]) == 0 then r[#r + 1] = %s else r[#r + 1] = redis.call('PTTL', KEYS[1]) end\n", call)
		default:
			fmt.Fprintf(&b, "r[#r + 1] = %s\n", call)
		}
	}
	b.WriteString(pick(d, "return r", "return r", "return r[1]", "return #r", "return {r[1] == false, type(r[1])}"))
	return b.String()
}

// call draws a call of a script.
func (d *draws) call() string {
	words := redistest.Expand(d.Rand, pick(d, scriptCommands...), func(w string) string {
		switch {
		case w == "K" && d.IntN(3) > 0:
			return "KEYS[" + pick(d, "1", "2") + "]"
		case w == "V" && d.IntN(2) == 0:
			return "ARGV[1]"
		case w == "N" || w == "T" || w == "T000":
			return d.word(w) // as a number of Lua's
		}
		return "'" + d.word(w) + "'"
	})
	return "redis." + pick(d, "call", "pcall") + "(" + strings.Join(words, ", ") + ")"
}
