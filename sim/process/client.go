package process

import (
	"context"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"reflect"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"

	"lockstep/sim/trace"
	"lockstep/strategies"
)

// Client is one simulated process: its clocks, its connections, one instance of
// the strategy, and the program that uses it.
//
// Invariant: Threads[i].Index == i, and Threads[0] is the main thread. Counts are those of
// the current run.
type Client struct {
	Index    int    // among the clients of its host
	Name     string // in traces and schedules, see [ValidName]
	Wall     WallClock
	Mono     MonoClock
	Threads  []*Thread // those that have ended included
	Acquired int       // calls of Acquire
	Tokens   int       // tokens drawn
	Draws    int       // random numbers drawn, other than for tokens

	rt       *Runtime
	addrs    []string
	resends  int
	program  func(*Thread)
	settings *Settings
	cfg      *Config
	rng      *rand.Rand
	redis    []*redis.Client
	conns    []*Conn
	lock     strategies.Lock
	lease    *strategies.Lease // the newest that it was granted
	exposes  bool              // its current lease has a deadline of the strategy's own
	promised time.Duration     // that deadline, as Acquire or Extend returned it
	making   bool              // its lock's constructor is running
}

// NewClient makes a process whose go-redis knows the addresses, and sends a command
// that was lost again up to resends times. Its program takes the lock as often as its
// configuration says.
func (rt *Runtime) NewClient(index int, name string, addrs []string, resends int) *Client {
	c := &Client{Index: index, Name: name, rt: rt, addrs: addrs, resends: resends}
	c.program = c.main
	for addr := range addrs {
		c.redis = append(c.redis, c.connect(addr))
	}
	c.Threads = []*Thread{{Client: c, Name: name}}
	rt.clients = append(rt.clients, c)
	return c
}

// hushGoRedis keeps the library from printing to standard error, where it would write
// across the player's screen. The trace shows the errors that it would print.
var hushGoRedis = sync.OnceFunc(func() { redis.SetLogger(hush{}) })

type hush struct{}

func (hush) Printf(context.Context, string, ...any) {}

// connect makes the client's go-redis for one address, with everything switched
// off that would act by itself, or by the machine's clock.
func (c *Client) connect(addr int) *redis.Client {
	client := redis.NewClient(&redis.Options{
		Addr: c.addrs[addr],
		// A dial never fails: that a node is down shows at the first command.
		// go-redis would back off in real time otherwise.
		Dialer: func(context.Context, string, string) (net.Conn, error) {
			if onChannel() {
				return nil, redis.ErrClosed // a goroutine of PubSub.Channel, which has been refused, connects anew
			}
			return c.Dial(addr), nil
		},
		OnConnect:                c.connected,
		Protocol:                 2, // RESP3 would look for push messages between commands
		MaxRetries:               maxRetries(c.resends),
		MinRetryBackoff:          -1, // go-redis would back off in real time
		DialerRetries:            1,
		ReadTimeout:              -2, // timeouts are the connection's, in virtual time
		WriteTimeout:             -2,
		ReadBufferSize:           bufferSize,
		WriteBufferSize:          bufferSize,
		PoolSize:                 64, // connections that killed threads have kept must not be missed within a run
		ConnMaxIdleTime:          -1,
		DisableIdentity:          true,
		MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled, EndpointType: maintnotifications.EndpointTypeNone}, // or go-redis 9.22 asks the DNS
	})
	lessenBuffers(client)
	return client
}

// bufferSize is the size of a connection's buffers, of which thousands are made in a search.
const bufferSize = 1024

// lessenBuffers gives the connections of subscriptions buffers of that size, too, if this version of go-redis
// keeps the sizes where 9.22 does: it makes these buffers of 32 KiB whatever its options say, and to clear them
// took a tenth of a search in which clients subscribe.
func lessenBuffers(client *redis.Client) {
	options := bufferOptions(client)
	if options.Kind() != reflect.Pointer {
		return
	}
	writable := reflect.NewAt(options.Type().Elem(), options.UnsafePointer())
	for _, name := range []string{"ReadBufferSize", "WriteBufferSize"} {
		if size := field(writable, name); size.Kind() == reflect.Int {
			size.SetInt(bufferSize)
		}
	}
}

// bufferOptions are the options of the connections that go-redis opens for subscriptions.
func bufferOptions(client *redis.Client) reflect.Value {
	return field(field(field(reflect.ValueOf(client), "baseClient"), "pubSubPool"), "opt")
}

