package audit

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"lockstep/sim/redis"
)

// Kind is the kind of a finding in a log.
type Kind uint8

// The kinds of finding, the worst first.
const (
	TwoHolders     Kind = iota // somebody acts as the holder of a lock that another has taken since
	ForeignRelease             // a release removes another holder's record
	LateExtension              // somebody extends a lock that another has taken since
	Contradiction              // the log says of a record that it was there, and that it wasn't
	NoExpiry                   // a record stays without an expiry: nobody gets the lock if its holder dies
	LostLease                  // somebody gives a lock back whose record has gone before, and nobody has taken it
)

var kinds = [...]struct{ name, text string }{
	{"two-holders", "two holders at a time"},
	{"foreign-release", "another holder's record is removed"},
	{"late-extension", "an extension after the loss"},
	{"contradiction", "the log contradicts itself"},
	{"no-expiry", "a record without an expiry"},
	{"lost-lease", "a lease that ended before its holder was done"},
}

// String returns the kind's name, as flags have it.
func (k Kind) String() string { return kinds[k].name }

// Text returns the kind in words.
func (k Kind) Text() string { return kinds[k].text }

// Kinds lists all kinds, the worst first.
func Kinds() (all []Kind) {
	for k := range kinds {
		all = append(all, Kind(k))
	}
	return all
}

// Sure is how sure a finding is.
type Sure uint8

// The degrees.
const (
	Certain  Sure = iota // the log shows it
	Likely               // it follows from the log unless a client does otherwise than its commands suggest
	Possible             // it depends on something that the log doesn't show
)

// String returns the degree's word.
func (s Sure) String() string { return [...]string{"certain", "likely", "possible"}[s] }

// Finding is one thing that went wrong.
type Finding struct {
	Kind Kind
	Sure Sure
	Why  string // the condition on which it depends, unless it is certain
	Key  string
	At   time.Time
	Line int // in the log
	Text string

	guessed bool // it rests on who uses a connection
}

// Lock is a lock, or many whose keys differ in numbers alone.
type Lock struct {
	DB       int
	Key      string   // with * in place of the numbers
	Keys     int      // how many there are
	Takes    []string // the forms in which it is taken, the commonest first
	Gives    []string // and given back
	Token    string   // whether each holder has a token of its own
	Extends  bool
	Like     []string // the catalogue's locks that send the same, the likeliest first
	Doubt    string   // why it may be no lock, if there is a reason
	Granted  int
	Refused  int
	Findings []Finding // the worst kind first, then by time
}

// Report is the result of an audit.
type Report struct {
	Commands int
	Others   int // lines that are none of MONITOR's
	Clients  int // connections
	From, To time.Time
	Locks    []*Lock // those with the worst findings first
}

// Audit reads the entries of a log. It fails if there is none, or if the simulated server fails.
func Audit(entries []Entry, others int) (*Report, error) {
	if len(entries) == 0 {
		return nil, errors.New("the log has no command")
	}
	r := &replay{report: &Report{Commands: len(entries), Others: others}, start: entries[0].At, nodes: map[int]*redis.Node{}, peers: map[int]*redis.Peer{},
		locks: map[place]*held{}, shapes: map[string]*shape{}, scripts: map[string]effect{}, passed: map[string]int{}, got: map[string]read{}, watched: map[string]place{}}
	defer func() {
		for _, n := range r.nodes {
			n.Close()
		}
	}()
	entries, r.guards = guarded(entries)
	for at, u := range uses(entries) {
		if u.isLock() {
			r.locks[at] = &held{place: at, shape: r.shapeOf(at), refused: map[string]*refusal{}, refusedToken: map[string]*refusal{}}
		}
	}
	r.values(entries)
	r.learns(entries)
	r.looks(entries)
	if err := r.run(entries); err != nil {
		return nil, err
	}
	return r.conclude(entries), nil
}

// shape is the common part of locks whose keys differ in numbers alone.
type shape struct {
	Lock
	forms, gives map[string]int
	tokens       map[string]bool
	apart        int // grants whose expiry came by a second command
	extended     int
	overwrites   int
	reads        int  // by GET, outside of scripts
	byOthers     int  // removals by a connection that had not taken it
	stamped      bool // some are taken with a time for a value
	stamps       int  // grants with such a value
}

// varying are the parts of keys that differ between locks of one kind: numbers, and identifiers
// in hexadecimal digits.
var varying = regexp.MustCompile(`[0-9a-fA-F]{8,}(-[0-9a-fA-F]{4,}){0,4}|[0-9]+`)

