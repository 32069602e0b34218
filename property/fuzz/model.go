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
