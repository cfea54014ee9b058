package redis

import (
	"crypto/sha1"
	"encoding/hex"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/alicebob/miniredis/v2/server"
	lua "github.com/yuin/gopher-lua"

	"lockstep/sim/redis/lua51"
	"lockstep/sim/redis/luareply"
)

// luaVM is a Lua virtual machine with the libraries that Redis gives to scripts. It runs
// many scripts, so no script may leave anything behind in it: all tables that outlive a
// script are read-only, as in Redis since 7.0.
//
// A read-only table is an empty table, whose metatable reads from the table that it stands
// for and refuses writes. Functions that bypass metatables are replaced.
type luaVM struct {
	l       *lua.LState
	globals *lua.LTable
	behind  map[*lua.LTable]*lua.LTable // by read-only table: the table that it stands for
	refuse  *lua.LFunction
	handler *lua.LFunction
	node    *Node
	redis   *server.Server
	calls   *Peer // the commands of scripts
	random  uint64
	budget  *budget
	limits  *lua51.Limits
	deep    *lua.LState // runs scripts that could call themselves; nil before the first

	loaded   map[*script]*lua.LFunction
	digest   string // of the script that runs
	readOnly bool   // it may not write
	wrote    bool   // it called more than readOnly's commands
}

func newLuaVM(n *Node) *luaVM {
	m := &luaVM{node: n, redis: n.redis.Server(), calls: NewPeer(n),
		behind: map[*lua.LTable]*lua.LTable{}, loaded: map[*script]*lua.LFunction{}, budget: newBudget()}
	m.limits = &lua51.Limits{Context: m.budget, Spend: m.budget.spend}
	m.l = lua.NewState(lua.Options{SkipOpenLibs: true, RegistrySize: 2048, RegistryMaxSize: 1 << 20, RegistryGrowStep: 4096})
	m.refuse = m.l.NewFunction(func(l *lua.LState) int {
		l.RaiseError(readonlyTable)
		return 0
	})
	m.handler = m.l.NewFunction(handleError)
	m.globals = m.l.NewTable()
	m.openLibraries()
	m.replaceFunctions()
	m.l.SetField(m.l.GetMetatable(lua.LString("")), "__index", m.globals.RawGetString("string"))

	undefined := m.l.NewTable()
	undefined.RawSetString("__index", m.l.NewFunction(func(l *lua.LState) int {
		name := l.Get(2).String()
		if slices.Contains(lacking, name) {
			m.refused(name, "the simulated server's Lua lacks this library of Redis's; use cjson, string and math")
		}
		l.RaiseError("Script attempted to access nonexistent global variable '%s'", name)
		return 0
	}))
	m.globals.Metatable = undefined
	m.l.Env = m.protect(m.globals)
	lua51.Base(m.l, m.globals, m.l.Env, m.refused)
	m.globals.RawSetString("_G", m.l.Env)
	m.l.SetContext(m.budget)
	return m
}

// lacking are the libraries that a script of Redis has, and here has not.
var lacking = []string{"cmsgpack", "struct", "bit", "os"}

const readonlyTable = "Attempt to modify a readonly table"

// The functions of Lua's base library that Redis leaves to scripts; those that
// could change a read-only table are replaced afterwards.
var baseFunctions = []string{"assert", "error", "getmetatable", "ipairs", "load", "loadstring", "next", "pairs", "pcall",
	"rawequal", "rawget", "rawset", "select", "setmetatable", "tonumber", "tostring", "type", "unpack", "xpcall"}

func (m *luaVM) openLibraries() {
	open := func(name string, f lua.LGFunction) {
		m.l.Push(m.l.NewFunction(f))
		m.l.Push(lua.LString(name))
		m.l.Call(1, 1)
		m.l.Pop(1)
	}
	open(lua.BaseLibName, lua.OpenBase)
	for _, name := range append(baseFunctions, "_VERSION") {
		m.globals.RawSetString(name, m.l.GetGlobal(name))
	}
	for _, lib := range []struct {
		name string
		open lua.LGFunction
	}{
		{lua.TabLibName, lua.OpenTable}, {lua.StringLibName, lua.OpenString},
		{lua.MathLibName, lua.OpenMath}, {lua.CoroutineLibName, lua.OpenCoroutine},
	} {
		open(lib.name, lib.open)
		t := m.l.GetGlobal(lib.name).(*lua.LTable)
		switch lib.name {
		case lua.TabLibName:
			lua51.Tables(m.l, t, m.refused, m.limits)
		case lua.StringLibName:
			lua51.Strings(m.l, t, m.limits)
		case lua.MathLibName:
			lua51.Math(m.l, t)
		case lua.CoroutineLibName:
			lua51.Coroutines(m.l, t, m.limits)
		}
		m.library(lib.name, t)
	}
	m.library("cjson", lua51.JSON(m.l, m.refused))
	m.library("redis", m.redisLibrary())
}

