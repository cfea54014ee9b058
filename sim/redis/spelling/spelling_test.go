package spelling

import (
	"math"
	"strconv"
	"testing"
)

// Integer takes what Redis writes, and nothing else that Go takes: whichever way it reads a word.
func TestInteger(t *testing.T) {
	for _, v := range []int64{0, 1, -1, 9, 10, -10, 1700000000000, 999_999_999_999_999_999, 1_000_000_000_000_000_000, math.MaxInt64, math.MinInt64} {
		if got, ok := Integer(strconv.FormatInt(v, 10)); got != v || !ok {
			t.Errorf("%d is read as %d, %t", v, got, ok)
		}
	}
	for _, word := range []string{"", "-", "+1", "01", "-01", "00", "-0", " 1", "1 ", "1.0", "1e3", "0x1", "1_0", "9223372036854775808", "-9223372036854775809", "/1", "1/", "1:", "१", "x"} {
		if got, ok := Integer(word); ok {
			t.Errorf("%q is read as %d", word, got)
		}
	}
}
