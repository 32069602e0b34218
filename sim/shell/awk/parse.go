package awk

import (
	"slices"
	"strconv"
	"strings"
)

type (
	// eval computes an expression, run executes a statement.
	eval func(m *machine) value
	run  func(m *machine) jump
)

// node is a parsed expression.
type node struct {
	eval
	assign  func(m *machine, v value) // nil: nothing can be assigned to it
	ref     func(m *machine) *cell    // of a bare variable, which may be an array
	pattern *string                   // of a regular expression written as such
	list    []node                    // (a, b): a print list or a multiple subscript
}

// jump is how a statement leaves the normal order.
type jump int

const (
	goOn jump = iota
	jumpBreak
	jumpContinue
	jumpNext
	jumpNextFile
	jumpExit
	jumpReturn
)

type rule struct {
	from, to eval // nil from: every record
	body     run
}

type function struct {
	params []string
	body   run
}

// Program is a parsed AWK program.
type Program struct {
	begin, end []run
	rules      []rule
	functions  map[string]*function
	globals    map[string]int
}

type parser struct {
	tokens []token
	at     int
	prog   *Program
	params []string
	calls  []token // of functions that must be defined
	// noIn and noGreater keep `in` out of the head of a for, and `>` out of a print list.
	noIn, noGreater bool
}

// Parse parses a program.
func Parse(source string) (prog *Program, err error) {
	defer func() {
		switch r := recover().(type) {
		case nil:
		case syntaxError:
			prog, err = nil, r.error
		default:
			panic(r)
		}
	}()
	p := &parser{tokens: tokenize(source), prog: &Program{functions: map[string]*function{}, globals: map[string]int{}}}
	for i, name := range specials {
		p.prog.globals[name] = i
	}
	for p.skip("newline", ";"); !p.is("end"); p.skip("newline", ";") {
		p.item()
	}
	for _, c := range p.calls {
		if p.prog.functions[c.text] == nil {
			fail(c.line, "function %s never defined", c.text)
		}
	}
	return p.prog, nil
}

func (p *parser) is(kinds ...string) bool { return slices.Contains(kinds, p.tokens[p.at].kind) }

func (p *parser) next() token {
	t := p.tokens[p.at]
	if t.kind != "end" {
		p.at++
	}
	return t
}

func (p *parser) accept(kinds ...string) bool {
	ok := p.is(kinds...)
	if ok {
		p.next()
	}
	return ok
}

func (p *parser) skip(kinds ...string) {
	for p.accept(kinds...) {
	}
}

func (p *parser) expect(kind string) token {
	if t := p.tokens[p.at]; t.kind == "end" {
		fail(t.line, "unexpected end of program")
	} else if t.kind != kind {
		fail(t.line, "syntax error at or near %s", t.text)
	}
	return p.next()
}

// item is a function or a rule.
func (p *parser) item() {
	switch {
	case p.accept("function"):
		p.function()
	case p.accept("BEGIN"):
		p.prog.begin = append(p.prog.begin, p.block())
	case p.accept("END"):
		p.prog.end = append(p.prog.end, p.block())
	default:
		r := rule{body: func(m *machine) jump { m.print(m.out, m.line()); return goOn }}
		if !p.is("{") {
			r.from = p.expr().eval
			if p.accept(",") {
				p.skip("newline")
				r.to = p.expr().eval
			}
		}
		if p.is("{") {
			r.body = p.block()
		}
		p.prog.rules = append(p.prog.rules, r)
	}
}

func (p *parser) function() {
	name := p.next()
	f := &function{}
	p.expect("(")
	for p.skip("newline"); !p.is(")"); p.skip("newline", ",") {
		f.params = append(f.params, p.expect("name").text)
	}
	p.next()
	p.skip("newline")
	p.params, p.prog.functions[name.text] = f.params, f
	f.body = p.block()
	p.params = nil
}

