package check

import (
	"strings"

	"toolbench/sim/scenario"
	"toolbench/toolsys/message"
	"toolbench/toolsys/render"
	"toolbench/toolsys/tool"
	"toolbench/toolsys/trace"
)

// shown checks what a person sees of calls.
func (j *checker) shown() {
	for _, id := range sorted(j.e.Shown) {
		key := "drawn." + id
		found, ok := j.drawing(id)
		if !ok {
			j.fail(key, "a call that is drawn", "no tool of a request was called so, or no result left")
			continue
		}
		j.view(key, j.e.Shown[id], found)
	}
}

func (j *checker) view(key string, want scenario.ShownExpect, s drawing) {
	j.holds(key+".working", s.working(), want.Working)
	j.holds(key+".asked", render.String(s.tool.Asked(s.in), true), want.Asked)
	over := s.over()
	j.text(key, render.String(over, true), want.Contains, want.Lacks, want.Equals)
	if brief := render.String(over, false); want.Brief != nil && strings.TrimRight(*want.Brief, "\n") != brief {
		j.fail(key+".brief", *want.Brief, brief)
	}
}

// drawing is a call with all that is drawn of it.
type drawing struct {
	tool    *tool.Tool
	in      tool.Input
	reports []string
	emitted trace.Emitted
}

// drawing finds a call in the trace. Its tool is that of the last request before the call, for
// servers may change what a name stands for.
func (j *checker) drawing(id string) (s drawing, ok bool) {
	tools := map[string]func(string) any{}
	for _, e := range j.rec.Events {
		if data, is := e.Data.(trace.Pool); is {
			tools[e.Agent] = data.Find
		}
		if e.Call != id {
			continue
		}
		switch data := e.Data.(type) {
		case trace.Ready:
			s, ok = drawing{}, false
			if find := tools[e.Agent]; find != nil {
				s.tool, _ = find(e.Tool).(*tool.Tool)
			}
			if s.tool != nil {
				s.in = s.tool.Partly([]byte(data.Input))
			}
		case trace.Progress:
			s.reports = append(s.reports, data.Text)
		case trace.Emitted:
			s.emitted, ok = data, s.tool != nil
		}
	}
	return s, ok
}

func (s drawing) working() string {
	nodes := append([]render.Node{render.Line{Spans: s.tool.Head(s.in, true)}}, s.tool.Draw.Use(s.in)...)
	return render.String(append(nodes, s.tool.Draw.Progress(s.in, s.reports)...), true)
}

// over is the call with what came of it.
func (s drawing) over() []render.Node {
	blocks, _ := s.emitted.Content.([]message.Block)
	return s.tool.DrawEnded(s.in, s.emitted.Status, s.emitted.Error, tool.Outcome[any]{
		Text: s.emitted.Text, Blocks: blocks, Data: s.emitted.Data, Known: s.emitted.Data != nil,
	})
}
