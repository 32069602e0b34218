// Package ours puts this project's own rows beside the others': the calls of a
// message alone (pipeline and driver), and the whole conversation from the stream's
// JSON to the second request.
//
// Every stage is on in each row: lookup, schema, validation, permission with rules,
// hooks, budget. Nothing that a user of the library could not write is used.
package ours
