//go:build unix

package disk

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// guard takes a lock that ends with the process.
func guard(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644) //nolint:gosec // what is in it is no secret
	if err != nil {
		return nil, err
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// syncDir has the names of a directory's files on disk.
func syncDir(path string) error {
	f, err := os.Open(path) //nolint:gosec // the search's own
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
