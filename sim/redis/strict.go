package redis

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"lockstep/sim/redis/luareply"
	"lockstep/sim/redis/spelling"
	"lockstep/sim/trace"

	"github.com/alicebob/miniredis/v2/server"
)

// This file reads options, numbers and expiries as Redis does, of the commands that locks
// use. miniredis is laxer with the first two, and counts expiries in spans where Redis has
// instants. The fuzz of sim/verify compares the result with a real server.

// maxLife is the longest life of a key, in milliseconds. Redis has no such limit; here
// instants are counted in nanoseconds.
const maxLife = 100 * 365 * 24 * int64(time.Hour/time.Millisecond)

// maxPlain is the largest TTL of a plain SET, in milliseconds: with it nothing overflows.
const maxPlain = int64(trace.MaxTime / time.Millisecond)

// unknownCommand begins miniredis's reply to a command that it doesn't know.
const unknownCommand = "-ERR unknown command"

// unknown returns Redis's reply to a command that the node doesn't know.
func (n *Node) unknown(args []string) string {
	const most = 128
	said := ""
	for _, a := range args {
		if len(said) >= most {
			break
		}
		said += "'" + a[:min(len(a), most-len(said))] + "' "
	}
	return "-" + luareply.OneLine("ERR unknown command '"+n.typed[:min(len(n.typed), most)]+"', with args beginning with: "+said) + "\r\n"
}

// unixMillis returns the node's clock in milliseconds since 1970.
func (n *Node) unixMillis() int64 { return trace.Epoch.UnixMilli() + n.millis }

// stricter answers a command that miniredis would take in another way than Redis, and reports
// whether this was one.
func (n *Node) stricter(c *server.Peer, cmd string, args []string) (done bool) {
	switch cmd {
	case "SET":
		return len(args) >= 2 && n.set(c, args)
	case "SETEX", "PSETEX":
		return len(args) == 3 && n.setFor(c, cmd, args)
	case "GETEX":
		return len(args) >= 1 && n.getEx(c, args)
	case "EXPIRE", "PEXPIRE", "EXPIREAT", "PEXPIREAT":
		return len(args) >= 2 && n.expire(c, cmd, args)
	case "TTL", "EXPIRETIME":
		return len(args) == 1 && n.rounded(c, "P"+cmd, args[0])
	case "TIME":
		return len(args) == 0 && n.tellsTime(c)
	case "INCR", "DECR", "INCRBY", "DECRBY", "HINCRBY":
		return n.miscounts(c, cmd, args)
	case "PING":
		if len(args) == 1 && args[0] == "" { // which miniredis takes for none
			c.WriteBulk("")
			return true
		}
	case "GETRANGE":
		return len(args) == 3 && n.getRange(c, args)
	case "ZRANGE", "ZREVRANGE", "ZRANGEBYSCORE", "ZREVRANGEBYSCORE":
		if slices.ContainsFunc(args, func(word string) bool { return strings.EqualFold(word, "WITHSCORES") }) {
			if !misspelt(c, cmd, args) {
				n.listsPairs(c, cmd, args, true)
			}
			return true
		}
	case "ZSCORE", "ZMSCORE":
		return n.tellsScores(c, cmd, args)
	case "LINDEX", "LSET":
		if len(args) == map[string]int{"LINDEX": 2, "LSET": 3}[cmd] && n.lacksList(c, cmd, args[0]) {
			return true
		}
	case "SINTER", "SUNION", "SDIFF":
		return c.Resp3 && n.listsSet(c, cmd, args)
	case "LMOVE", "RPOPLPUSH":
		if len(args) == map[string]int{"LMOVE": 4, "RPOPLPUSH": 2}[cmd] && n.rotatesOne(c, cmd, args) {
			return true
		}
	case "ZPOPMIN", "ZPOPMAX":
		if len(args) == 2 && args[1] == "0" {
			return n.popsNone(c, args[0])
		}
	}
	return misspelt(c, cmd, args) || n.watchable(c, cmd, args)
}

// misspelt refuses commands that Redis refuses for their words, and miniredis doesn't.
func misspelt(c *server.Peer, cmd string, args []string) (refused bool) {
	refusal := spelling.Refusal(cmd, args)
	if refusal != "" {
		c.WriteError(refusal)
	}
	return refusal != ""
}

// lacksList answers a command about an element of a list if the key has none: Redis says so before
// it reads the index.
func (n *Node) lacksList(c *server.Peer, cmd, key string) (done bool) {
	switch kind := n.typeOf(c, key); {
	case kind == "list":
		return false
	case kind != "none":
		c.WriteError("WRONGTYPE Operation against a key holding the wrong kind of value")
	case cmd == "LSET":
		c.WriteError("ERR no such key")
	default:
		c.WriteNull()
	}
	return true
}

