package certificate

import (
	"sync"
	"sync/atomic"
	"testing"

	"github.com/redis/go-redis/v9"

	"lockstep/sim/process"
	"lockstep/strategies"
)

// TestRenamed: texts that differ in the names of tokens alone are equal, and no others.
func TestRenamed(t *testing.T) {
	for text, want := range map[string]string{
		"":                             "",
		"A1-00ff":                      "~0",
		"B12-beef = A3-0001, B12-beef": "~0 = ~1, ~0",
		"A1-00ff A1-00fe":              "~0 ~1",
		"A1-00f":                       "A1-00f",
		"A-00ff A1-00FF Ax1-00ff":      "A-00ff A1-00FF Ax1-00ff",
		`{"owner":"C7-abcd"}`:          `{"owner":"~0"}`,
		"A1-00ffB2-00ff":               "~0~1",
		"AB1-00ff-A2-00ff-":            "A~0-~1-",
	} {
		if got := string(appendRenamed(nil, []byte(text))); got != want {
			t.Errorf("%q: %q, expected %q", text, got, want)
		}
	}
}

// TestReply: replies differ in their text if they do in anything but the lengths of words.
func TestReply(t *testing.T) {
	for reply, want := range map[string]string{
		"+OK\r\n":                          "+OK ",
		"$-1\r\n":                          "$-1 ",
		"$7\r\nA1-00ff\r\n":                `$"A1-00ff"`,
		"*2\r\n$1\r\na\r\n:1\r\n":          `*2 $"a":1 `,
		"$4\r\na\r\nb\r\n$0\r\n\r\n":       `$"a\r\nb"$""`,
		"-NOSCRIPT No matching script\r\n": "-NOSCRIPT No matching script ",
		"*1\r\n$9\r\ncut off":              "*1 $9 cut off ",
	} {
		if got := string(appendReply(nil, &process.Op{Reply: []byte(reply)})); got != want {
			t.Errorf("%q: %q, expected %q", reply, got, want)
		}
	}
}

// keeper is a lock that keeps all kinds of things.
type keeper struct {
	strategies.Lock
	rdb   *redis.Client
	held  map[string]*keeper
	last  []string
	count int
	again *keeper
	do    func()

	all    [2]int
	now    *int
	any    any
	ch     [2]chan int
	atomic atomic.Pointer[int]
	synced sync.Map
}

// reset makes pointers into a copy what they were into the original.
func (k *keeper) reset() {
	k.again, k.now, k.any, k.ch = k, &k.all[0], &k.all[0], [2]chan int{make(chan int), make(chan int)}
}

// TestMemory: what a lock keeps in its fields is in the text, and connections aren't.
func TestMemory(t *testing.T) {
	one := &keeper{rdb: redis.NewClient(&redis.Options{})}
	defer one.rdb.Close() //nolint:errcheck // it was never used
	one.reset()
	base := string(appendMemory(nil, one))
	for name, change := range map[string]func(k *keeper){
		"a number":        func(k *keeper) { k.count++ },
		"a text":          func(k *keeper) { k.last = []string{"A1-00ff"} },
		"an empty list":   func(k *keeper) { k.last = []string{} },
		"a hidden text":   func(k *keeper) { k.last = []string{"A1-00ff"}[:0] },
		"an empty map":    func(k *keeper) { k.held = map[string]*keeper{} },
		"another element": func(k *keeper) { k.now = &k.all[1] },
		"the whole":       func(k *keeper) { k.any = &k.all },
		"another type":    func(k *keeper) { k.any = int64(0) },
		"a channel":       func(k *keeper) { k.ch[0] = k.ch[1] },
		"behind atomics":  func(k *keeper) { k.atomic.Store(new(int)) },
		"a synced map":    func(k *keeper) { k.synced.Store(1, 2) },
		"a function":      func(k *keeper) { k.do = func() {} },
		"another pointer": func(k *keeper) { k.again = nil },
		"a map":           func(k *keeper) { k.held = map[string]*keeper{"x": k, "y": nil} },
	} {
		k := &keeper{rdb: one.rdb}
		k.reset()
		if change(k); string(appendMemory(nil, k)) == base {
			t.Errorf("%s: %s, and before %s", name, appendMemory(nil, k), base)
		}
	}
	k := &keeper{rdb: redis.NewClient(&redis.Options{Addr: "elsewhere"})}
	defer k.rdb.Close() //nolint:errcheck // it was never used
	k.reset()
	if got := string(appendMemory(nil, k)); got != base {
		t.Errorf("another connection: %s, and before %s", got, base)
	}
}
