package work

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"toolbench/toolsys/message"
	"toolbench/toolsys/permission"
	"toolbench/toolsys/search"
	"toolbench/toolsys/tool"
)

// Why a setting is not read or changed.
const (
	CodeNoSetting = iota + 1
	CodeBadValue
	CodeNotHere
)

// ConfigIn is what Config takes.
type ConfigIn struct {
	Setting string `json:"setting,omitempty" maxLength:"100" jsonschema:"The setting; all are shown when it is left out"`
	// Value is any because a model writes true as well as "true".
	Value any `json:"value,omitempty" jsonschema:"The new value, a text or true or false; the setting is only shown when it is left out"`
}

// ConfigOut is what Config answers with.
type ConfigOut struct {
	Settings []SettingOut `json:"settings"`
	// Before is the value that was changed.
	Before string `json:"before,omitempty"`
}

// SettingOut is one setting as it stands.
type SettingOut struct {
	Name    string   `json:"name"`
	Value   string   `json:"value"`
	Allowed []string `json:"allowed,omitempty"`
	About   string   `json:"about"`
}

// setting is one that Config knows. Its value stands in the state's options unless get and
// set have another place for it.
type setting struct {
	name, about string
	// allowed are the values; none allows what matches model names.
	allowed []string
	initial string
	get     func(*tool.Context) string
	set     func(string) tool.Modifier
	// asks: a person answers for the change, whatever mode and rules permit.
	asks bool
}

var truths = []string{"true", "false"}

// configurable are the settings, by name. Modes that let calls run unasked are left out:
// only who begins a session chooses those.
var configurable = []setting{
	{name: "model", about: "the model of the next requests", get: func(c *tool.Context) string { return c.Model }},
	{name: "permissionMode", about: "what runs without a question", asks: true,
		allowed: []string{permission.Default.String(), permission.AcceptEdits.String(), permission.Plan.String()},
		get:     func(c *tool.Context) string { return c.State.Mode.String() }, set: setMode},
	{name: tool.OptionSandbox, about: "whether commands run in the sandbox, where there is one", allowed: truths, initial: "true", asks: true},
	{name: tool.OptionTheme, about: "the colours of the screen", initial: "dark",
		allowed: []string{"dark", "light", "dark-daltonized", "light-daltonized", "dark-ansi", "light-ansi"}},
	{name: tool.OptionThinking, about: "how many tokens the model may think with before it answers", get: thinkingOf,
		allowed: []string{"off", "1024", "2048", "4096", "adaptive"}},
	{name: tool.OptionTodos, about: "whether there is a to-do list", allowed: truths, initial: "true"},
	{name: tool.OptionVerbose, about: "whether the screen shows whole results", allowed: truths, initial: "false"},
}

// Config shows and changes settings of the session (SPEC L, C1). A change is a modifier and
// needs permission; a look needs none.
func Config() *tool.Tool {
	return tool.Must(tool.Def[ConfigIn, ConfigOut]{
		Name:        "Config",
		Hint:        "get or set session settings",
		Description: "Shows or changes settings of this session.",
		Describe:    ConfigIn.what,
		Prompt:      func(tool.PromptOptions) string { return prompts.Text("config") + settingsText() },
		Call: func(_ context.Context, in ConfigIn, c *tool.Context) (tool.Result[ConfigOut], error) {
			return in.apply(c), nil
		},
		Text:     ConfigOut.text,
		Validate: ConfigIn.refusal,
		Permit:   ConfigIn.permit,
		Subject:  func(in ConfigIn, _ *tool.Context) tool.Subject { return tool.Subject{Content: in.Setting} },
		Traits: tool.Traits[ConfigIn]{
			Safe: ConfigIn.looks, ReadOnly: ConfigIn.looks,
			NeedsUser: func(in ConfigIn) bool { s, _ := settingOf(in.Setting); return !in.looks() && s.asks },
			Effects: func(in ConfigIn, _ *tool.Context) tool.Effects {
				return tool.Effects{Reads: []string{"config"}, Everything: !in.looks()} // the mode and the model decide on others
			},
		},
		Shaping: tool.Shaping[ConfigIn]{Classifier: ConfigIn.what},
		View:    tool.Doing("Settings", "Settings: ", ConfigIn.what),
	})
}

func (in ConfigIn) looks() bool { return in.Value == nil }

func (in ConfigIn) what() string {
	switch {
	case in.Setting == "":
		return "show all settings"
	case in.looks():
		return "show " + in.Setting
	}
	return fmt.Sprintf("set %s to %v", in.Setting, in.Value)
}

func settingOf(name string) (setting, bool) {
	i := slices.IndexFunc(configurable, func(s setting) bool { return s.name == name })
	if i < 0 {
		return setting{}, false
	}
	return configurable[i], true
}

func settingNames() []string {
	return tool.Each(configurable, func(s setting) string { return s.name })
}

