package serve

import (
	"bytes"
	"cmp"
	_ "embed" // what clients call the same tool
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"

	"github.com/tidwall/gjson"

	"toolbench/toolsys/schema"
)

// Names are what stands for the tools of a script in a client, by the script's names.
type Names map[string]Named

// Named is what a client calls a tool; Args are its arguments, by the script's names.
type Named struct {
	Name string
	Args map[string]string
}

// ParseName reads one name as it is given on a command line: Read=read_file,file_path=path.
func ParseName(text string) (tool string, named Named, err error) {
	first, rest, _ := strings.Cut(text, ",")
	tool, name, ok := strings.Cut(first, "=")
	if !ok || tool == "" || name == "" {
		return "", Named{}, fmt.Errorf("%q: write TOOL=NAME or TOOL=NAME,ARG=NAME, as in Read=read_file,file_path=path", text)
	}
	named = Named{Name: name, Args: map[string]string{}}
	for part := range strings.SplitSeq(rest, ",") {
		if part == "" {
			continue
		}
		arg, other, ok := strings.Cut(part, "=")
		if !ok || arg == "" || other == "" {
			return "", Named{}, fmt.Errorf("%q: the argument %q is no ARG=NAME", text, part)
		}
		named.Args[arg] = other
	}
	return tool, named, nil
}

// naming is how one client's tools are called by a script: for each tool that the client
// calls otherwise, its name and what becomes of its arguments.
type naming struct {
	tools map[string]renamed
	// notes are what was guessed, for people.
	notes []string
}

type renamed struct {
	name string
	args map[string]string
	// within are arguments that are members of the first element of a list, by the list's
	// name: edits for oldText in edits: [{oldText: ...}].
	within map[string]string
	// known are the arguments there are; nil: any. Fill are those that must be given and
	// that the script's calls do not have.
	known map[string]bool
	fill  map[string]json.RawMessage
}

// name decides what the conversation's tools are called by a client that offers these: as
// it was told, else what is named alike, if that is one tool only.
func (n Names) name(c *Conversation, offered []gjson.Result) naming {
	out := naming{tools: map[string]renamed{}}
	for _, tool := range slices.Sorted(maps.Keys(c.inputs())) {
		named, told := n[tool]
		if !told {
			named.Name = alike(tool, offered)
		}
		at := slices.IndexFunc(offered, func(t gjson.Result) bool { return toolName(t) == named.Name })
		free := at >= 0 && offered[at].Get("freeform").Bool()
		itself := named.Name == tool && len(named.Args) == 0 && !free
		if named.Name == "" || itself && told || at < 0 && !told {
			continue
		}
		r := renamed{name: named.Name, args: map[string]string{}}
		switch args := c.inputs()[tool]; {
		case free && len(args) == 1: // there is one text only
			r.args[args[0]] = "input"
		case at >= 0:
			r.fit(tool, named.Args, args, schemaOf(offered[at]))
		default:
			maps.Copy(r.args, named.Args)
		}
		if itself && !r.respells(c.inputs()[tool]) {
			continue
		}
		out.tools[tool] = r
		if !told {
			out.notes = append(out.notes, r.note(tool))
		}
	}
	return out
}

// respells reports whether all arguments have a counterpart, and some another than themselves.
func (r renamed) respells(args []string) bool {
	other := func(arg string) bool { return r.args[arg] != arg }
	return slices.ContainsFunc(args, other) && !slices.ContainsFunc(args, func(arg string) bool { return r.args[arg] == "" })
}

// inputs are the arguments that the calls of each tool have, by the tool's name.
func (c *Conversation) inputs() map[string][]string {
	out := map[string][]string{}
	for _, a := range c.Answers {
		for _, call := range a.Calls() {
			keys := out[call.Name]
			gjson.ParseBytes(call.Input).ForEach(func(key, _ gjson.Result) bool {
				if !slices.Contains(keys, key.Str) {
					keys = append(keys, key.Str)
				}
				return true
			})
			out[call.Name] = keys
		}
	}
	return out
}

