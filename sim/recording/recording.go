package recording

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"toolbench/sim/dialect"
	"toolbench/sim/stream"
)

// Format is how a recording was written.
type Format string

// The formats that are read (O2).
const (
	GoVCR1     Format = "go-vcr-v1"        // dnaeon/go-vcr v1, v2
	GoVCR2     Format = "go-vcr-v2"        // dnaeon/go-vcr v3, v4
	VCRPy      Format = "vcrpy"            // Python
	RubyVCR    Format = "ruby-vcr"         // Ruby
	HTTPMock   Format = "httpmock-yaml"    // one document an exchange
	HAR        Format = "har"              // HTTP archive
	HTTPRR     Format = "httprr"           // Go: raw requests and responses
	Exchanges  Format = "exchange-list"    // requests and responses in a list, or a line each: nock, PHP-VCR, WireMock
	Txtar      Format = "txtar"            // requests and responses as files of an archive
	SSE        Format = "sse-text"         // the bytes of streams, one after the other
	EventLines Format = "event-lines"      // one event a line, without "data:"
	EventBytes Format = "event-frames"     // binary event-stream frames
	Blocks     Format = "jsonl-transcript" // an agent's log, a line a content block
	Messages   Format = "jsonl-session"    // an agent's log, a line a message
	History    Format = "json-messages"    // messages as requests and responses hold them
)

// Recording is a whole file.
type Recording struct {
	Format        Format
	Problems      []Problem
	Conversations []*Conversation
	// Ignored counts what was left out, by kind: HTTP that asks no model, lines that are no messages.
	Ignored map[string]int
}

// Conversation is one session with a model, or one sub-agent's.
type Conversation struct {
	// Number counts conversations from 1, in the order in which they begin.
	Number int
	// ID is the session's id, Agent the sub-agent's; both may be "".
	ID, Agent string
	// Turns are filled by Open only.
	Turns []*Turn
}

// Moment is a time within a turn, counted from when its request was sent. It has
// nothing unless it is Known: few recorders take times down.
type Moment struct {
	At    time.Duration
	Known bool
}

// Pace is what is known of when a turn's events arrived.
type Pace int

// The kinds of pace.
const (
	// Unknown: the events have no times; First may be known all the same.
	Unknown Pace = iota
	// Bounded: first and last time are recorded, those between are interpolated by the amount of output.
	Bounded
	// Exact: the times on which anything depends were taken down.
	Exact
)

// Ending is how a turn's stream ended.
type Ending int

// The endings. Only a Whole message is committed and its calls answered (J5).
const (
	Whole  Ending = iota
	Cut           // the bytes ended before message_stop
	Failed        // an error event
	Broken        // an event that is no JSON or makes no sense
)

// Turn is one answer of the model with what became of its calls.
type Turn struct {
	// Number counts the conversation's turns from 1, Line is where it begins in the
	// file (0: it is unknown), Interaction its place among the exchanges, from 1.
	Number, Line, Interaction int
	// ID and Model are the message's; Stop is its stop reason, "" where none was recorded.
	ID, Model, Stop string
	// API is in whose words the recording has the turn: what it counted, and what its cache
	// did, follows that provider's rules. "" where there was nothing to translate.
	API dialect.API
	// Sent is when the request left, on the recorder's clock; zero: unknown.
	Sent time.Time
	// UserTexts are the user's messages since the turn before, a text a message, cut after MaxUserText bytes; where
	// the recording holds requests, the last user message, results apart. What is no text is named, as "[image]".
	UserTexts []string
	// Tools are what the request offered; nil when the recording holds no requests.
	Tools []Definition
	// ToolsChanged: they are not those of the turn before.
	ToolsChanged bool
	// Usage is what the API counted for the turn; nil where it was not recorded.
	Usage *Usage
	// Events are the stream, times as Pace describes. A response that was no stream
	// (Streamed false) has them all at its end.
	Events   []stream.Event
	Streamed bool
	Pace     Pace
	First    Moment
	Ending   Ending
	// Why words an Ending that is not Whole.
	Why     string
	Calls   []Call
	Results []Result
	// Unanswered are the calls without a result.
	Unanswered []Unanswered
	// called and answered find Calls and Results by their ids.
	called, answered index
}

// Definition is a tool as a request offered it.
type Definition struct {
	Name, Description string
	// Kind is the type of a tool that the API defines ("web_search_20250305"), "" for the client's own.
	Kind string
	// Schema is the input schema; nil where the request has none.
	Schema json.RawMessage
	// ReadOnly is the readOnlyHint of the definition's annotations; false without.
	ReadOnly bool
	// Callers are who may call it, in the API's words; none stands for the model itself.
	Callers []string
}

// Call is one tool_use block that the client has to answer.
type Call struct {
	ID, Name string
	// Input is a JSON object; Invalid is what came in its place, if it was none.
	Input   json.RawMessage
	Invalid string
	// Ready is when its block was complete.
	Ready Moment
	// Cut: its block never ended. Such a call must not run.
	Cut bool
	// Repeated: an earlier call of the message has the same id.
	Repeated bool
}

