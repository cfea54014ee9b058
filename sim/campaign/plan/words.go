package plan

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"

	"lockstep/scenarios"
	"lockstep/sim/suggest"
)

// word is a word of the file with its line.
type word struct {
	text string
	line int
}

// words is the value of a key: a list, or one word.
type words struct {
	all  []word
	line int // of the key, or where it would be
}

// reader reads the syntax tree of a file. It is no decoder into structs, so that an error can name
// its line and the word that was meant.
type reader struct{ path string }

func (r reader) errorf(line int, format string, args ...any) error {
	return fmt.Errorf("%s:%d: %w", r.path, max(1, line), fmt.Errorf(format, args...))
}

// read reads a campaign's file.
func read(path string, text []byte) (f *file, err error) {
	r := reader{path}
	defer func() { // the parser has panicked on some inputs that are no YAML
		if v := recover(); v != nil {
			f, err = nil, r.errorf(1, "this is not YAML: %v", v)
		}
	}()
	for i, line := range strings.Split(string(text), "\n") {
		if at := strings.IndexFunc(line, unreadable); at >= 0 {
			return nil, r.errorf(i+1, "this is not text: it has the character %U", []rune(line[at:])[0])
		}
	}
	doc, err := parser.ParseBytes(text, 0, parser.AllowDuplicateMapKey()) // mapping has the better message
	if err != nil {
		return nil, r.syntax(err)
	}
	if len(doc.Docs) != 1 || doc.Docs[0].Body == nil {
		return nil, r.errorf(1, "a campaign is one YAML document with a name, locks, and searches or random")
	}
	f = &file{Known: map[string]words{}}
	return f, r.file(doc.Docs[0].Body, f)
}

// unreadable reports whether a character can't stand in a file: it would reach the terminal, or
// is a byte that is no UTF-8.
func unreadable(c rune) bool {
	return c == unicode.ReplacementChar || !unicode.IsGraphic(c) && c != '\t' && c != '\r' && c != '\ufeff'
}

// syntax cuts the parser's error down to the line and the reason.
func (r reader) syntax(err error) error {
	line := 1
	var at interface{ GetToken() *token.Token }
	if errors.As(err, &at) && at.GetToken() != nil && at.GetToken().Position != nil {
		line = at.GetToken().Position.Line
	}
	reason := err.Error()
	var said interface{ GetMessage() string }
	if errors.As(err, &said) {
		reason = said.GetMessage()
	}
	reason, _, _ = strings.Cut(reason, "\n")
	return r.errorf(line, "this is not YAML: %s", clip(reason))
}

func (r reader) file(n ast.Node, f *file) error {
	return r.mapping(n, "a campaign", map[string]func(ast.Node, int) error{
		"campaign": r.into(&f.Campaign),
		"locks":    r.into(&f.Locks),
		"searches": r.entries("searches", func(n ast.Node) error {
			var s searches
			f.Searches = append(f.Searches, s)
			at := &f.Searches[len(f.Searches)-1]
			return r.mapping(n, "searches", r.words(map[string]*words{"locks": &at.Locks, "clients": &at.Clients, "cycles": &at.Cycles, "tries": &at.Tries, "nodes": &at.Nodes,
				"faults": &at.Faults, "callers": &at.Callers, "resources": &at.Resources, "ttls": &at.TTLs, "codes": &at.Codes}))
		}),
		"random": r.entries("random", func(n ast.Node) error {
			f.Random = append(f.Random, random{Seeds: words{line: line(n)}})
			at := &f.Random[len(f.Random)-1]
			return r.mapping(n, "random", r.words(map[string]*words{"locks": &at.Locks, "seeds": &at.Seeds, "chunk": &at.Chunk, "clients": &at.Clients, "cycles": &at.Cycles,
				"faults": &at.Faults, "callers": &at.Callers, "ttls": &at.TTLs, "codes": &at.Codes}))
		}),
		"limits": func(n ast.Node, _ int) error {
			return r.mapping(n, "limits", r.words(map[string]*words{"time": &f.Limits.Time, "memory": &f.Limits.Memory}))
		},
		"known": func(n ast.Node, _ int) error {
			pairs, err := r.pairs(n, "known")
			for _, p := range pairs {
				w, err := r.list(p.value, p.line)
				if err != nil {
					return err
				}
				f.Known[p.key] = w
			}
			return err
		},
	})
}

// words makes readers of words of places for them.
func (r reader) words(places map[string]*words) map[string]func(ast.Node, int) error {
	all := map[string]func(ast.Node, int) error{}
	for key, to := range places {
		all[key] = r.into(to)
	}
	return all
}

func (r reader) into(to *words) func(ast.Node, int) error {
	return func(n ast.Node, line int) (err error) {
		*to, err = r.list(n, line)
		return err
	}
}

