package scenario

// World is what there is before the run begins, by subject.
type World struct {
	Machine      `yaml:",inline"`
	Client       `yaml:",inline"`
	Toolset      `yaml:",inline"`
	Conversation `yaml:",inline"`
}

// Machine is the simulated machine: its folders, its disk and the web around it.
type Machine struct {
	// CWD is the working directory; "/repo" when not given.
	CWD string `yaml:"cwd"`
	// Home is the home folder, Env the variables of the environment.
	Home string            `yaml:"home"`
	Env  map[string]string `yaml:"env"`
	// Tree is a txtar file beside the scenario or in the fixtures; Files are further files, by absolute path.
	Tree  string            `yaml:"tree"`
	Files map[string]string `yaml:"files"`
	// Capacity is the disk's size in bytes; ReadOnly mounts it so.
	Capacity int64 `yaml:"capacity"`
	ReadOnly bool  `yaml:"read_only"`
	// Web are the pages that are there to be found, by URL, or by method and URL
	// ("POST https://..."), which is looked for first.
	Web map[string]Page `yaml:"web"`
	// Browser is the browser that WebBrowser drives; it finds the pages of Web.
	Browser *Browser `yaml:"browser"`
	// Push is the address of the topic that PushNotification posts to, as ntfy has them.
	Push string `yaml:"push"`
	// Search is the address of the SearXNG that WebSearch asks, in place of DuckDuckGo.
	Search string `yaml:"search"`
	// RemoteSkills are skills to be fetched, by what follows "remote:" in their names.
	RemoteSkills map[string]string `yaml:"remote_skills"`
	// Languages are the language servers that LSP can ask.
	Languages []Language `yaml:"languages"`
}

// Client is how the tool system is configured.
type Client struct {
	// Settings are environment variables as settings.FromEnv reads them; Profile
	// starts from a named profile in place of the external default.
	Settings map[string]string `yaml:"settings"`
	Profile  string            `yaml:"profile" names:"profile"`
	// Permissions are the mode and the rules in force.
	Permissions Permissions `yaml:"permissions"`
	// NonInteractive means that nobody can be asked.
	NonInteractive bool `yaml:"non_interactive"`
}

// Toolset is the tools there are.
type Toolset struct {
	// MCP are the servers of tools.
	MCP []Server `yaml:"mcp"`
	// Only keeps these built-ins, so that a scenario shows what it is about and its
	// cassette stays small; not given keeps all, an empty list none.
	Only []string `yaml:"only" names:"builtin"`
	// Tools are tools of the scenario's own, beside the built-ins.
	Tools []OwnTool `yaml:"tools"`
	// Memory is the folder of the memory tool, absolute or below the working directory; the tool is
	// there where one is named.
	Memory string `yaml:"memory"`
	// Style is how deferred tools are listed for the model: names, hints or api, or
	// server-regex or server-bm25 where the API itself searches them.
	Style string `yaml:"style" names:"style"`
}

// Conversation is the model that is asked, and the bounds and the past of the conversation with it.
type Conversation struct {
	// Model is the name of the model that is asked; Betas are those that the client asks for.
	Model string   `yaml:"model"`
	Betas []string `yaml:"betas"`
	// Thinking is how the model may think, Editing what the API clears out of long requests.
	Thinking Thinking `yaml:"thinking"`
	Editing  Editing  `yaml:"editing"`
	// AgentDepth is how deep agents may start agents; 0 and 1 leave it to the main conversation.
	AgentDepth int `yaml:"agent_depth"`
	// MaxTurns and Retries bound the conversation; Retries is how often an abandoned stream is tried again.
	MaxTurns int `yaml:"max_turns"`
	Retries  int `yaml:"retries"`
	// Output is the schema that the answer has to fit; not given, the answer is text.
	Output map[string]any `yaml:"output"`
	// StreamIdle abandons a stream that makes no progress for so long, pings or not; 0 waits for ever.
	StreamIdle Duration `yaml:"stream_idle"`
	// Stay is how long the conversation waits, when its turn has ended, for a message of
	// an agent or a job that is due; 0 ends it at once.
	Stay Duration `yaml:"stay"`
	// Diagnose asks the API why its cache could not read more.
	Diagnose bool `yaml:"diagnose"`
	// Reminder is what the model is told anew with each message.
	Reminder string `yaml:"reminder"`
	// History are the messages of an earlier session; Compactions cut the conversation.
	History     []PastMessage `yaml:"history"`
	Compactions []Compaction  `yaml:"compactions"`
}

