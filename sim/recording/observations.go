package recording

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"toolbench/sim/dialect"
)

// Those who observe a library's requests keep them beside what else the program did, in whatever words
// the library has, as JSON or as a text of it.

// observer is where a trace has the parts of what was observed: paths, separated by blanks where
// libraries differ, of which the first that has something counts.
type observer struct {
	// Kind is the path of a part's type, and Is the type of a request to a model. A part of such a trace has one of Marks.
	Kind, Is, Marks                             string
	ID, Parent, From, To, In, Out, Model, Tools string
	Input, Output, Cached, Made                 string
	// Whole: the input counts what was cached as well.
	Whole bool
}

// observedIn are the lists that such traces stand in.
const observedIn = "data.spans spans observations data runs post events rows"

// firstOf is the first value at one of some paths.
func firstOf(v gjson.Result, paths string) gjson.Result {
	return dialect.Either(v, strings.Fields(paths)...)
}

// observerOf gives whose part of a trace v is; nil where it is none.
func observerOf(v gjson.Result) *observer {
	at := slices.IndexFunc(recorders().Observers, func(o observer) bool {
		return v.Get(o.Kind).Type == gjson.String && v.Get(o.From).Exists() && firstOf(v, o.Marks).Exists()
	})
	if at < 0 {
		return nil
	}
	return &recorders().Observers[at]
}

// when is a time of a part of a trace, which OpenTelemetry has in nanoseconds.
func when(v gjson.Result, nanos, paths string) time.Time {
	if n := v.Get(nanos).Int(); n > 0 {
		return time.Unix(0, n).UTC()
	}
	return stamp(firstOf(v, paths))
}

func began(v gjson.Result) time.Time {
	return when(v, "startTimeUnixNano", "startTime start_time metrics.start start_time_unix_nano start_ns timestamps.started_at started_at")
}

// observed is a part of a trace, with its line, and what was added to it later.
type observed struct {
	gjson.Result
	line  int
	later []gjson.Result
}

// adds reports whether v adds to a part that is there: a piece leaves out of what type the part is or what was asked, or says so.
func (ls *lineScan) adds(v gjson.Result) bool {
	_, known := ls.places[partID(v)]
	return known && (observerOf(v) == nil || !firstOf(v, "inputs input").Exists() || v.Get("_is_merge").Bool())
}

func partID(v gjson.Result) string { return firstOf(v, "span_id id").String() }

// isPart reports whether v is a part of a trace, a piece of one, or a span that stands by itself, as Phoenix exports them.
func (ls *lineScan) isPart(v gjson.Result) bool {
	return observerOf(v) != nil || ls.adds(v) || isTurn(v)
}

// observe keeps a part of a trace, and those within it, until all are there: they stand in the order in which they ended.
func (ls *lineScan) observe(v gjson.Result) error {
	ls.keep(gjson.Parse(strings.Clone(v.Raw)))
	if ls.observedBytes += int64(len(v.Raw)); ls.observedBytes > ls.s.limits.Part {
		return ls.observations()
	}
	return nil
}

func (ls *lineScan) keep(v gjson.Result) {
	id := partID(v)
	if at := ls.places[id]; ls.adds(v) {
		ls.observed[at].later = append(ls.observed[at].later, v)
		return
	}
	if id != "" {
		ls.places[id] = len(ls.observed)
	}
	ls.observed = append(ls.observed, observed{Result: v, line: ls.at})
	for _, child := range v.Get("child_runs").Array() {
		ls.keep(child)
	}
}

// maxOverlay is how deep mappings are put over mappings; those within them replace each other.
const maxOverlay = 3

// overlay puts the members of v over others, mappings over mappings.
func overlay(all fields, v gjson.Result, depth int) fields {
	if all == nil {
		all = fields{}
	}
	for name, member := range v.Map() {
		if inner, _ := all[name].(fields); member.IsObject() && depth > 0 {
			all[name] = overlay(inner, member, depth-1)
		} else if member.Type != gjson.Null {
			all[name] = json.RawMessage(member.Raw)
		}
	}
	return all
}

// observations takes the requests among what was observed, in the order in which they began. One within another is the same request as
// two libraries observed it: the inner is nearer to what was sent, and the outer counts where the inner has no answer in JSON.
func (ls *lineScan) observations() error {
	all := ls.observed
	ls.observed, ls.observedBytes, ls.places = nil, 0, map[string]int{}
	for i, o := range all {
		if o.later != nil {
			whole := overlay(nil, o.Result, maxOverlay)
			for _, piece := range o.later {
				overlay(whole, piece, maxOverlay)
			}
			all[i].Result = gjson.ParseBytes(dialect.JSON(whole))
		}
	}
	slices.SortStableFunc(all, func(a, b observed) int { return began(a.Result).Compare(began(b.Result)) })
	outer, twice := map[string]bool{}, map[string]bool{}
	for _, v := range all {
		if o := observerOf(v.Result); o != nil && partID(v.Result) != "" {
			outer[v.Get(o.ID).String()] = v.Get(o.Kind).Str == o.Is
		}
	}
	for _, v := range all {
		if o := observerOf(v.Result); o != nil && v.Get(o.Kind).Str == o.Is && outer[v.Get(o.Parent).String()] {
			inner := parsed(v.Get(o.Out))
			whole := inner.IsObject() || inner.IsArray()
			twice[v.Get(o.ID).String()], twice[v.Get(o.Parent).String()] = !whole, whole
		}
	}
	for _, v := range all {
		ls.at = v.line
		o := observerOf(v.Result)
		if o != nil && twice[v.Get(o.ID).String()] {
			ls.s.ignore("generations that were observed twice")
		} else if err := ls.observation(v.Result, o); err != nil {
			return err
		}
	}
	return nil
}