// entries reads each element of a list; a mapping counts as a list of one.
func (r reader) entries(key string, read func(ast.Node) error) func(ast.Node, int) error {
	return func(n ast.Node, line int) error {
		seq, is := n.(*ast.SequenceNode)
		if !is {
			return read(n)
		}
		if len(seq.Values) == 0 {
			return r.errorf(line, "%s is empty", key)
		}
		for _, v := range seq.Values {
			if err := read(v); err != nil {
				return err
			}
		}
		return nil
	}
}

type pair struct {
	key   string
	line  int
	value ast.Node
}

// pairs are the keys and values of a mapping.
func (r reader) pairs(n ast.Node, what string) (pairs []pair, err error) {
	var values []*ast.MappingValueNode
	switch n := n.(type) {
	case *ast.MappingNode:
		values = n.Values
	case *ast.MappingValueNode:
		values = []*ast.MappingValueNode{n}
	default:
		return nil, r.errorf(line(n), "%s has keys and values, and this is %s", what, clip(n.String()))
	}
	seen := map[string]int{}
	for _, v := range values {
		at := line(v.Key)
		key, err := r.word(v.Key)
		if err != nil {
			return nil, err
		}
		if first, again := seen[key.text]; again {
			return nil, r.errorf(at, "%q is here twice: it is on line %d already", clip(key.text), first)
		}
		seen[key.text] = at
		pairs = append(pairs, pair{key.text, at, v.Value})
	}
	return pairs, nil
}

// mapping calls the function of each key, and refuses the keys for which there is none.
func (r reader) mapping(n ast.Node, what string, known map[string]func(ast.Node, int) error) error {
	pairs, err := r.pairs(n, what)
	if err != nil {
		return err
	}
	for _, p := range pairs {
		read, is := known[p.key]
		if !is {
			return r.errorf(p.line, "%w", suggest.Unknown("key", p.key, slices.Sorted(keys(known))))
		}
		if err := read(p.value, p.line); err != nil {
			return err
		}
	}
	return nil
}

func (r reader) list(n ast.Node, at int) (words, error) {
	w := words{line: at}
	nodes := []ast.Node{n}
	if seq, is := n.(*ast.SequenceNode); is {
		nodes = seq.Values
	}
	for _, n := range nodes {
		x, err := r.word(n)
		if err != nil {
			return w, err
		}
		w.all = append(w.all, x)
	}
	if len(w.all) == 0 {
		return w, r.errorf(at, "the list is empty")
	}
	return w, nil
}

func (r reader) word(n ast.Node) (word, error) {
	switch n.(type) {
	case *ast.StringNode, *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode:
		return word{strings.TrimSpace(n.GetToken().Value), line(n)}, nil
	case *ast.NullNode, nil:
		return word{}, r.errorf(line(n), "a value is missing")
	}
	return word{}, r.errorf(line(n), "a word or a list of words belongs here, and this is %q", clip(n.String()))
}

func line(n ast.Node) int {
	if m, is := n.(*ast.MappingNode); is && len(m.Values) > 0 {
		n = m.Values[0].Key
	}
	if n == nil || n.GetToken() == nil || n.GetToken().Position == nil {
		return 1
	}
	return n.GetToken().Position.Line
}

func clip(s string) string {
	s, _, _ = strings.Cut(s, "\n")
	if r := []rune(s); len(r) > 60 {
		return string(r[:60]) + "..."
	}
	return s
}

// number is a check that a word is a whole number within limits.
func number(least, most int) func(string) error {
	return func(t string) error {
		if n, err := strconv.Atoi(t); err != nil || n < least || n > most {
			return fmt.Errorf("%q is no number from %d to %d", clip(t), least, most)
		}
		return nil
	}
}

// member is a check that a word is one of a few.
func member(what string, known []string) func(string) error {
	return func(t string) error {
		if !slices.Contains(known, t) {
			return suggest.Unknown(what, t, known)
		}
		return nil
	}
}

func isDuration(t string) error {
	if d, err := time.ParseDuration(t); err != nil || d <= 0 {
		return fmt.Errorf("%q is no duration; write 12s or 500ms", clip(t))
	}
	return nil
}

// duration is the one way to write a duration, which a name needs.
func duration(t string) string {
	d, err := time.ParseDuration(t)
	if err != nil {
		return t // has been refused
	}
	return d.String()
}

func isCodes(t string) error {
	for _, c := range fields(t) {
		if _, err := scenarios.ParseCode(c); err != nil {
			return err
		}
	}
	return nil
}

// fields are the words of a text with commas or blanks between them.
func fields(t string) []string {
	return strings.FieldsFunc(t, func(r rune) bool { return r == ',' || r == ' ' })
}
