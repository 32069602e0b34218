package scene

import (
	"encoding/json"
	"fmt"
)

// own says whether hooks and people may give a call another input: a tool of the
// scene's own, or a Write to a file of its own.
func (s *Scene) own(c *Call) bool {
	return s.tool(c.Tool) != nil || c.Tool == "Write" && c.Query == "" && len(c.Path) > len("/repo/a/c") && number(lastName(c.Path)) > 0
}

func lastName(path string) string {
	for i := len(path) - 1; i >= 0; i-- {
		if path[i] == '/' {
			return path[i+1:]
		}
	}
	return path
}

// byHook is the input that hook i gives; byPerson the person's.
func (s *Scene) byHook(c *Call, i int) input {
	return s.changed(c, s.Hooks[i].Input, 1_000+i, hookName(i))
}

func (s *Scene) byPerson(c *Call) input {
	return s.changed(c, c.Person, 2_000+number(c.ID), c.ID+"p")
}

func (s *Scene) changed(c *Call, to string, n int, name string) input {
	in := input{n: n, bad: to == "bad"}
	if c.Tool == "Write" {
		in.path = "/repo/a/" + name + ".txt"
		if to == "barred" {
			in.path = "/repo/barred/" + name + ".txt"
		}
	}
	return in
}

// text is an input as JSON, its members in order.
func (s *Scene) text(c *Call, in input) string {
	var v map[string]any
	switch t := c.Tool; {
	case s.tool(t) != nil && in.bad:
		v = map[string]any{"n": "bad"}
	case s.tool(t) != nil:
		v = map[string]any{"n": in.n}
	case served[t] != nil && in.bad:
		return served[t].bad
	case served[t] != nil:
		return served[t].good
	case in.bad:
		v = map[string]any{"file_path": 7}
	case t == "Read":
		v = map[string]any{"file_path": in.path}
	case t == "Write":
		v = map[string]any{"file_path": in.path, "content": "text of " + c.ID + "\n"}
	case t == "Edit":
		v = map[string]any{"file_path": in.path, "old_string": "e", "new_string": fmt.Sprint("e", number(c.ID)), "replace_all": true}
	case t == "ToolSearch":
		v = map[string]any{"query": c.Query}
	case t == "Agent":
		v = map[string]any{"description": "A task", "prompt": prompt(c)}
	}
	raw, err := json.Marshal(v)
	if err != nil {
		panic(err) // numbers and texts have a form
	}
	return string(raw)
}

// prompt is a sub-agent's first message, by which its turns are found.
func prompt(c *Call) string { return "Task of " + c.ID + "." }

// mainPrompt begins the main conversation. No sub-agent's prompt holds it, not even one
// that lost a part on its way.
const mainPrompt = "Go."
