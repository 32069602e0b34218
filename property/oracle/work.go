package oracle

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"toolbench/property/generate"
)

// Work is one run of a tool's own code. The models below are given all of a conversation's, in the order in which
// they ended: tools that only think take no time, so that nothing else ran meanwhile.
type Work struct {
	Call, Tool string
	// Agent is the id of the agent whose call it is, "" the main conversation's; Name is what the others call it.
	Agent, Name string
	Input       json.RawMessage
	// Data is the tool's own answer, Text what the model reads of it. Err is the error in its place.
	Data   json.RawMessage
	Text   string
	Failed bool
	Err    string
	// Began and Ended are times of the session's clock.
	Began, Ended time.Time
	// Alone: the call says that it only reads, and nothing that may change anything was at work
	// beside it; then Changed are the files that changed nevertheless. Modified: it changed the state. Trees are the worktrees there are afterwards, of the tools
	// that make them.
	Changed  []string
	Modified bool
	Alone    bool
	Trees    []string
}

// ok reports whether the work was done.
func (w *Work) ok() bool { return w.Err == "" && !w.Failed }

// models are the references of the tools whose work is predicted from what they were given before.
type models struct {
	s     *generate.SystemCase
	tasks taskModel
	teams teamModel
	crons cronModel
	trees map[string]bool
	// terminals are the agents that have one.
	terminals map[string]bool
}

// CheckWork gives how the work of a conversation differs from what small models of the tools
// give. Sent are the messages of jobs that the session had, in order.
func CheckWork(s *generate.SystemCase, all []Work, sent []Fired) error {
	m := &models{s: s, teams: teamModel{led: map[string]string{}}, trees: map[string]bool{}, terminals: map[string]bool{}}
	m.crons.fired = sent
	for i := range all {
		w := &all[i]
		if err := m.check(w); err != nil {
			return fmt.Errorf("call %s: %s of %s gave %.300s%s: %w", w.Call, w.Tool, w.Input, w.Data, w.Err, err)
		}
	}
	return m.crons.over()
}

func (m *models) check(w *Work) error {
	switch changed := slices.DeleteFunc(w.Changed, kept); {
	case m.s.Tool(w.Tool) != nil: // what a case's own tool says of itself is made up
		return nil
	case len(changed) > 0:
		return fmt.Errorf("it says that it only reads, and %s changed", strings.Join(changed, ", "))
	case w.Modified:
		return fmt.Errorf("it says that it only reads, and it changed the state")
	}
	switch w.Tool {
	case "TaskCreate", "TaskGet", "TaskList", "TaskUpdate":
		return m.tasks.check(w)
	case "TeamCreate", "TeamDelete", "ListPeers":
		return m.teams.check(w)
	case "CronCreate", "CronDelete", "CronList", "TaskStop":
		return m.crons.check(w)
	case "EnterWorktree", "ExitWorktree":
		return m.worktree(w)
	case "Tungsten":
		return m.terminal(w)
	}
	if f := aloneAt[w.Tool]; f != nil && (w.ok() || w.Err == "" && (w.Tool == "REPL" || w.Tool == "Workflow")) {
		return f(m.s, w)
	}
	return nil
}

// kept reports whether a file is the session's own, in which it keeps what it was given.
func kept(path string) bool { return strings.HasPrefix(path, "/tmp/tool-results") }

// terminal checks that an open terminal can be typed into and closed, and that a closed one is
// gone, so that the next call opens another.
func (m *models) terminal(w *Work) error {
	var in struct{ Close bool }
	var out struct{ Ended, Closed bool }
	if err := w.read(&in, &out); err != nil {
		return err
	}
	switch {
	case in.Close && w.ok() != m.terminals[w.Agent]:
		return fmt.Errorf("the agent has a terminal: %t", m.terminals[w.Agent])
	case strings.Contains(w.Err, "nothing more can be typed"):
		return fmt.Errorf("the terminal before was closed")
	case w.ok() && in.Close != out.Closed:
		return fmt.Errorf("it is to close: %t", in.Close)
	}
	m.terminals[w.Agent] = !in.Close && !out.Ended
	return nil
}

