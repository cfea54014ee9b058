package space

import (
	"reflect"
	"testing"

	"lockstep/sim/explore/flight"
	"lockstep/sim/monitor"
)

// TestNoByteIsLeftOver: values that are compared and hashed all the time have no padding.
// With padding between their fields they would be compared field by field, in twice the time.
func TestNoByteIsLeftOver(t *testing.T) {
	for _, v := range []any{client{}, monitor.Client{}, world{}, reply{}, flight.Request{}, struct { // as an intern.Lists[reply] has them
		n     int
		items [MaxList]reply
	}{}} {
		typ, used := reflect.TypeOf(v), uintptr(0)
		for i := range typ.NumField() {
			used += typ.Field(i).Type.Size()
		}
		if used != typ.Size() {
			t.Errorf("of the %d bytes of a %s its fields use %d", typ.Size(), typ.Name(), used)
		}
	}
}
