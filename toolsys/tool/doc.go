// Package tool is the contract every tool meets, whatever its origin: built in,
// served over MCP, or brought by a user (A1).
//
// An author fills a Def, a struct of functions over the tool's own Go types, whose
// zero members are the safe ones. Build checks it once, erases the types and
// leaves no nil function behind; the result, a Tool, is a plain value that a
// decorator may copy and change. State is a value as well: a tool reads it and
// answers with a Modifier (B2) or with Observations (B5), and never reaches out to
// change anything of the conversation itself.
//
// The package knows no particular tool, and neither the pool, the pipeline nor the
// scheduler that work with it.
package tool