func (m *luaVM) library(name string, t *lua.LTable) {
	m.globals.RawSetString(name, m.protect(t))
}

// protect returns a read-only table that stands for another.
func (m *luaVM) protect(t *lua.LTable) *lua.LTable {
	front, meta := m.l.NewTable(), m.l.NewTable()
	meta.RawSetString("__index", t)
	meta.RawSetString("__newindex", m.refuse)
	front.Metatable = meta
	m.behind[front] = t
	return front
}

// seen returns the table that a script's nth argument stands for, if it is read-only, or
// the argument itself.
func (m *luaVM) seen(l *lua.LState, n int) *lua.LTable {
	t := l.CheckTable(n)
	if real := m.behind[t]; real != nil {
		return real
	}
	return t
}

// replaceFunctions replaces the functions that bypass metatables, and those whose results
// depend on more than the script.
func (m *luaVM) replaceFunctions() {
	for _, name := range []string{"rawset", "setmetatable"} {
		m.guard(m.globals, name)
	}
	table := m.behind[m.globals.RawGetString("table").(*lua.LTable)]
	for _, name := range []string{"insert", "remove", "sort"} {
		m.guard(table, name)
	}
	strings := m.protect(m.l.GetMetatable(lua.LString("")).(*lua.LTable))
	next := m.l.NewFunction(func(l *lua.LState) int {
		k, v := m.seen(l, 1).Next(l.Get(2))
		if k == lua.LNil {
			l.Push(lua.LNil)
			return 1
		}
		if m.node.audit != nil && !follows(l.Get(2), k) {
			m.refused("pairs", lua51.OrderOfFields)
		}
		l.Push(k)
		l.Push(v)
		return 2
	})
	functions := map[string]lua.LGFunction{
		"rawget": func(l *lua.LState) int {
			l.Push(m.seen(l, 1).RawGet(l.CheckAny(2)))
			return 1
		},
		"pairs": func(l *lua.LState) int {
			t := l.CheckTable(1)
			l.Push(next)
			l.Push(t)
			l.Push(lua.LNil)
			return 3
		},
		"getmetatable": func(l *lua.LState) int {
			switch v := l.CheckAny(1).(type) {
			case lua.LString:
				l.Push(strings)
			case *lua.LTable:
				if m.behind[v] != nil {
					l.Push(lua.LNil)
					break
				}
				l.Push(l.GetMetatable(v))
			default:
				l.Push(lua.LNil)
			}
			return 1
		},
		"collectgarbage": zero,
		"gcinfo":         zero,
		"pcall":          m.limits.Protected(m.pcall()),
		"xpcall":         m.limits.Protected(m.globals.RawGetString("xpcall").(*lua.LFunction).GFunction),
	}
	for name, f := range functions {
		m.globals.RawSetString(name, m.l.NewFunction(f))
	}
	m.globals.RawSetString("next", next)
	m.replaceRandom()
}

// replaceRandom makes the numbers that a script draws depend on nothing but its seed.
func (m *luaVM) replaceRandom() {
	math := m.behind[m.globals.RawGetString("math").(*lua.LTable)]
	math.RawSetString("random", m.l.NewFunction(m.drawRandom))
	math.RawSetString("randomseed", m.l.NewFunction(func(l *lua.LState) int {
		m.random = seeded(uint64(l.CheckInt(1)))
		return 0
	}))
}

// follows reports whether a key is the next of an array, or the first of a table.
func follows(key, next lua.LValue) bool {
	a, is := key.(lua.LNumber)
	b, are := next.(lua.LNumber)
	return key == lua.LNil || is && are && b == a+1
}

// refused tells the search that a script has used something that differs from Redis.
func (m *luaVM) refused(what, why string) {
	if a := m.node.audit; a != nil {
		a.refuse(what, why, true)
	}
}

func zero(l *lua.LState) int {
	l.Push(lua.LNumber(0))
	return 1
}

// guard makes a function of a library refuse read-only tables, and values that are not
// tables: the metatable of a string is that of all strings.
func (m *luaVM) guard(lib *lua.LTable, name string) {
	f := lib.RawGetString(name).(*lua.LFunction).GFunction
	lib.RawSetString(name, m.l.NewFunction(func(l *lua.LState) int {
		if m.behind[lua51.CheckTable(l, 1, name)] != nil {
			lua51.Raise(l, lua.LString(readonlyTable))
		}
		return f(l)
	}))
}

