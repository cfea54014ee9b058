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

// tenure is the time in which a client holds a lock: from a grant until it gives the lock back. Its
// record may be gone before that, and another's stored in its place; its lease goes on
// until its TTL is over all the same. So the two are kept apart: a tenure whose record is gone is
// one of [held.past], and is live until it ends.
type tenure struct {
	token   string // the record's value
	from    string // the connection that took it
	at      time.Duration
	line    int
	assumed bool          // the key was taken for free because nothing in the log says otherwise
	ends    time.Duration // when the lease that its own commands have given it is over; 0 if never

	lost    string        // how it lost the record, if it did not give that back
	lostAt  time.Duration // and when
	since   int           // the number of grants of the key until then
	bare    time.Duration // since when the record has had no expiry; 0 if it has one
	robbed  bool          // another holder's release removed the record
	guessed bool          // and that holder was told by its connection alone
	told    *tenure       // the last one that was found to hold the lock beside it
	proven  int           // the last line in which a script has found and used its record
	denied  bool          // a script has looked for its record, and has not found it

	// doubtful is the removal of the record by a connection that isn't known to hold the lock: by
	// the holder itself, through another connection of its pool, unless the holder is heard of later.
	doubtful *Entry
}

// live reports whether the lease goes on, as far as its TTL decides.
func (t *tenure) live(at time.Duration) bool { return t.ends == 0 || at < t.ends }

// held is the state of one key.
type held struct {
	place
	shape   *shape
	now     *tenure   // whose record is stored, if the key is there
	past    []*tenure // those that have lost the record, and have not given it back yet
	latest  *tenure   // the last that was granted
	grants  int       // how many there were
	known   bool      // a command has shown whether the key was there
	expires time.Duration

	refused      map[string]*refusal // the last on each connection that has not been granted the lock since
	refusedToken map[string]*refusal // and of each token, if these tell holders apart
}

// replay executes the commands on locks once more.
type replay struct {
	report *Report
	start  time.Duration // of the log
	nodes  map[int]*redis.Node
	peers  map[int]*redis.Peer
	locks  map[place]*held
	shapes map[string]*shape

	guessed  bool    // the holder for whom a command acts was told by its connection alone
	call     command // of the script that is running, if a command comes from one
	caller   string
	calledAt int               // and the line of the call
	ran      map[int]*ran      // by the line of a call of a script: the keys that it used
	acting   map[string]bool   // the scripts that remove records, or extend them
	taking   map[string]bool   // and those that take locks
	guards   map[int]bool      // the lines of SETs that follow a script's EXISTS
	scripts  map[string]effect // by their text or hash: their effect, as seen anywhere in the log
	passed   map[string]int    // by an argument of scripts: the last line with it
	got      map[string]read   // by connection: the key that it has read last, outside of scripts
	watched  map[string]place  // and that it watches
}

// read is a key that was read, and the value that was found.
type read struct {
	place
	value string
}

// effect is that of a script or a connection on a record of its own.
type effect uint8

// The effects. A script that has several is known by the last of these.
const (
	unclear effect = iota
	extends        // gives it a longer life
	takes          // stores it
	gives          // removes it
)

// learns notes the effect of each script, and its arguments, before the replay.
func (r *replay) learns(entries []Entry) {
	script := ""
	for i := range entries {
		e := &entries[i]
		c := commandOf(e.Args)
		if e.From != "lua" {
			script = c.script
			for _, arg := range c.argv {
				r.passed[arg] = e.Line
			}
			continue
		}
		does := unclear
		switch {
		case c.removes():
			does = gives
		case c.expires():
			does = extends
		case Takes(e.Args) != "":
			does = takes
		}
		r.scripts[script] = max(r.scripts[script], does)
	}
}

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
		r.caller, r.calledAt = e.From, e.Line
	}
	for _, key := range c.keys {
		h := r.locks[place{e.DB, key}]
		if h == nil {
			continue
		}
		if err := r.passes(h, e.At); err != nil {
			return err
		}
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
	switch c.name {
	case "EXEC", "UNWATCH", "DISCARD":
		delete(r.watched, by)
	case "FLUSHALL", "FLUSHDB":
		return r.flushed(e, &c, by)
	}
	return nil
}

