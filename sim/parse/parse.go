// Package parse reads the words of which the text of a schedule consists: numbers, spans of time, names, keys.
package parse

import (
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// Fields reads the parts of a word that are separated by slashes, one after another. The first error sticks:
// nothing is read after it.
type Fields struct {
	Parts []string // that are left
	Err   error
}

// Split takes a word apart. It fails unless that has n parts.
func Split(s string, n int) *Fields {
	f := &Fields{}
	if s != "" {
		f.Parts = strings.Split(s, "/")
	}
	f.Expect(n)
	return f
}

// Expect fails unless there are n parts.
func (f *Fields) Expect(n int) {
	if len(f.Parts) != n && f.Err == nil {
		f.Err = fmt.Errorf("has %d parts between slashes, and should have %d", len(f.Parts), n)
	}
}

// Next takes the next part, which is empty after an error.
func (f *Fields) Next() string {
	if f.Err != nil || len(f.Parts) == 0 {
		return ""
	}
	first := f.Parts[0]
	f.Parts = f.Parts[1:]
	return first
}

// Names takes the next part, names separated by +. A lone - is none.
func (f *Fields) Names() []string {
	if s := f.Next(); s != "-" && s != "" {
		return strings.Split(s, "+")
	}
	return nil
}

// Read parses the next part into a variable, which keeps its value if that fails.
func Read[T any](f *Fields, to *T, parse func(string) (T, error)) {
	s := f.Next()
	if f.Err != nil {
		return
	}
	v, err := parse(s)
	if err != nil {
		f.Err = err
		return
	}
	*to = v
}

// Number parses a whole number.
func Number(s string) (int, error) {
	v, err := strconv.Atoi(s)
	return v, wants(err, s, "a whole number")
}

// Seed parses a whole number that is not negative.
func Seed(s string) (uint64, error) {
	v, err := strconv.ParseUint(s, 10, 64)
	return v, wants(err, s, "a whole number from 0")
}

// Float parses a number.
func Float(s string) (float64, error) {
	v, err := strconv.ParseFloat(s, 64)
	return v, wants(err, s, "a number")
}

// Bool parses true and false.
func Bool(s string) (bool, error) {
	v, err := strconv.ParseBool(s)
	return v, wants(err, s, "true or false")
}

// Duration parses a span of time.
func Duration(s string) (time.Duration, error) {
	v, err := time.ParseDuration(s)
	return v, wants(err, s, "a duration such as 300ms or 12s")
}

// Key parses a Redis key in which all but letters, digits and a few signs are escaped as in
// a URL's query.
func Key(s string) (string, error) {
	key, err := url.QueryUnescape(s)
	if err == nil && key == "" {
		err = errors.New("no key")
	}
	return key, wants(err, s, "a key, escaped as in a URL")
}

// wants makes the error for a word that could not be read, which names the form wanted.
func wants(err error, got, wanted string) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%.60q is not %s", got, wanted)
}