// pcall is Lua's, but a script that catches an error table of Redis's gets only its text.
func (m *luaVM) pcall() lua.LGFunction {
	return func(l *lua.LState) int {
		n := lua51.PCall(l)
		if n == 2 && l.Get(-2) == lua.LFalse {
			if t, is := l.Get(-1).(*lua.LTable); is {
				if text, is := t.RawGetString("err").(lua.LString); is {
					l.Pop(1)
					l.Push(text)
				}
			}
		}
		return n
	}
}

// drawRandom is math.random. Every script starts with the same seed, as in Redis before
// 7.0: its effect depends only on its words and the node's keys.
func (m *luaVM) drawRandom(l *lua.LState) int {
	m.refused("math.random", "which numbers a script draws depends on the version of Redis; draw them in the client, and pass them as arguments")
	m.random = (m.random*0x5DEECE66D + 0xB) & (1<<48 - 1)
	r := float64(m.random>>17%math.MaxInt32) / math.MaxInt32
	low, high := 1, 0
	switch l.GetTop() {
	case 0:
		l.Push(lua.LNumber(r))
		return 1
	case 1:
		high = l.CheckInt(1)
	case 2:
		low, high = l.CheckInt(1), l.CheckInt(2)
	default:
		l.RaiseError("wrong number of arguments")
	}
	if low > high {
		l.ArgError(l.GetTop(), "interval is empty")
	}
	l.Push(lua.LNumber(math.Floor(r*float64(high-low+1)) + float64(low)))
	return 1
}

// seeded is the state of Redis's generator after a seed: that of lrand48.
func seeded(seed uint64) uint64 { return seed<<16 | 0x330E }

// compile translates the script, once.
func (s *script) compile() {
	if s.Proto != nil || s.broken != "" {
		return
	}
	var body string
	if s.header, body, s.broken = lua51.ParseHeader(s.text); s.broken != "" {
		return
	}
	var err error
	if s.Program, err = lua51.Compile(body, "user_script"); err != nil {
		s.broken = "ERR Error compiling script (new function): " + luareply.OneLine(err.Error())
		return
	}
	s.Proto.IsVarArg &^= lua.VarArgNeedsArg // a script has no arguments to make a table of at every call
}

// run runs a script for a connection. The result belongs to the virtual machine; failure is
// the text of the error with which the script ended.
func (m *luaVM) run(s *script, c *server.Peer, keys, argv []string) (result lua.LValue, failure string) {
	m.digest, m.random, m.budget.left = s.digest, seeded(0), maxInstructions
	m.calls.conn.Ctx, m.calls.conn.Resp3 = c.Ctx, false
	m.globals.RawSetString("KEYS", m.words(keys))
	m.globals.RawSetString("ARGV", m.words(argv))
	f := m.loaded[s]
	if f == nil {
		f = m.l.NewFunctionFromProto(s.Proto)
		m.loaded[s] = f
	}
	m.limits.Begin()
	l := m.machine(s)
	if s.Straight { // it ends by itself, and the machine is faster where it asks nobody
		l.RemoveContext()
		defer l.SetContext(m.budget)
	}
	l.Push(f)
	if err := l.PCall(0, 1, m.handler); err != nil {
		return nil, m.failure(err)
	}
	if m.budget.left < 0 { // it caught the error, and executed nothing more
		return nil, m.failure(errEndless)
	}
	result = l.Get(-1)
	l.Pop(1)
	return result, ""
}

// maxDepth is how deep the calls of a script may nest.
const maxDepth = 16383

// machine returns the thread that runs a script: one with a stack of more than a megabyte, if it has functions of its own.
func (m *luaVM) machine(s *script) *lua.LState {
	l := m.l
	if len(s.Proto.FunctionPrototypes) > 0 {
		if m.deep == nil {
			ordinary := l.Options
			l.Options.CallStackSize = maxDepth
			m.deep, _ = l.NewThread()
			l.Options, m.deep.Options = ordinary, ordinary // those of coroutines
			m.deep.SetContext(m.budget)
		}
		l = m.deep
	}
	l.G.MainThread, l.G.CurrentThread = l, l
	return l
}

func (m *luaVM) words(words []string) *lua.LTable {
	t := m.l.CreateTable(len(words), 0)
	for _, w := range words {
		t.Append(lua.LString(w))
	}
	return t
}

