package explore

import (
	"context"
	"fmt"
	"os"
	"testing"
	"time"

	"lockstep/strategies"
)

func TestTry(t *testing.T) {
	name := os.Getenv("S")
	if name == "" {
		t.Skip()
	}
	s, _ := strategies.Get(name)
	b := Defaults(s)
	b.Faults = Budget{}
	b.Faults[Crash], b.Faults[Pause], b.Faults[ReplyLost] = 1, 2, 1
	start := time.Now()
	m, err := newModel(b)
	if err != nil {
		t.Fatal(err)
	}
	defer m.close()
	x := &search{model: m, seen: newVisited(m.width)}
	err = x.run(context.Background())
	_, n := x.seen.sizes()
	d := time.Since(start)
	fmt.Printf("%s: %v states %d transitions %d found %s in %s, %.0f states/s; ran %d ops %d commands; moments %d clients %d nodes %d memories %d worlds %d depth %d MB %d\n", name, err, n, x.followed.Load(), codes(x.found.Load()), d, float64(n)/d.Seconds(),
		m.k.ran, m.v.ran, m.k.moments.n.Load(), m.tables.clients.len(), m.tables.nodes.len(), m.v.memories.n.Load(), m.tables.worlds.len(), x.depth.Load(), x.seen.bytes()>>20)
}
