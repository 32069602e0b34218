package awk

func (p *parser) block() ([]stmt, error) {
	if err := p.expect("{"); err != nil {
		return nil, err
	}
	var list []stmt
	for {
		for p.tok.kind == tNewline || p.is(";") {
			if err := p.advance(); err != nil {
				return nil, err
			}
		}
		if p.is("}") {
			return list, p.advance()
		}
		s, err := p.statement()
		if err != nil {
			return nil, err
		}
		list = append(list, s)
	}
}

// body reads what a loop or a branch governs: a block, one statement, or nothing.
func (p *parser) body() ([]stmt, error) {
	if err := p.newlines(); err != nil {
		return nil, err
	}
	if p.is(";") {
		return nil, p.advance()
	}
	s, err := p.statement()
	return []stmt{s}, err
}

func (p *parser) statement() (stmt, error) {
	if err := p.enter(); err != nil {
		return nil, err
	}
	defer p.leave()
	if p.is("{") {
		body, err := p.block()
		return blockStmt{body}, err
	}
	if p.tok.kind == tKeyword {
		switch p.tok.text {
		case "if":
			return p.ifStatement()
		case "while":
			return p.whileStatement()
		case "do":
			return p.doStatement()
		case "for":
			return p.forStatement()
		}
	}
	s, err := p.simple()
	if err != nil {
		return nil, err
	}
	return s, p.terminator()
}

func (p *parser) terminator() error {
	if p.tok.kind == tNewline || p.is(";") {
		return p.advance()
	}
	if p.is("}") || p.tok.kind == tEOF {
		return nil
	}
	return p.unexpected()
}

func (p *parser) condition() (expr, error) {
	if err := p.advance(); err != nil {
		return nil, err
	}
	if err := p.expect("("); err != nil {
		return nil, err
	}
	x, err := p.inner()
	if err != nil {
		return nil, err
	}
	return x, p.expect(")")
}

// inner parses an expression in which > and `in` have their plain meaning again.
func (p *parser) inner() (expr, error) {
	gt, in := p.noGT, p.noIn
	p.noGT, p.noIn = 0, 0
	defer func() { p.noGT, p.noIn = gt, in }()
	return p.expr()
}

func (p *parser) ifStatement() (stmt, error) {
	test, err := p.condition()
	if err != nil {
		return nil, err
	}
	s := ifStmt{test: test}
	if s.yes, err = p.body(); err != nil {
		return nil, err
	}
	if !p.elseFollows() {
		return s, nil
	}
	for !p.is("else") {
		if err := p.advance(); err != nil {
			return nil, err
		}
	}
	if err := p.advance(); err != nil {
		return nil, err
	}
	s.no, err = p.body()
	return s, err
}

// elseFollows looks over newlines and semicolons without taking them.
func (p *parser) elseFollows() bool {
	if p.is("else") {
		return true
	}
	lex, tok := p.lex, p.tok
	defer func() { p.lex, p.tok = lex, tok }()
	for p.tok.kind == tNewline || p.is(";") {
		if p.advance() != nil {
			return false
		}
	}
	return p.is("else")
}

func (p *parser) whileStatement() (stmt, error) {
	test, err := p.condition()
	if err != nil {
		return nil, err
	}
	if p.is(";") {
		return whileStmt{test: test}, p.advance()
	}
	body, err := p.body()
	return whileStmt{test: test, body: body}, err
}

func (p *parser) doStatement() (stmt, error) {
	if err := p.advance(); err != nil {
		return nil, err
	}
	body, err := p.body()
	if err != nil {
		return nil, err
	}
	for p.tok.kind == tNewline || p.is(";") {
		if err := p.advance(); err != nil {
			return nil, err
		}
	}
	if !p.is("while") {
		return nil, p.unexpected()
	}
	test, err := p.condition()
	if err != nil {
		return nil, err
	}
	return whileStmt{test: test, body: body, after: true}, p.terminator()
}

