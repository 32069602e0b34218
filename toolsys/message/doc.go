// Package message holds the blocks of the Messages API: what the model streams,
// what is stored, and what is sent back. It exists so that every other package
// speaks of calls and results in one vocabulary with one JSON form. Bytes are
// canonical (fixed member order, no HTML escapes), because a prompt cache and a
// cassette both compare bytes (D3).
//
// It does not speak HTTP and knows no tools.
package message
