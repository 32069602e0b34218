package main

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/build"
	"go/parser"
	"go/scanner"
	"go/token"
	"os"
	"path/filepath"
	"strings"
)

// declaration is a function, method, variable, constant or type of a package, and
// the file that holds it. Faults are anchored to it by name, so that it may move to
// another file of its package.
type declaration struct {
	file *token.File
	ast  *ast.File
	src  []byte
	path string
	node ast.Node
}

// find looks for the declaration that symbol names in the package in folder: "name"
// of a function, variable, constant or type, or "Type.name" of a method.
func find(folder, symbol string) (declaration, error) {
	paths, err := filepath.Glob(filepath.Join(folder, "*.go"))
	if err != nil {
		return declaration{}, err
	}
	for _, path := range paths {
		built, err := build.Default.MatchFile(folder, filepath.Base(path))
		if err != nil {
			return declaration{}, err
		}
		if !built || strings.HasSuffix(path, "_test.go") {
			continue
		}
		src, err := os.ReadFile(path)
		if err != nil {
			return declaration{}, err
		}
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, path, src, parser.SkipObjectResolution)
		if err != nil {
			return declaration{}, err
		}
		for _, d := range file.Decls {
			if node := named(d, symbol); node != nil {
				return declaration{file: set.File(file.Package), ast: file, src: src, path: path, node: node}, nil
			}
		}
	}
	return declaration{}, fmt.Errorf("%s declares no %s", folder, symbol)
}

// named gives the part of d that declares symbol, nil if none does.
func named(d ast.Decl, symbol string) ast.Node {
	switch d := d.(type) {
	case *ast.FuncDecl:
		if receiver(d)+d.Name.Name == symbol {
			return d
		}
	case *ast.GenDecl:
		for _, s := range d.Specs {
			switch s := s.(type) {
			case *ast.TypeSpec:
				if s.Name.Name == symbol {
					return s
				}
			case *ast.ValueSpec:
				for _, n := range s.Names {
					if n.Name == symbol {
						return s
					}
				}
			}
		}
	}
	return nil
}

// receiver gives the type that a method belongs to, with a dot; "" for a function.
func receiver(d *ast.FuncDecl) string {
	if d.Recv == nil {
		return ""
	}
	t := d.Recv.List[0].Type
	for {
		switch inner := t.(type) {
		case *ast.StarExpr:
			t = inner.X
		case *ast.IndexExpr:
			t = inner.X
		case *ast.IndexListExpr:
			t = inner.X
		case *ast.Ident:
			return inner.Name + "."
		default:
			return ""
		}
	}
}

// lexeme is one token of Go and where it stands in its source.
type lexeme struct {
	text       string
	start, end int
}

// lexemes cuts Go source into tokens. Comments and line ends are left out, so that
// neither rewording nor formatting hides a piece of code.
func lexemes(src []byte) []lexeme {
	var out []lexeme
	var s scanner.Scanner
	file := token.NewFileSet().AddFile("", -1, len(src))
	s.Init(file, src, func(token.Position, string) {}, 0)
	for {
		pos, tok, text := s.Scan()
		switch {
		case tok == token.EOF:
			return out
		case tok == token.SEMICOLON && text != ";":
			continue
		case text == "":
			text = tok.String()
		}
		at := file.Offset(pos)
		out = append(out, lexeme{text, at, at + len(text)})
	}
}

// span finds piece among the tokens of the declaration and gives its range in the
// file. A piece that stands nowhere, or in two places, is an error.
func (d declaration) span(piece string) (start, end int, err error) {
	from := d.file.Offset(d.node.Pos())
	within, want := lexemes(d.src[from:d.file.Offset(d.node.End())]), lexemes([]byte(piece))
	count := 0
	for i := 0; len(want) > 0 && i+len(want) <= len(within); i++ {
		if same(within[i:i+len(want)], want) {
			count++
			start, end = from+within[i].start, from+within[i+len(want)-1].end
		}
	}
	if count != 1 {
		return 0, 0, fmt.Errorf("%q stands %d times in it, not once", piece, count)
	}
	return start, end, nil
}

func same(a, b []lexeme) bool {
	for i := range b {
		if a[i].text != b[i].text {
			return false
		}
	}
	return true
}

// with gives the file's text with the range replaced, and with the imports that the
// replacement needs.
func (d declaration) with(start, end int, replacement string, imports []string) string {
	var out bytes.Buffer
	head := d.file.Offset(d.ast.Name.End())
	out.Write(d.src[:head])
	for _, path := range imports {
		if !d.imported(path) {
			fmt.Fprintf(&out, "\nimport %q", path)
		}
	}
	out.Write(d.src[head:start])
	out.WriteString(replacement)
	out.Write(d.src[end:])
	return out.String()
}

// imported reports whether the declaration's file imports the package.
func (d declaration) imported(path string) bool {
	for _, s := range d.ast.Imports {
		if s.Path.Value == fmt.Sprintf("%q", path) {
			return true
		}
	}
	return false
}
