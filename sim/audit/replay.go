package audit

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"lockstep/sim/redis"
	"lockstep/sim/trace"
)

// tenure is the time from a grant of a lock until its holder gives it back or is heard of last.
type tenure struct {
	token   string // the record's value
	from    string // the connection that took it
	at      time.Duration
	line    int
	assumed bool // the key was taken for free because nothing in the log says otherwise

	lost      string        // how it lost the record, if it did not give that back
	lostAt    time.Duration // and when
	bare      time.Duration // since when the record has had no expiry; 0 if it has one
	successor *tenure       // who took the lock after that
}

// held is the state of one key.
type held struct {
	place
	shape   *shape
	now     *tenure   // the holder, if the key is there
	past    []*tenure // those that have lost the record, and have not given it back yet
	known   bool      // a command has shown whether the key was there
	expires time.Duration
}

// replay executes the commands on locks once more.
type replay struct {
	report *Report
	start  time.Duration // of the log
	nodes  map[int]*redis.Node
	peers  map[int]*redis.Peer
	locks  map[place]*held
	shapes map[string]*shape

	call    command // of the script that is running, if a command comes from one
	caller  string
	scripts map[string]effect // by their text or hash: what they were seen to do
	got     map[string]place  // by connection: the key that it has read last, outside of scripts
	watched map[string]place  // and that it watches
}

// effect is what a script or a connection does to a record of its own.
type effect uint8

const (
	unclear effect = iota
	gives          // removes it
	extends        // gives it a longer life
)

// soon is the time within which an EXPIRE may still follow, at the end of a log.
const soon = time.Second

func (r *replay) run(entries []Entry) error {
	for i := range entries {
		if err := r.entry(&entries[i]); err != nil {
			return err
		}
	}
	last := entries[len(entries)-1].At
	for _, h := range r.locks {
		if h.now != nil && h.now.bare != 0 && last-h.now.bare > soon {
			r.stays(h, last)
		}
	}
	return nil
}

func (r *replay) entry(e *Entry) error {
	c := commandOf(e.Args)
	by := e.From
	if e.From == "lua" {
		by = r.caller
	} else if r.call = c; !c.calls() {
		r.call = command{}
	}
	if e.From != "lua" {
		r.caller = e.From
	}
	for _, key := range c.keys {
		h := r.locks[place{e.DB, key}]
		if h == nil {
			continue
		}
		r.passes(h, e.At)
		switch {
		case c.calls():
			r.called(h, e, &c)
		case c.name == "WATCH":
			r.watched[by] = h.place
		default:
			if err := r.executes(h, e, &c, by); err != nil {
				return err
			}
		}
	}
	if c.name == "EXEC" || c.name == "UNWATCH" || c.name == "DISCARD" {
		delete(r.watched, by)
	}
	return nil
}

// passes lets a record expire that is due.
func (r *replay) passes(h *held, at time.Duration) {
	if h.now != nil && h.expired(at) {
		h.loses("expired", h.expires)
	}
}

func (h *held) expired(at time.Duration) bool { return h.expires != 0 && at >= h.expires }

func (h *held) loses(how string, at time.Duration) {
	h.now.lost, h.now.lostAt = how, at
	h.past = append(h.past, h.now)
	h.now = nil
}

// called looks at a call of a script, before what it did: its arguments tell whose call it is.
func (r *replay) called(h *held, e *Entry, c *command) {
	for _, t := range h.past {
		if t.lost != "" && slices.Contains(c.argv, t.token) && (h.now == nil || h.now.token != t.token) && h.shape.tells() {
			r.late(h, t, e, r.scripts[c.script], c.name)
			return
		}
	}
}

// executes executes a command on a lock's record, and draws the conclusions.
func (r *replay) executes(h *held, e *Entry, c *command, by string) error {
	before := h.now
	if p := h.former(by); p != nil && before == nil && e.From != "lua" && (c.removes() || c.name == "GET" && h.shape.gives[getAndDel] > 0) {
		r.late(h, p, e, gives, c.name)
	}
	r.remembers(h, e, c, by)
	value, expires, err := r.execute(h, e)
	if err != nil {
		return err
	}
	form := Takes(e.Args)
	there := value != ""
	switch {
	case before == nil && there:
		r.granted(h, e, by, form, value)
	case before != nil && there && before.token != value && form != "INCR" && form != "HINCRBY":
		r.overwritten(h, e, by, form, value)
	case before != nil && there && form != "":
		h.shape.Refused++
	case before != nil && !there && h.now == before:
		r.removed(h, e, c, by)
	}
	h.expires = expires
	h.known = h.known || c.removes()
	if h.now == nil {
		return nil
	}
	r.lifeOf(h, e, c, by, before, expires)
	return nil
}

