package loop

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"unicode"

	"toolbench/toolsys/message"
	"toolbench/toolsys/pipeline"
	"toolbench/toolsys/pool"
	"toolbench/toolsys/schedule"
	"toolbench/toolsys/tool"
	"toolbench/toolsys/trace"
)

// ErrTurns is returned when a conversation passes its number of turns.
var ErrTurns = errors.New("the conversation passed its limit of turns")

// Session is one conversation. Send is called by one goroutine at a time; Interrupt may be called by any.
type Session struct {
	cfg       Config
	catalogue *pool.Catalogue // cfg's, for an answer that fits cfg.Output
	pipe      *pipeline.Pipeline
	assembly  pool.Assembly
	shown     shown

	history    []message.Message // messages are added; none is changed in place
	rendered   message.Renderer
	references message.Places
	media      message.Places
	leftOut    int // how many images and documents the last request had no room for
	lead       message.Preface
	first      int             // the number of history's first message (tool.Snips)
	turn       atomic.Int64    // Interrupt reads it beside Send
	latched    *bool           // the automatic decision on deferral, once made (D4)
	announced  []string        // deferred names that were announced, in delta mode
	broken     map[string]bool // tools whose prompt panicked, once traced
	agents     int
	container  string                   // where the API runs the model's code
	previous   string                   // the id of the last reply
	reader     string                   // the model that the history was sent to
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
	history = tool.Each(history, fitted)
	s := &Session{cfg: cfg, catalogue: catalogue, history: history, reader: cfg.Reader, first: 1, state: cfg.State, broken: map[string]bool{},
		references: message.Places{Of: message.Refers}, media: message.Places{Of: message.IsMedia}}
	s.state = s.state.Discover(pool.Discovered(cfg.History)...)
	s.pipe = &pipeline.Pipeline{Handlers: cfg.Handlers}
	if sink := cfg.Handlers.Trace; sink != nil && cfg.Agent != "" {
		s.pipe.Handlers.Trace = func(e trace.Event) {
			e.Agent = cmp.Or(e.Agent, cfg.Agent)
			sink(e)
		}
	}
	for _, what := range mended {
		s.trace(trace.Notice{Text: what})
	}
	if len(history) > 0 {
		return s, s.record(Entry{Kind: HistorySet, Messages: s.history, Model: s.reader})
	}
	return s, nil
}

// State is the conversation's state at this moment.
func (s *Session) State() tool.State {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.state
}

// History is what was committed so far.
func (s *Session) History() []message.Message { return slices.Clone(s.history) }

// Interrupt is the user's new message while the model or its calls are at work: running calls that may be cancelled
// stop, queued ones are answered, and the message goes out with the results (J4).
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
	m.Content = slices.Concat(m.Content, s.reminder())
	s.append(m)
	s.awaitOutput()
	if err := s.turns(ctx, &out); err != nil {
		s.trace(trace.RunEnd{Error: err.Error()})
		return out, err
	}
	s.trace(trace.RunEnd{Stop: out.Stop})
	return out, nil
}

// turns runs turns until there is nothing more to go on with.
func (s *Session) turns(ctx context.Context, out *Completion) error {
	for {
		s.takeNew()
		s.takeMail()
		if out.Turns == s.cfg.MaxTurns {
			return fmt.Errorf("%w: %d", ErrTurns, s.cfg.MaxTurns)
		}
		s.turn.Add(1)
		out.Turns++
		done, err := s.runTurn(ctx, out)
		err = cmp.Or(s.unjournaled(), err)
		if s.traces() {
			s.trace(trace.State{State: view(s.State())})
		}
		switch {
		case err != nil:
			return err
		case !done || s.goesOn(ctx, out):
			continue
		}
		if done, err := s.hasOutput(out); done || err != nil {
			return err
		}
	}
}

