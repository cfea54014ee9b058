package strategies

import (
	"context"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
)

func TestRegistryIsComplete(t *testing.T) {
	names, files := map[string]bool{}, map[string]bool{}
	for _, s := range All() {
		if s.Name == "" || s.Summary == "" || s.Source == "" {
			t.Errorf("%+v: name, summary and source must be given", s)
		}
		if names[s.Name] || files[s.File] {
			t.Errorf("%s in %s: registered twice", s.Name, s.File)
		}
		names[s.Name], files[s.File] = true, true
		if want := strings.ReplaceAll(s.Name, "-", "_") + ".go"; s.File != want {
			t.Errorf("%s is in %s, want %s", s.Name, s.File, want)
		}
		if s.Nodes < 1 || s.Timeout <= 0 || s.New == nil {
			t.Errorf("%s: cannot be run: %+v", s.Name, s)
		}
	}
	for _, s := range All() {
		if got, ok := Get(s.Name); !ok || got.File != s.File {
			t.Errorf("Get(%q) finds %q, %v", s.Name, got.Name, ok)
		}
	}
	if s, ok := Get("redlok"); ok {
		t.Errorf("Get finds %q under a name that nobody has", s.Name)
	}
}

// The first thing that a reader sees is what the strategy sends, and where it
// is from.
func TestEveryFileOpensWithItsCommands(t *testing.T) {
	for _, s := range All() {
		_, code, _ := strings.Cut(s.Code(), "import (")
		rest := code
		for _, part := range []string{"//\tacquire   ", "//\trelease   ", "// Source: ", "\ntype "} {
			_, after, found := strings.Cut(rest, part)
			if !found {
				t.Errorf("%s: no %q, or not where it belongs", s.File, part)
				break
			}
			rest = after
		}
	}
}

func TestQuorum(t *testing.T) {
	tests := []struct {
		strategy    string
		nodes, want int
	}{
		{"setnx", 1, 1},
		{"redlock", 1, 1}, {"redlock", 2, 2}, {"redlock", 3, 2}, {"redlock", 4, 3}, {"redlock", 5, 3},
		{"redlock-hyperf", 1, 1}, {"redlock-hyperf", 2, 2}, {"redlock-hyperf", 3, 3},
		{"redlock-hyperf", 4, 3}, {"redlock-hyperf", 5, 4},
		{"fenced", 1, 1}, {"redlock-no-elapsed", 5, 3}, {"redlock-wall-clock", 5, 3}, {"redlock-strict-errors", 5, 3},
	}
	for _, test := range tests {
		s, _ := Get(test.strategy)
		s.Nodes = test.nodes
		if got := s.Quorum(); got != test.want {
			t.Errorf("%s on %d nodes needs %d, want %d", test.strategy, test.nodes, got, test.want)
		}
	}
}

// constructed is a lock whose constructor needs more than a place to keep its arguments.
type constructed struct{ Lock }

func (constructed) Extend(context.Context, *Lease) error { return nil }

// TestExtendsOfAnyConstructor: whether a lock can extend its leases is found out without a crash,
// whatever its constructor does.
func TestExtendsOfAnyConstructor(t *testing.T) {
	s := Strategy{Nodes: 1, New: func(nodes []*redis.Client, _ string, o Options) Lock {
		if err := nodes[0].WithTimeout(o.TTL / 3).Ping(context.Background()).Err(); err == nil {
			t.Error("there is a server")
		}
		if o.Token() == "" && o.Clock.Now().Unix() >= 0 && o.Clock.Monotonic() >= 0 && o.Random(time.Second) < time.Second && o.Clock.Sleep(context.Background(), time.Hour) == nil {
			o.Go(func() { t.Error("it runs") })
		}
		return constructed{}
	}}
	if !s.Extends() {
		t.Error("it can extend its leases")
	}
}

