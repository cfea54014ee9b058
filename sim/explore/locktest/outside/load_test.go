package outside_test

import (
	"os"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"testing"

	"lockstep/sim/explore/locktest/outside"
	"lockstep/sim/testenv"
)

const fixtures = "lockstep/sim/explore/locktest/outside/testdata/"

// TestUnreadable: nothing is said of a program whose sources can't be read, or aren't those that it was built from;
// and the error says which, and why.
func TestUnreadable(t *testing.T) {
	testenv.LongRaced(t)
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	tag := func(key, value string) []debug.BuildSetting { return []debug.BuildSetting{{Key: key, Value: value}} }
	for name, c := range map[string]struct {
		dir   string
		info  *debug.BuildInfo
		env   [2]string
		error string // empty if it can be read
	}{
		"no information":  {here, nil, [2]string{}, `doesn't say what it was built from$`},
		"a program":       {here, &debug.BuildInfo{Path: "example.com/shop"}, [2]string{}, `example.com/shop is no test that go test has built$`},
		"files":           {here, &debug.BuildInfo{Path: "command-line-arguments.test"}, [2]string{}, `was built from single files: run go test for its package$`},
		"a type error":    {here, &debug.BuildInfo{Path: fixtures + "broken.test"}, [2]string{}, `broken\.go:6:25: cannot use "old"`},
		"a tag":           {here, &debug.BuildInfo{Path: fixtures + "broken.test", Settings: tag("-tags", "mended")}, [2]string{}, ``},
		"an overlay":      {here, &debug.BuildInfo{Path: fixtures + "broken.test"}, [2]string{"GOFLAGS", "-overlay=x.json"}, `-overlay, so files aren't what was compiled: test without it$`},
		"no go command":   {here, &debug.BuildInfo{Path: fixtures + "broken.test"}, [2]string{"PATH", ""}, `go command required`},
		"no module":       {t.TempDir(), &debug.BuildInfo{Path: "example.com/shop.test"}, [2]string{}, `go\.mod file not found`},
		"no tests":        {here, &debug.BuildInfo{Path: fixtures + "helper.test"}, [2]string{}, `lists no tests of .*testdata/helper in `},
		"another version": {here, &debug.BuildInfo{Path: "lockstep/strategies.test", Deps: []*debug.Module{{Path: "github.com/redis/go-redis/v9", Version: "v9.0.1"}}}, [2]string{}, `go-redis/v9 was built with v9\.0\.1, and the go command finds v9\.`},
		"changed since":   {changed(t), &debug.BuildInfo{Path: "example.com/shop.test"}, [2]string{}, `shop\.go has changed since the test was built: run go test again$`},
	} {
		t.Run(name, func(t *testing.T) {
			if name == "another version" || name == "no module" || name == "a tag" {
				testenv.Long(t) // each asks the go command for packages
			}
			outside.BuiltFrom(t, c.info)
			if c.env[0] != "" {
				t.Setenv(c.env[0], c.env[1])
			}
			err := outside.Load(c.dir)
			switch {
			case c.error == "" && err == nil:
			case c.error == "" || err == nil || !regexp.MustCompile(`^its source can't be read: `).MatchString(err.Error()) || !regexp.MustCompile(c.error).MatchString(err.Error()):
				t.Errorf("the error is %v, not %q", err, c.error)
			}
		})
	}
}

// changed is a module that was written later than the program that runs was built.
func changed(t *testing.T) string {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"go.mod":       "module example.com/shop\n\ngo 1.26\n",
		"shop.go":      "package shop\n",
		"shop_test.go": "package shop\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}
