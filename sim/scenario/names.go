package scenario

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"toolbench/toolsys/permission"
	"toolbench/toolsys/schedule"
	"toolbench/toolsys/search"
)

// mention is a name that stands somewhere in a scenario, and where.
type mention struct{ key, name string }

// mentions gives the names that a scenario mentions, by their sort, which the tags of the
// format's types have: `names` is the sort of a text, of the items of a list or of the keys
// of a mapping, `values` that of the values of a mapping.
func (sc *Scenario) mentions() map[string][]mention {
	all := map[string][]mention{}
	walkNames(reflect.ValueOf(sc).Elem(), "", "", "", func(key, sort, name string) {
		if sort != "" && name != "" {
			all[sort] = append(all[sort], mention{key, name})
		}
	})
	return all
}

// negative is the sort of numbers below 0.
const negative = "-"

// walkNames calls visit for each text below a value that has a sort, and for each number below 0.
func walkNames(v reflect.Value, key, names, values string, visit func(key, sort, name string)) {
	switch v.Kind() {
	case reflect.String:
		visit(key, names, v.String())
	case reflect.Int, reflect.Int64, reflect.Float64:
		if v.CanInt() && v.Int() < 0 || v.CanFloat() && v.Float() < 0 {
			visit(key, negative, fmt.Sprint(v.Interface()))
		}
	case reflect.Pointer:
		if !v.IsNil() {
			walkNames(v.Elem(), key, names, values, visit)
		}
	case reflect.Slice:
		for i := range v.Len() {
			walkNames(v.Index(i), join(key, strconv.Itoa(i)), names, values, visit)
		}
	case reflect.Map:
		for _, name := range slices.SortedFunc(slices.Values(v.MapKeys()), func(a, b reflect.Value) int { return strings.Compare(a.String(), b.String()) }) {
			visit(join(key, name.String()), names, name.String())
			walkNames(v.MapIndex(name), join(key, name.String()), values, "", visit)
		}
	case reflect.Struct:
		for f, member := range v.Fields() {
			if member.IsZero() {
				continue
			}
			switch at := f.Tag.Get("yaml"); at {
			case ",inline":
				walkNames(member, key, "", "", visit)
			case "", "-":
			default:
				walkNames(member, join(key, at), f.Tag.Get("names"), f.Tag.Get("values"), visit)
			}
		}
	}
}

// vocabulary is the words of one sort.
type vocabulary struct {
	sort    string
	problem string // of a word that is none of them
	words   []string
}

// Words are the words of the system that a scenario may use: kinds of events, statuses of
// results, what calls wait for, events of hooks, profiles of settings and built-in tools.
type Words struct{ Kinds, Statuses, Waits, Events, Profiles, Builtins []string }

// CheckWords refuses words that are none of those the system has for their place.
func (sc *Scenario) CheckWords(w Words) error { return sc.checkWords(w.vocabularies()...) }

func (w Words) vocabularies() []vocabulary {
	return []vocabulary{
		{"kind", "%q is no kind of event", w.Kinds},
		{"status", "%q is no status of a result", w.Statuses},
		{"wait", "%q is nothing that a call waits for", w.Waits},
		{"profile", "%q is no profile", w.Profiles},
		{"event", "%q is no event of a hook", w.Events},
		{"builtin", "there is no built-in tool %q", w.Builtins},
	}
}

// ownWords are the words that the format itself has.
func ownWords() []vocabulary {
	return []vocabulary{
		{"change", "%q is nothing that becomes of a file", []string{"unchanged", "changed", "created", "absent"}},
		{"policy", "%q is no policy", Policies()},
		{"failure", "%q is no way for a hook to fail", []string{"error", "panic", "hang"}},
		{"ruling", "%q is no ruling", []string{"clears", "blocks"}},
		{"interrupt", "%q is nothing that an interrupt does to a call", []string{"cancel", "block"}},
		{"matching", "%q is no way of matching requests", []string{"strict", "lenient"}},
		{"looseness", "%q is no way of comparing calls", looseness},
		{"style", "%q is no style", []string{"names", "hints", "api", "server-regex", "server-bm25"}},
		{"admission", "%q is nobody whom a server lets in", []string{"person", "secret"}},
		{"list", "%q is nothing that becomes of a list", []string{"fails", "hangs", "careless"}},
	}
}

func (sc *Scenario) checkWords(all ...vocabulary) error {
	for _, v := range all {
		for _, m := range sc.named[v.sort] {
			if !slices.Contains(v.words, m.name) {
				return sc.ErrorAt(m.key, fmt.Sprintf(v.problem, m.name), meant(m.name, v.words))
			}
		}
	}
	return nil
}

// Policies are the names that policy takes, in the scheduler's order.
func Policies() []string {
	var names []string
	for p := schedule.Policy(0); ; p++ {
		if _, err := schedule.ParsePolicy(p.String()); err != nil {
			return names
		}
		names = append(names, p.String())
	}
}

// meant proposes the word that is spelt most like another, or all where they are few.
func meant(word string, words []string) string {
	if near := nearest(word, words); near != "" || len(words) == 0 || len(words) > 20 {
		return near
	}
	return "use " + strings.Join(words, ", ")
}

func nearest(word string, words []string) string {
	if near := search.Nearest(word, words, nil, 1); len(near) > 0 {
		return "did you mean " + near[0] + "?"
	}
	return ""
}

// CheckNames refuses calls that the model never makes and tools that do not exist,
// wherever the scenario names them. What there is, only a run has: call reports whether
// the model makes a call of that id, tool whether there is a tool of that name, and tools
// are names to propose.
func (sc *Scenario) CheckNames(call, tool func(string) bool, tools []string) error {
	for _, m := range sc.named["call"] {
		if !call(m.name) {
			return sc.ErrorAt(m.key, fmt.Sprintf("the model makes no call %q", m.name), meant(m.name, sc.scriptedCalls()))
		}
	}
	for _, m := range sc.named["tool"] {
		if !tool(m.name) {
			return sc.ErrorAt(m.key, fmt.Sprintf("there is no tool %q", m.name), nearest(m.name, tools))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(sc.Durations)) {
		if !tool(name) && !call(name) {
			return sc.ErrorAt("durations."+name, fmt.Sprintf("there is no tool and no call %q", name), nearest(name, tools))
		}
	}
	return sc.checkRules(tool, tools)
}

func (sc *Scenario) scriptedCalls() []string {
	var ids []string
	for _, t := range sc.Stream.Turns {
		for _, c := range t.Made() {
			ids = append(ids, c.ID)
		}
	}
	return ids
}

// checkRules refuses rules of tools that do not exist. A rule may also be of a server,
// with or without a star for its tools.
func (sc *Scenario) checkRules(tool func(string) bool, tools []string) error {
	for _, m := range sc.named["rule"] {
		rule, err := permission.ParseRule(m.name)
		if err != nil {
			return sc.ErrorAt(m.key, err.Error(), "")
		}
		name := strings.TrimSuffix(strings.TrimSuffix(rule.Tool(), "*"), "__")
		ofServer := strings.HasPrefix(name, "mcp__") && slices.ContainsFunc(tools, func(t string) bool { return strings.HasPrefix(t, name+"__") })
		if !tool(rule.Tool()) && !ofServer && name != "mcp" && name != "" {
			return sc.ErrorAt(m.key, "the rule never matches: there is no tool "+rule.Tool(), nearest(rule.Tool(), tools))
		}
	}
	return nil
}
