package redis

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"lockstep/sim/resp"
)

// TestQuestions asks a Server one question after the other, each on the memory after the one
// before.
func TestQuestions(t *testing.T) {
	for name, dialogue := range map[string]string{
		"an equal value stored anew disturbs a WATCH": `
			A SET k v = OK
			A WATCH k = OK
			B SET k v = OK
			A MULTI = OK
			A DEL k = QUEUED
			A EXEC = nil`,
		"an equal value of a transaction does": `
			A SET k v = OK
			A WATCH k = OK
			B MULTI = OK
			B SET k v = QUEUED
			B EXEC = [OK]
			A MULTI = OK
			A EXEC = nil`,
		"reading doesn't": `
			A RPUSH k v = 1
			A WATCH k = OK
			B LRANGE k 0 -1 = [v]
			B LREM k 0 w = 0
			A MULTI = OK
			A EXEC = []`,
		"a command after a WATCH happens once": `
			A WATCH k = OK
			A INCR n = 1
			B GET n = 1
			A INCR n = 2
			B GET n = 2`,
		"a script of a read-only call is cached": `
			A EVAL_RO return(1) 0 = 1
			B EVALSHA_RO 76f8ce45a3f6ee3a9e8a2e38c9ac36b65f4bb3a9 0 = error NOSCRIPT No matching script. Please use EVAL.
			B SCRIPT LOAD return(1) = DIGEST
			A EVALSHA_RO DIGEST 0 = 1`,
	} {
		t.Run(strings.ReplaceAll(name, " ", "-"), func(t *testing.T) {
			s, err := NewServer("k")
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			var memory Snapshot
			for line := range strings.Lines(strings.TrimSpace(strings.ReplaceAll(dialogue, "DIGEST", digestOf("return(1)")))) {
				command, want, _ := strings.Cut(strings.TrimSpace(line), " = ")
				words := strings.Fields(command)
				a, err := s.Run(memory, int(words[0][0]-'A'), words[1:])
				if err != nil {
					t.Fatal(err)
				}
				if got := resp.Text(a.Reply); got != want {
					t.Errorf("%s = %s, want %s", command, got, want)
				}
				memory = a.After
			}
		})
	}
}

// TestClockIsRead: whether a command reads the server's clock is found out by executing it.
func TestClockIsRead(t *testing.T) {
	s, err := NewServer("k")
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for _, c := range []struct {
		words string
		reads bool
	}{
		{"TIME", true}, {"SET k v PXAT 1", true}, {"SET k PXAT PX 1", false}, {"GETEX k EXAT 1", true}, {"EXPIREAT k 1", true},
		{"PEXPIRETIME k", true}, {"PTTL k", false}, {"ECHO TIME", false},
		{"EVAL return(redis.call(ARGV[1])) 0 tIME", true}, {"EVAL if(ARGV[1])then(redis.call)('TIME')end 0", false}, {"SCRIPT LOAD return(redis.call('TIME'))", false},
	} {
		a, err := s.Run(Snapshot{}, 0, strings.Fields(c.words))
		if err != nil {
			t.Fatal(err)
		}
		if a.Clock != c.reads {
			t.Errorf("%s: it reads the clock: %t", c.words, a.Clock)
		}
	}
	memory := Snapshot{}
	for i, words := range []string{"MULTI", "TIME", "EXEC"} { // it is read at EXEC
		a, err := s.Run(memory, 0, []string{words})
		if err != nil || a.Clock != (i == 2) {
			t.Errorf("%s: it reads the clock: %t, %v", words, a.Clock, err)
		}
		memory = a.After
	}
}

// TestRefusedInTransaction: a draw in a script of a transaction is refused as elsewhere.
func TestRefusedInTransaction(t *testing.T) {
	s, err := NewServer("k")
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	memory := Snapshot{}
	for _, words := range [][]string{{"MULTI"}, {"EVAL", "return math.random(6)", "0"}} {
		a, err := s.Run(memory, 0, words)
		if err != nil {
			t.Fatal(err)
		}
		memory = a.After
	}
	_, err = s.Run(memory, 0, []string{"EXEC"})
	if refused := (*Unmodelled)(nil); !errors.As(err, &refused) || refused.What != "math.random" || !refused.Script {
		t.Errorf("%v", err)
	}
}

