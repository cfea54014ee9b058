package cli

import (
	"runtime"
	"runtime/debug"
	"strings"
	"testing"
)

func TestVersionText(t *testing.T) {
	revision := debug.BuildSetting{Key: "vcs.revision", Value: "c3a6d84f00c3a6d84f00c3a6d84f00c3a6d84f00"}
	modified := debug.BuildSetting{Key: "vcs.modified", Value: "true"}
	clean := debug.BuildSetting{Key: "vcs.modified", Value: "false"}
	for want, info := range map[string]debug.BuildInfo{
		"v1.2.3, go1.99":                          {GoVersion: "go1.99", Main: debug.Module{Version: "v1.2.3"}},
		"v0.0.0-1-c3a6d84f00c3+dirty, go1.99":     {GoVersion: "go1.99", Main: debug.Module{Version: "v0.0.0-1-c3a6d84f00c3+dirty"}, Settings: []debug.BuildSetting{revision, modified}},
		"(devel), go1.99":                         {GoVersion: "go1.99", Main: debug.Module{Version: "(devel)"}},
		"(devel) c3a6d84f00c3, go1.99":            {GoVersion: "go1.99", Settings: []debug.BuildSetting{revision, clean}},
		"(devel) c3a6d84f00c3 (modified), go1.99": {GoVersion: "go1.99", Settings: []debug.BuildSetting{revision, modified}},
		"(devel), " + runtime.Version():           {},
	} {
		if got := versionText(&info); got != want+" "+runtime.GOOS+"/"+runtime.GOARCH {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

func TestVersionFlag(t *testing.T) {
	if got := must(t, "", "--version"); got != "lockstep "+version()+"\n" {
		t.Errorf("--version prints %q", got)
	}
	if help := must(t, "", "--help"); !strings.Contains(help, "--version ") {
		t.Errorf("the help lacks --version:\n%s", help)
	}
}