// listsSet answers a command about sets in RESP3, where miniredis lists an array.
func (n *Node) listsSet(c *server.Peer, cmd string, args []string) (done bool) {
	reply := n.ask(c, append([]string{cmd}, args...)...)
	if strings.HasPrefix(reply, "*") {
		reply = "~" + reply[1:]
	}
	c.WriteRaw(reply)
	return true
}

// popsNone answers a command that is to pop no member: miniredis would pop them all.
func (n *Node) popsNone(c *server.Peer, key string) (done bool) {
	if reply := n.ask(c, "ZCARD", key); reply[0] == '-' {
		c.WriteRaw(reply)
	} else {
		c.WriteLen(0)
	}
	return true
}

// getRange executes a GETRANGE. Where both ends are counted from the end of the value, and lie
// before its beginning, miniredis answers with the first byte.
func (n *Node) getRange(c *server.Peer, args []string) (done bool) {
	from, ok1 := spelling.Integer(args[1])
	to, ok2 := spelling.Integer(args[2])
	if !ok1 || !ok2 {
		c.WriteError(spelling.NotInteger)
		return true
	}
	if from >= 0 || to >= 0 || from <= to {
		return false
	}
	if held := n.ask(c, "GET", args[0]); held[0] == '-' {
		c.WriteRaw(held)
	} else {
		c.WriteBulk("")
	}
	return true
}

// rotatesOne answers a command that moves the only element of a list to that list: miniredis
// would forget the list's expiry.
func (n *Node) rotatesOne(c *server.Peer, cmd string, args []string) (done bool) {
	if args[0] != args[1] || cmd == "LMOVE" && !(spelling.IsSide(args[2]) && spelling.IsSide(args[3])) || n.ask(c, "LLEN", args[0]) != ":1\r\n" {
		return false
	}
	n.stores = append(n.stores, args[0]) // to who watches the list it is a change
	n.write(c, n.ask(c, "LINDEX", args[0], "0"), false)
	return true
}

// rounded answers with the milliseconds of another command's reply, as the nearest second.
// miniredis truncates.
func (n *Node) rounded(c *server.Peer, cmd, key string) (done bool) {
	reply := n.ask(c, cmd, key)
	millis, err := strconv.Atoi(strings.Trim(reply, ":\r\n"))
	if err != nil {
		c.WriteRaw(reply)
		return true
	}
	if millis >= 0 {
		millis = (millis + 500) / 1000
	}
	c.WriteInt(millis)
	return true
}

// tellsTime answers TIME with the microseconds, which miniredis's clock hasn't.
func (n *Node) tellsTime(c *server.Peer) (done bool) {
	at := trace.Epoch.Add(n.now + n.Offset)
	c.WriteLen(2)
	c.WriteBulk(strconv.FormatInt(at.Unix(), 10))
	c.WriteBulk(strconv.Itoa(at.Nanosecond() / int(time.Microsecond)))
	return true
}

// miscounts refuses a command that counts with a number that Redis doesn't take for one, or
// beyond the largest.
func (n *Node) miscounts(c *server.Peer, cmd string, args []string) (refused bool) {
	hash := cmd == "HINCRBY"
	switch {
	case hash && len(args) != 3, len(cmd) == len("INCR") && len(args) != 1, strings.HasSuffix(cmd, "BY") && !hash && len(args) != 2:
		return false
	}
	by := int64(1)
	if len(args) > 1 {
		var ok bool
		switch by, ok = spelling.Integer(args[len(args)-1]); {
		case !ok:
			c.WriteError(spelling.NotInteger)
			return true
		case cmd == "DECRBY" && by == math.MinInt64:
			c.WriteError("ERR decrement would overflow")
			return true
		}
	}
	held, refusal, counts := "", spelling.NotInteger, false
	if hash {
		refusal = "ERR hash value is not an integer"
		held, counts = n.held(c, "HGET", args[0], args[1])
	} else if p := n.asking; p != nil && !p.selects {
		var err error
		held, err = n.data.Get(args[0])
		counts = err == nil
	} else {
		held, counts = n.held(c, "GET", args[0])
	}
	if !counts {
		return false
	}
	v, ok := spelling.Integer(held)
	switch {
	case !ok:
		c.WriteError(refusal)
	case hash && (by > 0 && v > math.MaxInt64-by || by < 0 && v < math.MinInt64-by): // miniredis wraps
		c.WriteError("ERR increment or decrement would overflow")
	default:
		return false
	}
	return true
}

// held returns the value that a command reads, if there is one.
func (n *Node) held(c *server.Peer, command ...string) (value string, is bool) {
	reply := n.ask(c, command...)
	if reply[0] == '-' || reply == "$-1\r\n" {
		return "", false
	}
	return bulk(reply), true
}

