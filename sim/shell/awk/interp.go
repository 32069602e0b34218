package awk

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"time"

	"toolbench/toolsys/shellcmd/posixre"
)

// Options are a run's inputs and its doors to the world. A nil door refuses what it would serve.
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

// errRun carries a message for the program's user.
type errRun struct{ error }

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

// cell is a variable. A parameter that got an unset variable points to it: should either become an
// array, both do.
type cell struct {
	v      value
	array  map[string]*value
	origin *cell
}

func (c *cell) table() map[string]*value {
	if c.array == nil {
		if c.origin != nil {
			c.array = c.origin.table()
		} else {
			c.array = map[string]*value{}
		}
	}
	return c.array
}

type machine struct {
	ctx     context.Context
	prog    *Program
	o       Options
	globals []*cell
	frames  [][]*cell
	active  []bool // rules' ranges

	record string
	fields []string // $1..; valid when split
	isSet  []value  // the fields as values
	split  bool
	stale  bool // $0 must be built from the fields

	out     *bufio.Writer
	main    *mainInput
	readers map[string]*reader
	writers map[string]*sink
	regexes map[string]*regexp.Regexp

	seed, lastSeed float64
	rng            uint64
	steps          int
	result         value
	code           int
}

// Run runs the program and gives its exit code. An error is the program's own failure, worded for its
// user, or the context's.
func (p *Program) Run(ctx context.Context, o Options) (code int, err error) {
	m := &machine{ctx: ctx, prog: p, o: o, out: bufio.NewWriter(o.Stdout), readers: map[string]*reader{},
		writers: map[string]*sink{}, regexes: map[string]*regexp.Regexp{}, active: make([]bool, len(p.rules))}
	defer func() {
		if r := recover(); r != nil {
			failure, ok := r.(errRun)
			if !ok {
				panic(r)
			}
			code, err = 2, failure.error
		}
		m.out.Flush()
		m.closeAll()
	}()
	m.prepare()
	m.runAll()
	return m.code, nil
}

// fail leaves the program from any depth; Run turns it into its error.
func (m *machine) fail(format string, a ...any) {
	panic(errRun{fmt.Errorf(format, a...)})
}

func (m *machine) prepare() {
	m.globals = make([]*cell, len(m.prog.globals))
	for i := range m.globals {
		m.globals[i] = &cell{}
	}
	for slot, v := range map[int]value{slotFS: str(" "), slotOFS: str(" "), slotORS: str("\n"), slotRS: str("\n"), slotSUBSEP: str("\x1c"),
		slotCONVFMT: str("%.6g"), slotOFMT: str("%.6g"), slotNF: num(0), slotNR: num(0), slotFNR: num(0), slotRSTART: num(0),
		slotRLENGTH: num(-1), slotARGC: num(float64(len(m.o.Args) + 1))} {
		m.globals[slot].v = v
	}
	if m.o.Separator != "" {
		m.globals[slotFS].v = str(unescape(m.o.Separator))
	}
	for k, v := range m.o.Environ {
		m.globals[slotENVIRON].table()[k] = &value{kind: input, s: v}
	}
	argv := m.globals[slotARGV].table()
	argv["0"] = &value{kind: text, s: "awk"}
	for i, a := range m.o.Args {
		argv[fmt.Sprint(i+1)] = &value{kind: input, s: a}
	}
	for _, v := range m.o.Vars {
		m.assignOperand(v)
	}
	m.main = &mainInput{m: m, next: 1}
	m.reseed(0)
}

func (m *machine) runAll() {
	exited := m.sections(m.prog.begin)
	if !exited && (len(m.prog.rules) > 0 || len(m.prog.end) > 0) {
		m.records()
	}
	m.sections(m.prog.end) // after exit too, unless the exit is its own
}

// sections runs BEGIN or END blocks; it reports an exit.
func (m *machine) sections(bodies [][]stmt) bool {
	for _, body := range bodies {
		if m.guarded(func() jump { return m.block(body) }) == jumpExit {
			return true
		}
	}
	return false
}

// guarded catches an exit or next that left a function's body.
func (m *machine) guarded(run func() jump) (j jump) {
	depth := len(m.frames)
	defer func() {
		if r := recover(); r != nil {
			out, ok := r.(unwind)
			if !ok {
				panic(r)
			}
			j = jump(out)
			m.frames = m.frames[:depth]
		}
	}()
	return run()
}

// records runs the rules over the input, up to its end or an exit.
func (m *machine) records() {
	for {
		line, ok := m.main.read()
		if !ok {
			return
		}
		m.setRecord(line)
		m.tick()
		switch m.guarded(m.rules) {
		case jumpExit:
			return
		case jumpNextFile:
			m.main.skipFile()
		}
	}
}

func (m *machine) rules() jump {
	for i := range m.prog.rules {
		r := &m.prog.rules[i]
		if !m.selected(r, i) {
			continue
		}
		if r.printAll {
			m.write(m.out, m.whole()+m.global(slotORS))
			continue
		}
		if j := m.block(r.body); j != goOn {
			return j
		}
	}
	return goOn
}

func (m *machine) selected(r *rule, i int) bool {
	switch {
	case r.from == nil:
		return true
	case r.to == nil:
		return m.condition(r.from)
	case !m.active[i] && !m.condition(r.from):
		return false
	}
	m.active[i] = !m.condition(r.to)
	return true
}

// tick notices cancellation in long loops.
func (m *machine) tick() {
	m.steps++
	if m.steps&0xff == 0 && m.ctx.Err() != nil {
		panic(errRun{m.ctx.Err()})
	}
}

func (m *machine) global(slot int) string { return m.globals[slot].v.toStr("%.6g") }
func (m *machine) convfmt() string        { return m.globals[slotCONVFMT].v.s }
func (m *machine) text(v value) string    { return v.toStr(m.convfmt()) }

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

var errNoDoor = errors.New("not available here")

func (m *machine) write(w io.Writer, s string) {
	if _, err := io.WriteString(w, s); err != nil {
		panic(errRun{err})
	}
}
