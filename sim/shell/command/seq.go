package command

import (
	"slices"
	"strconv"
	"strings"
)

// seq [-w] [-s SEP] [-f FORMAT] [FIRST [STEP]] LAST
func runSeq(p *Proc) int {
	p.Args = protectNegative(p.Args)
	o, ok := p.parse("+ws:f:", "equal-width>w", "separator=>s", "format=>f")
	if !ok {
		return exitUsage
	}
	if len(o.rest) == 0 || len(o.rest) > 3 {
		return p.fail(exitFailure, "missing or extra operand")
	}
	bounds := []float64{1, 1, 1}
	places := 0
	for i, a := range o.rest {
		n, err := strconv.ParseFloat(a, 64)
		if err != nil {
			return p.fail(exitFailure, "invalid floating point argument: '%s'", a)
		}
		at := map[int][]int{1: {2}, 2: {0, 2}, 3: {0, 1, 2}}[len(o.rest)][i]
		bounds[at] = n
		if _, fraction, ok := strings.Cut(a, "."); ok && at != 2 {
			places = max(places, len(fraction))
		}
	}
	if bounds[1] == 0 {
		return p.fail(exitFailure, "invalid Zero increment value: '%s'", o.rest[1])
	}
	return p.sequence(o, bounds[0], bounds[1], bounds[2], places)
}

// protectNegative keeps a first operand such as -5 from being read as options.
func protectNegative(args []string) []string {
	for i, a := range args {
		if !strings.HasPrefix(a, "-") {
			break
		}
		if _, err := strconv.ParseFloat(a, 64); err == nil {
			return slices.Insert(slices.Clone(args), i, "--")
		}
	}
	return args
}

func (p *Proc) sequence(o options, first, step, last float64, places int) int {
	format := func(n float64) string { return strconv.FormatFloat(n, 'f', places, 64) }
	width := 0
	if o.has("w") {
		width = max(len(format(first)), len(format(last)))
	}
	began := false
	for i := 0; p.Ctx.Err() == nil; i++ {
		n := first + float64(i)*step
		if step > 0 && n > last+1e-10 || step < 0 && n < last-1e-10 {
			break
		}
		text := format(n)
		if o.has("f") {
			text, _ = Format(o.get("f", ""), []string{format(n)})
		}
		if began {
			text = o.get("s", "\n") + pad(text, width)
		} else {
			text = pad(text, width)
		}
		began = true
		if p.print(text) != nil {
			return exitFailure
		}
	}
	if began {
		p.print("\n")
	}
	return 0
}

// pad fills with zeros behind the sign.
func pad(s string, width int) string {
	zeros := strings.Repeat("0", max(0, width-len(s)))
	if strings.HasPrefix(s, "-") {
		return "-" + zeros + s[1:]
	}
	return zeros + s
}
