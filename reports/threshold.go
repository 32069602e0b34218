package reports

import (
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Threshold is a bound that a comparison must keep to: of a figure, of the change of a
// figure, or of the number of items with a kind of change.
type Threshold struct {
	Text     string
	name, of string
	op       string
	// change is set by a sign: the bound is then of the change, of it in percent where
	// percent is set too.
	change, percent bool
	value           float64
	unit            string
	// dollars is set by the sign before the bound.
	dollars bool
}

var thresholdForm = regexp.MustCompile(`^\s*([a-z_]+(?:@\d+)?)\s*(?:\(([^)]*)\))?\s*(>=|<=|>|<)\s*([+-]?)\s*(\$?)(\d+(?:\.\d+)?)\s*(%|[a-zµ]*)\s*$`)

// ParseThreshold reads a bound: "makespan > +5%", "tokens > +500", "hit@5 < 0.9",
// "makespan (streaming) > 2s", "failing > 0".
func ParseThreshold(text string) (Threshold, error) {
	m := thresholdForm.FindStringSubmatch(text)
	if m == nil {
		return Threshold{}, fmt.Errorf("%q is no threshold: write a figure, > or <, and a bound, as 'makespan > +5%%', 'tokens > +500' or 'failing > 0'", text)
	}
	value, err := strconv.ParseFloat(m[6], 64)
	if err != nil {
		return Threshold{}, fmt.Errorf("%q: %s is no number", text, m[6])
	}
	t := Threshold{Text: strings.TrimSpace(text), name: m[1], of: m[2], op: m[3], change: m[4] != "", value: value, unit: m[7], dollars: m[5] != ""}
	if t.unit == "%" {
		t.percent = true
	} else if t.unit != "" && t.unit != "tokens" {
		d, err := time.ParseDuration(m[6] + t.unit)
		if err != nil {
			return Threshold{}, fmt.Errorf("%q: %q is no unit; use %%, ms, s, m or h, or none", text, t.unit)
		}
		t.value = float64(d)
	}
	if m[4] == "-" {
		t.value = -t.value
	}
	return t, nil
}

// Exceeded is a threshold that was not kept to, and where.
type Exceeded struct {
	Threshold string `json:"threshold"`
	Where     string `json:"where" jsonschema:"The item, or total."`
	Found     string `json:"found"`
}

// totalName stands for all items together.
const totalName = "total"

// Check holds a comparison against a threshold. It is an error when the comparison has no
// such figure.
func (c *Comparison) Check(t Threshold) ([]Exceeded, error) {
	if slices.Contains(changeKinds, ChangeKind(t.name)) {
		n := c.count(ChangeKind(t.name))
		if t.change || t.percent || t.of != "" {
			return nil, fmt.Errorf("%q: %s counts items; write a number, as '%s > 0'", t.Text, t.name, t.name)
		}
		if t.broken(float64(n)) {
			return []Exceeded{{t.Text, totalName, fmt.Sprint(n)}}, nil
		}
		return nil, nil
	}
	var out []Exceeded
	known := map[string]bool{}
	var misfit error
	hold := func(where string, all []delta) {
		for _, d := range all {
			if known[d.name] = true; d.name == t.name && misfit == nil {
				misfit = t.misfit(d.unit)
			}
			if found, bad := t.exceededBy(d); bad {
				out = append(out, Exceeded{t.Text, where, found})
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(c.deltas)) {
		hold(name, c.deltas[name])
	}
	hold(totalName, c.totals)
	if misfit != nil {
		return nil, misfit
	}
	if !known[t.name] && c.is > 0 {
		return nil, fmt.Errorf("%q: a report of %s has no figure %s; it has %s", t.Text, c.Command, t.name, strings.Join(slices.Sorted(maps.Keys(known)), ", "))
	}
	return out, nil
}

// misfit is why a bound cannot be held against figures of a unit: held all the same, it
// would always be kept to, or never.
func (t Threshold) misfit(u unit) error {
	switch of := fmt.Sprintf("%q: %s counts", t.Text, t.name); {
	case t.percent && !t.change && u != unitPercent:
		return fmt.Errorf("%s %s, and a bound in percent is of its change: write a sign, as '%s %s +%g%%'", of, u, t.name, t.op, t.value)
	case t.dollars && (u != unitDollars || t.unit != ""):
		return fmt.Errorf("%s %s; write the bound without a dollar or without its unit", of, u)
	case t.unit == "tokens" && u != unitTokens, t.unit != "" && t.unit != "tokens" && !t.percent && u != unitMS:
		return fmt.Errorf("%s %s and not %s; write the bound without a unit", of, u, t.unit)
	}
	return nil
}

func (t Threshold) broken(value float64) bool {
	switch t.op {
	case ">":
		return value > t.value
	case ">=":
		return value >= t.value
	case "<":
		return value < t.value
	}
	return value <= t.value
}

// exceededBy reports whether a figure is beyond the threshold, and words it. A figure
// without an earlier value has no change.
func (t Threshold) exceededBy(d delta) (found string, bad bool) {
	if t.name != d.name || t.of != "" && t.of != d.of {
		return "", false
	}
	value := d.value
	switch {
	case t.change && !d.was:
		return "", false
	case t.change && t.percent && d.unit != unitPercent:
		value = d.relative()
	case t.change:
		value = d.value - d.before
	}
	if d.unit == unitMS && t.unit == "" && !math.IsInf(value, 0) {
		value /= float64(time.Millisecond) // a number alone is of milliseconds
	}
	text := d.text(Options{})
	if d.of != "" {
		text = Safe(d.of) + " " + text
	}
	return text, t.broken(value)
}

// OfChange reports whether the threshold needs an earlier report.
func (t Threshold) OfChange() bool {
	return t.change || slices.Contains(changeKinds, ChangeKind(t.name))
}
