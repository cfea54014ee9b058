// Package alike compares the texts and numbers that code has made after two readings of a clock, and tells
// whether they differ only by the difference of the readings.
package alike

import (
	"regexp"
	"strconv"
	"strings"
)

// Texts reports whether two texts are equal but for integers in them that have followed a
// reading, as in a stamp with a token.
func Texts(x, y string, by int64) bool {
	return alikeBut(x, y, func(n, m int64) bool { return Follows(m-n, by) && !flags(n, m, by) })
}

// ButNumbers reports whether two texts are equal but for integers.
func ButNumbers(x, y string) bool {
	return alikeBut(x, y, func(int64, int64) bool { return true })
}

// fewStates is the number up to which an integer may tell in which state of a few something is.
const fewStates = 64

// Fields reports whether two outlines of a lock's fields are equal but for integers that have followed a reading,
// or are too great to be anything but measured.
func Fields(x, y string, by int64) bool {
	return alikeBut(x, y, func(n, m int64) bool {
		return min(max(n, -n), max(m, -m)) > fewStates || Follows(m-n, by) && !flags(n, m, by)
	})
}

// alikeBut reports whether two texts are equal but for pairs of integers of the given kind.
func alikeBut(x, y string, of func(n, m int64) bool) bool {
	if x == y {
		return true
	}
	if strings.HasPrefix(x, ":") && strings.HasPrefix(y, ":") { // integers in a reply
		x, y = x[1:], y[1:]
	}
	a, b := integers.FindAllStringIndex(x, -1), integers.FindAllStringIndex(y, -1)
	if len(a) != len(b) {
		return false
	}
	var one, two int // the ends of the integers so far
	for i := range a {
		n, err := strconv.ParseInt(x[a[i][0]:a[i][1]], 10, 64)
		m, fails := strconv.ParseInt(y[b[i][0]:b[i][1]], 10, 64)
		if x[one:a[i][0]] != y[two:b[i][0]] || err != nil || fails != nil || n != m && !of(n, m) {
			return false
		}
		one, two = a[i][1], b[i][1]
	}
	return x[one:] == y[two:]
}

// integers finds integers in a text. A sign belongs to the first alone: further on it parts a
// number from the text before it.
var integers = regexp.MustCompile(`^-?[0-9]+|[0-9]+`)

// Follows reports whether a number has grown or shrunk with a reading, be it in seconds,
// milliseconds, microseconds or nanoseconds.
func Follows(d, by int64) bool {
	d, by = max(d, -d), max(by, -by)
	seconds := d*1000 - by
	return d == by || d == by*1000 || d == by*1_000_000 || seconds > -1000 && seconds < 1000
}

// flags reports whether two numbers may be answers, such as no and yes, although as a number of
// seconds they would follow a reading. A life of no seconds, too, is another thing than a short
// one.
func flags(n, m, by int64) bool {
	return max(n, -n, m, -m) <= 2 && m-n != by && n-m != by
}

// Mix reports whether two commands that are alike differ in numbers within a text with more.
func Mix(one, two []string) bool {
	for i, text := range one {
		if _, err := strconv.ParseInt(text, 10, 64); err != nil && text != two[i] {
			return true
		}
	}
	return false
}

// Telling is how a command tells how long a key still lives, if at all.
type Telling uint8

// The ways to tell a life.
const (
	ToldOtherwise Telling = iota // not at all, or in a way that the command's name doesn't say
	ToldMillis                   // in whole milliseconds
	ToldSeconds                  // in seconds, rounded
)

// ToldBy returns how a command tells how long a key still lives, by its first word.
func ToldBy(command string) Telling {
	switch name, _, _ := strings.Cut(command, " "); strings.ToUpper(name) {
	case "PTTL":
		return ToldMillis
	case "TTL":
		return ToldSeconds
	}
	return ToldOtherwise
}
