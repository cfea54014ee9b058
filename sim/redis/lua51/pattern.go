package lua51

import (
	"strings"

	lua "github.com/yuin/gopher-lua"
)

const (
	maxCaptures = 32
	// maxNested is how deep a match may nest, which no more than its pattern's length can make it. Lua 5.1 has no bound, and
	// overflows the stack of its process.
	maxNested = 100_000
	// specials are the bytes with a meaning in a pattern: one without them is a plain text.
	specials = "^$*+?.([%-"
	escape   = '%'
)

// The lengths of captures that have none.
const (
	unfinished = -1
	position   = -2
)

// matcher matches a pattern by the steps of Lua's own matcher.
type matcher struct {
	l       *lua.LState
	limits  *Limits
	s, p    string
	level   int // how many captures there are
	nested  int
	capture [maxCaptures]struct{ start, length int }
}

// newMatcher returns one for a text, and a pattern, which C ends at its first zero.
func newMatcher(l *lua.LState, limits *Limits, s, pattern string) *matcher {
	p, _, _ := strings.Cut(pattern, "\x00")
	return &matcher{l: l, limits: limits, s: s, p: p}
}

// anchored cuts the anchor off the pattern.
func (m *matcher) anchored() bool {
	p, is := strings.CutPrefix(m.p, "^")
	m.p = p
	return is
}

// at returns a byte of the pattern, or the zero after it.
func (m *matcher) at(p int) byte {
	if p < len(m.p) {
		return m.p[p]
	}
	return 0
}

// from matches the whole pattern at a place of the text, and returns the match's end, or -1.
func (m *matcher) from(s int) int {
	m.level, m.nested = 0, 0
	return m.match(s, 0)
}

// match matches the pattern from p on.
func (m *matcher) match(s, p int) int {
	if m.nested++; m.nested > maxNested {
		broken(m.l, "pattern too complex")
	}
	end := m.rest(s, p)
	m.nested--
	return end
}

func (m *matcher) rest(s, p int) int {
	for p < len(m.p) {
		m.limits.Spend(m.l, 1)
		switch c := m.p[p]; {
		case c == '(' && m.at(p+1) == ')':
			return m.open(s, p+2, position)
		case c == '(':
			return m.open(s, p+1, unfinished)
		case c == ')':
			return m.close(s, p+1)
		case c == '$' && p+1 == len(m.p):
			if s < len(m.s) {
				return -1
			}
			return s
		case c == escape && m.at(p+1) == 'b':
			if s = m.balanced(s, p+2); s < 0 {
				return -1
			}
			p += 4
		case c == escape && m.at(p+1) == 'f':
			end := m.frontier(s, p+2)
			if end < 0 {
				return -1
			}
			p = end
		case c == escape && digit(m.at(p+1)):
			if s = m.again(s, m.p[p+1]); s < 0 {
				return -1
			}
			p += 2
		default:
			end := m.classEnd(p)
			switch m.at(end) {
			case '?':
				if m.one(s, p, end) {
					if to := m.match(s+1, end+1); to >= 0 {
						return to
					}
				}
				p = end + 1
			case '*':
				return m.most(s, p, end)
			case '+':
				if !m.one(s, p, end) {
					return -1
				}
				return m.most(s+1, p, end)
			case '-':
				return m.least(s, p, end)
			default:
				if !m.one(s, p, end) {
					return -1
				}
				s, p = s+1, end
			}
		}
	}
	return s
}

// most repeats a class as often as it can.
func (m *matcher) most(s, p, end int) int {
	n := 0
	for m.one(s+n, p, end) {
		n++
	}
	m.limits.Spend(m.l, n)
	for ; n >= 0; n-- {
		if to := m.match(s+n, end+1); to >= 0 {
			return to
		}
	}
	return -1
}

// least repeats a class as rarely as it can.
func (m *matcher) least(s, p, end int) int {
	for {
		m.limits.Spend(m.l, 1)
		if to := m.match(s, end+1); to >= 0 {
			return to
		}
		if !m.one(s, p, end) {
			return -1
		}
		s++
	}
}

func (m *matcher) open(s, p, length int) int {
	if m.level >= maxCaptures {
		broken(m.l, "too many captures")
	}
	m.capture[m.level].start, m.capture[m.level].length = s, length
	m.level++
	to := m.match(s, p)
	if to < 0 {
		m.level--
	}
	return to
}

func (m *matcher) close(s, p int) int {
	i := m.level - 1
	for i >= 0 && m.capture[i].length != unfinished {
		i--
	}
	if i < 0 {
		broken(m.l, "invalid pattern capture")
	}
	m.capture[i].length = s - m.capture[i].start
	to := m.match(s, p)
	if to < 0 {
		m.capture[i].length = unfinished
	}
	return to
}

