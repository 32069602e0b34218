package tokens

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/tiktoken-go/tokenizer"
)

// Counter counts tokens by a rule that has a name (E8).
type Counter struct {
	// Name is what the rule is called; About is what it counts.
	Name, About string
	// weigh gives a line's weight, of which unit make a token: bytes are added up
	// before they are divided, so that totals do not gather rounding.
	weigh func(line string) (int, error)
	unit  int
	// basis is what its figures are.
	basis string
}

// counters are the rules by name, the default first.
func counters() []struct {
	name, about string
	make        func() (func(string) (int, error), int, error)
} {
	return []struct {
		name, about string
		make        func() (func(string) (int, error), int, error)
	}{
		{"bytes4", "bytes / 4, an estimate that needs no tokenizer", bytes4},
		{"o200k", "tokens of the public o200k_base vocabulary, each line by itself", bpe(tokenizer.O200kBase)},
		{"cl100k", "tokens of the public cl100k_base vocabulary, each line by itself", bpe(tokenizer.Cl100kBase)},
	}
}

// Names lists the counters there are, the default first.
func Names() []string {
	var names []string
	for _, c := range counters() {
		names = append(names, c.name)
	}
	return names
}

// NewCounter makes a counter ready. An error names those there are, or is the
// tokenizer's.
func NewCounter(name string) (Counter, error) {
	all := counters()
	i := slices.Index(Names(), name)
	if i < 0 {
		return Counter{}, fmt.Errorf("there is no counter %q; use %s", name, strings.Join(Names(), ", "))
	}
	weigh, unit, err := all[i].make()
	basis := "estimated"
	if unit == 1 {
		basis = "counted" // a vocabulary's own
	}
	return Counter{name, all[i].about, weigh, unit, basis}, err
}

func bytes4() (func(string) (int, error), int, error) {
	return func(line string) (int, error) { return len(line), nil }, 4, nil
}

func bpe(encoding tokenizer.Encoding) func() (func(string) (int, error), int, error) {
	return func() (func(string) (int, error), int, error) {
		codec, err := tokenizer.Get(encoding)
		if err != nil {
			return nil, 0, fmt.Errorf("counter %s: %w", encoding, err)
		}
		return codec.Count, 1, nil
	}
}

// Count gives the tokens of a text, rounded to the nearest. An error is the
// tokenizer's.
func (c Counter) Count(text string) (int, error) {
	w, err := c.weigh(text)
	return c.tokens(w), err
}

// tokens makes tokens of a weight, rounded to the nearest.
func (c Counter) tokens(weight int) int { return (weight + c.unit/2) / c.unit }

// Basis is what its figures are: counted with a vocabulary, estimated from bytes, or
// apportioned from what was measured.
func (c Counter) Basis() string { return c.basis }

// weights are a tool's lines, weighed.
type weights struct {
	full, names, hints, api int
	whole                   bool
}

// weigh weighs a tool in every mode. One that is never deferred costs the same in
// all.
func weigh(t Tool, c Counter) (weights, error) {
	full, err := c.weigh(t.whole())
	if err != nil || t.Whole {
		return weights{full, full, full, full, true}, err
	}
	names, err := c.weigh(t.named())
	if err != nil {
		return weights{}, err
	}
	hints, err := c.weigh(t.hinted())
	return weights{full: full, names: names, hints: hints}, err
}

// sum is the weight of several tools.
type sum struct {
	weights
	tools    int
	deferred int
}

func (s *sum) add(w weights) {
	s.tools++
	s.full += w.full
	s.names += w.names
	s.hints += w.hints
	s.api += w.api
	if !w.whole {
		s.deferred += w.full
	}
}

func (s *sum) cost(name string, c Counter) Cost {
	figure := func(w int) Figure { return Figure{c.tokens(w), saved(s.full, w)} }
	return Cost{name, s.tools, c.tokens(s.full), Modes{figure(s.names), figure(s.hints), figure(s.api)}}
}

// saved is the share of before that after spares, in percent, to two places.
func saved(before, after int) float64 {
	if before == 0 {
		return 0
	}
	return math.Round(float64(before-after)*10000/float64(before)) / 100
}
