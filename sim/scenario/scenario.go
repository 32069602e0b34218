package scenario

import (
	"cmp"
	_ "embed" // the published schema
	"io/fs"
	"sync"

	"toolbench/sim/cassette"
	"toolbench/toolsys/schedule"
)

// FormatVersion is the version of the file format this program writes.
const FormatVersion = 1

// Scenario is one file, as read. Every member's yaml name is the format's key.
type Scenario struct {
	// Format is the format's version; 0 stands for the current one.
	Format int `yaml:"format"`
	// Name is of small letters, digits, hyphens and dots, and no other scenario has it.
	Name string `yaml:"name"`
	// About is a sentence on what the scenario guards.
	About string `yaml:"about"`
	// Tags choose scenarios with --tag, together with others.
	Tags []string `yaml:"tags"`
	// World is what there is before the run begins.
	World World `yaml:"world"`
	// Prompt is the user's first message; Then are further ones, each sent when the
	// one before is answered.
	Prompt string   `yaml:"prompt"`
	Then   []string `yaml:"then"`
	// Stream is what the model answers.
	Stream Script `yaml:"stream"`
	// Durations are how long calls take, by tool name or by call id.
	Durations map[string]Duration `yaml:"durations"`
	// Policy is how calls are scheduled; streaming if not given.
	Policy string `yaml:"policy" names:"policy"`
	// User is what the person does: answers, and messages of their own.
	User UserScript `yaml:"user"`
	// Hooks are asked and informed at events of the session.
	Hooks []HookScript `yaml:"hooks"`
	// Classifier answers for the safety classifier; the first match counts.
	Classifier []Ruling `yaml:"classifier"`
	// Faults are what goes wrong, in the language of faults or member by member.
	Faults []Fault `yaml:"faults"`
	// Expect is what must come of the run; what is not named is not checked.
	Expect Expect `yaml:"expect"`
	// MustFail are cases in which something is wrong, each with the failure that must come
	// of it. They prove the checks.
	MustFail []FailingCase `yaml:"must_fail"`

	// file and places are where everything stands; fsys is where what it points
	// to is looked for.
	file   string
	dir    string
	fsys   fs.FS
	places places
	// named are the names that stand in it, by sort.
	named map[string][]mention
	// must is set in a case that must fail.
	must *FailingCase
	// recording is shared with the cases that must fail.
	recording *recording
}

// recording is a scenario's cassette, once it was read.
type recording struct {
	read sync.Once
	c    *cassette.Cassette
	err  error
}

// DefaultPolicy is the policy of a scenario that names none.
const DefaultPolicy = schedule.Streaming

// PolicyName is the policy the scenario is written for.
func (sc *Scenario) PolicyName() string {
	return cmp.Or(sc.Policy, DefaultPolicy.String())
}

//go:embed scenario.schema.json
var schemaJSON []byte

// Schema is the JSON Schema of the file format, for editors: put
// `# yaml-language-server: $schema=...` on top of a file. It is made from the
// types of this package and their comments; a test holds it up to date.
func Schema() []byte { return schemaJSON }
