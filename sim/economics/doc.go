// Package economics measures what tools cost and whether they are found: the tokens of their definitions and what
// deferral saves of them (SPEC E8), what a change of the pool costs in a provider's prompt cache (SPEC D5), and how
// well ToolSearch finds what a query asks for (SPEC E9).
//
// # Tokens
//
// Counted are the built-in tools, catalogues in files and what live servers list.
// A tool that is sent whole is one line,
//
//	<function>{"description":...,"name":"mcp__server__tool","parameters":{...}}</function>
//
// its JSON compact, in UTF-8, the members of its schema in their own order. By name it is one line with its name;
// with its hint, the name, a colon, a blank and the hint: the tool's own, else its description up to the first line
// feed or full stop, cut at 100 characters. Each line counts by itself, its line feed included.
//
// With the API's defer_loading a definition stays out of the model's context until a search finds it: nothing of a
// deferred tool counts there. That is the API's word, not a measurement, and the report marks it.
//
// ToolSearch itself and what searches load later are not in the totals; the former is given beside them. A [Counter]
// has a name because no tokenizer is the truth for all models.
//
// # Prompt cache
//
// A request is blocks: tool definitions, the system prompt, messages. A breakpoint stands behind the last built-in
// tool, behind the system prompt and behind the last message. What stands before a breakpoint is kept under a hash of
// all its bytes; a later request reads the longest kept prefix, looking back up to 20 blocks from each of its
// breakpoints, writes from there up to its last one, and pays the rest as plain input. A token is missed when the
// request before had its block too, and it is not read all the same.
//
// The model leaves out: nothing expires between turns; a prefix has no minimum length; the
// system prompt and the messages are of a fixed size, since they are the same under every
// ordering. Tool definitions are the real ones, and so is our ordering: it is the pool's.
//
// # Search
//
// Queries that people have labelled with the tools that would do are asked of a catalogue
// under one ranker after the other. A file of queries holds JSON objects, one a line:
//
//	id          names the query in reports; default: its line
//	query       required: what is asked
//	lang        its language, default "und"
//	class       what kind of query it is, for figures by class
//	relevant    the tools that would do: "server::name", or a tool's own name
//	unresolved  labels that the catalogue does not resolve; such a query is skipped
//
// Other members, as grades, are ignored: any relevant tool counts alike. A query
// without relevant tools asks for something that the catalogue does not have.
//
// hit@k is the share of queries with a relevant tool among the first k, recall@k the mean share of its relevant tools
// that a query finds there, and MRR the mean of 1/rank of the first relevant tool, 0 below rank 100. Of queries
// without relevant tools the share that was answered with nothing is given.
package economics
