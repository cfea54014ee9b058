package tui

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"testing"

	"lockstep/tui/door"
	"lockstep/tui/progress"
	"lockstep/tui/screen"
	"lockstep/tui/search"
	"lockstep/tui/tuitest"
)

// TestEveryMessageOpensAScreen: each message that asks for a screen has a case in [screens.open], and one of the
// ways leads through it.
func TestEveryMessageOpensAScreen(t *testing.T) {
	cases, sent := answered(t), map[string]bool{}
	for _, keys := range ways {
		a := &screens{screen.NewApp(tuitest.Shelf(tuitest.Handmade), &progress.Store{}, tuitest.PlainTheme(false), 1, tuitest.Formats()), map[int]*search.Search{}, nil}
		tuitest.MakeUp(a.App)
		note := func(msg screen.OpenMsg) (screen.Screen, error) {
			sent[fmt.Sprintf("%T", msg)] = true
			return a.open(msg)
		}
		tuitest.Open(t, 120, 40, a.App, door.New(a.App), note).Press(keys)
	}
	for _, name := range messages(t) {
		if !slices.Contains(cases, name) {
			t.Errorf("app.go has no case for %s", name)
		}
		if !sent[name] {
			t.Errorf("none of the ways in app_test.go leads through %s", name)
		}
	}
}

// messages are the types of package screen that have the method opens.
func messages(t *testing.T) (names []string) {
	t.Helper()
	for _, d := range parsed(t, "screen/messages.go").Decls {
		if f, is := d.(*ast.FuncDecl); is && f.Name.Name == "opens" {
			names = append(names, "screen."+f.Recv.List[0].Type.(*ast.Ident).Name)
		}
	}
	if len(names) == 0 {
		t.Fatal("there are no messages")
	}
	return names
}

// answered are the types for which screens.open has a case.
func answered(t *testing.T) (names []string) {
	t.Helper()
	for _, d := range parsed(t, "app.go").Decls {
		f, is := d.(*ast.FuncDecl)
		if !is || f.Name.Name != "open" {
			continue
		}
		ast.Inspect(f, func(n ast.Node) bool {
			if c, is := n.(*ast.CaseClause); is {
				for _, e := range c.List {
					if s, is := e.(*ast.SelectorExpr); is {
						names = append(names, "screen."+s.Sel.Name)
					}
				}
			}
			return true
		})
	}
	return names
}

func parsed(t *testing.T, file string) *ast.File {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	return f
}
