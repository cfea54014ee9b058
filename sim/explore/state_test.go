package explore

import (
	"reflect"
	"testing"

	"lockstep/sim/monitor"
)

// TestNoByteIsLeftOver: what is compared and hashed all the time is one piece of
// memory. With a byte between its fields that is nobody's, it would be compared field
// by field, in twice the time.
func TestNoByteIsLeftOver(t *testing.T) {
	for _, v := range []any{client{}, monitor.Client{}, world{}, reply{}, listOf[reply]{}} {
		typ, used := reflect.TypeOf(v), uintptr(0)
		for i := range typ.NumField() {
			used += typ.Field(i).Type.Size()
		}
		if used != typ.Size() {
			t.Errorf("of the %d bytes of a %s its fields use %d", typ.Size(), typ.Name(), used)
		}
	}
}
