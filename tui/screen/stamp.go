package screen

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"lockstep/scenarios"
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

// OutOfDate says why what is shown is not a script's file: in one line, which has room for one mistake, and says how many others
// there are.
func OutOfDate(path string, err error) string {
	text, others := scenarios.First(err)
	more := ""
	if others > 0 {
		more = fmt.Sprintf(" (and %d more)", others)
	}
	return "Out of date" + more + ": " + strings.ReplaceAll(text, path, filepath.Base(path))
}
