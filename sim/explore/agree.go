package explore

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"

	"lockstep/sim"
	"lockstep/sim/redis"
	"lockstep/sim/trace"
)

// agree plays one random complete schedule in both the search and the engine, and fails
// where they differ.
func (m *model) agree(w *sim.World, seed uint64) error {
	if err := w.Reset(m.cfg, false); err != nil {
		return err
	}
	rng := rand.New(rand.NewPCG(seed, 7))
	x := m.explorer()
	x.s.copyFrom(m.start())
	x.reduce = seed%2 == 0
	var all codes
	var path, choices []choice
	eager := rng.IntN(3) // faults come more or less often
	for {
		before := x.stateID()
		x.view(before)
		if choices = x.enabled(choices); len(choices) == 0 {
			break
		}
		c := choices[rng.IntN(len(choices))]
		for range eager {
			if c.kind != acts && c.kind != passes {
				c = choices[rng.IntN(len(choices))]
			}
		}
		counted := x.stats
		if x.choose(c); x.err != nil {
			return x.err
		}
		c.ops = x.ops
		path = append(path, c)
		if err := x.checkLocal(c, before, counted); err != nil {
			return fmt.Errorf("%w\n%s", err, m.text(path))
		}
		all |= x.found
		if err := w.Play(m.play(c), nil); err != nil {
			return err
		}
		if err := m.differ(x, w, all); err != nil {
			return fmt.Errorf("after %d choices of schedule %d %w\n%s", len(path), seed, err, m.text(path))
		}
	}
	if !x.over() {
		return nil // the bound on switches has ended the schedule early
	}
	dead := x.deadlocked()
	if x.err != nil {
		return x.err
	}
	if err := w.Drain(); err != nil {
		return err
	}
	if real := slices.Contains(w.Verdict(), trace.PD); dead != real {
		return fmt.Errorf("at the end of schedule %d the search says %t to a permanent deadlock, and the engine %t\n%s", seed, dead, real, m.text(path))
	}
	return nil
}

// checkLocal fails if the choice that was made last is a local step, and leads to another
// state as such.
func (x *explorer) checkLocal(c choice, before []uint32, counted stats) error {
	if !x.reduce {
		return nil
	}
	after, stats := x.stateID(), x.stats
	x.stats = counted
	if to, local := x.localStep(c, before, nil); local && (!slices.Equal(to, after) || x.stats != stats || x.found != 0) {
		return fmt.Errorf("the search takes a step of client %d for its own business, and it isn't", c.who)
	}
	x.stats = stats
	return nil
}

// text is a path as the line of a schedule.
func (m *model) text(path []choice) string {
	return sim.Schedule{Config: m.cfg, Moves: m.schedule(path)}.String()
}

// differ fails unless the search and the engine agree on violations, clients and nodes.
func (m *model) differ(x *explorer, w *sim.World, found codes) error {
	if real := codesOf(w.Verdict()) & searched; found != real {
		return fmt.Errorf("the search finds %s, and the engine %s", found, real)
	}
	if a, b := x.picture(make([]byte, 0, 512)), m.picture(make([]byte, 0, 512), w); !bytes.Equal(a, b) {
		return fmt.Errorf("the search has\n%s\nand the engine\n%s", a, b)
	}
	return nil
}

// picture describes a state of the search by what a world shows, too: see model.picture.
func (x *explorer) picture(text []byte) []byte {
	for i := range x.bounds.Clients {
		c := &x.s.clients[i]
		paused := c.paused && c.Phase != trace.PhaseIdle // between cycles it makes no difference
		text = clientPicture(text, i, c.Crashed, c.Phase, int(c.Acquired), c.Live, c.Inside, paused)
	}
	for i, n := range x.s.nodes {
		text = nodePicture(text, i)
		for _, k := range x.servers.Snapshot(n.snapshot).Keys {
			text = keyPicture(text, k.Name, k.Value, k.Left)
			if k.Name == x.cfg.RecordKey() {
				text = ownerPicture(text, int(n.owner.Client), int(n.owner.N))
			}
		}
	}
	return text
}

func (m *model) picture(text []byte, w *sim.World) []byte {
	s := w.State()
	for i := range m.bounds.Clients {
		c := &s.Clients[i]
		paused := c.Paused && c.Phase != trace.PhaseIdle
		text = clientPicture(text, i, c.Crashed, c.Phase, c.Acquired, c.Lease.Live, c.Lease.Inside, paused)
	}
	for addr, i := range s.Primary {
		text = nodePicture(text, addr)
		for _, r := range s.Nodes[i].Records {
			left := redis.Immortal
			if r.Expires != trace.Never {
				left = r.Left(w.Now()).Milliseconds()
			}
			text = keyPicture(text, r.Key, r.Value, left)
			if r.Key == m.cfg.RecordKey() {
				text = ownerPicture(text, r.Owner.Client, r.Owner.N)
			}
		}
	}
	return text
}

func clientPicture(text []byte, i int, crashed bool, phase trace.Phase, acquired int, live, inside, paused bool) []byte {
	text = append(append(text, names[i]...), ' ')
	if crashed {
		return append(text, "crashed\n"...)
	}
	text = append(text, phase.String()...)
	text = strconv.AppendInt(append(text, ", acquisition "...), int64(acquired), 10)
	text = strconv.AppendBool(append(text, ", live "...), live)
	text = strconv.AppendBool(append(text, ", inside "...), inside)
	text = strconv.AppendBool(append(text, ", paused "...), paused)
	return append(text, '\n')
}

func nodePicture(text []byte, i int) []byte {
	return append(strconv.AppendInt(append(text, 'n'), int64(i+1), 10), '\n')
}

func keyPicture(text []byte, name, value string, left int64) []byte {
	text = append(append(append(append(text, ' '), name...), '='), value...)
	if left != redis.Immortal {
		text = append(strconv.AppendInt(append(text, " for "...), left, 10), "ms"...)
	}
	return append(text, '\n')
}

func ownerPicture(text []byte, client, n int) []byte {
	text = strconv.AppendInt(append(text, " of "...), int64(client), 10)
	return append(strconv.AppendInt(append(text, '/'), int64(n), 10), '\n')
}
