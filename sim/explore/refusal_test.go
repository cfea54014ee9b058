package explore

import (
	"context"
	"errors"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"lockstep/sim/explore/behaviour"
	"lockstep/strategies"
)

// before is the right lock, which does something else before it asks for the record.
func before(do func(context.Context, *mutant) error) strategies.Strategy {
	return mutantStrategy(mutant{release: rightRelease, acquire: func(ctx context.Context, m *mutant) (*strategies.Lease, error) {
		if err := do(ctx, m); err != nil && !errors.Is(err, redis.Nil) {
			return nil, err
		}
		return rightAcquire(ctx, m)
	}}, 1)
}

// sends is before with a command.
func sends(words ...any) strategies.Strategy {
	return before(func(ctx context.Context, m *mutant) error { return m.nodes[0].Do(ctx, words...).Err() })
}

// runs is before with a script of the lock's key.
func runs(script string, args ...any) strategies.Strategy {
	return before(func(ctx context.Context, m *mutant) error {
		return m.nodes[0].Eval(ctx, script, []string{m.key}, args...).Err()
	})
}

// TestRefusals: what the search has no model of is refused at its first use, by name, with
// the line and what to do.
func TestRefusals(t *testing.T) {
	for name, c := range map[string]struct {
		lock strategies.Strategy
		want string // of the error
	}{
		"RANDOMKEY":         {sends("RANDOMKEY"), "the search can't follow RANDOMKEY of A at LINE: its reply is not a function of the keys; ask for a key by its name"},
		"another database":  {sends("select", 1), "the search can't follow SELECT of A at LINE: the search knows database 0 alone; keep everything in that"},
		"a function":        {sends("FCALL", "f", 0), "the search can't follow FCALL of A at LINE: the simulated server has no functions; send the code by EVAL"},
		"expiry of a field": {sends("HPEXPIRE", "h", 100, "FIELDS", 1, "f"), "the search can't follow HPEXPIRE of A at LINE: the expiry of single fields is not modelled; give the field a key of its own, or put its expiry into the value"},
		"a new command":     {sends("NOSUCH"), "the search can't follow NOSUCH of A at LINE: the search doesn't know this command; use those of strings, hashes, lists, sets and sorted sets, or a script"},
		"an option":         {sends("SET", "k", "v", "IFDEQ", "x"), "the search can't follow SET IFDEQ of A at LINE: this option is not modelled; use others, or a script"},
		"an option of ZADD": {sends("ZADD", "k", "NEW", 1, "m"), "the search can't follow ZADD NEW of A at LINE: this option is not modelled; use others, or a script"},
		"SCRIPT KILL":       {sends("SCRIPT", "KILL"), "the search can't follow SCRIPT KILL of A at LINE: it is about the server, not about a script; use SCRIPT LOAD, EXISTS or FLUSH"},
		"an order":          {before(twoMembers), "the search can't follow SMEMBERS of A at LINE: the order of its reply is Redis's own affair where there are several members; use SISMEMBER or SCARD"},
		"in a script": {runs(`return redis.call(ARGV[1], KEYS[1])`, "spop"),
			"the search can't follow SPOP in a script of A at LINE: its reply is drawn at random, not a function of the key; use a command that names the member or field"},
		"caught by a script": {runs(`redis.pcall("RANDOMKEY") return 1`), "the search can't follow RANDOMKEY in a script of A at LINE: its reply is not a function of the keys; ask for a key by its name"},
		"a draw": {runs(`return math.random(1, 6)`),
			"the search can't follow math.random in a script of A at LINE: which numbers a script draws depends on the version of Redis; draw them in the client, and pass them as arguments"},
	} {
		t.Run(strings.ReplaceAll(name, " ", "-"), func(t *testing.T) {
			_, err := Run(context.Background(), Bounds{Strategy: c.lock, Clients: 1, Cycles: 1, TTL: 12 * time.Second}, Options{})
			refuses(t, err, c.want)
		})
	}
}

func twoMembers(ctx context.Context, m *mutant) error {
	if err := m.nodes[0].SAdd(ctx, "s", "a", "b").Err(); err != nil {
		return err
	}
	return m.nodes[0].SMembers(ctx, "s").Err()
}

var line = regexp.MustCompile(`sim/explore/\w+_test\.go:\d+`)

// refuses checks that an error is a refusal with a text, in which LINE stands for a line of
// this package's tests.
func refuses(t *testing.T, err error, want string) {
	t.Helper()
	var r *behaviour.Refusal
	if !errors.As(err, &r) {
		t.Fatalf("it is not refused: %v", err)
	}
	if got := line.ReplaceAllString(err.Error(), "LINE"); got != want {
		t.Errorf("it is refused with\n\t%s\nwant\n\t%s", got, want)
	}
}
