package scenario

import (
	"cmp"
	"io/fs"
	"time"

	"toolbench/sim/stream"
	"toolbench/toolsys/schedule"
)

// FormatVersion is the version of the file format this program writes.
const FormatVersion = 1

// Scenario is one file, as read. Every member's yaml name is the format's key.
type Scenario struct {
	// Format is the format's version; 0 stands for the current one.
	Format int    `yaml:"format"`
	Name   string `yaml:"name"`
	// About says in a sentence what the scenario guards.
	About string   `yaml:"about"`
	Tags  []string `yaml:"tags"`
	World World    `yaml:"world"`
	// Prompt is the user's first message; Then are further ones, each sent when the
	// one before is answered.
	Prompt string   `yaml:"prompt"`
	Then   []string `yaml:"then"`
	Stream Script   `yaml:"stream"`
	// Durations are how long calls take, by tool name or by call id.
	Durations map[string]Duration `yaml:"durations"`
	Policy    string              `yaml:"policy"`
	User      UserScript          `yaml:"user"`
	Hooks     []HookScript        `yaml:"hooks"`
	// Classifier answers for the safety classifier; the first match counts.
	Classifier []Ruling `yaml:"classifier"`
	Faults     []Fault  `yaml:"faults"`
	Expect     Expect   `yaml:"expect"`

	// file and places tell where everything stands; fsys is where what it points
	// to is looked for.
	file   string
	dir    string
	fsys   fs.FS
	places places
}

// DefaultPolicy is the policy of a scenario that names none.
const DefaultPolicy = schedule.Streaming

// PolicyName is the policy the scenario is written for.
func (sc *Scenario) PolicyName() string {
	return cmp.Or(sc.Policy, DefaultPolicy.String())
}

// World is what there is before the run begins.
type World struct {
	// CWD is the working directory; "/repo" when not given.
	CWD string `yaml:"cwd"`
	// Tree is a txtar file beside the scenario or in the fixtures; Files are
	// further files, by absolute path.
	Tree  string            `yaml:"tree"`
	Files map[string]string `yaml:"files"`
	Home  string            `yaml:"home"`
	Env   map[string]string `yaml:"env"`
	// Settings are environment variables as settings.FromEnv reads them; Profile
	// starts from a named profile in place of the external default.
	Settings    map[string]string `yaml:"settings"`
	Profile     string            `yaml:"profile"`
	Permissions Permissions       `yaml:"permissions"`
	MCP         []Server          `yaml:"mcp"`
	Model       string            `yaml:"model"`
	Betas       []string          `yaml:"betas"`
	// Style is how deferred tools are told: names, hints or api.
	Style string `yaml:"style"`
	// NonInteractive: nobody can be asked.
	NonInteractive bool `yaml:"non_interactive"`
	// MaxTurns and Retries bound the conversation; Retries is how often an
	// abandoned stream is tried again.
	MaxTurns int `yaml:"max_turns"`
	Retries  int `yaml:"retries"`
	// StreamIdle abandons a stream that says nothing for so long; 0 waits for ever.
	StreamIdle Duration `yaml:"stream_idle"`
	// Capacity is the disk's size in bytes; ReadOnly mounts it so.
	Capacity int64 `yaml:"capacity"`
	ReadOnly bool  `yaml:"read_only"`
	// Web are the pages WebFetch finds, by URL.
	Web map[string]Page `yaml:"web"`
	// History is what was said before, as in an earlier session; Compactions cut what
	// has been said.
	History     []Said       `yaml:"history"`
	Compactions []Compaction `yaml:"compactions"`
	// Only keeps these built-ins, so that a scenario shows what it is about and its
	// cassette stays small; not given keeps all, an empty list none.
	Only []string `yaml:"only"`
	// Tools are tools of the scenario's own, beside the built-ins.
	Tools []OwnTool `yaml:"tools"`
}

// Permissions are the rules in force.
type Permissions struct {
	Mode  string   `yaml:"mode"`
	Allow []string `yaml:"allow"`
	Ask   []string `yaml:"ask"`
	Deny  []string `yaml:"deny"`
	// Roots are further allowed folders.
	Roots []string `yaml:"roots"`
}

