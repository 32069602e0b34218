// Package api reaches the model through the official SDK: its client gives
// authentication, headers, errors and retries; the bytes of the request are ours
// (D3), and so is what is read from the stream, because the SDK's own accumulation
// takes a call cut at `{"a":` for `{}` and an early end for a good one.
package api
