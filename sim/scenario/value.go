package scenario

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
)

// Duration is a time with a unit: "300ms", "2s", "1h30m". A bare number is an
// error, except 0.
type Duration time.Duration

// D is the plain duration.
func (d Duration) D() time.Duration { return time.Duration(d) }

// UnmarshalYAML reads the text of a node.
func (d *Duration) UnmarshalYAML(n ast.Node) error { return parsed(n, lasting, (*time.Duration)(d)) }

// lasting reads how long something in a run takes. Virtual time ends after three centuries, so that a
// sum of such times must not come near that.
func lasting(text string) (time.Duration, error) {
	d, err := parseDuration(text)
	if err == nil && d > 365*24*time.Hour {
		err = fmt.Errorf("%s is longer than a year; write 8760h at most", text)
	}
	return d, err
}

func parseDuration(text string) (time.Duration, error) {
	if text == "0" {
		return 0, nil
	}
	d, err := time.ParseDuration(text)
	_, notNumber := strconv.ParseFloat(text, 64)
	switch {
	case err != nil && notNumber == nil:
		return 0, fmt.Errorf("the duration %s has no unit; write %sms or %ss", text, text, text)
	case err != nil:
		return 0, fmt.Errorf("%q is no duration; write it like 300ms, 2s or 1h30m", text)
	case d < 0:
		return 0, fmt.Errorf("the duration %s is negative", text)
	}
	return d, nil
}

// unit is what a Bound's number counts.
type unit uint8

const (
	plain unit = iota
	percent
	timed
)

// Bound is a comparison with a number, a percentage or a duration: "5s",
// ">= 3s", "< 10", "37.5%", "2s..3s". Without an operator it means equal.
type Bound struct {
	op   string
	low  float64
	high float64
	unit unit
	text string
}

// Set reports whether the bound was given at all.
func (b Bound) Set() bool { return b.text != "" }

func (b Bound) String() string { return b.text }

// Exact reports whether the bound is a figure that must be met, and not a threshold.
func (b Bound) Exact() bool { return b.op == "=" }

// UnmarshalYAML reads the text of a node.
func (b *Bound) UnmarshalYAML(n ast.Node) error { return parsed(n, parseBound, b) }

var operators = []string{">=", "<=", "!=", "==", ">", "<", "="}

// parseBound reads the syntax of Bound.
func parseBound(text string) (Bound, error) {
	b := Bound{op: "=", text: strings.TrimSpace(text)}
	rest := b.text
	for _, op := range operators {
		if after, ok := strings.CutPrefix(rest, op); ok {
			b.op, rest = strings.TrimPrefix(op, "="), strings.TrimSpace(after)
			b.op = cmp.Or(b.op, "=")
			break
		}
	}
	if from, to, ok := strings.Cut(rest, ".."); ok {
		if rest != b.text {
			return b, fmt.Errorf("%q has a sign before a range; write the range alone", b.text)
		}
		return b.between(from, to)
	}
	var err error
	b.low, b.unit, err = quantity(rest)
	return b, err
}

func (b Bound) between(from, to string) (Bound, error) {
	low, u, err := quantity(strings.TrimSpace(from))
	if err != nil {
		return b, err
	}
	high, v, err := quantity(strings.TrimSpace(to))
	if err != nil {
		return b, err
	}
	if u != v {
		return b, fmt.Errorf("%q mixes units", b.text)
	}
	if low > high {
		return b, fmt.Errorf("%q ends before it begins; write the smaller one first", b.text)
	}
	b.op, b.low, b.high, b.unit = "..", low, high, u
	return b, nil
}

func quantity(text string) (float64, unit, error) {
	if p, ok := strings.CutSuffix(text, "%"); ok {
		v, err := strconv.ParseFloat(strings.TrimSpace(p), 64)
		if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
			return 0, 0, fmt.Errorf("%q is no percentage", text)
		}
		return v, percent, nil
	}
	if v, err := strconv.ParseFloat(text, 64); err == nil && !math.IsNaN(v) && !math.IsInf(v, 0) {
		return v, plain, nil
	}
	d, err := parseDuration(text)
	if err != nil {
		return 0, 0, fmt.Errorf("%q is neither a number, a percentage nor a duration with a unit", text)
	}
	return float64(d), timed, nil
}

