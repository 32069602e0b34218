package recording

import (
	"archive/zip"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/klauspost/compress/zstd"
	"github.com/tidwall/gjson"

	"toolbench/sim/dialect"
)

// What evaluations and simulations leave behind: logs of Inspect with a sample for each run of
// a task, and results of tau-bench and its successor with a conversation for each.

// evaluated takes such a result, or a part of one.
func (ls *lineScan) evaluated(v gjson.Result) (known bool, err error) {
	switch {
	case isSample(v):
		return true, ls.sample(v)
	case v.Get("eval").IsObject() && isSample(v.Get("samples.0")):
		return true, each(v.Get("samples"), ls.sample)
	case isSimulation(v.Get("simulations.0")):
		ls.logs.model = strings.Clone(v.Get(agentModel).String())
		return true, each(v.Get("simulations"), ls.simulation)
	case isSimulation(v):
		return true, ls.simulation(v)
	case v.Get("eval_cases.0.conversation").IsArray():
		return true, each(v.Get("eval_cases"), ls.evalCase)
	}
	return false, nil
}

// evalCase takes a case of an evaluation set of Google's agent development kit: what the agent did for each that its user
// said. Sets of its first versions have calls without their results.
func (ls *lineScan) evalCase(c gjson.Result) error {
	ls.logs = logs{key: fmt.Sprint("evalset\x00", c.Get("eval_id").String(), "\x00", ls.values)}
	ls.values++
	return each(c.Get("conversation"), func(turn gjson.Result) error {
		at, did := stamp(turn.Get("creation_timestamp")), firstOf(turn, "intermediate_data intermediateData")
		called := mapped(firstOf(did, "tool_uses toolUses").Array(), func(call gjson.Result) fields { return fields{"functionCall": json.RawMessage(call.Raw)} })
		given := mapped(firstOf(did, "tool_responses toolResponses").Array(), func(result gjson.Result) fields {
			return fields{"functionResponse": json.RawMessage(result.Raw)}
		})
		return cmp.Or(
			ls.adkSaid("user", firstOf(turn, "user_content userContent"), at),
			ls.adkSaid("", gjson.ParseBytes(dialect.JSON(fields{"parts": called})), at),
			ls.adkSaid("user", gjson.ParseBytes(dialect.JSON(fields{"parts": given})), at),
			each(firstOf(did, "invocation_events invocationEvents"), func(e gjson.Result) error {
				return ls.adkSaid(e.Get("author").String(), e.Get("content"), at)
			}),
			ls.adkSaid("", firstOf(turn, "final_response finalResponse"), at),
		)
	})
}

// isSample reports whether v is a sample of an Inspect log: one run of one task.
func isSample(v gjson.Result) bool {
	return v.Get("epoch").Exists() && v.Get("messages").IsArray() && (v.Get("output").IsObject() || v.Get("events").IsArray())
}

// sample takes the requests to models that a sample's events hold, its judges' too. A log
// without these has the conversation itself.
func (ls *lineScan) sample(v gjson.Result) error {
	files := attachments(v)
	if err := ls.exchanges.chains.end(); err != nil { // the next run begins as this one did
		return err
	}
	ls.exchanges.chains = ls.s.chains()
	ls.exchanges.chains.ran = map[string]toolRun{}
	asked := false
	for _, e := range firstOf(v, "events transcript.events").Array() { // the latter in its first logs
		switch e.Get("event").String() {
		case "model":
			if !e.Get("output.choices.0.message").IsObject() {
				ls.s.ignore("requests to a model without an answer")
				continue
			}
			asked = true
			if err := ls.inspected(files(e), v, files); err != nil {
				return err
			}
		case "tool":
			if from, to := stamp(e.Get("timestamp")), stamp(e.Get("completed")); !from.IsZero() && to.After(from) {
				ls.exchanges.chains.ran[strings.Clone(e.Get("id").String())] = toolRun{to, to.Sub(from)}
			}
		}
	}
	if asked {
		ended := dialect.JSON(fields{"messages": loose(files(v).Get("messages"))})
		if _, request, ok := dialect.Request("/chat/completions", ended, &dialect.IDs{}); ok {
			for _, r := range resultsIn(request.Get("messages").Array()) {
				for _, t := range ls.exchanges.chains.waiting {
					ls.exchanges.chains.answer(t.turn, r)
				}
			}
		}
		return nil
	}
	ls.logs = logs{key: fmt.Sprint("sample\x00", v.Get("id").Raw, "\x00", v.Get("epoch").Raw), model: strings.Clone(v.Get("output.model").String())}
	return each(files(v).Get("messages"), func(m gjson.Result) error { return ls.chatted(m, time.Time{}) })
}

// inspected takes one request of a sample with its answer. Files puts long texts back.
func (ls *lineScan) inspected(e, sample gjson.Result, files func(gjson.Result) gjson.Result) error {
	g := generation{
		model: e.Get("model").String(), answered: e.Get("output.model").String(), messages: e.Get("input"), tools: e.Get("tools"),
		answer: e.Get("output.choices.0.message"), stop: e.Get("output.choices.0.stop_reason").String(),
		from: stamp(e.Get("timestamp")), to: stamp(e.Get("completed")),
	}
	if refs := e.Get("input_refs"); refs.IsArray() {
		g.messages = files(referred(dialect.Either(sample, "events_data.messages", "message_pool").Array(), refs))
	}
	if u := e.Get("output.usage"); u.IsObject() {
		g.input, g.output, g.cached = u.Get("input_tokens").Int(), u.Get("output_tokens").Int(), u.Get("input_tokens_cache_read").Int()
		g.made = u.Get("input_tokens_cache_write").Int()
		if g.input+g.output == u.Get("total_tokens").Int() { // then what was cached is a part of it
			g.input = max(0, g.input-g.cached-g.made)
		}
	}
	return ls.generated(g)
}

