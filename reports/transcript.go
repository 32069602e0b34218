package reports

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	"toolbench/toolsys/message"
	"toolbench/toolsys/render"
	"toolbench/toolsys/tool"
	"toolbench/toolsys/trace"
)

// Transcript is a conversation as a person saw it, up to a moment: what was written, and
// each call with what is known of it by then. It takes what happened one by one.
type Transcript struct {
	// Tools draw their own calls; calls of others are drawn by name and input.
	Tools []*tool.Tool
	// Blank, when set, is applied to every text that is drawn.
	Blank func(string) string

	parts   []*part
	calls   map[string]*part // by agent and id, the last of them
	streams map[string]map[int]*part
}

// part is one piece of the conversation.
type part struct {
	agent string
	// A text is the user's, the model's, or a notice.
	text   string
	speaks speaker
	// A call has a tool.
	tool    *tool.Tool
	name    string
	id      string
	raw     []byte
	reports []string
	asked   []string
	stage   callStage
	answer  tool.Outcome[any]
	status  string
	failed  bool
	over    bool
	inner   bool
	// wraps: other calls were made within, which are drawn in its place.
	wraps bool
}

// speaker is who or what a text is of.
type speaker int

const (
	model speaker = iota
	user
	thinking
	notice
)

// callStage is how far a call is.
type callStage int

const (
	streaming callStage = iota
	ready
	queued
	running
	answered
)

// Take adds what happened.
func (t *Transcript) Take(e trace.Seen) {
	if t.calls == nil {
		t.calls, t.streams = map[string]*part{}, map[string]map[int]*part{}
	}
	switch {
	case e.Said != "":
		t.say(e.Agent, user, e.Said)
	case e.Streamed != nil:
		t.stream(e.Agent, e.Streamed)
	default:
		t.event(e.Event)
	}
}

func (t *Transcript) say(agent string, by speaker, text string) {
	t.parts = append(t.parts, &part{agent: agent, speaks: by, text: text, over: true})
}

// stream takes one event of a stream.
func (t *Transcript) stream(agent string, data []byte) {
	var e struct {
		Type  string
		Index int
		Block struct{ Type, ID, Name, Text string } `json:"content_block"`
		Delta struct {
			Text     string
			Thinking string
			Partial  string `json:"partial_json"`
		}
	}
	if json.Unmarshal(data, &e) != nil {
		return // the session reports it
	}
	switch e.Type {
	case "message_start":
		t.streams[agent] = map[int]*part{}
	case "content_block_start":
		p := &part{agent: agent, text: e.Block.Text}
		switch e.Block.Type {
		case message.TypeToolUse:
			p.name, p.id, p.tool = e.Block.Name, e.Block.ID, t.toolOf(e.Block.Name)
			t.calls[agent+"\x00"+p.id] = p
		case "thinking":
			p.speaks = thinking
		}
		t.parts = append(t.parts, p)
		if t.streams[agent] == nil {
			t.streams[agent] = map[int]*part{}
		}
		t.streams[agent][e.Index] = p
	case "content_block_delta":
		if p := t.streams[agent][e.Index]; p != nil {
			p.text += e.Delta.Text + e.Delta.Thinking
			p.raw = append(p.raw, e.Delta.Partial...)
		}
	case "content_block_stop":
		if p := t.streams[agent][e.Index]; p != nil && p.tool == nil {
			p.over = true
		}
	}
}

// call finds the part of an event's call, or makes one: calls within a call come from no
// stream.
func (t *Transcript) call(e trace.Event) *part {
	key := e.Agent + "\x00" + e.Call
	if p := t.calls[key]; p != nil {
		return p
	}
	p := &part{agent: e.Agent, id: e.Call, name: e.Tool, tool: t.toolOf(e.Tool), inner: strings.Contains(e.Call, ".")}
	if at := strings.LastIndexByte(key, '.'); at > 0 && t.calls[key[:at]] != nil {
		t.calls[key[:at]].wraps = true
	}
	t.calls[key] = p
	t.parts = append(t.parts, p)
	return p
}

func (t *Transcript) event(e trace.Event) {
	switch data := e.Data.(type) {
	case trace.Ready:
		p := t.call(e)
		p.stage, p.raw = ready, []byte(data.Input)
	case trace.Queued:
		t.call(e).stage = queued
	case trace.Started:
		t.call(e).stage = running
	case trace.Progress:
		p := t.call(e)
		p.reports = append(p.reports, data.Text)
	case trace.Ask:
		p := t.call(e)
		p.asked = append(p.asked, "asks: "+data.Reason)
	case trace.Answer:
		p := t.call(e)
		p.asked = append(p.asked, map[bool]string{true: "you: yes", false: "you: no"}[data.Allow])
	case trace.Ended:
		if p := t.call(e); p.inner {
			p.stage, p.status, p.over = answered, data.Status, true
			p.failed = data.Status != "ok"
		}
	case trace.Emitted:
		p := t.call(e)
		p.stage, p.status, p.failed, p.over = answered, data.Status, data.Error, true
		p.answer = tool.Outcome[any]{Text: data.Text, Data: data.Data, Known: data.Data != nil}
	case trace.Discarded:
		p := t.call(e)
		p.stage, p.status, p.failed, p.over = answered, "discarded", true, true
		p.answer.Text = "discarded with its stream"
	default:
		t.notice(e)
	}
}

