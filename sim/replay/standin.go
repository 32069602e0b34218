package replay

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"toolbench/sim/clock"
	"toolbench/sim/recording"
	"toolbench/toolsys/message"
	"toolbench/toolsys/permission"
	"toolbench/toolsys/tool"
)

// looseSchema is that of a tool whose own is not in the recording.
var looseSchema = json.RawMessage(`{"type":"object"}`)

// turnData is what the stand-ins answer from: the turn that is being replayed. It is
// set before each run and not changed during one.
type turnData struct {
	gate  *clock.Gate
	turn  *recording.Turn
	took  map[string]time.Duration // by call
	alone map[string]bool          // by name and input: safe all the same
	safe  map[string]string        // by name: why
}

// standInCache has the stand-ins of a recording: those of equal definitions are one.
type standInCache struct {
	data turnData
	sets map[*recording.Definition]*standIns
	// extras are the stand-ins of tools that nobody defined.
	extras *standIns
}

// maxSets and maxExtras bound what is kept of tools: their number is the file's.
const (
	maxSets   = 32
	maxExtras = 1024
)

// forTurn gives the stand-ins for a turn.
func (tr *standInCache) forTurn(t *recording.Turn) *standIns {
	if len(t.Tools) == 0 {
		if tr.extras == nil || len(tr.extras.tools) > maxExtras {
			tr.extras = newStandIns(&tr.data, nil)
		}
		return tr.extras
	}
	s := tr.sets[&t.Tools[0]]
	if s == nil {
		if len(tr.sets) >= maxSets || tr.sets == nil {
			tr.sets = map[*recording.Definition]*standIns{}
		}
		s = newStandIns(&tr.data, t.Tools)
		tr.sets[&t.Tools[0]] = s
	}
	return s
}

// standIns are tools made from one list of definitions.
type standIns struct {
	data  *turnData
	tools map[string]*tool.Tool
	notes []string
}

// newStandIns makes tools from definitions. One that cannot be made is noted.
func newStandIns(st *turnData, defs []recording.Definition) *standIns {
	s := &standIns{data: st, tools: map[string]*tool.Tool{}}
	for _, d := range defs {
		s.add(d)
	}
	return s
}

// add makes a tool, unless it is there.
func (s *standIns) add(d recording.Definition) {
	if _, known := s.tools[d.Name]; known {
		return
	}
	t, err := tool.Build(s.def(d))
	if err != nil {
		s.notes = append(s.notes, "the tool cannot be offered: "+err.Error())
		return
	}
	if _, err := t.Input.Schema(); err != nil {
		s.notes = append(s.notes, "inputs of "+d.Name+" are not checked: "+err.Error())
	}
	s.tools[d.Name] = t
}

func (s *standIns) def(d recording.Definition) tool.Def[json.RawMessage, []message.Block] {
	type in = json.RawMessage
	input := d.Schema
	if input == nil {
		input = looseSchema
	}
	return tool.Def[in, []message.Block]{
		// With an origin it is a tool whose schema others wrote: if that does not resolve, inputs are not checked.
		Name: d.Name, Description: d.Description, InputSchema: input, Origin: &tool.Origin{Server: "recording", Tool: d.Name}, Wire: tool.Wire{Callers: d.Callers},
		Call: func(ctx context.Context, _ in, c *tool.Context) (tool.Result[[]message.Block], error) {
			return s.data.call(ctx, c.CallID)
		},
		Block:  func(b []message.Block) []message.Block { return b },
		Permit: func(in, *tool.Context) permission.Opinion { return permission.Opinion{} },
		Traits: tool.Traits[in]{Safe: func(raw in) bool { return s.data.isSafe(d.Name, raw) }},
		Limits: tool.Limits[in]{ResultChars: tool.Unlimited},
	}
}

// isSafe reports whether a call is safe, of which its name and input are known.
func (st *turnData) isSafe(name string, input json.RawMessage) bool {
	return st.safe[name] != "" || st.alone[name+"\x00"+string(input)]
}

var errNoResult = errors.New("no result was recorded")

// call takes the call's time and gives its recorded result.
func (st *turnData) call(ctx context.Context, id string) (tool.Result[[]message.Block], error) {
	if err := st.gate.Sleep(ctx, "tool/"+id, st.took[id]); err != nil {
		return tool.Result[[]message.Block]{}, err
	}
	r := st.turn.Result(id)
	if r == nil {
		return tool.Result[[]message.Block]{}, errNoResult
	}
	return tool.Result[[]message.Block]{Data: []message.Block{message.Text(r.Text)}, Failed: r.IsError}, nil
}
