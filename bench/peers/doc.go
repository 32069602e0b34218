// Package peers adapts other libraries that run a model's tool calls, each through
// its public door, with tools made as its manual recommends and, where the library
// is a loop, a model that plays a script. A file is a library.
//
// The answers of a library that is a loop are what it sends the model next: a result
// that does not stand there does not exist for the conversation.
package peers
