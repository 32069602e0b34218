package upgrade

import (
	"bytes"
	"fmt"
	"reflect"
	"regexp"

	"toolbench/sim/cassette"
	"toolbench/sim/secret"
)

// noDuration is how go-vcr v1 writes a duration.
var noDuration = regexp.MustCompile(`(?m)^\s+duration:\s*(""|'')?\s*$`)

func cassetteFile(name string, data []byte) (Result, error) {
	c, err := cassette.Load(name, bytes.NewReader(data), cassette.Limits{})
	if err != nil {
		return Result{}, err
	}
	r := Result{Kind: Cassette, From: c.Version, To: cassette.FormatVersion, Old: oldIn(c, data), Text: data}
	r.Secrets = c.Redact(secret.New())
	if n := total(r.Secrets); n > 0 {
		r.Old = append(r.Old, plural(n, "secret"))
	}
	if len(r.Old) == 0 {
		return r, nil
	}
	text, err := c.YAML()
	if err != nil {
		return Result{}, fmt.Errorf("%s: %w", name, err)
	}
	r.Text = append(comments(data), text...)
	return r, same(name, c, r.Text)
}

// total is how many secrets were counted.
func total(counts []secret.Count) int {
	n := 0
	for _, c := range counts {
		n += c.Times
	}
	return n
}

func plural(n int, word string) string {
	if n == 1 {
		return "1 " + word
	}
	return fmt.Sprintf("%d %ss", n, word)
}

func oldIn(c *cassette.Cassette, data []byte) []string {
	var old []string
	if c.Version != cassette.FormatVersion {
		old = append(old, fmt.Sprintf("format %d", c.Version))
	}
	if n := len(noDuration.FindAll(data, -1)); n > 0 {
		old = append(old, fmt.Sprintf("%d without a duration", n))
	}
	bare := 0
	for k := range c.Interactions {
		if c.Interactions[k].Untimed() {
			bare++
		}
	}
	if bare > 0 {
		old = append(old, fmt.Sprintf("%d without event times", bare))
	}
	return old
}

// comments are the lines before the document, such as one that says the recording is
// partial.
func comments(data []byte) []byte {
	var out []byte
	for line := range bytes.Lines(data) {
		if !bytes.HasPrefix(line, []byte("#")) {
			break
		}
		out = append(out, line...)
	}
	return out
}

// same holds what was written against what was read.
func same(name string, c *cassette.Cassette, text []byte) error {
	again, err := cassette.Load(name, bytes.NewReader(text), cassette.Limits{})
	if err != nil {
		return fmt.Errorf("%s: what was written cannot be read: %w", name, err)
	}
	if len(again.Interactions) != len(c.Interactions) {
		return fmt.Errorf("%s: %d interactions became %d", name, len(c.Interactions), len(again.Interactions))
	}
	for k := range c.Interactions {
		was, is := c.Interactions[k], again.Interactions[k]
		wasEvents, wasErr := was.Events()
		isEvents, isErr := is.Events()
		if was.Request.Body != is.Request.Body || was.Request.URL != is.Request.URL || was.Request.Method != is.Request.Method ||
			was.Response.Body != is.Response.Body || was.Response.Code != is.Response.Code || was.Response.Duration != is.Response.Duration ||
			was.IsStream() && (!reflect.DeepEqual(wasEvents, isEvents) || (wasErr == nil) != (isErr == nil)) {
			return fmt.Errorf("%s: interaction %d would not be the same", name, k+1)
		}
	}
	return nil
}