// TestRefusedInScripts: what a script sees otherwise than in Redis is refused by name, and what it sees as there isn't.
func TestRefusedInScripts(t *testing.T) {
	s, err := NewServer("k")
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for script, what := range map[string]string{
		`for k in pairs({a = 1, b = 2}) do end`:                                       "pairs",
		`local t = {[3] = 1, [7] = 2} next(t, next(t))`:                               "pairs",
		`for k in pairs({a = 1}) do end`:                                              "",
		`for k in pairs({1, 2, 3}) do end`:                                            "",
		`local t = {} t[2] = 1 return #t`:                                             "#",
		`local t = {1, 2, 3} t[1] = nil return #t`:                                    "#",
		`local t = {1, 2, 3} t[1] = nil table.insert(t, 4)`:                           "#",
		`local t = {1, 2, 3} t[1] = nil table.remove(t)`:                              "#",
		`local t = {1, 2, 3} t[1] = nil return unpack(t)`:                             "#",
		`local t = {1, 2, 3} t[1] = nil return pcall(table.concat, t)`:                "#",
		`local t = {1, 2, 3} t[1] = nil return pcall(table.sort, t)`:                  "#",
		`return table.concat({1, 2, 3}, ",") .. table.concat({nil, 2}, ",", 2, 2)`:    "",
		`local t = {1, 2, 3} t[1] = nil return unpack(t, 2, 3)`:                       "",
		`local t = {1, 2, 3, nil} t[3] = nil return #t .. #"ab" .. #KEYS`:             "",
		`return cjson.encode({a = 1, b = 2})`:                                         "cjson.encode",
		`return cjson.encode({1, {a = 2}})`:                                           "",
		`return cjson.decode('{"a":1,"b":2}').b`:                                      "",
		`cjson.encode_sparse_array(true)`:                                             "cjson.encode_sparse_array",
		`pcall(table.foreach, {}, print)`:                                             "",
		`pcall(function() table.foreach({}, tostring) end)`:                           "table.foreach",
		`return tostring({})`:                                                         "tostring of a table",
		`return tostring(setmetatable({}, {__tostring = function() return "t" end}))`: "",
		`return ("5%"):match("%d%%")`:                                                 "",
	} {
		_, err := s.Run(Snapshot{}, 0, []string{"EVAL", script, "0"})
		got := ""
		if refused := (*Unmodelled)(nil); errors.As(err, &refused) {
			got = refused.What
		}
		if got != what {
			t.Errorf("%s: refused is %q, want %q", script, got, what)
		}
	}
}

// TestEncoded: no part of a snapshot can change, and none of its words move, without a change of the
// text by which snapshots are told apart.
func TestEncoded(t *testing.T) {
	whole := func() Snapshot {
		return Snapshot{Keys: []Key{{Name: "a", Type: Hash, Value: "b", Items: []string{"c", "d"}, Left: 7}, {Name: "e"}},
			Scripts: []string{"f", "g"}, Peers: []OpenTxn{{Conn: 1, Commands: [][]string{{"WATCH", "a"}, {"MULTI"}}}, {Conn: 2}}, Millis: 9}
	}
	seen := map[string]string{whole().Encoded(): "nothing"}
	tell := func(s Snapshot, what string) {
		text := s.Encoded()
		if before, known := seen[text]; known {
			t.Errorf("with %s changed it reads as with %s changed", what, before)
		}
		seen[text] = what
	}
	places := 0
	for {
		s, left := whole(), places
		what := disturb(reflect.ValueOf(&s).Elem(), "snapshot", &left)
		if what == "" {
			break
		}
		tell(s, what)
		places++
	}
	if places < 20 {
		t.Errorf("only %d places", places)
	}
	moved := whole()
	moved.Keys[0].Items, moved.Scripts = []string{"c"}, []string{"d", "f", "g"}
	tell(moved, "a word moved to the scripts")
	joined := whole()
	joined.Peers[0].Commands = [][]string{{"WATCH", "a", "MULTI"}}
	tell(joined, "two commands joined")
}

// disturb changes the place of v that is left places away, and names it; it returns "" if v has not so many.
// Of a slice it changes the elements, and takes the last away.
func disturb(v reflect.Value, name string, left *int) string {
	here := func(change func()) string {
		if *left--; *left >= 0 {
			return ""
		}
		change()
		return name
	}
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			if what := disturb(v.Field(i), name+"."+v.Type().Field(i).Name, left); what != "" {
				return what
			}
		}
		return ""
	case reflect.Slice:
		for i := range v.Len() {
			if what := disturb(v.Index(i), fmt.Sprintf("%s[%d]", name, i), left); what != "" {
				return what
			}
		}
		if v.Len() == 0 {
			return ""
		}
		name += " shortened"
		return here(func() { v.SetLen(v.Len() - 1) })
	case reflect.String:
		return here(func() { v.SetString(v.String() + "x") })
	case reflect.Bool:
		return here(func() { v.SetBool(!v.Bool()) })
	case reflect.Int, reflect.Int64:
		return here(func() { v.SetInt(v.Int() + 1) })
	case reflect.Uint8:
		return here(func() { v.SetUint(v.Uint() + 1) })
	}
	panic("no change for " + v.Kind().String())
}
