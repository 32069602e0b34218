package generate

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"toolbench/property/des"
)

// SystemCase is one conversation of the whole system, as data.
type SystemCase struct {
	Seed   uint64 `yaml:"seed,omitempty"`
	Policy string `yaml:"policy" simple:"serial"`
	// Search is ENABLE_TOOL_SEARCH, "" unset (E2). Style is how deferred tools are
	// announced (E4). Small takes a model with a small window, which matters in automatic mode.
	Search string `yaml:"search,omitempty"`
	Style  string `yaml:"style,omitempty"`
	Small  bool   `yaml:"small,omitempty"`
	// Discovered are tools that an earlier session discovered (E6).
	Discovered []string `yaml:"known,omitempty"`
	// Mode and the rules are those in force (F1); Person is there to be asked.
	Mode   string   `yaml:"mode,omitempty"`
	Allow  []string `yaml:"allow,omitempty"`
	Ask    []string `yaml:"ask,omitempty"`
	Deny   []string `yaml:"deny,omitempty"`
	Person bool     `yaml:"person,omitempty"`
	// Retries is how often a stream that broke is tried again; Idle gives up one that sends nothing for so long (J5).
	Retries int           `yaml:"retries,omitempty"`
	Idle    time.Duration `yaml:"idle,omitempty"`

	// Kit are the built-ins that are there beside Builtins. Depth is how deep agents may start
	// agents, 0 being 1; with Forks they go on from the conversation that starts them. Stay is
	// how long the conversation waits for messages of agents and jobs.
	Kit   []string      `yaml:"kit,omitempty"`
	Depth int           `yaml:"depth,omitempty"`
	Forks bool          `yaml:"forks,omitempty"`
	Stay  time.Duration `yaml:"stay,omitempty"`

	Servers []Server `yaml:"servers,omitempty"`
	Tools   []Tool   `yaml:"tools,omitempty"`
	Hooks   []Hook   `yaml:"hooks,omitempty"`
	Turns   []Turn   `yaml:"turns"`
	// Interrupts are the times of new messages of the user (J4).
	Interrupts []time.Duration `yaml:"says,omitempty"`
	// Faults are what goes wrong (O7).
	Faults []des.Fault `yaml:"faults,omitempty"`
}

// Server is one of the fixtures' servers, there from one request to another; 0 is no bound.
type Server struct {
	Name  string `yaml:"name"`
	From  int    `yaml:"from,omitempty"`
	Until int    `yaml:"until,omitempty"`
	// Connect is what becomes of the first connection: refused, or its list of tools fails or hangs.
	Connect string `yaml:"connect,omitempty"`
	// Relist is the request before which its list changes: it loses the tools Without. List
	// is fails or hangs where the new one cannot be read (N6).
	Relist  int      `yaml:"relist,omitempty"`
	Without []string `yaml:"without,omitempty"`
	List    string   `yaml:"list,omitempty"`
}

// Tool is a tool of the case's own. It takes an integer n and answers with its input, or with so many Chars.
type Tool struct {
	Name       string `yaml:"name"`
	Safe       bool   `yaml:"safe,omitempty"`
	ReadOnly   bool   `yaml:"read_only,omitempty"`
	Deferrable bool   `yaml:"deferrable,omitempty"`
	Always     bool   `yaml:"always,omitempty"`
	// Fails: its result is a failure; Stops: that stops the calls beside it (J3).
	Fails bool `yaml:"fails,omitempty"`
	Stops bool `yaml:"stops,omitempty"`
	// WritesEnv: it adds its name to a variable of the state (B2).
	WritesEnv bool `yaml:"notes,omitempty"`
	// Limit is the most characters its result may have; 0 is the default (K1).
	Chars int `yaml:"chars,omitempty"`
	Limit int `yaml:"limit,omitempty"`
	// Timeout is the time limit of its run; 0 is none.
	Timeout time.Duration `yaml:"timeout,omitempty"`
}

