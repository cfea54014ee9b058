package redis

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"lockstep/sim/testenv"
)

// TestAssignments: all of an assignment is evaluated before anything is assigned, and the variables are stored from right to
// left. The expected values follow from that.
func TestAssignments(t *testing.T) {
	s := newServer(t, Config{})
	s.node.Execute(0, s.conn, []string{"SET", "k", "v"})
	for script, want := range map[string]string{
		`local a, b = 1, 2 a, b = b, a return a .. "," .. b`:                                                    "2,1",
		`local a, b, c = 1, 2, 3 a, b, c = c, a, b return a .. "," .. b .. "," .. c`:                            "3,1,2",
		`local a, b = 1, 2 a, b = 5, a return a .. "," .. b`:                                                    "5,1",
		`local a, b = 1, 2 a, b = a + b, a return a .. "," .. b`:                                                "3,1",
		`local a = 1 a, a = 2, 3 return tostring(a)`:                                                            "2",
		`local a, t = 1, {5} a, t[1] = t[1], a return a .. "," .. t[1]`:                                         "5,1",
		`local i, t = 1, {} i, t[i] = i + 1, "x" return i .. "," .. t[1]`:                                       "2,x",
		`local t = {} local u = t t, t.x = {}, 1 return tostring(t.x) .. "," .. u.x`:                            "nil,1",
		`local a, b = 1 a, b = (function() return 7, 8, 9 end)() return a .. "," .. b`:                          "7,8",
		`local a, b = 1, 2 a, b = 5 return a .. "," .. tostring(b)`:                                             "5,nil",
		`local a = 1 a = 2, error(nil) return 1`:                                                                "",
		`local function f(...) local a, b a, b = ... return a .. "," .. b end return f(1, 2, 3)`:                "1,2",
		`local a = 5 a = not true and 1 return tostring(a)`:                                                     "false",
		`local free = true free = not redis.call("GET", "k") and redis.call("GET", "z") return tostring(free)`:  "false",
		`local b, d = "x", 1 d = (b or -1) and d return tostring(d)`:                                            "1",
		`local a, b = nil, 4 a = a and a.x or b return tostring(a)`:                                             "4",
		`local n = 0 for i = 1, 3 do n = n == 1 and 5 or n + 1 end return tostring(n)`:                          "6",
		`local f = 1 f = function(n) return n == 0 and "end" or f(n - 1) end return f(3)`:                       "end",
		`local a, b = 1, 2 local f = function() a, b = b, a end f() return a .. "," .. b`:                       "2,1",
		`local function g(...) return ... end local t = {1, 2, k = g(3, 4)} return tostring(t[3]) .. t.k .. #t`: "nil32",
		`local function g(...) local t = {1, k = ...} return tostring(t[2]) .. t.k end return g(3, 4)`:          "nil3",
		`local function g(...) return ... end local t = {1, k = 2, g(3, 4)} return t[2] .. t[3] .. #t`:          "343",
	} {
		reply, _ := s.node.Execute(0, s.conn, []string{"EVAL", script, "0"})
		if got := string(reply); want != "" && got != fmt.Sprintf("$%d\r\n%s\r\n", len(want), want) || want == "" && got[0] != '-' {
			t.Errorf("%s\nreplies %q, want %s", script, reply, want)
		}
	}
}

// TestNegativeZero: a zero that was computed has a sign on a real server.
func TestNegativeZero(t *testing.T) {
	pair := newPair(t)
	pair.empty(t)
	if redis, node := pair.askWords(t, "A", []string{"EVAL", "local a = 0 return tostring(a * -1)", "0"}); redis != "$2\r\n-0\r\n" || node != "$1\r\n0\r\n" {
		t.Errorf("Redis replies %q, and the node %q", redis, node)
	}
}

// TestPrograms compares random programs with a real server. They assign, branch, loop and call; they don't divide by zero, and a
// zero of theirs has no sign.
func TestPrograms(t *testing.T) {
	pair := newPair(t)
	pair.empty(t)
	const seeded = 29
	different := 0
	for n := range uint64(testenv.Quick(400, testenv.Count(4000, 50_000))) {
		p := program{rand.New(rand.NewPCG(n, seeded))}
		text := `local a, b, c, d, t = 1, "x", nil, true, {1, 2, k = "v"}
local function num(x) x = tonumber(x) or 0 return x == 0 and 0 or x end
local function str(x) return type(x) == "table" and "T" or type(x) == "function" and "F" or x == 0 and "0" or tostring(x) end
local function less(x, y) return str(x) < str(y) end
local function len(t) local n = 0 while t[n + 1] ~= nil do n = n + 1 end return n end
local function f(x, y) return y, x end
local function g(...) return ... end
local function h(...) return select("#", ...), ... end
` + p.block(3) + " " + p.block(2) + `
return str(a) .. "|" .. str(b) .. "|" .. str(c) .. "|" .. str(d) .. "|" .. str(t[1]) .. "|" .. str(t[2]) .. "|" .. str(t.k)`
		redis, node := pair.askWords(t, "A", []string{"EVAL", text, "0"})
		if redis != node && (redis[0] != '-' || node[0] != '-') { // errors may be worded otherwise
			if different++; different <= 3 {
				t.Errorf("program %d of seed %d\n%s\n  redis %.200q\n  node  %.200q", n, seeded, text, redis, node)
			}
		}
	}
	if different > 3 {
		t.Errorf("%d programs differ", different)
	}
}

