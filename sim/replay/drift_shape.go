package replay

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"toolbench/sim/dialect"
	"toolbench/sim/recording"
	"toolbench/sim/stream"
	"toolbench/toolsys/schema"
)

// shape is what an answer looks like apart from its texts.
type shape struct {
	api      dialect.API
	status   int
	failure  string // the type of an error in place of an answer
	streamed bool
	trouble  string
	// kinds are those of the wire's events; parts has the members of each kind of
	// object: an event, or an object within one that has a type of its own.
	kinds  []string
	parts  map[string]members
	blocks string
	stop   string
	tools  []string
	inputs []string
}

// members are the JSON types of what stands at each path of an object.
type members map[string]types

// types is a set of JSON types.
type types uint8

const (
	null types = 1 << iota
	boolean
	number
	text
	list
	object
)

var typeNames = []string{"null", "boolean", "number", "string", "array", "object"}

// String names the types, null last, which counts least.
func (t types) String() string {
	var names []string
	for i, name := range typeNames {
		if t&(1<<i) != 0 && i > 0 {
			names = append(names, name)
		}
	}
	if t&null != 0 {
		names = append(names, typeNames[0])
	}
	return strings.Join(names, " or ")
}

func typeOf(v gjson.Result) types {
	switch {
	case v.Type == gjson.Null:
		return null
	case v.IsBool():
		return boolean
	case v.Type == gjson.Number:
		return number
	case v.Type == gjson.String:
		return text
	case v.IsArray():
		return list
	}
	return object
}

// shapeOf reads an answer.
func shapeOf(e recording.Exchange) shape {
	s := shape{api: e.API, status: e.Status, streamed: e.Streamed, trouble: e.Trouble, parts: map[string]members{}}
	if s.status == 0 && len(e.Events) > 0 {
		s.status = 200
	}
	for _, w := range e.Wire {
		s.event(w)
	}
	slices.Sort(s.kinds)
	s.kinds = slices.Compact(s.kinds)
	if s.status >= 400 && len(e.Wire) > 0 {
		v := gjson.ParseBytes(e.Wire[0].Data)
		for _, at := range []string{"error.type", "error.status", "error.code", "__type"} {
			if kind := v.Get(at); kind.Type == gjson.String && s.failure == "" {
				s.failure = kind.Str
			}
		}
	}
	s.meaning(e)
	return s
}

// event takes an event of the wire. Pings come by the clock, and are left out.
func (s *shape) event(e stream.Event) {
	v := gjson.ParseBytes(e.Data)
	kind := e.Type
	for _, at := range []string{"type", "object"} {
		if name := v.Get(at); kind == "" && name.Type == gjson.String {
			kind = name.Str
		}
	}
	switch {
	case kind == "ping":
		return
	case kind == "" && s.streamed:
		kind = "piece"
	case kind == "":
		kind = "answer"
	}
	s.kinds = append(s.kinds, kind)
	s.part(kind, v)
}

// part takes an object that has a kind of its own.
func (s *shape) part(kind string, v gjson.Result) {
	if s.parts[kind] == nil {
		s.parts[kind] = members{}
	}
	s.walk(kind, "", v, 0)
}

// free are members whose content is the model's, the user's or the request's, and no
// part of what the API gives a shape.
var free = []string{"input", "args", "arguments", "input_schema", "parameters", "schema", "metadata", "parsed"}

// deepest bounds how far down members are compared.
const deepest = 24

// walk notes the members below a path.
func (s *shape) walk(kind, path string, v gjson.Result, depth int) {
	if depth > deepest {
		return
	}
	v.ForEach(func(name, value gjson.Result) bool {
		at := path + "[]"
		if v.IsObject() {
			at = strings.TrimPrefix(path+"."+name.String(), ".")
		}
		s.parts[kind][at] |= typeOf(value)
		own := value.Get("type")
		switch {
		case v.IsObject() && slices.Contains(free, name.Str), value.Type != gjson.JSON:
		case value.IsObject() && own.Type == gjson.String:
			s.part(kind+" "+strings.TrimSuffix(at, "[]")+"/"+own.Str, value)
		default:
			s.walk(kind, at, value, depth+1)
		}
		return true
	})
}

// meaning takes what the answer means: blocks, calls and the stop reason.
func (s *shape) meaning(e recording.Exchange) {
	var blocks []string
	inputs, names := map[int64]*strings.Builder{}, map[int64]string{}
	var order []int64
	for _, event := range e.Events {
		v := gjson.ParseBytes(event.Data)
		index := v.Get("index").Int()
		switch event.Type {
		case "content_block_start":
			block := v.Get("content_block")
			blocks = append(blocks, block.Get("type").String())
			if block.Get("type").Str == "tool_use" {
				names[index], inputs[index] = block.Get("name").String(), &strings.Builder{}
				if whole := block.Get("input"); whole.IsObject() && len(whole.Map()) > 0 {
					inputs[index].WriteString(whole.Raw)
				}
				order = append(order, index)
			}
		case "content_block_delta":
			if b := inputs[index]; b != nil {
				b.WriteString(v.Get("delta.partial_json").String())
			}
		case "message_delta":
			s.stop = v.Get("delta.stop_reason").String()
		case "error":
			s.failure = v.Get("error.type").String()
		}
	}
	s.blocks = strings.Join(slices.Compact(blocks), ", ")
	offered := gjson.Get(e.Request, "tools").Array()
	for _, index := range order {
		s.tools = append(s.tools, names[index])
		s.inputs = append(s.inputs, problems(offered, names[index], inputs[index].String())...)
	}
	s.tools, s.inputs = sorted(s.tools), sorted(s.inputs)
}

func sorted(list []string) []string {
	slices.Sort(list)
	return slices.Compact(list)
}

// problems are what is wrong with a call: places and keywords, never values.
func problems(offered []gjson.Result, name, input string) []string {
	if input == "" {
		input = "{}"
	}
	at := slices.IndexFunc(offered, func(t gjson.Result) bool { return t.Get("name").String() == name })
	switch {
	case at < 0:
		return []string{name + ": it was not offered"}
	case !json.Valid([]byte(input)):
		return []string{name + ": the input is no JSON"}
	case !offered[at].Get("input_schema").IsObject():
		return nil
	}
	compiled, err := schema.Compile(json.RawMessage(offered[at].Get("input_schema").Raw))
	if err != nil {
		return nil // nothing to hold the input against
	}
	var out []string
	for _, p := range compiled.Validate(json.RawMessage(input)) {
		place := p.Path
		if place == "" {
			place = "the input"
		}
		out = append(out, fmt.Sprintf("%s: %s breaks %s", name, place, p.Keyword))
	}
	return out
}
