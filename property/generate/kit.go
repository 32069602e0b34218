package generate

import (
	_ "embed" // the tables
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
)

// A case has the five built-ins of Builtins always, and some families of the others in its Kit: all of them together
// would hide what a few can show, and make each request as long as it can be.

// kitTool is a built-in tool of the families: what its gate needs, and the inputs that cases give it.
type kitTool struct {
	Deferrable bool
	// Settings are the variables that offer the tool.
	Settings map[string]string
	// Files are those that it needs, by path.
	Files map[string]string
	// Makes are the kinds of things that each call may make.
	Makes []string
	// Members are those of its inputs, in their order, where draws has nothing of its own: a name, with a question mark
	// behind it if the member is there half of the time, or with odds as in ?2/3, and the values of which it has one.
	Members [][]any
	// Of are further members of an input, by its action.
	Of map[string][][]any
}

// object is an input.
type object = map[string]any

// draws are inputs that go by what the case has made so far.
var draws = map[string]func(*SystemMaker) object{
	"AskUserQuestion": drawQuestion,
	"Bash":            drawBash,
	"Config":          drawConfig,
	"REPL":            drawREPL,
	"SendMessage":     drawSend,
	"Snip":            drawSnip,
	"TodoWrite":       drawTodos,
	"Tungsten":        drawTungsten,
}

// found are members of the kit's inputs that go by what the case has made so far.
var found = map[string]func(*SystemMaker) any{
	"$active":  func(m *SystemMaker) any { return m.odds(2, 3) },
	"$cron":    func(m *SystemMaker) any { return m.numbered("cron_", m.made["crons"]) },
	"$cronjob": func(m *SystemMaker) any { return fmt.Sprintf("Job %d.", m.made["crons"]) },
	"$files":   func(m *SystemMaker) any { return []string{m.file()} },
	"$job":     func(m *SystemMaker) any { return m.numbered("task_", m.made["jobs"]) },
	"$owner": func(m *SystemMaker) any {
		return pick(m, append([]string{"main", "nobody", "agent_1", ""}, m.agents...)...)
	},
	"$prompt":  func(m *SystemMaker) any { return prompt(&Call{ID: m.id()}) },
	"$subject": func(m *SystemMaker) any { return fmt.Sprintf("Task %d", m.made["tasks"]) },
	"$task":    func(m *SystemMaker) any { return m.task() },
	"$tasks":   func(m *SystemMaker) any { return []string{m.task()} },
}

// input draws the input of a call of one of the kit's tools.
func (m *SystemMaker) input(tool string) object {
	if draw, own := draws[tool]; own {
		return draw(m)
	}
	kit, in := kitTables().Kit[tool], object{}
	for _, kind := range kit.Makes {
		m.made[kind]++
	}
	m.members(in, kit.Members)
	if action, is := in["action"].(string); is {
		m.members(in, kit.Of[action])
	}
	return in
}

func (m *SystemMaker) members(in object, members [][]any) {
	for _, member := range members {
		name, odds, may := strings.Cut(member[0].(string), "?")
		values := member[1:]
		if odds != "" && !m.odds(int(odds[0]-'0'), int(odds[2]-'0')) {
			continue
		}
		text, _ := values[0].(string)
		if find, is := found[text]; is {
			in[name] = find(m)
		} else if may && odds == "" {
			m.one(in, name, values...)
		} else if in[name] = values[0]; len(values) > 1 {
			in[name] = pick(m, values...)
		}
	}
}

// family are tools that work on the same things. Its opening is a course of messages that gets
// them going, since what is drawn call by call seldom does.
type family struct {
	Tools   []string
	Opening [][]step
}

// step is a call of an opening: of a file or an agent, or with an input, in which %s is the call's id.
type step struct {
	Tool, Of string
	Input    json.RawMessage
}

//go:embed kit.json
var kitTable []byte

// kitTables are the built-in tools of the families by name, the families, and commands.
var kitTables = sync.OnceValue(func() (all struct {
	Kit      map[string]kitTool
	Families []family
	// Commands are what shells are given: they look, change, fail, take time and are no commands.
	Commands []string
}) {
	if err := json.Unmarshal(kitTable, &all); err != nil {
		panic(err) // every test of this package reads it
	}
	return all
})

// KitNames are the built-ins that cases may have beyond Builtins.
func KitNames() []string { return slices.Sorted(maps.Keys(kitTables().Kit)) }

func (s *SystemCase) checkKit() error {
	for _, name := range s.Kit {
		if _, known := kitTables().Kit[name]; !known {
			return fmt.Errorf("no case has a built-in %q in its kit", name)
		}
	}
	return nil
}

// InKit reports whether a tool is one of the case's Kit.
func (s *SystemCase) InKit(name string) bool { return slices.Contains(s.Kit, name) }

// Makes reports whether the case makes a call of one of these tools.
func (s *SystemCase) Makes(tools ...string) (is bool) {
	s.Each(func(c *Call, _ int, _ *Call) { is = is || slices.Contains(tools, c.Tool) })
	return is
}

// Lively reports whether messages may come to the conversation that are not the user's: from
// agents, jobs and what is watched.
func (s *SystemCase) Lively() (is bool) {
	s.Each(func(c *Call, _ int, _ *Call) { is = is || c.Background })
	return is || s.Makes("CronCreate", "Monitor", "SubscribePR", "SuggestBackgroundPR", "SendMessage", "SyntheticOutput")
}

// Unsettled reports whether a call of the case may change what becomes of others: the mode,
// the folder that is worked in, who does the work.
func (s *SystemCase) Unsettled() bool {
	return s.Makes("EnterPlanMode", "ExitPlanMode", "Config", "CoordinatorMode", "EnterWorktree", "ExitWorktree", "Skill", "Bash")
}

// settings are the variables that the case's tools need.
func (s *SystemCase) settings() map[string]string {
	values := map[string]string{}
	if s.Search != "" {
		values["ENABLE_TOOL_SEARCH"] = s.Search
	}
	if s.Forks {
		values["FEATURE_FORK_SUBAGENT"] = "true"
	}
	for _, name := range s.Kit {
		maps.Copy(values, kitTables().Kit[name].Settings)
	}
	return values
}
