package awk

import (
	"strconv"

	"toolbench/toolsys/shellcmd/posixre"
)

func (p *parser) list() ([]expr, error) {
	var list []expr
	for {
		x, err := p.expr()
		if err != nil {
			return nil, err
		}
		list = append(list, x)
		if !p.is(",") {
			return list, nil
		}
		if err := p.advance(); err != nil {
			return nil, err
		}
		if err := p.newlines(); err != nil {
			return nil, err
		}
	}
}

func lvalue(x expr) bool {
	switch x.(type) {
	case variable, element, field:
		return true
	}
	return false
}

// expr is an assignment or anything that binds closer.
func (p *parser) expr() (expr, error) {
	if err := p.enter(); err != nil {
		return nil, err
	}
	defer p.leave()
	left, err := p.ternary()
	if err != nil || p.tok.kind != tOp || !oneOf(p.tok.text, "= += -= *= /= %= ^=") || !lvalue(left) {
		return left, err
	}
	op := p.tok.text
	if op != "=" {
		op = op[:1]
	}
	if err := p.advance(); err != nil {
		return nil, err
	}
	if err := p.newlines(); err != nil {
		return nil, err
	}
	right, err := p.expr()
	return assign{op: op, target: left, value: right}, err
}

func (p *parser) ternary() (expr, error) {
	test, err := p.or()
	if err != nil || !p.is("?") {
		return test, err
	}
	if err := p.advance(); err != nil {
		return nil, err
	}
	if err := p.newlines(); err != nil {
		return nil, err
	}
	yes, err := p.expr()
	if err != nil {
		return nil, err
	}
	if err := p.newlines(); err != nil {
		return nil, err
	}
	if err := p.expect(":"); err != nil {
		return nil, err
	}
	if err := p.newlines(); err != nil {
		return nil, err
	}
	no, err := p.expr()
	return conditional{test, yes, no}, err
}

// chain parses left-associative operators of one level.
func (p *parser) chain(ops string, sub func() (expr, error)) (expr, error) {
	left, err := sub()
	for err == nil && p.tok.kind == tOp && oneOf(p.tok.text, ops) {
		op := p.tok.text
		if err = p.advance(); err != nil {
			break
		}
		if op == "&&" || op == "||" {
			if err = p.newlines(); err != nil {
				break
			}
		}
		var right expr
		right, err = sub()
		left = binary{op, left, right}
	}
	return left, err
}

func (p *parser) or() (expr, error)  { return p.chain("||", p.and) }
func (p *parser) and() (expr, error) { return p.chain("&&", p.in) }

func (p *parser) in() (expr, error) {
	left, err := p.matching()
	for err == nil && p.is("in") && p.noIn == 0 {
		if err = p.advance(); err != nil {
			break
		}
		if p.tok.kind != tName {
			return nil, p.unexpected()
		}
		subs := []expr{left}
		if g, ok := left.(group); ok {
			subs = g.list
		}
		left = membership{subs: subs, array: p.variable(p.tok.text)}
		err = p.advance()
	}
	return left, err
}

func (p *parser) matching() (expr, error) {
	left, err := p.comparison()
	for err == nil && (p.is("~") || p.is("!~")) {
		negate := p.is("!~")
		if err = p.advance(); err != nil {
			break
		}
		var right expr
		right, err = p.comparison()
		left = match{negate, left, right}
	}
	return left, err
}

func (p *parser) comparison() (expr, error) {
	left, err := p.concat(p.noGT > 0)
	if err != nil || p.tok.kind != tOp {
		return left, err
	}
	if oneOf(p.tok.text, "< <= == != >=") || p.tok.text == ">" && p.noGT == 0 {
		op := p.tok.text
		if err := p.advance(); err != nil {
			return nil, err
		}
		right, err := p.concat(p.noGT > 0)
		return binary{op, left, right}, err
	}
	return left, nil
}

// concat joins neighbours. A pipe into getline binds here; after print a pipe is a redirection unless
// getline follows.
func (p *parser) concat(_ bool) (expr, error) {
	left, err := p.additive()
	for err == nil {
		switch {
		case p.is("|") && p.getlineFollows():
			left, err = p.pipeGetline(left)
		case p.startsOperand():
			var right expr
			right, err = p.additive()
			left = binary{"", left, right}
		default:
			return left, nil
		}
	}
	return left, err
}