// Result answers a call.
type Result struct {
	// Call is the id it answers.
	Call    string
	Text    string
	IsError bool
	// At is when it was taken down. Took is how long the tool ran, as the recorder itself measured it.
	At, Took Moment
}

// Unanswered is a call without a result, and why.
type Unanswered struct{ Call, Tool, Reason string }

// Result finds the result of a call; nil when there is none.
func (t *Turn) Result(call string) *Result {
	if i := t.answered.find(call, len(t.Results), func(i int) string { return t.Results[i].Call }); i >= 0 {
		return &t.Results[i]
	}
	return nil
}

// InOrder reports whether the results stand in the order of their calls (I3).
func (t *Turn) InOrder() bool {
	return slices.IsSortedFunc(t.Results, func(a, b Result) int { return t.place(a.Call) - t.place(b.Call) })
}

func (t *Turn) place(id string) int {
	return t.called.find(id, len(t.Calls), func(i int) string { return t.Calls[i].ID })
}

// Rename gives calls other ids, with all that names them; those that are not in names keep theirs.
func (t *Turn) Rename(names map[string]string) {
	for i, c := range t.Calls {
		t.Calls[i].ID = cmp.Or(names[c.ID], c.ID)
	}
	for i, r := range t.Results {
		t.Results[i].Call = cmp.Or(names[r.Call], r.Call)
	}
	for i, u := range t.Unanswered {
		t.Unanswered[i].Call = cmp.Or(names[u.Call], u.Call)
	}
	t.called, t.answered = index{}, index{}
}

// index has, one further, the first place of each id in a list that grows at its end: a message may have tens of
// thousands of calls, each of which is looked for more than once.
type index struct {
	first map[string]int
	n     int
}

// find gives the first place of an id among n of them, -1 where it has none.
func (x *index) find(id string, n int, of func(int) string) int {
	if x.first == nil {
		x.first = map[string]int{}
	}
	for ; x.n < n; x.n++ {
		x.first[of(x.n)] = cmp.Or(x.first[of(x.n)], x.n+1)
	}
	return x.first[id] - 1
}

// Kind is the kind of a problem.
type Kind string

// The problems a recording may have of its own.
const (
	CutStream  Kind = "cut"        // a stream, a file or its last line ends too early
	ErrorEvent Kind = "error"      // the model's side reported that it failed
	Malformed  Kind = "malformed"  // a line, an event or a body that cannot be read
	TooLarge   Kind = "too-large"  // a part passes a limit and was left out
	Stray      Kind = "stray"      // a result that answers no call
	Repeat     Kind = "repeated"   // an id that was given twice
	Unreadable Kind = "unreadable" // a body in an encoding that is not known
)

// Problem is what is wrong with a recording, and where.
type Problem struct {
	Kind Kind
	Text string
	// Line in the file and Interaction among its exchanges count from 1; 0 means
	// nothing. Conversation and Turn are set where the problem is one turn's.
	Line, Interaction  int
	Conversation, Turn int
}

// Place words where the problem is; "" for the file as a whole.
func (p Problem) Place() string {
	var parts []string
	for _, part := range []struct {
		word string
		n    int
	}{{"line", p.Line}, {"interaction", p.Interaction}, {"conversation", p.Conversation}, {"turn", p.Turn}} {
		if part.n > 0 {
			parts = append(parts, fmt.Sprintf("%s %d", part.word, part.n))
		}
	}
	return strings.Join(parts, ", ")
}

// String gives place and text.
func (p Problem) String() string { return strings.TrimPrefix(p.Place()+": "+p.Text, ": ") }

// The errors of Scan and Open, for errors.Is; the message names file and place.
var (
	// ErrNotRecording: nothing in the file is a recording.
	ErrNotRecording = errors.New("not a recording")
	// ErrTooLarge: the file as a whole passes a limit.
	ErrTooLarge = errors.New("over a limit")
	// ErrUnreadable: the bytes cannot be read.
	ErrUnreadable = errors.New("cannot be read")
)

// Limits keep a hostile or damaged file from exhausting memory. A zero member means its default.
type Limits struct {
	// Line is the longest line, in bytes; 32 MiB.
	Line int
	// Part is the largest document, interaction or response, in bytes; 64 MiB. What is packed counts unpacked.
	Part int64
	// Unpacked is the largest whole file that arrives packed, in bytes; 1 GiB.
	Unpacked int64
	// Nodes and Depth bound one YAML document, aliases written out; 500,000 and 100.
	Nodes, Depth int
	// Conversations is the most in one file; 100,000.
	Conversations int
	// Waiting is the most turns that are held for their results; 256.
	Waiting int
}

func (l Limits) complete() Limits {
	return Limits{
		Line: cmp.Or(max(0, l.Line), 32<<20), Part: cmp.Or(max(0, l.Part), 64<<20), Unpacked: cmp.Or(max(0, l.Unpacked), 1<<30),
		Nodes: cmp.Or(max(0, l.Nodes), 500_000), Depth: cmp.Or(max(0, l.Depth), 100),
		Conversations: cmp.Or(max(0, l.Conversations), 100_000), Waiting: cmp.Or(max(0, l.Waiting), 256),
	}
}
