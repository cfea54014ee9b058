package outside_test

import (
	"context"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"expvar"
	"fmt"
	"go/build"
	"hash/fnv"
	"io"
	"log"
	"maps"
	"mime"
	"net/url"
	"os"
	"reflect"
	"regexp"
	"slices"
	"sync"
	"testing"
	"time"

	"lockstep/sim/testenv"
	"lockstep/strategies"
)

// Variables of a package, in which its locks could count how often they were refused.
var (
	streaks      = map[string]int{}
	order        = []int{2, 1}
	parsed       struct{ N int }
	scanned      int
	byReflection int
	digest                 = fnv.New32a()
	out          io.Writer = os.Stderr
	errTaken     error     = &taken{}
	lazy                   = sync.OnceValue(func() *taken { return &taken{} })
	lazily                 = sync.OnceValues(func() (*taken, error) { return &taken{}, nil })
)

type taken struct{ n int }

func (e *taken) Error() string { return "taken" }

// bump counts for all who have it.
func bump(e *taken) { e.n++ } // want the variable lazy

// several have what a library function changes, or keeps.
var several = map[string]struct {
	lock constructor
	want string
}{
	"generic functions": {func(nodes, string, options) strategies.Lock {
		return asks(func(context.Context) {
			maps.Copy(streaks, map[string]int{"a": 1}) // want the variable streaks
			slices.Reverse(order)                      // want the variable order
			_, _ = slices.Max(order), maps.Clone(streaks)
		})
	}, "the variable order, the variable streaks"},
	"what is read into": {func(nodes, string, options) strategies.Lock {
		return asks(func(context.Context) {
			_ = json.Unmarshal([]byte(`{"N":1}`), &parsed) // want the variable parsed
			_, _ = fmt.Sscan("1", &scanned)                // want the variable scanned
			_, _ = json.Marshal(&parsed)
		})
	}, "the variable parsed, the variable scanned"},
	"reflection": {func(nodes, string, options) strategies.Lock {
		return asks(func(context.Context) {
			v := reflect.ValueOf(&byReflection).Elem()
			v.SetInt(v.Int() + 1) // want the variable byReflection
		})
	}, "the variable byReflection"},
	"an error of all": {func(nodes, string, options) strategies.Lock {
		return asks(func(context.Context) {
			var e *taken
			if errors.As(fmt.Errorf("asked: %w", errTaken), &e) {
				e.n++ // want the variable errTaken
			}
		})
	}, "the variable errTaken"},
	"another package's": {func(nodes, string, options) strategies.Lock {
		return asks(func(context.Context) {
			build.Default.GOROOT += "x"          // want the variable go/build.Default
			_ = mime.TypeByExtension(".lock")    // want mime.TypeByExtension
			_, _ = digest.Write([]byte("asked")) // want the variable digest
			_, _ = out.Write([]byte("asked"))    // a log
		})
	}, "build.Default, mime.TypeByExtension, the variable digest"},
	"made when it is asked for": {func(nodes, string, options) strategies.Lock { return asks(func(context.Context) { bump(lazy()) }) }, "the variable lazy"},
	"made for one lock": {func(nodes, string, options) strategies.Lock {
		return asks(func(context.Context) { sync.OnceValue(func() *taken { return &taken{} })().n++ })
	}, ""},
	"two that are made": {func(nodes, string, options) strategies.Lock {
		return asks(func(context.Context) {
			c, _ := lazily()
			c.n++ // want the variable lazily
		})
	}, "the variable lazily"},
	"of the process": {func(nodes, string, options) strategies.Lock {
		return asks(func(context.Context) {
			_ = expvar.Get("refusals") // want expvar.Get
			_ = log.Prefix()           // want log.Prefix
		})
	}, "expvar.Get, log.Prefix"},
	"a form": {func(nodes, string, options) strategies.Lock {
		return asks(func(context.Context) {
			form.Set("refused", form.Get("refused")+"1") // want the variable form
		})
	}, "the variable form"},
	"numbers in bytes": {func(nodes, string, options) strategies.Lock {
		return asks(func(context.Context) {
			binary.BigEndian.PutUint16(digits[:], 1) // want the variable digits
		})
	}, "the variable digits"},
	"digits in bytes": {func(nodes, string, options) strategies.Lock {
		return asks(func(context.Context) {
			hex.Encode(digits[:], []byte("a")) // want the variable digits
		})
	}, "the variable digits"},
	"a pattern": {func(nodes, string, options) strategies.Lock {
		return asks(func(context.Context) {
			eager.Longest() // want the variable eager
		})
	}, "the variable eager"},
	"an instant": {func(nodes, string, options) strategies.Lock {
		return asks(func(context.Context) {
			_ = instant.UnmarshalText([]byte("2026-01-01T00:00:00Z")) // want the variable instant
		})
	}, "the variable instant"},
	"bytes that are read": {func(nodes, string, options) strategies.Lock {
		return asks(func(context.Context) {
			_ = binary.BigEndian.Uint16(digits[:])
			_ = eager.MatchString(form.Get("refused") + hex.EncodeToString(digits[:]))
		})
	}, ""},
}

// What locks share besides.
var (
	instant time.Time
	form    = url.Values{}
	digits  [8]byte
	eager   = regexp.MustCompile("a|ab")
)

// inits is filled as tables of locks are.
var inits = map[string]constructor{}

func init() { streaks["a"] = 0 }

func init() {
	add := func(name string, f func(context.Context)) {
		inits[name] = func(nodes, string, options) strategies.Lock { return asks(f) }
	}
	add("plain", func(context.Context) {})
	add("counts", func(context.Context) { order[0]++ }) // want the variable order
}

// TestSeveral: memory that all locks of a program share is found behind Go's own functions.
func TestSeveral(t *testing.T) {
	testenv.LongRaced(t)
	for name, c := range several {
		t.Run(name, func(t *testing.T) {
			finds(t, strategies.Strategy{Nodes: 1, New: c.lock}, c.want)
		})
	}
	finds(t, strategies.Strategy{Nodes: 1, New: inits["counts"]}, "the variable order")
}