// handleError turns an error into Redis's table, which names the line that raised it.
func handleError(l *lua.LState) int {
	raised, is := l.Get(1).(*lua.LTable)
	if !is {
		message := lua51.TextOf(l.Get(1))
		if message == "" {
			message = l.Get(1).String()
		}
		raised = luareply.Single(l, "err", lua.LString("ERR "+message))
	}
	for level := 1; level <= 2; level++ {
		where, there := l.GetStack(level)
		if !there {
			break
		}
		if _, err := l.GetInfo("Sl", where, lua.LNil); err == nil && where.What != "G" {
			raised.RawSetString("at", lua.LString(fmt.Sprintf("@%s:%d", where.Source, where.CurrentLine)))
			break
		}
	}
	l.Push(raised)
	return 1
}

// failure returns the reply to a script that has ended with an error.
func (m *luaVM) failure(err error) string {
	text, at := "ERR "+err.Error(), ""
	if api, is := err.(*lua.ApiError); is {
		text = "ERR " + api.Object.String()
		if place, _, is := strings.Cut(api.Object.String(), ": "); is { // the stack was full, and the handler had no room
			at = ", on @" + place
		}
		if t, is := api.Object.(*lua.LTable); is {
			text = t.RawGetString("err").String()
			if where, is := t.RawGetString("at").(lua.LString); is {
				at = ", on " + string(where)
			}
		}
	}
	text, _, _ = strings.Cut(text, "\x00") // C ends it there
	return luareply.OneLine(fmt.Sprintf("%s script: %s%s.", text, m.digest, at))
}

// redisLibrary returns the table named redis in scripts.
func (m *luaVM) redisLibrary() *lua.LTable {
	t := m.l.SetFuncs(m.l.NewTable(), map[string]lua.LGFunction{
		"call":  func(l *lua.LState) int { return m.call(l, true) },
		"pcall": func(l *lua.LState) int { return m.call(l, false) },
		"error_reply": func(l *lua.LState) int {
			l.Push(errorReply(l))
			return 1
		},
		"status_reply": func(l *lua.LState) int {
			if text, is := l.Get(1).(lua.LString); is && l.GetTop() == 1 {
				l.Push(luareply.Single(l, "ok", text))
			} else {
				l.Push(wrongArguments(l))
			}
			return 1
		},
		"sha1hex": func(l *lua.LState) int {
			if l.GetTop() != 1 {
				raise(l, "ERR wrong number of arguments")
			}
			sum := sha1.Sum([]byte(lua51.TextOf(l.Get(1))))
			l.Push(lua.LString(hex.EncodeToString(sum[:])))
			return 1
		},
		"acl_check_cmd": func(l *lua.LState) int {
			m.refused("redis.acl_check_cmd", "the simulated server has one user, who may send every command; call the command by redis.pcall")
			l.Push(lua.LTrue)
			return 1
		},
		"setresp":            m.setResp,
		"log":                logNothing,
		"replicate_commands": func(l *lua.LState) int { l.Push(lua.LTrue); return 1 },
		"set_repl":           func(*lua.LState) int { return 0 }, // replication is the node's affair
		"breakpoint":         func(l *lua.LState) int { l.Push(lua.LFalse); return 1 },
		"debug":              func(*lua.LState) int { return 0 },
	})
	for name, n := range map[string]int{"LOG_DEBUG": 0, "LOG_VERBOSE": 1, "LOG_NOTICE": 2, "LOG_WARNING": 3,
		"REPL_NONE": 0, "REPL_AOF": 1, "REPL_SLAVE": 2, "REPL_REPLICA": 2, "REPL_ALL": 3} {
		t.RawSetString(name, lua.LNumber(n))
	}
	t.RawSetString("REDIS_VERSION", lua.LString("7.0.15"))
	t.RawSetString("REDIS_VERSION_NUM", lua.LNumber(7<<16|15))
	return t
}

func errorReply(l *lua.LState) lua.LValue {
	text, is := l.Get(1).(lua.LString)
	if !is || l.GetTop() != 1 {
		return wrongArguments(l)
	}
	code, rest, two := strings.Cut(strings.TrimPrefix(string(text), "-"), " ")
	if !two {
		return luareply.Single(l, "err", lua.LString("ERR "+code))
	}
	return luareply.Single(l, "err", lua.LString(code+" "+rest))
}

func wrongArguments(l *lua.LState) lua.LValue {
	return luareply.Single(l, "err", lua.LString("ERR wrong number or type of arguments"))
}

// raise ends the script, or its protected call, with an error of Redis's own.
func raise(l *lua.LState, text string) {
	lua51.Raise(l, luareply.Single(l, "err", lua.LString(text)))
}