func (p *parser) getlineFollows() bool {
	lex, tok := p.lex, p.tok
	defer func() { p.lex, p.tok = lex, tok }()
	return p.advance() == nil && p.is("getline")
}

func (p *parser) pipeGetline(command expr) (expr, error) {
	for range 2 {
		if err := p.advance(); err != nil {
			return nil, err
		}
	}
	p.prog.effects.Runs = true
	target, err := p.optionalTarget()
	return getline{target: target, source: command, command: true}, err
}

// startsOperand says whether the current token can begin the right side of a concatenation.
func (p *parser) startsOperand() bool {
	switch p.tok.kind {
	case tNumber, tString, tRegex, tName, tCallName, tBuiltin:
		return true
	case tOp:
		return oneOf(p.tok.text, "$ ! ( - + ++ --")
	}
	return false
}

func (p *parser) additive() (expr, error) { return p.chain("+ -", p.product) }
func (p *parser) product() (expr, error)  { return p.chain("* / %", p.unary) }

func (p *parser) unary() (expr, error) {
	if p.tok.kind != tOp || !oneOf(p.tok.text, "! - +") {
		return p.power()
	}
	if err := p.enter(); err != nil {
		return nil, err
	}
	defer p.leave()
	op := p.tok.text
	if err := p.advance(); err != nil {
		return nil, err
	}
	x, err := p.unary()
	return unary{op, x}, err
}

func (p *parser) power() (expr, error) {
	left, err := p.postfix()
	if err != nil || !p.is("^") {
		return left, err
	}
	if err := p.advance(); err != nil {
		return nil, err
	}
	right, err := p.unary() // right-associative, and -1 may follow
	return binary{"^", left, right}, err
}

func (p *parser) postfix() (expr, error) {
	x, err := p.primary()
	if err != nil || !lvalue(x) || !p.is("++") && !p.is("--") {
		return x, err
	}
	by := 1.0
	if p.is("--") {
		by = -1
	}
	return increment{target: x, by: by}, p.advance()
}

func (p *parser) primary() (expr, error) {
	if err := p.enter(); err != nil {
		return nil, err
	}
	defer p.leave()
	t := p.tok
	switch t.kind {
	case tNumber:
		n, _ := strconv.ParseFloat(t.text, 64)
		return numberLit(n), p.advance()
	case tString:
		return stringLit(t.text), p.advance()
	case tRegex:
		re, err := posixre.Compile(posixre.UnescapeBrackets(t.text), posixre.Extended, false)
		if err != nil {
			return nil, p.lex.errorf("%s: /%s/", err, t.text)
		}
		return regexLit{re}, p.advance()
	case tName:
		return p.name()
	case tCallName:
		return p.call()
	case tBuiltin:
		return p.builtin()
	case tKeyword:
		if t.text == "getline" {
			return p.getline()
		}
	case tOp:
		return p.operatorPrimary()
	}
	return nil, p.unexpected()
}

func (p *parser) operatorPrimary() (expr, error) {
	switch op := p.tok.text; op {
	case "$":
		if err := p.advance(); err != nil {
			return nil, err
		}
		return p.fieldIndex()
	case "++", "--":
		if err := p.advance(); err != nil {
			return nil, err
		}
		x, err := p.primary()
		if err == nil && !lvalue(x) {
			return nil, p.unexpected()
		}
		by := 1.0
		if op == "--" {
			by = -1
		}
		return increment{target: x, by: by, before: true}, err
	case "(":
		return p.parenthesis()
	case "-", "+", "!":
		return p.unary()
	}
	return nil, p.unexpected()
}

// fieldIndex binds closer than everything but ++: $i++ is ($i)++, $++i is $(++i).
func (p *parser) fieldIndex() (expr, error) {
	x, err := p.primary()
	return field{x}, err
}

