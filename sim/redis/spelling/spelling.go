// Package spelling looks at the words of commands as Redis does, where miniredis takes more than that takes, or answers
// in other words.
package spelling

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// The replies to commands with a wrong option, and with a word that is no number.
const (
	SyntaxError = "ERR syntax error"
	NotInteger  = "ERR value is not an integer or out of range"
)

// Integer reads a number as Redis writes it: no sign but a minus, and no leading zeros.
func Integer(word string) (v int64, ok bool) {
	if v, ok = small(word); ok {
		return v, true
	}
	v, err := strconv.ParseInt(word, 10, 64)
	if err != nil {
		return v, false
	}
	first := strings.TrimPrefix(word, "-")[0]
	return v, first >= '1' && first <= '9' || word == "0"
}

// small reads most numbers that there are: those without a sign, of so few digits that they can't be out of range.
func small(word string) (v int64, ok bool) {
	if len(word) == 0 || len(word) > 18 || word[0] == '0' {
		return 0, false
	}
	for i := range len(word) {
		digit := word[i] - '0'
		if digit > 9 {
			return 0, false
		}
		v = v*10 + int64(digit)
	}
	return v, true
}

// Refusal is Redis's reply to commands of which miniredis doesn't look at all words, or has other words
// for it; or nothing.
func Refusal(cmd string, args []string) (refusal string) {
	switch cmd {
	case "MSET", "MSETNX":
		if len(args) > 2 && len(args)%2 == 1 {
			refusal = "ERR wrong number of arguments for '" + strings.ToLower(cmd) + "' command"
		}
	case "LMOVE":
		if len(args) == 4 && !(IsSide(args[2]) && IsSide(args[3])) {
			refusal = SyntaxError
		}
	case "COPY":
		refusal = miscopied(args)
	case "LPOS":
		refusal = misplaced(args)
	case "LREM":
		if len(args) == 3 && signed(args[1]) {
			refusal = NotInteger
		}
	case "LRANGE", "LTRIM", "ZREMRANGEBYRANK", "ZRANGE", "ZREVRANGE", "ZRANGEBYSCORE", "ZREVRANGEBYSCORE":
		refusal = misranged(cmd, args)
	case "ZADD", "ZINCRBY":
		for i := 1; i+1 < len(args); i++ {
			if isNaN(args[i]) && (cmd == "ZADD" && (len(args)-i)%2 == 0 || i == 1) {
				return NoScore
			}
		}
	case "ZPOPMIN", "ZPOPMAX":
		switch {
		case len(args) > 2:
			refusal = SyntaxError
		case len(args) == 2 && signed(args[1]):
			refusal = "ERR value is out of range, must be positive"
		}
	case "LPOP", "RPOP":
		if len(args) > 2 {
			refusal = "ERR wrong number of arguments for '" + strings.ToLower(cmd) + "' command"
		}
		if len(args) == 2 {
			if count, ok := Integer(args[1]); !ok || count < 0 {
				refusal = "ERR value is out of range, must be positive"
			}
		}
	}
	return refusal
}

// databases is how many a server has, unless its configuration says otherwise.
const databases = 16

// NoDatabase returns the refusal of a database that Redis hasn't got, or nothing.
func NoDatabase(word string) (refusal string) {
	switch db, ok := Integer(word); {
	case !ok:
		return NotInteger
	case db < math.MinInt32 || db > math.MaxInt32:
		return fmt.Sprintf("ERR value is out of range, value must between %d and %d", math.MinInt32, math.MaxInt32)
	case db < 0 || db >= databases:
		return "ERR DB index is out of range"
	}
	return ""
}

// miscopied returns the refusal of a COPY to a database that Redis hasn't got, unless an option
// before it is wrong.
func miscopied(args []string) (refusal string) {
	for i := 2; i+1 < len(args) && refusal == ""; i++ {
		switch strings.ToUpper(args[i]) {
		case "REPLACE":
		case "DB":
			i++
			refusal = NoDatabase(args[i])
		default:
			return ""
		}
	}
	return refusal
}

// signed reports whether a word is a number to miniredis, and not to Redis: such as +7 or 07.
func signed(word string) bool {
	_, err := strconv.Atoi(word)
	_, ok := Integer(word)
	return err == nil && !ok
}

// repeats reports whether more than one of a command's options is one of these.
func repeats(args []string, options ...string) bool {
	n := 0
	for _, word := range args[min(3, len(args)):] {
		if slices.ContainsFunc(options, func(o string) bool { return strings.EqualFold(o, word) }) {
			n++
		}
	}
	return n > 1
}

// misranged is Redis's reply to a command about a range with options that don't go together, or a
// word that is no number; or "".
func misranged(cmd string, args []string) string {
	if len(args) < 3 {
		return ""
	}
	byRank := !strings.HasSuffix(cmd, "BYSCORE")
	for i, word := range args[3:] {
		switch word := strings.ToUpper(word); {
		case strings.HasPrefix(word, "BY"):
			byRank = false
		case word == "LIMIT" && i+5 < len(args) && (!isInteger(args[i+4]) || !isInteger(args[i+5])):
			return NotInteger
		}
	}
	switch {
	case cmd == "ZRANGE" && (repeats(args, "BYSCORE", "BYLEX") || repeats(args, "REV")):
		return SyntaxError
	case byRank && (signed(args[1]) || signed(args[2])):
		return NotInteger
	}
	return ""
}

func isInteger(word string) bool {
	_, ok := Integer(word)
	return ok
}

// misplaced is Redis's reply to an LPOS with a word that is no number, or "".
func misplaced(args []string) string {
	for i := 2; i+1 < len(args); i += 2 {
		v, ok := Integer(args[i+1])
		switch option := strings.ToUpper(args[i]); {
		case option == "RANK" && !ok:
			return NotInteger
		case (option == "COUNT" || option == "MAXLEN") && (!ok || v < 0):
			return "ERR " + option + " can't be negative"
		}
	}
	return ""
}

// IsSide reports whether a word is an end of a list.
func IsSide(word string) bool {
	return strings.EqualFold(word, "LEFT") || strings.EqualFold(word, "RIGHT")
}

// Score returns a score of miniredis's as Redis replies it: whole numbers have no exponent.
func Score(text string) string {
	if f, err := strconv.ParseFloat(text, 64); err == nil && f == math.Trunc(f) && math.Abs(f) < 1e17 {
		return strconv.FormatFloat(f, 'f', -1, 64)
	}
	return text
}

// NoScore is Redis's reply to a word that is no score.
const NoScore = "ERR value is not a valid float"

// isNaN reports whether a word is no number to Redis, and one to miniredis.
func isNaN(word string) bool {
	f, err := strconv.ParseFloat(word, 64)
	return err == nil && math.IsNaN(f)
}
