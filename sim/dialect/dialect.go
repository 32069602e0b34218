// Package dialect translates what the providers' APIs put on the wire - requests, answers, streams - into the form of
// the Messages API, so that everything behind it knows one form. It is a package of its own because two sides need
// it: recordings are read through it, and the served APIs read their clients' requests through it. It knows no files,
// no clocks and no conversations.
//
// What is translated is the meaning, not every member: system prompts, messages, tools,
// calls, results, thinking, stop reasons and usage. A block that no provider's client
// has to answer - a search that the provider itself ran - is a server_tool_use.
package dialect

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"net/url"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"toolbench/toolsys/jsonscan"
)

// API is a form of requests and answers, whichever provider gives them.
type API string

// The APIs that are known.
const (
	Messages  API = "messages"
	Converse  API = "converse"
	Chat      API = "chat-completions"
	Responses API = "responses"
	Gemini    API = "generate-content"
	Ollama    API = "ollama-chat"
	Cohere    API = "cohere-chat"
	// Interactions is Gemini's, beside generateContent.
	Interactions API = "gemini-interactions"
)

// String is what the API is called.
func (a API) String() string {
	return cmp.Or(map[API]string{Converse: "Converse", Chat: "Chat Completions", Responses: "Responses", Gemini: "generateContent",
		Ollama: "Ollama's chat", Cohere: "Cohere's chat", Interactions: "Gemini's Interactions"}[a], "the Messages API")
}

// Marks reports whether breakpoints in a request decide what its provider's cache keeps.
// Other providers keep prompts by rules of their own.
func (a API) Marks() bool { return a == "" || a == Messages || a == Converse }

// Names reports whether ids of calls are optional, so that the translation names the calls.
func (a API) Names() bool { return a == Gemini || a == Ollama }

// Origin is what an answer takes from its request and its address.
type Origin struct {
	// ID and Model stand for those that the answer lacks.
	ID, Model string
	// IDs name calls that come without an id; nil: as if the conversation began.
	IDs *IDs
}

// IDs names the calls of providers that make ids optional, so that a call has the same name in the answer and in
// every later request: after the tool, the input, and how often the conversation had the two. An id that is there is
// not kept, since some clients send back others than they got. The zero value is a conversation's begin.
type IDs struct {
	seen map[string]int
	// open are the calls that wait for their results, the first of them first, by what a result may
	// have: an id, a tool's name, or neither. Those that were found by another are left in it.
	open map[[2]string][]*openCall
	// soFar: the request asked for a stream whose pieces each repeat what was before them.
	soFar bool
}

// openCall is a call that a result may answer.
type openCall struct {
	id       string
	answered bool
}

// call names a call that its provider named sent.
func (ids *IDs) call(sent, name string, input gjson.Result) string {
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
	ids.wait(id, sent, name)
	return id
}

func (ids *IDs) wait(id, sent, name string) {
	if ids.open == nil {
		ids.open = map[[2]string][]*openCall{}
	}
	c := &openCall{id: strings.Clone(id)}
	for _, key := range [][2]string{{"id", strings.Clone(cmp.Or(sent, id))}, {"tool", strings.Clone(name)}, {}} {
		ids.open[key] = append(ids.open[key], c)
	}
}

// result finds the call that a result answers: by the id that it gives, else the first of its tool that is open. Some
// clients give the id as the name, or one that no call had: those answer the first that is open.
func (ids *IDs) result(sent, name string) string {
	for _, key := range [][2]string{{"id", sent}, {"tool", name}, {}} {
		if id, ok := ids.answer(key); ok {
			return id
		}
	}
	return cmp.Or(sent, name)
}

// answer takes the first call that waits for what a result has.
func (ids *IDs) answer(key [2]string) (id string, ok bool) {
	for len(ids.open[key]) > 0 {
		c := ids.open[key][0]
		if ids.open[key] = ids.open[key][1:]; !c.answered {
			c.answered = true
			return c.id, true
		}
	}
	return "", false
}

// Request translates a request's body; ok is false when it asks no model for a turn. The address may be "" where it
// is unknown. Ids names the calls of the history, and afterwards those of the answer.
func Request(address string, body []byte, ids *IDs) (api API, request gjson.Result, ok bool) {
	body = bytes.TrimPrefix(body, []byte("\xef\xbb\xbf"))
	if !Valid(body) {
		return "", request, false
	}
	v := gjson.ParseBytes(body)
	switch api = apiOf(path(address), v); api {
	case Messages:
		return api, v, true
	case Converse:
		return api, converseRequest(v), true
	case Chat, Cohere:
		if v.Get("message").Exists() {
			v = cohereBefore(v)
		} else if v.Get("input.messages").Exists() {
			v = ids.generation(v)
		}
		return api, chatRequest(v, ids), true
	case Responses, Interactions:
		return api, responsesRequest(v, ids), true
	case Gemini:
		return api, geminiRequest(v, address, ids), true
	case Ollama:
		return api, wording{ollamaParts, ollamaAnswer, ollamaResults}.request(v, ids, v.Get("stream").Type != gjson.False, "options.num_predict"), true
	}
	return "", request, false
}