// again matches the text of a capture once more.
func (m *matcher) again(s int, name byte) int {
	i := int(name) - '1'
	if i < 0 || i >= m.level || m.capture[i].length == unfinished {
		broken(m.l, "invalid capture index")
	}
	c := m.capture[i]
	if c.length < 0 || !strings.HasPrefix(m.s[s:], m.s[c.start:c.start+c.length]) {
		return -1
	}
	m.limits.Spend(m.l, c.length)
	return s + c.length
}

// balanced matches a text between two bytes, with these.
func (m *matcher) balanced(s, p int) int {
	if p+1 >= len(m.p) {
		broken(m.l, "unbalanced pattern")
	}
	if s >= len(m.s) || m.s[s] != m.p[p] {
		return -1
	}
	depth := 1
	for i := s + 1; i < len(m.s); i++ {
		m.limits.Spend(m.l, 1)
		switch m.s[i] {
		case m.p[p+1]:
			if depth--; depth == 0 {
				return i + 1
			}
		case m.p[p]:
			depth++
		}
	}
	return -1
}

// frontier returns the end of a set, if the text enters it here, or -1.
func (m *matcher) frontier(s, p int) int {
	if m.at(p) != '[' {
		broken(m.l, "missing '[' after '%%f' in pattern")
	}
	end := m.classEnd(p)
	var before, here byte
	if s > 0 {
		before = m.s[s-1]
	}
	if s < len(m.s) {
		here = m.s[s]
	}
	if m.set(before, p, end-1) || !m.set(here, p, end-1) {
		return -1
	}
	return end
}

// classEnd returns the place after a class.
func (m *matcher) classEnd(p int) int {
	c := m.p[p]
	p++
	switch c {
	case escape:
		if p >= len(m.p) {
			broken(m.l, "malformed pattern (ends with '%%')")
		}
		return p + 1
	case '[':
		if m.at(p) == '^' {
			p++
		}
		for first := true; first || m.at(p) != ']'; first = false {
			if p >= len(m.p) {
				broken(m.l, "malformed pattern (missing ']')")
			}
			p++
			if m.p[p-1] == escape && p < len(m.p) {
				p++
			}
		}
		return p + 1
	}
	return p
}

// one tells whether a byte of the text is of a class.
func (m *matcher) one(s, p, end int) bool {
	if s >= len(m.s) {
		return false
	}
	switch c := m.p[p]; c {
	case '.':
		return true
	case escape:
		return ofClass(m.s[s], m.p[p+1])
	case '[':
		return m.set(m.s[s], p, end-1)
	default:
		return c == m.s[s]
	}
}

// set tells whether a byte is of the set that is between p and its last bracket.
func (m *matcher) set(c byte, p, last int) bool {
	in := true
	if m.p[p+1] == '^' {
		in = false
		p++
	}
	for p++; p < last; p++ {
		switch {
		case m.p[p] == escape:
			p++
			if ofClass(c, m.p[p]) {
				return in
			}
		case m.p[p+1] == '-' && p+2 < last:
			p += 2
			if m.p[p-2] <= c && c <= m.p[p] {
				return in
			}
		case m.p[p] == c:
			return in
		}
	}
	return !in
}

func digit(c byte) bool { return c >= '0' && c <= '9' }

func letter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

// ofClass tells whether a byte is of the class that a letter names, a capital one for the bytes that are not.
func ofClass(c, class byte) bool {
	var is bool
	switch class | 0x20 {
	case 'a':
		is = letter(c)
	case 'c':
		is = c < ' ' || c == 0x7F
	case 'd':
		is = digit(c)
	case 'l':
		is = c >= 'a' && c <= 'z'
	case 'p':
		is = c > ' ' && c < 0x7F && !letter(c) && !digit(c)
	case 's':
		is = strings.IndexByte(space, c) >= 0
	case 'u':
		is = c >= 'A' && c <= 'Z'
	case 'w':
		is = letter(c) || digit(c)
	case 'x':
		is = digit(c) || c|0x20 >= 'a' && c|0x20 <= 'f'
	case 'z':
		is = c == 0
	default:
		return c == class
	}
	if !letter(class) {
		return c == class
	}
	return is == (class >= 'a')
}

// captured returns a capture of the match of a part of the text, which is the whole match where the pattern has none.
func (m *matcher) captured(i, from, to int) lua.LValue {
	if i >= m.level {
		if i > 0 {
			broken(m.l, "invalid capture index")
		}
		return lua.LString(m.s[from:to])
	}
	switch c := m.capture[i]; c.length {
	case unfinished:
		broken(m.l, "unfinished capture")
		return lua.LNil
	case position:
		return lua.LNumber(c.start + 1)
	default:
		return lua.LString(m.s[c.start : c.start+c.length])
	}
}