// bulk returns the text of a reply that is a bulk string.
func bulk(reply string) string {
	_, text, _ := strings.Cut(reply, "\r\n")
	return strings.TrimSuffix(text, "\r\n")
}

// options are those of a SET or a GETEX.
type options struct {
	nx, xx, get     bool
	keep, persist   bool
	unit, amount    string // EX, PX, EXAT or PXAT, and the number after it; or empty
	compare, with   string // IFEQ or IFNE, which SET has had since Redis 8.4, and the value; or empty
	until, lifetime int64  // of the unit: the last millisecond of the key's life since 1970, and the milliseconds until then
}

// parseOptions reads options as Redis does, and reports whether they are well-formed.
func parseOptions(set bool, words []string) (o options, ok bool) {
	for i := 0; i < len(words); i++ {
		word, fits := strings.ToUpper(words[i]), false
		switch word {
		case "NX":
			o.nx, fits = true, set && !o.xx
		case "XX":
			o.xx, fits = true, set && !o.nx
		case "GET":
			o.get, fits = true, set
		case "KEEPTTL":
			o.keep, fits = true, set && o.unit == ""
		case "PERSIST":
			o.persist, fits = true, !set && o.unit == ""
		case "EX", "PX", "EXAT", "PXAT":
			if i++; i < len(words) {
				fits = !o.keep && !o.persist && (o.unit == "" || o.unit == word)
				o.unit, o.amount = word, words[i]
			}
		case "IFEQ", "IFNE":
			if i++; i < len(words) {
				fits = set && o.compare == ""
				o.compare, o.with = word, words[i]
			}
		}
		if !fits {
			return o, false
		}
	}
	return o, o.compare == "" || !o.nx && !o.xx
}

// parseUntil computes until and lifetime. It returns the error reply, or "".
func (n *Node) parseUntil(o *options, cmd string) (refusal string) {
	if o.unit == "" {
		return ""
	}
	invalid := func() string { return "ERR invalid expire time in '" + strings.ToLower(cmd) + "' command" }
	v, ok := spelling.Integer(o.amount)
	if !ok {
		return spelling.NotInteger
	}
	if v <= 0 {
		return invalid()
	}
	if o.unit[0] == 'E' {
		if v > math.MaxInt64/1000 {
			return invalid()
		}
		v *= 1000
	}
	now := n.unixMillis()
	if !strings.HasSuffix(o.unit, "AT") {
		if v > math.MaxInt64-now {
			return invalid()
		}
		v += now
	}
	o.until = min(v, now+maxLife)
	o.lifetime = o.until - now
	return ""
}

// plain reports whether a SET with these words has no rarer options.
func (o *options) plain(words int) bool {
	want := 2
	if o.nx {
		want++
	}
	if o.unit != "" {
		want += 2
	}
	return want == words && len(o.unit) <= len("PX") && o.lifetime <= maxPlain
}

// set executes a SET. It leaves plain ones to miniredis.
func (n *Node) set(c *server.Peer, args []string) (done bool) {
	o, ok := parseOptions(true, args[2:])
	if !ok {
		c.WriteError(spelling.SyntaxError)
		return true
	}
	if refusal := n.parseUntil(&o, "SET"); refusal != "" {
		c.WriteError(refusal)
		return true
	}
	plain, p := o.plain(len(args)), n.asking
	if plain && p != nil && p.conn == c && !p.selects {
		n.plain = plainSet{is: true, value: args[1], ttl: o.lifetime}
	} else {
		n.giveGrace()
	}
	if plain || o.compare != "" && n.refusesCompared(c, args[0], &o) {
		if plain && !o.nx {
			n.stores = append(n.stores, args[0]) // see storing
		}
		return !plain
	}
	existed := n.ask(c, "EXISTS", args[0]) == ":1\r\n"
	reply := n.ask(c, o.words(args)...)
	n.write(c, reply, false)
	if reply[0] == '-' || o.nx && existed || o.xx && !existed || o.unit == "" || o.lifetime > 0 {
		return true
	}
	if o.lifetime < 0 { // Redis stores the key, and finds it expired when it is next asked
		n.ask(c, "DEL", args[0])
	} else {
		n.data.SetTTL(args[0], time.Duration(n.millis-n.counted)*time.Millisecond+grace)
	}
	return true
}

// words returns the SET that miniredis is to execute.
func (o *options) words(args []string) []string {
	words := []string{"SET", args[0], args[1]}
	for _, flag := range []struct {
		is   bool
		word string
	}{{o.nx, "NX"}, {o.xx, "XX"}, {o.get, "GET"}, {o.keep, "KEEPTTL"}} {
		if flag.is {
			words = append(words, flag.word)
		}
	}
	if o.lifetime > 0 {
		words = append(words, "PX", strconv.FormatInt(o.lifetime, 10))
	}
	return words
}