func (r *replay) shapeOf(at place) *shape {
	key := varying.ReplaceAllString(at.key, "*")
	id := strconv.Itoa(at.db) + " " + key
	s := r.shapes[id]
	if s == nil {
		s = &shape{Lock: Lock{DB: at.db, Key: key}, forms: map[string]int{}, gives: map[string]int{}, tokens: map[string]bool{}}
		r.shapes[id] = s
	}
	if s.Keys++; s.Keys == 1 {
		s.Key = at.key
	} else {
		s.Key = key
	}
	return s
}

// values notes the tokens of each lock before the replay, which tells holders apart by them.
func (r *replay) values(entries []Entry) {
	for i := range entries {
		e := &entries[i]
		if form := Takes(e.Args); form != "" && len(e.Args) > 2 {
			if h := r.locks[place{e.DB, e.Args[1]}]; h != nil && form != "INCR" && form != "HINCRBY" {
				h.shape.tokens[e.Args[2]] = true
				if _, is := stamp(e.Args[2]); is {
					h.shape.stamped = true
				}
			}
		}
	}
}

// tells reports whether a holder's token tells it from others.
func (s *shape) tells() bool { return len(s.tokens) > 1 && !s.stamped }

// stamp reads a value that is a time, as the commands of stamp locks have it: in seconds or
// milliseconds since 1970.
func stamp(value string) (at time.Duration, is bool) {
	n, err := strconv.ParseFloat(value, 64)
	switch {
	case err != nil || n <= 1e9 || n >= 1e14:
		return 0, false
	case n < 1e11:
		return time.Duration(n * float64(time.Second)), true
	}
	return time.Duration(n * float64(time.Millisecond)), true
}

// stampOver reports whether a value is a time that has passed.
func stampOver(value string, now time.Duration) bool {
	at, is := stamp(value)
	return is && at <= now
}

func (s *shape) took(form, value string) {
	s.Granted++
	if form == "" {
		form = "a command that is none of a lock's"
	}
	s.forms[form]++
	if _, is := stamp(value); is {
		s.stamps++
	}
}

func (s *shape) gave(how string) { s.gives[how]++ }

func (r *replay) conclude(entries []Entry) *Report {
	rep := r.report
	rep.From, rep.To = moment(entries[0].At), moment(entries[len(entries)-1].At)
	clients := map[string]bool{}
	for i := range entries {
		clients[entries[i].From] = true
	}
	delete(clients, "lua")
	rep.Clients = len(clients)
	for _, s := range r.shapes {
		s.doubts()
		s.Takes, s.Gives = commonest(s.forms), commonest(s.gives)
		s.Extends = s.extended > 0
		s.Token = s.tokenText()
		s.Like = s.like()
		if len(s.gives) == 0 && s.Refused == 0 {
			s.Doubt = "nobody gives it back, and nobody is refused: it may be a mark and no lock"
		}
		slices.SortStableFunc(s.Findings, func(a, b Finding) int {
			return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Line, b.Line))
		})
		rep.Locks = append(rep.Locks, &s.Lock)
	}
	slices.SortFunc(rep.Locks, func(a, b *Lock) int {
		return cmp.Or(cmp.Compare(a.worst(), b.worst()), cmp.Compare(b.Granted, a.Granted), cmp.Compare(a.DB, b.DB), strings.Compare(a.Key, b.Key))
	})
	return rep
}

// doubts makes findings on holders that were told by their connections no more than possible, if the
// log shows that connections are shared: a connection has removed a record that another one had stored.
func (s *shape) doubts() {
	for i := range s.Findings {
		if f := &s.Findings[i]; f.guessed && s.byOthers > 0 && s.tells() && f.Kind != NoExpiry {
			f.Sure = Possible
			f.Why = strings.TrimPrefix(f.Why+"; the connections of this lock are shared, and the command may be another holder's", "; ")
		}
	}
}

// worst is the worst kind of finding, or more than all of them.
func (l *Lock) worst() Kind {
	if len(l.Findings) == 0 {
		return Kind(len(kinds))
	}
	return l.Findings[0].Kind
}

func (s *shape) tokenText() string {
	switch {
	case s.stamps > 0:
		return "a time"
	case len(s.tokens) == 0:
		return "a count"
	case len(s.tokens) == 1 && s.Granted > 1:
		return "the same value for all"
	case len(s.tokens) == 1:
		return "one value"
	default:
		return "a token of each holder's own"
	}
}

// commonest returns the keys of a count, the commonest first.
func commonest(count map[string]int) []string {
	return slices.SortedFunc(maps.Keys(count), func(a, b string) int {
		return cmp.Or(cmp.Compare(count[b], count[a]), strings.Compare(a, b))
	})
}

func moment(at time.Duration) time.Time { return time.Unix(0, int64(at)).UTC() }

