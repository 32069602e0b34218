package draft

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"toolbench/sim/cassette"
	"toolbench/sim/recording"
	"toolbench/sim/stream"
)

// conversation is a conversation with what else its requests hold.
type conversation struct {
	*recording.Conversation
	// prompts are the user's messages before a turn, by turn: the last user text of its
	// request, or what a transcript has; "" unknown.
	prompts map[int]string
	// long are the turns before which more was written than is kept.
	long []int
	// dir is the working directory, if the recording has it.
	dir string
}

// ErrNothing is given where no conversation of the recording has a turn that could be replayed.
var ErrNothing = errors.New("nothing to draft a scenario from")

// collect reads a recording. Its errors are those of recording.Scan, or ErrNothing.
func collect(name string, r io.Reader, limits recording.Limits) ([]*conversation, recording.Format, error) {
	byConversation := map[int]*conversation{}
	var all []*conversation
	of := func(c *recording.Conversation) *conversation {
		t := byConversation[c.Number]
		if t == nil {
			t = &conversation{Conversation: c, prompts: map[int]string{}}
			byConversation[c.Number] = t
			all = append(all, t)
		}
		return t
	}
	head := &head{}
	sum, err := recording.Scan(name, io.TeeReader(r, head), limits, recording.Handler{
		Request: func(c *recording.Conversation, turn int, body string) error {
			t := of(c)
			t.addText(turn, asked(body))
			if t.dir == "" {
				t.dir = workingDir(body)
			}
			return nil
		},
		Turn: func(c *recording.Conversation, turn *recording.Turn) error {
			t := of(c)
			if len(turn.UserTexts) > 0 {
				t.addText(turn.Number, strings.Join(turn.UserTexts, "\n\n"))
			}
			t.Turns = append(t.Turns, turn)
			return nil
		},
	})
	if err != nil {
		return nil, sum.Format, err
	}
	all = slices.DeleteFunc(all, func(t *conversation) bool { return len(t.Turns) == 0 })
	slices.SortFunc(all, func(a, b *conversation) int { return a.Number - b.Number })
	for _, t := range all {
		if t.dir == "" {
			t.dir = head.dir()
		}
	}
	if len(all) == 0 {
		return nil, sum.Format, fmt.Errorf("%s: %w", name, ErrNothing)
	}
	return all, sum.Format, nil
}

// asked is the text of a request's last user message, results apart; what is no text is
// named.
func asked(body string) string {
	messages := gjson.Get(body, "messages").Array()
	for _, m := range slices.Backward(messages) {
		if m.Get("role").Str != "user" {
			continue
		}
		content := m.Get("content")
		if content.Type == gjson.String {
			return content.Str
		}
		var parts []string
		for _, b := range content.Array() {
			switch kind := b.Get("type").Str; kind {
			case "tool_result":
			case "text":
				parts = append(parts, b.Get("text").String())
			default:
				parts = append(parts, "["+kind[:min(len(kind), 40)]+"]")
			}
		}
		return strings.Join(parts, "\n")
	}
	return ""
}

// definitions are the tools of all turns, each name once, as it was first offered;
// tools that the API itself runs are left out, and those that were called without a
// definition added.
func (t *conversation) definitions() []recording.Definition {
	var out []recording.Definition
	known := map[string]bool{}
	called := map[string]bool{}
	for _, turn := range t.Turns {
		for _, c := range turn.Calls {
			called[c.Name] = true
		}
	}
	for _, turn := range t.Turns {
		for _, d := range turn.Tools {
			if !known[d.Name] && (d.Kind == "" || called[d.Name]) {
				known[d.Name] = true
				out = append(out, d)
			}
		}
	}
	for _, turn := range t.Turns {
		for _, c := range turn.Calls {
			if !known[c.Name] {
				known[c.Name] = true
				out = append(out, recording.Definition{Name: c.Name})
			}
		}
	}
	return out
}

// ends reports whether the model waits for the user after a turn: it is whole and calls
// nothing.
func ends(turn *recording.Turn) bool {
	runs := slices.ContainsFunc(turn.Calls, func(c recording.Call) bool { return !c.Cut })
	return turn.Ending == recording.Whole && !runs && turn.Stop != "pause_turn"
}

// retries is how often in a row a stream failed.
func (t *conversation) retries() int {
	most, now := 0, 0
	for _, turn := range t.Turns {
		if now++; turn.Ending == recording.Whole {
			now = 0
		}
		most = max(most, now)
	}
	return most
}

// members gives an object's members; nil when the text is none.
func members(raw json.RawMessage) map[string]any {
	var m map[string]any
	if json.Unmarshal(raw, &m) != nil {
		return nil
	}
	return m
}

// pieces are the members of deltas that together make one text.
var pieces = []string{"text", "thinking", "partial_json"}

// blankEvents blanks secrets in a stream. A secret may be cut in two by the events, so
// that a block's text is looked at as a whole: where it holds one, all of it comes with
// the block's first piece.
func blankEvents(events []stream.Event, secrets []string) []stream.Event {
	blank := func(s string) string { return cassette.Blank(s, secrets...) }
	whole := map[string]*strings.Builder{}
	for _, e := range events {
		if key, _, text := piece(e); key != "" {
			if whole[key] == nil {
				whole[key] = &strings.Builder{}
			}
			whole[key].WriteString(text)
		}
	}
	given := map[string]bool{}
	out := make([]stream.Event, len(events))
	for i, e := range events {
		key, member, _ := piece(e)
		switch {
		case key != "" && blank(whole[key].String()) != whole[key].String():
			text := ""
			if !given[key] {
				text = blank(whole[key].String())
			}
			given[key] = true
			e.Data = delta(e.Data, member, text)
		default:
			e.Data = []byte(blank(string(e.Data)))
		}
		out[i] = e
	}
	return out
}

// piece is which text an event goes on with; key is "" when it is none.
func piece(e stream.Event) (key, member, text string) {
	v := gjson.ParseBytes(e.Data)
	if v.Get("type").Str != "content_block_delta" {
		return "", "", ""
	}
	for _, member := range pieces {
		if t := v.Get("delta." + member); t.Type == gjson.String {
			return v.Get("index").Raw + "/" + member, member, t.Str
		}
	}
	return "", "", ""
}

// delta writes an event anew with another text.
func delta(data []byte, member, text string) []byte {
	v := gjson.ParseBytes(data)
	raw, err := json.Marshal(map[string]any{
		"type": "content_block_delta", "index": json.RawMessage(v.Get("index").Raw),
		"delta": map[string]string{"type": v.Get("delta.type").Str, member: text},
	})
	if err != nil {
		return []byte(`{"type":"ping"}`) // an index that is no JSON: the stream was broken before
	}
	return raw
}
