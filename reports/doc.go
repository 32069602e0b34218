// Package reports tells what came of a run (O8). There is one model,
// scenario.Outcome, and one writer a format: a table and a timeline for people, JSON and
// JUnit for machines, Markdown and annotations for the pages of a CI system.
// Writers read outcomes and nothing else, change none, and give the same bytes
// for the same outcomes.
//
// Names, inputs and results come from models, tools and files: every writer makes
// them harmless for where it writes to.
package reports
