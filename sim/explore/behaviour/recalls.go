package behaviour

import (
	"fmt"
	"slices"
	"strings"

	"lockstep/sim/explore/places"
)

// A reading, or a value computed from it, may be kept in a field and decide in a later cycle. Few of the histories
// after a probe get so far. So of a lock that keeps something in its fields, probes are followed on few ways, and
// further: to where two cycles have ended that have left the same. The variables of closures can't be seen.

const (
	// recallDepth is the number of histories after a probe that are compared so.
	recallDepth = 240
	// capturedDepth is that number where closures may keep something, and nothing shows that two have the same:
	// through some cycles on one way, and then on others near its end.
	capturedDepth = 80
	// maxRecalls is the number of pieces of code that are run for that.
	maxRecalls = 15_000
	// maxCaptured is the same where closures may keep something.
	maxCaptured = 60_000
)

// probeMemories probes a lock that keeps something in its fields at places that were probed: the steps in later
// cycles; and at others, which differ from them in the lock's fields. Beyond, places are left out, and counted.
func (f *finder) probeMemories(probed, others []candidate) {
	if !f.keeps() {
		return
	}
	others, _ = few(others, func(c *candidate) string { return c.state }, func(c *candidate) string { return c.kept })
	shallow, most := f.probes, maxRecalls
	if f.k.memory.Closures {
		most = maxCaptured
	}
	f.probes = most
	f.probeEach(probed, f.recall)
	f.probes = most
	f.probeEach(others, f.probe)
	f.probes = shallow
}

// keepApart reports whether the lock has something else in its fields in one history of a pair than in the other: where
// their cycles have ended, and, if look is set, within them.
func (f *finder) keepApart(p *pair, look bool) bool {
	one, two := f.k.At(p.a), f.k.At(p.b)
	return one.kept != two.kept || look && !one.BetweenCycles && !f.k.memory.Closures && f.k.held(f.k.ranOn(p.a)) != f.k.held(f.k.ranOn(p.b))
}

// ranOn is where a client has come to from a history without observing anything: see runOn.
func (k *Clients) ranOn(id uint32) uint32 {
	out, known := k.Outcomes.Get(Transition{From: id})
	if !known || !k.unobserving(k.At(id)) || k.At(out.To).BetweenCycles {
		return id
	}
	return k.ranOn(out.To)
}

// held is a digest of the lock's fields at a history, or 0 if its code has failed there.
func (k *Clients) held(id uint32) uint64 {
	if _, known := k.holds[id]; !known {
		r, err := k.take(id)
		if k.holds[id] = 0; err == nil {
			if r.at == id || k.replay(r, id) == nil {
				kept, _ := r.driver.Fingerprint()
				k.holds[id] = kept.Digest
			}
			k.giveBack(r, nil)
		}
	}
	return k.holds[id]
}

// keeps reports whether the fields of a lock differ where cycles have ended or after a probe, or variables that closures have captured may.
func (f *finder) keeps() bool {
	if f.k.memory.Closures || f.leaves {
		return true
	}
	first := map[int]uint64{} // by client
	for id, reached := range f.reached {
		if !reached {
			continue
		}
		h := f.k.At(uint32(id))
		if was, any := first[h.client]; h.kept != 0 && any && was != h.kept {
			return true
		} else if h.kept != 0 {
			first[h.client] = h.kept
		}
	}
	return false
}

// recall is probe for the steps in later cycles, after the probes of up to two TTLs.
func (f *finder) recall(from uint32, group []measured) {
	origin, list := f.probesOf(from, group)
	f.states = true
	defer func() { f.states = false }()
	for _, v := range list {
		if f.probes > 0 && f.ctx.Err() == nil && v <= origin+2*f.k.cfg.TTL.Milliseconds()+1 {
			f.compareProbe(from, group[0], v, f.followFar)
		}
	}
}

// followFar is follow that goes further, on fewer ways.
func (f *finder) followFar(from uint32, a, b measured) {
	stack, most := []*pair{{a: a.to, b: b.to}}, recallDepth
	if f.k.memory.Closures {
		most = capturedDepth
	}
	for n := 0; len(stack) > 0 && n < most; n++ {
		at := (len(stack) - 1) * (1 - n%2) // by turns the last and the first: one way alone may have no end
		p := stack[at]
		stack = slices.Delete(stack, at, at+1)
		if p.a == p.b {
			continue
		}
		if f.differs(from, a, b, p) {
			return
		}
		if kept := f.k.At(p.a).kept; kept != 0 && kept == f.k.At(p.b).kept && !f.k.memory.Closures {
			continue
		}
		for _, x := range slices.Backward(f.oneOfEach(p, b)) {
			stack = f.followed(stack, p, x)
		}
	}
}

// oneOfEach lists transitions from one history of a pair or the other: of replies that differ in numbers and tokens
// alone the first and the last, as code may compare them with values it keeps; of each clock the least reading, and of that which
// was probed one that isn't before the probe, if there is such.
func (f *finder) oneOfEach(p *pair, probe measured) (list []edge) {
	place := map[string]int{}
	for _, x := range f.childrenOf(p) {
		kind := fmt.Sprint(x.thread, " ", x.seen.Kind)
		if x.seen.Kind == SawReply {
			kind += places.Masked(*f.k.Replies.Value(uint32(x.seen.Value)), f.k.tokens.At)
		}
		for _, kind := range []string{kind, kind + ", later"} {
			i, known := place[kind]
			if !known {
				place[kind] = len(list)
				list = append(list, x)
				break
			} else if x.seen.Kind != SawReply && (x.seen.Kind != probe.seen.Kind || list[i].seen.Value >= min(probe.value, x.seen.Value)) {
				break
			} else if strings.HasSuffix(kind, ", later") {
				list[i] = x
			}
		}
	}
	return list
}
