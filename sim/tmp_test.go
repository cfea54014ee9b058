package sim
import ("testing";"time";"context";"fmt";"lockstep/strategies";"github.com/redis/go-redis/v9")
func TestTmpTiming(t *testing.T) {
	for _, s := range []string{"setpx-lua","redlock"} {
		cfg := config(t, s, "A","B","C")
		t0:=time.Now()
		w,err:=New(cfg); if err!=nil {t.Fatal(err)}
		t1:=time.Now()
		for range 100 { w.Reset(cfg,true); for w.Step(SetOf(0,1,2)) {}; w.Aftermath() }
		t2:=time.Now()
		n:=w.events
		w.Close()
		fmt.Println(s, t1.Sub(t0), t2.Sub(t1)/100, n, time.Since(t2))
	}
}
type tl struct{ acq func(ctx context.Context) (*strategies.Lease, error) }
func (l tl) Acquire(ctx context.Context) (*strategies.Lease, error) { return l.acq(ctx) }
func (l tl) Release(ctx context.Context, _ *strategies.Lease) error { return nil }
func TestTmpWatchLeak(t *testing.T) {
	cfg := config(t, "setnx", "A")
	cfg.Strategy = strategies.Strategy{Name:"toy", Nodes:1, Timeout: 3*time.Second, New: func(nodes []*redis.Client, key string, o strategies.Options) strategies.Lock {
		return tl{func(ctx context.Context) (*strategies.Lease, error) {
			return &strategies.Lease{}, nodes[0].Watch(ctx, func(tx *redis.Tx) error {
				tx.Get(ctx, key)
				_, err := tx.TxPipelined(ctx, func(p redis.Pipeliner) error { p.Set(ctx, key, "x", 0); return nil})
				return err
			}, key)
		}}
	}}
	w := newWorld(t, cfg)
	for i := range 8 {
		t0 := time.Now()
		w.Reset(cfg, true)
		for range 6 { w.Step(SetOf(0)) }
		w.Inject(Crash{"A"})
		fmt.Println(i, time.Since(t0), w.clients[0].redis[0].PoolStats().TotalConns, w.clients[0].redis[0].PoolStats().IdleConns, len(w.clients[0].conns))
	}
	tr,_ := w.Trace(); fmt.Println(tr.Line(&tr.Events[len(tr.Events)-2]))
}
func TestTmpNode(t *testing.T) {
	n, _ := newNode(0); n.reset(NodeConfig{})
	p := newPeer(n.epoch)
	do := func(args ...string) { r, _ := n.execute(0, p, args); fmt.Printf("%v -> %q\n", args, r) }
	do("SET","k","v","PX","1600"); do("TTL","k"); do("MULTI"); do("TTL","k"); do("EXEC")
	do("EVAL","return redis.call('ttl',KEYS[1])","1","k")
	do("EVAL","return redis.call('TTL',KEYS[1])","1","k")
	do("EVAL","return redis.pcall('TTL')","0")
	do("TTL")
}
