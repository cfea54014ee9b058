package lua51

import (
	"strings"

	lua "github.com/yuin/gopher-lua"
)

// concat is table.concat.
func concat(l *lua.LState, refuse Refuse) int {
	t := CheckTable(l, 1, "concat")
	between := ""
	if l.Get(2) != lua.LNil {
		between = checkText(l, 2, "concat")
	}
	var words []string
	for i, last := optInt(l, 3, "concat", 1), lastOf(l, 4, "concat", t, refuse); i <= last; i++ {
		s, ok := text(t.RawGetInt(i))
		if !ok {
			broken(l, "invalid value (%s) at index %d in table for 'concat'", t.RawGetInt(i).Type().String(), i)
		}
		words = append(words, s)
	}
	l.Push(lua.LString(strings.Join(words, between)))
	return 1
}

// insert is table.insert.
func insert(refuse Refuse, limits *Limits) lua.LGFunction {
	return func(l *lua.LState) int {
		t := CheckTable(l, 1, "insert")
		end := border(t, refuse) + 1
		at := end
		switch l.GetTop() {
		case 2:
		case 3:
			at = checkInt(l, 2, "insert")
		default:
			broken(l, "wrong number of arguments to 'insert'")
		}
		limits.Spend(l, max(0, end-at)/8)
		for i := end; i > at; i-- {
			t.RawSetInt(i, t.RawGetInt(i-1))
		}
		t.RawSetInt(at, l.Get(-1))
		return 0
	}
}

// remove is table.remove.
func remove(l *lua.LState, refuse Refuse) int {
	t := CheckTable(l, 1, "remove")
	end := border(t, refuse)
	at := optInt(l, 2, "remove", end)
	if at < 1 || at > end {
		return 0
	}
	l.Push(t.RawGetInt(at))
	for ; at < end; at++ {
		t.RawSetInt(at, t.RawGetInt(at+1))
	}
	t.RawSetInt(end, lua.LNil)
	return 1
}

// sorter sorts a table by the steps of Lua's own quicksort, on which depends in which order it leaves
// elements that are equal to the comparison.
type sorter struct {
	l    *lua.LState
	t    *lua.LTable
	less lua.LValue // nil for <

	limits *Limits
}

// sort is table.sort.
func sort(refuse Refuse, limits *Limits) lua.LGFunction {
	return func(l *lua.LState) int {
		s := sorter{l: l, t: CheckTable(l, 1, "sort"), less: l.Get(2), limits: limits}
		if _, is := s.less.(*lua.LFunction); !is && s.less != lua.LNil {
			wrongType(l, 2, "sort", "function")
		}
		s.sort(1, border(s.t, refuse))
		return 0
	}
}

func (s sorter) at(i int) lua.LValue { return s.t.RawGetInt(i) }

func (s sorter) swap(i, j int) {
	a, b := s.at(i), s.at(j)
	s.t.RawSetInt(i, b)
	s.t.RawSetInt(j, a)
}

func (s sorter) before(a, b lua.LValue) bool {
	if s.less == lua.LNil {
		return s.l.LessThan(a, b)
	}
	s.l.Push(s.less)
	s.l.Push(a)
	s.l.Push(b)
	s.limits.call(s.l, 2, 1)
	is := lua.LVAsBool(s.l.Get(-1))
	s.l.Pop(1)
	return is
}

func (s sorter) sort(low, high int) {
	for low < high {
		if s.before(s.at(high), s.at(low)) {
			s.swap(low, high)
		}
		if high-low == 1 {
			return
		}
		middle := (low + high) / 2
		if s.before(s.at(middle), s.at(low)) {
			s.swap(middle, low)
		} else if s.before(s.at(high), s.at(middle)) {
			s.swap(middle, high)
		}
		if high-low == 2 {
			return
		}
		i := s.partition(low, high, middle)
		if i-low < high-i { // the shorter part first, the longer one in this loop
			s.sort(low, i-1)
			low = i + 1
		} else {
			s.sort(i+1, high)
			high = i - 1
		}
	}
}

// partition moves the elements before the middle's to its left, and the rest to its right, and
// returns the new place of the middle's.
func (s sorter) partition(low, high, middle int) int {
	pivot := s.at(middle)
	s.swap(middle, high-1)
	i, j := low, high-1
	for {
		for i++; s.before(s.at(i), pivot); i++ {
			if i > high {
				broken(s.l, "invalid order function for sorting")
			}
		}
		for j--; s.before(pivot, s.at(j)); j-- {
			if j < low {
				broken(s.l, "invalid order function for sorting")
			}
		}
		if j < i {
			break
		}
		s.swap(i, j)
	}
	s.swap(high-1, i)
	return i
}

// mostLooked is up to how many elements from either end of a table are looked at for holes.
const mostLooked = 256

// border returns the length of a table. Of one with a hole Lua takes a number after which an element is missing, by the way
// in which the table was filled.
func border(t *lua.LTable, refuse Refuse) int {
	n := t.Len()
	for i := 1; i <= n; i++ {
		if i == mostLooked && n > 2*mostLooked {
			i = n - mostLooked
		}
		if t.RawGetInt(i) == lua.LNil {
			refuse("#", holes)
			break
		}
	}
	return n
}

// lastOf returns an argument that is the index of a last element, or the length of the table if it is missing.
func lastOf(l *lua.LState, n int, function string, t *lua.LTable, refuse Refuse) int {
	if l.Get(n) == lua.LNil {
		return border(t, refuse)
	}
	return checkInt(l, n, function)
}

// lengthOf is the operator #.
func lengthOf(l *lua.LState, refuse Refuse) int {
	switch v := l.Get(1).(type) {
	case lua.LString:
		l.Push(lua.LNumber(len(v)))
	case *lua.LTable:
		l.Push(lua.LNumber(border(v, refuse)))
	default:
		l.RaiseError("attempt to get length of a %s value", v.Type())
	}
	return 1
}
