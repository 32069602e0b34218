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
