package process

import (
	"iter"
	"runtime/debug"
	"testing"
)

// TestCoroutinesAreToldApart: a thread is told from the goroutines that it starts, however its code came to be where it is.
func TestCoroutinesAreToldApart(t *testing.T) {
	elsewhere := func() bool {
		said := make(chan bool)
		go func() {
			first := onCoroutine()
			said <- onCoroutine() || first // to ask marks nothing
		}()
		return <-said
	}
	expect := func(what string, is, want bool) {
		t.Helper()
		if is != want {
			t.Errorf("%s: on a coroutine %t, want %t", what, is, want)
		}
	}
	thread := func(yield func(int) bool) {
		markCoroutine()
		expect("a thread", onCoroutine(), true)
		expect("a goroutine of its own", elsewhere(), false)
		for range pulled(func() {
			expect("a coroutine of its own", onCoroutine(), true)
			expect("a goroutine of that", elsewhere(), false)
		}) {
		}
		debug.SetPanicOnFault(false) // as a library may that has set it
		expect("a thread without its mark", onCoroutine(), true)
		yield(1)
	}
	for range pulled(func() { thread(func(int) bool { return true }) }) {
	}
	expect("the test", onCoroutine(), false)
	expect("a goroutine of the test", elsewhere(), false)
}

// pulled runs a function on a coroutine.
func pulled(f func()) iter.Seq[int] {
	return func(yield func(int) bool) {
		next, stop := iter.Pull(func(yield func(int) bool) { f(); yield(1) })
		defer stop()
		for v, more := next(); more && yield(v); v, more = next() {
		}
	}
}
