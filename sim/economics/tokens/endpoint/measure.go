package endpoint

import (
	"context"
	"encoding/json"
	"errors"

	"toolbench/sim/economics/tokens"
)

// Measure asks for the figures of a set of tools, and of the worst dearest ones by
// themselves: 6 requests and one for each of them (E8). A way of deferring that the
// API refuses is noted, not an error; errors are *Refused and the transport's.
func Measure(ctx context.Context, c Config, tools []tokens.Tool, searcher tokens.Tool, worst int) (tokens.Measurement, error) {
	m := &measuring{client: newClient(c), ctx: ctx, searcher: tokens.Definition(searcher, false)}
	m.out = tokens.Measurement{Model: c.Model, Tools: map[string]int{}}
	m.totals(tools)
	for _, t := range tokens.Dearest(tools, worst) {
		m.out.Tools[t.Name] = m.whole - m.ask(short, m.all(tools, t.Name))
	}
	m.out.Requests = m.requests
	return m.out, m.err
}

// short is the message that stands in each request, which the API demands.
const short = "x"

// measuring is a measurement on its way; after the first error it asks no more.
type measuring struct {
	*client
	ctx      context.Context
	searcher json.RawMessage
	out      tokens.Measurement
	// whole is what the request with all definitions has.
	whole int
	err   error
}

func (m *measuring) ask(text string, definitions []json.RawMessage) int {
	if m.err != nil {
		return 0
	}
	n, err := m.count(m.ctx, text, definitions)
	m.err = err
	return n
}

// all are the definitions of the tools without one, ToolSearch in front.
func (m *measuring) all(tools []tokens.Tool, without string) []json.RawMessage {
	out := []json.RawMessage{m.searcher}
	for _, t := range tools {
		if t.Name != without {
			out = append(out, tokens.Definition(t, false))
		}
	}
	return out
}

// totals asks for the set as a whole, in every mode.
func (m *measuring) totals(tools []tokens.Tool) {
	bare := m.ask(short, nil)
	base := m.ask(short, []json.RawMessage{m.searcher})
	m.whole = m.ask(short, m.all(tools, ""))
	names, fixed := tokens.Listing(tools, false)
	hints, _ := tokens.Listing(tools, true)
	kept := append([]json.RawMessage{m.searcher}, fixed...)
	byNames := m.ask(names+short, kept)
	byHints := m.ask(hints+short, kept)
	m.out.Search, m.out.Full, m.out.Names, m.out.Hints = base-bare, m.whole-base, byNames-base, byHints-base
	m.deferred(tools, base)
}

// deferred asks for the definitions marked defer_loading, which not every API takes.
func (m *measuring) deferred(tools []tokens.Tool, base int) {
	marked := []json.RawMessage{m.searcher}
	for _, t := range tools {
		marked = append(marked, tokens.Definition(t, !t.Whole))
	}
	if m.err != nil {
		return // of an earlier request
	}
	n := m.ask(short, marked)
	var refused *Refused
	if errors.As(m.err, &refused) {
		m.out.APIRefused, m.err = refused.Error(), nil
		return
	}
	m.out.API = n - base
}