func (r *replay) finds(h *held, e *Entry, f Finding) {
	f.Key, f.At, f.Line, f.guessed = h.key, moment(e.At), e.Line, r.guessed
	h.shape.Findings = append(h.shape.Findings, f)
}

// late is a command of a holder that has lost its record.
func (r *replay) late(h *held, t *tenure, e *Entry, does effect, command string) {
	who := h.shape.name(t)
	gone := ago(e.At - t.lostAt)
	next := h.successor(t)
	switch {
	case next == nil:
		if does == extends {
			break
		}
		r.finds(h, e, Finding{Kind: LostLease, Sure: Certain, Text: fmt.Sprintf("%s gives it back by %s %s after its record %s; nobody has taken it meanwhile", who, command, gone, t.lost)})
	case does == extends:
		r.finds(h, e, Finding{Kind: LateExtension, Sure: h.shape.sureOf(t), Why: h.shape.why(t),
			Text: fmt.Sprintf("%s extends it by %s %s after its record %s; %s has taken it since (line %d)", who, command, gone, t.lost, h.shape.name(next), next.line)})
	case t.told != next:
		r.finds(h, e, Finding{Kind: TwoHolders, Sure: max(Likely, h.shape.sureOf(t)), Why: stopped + h.shape.also(t),
			Text: fmt.Sprintf("%s gives it back by %s %s after its record %s; %s has taken it since, %s ago (line %d)", who, command, gone, t.lost, h.shape.name(next), ago(e.At-next.at), next.line)})
	}
	if does != extends {
		h.forget(t)
	}
}

// stopped is why a release that is late is no proof of two holders.
const stopped = "it may have stopped working under the lock before it gave it back"

// foreign is a removal of another holder's record.
func (r *replay) foreign(h *held, p, t *tenure, e *Entry, command string) {
	s := h.shape
	r.finds(h, e, Finding{Kind: ForeignRelease, Sure: max(s.sureOf(p), s.sureOf(t)), Why: s.why(p, t),
		Text: fmt.Sprintf("%s of %s, whose record %s %s ago, removes that of %s (line %d)", command, s.name(p), p.lost, ago(e.At-p.lostAt), s.name(t), t.line)})
	if p.told == t {
		return
	}
	p.told = t
	r.finds(h, e, Finding{Kind: TwoHolders, Sure: max(Likely, s.sureOf(p), s.sureOf(t)), Why: stopped + s.also(p, t),
		Text: fmt.Sprintf("%s gives it back when %s has had it for %s (line %d)", s.name(p), s.name(t), ago(e.At-t.at), t.line)})
}

// unasked is a removal of a record of which the holder has known nothing: it is heard of later.
func (r *replay) unasked(h *held, t *tenure, e *Entry) {
	by := t.doubtful
	t.doubtful = nil
	r.finds(h, by, Finding{Kind: ForeignRelease, Sure: Likely, Why: "the holder may have removed it itself, through another connection, and have said so twice",
		Text: fmt.Sprintf("%s of %s removes the record of %s (line %d), which acts as the holder later (line %d)", strings.ToUpper(by.Args[0]), by.From, h.shape.name(t), t.line, e.Line)})
}

// stays is a record that has had no expiry until its end, or until the log's.
func (r *replay) stays(h *held, until time.Duration) {
	t := h.now
	r.finds(h, &Entry{Line: t.line, At: t.at}, Finding{Kind: NoExpiry, Sure: Certain,
		Text: fmt.Sprintf("%s's record has no expiry, for %s", h.shape.name(t), ago(until-t.bare))})
}

// name says who a holder is.
func (s *shape) name(t *tenure) string {
	if !s.tells() {
		return t.from
	}
	return fmt.Sprintf("the holder of %q", shorten(t.token))
}

func (s *shape) sureOf(t *tenure) Sure {
	if t.assumed || !s.tells() {
		return Possible
	}
	return Certain
}

func (s *shape) why(who ...*tenure) string { return strings.TrimPrefix(s.also(who...), "; ") }

func (s *shape) also(who ...*tenure) string {
	switch {
	case slices.ContainsFunc(who, func(t *tenure) bool { return t.assumed }):
		return "; the key may have been there when the log began"
	case !s.tells():
		return "; without tokens, holders are told apart by their connections"
	}
	return ""
}

// ago is a span in words, to the millisecond.
func ago(d time.Duration) string { return d.Round(time.Millisecond).String() }

// MarshalText gives a kind as its name.
func (k Kind) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// MarshalText gives a degree as its word.
func (s Sure) MarshalText() ([]byte, error) { return []byte(s.String()), nil }
