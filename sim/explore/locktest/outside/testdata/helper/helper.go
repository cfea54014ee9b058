// Package helper is of a lock's own module, and imported by it.
package helper

import (
	"crypto/rand"
	"time"
)

// Token draws one.
func Token() string { return rand.Text() } // want crypto/rand.Text

// Stale uses the machine's clock.
func Stale(at time.Time) bool { return age(at) > 5*time.Second }

func age(at time.Time) time.Duration { return time.Since(at) } // want time.Since

// Unused is called by nobody.
func Unused() time.Time { return time.Now() }

// Clock is the machine's.
type Clock struct{}

// Now is its time.
func (Clock) Now() time.Time { return time.Now() } // want time.Now

// Count counts calls, of everybody.
var Count int

// Now and Other are set by others.
var Now, Other func() time.Time
