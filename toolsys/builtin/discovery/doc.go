// Package discovery holds the built-in tools by which a model finds out what else
// it can do: the tools that were sent by name only, and the skills that lie in
// folders. What there is to find comes from outside (the conversation's own
// search, a filesystem); here it becomes text a model can act on.
package discovery