// fit maps the arguments of a tool to those of a schema: the ones that were told, the ones of the
// same name, then those that are named alike, if that is one only.
func (r *renamed) fit(tool string, told map[string]string, args []string, client gjson.Result) {
	properties := client.Get("properties")
	r.known, r.fill = map[string]bool{}, map[string]json.RawMessage{}
	properties.ForEach(func(key, _ gjson.Result) bool {
		r.known[key.Str] = true
		return true
	})
	taken := map[string]bool{}
	for _, arg := range args {
		switch to, ok := told[arg]; {
		case ok:
			r.args[arg] = to
		case r.known[arg]:
			r.args[arg] = arg
		default:
			continue
		}
		taken[r.args[arg]] = true
	}
	for _, arg := range args {
		if r.args[arg] != "" {
			continue
		}
		fits := slices.DeleteFunc(slices.Sorted(maps.Keys(r.known)), func(p string) bool { return taken[p] || !same("args", arg, p) })
		if len(fits) == 1 {
			r.args[arg] = fits[0]
			taken[fits[0]] = true
		}
	}
	r.nest(args, properties, taken)
	for _, must := range client.Get("required").Array() {
		if !taken[must.Str] {
			r.fill[must.Str] = anyValue(tool, client, must.Str)
		}
	}
}

// element stands for an argument that is itself the one element of a list.
const element = "[]"

// nest maps arguments that have no counterpart to members of the elements of a list, or to its element.
func (r *renamed) nest(args []string, properties gjson.Result, taken map[string]bool) {
	r.within = map[string]string{}
	properties.ForEach(func(list, schema gjson.Result) bool {
		members := schema.Get("items.properties")
		for _, arg := range args {
			if r.args[arg] != "" {
				continue
			}
			if schema.Get("items.type").Str == "string" && same("args", arg, singular(list.Str)) {
				r.args[arg], r.within[arg], taken[list.Str] = element, list.Str, true
			}
			members.ForEach(func(member, _ gjson.Result) bool {
				if same("args", arg, member.Str) {
					r.args[arg], r.within[arg], taken[list.Str] = member.Str, list.Str, true
				}
				return r.args[arg] == ""
			})
		}
		return true
	})
}

// singular is what one element of a list is called.
func singular(list string) string {
	if stem, ok := strings.CutSuffix(list, "ies"); ok {
		return stem + "y"
	}
	return strings.TrimSuffix(list, "s")
}

// anyValue is the first value that a member of a client's schema takes: of several words the one that
// means the tool, else what the schema gives, else none at all, else one of some type.
func anyValue(tool string, client gjson.Result, member string) json.RawMessage {
	of := client.Get("properties." + gjson.Escape(member))
	if ref := of.Get("$ref").Str; ref != "" {
		of = client.Get(strings.ReplaceAll(strings.TrimPrefix(ref, "#/"), "/", "."))
	}
	words := of.Get("enum").Array()
	if at := meaning(tool, words); at >= 0 {
		return json.RawMessage(words[at].Raw)
	}
	takes, err := schema.Compile(json.RawMessage(`{"type":"object","$defs":` + cmp.Or(client.Get("$defs").Raw, "{}") + `,"additionalProperties":` + of.Raw + `}`))
	for _, v := range append(gjson.Parse(`[`+cmp.Or(of.Get("default").Raw, of.Get("const").Raw, "null")+`,null,false,1,0,"toolbench",[],{}]`).Array(), words...) {
		if err == nil && len(takes.Validate(json.RawMessage(`{"":`+v.Raw+`}`))) == 0 {
			return json.RawMessage(v.Raw)
		}
	}
	return json.RawMessage(`"toolbench"`)
}

