package scenarios

import (
	"bytes"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"

	"lockstep/scenarios/text"
	"lockstep/sim/suggest"
)

// maxFile is far more than any script needs, in bytes, and few enough for the parser, whose
// time is quadratic in some malformed inputs.
const maxFile = 64 << 10

// value is a node of a YAML document with its place. Scripts are read from the syntax tree
// rather than decoded into structs, so that every error, even one found much later, can
// name its line and word.
type value struct {
	file string
	node ast.Node
	key  string // the key that it is the value of, if any
}

// document describes a kind of file, for the errors about files that are of another kind.
type document struct {
	name  string // with its article
	parts string // in words
	keys  string // as they are written
}

var aScenario = document{"a scenario", "a title, a script and expectations", "title: ..., script: ..."}

// parse reads a document of one mapping.
func parse(file string, data []byte, kind document) (value, error) {
	if len(data) > maxFile {
		return value{}, fmt.Errorf("%s:1: the file has more than %d bytes, the most that %s can have", file, maxFile, kind.name)
	}
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	if err := text.Check(data); err != nil {
		return value{}, fmt.Errorf("%s:%w", file, err)
	}
	doc, err := parser.ParseBytes(data, 0, parser.AllowDuplicateMapKey()) // entries has the better message
	if err != nil {
		return value{}, text.SyntaxError(file, err)
	}
	if len(doc.Docs) > 1 && (doc.Docs[0].Body != nil || doc.Docs[1].Body != nil) {
		return value{}, fmt.Errorf("%s:%d: a second document begins here, and %s is one", file, secondDocument(doc.Docs[1]), kind.name)
	}
	if len(doc.Docs) == 0 || doc.Docs[0].Body == nil {
		return value{}, fmt.Errorf("%s:1: the file is empty; %s has %s", file, kind.name, kind.parts)
	}
	root := value{file: file, node: doc.Docs[0].Body}
	if form := root.what(); form != "a mapping" {
		return value{}, root.errorf("%s consists of keys and values (%s), and this is %s", kind.name, kind.keys, form)
	}
	return root, nil
}

// secondDocument is the line on which it begins: that of its ---, if it has one.
func secondDocument(d *ast.DocumentNode) int {
	if d.Start != nil && d.Start.Position != nil {
		return d.Start.Position.Line
	}
	return line(d.Body)
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
	return v.wrap(fmt.Errorf(format, args...))
}

// place is file:line.
func (v value) place() string { return fmt.Sprintf("%s:%d", v.file, v.line()) }

// wrap puts file:line before an error.
func (v value) wrap(err error) error {
	if err == nil {
		return nil
	}
	return &located{file: v.file, line: v.line(), err: err}
}

// what names the value's form, for errors.
func (v value) what() string {
	switch n := v.node.(type) {
	case *ast.MappingNode, *ast.MappingValueNode:
		return "a mapping"
	case *ast.SequenceNode:
		return "a list"
	case *ast.NullNode:
		return "nothing"
	default:
		return fmt.Sprintf("%q", suggest.Clip(n.String()))
	}
}

// subject begins an error with the key whose value is wrong.
func (v value) subject() string {
	if v.key == "" {
		return "this"
	}
	return strconv.Quote(suggest.Clip(v.key))
}

// wants is the error for a value of the wrong form.
func (v value) wants(form string) error {
	if err := v.plain(); err != nil {
		return err
	}
	if v.what() == "nothing" {
		return v.errorf("%s is empty: it needs %s", v.subject(), form)
	}
	return v.errorf("%s needs %s, and got %s", v.subject(), form, v.what())
}

// plain refuses YAML's means of reference, such as anchors and aliases.
func (v value) plain() error {
	what, name := "", ""
	switch n := v.node.(type) {
	case *ast.AnchorNode:
		what, name = "anchor", "&"+nameOf(n.Name)
	case *ast.AliasNode:
		what, name = "alias", "*"+nameOf(n.Value)
	case *ast.TagNode:
		what, name = "tag", n.Start.Value
	case *ast.MergeKeyNode:
		what, name = "merge key", "<<"
	default:
		return nil
	}
	return v.errorf("the %s %q can't be used: these files have no anchors, aliases, tags and merge keys", what, suggest.Clip(name))
}

func nameOf(n ast.Node) string {
	if n == nil || n.GetToken() == nil {
		return ""
	}
	return n.GetToken().Value
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
		return nil, v.wants("keys and values")
	}
	var out []entry
	seen := map[string]int{}
	for _, p := range pairs {
		at := value{file: v.file, node: p.Key}
		key, err := at.name()
		if err != nil {
			return nil, err
		}
		if first, again := seen[key]; again {
			return nil, at.errorf("%q is here twice: it is on line %d already", suggest.Clip(key), first)
		}
		seen[key] = at.line()
		out = append(out, entry{key, at, value{v.file, p.Value, key}})
	}
	return out, nil
}

