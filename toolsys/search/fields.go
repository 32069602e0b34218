package search

import "strings"

// The fields of a tool, each of which lexicon weighs by itself.
const (
	fieldName = iota
	fieldServer
	fieldHint
	fieldText      // the description
	fieldParam     // names of parameters
	fieldParamText // their descriptions
	fieldCount
)

// fields are the texts of a tool, by field.
func (d *doc) fields() [fieldCount]string {
	names, texts := make([]string, len(d.Params)), make([]string, len(d.Params))
	for i, p := range d.Params {
		names[i], texts[i], _ = strings.Cut(p, ":")
	}
	return [fieldCount]string{
		fieldName: d.ownName(), fieldServer: d.Server, fieldHint: d.Hint, fieldText: d.Description,
		fieldParam: strings.Join(names, "\n"), fieldParamText: strings.Join(texts, "\n"),
	}
}

// ownName is an MCP tool's name without its server, else the name.
func (d *doc) ownName() string {
	if !d.MCP {
		return d.Name
	}
	rest := strings.TrimPrefix(d.Name, mcpPrefix)
	n := len(d.server)
	if n > 0 && len(rest) > n+2 && normal(rest[:n]) == d.server && rest[n:n+2] == "__" {
		return rest[n+2:]
	}
	return rest
}
