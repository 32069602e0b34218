package world

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"toolbench/toolsys/jsonscan"
)

// entry is one object of a catalogue: a tool, a listing of some, or what is around
// either, in the spellings of servers, of requests to models and of collections.
type entry struct {
	gjson.Result
	// of has the members under their names as [spelled] gives them.
	of map[string]gjson.Result
	// as is the name that an object without one has from outside.
	as string
}

func entryOf(r gjson.Result, as string) entry {
	e := entry{r, map[string]gjson.Result{}, as}
	for _, m := range membersOf(r) {
		e.of[spelled.Replace(strings.ToLower(m.as))] = m.Result
	}
	return e
}

// spelled takes out what people put between the words of a member's name.
var spelled = strings.NewReplacer("_", "", "-", "")

// member is one of an object's or of a list's, in which it has no name.
type member struct {
	gjson.Result
	as string
}

func membersOf(r gjson.Result) (all []member) {
	if r.IsObject() || r.IsArray() {
		r.ForEach(func(key, value gjson.Result) bool {
			all = append(all, member{value, key.String()})
			return true
		})
	}
	return all
}

// unwritten is the object or the list that stands in a text, as tables keep them, or the value.
func unwritten(r gjson.Result) gjson.Result {
	if inner := gjson.Parse(strings.TrimSpace(r.Str)); (inner.IsObject() || inner.IsArray()) && gjson.Valid(r.Str) {
		inner.Index = r.Index
		return inner
	}
	return r
}

// first is the first of its members by these names that is of a kind.
func (e entry) first(kind func(gjson.Result) bool, names ...string) (found gjson.Result) {
	for _, name := range names {
		if r := unwritten(e.of[name]); kind(r) {
			return r
		}
	}
	return found
}

// listing is the array of tools in it, if there is one. Results are commands, each of which is a tool with its options.
func (e entry) listing() gjson.Result {
	if commands := e.of["results"]; commands.IsArray() && commands.Get("0.command").Exists() {
		return commands
	}
	return e.first(gjson.Result.IsArray, "tools", "functions", "functiondeclarations", "function", "mcpservers", "servers", "apilist", "languagemodeltools")
}

// byNames is an object of tools or of servers under their names, if there is one.
func (e entry) byNames() gjson.Result {
	return e.first(gjson.Result.IsObject, "tools", "functions", "mcpservers", "servers")
}

// within is what an object without a name is around, if it is.
func (e entry) within() gjson.Result {
	return e.first(gjson.Result.IsObject, "function", "toolspec", "tool", "result", "toolconfig", "data", "remoteserverresponse")
}

// lists reports whether there is a listing of either kind.
func (e entry) lists() bool { return e.listing().Exists() || e.byNames().Exists() }

// serverName is what it calls its server itself, as a text or as how the server is reached.
func (e entry) serverName() string {
	return cmp.Or(e.of["server"].Get("name").Str, e.of["servername"].Str, e.of["serverinfocrawled"].Get("name").Str)
}

// server is the name that it gives its server, or the one that holds so far. Only a listing's own name is a server's.
func (e entry) server(sofar string, lists bool) string {
	var around string
	switch own := e.of["server"]; {
	case own.Type == gjson.String:
		return own.Str
	case lists:
		around = e.name()
	case e.of["apiname"].Exists():
		around = e.of["toolname"].Str
	}
	return cmp.Or(e.serverName(), around, sofar)
}

// name is the tool's, in whichever spelling. A command's own name is the last of its
// words only, so that all of them are its tool's; a slug has a name for people beside it.
func (e entry) name() string {
	if command := strings.Fields(e.of["command"].Str); len(command) > 0 && e.of["option"].IsArray() {
		return strings.Join(command, "_")
	}
	if schema, _ := e.schema(); schema != "" && e.of["slug"].Str+e.of["id"].Str != "" {
		return cmp.Or(e.of["slug"].Str, e.of["name"].Str, e.of["id"].Str)
	}
	return cmp.Or(e.of["name"].Str, e.of["apiname"].Str, e.of["toolname"].Str, e.of["functionname"].Str, e.of["tool"].Str, e.of["nameformodel"].Str, e.of["identity"].Get("name").Str, e.as)
}

