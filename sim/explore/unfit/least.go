package unfit

import (
	"cmp"
	"errors"
	"slices"
	"strings"
	"sync"
)

// Least collects errors and keeps the least of them: workers meet with errors in the order of their pace, and which one is
// told must not depend on that. An error after which the search begins again comes before all others; otherwise the texts
// decide, which have the client, the operations and the line. The zero value has no error. It is safe for concurrent use.
type Least struct {
	mu  sync.Mutex
	err error
}

// Add takes in an error, or nothing if it is nil.
func (l *Least) Add(err error) {
	if err == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.err == nil || err != l.err && compare(err, l.err) < 0 { //nolint:errorlint // the same one is met with again and again
		l.err = err
	}
}

// Err returns the least error so far, or nil.
func (l *Least) Err() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.err
}

func compare(a, b error) int {
	rank := func(err error) int {
		if BeginsAgain(err) {
			return 0
		}
		return 1
	}
	return cmp.Or(rank(a)-rank(b), strings.Compare(a.Error(), b.Error()))
}

// BeginsAgain reports whether a search with this error mostly begins again in another model, which tells nobody of it.
func BeginsAgain(err error) bool {
	return slices.ContainsFunc([]error{ErrTimed, ErrFraction, ErrStaysOpen, ErrKeepsReadings, ErrWokeEarly, ErrDropped},
		func(other error) bool { return errors.Is(err, other) })
}