// worktree checks that there are the worktrees that were entered, but for those that were removed.
func (m *models) worktree(w *Work) error {
	var in struct{ Name, Action string }
	var out struct {
		Dir     string
		Removed bool
	}
	if err := w.read(&in, &out); err != nil {
		return err
	}
	switch {
	case !w.ok():
	case w.Tool == "EnterWorktree":
		m.trees[in.Name] = true
	case out.Removed != (in.Action == "remove"):
		return fmt.Errorf("it was to %s the worktree; removed is %t", in.Action, out.Removed)
	case out.Removed:
		delete(m.trees, out.Dir[strings.LastIndex(out.Dir, "/")+1:])
	}
	for _, name := range w.Trees {
		if !m.trees[name] {
			return fmt.Errorf("there is a worktree %s; it was not made, or removed", name)
		}
	}
	if len(w.Trees) != len(m.trees) {
		return fmt.Errorf("the worktrees are %v; they are to be %v", w.Trees, m.trees)
	}
	return nil
}

// read reads what went in and, unless the work failed, what came out, of which a struct without
// members wants nothing.
func (w *Work) read(in, out any) error {
	if err := json.Unmarshal(w.Input, in); err != nil {
		return fmt.Errorf("it ran with no JSON: %w", err)
	}
	if _, unread := out.(*struct{}); unread || w.Err != "" {
		return nil
	}
	return json.Unmarshal(w.Data, out)
}

// reference checks the work of one call.
type reference = func(*generate.SystemCase, *Work) error

// given makes a reference of a check that is given what went in and what came out.
func given[In, Out any](check func(*generate.SystemCase, *Work, In, Out) error) reference {
	return func(s *generate.SystemCase, w *Work) error {
		var in In
		var out Out
		if err := w.read(&in, &out); err != nil {
			return err
		}
		return check(s, w, in, out)
	}
}

// aloneAt are the references of tools whose work needs nothing but their input.
var aloneAt = map[string]reference{
	"AskUserQuestion": func(s *generate.SystemCase, w *Work) error {
		return says("The user answered:\n- "+gjson.GetBytes(w.Input, "questions.0.question").Str+"\n  ")(s, w)
	},
	"LSP": given(checkLSP), "OverflowTest": given(checkOverflow), "PushNotification": says("sent"),
	"REPL": given(checkSteps), "RemoteTrigger": says("HTTP 2"), "Sleep": given(checkSleep), "SyntheticOutput": says("The answer is taken"),
	"TodoWrite": given(checkTodos), "WebBrowser": given(checkBrowser), "WebFetch": given(checkFetch), "WebSearch": given(checkSearch),
	"Workflow": given(checkSteps), "Config": given(checkConfig), "Monitor": given(checkMonitor), "SendMessage": given(checkSent),
}

// says gives a check that the text holds a word.
func says(word string) reference {
	return func(_ *generate.SystemCase, w *Work) error {
		if !strings.Contains(w.Text, word) {
			return fmt.Errorf("its text is %.100q, without %q", w.Text, word)
		}
		return nil
	}
}

func checkOverflow(_ *generate.SystemCase, w *Work, in struct{ Chars int }, _ struct{}) error {
	if len(w.Text) != in.Chars {
		return fmt.Errorf("it has %d characters", len(w.Text))
	}
	return nil
}

func checkSleep(s *generate.SystemCase, w *Work, in, _ struct{ Seconds float64 }) error {
	want := time.Duration(in.Seconds * float64(time.Second))
	if took := w.Ended.Sub(w.Began); took > want || took < want && !s.Lively() {
		return fmt.Errorf("it slept for %s", took)
	}
	return nil
}

type todo struct{ Content, Status, ActiveForm string }

func checkTodos(_ *generate.SystemCase, _ *Work, in, out struct{ Todos []todo }) error {
	at := howMany(in.Todos, func(t todo) bool { return t.Status == "in_progress" })
	if at > 1 || !slices.Equal(in.Todos, out.Todos) {
		return fmt.Errorf("%d are in progress, and the list is to be %v", at, in.Todos)
	}
	return nil
}

type configInput struct {
	Setting string
	Value   any
}

type configOutput struct {
	Before   string
	Settings []struct{ Name, Value string }
}

