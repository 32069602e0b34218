package command

import (
	"bufio"
	"io"
	"strings"
)

// head [-n [-]N] [-c [-]N] [-q] [-v] [-NUM] [FILE...]
func runHead(p *Proc) int {
	p.Args = dashNumber(p.Args, "-n")
	o, ok := p.parse("n:c:qvz", "lines=>n", "bytes=>c", "quiet>q", "silent>q", "verbose>v", "zero-terminated>z")
	if !ok {
		return exitUsage
	}
	unit := o.last("n", "c")
	amount := o.get(unit, "10")
	allBut := strings.HasPrefix(amount, "-")
	n, ok := count(strings.TrimPrefix(amount, "-"))
	if !ok {
		return p.fail(exitFailure, "invalid number of %s: '%s'", map[bool]string{true: "bytes", false: "lines"}[unit == "c"], amount)
	}
	end := byte('\n')
	if o.has("z") {
		end = 0
	}
	title := titles(o, len(o.rest) > 1)
	return p.inputs(o.rest, func(name string, in *bufio.Reader) error {
		if err := title(p, name); err != nil {
			return err
		}
		switch {
		case unit == "c" && allBut:
			all, err := io.ReadAll(in)
			return firstError(err, p.print(string(all[:max(0, int64(len(all))-n)])))
		case unit == "c":
			_, err := io.CopyN(p.Stdout, in, n)
			return ignoreEOF(err)
		case allBut:
			return headAllBut(p, in, int(n), end)
		}
		return copyLines(p, in, int(n), end)
	})
}

func ignoreEOF(err error) error {
	if err == io.EOF {
		return nil
	}
	return err
}

func firstError(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// titles gives a function that writes ==> NAME <== above each file, if there are several or -v says so.
func titles(o options, many bool) func(*Proc, string) error {
	first := true
	return func(p *Proc, name string) error {
		if o.last("q", "v") == "q" || !many && !o.has("v") {
			return nil
		}
		if name == "-" {
			name = "standard input"
		}
		gap := "\n"
		if first {
			gap, first = "", false
		}
		return p.printf("%s==> %s <==\n", gap, name)
	}
}

func copyLines(p *Proc, in *bufio.Reader, n int, end byte) error {
	for range n {
		line, err := in.ReadString(end)
		if e := p.print(line); e != nil || err != nil {
			return e
		}
	}
	return nil
}

func headAllBut(p *Proc, in *bufio.Reader, n int, end byte) error {
	var held []string
	for {
		line, err := in.ReadString(end)
		if line != "" {
			held = append(held, line)
		}
		if len(held) > n {
			if err := p.print(held[0]); err != nil {
				return err
			}
			held = held[1:]
		}
		if err != nil {
			return nil
		}
	}
}
