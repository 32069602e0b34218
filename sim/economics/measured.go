package economics

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// CountTokens is the counter that asks the API (E8): see Measurement.
const CountTokens = "count_tokens"

// Measurement is the Messages API's count_tokens of a set of tools, as
// differences between prompts.
type Measurement struct {
	Model string
	// Full are all definitions whole; Names and Hints the list of deferred tools with
	// what stays whole; API the definitions marked defer_loading.
	Full, Names, Hints, API int
	// APIRefused is why there is no figure for API; "" where there is one.
	APIRefused string
	// Search is ToolSearch's own definition, with what the API adds to any prompt that
	// has tools.
	Search int
	// Tools are the tools that were measured by themselves.
	Tools map[string]int
	// Requests is how many were sent.
	Requests int
}

// Definition is a tool as the API takes it.
func Definition(t Tool, deferred bool) json.RawMessage {
	schema := t.Schema
	if t.Missing || schema == noSchema {
		schema = `{"type":"object"}` // the API insists on one
	}
	text := `{"name":` + quoted(t.Name) + `,"description":` + quoted(t.Description) + `,"input_schema":` + schema
	if deferred {
		text += `,"defer_loading":true`
	}
	return json.RawMessage(text + "}")
}

// Listing is the list of the deferred tools among some (E4), and the definitions of
// those that stay whole. The list is "" where nothing is deferred.
func Listing(tools []Tool, hints bool) (text string, whole []json.RawMessage) {
	var list strings.Builder
	for _, t := range tools {
		switch {
		case t.Whole:
			whole = append(whole, Definition(t, false))
		case hints:
			list.WriteString(t.hinted())
		default:
			list.WriteString(t.named())
		}
	}
	if list.Len() == 0 {
		return "", whole
	}
	return "<available-deferred-tools>\n" + list.String() + "</available-deferred-tools>\n", whole
}

// dearestTools are the n tools with the longest definitions, the longest first.
func dearestTools(tools []Tool, n int) []Tool {
	sorted := slices.SortedStableFunc(slices.Values(tools), func(a, b Tool) int {
		return cmp.Or(cmp.Compare(len(b.whole()), len(a.whole())), strings.Compare(a.Name, b.Name))
	})
	return sorted[:min(n, len(sorted))]
}

// counter is the one that shares out measured tokens by bytes, for what was not
// measured itself.
func (m Measurement) counter(tools []Tool) Counter {
	about := fmt.Sprintf("what the Messages API's count_tokens says for %s: totals and the %d dearest tools are measured, in %d requests; all other figures are apportioned by bytes", m.Model, len(m.Tools), m.Requests)
	c := Counter{Name: CountTokens, About: about, Basis: BasisApportioned, weigh: func(string) int { return 0 }, unit: 1}
	bytes := 0
	for _, t := range tools {
		bytes += len(t.whole())
	}
	if m.Full > 0 && bytes > 0 {
		c.weigh, c.unit = func(line string) int { return len(line) * m.Full }, bytes
	}
	return c
}

// MeasuredCosts counts tools as CountTools does, the measured figures in their places.
func MeasuredCosts(tools []Tool, o CountOptions, m Measurement) ToolCosts {
	o.Counter = m.counter(tools)
	r := CountTools(tools, o)
	figure := func(n int) Figure { return Figure{n, saved(m.Full, n), BasisMeasured} }
	r.Measurement, r.Search = &m, m.Search
	r.Total.Full, r.Total.Basis, r.Total.Modes.Names, r.Total.Modes.Hints = m.Full, BasisMeasured, figure(m.Names), figure(m.Hints)
	if m.APIRefused == "" {
		r.Total.Modes.API = figure(m.API)
	}
	r.share(m)
	r.list(m)
	r.resum()
	r.Automatic = automaticMode(o, deferrable(r.Worst), tools)
	SortToolCosts(r.Worst)
	return r
}

// share puts in what was measured of single tools, and shares out the rest of the
// total among the others.
func (r *ToolCosts) share(m Measurement) {
	rest, others := m.Full, 0
	for _, row := range r.Worst {
		if n, ok := m.Tools[row.Name]; ok {
			rest -= n
		} else {
			others += row.Full
		}
	}
	for i := range r.Worst {
		row := &r.Worst[i]
		n, measured := m.Tools[row.Name]
		switch {
		case measured:
			row.Full, row.Basis = n, BasisMeasured
		case others > 0:
			row.Full = (max(0, rest)*row.Full + others/2) / others
		default:
			row.Full = 0
		}
	}
}

