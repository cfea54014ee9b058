package audit_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"lockstep/sim/audit"
	"lockstep/sim/testenv"
)

// hold is a client's hold of the lock, in a made-up log. The model keeps them all, and says who
// held what when by looking at all of them again: it has no state of a replay.
type hold struct {
	client, line     int
	from, done, ends time.Duration // done is 0 while the client has not given it back
	stored           time.Duration // until when its record is stored, as far as is known: the record's expiry, or its removal
	told             int           // the line of the grant that it was last found beside
}

// model makes up a log, and knows what is to be found in it.
type model struct {
	*rand.Rand
	gives   string // del or script
	tokens  bool
	now     time.Duration
	holds   []*hold
	entries []audit.Entry
	want    []string
}

const (
	ttl  = 3 * time.Second
	life = ttl + time.Millisecond // of a record: Redis keeps it through the last millisecond
)

func (m *model) log(from string, args ...string) int {
	m.entries = append(m.entries, audit.Entry{Line: len(m.entries) + 1, At: later + m.now, From: from, Args: args})
	return len(m.entries)
}

func (m *model) finds(kind audit.Kind, line int) {
	m.want = append(m.want, fmt.Sprint(kind, " ", line))
}

// stored is the hold whose record is stored now, or nil.
func (m *model) stored() *hold {
	for _, h := range m.holds {
		if h.from <= m.now && m.now < h.stored {
			return h
		}
	}
	return nil
}

// open is a client's hold that it has not given back, or nil.
func (m *model) open(client int) *hold {
	for _, h := range m.holds {
		if h.client == client && h.done == 0 {
			return h
		}
	}
	return nil
}

// latest is the last grant after an instant at which a record was lost, or nil.
func (m *model) latest(after time.Duration) *hold {
	if h := m.holds[len(m.holds)-1]; h.from >= after {
		return h
	}
	return nil
}

func (m *model) token(h *hold) string {
	if !m.tokens {
		return "same"
	}
	return fmt.Sprint("token-", h.line)
}

func name(client int) string { return fmt.Sprint("10.0.0.1:", 5000+client) }

func (m *model) take(client int) {
	token := "same"
	if m.tokens {
		token = fmt.Sprint("token-", len(m.entries)+1)
	}
	line := m.log(name(client), "SET", "lock", token, "NX", "PX", "3000")
	if m.stored() != nil {
		return
	}
	for _, h := range m.holds {
		if h.done == 0 && m.now < h.ends {
			m.finds(audit.TwoHolders, line)
			h.told = line
		}
	}
	m.holds = append(m.holds, &hold{client: client, line: line, from: m.now, ends: m.now + ttl, stored: m.now + life})
}

// give is a release by the holder of h.
func (m *model) give(h *hold) {
	there, from := m.stored(), name(h.client)
	line, removes := 0, true
	switch m.gives {
	case "del":
		line = m.log(from, "DEL", "lock")
	case "script":
		line = m.log(from, "EVAL", compareAndDelete, "1", "lock", m.token(h))
		m.log("lua", "GET", "lock")
		if removes = there != nil && (there == h || !m.tokens); removes {
			n := m.log("lua", "DEL", "lock")
			if there != h {
				line = n
			}
		}
	}
	defer func() { h.done = m.now }()
	switch {
	case there == h:
		h.stored = m.now
	case there != nil && removes:
		m.finds(audit.ForeignRelease, line)
		if h.told != there.line {
			m.finds(audit.TwoHolders, line)
		}
		there.stored = m.now
	default:
		switch next := m.latest(h.stored); {
		case next == nil:
			m.finds(audit.LostLease, line)
		case next.line != h.told:
			m.finds(audit.TwoHolders, line)
		}
	}
}

// extend is an extension by the holder of h, which compares, or doesn't.
func (m *model) extend(h *hold, compares bool) {
	there, from := m.stored(), name(h.client)
	line := 0
	if compares {
		line = m.log(from, "EVAL", compareAndExpire, "1", "lock", m.token(h), "3000")
		m.log("lua", "GET", "lock")
		if there == h {
			m.log("lua", "PEXPIRE", "lock", "3000")
		}
	} else {
		line = m.log(from, "PEXPIRE", "lock", "3000")
	}
	switch {
	case there == h:
		h.ends, h.stored = m.now+ttl, m.now+life
	case compares && m.latest(h.stored) != nil:
		m.finds(audit.LateExtension, line)
	case !compares && there != nil:
		m.finds(audit.LateExtension, line)
		if h.told != there.line && there.done == 0 && m.now < there.ends {
			m.finds(audit.TwoHolders, line)
			h.told = there.line
		}
		h.ends, there.stored = m.now+ttl, m.now+life
	}
}

func (m *model) flush() {
	m.log("10.0.0.9:9", "FLUSHDB")
	if h := m.stored(); h != nil {
		h.stored = m.now
	}
}

func (m *model) run() {
	m.log("10.0.0.9:9", "DEL", "lock") // it is known to be free
	m.log("10.0.0.9:9", "DEL", "other")
	if m.tokens { // so that no token is the only one
		m.now += time.Millisecond
		m.take(8)
		m.now += time.Millisecond
		m.take(9)
		m.give(m.holds[0])
	}
	if m.gives == "script" { // so that the log knows what its scripts do
		m.now += time.Millisecond
		m.take(7)
		m.extend(m.open(7), true)
		m.give(m.open(7))
	}
	for range 40 {
		m.now += time.Duration(1+m.IntN(1500)) * time.Millisecond
		client := 1 + m.IntN(4)
		h := m.open(client)
		switch n := m.IntN(10); {
		case n == 0:
			m.flush()
		case h == nil:
			m.take(client)
		case n < 3 && m.tokens && m.gives == "script":
			m.extend(h, true)
		case n == 3:
			m.extend(h, false)
		default:
			m.give(h)
		}
	}
}

const (
	compareAndDelete = `if redis.call('get',KEYS[1])==ARGV[1] then return redis.call('del',KEYS[1]) end`
	compareAndExpire = `if redis.call('get',KEYS[1])==ARGV[1] then return redis.call('pexpire',KEYS[1],ARGV[2]) end`
)

// TestRandomLogs compares the findings in made-up logs with those of a model that knows who holds
// the lock, because it has made up who does what.
func TestRandomLogs(t *testing.T) {
	total := map[string]int{}
	for seed := range uint64(testenv.Quick(300, 1000)) {
		m := &model{Rand: rand.New(rand.NewPCG(seed, 1)), gives: []string{"del", "script"}[seed%2], tokens: seed/2%2 == 0}
		m.run()
		r, err := audit.Audit(m.entries, 0)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, l := range r.Locks {
			for _, f := range l.Findings {
				got = append(got, fmt.Sprint(f.Kind, " ", f.Line))
				total[f.Kind.String()]++
			}
		}
		slices.Sort(got)
		slices.Sort(m.want)
		if !slices.Equal(got, m.want) {
			var text strings.Builder
			for _, e := range m.entries {
				fmt.Fprintf(&text, "%3d %8s %s %.60q\n", e.Line, e.At-later, e.From, e.Args)
			}
			t.Fatalf("seed %d, released by %s, tokens %t: found\n%q\nexpected\n%q\nin\n%s", seed, m.gives, m.tokens, got, m.want, &text)
		}
	}
	t.Log(total)
	for _, k := range audit.Kinds() {
		if k != audit.NoExpiry && k != audit.Contradiction && total[k.String()] == 0 {
			t.Errorf("no log has a %s", k)
		}
	}
}