// Holds reports whether a number (or a percentage) is within the bound; none is within one of
// times.
func (b Bound) Holds(v float64) bool { return b.unit != timed && b.within(v) }

func (b Bound) within(v float64) bool {
	const close = 1e-9
	switch b.op {
	case ">=":
		return v >= b.low-close
	case "<=":
		return v <= b.low+close
	case ">":
		return v > b.low+close
	case "<":
		return v < b.low-close
	case "!=":
		return math.Abs(v-b.low) > close
	case "..":
		return v >= b.low-close && v <= b.high+close
	}
	return math.Abs(v-b.low) <= close
}

// HoldsAt reports whether a time is within the bound; 0 needs no unit.
func (b Bound) HoldsAt(d time.Duration) bool {
	return (b.unit == timed || b.low == 0) && b.within(float64(d))
}

// HoldsNear reports whether the bound holds for a time that was measured on a real clock,
// which may be off by so much.
func (b Bound) HoldsNear(d, slack time.Duration) bool {
	near := time.Duration(math.Min(math.Max(b.low, float64(d-slack)), float64(d+slack)))
	return b.HoldsAt(d) || b.HoldsAt(near) || b.op == "<" && b.HoldsAt(d-slack) || b.op == ">" && b.HoldsAt(d+slack)
}

// parsed reads a node's text into a value, which an error leaves as it is.
func parsed[T any](n ast.Node, parse func(string) (T, error), into *T) error {
	text, err := scalar(n)
	if err != nil {
		return err
	}
	got, err := parse(text)
	if err != nil {
		return problem(n, err)
	}
	*into = got
	return nil
}

// scalar gives a node's text.
func scalar(n ast.Node) (string, error) {
	switch v := n.(type) {
	case *ast.StringNode:
		return v.Value, nil
	case *ast.IntegerNode, *ast.FloatNode:
		return n.GetToken().Value, nil
	case *ast.LiteralNode:
		return v.Value.Value, nil
	}
	return "", problem(n, errors.New("a single value is expected here"))
}

// Texts is a list of texts; in a file one text may stand by itself.
type Texts []string

// UnmarshalYAML reads a list or a single text.
func (t *Texts) UnmarshalYAML(n ast.Node) error {
	if _, ok := n.(*ast.SequenceNode); ok {
		return yaml.NodeToValue(n, (*[]string)(t))
	}
	text, err := scalar(n)
	if err != nil {
		return err
	}
	*t = Texts{text}
	return nil
}

// UnmarshalYAML reads a catalogue's name or the whole server.
func (s *Server) UnmarshalYAML(n ast.Node) error {
	type whole Server
	return shorthand(n, (*whole)(s), &s.Catalogue)
}

// UnmarshalYAML reads a word ("unchanged") or the whole expectation.
func (f *FileExpect) UnmarshalYAML(n ast.Node) error {
	type whole FileExpect
	return shorthand(n, (*whole)(f), &f.Is)
}

// UnmarshalYAML reads a status or the whole expectation.
func (a *Answer) UnmarshalYAML(n ast.Node) error {
	type whole Answer
	return shorthand(n, (*whole)(a), &a.Status)
}

// UnmarshalYAML reads "recorded" or a pace.
func (p *Pace) UnmarshalYAML(n ast.Node) error {
	type whole Pace
	var word string
	if err := shorthand(n, (*whole)(p), &word); err != nil {
		return err
	}
	p.set = word == ""
	if word != "" && word != "recorded" || p.TokensPerSecond != 0 && p.TokensPerSecond < 0.01 {
		return problem(n, errors.New("a pace is `recorded`, or first_byte and tokens_per_second, 0.01 or more"))
	}
	return nil
}

// shorthand reads a mapping into whole, strictly, or a single value into word.
func shorthand(n ast.Node, whole any, word *string) error {
	switch n.(type) {
	case *ast.MappingNode, *ast.MappingValueNode:
		return Strict(n, whole)
	}
	text, err := scalar(n)
	*word = text
	return err
}
