package scenarios_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"toolbench/sim/scenario"
	"toolbench/sim/scenario/run"
)

// Every key of the published schema's expect has a case that fails because of it alone, and
// each list and mapping one whose culprit is not its first element. So a check that compares
// less than it should is noticed by a case.
func TestEveryExpectationHasACaseThatMustFail(t *testing.T) {
	var found covered
	for _, sc := range suite(t) {
		for _, c := range sc.MustFail {
			before := len(found.paths)
			found.byRemoval(sc, c)
			found.byPlace(reflect.ValueOf(c.Expect), reflect.ValueOf(sc.Expect), "")
			assert.True(t, len(found.paths) > before || c.Failure == "requests" || c.Failure == "servers.mail" || strings.HasPrefix(c.Failure, "trace."),
				"%s/%s: nothing in it alone makes it fail", sc.Name, c.Case)
		}
	}
	var schema struct {
		Properties map[string]json.RawMessage `json:"properties"`
	}
	require.NoError(t, json.Unmarshal(scenario.Schema(), &schema))
	keys := keysOfSchema(t, schema.Properties["expect"], "")
	assert.Greater(t, len(keys), 60)
	for _, key := range keys {
		assert.True(t, found.has(key), "no case must fail of expect.%s", key)
		for _, list := range lists(key) {
			assert.True(t, found.beyondFirst[list], "no case must fail of an element of expect.%s that is not the first", list)
		}
	}
	for _, list := range []string{"batches[]", "called[]", "order[]", "hints[]", "state.discovered[]", "state.read[]", "pool.tools[]", "pool.last[]", "pool.deferred[]",
		"requests.given_up[]", "servers{}.called[]", "servers{}.cancelled[]"} {
		assert.True(t, found.longer[list] && found.shorter[list], "expect.%s has no case with one too many and one too few", list)
	}
	assert.GreaterOrEqual(t, found.cases, 80)
}

// covered are the places in expectations that made a case fail, as a path with [] for a
// place in a list and {} for a key of a mapping.
type covered struct {
	paths                        []string
	beyondFirst, longer, shorter map[string]bool
	cases                        int
}

func (c *covered) has(path string) bool { return slices.Contains(c.paths, path) }

var place = regexp.MustCompile(`[\[{](\d+)[\]}]`)

// add notes a culprit, whose path has the numbers of places and keys.
func (c *covered) add(path string) {
	if c.beyondFirst == nil {
		c.beyondFirst, c.longer, c.shorter = map[string]bool{}, map[string]bool{}, map[string]bool{}
	}
	for _, at := range place.FindAllStringIndex(path, -1) {
		if path[at[0]+1:at[1]-1] != "0" {
			c.beyondFirst[plainPath(path[:at[1]])] = true
		}
	}
	c.paths = append(c.paths, plainPath(path))
}

func plainPath(path string) string {
	return place.ReplaceAllStringFunc(path, func(s string) string { return s[:1] + s[len(s)-1:] })
}

// byRemoval looks for what, taken out, leaves a case in which nothing fails.
func (c *covered) byRemoval(sc *scenario.Scenario, failing scenario.FailingCase) {
	c.cases++
	for _, leaf := range leaves(reflect.ValueOf(failing.Expect), nil, "") {
		if !strings.HasPrefix(leaf.steps[0].(string), strings.SplitN(failing.Failure, ".", 2)[0]) {
			continue
		}
		rest := *sc
		rest.Expect = without(reflect.ValueOf(failing.Expect), leaf.steps[1:]).Interface().(scenario.Expect)
		if failing.Then != nil {
			rest.Then = failing.Then
		}
		if failing.Faults != nil {
			rest.Faults = failing.Faults
		}
		if out := run.Scenario(context.Background(), &rest, run.Options{Seed: 1}); out.Err == nil && len(out.Failures) == 0 {
			for _, path := range leaf.paths {
				c.add(path)
			}
		}
	}
}

// byPlace looks for where lists that are compared whole differ from the scenario's own.
func (c *covered) byPlace(v, own reflect.Value, path string) {
	switch v.Kind() {
	case reflect.Struct:
		for f, member := range v.Fields() {
			key := f.Tag.Get("yaml")
			if key == "" || member.IsZero() {
				continue
			}
			if wanted := wholeLists[key] || strings.HasPrefix(path, "called") || strings.HasPrefix(path, "gates"); wanted || member.Kind() == reflect.Struct && member.Type() != boundType {
				c.byPlace(member, own.FieldByName(f.Name), strings.TrimPrefix(path+"."+key, "."))
			}
		}
	case reflect.Slice:
		for i := range max(v.Len(), own.Len()) {
			at := fmt.Sprintf("%s[%d]", path, i)
			switch {
			case i >= v.Len():
				c.add(at)
				c.shorter[plainPath(at)] = true
				return
			case i >= own.Len():
				c.add(at)
				c.longer[plainPath(at)] = true
				return
			}
			c.byPlace(v.Index(i), own.Index(i), at)
		}
	case reflect.Map:
		if v.Type().Elem().Kind() == reflect.String && own.Len() > v.Len() {
			c.add(fmt.Sprintf("%s{%d}", path, v.Len()))
		}
		for i, key := range slices.Sorted(maps.Keys(keysOf(v))) {
			texts := v.Type().Elem().Kind() == reflect.String || v.Type().Elem() == reflect.TypeFor[scenario.ServerExpect]()
			if at := reflect.ValueOf(key); own.Kind() == reflect.Map && texts && own.MapIndex(at).IsValid() {
				c.byPlace(v.MapIndex(at), own.MapIndex(at), fmt.Sprintf("%s{%d}", path, i))
			}
		}
	case reflect.String, reflect.Int:
		if !v.Equal(own) {
			c.add(path)
		}
	}
}

