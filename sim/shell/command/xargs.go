package command

import (
	"bufio"
	"errors"
	"io"
	"slices"
	"strings"
)

// xargs [-0rt] [-a FILE] [-d CHAR] [-E EOF] [-I TEXT] [-L N] [-n N] [-P N] [-s N] [COMMAND [ARG...]]
func runXargs(p *Proc) int {
	o, ok := p.parse("+0rta:d:E:I:L:n:P:s:x", "null>0", "no-run-if-empty>r", "verbose>t", "arg-file=>a", "delimiter=>d", "max-args=>n", "max-lines=>L", "max-procs=>P", "replace=>I", "max-chars=>s", "exit>x")
	if !ok {
		return exitFailure
	}
	x := &xargs{p: p, o: o, command: o.rest, lines: o.has("I") || o.has("L")}
	if len(x.command) == 0 {
		x.command = []string{"echo"}
	}
	items, err := x.items()
	if err != nil {
		return p.fail(exitFailure, "%v", err)
	}
	groups, err := x.groups(items)
	if err != nil {
		return p.fail(exitFailure, "%v", err)
	}
	return x.run(groups)
}

type xargs struct {
	p       *Proc
	o       options
	command []string
	lines   bool
}

func (x *xargs) items() ([]string, error) {
	in := io.Reader(x.p.Stdin)
	if name := x.o.get("a", ""); name != "" {
		f, err := x.p.Files.Open(name)
		if err != nil {
			return nil, errors.New(name + ": " + Reason(err))
		}
		defer f.Close()
		in = f
	}
	data, err := io.ReadAll(in)
	if err != nil {
		return nil, err
	}
	switch x.o.last("0", "d") {
	case "0":
		return splitEnded(string(data), "\x00"), nil
	case "d":
		d := x.o.get("d", "")
		c, n := byte(0), 0
		if d != "" {
			c, n = trChar(d)
		}
		if n == 0 || n != len(d) {
			return nil, errors.New("invalid delimiter '" + d + "'")
		}
		return splitEnded(string(data), string([]byte{c})), nil
	}
	if x.lines {
		return blankless(string(data)), nil
	}
	words, err := xargsWords(string(data))
	if end := slices.Index(words, x.o.get("E", "\x00")); end >= 0 {
		words = words[:end]
	}
	return words, err
}

func splitEnded(s, end string) []string {
	if s == "" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(s, end), end)
}

// blankless gives the lines that are not blank, without leading blanks, quotes taken off.
func blankless(s string) []string {
	var out []string
	for line := range strings.Lines(s) {
		line = strings.TrimLeft(strings.TrimRight(line, "\n"), " \t")
		if line == "" {
			continue
		}
		if plain, err := unquoteItem(line); err == nil {
			line = plain
		}
		out = append(out, line)
	}
	return out
}

func unquoteItem(line string) (string, error) {
	var b strings.Builder
	r := bufio.NewReader(strings.NewReader(line))
	for {
		c, err := r.ReadByte()
		if err != nil {
			return b.String(), nil
		}
		if err := quotedByte(&b, r, c); err != nil {
			return "", err
		}
	}
}

// quotedByte writes c, or what it quotes.
func quotedByte(b *strings.Builder, r *bufio.Reader, c byte) error {
	switch c {
	case '\'', '"':
		body, err := r.ReadString(c)
		if err != nil || strings.Contains(body, "\n") {
			return errors.New("unmatched " + map[byte]string{'\'': "single", '"': "double"}[c] + " quote; by default quotes are special to xargs unless you use the -0 option")
		}
		b.WriteString(body[:len(body)-1])
	case '\\':
		next, err := r.ReadByte()
		if err == nil {
			b.WriteByte(next)
		}
	default:
		b.WriteByte(c)
	}
	return nil
}

// xargsWords splits at blanks and newlines, outside quotes.
func xargsWords(s string) ([]string, error) {
	var out []string
	var b strings.Builder
	inWord := false
	r := bufio.NewReader(strings.NewReader(s))
	for {
		c, err := r.ReadByte()
		if err != nil || strings.IndexByte(" \t\n", c) >= 0 {
			if inWord {
				out = append(out, b.String())
			}
			if err != nil {
				return out, nil
			}
			b.Reset()
			inWord = false
			continue
		}
		inWord = true
		if err := quotedByte(&b, r, c); err != nil {
			return nil, err
		}
	}
}

// groups gives the arguments of each run.
func (x *xargs) groups(items []string) ([][]string, error) {
	size := len(items)
	switch x.o.last("n", "L", "I") {
	case "n", "L":
		n, ok := natural(x.o.get(x.o.last("n", "L"), ""))
		if !ok || n == 0 {
			return nil, errors.New("invalid number for -n or -L option")
		}
		size = int(n)
	case "I":
		size = 1
	}
	if len(items) == 0 {
		if x.o.has("r") || x.o.has("I") {
			return nil, nil
		}
		return [][]string{nil}, nil
	}
	return slices.Collect(slices.Chunk(items, size)), nil
}

func (x *xargs) run(groups [][]string) int {
	code := 0
	for _, g := range groups {
		args := x.arguments(g)
		if x.o.has("t") {
			io.WriteString(x.p.Stderr, strings.Join(args, " ")+"\n")
		}
		c := x.p.child(args[0], args[1:])
		c.Stdin = bufio.NewReader(strings.NewReader(""))
		switch got := x.p.System.Exec(c); {
		case x.p.Ctx.Err() != nil:
			return exitFailure
		case got == 255:
			return x.p.fail(124, "%s: exited with status 255; aborting", args[0])
		case got == exitCannotRun || got == exitNotFound:
			return got
		case got != 0:
			code = 123
		}
	}
	return code
}

func (x *xargs) arguments(group []string) []string {
	if x.o.last("n", "L", "I") == "I" {
		args := make([]string, len(x.command))
		for i, a := range x.command {
			args[i] = strings.ReplaceAll(a, x.o.get("I", ""), group[0])
		}
		return args
	}
	args := slices.Clone(x.command)
	for _, item := range group {
		if x.lines {
			args = append(args, strings.Fields(item)...)
			continue
		}
		args = append(args, item)
	}
	return args
}