// flushed removes all records, which no holder has given back.
func (r *replay) flushed(e *Entry, c *command, by string) error {
	for _, h := range r.locks {
		if h.db != e.DB && c.name == "FLUSHDB" {
			continue
		}
		if err := r.passes(h, e.At); err != nil {
			return err
		}
		if h.now != nil {
			h.loses(fmt.Sprintf("was removed by %s of %s (line %d)", c.name, by, e.Line), e.At)
		}
		h.known, h.expires = true, 0
		if _, err := r.execute(h, &Entry{At: e.At, Args: []string{"DEL", h.key}}); err != nil {
			return err
		}
	}
	return nil
}

// passes lets a record expire that is due. The server decides: it keeps a record through the last
// millisecond of its life.
func (r *replay) passes(h *held, at time.Duration) error {
	if h.now == nil || h.expires == 0 || at < h.expires {
		return nil
	}
	is, err := r.execute(h, &Entry{At: at, Args: []string{"EXISTS", h.key}})
	if err == nil && !is.there {
		h.loses("expired", h.expires)
	}
	return err
}

func (h *held) loses(how string, at time.Duration) {
	h.now.lost, h.now.lostAt, h.now.since = how, at, h.grants
	h.past = append(h.past, h.now)
	h.now = nil
}

// successor returns the last one that took the lock after a tenure had lost its record, or nil.
func (h *held) successor(t *tenure) *tenure {
	if h.grants > t.since {
		return h.latest
	}
	return nil
}

// called looks at a call of a script, before its commands: its arguments tell whose call it is.
func (r *replay) called(h *held, e *Entry, c *command) {
	r.guessed = !h.shape.tells()
	r.unlike(h, e, c)
	r.callsThough(h, e, c)
	does := r.scripts[c.script]
	if does == takes || does == extends && !h.shape.tells() {
		return
	}
	for _, t := range h.past {
		switch {
		case h.shape.tells() && !slices.Contains(c.argv, t.token), h.now != nil && h.now.token == t.token, !h.shape.tells() && t.from != e.From:
			continue
		}
		if t.doubtful != nil {
			r.unasked(h, t, e)
		}
		switch used := r.outlived(h, e, c, t); {
		case !used || h.successor(t) != nil:
			r.late(h, t, e, does, c.name)
		case does != extends:
			h.forget(t)
		}
		return
	}
}

// actor returns the tenure for whose holder a command acts, or nil if nothing tells: by the
// token that its script was passed or that it has read before, and otherwise by its connection.
func (r *replay) actor(h *held, e *Entry, by string) *tenure {
	all := h.past
	if h.now != nil {
		all = append([]*tenure{h.now}, h.past...)
	}
	mine := func(t *tenure) bool { return t.doubtful == nil && t.from == by }
	if r.guessed = true; h.shape.tells() {
		switch seen := r.got[by]; {
		case e.From == "lua":
			r.guessed, mine = false, func(t *tenure) bool { return slices.Contains(r.call.argv, t.token) }
		case seen.place == h.place && slices.ContainsFunc(all, func(t *tenure) bool { return t.token == seen.value }):
			r.guessed, mine = false, func(t *tenure) bool { return t.token == seen.value }
		}
	}
	if i := slices.IndexFunc(all, mine); i >= 0 {
		return all[i]
	}
	return nil
}

