package draft

import (
	"cmp"
	"encoding/json"
	"io"
	"slices"
	"strings"

	"toolbench/sim/recording"
	"toolbench/sim/stream"
)

// conversation is a conversation with what else its requests hold.
type conversation struct {
	*recording.Conversation
	// prompts are the user's messages before a turn, by turn; "" unknown.
	prompts map[int]string
	// long are the turns before which more was written than is kept.
	long []int
	// dir is the working directory, if the recording has it.
	dir string
}

// collect reads a recording. Its errors are those of recording.Scan.
func collect(name string, r io.Reader, limits recording.Limits) ([]*conversation, recording.Format, error) {
	dirs, head := map[int]string{}, &head{}
	rec, err := recording.Open(name, io.TeeReader(r, head), limits, func(c *recording.Conversation, _ int, body string) error {
		dirs[c.Number] = cmp.Or(dirs[c.Number], workingDir(body))
		return nil
	})
	if err != nil {
		return nil, rec.Format, err
	}
	var all []*conversation
	for _, c := range rec.Conversations {
		t := &conversation{Conversation: c, prompts: map[int]string{}, dir: cmp.Or(dirs[c.Number], head.dir())}
		for _, turn := range c.Turns {
			t.addText(turn.Number, strings.Join(turn.UserTexts, "\n\n"))
		}
		all = append(all, t)
	}
	return all, rec.Format, nil
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

// blankEvents blanks secrets in a stream, also those that its events cut in two.
func (s *builder) blankEvents(events []stream.Event) []stream.Event {
	out, err := stream.Decode([]byte(s.blank(string(stream.Bytes(events)))))
	whole := err == nil && len(out) == len(events)
	if !whole { // it was broken before: then each event is by itself
		out = slices.Clone(events)
	}
	for i, e := range events {
		out[i].At = e.At
		if !whole {
			out[i].Data = []byte(s.blank(string(e.Data)))
		}
	}
	return out
}
