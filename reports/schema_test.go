package reports

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	derived "github.com/google/jsonschema-go/jsonschema"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	"toolbench/toolsys/schema"
)

// published is one format: what it is, and the types that write it. With several, a
// report is of exactly one of them.
type published struct {
	version int
	about   string
	types   []func(...schema.Option) (json.RawMessage, error)
	edit    func(*derived.Schema)
}

func one(types ...func(...schema.Option) (json.RawMessage, error)) []func(...schema.Option) (json.RawMessage, error) {
	return types
}

var formats = map[string]published{
	"run": {Version, "What came of a run: one object, written by `toolbench run --format json`. Times ending in _ms are milliseconds, with fractions; all but took_ms are virtual and counted from the start of the scenario.",
		one(schema.For[runJSON]), failuresFitTheStatus},
	"replay": {ReplayVersion, "What came of replaying recorded sessions: one object, written by `toolbench replay --format json`. Times ending in _ms are milliseconds of virtual time, with fractions.",
		one(schema.For[replayJSON]), policiesAreKnown},
	"tokens": {TokensVersion, "What the definitions of tools cost and what deferral saves: one object, written by `toolbench tokens --format json`. All token figures are under the one counter.",
		one(schema.For[tokensJSON]), nil},
	"cache": {CacheVersion, "What the order of tools costs in a modelled prompt cache: one object, written by `toolbench cache --format json`, over a simulated session (turns, orderings), or with --recording over recorded ones (recordings, skipped).",
		one(schema.For[cacheJSON], schema.For[recordedCacheJSON]), nil},
	"serve": {ServeVersion, "What clients did with the recording they were served: one object, written by `toolbench serve --format json`. Times ending in _ms are milliseconds of real time, with fractions.",
		one(schema.For[serveJSON]), nil},
	"record": {RecordVersion, "What came of a recorded session: one object, written by `toolbench record --format json`. It never holds a secret.",
		one(schema.For[recordDoc]), nil},
	"drift": {DriftVersion, "What changed in shape when recorded requests were sent again: one object, written by `toolbench drift --format json`. It never holds a secret.",
		one(schema.For[DriftReport]), nil},
	"fuzz": {FuzzVersion, "What came of random cases: one object, written by `toolbench fuzz --format json`, of generated cases (seed, policies, calls, seconds, goals), or with --replay of cases from files (replayed).",
		one(schema.For[fuzzJSON], schema.For[FuzzReplayReport], schema.For[FuzzShellReport]), nil},
	"search": {SearchVersion, "What `toolbench search --format json` writes: how rankers did on labelled queries or, for words, what they found.",
		one(schema.For[standingsJSON], schema.For[findingsJSON]), nil},
	"compare": {CompareVersion, "What differs between two reports: one object, written by `toolbench compare --format json`. Figures in ms are milliseconds, with fractions.",
		one(schema.For[compareJSON]), nil},
	"init":    {InitVersion, "What `toolbench init --format json` wrote.", one(schema.For[InitReport]), nil},
	"list":    {ListVersion, "What `toolbench list --format json` lists: the chosen scenarios or, of `list tools`, the built-in tools.", one(schema.For[ListReport], schema.For[ToolsReport]), nil},
	"rules":   {RulesVersion, "What permission rules would decide: one object, written by `toolbench rules --format json`.", one(schema.For[RulesReport]), nil},
	"upgrade": {UpgradeVersion, "What became of files of earlier formats: one object, written by `toolbench upgrade --format json`.", one(schema.For[UpgradeReport]), nil},
}

// derive writes a format's schema from its types and their tags.
func derive(t *testing.T, name string, p published) []byte {
	t.Helper()
	head := &derived.Schema{
		Schema: "https://json-schema.org/draft/2020-12/schema", Title: "toolbench " + name + " report",
		Description: p.about + " Fields may be added within a version.", Type: "object",
	}
	var raw []json.RawMessage
	for _, of := range p.types {
		one, err := of(schema.WithType[ms](&derived.Schema{Type: "number"}), schema.WithType[share](&derived.Schema{Type: "number"}),
			schema.WithType[portion](&derived.Schema{Type: "number", Minimum: derived.Ptr(0.0), Maximum: derived.Ptr(1.0)}),
			schema.With(func(s *derived.Schema) {
				open(s, p)
				if len(p.types) == 1 {
					s.Schema, s.Title, s.Description = head.Schema, head.Title, head.Description
				}
			}))
		require.NoError(t, err)
		raw = append(raw, one)
	}
	whole := raw[0]
	if len(raw) > 1 {
		text, err := json.Marshal(head)
		require.NoError(t, err)
		oneOf, err := json.Marshal(raw)
		require.NoError(t, err)
		text = append(append(append(text[:len(text)-1], `,"oneOf":`...), oneOf...), '}')
		whole, err = schema.Canonical(text)
		require.NoError(t, err)
	}
	var out bytes.Buffer
	require.NoError(t, json.Indent(&out, whole, "", "  "))
	return append(out.Bytes(), '\n')
}

