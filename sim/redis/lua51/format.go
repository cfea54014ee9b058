package lua51

import (
	"fmt"
	"math"
	"strings"

	lua "github.com/yuin/gopher-lua"
)

// directive is one of a format: flags, width, precision and the verb after them.
type directive struct {
	flags            string
	width, precision int // -1 for none
	verb             byte
}

// parseDirective reads the directive after a percent sign, and returns the rest.
func parseDirective(l *lua.LState, format string) (d directive, rest string) {
	d.width, d.precision = -1, -1
	rest = strings.TrimLeft(format, "-+ #0")
	d.flags = format[:len(format)-len(rest)]
	if len(d.flags) > 5 {
		broken(l, "invalid format (repeated flags)")
	}
	d.width, rest = twoDigits(rest)
	if after, is := strings.CutPrefix(rest, "."); is {
		if d.precision, rest = twoDigits(after); d.precision < 0 {
			d.precision = 0
		}
	}
	if rest != "" && rest[0] >= '0' && rest[0] <= '9' {
		broken(l, "invalid format (width or precision too long)")
	}
	if rest == "" {
		return d, ""
	}
	d.verb = rest[0]
	return d, rest[1:]
}

func twoDigits(s string) (v int, rest string) {
	v = -1
	for i := 0; i < 2 && s != "" && s[0] >= '0' && s[0] <= '9'; i++ {
		v, s = max(v, 0)*10+int(s[0]-'0'), s[1:]
	}
	return v, s
}

// spec returns the directive for Go's package fmt.
func (d directive) spec(verb string) string {
	s := "%" + d.flags
	if d.width >= 0 {
		s += fmt.Sprint(d.width)
	}
	if d.precision >= 0 {
		s += fmt.Sprintf(".%d", d.precision)
	}
	return s + verb
}

// pad fills a text with spaces up to the width.
func (d directive) pad(s string) string {
	space := strings.Repeat(" ", max(0, d.width-len(s)))
	if strings.Contains(d.flags, "-") {
		return s + space
	}
	return space + s
}

func (d directive) float(f float64) string {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		s := Text(f)
		if strings.Contains(d.flags, "+") && s[0] != '-' {
			s = "+" + s
		}
		return d.pad(s)
	}
	if d.precision < 0 {
		d.precision = 6
	}
	if (d.verb == 'g' || d.verb == 'G') && d.precision == 0 {
		d.precision = 1
	}
	return fmt.Sprintf(d.spec(string(d.verb)), f)
}

// unsigned is Integer for numbers without a sign.
func unsigned(f float64) uint64 {
	switch {
	case f >= 1<<64:
		return 0
	case f >= 1<<63:
		return uint64(f)
	}
	return uint64(Integer(f))
}

// quoted returns a text as %q shows it.
func quoted(s string) string {
	return `"` + strings.NewReplacer(`"`, `\"`, `\`, `\\`, "\n", "\\\n", "\r", `\r`, "\x00", `\000`).Replace(s) + `"`
}

// format is string.format.
func format(l *lua.LState) int {
	var b strings.Builder
	rest, arg := checkText(l, 1, "format"), 1
	for {
		plain, after, is := strings.Cut(rest, "%")
		b.WriteString(plain)
		if !is {
			break
		}
		if rest, is = strings.CutPrefix(after, "%"); is {
			b.WriteByte('%')
			continue
		}
		if arg++; arg > l.GetTop() {
			badArgument(l, arg, "format", "no value")
		}
		var d directive
		d, rest = parseDirective(l, after)
		b.WriteString(d.of(l, arg))
	}
	l.Push(lua.LString(b.String()))
	return 1
}

// of returns an argument as the directive shows it.
func (d directive) of(l *lua.LState, arg int) string {
	switch d.verb {
	case 'c':
		return d.pad(string([]byte{byte(Integer(checkNumber(l, arg, "format")))}))
	case 'd', 'i':
		return fmt.Sprintf(d.spec("d"), Integer(checkNumber(l, arg, "format")))
	case 'u':
		return fmt.Sprintf(d.spec("d"), unsigned(checkNumber(l, arg, "format")))
	case 'o', 'x', 'X':
		return fmt.Sprintf(d.spec(string(d.verb)), unsigned(checkNumber(l, arg, "format")))
	case 'e', 'E', 'f', 'g', 'G':
		return d.float(checkNumber(l, arg, "format"))
	case 'q':
		return quoted(checkText(l, arg, "format"))
	case 's':
		s := checkText(l, arg, "format")
		if d.precision >= 0 || len(s) < 100 { // C shows it
			s, _, _ = strings.Cut(s, "\x00")
		}
		if d.precision >= 0 {
			s = s[:min(len(s), d.precision)]
		}
		return d.pad(s)
	}
	verb := string(d.verb)
	if d.verb == 0 {
		verb = ""
	}
	broken(l, "invalid option '%%%s' to 'format'", verb)
	return ""
}
