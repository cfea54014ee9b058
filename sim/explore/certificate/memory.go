package certificate

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"lockstep/sim/process"
	"lockstep/strategies"
)

// appendMemory appends all that a lock keeps in its own fields, pointers followed. Values of
// the library and of the simulator don't count, and variables that closures capture can't be
// seen. The search has a function of its own for this, which is not shared on purpose.
func appendMemory(to []byte, lock strategies.Lock) []byte {
	m := memory{text: to, seen: map[uintptr]int{}}
	m.value(reflect.ValueOf(lock))
	return m.text
}

type memory struct {
	text []byte
	seen map[uintptr]int // pointers that were followed, by their order
}

func (m *memory) value(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		m.pointer(v)
	case reflect.Interface:
		m.value(v.Elem())
	case reflect.Struct:
		m.text = append(m.text, '{')
		for i := range v.NumField() {
			m.value(v.Field(i))
		}
		m.text = append(m.text, '}')
	case reflect.Slice, reflect.Array:
		m.text = append(m.text, '[')
		for i := range v.Len() {
			m.value(v.Index(i))
		}
		m.text = append(m.text, ']')
	case reflect.Map:
		var pairs []string
		for it := v.MapRange(); it.Next(); {
			one := memory{seen: m.seen}
			one.value(it.Key())
			one.value(it.Value())
			pairs = append(pairs, string(one.text))
		}
		slices.Sort(pairs)
		m.text = fmt.Appendf(m.text, "%q", pairs)
	case reflect.String:
		m.text = strconv.AppendQuote(m.text, v.String())
	case reflect.Invalid, reflect.Func, reflect.Chan, reflect.UnsafePointer:
		m.text = append(m.text, '-')
	default:
		m.text = fmt.Appendf(m.text, "%v ", v)
	}
}

func (m *memory) pointer(v reflect.Value) {
	if v.IsNil() || foreign(v.Type().Elem()) {
		m.text = append(m.text, '-')
		return
	}
	n, known := m.seen[v.Pointer()]
	if known {
		m.text = strconv.AppendInt(append(m.text, '&'), int64(n), 10)
		return
	}
	m.seen[v.Pointer()] = len(m.seen)
	m.value(v.Elem())
}

// foreign reports whether a type belongs to the library or to the simulator.
func foreign(t reflect.Type) bool {
	return strings.HasPrefix(t.PkgPath(), "github.com/redis/go-redis/") || t.PkgPath() == reflect.TypeFor[process.Client]().PkgPath()
}
