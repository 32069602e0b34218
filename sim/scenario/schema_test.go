package scenario_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"toolbench/scenarios"
	"toolbench/sim/scenario"
	"toolbench/sim/scenario/run"
)

var update = flag.Bool("update", false, "write the published schema anew")

// The published schema has what the types have: keys, kinds and comments.
func TestSchemaIsUpToDate(t *testing.T) {
	g := &generator{comments: comments(t), enums: scenario.Vocabulary(run.Words())}
	root := g.object(reflect.TypeFor[scenario.Scenario]())
	root["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	root["title"] = "toolbench scenario"
	root["required"] = []string{"name", "about", "stream"}
	raw, err := json.MarshalIndent(root, "", "  ")
	require.NoError(t, err)
	raw = append(raw, '\n')
	assert.Empty(t, g.undescribed, "each member has a comment, or is named in that of the member above")
	if *update {
		require.NoError(t, os.WriteFile("scenario.schema.json", raw, 0o644))
		return
	}
	assert.Equal(t, string(raw), string(scenario.Schema()), "run: go test ./sim/scenario -update")
}

// Every scenario of the suite is what the schema allows.
func TestTheSuiteFitsTheSchema(t *testing.T) {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(scenario.Schema()))
	require.NoError(t, err)
	c := jsonschema.NewCompiler()
	require.NoError(t, c.AddResource("scenario.json", doc))
	schema, err := c.Compile("scenario.json")
	require.NoError(t, err)
	require.NoError(t, fs.WalkDir(scenarios.Files, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := scenarios.Files.ReadFile(name)
		require.NoError(t, err)
		var tree any // YAMLToJSON writes control characters as JSON does not have them
		require.NoError(t, yaml.Unmarshal(data, &tree), name)
		raw, err := json.Marshal(tree)
		require.NoError(t, err, name)
		value, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
		require.NoError(t, err, name)
		assert.NoError(t, schema.Validate(value), name)
		return nil
	}))
}

// generator makes a JSON Schema from the format's types.
type generator struct {
	comments map[string]string
	// enums are the words that there are for a sort of name.
	enums       map[string][]string
	undescribed []string
}

// code is a row of the specification, which says nothing to somebody with an editor.
var code = regexp.MustCompile(` ?\([A-Z][0-9]+(, [A-Z][0-9]+)*\)`)

// plainly names members in a comment as the file does.
func plainly(t reflect.Type, text string) string {
	for f := range t.Fields() {
		if key := f.Tag.Get("yaml"); key != "" && key[0] != ',' && key[0] != '-' {
			text = regexp.MustCompile(`\b`+f.Name+`\b`).ReplaceAllString(text, key)
		}
	}
	return strings.ReplaceAll(code.ReplaceAllString(text, ""), "JSON schema", "JSON Schema")
}

// words gives a text, the items of a list or the keys of a mapping their words, by the
// sort of name that the member's tags have.
func (g *generator) words(p object, names, values string) {
	enum, of := g.enums[names], g.enums[values]
	switch more, _ := p["additionalProperties"].(object); {
	case more != nil && enum != nil:
		p["propertyNames"] = object{"enum": enum}
	case more != nil && of != nil:
		more["type"], more["enum"] = "string", of
	case enum == nil:
	case p["type"] == "array":
		p["items"] = object{"type": "string", "enum": enum}
	case p["anyOf"] != nil:
		p["anyOf"] = []object{{"type": "string", "enum": enum}, {"type": "array", "items": object{"type": "string", "enum": enum}}}
	default:
		p["type"], p["enum"] = "string", enum
	}
}

type object = map[string]any

func (g *generator) object(t reflect.Type) object {
	properties := object{}
	for f := range t.Fields() {
		key := f.Tag.Get("yaml")
		if key == ",inline" {
			maps.Copy(properties, g.object(f.Type)["properties"].(object))
			continue
		}
		if key == "" || key == "-" {
			continue
		}
		p := g.value(f.Type)
		if at := "#/properties/" + key; t == reflect.TypeFor[scenario.FailingCase]() && (key == "expect" || key == "faults") {
			p = object{"$ref": at}
		}
		g.words(p, f.Tag.Get("names"), f.Tag.Get("values"))
		text := g.comments[t.Name()+"."+f.Name]
		if text == "" {
			g.undescribed = append(g.undescribed, t.Name()+"."+f.Name)
		}
		p["description"] = plainly(t, text)
		properties[key] = p
	}
	return object{"type": "object", "properties": properties, "additionalProperties": false}
}

// shorthand types may be a plain text in place of their object.
var shorthand = map[reflect.Type]bool{
	reflect.TypeFor[scenario.Server](): true, reflect.TypeFor[scenario.FileExpect](): true,
	reflect.TypeFor[scenario.Answer](): true, reflect.TypeFor[scenario.Pace](): true, reflect.TypeFor[scenario.Fault](): true,
}

func (g *generator) value(t reflect.Type) object {
	switch t {
	case reflect.TypeFor[scenario.Duration]():
		return object{"type": []string{"string", "integer"}, "pattern": `^(0|([0-9.]+(ns|us|µs|ms|s|m|h))+)$`, "maximum": 0, "minimum": 0}
	case reflect.TypeFor[scenario.Bound]():
		return object{"type": []string{"string", "number"}}
	case reflect.TypeFor[scenario.Texts]():
		return object{"anyOf": []object{{"type": "string"}, {"type": "array", "items": object{"type": "string"}}}}
	}
	switch t.Kind() {
	case reflect.Pointer:
		return g.value(t.Elem())
	case reflect.Slice:
		return object{"type": "array", "items": g.value(t.Elem())}
	case reflect.Map:
		return object{"type": "object", "additionalProperties": g.value(t.Elem())}
	case reflect.Struct:
		if shorthand[t] {
			return object{"anyOf": []object{{"type": "string"}, g.object(t)}}
		}
		return g.object(t)
	case reflect.String:
		return object{"type": []string{"string", "number", "boolean"}}
	case reflect.Bool:
		return object{"type": "boolean"}
	case reflect.Interface:
		return object{}
	case reflect.Float64:
		return object{"type": "number"}
	}
	return object{"type": "integer"}
}

var spaces = regexp.MustCompile(`\s+`)

// comments reads the doc comment of every member, by Type.Member.
func comments(t *testing.T) map[string]string {
	t.Helper()
	out := map[string]string{}
	files, err := filepath.Glob("*.go")
	require.NoError(t, err)
	for _, file := range files {
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ParseComments)
		require.NoError(t, err)
		ast.Inspect(parsed, func(n ast.Node) bool {
			spec, ok := n.(*ast.TypeSpec)
			if !ok {
				return true
			}
			body, ok := spec.Type.(*ast.StructType)
			if !ok {
				return true
			}
			above := ""
			for _, f := range body.Fields.List {
				for _, name := range f.Names {
					text := strings.TrimSpace(spaces.ReplaceAllString(f.Doc.Text(), " "))
					if text == "" && regexp.MustCompile(`\b`+name.Name+`\b`).MatchString(above) {
						text = above
					}
					above = text
					out[spec.Name.Name+"."+name.Name] = text
				}
			}
			return true
		})
	}
	return out
}
