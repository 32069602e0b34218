package promptcache

import (
	"fmt"
	"strings"

	"toolbench/sim/economics/tokens"
	"toolbench/toolsys/pool"
)

// Sizes of what is the same under every ordering, in bytes.
const (
	SystemBytes  = 8000
	MessageBytes = 1600
)

// Result is what one ordering costs over a session.
type Result struct {
	Ordering Ordering
	// Turns are the requests in order, Total their sum.
	Turns []Usage
	Total Usage
	// Breaks are the turns in which the request before was not a prefix.
	Breaks []Break
	// Kept is the share of built-in definitions that were read after the first turn,
	// in percent.
	Kept float64
}

// Run plays a session under each ordering. Errors are the system's and the counter's.
func Run(s Session, c tokens.Counter) ([]Result, error) {
	b, err := newBench()
	if err != nil {
		return nil, err
	}
	var all []Result
	for _, o := range Orderings() {
		r, err := b.play(s, o, c)
		if err != nil {
			return nil, err
		}
		all = append(all, r)
	}
	return all, nil
}

func (b *bench) play(s Session, o Ordering, c tokens.Counter) (Result, error) {
	r := Result{Ordering: o}
	var w world
	var cache Cache
	var messages []Block
	var deferred []string
	for turn := 1; turn <= s.Turns; turn++ {
		events := s.at(turn)
		for _, e := range events {
			w.apply(e)
		}
		m := b.moment(&w, o)
		if delta := pool.Delta(deferred, m.deferred); delta != "" {
			messages = append(messages, Block{Name: "what is deferred", Text: delta})
		}
		deferred = m.deferred
		messages = append(messages, Block{Name: fmt.Sprint("message ", turn), Text: filler(fmt.Sprint("turn ", turn, ". "), MessageBytes)})
		request := request(m.definitions, messages)
		if err := count(request, c); err != nil {
			return Result{}, err
		}
		if br, ok := broken(cache.last, request); ok {
			br.Turn, br.Cause = turn, cause(events)
			r.Breaks = append(r.Breaks, br)
		}
		r.Turns = append(r.Turns, cache.Send(request))
	}
	r.sum()
	return r, nil
}

func (r *Result) sum() {
	var later Usage
	for i, u := range r.Turns {
		r.Total = r.Total.plus(u)
		if i > 0 {
			later = later.plus(u)
		}
	}
	if later.Builtin > 0 {
		r.Kept = float64(later.BuiltinRead) * 100 / float64(later.Builtin)
	}
}

// request lines up the blocks and sets the breakpoints.
func request(definitions, messages []Block) []Block {
	all := append([]Block{}, definitions...)
	last := -1
	for i, b := range all {
		if b.Builtin {
			last = i
		}
	}
	if last >= 0 {
		all[last].Breakpoint = true
	}
	all = append(all, Block{Name: "system prompt", Text: filler("system. ", SystemBytes), Breakpoint: true})
	all = append(all, messages...)
	all[len(all)-1].Breakpoint = true
	return all
}

// filler is a text of some length that differs by its words.
func filler(words string, length int) string {
	return strings.Repeat(words, length/len(words)+1)[:length]
}

func count(blocks []Block, c tokens.Counter) error {
	for i := range blocks {
		n, err := c.Count(blocks[i].Text)
		if err != nil {
			return err
		}
		blocks[i].Tokens = n
	}
	return nil
}
