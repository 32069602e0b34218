package run

import (
	"fmt"
	"path"
	"strings"

	"gopkg.in/yaml.v3"

	"toolbench/sim/scenario"
	"toolbench/toolsys/message"
)

// PromptScenario is a session without a scenario, from which one is made.
type PromptScenario struct {
	// Name is the scenario's; Text the user's message.
	Name, Text string
	// Cassette is its file, as the scenario is to name it.
	Cassette string
	// Dir is the working directory, Files what is in it.
	Dir   string
	Files map[string]string
	Mode  string
	Allow []string
	Model string
	// Answers are those to questions for permission.
	Answers []PermitAnswer
	// Lenient: the world is not whole, so requests may differ from their recording.
	Lenient bool
}

// PermitAnswer is a person's to a question for permission.
type PermitAnswer struct {
	Call  string `yaml:"call"`
	Allow bool   `yaml:"allow"`
	Text  string `yaml:"text,omitempty"`
}

// YAML is a scenario that replays the session (O1).
func (p PromptScenario) YAML() ([]byte, error) {
	type permissions struct {
		Mode  string   `yaml:"mode,omitempty"`
		Allow []string `yaml:"allow,omitempty,flow"`
	}
	type world struct {
		CWD         string            `yaml:"cwd,omitempty"`
		Files       map[string]string `yaml:"files,omitempty"`
		Permissions *permissions      `yaml:"permissions,omitempty"`
		Model       string            `yaml:"model,omitempty"`
	}
	type streamed struct {
		Cassette string `yaml:"cassette"`
		Requests string `yaml:"requests,omitempty"`
	}
	type user struct {
		Permits []PermitAnswer `yaml:"permits"`
	}
	doc := struct {
		Format int      `yaml:"format"`
		Name   string   `yaml:"name"`
		About  string   `yaml:"about"`
		World  world    `yaml:"world,omitempty"`
		Prompt string   `yaml:"prompt"`
		Stream streamed `yaml:"stream"`
		User   *user    `yaml:"user,omitempty"`
	}{Format: scenario.FormatVersion, Name: p.Name, About: "A recorded session: " + message.Line(p.Text, briefChars), Prompt: p.Text,
		World:  world{CWD: p.Dir, Files: p.Files, Model: p.Model},
		Stream: streamed{Cassette: p.Cassette},
	}
	if p.Mode != "" || len(p.Allow) > 0 {
		doc.World.Permissions = &permissions{p.Mode, p.Allow}
	}
	if len(p.Answers) > 0 {
		doc.User = &user{p.Answers}
	}
	if p.Lenient {
		doc.Stream.Requests = "lenient"
	}
	text, err := yaml.Marshal(doc)
	if err != nil {
		return nil, fmt.Errorf("the scenario: %w", err)
	}
	return text, nil
}

// Scenario is what YAML gives, read back.
func (p PromptScenario) Scenario() (*scenario.Scenario, error) {
	text, err := p.YAML()
	if err != nil {
		return nil, err
	}
	return scenario.Parse(p.Name+".yaml", text)
}

// briefChars is how much of a prompt its scenario quotes.
const briefChars = 61

// ScenarioName makes a scenario's name of a cassette's file.
func ScenarioName(file string) string {
	base := strings.ToLower(strings.TrimSuffix(path.Base(file), ".yaml"))
	name := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '.' || r == '_' || r == '-' {
			return r
		}
		return '-'
	}, base)
	return strings.TrimLeft(name, "-._")
}
