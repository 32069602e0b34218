package tokens

import (
	"encoding/json"
	"fmt"
	"strings"
)

// dear is from where on, in tokens, a part of a definition is worth a word.
const dear = 150

// rowOf is a tool's line in the report, with what can be done about it.
func rowOf(t Tool, w weights, c Counter) (Row, error) {
	var s sum
	s.add(w)
	row := Row{Cost: s.cost(t.Name, c), Server: t.Server, Missing: t.Missing, Whole: t.Whole, Recorded: t.Recorded, Calls: t.Calls}
	var err error
	if row.Description, err = c.Count(t.Description); err != nil {
		return Row{}, err
	}
	if row.Schema, err = c.Count(t.Schema); err != nil {
		return Row{}, err
	}
	row.Advice, err = advice(t, row, c)
	return row, err
}

// advice says what can be done about a dear tool: it names the part that costs.
func advice(t Tool, row Row, c Counter) (string, error) {
	var parts []string
	if t.Missing {
		parts = append(parts, "it has no schema, so its figure is without one: ask the server for it")
	}
	if t.Recorded && t.Calls == 0 {
		parts = append(parts, "nobody called it in the recording: defer it, or leave it out")
	}
	if row.Description >= dear {
		parts = append(parts, fmt.Sprintf("its description is %d tokens: say first what it is for, and move the rest out", row.Description))
	}
	if row.Schema >= dear {
		name, tokens, err := dearest(t.Schema, c)
		if err != nil {
			return "", err
		}
		if name != "" {
			parts = append(parts, fmt.Sprintf("its schema is %d tokens, %d of them for parameter %q: shorten that first", row.Schema, tokens, name))
		}
	}
	return strings.Join(parts, "; "), nil
}

// dearest is the parameter that costs most, the first by name of equals.
func dearest(schema string, c Counter) (name string, tokens int, err error) {
	var root struct {
		Properties map[string]json.RawMessage `json:"properties"`
	}
	if json.Unmarshal([]byte(schema), &root) != nil {
		return "", 0, nil // a schema of another form has no parameters to name
	}
	for key, raw := range root.Properties {
		n, err := c.Count(string(raw))
		if err != nil {
			return "", 0, err
		}
		if n > tokens || n == tokens && key < name {
			name, tokens = key, n
		}
	}
	return name, tokens, nil
}
