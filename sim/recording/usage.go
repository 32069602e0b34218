package recording

import (
	"strings"

	"github.com/tidwall/gjson"

	"toolbench/sim/stream"
)

// Usage is what the API itself said that a request and its answer cost, in tokens
// (D5). Input is what was neither read from the prompt cache nor written to it.
type Usage struct{ Input, Written, Read, Output int }

// usageIn reads a usage object; nil where there is none, or where it counts nothing.
func usageIn(v gjson.Result) *Usage {
	var u Usage
	u.update(v)
	if u == (Usage{}) {
		return nil
	}
	return &u
}

// update takes the members that an object has: those of a stream's last event stand
// for those of its first.
func (u *Usage) update(v gjson.Result) {
	for name, to := range map[string]*int{
		"input_tokens": &u.Input, "cache_creation_input_tokens": &u.Written, "cache_read_input_tokens": &u.Read, "output_tokens": &u.Output,
	} {
		if n := v.Get(name); n.Type == gjson.Number && n.Num >= 0 && n.Num < 1e12 {
			*to = int(n.Num)
		}
	}
}

// usageOf reads what a stream says of its cost; nil where it says nothing.
func usageOf(events []stream.Event) *Usage {
	var u Usage
	for _, e := range events {
		switch e.Type {
		case messageStart:
			u.update(gjson.GetBytes(e.Data, "message.usage"))
		case "message_delta":
			u.update(gjson.GetBytes(e.Data, "usage"))
		}
	}
	if u == (Usage{}) {
		return nil
	}
	return &u
}

// asked tells the handler of a turn's request, where it wants to know.
func (s *scanner) asked(c *Conversation, turn int, req *request) error {
	if s.handler.Request == nil || len(req.messages) == 0 {
		return nil
	}
	return s.handler.Request(c, turn, strings.Clone(req.raw))
}
