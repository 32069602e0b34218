package draft

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/tidwall/gjson"

	"toolbench/sim/cassette"
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
	// size is that of the turns so far, by their streams and results alone; results are the bytes of these, and cut
	// is the turn, counted from 1, from which on their texts are not kept; 0: all are.
	size    extent
	results int
	cut     int
	// dir is the working directory, if the recording has it.
	dir string
}

// collect reads a recording. Its errors are those of recording.Scan. Of a conversation that is longer than a draft
// may be, the streams are kept as far as a draft can go, and the results for as long as they bear on its files.
func collect(name string, r io.Reader, limits recording.Limits) ([]*conversation, recording.Format, error) {
	dirs, byNumber := map[int]string{}, map[int]*conversation{}
	buffered := bufio.NewReaderSize(cassette.Settled(r), headBytes)
	head, _ := buffered.Peek(headBytes) // an error comes again when it is read
	var dir string                      // of a transcript, where its beginning has one
	if m := cwd.FindSubmatch(head); m != nil && json.Unmarshal(m[1], &dir) != nil {
		dir = ""
	}
	sum, err := recording.Scan(name, buffered, limits, recording.Handler{
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
		t.dir = cmp.Or(dirs[n], dir)
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
		text := strings.Join(turn.UserTexts, "\n\n")
		if len(text) >= recording.MaxUserText-utf8.UTFMax { // a transcript's texts come cut
			text = strings.ToValidUTF8(text[:min(len(text), recording.MaxUserText)], "")
			t.long = append(t.long, turn.Number)
		}
		t.prompts[turn.Number] = text
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

// definitions are the tools of all turns, each name once, as it was first offered; tools that the API itself runs are
// left out, and those that were called without a definition added.
func (t *conversation) definitions() []recording.Definition {
	var offered, called, out []recording.Definition
	known, calls := map[string]bool{"": true}, map[string]bool{} // what has no name is no tool here
	for _, turn := range t.Turns {
		offered = append(offered, turn.Tools...)
		for _, c := range turn.Calls {
			called, calls[c.Name] = append(called, recording.Definition{Name: c.Name}), true
		}
	}
	for _, d := range append(offered, called...) {
		if !known[d.Name] && (d.Kind == "" || calls[d.Name]) {
			known[d.Name] = true
			out = append(out, d)
		}
	}
	return out
}

// ends reports whether the model waits for the user after a turn: it is whole and calls nothing.
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
		turn.Rename(names)
		renameIn(turn, "id", names)
		renamed += len(names)
	}
	if renamed > 0 {
		s.note("%d calls have the ids of earlier ones, or such as look like secrets: they have others here", renamed)
	}
}

var unfitSigns = regexp.MustCompile(`[^A-Za-z0-9_-]+`)

// longestTool is how long a name of a tool may be, with a number behind it.
const longestTool = 120

// renameTools gives tools other names that no scenario can have: some providers permit dots and
// colons, and a name may look like a secret.
func (s *builder) renameTools() {
	names, taken := map[string]string{}, map[string]bool{}
	all := s.definitions()
	for _, d := range all {
		taken[d.Name] = true
	}
	for _, d := range all {
		fit := unfitSigns.ReplaceAllString(s.blank(d.Name), "_")
		fit = fit[:min(len(fit), longestTool)]
		if fit == d.Name {
			continue
		}
		name := fit
		for n := 2; taken[name]; n++ {
			name = fmt.Sprint(fit, "_", n)
		}
		names[d.Name], taken[name] = name, true
		s.note("the tool %s has the name %s here, as no tool can be called so", quote(d.Name), name)
	}
	s.recorded = map[string]string{}
	for was, is := range names {
		s.recorded[is] = was
	}
	for _, turn := range s.Turns {
		turn.Tools = slices.Clone(turn.Tools) // equal lists are one
		for i, d := range turn.Tools {
			turn.Tools[i].Name = cmp.Or(names[d.Name], d.Name)
		}
		for i, c := range turn.Calls {
			turn.Calls[i].Name = cmp.Or(names[c.Name], c.Name)
		}
		renameIn(turn, "name", names)
	}
}

// renameIn puts other ids, or names of tools, in the place of those that a turn's events have.
func renameIn(turn *recording.Turn, member string, names map[string]string) {
	for i := 0; i < len(turn.Events) && len(names) > 0; i++ {
		data := &turn.Events[i].Data
		at := []string{"content_block." + member}
		for n := range gjson.GetBytes(*data, "message.content.#").Int() { // some calls are there at the message's start
			at = append(at, fmt.Sprintf("message.content.%d.%s", n, member))
		}
		for _, path := range at {
			was := gjson.GetBytes(*data, path)
			if name := names[was.String()]; name != "" {
				*data = slices.Concat((*data)[:was.Index], []byte(quote(name)), (*data)[was.Index+len(was.Raw):])
			}
		}
	}
}
