package text

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// Read reads a file up to a size, and a byte more if it is larger. It checks the file's type first: opening a pipe would
// wait for a writer. Its errors leave the path to the caller.
func Read(file string, most int64) ([]byte, error) {
	data, err := read(file, most)
	if at := (*fs.PathError)(nil); errors.As(err, &at) {
		err = at.Err
	}
	return data, err
}

func read(file string, most int64) ([]byte, error) {
	info, err := os.Stat(file)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("it is not a regular file")
	}
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // only read from
	return io.ReadAll(io.LimitReader(f, most+1))
}

// Beside are the names in the folder of a path that are of a kind.
func Beside(path string, is func(name string) bool) (names []string) {
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		return nil
	}
	for _, e := range entries {
		if is(e.Name()) {
			names = append(names, e.Name())
		}
	}
	return names
}
