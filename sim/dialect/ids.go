package dialect

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"slices"

	"github.com/tidwall/gjson"
)

// IDs names the calls of providers that make ids optional, so that a call has the same name
// in the answer and in every later request: after the tool, the input, and how often the
// conversation had the two. An id that is there is not kept, since some clients send back
// others than they got. The zero value is a conversation's begin.
type IDs struct {
	seen map[string]int
	open []openCall
}

// openCall is a call that no result has answered.
type openCall struct{ id, sent, name string }

// call names a call that its provider named sent.
func (ids *IDs) call(sent, name string, input gjson.Result) string {
	id := ids.next(name, input)
	ids.open = append(ids.open, openCall{id: id, sent: sent, name: name})
	return id
}

func (ids *IDs) next(name string, input gjson.Result) string {
	h := fnv.New32a()
	var plain any
	if json.Unmarshal([]byte(input.Raw), &plain) == nil {
		_, _ = h.Write(JSON(plain)) // a hash never fails
	}
	id := fmt.Sprintf("%s_%04x", name, h.Sum32()&0xffff)
	if ids.seen == nil {
		ids.seen = map[string]int{}
	}
	ids.seen[id]++
	if n := ids.seen[id]; n > 1 {
		id = fmt.Sprintf("%s_%d", id, n)
	}
	return id
}

// result finds the call that a result answers: by the id that it gives, else the first
// of its tool that is open. Some clients give the id as the name, or one that no call had:
// those answer the first that is open.
func (ids *IDs) result(sent, name string) string {
	at := slices.IndexFunc(ids.open, func(c openCall) bool { return sent != "" && c.sent == sent })
	if at < 0 {
		at = slices.IndexFunc(ids.open, func(c openCall) bool { return c.name == name })
	}
	if at < 0 && len(ids.open) > 0 {
		at = 0
	}
	if at < 0 {
		if sent != "" {
			return sent
		}
		return name
	}
	id := ids.open[at].id
	ids.open = append(ids.open[:at:at], ids.open[at+1:]...)
	return id
}
