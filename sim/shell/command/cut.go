package command

import (
	"bufio"
	"fmt"
	"math"
	"strings"
)

// cut (-b LIST | -c LIST | -f LIST) [-d CHAR] [-s] [--complement] [--output-delimiter=S] [FILE...]
func runCut(p *Proc) int {
	o, ok := p.parse("b:c:f:d:sn", "bytes=>b", "characters=>c", "fields=>f", "delimiter=>d", "only-delimited>s", "complement", "output-delimiter=")
	if !ok {
		return exitUsage
	}
	mode := o.last("b", "c", "f")
	if mode == "" {
		return p.fail(exitFailure, "you must specify a list of bytes, characters, or fields")
	}
	list, err := parseRanges(o.get(mode, ""))
	if err != nil {
		return p.fail(exitFailure, "%v", err)
	}
	chosen := func(i int) bool { return list.contains(i) != o.has("complement") }
	delimiter := o.get("d", "\t")
	if len(delimiter) != 1 {
		return p.fail(exitFailure, "the delimiter must be a single character")
	}
	return p.inputs(o.rest, func(_ string, in *bufio.Reader) error {
		return eachLine(in, func(line string, _ bool) error {
			if mode != "f" {
				return p.print(cutBytes(line, chosen, o.get("output-delimiter", "")) + "\n")
			}
			if !strings.Contains(line, delimiter) {
				if o.has("s") {
					return nil
				}
				return p.print(line + "\n")
			}
			return p.print(cutFields(line, delimiter, o.get("output-delimiter", delimiter), chosen) + "\n")
		})
	})
}

func cutBytes(line string, chosen func(int) bool, gap string) string {
	var b strings.Builder
	last := 0
	for i := range len(line) {
		if chosen(i + 1) {
			if gap != "" && last != i && b.Len() > 0 {
				b.WriteString(gap)
			}
			b.WriteByte(line[i])
			last = i + 1
		}
	}
	return b.String()
}

func cutFields(line, delimiter, out string, chosen func(int) bool) string {
	var kept []string
	for i, f := range strings.Split(line, delimiter) {
		if chosen(i + 1) {
			kept = append(kept, f)
		}
	}
	return strings.Join(kept, out)
}

type ranges [][2]int

func (r ranges) contains(i int) bool {
	for _, x := range r {
		if i >= x[0] && i <= x[1] {
			return true
		}
	}
	return false
}

// parseRanges reads N, N-, N-M and -M, separated by commas.
func parseRanges(s string) (ranges, error) {
	var out ranges
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
			return nil, fmt.Errorf("fields are numbered from 1")
		case b < a:
			return nil, fmt.Errorf("invalid decreasing range")
		}
		out = append(out, [2]int{int(a), int(b)})
	}
	return out, nil
}

// uniq [-cdiu] [-f N] [-s N] [-w N] [INPUT [OUTPUT]]
func runUniq(p *Proc) int {
	o, ok := p.parse("cdDiuf:s:w:z", "count>c", "repeated>d", "all-repeated>D", "ignore-case>i", "unique>u", "skip-fields=>f", "skip-chars=>s", "check-chars=>w", "zero-terminated>z")
	if !ok {
		return exitUsage
	}
	fields, ok1 := natural(o.get("f", "0"))
	chars, ok2 := natural(o.get("s", "0"))
	width, ok3 := natural(o.get("w", "999999999"))
	if !ok1 || !ok2 || !ok3 || len(o.rest) > 2 {
		return p.usage("invalid number, or extra operand")
	}
	end := byte('\n')
	if o.has("z") {
		end = 0
	}
	lines, code := p.lines(o.rest[:min(1, len(o.rest))], end)
	if code != 0 {
		return code
	}
	key := func(line string) string {
		for range fields {
			line = strings.TrimLeft(line, " \t")
			line = line[len(line)-len(strings.TrimLeftFunc(line, func(r rune) bool { return r != ' ' && r != '\t' })):]
		}
		line = line[min(int(chars), len(line)):]
		line = line[:min(int(width), len(line))]
		if o.has("i") {
			line = strings.ToLower(line)
		}
		return line
	}
	out := uniqOutput(lines, key, o, string(rune(end)))
	if len(o.rest) == 2 && o.rest[1] != "-" {
		if err := p.Files.WriteFile(o.rest[1], []byte(out)); err != nil {
			return p.failure(o.rest[1], err)
		}
		return 0
	}
	if p.print(out) != nil {
		return exitFailure
	}
	return 0
}

func uniqOutput(lines []string, key func(string) string, o options, end string) string {
	var b strings.Builder
	for i := 0; i < len(lines); {
		n := 1
		for i+n < len(lines) && key(lines[i+n]) == key(lines[i]) {
			n++
		}
		writeGroup(&b, lines[i:i+n], o, end)
		i += n
	}
	return b.String()
}

func writeGroup(b *strings.Builder, group []string, o options, end string) {
	n := len(group)
	if o.has("d") && n == 1 || o.has("D") && n == 1 || o.has("u") && n > 1 {
		return
	}
	if !o.has("D") {
		group = group[:1]
	}
	for _, line := range group {
		if o.has("c") {
			b.WriteString(padLeft(n, 7) + " ")
		}
		b.WriteString(line + end)
	}
}
