package tokens

import (
	"cmp"
	"encoding/json"
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

// Dearest are the n tools with the longest definitions, the longest first.
func Dearest(tools []Tool, n int) []Tool {
	sorted := slices.Clone(tools)
	slices.SortStableFunc(sorted, func(a, b Tool) int {
		return cmp.Or(cmp.Compare(len(b.whole()), len(a.whole())), strings.Compare(a.Name, b.Name))
	})
	return sorted[:min(n, len(sorted))]
}

// Apportioned is the counter that shares out measured tokens by bytes, for what was
// not measured itself.
func (m Measurement) Apportioned(tools []Tool) Counter {
	bytes := 0
	for _, t := range tools {
		bytes += len(t.whole())
	}
	about := fmt.Sprintf("what the Messages API's count_tokens says for %s: totals and the %d dearest tools are measured, in %d requests; all other figures are apportioned by bytes", m.Model, len(m.Tools), m.Requests)
	if m.Full <= 0 || bytes == 0 {
		return Counter{Name: CountTokens, About: about, weigh: func(string) (int, error) { return 0, nil }, unit: 1, basis: "apportioned"}
	}
	return Counter{Name: CountTokens, About: about, weigh: func(line string) (int, error) { return len(line) * m.Full, nil }, unit: bytes, basis: "apportioned"}
}

// Measured counts tools as Count does, the measured figures in their places. An error
// is Count's.
func Measured(tools []Tool, o Options, m Measurement) (Report, error) {
	o.Counter = m.Apportioned(tools)
	r, err := Count(tools, o)
	if err != nil {
		return Report{}, err
	}
	figure := func(n int) Figure { return Figure{n, saved(m.Full, n)} }
	r.Measurement, r.Search = &m, m.Search
	r.Total.Full, r.Total.Modes.Names, r.Total.Modes.Hints = m.Full, figure(m.Names), figure(m.Hints)
	if m.APIRefused == "" {
		r.Total.Modes.API = figure(m.API)
	}
	r.share(m)
	r.list(m)
	r.resum()
	r.Automatic = automatic(o, deferrable(r.Worst), tools)
	slices.SortStableFunc(r.Worst, func(a, b Row) int {
		return cmp.Or(cmp.Compare(b.Full, a.Full), strings.Compare(a.Name, b.Name))
	})
	return r, nil
}

// share puts in what was measured of single tools, and shares out the rest of the
// total among the others.
func (r *Report) share(m Measurement) {
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
		if !measured && others > 0 {
			n = (max(0, rest)*row.Full + others/2) / others
		}
		row.Measured, row.Full = measured, n
	}
}

// list shares out what was measured of the lists of names, after what stays whole.
func (r *Report) list(m Measurement) {
	fixed, names, hints := 0, 0, 0
	for _, row := range r.Worst {
		if row.Whole {
			fixed += row.Full
			continue
		}
		names, hints = names+row.Modes.Names.Tokens, hints+row.Modes.Hints.Tokens
	}
	for i := range r.Worst {
		row := &r.Worst[i]
		for f, part := range map[*Figure]struct{ measured, of int }{
			&row.Modes.Names: {m.Names - fixed, names}, &row.Modes.Hints: {m.Hints - fixed, hints}, &row.Modes.API: {0, 0},
		} {
			switch {
			case row.Whole:
				f.Tokens = row.Full
			case part.of > 0:
				f.Tokens = (max(0, part.measured)*f.Tokens + part.of/2) / part.of
			}
			f.Saved = saved(row.Full, f.Tokens)
		}
	}
}

// resum adds up the servers again.
func (r *Report) resum() {
	for i := range r.Servers {
		s := &r.Servers[i]
		s.Full, s.Modes = 0, Modes{}
		for _, row := range r.Worst {
			if row.Server == s.Name {
				s.Full += row.Full
				s.Modes.Names.Tokens += row.Modes.Names.Tokens
				s.Modes.Hints.Tokens += row.Modes.Hints.Tokens
				s.Modes.API.Tokens += row.Modes.API.Tokens
			}
		}
		for _, f := range []*Figure{&s.Modes.Names, &s.Modes.Hints, &s.Modes.API} {
			f.Saved = saved(s.Full, f.Tokens)
		}
	}
}

func deferrable(rows []Row) (n int) {
	for _, row := range rows {
		if !row.Whole {
			n += row.Full
		}
	}
	return n
}
