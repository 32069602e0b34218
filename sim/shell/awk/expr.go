package awk

import (
	"math"
	"strings"
)

// Precedence, lowest first: ?: || && in ~ comparison | concatenation + * unary ^ ++ $.
func (p *parser) expr() node {
	test := p.or()
	if !p.accept("?") {
		return test
	}
	p.skip("newline")
	yes := p.expr()
	p.skip("newline")
	p.expect(":")
	p.skip("newline")
	no := p.expr()
	return node{eval: func(m *machine) value {
		if test.eval(m).truth() {
			return yes.eval(m)
		}
		return no.eval(m)
	}}
}

func (p *parser) or() node {
	left := p.and()
	for p.accept("||") {
		p.skip("newline")
		a, b := left.eval, p.and().eval
		left = node{eval: func(m *machine) value { return boolean(a(m).truth() || b(m).truth()) }}
	}
	return left
}

func (p *parser) and() node {
	left := p.membership()
	for p.accept("&&") {
		p.skip("newline")
		a, b := left.eval, p.membership().eval
		left = node{eval: func(m *machine) value { return boolean(a(m).truth() && b(m).truth()) }}
	}
	return left
}

func (p *parser) membership() node {
	left := p.matching()
	for !p.noIn && p.accept("in") {
		subs := []node{left}
		if left.list != nil {
			subs = left.list
		}
		array := p.variable(p.expect("name").text)
		left = node{eval: func(m *machine) value { return boolean(array.ref(m).table()[m.key(subs)] != nil) }}
	}
	return left
}

func (p *parser) matching() node {
	left := p.comparison()
	for p.is("~", "!~") {
		negate := p.next().kind == "!~"
		a, b := left.eval, p.comparison()
		left = node{eval: func(m *machine) value { return boolean(m.pattern(b).MatchString(m.text(a(m))) != negate) }}
	}
	return left
}

func (p *parser) comparison() node {
	left := p.pipe()
	for p.is("<", "<=", "==", "!=", ">=") || p.is(">") && !p.noGreater {
		op, a, b := p.next().kind, left.eval, p.pipe().eval
		left = node{eval: func(m *machine) value {
			holds := [3]string{" < <= != ", " <= == >= ", " > >= != "} // for less, equal, greater
			return boolean(strings.Contains(holds[1+compare(a(m), b(m), m.convfmt())], " "+op+" "))
		}}
	}
	return left
}

// pipe is `command | getline`.
func (p *parser) pipe() node {
	left := p.concat()
	for p.is("|") && p.tokens[p.at+1].kind == "getline" {
		p.at += 2
		left = p.getline(left.eval, true)
	}
	return left
}

func (p *parser) concat() node {
	left := p.additive()
	for p.is("number", "string", "regex", "name", "call", "builtin", "$", "!", "(", "-", "+", "++", "--") {
		a, b := left.eval, p.additive().eval
		left = node{eval: func(m *machine) value { x := m.text(a(m)); return str(x + m.text(b(m))) }}
	}
	return left
}

func (p *parser) additive() node {
	left := p.multiplicative()
	for p.is("+", "-") {
		left = arithmetic(p.next().kind, left.eval, p.multiplicative().eval)
	}
	return left
}

func (p *parser) multiplicative() node {
	left := p.unary()
	for p.is("*", "/", "%") {
		left = arithmetic(p.next().kind, left.eval, p.unary().eval)
	}
	return left
}

func arithmetic(op string, a, b eval) node {
	return node{eval: func(m *machine) value {
		x := a(m).toNum()
		return num(m.apply(op, x, b(m).toNum()))
	}}
}

func (m *machine) apply(op string, x, y float64) float64 {
	if y == 0 && (op == "/" || op == "%") {
		m.fail("division by zero")
	}
	switch op {
	case "+":
		return x + y
	case "-":
		return x - y
	case "*":
		return x * y
	case "/":
		return x / y
	case "%":
		return math.Mod(x, y)
	}
	return math.Pow(x, y)
}

func (p *parser) unary() node {
	if !p.is("!", "-", "+") {
		return p.power()
	}
	op, x := p.next().kind, p.unary().eval
	return node{eval: func(m *machine) value {
		switch v := x(m); op {
		case "!":
			return boolean(!v.truth())
		case "-":
			return num(-v.toNum())
		default:
			return num(v.toNum())
		}
	}}
}

func (p *parser) power() node {
	left := p.increment()
	if p.accept("^") {
		right := p.power
		if p.is("-", "+", "!") {
			right = p.unary
		}
		return arithmetic("^", left.eval, right().eval)
	}
	return left
}

