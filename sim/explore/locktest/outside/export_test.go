package outside

import (
	"runtime/debug"
	"testing"
)

// FindIn is [Find] which reads one of the simulator's own packages, too.
var FindIn = find

// BuiltFrom has the program that runs be another until the end of a test.
func BuiltFrom(t testing.TB, info *debug.BuildInfo) {
	before := built
	t.Cleanup(func() { built = before })
	built = func() (*debug.BuildInfo, bool) { return info, info != nil }
}

// Load reads the program that runs, as the go command finds it from some folder.
func Load(dirs ...string) error {
	_, err := loadFrom(dirs, "")
	return err
}
