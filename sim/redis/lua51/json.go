package lua51

import (
	"fmt"
	"math"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	lua "github.com/yuin/gopher-lua"
)

// deepest is how deeply cjson nests.
const deepest = 1000

// null is cjson.null: a userdata, and so true.
var null = &lua.LUserData{Metatable: lua.LNil}

// failure is an error of cjson's, as a panic on its way to the function that began.
type failure string

// guarded runs a part of cjson, and raises its failure as an error of the script's.
func guarded(l *lua.LState, f func()) {
	why := failure("")
	func() {
		defer func() {
			if r := recover(); r != nil {
				var is bool
				if why, is = r.(failure); !is {
					panic(r)
				}
			}
		}()
		f()
	}()
	if why != "" {
		broken(l, "%s", string(why))
	}
}

func fail(format string, args ...any) { panic(failure(fmt.Sprintf(format, args...))) }

// encode is cjson.encode. unordered is told of a table whose fields' order it writes.
func encode(unordered func()) lua.LGFunction {
	return func(l *lua.LState) int {
		if l.GetTop() != 1 {
			badArgument(l, 1, "encode", "expected 1 argument")
		}
		e := encoder{unordered: unordered}
		guarded(l, func() { e.value(l.Get(1), 0) })
		l.Push(lua.LString(e.String()))
		return 1
	}
}

type encoder struct {
	strings.Builder
	unordered func()
}

func (e *encoder) value(v lua.LValue, depth int) {
	switch v := v.(type) {
	case lua.LString:
		e.text(string(v))
	case lua.LNumber:
		if math.IsNaN(float64(v)) || math.IsInf(float64(v), 0) {
			fail("Cannot serialise number: must not be NaN or Inf")
		}
		e.WriteString(Text(float64(v)))
	case lua.LBool:
		fmt.Fprint(e, bool(v))
	case *lua.LTable:
		if depth++; depth > deepest {
			fail("Cannot serialise, excessive nesting (%d)", depth)
		}
		if n := length(v); n > 0 {
			e.array(v, n, depth)
		} else {
			e.object(v, depth)
		}
	default:
		if v != lua.LNil && v != null {
			fail("Cannot serialise %s: type not supported", v.Type().String())
		}
		e.WriteString("null")
	}
}

// length returns the last index of a table that is an array, or -1.
func length(t *lua.LTable) (last int) {
	items := 0
	for k, _ := t.Next(lua.LNil); k != lua.LNil; k, _ = t.Next(k) {
		index, is := k.(lua.LNumber)
		if !is || float64(index) != math.Floor(float64(index)) || index < 1 {
			return -1
		}
		last = max(last, int(index))
		items++
	}
	if last > 2*items && last > 10 {
		fail("Cannot serialise table: excessively sparse array")
	}
	return last
}

func (e *encoder) array(t *lua.LTable, n, depth int) {
	for i := range n {
		e.WriteByte("[,"[min(i, 1)])
		e.value(t.RawGetInt(i+1), depth)
	}
	e.WriteByte(']')
}

func (e *encoder) object(t *lua.LTable, depth int) {
	e.WriteByte('{')
	n := 0
	for k, v := t.Next(lua.LNil); k != lua.LNil; k, v = t.Next(k) {
		if n++; n > 1 {
			e.WriteByte(',')
		}
		switch k := k.(type) {
		case lua.LString:
			e.text(string(k))
		case lua.LNumber:
			e.WriteString(`"` + Text(float64(k)) + `"`)
		default:
			fail("Cannot serialise %s: table key must be a number or string", k.Type().String())
		}
		e.WriteByte(':')
		e.value(v, depth)
	}
	if n > 1 {
		e.unordered()
	}
	e.WriteByte('}')
}

