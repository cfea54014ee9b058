package behaviour

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"lockstep/sim"
	"lockstep/sim/explore/intern"
	"lockstep/sim/redis"
	"lockstep/sim/trace"
)

// ErrTimed is the error of a search that takes all times for alike, at the first
// look that anybody takes at true time: at a wall clock, or at a server's.
var ErrTimed = errors.New("true time matters")

// Servers is what is known of how a node behaves. It grows by asking Redis.
type Servers struct {
	lock       string
	timed      bool // true time belongs to the state
	Replicas   int
	memories   *intern.Memo[string, redis.Snapshot] // by their text
	answers    *intern.Memo[Question, Answer]
	aged       *intern.Memo[aging, Aged]
	withoutTxn *intern.Memo[Question, uint32] // memories without what a connection had begun on them
	commands   *intern.Table[string]
	replies    *intern.Table[string]

	mu     sync.Mutex // of who asks Redis
	Server *redis.Server
	Ran    int
}

type Question struct {
	Snapshot uint32
	Conn     uint16
	Command  uint32
}

type Answer struct {
	Snapshot uint32
	Reply    uint32
	Effect   trace.Effect
	Asks     bool // it may depend on the server's clock
}

type aging struct {
	memory uint32
	by     int32
}

type Aged struct {
	Snapshot uint32
	Expired  bool
}

func NewServers(cfg sim.Config, k *Clients, timed bool) (*Servers, error) {
	server, err := redis.NewServer(cfg.Key)
	if err != nil {
		return nil, err
	}
	return &Servers{Server: server, lock: cfg.Key, memories: intern.NewMemo[string, redis.Snapshot](), answers: intern.NewMemo[Question, Answer](),
		aged: intern.NewMemo[aging, Aged](), withoutTxn: intern.NewMemo[Question, uint32](),
		Replicas: cfg.Replicas, timed: timed, commands: k.commands, replies: k.Replies}, nil
}

// ID is a memory's.
func (v *Servers) ID(m redis.Snapshot) uint32 {
	if !v.timed {
		m.Millis = 0
	}
	return v.memories.Put(fmt.Sprintf("%#v", m), m)
}

// Snapshot is that of a number.
func (v *Servers) Snapshot(id uint32) *redis.Snapshot { return &v.memories.Entries.At(id).Value }

// Run is what a command of a connection does on a memory.
func (v *Servers) Run(q Question) (Answer, error) {
	if a, known := v.answers.Get(q); known {
		return *a, nil
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if a, known := v.answers.Get(q); known {
		return *a, nil
	}
	args := unpack(*v.commands.Value(q.Command))
	asks := v.Snapshot(q.Snapshot).AsksTime(args)
	if asks && !v.timed {
		return Answer{}, ErrTimed
	}
	v.Ran++
	reply, after, effect, err := v.Server.Run(*v.Snapshot(q.Snapshot), int(q.Conn), args)
	if err != nil {
		return Answer{}, err
	}
	a := Answer{Snapshot: v.ID(after), Reply: v.replies.ID(string(reply)), Effect: effect, Asks: asks}
	v.answers.Put(q, a)
	return a, nil
}

// Wait is the answer to a WAIT, if the command is one: of a node whose replicas
// have all that it has, but for those that have fallen behind or taken over. Redis
// would wait for them, and so must whoever asks for more.
func (v *Servers) Wait(q Question, missing int) (a Answer, is bool, err error) {
	args := unpack(*v.commands.Value(q.Command))
	if v.Replicas == 0 || !strings.EqualFold(args[0], "WAIT") || len(args) != 3 {
		return Answer{}, false, nil
	}
	have := v.Replicas - missing
	if wants, err := strconv.Atoi(args[1]); err != nil || wants > have {
		return Answer{}, true, fmt.Errorf("%s: the search answers a WAIT at once, and only %d replicas have it all", trace.CommandText(args), have)
	}
	return Answer{Snapshot: q.Snapshot, Reply: v.replies.ID(fmt.Sprintf(":%d\r\n", have))}, true, nil
}

// Age is what becomes of a memory in so many milliseconds.
func (v *Servers) Age(memory uint32, by int32) Aged {
	key := aging{memory, by}
	if a, known := v.aged.Get(key); known {
		return *a
	}
	older, expired := v.Snapshot(memory).Age(int64(by), v.lock)
	a := Aged{v.ID(older), expired}
	v.aged.Put(key, a)
	return a
}

// Empty is the memory of a node that has lost it.
func (v *Servers) Empty(memory uint32) uint32 {
	return v.ID(redis.Snapshot{Millis: v.Snapshot(memory).Millis})
}

// Replicated is what a replica has of a memory: its keys.
func (v *Servers) Replicated(memory uint32) uint32 {
	m := v.Snapshot(memory)
	return v.ID(redis.Snapshot{Keys: m.Keys, Millis: m.Millis})
}

// Without is a memory without what a connection had begun on it.
func (v *Servers) Without(memory uint32, conn uint16) uint32 {
	key := Question{Snapshot: memory, Conn: conn}
	if less, known := v.withoutTxn.Get(key); known {
		return *less
	}
	m := *v.Snapshot(memory)
	less := memory
	if i := slices.IndexFunc(m.Peers, func(b redis.OpenTxn) bool { return b.Conn == int(conn) }); i >= 0 {
		m.Peers = slices.Delete(slices.Clone(m.Peers), i, i+1)
		less = v.ID(m)
	}
	v.withoutTxn.Put(key, less)
	return less
}

// Renamed is a memory in which a connection has another number.
func (v *Servers) Renamed(memory uint32, from, to uint16) uint32 {
	m := *v.Snapshot(memory)
	i := slices.IndexFunc(m.Peers, func(b redis.OpenTxn) bool { return b.Conn == int(from) })
	if i < 0 {
		return memory
	}
	m.Peers = slices.Clone(m.Peers)
	m.Peers[i].Conn = int(to)
	slices.SortFunc(m.Peers, func(a, b redis.OpenTxn) int { return a.Conn - b.Conn })
	return v.ID(m)
}
