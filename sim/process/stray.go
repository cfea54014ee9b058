package process

import (
	"bytes"
	"fmt"
	"runtime"
	"strconv"

	"lockstep/sim/trace"
)

// Strays reports whether a goroutine that a client's threads have started by themselves is still
// there, and the line that starts it. It is none of the threads: virtual
// time doesn't govern its actions. One that waits for a time.Ticker does nothing at all in a run, because
// hardly any real time passes in that.
//
// Goroutines tell in the texts of their stacks who has started them. Those of Go's own library
// and of go-redis don't count, nor does one that comes to its end while it is looked at, for so
// many times as [lastLooks] says.
func (c *Client) Strays() (at trace.Source, any bool) {
	for range lastLooks {
		if at, any = c.strays(allStacks()); !any {
			return at, false
		}
		runtime.Gosched()
	}
	return at, true
}

// lastLooks is how often it is looked for a goroutine that may be about to end. Each look stops the
// world, so between two of them whatever runs goes on, and whatever can run gets its turn: no
// clock is needed to wait for that, which would tell the one thing on a slow machine and the
// other on a fast one.
const lastLooks = 100

func (c *Client) strays(stacks []byte) (at trace.Source, any bool) {
	guard := fmt.Appendf(nil, "process.(*Client).guard(%p", c) // a thread of the client's own
	threads := map[string]bool{}
	for text := range bytes.SplitSeq(stacks, []byte("\n\n")) {
		if bytes.Contains(text, guard) {
			threads[goroutineID(text)] = true
		}
	}
	for text := range bytes.SplitSeq(stacks, []byte("\n\n")) {
		if by, frame := creator(text); threads[by] {
			if at = strategySource(frame); at.File != "" {
				return at, true
			}
		}
	}
	return trace.Source{}, false
}

// goroutineID is the number in the first line of a goroutine's stack, "goroutine 7 [select]:".
func goroutineID(text []byte) string {
	_, id, _ := bytes.Cut(text, []byte("goroutine "))
	id, _, _ = bytes.Cut(id, []byte(" "))
	return string(id)
}

// creator reads the end of a goroutine's stack, "created by shop.(*Lock).Acquire in goroutine 7"
// and the place of that call below it. It returns the number, and the place as a frame.
func creator(text []byte) (id string, f runtime.Frame) {
	at := bytes.LastIndex(text, []byte("created by "))
	if at < 0 {
		return "", f
	}
	call, place, _ := bytes.Cut(text[at+len("created by "):], []byte("\n"))
	function, by, _ := bytes.Cut(call, []byte(" in goroutine "))
	place, _, _ = bytes.Cut(bytes.TrimSpace(place), []byte(" "))
	colon := max(0, bytes.LastIndexByte(place, ':'))
	f.Function, f.File = string(function), string(place[:colon])
	f.Line, _ = strconv.Atoi(string(place[min(colon+1, len(place)):]))
	return string(bytes.TrimSpace(by)), f
}
