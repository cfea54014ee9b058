package certificate

import (
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
}

// TestMemory: what a lock keeps in its fields is in the text, and what belongs to the library
// isn't.
func TestMemory(t *testing.T) {
	one := &keeper{rdb: redis.NewClient(&redis.Options{})}
	defer one.rdb.Close() //nolint:errcheck // it was never used
	one.again = one
	base := string(appendMemory(nil, one))
	for name, change := range map[string]func(k *keeper){
		"a number":        func(k *keeper) { k.count++ },
		"a text":          func(k *keeper) { k.last = []string{"A1-00ff"} },
		"an empty list":   func(k *keeper) { k.last = nil },
		"another pointer": func(k *keeper) { k.again = nil },
		"a map":           func(k *keeper) { k.held = map[string]*keeper{"x": k, "y": nil} },
	} {
		k := *one
		k.again = &k
		if change(&k); (string(appendMemory(nil, &k)) == base) != (name == "an empty list") {
			t.Errorf("%s: %s, and before %s", name, appendMemory(nil, &k), base)
		}
	}
	k := *one
	k.again, k.rdb, k.do = &k, nil, func() {}
	if got := string(appendMemory(nil, &k)); got != base {
		t.Errorf("the library and functions: %s, and before %s", got, base)
	}
}
