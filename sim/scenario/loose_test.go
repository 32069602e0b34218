package scenario_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"toolbench/sim/scenario"
)

func TestLooseCallsThatCannotBeComparedAreRefused(t *testing.T) {
	for text, want := range map[string]string{
		"{match: in_order}":                                        "compared loosely by match and calls",
		"{calls: [{tool: Read}]}":                                  "compared loosely by match and calls",
		"{match: exact, calls: [{tool: Read}]}":                    `"exact" is no way of comparing calls`,
		"{match: subset, calls: []}":                               "expect.loosely.calls is empty",
		"{match: subset, calls: [{}]}":                             "expect.loosely.calls.0 is empty",
		"{match: subset, calls: [{tool: '[a'}]}":                   "is no pattern",
		"{match: subset, calls: [{tool: A, matches: {a: '('}}]}":   "x.yaml:4:",
		"{match: subset, calls: [{tool: A, schema: {type: 7}}]}":   "x.yaml:4:",
		"{match: subset, calls: [{tool: A, schema: {type: 'x'}}]}": "x.yaml:4:",
	} {
		_, err := scenario.Parse("x.yaml", []byte("name: x\nabout: It answers.\nstream: {turns: [{text: hi}]}\nexpect: {loosely: "+text+"}\n"))
		assert.ErrorContains(t, err, want, text)
	}
}

// What a call was given is compared as it is, be it empty.
func TestAnInputMayHaveEmptyMembers(t *testing.T) {
	for _, expected := range []string{
		"{called: [{id: a, tool: A, input: {a: '', b: [], c: {}, d: null, e: [{f: ''}]}}]}",
		"{loosely: {match: subset, calls: [{tool: A, input: {a: '', b: [], d: null}, schema: {type: object, properties: {a: {}}}}]}}",
	} {
		_, err := scenario.Parse("x.yaml", []byte("name: x\nabout: It answers.\nstream: {turns: [{calls: [{id: a, tool: A, input: {}}]}]}\nexpect: "+expected+"\n"))
		assert.NoError(t, err, expected)
	}
}
