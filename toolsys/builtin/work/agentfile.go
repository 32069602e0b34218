package work

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/spf13/afero"

	"toolbench/toolsys/permission"
	"toolbench/toolsys/tool"
)

// agentExt ends the names of the files of agents' types.
const agentExt = ".md"

// agentHead is the front matter of such a file. Members that are not ours are the author's
// business.
type agentHead struct {
	Name        string `yaml:"name"`
	Description string `yaml:"description"`
	Tools       any    `yaml:"tools"`
	Without     any    `yaml:"disallowedTools"`
	Model       string `yaml:"model"`
	Mode        string `yaml:"permissionMode"`
	Servers     any    `yaml:"mcpServers"`
	Reminder    string `yaml:"criticalSystemReminder"`
	Preserve    bool   `yaml:"preserveToolUseResults"`
}

// AgentTypes reads the types of agents from the files of folders, the more important first.
// The error joins what is wrong with files, which are left out.
func AgentTypes(fsys afero.Fs, dirs []string) ([]AgentType, error) {
	var all []AgentType
	var problems []error
	from := map[string]string{}
	for _, dir := range dirs {
		entries, err := afero.ReadDir(fsys, dir)
		if err != nil {
			continue // a folder that is not there has no agents
		}
		own := map[string]bool{}
		for _, e := range entries {
			if !strings.HasSuffix(e.Name(), agentExt) || !e.Mode().IsRegular() {
				continue
			}
			file := path.Join(dir, e.Name())
			t, err := readAgentType(fsys, file)
			switch {
			case err != nil:
				problems = append(problems, fmt.Errorf("%s: %w", file, err))
			case own[t.Name]:
				problems = append(problems, fmt.Errorf("%s: %s has an agent of the name %s already", file, from[t.Name], t.Name))
			case from[t.Name] == "":
				from[t.Name], own[t.Name] = file, true
				all = append(all, t)
			}
		}
	}
	slices.SortFunc(all, func(a, b AgentType) int { return strings.Compare(a.Name, b.Name) })
	return all, errors.Join(problems...)
}

func readAgentType(fsys afero.Fs, file string) (AgentType, error) {
	raw, err := afero.ReadFile(fsys, file)
	if err != nil {
		return AgentType{}, err
	}
	var h agentHead
	body, err := readFront(string(raw), &h)
	if err != nil {
		return AgentType{}, err
	}
	t := AgentType{Name: h.Name, When: strings.Join(strings.Fields(h.Description), " "), Model: h.Model}
	if t.Model == "inherit" {
		t.Model = ""
	}
	t.Kind.System, t.Kind.Reminder, t.Kind.Preserve = strings.TrimSpace(body), strings.TrimSpace(h.Reminder), h.Preserve
	switch {
	case !agentName.MatchString(t.Name):
		return t, fmt.Errorf("front matter: name %q; use a letter and then letters, digits, _ and -", t.Name)
	case t.When == "":
		return t, errors.New("front matter: no description; without it the model cannot choose the agent")
	case t.Kind.System == "":
		return t, errors.New("no text behind the front matter, which is what the agent is told")
	}
	return t, h.narrow(&t.Kind)
}

// narrow reads what the agent is left of its parent's means.
func (h agentHead) narrow(k *tool.AgentKind) (err error) {
	if k.Tools, err = tool.TextList(h.Tools); err != nil {
		return fmt.Errorf("front matter: tools: %w", err)
	}
	for _, name := range k.Tools {
		if rule, err := permission.ParseRule(name); err != nil || rule.Content() != "" {
			return fmt.Errorf("front matter: tools: %q is no tool's name; what a tool may do is narrowed by disallowedTools", name)
		}
	}
	if slices.Contains(k.Tools, "*") {
		k.Tools = nil
	}
	without, err := tool.TextList(h.Without)
	if err == nil {
		k.Without, err = parseRules(without)
	}
	if err != nil {
		return fmt.Errorf("front matter: disallowedTools: %w", err)
	}
	if k.Servers, err = tool.TextList(h.Servers); err != nil {
		return fmt.Errorf("front matter: mcpServers: %w; name servers that the conversation has", err)
	}
	if h.Mode == "" {
		return nil
	}
	mode, err := permission.ParseMode(h.Mode)
	k.Mode = &mode
	if err != nil {
		return fmt.Errorf("front matter: permissionMode: %w", err)
	}
	return nil
}
