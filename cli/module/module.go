// Package module makes up a Go module for a lock of somebody's own, with what it requires of this one.
package module

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

// requirements is where the sources keep a go.mod and a go.sum that are all that a test with
// locktest needs. A test keeps them so.
const requirements = "docs/bring-your-own-lock"

// File is a file of a module, with its text.
type File struct{ Name, Text string }

// Files makes up the files of a new module in a folder: those of a lock to begin with, and a go.mod and a go.sum. The go.mod requires
// the sources of Lockstep, by their absolute path.
func Files(dir, sources string, lock fs.FS) ([]File, error) {
	var files []File
	for _, name := range []string{"lock.go", "lock_test.go"} {
		text, err := fs.ReadFile(lock, name)
		if err != nil {
			return nil, err
		}
		files = append(files, File{name, string(text)})
	}
	for _, name := range []string{"go.mod", "go.sum"} {
		text, err := os.ReadFile(filepath.Join(sources, requirements, name))
		if err != nil {
			return nil, fmt.Errorf("the sources in %s lack a file that the new module is made from: %w", sources, err)
		}
		files = append(files, File{name, string(text)})
	}
	name, err := moduleName(dir)
	if err != nil {
		return nil, err
	}
	mod := &files[2]
	mod.Text = moduleLine.ReplaceAllLiteralString(mod.Text, "module "+name)
	mod.Text = replaceLine.ReplaceAllLiteralString(mod.Text, "replace lockstep => "+modulePath(sources))
	return files, nil
}

// moduleName makes a module's name from its folder.
func moduleName(dir string) (string, error) {
	path, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	name := regexp.MustCompile(`[^a-z0-9_-]+`).ReplaceAllString(strings.ToLower(filepath.Base(path)), "-")
	if name = strings.Trim(name, "-"); name == "" {
		name = "mylock"
	}
	return "example.com/" + name, nil
}

// modulePath is a path as go.mod takes it: in quotes if it has letters that end a word there.
func modulePath(path string) string {
	if strings.ContainsAny(path, " \t\"'`()[]{},") {
		return strconv.Quote(path)
	}
	return path
}

// IsSources reports whether a folder has the sources of this module.
func IsSources(dir string) bool {
	text, err := os.ReadFile(filepath.Join(dir, "go.mod"))
	return err == nil && moduleLine.FindString(string(text)) == "module lockstep"
}

var (
	moduleLine  = regexp.MustCompile(`(?m)^module [^\s]+`)
	replaceLine = regexp.MustCompile(`(?m)^replace lockstep => .*$`)
)

// OfGoRun reports whether a program is where go run puts its own: in a folder for this build, or in its cache.
func OfGoRun(program string) bool {
	for _, part := range strings.Split(filepath.ToSlash(program), "/") {
		if strings.HasPrefix(part, "go-build") {
			return true
		}
	}
	cache := os.Getenv("GOCACHE")
	return cache != "" && strings.HasPrefix(program, filepath.Clean(cache)+string(filepath.Separator))
}
