package trace

import "time"

// Kind is what happened. The names are part of the trace format: they appear in digests,
// reports and scenarios.
type Kind string

// The kinds, in about the order in which one turn produces them. What an event of a kind
// holds is the type of the same name; Kinds lists them all.
const (
	KindTurnStart   Kind = "turn.start"
	KindCompacted   Kind = "compacted"
	KindPool        Kind = "pool"
	KindRequest     Kind = "request"
	KindFirstByte   Kind = "stream.open"
	KindBlockDone   Kind = "stream.block"
	KindStreamEnd   Kind = "stream.end"
	KindCleared     Kind = "context.cleared"
	KindStreamCut   Kind = "stream.cut"
	KindFallback    Kind = "fallback"
	KindReady       Kind = "call.ready"
	KindQueued      Kind = "call.queued"
	KindStarted     Kind = "call.start"
	KindStage       Kind = "call.stage"
	KindPredicate   Kind = "call.predicate"
	KindAsk         Kind = "call.ask"
	KindDecision    Kind = "call.decision"
	KindHook        Kind = "call.hook"
	KindProgress    Kind = "call.progress"
	KindEscalate    Kind = "call.escalate"
	KindCancel      Kind = "call.cancel"
	KindEnded       Kind = "call.end"
	KindLate        Kind = "call.late"
	KindPersisted   Kind = "call.persisted"
	KindApplied     Kind = "state.applied"
	KindDropped     Kind = "state.dropped"
	KindObserved    Kind = "state.observed"
	KindState       Kind = "state"
	KindEmitted     Kind = "call.emitted"
	KindDiscarded   Kind = "call.discarded"
	KindInterrupt   Kind = "interrupt"
	KindNotice      Kind = "notice"
	KindTaskStarted Kind = "task.start"
	KindTaskEnded   Kind = "task.end"
	KindMailSent    Kind = "mail.sent"
	KindMailTaken   Kind = "mail.taken"
	KindTurnEnd     Kind = "turn.end"
	KindRunEnd      Kind = "run.end"
	KindKilled      Kind = "world.kill"
	KindFile        Kind = "world.file"
)

// Data is what an event of one kind holds: one of the types below.
type Data interface{ kind() Kind }

// payloads has every type of Data, in about the order of a turn. What their events mean stands in payloads.txt.
var payloads = []Data{
	TurnStart{}, Compacted{}, Pool{}, Request{}, FirstByte{}, BlockDone{}, StreamEnd{}, Cleared{}, StreamCut{},
	Fallback{}, Ready{}, Queued{}, Started{}, &Stage{}, Predicate{}, Ask{}, Answer{}, Decision{}, Hook{}, Progress{},
	Escalate{}, Cancel{}, Ended{}, Late{}, Persisted{}, Applied{}, Dropped{}, Observed{}, State{}, Emitted{}, Discarded{},
	Interrupt{}, Notice{}, TaskStarted{}, TaskEnded{}, MailSent{}, MailTaken{}, TurnEnd{}, RunEnd{}, Killed{}, File{},
	Tree{},
}

