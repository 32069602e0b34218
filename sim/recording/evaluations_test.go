package recording_test

import (
	"archive/zip"
	"bytes"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"toolbench/sim/recording"
)

// The conversation of the logs below: two calls, of which the second fails, and an end.
func spokenWith(call func(id, name string, input object) object, result func(id, text string, failed bool) object) []object {
	return []object{
		{"role": "user", "content": "Go."},
		{"role": "assistant", "content": "", "tool_calls": []object{call("A", "view", object{"p": 1}), call("B", "ls", object{})}},
		result("A", "a text", false), result("B", "no such folder", true),
		{"role": "assistant", "content": []object{{"type": "reasoning", "reasoning": "Hm."}, {"type": "text", "text": "Done."}}},
	}
}

// inspectSample is a sample of an Inspect log: its requests to models name long texts by their digest, and take
// messages from a pool where pooled.
func inspectSample(id int, pooled bool) object {
	said := spokenWith(func(id, name string, input object) object {
		return object{"id": id, "function": name, "arguments": input, "type": "function"}
	}, func(id, text string, failed bool) object {
		m := object{"role": "tool", "tool_call_id": id, "function": "view", "content": text}
		if failed {
			m["content"], m["error"] = "", object{"type": "unknown", "message": text}
		}
		return m
	})
	said[2]["content"] = "attachment://0a1b"
	at := func(second int) string { return fmt.Sprintf("2026-01-02T03:04:%02d.5+01:00", second) }
	model := func(n, second int) object {
		e := object{"event": "model", "model": "openai/m", "timestamp": at(second), "completed": at(second + 2), "input": said[:n],
			"tools": []object{{"name": "view", "description": "Reads.", "parameters": object{"type": "object"}}},
			"output": object{"model": "m-1", "choices": []object{{"message": said[n], "stop_reason": "stop"}},
				"usage": object{"input_tokens": 30, "output_tokens": 5, "total_tokens": 35, "input_tokens_cache_read": 10}}}
		if pooled {
			e["input"], e["input_refs"] = []object{}, [][]int{{0, 1}, {1, n}}
		}
		return e
	}
	tool := func(id string, second int) object {
		return object{"event": "tool", "id": id, "timestamp": at(second), "completed": at(second + 1), "events": []object{}}
	}
	sample := object{"id": id, "epoch": 1, "input": "Go.", "messages": said, "output": object{"model": "m-1"}, "choices": []string{"yes", "no"},
		"events":      []object{{"event": "sample_init"}, model(1, 0), tool("A", 3), tool("B", 4), {"event": "model", "output": object{"error": "overloaded"}}, model(4, 6)},
		"attachments": object{"0a1b": "a text"}}
	if pooled {
		sample["events_data"] = object{"messages": said}
	}
	return sample
}

// zipped is an archive of files in turn: their names and what they hold.
func zipped(t testing.TB, method uint16, files ...string) string {
	t.Helper()
	var out bytes.Buffer
	z := zip.NewWriter(&out)
	z.RegisterCompressor(zstd.ZipMethodWinZip, zstd.ZipCompressor())
	for i := 0; i < len(files); i += 2 {
		w, err := z.CreateHeader(&zip.FileHeader{Name: files[i], Method: method})
		require.NoError(t, err)
		_, err = io.WriteString(w, files[i+1])
		require.NoError(t, err)
	}
	require.NoError(t, z.Close())
	return out.String()
}

// tauMessages are messages as tau-bench's successor has them, with calls of the simulated user.
func tauMessages() []object {
	said := spokenWith(func(id, name string, input object) object {
		return object{"id": id, "name": name, "arguments": input, "requestor": "assistant"}
	}, func(id, text string, failed bool) object {
		return object{"role": "tool", "id": id, "content": text, "requestor": "assistant", "error": failed}
	})
	for i, m := range said {
		m["turn_idx"], m["timestamp"] = i, fmt.Sprintf("2026-01-02T03:04:%02d.250000", 10*i)
	}
	user := []object{{"role": "user", "tool_calls": []object{{"id": "U", "name": "reboot", "arguments": object{}, "requestor": "user"}}},
		{"role": "tool", "id": "U", "content": "on", "requestor": "user"}}
	together := object{"role": "tool", "tool_messages": said[2:4]}
	return []object{said[0], user[0], user[1], said[1], together, said[4]}
}

