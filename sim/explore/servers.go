package explore

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"lockstep/sim"
	"lockstep/sim/redis"
	"lockstep/sim/trace"
)

// errTimed is the error of a search that takes all times for alike, at the first
// look that anybody takes at true time: at a wall clock, or at a server's.
var errTimed = errors.New("true time matters")

// servers is what is known of how a node behaves. It grows by asking Redis.
type servers struct {
	lock     string
	timed    bool // true time belongs to the state
	replicas int
	memories *memo[string, redis.Snapshot] // by their text
	answers  *memo[question, answer]
	aged     *memo[aging, aged]
	lessened *memo[question, uint32] // memories without what a connection had begun on them
	commands *interned[string]
	replies  *interned[string]

	mu     sync.Mutex // of who asks Redis
	server *redis.Server
	ran    int
}

type question struct {
	memory uint32
	conn   uint16
	cmd    uint32
}

type answer struct {
	memory uint32
	reply  uint32
	effect trace.Effect
	asks   bool // it may depend on the server's clock
}

type aging struct {
	memory uint32
	by     int32
}

type aged struct {
	memory  uint32
	expired bool
}

func newServers(cfg sim.Config, k *clients, timed bool) (*servers, error) {
	server, err := redis.NewServer(cfg.Key)
	if err != nil {
		return nil, err
	}
	return &servers{server: server, lock: cfg.Key, memories: newMemo[string, redis.Snapshot](), answers: newMemo[question, answer](),
		aged: newMemo[aging, aged](), lessened: newMemo[question, uint32](),
		replicas: cfg.Replicas, timed: timed, commands: k.commands, replies: k.replies}, nil
}

// number is a memory's.
func (v *servers) number(m redis.Snapshot) uint32 {
	if !v.timed {
		m.Millis = 0
	}
	return v.memories.put(fmt.Sprintf("%#v", m), m)
}

// snapshot is that of a number.
func (v *servers) snapshot(id uint32) *redis.Snapshot { return &v.memories.entries.at(id).value }

// run is what a command of a connection does on a memory.
func (v *servers) run(q question) (answer, error) {
	if a, known := v.answers.get(q); known {
		return *a, nil
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if a, known := v.answers.get(q); known {
		return *a, nil
	}
	args := unpack(*v.commands.value(q.cmd))
	asks := v.snapshot(q.memory).AsksTime(args)
	if asks && !v.timed {
		return answer{}, errTimed
	}
	v.ran++
	reply, after, effect, err := v.server.Run(*v.snapshot(q.memory), int(q.conn), args)
	if err != nil {
		return answer{}, err
	}
	a := answer{memory: v.number(after), reply: v.replies.id(string(reply)), effect: effect, asks: asks}
	v.answers.put(q, a)
	return a, nil
}

// wait is the answer to a WAIT, if the command is one: of a node whose replicas
// have all that it has, but for those that have fallen behind or taken over. Redis
// would wait for them, and so must whoever asks for more.
func (v *servers) wait(q question, missing int) (a answer, is bool, err error) {
	args := unpack(*v.commands.value(q.cmd))
	if v.replicas == 0 || !strings.EqualFold(args[0], "WAIT") || len(args) != 3 {
		return answer{}, false, nil
	}
	have := v.replicas - missing
	if wants, err := strconv.Atoi(args[1]); err != nil || wants > have {
		return answer{}, true, fmt.Errorf("%s: the search answers a WAIT at once, and only %d replicas have it all", trace.CommandText(args), have)
	}
	return answer{memory: q.memory, reply: v.replies.id(fmt.Sprintf(":%d\r\n", have))}, true, nil
}

// age is what becomes of a memory in so many milliseconds.
func (v *servers) age(memory uint32, by int32) aged {
	key := aging{memory, by}
	if a, known := v.aged.get(key); known {
		return *a
	}
	older, expired := v.snapshot(memory).Age(int64(by), v.lock)
	a := aged{v.number(older), expired}
	v.aged.put(key, a)
	return a
}

// empty is the memory of a node that has lost it.
func (v *servers) empty(memory uint32) uint32 {
	return v.number(redis.Snapshot{Millis: v.snapshot(memory).Millis})
}

// replicated is what a replica has of a memory: its keys.
func (v *servers) replicated(memory uint32) uint32 {
	m := v.snapshot(memory)
	return v.number(redis.Snapshot{Keys: m.Keys, Millis: m.Millis})
}

// without is a memory without what a connection had begun on it.
func (v *servers) without(memory uint32, conn uint16) uint32 {
	key := question{memory: memory, conn: conn}
	if less, known := v.lessened.get(key); known {
		return *less
	}
	m := *v.snapshot(memory)
	less := memory
	if i := slices.IndexFunc(m.Peers, func(b redis.OpenTxn) bool { return b.Conn == int(conn) }); i >= 0 {
		m.Peers = slices.Delete(slices.Clone(m.Peers), i, i+1)
		less = v.number(m)
	}
	v.lessened.put(key, less)
	return less
}

// renamed is a memory in which a connection has another number.
func (v *servers) renamed(memory uint32, from, to uint16) uint32 {
	m := *v.snapshot(memory)
	i := slices.IndexFunc(m.Peers, func(b redis.OpenTxn) bool { return b.Conn == int(from) })
	if i < 0 {
		return memory
	}
	m.Peers = slices.Clone(m.Peers)
	m.Peers[i].Conn = int(to)
	slices.SortFunc(m.Peers, func(a, b redis.OpenTxn) int { return a.Conn - b.Conn })
	return v.number(m)
}