// fields calls the function that belongs to each key of a mapping. A key for
// which there is none is refused.
func (v value) fields(known map[string]func(value) error) error {
	if v.what() != "a mapping" {
		form := "keys and values (" + strings.Join(sortedKeys(known), ", ") + ")"
		for i, as := range Examples(v.key) {
			form += fmt.Sprintf("%s %q", [...]string{", as in", " or"}[min(i, 1)], as)
		}
		return v.wants(form)
	}
	entries, err := v.entries()
	if err != nil {
		return err
	}
	for _, e := range entries {
		if read, is := known[e.key]; is {
			err = both(err, read(e.value))
		} else {
			err = both(err, e.at.wrap(suggest.Unknown("key", e.key, sortedKeys(known))))
		}
	}
	return err
}

// list is the elements of a list; a single value counts as a list of one.
func (v value) list() []value {
	seq, is := v.node.(*ast.SequenceNode)
	if !is {
		return []value{v}
	}
	out := make([]value, len(seq.Values))
	for i, n := range seq.Values {
		out[i] = value{v.file, n, v.key}
		if n == nil {
			out[i].node = v.node
		}
	}
	return out
}

// name is a key.
func (v value) name() (string, error) {
	s, is, err := v.scalar()
	if err == nil && !is {
		err = v.errorf("a key is a plain word, and this is %s", v.what())
	}
	return s, err
}

// text is a word or a text; form names the expected one in the error of a value that
// is neither.
func (v value) text(form string) (string, error) {
	s, is, err := v.scalar()
	if err == nil && !is {
		err = v.wants(form)
	}
	return s, err
}

func (v value) scalar() (s string, is bool, err error) {
	switch n := v.node.(type) {
	case *ast.StringNode:
		s = n.Value
	case *ast.LiteralNode:
		s = n.Value.Value
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.InfinityNode, *ast.NanNode:
		s = n.GetToken().Value
	default:
		return "", false, v.plain()
	}
	if i := strings.IndexFunc(s, text.Forbidden); i >= 0 {
		r, _ := utf8.DecodeRuneInString(s[i:])
		return "", true, v.errorf("%s has the control character %U", v.subject(), r)
	}
	return s, true, nil
}

// sentence is a text with something in it, and without space around it.
func (v value) sentence() (string, error) {
	s, err := v.text("a text")
	s = strings.TrimSpace(s)
	if err == nil && s == "" {
		err = v.errorf("%s is empty: it needs a text", v.subject())
	}
	return s, err
}

// longest is the longest duration in a scenario: the bound of a run's configuration.
const longest = 365 * 24 * time.Hour

func (v value) duration() (time.Duration, error) {
	s, err := v.text("a duration, such as 10s")
	if err != nil {
		return 0, err
	}
	d, err := time.ParseDuration(s)
	switch {
	case err == nil && d <= longest && d >= -longest:
		return d, nil
	case err == nil || tooLong.MatchString(s):
		return 0, v.errorf("%q is more than a year (8760h), and nothing in a scenario can last so long", suggest.Clip(s))
	}
	return 0, v.errorf("%q is not a duration; write 10s, 1.5s, 200ms or 2m", suggest.Clip(s))
}

// tooLong matches a duration that is out of range.
var tooLong = regexp.MustCompile(`^[-+]?([0-9]*\.?[0-9]+\.?(ns|us|µs|ms|s|m|h))+$`)

func (v value) integer() (int, error) {
	s, err := v.text("a whole number")
	if err != nil {
		return 0, err
	}
	n, err := strconv.Atoi(s)
	if err != nil {
		return 0, v.errorf("%q is not a whole number", suggest.Clip(s))
	}
	return n, nil
}

func (v value) number() (float64, error) {
	s, err := v.text("a number")
	if err != nil {
		return 0, err
	}
	n, err := strconv.ParseFloat(s, 64)
	if err != nil {
		return 0, v.errorf("%q is not a number", suggest.Clip(s))
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
		err = v.errorf("%s is %s, and can't be less than 0", v.subject(), d)
	}
	return d, err
}

// positive is a duration of more than 0.
func positive(v value) (time.Duration, error) {
	d, err := v.duration()
	if err == nil && d <= 0 {
		err = v.errorf("%s is %s, and must be more than 0", v.subject(), d)
	}
	return d, err
}
