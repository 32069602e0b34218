package table_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"toolbench/bench/measure"
	"toolbench/bench/ours"
	"toolbench/bench/table"
	"toolbench/reports"
)

func costing(us float64) *measure.CostFigures {
	return &measure.CostFigures{Micros: measure.Figure{Median: us}, CPU: measure.Figure{Median: us}, Allocs: measure.Figure{Median: 10}}
}

func report() measure.Report {
	fine := measure.FaultOutcome{Calls: 5, Answered: 5, Ordered: true}
	row := func(name, version string, us float64) measure.Row {
		return measure.Row{
			Described: measure.Described{Name: name, Version: version}, Five: costing(us), One: costing(us / 2),
			Span:     &measure.SpanFigures{Makespan: measure.Figure{Median: 30.2}, First: measure.Figure{Median: 122.4}, Overlaps: 1},
			Troubles: map[string][]measure.FaultOutcome{"order": {fine, fine}, "failure": {fine, fine}, "panic": {fine, {Died: true}}, "cancel": {fine, {Calls: 5, Answered: 2, Left: 3}}},
		}
	}
	return measure.Report{
		Go: "go1.26", System: "linux/amd64", CPUs: 2, Date: "2026-01-02", Repeats: 2, Seed: 7, Budget: "300ms",
		Rows:    []measure.Row{row(ours.Calls, "", 4), row(ours.Loop, "", 8), row(ours.Against, "v0.9.13", 2)},
		Steps:   []measure.Step{{Name: ours.DecodeStep, Five: 1}, {Name: ours.ValidateStep, Five: 0.5}},
		Missing: []measure.Missing{{Name: "another", Reason: "it does not build"}},
	}
}

func TestTheTableFits(t *testing.T) {
	for _, width := range []int{100, 80, 60, 40} {
		var out bytes.Buffer
		require.NoError(t, table.Write(&out, report(), width))
		for line := range strings.Lines(out.String()) {
			assert.LessOrEqual(t, reports.Width(strings.TrimSuffix(line, "\n")), width, line)
		}
	}
}

func TestTheTableSays(t *testing.T) {
	var out bytes.Buffer
	require.NoError(t, table.Write(&out, report(), 200))
	for _, want := range []string{
		"eino, no decode + decode + validation = 2.00 + 1.00 + 0.50 = 3.50 us of processor time. ours, calls: 4.00 us, 1.1 times, above.",
		"1 of 2", "dies", "2/5", "Not measured: another: it does not build", "seed 7",
	} {
		assert.Contains(t, out.String(), want)
	}
}