// executes executes a command on a lock's record, and draws the conclusions.
func (r *replay) executes(h *held, e *Entry, c *command, by string) error {
	who := r.actor(h, e, by)
	if err := r.contradicts(h, e, c, by, who); err != nil {
		return err
	}
	before := h.now
	who = r.actor(h, e, by) // which may be another one now
	if who != nil && who != before && e.From != "lua" && (before == nil && c.removes() || r.asks(h, c)) {
		r.late(h, who, e, gives, c.name)
	}
	is, err := r.execute(h, e)
	if err != nil {
		return err
	}
	if c.name == "GET" && e.From != "lua" {
		r.got[by] = read{h.place, is.value}
		h.shape.reads++
	}
	form := Takes(e.Args)
	switch {
	case before == nil && is.there:
		r.granted(h, e, by, form, is.value)
	case before != nil && is.there && before.token != is.value && (form == "INCR" || form == "HINCRBY"):
		before.token = is.value
		r.refuses(h, e, by, form)
	case before != nil && is.there && before.token != is.value:
		r.overwritten(h, e, by, form, is.value)
	case before != nil && is.there && form != "":
		r.refuses(h, e, by, form)
	case before != nil && !is.there && h.now == before:
		r.removed(h, e, c, by, who)
	}
	h.expires = is.expires
	h.known = h.known || c.removes()
	if h.now != nil {
		r.lifeOf(h, e, c, before, who)
	}
	return nil
}

// asks reports whether a command asks whose record is stored, in order to remove it if it is one's own.
func (r *replay) asks(h *held, c *command) bool {
	return c.name == "GET" && h.shape.tells() && h.shape.gives[getAndDel]+h.shape.gives[watchAndDel] > 0
}

// record is the state of a key.
type record struct {
	there   bool
	value   string
	expires time.Duration // 0 if never
}

