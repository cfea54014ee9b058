package adapter_test

import (
	"testing"

	"lockstep/scenarios"
	"lockstep/sim/adapter"
)

func TestSlice(t *testing.T) {
	p, err := adapter.Start("/usr/bin/python3 redis_py.py", "../../docs/adapters/python", 0)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	s, err := scenarios.Find("pause-past-ttl")
	if err != nil {
		t.Fatal(err)
	}
	tr, err := s.Run(p.Strategy(), 1)
	if err != nil {
		t.Fatal(err)
	}
	tr.Plain(t.Output())
	t.Log(p.Executions())
	scenarios.Close()
}