// about is the tool's description, in whichever spelling.
func (e entry) about() string {
	of := e.of["description"]
	return cmp.Or(of.Str, of.Get("llm").Str, e.of["tooldescription"].Str, e.of["apidescription"].Str, e.of["descriptionformodel"].Str, e.of["modeldescription"].Str, e.of["desc"].Str)
}

// wrong is the member whose kind no tool's has, and what it is.
func (e entry) wrong() string {
	for _, name := range []string{"name", "title", "description", "server"} {
		r := e.of[name]
		said := name == "server" && r.IsObject() || name == "description" && e.about() != ""
		if r.Type != gjson.String && r.Type != gjson.Null && !said {
			return name + " cannot be " + kind(r)
		}
	}
	return ""
}

// provided is the name of a tool that a model's provider runs: it may have a type only, or stand under its name.
func (e entry) provided() string {
	kind := e.of["type"].Str
	switch all := membersOf(e.Result); {
	case e.within().Exists():
	case len(all) == 1 && all[0].IsObject():
		return all[0].as
	case !slices.Contains([]string{"function", "custom", "object", "array", "string", "number", "integer", "boolean", "null"}, kind):
		return kind
	}
	return ""
}

// other is an object, or a list of some, that no tool has: the file of a project or of an agent has a name as well. What is
// not described has no list at all.
func (e entry) other() string {
	for _, m := range membersOf(e.Result) {
		if (m.IsObject() || m.IsArray() && (m.Get("0").IsObject() || e.about() == "")) && !slices.Contains(besides, m.as) {
			return m.as
		}
	}
	return ""
}

// besides are objects and lists that tools have beside their schemas.
var besides = []string{"annotations", "_meta", "icons", "execution", "examples", "input_examples", "outputSchema", "output_schema", "metadata", "server", "meta"}

// schemas are the names of a schema; the second to the fourth are those of requests to models.
var schemas = []string{"inputschema", "parameters", "parametersjsonschema", "argsschema", "schema", "inputparameters", "parameterdefinitions", "fnschema", "fnschemastr"}

// schema is the input's, in whichever spelling; bare reports whether it is out of a
// request to a model, where names are whole already.
func (e entry) schema() (as string, bare bool) {
	unserved := e.serverName() == "" && e.of["server"].Str == ""
	for i, name := range schemas {
		r := unwritten(e.of[name])
		if r.Type == gjson.Null { // or there is none
			continue
		}
		inner := cmp.Or(r.Get("json").Raw, r.Get("jsonSchema").Raw) // as clouds and libraries wrap one
		requested := i >= 1 && i <= 3 || inner != "" || e.Get("input_schema").Exists()
		return cmp.Or(inner, ofList(r), ofMembers(r), r.Raw), unserved && requested
	}
	var apart parameters
	if apart.list(e.of["requiredparameters"], true) && apart.list(e.of["optionalparameters"], false) {
		return apart.schema(), false
	}
	for _, name := range []string{"arguments", "option", "params", "input", "templateparameters"} {
		r := e.of[name]
		if of := ofList(r); of != "" || r.Get("properties").Exists() {
			return cmp.Or(of, r.Raw), false
		}
	}
	return cmp.Or(ofMembers(e.of["args"]), ofMembers(e.of["inputs"])), unserved && e.of["type"].Str != ""
}

// resources are what a file of Google's toolbox has beside tools, each in a document of its kind.
var resources = []string{"source", "sources", "authService", "authServices", "embeddingModel", "embeddingModels", "toolset", "toolsets", "prompt", "prompts"}

