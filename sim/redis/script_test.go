package redis

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	lua "github.com/yuin/gopher-lua"

	"lockstep/sim/redis/lua51"
	"lockstep/sim/testenv"
)

// dump is a script that tells all that a script can find out about the machine it
// runs in. Tables are named by the way to them, functions only by their type: an
// address would be another in every machine.
const dump = `
local out, seen = {}, {}
local function walk(name, v, depth)
  out[#out + 1] = name .. "=" .. type(v) .. (type(v) ~= "table" and type(v) ~= "function" and ":" .. tostring(v) or "")
  if type(v) == "string" then return end
  local meta = getmetatable(v)
  if meta then walk(name .. "!", meta, depth + 1) end
  if type(v) ~= "table" or seen[v] or depth > 5 then return end
  seen[v] = true
  local names = {}
  for k, e in pairs(v) do names[#names + 1] = {tostring(k), e} end
  table.sort(names, function(a, b) return a[1] < b[1] end)
  for i = 1, #names do walk(name .. "." .. names[i][1], names[i][2], depth + 1) end
end
walk("_G", _G, 0)
walk("string", getmetatable(""), 0)
out[#out + 1] = ("x"):upper() .. ("%d"):format(3) .. #"abc" .. tostring(nil)
out[#out + 1] = tostring(math.random()) .. type(redis.call("GET", "none")) .. tostring(redis.call("GET", "none"))
for _, v in ipairs({1, true, tostring, coroutine.create(function() end)}) do
  out[#out + 1] = type(v) .. tostring(getmetatable(v)) .. tostring(pcall(function() return v.left end))
end
out[#out + 1] = tostring(pcall(function() local v return v.left end))
out[#out + 1] = cjson.encode({1, "a"}) .. table.concat({1, 2}, ",")
return out`

// leavings are scripts that try to leave something to the next one.
var leavings = []string{
	`foo = 1`,
	`function string.upper() return "mine" end`,
	`string.upper = nil`,
	`redis.call = function() return "mine" end`,
	`rawset(_G, "foo", 1)`,
	`rawset(redis, "call", 1)`,
	`rawset(string, "upper", function() return "mine" end)`,
	`getmetatable("").__index = function() return "mine" end`,
	`getmetatable("").__index.upper = function() return "mine" end`,
	`rawset(getmetatable(""), "__index", {})`,
	`rawset(getmetatable("").__index, "upper", 1)`,
	`rawset(rawget(getmetatable(""), "__index"), "upper", 1)`,
	`getmetatable("").__concat = function() return "mine" end`,
	`rawset(getmetatable(""), "__len", function() return 7 end)`,
	`setmetatable("", {})`,
	`setmetatable(1, {__index = {left = 1}, __call = function() return 1 end})`,
	`setmetatable(nil, {__index = function() return 1 end})`,
	`setmetatable(true, {__index = function() return 1 end})`,
	`setmetatable(tostring, {__index = function() return 1 end})`,
	`setmetatable(coroutine.create(function() end), {__index = function() return 1 end})`,
	`setmetatable(string, {__index = function() return 1 end})`,
	`setmetatable(_G, nil)`,
	`table.insert(string, "left")`,
	`table.insert(_G, 1, "left")`,
	`table.remove(redis)`,
	`table.sort(math)`,
	`for name, v in pairs(_G) do pcall(rawset, _G, name, 1) end`,
	`for _, v in pairs(_G) do
	   if type(v) == "table" then
	     for k in pairs(v) do pcall(function() v[k] = 1 end) pcall(rawset, v, k, 1) pcall(table.insert, v, 1) pcall(setmetatable, v, {}) end
	   end
	 end`,
	`for k, v in next, _G do if v == string then v.upper = 1 end end`,
	`loadstring("foo = 1")()`,
	`load(function() return nil end)() loadstring("string.upper = nil")()`,
	`coroutine.wrap(function() foo = 1 end)()`,
	`local co = coroutine.create(function() KEYS.co = 1 coroutine.yield() end) coroutine.resume(co)`,
	`KEYS.left = 1 ARGV.left = 2 KEYS[1] = "left" setmetatable(KEYS, {__index = function() return 1 end})`,
	`math.randomseed(42) math.random()`,
	`for i = 1, 10 do math.random(100) end`,
	`redis.setresp(3)`,
	`redis.setresp(3) error("in the middle")`,
	`local function f() return f() end local x = {} x.x = x local function g() return 1 + g() end g()`,
	`local t = {} for i = 1, 3000 do t[i] = i end return unpack(t)`,
	`local x = {} for i = 1, 100 do x[i] = function() return i end end error(x[1])`,
	`xpcall(function() error("x") end, function(e) foo = e end)`,
	`pcall(function() local s = "x" return redis.call("NOSUCH") end) return redis.call("NOSUCH")`,
	`cjson.decode = nil`,
	`_G._G = {}`,
	`return _G`,
}