// referred are the messages at ranges of a sample's pool.
func referred(pool []gjson.Result, refs gjson.Result) gjson.Result {
	var all []string
	for _, r := range refs.Array() {
		from, to := int(r.Get("0").Int()), int(r.Get("1").Int())
		for i := max(0, from); i < min(to, len(pool)); i++ {
			all = append(all, pool[i].Raw)
		}
	}
	return gjson.Parse("[" + strings.Join(all, ",") + "]")
}

var attachment = regexp.MustCompile(`"(?:attachment|tc)://([0-9A-Za-z_-]+)"`)

// attachments gives what puts a sample's long texts back where they are named.
func attachments(sample gjson.Result) func(gjson.Result) gjson.Result {
	texts := map[string]string{}
	firstOf(sample, "attachments transcript.content").ForEach(func(name, text gjson.Result) bool {
		texts[name.Str] = text.Raw
		return true
	})
	return func(v gjson.Result) gjson.Result {
		if len(texts) == 0 {
			return v
		}
		return gjson.Parse(attachment.ReplaceAllStringFunc(v.Raw, func(name string) string { return cmp.Or(texts[attachment.FindStringSubmatch(name)[1]], name) }))
	}
}

// agentModel is where results of tau-bench's successor have the agent's model.
const agentModel = "info.agent_info.llm"

// isSimulation reports whether v is a conversation of tau-bench, or of its successor.
func isSimulation(v gjson.Result) bool {
	return v.Get("task_id").Exists() && (v.Get("traj.0.role").Exists() || v.Get("messages.0.role").Exists())
}

// simulation takes such a conversation. In the successor's, the simulated user has tools too:
// their calls are none of the agent's.
func (ls *lineScan) simulation(v gjson.Result) error {
	ls.logs = logs{model: ls.logs.model, key: fmt.Sprint("simulation\x00", v.Get("id").Raw, "\x00", v.Get("task_id").Raw, "\x00", v.Get("trial").Raw, "\x00", ls.values)}
	return each(dialect.Either(v, "messages", "traj"), func(m gjson.Result) error {
		for _, one := range append(m.Get("tool_messages").Array(), m) { // several results may stand in one
			users := one.Get("requestor").String() == "user" || one.Get("role").String() == "user" && one.Get("tool_calls").IsArray()
			switch {
			case users && !one.Get("content").Exists(), users && one.Get("role").String() == "tool":
				ls.s.ignore("calls of the simulated user and their results")
			case one.Get("tool_messages").IsArray():
			default:
				if err := ls.chatted(one, stamp(one.Get("timestamp"))); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// zipMagic begins archives of the kind that Inspect keeps its logs in.
var zipMagic = []byte("PK\x03\x04")

// scanZip reads a log of Inspect's own format: an archive with a document for each sample.
func (s *scanner) scanZip(r io.Reader) error {
	raw, err := io.ReadAll(io.LimitReader(r, s.limits.Part+1))
	if err != nil {
		return s.broken(err)
	}
	if int64(len(raw)) > s.limits.Part {
		return s.fail(ErrTooLarge, "the archive is larger than %d bytes; unpack it, and replay the folder", s.limits.Part)
	}
	archive, err := zip.NewReader(bytes.NewReader(raw), int64(len(raw)))
	if err != nil {
		return s.fail(ErrUnreadable, "it begins like a zip archive: %s", err)
	}
	archive.RegisterDecompressor(zstd.ZipMethodWinZip, zstd.ZipDecompressor())
	samples := slices.DeleteFunc(archive.File, func(f *zip.File) bool { return path.Dir(f.Name) != "samples" || path.Ext(f.Name) != ".json" })
	if len(samples) == 0 {
		return s.fail(ErrNotRecording, "it is a zip archive without samples of an Inspect log: unpack it first")
	}
	ls, left := s.lineScan(), s.limits.Unpacked
	for _, f := range samples {
		text, err := unzipped(f, min(left, s.limits.Part))
		switch {
		case errors.Is(err, errCapped):
			return s.fail(ErrTooLarge, "%s in it is larger than a part may be, or all are together", f.Name)
		case err != nil:
			s.problem(Problem{Kind: Unreadable, Text: fmt.Sprintf("%s in the archive cannot be read: %s", f.Name, err)})
			continue
		}
		left -= int64(len(text))
		if !dialect.Valid(text) {
			s.problem(Problem{Kind: Malformed, Text: f.Name + " in the archive is no JSON"})
			continue
		}
		if err := ls.take(text); err != nil {
			return err
		}
	}
	return ls.end()
}

func unzipped(f *zip.File, most int64) ([]byte, error) {
	r, err := f.Open()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return io.ReadAll(&limitedReader{r: r, left: most + 1})
}