// Server is an in-memory MCP server made from a catalogue. In a file it may be
// just the catalogue's name.
type Server struct {
	Catalogue string `yaml:"catalogue"`
	// Only keeps these servers of the catalogue.
	Only []string `yaml:"only"`
	// FromTurn and UntilTurn say in which requests it is there; 0 is no bound.
	FromTurn  int `yaml:"from_turn"`
	UntilTurn int `yaml:"until_turn"`
	// Bare keeps the tools' own names (N1). Reverse lists and hands them on
	// backwards, as another order of connecting would.
	Bare    bool              `yaml:"bare"`
	Reverse bool              `yaml:"reverse"`
	Answers map[string]string `yaml:"answers"`
	// Asks are questions that tools put to the person before they work, by tool (N5).
	// Resources are texts to be read, by address (N8).
	Asks      map[string]ServerAsk `yaml:"asks"`
	Resources map[string]string    `yaml:"resources"`
	// Lists are other lists of tools, each from a later request on (N6). Faults are what
	// goes wrong with the server (N4, O7).
	Lists  []ServerList  `yaml:"lists"`
	Faults []ServerFault `yaml:"faults"`
	// Protocol is the version the client asks for; the latest if not given.
	Protocol string `yaml:"protocol"`
}

// ServerList is another list of a server's tools, from one request on (N6).
type ServerList struct {
	// Turn is the request before which the list changes, counted from 1. The server's
	// word of it takes 10 ms, which the request waits for.
	Turn int `yaml:"turn"`
	// Catalogue holds the new list; not given, the list at hand. Without leaves these
	// tools out of it.
	Catalogue string   `yaml:"catalogue"`
	Without   []string `yaml:"without"`
	// List is what becomes of the list when it is asked for: fails or hangs.
	List string `yaml:"list"`
}

// ServerFault is one thing that goes wrong with a server (O7). Call or Tool (the server's
// own name for it) names the calls it befalls, Connect the connection, counted from 1;
// Server is for catalogues of several.
type ServerFault struct {
	Server  string `yaml:"server"`
	Call    string `yaml:"call"`
	Tool    string `yaml:"tool"`
	Connect int    `yaml:"connect"`

	// Gone takes the server away when the call reaches it; Back is when it can be
	// connected again, never if not given.
	Gone bool     `yaml:"gone"`
	Back Duration `yaml:"back"`
	// Duplicate answers the call twice; Unknown first answers a request nobody made;
	// Rubbish is sent in place of the answer.
	Duplicate bool   `yaml:"duplicate"`
	Unknown   bool   `yaml:"unknown"`
	Rubbish   string `yaml:"rubbish"`
	// Slow is how long the server takes for the answer.
	Slow Duration `yaml:"slow"`
	// Refused turns the connection down. List is what becomes of the list asked for
	// when it is connected: fails or hangs.
	Refused bool   `yaml:"refused"`
	List    string `yaml:"list"`
}

// ServerAsk is a question that a tool of a server puts to the person before it works
// (N5): a form, or, with a URL, a page to visit.
type ServerAsk struct {
	Message string         `yaml:"message"`
	Schema  map[string]any `yaml:"schema"`
	URL     string         `yaml:"url"`
}

// Page is one answer of the web.
type Page struct {
	Status int      `yaml:"status"`
	Type   string   `yaml:"type"`
	Body   string   `yaml:"body"`
	To     string   `yaml:"redirect"`
	After  Duration `yaml:"after"`
}

// Said is one message of an earlier session.
type Said struct {
	Role       string   `yaml:"role"`
	Text       string   `yaml:"text"`
	Discovered []string `yaml:"discovered"`
}

// Compaction cuts the conversation before a request and puts a summary in the place
// of what was cut (E6).
type Compaction struct {
	// Turn counts requests from 1.
	Turn    int    `yaml:"turn"`
	Summary string `yaml:"summary"`
	// Keep is how many of the last messages stay.
	Keep int `yaml:"keep"`
}

