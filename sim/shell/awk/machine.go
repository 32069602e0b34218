package awk

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"toolbench/toolsys/shellcmd/posixre"
)

// Options are a run's inputs and its ways to the world. What is nil is refused.
type Options struct {
	Args      []string // operands: files, or name=value
	Vars      []string // -v: name=value, set before BEGIN
	Separator string   // -F; empty: white space
	Environ   map[string]string
	Stdin     io.Reader
	Stdout    io.Writer
	Stderr    io.Writer
	Now       func() time.Time
	Open      func(name string) (io.ReadCloser, error)
	Create    func(name string, appending bool) (io.WriteCloser, error)
	// Command runs a shell command line and gives its exit code.
	Command func(line string, stdin io.Reader, stdout io.Writer) int
}

// specials are the variables with a meaning, in slot order.
var specials = [...]string{"NF", "NR", "FNR", "FS", "OFS", "ORS", "RS", "FILENAME", "SUBSEP", "RSTART", "RLENGTH", "CONVFMT", "OFMT", "ENVIRON", "ARGC", "ARGV"}

const (
	slotNF = iota
	slotNR
	slotFNR
	slotFS
	slotOFS
	slotORS
	slotRS
	slotFILENAME
	slotSUBSEP
	slotRSTART
	slotRLENGTH
	slotCONVFMT
	slotOFMT
	slotENVIRON
	slotARGC
	slotARGV
)

// cell is a variable. A parameter that got a variable points to it: should either become an array, both do.
type cell struct {
	v      value
	array  map[string]*value
	origin *cell
}

func (c *cell) table() map[string]*value {
	switch {
	case c.array != nil:
	case c.origin != nil:
		c.array = c.origin.table()
	default:
		c.array = map[string]*value{}
	}
	return c.array
}

func (c *cell) isArray() bool { return c.array != nil || c.origin != nil && c.origin.isArray() }

// machine is a run of a program.
type machine struct {
	ctx     context.Context
	prog    *Program
	o       Options
	globals []*cell
	frame   []*cell // the parameters of the function that runs
	depth   int
	active  []bool // rules' ranges
	record  string
	fields  []value // $1..; valid when split
	split   bool
	stale   bool // $0 must be built from the fields
	out     *bufio.Writer
	operand int     // the next of ARGV
	files   int     // operands that were files
	main    *reader // the main input; nil between files
	readers map[string]*reader
	writers map[string]*writer
	regexes map[string]*regexp.Regexp
	seed    float64
	random  *rand.Rand
	steps   int
	result  value
	code    int
}

// failure and unwind leave the program from any depth: with its own error, or by a jump out of a function.
type (
	failure struct{ error }
	unwind  jump
)

func (m *machine) fail(format string, a ...any) { panic(failure{fmt.Errorf(format, a...)}) }

// Run runs the program and gives its exit code. An error is the program's own failure, worded for its
// user, or the context's.
func (p *Program) Run(ctx context.Context, o Options) (code int, err error) {
	m := &machine{ctx: ctx, prog: p, o: o, out: bufio.NewWriter(o.Stdout), operand: 1, readers: map[string]*reader{},
		writers: map[string]*writer{}, regexes: map[string]*regexp.Regexp{}, active: make([]bool, len(p.rules))}
	defer func() {
		if r := recover(); r != nil {
			failed, ok := r.(failure)
			if !ok {
				panic(r)
			}
			code, err = 2, failed.error
		}
		m.out.Flush()
		m.closeAll()
	}()
	m.prepare()
	if !m.sections(p.begin) && len(p.rules)+len(p.end) > 0 {
		m.records()
	}
	m.sections(p.end) // after an exit too, unless it is their own
	return m.code, nil
}

func (m *machine) prepare() {
	m.globals = make([]*cell, len(m.prog.globals))
	for i := range m.globals {
		m.globals[i] = &cell{}
	}
	for slot, v := range map[int]value{slotFS: str(" "), slotOFS: str(" "), slotORS: str("\n"), slotRS: str("\n"), slotSUBSEP: str("\x1c"),
		slotCONVFMT: str("%.6g"), slotOFMT: str("%.6g"), slotRLENGTH: num(-1), slotARGC: num(float64(len(m.o.Args) + 1))} {
		m.globals[slot].v = v
	}
	for _, slot := range []int{slotNR, slotFNR, slotRSTART} {
		m.globals[slot].v = num(0)
	}
	if m.o.Separator != "" {
		m.globals[slotFS].v = str(unescape(m.o.Separator))
	}
	for k, v := range m.o.Environ {
		m.globals[slotENVIRON].table()[k] = &value{kind: input, s: v}
	}
	for i, a := range append([]string{"awk"}, m.o.Args...) {
		m.globals[slotARGV].table()[strconv.Itoa(i)] = &value{kind: input, s: a}
	}
	for _, v := range m.o.Vars {
		m.assignOperand(v)
	}
	m.reseed(0)
}

