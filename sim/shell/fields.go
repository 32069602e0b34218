package shell

import (
	"bufio"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
)

// runCut is cut (-b LIST | -c LIST | -f LIST) [-d CHAR] [-s] [FILE...]
func runCut(p *proc, o options) int {
	mode := o.last("b", "c", "f")
	if mode == "" {
		return p.fail(exitFailure, "you must specify a list of bytes, characters, or fields")
	}
	list, err := parseRanges(o.get(mode, ""))
	if err != nil {
		return p.fail(exitFailure, "%v", err)
	}
	delimiter := o.get("d", "\t")
	if len(delimiter) != 1 {
		return p.fail(exitFailure, "the delimiter must be a single character")
	}
	return p.inputs(o.rest, func(_ string, in *bufio.Reader) error {
		return eachLine(in, func(line string, _ bool) error {
			switch {
			case mode != "f":
				line = cutBytes(line, list)
			case strings.Contains(line, delimiter):
				line = cutFields(line, delimiter, list)
			case o.has("s"):
				return nil
			}
			return p.print(line + "\n")
		})
	})
}

// cutBytes keeps the chosen bytes: in the C locale a character is one.
func cutBytes(line string, list positions) string {
	var b strings.Builder
	for i := range len(line) {
		if list.contains(i + 1) {
			b.WriteByte(line[i])
		}
	}
	return b.String()
}

func cutFields(line, delimiter string, list positions) string {
	var kept []string
	for i, field := range strings.Split(line, delimiter) {
		if list.contains(i + 1) {
			kept = append(kept, field)
		}
	}
	return strings.Join(kept, delimiter)
}

type positions [][2]int

func (r positions) contains(i int) bool {
	return slices.ContainsFunc(r, func(x [2]int) bool { return i >= x[0] && i <= x[1] })
}

// parseRanges reads N, N-, N-M and -M, separated by commas.
func parseRanges(s string) (positions, error) {
	var out positions
	for part := range strings.SplitSeq(s, ",") {
		low, high, isRange := strings.Cut(part, "-")
		a, okA := natural(low)
		b, okB := natural(high)
		switch {
		case !isRange:
			b, okB = a, okA
		case low == "" && okB:
			a, okA = 1, true
		case high == "" && okA:
			b, okB = math.MaxInt32, true
		}
		switch {
		case !okA || !okB:
			return nil, fmt.Errorf("invalid field value '%s'", part)
		case a == 0:
			return nil, errors.New("fields are numbered from 1")
		case b < a:
			return nil, errors.New("invalid decreasing range")
		}
		out = append(out, [2]int{int(a), int(b)})
	}
	return out, nil
}

// runUniq is uniq [-cdiu] [INPUT [OUTPUT]]
func runUniq(p *proc, o options) int {
	if len(o.rest) > 2 {
		return p.usage("extra operand '%s'", o.rest[2])
	}
	lines, code := p.lines(o.rest[:min(1, len(o.rest))])
	if code != 0 {
		return code
	}
	key := func(line string) string {
		if o.has("i") {
			line = strings.ToLower(line)
		}
		return line
	}
	var out strings.Builder
	for i, n := 0, 0; i < len(lines); i += n {
		n = 1
		for i+n < len(lines) && key(lines[i+n]) == key(lines[i]) {
			n++
		}
		if o.has("d") && n == 1 || o.has("u") && n > 1 {
			continue
		}
		if o.has("c") {
			fmt.Fprintf(&out, "%7d ", n)
		}
		out.WriteString(lines[i] + "\n")
	}
	if len(o.rest) < 2 || o.rest[1] == "-" {
		return p.printed(out.String())
	}
	if err := p.Files.WriteFile(o.rest[1], []byte(out.String())); err != nil {
		return p.failure(o.rest[1], err)
	}
	return 0
}