// modelName is what a model may be called; whether there is one is its provider's to know.
var modelName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._:/@\[\]-]{0,127}$`)

func (in ConfigIn) refusal(c *tool.Context) *tool.Refusal {
	s, known := settingOf(in.Setting)
	switch {
	case in.Setting == "" && in.looks():
		return nil
	case !known:
		near := search.Nearest(in.Setting, settingNames(), nil, 2)
		text := fmt.Sprintf("there is no setting %q; there are %s", message.Line(in.Setting, tool.SummaryChars), strings.Join(settingNames(), ", "))
		if len(near) > 0 {
			text += "; did you mean " + strings.Join(near, " or ") + "?"
		}
		return &tool.Refusal{Message: text, Code: CodeNoSetting}
	case in.looks():
		return nil
	case !s.takes(in.text()):
		return &tool.Refusal{Message: fmt.Sprintf("%s cannot be %q; use %s", s.name, message.Line(in.text(), tool.SummaryChars), s.words()), Code: CodeBadValue}
	case s.name == "permissionMode" && c.Chain.Depth > 0:
		return &tool.Refusal{Message: "only the main conversation changes the permission mode", Code: CodeNotHere}
	case s.name == "permissionMode" && c.State.Mode == permission.Plan:
		return &tool.Refusal{Message: "plan mode is on; it is left with ExitPlanMode, when the plan is approved", Code: CodeNotHere}
	}
	return nil
}

// text is the value as a setting holds it. Of a value that is neither a string nor a boolean it
// is a text that no setting takes.
func (in ConfigIn) text() string {
	switch v := in.Value.(type) {
	case string:
		return v
	case bool:
		return strconv.FormatBool(v)
	}
	return fmt.Sprintf("%v", in.Value) + "\x00"
}

func (s setting) takes(value string) bool {
	if len(s.allowed) == 0 {
		return modelName.MatchString(value)
	}
	return slices.Contains(s.allowed, value)
}

func (s setting) words() string {
	if len(s.allowed) == 0 {
		return "the name of a model"
	}
	return strings.Join(s.allowed, ", ")
}

func (in ConfigIn) permit(c *tool.Context) permission.Opinion {
	if in.looks() {
		return permission.Opinion{Behaviour: permission.Allow, Text: "it only shows settings"}
	}
	s, _ := settingOf(in.Setting)
	return permission.Opinion{Behaviour: permission.Ask, Text: fmt.Sprintf("change %s from %s to %s?", s.name, s.value(c), in.text())}
}

// value is how the setting stands.
func (s setting) value(c *tool.Context) string {
	if s.get != nil {
		return s.get(c)
	}
	if v, ok := c.State.Options[s.name]; ok {
		return v
	}
	return s.initial
}

func (in ConfigIn) apply(c *tool.Context) tool.Result[ConfigOut] {
	var out ConfigOut
	for _, s := range configurable {
		if in.Setting == "" || in.Setting == s.name {
			out.Settings = append(out.Settings, SettingOut{Name: s.name, Value: s.value(c), Allowed: s.allowed, About: s.about})
		}
	}
	if in.looks() {
		return tool.Done(out)
	}
	s, _ := settingOf(in.Setting)
	out.Before, out.Settings[0].Value = s.value(c), in.text()
	modify := setOption(s.name, in.text())
	if s.set != nil {
		modify = s.set(in.text())
	}
	return tool.Result[ConfigOut]{Data: out, Modify: modify}
}

func setOption(name, value string) tool.Modifier {
	return func(s tool.State) tool.State { return s.WithOption(name, value) }
}

// setMode changes the permission mode; plan mode remembers what it was entered from.
func setMode(name string) tool.Modifier {
	return func(s tool.State) tool.State {
		mode, _ := permission.ParseMode(name) // it is among the allowed ones
		if mode == permission.Plan {
			return startPlanning(s)
		}
		s.Mode = mode
		return s
	}
}

func settingsText() string {
	var b strings.Builder
	for _, s := range configurable {
		fmt.Fprintf(&b, "- %s: %s (%s)\n", s.name, s.about, s.words())
	}
	return b.String()
}

func (out ConfigOut) text() string {
	var b strings.Builder
	for _, s := range out.Settings {
		if out.Before != "" {
			fmt.Fprintf(&b, "%s is %s now; it was %s.", s.Name, s.Value, out.Before)
			continue
		}
		fmt.Fprintf(&b, "%s: %s", s.Name, s.Value)
		if len(s.Allowed) > 0 {
			fmt.Fprintf(&b, " (of %s)", strings.Join(s.Allowed, ", "))
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// thinkingOf is how the model thinks, as a value of the setting.
func thinkingOf(c *tool.Context) string {
	switch {
	case c.Thinking.Adaptive:
		return "adaptive"
	case c.Thinking.Budget > 0:
		return strconv.Itoa(c.Thinking.Budget)
	}
	return "off"
}