// execute executes a command, and returns the record after it.
func (r *replay) execute(h *held, e *Entry) (is record, err error) {
	node := r.nodes[h.db]
	if node == nil {
		if node, err = redis.New(0, "audit"); err != nil {
			return is, err
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
		return is, nil
	}
	is.there, is.value = true, "a hash, a list or a set"
	if value := ask("GET", h.key); strings.HasPrefix(value, "$") {
		_, text, _ := strings.Cut(value, "\r\n")
		is.value = strings.TrimSuffix(text, "\r\n")
	}
	if left, err := strconv.ParseInt(strings.Trim(ask("PTTL", h.key), ":\r\n"), 10, 64); err == nil && left >= 0 {
		is.expires = e.At + time.Duration(left)*time.Millisecond
	}
	return is, nil
}

// granted begins a tenure.
func (r *replay) granted(h *held, e *Entry, by, form, value string) {
	t := &tenure{token: value, from: by, at: e.At, line: e.Line, assumed: !h.known}
	h.known = true
	h.past = slices.DeleteFunc(h.past, func(p *tenure) bool { // it has gone on
		return h.shape.tells() && p.token == value || !h.shape.tells() && p.from == by
	})
	h.now, h.latest = t, t
	delete(h.refused, by)
	delete(h.refusedToken, value)
	h.grants++
	h.shape.took(form, value)
	for _, p := range h.past {
		r.guessed = p.guessed
		r.beside(h, e, p, t, "gets it")
	}
}

// beside finds two holders if a tenure that has lost its record is live beside that which has
// one. A stamp that was replaced is not compared with the one in its place: whether
// a GETSET has won the lock is decided by its client's clock.
func (r *replay) beside(h *held, e *Entry, p, t *tenure, does string) {
	if p.doubtful != nil || p.told == t || h.shape.stamped && !p.robbed || !p.live(e.At) || !t.live(e.At) {
		return
	}
	p.told = t
	until := "which has no expiry"
	if p.ends != 0 {
		until = fmt.Sprintf("which lasts for another %s", ago(p.ends-e.At))
	}
	who, with := t, p
	if t.at < e.At {
		who, with, until = p, t, fmt.Sprintf("which has had it for %s", ago(e.At-t.at))
	}
	r.finds(h, e, Finding{Kind: TwoHolders, Sure: max(Likely, h.shape.sureOf(p), h.shape.sureOf(t)), Why: "a client may have ended, or its release may have been under way" + h.shape.also(p, t),
		Text: fmt.Sprintf("%s %s during the lease of %s (line %d), %s; the record of %s %s", h.shape.name(who), does, h.shape.name(with), with.line, until, h.shape.name(p), p.lost)})
}

// overwritten ends a tenure by another one.
func (r *replay) overwritten(h *held, e *Entry, by, form, value string) {
	if form == "" && by == h.now.from { // it changes its own record
		h.now.token = value
		return
	}
	if t := h.now; form == "" && t.live(e.At) && !h.shape.stamped {
		r.finds(h, e, Finding{Kind: ForeignRelease, Sure: max(Likely, h.shape.sureOf(t)), Why: "the same client may use several connections" + h.shape.also(t),
			Text: fmt.Sprintf("%s of %s replaces the record of %s (line %d)", strings.ToUpper(e.Args[0]), by, h.shape.name(t), t.line)})
	}
	h.loses(fmt.Sprintf("was overwritten by %s (line %d)", by, e.Line), e.At)
	r.granted(h, e, by, form, value)
	h.shape.overwrites++
}

// lifeOf looks at the expiry that a command has given the record, and whose lease that prolongs.
func (r *replay) lifeOf(h *held, e *Entry, c *command, before, who *tenure) {
	t := h.now
	switch {
	case h.expires == 0 && t.bare == 0:
		t.bare = e.At
	case h.expires != 0 && t.bare != 0:
		t.bare = 0
		h.shape.apart++
	case c.expires() && before == t:
		h.shape.extended++
	}
	until, stamped := stamp(t.token)
	if !stamped || !h.shape.stamped {
		until = h.expires
	}
	switch {
	case before != t:
		t.ends = until
	case !c.moves(Takes(e.Args)):
	case who == nil || who == t:
		t.ends = until
	case c.expires(): // another's record, which it takes for its own
		who.ends = until
		r.late(h, who, e, extends, c.name)
		r.beside(h, e, who, t, "extends it")
	}
}

// removed ends a tenure by a command that removes the record, or parts the two: a record that
// another holder removes leaves its own holder's lease as it is.
func (r *replay) removed(h *held, e *Entry, c *command, by string, who *tenure) {
	t := h.now
	if t.bare != 0 {
		r.stays(h, e.At)
	}
	h.shape.gave(r.removal(h, e, c, by))
	delete(r.got, by)
	switch {
	case who == t:
		h.now = nil
	case who != nil:
		r.foreign(h, who, t, e, c.name)
		t.robbed, t.guessed = true, r.guessed
		h.loses(fmt.Sprintf("was removed by %s of %s (line %d)", c.name, h.shape.name(who), e.Line), e.At)
		h.forget(who)
	case h.shape.stamped && stampOver(t.token, e.At):
		h.shape.byOthers++
		h.loses(fmt.Sprintf("was removed by %s of %s, as a stamp that has passed (line %d)", c.name, by, e.Line), e.At)
	default:
		h.shape.byOthers++
		h.loses(fmt.Sprintf("was removed by %s of %s (line %d)", c.name, by, e.Line), e.At)
		if t.doubtful = e; !h.shape.tells() || r.passed[t.token] <= e.Line { // nothing more can be heard of it
			h.forget(t)
		}
	}
}

// removal returns how a command removes a record, in words.
func (r *replay) removal(h *held, e *Entry, c *command, by string) string {
	switch {
	case e.From == "lua" && h.shape.tells() && slices.Contains(r.call.argv, h.now.token):
		return "a script that is told its token"
	case e.From == "lua":
		return "a script"
	case c.name == "DELEX":
		return "DELEX"
	case r.watched[by] == h.place:
		return watchAndDel
	case r.got[by].place == h.place:
		return getAndDel
	}
	return "DEL"
}

// The releases by several commands.
const (
	getAndDel   = "GET and then DEL"
	watchAndDel = "WATCH, GET and DEL"
)

// forget drops a tenure of which nothing more is expected.
func (h *held) forget(t *tenure) {
	h.past = slices.DeleteFunc(h.past, func(p *tenure) bool { return p == t })
}
