package trace

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/fnv"
)

// hashVersion opens the text that is hashed. A change of the encoding below changes
// it as well, so that no hash of one encoding is taken for one of another.
const hashVersion = "lockstep events 1\n"

// Seal computes the trace's hash: FNV-1a, 64 bits, over the canonical encoding of
// its events.
//
// Two runs have one hash if they have the same steps in the same order at the same
// instants. So a field belongs into the encoding if it is a fact of the run: the client and
// the node, the acquisition, phase and command, the event that it answers; the command, the
// reply and the changes; every instant and number. Fields that only describe facts do not
// belong there:
//
//   - Note is prose for people: an error's text, which belongs to go-redis or to
//     Go's net package as often as to us, or the words for a fault. The kind of
//     the event, its By and its consequences are encoded, and the fault itself
//     stands in the trace's schedule.
//   - Source is a line of a file of strategies. An edited comment moves it.
//   - The words of the printed line, and names of clients and nodes, are how a
//     person sees an event; indices are encoded.
//
// Kinds and phases are encoded by name, because a new one moves the numbers of
// those after it. Notes, violations and the verdict aren't events.
func (t *Trace) Seal() {
	h := fnv.New64a()
	b := []byte(hashVersion)
	for i := range t.Events {
		b = t.Events[i].appendCanonical(b)
		h.Write(b) //nolint:errcheck // a hash never fails
		b = b[:0]
	}
	t.Hash = fmt.Sprintf("%016x", h.Sum64())
}

// Same reports whether two events are the same facts, whatever the words for them.
func (e *Event) Same(o *Event) bool {
	return bytes.Equal(e.appendCanonical(nil), o.appendCanonical(nil))
}

// appendCanonical appends the event's encoding. It is unambiguous: the fields have
// a fixed order, texts and lists begin with their length, and numbers end where
// their own bytes say so.
func (e *Event) appendCanonical(b []byte) []byte {
	b = appendNumbers(b, int64(e.Seq), int64(e.At))
	b = appendText(b, e.Kind.String())
	b = appendNumbers(b, int64(e.Client), int64(e.Thread), int64(e.Node))
	b = appendText(b, e.Phase.String())
	b = appendNumbers(b, int64(e.Cycle), int64(e.Command), int64(e.Acq), int64(e.Ref))
	b = appendTruth(b, e.Copy)
	b = binary.AppendUvarint(b, uint64(len(e.Args)))
	for _, a := range e.Args {
		b = appendText(b, a)
	}
	b = appendText(b, e.Reply)
	b = binary.AppendUvarint(b, uint64(len(e.Changes)))
	for i := range e.Changes {
		c := &e.Changes[i]
		b = appendText(b, c.Key)
		b = appendTruth(b, c.Stored)
		b = c.Before.appendCanonical(b)
		b = c.After.appendCanonical(b)
	}
	b = appendText(b, e.Token)
	return appendNumbers(b, int64(e.By), e.Fence, e.Value, e.Version)
}

// appendCanonical appends the record's encoding; nil, an absent key, has one too.
func (r *Record) appendCanonical(b []byte) []byte {
	b = appendTruth(b, r != nil)
	if r == nil {
		return b
	}
	return appendNumbers(appendText(b, r.Value), int64(r.Expires))
}

func appendNumbers(b []byte, all ...int64) []byte {
	for _, n := range all {
		b = binary.AppendVarint(b, n)
	}
	return b
}

func appendText(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

func appendTruth(b []byte, is bool) []byte {
	if is {
		return append(b, 1)
	}
	return append(b, 0)
}
