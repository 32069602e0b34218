package awk

import (
	"math"
	"slices"
	"strings"
)

func (m *machine) condition(x expr) bool {
	return m.eval(x).truth()
}

func (m *machine) evalAll(list []expr) []value {
	out := make([]value, len(list))
	for i, x := range list {
		out[i] = m.eval(x)
	}
	return out
}

func (m *machine) eval(x expr) value {
	switch x := x.(type) {
	case numberLit:
		return num(float64(x))
	case stringLit:
		return str(string(x))
	case regexLit:
		return boolean(x.re.MatchString(m.whole()))
	case variable:
		return m.get(x)
	case field:
		return m.getField(int(m.eval(x.index).toNum()))
	case element:
		return *m.element(x)
	case assign:
		return m.assignment(x)
	case conditional:
		if m.condition(x.test) {
			return m.eval(x.yes)
		}
		return m.eval(x.no)
	case binary:
		return m.binary(x)
	case unary:
		return m.unary(x)
	case increment:
		return m.increment(x)
	case membership:
		_, ok := m.cell(x.array).table()[m.key(x.subs)]
		return boolean(ok)
	case match:
		return boolean(m.matches(m.text(m.eval(x.left)), x.right) != x.negate)
	case call:
		return m.call(x)
	case builtin:
		return m.builtin(x)
	case getline:
		return m.getline(x)
	case group:
		m.fail("a list of expressions stands where one is needed")
	}
	return value{}
}

func (m *machine) matches(s string, pattern expr) bool {
	if lit, ok := pattern.(regexLit); ok {
		return lit.re.MatchString(s)
	}
	return m.regex(m.text(m.eval(pattern))).MatchString(s)
}

func (m *machine) cell(v variable) *cell {
	if v.local >= 0 {
		return m.frames[len(m.frames)-1][v.local]
	}
	return m.globals[v.slot]
}

func (m *machine) get(v variable) value {
	if v.local < 0 && v.slot == slotNF {
		m.splitRecord()
		return num(float64(len(m.fields)))
	}
	c := m.cell(v)
	if c.array != nil {
		m.fail("attempt to use array `%s' in a scalar context", v.name)
	}
	return c.v
}

func (m *machine) setGlobal(slot int, v value) {
	if slot == slotNF {
		m.setNF(int(v.toNum()))
		return
	}
	if slot == slotFS {
		m.splitRecord() // the current record is split by the old separator
	}
	m.globals[slot].v = v
}

func (m *machine) assign(target expr, v value) {
	switch t := target.(type) {
	case variable:
		if t.local >= 0 {
			m.cell(t).v = v
			return
		}
		if m.globals[t.slot].array != nil {
			m.fail("attempt to use array `%s' in a scalar context", t.name)
		}
		m.setGlobal(t.slot, v)
	case field:
		m.setField(int(m.eval(t.index).toNum()), v)
	case element:
		*m.element(t) = v
	}
}

func (m *machine) element(e element) *value {
	table := m.cell(e.array).table()
	key := m.key(e.subs)
	v := table[key]
	if v == nil {
		v = &value{}
		table[key] = v
	}
	return v
}

func (m *machine) key(subs []expr) string {
	if len(subs) == 1 {
		return m.text(m.eval(subs[0]))
	}
	parts := make([]string, len(subs))
	for i, x := range subs {
		parts[i] = m.text(m.eval(x))
	}
	return strings.Join(parts, m.global(slotSUBSEP))
}

func (m *machine) assignment(a assign) value {
	v := m.eval(a.value)
	if a.op != "=" {
		v = num(m.arithmetic(a.op, m.eval(a.target).toNum(), v.toNum()))
	}
	m.assign(a.target, v)
	return v
}

func (m *machine) increment(x increment) value {
	old := m.eval(x.target).toNum()
	m.assign(x.target, num(old+x.by))
	if x.before {
		old += x.by
	}
	return num(old)
}

func (m *machine) unary(x unary) value {
	v := m.eval(x.x)
	switch x.op {
	case "!":
		return boolean(!v.truth())
	case "-":
		return num(-v.toNum())
	case "+":
		return num(v.toNum())
	}
	return v
}

func (m *machine) binary(x binary) value {
	switch x.op {
	case "&&":
		return boolean(m.condition(x.left) && m.condition(x.right))
	case "||":
		return boolean(m.condition(x.left) || m.condition(x.right))
	}
	left, right := m.eval(x.left), m.eval(x.right)
	switch x.op {
	case "":
		return str(m.text(left) + m.text(right))
	case "<", "<=", "==", "!=", ">", ">=":
		return boolean(compared(x.op, compare(left, right, m.convfmt())))
	}
	return num(m.arithmetic(x.op, left.toNum(), right.toNum()))
}

func compared(op string, c int) bool {
	switch op {
	case "<":
		return c < 0
	case "<=":
		return c <= 0
	case "==":
		return c == 0
	case "!=":
		return c != 0
	case ">":
		return c > 0
	}
	return c >= 0
}

func (m *machine) arithmetic(op string, a, b float64) float64 {
	switch op {
	case "+":
		return a + b
	case "-":
		return a - b
	case "*":
		return a * b
	case "^":
		return math.Pow(a, b)
	}
	if b == 0 {
		m.fail("division by zero")
	}
	if op == "%" {
		return math.Mod(a, b)
	}
	return a / b
}

const maxCalls = 10000

func (m *machine) call(c call) value {
	f := m.prog.functions[c.name]
	if len(m.frames) >= maxCalls {
		m.fail("function %s: recursion too deep", c.name)
	}
	m.tick()
	frame := make([]*cell, len(f.params))
	for i := range frame {
		frame[i] = &cell{}
		if i < len(c.args) {
			m.pass(frame[i], c.args[i])
		}
	}
	m.frames = append(m.frames, frame)
	m.result = value{}
	j := m.block(f.body)
	m.frames = m.frames[:len(m.frames)-1]
	if j == jumpExit || j == jumpNext || j == jumpNextFile {
		panic(unwind(j))
	}
	return m.result
}

// unwind carries exit and next out of a function's body.
type unwind jump

// pass gives an argument: arrays by reference, all else by value.
func (m *machine) pass(to *cell, arg expr) {
	v, ok := arg.(variable)
	if !ok {
		to.v = m.eval(arg)
		return
	}
	from := m.cell(v)
	switch {
	case from.array != nil:
		to.array = from.array
	case from.v.kind == unset && (v.local >= 0 || v.slot >= len(specials)):
		to.origin = from
	default:
		to.v = m.get(v)
	}
}

// sortedKeys gives numbers first, ascending, then the rest in byte order.
func sortedKeys(table map[string]*value) []string {
	keys := make([]string, 0, len(table))
	for k := range table {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, func(a, b string) int {
		x, isX := looksNumeric(a)
		y, isY := looksNumeric(b)
		switch {
		case isX && isY && x != y:
			return map[bool]int{true: -1, false: 1}[x < y]
		case isX != isY:
			return map[bool]int{true: -1, false: 1}[isX]
		}
		return strings.Compare(a, b)
	})
	return keys
}
