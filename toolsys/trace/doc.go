// Package trace is the ordered record of everything that happens in a run. The
// tool system writes it; expectations and reports read it and nothing else. One
// event is one line, so two runs are equal when their lines are.
package trace
