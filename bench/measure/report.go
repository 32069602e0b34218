package measure

import (
	"cmp"
	"slices"
)

// Figure is one quantity over the repeats.
type Figure struct {
	Median float64 `json:"median"`
	Low    float64 `json:"low"`
	High   float64 `json:"high"`
}

// CostFigures and SpanFigures are Cost and Span over the repeats.
type CostFigures struct {
	Micros Figure `json:"us_per_call"`
	CPU    Figure `json:"cpu_us_per_call"`
	More   Figure `json:"us_per_further_call"`
	Allocs Figure `json:"allocs_per_call"`
	Bytes  Figure `json:"bytes_per_call"`
}

// SpanFigures says in how many repeats the write overlapped a read.
type SpanFigures struct {
	Makespan Figure `json:"makespan_ms"`
	First    Figure `json:"first_start_ms"`
	Overlaps int    `json:"write_overlaps_read"`
}

// Row is all that was measured of one peer. A case that could not be measured is
// nil, and Problems says why.
type Row struct {
	Described
	Five     *CostFigures              `json:"five,omitempty"`
	One      *CostFigures              `json:"one,omitempty"`
	Span     *SpanFigures              `json:"span,omitempty"`
	Troubles map[string][]FaultOutcome `json:"troubles,omitempty"`
	Problems []string                  `json:"problems,omitempty"`
}

// Missing is a library that is not in the table, and why.
type Missing struct {
	Name   string `json:"name"`
	Reason string `json:"reason"`
}

// Report is the whole comparison.
type Report struct {
	Version int    `json:"version"`
	Go      string `json:"go"`
	System  string `json:"system"`
	CPUs    int    `json:"cpus"`
	Date    string `json:"date"`
	Repeats int    `json:"repeats"`
	Seed    uint64 `json:"seed"`
	Budget  string `json:"budget"`
	// Quick: the times say nothing.
	Quick bool  `json:"quick,omitempty"`
	Rows  []Row `json:"rows"`
	// Steps are single steps of a call, for scale.
	Steps   []Step    `json:"steps"`
	Missing []Missing `json:"missing,omitempty"`
}

// Step is what one step of a call costs by itself, in us of processor time (of the
// clock, where that is not known), for an input of five members and of one.
type Step struct {
	Name string  `json:"name"`
	Five float64 `json:"five_us"`
	One  float64 `json:"one_us"`
}

// ReportVersion is the format's; it grows when a member changes its meaning.
const ReportVersion = 1

// Row finds a peer's row.
func (r Report) Row(name string) (Row, bool) {
	i := slices.IndexFunc(r.Rows, func(row Row) bool { return row.Name == name })
	if i < 0 {
		return Row{}, false
	}
	return r.Rows[i], true
}

func figure[T any](all []T, of func(T) float64) Figure {
	values := make([]float64, len(all))
	for i, v := range all {
		values[i] = of(v)
	}
	slices.SortFunc(values, cmp.Compare)
	n := len(values)
	return Figure{Median: (values[(n-1)/2] + values[n/2]) / 2, Low: values[0], High: values[n-1]}
}

func costFigures(all []Cost) *CostFigures {
	if len(all) == 0 {
		return nil
	}
	return &CostFigures{
		Micros: figure(all, func(c Cost) float64 { return c.Micros }), CPU: figure(all, func(c Cost) float64 { return c.CPU }), More: figure(all, func(c Cost) float64 { return c.More }),
		Allocs: figure(all, func(c Cost) float64 { return c.Allocs }), Bytes: figure(all, func(c Cost) float64 { return c.Bytes }),
	}
}

func spanFigures(all []Span) *SpanFigures {
	if len(all) == 0 {
		return nil
	}
	f := &SpanFigures{
		Makespan: figure(all, func(s Span) float64 { return s.Makespan }), First: figure(all, func(s Span) float64 { return s.First }),
	}
	for _, s := range all {
		if s.Overlaps {
			f.Overlaps++
		}
	}
	return f
}
