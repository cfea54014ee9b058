package audit

import (
	"crypto/sha1"
	"encoding/hex"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// refusal is a command that should have taken a lock and did not, as the simulated server has it. The
// log has no reply: later commands of its sender may show that Redis granted it.
type refusal struct {
	entry Entry
	by    string  // the connection
	token string  // that it would have stored
	stood *tenure // whose record was in its way
}

// ran is the use of keys by one call of a script, as the log shows it.
type ran struct {
	got   map[place]bool // the keys that it read by GET
	acted map[place]bool // and those on which it sent something else
}

// acts are commands in the text of a script that a holder sends for its own record.
var acts = regexp.MustCompile(`(?i)['"](DEL|UNLINK|P?EXPIRE|P?EXPIREAT)['"]`)

// scriptOf is a script's hash, whether the log has that or its text, or else its function's name.
func scriptOf(c *command) string {
	switch c.name {
	case "EVAL":
		return hashOf(c.script)
	case "EVALSHA":
		return strings.ToLower(c.script)
	}
	return c.name + " " + c.script
}

func hashOf(text string) string {
	sum := sha1.Sum([]byte(text))
	return hex.EncodeToString(sum[:])
}

// looks notes the keys that each call of a script used, and which scripts act on a record, before the replay.
func (r *replay) looks(entries []Entry) {
	r.ran, r.acting, r.taking = map[int]*ran{}, map[string]bool{}, map[string]bool{}
	script, now := "", &ran{}
	for i := range entries {
		e := &entries[i]
		c := commandOf(e.Args)
		if e.From != "lua" {
			script, now = scriptOf(&c), &ran{map[place]bool{}, map[place]bool{}}
			switch {
			case c.name == "EVAL" && acts.MatchString(c.script):
				r.acting[script] = true
			case c.name == "SCRIPT" && len(e.Args) > 2 && strings.EqualFold(e.Args[1], "LOAD") && acts.MatchString(e.Args[2]):
				r.acting[hashOf(e.Args[2])] = true
			}
			if c.calls() {
				r.ran[e.Line] = now
			}
			continue
		}
		for _, key := range c.keys {
			if at := (place{e.DB, key}); c.name == "GET" {
				now.got[at] = true
			} else if now.acted != nil {
				now.acted[at] = true
			}
		}
		r.acting[script] = r.acting[script] || c.removes() || c.expires()
		r.taking[script] = r.taking[script] || Takes(e.Args) != ""
	}
}

// refuses counts a command that takes the lock and was refused.
func (r *replay) refuses(h *held, e *Entry, by, form string) {
	h.shape.Refused++
	t := h.now
	if form == "GETSET" || form == "HINCRBY" || form != "INCR" && len(e.Args) < 3 {
		return // another count of an owner's own, say
	}
	token := ""
	if form != "INCR" {
		token = e.Args[2]
	}
	if h.shape.tells() && token == t.token || !h.shape.tells() && by == t.from {
		return // it is sent again
	}
	f := &refusal{*e, by, token, t}
	h.refused[by] = f
	if h.shape.tells() {
		h.refusedToken[token] = f
	}
}

// unlike finds a call of a script that did nothing with the record, though that is its holder's by all that
// the log says. A script that compares does so only if Redis had no such record.
func (r *replay) unlike(h *held, e *Entry, c *command) {
	t, did := h.now, r.ran[e.Line]
	script := scriptOf(c)
	if t == nil || t.denied || !h.shape.tells() || !slices.Contains(c.argv, t.token) || !did.got[h.place] || did.acted[h.place] || !r.acting[script] {
		return
	}
	t.denied = true
	f := Finding{Kind: Contradiction, Sure: h.shape.sureOf(t), Why: h.shape.why(t), Text: fmt.Sprintf("a script of %s (line %d) reads the record and leaves it, so it was not that holder's: "+lostOr,
		h.shape.name(t), t.line)}
	if len(c.keys) > 1 || r.taking[script] {
		f.Sure, f.Why = Possible, "something else than the token may decide what the script does"+h.shape.also(t)
	}
	r.finds(h, e, f)
}

// lostOr is the meaning of a log that contradicts itself.
const lostOr = "a record was lost, or the lock was granted, unseen"

// contradicts compares a command that is about to be executed with the earlier lines
// about the client that sends it.
func (r *replay) contradicts(h *held, e *Entry, c *command, by string, who *tenure) error {
	form := Takes(e.Args)
	acts := c.removes() || c.expires()
	switch {
	case e.From == "lua" && r.guards[e.Line]:
		return r.storedThough(h, e)
	case e.From == "lua" && h.shape.tells() && c.name != "DELEX" && (acts || c.name == "SET" && form == ""):
		if slices.ContainsFunc(r.call.argv, func(arg string) bool { return h.shape.tokens[arg] }) {
			return r.actedThough(h, e, c)
		}
		r.sentThough(h, e, c, by, who)
	case acts:
		r.sentThough(h, e, c, by, who)
	}
	return nil
}

// storedThough is a SET of a script that has found by EXISTS that there is no record.
func (r *replay) storedThough(h *held, e *Entry) error {
	t := h.now
	if t == nil || t.token == e.Args[2] {
		return nil
	}
	r.guessed = false
	r.finds(h, e, Finding{Kind: Contradiction, Sure: max(Likely, h.shape.sureOf(t)), Why: "the script may store its token whatever EXISTS has answered" + h.shape.also(t),
		Text: fmt.Sprintf("a script finds no record and stores its own, though that of %s (line %d) should be there: "+lostOr, h.shape.name(t), t.line)})
	h.loses(fmt.Sprintf("was lost, as line %d shows", e.Line), e.At)
	_, err := r.execute(h, &Entry{At: e.At, Args: []string{"DEL", h.key}})
	return err
}

// actedThough is a command of a script that compares the record with its caller's token, and whose
// caller has no record by all that the log says.
func (r *replay) actedThough(h *held, e *Entry, c *command) error {
	did := r.ran[r.calledAt]
	read := did != nil && did.got[h.place]
	if t := h.now; t != nil && slices.Contains(r.call.argv, t.token) {
		if read {
			t.proven, t.assumed = e.Line, false
		}
		return nil
	}
	command := strings.ToUpper(c.name)
	r.guessed = false
	for _, arg := range r.call.argv {
		if ref := h.refusedToken[arg]; ref != nil {
			f := Finding{Kind: Contradiction, Sure: h.shape.sureOf(ref.stood), Why: h.shape.why(ref.stood)}
			if !read {
				f.Sure, f.Why = Possible, "the script may act on a record without a look at its token"+h.shape.also(ref.stood)
			}
			f.Text = fmt.Sprintf("a script's %s shows that Redis had the record of the holder of %q, which was taken for refused (line %d), as that of %s (line %d) should have been there: "+lostOr,
				command, shorten(arg), ref.entry.Line, h.shape.name(ref.stood), ref.stood.line)
			r.finds(h, e, f)
			h.answered(ref)
			if read {
				return r.adopts(h, e, ref)
			}
			return nil
		}
	}
	return nil
}

// outlived finds a call of a script that compares the record with its caller's token, and that used
// it though it was gone by all that the log says.
func (r *replay) outlived(h *held, e *Entry, c *command, t *tenure) bool {
	if did := r.ran[e.Line]; !h.shape.tells() || !did.got[h.place] || !did.acted[h.place] {
		return false
	}
	r.finds(h, e, Finding{Kind: Contradiction, Sure: Likely, Why: "the server's clock may differ from the log's times",
		Text: fmt.Sprintf("a script of %s (line %d) uses its record by %s, which %s %s ago by all that the log says", h.shape.name(t), t.line, c.name, t.lost, ago(e.At-t.lostAt))})
	return true
}

// adopts lets the lock be that of a client that was taken for refused, from its command on, unless
// something else in the log stands against that.
func (r *replay) adopts(h *held, e *Entry, ref *refusal) error {
	t := ref.stood
	expired := h.now == nil && t.lost == "expired" && slices.Contains(h.past, t)
	if t.proven > ref.entry.Line || h.now != t && !expired {
		return nil
	}
	how := fmt.Sprintf("was lost by then, as line %d shows", e.Line)
	if expired {
		t.lost, t.lostAt, t.since = how, ref.entry.At, h.grants
	} else {
		h.loses(how, ref.entry.At)
	}
	if t.denied { // it has given it back meanwhile, and found no record of its own
		defer h.forget(t)
	}
	if _, err := r.execute(h, &Entry{At: e.At, Args: []string{"DEL", h.key}}); err != nil {
		return err
	}
	h.shape.Refused--
	is, err := r.execute(h, &Entry{At: e.At, Args: ref.entry.Args})
	if err != nil {
		return err
	}
	r.granted(h, &ref.entry, ref.by, Takes(ref.entry.Args), ref.token)
	h.expires = is.expires
	if is.expires != 0 { // it was executed late
		h.now.ends = is.expires - (e.At - ref.entry.At)
	} else {
		h.now.bare = ref.entry.At
	}
	return nil
}

// callsThough is a call of a script that acts on a record, by a connection whose own command was taken
// for refused, of a lock whose holders no token tells apart.
func (r *replay) callsThough(h *held, e *Entry, c *command) {
	if script := scriptOf(c); !h.shape.tells() && r.acting[script] && !r.taking[script] && len(r.ran[e.Line].got) > 0 {
		r.sentThough(h, e, c, e.From, r.actor(h, e, e.From))
	}
}

// sentThough is a command of a holder's on a connection whose own command was taken for refused.
func (r *replay) sentThough(h *held, e *Entry, c *command, by string, who *tenure) {
	ref := h.refused[by]
	switch {
	case ref == nil, h.now != nil && h.now.from == by, who != nil && who.from == by:
		return
	case h.now != nil && h.shape.stamped && stampOver(h.now.token, e.At): // and a client that finds a stamp that has passed may take over
		return
	case c.expires() && h.now != nil && h.now.bare != 0: // any client that finds a record without an expiry may give it one
		return
	}
	h.answered(ref)
	r.guessed = true
	r.finds(h, e, Finding{Kind: Contradiction, Sure: Possible, Why: "a client may send it after a refusal, or the connection may be one of a pool" + h.shape.also(ref.stood),
		Text: fmt.Sprintf("%s of %s, as a holder sends it, whose %s was taken for refused (line %d), as the record of %s (line %d) should have been there: "+lostOr,
			c.name, by, strings.ToUpper(ref.entry.Args[0]), ref.entry.Line, h.shape.name(ref.stood), ref.stood.line)})
}

// answered drops a refusal about which the log has said something.
func (h *held) answered(ref *refusal) {
	if h.refused[ref.by] == ref {
		delete(h.refused, ref.by)
	}
	if h.refusedToken[ref.token] == ref {
		delete(h.refusedToken, ref.token)
	}
}

// shorten is a token as it is printed.
func shorten(token string) string {
	if len(token) > 12 {
		return token[:12] + "..."
	}
	return token
}
