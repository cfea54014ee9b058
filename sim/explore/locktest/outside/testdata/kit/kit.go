// Package kit helps tests to make locks.
package kit

import (
	"time"

	"lockstep/sim/explore/locktest/outside/testdata/helper"
)

func init() { helper.Other = time.Now } // want time.Now

// Given makes something with the machine's clock.
func Given[T any](make func(now func() time.Time) T) T {
	return make(time.Now) // want time.Now
}
