// Package tokens measures what the definitions of tools cost in a request and what
// deferral saves of it (SPEC E8): for the built-in tools, for catalogues in files and
// for what live servers list.
//
// # What is counted
//
// A tool that is sent whole is one line,
//
//	<function>{"description":...,"name":"mcp__server__tool","parameters":{...}}</function>
//
// its JSON compact, in UTF-8, the members of its schema in their own order. By name
// it is one line with its name; with its hint, the name, a colon, a blank and the
// hint: the tool's own, else its description up to the first line feed or full stop,
// cut at 100 characters. Each line counts by itself, its line feed included.
//
// With the API's defer_loading a definition stays out of the model's context until a
// search finds it: nothing of a deferred tool counts there. That is the API's word,
// not a measurement, and the report marks it.
//
// ToolSearch itself and what searches load later are not in the totals; the former
// is given beside them. A [Counter] has a name because no tokenizer is the truth for
// all models.
package tokens
