package economics

import (
	"fmt"
	"slices"
	"strings"

	"toolbench/toolsys/pool"
)

// Sizes of what is the same under every ordering, in bytes.
const (
	SystemBytes  = 8000
	MessageBytes = 1600
)

// OrderingCost is what one ordering costs over a session.
type OrderingCost struct {
	Ordering Ordering
	// Turns are the requests in order, Total their sum.
	Turns []Usage
	Total Usage
	// Breaks are the turns in which the request before was not a prefix.
	Breaks []CacheBreak
	// Kept is the share of built-in definitions that were read after the first turn,
	// in percent.
	Kept float64
}

// RunOrderings plays a session under each ordering.
func RunOrderings(s ChurnSession, c Counter) []OrderingCost {
	b := &bench{builtins(), pool.NewDefinitions()}
	return each(Orderings(), func(o Ordering) OrderingCost { return b.play(s, o, c) })
}

func (b *bench) play(s ChurnSession, o Ordering, c Counter) OrderingCost {
	p, system := newPlaying(o, c), []Block{{Name: "system prompt", Text: filler("system. ", SystemBytes)}}
	var w toolset
	var held changes
	var messages []Block
	var deferred []string
	for turn := 1; turn <= s.Turns; turn++ {
		var causes []string
		for _, e := range s.at(turn) {
			w.apply(e)
			causes = append(causes, e.About)
		}
		m := b.moment(&w, o)
		if o.inPlace {
			messages = append(messages, held.to(m.definitions)...)
			m.definitions = slices.Clone(held.first)
		}
		if delta := pool.Delta(deferred, m.deferred); delta != "" {
			messages = append(messages, Block{Name: "what is deferred", Text: delta})
		}
		deferred = m.deferred
		messages = append(messages, Block{Name: fmt.Sprint("message ", turn), Text: filler(fmt.Sprint("turn ", turn, ". "), MessageBytes)})
		p.send(turn, "", marked(m.definitions, system, messages), strings.Join(causes, "; "))
	}
	return p.sum()
}

// marked lines up a request under our breakpoints: behind the last built-in tool, the
// system prompt and the last message.
func marked(tools, system, messages []Block) []Block {
	all := slices.Concat(tools, system, messages)
	last := -1
	for i := range all {
		all[i].Breakpoint = false
		if i < len(tools) && all[i].Builtin {
			last = i
		}
	}
	for _, at := range []int{last, len(tools) + len(system) - 1, len(all) - 1} {
		if at >= 0 {
			all[at].Breakpoint = true
		}
	}
	return all
}

// filler is a text of some length that differs by its words.
func filler(words string, length int) string {
	return strings.Repeat(words, length/len(words)+1)[:length]
}

// playing is a result on its way. A model has a cache of its own.
type playing struct {
	OrderingCost
	caches  map[string]*Cache
	counter Counter
	before  []Block
	// known are the tokens of texts: a history is sent again in every request.
	known map[string]int
}

func newPlaying(o Ordering, c Counter) *playing {
	return &playing{OrderingCost: OrderingCost{Ordering: o}, caches: map[string]*Cache{}, counter: c, known: map[string]int{}}
}

// count fills in the tokens of blocks.
func (p *playing) count(blocks []Block) {
	for i := range blocks {
		n, ok := p.known[blocks[i].Text]
		if !ok {
			n = p.counter.Count(blocks[i].Text)
			p.known[blocks[i].Text] = n
		}
		blocks[i].Tokens = n
	}
}

// send sends a request, whose blocks it counts, and notes where it breaks with the one
// before.
func (p *playing) send(turn int, model string, blocks []Block, cause string) {
	p.count(blocks)
	if b, ok := broken(p.before, blocks); ok {
		b.Turn, b.Cause = turn, cause
		p.Breaks = append(p.Breaks, b)
	}
	p.before = blocks
	if p.caches[model] == nil {
		p.caches[model] = &Cache{}
	}
	p.Turns = append(p.Turns, p.caches[model].Send(blocks))
}

// sum adds up the requests.
func (p *playing) sum() OrderingCost {
	var later Usage
	for i, u := range p.Turns {
		p.Total = p.Total.plus(u)
		if i > 0 {
			later = later.plus(u)
		}
	}
	if later.Builtin > 0 {
		p.Kept = float64(later.BuiltinRead) * 100 / float64(later.Builtin)
	}
	return p.OrderingCost
}
