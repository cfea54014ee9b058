package screen

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Stamp tells versions of a file apart. That of no file is zero.
type Stamp struct {
	changed time.Time
	size    int64
}

// StampOf is that of the file as it is; the path may be empty.
func StampOf(path string) Stamp {
	if path == "" {
		return Stamp{}
	}
	info, err := os.Stat(path)
	if err != nil {
		return Stamp{}
	}
	return Stamp{info.ModTime(), info.Size()}
}

// OutOfDate says why the version shown is not a script's file: in one line, which has room for one mistake, and says how many others
// there are.
func OutOfDate(path string, err error) string {
	text, _, _ := strings.Cut(err.Error(), "\n")
	more := ""
	var all interface{ Unwrap() []error }
	if errors.As(err, &all) {
		more = fmt.Sprintf(" (and %d more)", len(all.Unwrap())-1)
	}
	return "Out of date" + more + ": " + strings.ReplaceAll(text, path, filepath.Base(path))
}