// TestScriptsLeaveNothing runs each of them, and then looks around.
func TestScriptsLeaveNothing(t *testing.T) {
	look := func(s *dialogue) string {
		reply, _ := s.node.Execute(0, s.conn, []string{"EVAL", dump, "1", "k", "v"})
		if len(reply) < 1000 || reply[0] != '*' {
			t.Fatalf("the script that looks around says %q", reply)
		}
		return string(reply)
	}
	want := look(newServer(t, Config{}))
	for _, line := range []string{"_G.redis.call=function", "_G.KEYS.1=string:k", "_G.string.upper=function", "string.__index=table"} {
		if !strings.Contains(want, line) {
			t.Fatalf("it doesn't see %s: %q", line, want)
		}
	}
	s := newServer(t, Config{})
	for _, script := range leavings {
		reply, _ := s.node.Execute(0, s.conn, []string{"EVAL", script, "0"})
		answer := string(reply)
		kept := s.node.scripts.vm
		if got := look(s); got != want {
			t.Errorf("after %s (which was answered %q):\n%q\nand before\n%q", script, answer, got, want)
		}
		if again := s.node.scripts.vm; kept != nil && again != kept {
			t.Errorf("after %s the machine was not kept", script)
		}
	}
}

// TestScriptsAreCompiledOnce: the machine goes on, and so does what was compiled.
func TestScriptsAreCompiledOnce(t *testing.T) {
	s := newServer(t, Config{})
	eval := func(script string) {
		s.node.Execute(0, s.conn, []string{"EVAL", script, "1", "k"})
	}
	eval(`return redis.call("GET", KEYS[1])`)
	machine, compiled := s.node.scripts.vm, s.node.scripts.learn(`return redis.call("GET", KEYS[1])`)
	proto := compiled.Proto
	eval(`return 1`)
	s.node.Reset(Config{})
	eval(`return redis.call("GET", KEYS[1])`)
	if s.node.scripts.vm != machine || compiled.Proto != proto || proto == nil {
		t.Error("another machine, or compiled anew")
	}
	if eval(`error("x")`); s.node.scripts.vm != nil {
		t.Error("the machine in which a script failed was kept")
	}
}

// TestScriptsThatAreNeverTheSame: scripts that are never the same twice don't fill the memory
// of a world that is used again and again.
func TestScriptsThatAreNeverTheSame(t *testing.T) {
	s := newServer(t, Config{})
	for i := range 5000 {
		text := fmt.Sprintf("return %d", i)
		if reply, _ := s.node.Execute(0, s.conn, []string{"EVAL", text, "0"}); string(reply) != fmt.Sprintf(":%d\r\n", i) {
			t.Fatalf("%s is answered %q", text, reply)
		}
		if i%10 == 9 {
			s.node.Reset(Config{})
		}
	}
	if n := len(s.node.scripts.known); n > 1100 {
		t.Errorf("%d scripts are kept", n)
	}
}

// TestScriptsAreAtomic: the commands of a script that are put together from
// others change the node at once, as one event.
func TestScriptsAreAtomic(t *testing.T) {
	s := newServer(t, Config{})
	_, changes := s.node.Execute(0, s.conn, []string{"EVAL", `
		redis.call("SET", KEYS[1], "a", "PX", 5000)
		redis.call("SET", KEYS[1], "b", "IFEQ", "a")
		redis.call("SET", KEYS[2], "gone", "PXAT", 1)
		redis.call("INCR", KEYS[3])
		return redis.call("TTL", KEYS[1])`, "3", "k", "past", "n"})
	if len(changes) != 2 || changes[0].Key != "k" || changes[0].After.Value != "b" || changes[1].Key != "n" {
		t.Errorf("it changed %+v", changes)
	}
}