// maxRetries is the go-redis option of that name, in which 0 would mean the default.
func maxRetries(resends int) int {
	if resends == 0 {
		return -1
	}
	return resends
}

// Dial opens a connection, as go-redis does through its Dialer.
func (c *Client) Dial(addr int) *Conn {
	c.rt.connecting.Lock() // go-redis dials on goroutines of its own
	defer c.rt.connecting.Unlock()
	conn := &Conn{Client: c, Addr: addr}
	conn.Line = c.rt.host.Dial(conn)
	c.conns = append(c.conns, conn)
	return conn
}

// Warm opens the connections, so that no run has to. It fails if a handshake does.
func (c *Client) Warm() error {
	defer c.rt.Prepare()()
	for _, r := range c.redis {
		if err := r.Ping(context.Background()).Err(); err != nil {
			return fmt.Errorf("cannot connect %s: %w", c.Name, err)
		}
	}
	return nil
}

// LoadScripts puts scripts into every node's cache, as if they had been used before. It
// fails if a node refuses one, which doesn't compile then.
func (c *Client) LoadScripts(scripts []*redis.Script) error {
	defer c.rt.Prepare()()
	for _, script := range scripts {
		for _, node := range c.redis {
			if err := script.Load(context.Background(), node).Err(); err != nil {
				return err
			}
		}
	}
	return nil
}

// Restore makes an abandoned client ready for Reset: it repairs the connection pools, and
// removes half-written commands from the connections. It returns the open connections. It
// fails if go-redis cannot close a broken pool.
func (c *Client) Restore() ([]*Conn, error) {
	c.Stop()
	if err := c.repairPool(); err != nil {
		return nil, err
	}
	open := c.conns[:0]
	for _, conn := range c.conns {
		if !conn.Closed && !conn.subscribes { // no pool takes back the connection of a PubSub
			conn.reset()
			open = append(open, conn)
		}
	}
	clear(c.conns[len(open):])
	c.conns = open
	return open, nil
}

// repairPool replaces a go-redis client whose pool has lost a connection. A thread that is
// killed while the library cleans up (a transaction sends UNWATCH when it is closed) never
// returns its connection. In production its process would be gone.
func (c *Client) repairPool() error {
	for addr, r := range c.redis {
		if !whole(r) {
			if err := r.Close(); err != nil {
				return err
			}
			c.redis[addr] = c.connect(addr)
		}
	}
	return nil
}

// Whole reports whether no pool has lost a connection to a killed thread: see Restore.
func (c *Client) Whole() bool {
	return !slices.ContainsFunc(c.redis, func(r *redis.Client) bool { return !whole(r) })
}

func whole(r *redis.Client) bool {
	s := r.PoolStats()
	return s.TotalConns == s.IdleConns
}

// Reset begins a new run with a new instance of the lock. Its main thread has
// announced that it starts. The client must have been restored.
func (c *Client) Reset(s *Settings, cfg *Config) {
	c.rt.forgetWords()
	c.settings, c.cfg = s, cfg
	c.Wall = WallClock{Offset: cfg.Offset, Rate: cfg.Rate}
	// Different origins: a strategy that sends a monotonic reading to another
	// process must not get away with it.
	c.Mono = MonoClock{Origin: time.Duration(c.Index+1) * 100 * time.Second, Rate: cfg.Rate}
	c.rng = source(s.Seed, c.Index)
	c.Tokens, c.Draws, c.Acquired, c.lease = 0, 0, 0, nil
	retry := s.Retry
	if c.Name == trace.Probe {
		retry = strategies.Retry{Tries: 1}
	}
	o := strategies.Options{TTL: s.TTL, Retry: retry, Clock: clientClock{c}, Token: c.token, Random: c.random, Go: c.spawn}
	c.making = true
	c.rt.enter(c)
	c.guard(new(bool), func() { c.lock = s.Strategy.New(c.lent(), s.Key, o) })
	c.rt.leave()
	c.making = false
	clear(c.Threads[1:])
	c.Threads = c.Threads[:1]
	c.Threads[0].start(c.program)
}

// lent returns the go-redis clients for one instance of the lock. They have the connections of
// the client's own, and are new: hooks that the lock gives them end with the run.
func (c *Client) lent() []*redis.Client {
	all := make([]*redis.Client, len(c.redis))
	for addr, r := range c.redis {
		all[addr] = r.WithTimeout(r.Options().ReadTimeout)
		all[addr].AddHook(timedCalls{c})
	}
	return all
}

// Sources reports whether operations carry the line of code that they come from.
func (c *Client) Sources() bool { return c.rt.Sources }