// notice takes what concerns no call.
func (t *Transcript) notice(e trace.Event) {
	switch data := e.Data.(type) {
	case trace.Interrupt:
		t.say(e.Agent, user, data.Text)
	case trace.StreamCut:
		if p := t.calls[e.Agent+"\x00"+data.ID]; p != nil && !p.over {
			p.stage, p.status, p.failed, p.over = answered, "cut", true, true
			p.answer.Text = strings.TrimSpace("cut off, and not run " + data.Reason)
		}
	case trace.Fallback:
		t.say(e.Agent, notice, "the stream broke off and is tried again: "+data.Error)
	case trace.Notice:
		t.say(e.Agent, notice, data.Text)
	case trace.TaskStarted:
		t.say(e.Agent, notice, data.ID+" began: "+data.Title)
	case trace.TaskEnded:
		t.say(e.Agent, notice, data.ID+" "+data.Status+": "+data.Title)
	case trace.Compacted:
		t.say(e.Agent, notice, "the conversation so far was summed up")
	case trace.RunEnd:
		if data.Error != "" {
			t.say(e.Agent, notice, "the conversation ended: "+data.Error)
		}
	}
}

// toolOf is the tool of a name, or one that is drawn by the name alone.
func (t *Transcript) toolOf(name string) *tool.Tool {
	for _, known := range t.Tools {
		if known.Matches(name) {
			return known
		}
	}
	return plainTool(name)
}

// drawn is a part in its place: a sign and what stands behind it.
type drawn struct {
	deep  int
	sign  string
	role  render.Role
	nodes []render.Node
}

// signs are those of parts, and where only ASCII can be shown.
var signs = map[string]string{"●": "*", "›": ">", "└": "`", "·": "-", "?": "?"}

// draw gives the parts from one on as nodes; grouped puts calls of one tool that follow each
// other into one.
func (t *Transcript) draw(from, to int, grouped bool) (all []drawn) {
	parts := t.parts[min(from, to):to]
	for i := 0; i < len(parts); i++ {
		if n := t.together(parts[i:]); grouped && n > 1 {
			all = append(all, t.group(parts[i:i+n]))
			i += n - 1
			continue
		}
		all = append(all, t.part(parts[i])...)
	}
	if t.Blank != nil {
		for i := range all {
			all[i].nodes = render.Each(all[i].nodes, t.Blank)
		}
	}
	return all
}

// settled is how many parts from the beginning will not change any more.
func (t *Transcript) settled() int {
	i := slices.IndexFunc(t.parts, func(p *part) bool { return !p.over })
	if i < 0 {
		return len(t.parts)
	}
	return i
}

func (p *part) input() tool.Input { return p.tool.Partly(p.raw) }

// together counts the calls at the beginning that are drawn as one.
func (t *Transcript) together(parts []*part) (n int) {
	for n < len(parts) && parts[n].groups() && parts[n].tool == parts[0].tool && parts[n].agent == parts[0].agent {
		n++
	}
	if n > 1 && t.groupOf(parts[:n]) == nil {
		return 0
	}
	return n
}

func (p *part) groups() bool {
	return p.tool != nil && p.over && !p.failed && !p.inner && len(p.asked) == 0
}

func (t *Transcript) groupOf(parts []*part) []render.Node {
	calls := make([]tool.Called[tool.Input, any], len(parts))
	for i, p := range parts {
		calls[i] = tool.Called[tool.Input, any]{In: p.input(), Outcome: p.answer}
	}
	return parts[0].tool.Draw.Grouped(calls)
}

// group draws several calls as one that opens.
func (t *Transcript) group(parts []*part) drawn {
	var open []render.Node
	for _, p := range parts {
		for _, d := range t.part(p) {
			open = append(open, d.nodes...)
		}
	}
	return drawn{deep: depth(parts[0].agent), sign: "●", role: render.Good, nodes: []render.Node{render.Fold{Closed: t.groupOf(parts), Open: open}}}
}

// depth is how far below the main conversation an agent is.
func depth(agent string) int {
	if agent == "" {
		return 0
	}
	return strings.Count(agent, ".") + 1
}