func (e *encoder) text(s string) {
	e.WriteByte('"')
	for i := range len(s) {
		switch c := s[i]; {
		case c == '"' || c == '\\' || c == '/':
			e.WriteString(`\` + string(rune(c)))
		case strings.IndexByte("\b\t\n\f\r", c) >= 0:
			e.WriteString(`\` + string("btnfr"[strings.IndexByte("\b\t\n\f\r", c)]))
		case c < ' ' || c == 127:
			fmt.Fprintf(e, `\u%04x`, c)
		default:
			e.WriteByte(c)
		}
	}
	e.WriteByte('"')
}

// decode is cjson.decode.
func decode(l *lua.LState) int {
	if l.GetTop() != 1 {
		badArgument(l, 1, "decode", "expected 1 argument")
	}
	d := decoder{l: l, s: checkText(l, 1, "decode")}
	var v lua.LValue
	guarded(l, func() {
		v = d.value(d.token(), 0)
		if t := d.token(); t.kind != "T_END" {
			d.wants("the end", t)
		}
	})
	l.Push(v)
	return 1
}

type decoder struct {
	l  *lua.LState
	s  string
	at int
}

// token is one of the text: a mark, or a value.
type token struct {
	kind string
	at   int
	v    lua.LValue
}

var marks = map[byte]string{'{': "T_OBJ_BEGIN", '}': "T_OBJ_END", '[': "T_ARR_BEGIN", ']': "T_ARR_END", ',': "T_COMMA", ':': "T_COLON"}

var literals = []struct {
	text, kind string
	v          lua.LValue
}{{"true", "T_BOOLEAN", lua.LTrue}, {"false", "T_BOOLEAN", lua.LFalse}, {"null", "T_NULL", null}}

func (d *decoder) wants(what string, got token) {
	fail("Expected %s but found %s at character %d", what, got.kind, got.at+1)
}

func (d *decoder) token() (t token) {
	for d.at < len(d.s) && strings.IndexByte(" \t\n\r", d.s[d.at]) >= 0 {
		d.at++
	}
	t.at = d.at
	if d.at == len(d.s) {
		t.kind = "T_END"
		return t
	}
	c := d.s[d.at]
	if t.kind = marks[c]; t.kind != "" {
		d.at++
		return t
	}
	if c == '"' {
		t.kind, t.v = "T_STRING", lua.LString(d.text())
		return t
	}
	for _, of := range literals {
		if strings.HasPrefix(d.s[d.at:], of.text) {
			d.at += len(of.text)
			return token{of.kind, t.at, of.v}
		}
	}
	t.kind = "invalid token"
	end := d.at
	for end < len(d.s) && strings.IndexByte(",:]}[{\" \t\n\r", d.s[end]) < 0 {
		end++
	}
	for ; end > d.at && c != '.'; end-- { // as much as is a number
		if f, ok := Number(d.s[d.at:end]); ok {
			d.at = end
			return token{"T_NUMBER", t.at, lua.LNumber(f)}
		}
	}
	return t
}

func (d *decoder) value(t token, depth int) lua.LValue {
	if depth > deepest {
		fail("Found too many nested data structures (%d)", depth)
	}
	switch {
	case t.v != nil:
		return t.v
	case t.kind == "T_OBJ_BEGIN":
		return d.object(depth + 1)
	case t.kind == "T_ARR_BEGIN":
		return d.array(depth + 1)
	}
	d.wants("value", t)
	return nil
}

func (d *decoder) object(depth int) lua.LValue {
	of := d.l.NewTable()
	key := d.token()
	if key.kind == "T_OBJ_END" {
		return of
	}
	for {
		if key.kind != "T_STRING" {
			d.wants("object key string", key)
		}
		if t := d.token(); t.kind != "T_COLON" {
			d.wants("colon", t)
		}
		of.RawSet(key.v, d.value(d.token(), depth))
		switch t := d.token(); t.kind {
		case "T_OBJ_END":
			return of
		case "T_COMMA":
			key = d.token()
		default:
			d.wants("comma or object end", t)
		}
	}
}

func (d *decoder) array(depth int) lua.LValue {
	of := d.l.NewTable()
	t := d.token()
	if t.kind == "T_ARR_END" {
		return of
	}
	for i := 1; ; i++ {
		of.RawSetInt(i, d.value(t, depth))
		switch next := d.token(); next.kind {
		case "T_ARR_END":
			return of
		case "T_COMMA":
			t = d.token()
		default:
			d.wants("comma or array end", next)
		}
	}
}

// text reads a string up to its closing quote.
func (d *decoder) text() string {
	var b []byte
	for d.at++; d.at < len(d.s); d.at++ {
		switch c := d.s[d.at]; c {
		case '"':
			d.at++
			return string(b)
		case '\\':
			d.at++
			b = d.escape(b)
		default:
			b = append(b, c)
		}
	}
	d.wants("value", token{kind: "unexpected end of string", at: d.at})
	return ""
}

// escape appends the character that an escape stands for.
func (d *decoder) escape(b []byte) []byte {
	if d.at < len(d.s) {
		c := d.s[d.at]
		if i := strings.IndexByte(`"\/bfnrt`, c); i >= 0 {
			return append(b, "\"\\/\b\f\n\r\t"[i])
		}
		if r, ok := d.hex(d.at); ok {
			d.at += 4
			if utf16.IsSurrogate(r) {
				low, ok := d.hex(d.at + 2)
				if r = utf16.DecodeRune(r, low); !ok || d.s[d.at+1] != '\\' || r == utf8.RuneError {
					d.wants("value", token{kind: "invalid unicode escape code", at: d.at - 5})
				}
				d.at += 6
			}
			return utf8.AppendRune(b, r)
		}
	}
	d.wants("value", token{kind: "invalid escape code", at: d.at - 1})
	return nil
}

// hex reads the u of an escape, and its four digits.
func (d *decoder) hex(at int) (r rune, ok bool) {
	if at+5 > len(d.s) || d.s[at] != 'u' {
		return 0, false
	}
	for _, c := range strings.ToLower(d.s[at+1 : at+5]) {
		digit := strings.IndexRune("0123456789abcdef", c)
		if digit < 0 {
			return 0, false
		}
		r = r<<4 | rune(digit)
	}
	return r, true
}