// append lets messages join the history, all at once.
func (s *Session) append(messages ...message.Message) {
	for i, m := range messages {
		messages[i] = fitted(m)
		s.history = joined(s.history, messages[i])
	}
	_ = s.record(Entry{Kind: MessagesAdded, Messages: messages, Model: cmp.Or(s.reader, s.model())}) // Send asks for the error
}

// fitted gives a message with images that an API takes: those of results were made so, those that
// a user hands in, or that an earlier program wrote down, were not.
func fitted(m message.Message) message.Message {
	if m.Role == message.User && slices.ContainsFunc(m.Content, message.IsMedia) {
		m.Content = pipeline.Fit(m.Content)
	}
	return m
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
	if s.traces() {
		s.pipe.Handlers.Trace(trace.Event{At: s.pipe.Handlers.Since(), Agent: s.cfg.Agent, Turn: s.turnNow(), Data: data})
	}
}

// traceCall traces what became of a call. Somebody has to record events.
func (s *Session) traceCall(c pipeline.Call, data trace.Data) {
	s.pipe.Handlers.Trace(trace.Event{
		At: s.pipe.Handlers.Since(), Agent: s.cfg.Agent, Turn: c.Turn, Call: c.ID, Tool: c.Name, Data: data,
	})
}

// expanded gives the message that a command of the user's stands for (B1): one that begins with a slash and the name
// of a command there is. Any other stays as it is, and what stands in an agent's task is no command.
func (s *Session) expanded(ctx context.Context, m message.Message) (message.Message, error) {
	if s.cfg.Commands == nil || s.cfg.Depth > 0 || len(m.Content) == 0 || !strings.HasPrefix(m.Content[0].Text, "/") {
		return m, nil
	}
	name, args := m.Content[0].Text[1:], ""
	if end := strings.IndexFunc(name, unicode.IsSpace); end >= 0 {
		name, args = name[:end], name[end:]
	}
	commands := s.cfg.Commands(ctx)
	i := slices.IndexFunc(commands, func(c tool.Command) bool { return c.Name == name })
	if i < 0 {
		return m, nil
	}
	filled, err := commands[i].Expand(ctx, strings.TrimSpace(args))
	if err == nil {
		err = s.follow(filled)
	}
	if err != nil {
		return m, fmt.Errorf("the command /%s: %w", name, err)
	}
	s.trace(trace.Notice{Text: "the command /" + commands[i].Name})
	m.Content = slices.Concat([]message.Block{message.Text("<command-name>/" + commands[i].Name + "</command-name>")}, filled.Blocks, m.Content[1:])
	return m, nil
}

// follow does what a command asks for beside its text.
func (s *Session) follow(e tool.Expansion) error {
	for _, h := range e.Hooks {
		if err := s.hook(h); err != nil {
			return err
		}
	}
	if e.Modify == nil {
		return nil
	}
	return s.Change(e.Modify)
}

// ErrNoOutput is returned when the model ended without an answer in the form of
// Config.Output, although it was asked for it again.
var ErrNoOutput = errors.New("the model gave no answer in the form that was asked for")

// outputReminders is how often a model that ends without the answer is asked for it.
const outputReminders = 2

const outputReminder = "<system-reminder>The answer is wanted in a given form, and there is none yet. " +
	"Give it by a call of SyntheticOutput.</system-reminder>"

// awaitOutput begins to wait for an answer: that to an earlier message does not count.
func (s *Session) awaitOutput() {
	if s.cfg.Output == nil {
		return
	}
	s.reminded = 0
	_ = s.Change(func(st tool.State) tool.State { // it cannot panic
		st.Output = nil
		return st
	})
}

// hasOutput takes the answer in the form that was asked for to out, and reports whether
// the conversation is done: where there is none the model is asked for it.
func (s *Session) hasOutput(out *Completion) (done bool, err error) {
	out.Output = s.State().Output
	switch {
	case s.cfg.Output == nil || out.Output != nil || out.Stop == "hook":
		return true, nil
	case s.reminded == outputReminders:
		return true, ErrNoOutput
	}
	s.reminded++
	s.append(message.UserText(outputReminder))
	return false, nil
}