func (p *parser) forStatement() (s stmt, err error) {
	if err := p.advance(); err != nil {
		return nil, err
	}
	if err := p.expect("("); err != nil {
		return nil, err
	}
	if in, ok, err := p.forIn(); ok || err != nil {
		return in, err
	}
	var f forStmt
	if !p.is(";") {
		if f.init, err = p.simple(); err != nil {
			return nil, err
		}
	}
	if err := p.semicolon(); err != nil {
		return nil, err
	}
	if !p.is(";") {
		if f.test, err = p.inner(); err != nil {
			return nil, err
		}
	}
	if err := p.semicolon(); err != nil {
		return nil, err
	}
	if !p.is(")") {
		if f.step, err = p.simple(); err != nil {
			return nil, err
		}
	}
	if err := p.expect(")"); err != nil {
		return nil, err
	}
	f.body, err = p.body()
	return f, err
}

func (p *parser) semicolon() error {
	if err := p.expect(";"); err != nil {
		return err
	}
	return p.newlines()
}

// forIn reads `name in array)` and its body, or puts everything back.
func (p *parser) forIn() (stmt, bool, error) {
	if p.tok.kind != tName {
		return nil, false, nil
	}
	lex, tok := p.lex, p.tok
	name := p.tok.text
	if err := p.advance(); err != nil {
		return nil, false, err
	}
	if p.is("in") && p.advance() == nil && p.tok.kind == tName {
		array := p.tok.text
		if p.advance() == nil && p.is(")") {
			if err := p.advance(); err != nil {
				return nil, false, err
			}
			body, err := p.body()
			return forInStmt{name: p.variable(name), array: p.variable(array), body: body}, true, err
		}
	}
	p.lex, p.tok = lex, tok
	return nil, false, nil
}

func (p *parser) simple() (stmt, error) {
	if p.tok.kind == tKeyword {
		switch p.tok.text {
		case "print", "printf":
			return p.printStatement()
		case "delete":
			return p.deleteStatement()
		case "break", "continue", "next", "nextfile", "exit", "return":
			return p.jumpStatement()
		}
	}
	x, err := p.expr()
	return exprStmt{x}, err
}

func (p *parser) jumpStatement() (stmt, error) {
	kinds := map[string]jump{"break": jumpBreak, "continue": jumpContinue, "next": jumpNext, "nextfile": jumpNextFile, "exit": jumpExit, "return": jumpReturn}
	s := jumpStmt{kind: kinds[p.tok.text]}
	if s.kind == jumpReturn && p.params == nil {
		return nil, p.lex.errorf("return outside function")
	}
	if err := p.advance(); err != nil {
		return nil, err
	}
	if s.kind != jumpExit && s.kind != jumpReturn || p.tok.kind == tNewline || p.is(";") || p.is("}") || p.tok.kind == tEOF {
		return s, nil
	}
	var err error
	s.value, err = p.expr()
	return s, err
}

func (p *parser) deleteStatement() (stmt, error) {
	if err := p.advance(); err != nil {
		return nil, err
	}
	if p.tok.kind != tName {
		return nil, p.unexpected()
	}
	s := deleteStmt{array: p.variable(p.tok.text)}
	if err := p.advance(); err != nil {
		return nil, err
	}
	var err error
	if p.is("[") {
		s.subs, err = p.subscripts()
	}
	return s, err
}

func (p *parser) printStatement() (stmt, error) {
	s := printStmt{format: p.tok.text == "printf"}
	if err := p.advance(); err != nil {
		return nil, err
	}
	var err error
	if !p.printEnds() {
		p.noGT++
		s.args, err = p.list()
		p.noGT--
		if err != nil {
			return nil, err
		}
	}
	if len(s.args) == 1 {
		if g, ok := s.args[0].(group); ok {
			s.args = g.list
		}
	}
	if s.format && len(s.args) == 0 {
		return nil, p.lex.errorf("printf: no format")
	}
	return s, p.redirection(&s)
}

func (p *parser) printEnds() bool {
	return p.tok.kind == tNewline || p.tok.kind == tEOF || p.tok.kind == tOp && oneOf(p.tok.text, "; } > >> |")
}

func (p *parser) redirection(s *printStmt) error {
	if p.tok.kind != tOp || !oneOf(p.tok.text, "> >> |") {
		return nil
	}
	s.redirect = p.tok.text
	if err := p.advance(); err != nil {
		return err
	}
	p.noGT++
	defer func() { p.noGT-- }()
	to, err := p.concat(true)
	s.to = to
	if s.redirect == "|" {
		p.prog.effects.Runs = true
	} else if name, _ := to.(stringLit); name != "/dev/stdout" && name != "/dev/stderr" {
		p.prog.effects.Writes = true
	}
	return err
}
