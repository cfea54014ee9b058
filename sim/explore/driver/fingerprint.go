package driver

import (
	"cmp"
	"fmt"
	"iter"
	"maps"
	"math"
	"reflect"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/redis/go-redis/v9"

	"lockstep/sim/process"
)

// Fingerprint returns a digest of the state that the client's lock keeps in its own fields,
// pointers followed, and all texts in it. Which of them point to the same value counts, too, as
// code can compare pointers. Connections and the simulator's own values, such as clocks, don't
// count, but for which of them it is; of a function its code does, and not the variables that it
// has captured.
// It fails with [Unseen] if a field holds a value that can't be looked into.
func (d *Driver) Fingerprint() (f Fields, err error) {
	g := digest{seen: map[place]uint64{}, texts: &f.Texts, outline: new([]byte), unseen: &err}
	g.value(reflect.ValueOf(d.client.Lock()))
	f.Digest, f.Outline, f.Captures, f.Connected = g.sum, string(*g.outline), g.captures, g.connected
	return f, err
}

// Fields describes the contents of a lock's own fields.
type Fields struct {
	Digest uint64
	Texts  []string
	// Outline has the values that may tell in which state of a few the lock is: its integers, whether a value is true, nil or
	// empty, the lengths of slices and maps, and texts without digits. The content of maps, fractions, other texts and
	// bytes are left out.
	Outline string
	// Captures: there is a function that has variables from around it, or a receiver, which may remember things.
	Captures bool
	// Connected: there is a connection of the lock's own, which it has used and not closed.
	Connected bool
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
	sum     uint64
	seen    map[place]uint64 // the places that the walk has come to so far, numbered in that order
	texts   *[]string
	outline *[]byte  // nil in a map, whose entries come in no order of their own
	path    []string // of fields
	unseen  *error   // the first

	captures, connected bool
}

// place is where a variable is, or the content of a map or a channel. A struct begins where its
// first field does, so the type tells them apart.
type place struct {
	at   uintptr
	kind reflect.Type
}

// met reports whether the walk has come to a place before. The order in which it came to places
// tells them apart. All variables count, as a pointer may lead to a field of a struct, or to an
// element of an array.
func (d *digest) met(at uintptr, kind reflect.Type) (before bool) {
	p := place{at, kind}
	n, before := d.seen[p]
	if !before {
		n = uint64(len(d.seen)) + 1
		d.seen[p] = n
	}
	if d.mix(n); isConstant(at) { // it is a variable of the package, and not just one that is like it
		d.mix(uint64(at - origin))
	}
	return before
}

// sketch adds a text to the outline.
func (d *digest) sketch(text string) {
	if d.outline != nil {
		*d.outline = append(append(*d.outline, ' '), text...)
	}
}

// unsketched leaves something out of the outline.
func (d *digest) unsketched(walk func()) {
	outline := d.outline
	d.outline = nil
	walk()
	d.outline = outline
}

func (d *digest) mix(v uint64) { d.sum = (d.sum^v)*0x9e3779b97f4a7c15 + v>>31 }

// flag takes in one of two things. Both are mixed in: with one of them left out, neighbours could
// take each other's places.
func (d *digest) flag(is bool) {
	if d.sketch(strconv.FormatBool(is)); is {
		d.mix(2)
	} else {
		d.mix(1)
	}
}

// blind notes a value that can't be looked into.
func (d *digest) blind(t reflect.Type) {
	if *d.unseen == nil {
		*d.unseen = &Unseen{Field: strings.Join(d.path, "."), Type: t.String()}
	}
}