// Thinking is how the model may think.
type Thinking struct {
	// Budget is how many tokens it may think with; Adaptive leaves that to the model. Interleaved lets
	// it think between calls.
	Budget      int  `yaml:"budget"`
	Adaptive    bool `yaml:"adaptive"`
	Interleaved bool `yaml:"interleaved"`
}

// Editing has the API clear results of old calls out of long requests.
type Editing struct {
	// Trigger is the number of input tokens from which on it does; Keep is how many calls stay, AtLeast
	// how many tokens must be gained.
	Trigger int `yaml:"trigger"`
	Keep    int `yaml:"keep"`
	AtLeast int `yaml:"at_least"`
	// Exclude are tools whose results stay; Inputs clears the calls' inputs as well.
	Exclude []string `yaml:"exclude" names:"tool"`
	Inputs  bool     `yaml:"inputs"`
}

// Permissions are the rules in force.
type Permissions struct {
	// Mode is the permission mode at the start.
	Mode string `yaml:"mode" names:"mode"`
	// Allow, Ask and Deny are rules, as "Bash(git log:*)".
	Allow []string `yaml:"allow" names:"rule"`
	Ask   []string `yaml:"ask" names:"rule"`
	Deny  []string `yaml:"deny" names:"rule"`
	// Roots are further allowed folders.
	Roots []string `yaml:"roots"`
}

// Server is an in-memory MCP server made from a catalogue. In a file it may be just the catalogue's name.
type Server struct {
	// Catalogue is the list of tools: one by name, or a file beside the scenario.
	Catalogue string `yaml:"catalogue"`
	// Only keeps these servers of the catalogue.
	Only []string `yaml:"only"`
	// FromTurn and UntilTurn are the requests in which it is there; 0 is no bound.
	FromTurn  int `yaml:"from_turn"`
	UntilTurn int `yaml:"until_turn"`
	// Bare keeps the tools' own names (N1). Reverse lists and hands them on
	// backwards, as another order of connecting would.
	Bare    bool `yaml:"bare"`
	Reverse bool `yaml:"reverse"`
	// Answers are the results of tools, by name; a tool without one gives its input back.
	Answers map[string]string `yaml:"answers"`
	// Results are whole results as MCP has them (content, structuredContent, isError), by tool;
	// they come before Answers.
	Results map[string]map[string]any `yaml:"results"`
	// Asks are questions that tools put to the person before they work, by tool (N5). Resources are texts to be read,
	// by address (N8). Prompts are texts to be filled in, by name; a {word} in one is an argument (N9).
	Asks      map[string]ServerAsk `yaml:"asks"`
	Resources map[string]string    `yaml:"resources"`
	Prompts   map[string]string    `yaml:"prompts"`
	// Lists are other lists of tools, each from a later request on (N6). Faults are what
	// goes wrong with the server (N4, O7).
	Lists  []ServerList  `yaml:"lists"`
	Faults []ServerFault `yaml:"faults"`
	// TTL is for how long a list of the server's stands (N9); it announces no change then, and
	// the client has to read the list anew when the time is over.
	TTL Duration `yaml:"ttl"`
	// Protocol is the version the client asks for; the latest if not given.
	Protocol string `yaml:"protocol"`
	// HTTP has the servers behind addresses, where each hands the catalogue's tools on as
	// another toolbench does: it asks nothing and has neither resources nor prompts.
	HTTP *ServerHTTP `yaml:"http"`
}

// ServerHTTP is how a server behind an address lets its client in.
type ServerHTTP struct {
	// By is who is let in: a person who visits a page, or the client by its own secret; anybody
	// if not given. A person takes some time (After); Declines is one who does not agree.
	By       string   `yaml:"by" names:"admission"`
	After    Duration `yaml:"after"`
	Declines bool     `yaml:"declines"`
	// Granted begins with a grant of an earlier session that is over. Lasts is how long one is
	// valid, an hour if not given; the server then refreshes it, unless it Forgets it.
	Granted bool     `yaml:"granted"`
	Lasts   Duration `yaml:"lasts"`
	Forgets bool     `yaml:"forgets"`
}

