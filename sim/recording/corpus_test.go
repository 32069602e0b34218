package recording_test

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"toolbench/sim/recording"
)

// corpus are recordings made by others, which are not part of the project.
func corpus(t testing.TB) []string {
	t.Helper()
	files, err := filepath.Glob("../../../shared/corpus/*/*")
	require.NoError(t, err)
	if len(files) == 0 {
		t.Skip("the corpus of other people's recordings is not here")
	}
	return files
}

func TestEveryFileOfTheCorpusIsReadWithoutAProblem(t *testing.T) {
	for _, file := range corpus(t) {
		f, err := os.Open(file)
		require.NoError(t, err)
		rec, err := recording.Open(file, f, recording.Limits{}, nil)
		require.NoError(t, err)
		require.NoError(t, f.Close())
		assert.Empty(t, rec.Problems, file)
		for _, c := range rec.Conversations {
			for n, turn := range c.Turns {
				assert.Equal(t, n+1, turn.Number, file)
				assert.NotEmpty(t, turn.ID, file)
				for _, call := range turn.Calls {
					assert.True(t, json.Valid(call.Input) && call.Invalid == "", file)
				}
			}
		}
	}
}

// counted is a file's calls, counted without this package.
type counted struct {
	calls int
	// batches are the messages with several calls, their ids in call order, and
	// orders the order of their results.
	batches, orders []string
}

func TestCallsBatchesAndOrdersAgreeWithAnIndependentCount(t *testing.T) {
	for _, file := range corpus(t) {
		raw, err := os.ReadFile(file)
		require.NoError(t, err)
		rec := open(t, string(raw))
		var got, want counted
		switch filepath.Ext(file) {
		case ".yaml", ".yml":
			want, got = fromHistories(t, raw), answeredOf(rec)
		case ".jsonl":
			want, got = fromLines(raw), answeredOf(rec)
		default:
			want.calls = len(regexp.MustCompile(`"type": ?"tool_use"`).FindAllIndex(raw, -1))
			got = allOf(rec)
		}
		slices.Sort(want.batches)
		slices.Sort(got.batches)
		slices.Sort(want.orders)
		slices.Sort(got.orders)
		assert.Equal(t, want, got, file)
	}
}

// answeredOf counts the calls that have a result, for a history has no others.
func answeredOf(rec *recording.Recording) counted {
	var out counted
	for _, c := range rec.Conversations {
		for _, turn := range c.Turns {
			var ids, order []string
			for _, call := range turn.Calls {
				if turn.Result(call.ID) != nil {
					ids = append(ids, call.ID)
				}
			}
			for _, r := range turn.Results {
				order = append(order, r.Call)
			}
			out.add(ids, order)
		}
	}
	return out
}

func (c *counted) add(ids, order []string) {
	c.calls += len(ids)
	if len(ids) > 1 {
		c.batches = append(c.batches, strings.Join(ids, " "))
		c.orders = append(c.orders, strings.Join(order, " "))
	}
}

func allOf(rec *recording.Recording) counted {
	var out counted
	for _, c := range rec.Conversations {
		for _, turn := range c.Turns {
			out.calls += len(turn.Calls)
		}
	}
	return out
}

// fromHistories counts in the requests, with another YAML library: whatever text in
// a file is a request has the history in it, and the longest ones have all of it.
func fromHistories(t *testing.T, raw []byte) counted {
	t.Helper()
	seen := map[string][]string{} // calls of a message -> order of their results
	dec := yaml.NewDecoder(strings.NewReader(string(raw)))
	for {
		var doc any
		if err := dec.Decode(&doc); err != nil {
			break
		}
		texts(doc, func(text string) {
			var body struct {
				Messages []struct {
					Role    string
					Content json.RawMessage
				}
			}
			if json.Unmarshal([]byte(text), &body) != nil {
				return
			}
			var waiting string
			for _, m := range body.Messages {
				var blocks []map[string]any
				if json.Unmarshal(m.Content, &blocks) != nil {
					continue
				}
				if ids := members(blocks, "tool_use", "id"); m.Role == "assistant" {
					waiting = strings.Join(ids, " ")
				} else if waiting != "" {
					seen[waiting] = members(blocks, "tool_result", "tool_use_id")
				}
			}
		})
	}
	var out counted
	for ids, order := range seen {
		out.add(strings.Fields(ids), order)
	}
	return out
}

func texts(v any, found func(string)) {
	switch v := v.(type) {
	case string:
		found(v)
	case map[string]any:
		for _, m := range v {
			texts(m, found)
		}
	case []any:
		for _, m := range v {
			texts(m, found)
		}
	}
}

func members(blocks []map[string]any, kind, member string) []string {
	var out []string
	for _, b := range blocks {
		if id, ok := b[member].(string); ok && b["type"] == kind {
			out = append(out, id)
		}
	}
	return out
}

var (
	usePattern    = regexp.MustCompile(`"id":"(msg_[A-Za-z0-9]+)".*"type":"tool_use","id":"([^"]+)"`)
	resultPattern = regexp.MustCompile(`"tool_use_id":"([^"]+)"`)
)

// fromLines counts in a transcript with patterns, line by line.
func fromLines(raw []byte) counted {
	var messages []string
	calls, order, of := map[string][]string{}, map[string][]string{}, map[string]string{}
	lines := bufio.NewScanner(strings.NewReader(string(raw)))
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		if m := usePattern.FindStringSubmatch(lines.Text()); m != nil {
			if calls[m[1]] == nil {
				messages = append(messages, m[1])
			}
			calls[m[1]] = append(calls[m[1]], m[2])
			of[m[2]] = m[1]
		} else if m := resultPattern.FindStringSubmatch(lines.Text()); m != nil && strings.Contains(lines.Text(), `"type":"tool_result"`) {
			order[of[m[1]]] = append(order[of[m[1]]], m[1])
		}
	}
	var out counted
	for _, id := range messages {
		out.add(calls[id], order[id])
	}
	return out
}
