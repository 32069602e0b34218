// Package serve plays a recorded or scripted model to a client over HTTP, and reports what that client did.
//
// Other agents cannot be run in virtual time, but all of them use a Messages API. So a recording becomes one:
// requests are answered with its streams, paced as they were recorded, and what the client sends back is compared
// with what the API demands and a prompt cache rewards. Any client can be tried that takes a base URL, in any
// language.
//
// Which answer a request gets (router.go) and what is wrong with a sequence of requests (check.go) are decided
// without a clock or a socket; server.go is the edge that has them.
package serve