// OwnTool is a tool the scenario brings: for traits no built-in has.
type OwnTool struct {
	Name     string `yaml:"name"`
	About    string `yaml:"about"`
	Safe     bool   `yaml:"safe"`
	ReadOnly bool   `yaml:"read_only"`
	// SafePanics makes the predicate fail (A5).
	SafePanics bool `yaml:"safe_panics"`
	// ExclusiveIf makes an input that contains this text exclusive, for inputs that
	// a hook rewrites (G2).
	ExclusiveIf string `yaml:"exclusive_if"`
	// Interrupt is cancel or block.
	Interrupt   string   `yaml:"interrupt"`
	Alias       string   `yaml:"alias"`
	Hint        string   `yaml:"hint"`
	Deferrable  bool     `yaml:"deferrable"`
	Always      bool     `yaml:"always"`
	ResultChars int      `yaml:"result_chars"`
	Timeout     Duration `yaml:"timeout"`
	// Answer is its result; "$input" gives the input back. Repeat repeats it.
	Answer string `yaml:"answer"`
	Repeat int    `yaml:"repeat"`
	Failed bool   `yaml:"failed"`
	// Schema is its input's JSON Schema; any object when not given. Answers are its
	// results by call id, before Answer; FailedCalls are the ids of those that fail.
	Schema      map[string]any    `yaml:"schema"`
	Answers     map[string]string `yaml:"answers"`
	FailedCalls []string          `yaml:"failed_calls"`
	// StopsSiblings makes its failure stop the calls beside it, as Bash's does (J3).
	StopsSiblings bool `yaml:"stops_siblings"`
	// Reads and Writes are the keys it says it touches (J8); with neither, everything.
	Reads  []string `yaml:"reads"`
	Writes []string `yaml:"writes"`
	// SetCWD, SetEnv make it return a modifier, whether it is safe or not (B3).
	SetCWD string            `yaml:"set_cwd"`
	SetEnv map[string]string `yaml:"set_env"`
	// Derived is a member its backfill adds for observers (G2).
	Derived map[string]string `yaml:"derived"`
	// Internal is a member only permission may set, let through by its schema.
	Internal string `yaml:"internal"`
}

// Script is what the model streams.
type Script struct {
	// Cassette is replayed; Turns are what it is recorded from, and run by
	// themselves where no cassette is named.
	Cassette string `yaml:"cassette"`
	Turns    []Turn `yaml:"turns"`
	Pace     Pace   `yaml:"pace"`
	// Chunk cuts the bytes into pieces of that many.
	Chunk int `yaml:"chunk"`
	// Requests is strict (the default: what is sent must be what was recorded) or
	// lenient.
	Requests string `yaml:"requests"`
	// Leftover allows recorded interactions that were not asked for.
	Leftover bool `yaml:"leftover"`
}

// Turn is one scripted answer of the model.
type Turn struct {
	// For picks the request this answers by a text in its first user message, for
	// sub-agents; "" answers the main conversation in order.
	For       string     `yaml:"for"`
	Text      string     `yaml:"text"`
	Thinking  string     `yaml:"thinking"`
	Calls     []Scripted `yaml:"calls"`
	Stop      string     `yaml:"stop"`
	FirstByte Duration   `yaml:"first_byte"`
	End       Duration   `yaml:"end"`
	// CutAfter ends the stream after that many events; Error sends an error event.
	CutAfter int    `yaml:"cut_after"`
	Error    string `yaml:"error"`
	// Pings are the times of further ping events.
	Pings []Duration `yaml:"pings"`
	// Repeat gives the same answer that many times more, for long sessions.
	Repeat int `yaml:"repeat"`
}

// Scripted is one call in a scripted answer.
type Scripted struct {
	ID    string         `yaml:"id"`
	Tool  string         `yaml:"tool"`
	Input map[string]any `yaml:"input"`
	// Raw is the input's text when it is to be no JSON.
	Raw string `yaml:"raw"`
	// At is when the block is complete.
	At Duration `yaml:"at"`
	// CutAt stops the input after that many bytes, as max_tokens does.
	CutAt int `yaml:"cut_at"`
	// SameID says that the id is taken on purpose, as a broken gateway does it (O7).
	SameID bool `yaml:"same_id"`
}

// Pace replaces the recorded times; in a file "recorded" or members.
type Pace struct {
	FirstByte       Duration `yaml:"first_byte"`
	TokensPerSecond float64  `yaml:"tokens_per_second"`
	set             bool
}

// Stream is the pace for a player, nil for the recorded times.
func (p Pace) Stream() *stream.Pace {
	if !p.set {
		return nil
	}
	return &stream.Pace{FirstByte: p.FirstByte.D(), TokensPerSecond: p.TokensPerSecond}
}

// UserScript is what the person does.
type UserScript struct {
	// Permits answer permission questions, in order of asking or by tool or call.
	Permits []Permit `yaml:"permits"`
	// Answers answer AskUserQuestion, in order.
	Answers []AnswerScript `yaml:"answers"`
	// Elicits answer what MCP servers want to know, in order or by server (N5).
	Elicits []ElicitScript `yaml:"elicits"`
	// Says are new messages in the middle of the run (J4).
	Says []Say `yaml:"says"`
}

