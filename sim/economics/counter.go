package economics

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/tiktoken-go/tokenizer"
)

// What a figure is: counted with a vocabulary, estimated from bytes, given by the API's
// documentation, measured by the API's count_tokens, or apportioned by bytes from what
// that measured.
const (
	BasisCounted     = "counted"
	BasisEstimated   = "estimated"
	BasisDocumented  = "documented"
	BasisMeasured    = "measured"
	BasisApportioned = "apportioned"
)

// Counter counts tokens by a rule that has a name (E8).
type Counter struct {
	// Name is what the rule is called; About is what it counts.
	Name, About string
	// Basis is what its figures are.
	Basis string
	// weigh gives a line's weight, of which unit make a token: bytes are added up
	// before they are divided, so that totals do not gather rounding.
	weigh func(line string) int
	unit  int
}

type counter struct {
	name, about string
	encoding    tokenizer.Encoding
}

// counters are the rules by name, the default first; one without an encoding counts bytes.
var counters = []counter{
	{name: "bytes4", about: "bytes / 4, an estimate that needs no tokenizer"},
	{"o200k", "tokens of the public o200k_base vocabulary, each line by itself", tokenizer.O200kBase},
	{"cl100k", "tokens of the public cl100k_base vocabulary, each line by itself", tokenizer.Cl100kBase},
}

// CounterNames lists the counters there are, the default first.
func CounterNames() []string {
	return each(counters, func(c counter) string { return c.name })
}

// Vocabulary names the counter whose vocabulary a model's provider has published as the
// model's own; "" where there is none.
func Vocabulary(model string) string {
	model = strings.TrimPrefix(model[strings.LastIndex(model, "/")+1:], "ft:")
	for _, m := range []struct{ prefix, counter string }{
		{"gpt-4o", "o200k"}, {"gpt-4.1", "o200k"}, {"gpt-4.5", "o200k"}, {"gpt-5", "o200k"}, {"gpt-oss", "o200k"}, {"chatgpt-4o", "o200k"},
		{"o1", "o200k"}, {"o3", "o200k"}, {"o4-mini", "o200k"}, {"gpt-4", "cl100k"}, {"gpt-3.5", "cl100k"}, {"gpt-35", "cl100k"},
	} {
		if strings.HasPrefix(model, m.prefix) {
			return m.counter
		}
	}
	return ""
}

// NewCounter makes a counter ready. An error names those there are, or is the
// tokenizer's.
func NewCounter(name string) (Counter, error) {
	i := slices.Index(CounterNames(), name)
	if i < 0 {
		return Counter{}, fmt.Errorf("there is no counter %q; use %s", name, strings.Join(CounterNames(), ", "))
	}
	c := Counter{Name: name, About: counters[i].about, Basis: BasisEstimated, weigh: func(line string) int { return len(line) }, unit: 4}
	if encoding := counters[i].encoding; encoding != "" {
		codec, err := tokenizer.Get(encoding)
		if err != nil {
			return Counter{}, fmt.Errorf("counter %s: %w", encoding, err)
		}
		c.weigh, c.unit, c.Basis = func(line string) int {
			n, err := codec.Count(line)
			if err != nil {
				panic(err) // its expressions match in no limited time
			}
			return n
		}, 1, BasisCounted
	}
	return c, nil
}

// Count gives the tokens of a text, rounded to the nearest.
func (c Counter) Count(text string) int { return c.tokens(c.weigh(text)) }

// tokens makes tokens of a weight, rounded to the nearest.
func (c Counter) tokens(weight int) int { return (weight + c.unit/2) / c.unit }

// weight is what tools weigh sent whole and under each way of deferring; deferred is
// what those weigh whole that may be deferred.
type weight struct{ tools, full, names, hints, api, deferred int }

// weigh weighs a tool in every mode. One that is never deferred costs the same in
// all.
func weigh(t Tool, c Counter) weight {
	full := c.weigh(t.whole())
	if t.Whole {
		return weight{tools: 1, full: full, names: full, hints: full, api: full}
	}
	return weight{tools: 1, full: full, names: c.weigh(t.named()), hints: c.weigh(t.hinted()), deferred: full}
}

func (w *weight) add(o weight) {
	w.tools += o.tools
	w.full += o.full
	w.names += o.names
	w.hints += o.hints
	w.api += o.api
	w.deferred += o.deferred
}

func (w *weight) modes(c Counter) Modes {
	figure := func(part int, basis string) Figure { return Figure{c.tokens(part), saved(w.full, part), basis} }
	return Modes{figure(w.names, c.Basis), figure(w.hints, c.Basis), figure(w.api, BasisDocumented)}
}

func (w *weight) cost(name string, c Counter) Cost {
	return Cost{Name: name, Tools: w.tools, Full: c.tokens(w.full), Modes: w.modes(c), Basis: c.Basis}
}

// saved is the share of before that after spares, in percent, to two places.
func saved(before, after int) float64 {
	if before == 0 {
		return 0
	}
	return math.Round(float64(before-after)*10000/float64(before)) / 100
}
