// Package peers adapts other libraries that run a model's tool calls, each through
// its public door, with tools made as its manual recommends and, where the library
// is a loop, a model that plays a script. A file is a library.
//
// The answers of a library that is a loop are what it sends the model next, or what
// it gave its caller when the run ended before: a result that stands in neither does
// not exist for the conversation.
package peers
