package driver

import (
	"fmt"
	"iter"
	"math"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/redis/go-redis/v9"

	"lockstep/sim/process"
)

// Fingerprint returns a digest of the state that the client's lock keeps in its own fields,
// pointers followed, and all texts in it. Connections and the simulator's own values, such as
// clocks, don't count; of a function its code does, and not the variables that it has captured.
// It fails with [Unseen] if a field holds what can't be looked into.
func (d *Driver) Fingerprint() (sum uint64, texts []string, err error) {
	f := digest{seen: map[uintptr]bool{}, texts: &texts, unseen: &err}
	f.value(reflect.ValueOf(d.client.Lock()))
	return f.sum, texts, err
}

// Unseen is the error of a lock that keeps something in a field which can't be looked into.
type Unseen struct {
	Field string // its path from the lock
	Type  string // of the value there
}

// Error names the field and its type.
func (u *Unseen) Error() string { return fmt.Sprintf("the field %s (%s)", u.Field, u.Type) }

// digest is a digest of values that are walked through with all that they refer to.
type digest struct {
	sum    uint64
	seen   map[uintptr]bool
	texts  *[]string
	path   []string // of fields
	unseen *error   // the first
}

func (d *digest) mix(v uint64) { d.sum = (d.sum^v)*0x9e3779b97f4a7c15 + v>>31 }

// blind notes a value that can't be looked into.
func (d *digest) blind(t reflect.Type) {
	if *d.unseen == nil {
		*d.unseen = &Unseen{Field: strings.Join(d.path, "."), Type: t.String()}
	}
}

func (d *digest) value(v reflect.Value) {
	d.mix(uint64(v.Kind()))
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() {
			return
		}
		if d.mix(1); foreign(v.Type().Elem()) || d.seen[v.Pointer()] {
			return
		}
		d.seen[v.Pointer()] = true
		d.value(v.Elem())
	case reflect.Interface:
		if !v.IsNil() {
			d.text(v.Elem().Type().String())
			d.value(v.Elem())
		}
	case reflect.Struct:
		d.structure(v)
	case reflect.Slice, reflect.Array:
		d.mix(uint64(v.Len()))
		for i := range v.Len() {
			d.value(v.Index(i))
		}
	case reflect.Map:
		d.mapping(uint64(v.Len()), v.Seq2())
	case reflect.String:
		*d.texts = append(*d.texts, v.String())
		d.text(v.String())
	case reflect.Chan:
		d.channel(v)
	case reflect.UnsafePointer:
		if !v.IsNil() {
			d.blind(v.Type())
		}
	default:
		d.word(v)
	}
}

func (d *digest) text(s string) {
	for _, b := range []byte(s) {
		d.mix(uint64(b))
	}
}

// structure digests a struct. Of two types of Go's the content lies behind unsafe pointers.
func (d *digest) structure(v reflect.Value) {
	switch t := v.Type(); {
	case foreign(t):
	case t == reflect.TypeFor[sync.Map]() && v.CanAddr():
		m, entries := (*sync.Map)(v.Addr().UnsafePointer()), map[any]any{}
		m.Range(func(key, value any) bool {
			entries[key] = value
			return true
		})
		d.mapping(uint64(len(entries)), reflect.ValueOf(entries).Seq2())
	case t.PkgPath() == "sync/atomic" && strings.HasPrefix(t.Name(), "Pointer["):
		to := t.Field(0).Type.Elem().Elem() // that field has the type [0]*T
		d.value(reflect.NewAt(to, v.FieldByName("v").UnsafePointer()))
	default:
		for i := range v.NumField() {
			d.path = append(d.path, t.Field(i).Name)
			d.value(v.Field(i))
			d.path = d.path[:len(d.path)-1]
		}
	}
}

// channel digests a channel. An empty one is open or closed, and to receive from it takes
// nothing. The content of others can't be seen.
func (d *digest) channel(v reflect.Value) {
	switch {
	case v.IsNil():
	case v.Len() > 0 || v.Type().ChanDir() == reflect.SendDir || !v.CanAddr():
		d.blind(v.Type())
	default:
		d.mix(1)
		readable := reflect.NewAt(v.Type(), v.Addr().UnsafePointer()).Elem()
		if x, _ := readable.TryRecv(); x.IsValid() {
			d.mix(2) // it is closed
		}
	}
}

// foreign reports whether a type is a connection of the library's, or belongs to the simulator.
// All else of the library's, such as the command that it has returned, is the lock's to keep.
func foreign(t reflect.Type) bool {
	return slices.Contains(connections, t) || t.PkgPath() == reflect.TypeFor[process.Client]().PkgPath()
}

var connections = []reflect.Type{reflect.TypeFor[redis.Client](), reflect.TypeFor[redis.Conn](), reflect.TypeFor[redis.PubSub](), reflect.TypeFor[redis.Script]()}

// mapping digests the n entries of a map, whatever the order in which they come.
func (d *digest) mapping(n uint64, entries iter.Seq2[reflect.Value, reflect.Value]) {
	sum := n
	for key, value := range entries {
		one := *d
		one.sum = 0
		one.value(key)
		one.value(value)
		sum += one.sum
	}
	d.mix(sum)
}

func (d *digest) word(v reflect.Value) {
	switch {
	case v.CanInt():
		d.mix(uint64(v.Int()))
	case v.CanUint():
		d.mix(v.Uint())
	case v.CanFloat():
		d.mix(math.Float64bits(v.Float()))
	case v.CanComplex():
		d.mix(math.Float64bits(real(v.Complex())))
		d.mix(math.Float64bits(imag(v.Complex())))
	case v.Kind() == reflect.Bool && v.Bool():
		d.mix(1)
	case v.Kind() == reflect.Func:
		d.mix(uint64(v.Pointer())) // its code
	}
}