// Reply translates a whole answer into a message with its stop reason and usage; ok is
// false when the document is none.
func Reply(v gjson.Result, from Origin) (api API, m gjson.Result, ok bool) {
	from = from.complete()
	switch {
	case v.Get("type").String() == "message" && v.Get("content").Exists():
		return Messages, v, true
	case v.Get("output.message.content").IsArray():
		return Converse, reply(from, "", "", converseBlocks(v.Get("output.message.content")), v.Get("stopReason").String(), converseUsage(v.Get("usage"))), true
	case v.Get("choices.0.message").IsObject(), v.Get("object").String() == "chat.completion" && v.Get("choices.0").IsObject():
		return Chat, chatReply(v, from), true
	case v.Get("success").IsBool() && isWorkers(v.Get("result")):
		return Chat, chatReply(within(v.Get("result")), from), true
	case v.Get("request_id").Exists() && within(v).Get("choices.0.message").IsObject():
		return Chat, chatReply(within(v), from), true
	case isResponse(v):
		return Responses, responsesReply(v, from), true
	case isGenerated(v):
		id, model := Either(v, "responseId", "response_id").String(), Either(v, "modelVersion", "model_version").String()
		return Gemini, reply(from, id, model, geminiParts(v.Get("candidates.0.content.parts"), from.IDs), geminiStop(v), geminiUsage(v)), true
	case isOllama(v) && v.Get("done").Bool():
		return Ollama, reply(from, "", v.Get("model").String(), ollamaAnswer(v.Get("message"), from.IDs), v.Get("done_reason").String(), ollamaUsage(v)), true
	case isCohere(v):
		return Cohere, cohereReply(v, from), true
	case v.Get("object").String() == "interaction":
		return Interactions, responsesReply(v, from), true
	}
	return "", m, false
}

// Valid is json.Valid for texts that are mostly JSON: it takes a third of the time, which
// counts where each request repeats the whole conversation.
func Valid(text []byte) bool {
	c := jsonscan.Cursor{JSON: text}
	return c.Skip() && c.End() || json.Valid(text) // what nests deeper than the one goes may be taken by the other
}

func (o Origin) complete() Origin {
	o.IDs = cmp.Or(o.IDs, &IDs{})
	return o
}

// path is that of an address, which may be one already.
func path(address string) string {
	if u, err := url.Parse(address); err == nil {
		address = u.EscapedPath()
	}
	return strings.TrimSuffix(address, "/")
}

// aside are the ends of paths whose bodies look like those of a turn's request.
var aside = []string{"/count_tokens", "/count-tokens", ":countTokens", "/input_tokens", "/embeddings", "/moderations", "/compact", ":embedContent"}

// apiOf recognizes a request: by its path, and where that shows nothing by its members.
func apiOf(path string, v gjson.Result) API {
	ends := func(end string) bool { return strings.HasSuffix(path, end) }
	messages := v.Get("messages").IsArray()
	switch {
	case slices.ContainsFunc(aside, ends):
		return ""
	case messages && ends("/chat/completions"):
		return Chat
	case ends("/v1/chat") && v.Get("message").Type == gjson.String:
		return Cohere
	case ends("/interactions") && v.Get("input").Exists(), v.Get("previous_interaction_id").Exists():
		return Interactions
	case ends("/responses") && v.Get("input").Exists(), !messages && hasItems(v):
		return Responses
	case v.Get("contents").IsArray() && !messages:
		return Gemini
	case v.Get("input.messages").IsArray() && (ends("-generation/generation") || v.Get("parameters.result_format").Exists()):
		return Chat
	case !messages:
		return ""
	case ends("/converse"), ends("/converse-stream"), isConverse(v):
		return Converse
	case ends("/api/chat"):
		return Ollama
	case ends("/v2/chat"):
		return Cohere
	}
	return byMembers(v)
}

// Model is the model that an address names, as those of Bedrock and of Gemini do.
func Model(address string) string {
	path := path(address)
	if _, model, ok := strings.Cut(path, "/ai/run/"); ok { // of Cloudflare's
		return model
	}
	_, after, ok := strings.Cut(path, "/model/")
	if !ok {
		if _, after, ok = strings.Cut(path, "/models/"); !ok {
			return ""
		}
		after, _, _ = strings.Cut(after, ":")
	}
	name, _, _ := strings.Cut(after, "/")
	if plain, err := url.PathUnescape(name); err == nil {
		name = plain
	}
	return name
}

// Asks reports by its address whether a request is for a model's turn: the first
// parties' paths, or those of other clouds' front ends.
func Asks(address string) bool {
	path := path(address)
	return slices.ContainsFunc([]string{
		"/messages", "/invoke", "/invoke-with-response-stream", "/converse", "/converse-stream", ":rawPredict", ":streamRawPredict",
		"/chat/completions", "/responses", ":generateContent", ":streamGenerateContent", "/api/chat", "/v1/chat", "/v2/chat", "/interactions",
		"-generation/generation",
	}, func(end string) bool { return strings.HasSuffix(path, end) })
}