// ServerList is another list of a server's tools, from one request on (N6).
type ServerList struct {
	// Turn is the request before which the list changes, counted from 1. The server's
	// notification takes 10 ms, which the request waits for.
	Turn int `yaml:"turn"`
	// Catalogue holds the new list; not given, the list at hand. Without leaves these tools out of it.
	Catalogue string   `yaml:"catalogue"`
	Without   []string `yaml:"without"`
	// List is what becomes of the list when it is asked for: fails, hangs or careless, which
	// has each tool twice and one without a name.
	List string `yaml:"list" names:"list"`
}

// ServerFault is one thing that goes wrong with a server (O7). Call or Tool (the server's own name for it) names the
// calls it happens to, Connect the connection, counted from 1; Server is for catalogues of several.
type ServerFault struct {
	// Server, Call, Tool and Connect are the place: a server of several, a call by id, calls of a
	// tool, a connection from 1.
	Server  string `yaml:"server"`
	Call    string `yaml:"call" names:"call"`
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
	// Unsubscribed ends the stream on which the server announces changes, before the answer.
	Unsubscribed bool `yaml:"unsubscribed"`
	// Slow is how long the server takes for the answer; Progress is how often it reports progress meanwhile.
	Slow     Duration `yaml:"slow"`
	Progress Duration `yaml:"progress"`
	// Refused turns the connection down. List is what becomes of the list asked for when it is connected: fails,
	// hangs or careless, which has each tool twice and one without a name.
	Refused bool   `yaml:"refused"`
	List    string `yaml:"list" names:"list"`
}

// ServerAsk is a question that a tool of a server puts to the person before it works
// (N5): a form, or, with a URL, a page to visit.
type ServerAsk struct {
	// Message is the question; Schema is that of the form, URL the page to visit in place of a form.
	Message string         `yaml:"message"`
	Schema  map[string]any `yaml:"schema"`
	URL     string         `yaml:"url"`
	// Forgets has the server not know its own question any more when the answer comes.
	Forgets bool `yaml:"forgets"`
}

// Page is what the web answers for an address, or for a method and an address.
type Page struct {
	WebAnswer `yaml:",inline"`
	// Again are the answers of further requests for it, one each; the last stays.
	Again []WebAnswer `yaml:"again"`
}

// WebAnswer is one answer of the web.
type WebAnswer struct {
	// Status is that of HTTP, 200 if not given; Type is the content type, Body the content, To where
	// the answer redirects to, After how long it takes.
	Status int      `yaml:"status"`
	Type   string   `yaml:"type"`
	Body   string   `yaml:"body"`
	To     string   `yaml:"redirect"`
	After  Duration `yaml:"after"`
	// Repeat is how often the content stands there; Breaks breaks the answer off behind it, and
	// Refused takes no connection.
	Repeat  int  `yaml:"repeat"`
	Breaks  bool `yaml:"breaks"`
	Refused bool `yaml:"refused"`
}

// Browser is a simulated browser: it opens pages, follows the link of an element by its #id and
// keeps what is typed as the element's value, and runs no scripts.
type Browser struct {
	// Values are what scripts give, as JSON, by script.
	Values map[string]string `yaml:"values"`
}

// Language is a scripted language server.
type Language struct {
	// Name is the language, Extensions are those of its files: .go.
	Name       string   `yaml:"name"`
	Extensions []string `yaml:"extensions"`
	// Answers are its results by method, such as textDocument/definition; any other gets null.
	Answers map[string]any `yaml:"answers"`
	// Ends is the method at which the server ends instead of an answer; Refused starts none.
	Ends    string `yaml:"ends"`
	Refused bool   `yaml:"refused"`
}

// PastMessage is one message of an earlier session, as its transcript has it: results
// may be missing, stand twice or answer no call.
type PastMessage struct {
	// Role is user or assistant.
	Role string `yaml:"role" names:"role"`
	// Results come first, then Blocks as an API gave them (such as thinking), Text and Calls.
	Results []PastResult     `yaml:"results"`
	Blocks  []map[string]any `yaml:"blocks"`
	Text    string           `yaml:"text"`
	Calls   []Scripted       `yaml:"calls"`
	// Discovered are the tools that the earlier session found.
	Discovered []string `yaml:"discovered"`
}