// evaluations are logs of evaluations, each one conversation twice, in runs of their own.
func evaluations(t testing.TB) map[string]string {
	head := object{"version": 2, "eval": object{"task": "t"}}
	log := func(samples ...object) string {
		return indented(t, head)[:len(indented(t, head))-2] + ",\n  \"samples\": " + indented(t, samples) + ",\n  \"reductions\": []\n}\n"
	}
	plain := func(id int) object { s := inspectSample(id, false); delete(s, "events"); return s }
	first := func(id int) object {
		s := inspectSample(id, false)
		s["transcript"] = object{"events": s["events"], "content": s["attachments"]}
		delete(s, "events")
		delete(s, "attachments")
		return s
	}
	parts := []string{"header.json", "{}", "samples/1_epoch_1.json", asJSON(t, inspectSample(1, true)), "samples/2_epoch_1.json", asJSON(t, inspectSample(2, true)), "summaries.json", "[]"}
	run := func(id string) object { return object{"id": id, "task_id": "0", "trial": 0, "messages": tauMessages()} }
	traj := func(trial int) object {
		return object{"task_id": 0, "trial": trial, "reward": 1, "traj": spokenWith(func(id, name string, input object) object {
			return object{"id": id, "type": "function", "function": object{"name": name, "arguments": asJSON(t, input)}}
		}, func(id, text string, failed bool) object {
			return object{"role": "tool", "tool_call_id": id, "name": "view", "content": text, "is_error": failed}
		})}
	}
	tau := object{"info": object{"agent_info": object{"llm": "m-1"}}, "simulations": []object{run("x"), run("y")}}
	return map[string]string{
		"inspect, formatted":          log(inspectSample(1, false), inspectSample(2, false)),
		"inspect, on one line":        asJSON(t, object{"eval": object{}, "samples": []object{inspectSample(1, false), inspectSample(2, false)}}),
		"inspect's first":             strings.ReplaceAll(log(first(1), first(2)), "attachment://", "tc://"),
		"inspect, without its events": log(plain(1), plain(2)),
		"inspect, packed":             zipped(t, zip.Deflate, parts...),
		"inspect, packed by zstd":     zipped(t, zstd.ZipMethodWinZip, parts...),
		"tau, formatted":              indented(t, tau),
		"tau, on one line":            asJSON(t, tau),
		"tau-bench":                   indented(t, []object{traj(0), traj(1)}),
	}
}

func TestEvaluationsAreConversations(t *testing.T) {
	for name, text := range evaluations(t) {
		rec := open(t, text)
		assert.Empty(t, rec.Problems, name)
		require.Len(t, rec.Conversations, 2, name)
		for _, c := range rec.Conversations {
			require.Len(t, c.Turns, 2, name)
			assert.Equal(t, []string{`A view {"p":1}`, `B ls {}`}, calls(c.Turns[0]), name)
			assert.Equal(t, []string{"A a text", "B failed: no such folder"}, answers(c.Turns[0]), name)
			assert.Equal(t, []string{"Go."}, c.Turns[0].UserTexts, name)
			assert.Empty(t, c.Turns[1].Calls, name)
			if name != "tau-bench" {
				assert.Equal(t, "m-1", c.Turns[0].Model, name)
			}
		}
		turn := rec.Conversations[0].Turns[0]
		switch {
		case strings.HasPrefix(name, "inspect") && !strings.HasSuffix(name, "events"):
			require.Len(t, turn.Tools, 1, name)
			assert.Equal(t, recording.Usage{Input: 20, Read: 10, Output: 5}, *turn.Usage, "what was cached is counted once")
			assert.Equal(t, []recording.Moment{{At: 4 * time.Second, Known: true}, {At: time.Second, Known: true}}, []recording.Moment{turn.Results[0].At, turn.Results[0].Took}, name)
			assert.Equal(t, 1, rec.Ignored["requests to a model without an answer"]/2, name)
		case strings.HasPrefix(name, "tau,"):
			assert.Equal(t, recording.Moment{At: 20 * time.Second, Known: true}, turn.Results[0].At, name)
			assert.Equal(t, 4, rec.Ignored["calls of the simulated user and their results"], name)
		}
	}
}

// A call that ends a sample has its result in the messages alone.
func TestTheLastCallsOfASampleAreAnswered(t *testing.T) {
	sample := inspectSample(1, false)
	sample["events"] = sample["events"].([]object)[:4]
	rec := open(t, indented(t, sample))
	require.Len(t, rec.Conversations[0].Turns, 1)
	assert.Equal(t, []string{"A a text", "B failed: no such folder"}, answers(rec.Conversations[0].Turns[0]))
	assert.Empty(t, rec.Conversations[0].Turns[0].Unanswered)
}

// A sample that is given the conversation of the one before as its input is none the less another.
func TestASampleDoesNotGoOnWithTheOneBefore(t *testing.T) {
	one, two := inspectSample(1, false), inspectSample(2, false)
	one["events"] = one["events"].([]object)[:4]
	two["events"] = two["events"].([]object)[4:]
	rec := open(t, asJSON(t, object{"eval": object{}, "samples": []object{one, two}}))
	assert.Len(t, rec.Conversations, 2)
}

// An archive that is none of Inspect's, or broken, is refused with a word for it; a sample that cannot be read is
// left out.
func TestArchivesAreReadWithinLimits(t *testing.T) {
	whole := zipped(t, zip.Store, "samples/1.json", asJSON(t, inspectSample(1, false)), "samples/2.json", "{")
	rec := open(t, whole)
	assert.Equal(t, []string{"malformed samples/2.json in the archive is no JSON"}, problems(rec))
	assert.Len(t, rec.Conversations, 1)
	for text, want := range map[string]string{
		zipped(t, zip.Deflate, "a.har", "{}"): "a zip archive without samples of an Inspect log: unpack it first",
		whole[:len(whole)-9]:                  "it begins like a zip archive",
	} {
		_, err := recording.Open("x.eval", strings.NewReader(text), recording.Limits{}, nil)
		assert.ErrorContains(t, err, want)
	}
	for _, limits := range []recording.Limits{{Part: 1000}, {Unpacked: 1000}} {
		packed := zipped(t, zip.Deflate, "samples/1.json", asJSON(t, inspectSample(1, false)))
		_, err := recording.Open("x.eval", strings.NewReader(packed), limits, nil)
		assert.ErrorIs(t, err, recording.ErrTooLarge)
	}
}