// The payloads. A member's tag is its name in the canonical line and in scenarios;
// durations are written in microseconds, lists and objects as JSON.
type (
	TurnStart struct {
		// Began is the call that began the sub-agent whose request this is, for drawing. No
		// line of the trace has it.
		Began string
	}
	Compacted struct {
		Cut  int `trace:"cut"`
		Kept int `trace:"kept"`
	}
	Pool struct {
		Tools      []string          `trace:"tools"`
		Deferred   []string          `trace:"deferred"`
		Builtins   int               `trace:"builtins"`
		Prefix     int               `trace:"prefix"`
		PrefixHash string            `trace:"prefix_hash"`
		Hash       string            `trace:"hash"`
		WholeBytes int               `trace:"whole_bytes"`
		SentBytes  int               `trace:"sent_bytes"`
		Deferring  bool              `trace:"deferring"`
		Reason     string            `trace:"reason"`
		Omitted    map[string]string `trace:"omitted"`
		// Find gives the tool of a name as the tool system has it, for drawing; nil where
		// there is none. No line of the trace has it.
		Find func(name string) any
	}
	Request struct {
		Bytes    int    `trace:"bytes"`
		Messages int    `trace:"messages"`
		Tools    int    `trace:"tools"`
		Model    string `trace:"model"`
	}
	FirstByte struct{}
	BlockDone struct {
		Type  string `trace:"type"`
		Chars int    `trace:"chars"`
	}
	StreamEnd struct {
		Stop string `trace:"stop"`
	}
	StreamCut struct {
		ID     string `trace:"id"`
		Name   string `trace:"name"`
		Input  string `trace:"input"`
		Reason string `trace:"reason,omitempty"`
	}
	Fallback struct {
		Error   string `trace:"error"`
		Attempt int    `trace:"attempt"`
	}
	Ready struct {
		Safe  bool   `trace:"safe"`
		Input string `trace:"input"`
	}
	Queued struct {
		// Reason is what the call waits for, On the calls that are in its way.
		Reason string   `trace:"reason"`
		On     []string `trace:"on"`
	}
	Started struct {
		Touches Touches `trace:"touches"`
	}
	// Stage is an event by its address: those of a call lie side by side, since a call passes
	// a dozen and each would be copied apart.
	Stage struct {
		Stage  string        `trace:"stage"`
		Result string        `trace:"result"`
		Took   time.Duration `trace:"took_us"`
	}
	Predicate struct {
		Predicate string `trace:"predicate"`
		// Tool is set where the function was not asked about a call.
		Tool  string `trace:"tool,omitempty"`
		Error string `trace:"error"`
	}
	Ask struct {
		Reason string `trace:"reason"`
	}
	Answer struct {
		Allow  bool          `trace:"allow"`
		Waited time.Duration `trace:"waited_us"`
	}
	Decision struct {
		Behaviour string `trace:"behaviour"`
		Reason    string `trace:"reason"`
	}
	Hook struct {
		Event string `trace:"event"`
		Hook  string `trace:"hook"`
		// Did are the parts of its reply that counted, with commas.
		Did     string        `trace:"did"`
		Trouble string        `trace:"trouble"`
		Took    time.Duration `trace:"took_us"`
	}
	Progress struct {
		Text string `trace:"text"`
	}
	Escalate struct{}
	Cancel   struct {
		Cause string `trace:"cause"`
	}
	Ended struct {
		Status string `trace:"status"`
		// Answer is what came of a call that another call made, for drawing: its result does
		// not leave by itself. No line of the trace has it.
		Answer *Emitted
	}
	Late struct {
		Status string `trace:"status"`
	}
	Persisted struct {
		Verdict string `trace:"verdict"`
		Path    string `trace:"path"`
		Chars   int    `trace:"chars"`
		Inline  int    `trace:"inline"`
		Why     string `trace:"why"`
	}
	Applied struct{}
	Dropped struct {
		Error string `trace:"error,omitempty"`
	}
	Observed struct {
		Read       string   `trace:"read,omitempty"`
		Hash       string   `trace:"hash,omitempty"`
		Discovered []string `trace:"discovered,omitempty"`
		Task       string   `trace:"task,omitempty"`
	}
	State struct {
		State StateView `trace:"state"`
	}
	Emitted struct {
		Status string `trace:"status"`
		Error  bool   `trace:"error"`
		Text   string `trace:"text"`
		Blocks int    `trace:"blocks"`
		// Data is the tool's own answer, nil where something else stands in its place, and
		// Content the blocks of the result, as the tool system has them. Both are for
		// drawing; no line of the trace has them.
		Data, Content any
	}
	Discarded struct{}
	Cleared   struct {
		Uses   int `trace:"uses"`
		Tokens int `trace:"tokens"`
	}
	Interrupt struct {
		Text string `trace:"text"`
	}
	Notice struct {
		Text string `trace:"text"`
	}
	TaskStarted struct{ Task }
	TaskEnded   struct{ Task }
	MailSent    struct{ Mail }
	MailTaken   struct{ Mail }
	TurnEnd     struct {
		Results int `trace:"results"`
		Denied  int `trace:"denied"`
	}
	RunEnd struct {
		Error string `trace:"error,omitempty"`
		Stop  string `trace:"stop,omitempty"`
	}
	Killed struct{}
	File   struct {
		Path    string `trace:"path"`
		Is      string `trace:"is"`
		Content string `trace:"content"`
	}
	Tree struct {
		Tree string `trace:"tree"`
	}
)

