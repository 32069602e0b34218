// Package retrieval measures how well ToolSearch finds tools (SPEC E9): queries
// that people have labelled with the tools that would do, asked of a catalogue
// under one ranker after the other.
//
// # Queries
//
// A file holds JSON objects, one a line:
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
// # Figures
//
// hit@k is the share of queries with a relevant tool among the first k, recall@k
// the mean share of its relevant tools that a query finds there, and MRR the mean
// of 1/rank of the first relevant tool, 0 below rank 100. Of queries without
// relevant tools the share that was answered with nothing is given.
package retrieval