func (p *parser) parenthesis() (expr, error) {
	if err := p.advance(); err != nil {
		return nil, err
	}
	gt, in := p.noGT, p.noIn
	p.noGT, p.noIn = 0, 0
	list, err := p.list()
	p.noGT, p.noIn = gt, in
	if err != nil {
		return nil, err
	}
	if err := p.expect(")"); err != nil {
		return nil, err
	}
	if len(list) == 1 {
		if lvalue(list[0]) || isRegex(list[0]) {
			return list[0], nil
		}
		return unary{"(", list[0]}, nil // an assignment cannot follow: (a = 1) = 2
	}
	return group{list}, nil
}

func isRegex(x expr) bool {
	_, ok := x.(regexLit)
	return ok
}

func (p *parser) name() (expr, error) {
	v := p.variable(p.tok.text)
	if err := p.advance(); err != nil {
		return nil, err
	}
	if !p.is("[") {
		return v, nil
	}
	subs, err := p.subscripts()
	return element{v, subs}, err
}

func (p *parser) subscripts() ([]expr, error) {
	if err := p.advance(); err != nil {
		return nil, err
	}
	gt, in := p.noGT, p.noIn
	p.noGT, p.noIn = 0, 0
	list, err := p.list()
	p.noGT, p.noIn = gt, in
	if err != nil {
		return nil, err
	}
	return list, p.expect("]")
}

func (p *parser) arguments() ([]expr, error) {
	if err := p.expect("("); err != nil {
		return nil, err
	}
	if err := p.newlines(); err != nil {
		return nil, err
	}
	if p.is(")") {
		return nil, p.advance()
	}
	gt, in := p.noGT, p.noIn
	p.noGT, p.noIn = 0, 0
	list, err := p.list()
	p.noGT, p.noIn = gt, in
	if err != nil {
		return nil, err
	}
	return list, p.expect(")")
}

func (p *parser) call() (expr, error) {
	c := call{name: p.tok.text, line: p.tok.line}
	if err := p.advance(); err != nil {
		return nil, err
	}
	var err error
	c.args, err = p.arguments()
	p.calls = append(p.calls, c)
	return c, err
}

func (p *parser) builtin() (expr, error) {
	b := builtin{name: p.tok.text, line: p.tok.line}
	if b.name == "system" {
		p.prog.effects.Runs = true
	}
	if err := p.advance(); err != nil {
		return nil, err
	}
	if b.name == "length" && !p.is("(") {
		return b, nil
	}
	var err error
	if b.args, err = p.arguments(); err != nil {
		return nil, err
	}
	return b, p.checkArity(b)
}

// arity gives the least and the greatest number of arguments.
var arity = map[string][2]int{"length": {0, 1}, "substr": {2, 3}, "index": {2, 2}, "split": {2, 3}, "sub": {2, 3}, "gsub": {2, 3},
	"gensub": {3, 4}, "match": {2, 2}, "sprintf": {1, 1 << 20}, "sin": {1, 1}, "cos": {1, 1}, "atan2": {2, 2}, "exp": {1, 1}, "log": {1, 1},
	"sqrt": {1, 1}, "int": {1, 1}, "rand": {0, 0}, "srand": {0, 1}, "tolower": {1, 1}, "toupper": {1, 1}, "system": {1, 1}, "close": {1, 1},
	"fflush": {0, 1}, "systime": {0, 0}}

func (p *parser) checkArity(b builtin) error {
	n := arity[b.name]
	if len(b.args) < n[0] || len(b.args) > n[1] {
		return p.lex.errorf("wrong number of arguments in call of %s", b.name)
	}
	switch b.name {
	case "split":
		if _, ok := b.args[1].(variable); !ok {
			return p.lex.errorf("split: second argument must be an array")
		}
	case "sub", "gsub":
		if len(b.args) == 3 && !lvalue(b.args[2]) {
			return p.lex.errorf("%s: third argument must be assignable", b.name)
		}
	}
	return nil
}

func (p *parser) getline() (expr, error) {
	if err := p.advance(); err != nil {
		return nil, err
	}
	target, err := p.optionalTarget()
	if err != nil || !p.is("<") {
		return getline{target: target}, err
	}
	if err := p.advance(); err != nil {
		return nil, err
	}
	source, err := p.primary() // "file" ".txt" is not joined, as in every awk
	return getline{target: target, source: source}, err
}

func (p *parser) optionalTarget() (expr, error) {
	if p.tok.kind == tName || p.is("$") {
		return p.primary()
	}
	return nil, nil
}
