package strategies

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	mathrand "math/rand/v2"
	"time"
)

// SystemClock is the machine's own time, for production.
type SystemClock struct{ start time.Time }

// NewSystemClock starts a clock whose Monotonic counts from now.
func NewSystemClock() SystemClock { return SystemClock{start: time.Now()} }

// Now is the machine's wall clock.
func (SystemClock) Now() time.Time { return time.Now() }

// Monotonic is the time since NewSystemClock.
func (c SystemClock) Monotonic() time.Duration { return time.Since(c.start) }

// Sleep waits for d, or for ctx.
func (SystemClock) Sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// RandomToken draws 128 bits: unique without anybody having to agree.
func RandomToken() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails: crypto/rand aborts the process instead
	return hex.EncodeToString(b[:])
}

// RandomDuration is uniform in [0, below).
func RandomDuration(below time.Duration) time.Duration {
	return time.Duration(mathrand.Int64N(int64(below)))
}

// Goroutine starts a thread, as Go does.
func Goroutine(f func()) { go f() }
