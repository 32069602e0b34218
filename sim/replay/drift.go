package replay

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"

	"toolbench/sim/dialect"
	"toolbench/sim/recording"
	"toolbench/sim/stream"
	"toolbench/toolsys/schema"
)

// DriftChange is one difference in shape.
type DriftChange struct {
	Aspect   string `json:"aspect" enum:"status,answer,event,member,usage,block,stop,tool,input" jsonschema:"What kind of difference: answer is whether it came as a stream, and whole; member and usage are members of events; input is what is wrong with a call's input by the schema that was offered."`
	Name     string `json:"name,omitempty" jsonschema:"Which event or member."`
	Recorded string `json:"recorded,omitempty" jsonschema:"What the recording has; left out where it has nothing."`
	Now      string `json:"now,omitempty" jsonschema:"What came now; left out where nothing did."`
	Requests []int  `json:"requests" jsonschema:"Exchanges of the recording whose answers differ so." minimum:"1"`
}

// Drift gathers what changed, request by request, between the shapes of a model's answers: those of a recording, and
// those that an API gives to the same requests now. Texts are no part of a shape; what is: the status, the kinds of
// events and their members, the types of blocks, the stop reason, the tools that are called, and whether their inputs
// are what the schemas of the request ask for.
type Drift struct {
	changes []DriftChange
}

// Add compares two answers to one request.
func (c *Drift) Add(recorded, now recording.Exchange) {
	for _, change := range between(shapeOf(recorded), shapeOf(now)) {
		same := slices.IndexFunc(c.changes, func(k DriftChange) bool {
			return k.Aspect == change.Aspect && k.Name == change.Name && k.Recorded == change.Recorded && k.Now == change.Now
		})
		if same < 0 {
			same = len(c.changes)
			c.changes = append(c.changes, change)
		}
		c.changes[same].Requests = append(c.changes[same].Requests, recorded.Number)
	}
}

var aspects = []string{"status", "answer", "stop", "block", "tool", "input", "event", "member", "usage"}

// Changes are the gravest first, each once.
func (c *Drift) Changes() []DriftChange {
	return slices.SortedStableFunc(slices.Values(c.changes), func(a, b DriftChange) int {
		return cmp.Or(slices.Index(aspects, a.Aspect)-slices.Index(aspects, b.Aspect), strings.Compare(a.Name, b.Name), a.Requests[0]-b.Requests[0])
	})
}

// between compares two shapes. Behind another status nothing else is alike.
func between(was, now shape) []DriftChange {
	var out []DriftChange
	differ := func(aspect, name, a, b string) {
		if a != b {
			out = append(out, DriftChange{Aspect: aspect, Name: name, Recorded: a, Now: b})
		}
	}
	if was.status != now.status || was.status >= 400 {
		differ("status", "", was.outcome(), now.outcome())
		return out
	}
	if was.form() != now.form() { // what one has and the other lacks follows from that
		differ("answer", "", was.form(), now.form())
		return out
	}
	differ("stop", "", was.stop, now.stop)
	differ("block", "", was.blocks, now.blocks)
	for _, pair := range []struct {
		aspect   string
		was, now []string
	}{{"tool", was.tools, now.tools}, {"input", was.inputs, now.inputs}, {"event", was.events(now), now.events(was)}} {
		for _, name := range without(pair.was, pair.now) {
			differ(pair.aspect, name, "yes", "")
		}
		for _, name := range without(pair.now, pair.was) {
			differ(pair.aspect, name, "", "yes")
		}
	}
	for _, kind := range slices.Sorted(maps.Keys(was.parts)) {
		if other := now.parts[kind]; other != nil {
			out = append(out, compared(kind, was.parts[kind], other, was.api, was.blocks == now.blocks)...)
		}
	}
	return out
}

// outcome is the status with the type of an error.
func (s shape) outcome() string {
	word := "unknown"
	if s.status > 0 {
		word = strconv.Itoa(s.status)
	}
	if s.failure != "" {
		word += " " + s.failure
	}
	return word
}

// form is whether the answer came as a stream, and whole.
func (s shape) form() string {
	word := "a document"
	if s.streamed {
		word = "a stream"
	}
	switch {
	case s.trouble != "":
		word += ", not whole: " + s.trouble
	case s.failure != "":
		word += " with the error " + s.failure
	}
	return word
}

// events are the kinds of events. The kinds of objects within them count where both
// answers have the same blocks; else they differ because the blocks do.
func (s shape) events(other shape) []string {
	if s.blocks != other.blocks {
		return s.kinds
	}
	return slices.Sorted(maps.Keys(s.parts))
}

func without(list, others []string) []string {
	return slices.DeleteFunc(slices.Clone(list), func(name string) bool { return slices.Contains(others, name) })
}

// content are the members that hold the blocks where these have no type of their own.
var content = []string{"choices[].delta.", "choices[].message.", "candidates[].content.", "delta.", "start.", "output.message.content"}

// compared are the members of one kind of object that differ. One that is missing
// because what would hold it is empty, is no difference.
func compared(kind string, was, now members, api dialect.API, alike bool) []DriftChange {
	var out []DriftChange
	paths := slices.AppendSeq(slices.Collect(maps.Keys(was)), maps.Keys(now))
	for _, path := range sorted(paths) {
		typed := api == dialect.Messages || api == dialect.Responses
		if !alike && !typed && slices.ContainsFunc(content, func(prefix string) bool { return strings.HasPrefix(path, prefix) }) {
			continue
		}
		a, b := was[path], now[path]
		missing := (a == 0) != (b == 0)
		if missing && !(was.holds(path) && now.holds(path)) || !missing && (a&^null == 0 || b&^null == 0 || a&^null == b&^null) {
			continue
		}
		aspect := "member"
		if strings.Contains(strings.ToLower(path), "usage") {
			aspect = "usage"
		}
		out = append(out, DriftChange{Aspect: aspect, Name: kind + ": " + path, Recorded: a.String(), Now: b.String()})
	}
	return out
}

// holds reports whether there is an object that a member could stand in.
func (m members) holds(path string) bool {
	at := strings.LastIndexByte(path, '.')
	if strings.HasSuffix(path, "[]") {
		return false // what is in a list at all follows what the model answered
	}
	return at < 0 || m[path[:at]]&object != 0
}

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
	boolean types = 1 << iota
	number
	text
	list
	object
	null // which counts least
)

var typeNames = []string{"boolean", "number", "string", "array", "object", "null"}

// String names the types.
func (t types) String() string {
	var names []string
	for i, name := range typeNames {
		if t&(1<<i) != 0 {
			names = append(names, name)
		}
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
	s.kinds = sorted(s.kinds)
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
	input = cmp.Or(input, "{}")
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
		place := cmp.Or(p.Path, "the input")
		out = append(out, fmt.Sprintf("%s: %s breaks %s", name, place, p.Keyword))
	}
	return out
}