// push pushes all captures of a match, or the match where there is none.
func (m *matcher) push(from, to int) int {
	n := max(1, m.level)
	for i := range n {
		m.l.Push(m.captured(i, from, to))
	}
	return n
}

// find is string.find and string.match.
func find(name string, limits *Limits) lua.LGFunction {
	finds := name == "find"
	return func(l *lua.LState) int {
		s, p := checkText(l, 1, name), checkText(l, 2, name)
		start := min(max(0, place(optInteger(l, 3, name, 1), len(s))-1), len(s))
		m := newMatcher(l, limits, s, p)
		if finds && (lua.LVAsBool(l.Get(4)) || !strings.ContainsAny(m.p, specials)) {
			if i := strings.Index(s[start:], p); i >= 0 {
				l.Push(lua.LNumber(start + i + 1))
				l.Push(lua.LNumber(start + i + len(p)))
				return 2
			}
			l.Push(lua.LNil)
			return 1
		}
		for anchor, i := m.anchored(), start; i <= len(s); i++ {
			m.limits.Spend(l, 1)
			if to := m.from(i); to >= 0 {
				if !finds {
					return m.push(i, to)
				}
				l.Push(lua.LNumber(i + 1))
				l.Push(lua.LNumber(to))
				if m.level == 0 {
					return 2
				}
				return 2 + m.push(i, to)
			}
			if anchor {
				break
			}
		}
		l.Push(lua.LNil)
		return 1
	}
}

// gmatch is string.gmatch, to which an anchor is a byte as any other.
func gmatch(limits *Limits) lua.LGFunction {
	return func(l *lua.LState) int {
		s, p := checkText(l, 1, "gmatch"), checkText(l, 2, "gmatch")
		at := 0
		l.Push(l.NewFunction(func(l *lua.LState) int {
			m := newMatcher(l, limits, s, p)
			for i := at; i <= len(s); i++ {
				limits.Spend(l, 1)
				if to := m.from(i); to >= 0 {
					at = max(to, i+1)
					return m.push(i, to)
				}
			}
			return 0
		}))
		return 1
	}
}

// gsub is string.gsub.
func gsub(limits *Limits) lua.LGFunction {
	return func(l *lua.LState) int {
		s, p, by := checkText(l, 1, "gsub"), checkText(l, 2, "gsub"), l.Get(3)
		most := optInt(l, 4, "gsub", len(s)+1)
		switch by.Type() {
		case lua.LTNumber, lua.LTString, lua.LTFunction, lua.LTTable:
		default:
			badArgument(l, 3, "gsub", "string/function/table expected")
		}
		m := newMatcher(l, limits, s, p)
		anchor := m.anchored()
		var b strings.Builder
		at, n := 0, 0
		for n < most {
			limits.Spend(l, 1)
			to := m.from(at)
			if to >= 0 {
				n++
				m.replace(&b, by, at, to)
			}
			if to > at {
				at = to
			} else if at < len(s) {
				b.WriteByte(s[at])
				at++
			} else {
				break
			}
			if anchor {
				break
			}
		}
		b.WriteString(s[at:])
		l.Push(lua.LString(b.String()))
		l.Push(lua.LNumber(n))
		return 2
	}
}

// replace writes the replacement of a match.
func (m *matcher) replace(b *strings.Builder, by lua.LValue, from, to int) {
	l := m.l
	var v lua.LValue
	switch by := by.(type) {
	case *lua.LFunction:
		l.Push(by)
		m.limits.call(l, m.push(from, to), 1)
		v = l.Get(-1)
		l.Pop(1)
	case *lua.LTable:
		v = l.GetTable(by, m.captured(0, from, to))
	default:
		m.fill(b, TextOf(by), from, to)
		return
	}
	s, is := text(v)
	switch {
	case is:
		b.WriteString(s)
	case lua.LVIsFalse(v):
		b.WriteString(m.s[from:to])
	default:
		broken(l, "invalid replacement value (a %s)", v.Type().String())
	}
}

// fill writes a text in which captures are named.
func (m *matcher) fill(b *strings.Builder, by string, from, to int) {
	for i := 0; i < len(by); i++ {
		if by[i] != escape {
			b.WriteByte(by[i])
			continue
		}
		var c byte // C's, after the end
		if i++; i < len(by) {
			c = by[i]
		}
		switch {
		case !digit(c):
			b.WriteByte(c)
		case c == '0':
			b.WriteString(m.s[from:to])
		default:
			b.WriteString(TextOf(m.captured(int(c)-'1', from, to)))
		}
	}
}