// Task is a background task at its beginning or end.
type Task struct {
	ID     string `trace:"task"`
	Title  string `trace:"title"`
	Status string `trace:"status"`
	Exit   int    `trace:"exit"`
}

// Mail is a message to an agent, which is the event's.
type Mail struct {
	ID    string `trace:"mail"`
	From  string `trace:"from"`
	Is    string `trace:"is"`
	About string `trace:"about,omitempty"`
	Text  string `trace:"text"`
}

// Touches is what a call that starts reads and writes: what it conflicts with bounds from
// below how long the message must take, whatever the policy. The zero value is a call that
// touches nothing.
type Touches struct {
	Reads      []string `json:"reads"`
	Writes     []string `json:"writes"`
	Everything bool     `json:"-"`
}

// StateView is the state as scenarios may expect it.
type StateView struct {
	Dir        string            `json:"cwd"`
	Mode       string            `json:"mode"`
	Env        map[string]string `json:"env,omitempty"`
	Discovered []string          `json:"discovered,omitempty"`
	Todos      []Todo            `json:"todos,omitempty"`
	Plan       string            `json:"plan,omitempty"`
	Files      []string          `json:"files,omitempty"`
	Denials    string            `json:"denials,omitempty"`
	Rules      []string          `json:"rules,omitempty"`
	Output     string            `json:"output,omitempty"`
	Options    map[string]string `json:"options,omitempty"`
}

// Todo is one item of the to-do list.
type Todo struct {
	Content    string `json:"content"`
	Status     string `json:"status"`
	ActiveForm string `json:"activeForm"`
}

func (TurnStart) kind() Kind   { return KindTurnStart }
func (Compacted) kind() Kind   { return KindCompacted }
func (Pool) kind() Kind        { return KindPool }
func (Request) kind() Kind     { return KindRequest }
func (FirstByte) kind() Kind   { return KindFirstByte }
func (BlockDone) kind() Kind   { return KindBlockDone }
func (StreamEnd) kind() Kind   { return KindStreamEnd }
func (Cleared) kind() Kind     { return KindCleared }
func (StreamCut) kind() Kind   { return KindStreamCut }
func (Fallback) kind() Kind    { return KindFallback }
func (Ready) kind() Kind       { return KindReady }
func (Queued) kind() Kind      { return KindQueued }
func (Started) kind() Kind     { return KindStarted }
func (*Stage) kind() Kind      { return KindStage }
func (Predicate) kind() Kind   { return KindPredicate }
func (Ask) kind() Kind         { return KindAsk }
func (Answer) kind() Kind      { return KindAsk }
func (Decision) kind() Kind    { return KindDecision }
func (Hook) kind() Kind        { return KindHook }
func (Progress) kind() Kind    { return KindProgress }
func (Escalate) kind() Kind    { return KindEscalate }
func (Cancel) kind() Kind      { return KindCancel }
func (Ended) kind() Kind       { return KindEnded }
func (Late) kind() Kind        { return KindLate }
func (Persisted) kind() Kind   { return KindPersisted }
func (Applied) kind() Kind     { return KindApplied }
func (Dropped) kind() Kind     { return KindDropped }
func (Observed) kind() Kind    { return KindObserved }
func (State) kind() Kind       { return KindState }
func (Emitted) kind() Kind     { return KindEmitted }
func (Discarded) kind() Kind   { return KindDiscarded }
func (Interrupt) kind() Kind   { return KindInterrupt }
func (Notice) kind() Kind      { return KindNotice }
func (TaskStarted) kind() Kind { return KindTaskStarted }
func (TaskEnded) kind() Kind   { return KindTaskEnded }
func (MailSent) kind() Kind    { return KindMailSent }
func (MailTaken) kind() Kind   { return KindMailTaken }
func (TurnEnd) kind() Kind     { return KindTurnEnd }
func (RunEnd) kind() Kind      { return KindRunEnd }
func (Killed) kind() Kind      { return KindKilled }
func (File) kind() Kind        { return KindFile }
func (Tree) kind() Kind        { return KindFile }
