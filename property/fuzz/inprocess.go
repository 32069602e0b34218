package fuzz

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strconv"
	"sync"
	"time"

	"toolbench/property/des"
	"toolbench/property/oracle"
	"toolbench/sim/clock"
	"toolbench/sim/scenario/check"
	"toolbench/sim/scenario/run"
	"toolbench/sim/stream"
	"toolbench/sim/world"
	"toolbench/toolsys/builtin"
	"toolbench/toolsys/loop"
	"toolbench/toolsys/message"
	"toolbench/toolsys/permission"
	"toolbench/toolsys/pipeline"
	"toolbench/toolsys/pool"
	"toolbench/toolsys/schedule"
	"toolbench/toolsys/settings"
	"toolbench/toolsys/tool"
	"toolbench/toolsys/trace"
)

// InProcess runs cases through the whole system, without what only carries them there: no
// scenario's file, no HTTP and no client library. The clock, the conversation, the
// scheduler, the pipeline, hooks, permissions and budgets are the real ones, and so is
// what the model streams, byte for byte; see EndToEnd for the rest. It keeps its tools
// from case to case; one goroutine may use it at a time.
type InProcess struct {
	run         *caseRun
	settings    map[int]settings.Settings // by how many calls may run at once
	definitions *pool.Definitions
}

// NewInProcess makes one.
func NewInProcess() *InProcess {
	return &InProcess{run: newCaseRun(), settings: map[int]settings.Settings{}, definitions: pool.NewDefinitions()}
}

// caseRun is a case under way, and the tools that it calls.
type caseRun struct {
	tools map[toolShape]*tool.Tool

	c     *des.Case
	gate  *clock.Gate
	calls map[string]*des.Call // by tool
	model scriptedModel

	mu     sync.Mutex
	events []trace.Event
}

func newCaseRun() *caseRun {
	return &caseRun{tools: map[toolShape]*tool.Tool{}, calls: map[string]*des.Call{}}
}

// Run runs a case as EndToEnd does, with the same log. The outcome holds the trace, and as
// failures what the requests broke. Further runs, under other policies or with other
// pieces, there are none. The log and the trace hold until the next Run.
func (l *InProcess) Run(ctx context.Context, c *des.Case) (*des.Log, check.Result, error) {
	s := l.run
	out, failed, hung := run.Bubbled(ctx, Patience, 0, func() int64 { return 0 }, func() (check.Result, error) { return l.play(s, c) })
	if hung != nil {
		l.run = newCaseRun() // what still runs on the old one is left alone
		return nil, check.Result{}, hung
	}
	if failed != nil {
		return nil, out, failed
	}
	log, err := readTrace(c, out.Trace)
	return log, out, err
}

// play runs a case inside a bubble.
func (l *InProcess) play(s *caseRun, c *des.Case) (check.Result, error) {
	s.c, s.gate, s.events = c, clock.Open(c.Seed), s.events[:0]
	defer s.gate.Close()
	s.model = scriptedModel{caseRun: s}
	clear(s.calls)
	tools, rules, err := s.setUp()
	if err != nil {
		return check.Result{}, err
	}
	session, err := l.open(s, tools, rules)
	if err != nil {
		return check.Result{}, err
	}
	s.converse(session)
	return check.Result{Policy: c.Policy, Seed: c.Seed, Trace: s.events, Failures: s.model.failures}, nil
}

// open begins the conversation.
func (l *InProcess) open(s *caseRun, tools []pool.Entry, rules permission.Rules) (*loop.Session, error) {
	c := s.c
	policy, policyErr := schedule.ParsePolicy(c.Policy)
	config, configErr := l.config(c.Limit)
	catalogue, poolErr := pool.NewCatalogue(tools)
	hooks, hookErr := s.hooks()
	if err := errors.Join(policyErr, configErr, poolErr, hookErr); err != nil {
		return nil, err
	}
	return loop.New(loop.Config{
		Model: s.model.answer, Catalogue: catalogue, Settings: config, Policy: policy, ModelName: "claude-sonnet-4-5",
		Handlers: pipeline.Handlers{
			Clock: s.clock(), Since: s.gate.Since, Trace: s.note, Hooks: hooks, Ask: s.ask,
			Budget: pipeline.NewLedger(pipeline.ResultStore{Save: builtin.Keep(s.disk()), Dir: resultsDir}),
		},
		Retries: c.Retries, Idle: c.Idle, Home: home, Definitions: l.definitions,
		State: tool.State{Dir: dir, Root: dir, Env: map[string]string{"HOME": home}, Rules: rules, Extra: []string{resultsDir}},
	})
}

