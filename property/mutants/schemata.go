package main

import (
	_ "embed" // the file that is written beside each package
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// change is one operator in place of another.
type change struct {
	id       int
	at       string // file:line:column
	from, to token.Token
	line     string
}

func (c change) String() string { return fmt.Sprintf("%s %s → %s  %s", c.at, c.from, c.to, c.line) }

// instead are the operators that are tried in place of another: the bound of a comparison,
// its contrary, and the other direction of arithmetic.
var instead = map[token.Token][]token.Token{
	token.ADD: {token.SUB}, token.SUB: {token.ADD}, token.MUL: {token.QUO}, token.QUO: {token.MUL}, token.REM: {token.MUL},
	token.GEQ: {token.GTR, token.LSS}, token.GTR: {token.GEQ, token.LEQ}, token.LEQ: {token.LSS, token.GTR}, token.LSS: {token.LEQ, token.GEQ},
	token.EQL: {token.NEQ}, token.NEQ: {token.EQL}, token.INC: {token.DEC}, token.DEC: {token.INC},
}

// schema writes one file with all its changes in it at once: each operator becomes a function
// that asks which change is on. So a package is built once for all of them.
type schema struct {
	fset    *token.FileSet
	file    *token.File
	source  []byte
	pkg     *types.Package
	types   map[ast.Expr]types.TypeAndValue
	imports map[string]string // the name of each package that the file imports
	nodes   []ast.Node        // what is changed, the outer before the inner
	changes *[]change
}

// text is the file from one place to another, with the changes in nodes, which lie there.
func (s *schema) text(from, to token.Pos, nodes []ast.Node) string {
	var b strings.Builder
	for len(nodes) > 0 {
		n, inner := nodes[0], 1
		for inner < len(nodes) && nodes[inner].End() <= n.End() {
			inner++
		}
		b.Write(s.source[s.file.Offset(from):s.file.Offset(n.Pos())])
		b.WriteString(s.changed(n, nodes[1:inner]))
		from, nodes = n.End(), nodes[inner:]
	}
	b.Write(s.source[s.file.Offset(from):s.file.Offset(to)])
	return b.String()
}

// changed is a node as a call that does what the change that is on makes of it.
func (s *schema) changed(n ast.Node, inner []ast.Node) string {
	part := func(e ast.Expr) string {
		within := slices.DeleteFunc(slices.Clone(inner), func(n ast.Node) bool { return n.Pos() < e.Pos() || n.End() > e.End() })
		return s.text(e.Pos(), e.End(), within)
	}
	switch n := n.(type) {
	case *ast.BinaryExpr:
		x, y := part(n.X), part(n.Y)
		result, _ := s.typed(n)
		var b strings.Builder
		for _, c := range s.site(n.OpPos, n.Op) {
			fmt.Fprintf(&b, "if changeIsOn(%d) { return %s %s %s }; ", c.id, x, c.to, y)
		}
		return fmt.Sprintf("func() %s { %sreturn %s %s %s }()", result, b.String(), x, n.Op, y)
	case *ast.UnaryExpr:
		x := part(n.X)
		result, _ := s.typed(n)
		return fmt.Sprintf("func() %s { if changeIsOn(%d) { return +%s }; return -%s }()", result, s.site(n.OpPos, n.Op)[0].id, x, x)
	case *ast.IncDecStmt:
		x := part(n.X)
		c := s.site(n.TokPos, n.Tok)[0]
		return fmt.Sprintf("func() { if changeIsOn(%d) { %s%s } else { %s%s } }()", c.id, x, c.to, x, n.Tok)
	}
	return ""
}

// site numbers the changes of an operator.
func (s *schema) site(at token.Pos, op token.Token) []change {
	p := s.fset.Position(at)
	line := strings.TrimSpace(strings.Split(string(s.source), "\n")[p.Line-1])
	first := len(*s.changes)
	for _, to := range instead[op] {
		*s.changes = append(*s.changes, change{len(*s.changes), fmt.Sprintf("%s:%d:%d", filepath.Base(p.Filename), p.Line, p.Column), op, to, line})
	}
	return (*s.changes)[first:]
}

// find collects what can be changed: all but constants, texts, what is of a type that the file
// cannot name, and what recovers from a panic, which works in no other function.
func (s *schema) find(f *ast.File) {
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ArrayType:
			return false
		case *ast.GenDecl:
			return n.Tok != token.CONST && n.Tok != token.TYPE
		case *ast.IncDecStmt:
			s.nodes = append(s.nodes, n)
		case *ast.BinaryExpr:
			if instead[n.Op] != nil && s.changeable(n) {
				s.nodes = append(s.nodes, n)
			}
		case *ast.UnaryExpr:
			if n.Op == token.SUB {
				if _, ok := s.typed(n); ok {
					s.nodes = append(s.nodes, n)
				}
			}
		}
		return true
	})
}

func (s *schema) changeable(n *ast.BinaryExpr) bool {
	basic, isBasic := s.types[n].Type.Underlying().(*types.Basic)
	_, ok := s.typed(n)
	return ok && !recovers(n) && s.types[n].Value == nil && (!isBasic || basic.Info()&types.IsString == 0)
}

func recovers(n ast.Expr) (is bool) {
	ast.Inspect(n, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if ok {
			name, named := call.Fun.(*ast.Ident)
			is = is || named && name.Name == "recover"
		}
		return true
	})
	return is
}

// typed is the type of an expression as the file names it.
func (s *schema) typed(e ast.Expr) (name string, ok bool) {
	ok = true
	name = types.TypeString(types.Default(s.types[e].Type), func(p *types.Package) string {
		if p == s.pkg {
			return ""
		}
		name, imported := s.imports[p.Path()]
		ok = ok && imported
		return name
	})
	return name, ok
}

// importsOf are the names under which a file knows packages.
func importsOf(f *ast.File, pkg *types.Package) map[string]string {
	names := map[string]string{}
	for _, i := range f.Imports {
		path, _ := strconv.Unquote(i.Path.Value) // it was parsed
		for _, p := range pkg.Imports() {
			if p.Path() == path {
				names[path] = p.Name()
			}
		}
		if i.Name != nil {
			names[path] = i.Name.Name
		}
	}
	return names
}

// switchboard is the file that says which change is on, and remembers which were asked about.
//
//go:embed switchboard.go.txt
var switchboard string
