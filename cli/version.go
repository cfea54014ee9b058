package cli

import (
	"cmp"
	"fmt"
	"runtime"
	"runtime/debug"
)

// version identifies the build, so that a report of a run that differs tells whether the
// code differs.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		info = &debug.BuildInfo{}
	}
	return versionText(info)
}

// versionText is the module's version, which names the revision by itself where the
// module was built from a clone. Where Go knows no version it is the revision, and a
// build of loose files has neither.
func versionText(info *debug.BuildInfo) string {
	settings := map[string]string{}
	for _, s := range info.Settings {
		settings[s.Key] = s.Value
	}
	text := cmp.Or(info.Main.Version, "(devel)")
	if revision := settings["vcs.revision"]; revision != "" && text == "(devel)" {
		text += " " + revision[:min(len(revision), 12)]
		if settings["vcs.modified"] == "true" {
			text += " (modified)"
		}
	}
	return fmt.Sprintf("%s, %s %s/%s", text, cmp.Or(info.GoVersion, runtime.Version()), runtime.GOOS, runtime.GOARCH)
}