func (p *parser) block() run {
	p.expect("{")
	var list []run
	for p.skip("newline", ";"); !p.accept("}"); p.skip("newline", ";") {
		list = append(list, p.statement())
	}
	return sequence(list)
}

func sequence(list []run) run {
	return func(m *machine) jump {
		for _, s := range list {
			if j := s(m); j != goOn {
				return j
			}
		}
		return goOn
	}
}

// body is a statement, or nothing, behind a head.
func (p *parser) body() run {
	p.skip("newline")
	if p.accept(";") {
		return sequence(nil)
	}
	return p.statement()
}

func (p *parser) statement() run {
	switch {
	case p.is("{"):
		return p.block()
	case p.accept("if"):
		return p.ifStatement()
	case p.accept("while"):
		test := p.paren()
		return loop(test, p.body(), nil)
	case p.accept("do"):
		body := p.body()
		p.skip("newline", ";")
		p.expect("while")
		test := p.paren()
		again := loop(test, body, nil)
		return func(m *machine) jump {
			if j := body(m); j == jumpBreak {
				return goOn
			} else if j > jumpContinue {
				return j
			}
			return again(m)
		}
	case p.accept("for"):
		return p.forStatement()
	}
	s := p.simple()
	if !p.is("}", "end") && !p.accept("newline", ";") {
		p.expect("newline")
	}
	return s
}

func (p *parser) paren() eval {
	p.expect("(")
	test := p.expr().eval
	p.expect(")")
	return test
}

func (p *parser) ifStatement() run {
	test := p.paren()
	yes, no := p.body(), sequence(nil)
	at := p.at
	if p.skip("newline", ";"); p.accept("else") {
		no = p.body()
	} else {
		p.at = at
	}
	return func(m *machine) jump {
		if test(m).truth() {
			return yes(m)
		}
		return no(m)
	}
}

// loop runs body and step while the test holds.
func loop(test eval, body, step run) run {
	return func(m *machine) jump {
		for test == nil || test(m).truth() {
			m.tick()
			if j := body(m); j == jumpBreak {
				return goOn
			} else if j > jumpContinue {
				return j
			}
			if step != nil {
				step(m)
			}
		}
		return goOn
	}
}

func (p *parser) forStatement() run {
	p.expect("(")
	if t := p.tokens[p.at:]; len(t) > 4 && t[0].kind == "name" && t[1].kind == "in" && t[2].kind == "name" && t[3].kind == ")" {
		p.at += 4
		return forIn(p.variable(t[0].text), p.variable(t[2].text), p.body())
	}
	var init, step run
	var test eval
	if !p.is(";") {
		init = p.simple()
	}
	p.expect(";")
	if p.skip("newline"); !p.is(";") {
		test = p.expr().eval
	}
	p.expect(";")
	if p.skip("newline"); !p.is(")") {
		step = p.simple()
	}
	p.expect(")")
	again := loop(test, p.body(), step)
	return func(m *machine) jump {
		if init != nil {
			init(m)
		}
		return again(m)
	}
}

func forIn(name, array node, body run) run {
	return func(m *machine) jump {
		table := array.ref(m).table()
		for _, key := range sortedKeys(table) {
			if table[key] == nil {
				continue // deleted on the way
			}
			m.tick()
			name.assign(m, fromIn(key))
			if j := body(m); j == jumpBreak {
				return goOn
			} else if j > jumpContinue {
				return j
			}
		}
		return goOn
	}
}

// simple is a statement without a body.
func (p *parser) simple() run {
	t := p.tokens[p.at]
	switch t.kind {
	case "print", "printf":
		p.next()
		return p.printStatement(t.kind)
	case "delete":
		p.next()
		return p.deleteStatement()
	case "break", "continue", "next", "nextfile":
		p.next()
		j := map[string]jump{"break": jumpBreak, "continue": jumpContinue, "next": jumpNext, "nextfile": jumpNextFile}[t.kind]
		return func(*machine) jump { return j }
	case "exit", "return":
		p.next()
		var result eval
		if !p.is("newline", ";", "}", "end") {
			result = p.expr().eval
		}
		return leave(t.kind, result)
	}
	x := p.expr().eval
	return func(m *machine) jump { x(m); return goOn }
}

