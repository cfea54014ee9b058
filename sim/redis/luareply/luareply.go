// Package luareply converts between the values of Lua and the replies of Redis: the reply to a command that a script
// has called, and the result of a script for its client.
package luareply

import (
	"strconv"
	"strings"

	"github.com/alicebob/miniredis/v2/server"
	lua "github.com/yuin/gopher-lua"

	"lockstep/sim/redis/lua51"
)

// maxNesting bounds the nesting of tables in a reply; Redis gives up when Lua's stack is
// full.
const maxNesting = 7995

// reply writes a script's result as a reply.
type reply struct {
	*server.Peer
	booleans bool // the script has asked for RESP3, which has them
}

// Write writes a script's result as a reply. With booleans the script has asked for RESP3, which has them.
func Write(c *server.Peer, result lua.LValue, booleans bool) { reply{c, booleans}.write(result, 0) }

func (c reply) write(v lua.LValue, depth int) {
	switch v := v.(type) {
	case lua.LBool:
		switch {
		case c.booleans && c.Resp3:
			c.WriteRaw("#" + v.String()[:1] + "\r\n")
		case bool(v):
			c.WriteInt(1)
		case c.booleans:
			c.WriteInt(0)
		default:
			c.WriteNull()
		}
	case lua.LNumber:
		c.WriteInt(int(lua51.Integer(float64(v))))
	case lua.LString:
		c.WriteBulk(string(v))
	case *lua.LTable:
		if depth == maxNesting {
			c.WriteError("ERR reached lua stack limit")
			return
		}
		c.writeTable(v, depth)
	default: // nil, and values without a counterpart: functions, coroutines
		c.WriteNull()
	}
}

// writeTable writes a table as a reply: a field with a special name, or otherwise the
// elements from 1 to the last before a nil.
func (c reply) writeTable(t *lua.LTable, depth int) {
	if err, is := t.RawGetString("err").(lua.LString); is {
		c.WriteError(OneLine(string(err)))
		return
	}
	if ok, is := t.RawGetString("ok").(lua.LString); is {
		c.WriteInline(OneLine(string(ok)))
		return
	}
	if double, is := t.RawGetString("double").(lua.LNumber); is {
		text := lua51.Word(float64(double))
		if c.Resp3 {
			c.WriteRaw("," + text + "\r\n")
		} else {
			c.WriteBulk(text)
		}
		return
	}
	if pairs, is := t.RawGetString("map").(*lua.LTable); is {
		c.WriteMapLen(size(pairs))
		pairs.ForEach(func(k, v lua.LValue) {
			c.write(k, depth+1)
			c.write(v, depth+1)
		})
		return
	}
	if members, is := t.RawGetString("set").(*lua.LTable); is {
		c.WriteSetLen(size(members))
		members.ForEach(func(k, _ lua.LValue) { c.write(k, depth+1) })
		return
	}
	n := 0
	for t.RawGetInt(n+1) != lua.LNil {
		n++
	}
	c.WriteLen(n)
	for i := range n {
		c.write(t.RawGetInt(i+1), depth+1)
	}
}

func size(t *lua.LTable) (n int) {
	t.ForEach(func(lua.LValue, lua.LValue) { n++ })
	return n
}

// OneLine returns a text without line breaks, as a status or an error needs it.
func OneLine(s string) string {
	return strings.NewReplacer("\r", " ", "\n", " ").Replace(s)
}

// Of returns a reply as a script sees it, and the bytes after it.
func Of(l *lua.LState, reply []byte) (v lua.LValue, rest []byte) {
	line, rest := Line(reply)
	body := line[1:]
	n, _ := strconv.Atoi(body)
	switch line[0] {
	case ':':
		return lua.LNumber(n), rest
	case '+':
		return Single(l, "ok", lua.LString(body)), rest
	case '-':
		return Single(l, "err", lua.LString(body)), rest
	case '$':
		if n < 0 {
			return lua.LFalse, rest
		}
		return lua.LString(rest[:n]), rest[n+2:]
	case '*', '>':
		if n < 0 {
			return lua.LFalse, rest
		}
		t := l.CreateTable(n, 0)
		for i := range n {
			v, rest = Of(l, rest)
			t.RawSetInt(i+1, v)
		}
		return t, rest
	}
	return ofResp3(l, line[0], body, n, rest)
}

// ofResp3 is Of for the types that a script sees only after redis.setresp(3).
func ofResp3(l *lua.LState, mark byte, body string, n int, rest []byte) (v lua.LValue, _ []byte) {
	switch mark {
	case '#':
		return lua.LBool(body == "t"), rest
	case ',':
		f, _ := strconv.ParseFloat(body, 64)
		return Single(l, "double", lua.LNumber(f)), rest
	case '%':
		t := l.CreateTable(0, n)
		for range n {
			var k lua.LValue
			k, rest = Of(l, rest)
			v, rest = Of(l, rest)
			t.RawSet(k, v)
		}
		return Single(l, "map", t), rest
	case '~':
		t := l.CreateTable(0, n)
		for range n {
			v, rest = Of(l, rest)
			t.RawSet(v, lua.LTrue)
		}
		return Single(l, "set", t), rest
	}
	return lua.LNil, rest // "_", the null
}

// Single is a table with one field.
func Single(l *lua.LState, name string, v lua.LValue) *lua.LTable {
	t := l.CreateTable(0, 1)
	t.RawSetString(name, v)
	return t
}

// Line cuts a reply's first line off. miniredis always ends one.
func Line(reply []byte) (line string, rest []byte) {
	for i, b := range reply {
		if b == '\r' {
			return string(reply[:i]), reply[i+2:]
		}
	}
	return string(reply), nil
}
