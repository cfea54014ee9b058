//go:build !unix

package adapter

import (
	"errors"
	"os"
	"time"
)

// errUnix is never seen: package spawn refuses to start a program before any of this is called.
var errUnix = errors.New("locks as processes need Unix")

func pair(time.Duration) (host int, inherited *os.File, err error) { return 0, nil, errUnix }
func listen(string) (fd int, err error)                            { return 0, errUnix }
func accept(int, time.Duration) (fd int, any bool)                 { return 0, false }
func receive(int, []byte) (_ []byte, ended bool)                   { return nil, true }
func transmit(int, []byte) error                                   { return errUnix }
func await([]int, time.Duration) (any bool)                        { return false }
func closeFD(int)                                                  {}