// The folders of the conversation, and where large results go.
const (
	dir        = "/repo"
	home       = "/home/dev"
	resultsDir = "/tmp/tool-results"
)

// config are the settings, read once.
func (l *InProcess) config(limit int) (settings.Settings, error) {
	if s, ok := l.settings[limit]; ok {
		return s, nil
	}
	s, err := settings.FromMap(map[string]string{"CLAUDE_CODE_MAX_TOOL_USE_CONCURRENCY": strconv.Itoa(limit)})
	l.settings[limit] = s
	return s, err
}

func (s *caseRun) clock() tool.Clock {
	return tool.Clock{Now: s.gate.Now, Sleep: s.gate.Sleep, Go: s.gate.Go}
}

func (s *caseRun) note(e trace.Event) {
	s.mu.Lock()
	s.events = append(s.events, e)
	s.mu.Unlock()
}

// disk is that of the case: as large as any, full, or read-only.
func (s *caseRun) disk() *world.FS {
	capacity := int64(0)
	if s.c.Disk == "full" {
		capacity = 1
	}
	fs := world.NewFS(world.FSConfig{Now: s.gate.Now, UID: 1000, GID: 1000, Capacity: capacity})
	// Whether the folder is there changes nothing of a case: then keeping a result fails.
	_ = fs.MkdirAll(path.Dir(resultsDir), 0o755)
	fs.SetReadOnly(s.c.Disk == "read-only")
	return fs
}

// converse runs the conversation, in which the user interrupts. How it ended stands in
// its trace.
func (s *caseRun) converse(session *loop.Session) {
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	listening, end := context.WithCancel(context.Background()) // the user may interrupt what has ended
	var users sync.WaitGroup
	comes := func(actor string, at time.Duration, do func()) {
		users.Add(1)
		s.gate.Go(actor, func() {
			defer users.Done()
			if s.gate.Sleep(listening, actor, at-s.gate.Since()) == nil {
				do()
			}
		})
	}
	for i, at := range s.c.Interrupts {
		comes("user/say/"+strconv.Itoa(i), at, func() { session.Interrupt(message.UserText("Message " + strconv.Itoa(i+1) + ".")) })
	}
	if s.c.AbortAt > 0 {
		comes("user/leave0", s.c.AbortAt, stop)
	}
	_, _ = session.Send(ctx, message.UserText("Go.")) // how it ended stands in the trace
	end()
	users.Wait()
}

// scriptedModel answers requests from the case's turns, each once, broken as its faults
// have it.
type scriptedModel struct {
	*caseRun
	// number is the answer that is next, try how often it was given, requests how many
	// were answered; all counted from 0.
	number, try, requests int
	// before are the messages of the last request, failures what requests violate.
	before   []oracle.Message
	failures []check.Failure
}

// answer is a loop.Model.
func (m *scriptedModel) answer(ctx context.Context, req message.Request, on func([]byte) error) error {
	m.checkRequest(req)
	if err := context.Cause(ctx); err != nil {
		return err
	}
	m.requests++
	m.try++
	f, _ := m.c.FaultOf(m.requests)
	p, events := m.play(ctx, f)
	if !des.CutsShort(f, events) {
		m.number++
		m.try = 0
	}
	if f != nil && f.What == "status" {
		return fmt.Errorf("the model refused with status %s", f.Arg)
	}
	return p.play(on)
}

// player gives one answer's events at their times. All its waiting is at the gate.
type player struct {
	*caseRun
	ctx    context.Context
	actor  string
	from   time.Duration
	events []stream.Event
	end    error // behind the last event
	// each: every event waits, since a fault or a watch may look at any.
	each bool
}

