package replay

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"

	"toolbench/sim/dialect"
	"toolbench/sim/recording"
)

// DriftChange is one difference in shape.
type DriftChange struct {
	Aspect   string `json:"aspect" enum:"status,answer,event,member,usage,block,stop,tool,input" jsonschema:"What kind of difference: answer is whether it came as a stream, and whole; member and usage are members of events; input is what is wrong with a call's input by the schema that was offered."`
	Name     string `json:"name,omitempty" jsonschema:"Which event or member."`
	Recorded string `json:"recorded,omitempty" jsonschema:"What the recording has; left out where it has nothing."`
	Now      string `json:"now,omitempty" jsonschema:"What came now; left out where nothing did."`
	Requests []int  `json:"requests" jsonschema:"Exchanges of the recording whose answers differ so." minimum:"1"`
}

// Drift gathers what changed, request by request, between the shapes of a model's answers:
// those of a recording, and those that an API gives to the same requests now. Texts are no
// part of a shape; what is: the status, the kinds of events and their members, the types of
// blocks, the stop reason, the tools that are called, and whether their inputs are what the
// schemas of the request ask for.
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
		gone, come := without(pair.was, pair.now), without(pair.now, pair.was)
		for _, name := range gone {
			differ(pair.aspect, name, "yes", "")
		}
		for _, name := range come {
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
		switch {
		case missing && !(was.holds(path) && now.holds(path)):
			continue
		case !missing && (a&^null == 0 || b&^null == 0 || a&^null == b&^null):
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