// Lock returns the client's instance of the lock.
func (c *Client) Lock() strategies.Lock { return c.lock }

// ExposesDeadline reports whether the client's current lease has a deadline of the
// strategy's own; if not, the host has given it one.
func (c *Client) ExposesDeadline() bool { return c.exposes }

// spawn starts another thread of the process, as the go statement does.
func (c *Client) spawn(run func()) {
	if c.making {
		panic(makes("starts a thread"))
	}
	c.begin(func(*Thread) { run() })
}

// ReleaseApart has another thread of the process release the newest lease, as the hook of a
// shutdown does. The main thread knows nothing of that, and releases the lease once more when
// it is through with its work.
func (c *Client) ReleaseApart() {
	lease := c.lease
	c.begin(func(t *Thread) { c.release(t, 0, lease) })
}

// begin starts a thread.
func (c *Client) begin(run func(*Thread)) {
	t := &Thread{Client: c, Index: len(c.Threads), Name: fmt.Sprintf("%s/%d", c.Name, len(c.Threads)+1)}
	t.start(run)
	t.Phase = trace.PhaseExtend
	c.Threads = append(c.Threads, t)
	c.rt.host.Started(t)
}

// Stop ends all threads, and the lock's resources besides its Redis clients.
func (c *Client) Stop() {
	for _, t := range c.Threads {
		t.Kill()
	}
	if s, stops := c.lock.(strategies.Stopper); stops {
		s.Stop()
	}
}

// Close ends all threads and connections.
func (c *Client) Close() error {
	c.Stop()
	var all error
	for _, r := range c.redis {
		all = errors.Join(all, r.Close())
	}
	return all
}

// token draws a token that is unique per acquisition and begins with the client's name. In
// production it would be random bytes, which are hard to follow on a screen.
func (c *Client) token() string {
	if c.settings.Tokens == SameTokens {
		return sameToken
	}
	c.Tokens++
	token := tokenText(c.Name, c.Tokens, c.rng)
	if c.settings.Retoken != nil {
		token = c.settings.Retoken(token)
	}
	return token
}

func tokenText(name string, number int, rng *rand.Rand) string {
	b := make([]byte, 0, 24)
	b = append(b, name...)
	b = strconv.AppendInt(b, int64(number), 10)
	b = append(b, '-')
	return string(hex.AppendEncode(b, binary.BigEndian.AppendUint16(nil, uint16(rng.Uint32()))))
}

const (
	// SeriesTokens is the number of tokens of a series.
	SeriesTokens = 12
	// SeriesFrom is the number of tokens before those of the first series. Tokens of series
	// are of equal length, so that one can take another's place in any text; and those that
	// were drawn before any series belong to none.
	SeriesFrom = 100
)

// BeginSeries makes the client draw its next tokens from a series of its own: the same each
// time that it begins the series, and others than in all other series.
func (c *Client) BeginSeries(n int) {
	c.rng, c.Tokens = seriesSource(c.settings.Seed, c.Index, n), SeriesFrom+n*SeriesTokens
}

// SeriesOf returns the tokens of a series of the client with this name and index.
func SeriesOf(seed uint64, name string, index, n int) []string {
	return tokensOf(name, SeriesFrom+n*SeriesTokens, SeriesTokens, seriesSource(seed, index, n))
}

// TokensOf returns the first 99 tokens of the client with this name and index, which it draws without series.
func TokensOf(seed uint64, name string, index int) []string {
	return tokensOf(name, 0, SeriesFrom-1, source(seed, index))
}

func tokensOf(name string, after, n int, rng *rand.Rand) (tokens []string) {
	for i := range n {
		tokens = append(tokens, tokenText(name, after+i+1, rng))
	}
	return tokens
}

func source(seed uint64, index int) *rand.Rand { return rand.New(rand.NewPCG(seed, uint64(index)+1)) }

func seriesSource(seed uint64, index, n int) *rand.Rand {
	return rand.New(rand.NewPCG(seed, uint64(index)+1+uint64(n)<<32))
}

// random draws a number from 0 to below. If the settings say so, that is a step of the thread
// whose code is running, and the host chooses the number.
func (c *Client) random(below time.Duration) time.Duration {
	c.rt.host.Drew()
	if c.settings.Draws && below > 0 {
		if c.making {
			panic(makes("draws a random number"))
		}
		t := clientClock{c}.thread()
		return min(max(0, t.do(Op{Kind: OpDraw, Below: below}).Reading), below-1)
	}
	c.Draws++
	return time.Duration(c.rng.Int64N(int64(below)))
}
