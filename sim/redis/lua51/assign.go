package lua51

import (
	"fmt"
	"slices"

	"github.com/yuin/gopher-lua/ast"
)

// assigned returns an assignment by which all is evaluated before anything is assigned, from right to left, as by Lua. The
// machine evaluates into a variable that is assigned to: where the rest of the statement reads that, it reads the new
// value (a, b = b, a), and where the evaluation of "and" and "or" breaks off, the variable has an operand of it, or keeps
// its own value (a = not b and c).
func assigned(s *ast.AssignStmt) ast.Stmt {
	if len(s.Lhs) == 1 && len(s.Rhs) == 1 {
		if _, variable := s.Lhs[0].(*ast.IdentExpr); !variable || atOnce(s.Rhs[0]) {
			return s
		}
	}
	block := &ast.DoBlockStmt{}
	declare := func(of string, i int, at ast.PositionHolder) *ast.IdentExpr {
		return placed(&ast.IdentExpr{Value: fmt.Sprintf("(%s %d)", of, i)}, at)
	}
	keep := func(of string, i int, e ast.Expr) ast.Expr {
		if constant(e) {
			return e
		}
		kept := declare(of, i, e)
		block.Stmts = append(block.Stmts, placed(&ast.LocalAssignStmt{Names: []string{kept.Value}, Exprs: []ast.Expr{e}}, e))
		return kept
	}
	values := placed(&ast.LocalAssignStmt{Exprs: s.Rhs}, s)
	var stores []ast.Stmt
	for i, target := range s.Lhs {
		if field, is := target.(*ast.AttrGetExpr); is {
			target = placed(&ast.AttrGetExpr{Object: keep("table", i, field.Object), Key: keep("key", i, field.Key)}, field)
		}
		value := declare("value", i, target)
		values.Names = append(values.Names, value.Value)
		stores = append(stores, placed(&ast.AssignStmt{Lhs: []ast.Expr{target}, Rhs: []ast.Expr{value}}, s))
	}
	slices.Reverse(stores)
	block.Stmts = append(append(block.Stmts, values), stores...)
	return placed(block, s)
}

// atOnce reports whether the machine writes the value of an expression by the last instruction of its evaluation.
func atOnce(e ast.Expr) bool {
	switch e.(type) {
	case *ast.IdentExpr, *ast.AttrGetExpr, *ast.FuncCallExpr, *ast.FunctionExpr:
		return true
	}
	return constant(e)
}

func constant(e ast.Expr) bool {
	switch e.(type) {
	case *ast.NilExpr, *ast.TrueExpr, *ast.FalseExpr, *ast.NumberExpr, *ast.StringExpr:
		return true
	}
	return false
}

// placed gives a node the lines of another.
func placed[N ast.PositionHolder](node N, at ast.PositionHolder) N {
	node.SetLine(at.Line())
	node.SetLastLine(at.LastLine())
	return node
}