// TestEndlessScripts: a script that doesn't end is ended, with an error that names it and its
// line, whatever it does against it. The server goes on.
func TestEndlessScripts(t *testing.T) {
	s := newServer(t, Config{})
	n, p := s.node, s.conn
	for i, text := range []string{
		"redis.call('SET', 'k', 'v')\nwhile true do end",
		"redis.call('SET', 'k', 'v')\nwhile true do pcall(function() while true do end end) end",
		"redis.call('SET', 'k', 'v')\nwhile true do xpcall(function() while true do end end, function() while true do end end) end",
		"redis.call('SET', 'k', 'v')\nlocal f f = function() return f() end f()",
		"redis.call('SET', 'k', 'v')\ncoroutine.wrap(function() while true do end end)()",
		"redis.call('SET', 'k', 'v')\nlocal c = coroutine.create(function() while true do coroutine.yield() end end) while true do coroutine.resume(c) end",
		"redis.call('SET', 'k', 'v')\nreturn (('x'):rep(40):find(('.-'):rep(25) .. '!'))",
		"redis.call('SET', 'k', 'v')\nwhile true do coroutine.resume(coroutine.create(function() while true do end end)) end",
		"redis.call('SET', 'k', 'v')\nlocal s = ('x'):rep(30000) return s:gsub('.-!', '')",
		"redis.call('SET', 'k', 'v')\ntable.insert({}, -2147483648, 1)",
	} {
		if !testenv.Some(i, testenv.Quick(6, 3)) {
			continue
		}
		reply, _ := n.Execute(0, p, []string{"EVAL", text, "0"})
		for _, want := range []string{"-ERR ", errEndless.Error(), "script: " + digestOf(text) + ", on @user_script:2."} {
			if !strings.Contains(string(reply), want) {
				t.Errorf("%s\nreplies %q, which lacks %q", text, reply, want)
			}
		}
		if reply, _ := n.Execute(0, p, []string{"GETDEL", "k"}); string(reply) != "$1\r\nv\r\n" {
			t.Errorf("%s\nafterwards GETDEL replies %q, want what the script had stored", text, reply)
		}
	}
	if reply, _ := n.Execute(0, p, []string{"EVAL", "local a = 0 for i = 1, 1000000 do a = a + i end return a", "0"}); string(reply) != ":500000500000\r\n" {
		t.Errorf("afterwards a long script replies %q", reply)
	}
}

// TestStraightScripts: scripts are straight that nothing repeats, and no others; what isn't straight is ended however it makes
// its functions.
func TestStraightScripts(t *testing.T) {
	for text, straight := range map[string]bool{
		`return 1`: true,
		`if redis.call("GET", KEYS[1]) == ARGV[1] then return redis.call("DEL", KEYS[1]) end return 0`:        true,
		`local a, b = {f = {tostring}}, #ARGV local s = ("x"):rep(3) .. -b do a.f[1](not s) end return a % 2`: true,
		`local f = redis.call return {pcall(f, "GET", KEYS[1])}`:                                              true,
		`while false do end`:                             false,
		`repeat until true`:                              false,
		`for i = 1, 2 do end`:                            false,
		`for k in pairs(KEYS) do end`:                    false,
		`if ARGV[1] then for i = 1, 2 do end end`:        false,
		`local f = function() end`:                       false,
		`local function f() end`:                         false,
		`local t = {} function t.f() end`:                false,
		`return {1, {f = function() end}}`:               false,
		`return string.gsub("a", "a", function() end)`:   false,
		`return pcall(loadstring("return 1"))`:           false,
		`local l = load`:                                 false,
		`return _G["load" .. "string"]("return 1")()`:    false,
		`return (KEYS[1] and loadstring)("return 1")()`:  false,
		`return -(_G.x or 1)`:                            false,
		`local a = {} a[loadstring] = 1`:                 false,
		`return {[1] = 1, a = {b = not loadstring}}`:     false,
		`return ("x"):rep(#{loadstring})`:                false,
		`return "a" .. tostring(loadstring) .. "b"`:      false,
		`return redis.call("GET", tostring(_G))`:         false,
		`if loadstring then return 1 end`:                false,
		`if 1 then elseif loadstring then return 1 end`:  false,
		`do local x = 1 do local y = loadstring end end`: false,
	} {
		p, err := lua51.Compile(text, "x")
		if err != nil || p.Straight != straight {
			t.Errorf("%s: straight %t, %v", text, p.Straight, err)
		}
	}
	s := newServer(t, Config{})
	for i, text := range []string{`loadstring("while true do end")()`, `_G["load" .. "string"]("while true do end")()`, `local f = loadstring("local f = ... return f(f)") f(f)`,
		`return {pcall(string.find, ("x"):rep(40), (".-"):rep(25) .. "!")}`} {
		if !testenv.Sampled(i, 3) {
			continue
		}
		if reply, _ := s.node.Execute(0, s.conn, []string{"EVAL", text, "0"}); !strings.Contains(string(reply), errEndless.Error()) {
			t.Errorf("%s replies %q", text, reply)
		}
	}
}

// TestGlobalsOfScripts: what a script finds. Program.Straight has to know of each by what it could execute an instruction again:
// by none but load, loadstring and _G, unless the script has a function of its own.
func TestGlobalsOfScripts(t *testing.T) {
	s := newServer(t, Config{})
	s.node.Execute(0, s.conn, []string{"EVAL", "return 1", "0"})
	var names []string
	s.node.scripts.vm.globals.ForEach(func(name, _ lua.LValue) { names = append(names, name.String()) })
	slices.Sort(names)
	const want = "ARGV KEYS _G _VERSION assert cjson collectgarbage coroutine error gcinfo getmetatable ipairs load loadstring math next pairs pcall rawequal rawget rawset " +
		"redis select setmetatable string table tonumber tostring type unpack xpcall"
	if got := strings.Join(names, " "); got != want {
		t.Errorf("scripts find\n%s\nand not\n%s", got, want)
	}
}
