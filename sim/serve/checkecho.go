package serve

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/tidwall/gjson"
)

// echo: what the model said comes back as it was said, since signatures, ids and the
// prompt cache depend on it. Members that carry nothing, and cache breakpoints, may
// come and go.
func (c *checker) echo() {
	c.react(func(r reaction) {
		if r.at < 0 {
			c.find(r.turn, "the answer did not come back: the request has no assistant message")
			return
		}
		raw, err := json.Marshal(r.answer.Reply.Message)
		if err != nil {
			c.find(r.turn, "the answer cannot be compared: %s", err)
			return
		}
		said, back := blocks(gjson.ParseBytes(raw)), blocks(r.req.messages[r.at])
		for i := range max(len(said), len(back)) {
			switch {
			case i >= len(back):
				c.find(r.turn, "content.%d (%s) did not come back", i, said[i].Get("type").Str)
			case i >= len(said):
				c.find(r.turn, "content.%d (%s) came back, but was never said", i, back[i].Get("type").Str)
			default:
				if why := changed(said[i], back[i]); why != "" {
					c.find(r.turn, "content.%d (%s) came back changed: %s", i, said[i].Get("type").Str, why)
				}
			}
		}
	})
}

// changed tells the first member that is not what it was; "" when there is none.
func changed(said, back gjson.Result) string {
	var keys []string
	for _, v := range []gjson.Result{said, back} {
		v.ForEach(func(key, value gjson.Result) bool {
			if !slices.Contains(keys, key.Str) && key.Str != "cache_control" {
				keys = append(keys, key.Str)
			}
			return true
		})
	}
	for _, key := range keys {
		was, is := said.Get(escapePath(key)), back.Get(escapePath(key))
		switch {
		case nothing(was) && nothing(is), equal(was, is):
		case !is.Exists():
			return fmt.Sprintf("%s is gone", key)
		case !was.Exists():
			return fmt.Sprintf("%s was added", key)
		default:
			a, b := difference(textOf(was), textOf(is))
			return fmt.Sprintf("%s was %q, is %q", key, a, b)
		}
	}
	return ""
}

var pathMarks = strings.NewReplacer(`\`, `\\`, ".", `\.`, "*", `\*`, "?", `\?`, "|", `\|`, "#", `\#`, "@", `\@`)

// escapePath makes a member's name a path of its own.
func escapePath(key string) string { return pathMarks.Replace(key) }

func textOf(v gjson.Result) string {
	if v.Type == gjson.String {
		return v.Str
	}
	return v.Raw
}

// nothing: absent, null, or an empty list.
func nothing(v gjson.Result) bool {
	return !v.Exists() || v.Type == gjson.Null || v.IsArray() && len(v.Array()) == 0
}

// equal compares values, not their bytes.
func equal(a, b gjson.Result) bool {
	if a.Raw == b.Raw {
		return true
	}
	var x, y any
	if json.Unmarshal([]byte(a.Raw), &x) != nil || json.Unmarshal([]byte(b.Raw), &y) != nil {
		return false
	}
	return reflect.DeepEqual(x, y)
}