// Hook is a hook on one tool, or on all with "".
type Hook struct {
	Event string `yaml:"event"`
	Tool  string `yaml:"tool,omitempty" shrink:"-"`
	// Decision is allow, ask, deny or "" (G1).
	Decision string `yaml:"says,omitempty"`
	// Input is what it makes of the input: good, bad (which breaks the schema), or
	// barred (a file in the folder that rules forbid).
	Input string `yaml:"input,omitempty"`
	// Output replaces the result's text.
	Output bool `yaml:"output,omitempty"`
	Stop   bool `yaml:"stop,omitempty"`
	// Fails is error, panic, hang (for a minute), or rubbish (a command that does not
	// answer in JSON): then OnFailure counts and nothing else of it (G2, G3, G4).
	Fails string `yaml:"fails,omitempty"`
	// OnFailure is allow, ask, deny or "" for the default.
	OnFailure string `yaml:"on_failure,omitempty"`
	withholds bool   // it failed and withholds the output
}

// Turn is one message of the model.
type Turn struct {
	Calls []Call `yaml:"calls,omitempty"`
}

// Call is one call.
type Call struct {
	ID   string `yaml:"id"`
	Tool string `yaml:"tool"`
	// Bad inputs break the schema.
	Bad bool `yaml:"bad,omitempty"`
	// Path is the file of Read, Write and Edit; Query is that of ToolSearch.
	Path  string `yaml:"path,omitempty" shrink:"-"`
	Query string `yaml:"query,omitempty" shrink:"-"`
	// Input is that of a tool of the Kit, as JSON.
	Input string        `yaml:"input,omitempty" shrink:"-"`
	At    time.Duration `yaml:"at,omitempty"`
	For   time.Duration `yaml:"for,omitempty"`
	// Answer is the person's when asked: yes, no, or good, bad, barred: yes, to another input. "" is yes.
	Answer string `yaml:"person,omitempty"`
	// Inside are the calls of the sub-agent that an Agent call starts; it may start others.
	// Background has it work beside its parent, Name is what it is reached by.
	Inside     []Call `yaml:"inside,omitempty"`
	Background bool   `yaml:"background,omitempty"`
	Name       string `yaml:"name,omitempty"`
}

// Calls counts the calls, those of sub-agents too.
func (s *SystemCase) Calls() int {
	n := 0
	s.Each(func(*Call, int, *Call) { n++ })
	return n
}

// Each walks over all calls: each with its turn, from 1, and, in a sub-agent, the call that started that.
func (s *SystemCase) Each(f func(c *Call, turn int, parent *Call)) {
	for t := range s.Turns {
		each(s.Turns[t].Calls, t+1, nil, f)
	}
}

func each(calls []Call, turn int, parent *Call, f func(*Call, int, *Call)) {
	for i := range calls {
		f(&calls[i], turn, parent)
		each(calls[i].Inside, turn, &calls[i], f)
	}
}

// Tool finds a tool of the case's own.
func (s *SystemCase) Tool(name string) *Tool {
	if i := slices.IndexFunc(s.Tools, func(t Tool) bool { return t.Name == name }); i >= 0 {
		return &s.Tools[i]
	}
	return nil
}

// Builtins are the built-ins that all cases have.
var Builtins = []string{"Agent", "Edit", "Read", "ToolSearch", "Write"}

// Check gives what makes no sense in a case.
func (s *SystemCase) Check() error {
	seen := map[string]bool{}
	var err error
	s.Each(func(c *Call, _ int, _ *Call) {
		switch {
		case c.ID == "" || seen[c.ID]:
			err = fmt.Errorf("the call id %q is missing or there twice", c.ID)
		case c.Tool != "Agent" && len(c.Inside) > 0:
			err = fmt.Errorf("call %s: only Agent has calls inside", c.ID)
		case s.InKit(c.Tool) && !c.Bad && !json.Valid([]byte(c.Input)):
			err = fmt.Errorf("call %s: its input is no JSON", c.ID)
		case s.Tool(c.Tool) == nil && !slices.Contains(Builtins, c.Tool) && !s.InKit(c.Tool) && Served[c.Tool] == nil:
			err = fmt.Errorf("call %s: no case has a tool %q", c.ID, c.Tool)
		}
		seen[c.ID] = true
	})
	switch err = errors.Join(err, s.checkKit(), s.checkServers(), s.checkFaults()); {
	case err != nil:
		return err
	case len(s.Turns) == 0:
		return errors.New("the case has no turn")
	case slices.ContainsFunc(s.Turns, func(t Turn) bool { return len(t.Calls) == 0 }):
		return errors.New("the case has a turn without a call")
	case len(seen) > 500:
		return errors.New("the case has more than 500 calls")
	}
	return nil
}

