package loop

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"toolbench/toolsys/message"
	"toolbench/toolsys/pipeline"
	"toolbench/toolsys/pool"
	"toolbench/toolsys/schedule"
	"toolbench/toolsys/tool"
	"toolbench/toolsys/trace"
)

// ErrTurns is returned when a conversation passes its number of turns.
var ErrTurns = errors.New("the conversation passed its limit of turns")

// Session is one conversation. Send is called by one goroutine at a time;
// Interrupt may be called by any.
type Session struct {
	cfg       Config
	catalogue *pool.Catalogue // cfg's, for an answer that fits cfg.Output
	pipe      *pipeline.Pipeline
	assembly  pool.Assembly
	shown     shown

	history    []message.Message // messages are added; none is changed in place
	rendered   message.Renderer
	references message.References
	first      int             // the number of history's first message (tool.Snips)
	turn       atomic.Int64    // Interrupt reads it beside Send
	latched    *bool           // the automatic decision on deferral, once made (D4)
	announced  []string        // deferred names that were announced, in delta mode
	broken     map[string]bool // tools whose prompt panicked, once traced
	agents     int
	container  string                   // where the API runs the model's code
	previous   string                   // the id of the last reply
	later      []message.Block          // what may not stand beside results of programs, for the message after them
	reminded   int                      // how often the model was asked for the answer in its form
	gone       func(name string) string // why a served tool is not any more
	// pendingServers are those that were being connected before the last request.
	pendingServers []string

	results []tool.CallResult // of its calls, where they are kept

	journal   sync.Mutex
	unwritten error // why the journal ended

	mu      sync.Mutex
	state   tool.State
	active  *execution
	stop    context.CancelCauseFunc // ends the stream that is being read
	pending []message.Message       // the user's new messages (J4)
	decided []tool.Decided          // of calls whose results are out
}

// Completion is how a Send ended.
type Completion struct {
	// Stop is the model's stop reason, or "hook" when a hook ended the turn.
	Stop   string
	Reason string
	// Turns and Calls count what this Send took.
	Turns, Calls int
	// Final is the model's last message.
	Final message.Message
	Usage message.Usage
	// Output is the answer in the form of Config.Output; nil where that has none.
	Output json.RawMessage
}

// New makes a session. What earlier sessions discovered is read back from the
// history (E6). A call of the history that has no result, because the session before
// was killed, gets one that explains it: without it no API takes the history (H6).
func New(cfg Config) (*Session, error) {
	if err := cfg.complete(); err != nil {
		return nil, err
	}
	catalogue := cfg.Catalogue
	if cfg.Output != nil {
		var err error
		if catalogue, err = catalogue.Answering(cfg.Output); err != nil {
			return nil, fmt.Errorf("%w: %w", ErrConfig, err)
		}
	}
	history, mended := message.Mend(cfg.History)
	s := &Session{cfg: cfg, catalogue: catalogue, history: slices.Clone(history), first: 1, state: cfg.State, broken: map[string]bool{}}
	s.state = s.state.Discover(pool.Discovered(cfg.History)...)
	s.pipe = &pipeline.Pipeline{Handlers: cfg.Handlers}
	if sink := cfg.Handlers.Trace; sink != nil && cfg.Agent != "" {
		s.pipe.Handlers.Trace = func(e trace.Event) {
			if e.Agent == "" {
				e.Agent = cfg.Agent
			}
			sink(e)
		}
	}
	for _, what := range mended {
		s.trace(trace.Notice{Text: what})
	}
	if len(history) > 0 {
		return s, s.record(Entry{Kind: HistorySet, Messages: s.history})
	}
	return s, nil
}

// State is the conversation's state at this moment.
func (s *Session) State() tool.State {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.state
}

// Change changes the state for the calls that start from here on, as when the user sets
// the mode. A modifier that panics changes nothing, which is the error.
func (s *Session) Change(m tool.Modifier) error { return s.change(m) }

// History is what was committed so far.
func (s *Session) History() []message.Message { return slices.Clone(s.history) }

// Interrupt is the user's new message while the model or its calls are at work:
// running calls that may be cancelled stop, queued ones are answered, and the
// message goes out with the results (J4).
func (s *Session) Interrupt(m message.Message) {
	s.mu.Lock()
	s.pending = append(s.pending, m)
	ex, stop := s.active, s.stop
	s.mu.Unlock()
	s.trace(trace.Interrupt{Text: message.PlainText(m.Content)})
	if ex != nil {
		ex.stop(ex.driver.Interrupt)
	}
	if stop != nil {
		stop(schedule.UserInterrupt)
	}
}

// Send gives the model a message and runs turns until it has no more calls. An
// error means the conversation could not go on; what was committed stays.
func (s *Session) Send(ctx context.Context, m message.Message) (Completion, error) {
	var out Completion
	m, err := s.expanded(ctx, m)
	if err != nil {
		return out, err
	}
	s.takeNew()
	m.Content = append(m.Content, s.reminder()...)
	s.append(m)
	s.awaitOutput()
	for {
		s.takeNew()
		s.takeMail()
		if out.Turns == s.cfg.MaxTurns {
			err := fmt.Errorf("%w: %d", ErrTurns, s.cfg.MaxTurns)
			s.trace(trace.RunEnd{Error: err.Error()})
			return out, err
		}
		s.turn.Add(1)
		out.Turns++
		done, err := s.runTurn(ctx, &out)
		err = cmp.Or(s.unjournaled(), err)
		s.traceState()
		if err != nil {
			s.trace(trace.RunEnd{Error: err.Error()})
			return out, err
		}
		if !done || s.goesOn(ctx, &out) {
			continue
		}
		if done, err = s.hasOutput(&out); err != nil {
			s.trace(trace.RunEnd{Error: err.Error()})
			return out, err
		}
		if done {
			s.trace(trace.RunEnd{Stop: out.Stop})
			return out, nil
		}
	}
}

// append lets messages join the history, all at once.
func (s *Session) append(messages ...message.Message) {
	for _, m := range messages {
		s.history = joined(s.history, m)
	}
	_ = s.record(Entry{Kind: MessagesAdded, Messages: messages}) // Send asks for the error
}

// takeNew takes the messages into the history that came when nothing was at work.
func (s *Session) takeNew() {
	for _, m := range s.takePending() {
		s.append(m)
	}
}

// takePending gives the user's messages that came meanwhile.
func (s *Session) takePending() []message.Message {
	s.mu.Lock()
	defer s.mu.Unlock()
	taken := s.pending
	s.pending = nil
	return taken
}

func (s *Session) turnNow() int { return int(s.turn.Load()) }

// traces reports whether events are recorded: some cost more than the call.
func (s *Session) traces() bool { return s.pipe.Handlers.Trace != nil }

func (s *Session) trace(data trace.Data) {
	if !s.traces() {
		return
	}
	s.pipe.Handlers.Trace(trace.Event{At: s.pipe.Handlers.Since(), Agent: s.cfg.Agent, Turn: s.turnNow(), Data: data})
}
