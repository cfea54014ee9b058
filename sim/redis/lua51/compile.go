package lua51

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	lua "github.com/yuin/gopher-lua"
	"github.com/yuin/gopher-lua/ast"
	"github.com/yuin/gopher-lua/parse"
)

// The global functions that operators call. No script can name them.
const (
	concatenation = ".."
	modulo        = "%"
	hash          = "#"
)

// Compile translates a script. The machine concatenates numbers with Go's digits, takes an exact
// remainder where Redis rounds, assigns too early, and has words that came after Lua 5.1; so the script is rewritten before.
func Compile(text, name string) (p Program, err error) {
	chunk, err := parse.Parse(strings.NewReader(text), name)
	if err != nil {
		return Program{}, err
	}
	w := rewriter{name: name}
	w.block(chunk)
	if w.err != nil {
		return Program{}, w.err
	}
	p.Straight = !w.repeats
	p.Proto, err = lua.Compile(chunk, name)
	return p, err
}

// Program is a translated script.
type Program struct {
	Proto *lua.FunctionProto
	// Straight says that the script executes no instruction twice: it has no loop and no function of its own, and none of the
	// names by which it could make a function of a text.
	Straight bool
}

// makers are the global names by which a script gets at functions that are made of texts.
var makers = [...]string{"load", "loadstring", "_G"}

type rewriter struct {
	name    string
	err     error
	repeats bool // some instruction could be executed twice
}

// later fails for a statement that Lua 5.1 doesn't have.
func (w *rewriter) later(s ast.Stmt, near string) {
	if w.err == nil {
		w.err = fmt.Errorf("%s:%d: '=' expected near '%s'", w.name, s.Line(), near)
	}
}

func (w *rewriter) block(all []ast.Stmt) {
	for i, s := range all {
		w.statement(s)
		if s, is := s.(*ast.AssignStmt); is {
			all[i] = assigned(s)
		}
	}
}

func (w *rewriter) statement(s ast.Stmt) {
	switch s := s.(type) {
	case *ast.AssignStmt:
		w.all(s.Lhs)
		w.all(s.Rhs)
	case *ast.LocalAssignStmt:
		w.all(s.Exprs)
	case *ast.FuncCallStmt:
		w.one(&s.Expr)
	case *ast.DoBlockStmt:
		w.block(s.Stmts)
	case *ast.WhileStmt:
		w.repeats = true
		w.one(&s.Condition)
		w.block(s.Stmts)
	case *ast.RepeatStmt:
		w.repeats = true
		w.one(&s.Condition)
		w.block(s.Stmts)
	case *ast.IfStmt:
		w.one(&s.Condition)
		w.block(s.Then)
		w.block(s.Else)
	case *ast.NumberForStmt:
		w.repeats = true
		w.bound(&s.Init, 0)
		w.bound(&s.Limit, 1)
		w.bound(&s.Step, 2)
		w.block(s.Stmts)
	case *ast.GenericForStmt:
		w.repeats = true
		w.all(s.Exprs)
		w.block(s.Stmts)
	case *ast.FuncDefStmt:
		w.repeats = true
		w.block(s.Func.Stmts)
	case *ast.ReturnStmt:
		w.all(s.Exprs)
	case *ast.GotoStmt:
		w.later(s, s.Label)
	case *ast.LabelStmt:
		w.later(s, "::")
	}
}

func (w *rewriter) all(exprs []ast.Expr) {
	for i := range exprs {
		w.one(&exprs[i])
	}
}

func (w *rewriter) one(at *ast.Expr) {
	switch e := (*at).(type) {
	case *ast.NumberExpr: // the machine takes 010 for 8
		if f, ok := Number(e.Value); ok {
			e.Value = strconv.FormatFloat(f, 'g', -1, 64)
		}
	case *ast.IdentExpr:
		w.repeats = w.repeats || slices.Contains(makers[:], e.Value)
	case *ast.AttrGetExpr:
		w.one(&e.Object)
		w.one(&e.Key)
	case *ast.TableExpr:
		for _, f := range e.Fields {
			w.one(&f.Key)
			w.one(&f.Value)
			if call, is := f.Value.(*ast.FuncCallExpr); is && f.Key != nil {
				call.AdjustRet = true // of the last one the machine takes all results for elements
			} else if rest, is := f.Value.(*ast.Comma3Expr); is && f.Key != nil {
				rest.AdjustRet = true
			}
		}
	case *ast.FuncCallExpr:
		w.one(&e.Func)
		w.one(&e.Receiver)
		w.all(e.Args)
	case *ast.LogicalOpExpr:
		w.one(&e.Lhs)
		w.one(&e.Rhs)
	case *ast.RelationalOpExpr:
		w.one(&e.Lhs)
		w.one(&e.Rhs)
	case *ast.ArithmeticOpExpr:
		w.one(&e.Lhs)
		w.one(&e.Rhs)
		if e.Operator == modulo {
			*at = called(modulo, e, e.Lhs, e.Rhs)
		}
	case *ast.UnaryMinusOpExpr:
		w.one(&e.Expr)
	case *ast.UnaryNotOpExpr:
		w.one(&e.Expr)
	case *ast.UnaryLenOpExpr:
		w.one(&e.Expr)
		*at = called(hash, e, e.Expr)
	case *ast.FunctionExpr:
		w.repeats = true
		w.block(e.Stmts)
	case *ast.StringConcatOpExpr:
		*at = w.concatenated(e)
	}
}