// Deferrable reports whether a tool is sent by name only where tools are deferred (E1).
func (s *SystemCase) Deferrable(name string) bool {
	if t := s.Tool(name); t != nil {
		return t.Deferrable && !t.Always
	}
	return Served[name] != nil && !Served[name].Always || kitTables().Kit[name].Deferrable
}

// Undisturbed reports whether nothing stops calls of the case from outside.
func (s *SystemCase) Undisturbed() bool {
	return len(s.Interrupts) == 0 && !s.Makes("Bash", "PowerShell") && !slices.ContainsFunc(s.Tools, func(t Tool) bool {
		return t.Stops && (t.Fails || t.Timeout > 0 || len(s.Faults) > 0)
	})
}

// Failed is what a hook that fails counts as: a guarding command denies by default, and
// what could not be looked at after the run is withheld (G4).
func (h *Hook) Failed() *Hook {
	counts := &Hook{Event: h.Event, Tool: h.Tool}
	switch {
	case h.Event != "PreToolUse":
		counts.Output = h.OnFailure == "deny"
		counts.withholds = counts.Output
	case h.OnFailure == "" && h.Fails == "rubbish":
		counts.Decision = "deny"
	case h.OnFailure != "allow":
		counts.Decision = h.OnFailure
	}
	return counts
}

// Withholds reports whether the hook failed and withholds the output.
func (h *Hook) Withholds() bool { return h.withholds }

func (s *SystemCase) checkServers() error {
	for _, v := range s.Servers {
		switch {
		case !slices.Contains(serverNames, v.Name):
			return fmt.Errorf("no case has a server %q", v.Name)
		case !slices.Contains([]string{"", "refused", "fails", "hangs"}, v.Connect):
			return fmt.Errorf("server %s: connect is %q; write refused, fails or hangs", v.Name, v.Connect)
		case v.Relist == 1 || v.Relist < 0:
			return fmt.Errorf("server %s: its list changes before request 2 or later", v.Name)
		case !slices.Contains([]string{"", "fails", "hangs"}, v.List):
			return fmt.Errorf("server %s: list is %q; write fails or hangs", v.Name, v.List)
		}
	}
	return nil
}

func (s *SystemCase) checkFaults() error {
	for _, f := range s.Faults {
		if f.Tool != "" {
			return fmt.Errorf("fault %q: name the call", f)
		}
	}
	return nil
}

// faultOf gives the last fault of a call that is one of these, of all if none is named; nil if there is none.
func (s *SystemCase) faultOf(id string, what ...string) *des.Fault {
	for i := len(s.Faults) - 1; i >= 0; i-- {
		if f := &s.Faults[i]; f.Call == id && (len(what) == 0 || slices.Contains(what, f.What)) {
			return f
		}
	}
	return nil
}

// Suffers reports whether one of these faults is of the call; of all if none is named.
func (s *SystemCase) Suffers(id string, what ...string) bool { return s.faultOf(id, what...) != nil }

// Delay is how long a fault of a call lasts: "slow" is how much longer it takes, "lags"
// how long its server takes for the answer, "progress" how long after its end it reports
// progress, "gone" when its server is there again. It is 0 where there is none.
func (s *SystemCase) Delay(id, what string) time.Duration {
	if f := s.faultOf(id, what); f != nil {
		return f.For
	}
	return 0
}

// LosesServer reports whether the server of a call is lost under it.
func (s *SystemCase) LosesServer(id string) bool { return s.Suffers(id, "gone", "rubbish") }

// BreaksStreams reports whether anything is wrong with streams.
func (s *SystemCase) BreaksStreams() bool {
	return slices.ContainsFunc(s.Faults, func(f des.Fault) bool { return f.Request > 0 })
}

// BreaksDisk reports whether the disk fails from some moment on.
func (s *SystemCase) BreaksDisk() bool {
	return slices.ContainsFunc(s.Faults, func(f des.Fault) bool { return f.What == "full" || f.What == "readonly" })
}

// ServersChange reports whether a server is not there all the time, or not with all it has.
func (s *SystemCase) ServersChange() bool {
	return slices.ContainsFunc(s.Servers, func(v Server) bool { return v.Connect != "" || v.Relist > 0 }) ||
		slices.ContainsFunc(s.Faults, func(f des.Fault) bool { return f.What == "gone" || f.What == "rubbish" })
}
