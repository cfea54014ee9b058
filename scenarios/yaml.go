package scenarios

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// maxFile is far more than any script needs, and little enough for the parser
// to be safe from whatever else somebody hands it.
const maxFile = 128 << 10

// value is a node of a YAML document that knows where it stands. Scripts are
// read from the syntax tree rather than decoded into structs, so that every
// error, also one found much later, can name the line and the word that it is
// about.
type value struct {
	file string
	node ast.Node
}

// parse reads a document of one mapping.
func parse(file string, data []byte) (value, error) {
	if len(data) > maxFile {
		return value{}, fmt.Errorf("%s:1: the file has %d bytes or more; a scenario has at most %d", file, len(data), maxFile)
	}
	if err := nesting(data); err != nil {
		return value{}, fmt.Errorf("%s:%w", file, err)
	}
	doc, err := parser.ParseBytes(data, 0)
	if err != nil {
		return value{}, syntaxError(file, err)
	}
	if len(doc.Docs) > 1 {
		return value{}, fmt.Errorf("%s:%d: a scenario is one document, and here a second one begins", file, line(doc.Docs[1].Body))
	}
	if len(doc.Docs) == 0 || doc.Docs[0].Body == nil {
		return value{}, fmt.Errorf("%s:1: the file is empty; a scenario has a title, a script and expectations", file)
	}
	return value{file, doc.Docs[0].Body}, nil
}

// nesting refuses brackets within brackets without end, which would exhaust the
// parser's stack.
func nesting(data []byte) error {
	depth, row := 0, 1
	for _, b := range data {
		switch b {
		case '[', '{':
			depth++
		case ']', '}':
			depth = max(0, depth-1)
		case '\n':
			row++
		}
		if depth > 200 {
			return fmt.Errorf("%d: more than 200 brackets are open", row)
		}
	}
	return nil
}

// syntaxError is the parser's own error, cut down to the line and the reason.
func syntaxError(file string, err error) error {
	var at interface{ GetToken() *token.Token }
	row := 1
	if errors.As(err, &at) && at.GetToken() != nil && at.GetToken().Position != nil {
		row = at.GetToken().Position.Line
	}
	reason := err.Error()
	var said interface{ GetMessage() string }
	if errors.As(err, &said) {
		reason = said.GetMessage()
	}
	first, _, _ := strings.Cut(reason, "\n")
	if _, rest, found := strings.Cut(first, "] "); found && strings.HasPrefix(first, "[") {
		first = rest
	}
	return fmt.Errorf("%s:%d: this is not YAML: %s", file, row, clip(first))
}

func line(n ast.Node) int {
	if n == nil || n.GetToken() == nil || n.GetToken().Position == nil {
		return 1
	}
	return n.GetToken().Position.Line
}

func (v value) line() int {
	if m, is := v.node.(*ast.MappingNode); is && len(m.Values) > 0 {
		return line(m.Values[0].Key)
	}
	return line(v.node)
}

// errorf is an error about this value: file:line first.
func (v value) errorf(format string, args ...any) error {
	return fmt.Errorf("%s:%d: %w", v.file, v.line(), fmt.Errorf(format, args...))
}

// wrap puts file:line before an error.
func (v value) wrap(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s:%d: %w", v.file, v.line(), err)
}

// what is the value's form, in the words of an error.
func (v value) what() string {
	switch n := v.node.(type) {
	case *ast.MappingNode, *ast.MappingValueNode:
		return "a mapping"
	case *ast.SequenceNode:
		return "a list"
	case *ast.NullNode:
		return "nothing"
	case *ast.AnchorNode, *ast.AliasNode, *ast.TagNode, *ast.MergeKeyNode:
		return "an anchor, alias or tag, which scenarios don't use"
	default:
		return fmt.Sprintf("%q", clip(n.String()))
	}
}

// entry is one key of a mapping.
type entry struct {
	key   string
	at    value // the key itself
	value value
}

// entries lists a mapping's keys in order. A key that is there twice is an error.
func (v value) entries() ([]entry, error) {
	var pairs []*ast.MappingValueNode
	switch n := v.node.(type) {
	case *ast.MappingNode:
		pairs = n.Values
	case *ast.MappingValueNode:
		pairs = []*ast.MappingValueNode{n}
	default:
		return nil, v.errorf("expected keys and values, got %s", v.what())
	}
	var out []entry
	seen := map[string]bool{}
	for _, p := range pairs {
		at := value{v.file, p.Key}
		key, err := at.text()
		if err != nil {
			return nil, err
		}
		if seen[key] {
			return nil, at.errorf("%q is here twice", clip(key))
		}
		seen[key] = true
		out = append(out, entry{key, at, value{v.file, p.Value}})
	}
	return out, nil
}

// fields calls the function that belongs to each key of a mapping. A key for
// which there is none is refused.
func (v value) fields(known map[string]func(value) error) error {
	entries, err := v.entries()
	if err != nil {
		return err
	}
	for _, e := range entries {
		read, is := known[e.key]
		if !is {
			return e.at.wrap(Unknown("key", e.key, sortedKeys(known)))
		}
		if err := read(e.value); err != nil {
			return err
		}
	}
	return nil
}

// list is the elements of a list; a single value counts as a list of one.
func (v value) list() []value {
	seq, is := v.node.(*ast.SequenceNode)
	if !is {
		return []value{v}
	}
	out := make([]value, len(seq.Values))
	for i, n := range seq.Values {
		out[i] = value{v.file, n}
		if n == nil {
			out[i].node = v.node
		}
	}
	return out
}

// text is a word or a text.
func (v value) text() (string, error) {
	switch n := v.node.(type) {
	case *ast.StringNode:
		return n.Value, nil
	case *ast.LiteralNode:
		return n.Value.Value, nil
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode:
		return n.GetToken().Value, nil
	}
	return "", v.errorf("expected a word, got %s", v.what())
}

func (v value) duration() (time.Duration, error) {
	s, err := v.text()
	if err != nil {
		return 0, err
	}
	d, err := time.ParseDuration(s)
	if err != nil {
		return 0, v.errorf("%q is not a duration; write 10s, 1.5s, 200ms or 2m", clip(s))
	}
	return d, nil
}

func (v value) integer() (int, error) {
	s, err := v.text()
	if err != nil {
		return 0, err
	}
	n, err := strconv.Atoi(s)
	if err != nil {
		return 0, v.errorf("%q is not a whole number", clip(s))
	}
	return n, nil
}

func (v value) number() (float64, error) {
	s, err := v.text()
	if err != nil {
		return 0, err
	}
	n, err := strconv.ParseFloat(s, 64)
	if err != nil {
		return 0, v.errorf("%q is not a number", clip(s))
	}
	return n, nil
}

// into makes a field reader of a conversion and a place.
func into[T any](to *T, read func(value) (T, error)) func(value) error {
	return func(v value) error {
		x, err := read(v)
		if err == nil {
			*to = x
		}
		return err
	}
}

// notNegative is a duration of 0 or more.
func notNegative(v value) (time.Duration, error) {
	d, err := v.duration()
	if err == nil && d < 0 {
		err = v.errorf("%s is less than 0", d)
	}
	return d, err
}

// positive is a duration of more than 0.
func positive(v value) (time.Duration, error) {
	d, err := v.duration()
	if err == nil && d <= 0 {
		err = v.errorf("%s is not more than 0", d)
	}
	return d, err
}