func (m *machine) reseed(seed float64) {
	m.seed, m.random = seed, rand.New(rand.NewPCG(math.Float64bits(seed), 1))
}

// sections runs BEGIN or END blocks; it reports an exit.
func (m *machine) sections(bodies []run) bool {
	return slices.ContainsFunc(bodies, func(body run) bool { return m.guarded(body) == jumpExit })
}

// guarded catches an exit or next that left a function's body.
func (m *machine) guarded(body run) (j jump) {
	defer func() {
		if r := recover(); r != nil {
			out, ok := r.(unwind)
			if !ok {
				panic(r)
			}
			j, m.frame, m.depth = jump(out), nil, 0
		}
	}()
	return body(m)
}

const maxDepth = 1000

// invoke calls a function of the program.
func (m *machine) invoke(f *function, frame []*cell) value {
	if m.depth++; m.depth > maxDepth {
		m.fail("functions call each other too deeply")
	}
	m.tick()
	before := m.frame
	m.frame, m.result = frame, value{}
	j := f.body(m)
	m.frame = before
	m.depth--
	if j != goOn && j != jumpReturn {
		panic(unwind(j))
	}
	result := m.result
	m.result = value{}
	return result
}

// records runs the rules over the input, up to its end or an exit.
func (m *machine) records() {
	for {
		line, ok := m.read()
		if !ok {
			return
		}
		m.setRecord(line)
		m.tick()
		switch m.guarded(rules) {
		case jumpExit:
			return
		case jumpNextFile:
			m.endFile()
		}
	}
}

func rules(m *machine) jump {
	for i := range m.prog.rules {
		r := &m.prog.rules[i]
		if m.selected(r, i) {
			if j := r.body(m); j != goOn {
				return j
			}
		}
	}
	return goOn
}

func (m *machine) selected(r *rule, i int) bool {
	switch {
	case r.from == nil:
		return true
	case r.to == nil:
		return r.from(m).truth()
	case !m.active[i] && !r.from(m).truth():
		return false
	}
	m.active[i] = !r.to(m).truth()
	return true
}

// tick notices cancellation in long loops.
func (m *machine) tick() {
	if m.steps++; m.steps&0xff == 1 && m.ctx.Err() != nil {
		panic(failure{m.ctx.Err()})
	}
}

func (m *machine) global(slot int) string { return m.globals[slot].v.toStr("%.6g") }
func (m *machine) convfmt() string        { return m.globals[slotCONVFMT].v.s }
func (m *machine) text(v value) string    { return v.toStr(m.convfmt()) }

// key is an array's key of one or more subscripts.
func (m *machine) key(subs []node) string {
	words := make([]string, len(subs))
	for i, s := range subs {
		words[i] = m.text(s.eval(m))
	}
	return strings.Join(words, m.global(slotSUBSEP))
}

func (m *machine) regex(pattern string) *regexp.Regexp {
	if re := m.regexes[pattern]; re != nil {
		return re
	}
	re, err := posixre.Compile(posixre.UnescapeBrackets(pattern), posixre.Extended, false)
	if err != nil {
		m.fail("%s: /%s/", err, pattern)
	}
	m.regexes[pattern] = re
	return re
}

// pattern is an operand as a regular expression.
func (m *machine) pattern(x node) *regexp.Regexp {
	if x.pattern != nil {
		return m.regex(*x.pattern)
	}
	return m.regex(m.text(x.eval(m)))
}

func (m *machine) setRecord(s string) { m.record, m.split, m.stale = s, false, false }

// line gives $0, built anew after a field was changed.
func (m *machine) line() string {
	if m.stale {
		words := make([]string, len(m.fields))
		for i, f := range m.fields {
			words[i] = m.text(f)
		}
		m.record, m.stale = strings.Join(words, m.global(slotOFS)), false
	}
	return m.record
}