// observation takes a part of a trace if it is a request. What OpenInference's conventions say of it counts first: a library's own
// messages may have been printed.
func (ls *lineScan) observation(v gjson.Result, o *observer) error {
	if o == nil {
		return ls.flat(v, began(v), when(v, "endTimeUnixNano", "end_time"))
	}
	from, to := stamp(v.Get(o.From)), stamp(v.Get(o.To))
	if kind := v.Get(o.Kind).Str; kind != o.Is {
		ls.s.ignore(fmt.Sprintf("observations of type %q", kind[:min(len(kind), 40)]))
		return nil
	}
	if spread := parsed(v.Get("metadata")); spread.Get(`attributes.llm\.output_messages\.0\.message\.role`).Exists() {
		return ls.flat(spread, from, to)
	}
	g := generation{
		id: v.Get(o.ID).String(), model: firstOf(v, o.Model).String(), from: from, to: to,
		input: firstOf(v, o.Input).Int(), output: firstOf(v, o.Output).Int(), cached: firstOf(v, o.Cached).Int(), made: firstOf(v, o.Made).Int(),
	}
	if o.Whole {
		g.input = max(0, g.input-g.cached-g.made)
	}
	address, request := asked(parsed(v.Get(o.In)), g.model, firstOf(v, o.Tools))
	return ls.translated(address, request, answered(parsed(v.Get(o.Out))), g)
}

// parsed is a value, or what its text means if that is JSON.
func parsed(v gjson.Result) gjson.Result {
	if s := strings.TrimSpace(v.String()); v.Type == gjson.String && len(s) > 0 && (s[0] == '[' || s[0] == '{') && json.Valid([]byte(s)) {
		return gjson.Parse(s)
	}
	return v
}

// asked is the body of a request that was observed, with an address that tells whose words it has.
// LangChain's definitions of tools stand among its messages.
func asked(v gjson.Result, model string, offered gjson.Result) (address string, body []byte) {
	for _, list := range []string{"0", "messages.0"} {
		if v.Get(list).IsArray() { // LangChain's requests are lists of requests
			v = v.Get(list)
		}
	}
	switch {
	case v.IsArray() && v.Get(`#(type%"function_call*").type`).Exists():
		return "/responses", dialect.JSON(fields{"input": json.RawMessage(v.Raw), "model": model})
	case v.Type == gjson.String, isMessage(v):
		v = gjson.ParseBytes(dialect.JSON(fields{"messages": []any{fields{"role": "user", "content": cmp.Or(v.Str, v.Get("content").String())}}}))
	case v.IsArray():
		v = gjson.ParseBytes(dialect.JSON(fields{"messages": json.RawMessage(v.Raw)}))
	}
	list := v.Get("messages")
	switch {
	case !list.IsArray() && (v.Get("contents").Exists() || v.Get("input").IsArray()), list.Get(`#.content|@flatten|#(type%"tool[_-]*").type`).Exists():
		return "", []byte(v.Raw)
	case !list.IsArray() && v.Get("prompt").Type == gjson.String:
		list = gjson.ParseBytes(dialect.JSON([]any{fields{"role": "user", "content": v.Get("prompt").Str}}))
	}
	messages, tools := []any{}, append(v.Get("tools").Array(), offered.Array()...)
	for _, m := range list.Array() {
		if m.Get("content.function.name").Exists() {
			tools = append(tools, m.Get("content"))
			continue
		}
		messages = append(messages, looseMessage(m))
	}
	return "/chat/completions", dialect.JSON(fields{"messages": messages, "tools": definitions(tools), "model": model})
}

// answered is a whole answer: one of an API's, or a message by itself in the words of whatever library.
func answered(v gjson.Result) gjson.Result {
	v = firstOf(v, "generations.0.0.message generations.0.0 @this")
	switch {
	case v.Get("message.role").Exists():
		v = gjson.ParseBytes(dialect.JSON(fields{"choices": []any{json.RawMessage(v.Raw)}}))
	case v.Get("0.message").IsObject():
		v = gjson.ParseBytes(dialect.JSON(fields{"choices": json.RawMessage(v.Raw)}))
	case v.IsArray() && isBareItem(v.Get("0.type").Str, v.Get("0")), v.Get("0.type").Str == "reasoning":
		v = gjson.ParseBytes(dialect.JSON(fields{"object": "response", "output": json.RawMessage(v.Raw)}))
	case v.Get("0.toolName").Exists():
		v = gjson.ParseBytes(dialect.JSON(fields{"role": "assistant", "tool_calls": json.RawMessage(v.Raw)}))
	case v.IsArray():
		v = v.Get("0")
	}
	if _, _, whole := dialect.Reply(v, dialect.Origin{}); whole {
		return v
	}
	switch {
	case v.Get("content.parts").IsArray():
		return gjson.ParseBytes(dialect.JSON(fields{"candidates": []any{json.RawMessage(v.Raw)}, "usage_metadata": json.RawMessage(cmp.Or(v.Get("usage_metadata").Raw, "{}"))}))
	case v.Get(`content.#(type=="tool_use").id`).Exists():
		return gjson.ParseBytes(dialect.JSON(fields{"type": "message", "role": "assistant", "content": json.RawMessage(v.Get("content").Raw)}))
	case v.Type == gjson.String && v.Str != "":
		v = gjson.ParseBytes(dialect.JSON(fields{"role": "assistant", "content": v.Str}))
	case !v.Get("role").Exists() && !v.Get("type").Exists():
		return gjson.Result{}
	}
	return gjson.ParseBytes(dialect.JSON(fields{"choices": []any{fields{"message": looseMessage(v), "finish_reason": v.Get("finish_reason").String()}}}))
}
