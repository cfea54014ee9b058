package intern

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"reflect"
)

// Kept is a table that can be written down and read again in another process, where each
// entry gets the id that it had. Ids go from 1 to Len. It must not grow meanwhile.
type Kept interface {
	Len() int
	// Append appends the entry with an id, in a form that says where it ends.
	Append(to []byte, id int) []byte
	// Restore reads the entry with an id, and returns the bytes after it. The ids before it
	// must have been restored. It fails if the table has another entry with this id already,
	// or this entry with another id.
	Restore(from []byte, id int) (rest []byte, err error)
}

// kept is a table by its functions.
type kept[V any] struct {
	len func() int
	at  func(id uint32) *V
	add func(V) (id uint32)
}

// Kept returns the memo as a table that can be kept. added, unless it is nil, is called with
// each id that is restored. Pointers in values are nil then.
func (m *Memo[K, V]) Kept(added func(id uint32)) Kept {
	return &kept[entry[K, V]]{m.Len, m.Entries.At, func(e entry[K, V]) uint32 {
		id := m.Put(e.Key, e.Value)
		if added != nil {
			added(id)
		}
		return id
	}}
}

// Kept returns the list, whose element 0 means none, as a table that can be kept. add adds an
// element.
func (c *Chunks[V]) Kept(add func(V) (id uint32)) Kept {
	return &kept[V]{func() int { return int(c.Count.Load()) - 1 }, c.At, add}
}

// Kept returns the table of lists as one that can be kept.
func (l *Lists[V]) Kept() Kept { return l.ids.Kept(nil) }

func (k *kept[V]) Len() int { return k.len() }

func (k *kept[V]) Append(to []byte, id int) []byte { return Append(to, k.at(uint32(id))) }

func (k *kept[V]) Restore(from []byte, id int) ([]byte, error) {
	if id <= k.len() {
		rest, same := bytes.CutPrefix(from, k.Append(nil, id))
		if !same {
			return nil, fmt.Errorf("number %d of %T is another one now", id, *k.at(uint32(id)))
		}
		return rest, nil
	}
	var v V
	rest, err := Read(from, &v)
	if err != nil {
		return nil, err
	}
	if got := k.add(v); int(got) != id {
		return nil, fmt.Errorf("number %d of %T is number %d now", id, v, got)
	}
	return rest, nil
}

// Append appends the value behind a pointer, of a type that is made of numbers, booleans,
// texts, arrays, slices and structs. Unexported fields count; pointers and functions are left
// out.
func Append(to []byte, value any) []byte { return appendValue(to, reflect.ValueOf(value).Elem()) }

func appendValue(to []byte, v reflect.Value) []byte {
	switch v.Kind() {
	case reflect.Bool:
		if v.Bool() {
			return append(to, 1)
		}
		return append(to, 0)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return binary.AppendVarint(to, v.Int())
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return binary.AppendUvarint(to, v.Uint())
	case reflect.String:
		return append(binary.AppendUvarint(to, uint64(v.Len())), v.String()...)
	case reflect.Slice:
		if v.IsNil() { // code tells that from an empty one
			return append(to, 0)
		}
		to = binary.AppendUvarint(to, 1+uint64(v.Len()))
		fallthrough
	case reflect.Array:
		for i := range v.Len() {
			to = appendValue(to, v.Index(i))
		}
		return to
	case reflect.Struct:
		for i := range v.NumField() {
			to = appendValue(to, v.Field(i))
		}
		return to
	case reflect.Pointer, reflect.Func:
		return to
	}
	panic("intern: a table keeps no " + v.Type().String())
}

// errShort is the error of bytes that end within a value.
var errShort = errors.New("a value is cut off")

// Read is the inverse of Append, and returns the bytes after the value. It fails if the bytes
// end before that.
func Read(from []byte, value any) (rest []byte, err error) {
	r := &reader{from: from}
	r.value(reflect.ValueOf(value).Elem())
	if r.short {
		return nil, errShort
	}
	return r.from, nil
}

type reader struct {
	from  []byte
	short bool
}

func (r *reader) value(v reflect.Value) {
	if !v.CanSet() { // an unexported field
		v = reflect.NewAt(v.Type(), v.Addr().UnsafePointer()).Elem()
	}
	switch v.Kind() {
	case reflect.Bool:
		b := r.bytes(1)
		v.SetBool(len(b) == 1 && b[0] != 0)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		n, size := binary.Varint(r.from)
		r.skip(size)
		v.SetInt(n)
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		v.SetUint(r.number())
	case reflect.String:
		v.SetString(string(r.bytes(r.number())))
	case reflect.Slice:
		n := r.number()
		if n > 1+uint64(len(r.from)) { // each element takes a byte
			r.short, n = true, 0
		}
		if n > 0 {
			v.Set(reflect.MakeSlice(v.Type(), int(n-1), int(n-1)))
		}
		r.elements(v)
	case reflect.Array:
		r.elements(v)
	case reflect.Struct:
		for i := range v.NumField() {
			r.value(v.Field(i))
		}
	}
}

func (r *reader) elements(v reflect.Value) {
	for i := range v.Len() {
		r.value(v.Index(i))
	}
}

func (r *reader) number() uint64 {
	n, size := binary.Uvarint(r.from)
	r.skip(size)
	return n
}

// skip goes on behind a number of this size, which is not above 0 if there is none.
func (r *reader) skip(size int) {
	if size <= 0 {
		r.short, size = true, 0
	}
	r.from = r.from[size:]
}

func (r *reader) bytes(n uint64) (b []byte) {
	if n > uint64(len(r.from)) {
		r.short, n = true, 0
	}
	b, r.from = r.from[:n], r.from[n:]
	return b
}
