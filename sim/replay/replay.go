package replay

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"sync"

	"toolbench/sim/cassette"
	"toolbench/sim/recording"
)

// Recording reads a recording and replays each conversation in it (DESIGN, decision 7). What is wrong with the file
// is in the report: as its problems, or as Err, when it is no recording or passes a limit. Errors wrap those of
// package recording, or are the context's.
func Recording(ctx context.Context, name string, r io.Reader, o Options) Report {
	o = o.complete()
	rep := &replay{o: o, open: map[int]*conversation{}, report: Report{File: name}}
	a := readAhead{found: make(chan func() error, 1), over: make(chan struct{})}
	go a.read(name, progressReader{cassette.Settled(r), o.Moved}, o.Limits, recording.Handler{
		Turn: func(c *recording.Conversation, t *recording.Turn) error {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			return rep.turn(c, t)
		},
		Problem: rep.problem,
	})
	sum, err := a.play()
	rep.report.Format, rep.report.Err = string(sum.Format), err
	return rep.finish(sum.Ignored)
}

// readAhead reads a recording on a goroutine of its own while turns are replayed that were read
// before: on two processors that takes little more than half of the time. One turn is replayed, one waits
// and one is being read, so that memory stays bounded.
type readAhead struct {
	found chan func() error
	// over is closed when nothing is replayed any more.
	over  chan struct{}
	sum   recording.Summary
	err   error
	broke any
}

// errOverBefore ends the reading where the replay has ended.
var errOverBefore = errors.New("the replay is over")

// read gives what it finds to play, which calls h with it in the same order.
func (a *readAhead) read(name string, r io.Reader, limits recording.Limits, h recording.Handler) {
	defer close(a.found)
	defer func() { a.broke = recover() }()
	hand := func(do func() error) error {
		select {
		case a.found <- do:
			return nil
		case <-a.over:
			return errOverBefore
		}
	}
	a.sum, a.err = recording.Scan(name, r, limits, recording.Handler{
		Turn: func(c *recording.Conversation, t *recording.Turn) error {
			return hand(func() error { return h.Turn(c, t) })
		},
		Problem: func(p recording.Problem) {
			_ = hand(func() error { h.Problem(p); return nil }) // the next turn's fails as well
		},
	})
}

// play returns when the reading has ended. Where the replay failed, what was read beyond is not
// counted: how much that is, is chance.
func (a *readAhead) play() (recording.Summary, error) {
	var failed error
	stop := sync.OnceFunc(func() { close(a.over) })
	defer stop()
	for do := range a.found { // until the reading has ended, since the file is in use until then
		if failed != nil {
			continue
		}
		if failed = do(); failed != nil {
			stop()
		}
	}
	switch {
	case a.broke != nil:
		panic(a.broke) // who called can report it; on the reader's goroutine nobody could
	case failed != nil:
		return recording.Summary{Format: a.sum.Format}, failed
	}
	return a.sum, a.err
}

// progressReader notes that a recording is read.
type progressReader struct {
	io.Reader
	moved func()
}

// Read implements io.Reader.
func (m progressReader) Read(p []byte) (int, error) {
	m.moved()
	return m.Reader.Read(p)
}

type replay struct {
	o      Options
	open   map[int]*conversation
	cache  standInCache
	report Report
}

// turn replays a turn. Conversations stay open to the end: what is kept of one is a few counts.
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
