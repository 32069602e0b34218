package replay

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"

	"toolbench/sim/cassette"
	"toolbench/sim/recording"
)

// Recording reads a recording and replays each conversation in it (DESIGN, decision
// 7). What is wrong with the file is in the report: as its problems, or as Err, when
// it is no recording or passes a limit. Errors wrap those of package recording, or
// are the context's.
func Recording(ctx context.Context, name string, r io.Reader, o Options) Report {
	rep := &replay{o: o.complete(), open: map[int]*conversation{}, report: Report{File: name}}
	sum, err := recording.Scan(name, r, o.Limits, recording.Handler{
		Turn: func(c *recording.Conversation, t *recording.Turn) error {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			return rep.turn(c, t)
		},
		Problem: rep.problem,
	})
	rep.report.Format, rep.report.Err = string(sum.Format), err
	return rep.finish(sum.Ignored)
}

type replay struct {
	o      Options
	open   map[int]*conversation
	cache  standInCache
	report Report
}

// turn replays a turn. Conversations stay open to the end: what is kept of one is a
// few counts.
func (r *replay) turn(c *recording.Conversation, t *recording.Turn) error {
	s := r.open[c.Number]
	if s == nil {
		s = newConversation(c, r.o, &r.cache)
		r.open[c.Number] = s
	}
	return s.take(t)
}

func (r *replay) problem(p recording.Problem) {
	if len(r.report.Problems) == maxSome {
		r.report.MoreProblems++
		return
	}
	blank := func(text string) string { return cassette.Blank(text, r.o.Secrets...) }
	r.report.Problems = append(r.report.Problems, Problem{string(p.Kind), p.Place(), blank(p.Text)})
}

func (r *replay) finish(ignored map[string]int) Report {
	for _, n := range slices.Sorted(maps.Keys(r.open)) {
		r.report.Conversations = append(r.report.Conversations, r.open[n].finish())
	}
	r.report.Ignored = counts(ignored)
	return r.report
}

// Unopened is the report on a file that could not even be opened.
func Unopened(name string, cause error) Report {
	return Report{File: name, Err: fmt.Errorf("%s: %w: %w", name, recording.ErrUnreadable, cause)}
}