// play prepares the next answer, of so many events without its fault.
func (m *scriptedModel) play(ctx context.Context, f *des.Fault) (p *player, events int) {
	actor := "stream/" + strconv.Itoa(m.number+1)
	if m.try > 1 {
		actor += "#" + strconv.Itoa(m.try)
	}
	var t des.Turn
	if m.number < len(m.c.Turns) {
		t = m.c.Turns[m.number]
	}
	p = &player{caseRun: m.caseRun, ctx: ctx, actor: actor, from: m.gate.Since(), events: stream.Script(t.Stream(m.number)), each: f != nil || m.c.Idle > 0}
	events = len(p.events)
	if f == nil {
		return p, events
	}
	var cut bool
	if p.events, cut = des.Break(f, p.events); cut {
		p.end = io.ErrUnexpectedEOF
	}
	return p, events
}

// play hands the events on. An event on which nothing depends is handed on with the
// next one on which something does, which spares most of the waiting.
func (p *player) play(on func([]byte) error) error {
	for _, e := range p.events {
		if p.each || e.Type == "content_block_stop" || e.Type == "message_stop" {
			if err := p.until(e.At); err != nil {
				return err
			}
		}
		if len(e.Data) == 0 {
			continue
		}
		if err := on(e.Data); err != nil {
			return err
		}
	}
	return p.end
}

// until waits for an event's time, or until the request is given up.
func (p *player) until(at time.Duration) error {
	if err := context.Cause(p.ctx); err != nil {
		return err
	}
	if at == des.Never {
		<-p.ctx.Done()
		at = 0
	}
	err := p.gate.Sleep(p.ctx, p.actor, max(0, at-(p.gate.Since()-p.from)))
	return errors.Join(context.Cause(p.ctx), err)
}

// checkRequest checks the messages of a request, as the invariants of runs check the
// bytes of requests end to end.
func (m *scriptedModel) checkRequest(req message.Request) {
	now := make([]oracle.Message, len(req.Messages))
	for i := range req.Messages {
		now[i] = messageOf(&req.Messages[i])
	}
	number := m.requests + 1
	if err := oracle.WellFormed(now); err != nil {
		m.note("transcript", fmt.Errorf("request %d: %w", number, err))
	}
	if err := oracle.FitTogether(now[max(0, len(m.before)-1):]); err != nil { // those before it were checked
		m.note("message-size", fmt.Errorf("request %d: %w", number, err))
	}
	if len(m.c.Interrupts) == 0 && !extends(m.before, now) { // a message that nothing was answered to joins the one before
		m.note("history-grows", fmt.Errorf("request %d does not begin with all messages of the one before", number))
	}
	m.before = now
}

// note keeps the first violation of requests.
func (m *scriptedModel) note(name string, err error) {
	if len(m.failures) == 0 {
		m.failures = append(m.failures, check.Failure{Expectation: name, Found: err.Error()})
	}
}

// Check gives the first invariant of runs that the last one violates, or nil.
func (l *InProcess) Check(out check.Result) *oracle.Violation {
	for _, f := range out.Failures {
		return &oracle.Violation{Name: f.Expectation, Found: f.Found}
	}
	return oracle.CheckRun(l.run.c, out)
}

// extends reports whether the messages of the request before are the beginning.
func extends(before, now []oracle.Message) bool {
	return len(before) <= len(now) && slices.EqualFunc(before, now[:len(before)], func(a, b oracle.Message) bool {
		return a.Role == b.Role && slices.EqualFunc(a.Content, b.Content, func(x, y oracle.Block) bool {
			return x.Type == y.Type && x.ID == y.ID && x.For == y.For && slices.Equal(x.Content, y.Content)
		})
	})
}

func messageOf(m *message.Message) oracle.Message {
	s := oracle.Message{Role: m.Role, Content: make([]oracle.Block, len(m.Content))}
	for i := range m.Content {
		b := &m.Content[i]
		s.Content[i] = oracle.Block{Type: b.Type, ID: b.ID, For: b.ToolUseID}
		for j := range b.Content {
			s.Content[i].Content = append(s.Content[i].Content, oracle.Part{Text: b.Content[j].Text})
		}
	}
	return s
}
