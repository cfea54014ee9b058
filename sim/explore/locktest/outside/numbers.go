package outside

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"time"

	"golang.org/x/tools/go/ssa"
)

// Spans that a number in the code can stand for are from a millisecond to two months, and so many at most.
const (
	leastSpan    = time.Millisecond
	greatestSpan = 60 * 24 * time.Hour
	mostSpans    = 200
)

// spans are the spans that the lock's code could mean by its numbers: by constants of its functions, and by those in the
// texts of its scripts. A number without a unit may be one of microseconds, milliseconds or seconds.
func (r *reader) spans() []time.Duration {
	all := map[time.Duration]bool{}
	vars := map[*ssa.Global]bool{}
	for fn := range r.levels {
		for _, b := range fn.Blocks {
			for _, i := range b.Instrs {
				for _, op := range i.Operands(nil) {
					switch v := (*op).(type) {
					case *ssa.Const:
						add(all, v.Value, v.Type())
					case *ssa.Global:
						vars[v] = true
					}
				}
			}
		}
	}
	for g := range vars {
		if g.Pkg != nil && r.units[g.Pkg.Pkg.Path()] != nil {
			r.initially(all, r.units[g.Pkg.Pkg.Path()], g.Pos())
		}
	}
	list := slices.Sorted(maps.Keys(all))
	return list[:min(len(list), mostSpans)]
}

// initially adds the numbers in a variable's first value.
func (r *reader) initially(all map[time.Duration]bool, u *unit, at token.Pos) {
	for _, f := range u.files {
		if at < f.FileStart || at >= f.FileEnd {
			continue
		}
		ast.Inspect(f, func(n ast.Node) bool {
			spec, is := n.(*ast.ValueSpec)
			if !is {
				return true
			}
			if !slices.ContainsFunc(spec.Names, func(name *ast.Ident) bool { return name.Pos() == at }) {
				return false
			}
			for _, v := range spec.Values {
				ast.Inspect(v, func(n ast.Node) bool {
					if e, is := n.(ast.Expr); is {
						add(all, u.info.Types[e].Value, u.info.Types[e].Type)
					}
					return true
				})
			}
			return false
		})
	}
}

// add adds the spans that a constant can mean.
func add(all map[time.Duration]bool, v constant.Value, of types.Type) {
	if v == nil {
		return
	}
	if of != nil && of.String() == "time.Duration" {
		if ns, exact := constant.Int64Val(constant.ToInt(v)); exact {
			put(all, float64(ns))
		}
		return
	}
	switch v.Kind() {
	case constant.Int, constant.Float:
		f, _ := constant.Float64Val(v)
		inUnits(all, f)
	case constant.String:
		for _, digits := range number.FindAllString(constant.StringVal(v), mostSpans) {
			if f, err := strconv.ParseFloat(digits, 64); err == nil {
				inUnits(all, f)
			}
		}
	}
}

var number = regexp.MustCompile(`[0-9]+(\.[0-9]+)?`)

func inUnits(all map[time.Duration]bool, f float64) {
	for _, unit := range [...]time.Duration{time.Microsecond, time.Millisecond, time.Second} {
		put(all, f*float64(unit))
	}
}

func put(all map[time.Duration]bool, ns float64) {
	if ns >= float64(leastSpan) && ns <= float64(greatestSpan) {
		all[time.Duration(ns).Round(time.Millisecond)] = true
	}
}
