// Package api reaches the model over HTTP. The stream is framed by the official SDK;
// requests, errors and retries are a small client's, which a test holds against the
// official one, because linking that costs a third of the whole build. The bytes of the
// request are ours (D3), and so is what is read from the stream: the SDK's own
// accumulation takes a call cut at `{"a":` for `{}` and an early end for a good one.
package api