// holds reports whether an entry is, is around, or lists a tool beyond doubt: one that has a name and what only a schema has,
// since calls have names and inputs too. So many objects may lie between.
func (e entry) holds(most int) bool {
	holds := func(m member) bool { return most > 0 && m.IsObject() && entryOf(m.Result, m.as).holds(most-1) }
	plain := func(m member) bool {
		inner := entryOf(m.Result, "")
		return inner.name() != "" && (inner.about() != "" || len(inner.of) == 1)
	}
	as, _ := e.schema()
	schema := gjson.Parse(as)
	described := schema.Get("properties").IsObject() || schema.Get("type").Str != "" || as == "{}" && e.about() != ""
	return e.name() != "" && described || holds(member{e.within(), ""}) || slices.ContainsFunc(membersOf(e.listing()), holds) ||
		slices.ContainsFunc(membersOf(e.byNames()), holds) || e.of["tools"].IsArray() && slices.ContainsFunc(membersOf(e.of["tools"]), plain)
}

// parameters is a schema that is put together: its properties, and the names of those that are required.
type parameters struct{ props, required []string }

func (p *parameters) add(name, schema string, required bool) {
	quoted := string(jsonscan.AppendQuoted(nil, name))
	p.props = append(p.props, quoted+":"+schema)
	if required {
		p.required = append(p.required, quoted)
	}
}

func (p *parameters) schema() string {
	schema := `{"type":"object","properties":{` + strings.Join(p.props, ",") + "}"
	if len(p.required) > 0 {
		schema += `,"required":[` + strings.Join(p.required, ",") + "]"
	}
	return schema + "}"
}

// list adds parameters that stand in a list, in its order; it reports whether it is such a list.
func (p *parameters) list(r gjson.Result, required bool) bool {
	for _, m := range membersOf(r) {
		name := cmp.Or(m.Get("name").Str, m.Str)
		if name == "" {
			return false
		}
		p.add(strings.TrimPrefix(name, "--"), property(m.Result), required || m.Get("required").Type == gjson.True)
	}
	return r.IsArray()
}

// property is a parameter's schema: what stands in it, and what a schema may have of what stands beside its name.
func property(r gjson.Result) string {
	var of parameters
	for _, m := range membersOf(r) {
		key := m.as
		if key == "desc" || key == "llm_description" {
			key = "description"
		}
		if slices.Contains([]string{"type", "description", "enum", "items", "properties", "format", "anyOf", "$ref"}, key) && m.String() != "" {
			of.add(key, m.Raw, false)
		}
		if m.as == "schema" {
			for _, inner := range membersOf(m.Result) {
				of.add(inner.as, inner.Raw, false)
			}
		}
	}
	return "{" + strings.Join(of.props, ",") + "}"
}

// ofList makes a schema of parameters that stand in a list; "" where it is no such list.
func ofList(r gjson.Result) string {
	var of parameters
	if !of.list(r, false) {
		return ""
	}
	return of.schema()
}

// ofMembers makes a schema of parameters that stand under their names; "" where these are a schema's own members.
func ofMembers(r gjson.Result) string {
	var of parameters
	for _, m := range membersOf(r) {
		if !m.IsObject() || slices.Contains([]string{"properties", "$defs", "definitions", "items", "additionalProperties", "not"}, m.as) || m.Raw != "{}" && property(m.Result) == "{}" {
			return ""
		}
		of.add(m.as, m.Raw, m.Get("required").Type == gjson.True)
	}
	if of.props == nil {
		return ""
	}
	return of.schema()
}

// byName reports whether an object holds tools or listings under their names: all of them
// are objects, and each describes a tool, or lists whose first does.
func byName(all []member) bool {
	return len(all) > 0 && !slices.ContainsFunc(all, func(m member) bool {
		e := entryOf(gjson.Parse(cmp.Or(m.Get("0").Raw, m.Raw)), "")
		schema, _ := e.schema()
		return !e.IsObject() || schema == "" && e.about() == "" && !e.lists() && !e.within().Exists()
	})
}

// nameless describes an object that has no name by what it has instead.
func nameless(all []member) string {
	text, before := "the tool has no name; give it one", ", or take out what is no tool; it has "
	for i, m := range all {
		if i == 4 {
			return text + ", ..."
		}
		text, before = text+before+fmt.Sprintf("%.40q", m.as), ", "
	}
	return text
}