func (m *machine) splitRecord() {
	if m.split {
		return
	}
	separator := m.global(slotFS)
	if m.global(slotRS) == "" && separator != " " && separator != "\n" { // paragraphs: a newline separates too
		separator = "(" + separator + ")|\n"
	}
	m.fields, m.split = nil, true
	for _, f := range m.splitBy(m.record, separator) {
		m.fields = append(m.fields, fromIn(f))
	}
}

// splitBy splits by a separator as FS and split() read it: a single character stands for itself.
func (m *machine) splitBy(s, separator string) []string {
	switch {
	case s == "":
		return nil
	case separator == " ":
		return strings.FieldsFunc(s, func(r rune) bool { return r == ' ' || r == '\t' || r == '\n' })
	case separator == "" || len(separator) == 1 && separator != `\`:
		return strings.Split(s, separator)
	}
	return m.splitRegexp(separator, s)
}

// splitRegexp splits at matches that are not empty.
func (m *machine) splitRegexp(pattern, s string) (out []string) {
	if s == "" {
		return nil
	}
	at := 0
	for _, loc := range m.regex(pattern).FindAllStringIndex(s, -1) {
		if loc[0] < loc[1] {
			out = append(out, s[at:loc[0]])
			at = loc[1]
		}
	}
	return append(out, s[at:])
}

func (m *machine) getField(i int) value {
	if i == 0 {
		return fromIn(m.line())
	}
	if i < 0 {
		m.fail("attempt to access field %d", i)
	}
	if m.splitRecord(); i > len(m.fields) {
		return value{kind: input}
	}
	return m.fields[i-1]
}

func (m *machine) setField(i int, v value) {
	if i == 0 {
		m.setRecord(m.text(v))
		return
	}
	m.splitRecord()
	m.setNF(max(i, len(m.fields)))
	m.fields[i-1] = v
}

const maxFields = 1 << 20

func (m *machine) setNF(n int) {
	if n < 0 || n > maxFields {
		m.fail("attempt to access field %d", n)
	}
	m.splitRecord()
	for len(m.fields) < n {
		m.fields = append(m.fields, value{kind: input})
	}
	m.fields, m.stale = m.fields[:n], true
}

// reader reads records from one input.
type reader struct {
	in    *bufio.Reader
	close func() error
}

func (m *machine) open(name string) (*reader, error) {
	if name == "-" || name == "/dev/stdin" {
		return &reader{bufio.NewReader(m.o.Stdin), func() error { return nil }}, nil
	}
	if m.o.Open == nil {
		m.fail("files cannot be read here")
	}
	f, err := m.o.Open(name)
	if err != nil {
		return nil, err
	}
	return &reader{bufio.NewReader(f), f.Close}, nil
}

// readRecord reads up to the record separator.
func (m *machine) readRecord(r *reader) (string, bool) {
	rs := m.global(slotRS)
	switch {
	case rs == "":
		return r.paragraph()
	case len(rs) == 1:
		return r.until(rs[0])
	}
	all, _ := io.ReadAll(r.in) // a match may reach over the end of any buffer
	loc := m.regex(rs).FindIndex(all)
	if loc == nil || loc[0] == loc[1] {
		return string(all), len(all) > 0
	}
	r.in = bufio.NewReader(bytes.NewReader(all[loc[1]:]))
	return string(all[:loc[0]]), true
}

func (r *reader) until(end byte) (string, bool) {
	s, err := r.in.ReadString(end)
	if err == nil {
		return s[:len(s)-1], true
	}
	return s, s != ""
}

func (r *reader) paragraph() (string, bool) {
	var lines []string
	for {
		line, ok := r.until('\n')
		if !ok || line == "" && len(lines) > 0 {
			return strings.Join(lines, "\n"), len(lines) > 0
		}
		if line != "" {
			lines = append(lines, line)
		}
	}
}

// read gives the next record of the main input: files one after the other, assignments on the way,
// standard input if there is no file.
func (m *machine) read() (string, bool) {
	for m.main != nil || m.nextFile() {
		if line, ok := m.readRecord(m.main); ok {
			m.count(slotNR)
			m.count(slotFNR)
			return line, true
		}
		m.endFile()
	}
	return "", false
}

func (m *machine) endFile() {
	if m.main != nil {
		m.main.close()
		m.main = nil
	}
}

// nextFile opens the next operand; one that cannot be opened is reported and passed over, exit code 2.
func (m *machine) nextFile() bool {
	for ; m.operand < int(m.globals[slotARGC].v.toNum()); m.operand++ {
		name := m.globals[slotARGV].table()[strconv.Itoa(m.operand)]
		if name == nil || name.s == "" || m.assignOperand(name.s) {
			continue
		}
		if m.files++; m.use(name.s) {
			m.operand++
			return true
		}
	}
	m.files++
	return m.files == 1 && m.use("-")
}

func (m *machine) use(name string) bool {
	r, err := m.open(name)
	if err != nil {
		m.out.Flush()
		fmt.Fprintf(m.o.Stderr, "awk: cannot open %q (%s)\n", name, err)
		m.code = 2
		return false
	}
	m.main = r
	m.globals[slotFILENAME].v, m.globals[slotFNR].v = str(strings.TrimPrefix(name, "-")), num(0)
	return true
}

var operandName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// assignOperand does name=value, and reports whether s is one.
func (m *machine) assignOperand(s string) bool {
	name, text, ok := strings.Cut(s, "=")
	if !ok || !operandName.MatchString(name) {
		return false
	}
	if slot, known := m.prog.globals[name]; known {
		m.globals[slot].v = fromIn(unescape(text))
	}
	return true
}

func (m *machine) count(slot int) { m.globals[slot].v = num(m.globals[slot].v.toNum() + 1) }

// nextLine is getline's record, and 1, 0 at the end or -1 on failure.
func (m *machine) nextLine(source eval, command bool) (string, float64) {
	if source == nil {
		line, ok := m.read()
		return line, boolean(ok).n
	}
	name := m.text(source(m))
	r := m.readers[name]
	if r == nil {
		var err error
		if command {
			var out bytes.Buffer
			m.command(name, strings.NewReader(""), &out)
			r = &reader{bufio.NewReader(&out), func() error { return nil }}
		} else if r, err = m.open(name); err != nil {
			return "", -1
		}
		m.readers[name] = r
	}
	line, ok := m.readRecord(r)
	if ok && command {
		m.count(slotNR)
	}
	return line, boolean(ok).n
}

// writer is an open output: a file, or a command that gets its input when it is closed.
type writer struct {
	io.Writer
	close func() int
}

func (m *machine) write(w io.Writer, s string) {
	if _, err := io.WriteString(w, s); err != nil {
		panic(failure{err})
	}
}

func (m *machine) print(w io.Writer, s string) { m.write(w, s+m.global(slotORS)) }

// target is where print writes to: mode is "", ">", ">>" or "|".
func (m *machine) target(mode string, to eval) io.Writer {
	if mode == "" {
		return m.out
	}
	name := m.text(to(m))
	w := m.writers[name]
	if w == nil {
		w = m.create(mode, name)
		m.writers[name] = w
	}
	return w
}

func (m *machine) create(mode, name string) *writer {
	nothing := func() int { return 0 }
	switch {
	case mode == "|":
		var buffer bytes.Buffer
		return &writer{&buffer, func() int { return m.command(name, &buffer, m.out) }}
	case name == "/dev/stdout" || name == "-":
		return &writer{m.out, nothing}
	case name == "/dev/stderr":
		m.out.Flush()
		return &writer{m.o.Stderr, nothing}
	case m.o.Create == nil:
		m.fail("files cannot be written here")
	}
	f, err := m.o.Create(name, mode == ">>")
	if err != nil {
		m.fail("cannot open %q for output (%s)", name, err)
	}
	return &writer{f, func() int {
		if f.Close() != nil {
			return -1
		}
		return 0
	}}
}

func (m *machine) close(name string) float64 {
	code := -1
	if w := m.writers[name]; w != nil {
		code = w.close()
		delete(m.writers, name)
	}
	if r := m.readers[name]; r != nil {
		r.close()
		code = 0
		delete(m.readers, name)
	}
	return float64(code)
}

// closeAll closes in the order of names, so that commands run in a fixed order.
func (m *machine) closeAll() {
	var names []string
	for name := range m.writers {
		names = append(names, name)
	}
	for name := range m.readers {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		m.close(name)
	}
	m.endFile()
	m.out.Flush()
}
