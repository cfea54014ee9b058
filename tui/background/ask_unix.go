//go:build unix

package background

import (
	"errors"
	"os"
	"time"

	"github.com/charmbracelet/x/term"
	"golang.org/x/sys/unix"
)

// ask asks a terminal, and reads its answer as far as it comes in time.
func ask(tty *os.File, patience time.Duration) (dark, said bool) {
	fd := tty.Fd()
	was, err := term.MakeRaw(fd)
	if err != nil {
		return true, false
	}
	defer term.Restore(fd, was) //nolint:errcheck // it was just set
	if _, err := tty.WriteString(question); err != nil {
		return true, false
	}
	var answer []byte
	for end := time.Now().Add(patience); !complete(answer); {
		ready, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, int(time.Until(end).Milliseconds())) //nolint:gosec // a descriptor is small
		if errors.Is(err, unix.EINTR) && time.Now().Before(end) {
			continue
		}
		if err != nil || ready == 0 {
			break
		}
		var b [64]byte
		n, err := unix.Read(int(fd), b[:]) //nolint:gosec // a descriptor is small
		if n <= 0 || err != nil {
			break
		}
		answer = append(answer, b[:n]...)
	}
	return darkness(answer)
}
