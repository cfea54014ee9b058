package behaviour

import (
	"slices"

	"lockstep/sim/explore/intern"
	"lockstep/sim/explore/readings"
	"lockstep/sim/process"
)

// maxTold is the number of readings of those who write one text, beyond which nothing is known.
const maxTold = 8

// told keeps a threshold of a reading, if it is known who wrote all texts that the code has seen.
func (f *finder) told(from uint32, v int64, path []step) {
	since, texts, others := f.readBefore(from), f.heard(from), false
	for _, e := range path {
		texts = append(texts, f.texts(e.seen)...)
	}
	for _, text := range texts {
		if len(text) <= 3 || f.k.tokens.At(text) == len(text) {
			continue
		}
		by := f.authors()[text]
		if since, others = append(since, by...), true; len(by) == 0 || len(by) > maxTold {
			return
		}
	}
	slices.Sort(since)
	t := Told{At: v, Since: slices.Compact(since)}
	if others && !slices.ContainsFunc(f.found.Told, func(o Told) bool { return o.At == v && slices.Equal(o.Since, t.Since) }) {
		f.found.Told = append(f.found.Told, t)
	}
}

// texts lists the payloads of an observed reply.
func (f *finder) texts(seen Observation) []string {
	if seen.Kind != SawReply {
		return nil
	}
	return readings.Payloads(*f.k.Replies.Value(uint32(seen.Value)))
}

// heard lists the texts that a client was told in its cycle.
func (f *finder) heard(at uint32) (list []string) {
	for ; at != 0 && !f.k.At(at).BetweenCycles; at = f.k.At(at).parent {
		list = append(list, f.texts(f.k.At(at).seen)...)
	}
	return list
}

// authors lists for each text that a client was the first to send the readings that it had made before,
// in its cycle. A client that was told the text doesn't write it, and one that sends it again has read on.
func (f *finder) authors() map[string][]int64 {
	if f.written != nil {
		return f.written
	}
	f.written = map[string][]int64{}
	for id := range uint32(len(f.reached)) {
		sends := f.sends(id)
		if !f.reached[id] || len(sends) == 0 {
			continue
		}
		known := f.heard(id)
		for at := id; at != 0 && !f.k.At(at).BetweenCycles; {
			at = f.k.At(at).parent
			known = append(known, f.sends(at)...)
		}
		for _, text := range sends {
			for _, r := range f.readBefore(id) {
				if list := f.written[text]; len(list) <= maxTold && !slices.Contains(list, r) && !slices.Contains(known, text) {
					f.written[text] = append(list, r)
				}
			}
		}
	}
	return f.written
}

// sends lists the words of the commands that a client is about to send.
func (f *finder) sends(at uint32) (words []string) {
	h := f.k.At(at)
	for _, p := range h.Threads[:h.Count] {
		if p.Kind == process.OpSend && !p.Over {
			words = append(words, intern.Unpack(*f.k.commands.Value(p.Command))...)
		}
	}
	return words
}