func checkConfig(_ *generate.SystemCase, _ *Work, in configInput, out configOutput) error {
	switch {
	case in.Setting == "" && len(out.Settings) < 5, in.Setting != "" && (len(out.Settings) != 1 || out.Settings[0].Name != in.Setting):
		return fmt.Errorf("it is to show %q", in.Setting)
	case in.Value != nil && out.Settings[0].Value != fmt.Sprint(in.Value):
		return fmt.Errorf("it is to have the value %v", in.Value)
	case in.Setting == "permissionMode" && in.Value != nil && !slices.Contains([]string{"default", "acceptEdits", "plan"}, fmt.Sprint(in.Value)):
		return fmt.Errorf("no call may change the mode to that")
	}
	return nil
}

type watched struct {
	Watches string
	Task    string `json:"task_id"`
}

func checkMonitor(_ *generate.SystemCase, _ *Work, in, out watched) error {
	if out.Watches != in.Task || out.Task == in.Task {
		return fmt.Errorf("it watches %s as %s", out.Watches, out.Task)
	}
	return nil
}

func checkSent(_ *generate.SystemCase, w *Work, in struct{ To string }, out struct{ To []string }) error {
	if slices.Contains(out.To, w.Name) || in.To != "*" && len(out.To) != 1 {
		return fmt.Errorf("it went to %v, from %s", out.To, w.Name)
	}
	return nil
}

func checkLSP(_ *generate.SystemCase, w *Work, in struct{ Operation string }, _ struct{}) error {
	switch in.Operation {
	case "hover":
		return says("func greet()")(nil, w)
	case "definition":
		return says("b.go:1:1")(nil, w)
	case "implementation":
		return fmt.Errorf("the server ends at that")
	}
	return nil
}

func checkFetch(_ *generate.SystemCase, w *Work, in struct{ URL string }, _ struct{}) error {
	switch in.URL {
	case "https://example.com/page", "https://example.com/old":
		return says("Hello")(nil, w)
	case "https://example.com/away":
		return says("https://elsewhere.example/page")(nil, w)
	}
	return fmt.Errorf("there is no such page")
}

func checkSearch(_ *generate.SystemCase, w *Work, in struct{ Query string }, _ struct{}) error {
	if in.Query == "go iterators" {
		return says("https://go.dev/blog")(nil, w)
	}
	if strings.Contains(w.Text, "https://") {
		return fmt.Errorf("nothing is to be found")
	}
	return nil
}

type browsed struct {
	URL   string
	Moved bool
}

func checkBrowser(_ *generate.SystemCase, w *Work, in struct{ Action, URL string }, out browsed) error {
	switch {
	case in.Action == "navigate" && out.URL != in.URL:
		return fmt.Errorf("it is to open %s", in.URL)
	case out.Moved && bytes.Contains(w.Data, []byte("secret")):
		return fmt.Errorf("the page led to another host, whose content is shown")
	}
	return nil
}

type stepsInput struct {
	Calls     []struct{ Tool string }
	KeepGoing bool `json:"keep_going"`
}

type stepsOutput struct {
	Results []struct {
		Tool   string
		Failed bool
	}
	Left []string
}

// checkSteps checks that every call is made, or left behind the first that failed.
func checkSteps(s *generate.SystemCase, w *Work, in stepsInput, out stepsOutput) error {
	want := len(in.Calls)
	if w.Tool == "Workflow" {
		want = 2
	}
	if len(out.Results)+len(out.Left) != want {
		return fmt.Errorf("%d calls have a result and %d are left; there are %d", len(out.Results), len(out.Left), want)
	}
	last := len(out.Results) - 1
	failed := last >= 0 && out.Results[last].Failed && !in.KeepGoing
	if len(out.Left) > 0 && !failed && s.Undisturbed() && len(s.Hooks)+len(s.Faults) == 0 {
		return fmt.Errorf("%v is left, and nothing failed before it", out.Left)
	}
	for i, c := range in.Calls[:min(len(in.Calls), len(out.Results))] {
		r := out.Results[i]
		if r.Tool != c.Tool {
			return fmt.Errorf("result %d is of %s", i+1, r.Tool)
		}
		if r.Failed && !in.KeepGoing && i < len(out.Results)-1 {
			return fmt.Errorf("it goes on behind call %d, which failed", i+1)
		}
	}
	return nil
}