// increment is an operand with what may stand around it: ++, -- and assignments.
func (p *parser) increment() node {
	if p.is("++", "--") {
		by := float64(',') - float64(p.next().kind[0]) // '+' is one below ',', '-' one above
		x := p.operand()
		p.lvalue(x)
		return node{eval: func(m *machine) value {
			v := num(x.eval(m).toNum() + by)
			x.assign(m, v)
			return v
		}}
	}
	x := p.operand()
	if x.assign == nil {
		return x
	}
	if p.is("++", "--") {
		by := float64(',') - float64(p.next().kind[0])
		return node{eval: func(m *machine) value {
			old := x.eval(m).toNum()
			x.assign(m, num(old+by))
			return num(old)
		}}
	}
	if !p.is("=", "+=", "-=", "*=", "/=", "%=", "^=") {
		return x
	}
	op := strings.TrimSuffix(p.next().kind, "=")
	p.skip("newline")
	y := p.expr().eval
	return node{eval: func(m *machine) value {
		v := y(m)
		if op != "" {
			v = num(m.apply(op, x.eval(m).toNum(), v.toNum()))
		}
		x.assign(m, v)
		return v
	}}
}

func (p *parser) lvalue(x node) {
	if x.assign == nil {
		fail(p.tokens[p.at].line, "syntax error: nothing can be assigned to what stands before %s", p.tokens[p.at].text)
	}
}

func (p *parser) operand() node {
	t := p.tokens[p.at]
	switch t.kind {
	case "number":
		v := num(literal(p.next().text))
		return node{eval: func(*machine) value { return v }}
	case "string":
		v := str(p.next().text)
		return node{eval: func(*machine) value { return v }}
	case "regex":
		p.next()
		n := node{pattern: &t.text}
		n.eval = func(m *machine) value { return boolean(m.regex(t.text).MatchString(m.line())) }
		return n
	case "$":
		p.next()
		return p.field()
	case "(":
		return p.group()
	case "name":
		p.next()
		x := p.variable(t.text)
		if !p.accept("[") {
			return x
		}
		return element(x, p.subscript())
	case "call":
		return p.call()
	case "builtin":
		return p.builtin()
	case "getline":
		p.next()
		return p.getline(nil, false)
	case "-", "+", "!":
		return p.unary()
	}
	p.expect("expression")
	return node{}
}

func (p *parser) field() node {
	var x node
	if p.is("++", "--") {
		x = p.increment()
	} else {
		x = p.operand()
	}
	index := func(m *machine) int { return int(x.eval(m).toNum()) }
	return node{
		eval:   func(m *machine) value { return m.getField(index(m)) },
		assign: func(m *machine, v value) { m.setField(index(m), v) },
	}
}

func element(array node, key func(m *machine) string) node {
	return node{
		eval: func(m *machine) value {
			table, k := array.ref(m).table(), key(m)
			if table[k] == nil {
				table[k] = &value{}
			}
			return *table[k]
		},
		assign: func(m *machine, v value) { array.ref(m).table()[key(m)] = &v },
	}
}

func (p *parser) group() node {
	list := p.arguments()
	if len(list) == 0 {
		p.expect("expression")
	}
	if len(list) == 1 {
		return node{eval: list[0].eval, list: list}
	}
	return node{list: list, eval: func(m *machine) value { return str(m.key(list)) }}
}

// arguments are what stands in parentheses.
func (p *parser) arguments() (list []node) {
	noIn, noGreater := p.noIn, p.noGreater
	p.noIn, p.noGreater = false, false
	p.expect("(")
	if p.skip("newline"); !p.is(")") {
		list = p.exprList()
	}
	p.skip("newline")
	p.expect(")")
	p.noIn, p.noGreater = noIn, noGreater
	return list
}

// getline reads from source, or without one from the main input or a file.
func (p *parser) getline(source eval, command bool) node {
	var to node
	if p.is("name", "$") {
		to = p.operand()
		p.lvalue(to)
	}
	if source == nil && p.accept("<") {
		source = p.operand().eval
	}
	return node{eval: func(m *machine) value {
		line, state := m.nextLine(source, command)
		switch {
		case state != 1:
		case to.assign != nil:
			to.assign(m, fromIn(line))
		default:
			m.setRecord(line)
		}
		return num(state)
	}}
}

func (p *parser) call() node {
	name := p.next()
	args := p.arguments()
	p.calls = append(p.calls, name)
	prog := p.prog
	return node{eval: func(m *machine) value {
		f := prog.functions[name.text]
		if len(args) > len(f.params) {
			m.fail("function %s called with more arguments than it has parameters", name.text)
		}
		frame := make([]*cell, len(f.params))
		for i := range frame {
			frame[i] = &cell{}
			if i < len(args) {
				frame[i].v = args[i].eval(m)
				if args[i].ref != nil {
					frame[i].origin = args[i].ref(m)
				}
			}
		}
		return m.invoke(f, frame)
	}}
}

func (p *parser) builtin() node {
	name := p.next()
	var args []node
	if p.is("(") {
		args = p.arguments()
	} else if name.text != "length" {
		p.expect("(")
	}
	b := builtins[name.text]
	if len(args) < b.fewest || len(args) > b.most {
		fail(name.line, "wrong number of arguments of %s", name.text)
	}
	return node{eval: func(m *machine) value { return b.call(m, args) }}
}
