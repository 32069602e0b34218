package draft

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

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
	// size is that of the turns so far, by their streams and results alone; results are the
	// bytes of these, and cut is the turn, counted from 1, from which on their texts are not
	// kept; 0: all are.
	size    extent
	results int
	cut     int
	// dir is the working directory, if the recording has it.
	dir string
}

// collect reads a recording. Its errors are those of recording.Scan. Of a conversation that
// is longer than a draft may be, the streams are kept as far as a draft can go, and the
// results for as long as they bear on its files.
func collect(name string, r io.Reader, limits recording.Limits) ([]*conversation, recording.Format, error) {
	dirs, head := map[int]string{}, &head{}
	byNumber := map[int]*conversation{}
	sum, err := recording.Scan(name, io.TeeReader(r, head), limits, recording.Handler{
		Turn: func(c *recording.Conversation, turn *recording.Turn) error {
			if byNumber[c.Number] == nil {
				byNumber[c.Number] = &conversation{Conversation: c, prompts: map[int]string{}}
			}
			byNumber[c.Number].take(turn)
			return nil
		},
		Request: func(c *recording.Conversation, _ int, body string) error {
			if dirs[c.Number] == "" {
				dirs[c.Number] = workingDir(body)
			}
			return nil
		},
	})
	if err != nil {
		return nil, sum.Format, err
	}
	var all []*conversation
	for _, n := range slices.Sorted(maps.Keys(byNumber)) {
		t := byNumber[n]
		t.dir = cmp.Or(dirs[n], head.dir())
		all = append(all, t)
	}
	return all, sum.Format, nil
}

// maxResults is how many bytes of results are looked at for what files held.
const maxResults = 16 << 20

// take adds a turn, less what no draft has room for.
func (t *conversation) take(turn *recording.Turn) {
	t.Turns = append(t.Turns, turn)
	fits := len(t.Turns) == 1 || !t.size.over()
	size, scripted := weight(turn)
	t.size.add(size, scripted)
	if fits {
		t.addText(turn.Number, strings.Join(turn.UserTexts, "\n\n"))
	} else {
		turn.Events, turn.UserTexts = nil, nil
	}
	for i, r := range turn.Results {
		if t.results += len(r.Text); !fits && t.results > maxResults {
			turn.Results[i].Text = ""
			t.cut = cmp.Or(t.cut, len(t.Turns))
		}
	}
}

// extent is how large the files of a draft become.
type extent struct{ history, requests, answers int }

// add takes a turn, with how much it adds to each later request, and to the scenario.
func (e *extent) add(size, scripted int) {
	e.history += size
	e.requests += e.history
	e.answers += scripted
}

func (e *extent) over() bool { return e.requests > maxRequests || e.answers > maxAnswers }

// definitions are the tools of all turns, each name once, as it was first offered;
// tools that the API itself runs are left out, and those that were called without a
// definition added.
func (t *conversation) definitions() []recording.Definition {
	var out []recording.Definition
	known := map[string]bool{"": true} // what has no name is no tool here
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

// renameCalls gives calls other ids whose own look like secrets, or were those of calls in turns
// before, since a scenario names its calls by them: all of them would be one.
func (s *builder) renameCalls() {
	taken, before := map[string]bool{}, map[string]bool{}
	for _, turn := range s.Turns {
		for _, c := range turn.Calls {
			taken[c.ID] = true
		}
	}
	next, renamed := 0, 0
	for _, turn := range s.Turns {
		names := map[string]string{}
		for _, c := range turn.Calls {
			if names[c.ID] != "" || !before[c.ID] && s.blank(quote(c.ID)) == quote(c.ID) {
				continue
			}
			for names[c.ID] == "" || taken[names[c.ID]] {
				next++
				names[c.ID] = fmt.Sprint("call-", next)
			}
		}
		for _, c := range turn.Calls {
			before[c.ID] = true
		}
		rename(turn, names)
		renamed += len(names)
	}
	if renamed > 0 {
		s.note("%d calls have the ids of earlier ones, or such as look like secrets: they have others here", renamed)
	}
}

// rename gives calls other ids, wherever a turn has them.
func rename(turn *recording.Turn, names map[string]string) {
	if len(names) == 0 {
		return
	}
	named := func(id string) string { return cmp.Or(names[id], id) }
	for i := range turn.Calls {
		turn.Calls[i].ID = named(turn.Calls[i].ID)
	}
	for i := range turn.Results {
		turn.Results[i].Call = named(turn.Results[i].Call)
	}
	for i := range turn.Unanswered {
		turn.Unanswered[i].Call = named(turn.Unanswered[i].Call)
	}
	for i := range turn.Events {
		data := &turn.Events[i].Data
		at := []string{"content_block.id"}
		for n := range gjson.GetBytes(*data, "message.content.#").Int() { // some calls are there at the message's start
			at = append(at, fmt.Sprintf("message.content.%d.id", n))
		}
		for _, path := range at {
			id := gjson.GetBytes(*data, path)
			if name := names[id.String()]; name != "" {
				*data = slices.Concat((*data)[:id.Index], []byte(quote(name)), (*data)[id.Index+len(id.Raw):])
			}
		}
	}
}
