package scenario

import _ "embed" // the published schema

//go:embed scenario.schema.json
var schemaJSON []byte

// Schema is the JSON Schema of the file format, for editors: put
// `# yaml-language-server: $schema=...` on top of a file. It is made from the
// types of this package and their comments; a test holds it up to date.
func Schema() []byte { return schemaJSON }