// PastResult is the result of a call of an earlier session.
type PastResult struct {
	// Call is the id that the result answers; Text is what it holds, and Error marks a failure.
	Call string `yaml:"call"`
	Text string `yaml:"text"`
	// References are tools that the result refers to, in place of a text.
	References []string `yaml:"references"`
	// Error marks a failure.
	Error bool `yaml:"error"`
}

// Compaction cuts the conversation before a request and puts a summary in the place of what was cut (E6).
type Compaction struct {
	// Turn counts requests from 1.
	Turn int `yaml:"turn"`
	// Summary is what stands in the place of the messages that were cut.
	Summary string `yaml:"summary"`
	// Keep is how many of the last messages stay.
	Keep int `yaml:"keep"`
}

// OwnTool is a tool the scenario brings, for traits no built-in has.
type OwnTool struct {
	// Name is what the model calls it; About is its description.
	Name         string `yaml:"name"`
	About        string `yaml:"about"`
	ToolInput    `yaml:",inline"`
	ToolTraits   `yaml:",inline"`
	ToolLoading  `yaml:",inline"`
	ToolAnswer   `yaml:",inline"`
	ToolModifier `yaml:",inline"`
}

// ToolInput is what a scenario's tool takes.
type ToolInput struct {
	// Schema is its input's JSON Schema; any object when not given.
	Schema map[string]any `yaml:"schema"`
	// Derived is a member its backfill adds for observers (G2).
	Derived map[string]string `yaml:"derived"`
	// Internal is a member only permission may set, let through by its schema.
	Internal string `yaml:"internal"`
	// Strict has the API hold the model to the schema, Eager has it stream inputs as they come.
	// Examples are inputs as they should be, Callers who may call it.
	Strict   bool             `yaml:"strict"`
	Eager    bool             `yaml:"eager"`
	Examples []map[string]any `yaml:"examples"`
	Callers  []string         `yaml:"callers"`
}

// ToolTraits is how a scenario's tool may be scheduled.
type ToolTraits struct {
	// Safe lets it run beside other calls; ReadOnly is for permission.
	Safe     bool `yaml:"safe"`
	ReadOnly bool `yaml:"read_only"`
	// SafePanics makes the predicate fail (A5).
	SafePanics bool `yaml:"safe_panics"`
	// ExclusiveIf makes an input that contains this text exclusive, for inputs that a hook rewrites (G2).
	ExclusiveIf string `yaml:"exclusive_if"`
	// Interrupt is cancel or block.
	Interrupt string `yaml:"interrupt" names:"interrupt"`
	// StopsSiblings makes its failure stop the calls beside it, as Bash's does (J3).
	StopsSiblings bool `yaml:"stops_siblings"`
	// Reads and Writes are the keys it declares to touch (J8); with neither, everything.
	Reads  []string `yaml:"reads"`
	Writes []string `yaml:"writes"`
	// Timeout ends a call that runs longer.
	Timeout Duration `yaml:"timeout"`
}

// ToolLoading is how a scenario's tool is sent to the model.
type ToolLoading struct {
	// Alias is another name that it goes by, Hint a line for the list of deferred tools; Deferrable
	// lets it be sent by name alone, and Always never.
	Alias      string `yaml:"alias"`
	Hint       string `yaml:"hint"`
	Deferrable bool   `yaml:"deferrable"`
	Always     bool   `yaml:"always"`
}

// ToolAnswer is the result of a scenario's tool.
type ToolAnswer struct {
	// Answer is its result; "$input" gives the input back. Repeat repeats it.
	Answer string `yaml:"answer"`
	Repeat int    `yaml:"repeat"`
	// Failed makes the result a failure.
	Failed bool `yaml:"failed"`
	// Answers are its results by call id, before Answer; FailedCalls are the ids of those that fail.
	Answers     map[string]string `yaml:"answers" names:"call"`
	FailedCalls []string          `yaml:"failed_calls" names:"call"`
	// ResultChars is how long a result may be before it is kept in a file.
	ResultChars int `yaml:"result_chars"`
}

// ToolModifier is what a scenario's tool changes of the state.
type ToolModifier struct {
	// SetCWD, SetEnv make it return a modifier, whether it is safe or not (B3).
	SetCWD string            `yaml:"set_cwd"`
	SetEnv map[string]string `yaml:"set_env"`
}
