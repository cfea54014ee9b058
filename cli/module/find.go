package module

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
)

// Find returns the absolute path of the sources: the given one, or else the module
// around the working directory, or the one from which this program was built.
func Find(given string) (string, error) {
	if given != "" {
		dir, err := filepath.Abs(given)
		if err == nil && !IsSources(dir) {
			err = errors.New("there is no go.mod that says: module lockstep")
		}
		if err != nil {
			return "", fmt.Errorf("--lockstep: %s does not have the sources of Lockstep: %w", given, err)
		}
		return dir, nil
	}
	if dir, err := os.Getwd(); err == nil {
		for ; ; dir = filepath.Dir(dir) {
			if IsSources(dir) {
				return dir, nil
			}
			if dir == filepath.Dir(dir) {
				break
			}
		}
	}
	if _, file, _, known := runtime.Caller(0); known { // no path of a machine where it was built with -trimpath
		if dir := filepath.Dir(filepath.Dir(filepath.Dir(file))); filepath.IsAbs(dir) && IsSources(dir) {
			return dir, nil
		}
	}
	return "", errors.New("the new module needs the sources of Lockstep, and they are neither above this folder nor where this program was built: " +
		"say where with --lockstep FOLDER")
}