func (m *luaVM) setResp(l *lua.LState) int {
	if l.GetTop() != 1 {
		raise(l, "ERR redis.setresp() requires one argument.")
	}
	version := l.CheckInt(1)
	if version != 2 && version != 3 {
		raise(l, "ERR RESP version must be 2 or 3.")
	}
	m.calls.conn.Resp3 = version == 3
	return 0
}

// logNothing is redis.log: it checks its arguments, and there is no log.
func logNothing(l *lua.LState) int {
	if l.GetTop() < 2 {
		raise(l, "ERR redis.log() requires two arguments or more.")
	}
	level, is := l.Get(1).(lua.LNumber)
	if !is {
		raise(l, "ERR First argument must be a number (log level).")
	}
	if level < 0 || level > 3 {
		raise(l, "ERR Invalid debug level.")
	}
	return 0
}

// call is redis.call, which raises errors, or redis.pcall, which returns them.
func (m *luaVM) call(l *lua.LState, raises bool) int {
	result, failure := m.command(l)
	switch {
	case failure == "":
		l.Push(result)
	case raises:
		raise(l, failure)
	default:
		l.Push(luareply.Single(l, "err", lua.LString(failure)))
	}
	return 1
}

// command executes a command for a script.
func (m *luaVM) command(l *lua.LState) (result lua.LValue, failure string) {
	args, failure := commandWords(l)
	if failure != "" {
		return nil, failure
	}
	name := strings.ToUpper(args[0])
	switch {
	case notInScripts(name):
		return nil, "ERR This Redis command is not allowed from script"
	case m.readOnly && (name == "PUBLISH" || m.node.writes(name)):
		return nil, "ERR Write commands are not allowed from read-only scripts."
	}
	if !readOnly(name) {
		if m.wrote {
			m.node.renewing()
		}
		m.wrote = true
	}
	p, stores := m.calls, len(m.node.stores)
	p.out.Reset()
	m.redis.Dispatch(p.conn, args)
	p.conn.Flush()
	reply := p.out.Bytes()
	m.node.hear(args, reply)
	if reply[0] == '-' {
		m.node.stores = m.node.stores[:stores]
		line, _ := luareply.Line(reply)
		return nil, asCalled(line[1:])
	}
	result, _ = luareply.Of(l, reply)
	return result, ""
}

func commandWords(l *lua.LState) (args []string, failure string) {
	n := l.GetTop()
	if n == 0 {
		return nil, "ERR Please specify at least one argument for this redis lib call"
	}
	args = make([]string, n)
	for i := range args {
		switch a := l.Get(i + 1).(type) {
		case lua.LNumber:
			args[i] = lua51.Word(float64(a))
		case lua.LString:
			args[i] = string(a)
		default:
			return nil, "ERR Lua redis lib command arguments must be strings or integers"
		}
	}
	return args, ""
}

// asCalled returns an error in Redis's wording for a command of a script.
func asCalled(text string) string {
	switch {
	case strings.HasPrefix(text, "ERR unknown command"):
		return "ERR Unknown Redis command called from script"
	case strings.HasPrefix(text, "ERR wrong number of arguments for"):
		return "ERR Wrong number of args calling Redis command from script"
	}
	return text
}

// notInScripts tells whether Redis refuses a command to scripts: those of its
// COMMAND with the flag noscript. (Of those with subcommands, all are refused here.)
func notInScripts(command string) bool {
	switch command {
	case "ACL", "AUTH", "BGREWRITEAOF", "BGSAVE", "BLMOVE", "BLPOP", "BRPOP", "BRPOPLPUSH", "BZPOPMAX", "BZPOPMIN", "CLIENT", "CLUSTER",
		"CONFIG", "DEBUG", "DISCARD", "EVAL", "EVALSHA", "EVALSHA_RO", "EVAL_RO", "EXEC", "FAILOVER", "FCALL", "FCALL_RO", "FUNCTION",
		"HELLO", "LATENCY", "MODULE", "MONITOR", "MULTI", "PSUBSCRIBE", "PSYNC", "PUNSUBSCRIBE", "QUIT", "REPLCONF", "REPLICAOF", "RESET",
		"ROLE", "SAVE", "SCRIPT", "SHUTDOWN", "SLAVEOF", "SSUBSCRIBE", "SUBSCRIBE", "SUNSUBSCRIBE", "SYNC", "UNSUBSCRIBE", "UNWATCH",
		"WAIT", "WATCH":
		return true
	}
	return false
}