// bounds are the global functions that make numbers of the bounds of a loop, which may be texts.
var bounds = [...]string{"'for' initial value", "'for' limit", "'for' step"}

// bound has a bound of a loop made a number, where it isn't written as one.
func (w *rewriter) bound(at *ast.Expr, which int) {
	w.one(at)
	switch e := (*at).(type) {
	case nil, *ast.NumberExpr, *ast.UnaryMinusOpExpr:
	default:
		*at = called(bounds[which], e, e)
	}
}

// called returns the call of a global function, at the place of an expression.
func called(function string, at ast.Expr, args ...ast.Expr) *ast.FuncCallExpr {
	return placed(&ast.FuncCallExpr{Func: placed(&ast.IdentExpr{Value: function}, at), Args: args, AdjustRet: true}, at)
}

// toBound returns the function that makes a number of a bound.
func toBound(bound string) lua.LGFunction {
	return func(l *lua.LState) int {
		f, ok := number(l.Get(1))
		if !ok {
			l.RaiseError("%s must be a number", bound)
		}
		l.Push(lua.LNumber(f))
		return 1
	}
}

// concatenated returns the call that a chain of concatenations becomes.
func (w *rewriter) concatenated(e *ast.StringConcatOpExpr) ast.Expr {
	call := called(concatenation, e)
	for rest := ast.Expr(e); ; {
		chain, is := rest.(*ast.StringConcatOpExpr)
		if !is {
			call.Args = append(call.Args, rest)
			break
		}
		call.Args = append(call.Args, chain.Lhs)
		rest = chain.Rhs
	}
	w.all(call.Args)
	return call
}

// join is the operator .. between its operands.
func join(l *lua.LState) int {
	n := l.GetTop()
	right := l.Get(n)
	for i := n - 1; i > 0; i-- {
		left := l.Get(i)
		a, is := text(left)
		b, are := text(right)
		if is && are {
			right = lua.LString(a + b)
			continue
		}
		op := l.GetMetaField(left, "__concat")
		if op == lua.LNil {
			op = l.GetMetaField(right, "__concat")
		}
		if op == lua.LNil {
			culprit := left
			if is {
				culprit = right
			}
			l.RaiseError("attempt to concatenate a %s value", culprit.Type().String())
		}
		l.Push(op)
		l.Push(left)
		l.Push(right)
		l.Call(2, 1)
		right = l.Get(-1)
		l.Pop(1)
	}
	l.Push(right)
	return 1
}

// loadString is loadstring.
func loadString(l *lua.LState) int {
	name := "@" + checkText(l, 1, "loadstring")
	if l.Get(2) != lua.LNil {
		name = checkText(l, 2, "loadstring")
	}
	return load(l, checkText(l, 1, "loadstring"), name)
}

// loadFunction is load.
func loadFunction(l *lua.LState) int {
	f, is := l.Get(1).(*lua.LFunction)
	if !is {
		wrongType(l, 1, "load", "function")
	}
	name := "=(load)"
	if l.Get(2) != lua.LNil {
		name = checkText(l, 2, "load")
	}
	var b strings.Builder
	for {
		l.Push(f)
		l.Call(0, 1)
		piece := l.Get(-1)
		l.Pop(1)
		s, is := piece.(lua.LString)
		if !is && piece != lua.LNil {
			l.RaiseError("reader function must return a string")
		}
		if s == "" {
			return load(l, b.String(), name)
		}
		b.WriteString(string(s))
	}
}

func load(l *lua.LState, text, name string) int {
	p, err := Compile(text, name)
	if err != nil {
		l.Push(lua.LNil)
		l.Push(lua.LString(err.Error()))
		return 2
	}
	l.Push(l.NewFunctionFromProto(p.Proto))
	return 1
}
