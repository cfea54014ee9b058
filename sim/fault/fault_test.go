package fault

import (
	"go/ast"
	"go/parser"
	"go/token"
	"reflect"
	"regexp"
	"testing"
)

var formInComment = regexp.MustCompile(`(?:such as |schedule: )(\S+)\.\n`)

// Each comment of a String has a fault of its type, in the form that schedules have.
func TestCommentsHaveTheForms(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "fault.go", nil, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, d := range file.Decls {
		method, is := d.(*ast.FuncDecl)
		if !is || method.Recv == nil || method.Name.Name != "String" {
			continue
		}
		of := method.Recv.List[0].Type.(*ast.Ident).Name
		if of == reflect.TypeFor[Direction]().Name() { // a parameter of faults
			continue
		}
		example := formInComment.FindStringSubmatch(method.Doc.Text())
		if example == nil {
			t.Errorf("the comment of %s.String has no example", of)
			continue
		}
		f, err := Parse(example[1])
		if err != nil {
			t.Errorf("%s.String: %v", of, err)
			continue
		}
		if is := reflect.TypeOf(f).Name(); is != of || f.String() != example[1] {
			t.Errorf("%s.String: %s is read as the %s %s", of, example[1], is, f)
		}
		seen[of] = true
	}
	if len(seen) != len(Kinds()) {
		t.Errorf("%d comments have examples of %d kinds of fault", len(seen), len(Kinds()))
	}
}
