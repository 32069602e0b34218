package measure

import (
	"context"
	"sync"
	"time"
)

// Span is how long a message took, seen from outside and by its tools.
type Span struct {
	// Makespan is from the message's arrival to the end of the conversation, in ms.
	Makespan float64 `json:"makespan_ms"`
	// Overlaps: the write ran beside a read.
	Overlaps bool `json:"write_overlaps_read"`
	// First is when the first tool of a streamed message started, in ms after the
	// stream did.
	First float64 `json:"first_start_ms"`
}

// Busy and Arrival are how long a tool takes, and how far apart streamed calls are;
// Whole is how long that stream lasts.
const (
	Busy    = 10 * time.Millisecond
	Arrival = 10 * time.Millisecond
	Whole   = 122 * time.Millisecond
)

// interval is one tool's run, as the tool saw it.
type interval struct {
	writes   bool
	from, to time.Time
}

// log is what the tools write their runs to.
type log struct {
	mu   sync.Mutex
	runs []interval
}

// tool sleeps for d and writes down when it ran.
func (l *log) tool(name string, writes bool, d time.Duration) Tool {
	return Tool{Name: name, Writes: writes, Do: func(ctx context.Context, _ string) (string, error) {
		from := time.Now()
		err := until(ctx, from.Add(d))
		l.mu.Lock()
		defer l.mu.Unlock()
		l.runs = append(l.runs, interval{writes, from, time.Now()})
		return name, err
	}}
}

func (l *log) overlaps() bool {
	for _, w := range l.runs {
		for _, r := range l.runs {
			if w.writes && !r.writes && w.from.Before(r.to) && r.from.Before(w.to) {
				return true
			}
		}
	}
	return false
}

func (l *log) first() time.Time {
	first := l.runs[0].from
	for _, r := range l.runs {
		if r.from.Before(first) {
			first = r.from
		}
	}
	return first
}

// call is a call of five members on a file of its own.
func call(i int, tool string) Call {
	return Call{ID: NumberedID(i), Tool: tool, Input: FiveInput("/repo/" + NumberedID(i) + ".go")}
}

// SpanOf measures four reads, a write and two reads that arrive at once, and six
// reads that arrive one by one.
func SpanOf(p Peer) (Span, error) {
	var s Span
	l := &log{}
	var m Message
	for i, tool := range []string{"read", "read", "read", "read", "write", "read", "read"} {
		m.Calls = append(m.Calls, call(i, tool))
	}
	_, took, err := hold(p, l, m)
	if err != nil {
		return s, err
	}
	s.Makespan, s.Overlaps = millis(took), l.overlaps()

	l = &log{}
	m = Message{Gap: Arrival, Whole: Whole}
	for i := range 6 {
		m.Calls = append(m.Calls, call(i, "read"))
	}
	began, _, err := hold(p, l, m)
	if err != nil {
		return s, err
	}
	s.First = millis(l.first().Sub(began))
	return s, nil
}

// hold holds one conversation, after one that warms the library up.
func hold(p Peer, l *log, m Message) (began time.Time, took time.Duration, err error) {
	warm := &log{}
	for _, to := range []*log{warm, l} {
		bout, err := p.Open([]Tool{to.tool("read", false, Busy), to.tool("write", true, Busy)}, m)
		if err != nil {
			return began, 0, err
		}
		began = time.Now()
		if err := bout.Run(context.Background()); err != nil {
			return began, 0, err
		}
		took = time.Since(began)
	}
	return began, took, nil
}

func millis(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
