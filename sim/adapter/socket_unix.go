//go:build unix

package adapter

import (
	"errors"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// pair returns the two ends of a connection, of which the second is to be inherited.
func pair(patience time.Duration) (host int, inherited *os.File, err error) {
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	if err != nil {
		return 0, nil, os.NewSyscallError("socketpair", err)
	}
	unix.CloseOnExec(fds[0])
	unix.CloseOnExec(fds[1])
	limitSends(fds[0], patience)
	return fds[0], os.NewFile(uintptr(fds[1]), "control"), nil //nolint:gosec // no descriptor is negative
}

// limitSends bounds how long a send waits for a process that doesn't read.
func limitSends(fd int, patience time.Duration) {
	limit := unix.NsecToTimeval(int64(patience))
	_ = unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_SNDTIMEO, &limit)
}

// listen makes a listener at a path.
func listen(path string) (fd int, err error) {
	syscall.ForkLock.RLock()
	fd, err = unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	if err == nil {
		unix.CloseOnExec(fd)
	}
	syscall.ForkLock.RUnlock()
	if err != nil {
		return 0, os.NewSyscallError("socket", err)
	}
	const backlog = 64
	err = unix.Bind(fd, &unix.SockaddrUnix{Name: path})
	if err == nil {
		err = unix.Listen(fd, backlog)
	}
	if err == nil {
		err = unix.SetNonblock(fd, true)
	}
	if err != nil {
		closeFD(fd)
		return 0, &os.PathError{Op: "listen", Path: path, Err: err}
	}
	return fd, nil
}

// accept returns the next connection that waits at a listener, if one does.
func accept(listener int, patience time.Duration) (fd int, any bool) {
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	fd, _, err := unix.Accept(listener)
	if err != nil {
		return 0, false
	}
	unix.CloseOnExec(fd)
	_ = unix.SetNonblock(fd, false)
	limitSends(fd, patience)
	return fd, true
}

// receive appends the bytes that have come to buf, without waiting for more. ended is that nothing more
// will come.
func receive(fd int, buf []byte) (_ []byte, ended bool) {
	var piece [16 << 10]byte
	for {
		n, _, err := unix.Recvfrom(fd, piece[:], unix.MSG_DONTWAIT)
		switch {
		case n > 0:
			buf = append(buf, piece[:n]...)
			if n < len(piece) {
				return buf, false
			}
		case errors.Is(err, unix.EINTR):
		default:
			return buf, !errors.Is(err, unix.EAGAIN)
		}
	}
}

// transmit sends all of b.
func transmit(fd int, b []byte) error {
	for len(b) > 0 {
		n, err := unix.Write(fd, b)
		if err != nil && !errors.Is(err, unix.EINTR) {
			return err
		}
		b = b[max(n, 0):]
	}
	return nil
}

// await waits until something has come on one of the descriptors, and reports whether it has
// before the patience was over.
//
// The first is looked at first. So if that has something, all that was sent before it on the
// others has come as well.
func await(fds []int, patience time.Duration) (any bool) {
	polled := make([]unix.PollFd, len(fds))
	for i, fd := range fds {
		polled[i] = unix.PollFd{Fd: int32(fd), Events: unix.POLLIN} //nolint:gosec // descriptors are small
	}
	for {
		n, err := unix.Poll(polled, int(patience.Milliseconds()))
		if !errors.Is(err, unix.EINTR) {
			return n > 0
		}
	}
}

func closeFD(fd int) { _ = unix.Close(fd) }
