package awk

import "strings"

type parser struct {
	lex    lexer
	tok    token
	prog   *Program
	params map[string]int
	calls  []call
	noGT   int // > is a redirection, not a comparison
	noIn   int
	depth  int
}

// maxDepth bounds nesting, so that a hostile program cannot exhaust the stack.
const maxDepth = 500

// Parse reads a program.
func Parse(source string) (*Program, error) {
	p := &parser{lex: lexer{in: source, line: 1}, prog: &Program{functions: map[string]*function{}, globals: map[string]int{}}}
	for _, name := range specials {
		p.global(name)
	}
	if err := p.program(); err != nil {
		return nil, err
	}
	for _, c := range p.calls {
		f, known := p.prog.functions[c.name]
		if !known {
			return nil, p.lex.errorf("function %s never defined", c.name)
		}
		if len(c.args) > len(f.params) {
			return nil, p.lex.errorf("function %s called with too many arguments", c.name)
		}
	}
	return p.prog, nil
}

func (p *parser) global(name string) int {
	slot, ok := p.prog.globals[name]
	if !ok {
		slot = len(p.prog.globals)
		p.prog.globals[name] = slot
	}
	return slot
}

func (p *parser) advance() (err error) {
	p.tok, err = p.lex.next()
	return err
}

func (p *parser) is(text string) bool {
	return (p.tok.kind == tOp || p.tok.kind == tKeyword) && p.tok.text == text
}

func (p *parser) accept(text string) (bool, error) {
	if !p.is(text) {
		return false, nil
	}
	return true, p.advance()
}

func (p *parser) expect(text string) error {
	if ok, err := p.accept(text); ok || err != nil {
		return err
	}
	return p.unexpected()
}

func (p *parser) unexpected() error {
	if p.tok.kind == tEOF {
		return p.lex.errorf("unexpected end of program")
	}
	return p.lex.errorf("syntax error at or near %s", p.tok.text)
}

func (p *parser) newlines() error {
	for p.tok.kind == tNewline {
		if err := p.advance(); err != nil {
			return err
		}
	}
	return nil
}

func (p *parser) program() error {
	if err := p.advance(); err != nil {
		return err
	}
	for {
		for p.tok.kind == tNewline || p.is(";") {
			if err := p.advance(); err != nil {
				return err
			}
		}
		if p.tok.kind == tEOF {
			return nil
		}
		if err := p.item(); err != nil {
			return err
		}
	}
}

func (p *parser) item() error {
	switch {
	case p.is("BEGIN"), p.is("END"):
		list := &p.prog.begin
		if p.is("END") {
			list = &p.prog.end
		}
		if err := p.advance(); err != nil {
			return err
		}
		body, err := p.block()
		*list = append(*list, body)
		return err
	case p.is("function"), p.is("func"):
		return p.function()
	}
	return p.rule()
}

func (p *parser) rule() (err error) {
	var r rule
	if !p.is("{") {
		if r.from, err = p.expr(); err != nil {
			return err
		}
		comma, err := p.accept(",")
		if err != nil {
			return err
		}
		if comma {
			if err := p.newlines(); err != nil {
				return err
			}
			if r.to, err = p.expr(); err != nil {
				return err
			}
		}
	}
	if p.is("{") {
		r.body, err = p.block()
	} else {
		r.printAll = true
	}
	p.prog.rules = append(p.prog.rules, r)
	return err
}

func (p *parser) function() error {
	if err := p.advance(); err != nil {
		return err
	}
	f := &function{name: p.tok.text}
	if p.tok.kind != tName && p.tok.kind != tCallName {
		return p.unexpected()
	}
	if err := p.advance(); err != nil {
		return err
	}
	if err := p.expect("("); err != nil {
		return err
	}
	p.params = map[string]int{}
	defer func() { p.params = nil }()
	for !p.is(")") {
		if p.tok.kind != tName {
			return p.unexpected()
		}
		p.params[p.tok.text] = len(f.params)
		f.params = append(f.params, p.tok.text)
		if err := p.advance(); err != nil {
			return err
		}
		if ok, err := p.accept(","); err != nil || !ok && !p.is(")") {
			return p.unexpected()
		}
		if err := p.newlines(); err != nil {
			return err
		}
	}
	if err := p.advance(); err != nil {
		return err
	}
	if err := p.newlines(); err != nil {
		return err
	}
	if p.prog.functions[f.name] != nil {
		return p.lex.errorf("function %s defined twice", f.name)
	}
	p.prog.functions[f.name] = f
	body, err := p.block()
	f.body = body
	return err
}

func (p *parser) variable(name string) variable {
	if i, ok := p.params[name]; ok {
		return variable{name: name, local: i}
	}
	return variable{name: name, local: -1, slot: p.global(name)}
}

// enter counts nesting; every recursive rule calls it.
func (p *parser) enter() error {
	p.depth++
	if p.depth > maxDepth {
		return p.lex.errorf("nested too deeply")
	}
	return nil
}

func (p *parser) leave() { p.depth-- }

func oneOf(text, list string) bool { return strings.Contains(" "+list+" ", " "+text+" ") }
