package redis

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"lockstep/sim/trace"
)

// Type is the type of a key's value.
type Type uint8

// The types that a node can write back: into a snapshot, to its disk, to a replica. A value
// of any other type only stays where it is.
const (
	String Type = iota
	Hash
	List
	Set
	ZSet
	otherType
)

// shares reports whether clients commonly share a value of the type, each with items of its
// own in it.
func (t Type) shares() bool { return t == List || t == Set || t == ZSet }

var typeNames = [...]string{Hash: "hash", List: "list", Set: "set", ZSet: "zset"}

// Key is one key with its value and its remaining life.
//
// Invariant: equal values of a type other than String have equal Items.
type Key struct {
	Name  string
	Type  Type
	Value string   // of a String; for other types the Items as text
	Items []string // fields and values, by field; elements, in order; members, sorted; or members and scores, by member
	Left  int64    // whole milliseconds of life after the current one, or Immortal
}

// Renamed returns the key with another text in place of each word in it.
func (k Key) Renamed(text func(string) string) Key {
	k.Name = text(k.Name)
	if k.Type == String {
		k.Value = text(k.Value)
		return k
	}
	k.Items = slices.Clone(k.Items)
	for i, item := range k.Items {
		k.Items[i] = text(item)
	}
	k.Value = k.Type.arrange(k.Items)
	return k
}

// ValueText returns a value as records show it. typeName is the reply to TYPE, and items is
// the reply to GET, HGETALL, LRANGE, SMEMBERS or ZRANGE WITHSCORES, in any order in which a
// server may give it. They are sorted.
func ValueText(typeName string, items []string) string {
	if typeName == "string" && len(items) == 1 {
		return items[0]
	}
	kind := typeOf(typeName)
	if kind == ZSet {
		for i := 1; i < len(items); i += 2 {
			if score, err := strconv.ParseFloat(items[i], 64); err == nil {
				items[i] = scoreText(score)
			}
		}
	}
	if kind == otherType {
		return "(a " + typeName + ")"
	}
	return kind.arrange(items)
}

// typeOf returns the type with a name, other than string.
func typeOf(name string) Type {
	if i := slices.Index(typeNames[:], name); i > 0 {
		return Type(i)
	}
	return otherType
}

// arrange sorts the items of a value as its type's invariant has them, and returns its text.
func (t Type) arrange(items []string) string {
	switch t {
	case Hash:
		sortPairs(items)
		return "{" + pairText(items, ':') + "}"
	case List:
		return "[" + wordsText(items) + "]"
	case Set:
		slices.Sort(items)
		return "{" + wordsText(items) + "}"
	case ZSet:
		sortPairs(items)
		return "{" + pairText(items, '=') + "}"
	}
	return ""
}

func scoreText(score float64) string { return strconv.FormatFloat(score, 'g', -1, 64) }

// lookElse reads a key of another type than string.
func (n *Node) lookElse(s *stored) {
	kind := n.data.Type(s.key)
	switch s.kind = typeOf(kind); s.kind {
	case Hash:
		fields, _ := n.data.HKeys(s.key)
		for _, f := range fields {
			s.items = append(s.items, f, n.data.HGet(s.key, f))
		}
	case List:
		items, _ := n.data.List(s.key)
		s.items = slices.Clone(items)
	case Set:
		s.items, _ = n.data.Members(s.key)
	case ZSet:
		scores, _ := n.data.SortedSet(s.key)
		for member, score := range scores {
			s.items = append(s.items, member, scoreText(score))
		}
	default:
		s.value = "(a " + kind + ")"
		return
	}
	s.value = s.kind.arrange(s.items)
}

// sortPairs sorts names, each of which is followed by its value.
func sortPairs(items []string) {
	pairs := make([][2]string, 0, len(items)/2)
	for p := range slices.Chunk(items, 2) {
		pairs = append(pairs, [2]string(p))
	}
	slices.SortFunc(pairs, func(a, b [2]string) int { return strings.Compare(a[0], b[0]) })
	for i, p := range pairs {
		items[2*i], items[2*i+1] = p[0], p[1]
	}
}

func pairText(items []string, between byte) string {
	var b strings.Builder
	for i := 0; i < len(items); i += 2 {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(itemText(items[i]))
		b.WriteByte(between)
		b.WriteString(trace.WordText(items[i+1]))
	}
	return b.String()
}

func wordsText(items []string) string {
	words := make([]string, len(items))
	for i, item := range items {
		words[i] = itemText(item)
	}
	return strings.Join(words, " ")
}

// itemText returns an item so that different values of a key never have the same text,
// because rules compare that: quoted, if it could be mistaken for several items or for a
// pair.
func itemText(item string) string {
	if strings.ContainsAny(item, ":=") {
		return strconv.Quote(item)
	}
	return trace.WordText(item)
}

// restore writes a key that isn't there.
func (n *Node) restore(s stored) (err error) {
	switch s.kind {
	case Hash:
		n.redis.HSet(s.key, s.items...)
	case List:
		_, err = n.redis.Push(s.key, s.items...)
	case Set:
		_, err = n.redis.SetAdd(s.key, s.items...)
	case ZSet:
		for pair := range slices.Chunk(s.items, 2) {
			score, _ := strconv.ParseFloat(pair[1], 64)
			if _, err = n.redis.ZAdd(s.key, score, pair[0]); err != nil {
				break
			}
		}
	case otherType:
		return fmt.Errorf("%s cannot write back key %q: it can strings, hashes, lists, sets and sorted sets, and this is %s", n.Name, s.key, s.value)
	default:
		err = n.redis.Set(s.key, s.value)
	}
	if err == nil && s.when != immortal {
		n.redis.SetTTL(s.key, time.Duration(s.when-n.millis)*time.Millisecond+grace)
	}
	return err
}

// Renamed returns a snapshot with other texts and connections.
func (snap Snapshot) Renamed(text func(string) string, conn func(int) int) Snapshot {
	snap.Keys = slices.Clone(snap.Keys)
	for i := range snap.Keys {
		snap.Keys[i] = snap.Keys[i].Renamed(text)
	}
	slices.SortFunc(snap.Keys, func(a, b Key) int { return strings.Compare(a.Name, b.Name) })
	snap.Peers = slices.Clone(snap.Peers)
	for i := range snap.Peers {
		peer := &snap.Peers[i]
		peer.Conn = conn(peer.Conn)
		peer.Commands = slices.Clone(peer.Commands)
		for n, words := range peer.Commands {
			peer.Commands[n] = slices.Clone(words)
			for w, word := range words {
				peer.Commands[n][w] = text(word)
			}
		}
	}
	slices.SortFunc(snap.Peers, func(a, b OpenTxn) int { return a.Conn - b.Conn })
	return snap
}
