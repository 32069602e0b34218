package command

import (
	"bufio"
	"io"
	"strings"
)

// tail [-n [+]N] [-c [+]N] [-q] [-v] [-NUM] [FILE...]; -f has nothing to wait for here and is refused.
func runTail(p *Proc) int {
	p.Args = dashNumber(p.Args, "-n")
	if len(p.Args) > 0 && len(p.Args[0]) > 1 && p.Args[0][0] == '+' {
		p.Args = append([]string{"-n"}, p.Args...)
	}
	o, ok := p.parse("n:c:qvz", "lines=>n", "bytes=>c", "quiet>q", "silent>q", "verbose>v", "zero-terminated>z")
	if !ok {
		return exitUsage
	}
	unit := o.last("n", "c")
	amount := o.get(unit, "10")
	from := strings.HasPrefix(amount, "+")
	n, ok := count(strings.TrimLeft(amount, "+-"))
	if !ok {
		return p.fail(exitFailure, "invalid number of %s: '%s'", map[bool]string{true: "bytes", false: "lines"}[unit == "c"], amount)
	}
	end := "\n"
	if o.has("z") {
		end = "\x00"
	}
	title := titles(o, len(o.rest) > 1)
	return p.inputs(o.rest, func(name string, in *bufio.Reader) error {
		if err := title(p, name); err != nil {
			return err
		}
		all, err := io.ReadAll(in)
		if err != nil {
			return err
		}
		if unit == "c" {
			return p.print(tailBytes(string(all), n, from))
		}
		return p.print(tailLines(string(all), int(n), from, end))
	})
}

func tailBytes(s string, n int64, from bool) string {
	if from {
		return s[min(max(n-1, 0), int64(len(s))):]
	}
	return s[max(0, int64(len(s))-n):]
}

func tailLines(s string, n int, from bool, end string) string {
	lines := strings.SplitAfter(s, end)
	if lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	if from {
		return strings.Join(lines[min(max(n-1, 0), len(lines)):], "")
	}
	return strings.Join(lines[max(0, len(lines)-n):], "")
}