// wholeLists are compared element by element: without one, they differ all the same.
var wholeLists = map[string]bool{
	"batches": true, "called": true, "order": true, "hints": true, "discovered": true, "todos": true, "read": true,
	"tools": true, "last": true, "deferred": true, "gates": true,
	"servers": true, "cancelled": true, "given_up": true,
}

// leaf is one value of an expectation: how to come to it, and what is proved if it is the
// culprit.
type leaf struct {
	steps []any
	paths []string
}

var boundType = reflect.TypeFor[scenario.Bound]()

// leaves are the values of an expectation. An event that must never come is one: without a
// member more events are like it.
func leaves(v reflect.Value, steps []any, path string) []leaf {
	var all []leaf
	next := func(v reflect.Value, step any, path string) {
		all = append(all, leaves(v, append(slices.Clone(steps), step), path)...)
	}
	switch {
	case v.Kind() == reflect.Struct && v.Type() != boundType && !strings.HasPrefix(path, "never"):
		for f, member := range v.Fields() {
			if key := f.Tag.Get("yaml"); key != "" && !member.IsZero() {
				next(member, f.Name, strings.TrimPrefix(path+"."+key, "."))
			}
		}
	case v.Kind() == reflect.Slice:
		for i := range v.Len() {
			next(v.Index(i), i, fmt.Sprintf("%s[%d]", path, i))
		}
	case v.Kind() == reflect.Map && v.Type().Elem().Kind() != reflect.Interface:
		for i, key := range slices.Sorted(maps.Keys(keysOf(v))) {
			next(v.MapIndex(reflect.ValueOf(key)), key, fmt.Sprintf("%s{%d}", path, i))
		}
	default:
		return []leaf{{lower(steps), append(members(v, path), path)}}
	}
	return all
}

// lower is a path whose first step is a key.
func lower(steps []any) []any {
	f, _ := reflect.TypeFor[scenario.Expect]().FieldByName(steps[0].(string))
	return append([]any{f.Tag.Get("yaml"), steps[0]}, steps[1:]...)
}

// members are the paths of what an event that must never come is like.
func members(v reflect.Value, path string) []string {
	var all []string
	if v.Kind() != reflect.Struct || v.Type() == boundType {
		return nil
	}
	for f, member := range v.Fields() {
		if member.IsZero() {
			continue
		}
		at := path + "." + f.Tag.Get("yaml")
		if member.Kind() == reflect.Map {
			at += fmt.Sprintf("{%d}", member.Len()-1)
		}
		all = append(all, at)
	}
	return all
}

func keysOf(v reflect.Value) map[string]bool {
	keys := map[string]bool{}
	for _, k := range v.MapKeys() {
		keys[k.String()] = true
	}
	return keys
}

// without is an expectation, or a part of one, without one of its values.
func without(v reflect.Value, steps []any) reflect.Value {
	last := len(steps) == 1
	out := reflect.New(v.Type()).Elem()
	out.Set(v)
	switch v.Kind() {
	case reflect.Struct:
		field := out.FieldByName(steps[0].(string))
		if last {
			field.SetZero()
		} else {
			field.Set(without(field, steps[1:]))
		}
	case reflect.Slice:
		i := steps[0].(int)
		if last {
			return reflect.AppendSlice(reflect.AppendSlice(reflect.MakeSlice(v.Type(), 0, v.Len()), v.Slice(0, i)), v.Slice(i+1, v.Len()))
		}
		out = reflect.AppendSlice(reflect.MakeSlice(v.Type(), 0, v.Len()), v)
		out.Index(i).Set(without(v.Index(i), steps[1:]))
	case reflect.Map:
		out = reflect.MakeMap(v.Type())
		for _, k := range v.MapKeys() {
			switch {
			case k.String() != steps[0]:
				out.SetMapIndex(k, v.MapIndex(k))
			case !last:
				out.SetMapIndex(k, without(v.MapIndex(k), steps[1:]))
			}
		}
	}
	return out
}

// keysOfSchema are the paths of all values that a schema has.
func keysOfSchema(t *testing.T, raw json.RawMessage, path string) []string {
	t.Helper()
	var s struct {
		AnyOf      []json.RawMessage          `json:"anyOf"`
		Properties map[string]json.RawMessage `json:"properties"`
		Items      json.RawMessage            `json:"items"`
		Additional json.RawMessage            `json:"additionalProperties"`
	}
	require.NoError(t, json.Unmarshal(raw, &s))
	var all []string
	switch additional := string(s.Additional); {
	case s.AnyOf != nil:
		return keysOfSchema(t, s.AnyOf[len(s.AnyOf)-1], path)
	case s.Properties != nil:
		for _, key := range slices.Sorted(maps.Keys(s.Properties)) {
			all = append(all, keysOfSchema(t, s.Properties[key], strings.TrimPrefix(path+"."+key, "."))...)
		}
	case s.Items != nil:
		return keysOfSchema(t, s.Items, path+"[]")
	case additional != "" && additional != "{}" && additional != "false":
		return keysOfSchema(t, s.Additional, path+"{}")
	default:
		return []string{path}
	}
	return all
}

// lists are the lists and mappings on the way to a value.
func lists(key string) []string {
	var all []string
	for i := range key {
		if key[i] == ']' || key[i] == '}' {
			all = append(all, key[:i+1])
		}
	}
	return all
}