// input is a call's input with the client's arguments; one that is no object stays.
func (r renamed) input(raw json.RawMessage) json.RawMessage {
	v := gjson.ParseBytes(raw)
	if !v.IsObject() {
		return raw
	}
	var b bytes.Buffer
	put := func(key string, value []byte) {
		name, _ := json.Marshal(key) // a text never fails
		b.WriteString(map[bool]string{true: "{", false: ","}[b.Len() == 0])
		b.Write(append(append(name, ':'), value...))
	}
	lists := map[string]string{}
	v.ForEach(func(key, value gjson.Result) bool {
		switch to, list := r.args[key.Str], r.within[key.Str]; {
		case to == element:
			put(list, []byte("["+value.Raw+"]"))
		case list != "":
			name, _ := json.Marshal(to) // a text never fails
			lists[list] += "," + string(name) + ":" + value.Raw
		case to != "":
			put(to, []byte(value.Raw))
		case r.known == nil:
			put(key.Str, []byte(value.Raw))
		}
		return true
	})
	for _, key := range slices.Sorted(maps.Keys(lists)) {
		put(key, []byte("[{"+lists[key][1:]+"}]"))
	}
	for _, key := range slices.Sorted(maps.Keys(r.fill)) {
		put(key, r.fill[key])
	}
	if b.Len() == 0 {
		return json.RawMessage("{}")
	}
	b.WriteByte('}')
	return b.Bytes()
}

// note words what was guessed.
func (r renamed) note(tool string) string {
	text := fmt.Sprintf("guessed: %s is called %s", tool, r.name)
	for _, arg := range slices.Sorted(maps.Keys(r.args)) {
		to := r.args[arg]
		if list := r.within[arg]; list != "" {
			to = strings.TrimSuffix(list+element+"."+to, "."+element)
		}
		if to != arg {
			text += fmt.Sprintf(", its %s %s", arg, to)
		}
	}
	for _, arg := range slices.Sorted(maps.Keys(r.fill)) {
		text += fmt.Sprintf(", %s is filled in", arg)
	}
	return text
}

// meaning finds the word of an enumeration that means a tool, as view means Read; -1 without one.
func meaning(tool string, words []gjson.Result) int {
	return slices.IndexFunc(words, func(w gjson.Result) bool { return same("tool", tool, w.Str) })
}

// does reports whether an offered tool does several things by a word, of which one is a tool's.
func does(offered gjson.Result, tool string) (found bool) {
	schemaOf(offered).Get("properties").ForEach(func(_, schema gjson.Result) bool {
		found = meaning(tool, schema.Get("enum").Array()) >= 0
		return !found
	})
	return found
}

// alike is the name of the one offered tool that is called like a tool of the script, or else of
// the one that does the same by a word, or that can stand for it; "" where there is none or several.
func alike(tool string, offered []gjson.Result) string {
	for _, fit := range []func(gjson.Result) bool{
		func(t gjson.Result) bool { return toolName(t) == tool },
		func(t gjson.Result) bool { return plainly(toolName(t)) == plainly(tool) },
		func(t gjson.Result) bool { return same("tool", tool, toolName(t)) },
		func(t gjson.Result) bool { return does(t, tool) },
		func(t gjson.Result) bool { return same("instead", tool, toolName(t)) },
	} {
		fits := slices.DeleteFunc(slices.Clone(offered), func(t gjson.Result) bool { return !fit(t) })
		if len(fits) > 0 {
			return map[bool]string{true: toolName(fits[0])}[len(fits) == 1]
		}
	}
	return ""
}

//go:embed names.txt
var namesText string

// synonyms are the lines of names.txt: what kind of name, and the names, spelt plainly.
var synonyms = func() (lines [][]string) {
	for line := range strings.Lines(namesText) {
		if words := strings.Fields(line); len(words) > 1 && words[0] != "#" {
			for i, w := range words[1:] {
				words[i+1] = plainly(w)
			}
			lines = append(lines, words)
		}
	}
	return lines
}()

// same reports whether two names are spellings of one, or synonyms of a kind.
func same(kind, a, b string) bool {
	a, b = plainly(a), plainly(b)
	return a == b || slices.ContainsFunc(synonyms, func(line []string) bool {
		return line[0] == kind && slices.Contains(line[1:], a) && slices.Contains(line[1:], b)
	})
}

// plainly spells a name without capitals and marks, so that readFile is read_file.
func plainly(name string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			return -1
		}
		return unicode.ToLower(r)
	}, name)
}

func toolName(t gjson.Result) string { return t.Get("name").Str }

func schemaOf(t gjson.Result) gjson.Result { return t.Get("input_schema") }