// program makes up a program of Lua.
type program struct{ *rand.Rand }

func (p program) one(of ...string) string { return of[p.IntN(len(of))] }

func (p program) variable() string { return p.one("a", "b", "c", "d") }

// made returns what one of the makers makes.
func (p program) made(of ...func() string) string { return of[p.IntN(len(of))]() }

func (p program) expr(depth int) string {
	if depth <= 0 {
		return p.one("a", "b", "c", "d", "1", "2", "0", "-1", "1.5", `"x"`, `"10"`, `""`, "nil", "true", "false", "t[1]", "t.k", "len(t)", "t[a]", "t[b]", `"0x10"`, "1e3")
	}
	x, y := p.expr(depth-1), p.expr(depth-1)
	return p.one(
		"("+x+" and "+y+")", "("+x+" or "+y+")", "(not "+x+" and "+y+")", "(not "+x+")", "("+x+p.one(" == ", " ~= ")+y+")",
		"less("+x+", "+y+")", "(num("+x+")"+p.one(" + ", " - ")+"num("+y+"))", "(num("+x+")"+p.one(" < ", " <= ", " > ", " >= ")+"num("+y+"))",
		"(str("+x+") .. str("+y+"))", p.one("f", "g", "h")+"("+x+", "+y+")", "("+p.one("f", "g", "h")+"("+x+"))",
		"({"+x+", "+y+", k = "+p.one("g", "h")+"("+x+", "+y+")})"+p.one("[1]", "[2]", "[3]", ".k", "[num(a)]"),
		"select("+p.one("1", "2", "'#'")+", "+x+", "+p.one("h", "g")+"("+y+", 1))",
	)
}

func (p program) statement(depth int) string {
	v, e, block := p.variable, p.expr, func() string { return p.block(depth - 1) }
	if depth == 0 || p.IntN(3) == 0 {
		return p.made(
			func() string { return v() + " = " + e(2) },
			func() string { return v() + ", " + v() + " = " + e(1) + ", " + e(1) },
			func() string {
				return v() + ", t[1], " + v() + " = " + e(1) + ", " + p.one("f", "h") + "(" + e(1) + ", " + e(0) + ")"
			},
			func() string { return "t[" + p.one("1", "2", `"k"`) + "] = " + e(2) },
			func() string { return "t[1], t.k = " + e(1) + ", " + e(1) },
			func() string {
				return "local " + v() + ", " + v() + " = " + p.one("h", "f") + "(" + e(1) + ", " + e(1) + ")"
			},
			func() string {
				return "local function " + p.one("f", "g", "h") + "(x, ...) " + v() + " = " + p.one("x", "...") + " return " + p.one("x, "+v(), "...", v()+", ...", "select('#', ...), x") + " end"
			},
			func() string { return "for k, v in ipairs(t) do " + v() + " = v end" },
		)
	}
	return p.made(
		func() string {
			return "if " + e(2) + " then " + block() + " elseif " + e(1) + " then " + block() + " else " + block() + " end"
		},
		func() string {
			return "for i = " + p.one("1, 3", "3, 1, -1", "0, 1, 0.5", "2, 1") + " do " + v() + " = i " + block() + " if " + e(1) + " then break end end"
		},
		func() string { return "do local " + v() + " = " + e(1) + " " + block() + " end" },
		func() string {
			return "do local n = 0 while n < 3 and " + e(1) + " do n = n + 1 " + block() + " end end"
		},
		func() string {
			return "do local n = 0 repeat n = n + 1 local z = " + e(1) + " " + block() + " until n > 2 or z end"
		},
	)
}

func (p program) block(depth int) string {
	var all []string
	for range 1 + p.IntN(3) {
		all = append(all, p.statement(depth))
	}
	return strings.Join(all, " ")
}
