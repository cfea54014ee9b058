package driver

import (
	"math"
	"reflect"
	"strings"

	"lockstep/sim/process"
)

// Fingerprint returns a digest of the state that the client's lock keeps in its own fields,
// pointers followed, and all texts in it. Values of the library and of the simulator, such
// as connections and clocks, don't count, and variables that closures capture can't be seen.
func (d *Driver) Fingerprint() (sum uint64, texts []string) {
	f := digest{seen: map[uintptr]bool{}, texts: &texts}
	f.value(reflect.ValueOf(d.client.Lock()))
	return f.sum, texts
}

// digest is a digest of values that are walked through with all that they refer to.
type digest struct {
	sum   uint64
	seen  map[uintptr]bool
	texts *[]string
}

func (d *digest) mix(v uint64) { d.sum = (d.sum^v)*0x9e3779b97f4a7c15 + v>>31 }

func (d *digest) value(v reflect.Value) {
	d.mix(uint64(v.Kind()))
	switch v.Kind() {
	case reflect.Pointer:
		if foreign(v.Type().Elem()) || v.IsNil() || d.seen[v.Pointer()] {
			return
		}
		d.seen[v.Pointer()] = true
		d.value(v.Elem())
	case reflect.Interface:
		d.value(v.Elem())
	case reflect.Struct:
		for i := range v.NumField() {
			d.value(v.Field(i))
		}
	case reflect.Slice, reflect.Array:
		d.mix(uint64(v.Len()))
		for i := range v.Len() {
			d.value(v.Index(i))
		}
	case reflect.Map:
		d.mapping(v)
	case reflect.String:
		*d.texts = append(*d.texts, v.String())
		for _, b := range []byte(v.String()) {
			d.mix(uint64(b))
		}
	default:
		d.word(v)
	}
}

// foreign reports whether a type belongs to the library or to the simulator.
func foreign(t reflect.Type) bool {
	return strings.HasPrefix(t.PkgPath(), "github.com/redis/go-redis/") || t.PkgPath() == reflect.TypeFor[process.Client]().PkgPath()
}

// mapping digests a map, whatever the order in which its keys come.
func (d *digest) mapping(v reflect.Value) {
	sum := uint64(v.Len())
	for it := v.MapRange(); it.Next(); {
		one := digest{seen: d.seen, texts: d.texts}
		one.value(it.Key())
		one.value(it.Value())
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
	case v.Kind() == reflect.Bool && v.Bool():
		d.mix(1)
	} // functions and channels have no content to digest
}