// execute executes a command, and returns the record's value after it, or nothing if there is no
// record, and when it expires, or 0.
func (r *replay) execute(h *held, e *Entry) (value string, expires time.Duration, err error) {
	node := r.nodes[h.db]
	if node == nil {
		if node, err = redis.New(0, "audit"); err != nil {
			return "", 0, err
		}
		node.Reset(redis.Config{Offset: r.start - time.Duration(trace.Epoch.UnixNano())})
		r.nodes[h.db], r.peers[h.db] = node, redis.NewPeer(node)
	}
	now := e.At - r.start
	ask := func(args ...string) string {
		reply, _ := node.Execute(now, r.peers[h.db], args)
		return string(reply)
	}
	args := e.Args
	if c := commandOf(args); c.name == "DEL" || c.name == "UNLINK" {
		args = []string{args[0], h.key}
	}
	ask(args...)
	if strings.HasPrefix(ask("EXISTS", h.key), ":0") {
		return "", 0, nil
	}
	value = ask("GET", h.key)
	if _, text, is := strings.Cut(value, "\r\n"); is && strings.HasPrefix(value, "$") {
		value = "=" + strings.TrimSuffix(text, "\r\n")
	} else {
		value = "a hash, a list or a set"
	}
	if left, err := strconv.ParseInt(strings.Trim(ask("PTTL", h.key), ":\r\n"), 10, 64); err == nil && left >= 0 {
		expires = e.At + time.Duration(left)*time.Millisecond
	}
	return strings.TrimPrefix(value, "="), expires, nil
}

// remembers notes what a connection or a script does before it removes a record or gives it a
// longer life: what it looks at.
func (r *replay) remembers(h *held, e *Entry, c *command, by string) {
	if e.From == "lua" {
		switch {
		case c.removes():
			r.scripts[r.call.script] = gives
		case c.expires() && r.scripts[r.call.script] == unclear:
			r.scripts[r.call.script] = extends
		}
		return
	}
	if c.name == "GET" {
		r.got[by] = h.place
		h.shape.reads++
	}
}

// granted begins a tenure.
func (r *replay) granted(h *held, e *Entry, by, form, value string) {
	t := &tenure{token: value, from: by, at: e.At, line: e.Line, assumed: !h.known}
	h.known = true
	for _, p := range h.past {
		if p.successor == nil {
			p.successor = t
		}
	}
	if !h.shape.tells() {
		h.past = slices.DeleteFunc(h.past, func(p *tenure) bool { return p.from == by }) // it has gone on
	}
	h.now = t
	h.shape.took(form, value)
}

// overwritten ends a tenure by another one.
func (r *replay) overwritten(h *held, e *Entry, by, form, value string) {
	if form == "" && by == h.now.from { // it changes its own record
		h.now.token = value
		return
	}
	h.loses(fmt.Sprintf("was overwritten by %s (line %d)", by, e.Line), e.At)
	r.granted(h, e, by, form, value)
	h.shape.overwrites++
}

// lifeOf looks at the expiry that a command has given the record.
func (r *replay) lifeOf(h *held, e *Entry, c *command, by string, before *tenure, expires time.Duration) {
	t := h.now
	switch {
	case expires == 0 && t.bare == 0:
		t.bare = e.At
	case expires != 0 && t.bare != 0:
		t.bare = 0
		h.shape.apart++
	case c.expires() && before == t:
		h.shape.extended++
		if p := h.former(by); p != nil && t.from != by && e.From != "lua" {
			r.late(h, p, e, extends, c.name)
		}
	}
}

// former returns the tenure that a connection has lost, if it has one.
func (h *held) former(by string) *tenure {
	for _, t := range h.past {
		if t.from == by {
			return t
		}
	}
	return nil
}

// removed ends a tenure by a command that removes the record.
func (r *replay) removed(h *held, e *Entry, c *command, by string) {
	t := h.now
	if t.bare != 0 {
		r.stays(h, e.At)
	}
	h.now = nil
	how := "DEL"
	switch {
	case e.From == "lua" && h.shape.tells() && slices.Contains(r.call.argv, t.token):
		how = "a script that is told its token"
	case e.From == "lua":
		how = "a script"
	case c.name == "DELEX":
		how = "DELEX"
	case r.watched[by] == h.place:
		how = "WATCH, GET and DEL"
	case r.got[by] == h.place:
		how = getAndDel
	}
	h.shape.gave(how)
	if how == "DEL" || how == getAndDel {
		if p := h.former(by); p != nil && t.from != by {
			r.foreign(h, p, t, e, c.name)
			h.forget(p)
		} else if t.from != by {
			h.shape.byOthers++
		}
	}
	delete(r.got, by)
}

// getAndDel is a release by two commands.
const getAndDel = "GET and then DEL"

// forget drops a tenure of which nothing more is expected.
func (h *held) forget(t *tenure) {
	h.past = slices.DeleteFunc(h.past, func(p *tenure) bool { return p == t })
}