// refusesCompared answers a SET with a comparison that doesn't hold.
func (n *Node) refusesCompared(c *server.Peer, key string, o *options) (refused bool) {
	held := n.ask(c, "GET", key)
	equal := held == fmt.Sprintf("$%d\r\n%s\r\n", len(o.with), o.with)
	switch {
	case strings.HasPrefix(held, "-"): // it holds no string
		n.write(c, held, false)
	case equal == (o.compare == "IFEQ"):
		return false
	case o.get:
		n.write(c, held, false)
	default:
		c.WriteNull()
	}
	return true
}

// setFor executes a SETEX or a PSETEX. It leaves the usual ones to miniredis.
func (n *Node) setFor(c *server.Peer, cmd string, args []string) (done bool) {
	o := options{unit: strings.TrimPrefix(cmd, "SET"), amount: args[1]}
	if cmd == "PSETEX" {
		o.unit = "PX"
	}
	if refusal := n.parseUntil(&o, cmd); refusal != "" {
		c.WriteError(refusal)
		return true
	}
	if o.lifetime < maxLife {
		return false
	}
	n.write(c, n.ask(c, o.words([]string{args[0], args[2]})...), false)
	return true
}

// getEx executes a GETEX.
func (n *Node) getEx(c *server.Peer, args []string) (done bool) {
	key := args[0]
	o, ok := parseOptions(false, args[1:])
	if !ok {
		c.WriteError(spelling.SyntaxError)
		return true
	}
	held := n.ask(c, "GET", key)
	if held[0] == '-' || held == "$-1\r\n" {
		n.write(c, held, false)
		return true
	}
	if refusal := n.parseUntil(&o, "GETEX"); refusal != "" {
		c.WriteError(refusal)
		return true
	}
	switch {
	case o.unit != "":
		n.expireIn(c, key, o.lifetime)
	case o.persist:
		n.ask(c, "PERSIST", key)
	}
	n.write(c, held, false)
	return true
}

// expireIn has a key expire in so many milliseconds. If that is at once, it deletes the key.
func (n *Node) expireIn(c *server.Peer, key string, lifetime int64) {
	if lifetime <= 0 {
		n.ask(c, "DEL", key)
		return
	}
	n.ask(c, "PEXPIRE", key, strconv.FormatInt(min(lifetime, maxLife), 10))
}

// conditions are the options of an EXPIRE.
type conditions struct{ nx, xx, gt, lt bool }

func parseConditions(words []string) (o conditions, refusal string) {
	for _, word := range words {
		switch strings.ToUpper(word) {
		case "NX":
			o.nx = true
		case "XX":
			o.xx = true
		case "GT":
			o.gt = true
		case "LT":
			o.lt = true
		default:
			return o, "ERR Unsupported option " + word
		}
	}
	switch {
	case o.nx && (o.xx || o.gt || o.lt):
		refusal = "ERR NX and XX, GT or LT options at the same time are not compatible"
	case o.gt && o.lt:
		refusal = "ERR GT and LT options at the same time are not compatible"
	}
	return o, refusal
}

// hold reports whether a key that has so many milliseconds left, or -1, may be given others.
func (o conditions) hold(left, lifetime int64) bool {
	immortal := left == -1
	switch {
	case o.nx && !immortal, o.xx && immortal, o.gt && (immortal || lifetime <= left), o.lt && !immortal && lifetime >= left:
		return false
	}
	return true
}

// expire executes an EXPIRE or one of its kin.
func (n *Node) expire(c *server.Peer, cmd string, args []string) (done bool) {
	o, refusal := parseConditions(args[2:])
	at, ok := spelling.Integer(args[1])
	base := int64(0)
	if !strings.HasSuffix(cmd, "AT") {
		base = n.unixMillis()
	}
	invalid := func() string { return "ERR invalid expire time in '" + strings.ToLower(cmd) + "' command" }
	switch seconds := cmd[0] == 'E'; {
	case refusal != "":
	case !ok:
		refusal = spelling.NotInteger
	case seconds && (at > math.MaxInt64/1000 || at < math.MinInt64/1000):
		refusal = invalid()
	case seconds:
		at *= 1000
	}
	if refusal == "" && at > math.MaxInt64-base {
		refusal = invalid()
	}
	if refusal != "" {
		c.WriteError(refusal)
		return true
	}
	at = max(at+base, 0)
	left, _ := spelling.Integer(strings.Trim(n.ask(c, "PTTL", args[0]), ":\r\n"))
	if lifetime := at - n.unixMillis(); left == -2 || !o.hold(left, lifetime) {
		c.WriteInt(0)
	} else {
		n.expireIn(c, args[0], lifetime)
		c.WriteInt(1)
	}
	return true
}
