package explore

import (
	"testing"

	"lockstep/sim/testenv"
	"lockstep/strategies"
)

// TestFaithfulRemembering: a search in which histories don't join between two cycles agrees
// with the engine as well.
func TestFaithfulRemembering(t *testing.T) {
	t.Parallel()
	for _, s := range strategies.All() {
		t.Run(s.Name, func(t *testing.T) {
			t.Parallel()
			b := Defaults(s)
			b.Faults, b.Remembers = Budget{1, 3, 1, 1, 1, 1, 1, 1, Evict: 1}, true
			expectAgreement(t, b, 100)
		})
	}
}

// TestRememberingFindsTheSame: for locks that keep their state in fields, if they have any,
// Remembers makes no difference to the violations that are found.
func TestRememberingFindsTheSame(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"naive-del", "setpx-lua", "getset-equal", "reentrant"} {
		if !testenv.Whole() && name != "naive-del" {
			continue
		}
		s, known := strategies.Get(name)
		if !known {
			t.Fatal(name)
		}
		b := Defaults(s)
		joined, err := Run(t.Context(), b, Options{})
		if err != nil {
			t.Fatal(err)
		}
		b.Remembers = true
		apart, err := Run(t.Context(), b, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if apart.States < joined.States {
			t.Errorf("%s: %d states where all is remembered, and %d where cycles join", name, apart.States, joined.States)
		}
		if len(joined.Violated) != len(apart.Violated) {
			t.Fatalf("%s: %d violations, and %d where all is remembered", name, len(joined.Violated), len(apart.Violated))
		}
		for i, v := range joined.Violated {
			if w := apart.Violated[i]; v.Code != w.Code || v.Trace.Schedule != w.Trace.Schedule {
				t.Errorf("%s: %s by %s, and %s by %s", name, v.Code, v.Trace.Schedule, w.Code, w.Trace.Schedule)
			}
		}
	}
}