func leave(kind string, result eval) run {
	return func(m *machine) jump {
		v := value{}
		if result != nil {
			v = result(m)
		}
		if kind == "return" {
			m.result = v
			return jumpReturn
		}
		if result != nil {
			m.code = int(uint8(int(v.toNum())))
		}
		return jumpExit
	}
}

func (p *parser) deleteStatement() run {
	array := p.variable(p.expect("name").text)
	if !p.accept("[") {
		return func(m *machine) jump { clear(array.ref(m).table()); return goOn }
	}
	key := p.subscript()
	return func(m *machine) jump { delete(array.ref(m).table(), key(m)); return goOn }
}

func (p *parser) printStatement(kind string) run {
	var args []node
	p.noGreater = true
	if !p.is("newline", ";", "}", "end", ">", ">>", "|") {
		args = p.exprList()
	}
	p.noGreater = false
	if len(args) == 1 && args[0].list != nil {
		args = args[0].list
	}
	mode, to := "", eval(nil)
	if p.is(">", ">>", "|") {
		mode = p.next().kind
		to = p.concat().eval
	}
	if kind == "printf" && len(args) == 0 {
		p.expect("format")
	}
	return func(m *machine) jump {
		values := make([]value, len(args))
		for i, a := range args {
			values[i] = a.eval(m)
		}
		w := m.target(mode, to)
		switch {
		case kind == "printf":
			m.write(w, sprintf(m.text(values[0]), values[1:], m.convfmt()))
		case len(args) == 0:
			m.print(w, m.line())
		default:
			words := make([]string, len(values))
			for i, v := range values {
				words[i] = v.toStr(m.globals[slotOFMT].v.s)
			}
			m.print(w, strings.Join(words, m.global(slotOFS)))
		}
		return goOn
	}
}

func (p *parser) exprList() (list []node) {
	list = append(list, p.expr())
	for p.accept(",") {
		p.skip("newline")
		list = append(list, p.expr())
	}
	return list
}

// variable is a parameter or a global variable.
func (p *parser) variable(name string) node {
	if i := slices.Index(p.params, name); i >= 0 {
		ref := func(m *machine) *cell { return m.frame[i] }
		return node{ref: ref, eval: func(m *machine) value { return m.frame[i].v }, assign: func(m *machine, v value) { m.frame[i].v = v }}
	}
	slot, known := p.prog.globals[name]
	if !known {
		slot = len(p.prog.globals)
		p.prog.globals[name] = slot
	}
	ref := func(m *machine) *cell { return m.globals[slot] }
	n := node{ref: ref, eval: func(m *machine) value { return m.globals[slot].v }, assign: func(m *machine, v value) { m.globals[slot].v = v }}
	if slot == slotNF {
		n.eval = func(m *machine) value { m.splitRecord(); return num(float64(len(m.fields))) }
		n.assign = func(m *machine, v value) { m.setNF(int(v.toNum())) }
	}
	return n
}

// subscript is what stands behind an opening bracket: the key of an element.
func (p *parser) subscript() func(m *machine) string {
	noIn, noGreater := p.noIn, p.noGreater
	p.noIn, p.noGreater = false, false
	subs := p.exprList()
	p.expect("]")
	p.noIn, p.noGreater = noIn, noGreater
	return func(m *machine) string { return m.key(subs) }
}

// literal is the value of a number in a program.
func literal(text string) float64 {
	if n, err := strconv.ParseUint(text, 0, 64); err == nil && strings.HasPrefix(text, "0x") {
		return float64(n)
	}
	return parseNumber(text)
}