func (d *digest) value(v reflect.Value) {
	d.mix(uint64(v.Kind()))
	if v.CanAddr() && d.met(v.UnsafeAddr(), v.Type()) {
		return
	}
	switch v.Kind() {
	case reflect.Pointer:
		if d.flag(v.IsNil()); !v.IsNil() {
			d.value(v.Elem())
		}
	case reflect.Interface:
		if d.flag(v.IsNil()); !v.IsNil() {
			d.kind(v.Elem().Type())
			d.value(v.Elem())
		}
	case reflect.Struct:
		d.structure(v)
	case reflect.Slice:
		d.flag(v.IsNil()) // code can tell that from an empty one
		if d.mix(uint64(v.Len())); v.Type().Elem().Kind() == reflect.Uint8 {
			d.unsketched(func() { d.elements(v.Slice(0, v.Cap())) })
			break
		}
		d.sketch(strconv.Itoa(v.Len()))
		d.elements(v.Slice(0, v.Cap())) // code can reach those beyond the length, too
	case reflect.Array:
		d.elements(v)
	case reflect.Map:
		if d.flag(v.IsNil()); !v.IsNil() && !d.met(v.Pointer(), v.Type()) {
			d.mapping(v.Seq2())
		}
	case reflect.String:
		*d.texts = append(*d.texts, v.String())
		if d.text(v.String()); strings.ContainsAny(v.String(), "0123456789") {
			d.sketch("text")
		} else {
			d.sketch(strconv.Quote(v.String()))
		}
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

// kind digests a type. Those that are declared in functions may have one name, so where it stands in the program counts,
// too; of one that was made when it ran, where its parts do.
func (d *digest) kind(t reflect.Type) {
	d.text(t.PkgPath() + t.String())
	if at := reflect.ValueOf(t).Pointer(); isConstant(at) {
		d.mix(uint64(at - origin))
		return
	}
	switch t.Kind() {
	case reflect.Struct:
		for f := range t.Fields() {
			d.text(f.PkgPath)
			d.kind(f.Type)
		}
	case reflect.Func:
		for in := range t.Ins() {
			d.kind(in)
		}
		for out := range t.Outs() {
			d.kind(out)
		}
	case reflect.Map:
		d.kind(t.Key())
		d.kind(t.Elem())
	case reflect.Array, reflect.Slice, reflect.Pointer, reflect.Chan:
		d.kind(t.Elem())
	}
}

// elements digests those of an array, or of a slice.
func (d *digest) elements(v reflect.Value) {
	d.mix(uint64(v.Len()))
	for i := range v.Len() {
		d.value(v.Index(i))
	}
}

func (d *digest) text(s string) {
	d.mix(uint64(len(s)))
	for _, b := range []byte(s) {
		d.mix(uint64(b))
	}
}

// structure digests a struct. Of two types of Go's the content lies behind unsafe pointers.
func (d *digest) structure(v reflect.Value) {
	switch t := v.Type(); {
	case t == clientType:
		if base := v.FieldByName("baseClient"); !base.IsNil() { // or it is none that can be used
			d.hooks(base.Elem())
			d.options(base.Elem().FieldByName("opt"))
		}
	case t == connType:
		d.hooks(v.FieldByName("baseClient"))
		d.options(v.FieldByName("baseClient").FieldByName("opt"))
		d.closed(v.FieldByName("baseClient").FieldByName("connPool"))
	case t == pubsubType:
		d.flag(v.FieldByName("closed").Bool())
	case foreign(t):
	case t == reflect.TypeFor[sync.Map]() && v.CanAddr():
		m, entries := (*sync.Map)(v.Addr().UnsafePointer()), map[any]any{}
		m.Range(func(key, value any) bool {
			entries[key] = value
			return true
		})
		d.mapping(reflect.ValueOf(entries).Seq2())
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

// hooks digests the hooks that the lock has given to the library, which may remember things.
func (d *digest) hooks(base reflect.Value) {
	state := base.FieldByName("hooksMixin").FieldByName("state") // to an atomic.Pointer
	if state.IsNil() {
		return
	}
	to := state.Type().Elem().Field(0).Type.Elem().Elem()
	d.value(reflect.NewAt(to, state.Elem().FieldByName("v").UnsafePointer()).Elem().FieldByName("slice"))
}

// options digests those of a client, which code can change: numbers, texts and booleans.
func (d *digest) options(of reflect.Value) {
	if of.IsNil() {
		return
	}
	d.unsketched(func() {
		for _, i := range plainOptions {
			if v := of.Elem().Field(i); v.Kind() != reflect.String {
				d.word(v)
			} else if d.text(v.String()); v.Len() > 0 {
				*d.texts = append(*d.texts, v.String())
			}
		}
	})
}

// plainOptions are the fields of a client's options with nothing behind them.
var plainOptions = func() (all []int) {
	options := reflect.TypeFor[redis.Options]()
	for i := range options.NumField() {
		if k := options.Field(i).Type.Kind(); k <= reflect.Float64 || k == reflect.String {
			all = append(all, i)
		}
	}
	return all
}()

// closed digests whether a connection of the lock's own is closed, which the lock is told when it closes it again.
func (d *digest) closed(pool reflect.Value) {
	if d.flag(pool.IsNil()); pool.IsNil() {
		return
	}
	const connected, closed = 1, 2
	state := pool.Elem().Elem().FieldByName("state").FieldByName("v").Uint()
	d.flag(state == closed)
	d.connected = d.connected || state == connected
}

// channel digests a channel. An empty one is open or closed, and to receive from it takes
// nothing. The content of others can't be seen.
func (d *digest) channel(v reflect.Value) {
	switch d.flag(v.IsNil()); {
	case v.IsNil() || d.met(v.Pointer(), v.Type()):
	case v.Len() > 0 || v.Type().ChanDir() == reflect.SendDir || !v.CanAddr():
		d.blind(v.Type())
	default:
		d.mix(uint64(v.Cap()))
		readable := reflect.NewAt(v.Type(), v.Addr().UnsafePointer()).Elem()
		x, _ := readable.TryRecv()
		d.flag(x.IsValid()) // it is closed
	}
}

// foreign reports whether a type is a connection of the library's, or belongs to the simulator.
// All else of the library's, such as the command that it has returned, is the lock's to keep.
func foreign(t reflect.Type) bool {
	return slices.Contains(connections, t) || t.PkgPath() == reflect.TypeFor[process.Client]().PkgPath()
}

// clientType is found without TypeFor: that is generic, and for it the compiler would wrap all
// 2,000 methods of a client once more.
var clientType = reflect.TypeOf((*redis.Client)(nil)).Elem()

var (
	connType    = reflect.TypeOf((*redis.Conn)(nil)).Elem()
	pubsubType  = reflect.TypeOf((*redis.PubSub)(nil)).Elem()
	connections = []reflect.Type{clientType, connType, pubsubType}
)

// mapping digests the entries of a map, in an order that doesn't depend on that in which they
// come: that of their digests, each of which is taken as if it were the first.
func (d *digest) mapping(entries iter.Seq2[reflect.Value, reflect.Value]) {
	type entry struct {
		sum        uint64
		key, value reflect.Value
	}
	var all []entry
	for key, value := range entries {
		one := *d
		one.sum, one.seen, one.outline = 0, maps.Clone(d.seen), nil
		one.value(key)
		one.value(value)
		all = append(all, entry{one.sum, key, value})
	}
	slices.SortFunc(all, func(a, b entry) int { return cmp.Compare(a.sum, b.sum) })
	d.mix(uint64(len(all)))
	d.sketch(strconv.Itoa(len(all)))
	d.unsketched(func() {
		for _, e := range all {
			d.value(e.key)
			d.value(e.value)
		}
	})
}

// origin is where this program's code is. Processes of one program may have it in different
// places, and are to have equal digests.
var origin = reflect.ValueOf(process.CatchPanic).Pointer()

func (d *digest) word(v reflect.Value) {
	switch {
	case v.CanInt():
		d.mix(uint64(v.Int()))
		d.sketch(strconv.FormatInt(v.Int(), 10))
	case v.CanUint():
		d.mix(v.Uint())
		d.sketch(strconv.FormatInt(int64(v.Uint()), 10)) // a great one is as good as another
	case v.CanFloat():
		d.mix(math.Float64bits(v.Float()))
	case v.CanComplex():
		d.mix(math.Float64bits(real(v.Complex())))
		d.mix(math.Float64bits(imag(v.Complex())))
	case v.Kind() == reflect.Bool:
		d.flag(v.Bool())
	case v.Kind() == reflect.Func:
		d.mix(uint64(v.Pointer() - origin)) // its code
		if v.CanAddr() && !v.IsNil() {
			d.met(*(*uintptr)(v.Addr().UnsafePointer()), v.Type()) // which of the closures with that code
		}
		d.captures = d.captures || captures(v)
	}
}

// captures reports whether a function may have variables from around it. One that has none is a constant of the program,
// and so near to its code; others are made when it runs. Those of the simulator's, such as the one that draws tokens,
// remember nothing else.
func captures(v reflect.Value) bool {
	if v.IsNil() {
		return false
	}
	if v.CanAddr() && isConstant(*(*uintptr)(v.Addr().UnsafePointer())) {
		return false
	}
	return !strings.HasPrefix(runtime.FuncForPC(v.Pointer()).Name(), simulated)
}

// isConstant reports whether a place is part of the program, and so near to its code.
func isConstant(at uintptr) bool {
	const near = 1 << 28 // the size of a large program
	return max(at, origin)-min(at, origin) < near
}

// simulated begins the names of the simulator's own functions that locks get in their options.
var simulated = reflect.TypeFor[process.Client]().PkgPath() + "."
