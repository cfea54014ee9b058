package certificate

import (
	"fmt"
	"maps"
	"reflect"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/redis/go-redis/v9"

	"lockstep/sim/process"
	"lockstep/strategies"
)

// appendMemory appends all that a lock keeps in its own fields, pointers followed. Connections
// and values of the simulator don't count, but for which of them it is, and variables that
// closures capture can't be seen; neither can values in a channel, or behind an unsafe pointer.
// The search has a function of its own for this, which is not shared on purpose.
func appendMemory(to []byte, lock strategies.Lock) []byte {
	m := memory{text: to, seen: map[variable]int{}}
	m.value(reflect.ValueOf(lock))
	return m.text
}

type memory struct {
	text []byte
	seen map[variable]int // those that were come to, by their order
}

// variable is where a value is. A struct and its first field are in the same place.
type variable struct {
	at   uintptr
	kind reflect.Type
}

// again reports whether a variable was come to before, and then appends which one it is.
func (m *memory) again(at uintptr, kind reflect.Type) bool {
	n, known := m.seen[variable{at, kind}]
	if known {
		m.text = strconv.AppendInt(append(m.text, '&'), int64(n), 10)
	} else {
		m.seen[variable{at, kind}] = len(m.seen)
	}
	return known
}

func (m *memory) value(v reflect.Value) {
	if v.CanAddr() && m.again(v.UnsafeAddr(), v.Type()) {
		return
	}
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface, reflect.Map, reflect.Chan, reflect.Slice, reflect.UnsafePointer, reflect.Func:
		m.reference(v)
	case reflect.Struct:
		m.structure(v)
	case reflect.Array:
		m.elements(v)
	case reflect.String:
		m.text = strconv.AppendQuote(m.text, v.String())
	case reflect.Invalid:
		m.text = append(m.text, '-')
	default:
		m.text = fmt.Appendf(m.text, "%v ", v)
	}
}

// reference appends a value that can be nil.
func (m *memory) reference(v reflect.Value) {
	if v.IsNil() {
		m.text = append(m.text, '-')
		return
	}
	m.text = append(m.text, '*')
	switch v.Kind() {
	case reflect.Pointer:
		m.value(v.Elem())
	case reflect.Interface:
		m.text = fmt.Appendf(m.text, "%s:", v.Elem().Type())
		m.value(v.Elem())
	case reflect.Slice:
		m.text = strconv.AppendInt(m.text, int64(v.Len()), 10)
		m.elements(v.Slice(0, v.Cap())) // a lock can reach the elements beyond the length
	case reflect.Map:
		if !m.again(v.Pointer(), v.Type()) {
			m.pairs(v)
		}
	case reflect.Chan:
		if !m.again(v.Pointer(), v.Type()) {
			m.text = fmt.Appendf(m.text, "%d/%d", v.Len(), v.Cap())
		}
	case reflect.Func:
		m.text = append(m.text, runtime.FuncForPC(v.Pointer()).Name()...) // addresses change from build to build
	}
}

func (m *memory) elements(v reflect.Value) {
	m.text = append(m.text, '[')
	for i := range v.Len() {
		m.value(v.Index(i))
		m.text = append(m.text, ',')
	}
	m.text = append(m.text, ']')
}

// pairs appends the entries of a map in the order of their texts, each of which is written as
// if it were the first.
func (m *memory) pairs(v reflect.Value) {
	type pair struct {
		text       string
		key, value reflect.Value
	}
	var all []pair
	for it := v.MapRange(); it.Next(); {
		one := memory{seen: maps.Clone(m.seen)}
		one.value(it.Key())
		one.value(it.Value())
		all = append(all, pair{string(one.text), it.Key(), it.Value()})
	}
	slices.SortFunc(all, func(a, b pair) int { return strings.Compare(a.text, b.text) })
	for _, p := range all {
		m.value(p.key)
		m.text = append(m.text, '=')
		m.value(p.value)
		m.text = append(m.text, ';')
	}
}

func (m *memory) structure(v reflect.Value) {
	switch t := v.Type(); {
	case foreign(t):
	case t == reflect.TypeFor[sync.Map]() && v.CanAddr():
		entries := map[any]any{}
		(*sync.Map)(v.Addr().UnsafePointer()).Range(func(key, value any) bool {
			entries[key] = value
			return true
		})
		m.pairs(reflect.ValueOf(entries))
	case t.PkgPath() == reflect.TypeFor[atomic.Bool]().PkgPath() && strings.HasPrefix(t.Name(), "Pointer["):
		to := t.Field(0).Type.Elem().Elem() // that field has the type [0]*T
		m.value(reflect.NewAt(to, v.FieldByName("v").UnsafePointer()))
	default:
		m.text = append(m.text, '{')
		for i := range v.NumField() {
			m.value(v.Field(i))
			m.text = append(m.text, ' ')
		}
		m.text = append(m.text, '}')
	}
}

// foreign reports whether a type is a connection, or belongs to the simulator.
func foreign(t reflect.Type) bool {
	return slices.Contains(connections, t) || t.PkgPath() == reflect.TypeFor[process.Client]().PkgPath()
}

// connections are found without TypeFor: that is generic, and for it the compiler would wrap all
// 2,000 methods of a client once more.
var connections = []reflect.Type{reflect.TypeOf((*redis.Client)(nil)).Elem(), reflect.TypeOf((*redis.Conn)(nil)).Elem(),
	reflect.TypeOf((*redis.PubSub)(nil)).Elem()}
