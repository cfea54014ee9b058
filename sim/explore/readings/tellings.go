package readings

import (
	"slices"
	"strconv"
	"strings"
)

// Telling is how a script tells how long a key still lives, if that is neither in milliseconds nor in seconds: how old a
// record is, say, or its remaining life in microseconds. It was learnt from answers at two lives.
type Telling struct {
	Scale, Offset int64 // the number is Scale times the life in milliseconds, and Offset
	Seconds       bool  // or Scale times the life in whole seconds
}

const (
	manyTellings = 4    // of one kind of command; beyond, none is learnt
	apartInLife  = 1000 // how far two lives are apart, at least, from which something is learnt: closer by, an answer may be yes or no
	apartRounded = 3000 // and from which it is learnt that an answer is in seconds
)

// Of returns the number that is told of a life.
func (t Telling) Of(left int64) int64 {
	if t.Seconds {
		left /= second
	}
	return t.Scale*left + t.Offset
}

// Lives lists the lives of which this number is told, and those next to them. However seconds are rounded, the life is among
// them.
func (t Telling) Lives(told int64) []int64 {
	left, around := (told-t.Offset)/t.Scale, []int64{-1, 0, 1}
	if t.Seconds {
		left, around = left*second, []int64{-1000, -999, -500, -499, 0, 1, 500, 501, 1000, 1001}
	}
	var list []int64
	for _, d := range around {
		list = append(list, left+d)
	}
	return slices.DeleteFunc(list, func(v int64) bool { return v <= 0 })
}

// Probes lists the numbers that are told of lives of up to two TTLs.
func (t Telling) Probes(ttl int64) (list []int64) {
	for _, span := range Spans(ttl) {
		if span <= 2*ttl+1 {
			list = append(list, t.Of(span))
		}
	}
	return list
}

// Learn adds to the tellings of a kind of command those that its replies at two lives show.
func Learn(known []Telling, a, b int64, one, two string, tokenAt func(string) int) []Telling {
	x, y := strings.Split(one, "\r\n"), strings.Split(two, "\r\n")
	if len(x) != len(y) || max(b-a, a-b) < apartInLife {
		return known
	}
	for i := range x {
		if !Payload(x, i) || !Payload(y, i) {
			continue
		}
		n, err := strconv.ParseInt(strings.TrimPrefix(x[i], ":"), 10, 64)
		m, fails := strconv.ParseInt(strings.TrimPrefix(y[i], ":"), 10, 64)
		if err == nil && fails == nil {
			known = learn(known, a, b, n, m)
			continue
		}
		from, to := Numbers(x[i], tokenAt), Numbers(y[i], tokenAt)
		for j := range min(len(from), len(to)) {
			known = learn(known, a, b, from[j].Value, to[j].Value)
		}
	}
	return known
}

// learn is Learn for two numbers.
func learn(known []Telling, a, b, n, m int64) []Telling {
	d, by := m-n, b-a
	t := Telling{Scale: 1, Seconds: true}
	switch {
	case n == m || len(known) >= manyTellings || d%by != 0 && max(by, -by) < apartRounded:
		return known
	case d%by == 0:
		t = Telling{Scale: d / by}
	case d < 0 != (by < 0):
		t.Scale = -1
	}
	t.Offset = n - t.Of(a)
	usual := t.Scale == 1 && max(t.Offset, -t.Offset) <= 2
	if usual || t.Seconds && max(m-t.Of(b), t.Of(b)-m) > 1 {
		return known
	}
	Add(&known, t)
	return known
}
