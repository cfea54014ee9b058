package screen

import (
	"os"
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