// open makes a derived schema one of a report: members may be added within a version,
// no number is negative unless it may be, and the version is fixed.
func open(root *derived.Schema, p published) {
	root.Properties["version"].Const = derived.Ptr[any](p.version)
	root.Properties["version"].Description = "Version of this format. It changes when a field goes or changes its meaning."
	if p.edit != nil {
		p.edit(root)
	}
	every(root, func(s *derived.Schema) {
		if s.Properties != nil {
			s.AdditionalProperties = nil
		}
		if s.Items != nil && s.Minimum != nil { // the tag of a list is about its items
			s.Items.Minimum, s.Minimum = s.Minimum, nil
		}
		if s.Type == "integer" && s.Minimum == nil && s.Const == nil {
			s.Minimum = derived.Ptr(0.0)
		}
	})
}

func every(s *derived.Schema, do func(*derived.Schema)) {
	if s == nil {
		return
	}
	for _, p := range s.Properties {
		every(p, do)
	}
	every(s.Items, do)
	every(s.AdditionalProperties, do)
	do(s)
}

// failuresFitTheStatus ties a scenario's status to its failures and its error.
func failuresFitTheStatus(root *derived.Schema) {
	status := func(word string) *derived.Schema {
		return &derived.Schema{Properties: map[string]*derived.Schema{"status": {Const: derived.Ptr[any](word)}}}
	}
	failures := func(s *derived.Schema) *derived.Schema {
		return &derived.Schema{Properties: map[string]*derived.Schema{"failures": s}}
	}
	outcome := root.Properties["outcomes"].Items
	outcome.If, outcome.Then = status("error"), &derived.Schema{Required: []string{"error"}}
	outcome.Else = &derived.Schema{If: status("failed"), Then: failures(&derived.Schema{MinItems: derived.Ptr(1)}), Else: failures(&derived.Schema{MaxItems: derived.Ptr(0)})}
}

// policiesAreKnown names the policies that a replay compares.
func policiesAreKnown(root *derived.Schema) {
	conversation := root.Properties["recordings"].Items.Properties["conversations"].Items
	conversation.Properties["policies"].PropertyNames = &derived.Schema{Enum: []any{"serial", "batch", "streaming"}}
}

// The published schemas are what the types and their tags give.
func TestEachPublishedSchemaIsDerivedFromItsTypes(t *testing.T) {
	rewrite := flag.Lookup("update").Value.String() == "true"
	var names []string
	for name, p := range formats {
		names = append(names, name)
		want := derive(t, name, p)
		if rewrite {
			require.NoError(t, os.WriteFile(name+".schema.json", want, 0o644))
			continue
		}
		assert.Equal(t, string(want), string(Schema(name)), "run: go test ./reports -update")
	}
	assert.ElementsMatch(t, names, SchemaNames())
}

// Every recorded JSON report is as its schema describes, and an empty object is none.
// A report whose format the schema does not have is refused by every command that reads reports.
func TestEveryFormatOfARecordingMayStandInAReport(t *testing.T) {
	sources, err := filepath.Glob("../sim/recording/*.go")
	require.NoError(t, err)
	var known []string
	enum := gjson.GetBytes(Schema("replay"), "properties.recordings.items.properties.format.enum")
	require.NoError(t, json.Unmarshal([]byte(enum.Raw), &known))
	found := 0
	for _, name := range sources {
		source, err := os.ReadFile(name)
		require.NoError(t, err)
		for _, m := range regexp.MustCompile(`\bFormat += "([a-z0-9-]+)"`).FindAllSubmatch(source, -1) {
			assert.Contains(t, known, string(m[1]), name)
			found++
		}
	}
	assert.Greater(t, found, 15)
}

func TestEachRecordedReportFitsItsPublishedSchema(t *testing.T) {
	files, err := filepath.Glob("testdata/*.json.golden")
	require.NoError(t, err)
	seen := map[string]int{}
	for _, name := range SchemaNames() {
		doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(Schema(name)))
		require.NoError(t, err, name)
		c := jsonschema.NewCompiler()
		require.NoError(t, c.AddResource(name, doc), name)
		s, err := c.Compile(name)
		require.NoError(t, err, name)
		assert.Error(t, s.Validate(map[string]any{}), name)
		for _, file := range files {
			if base := filepath.Base(file); strings.HasPrefix(base, name) || name == "run" && strings.HasPrefix(base, "hostile") {
				data, err := os.ReadFile(file)
				require.NoError(t, err)
				report, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
				require.NoError(t, err, file)
				assert.NoError(t, s.Validate(report), file)
				seen[file]++
			}
		}
	}
	for _, file := range files {
		assert.Equal(t, 1, seen[file], "%s belongs to one format", file)
	}
}
