package shellcmd

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// Bash evaluates the value of a variable in arithmetic as an expression again, and an expression may hold
// a subscript with a command substitution: x='a[$(rm f)]'; echo $((x)). So the names that arithmetic
// evaluates are compared with the variables that the script gave values that are no plain numbers.

// arithmetic notes what an expression evaluates and assigns.
func (a *analysis) arithmetic(x syntax.ArithmExpr) {
	if x == nil {
		return
	}
	syntax.Walk(x, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.Word:
			a.evaluatedWord(n)
			return false
		case *syntax.BinaryArithm:
			if assigns(n.Op) {
				a.assigned(n.X)
			}
		case *syntax.UnaryArithm:
			if n.Op == syntax.Inc || n.Op == syntax.Dec {
				a.assigned(n.X)
			}
		}
		return true
	})
}

func assigns(op syntax.BinAritOperator) bool {
	switch op {
	case syntax.Assgn, syntax.AddAssgn, syntax.SubAssgn, syntax.MulAssgn, syntax.QuoAssgn, syntax.RemAssgn,
		syntax.AndAssgn, syntax.OrAssgn, syntax.XorAssgn, syntax.ShlAssgn, syntax.ShrAssgn:
		return true
	}
	return false
}

func (a *analysis) assigned(x syntax.ArithmExpr) {
	w, ok := x.(*syntax.Word)
	if !ok {
		a.harmful()
		return
	}
	name := w.Lit()
	if p, ok := onlyParameter(w); ok {
		name = p.Param.Value
	}
	if !syntax.ValidName(name) || powerful(name) {
		a.harmful()
		return
	}
	a.class.Changes.Vars = append(a.class.Changes.Vars, name)
}

func onlyParameter(w *syntax.Word) (*syntax.ParamExp, bool) {
	if len(w.Parts) != 1 {
		return nil, false
	}
	p, ok := w.Parts[0].(*syntax.ParamExp)
	return p, ok && p.Param != nil
}

// evaluatedWord notes the names in a word that arithmetic reads.
func (a *analysis) evaluatedWord(w *syntax.Word) {
	for _, part := range w.Parts {
		switch part := part.(type) {
		case *syntax.Lit:
			a.evaluatedText(part.Value)
		case *syntax.SglQuoted:
			a.evaluatedText(part.Value)
		case *syntax.DblQuoted:
			a.evaluatedWord(&syntax.Word{Parts: part.Parts})
		case *syntax.ParamExp:
			a.evaluatedParameter(part)
		case *syntax.ArithmExp: // visited by itself
		default: // what a command prints would be evaluated
			a.harmful()
		}
	}
}

func (a *analysis) evaluatedText(s string) {
	if strings.ContainsAny(s, "[$`") {
		a.harmful()
		return
	}
	for _, name := range strings.FieldsFunc(s, func(r rune) bool {
		return r != '_' && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
	}) {
		a.evaluated[name] = true
	}
}

func (a *analysis) evaluatedParameter(p *syntax.ParamExp) {
	switch {
	case p.Param == nil:
		a.harmful()
	case p.Length:
	case p.Exp != nil || p.Repl != nil || p.Excl:
		a.harmful() // ${x:-text}: the text would be evaluated
	case strings.Trim(p.Param.Value, "#?$!") == "": // always numbers
	case strings.Trim(p.Param.Value, "0123456789@*") == "":
		a.harmful() // what the caller passes is not known
	default:
		a.evaluated[p.Param.Value] = true
	}
}

// parameter is ${...}: some forms assign, one runs what the value says, subscripts and slices evaluate.
func (a *analysis) parameter(p *syntax.ParamExp) {
	if p.NestedParam != nil {
		a.harmful()
	}
	if p.Index != nil {
		if w, ok := p.Index.(*syntax.Word); !ok || w.Lit() != "@" && w.Lit() != "*" {
			a.arithmetic(p.Index)
		}
	}
	if p.Slice != nil {
		a.arithmetic(p.Slice.Offset)
		a.arithmetic(p.Slice.Length)
	}
	if p.Excl && p.Param != nil && a.tainted[p.Param.Value] {
		a.harmful() // ${!x} evaluates a subscript in x
	}
	if p.Exp == nil {
		return
	}
	switch p.Exp.Op {
	case syntax.AssignUnset, syntax.AssignUnsetOrNull:
		if p.Param != nil {
			a.assignment(&syntax.Assign{Name: p.Param, Value: p.Exp.Word}, false)
		}
	case syntax.OtherParamOps:
		a.harmful() // ${x@P} expands the value as a prompt
	}
}