// list shares out what was measured of the lists of names, after what stays whole.
func (r *ToolCosts) list(m Measurement) {
	fixed, listed := 0, [3]int{}
	for _, row := range r.Worst {
		if row.Whole {
			fixed += row.Full
			continue
		}
		listed[0] += row.Modes.Names.Tokens
		listed[1] += row.Modes.Hints.Tokens
	}
	measured := [3]int{m.Names - fixed, m.Hints - fixed}
	for i := range r.Worst {
		row := &r.Worst[i]
		for n, f := range row.Modes.figures() {
			switch of := listed[n]; {
			case row.Whole:
				f.Tokens = row.Full
			case of > 0:
				f.Tokens = (max(0, measured[n])*f.Tokens + of/2) / of
			}
			f.Saved = saved(row.Full, f.Tokens)
		}
	}
}

// resum adds up the servers again.
func (r *ToolCosts) resum() {
	for i := range r.Servers {
		s := &r.Servers[i]
		s.Full = 0
		sums := [3]int{}
		for _, row := range r.Worst {
			if row.Server == s.Name {
				s.Full += row.Full
				for n, f := range row.Modes.figures() {
					sums[n] += f.Tokens
				}
			}
		}
		for n, f := range s.Modes.figures() {
			f.Tokens, f.Saved = sums[n], saved(s.Full, sums[n])
		}
	}
}

func deferrable(rows []ToolCost) (n int) {
	for _, row := range rows {
		if !row.Whole {
			n += row.Full
		}
	}
	return n
}

// AskTokens gives the tokens of a prompt of one message and some definitions. An answer of the
// API that is no count is a *Refused; other errors are the transport's.
type AskTokens func(ctx context.Context, text string, definitions []json.RawMessage) (int, error)

// Refused is an answer of the API that is no count.
type Refused struct{ Err error }

func (e *Refused) Error() string { return e.Err.Error() }

func (e *Refused) Unwrap() error { return e.Err }

// MeasureTools asks for the figures of a set of tools, and of the worst dearest ones by
// themselves: 6 requests and one for each of them (E8). It takes differences:
//
//	nothing                    one short message
//	ToolSearch                 the same with ToolSearch's definition
//	whole                      with all definitions behind it
//	names, names and hints     ToolSearch, what is never deferred, and the list of the
//	                           others in the message
//	defer_loading              all definitions, marked so that they stay out
//	whole less one             for each of the dearest tools
//
// ToolSearch is in all of them but the first, so that what the API adds to any prompt
// with tools is in no figure but ToolSearch's own. The answers are the API's word on
// the tokens of a prompt; it calls them an estimate itself. A way of deferring that the
// API refuses is noted, not an error; errors are those of ask.
func MeasureTools(ctx context.Context, model string, ask AskTokens, tools []Tool, searcher Tool, worst int) (Measurement, error) {
	m := &measuring{ctx: ctx, asked: ask, searcher: Definition(searcher, false)}
	m.out = Measurement{Model: model, Tools: map[string]int{}}
	m.totals(tools)
	for _, t := range dearestTools(tools, worst) {
		m.out.Tools[t.Name] = m.whole - m.ask(short, m.all(tools, t.Name))
	}
	return m.out, m.err
}

// short is the message that stands in each request, which the API demands.
const short = "x"

// measuring is a measurement on its way; after the first error it asks no more.
type measuring struct {
	ctx      context.Context
	asked    AskTokens
	searcher json.RawMessage
	out      Measurement
	// whole is what the request with all definitions has.
	whole int
	err   error
}

func (m *measuring) ask(text string, definitions []json.RawMessage) (n int) {
	if m.err == nil {
		m.out.Requests++
		n, m.err = m.asked(m.ctx, text, definitions)
	}
	return n
}

// all are the definitions of the tools without one, ToolSearch in front.
func (m *measuring) all(tools []Tool, without string) []json.RawMessage {
	out := []json.RawMessage{m.searcher}
	for _, t := range tools {
		if t.Name != without {
			out = append(out, Definition(t, false))
		}
	}
	return out
}

// totals asks for the set as a whole, in every mode.
func (m *measuring) totals(tools []Tool) {
	bare := m.ask(short, nil)
	base := m.ask(short, []json.RawMessage{m.searcher})
	m.whole = m.ask(short, m.all(tools, ""))
	names, fixed := Listing(tools, false)
	hints, _ := Listing(tools, true)
	kept := append([]json.RawMessage{m.searcher}, fixed...)
	byNames := m.ask(names+short, kept)
	byHints := m.ask(hints+short, kept)
	m.out.Search, m.out.Full, m.out.Names, m.out.Hints = base-bare, m.whole-base, byNames-base, byHints-base
	if m.err == nil {
		m.deferred(tools, base)
	}
}

// deferred asks for the definitions marked defer_loading, which not every API takes.
func (m *measuring) deferred(tools []Tool, base int) {
	marked := append([]json.RawMessage{m.searcher}, each(tools, func(t Tool) json.RawMessage { return Definition(t, !t.Whole) })...)
	n := m.ask(short, marked)
	if refused, ok := errors.AsType[*Refused](m.err); ok {
		m.out.APIRefused, m.err = refused.Error(), nil
		return
	}
	m.out.API = n - base
}
