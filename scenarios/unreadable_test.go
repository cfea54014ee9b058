//go:build unix

package scenarios

import (
	"fmt"
	"path/filepath"
	"syscall"
	"testing"
)

// What isn't there, or is no file, has no lines.
func TestUnreadableFiles(t *testing.T) {
	dir := t.TempDir()
	pipe := filepath.Join(dir, "pipe.yaml")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	for file, want := range map[string]string{
		filepath.Join(dir, "nowhere.yaml"): "no such file or directory",
		dir:                                "it is not a regular file",
		pipe:                               "it is not a regular file",
		"/dev/zero":                        "it is not a regular file",
		dir + "/x\x00y.yaml":               "invalid argument",
	} {
		_, err := Load(file)
		if want = "cannot read the scenario " + file + ": " + want; fmt.Sprint(err) != want {
			t.Errorf("got  %v\nwant %s", err, want)
		}
	}
}
