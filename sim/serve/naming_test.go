package serve_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	"toolbench/sim/serve"
	"toolbench/sim/stream"
)

const edit = `{"file_path":"/repo/a.go","old_string":"a <b>","new_string":"c"}`

// named gives the first call as a client gets it that offers these tools, and the notes.
func named(t *testing.T, tools string, o serve.Options) (gjson.Result, []string) {
	t.Helper()
	c := newClient(t, scriptOf(stream.Turn{Blocks: []stream.Block{call("c1", "Edit", edit, 0)}}), o)
	c.tools = "[" + tools + "]"
	c.say(user(`"Hi"`))
	w := c.ask("")
	require.Equal(t, 200, w.Code, w.Body.String())
	return gjson.Get(w.Body.String(), "content.0"), c.s.Report().Sessions[0].Notes
}

func offer(name, properties, required string) string {
	return `{"name":"` + name + `","input_schema":{"type":"object","properties":{` + properties + `},"required":[` + required + `]}}`
}

const text = `{"type":"string"}`

func TestCallsComeInTheClientsOwnNames(t *testing.T) {
	flat := `"filePath":` + text + `,"oldText":` + text + `,"newText":` + text
	for name, try := range map[string]struct {
		tools, tool, input, note string
		o                        serve.Options
	}{
		"its own name stays": {offer("Edit", `"file_path":`+text, ""), "Edit", edit, "", serve.Options{}},
		"spelt otherwise": {offer("edit_file", flat+`,"why":`+text, `"why"`), "edit_file",
			`{"filePath":"/repo/a.go","oldText":"a <b>","newText":"c","why":"toolbench"}`,
			"guessed: Edit is called edit_file, its file_path filePath, its new_string newText, its old_string oldText, why is filled in", serve.Options{}},
		"what it must be given besides": {`{"name":"edit","input_schema":{"type":"object","$defs":{"w":{"enum":["old","new"]}},"properties":{"file_path":` + text + `,"old_string":` + text + `,"new_string":` + text + `,
			"all":{"type":"boolean","default":true},"from":{"type":"number","default":0},"note":{"type":["string","null"]},"width":{"anyOf":[{"type":"integer"},{"type":"null"}]},
			"kind":{"const":"plain"},"way":{"$ref":"#/$defs/w"},"most":{"type":"integer","maximum":0},"list":{"type":"array","items":` + text + `},"no-good":{"type":"string","minLength":99}},
			"required":["file_path","all","from","note","width","kind","way","most","list","no-good"]}}`, "edit",
			`{"file_path":"/repo/a.go","old_string":"a <b>","new_string":"c","all":true,"from":0,"note":null,"width":null,"kind":"plain","way":"old","most":0,"list":[],"no-good":"toolbench"}`,
			"guessed: Edit is called edit, all is filled in, from is filled in, kind is filled in, list is filled in, most is filled in, no-good is filled in, note is filled in, way is filled in, width is filled in", serve.Options{}},
		"in a list": {offer("edit", `"path":`+text+`,"edits":{"type":"array","items":{"type":"object","properties":{"oldText":`+text+`,"newText":`+text+`}}}`, `"edits"`), "edit",
			`{"path":"/repo/a.go","edits":[{"oldText":"a <b>","newText":"c"}]}`,
			"guessed: Edit is called edit, its file_path path, its new_string edits[].newText, its old_string edits[].oldText", serve.Options{}},
		"its own name, an argument spelt otherwise": {offer("Edit", flat, ""), "Edit",
			`{"filePath":"/repo/a.go","oldText":"a <b>","newText":"c"}`,
			"guessed: Edit is called Edit, its file_path filePath, its new_string newText, its old_string oldText", serve.Options{}},
		"one that can stand for it": {offer("MultiEdit", `"file_path":`+text+`,"edits":{"type":"array","items":{"type":"object","properties":{"old_string":`+text+`,"new_string":`+text+`}}}`, `"edits"`), "MultiEdit",
			`{"file_path":"/repo/a.go","edits":[{"old_string":"a <b>","new_string":"c"}]}`,
			"guessed: Edit is called MultiEdit, its new_string edits[].new_string, its old_string edits[].old_string", serve.Options{}},
		"an element of a list": {offer("multi_edit", `"paths":{"type":"array","items":{"type":"string"}},"old_text":`+text+`,"new_text":`+text, `"paths"`), "multi_edit",
			`{"paths":["/repo/a.go"],"old_text":"a <b>","new_text":"c"}`,
			"guessed: Edit is called multi_edit, its file_path paths[], its new_string new_text, its old_string old_text", serve.Options{}},
		"what stands for it gives way": {offer("MultiEdit", flat, "") + "," + offer("edit_file", flat, ""), "edit_file",
			`{"filePath":"/repo/a.go","oldText":"a <b>","newText":"c"}`,
			"guessed: Edit is called edit_file, its file_path filePath, its new_string newText, its old_string oldText", serve.Options{}},
		"two that fit are not guessed": {offer("edit_file", flat, "") + "," + offer("file_edit", flat, ""), "Edit", edit, "", serve.Options{}},
		"its own name, spelt otherwise, goes first": {offer("file_edit", flat, "") + "," + offer("edit", flat, ""), "edit",
			`{"filePath":"/repo/a.go","oldText":"a <b>","newText":"c"}`,
			"guessed: Edit is called edit, its file_path filePath, its new_string newText, its old_string oldText", serve.Options{}},
		"one of the things that a tool does": {offer("files", `"path":`+text+`,"old_str":`+text+`,"new_str":`+text+`,"command":{"enum":["view","create","str_replace"]}`, `"command","path"`), "files",
			`{"path":"/repo/a.go","old_str":"a <b>","new_str":"c","command":"str_replace"}`,
			"guessed: Edit is called files, its file_path path, its new_string new_str, its old_string old_str, command is filled in", serve.Options{}},
		"as it was told": {offer("patch", `"f":`+text+`,"oldText":`+text, "") + "," + offer("edit", flat, ""), "patch",
			`{"f":"/repo/a.go","oldText":"a <b>"}`, "",
			serve.Options{Names: serve.Names{"Edit": {Name: "patch", Args: map[string]string{"file_path": "f"}}}}},
	} {
		t.Run(name, func(t *testing.T) {
			got, notes := named(t, try.tools, try.o)
			assert.Equal(t, try.tool, got.Get("name").Str)
			assert.JSONEq(t, try.input, got.Get("input").Raw)
			if try.note == "" {
				assert.Empty(t, notes)
			} else {
				assert.Equal(t, []string{try.note}, notes)
			}
		})
	}
}

// Paths in inputs lead into the client's folder, whatever else stands in them.
func TestPathsAreRewrittenInInputsAlone(t *testing.T) {
	got, _ := named(t, offer("Edit", "", ""), serve.Options{World: func(s string) string {
		if s == "/repo/a.go" {
			return "/tmp/x/repo/a.go"
		}
		return s
	}})
	assert.JSONEq(t, `{"file_path":"/tmp/x/repo/a.go","old_string":"a <b>","new_string":"c"}`, got.Get("input").Raw)
}
