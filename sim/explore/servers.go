package explore

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"lockstep/sim"
)

// servers is what is known of how a node behaves. It grows by asking Redis.
type servers struct {
	mu       sync.Mutex
	server   *sim.Server
	lock     string
	texts    *interned[string] // memories, as text
	memories chunks[sim.Memory]
	answers  map[question]answer
	aged     map[aging]aged
	timed    bool // true time belongs to the state
	replicas int
	commands *interned[string]
	replies  *interned[string]
	ran      int
}

type question struct {
	memory uint32
	conn   uint16
	cmd    uint32
}

type answer struct {
	memory uint32
	reply  uint32
	effect sim.Effect
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
	server, err := sim.NewServer(cfg.Key)
	if err != nil {
		return nil, err
	}
	v := &servers{server: server, lock: cfg.Key, texts: newInterned[string](), answers: map[question]answer{}, aged: map[aging]aged{},
		replicas: cfg.Replicas, timed: timed, commands: k.commands, replies: k.replies}
	v.memories.add(sim.Memory{})
	return v, nil
}

// number is a memory's.
func (v *servers) number(m sim.Memory) uint32 {
	if !v.timed {
		m.Millis = 0
	}
	text := fmt.Sprintf("%#v", m)
	id := v.texts.id(text)
	if id == v.memories.n.Load() {
		v.memories.add(m)
	}
	return id
}

// run is what a command of a connection does on a memory.
func (v *servers) run(q question) (answer, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if a, known := v.answers[q]; known {
		return a, nil
	}
	args := unpack(*v.commands.value(q.cmd))
	asks := v.memories.at(q.memory).AsksTime(args)
	if asks && !v.timed {
		return answer{}, errTimed
	}
	v.ran++
	reply, after, effect, err := v.server.Run(*v.memories.at(q.memory), int(q.conn), args)
	if err != nil {
		return answer{}, err
	}
	a := answer{memory: v.number(after), reply: v.replies.id(string(reply)), effect: effect, asks: asks}
	v.answers[q] = a
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
		return answer{}, true, fmt.Errorf("%s: the search answers a WAIT at once, and only %d replicas have it all", sim.CommandText(args), have)
	}
	return answer{memory: q.memory, reply: v.replies.id(fmt.Sprintf(":%d\r\n", have))}, true, nil
}

// age is what becomes of a memory in so many milliseconds.
func (v *servers) age(memory uint32, by int32) aged {
	v.mu.Lock()
	defer v.mu.Unlock()
	key := aging{memory, by}
	if a, known := v.aged[key]; known {
		return a
	}
	older, expired := v.memories.at(memory).Age(int64(by), v.lock)
	a := aged{v.number(older), expired}
	v.aged[key] = a
	return a
}

// empty is the memory of a node that has lost it.
func (v *servers) empty(memory uint32) uint32 {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.number(sim.Memory{Millis: v.memories.at(memory).Millis})
}

// replicated is what a replica has of a memory: its keys.
func (v *servers) replicated(memory uint32) uint32 {
	v.mu.Lock()
	defer v.mu.Unlock()
	m := v.memories.at(memory)
	return v.number(sim.Memory{Keys: m.Keys, Millis: m.Millis})
}

// without is a memory without what a connection had begun on it.
func (v *servers) without(memory uint32, conn uint16) uint32 {
	v.mu.Lock()
	defer v.mu.Unlock()
	m := *v.memories.at(memory)
	i := slices.IndexFunc(m.Peers, func(b sim.Begun) bool { return b.Conn == int(conn) })
	if i < 0 {
		return memory
	}
	m.Peers = slices.Delete(slices.Clone(m.Peers), i, i+1)
	return v.number(m)
}

// renamed is a memory in which a connection has another number.
func (v *servers) renamed(memory uint32, from, to uint16) uint32 {
	v.mu.Lock()
	defer v.mu.Unlock()
	m := *v.memories.at(memory)
	i := slices.IndexFunc(m.Peers, func(b sim.Begun) bool { return b.Conn == int(from) })
	if i < 0 {
		return memory
	}
	m.Peers = slices.Clone(m.Peers)
	m.Peers[i].Conn = int(to)
	slices.SortFunc(m.Peers, func(a, b sim.Begun) int { return a.Conn - b.Conn })
	return v.number(m)
}