// Permit is one answer to a permission question.
type Permit struct {
	// Tool or Call narrows the answer; neither answers anything.
	Tool  string         `yaml:"tool"`
	Call  string         `yaml:"call"`
	Allow bool           `yaml:"allow"`
	After Duration       `yaml:"after"`
	Text  string         `yaml:"text"`
	Input map[string]any `yaml:"input"`
	// Never leaves the question open for ever. Deaf answers also when the call was
	// stopped meanwhile.
	Never bool `yaml:"never"`
	Deaf  bool `yaml:"deaf"`
}

// AnswerScript is one answer to the model's questions.
type AnswerScript struct {
	Choose []string `yaml:"choose"`
	After  Duration `yaml:"after"`
}

// ElicitScript is the person's answer to one question of an MCP server (N5).
type ElicitScript struct {
	// Server narrows the answer to that server's questions.
	Server string `yaml:"server"`
	// Action is accept, decline or cancel; Content fills in the form.
	Action  string         `yaml:"action"`
	Content map[string]any `yaml:"content"`
	After   Duration       `yaml:"after"`
}

// Say is the user's new message.
type Say struct {
	At   Duration `yaml:"at"`
	Text string   `yaml:"text"`
}

// HookScript is a hook of the scenario's own, or a command.
type HookScript struct {
	Name     string         `yaml:"name"`
	Event    string         `yaml:"event"`
	Matcher  string         `yaml:"matcher"`
	If       string         `yaml:"if"`
	Timeout  Duration       `yaml:"timeout"`
	After    Duration       `yaml:"after"`
	Decision string         `yaml:"decision"`
	Reason   string         `yaml:"reason"`
	Input    map[string]any `yaml:"input"`
	Output   string         `yaml:"output"`
	Context  string         `yaml:"context"`
	Stop     bool           `yaml:"stop"`
	// Fails is error, panic or hang.
	Fails string `yaml:"fails"`
	// Command runs in the world's shell with JSON on stdin and stdout.
	Command string `yaml:"command"`
}

// Ruling is the classifier's word on inputs that contain Match.
type Ruling struct {
	Match  string   `yaml:"match"`
	Ruling string   `yaml:"ruling"`
	Text   string   `yaml:"text"`
	After  Duration `yaml:"after"`
	Fails  bool     `yaml:"fails"`
}

// Fault is one thing that goes wrong (O7). Call or Tool name a call to spoil;
// Request a request, counted from 1.
type Fault struct {
	Call string `yaml:"call"`
	Tool string `yaml:"tool"`
	// Panic, Error, Hang, Deaf (does not stop when asked) spoil a call's run.
	Panic string `yaml:"panic"`
	Error string `yaml:"error"`
	Hang  bool   `yaml:"hang"`
	Deaf  bool   `yaml:"deaf"`

	Request int `yaml:"request"`
	// Status answers with an HTTP status; CutAfter ends the stream after so many
	// events; StreamError sends an error event after CutAfter events; StallAfter
	// stops it there for Stall.
	Status      int      `yaml:"status"`
	CutAfter    int      `yaml:"cut_after"`
	StreamError string   `yaml:"stream_error"`
	StallAfter  int      `yaml:"stall_after"`
	Stall       Duration `yaml:"stall"`
	Malformed   int      `yaml:"malformed"`
	Repeat      int      `yaml:"repeat"`

	// The rest has no keys: it is written in the language of sim/fault, as
	// "huge @ call=c3". Huge is a result of half a million characters, Empty one of none;
	// DiskFull and DiskReadOnly change the disk at the moment in which the call does its
	// work; Slow is added to the time the call takes; Progress is reported so long after
	// its end.
	Huge         bool          `yaml:"-"`
	Empty        bool          `yaml:"-"`
	DiskFull     bool          `yaml:"-"`
	DiskReadOnly bool          `yaml:"-"`
	Slow         time.Duration `yaml:"-"`
	Progress     time.Duration `yaml:"-"`
	// Twice is the event that comes twice, Late the one that comes LateFor later.
	Twice   int           `yaml:"-"`
	Late    int           `yaml:"-"`
	LateFor time.Duration `yaml:"-"`
	// Server is what an MCP server does under the call.
	Server *ServerFault `yaml:"-"`
}
