package audit

import (
	"slices"
	"strconv"
	"strings"
)

// command is an entry's command, as far as locks have to do with it.
type command struct {
	name   string // in upper case
	keys   []string
	script string   // of a call of one: its text or its hash
	argv   []string // and its arguments besides the keys
}

// of reads a command. Those that have nothing to do with keys of locks have none.
func commandOf(args []string) command {
	c := command{name: strings.ToUpper(args[0])}
	switch c.name {
	case "DEL", "UNLINK", "WATCH":
		c.keys = args[1:]
	case "EVAL", "EVALSHA", "FCALL":
		if len(args) < 3 {
			break
		}
		n, err := strconv.Atoi(args[2])
		if err != nil || n < 0 || n > len(args)-3 {
			break
		}
		c.script, c.keys, c.argv = args[1], args[3:3+n], args[3+n:]
	case "MULTI", "EXEC", "DISCARD", "UNWATCH", "PING", "HELLO", "AUTH", "SELECT", "CLIENT", "INFO", "SCRIPT", "TIME", "WAIT", "PUBLISH", "SUBSCRIBE", "UNSUBSCRIBE":
	default:
		if len(args) > 1 {
			c.keys = args[1:2]
		}
	}
	return c
}

// calls reports whether the command is a call of a script. The script's commands follow in the log.
func (c *command) calls() bool { return c.script != "" }

// removes reports whether the command can remove a key outright.
func (c *command) removes() bool {
	return slices.Contains([]string{"DEL", "UNLINK", "DELEX", "GETDEL"}, c.name)
}

// expires reports whether it gives a key that is there another life.
func (c *command) expires() bool {
	return slices.Contains([]string{"EXPIRE", "PEXPIRE", "EXPIREAT", "PEXPIREAT"}, c.name)
}

// moves reports whether a command that has left a record in place has moved its expiry, or can have. One that
// takes a lock only if it is free has then been refused.
func (c *command) moves(form string) bool {
	return c.expires() || form == "GETSET" || form == "" && slices.Contains([]string{"SET", "GETEX", "PERSIST"}, c.name)
}

// Takes returns the form in which a command takes a lock, such as SET NX PX, or nothing.
func Takes(args []string) string {
	switch name := strings.ToUpper(args[0]); name {
	case "SETNX", "INCR", "GETSET", "HSETNX", "HINCRBY":
		return name
	case "SET":
		var options []string
		for _, arg := range args[min(3, len(args)):] {
			if o := strings.ToUpper(arg); slices.Contains([]string{"NX", "PX", "EX", "PXAT", "EXAT", "GET"}, o) {
				options = append(options, o)
			}
		}
		if slices.Contains(options, "NX") {
			order := []string{"NX", "PX", "EX", "PXAT", "EXAT", "GET"}
			slices.SortFunc(options, func(a, b string) int { return slices.Index(order, a) - slices.Index(order, b) })
			return strings.Join(append([]string{"SET"}, options...), " ")
		}
	}
	return ""
}

// use is how the commands of a log use a key, whatever came of them.
type use struct {
	takes   map[string]int // by form
	removed bool           // somebody removes it
	timed   bool           // somebody gives it a life of its own
}

// isLock reports whether a key is used as a lock, in which somebody takes it if it isn't there.
// A counter is one only if it gets a life and is removed: otherwise it counts requests, say.
func (u *use) isLock() bool {
	for form := range u.takes {
		switch form {
		case "INCR", "HINCRBY":
			if u.removed && u.timed {
				return true
			}
		case "GETSET":
		default:
			return true
		}
	}
	return false
}

// guarded returns the entries, in which a script's SET of a key after it has asked whether that
// EXISTS counts as SET NX: this is how Node's redlock takes a lock. A script's commands follow
// each other in a log. lines are those of such SETs.
func guarded(entries []Entry) (all []Entry, lines map[int]bool) {
	entries = slices.Clone(entries)
	lines = map[int]bool{}
	looked := map[place]bool{} // in the call of a script
	for i := range entries {
		e := &entries[i]
		if e.From != "lua" {
			clear(looked)
			continue
		}
		switch c := commandOf(e.Args); {
		case c.name == "EXISTS":
			for _, key := range e.Args[1:] {
				looked[place{e.DB, key}] = true
			}
		case c.name == "SET" && len(e.Args) > 2 && looked[place{e.DB, e.Args[1]}] && Takes(e.Args) == "":
			e.Args = append(slices.Clone(e.Args), "NX")
			lines[e.Line] = true
		}
	}
	return entries, lines
}

// place is a key in a database.
type place struct {
	db  int
	key string
}

// uses returns how the entries use each key.
func uses(entries []Entry) map[place]*use {
	all := map[place]*use{}
	for i := range entries {
		c := commandOf(entries[i].Args)
		form := Takes(entries[i].Args)
		for _, key := range c.keys {
			if c.calls() || c.name == "WATCH" {
				continue
			}
			at := place{entries[i].DB, key}
			u := all[at]
			if u == nil {
				u = &use{takes: map[string]int{}}
				all[at] = u
			}
			if form != "" {
				u.takes[form]++
			}
			u.removed = u.removed || c.removes()
			u.timed = u.timed || c.expires()
		}
	}
	return all
}

// Keys returns the keys that a command names, as far as locks have to do with it.
func Keys(args []string) []string { c := commandOf(args); return c.keys }

// Removes reports whether a command can remove a key outright.
func Removes(args []string) bool { c := commandOf(args); return c.removes() }

// Expires reports whether a command gives a key that is there another life.
func Expires(args []string) bool { c := commandOf(args); return c.expires() }