// A strategy knows of time and chance only what its Options tell it, and of
// the rest of this module nothing at all. system.go is what the options are made
// of in production.
func TestStrategiesUseOnlyWhatTheyAreGiven(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil || len(files) == 0 {
		t.Fatalf("no source files: %v", err)
	}
	for _, name := range files {
		if name == "system.go" || strings.HasSuffix(name, "_test.go") {
			continue
		}
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, spec := range file.Imports {
			path, _ := strconv.Unquote(spec.Path.Value)
			if strings.HasPrefix(path, "lockstep/") || strings.HasSuffix(path, "/rand") || strings.HasSuffix(path, "/rand/v2") {
				t.Errorf("%s: imports %s", set.Position(spec.Pos()), path)
			}
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if _, ok := n.(*ast.GoStmt); ok {
				t.Errorf("%s: starts a thread by itself; Go is in the Options", set.Position(n.Pos()))
			}
			if sel, ok := n.(*ast.SelectorExpr); ok && ownTime(sel) {
				t.Errorf("%s: uses time.%s; the Clock is in the Options", set.Position(n.Pos()), sel.Sel.Name)
			}
			return true
		})
	}
}

func ownTime(sel *ast.SelectorExpr) bool {
	pkg, ok := sel.X.(*ast.Ident)
	return ok && pkg.Name == "time" && slices.Contains([]string{
		"Now", "Since", "Until", "Sleep", "After", "AfterFunc", "Tick", "NewTicker", "NewTimer",
	}, sel.Sel.Name)
}

// A strategy's file is read by people who have never heard of what runs it, and
// keeps no state between its instances: a script is a constant.
func TestStrategyFilesStandAlone(t *testing.T) {
	for _, s := range All() {
		code := s.Code()
		for _, word := range []string{"time.Now", "time.Sleep", "time.After", "simulat", "virtual time", "scenario"} {
			if strings.Contains(strings.ToLower(code), strings.ToLower(word)) {
				t.Errorf("%s mentions %q", s.File, word)
			}
		}
		for line := range strings.Lines(code) {
			if strings.HasPrefix(line, "var ") && !strings.Contains(line, "redis.NewScript(") {
				t.Errorf("%s keeps package state: %s", s.File, line)
			}
		}
	}
}

// What is said of a lock is told of one that is like it with the commands that this one sends.
func TestReworded(t *testing.T) {
	for _, tt := range []struct{ name, of, said, want string }{
		{"setnx-expire", "naive-del", "SET with NX is one command, SET with NXT two.", "SETNX is one command, SET with NXT two."},
		{"setnx-expire", "setnx-expire", "SET with NX", "SET with NX"},
		{"setpx-watch-bare", "setpx-lua", "SET with NX", "SET with NX"}, // by way of get-then-del
	} {
		if got := Reworded(tt.name, tt.of, tt.said); got != tt.want {
			t.Errorf("of %s, as %s: %q, want %q", tt.name, tt.of, got, tt.want)
		}
	}
}

// A lock that is said to be like another says what they have in common, and is not,
// in the end, like itself.
func TestLikes(t *testing.T) {
	if err := checkLikes(All()); err != nil {
		t.Error(err)
	}
	for _, s := range All() {
		if (s.Like == "") != (s.LikeBecause == "") {
			t.Errorf("%s is like %q because %q: both, or neither", s.Name, s.Like, s.LikeBecause)
		}
		if s.Like == "" && len(s.Instead) > 0 {
			t.Errorf("%s is like no lock, and sends %v", s.Name, s.Instead)
		}
	}
	for _, tt := range []struct {
		name string
		all  []Strategy
		want string
	}{
		{"a chain", []Strategy{{Name: "a", Like: "b"}, {Name: "b", Like: "c"}, {Name: "c"}}, ""},
		{"an unknown one", []Strategy{{Name: "a", Like: "b"}, {Name: "b", Like: "x"}}, `b is like "x", and there is no such lock`},
		{"itself", []Strategy{{Name: "a", Like: "a"}}, "a is in the end like itself: a, like a"},
		{"a cycle behind a chain", []Strategy{{Name: "a", Like: "b"}, {Name: "b", Like: "c"}, {Name: "c", Like: "b"}},
			"b is in the end like itself: b, like c, like b"},
	} {
		got := ""
		if err := checkLikes(tt.all); err != nil {
			got = err.Error()
		}
		if got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.name, got, tt.want)
		}
	}
}
