// Package schema makes JSON Schema the one schema language of the tool system (SPEC A1): built-in tools derive theirs
// from a Go type with [For], servers bring theirs as JSON, and both end as a [Schema] that [Compile] resolved and
// whose Validate words every problem for the model that made the input.
//
// Three things make it more than a call into a validator:
//
//   - Order. The libraries below walk maps, so their bytes and errors come in a
//     random order. [Canonical] fixes the first (D3), [Problems] the second.
//   - Doubt about the input. A model writes it, so it may be cut off, name a
//     member twice, or hold a number with a million digits. A duplicated member
//     and a number no float64 can hold are problems here, at any depth.
//   - Speed. Nearly all inputs are right, so a plan compiled from the common
//     keywords walks the bytes once without allocating. It answers "surely
//     valid" or "ask the validator", never "invalid", so it can only save time.
//
// Decoding alone is not a validation: encoding/json matches names without regard to case, takes null for anything,
// lets members be missing or doubled, and checks neither enums nor bounds. [Decode] checks first.
//
// What the package does not do: it never fetches a reference (neither network
// nor disk), it does not assert `format` except where a schema's own draft asks
// for it (draft 7 and older), its patterns are RE2's, with the spaces of ECMAScript, and may look ahead from the start of
// the text - a schema whose pattern looks elsewhere or refers back does not compile, and its
// tool is loaded unvalidated by the caller - and it never turns absent or null input into {}.
package schema