func (t *Transcript) part(p *part) []drawn {
	deep := depth(p.agent)
	if p.tool != nil {
		return p.drawCall(deep)
	}
	text := strings.TrimRight(p.text, "\n")
	if strings.TrimSpace(text) == "" {
		return nil
	}
	nodes := render.Bounded([]render.Node{render.Text{Text: text}})
	switch p.speaks {
	case user:
		return []drawn{{deep, "›", render.Strong, render.Bounded([]render.Node{render.Text{Text: text, Role: render.Strong}})}}
	case notice:
		return []drawn{{deep, "·", render.Warn, render.Bounded([]render.Node{render.Text{Text: text, Role: render.Warn}})}}
	case thinking:
		return []drawn{{deep, "·", render.Dim, render.Bounded(render.Folded(render.Words("thinking", render.Dim), render.Text{Text: text, Role: render.Dim}))}}
	}
	return []drawn{{deep, "", render.Plain, nodes}}
}

// drawCall draws a call by its tool. What a wrapper calls is drawn in its place.
func (p *part) drawCall(deep int) []drawn {
	in := p.input()
	head := p.tool.Head(in, p.stage == streaming || p.stage == running)
	if p.agent != "" {
		head = append(head, render.Span{Text: "  " + p.agent, Role: render.Dim})
	}
	role := render.Accent
	switch {
	case p.failed:
		role = render.Bad
	case p.over:
		role = render.Good
	}
	if p.wraps && p.over && p.tool.Behaviour.Wrapper && !p.failed {
		return nil
	}
	all := []drawn{}
	if !p.wraps || !p.over {
		nodes := []render.Node{render.Line{Spans: head}}
		if !p.showsChange(in) { // the change in its place stands for the one that was asked for
			nodes = append(nodes, p.tool.Draw.Use(in)...)
		}
		all = append(all, drawn{deep, "●", role, nodes})
	}
	for _, a := range p.asked {
		all = append(all, drawn{deep + 1, "?", render.Warn, []render.Node{render.Words(a, render.Warn)}})
	}
	below := func(nodes []render.Node, role render.Role) {
		if len(nodes) > 0 {
			all = append(all, drawn{deep + 1, "└", role, nodes})
		}
	}
	switch {
	case p.inner && p.over:
		below([]render.Node{render.Words(p.status, render.Dim)}, role)
	case p.stage == queued:
		below(p.tool.Draw.Queued(in), render.Dim)
	case p.stage == running:
		below(p.tool.Draw.Progress(in, p.reports), render.Dim)
	case p.status == "denied" || p.status == "cancelled" || p.status == "interrupted":
		below(p.tool.Draw.Rejected(in, p.answer), render.Warn)
	case p.failed:
		below(p.tool.Draw.Error(in, p.answer), render.Bad)
	case p.stage == answered:
		below(p.tool.Draw.Result(in, p.answer), render.Dim)
	}
	return all
}

// showsChange reports whether a call's result is drawn as a change.
func (p *part) showsChange(in tool.Input) bool {
	return p.stage == answered && !p.failed && p.answer.Known && render.HasDiff(p.tool.Draw.Result(in, p.answer))
}

// Lines are the parts from one on, as a terminal has them.
func (t *Transcript) Lines(screen Terminal, from int, grouped bool) []string {
	return t.lines(screen, from, len(t.parts), grouped)
}

// Between are the parts from one up to another.
func (t *Transcript) Between(screen Terminal, from, to int) []string {
	return t.lines(screen, from, to, false)
}

// Break begins another conversation below this one.
func (t *Transcript) Break() { t.calls, t.streams = nil, nil }

// Blank blanks secrets in what is drawn.
func (o Options) Blank() func(string) string {
	finder := o.finder()
	return func(text string) string { return finder.Text(text, nil) }
}

func (t *Transcript) lines(screen Terminal, from, to int, grouped bool) (lines []string) {
	for _, d := range t.draw(from, to, grouped && !screen.Verbose) {
		indent := strings.Repeat("  ", d.deep)
		sign := d.sign
		if screen.ASCII {
			sign = signs[sign]
		}
		if sign != "" {
			sign += " "
		}
		hung := screen.below(len(indent)).hung(sign, rolePaint[d.role], d.nodes)
		for _, l := range hung {
			lines = append(lines, strings.TrimRight(indent+l, " "))
		}
	}
	return lines
}

// Settled is how many parts will not change any more; Lines draws from there on what may.
func (t *Transcript) Settled() int { return t.settled() }

// Wait is how long a step of a conversation lasts at a speed, no longer than a person waits
// to look at.
func Wait(step time.Duration, speed float64) time.Duration {
	if speed <= 0 || step <= 0 {
		return 0
	}
	return min(time.Duration(float64(step)/speed), longestWait)
}

// longestWait is how long nothing moves on a screen: sessions wait for hours.
const longestWait = 2 * time.Second
