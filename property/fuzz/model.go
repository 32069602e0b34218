package fuzz

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"time"

	"toolbench/property/des"
	"toolbench/property/invariant"
	"toolbench/sim/scenario/check"
	"toolbench/sim/stream"
	"toolbench/toolsys/message"
)

// scriptedModel answers requests from the case's turns, each once, broken as its faults
// have it.
type scriptedModel struct {
	*caseRun
	// number is the answer that is next, try how often it was given, requests how many
	// were answered; all counted from 0.
	number, try, requests int
	// before are the messages of the last request, failures what requests violate.
	before   []invariant.Message
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
	f := m.fault(m.requests)
	p := m.play(ctx, f)
	if f == nil || !breaksAnswer(f, p.events) {
		m.number++
		m.try = 0
	}
	if f != nil && f.Status != 0 {
		return fmt.Errorf("the model refused with status %d", f.Status)
	}
	return p.play(on)
}

func (m *scriptedModel) fault(request int) *des.Fault {
	for i := range m.c.Faults {
		if m.c.Faults[i].Request == request {
			return &m.c.Faults[i]
		}
	}
	return nil
}

// breaksAnswer reports whether a fault cuts an answer short, which is then given again to
// the next request. A fault at an event that does not come breaks nothing.
func breaksAnswer(f *des.Fault, events []stream.Event) bool {
	return f.Status != 0 || f.Cut > 0 || f.Error != "" || f.Malformed > 0 && f.Malformed <= len(events) || f.Stall > 0 && f.For == 0
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

// never is the time of what is stalled for ever.
const never = time.Duration(1<<63 - 1)

func (m *scriptedModel) play(ctx context.Context, f *des.Fault) *player {
	actor := "stream/" + strconv.Itoa(m.number+1)
	if m.try > 1 {
		actor += "#" + strconv.Itoa(m.try)
	}
	var t des.Turn
	if m.number < len(m.c.Turns) {
		t = m.c.Turns[m.number]
	}
	p := &player{caseRun: m.caseRun, ctx: ctx, actor: actor, from: m.gate.Since(), events: stream.Script(t.Stream(m.number)), each: f != nil || m.c.Idle > 0}
	if f != nil {
		p.applyFault(f)
	}
	return p
}

// applyFault applies a fault in the order in which a cassette does.
func (p *player) applyFault(f *des.Fault) {
	if n := f.Malformed; n > 0 && n <= len(p.events) {
		p.events[n-1].Data = p.events[n-1].Data[:len(p.events[n-1].Data)/2]
	}
	if f.Error != "" {
		n := min(f.Cut, len(p.events))
		p.events = append(p.events[:n], stream.Event{At: p.last(n), Data: stream.Error{Type: f.Error, Message: "injected"}.JSON()})
	}
	if f.Stall > 0 {
		p.stall(f)
	}
	if f.Cut > 0 && f.Error == "" {
		p.events, p.end = p.events[:min(f.Cut, len(p.events))], io.ErrUnexpectedEOF
	}
}

func (p *player) stall(f *des.Fault) {
	n := min(f.Stall, len(p.events))
	if f.For == 0 {
		p.events = append(p.events[:n], stream.Event{At: never})
		return
	}
	for i := n; i < len(p.events); i++ {
		p.events[i].At += f.For
	}
	if n == len(p.events) { // only the end of the bytes is late
		p.events = append(p.events, stream.Event{At: p.last(n) + f.For})
	}
}

func (p *player) last(n int) time.Duration {
	if n == 0 {
		return 0
	}
	return p.events[n-1].At
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
	if at == never {
		<-p.ctx.Done()
		at = 0
	}
	err := p.gate.Sleep(p.ctx, p.actor, max(0, at-(p.gate.Since()-p.from)))
	return errors.Join(context.Cause(p.ctx), err)
}

// checkRequest checks the messages of a request, as the invariants of runs check the
// bytes of requests end to end.
func (m *scriptedModel) checkRequest(req message.Request) {
	now := make([]invariant.Message, len(req.Messages))
	for i := range req.Messages {
		now[i] = messageOf(&req.Messages[i])
	}
	number := m.requests + 1
	if err := invariant.WellFormed(now); err != nil {
		m.note("transcript", fmt.Errorf("request %d: %w", number, err))
	}
	if err := invariant.FitTogether(now[max(0, len(m.before)-1):]); err != nil { // those before it were checked
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
func (l *InProcess) Check(out check.Result) *invariant.Violation {
	for _, f := range out.Failures {
		return &invariant.Violation{Name: f.Expectation, Found: f.Found}
	}
	return invariant.CheckRun(l.run.c, out)
}

// extends reports whether the messages of the request before are the beginning.
func extends(before, now []invariant.Message) bool {
	return len(before) <= len(now) && slices.EqualFunc(before, now[:len(before)], func(a, b invariant.Message) bool {
		return a.Role == b.Role && slices.EqualFunc(a.Content, b.Content, func(x, y invariant.Block) bool {
			return x.Type == y.Type && x.ID == y.ID && x.For == y.For && slices.Equal(x.Content, y.Content)
		})
	})
}

func messageOf(m *message.Message) invariant.Message {
	s := invariant.Message{Role: m.Role, Content: make([]invariant.Block, len(m.Content))}
	for i := range m.Content {
		b := &m.Content[i]
		s.Content[i] = invariant.Block{Type: b.Type, ID: b.ID, For: b.ToolUseID}
		for j := range b.Content {
			s.Content[i].Content = append(s.Content[i].Content, invariant.Part{Text: b.Content[j].Text})
		}
	}
	return s
}
