package resp

import (
	"fmt"
	"strconv"
)

// Moment reads a reply to TIME, which has seconds and microseconds, in milliseconds.
func Moment(reply string) (ms int64, ok bool) {
	var l [2]int
	var secs, micros int64
	n, err := fmt.Sscanf(reply, "*2\r\n$%d\r\n%d\r\n$%d\r\n%d\r\n", &l[0], &secs, &l[1], &micros)
	return secs*1000 + micros/1000, n == 4 && err == nil
}

// MomentReply is the reply to TIME at an instant, in milliseconds.
func MomentReply(ms int64) string {
	return string(Append(nil, strconv.FormatInt(ms/1000, 10), strconv.FormatInt(ms%1000*1000, 10)))
}
