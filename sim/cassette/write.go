package cassette

import (
	"bytes"
	"errors"
	"fmt"
	"time"

	vcr "github.com/dnaeon/go-vcr/v2/cassette"
	"gopkg.in/yaml.v3"

	"toolbench/sim/stream"
)

// FormatVersion is the version of go-vcr's format that this program writes.
const FormatVersion = 1

// YAML writes the cassette in the form that this program writes: go-vcr's, with a
// duration and event times for every response (see OffsetsHeader). Loaded, it gives
// the same interactions.
func (c *Cassette) YAML() ([]byte, error) {
	out := struct {
		Version      int                `yaml:"version"`
		Interactions []*vcr.Interaction `yaml:"interactions"`
	}{Version: FormatVersion}
	for k := range c.Interactions {
		i, err := c.Interactions[k].stamped()
		if err != nil {
			return nil, err
		}
		out.Interactions = append(out.Interactions, i)
	}
	var b bytes.Buffer
	b.WriteString("---\n")
	text, err := yaml.Marshal(out)
	b.Write(text)
	return b.Bytes(), err
}

// stamped is the interaction with what the recorder writes and others leave out.
func (i *Interaction) stamped() (*vcr.Interaction, error) {
	out := &vcr.Interaction{Request: i.Request, Response: i.Response}
	if out.Request.Form == nil {
		out.Request.Form = map[string][]string{}
	}
	if out.Request.Headers == nil {
		out.Request.Headers = map[string][]string{}
	}
	out.Response.Headers = out.Response.Headers.Clone()
	if out.Response.Headers == nil {
		out.Response.Headers = map[string][]string{}
	}
	text, err := i.offsets()
	if err == nil && text != "" {
		out.Response.Headers.Set(OffsetsHeader, text)
	}
	return out, err
}

// offsets are the event times as recorded or, where none were, all that of the headers.
func (i *Interaction) offsets() (string, error) {
	if text := i.Response.Headers.Get(OffsetsHeader); text != "" {
		return text, nil
	}
	if !i.IsStream() {
		return formatOffsets([]time.Duration{i.Response.Duration}), nil
	}
	events, err := i.Events()
	if _, cut := errors.AsType[*stream.TruncatedError](err); err != nil && !cut {
		return "", fmt.Errorf("interaction %d: %w", i.Number, err)
	}
	if len(events) == 0 {
		return "", nil
	}
	return formatOffsets(times(events)), nil
}

// Untimed reports a response that has no event times although it could.
func (i *Interaction) Untimed() bool {
	text, err := i.offsets()
	return err == nil && text != "" && i.Response.Headers.Get(OffsetsHeader) == ""
}
