package retrieval

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// ErrQueries is wrapped by every error of a file of queries; each names the file,
// the line and what to do.
var ErrQueries = errors.New("invalid queries")

// Limits of one file of queries.
const (
	MaxBytes   = 64 << 20
	MaxQueries = 100_000
	MaxText    = 20_000 // bytes of one query
)

// Query is a question and the tools that would do for it (SPEC E9).
type Query struct {
	ID       string   `json:"id"`
	Text     string   `json:"query"`
	Lang     string   `json:"lang"`
	Class    string   `json:"class"`
	Relevant []string `json:"relevant"`
	// Unresolved are labels that were given up by whoever made the file.
	Unresolved []string `json:"unresolved"`
	// Line is where in the file it stands, from 1.
	Line int `json:"-"`
}

// unknownLang is the language of a query that does not tell, as BCP 47 has it.
const unknownLang = "und"

// Parse reads a file of queries, one JSON object a line; file names it in errors.
func Parse(file string, data []byte) ([]Query, error) {
	if len(data) > MaxBytes {
		return nil, fmt.Errorf("%w: %s: %d bytes; split it, a file has at most %d", ErrQueries, file, len(data), MaxBytes)
	}
	var all []Query
	line := 0
	for text := range bytes.Lines(bytes.TrimPrefix(data, []byte("\uFEFF"))) {
		line++
		if text = bytes.TrimSpace(text); len(text) == 0 {
			continue
		}
		q, err := parseLine(text, line)
		if err == nil && len(all) == MaxQueries {
			err = fmt.Errorf("more than %d queries; split the file", MaxQueries)
		}
		if err != nil {
			return nil, fmt.Errorf("%w: %s:%d: %w", ErrQueries, file, line, err)
		}
		all = append(all, q)
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("%w: %s: it holds no query; write one JSON object a line, with query and relevant", ErrQueries, file)
	}
	return all, nil
}

func parseLine(text []byte, line int) (Query, error) {
	var q Query
	if err := json.Unmarshal(text, &q); err != nil {
		return q, worded(err)
	}
	switch {
	case strings.TrimSpace(q.Text) == "":
		return q, errors.New(`it has no "query"; write what is asked`)
	case len(q.Text) > MaxText:
		return q, fmt.Errorf("the query has %d bytes; shorten it to %d", len(q.Text), MaxText)
	}
	q.Line = line
	q.ID = cmp.Or(q.ID, fmt.Sprintf("line %d", line))
	q.Lang = cmp.Or(q.Lang, unknownLang)
	return q, nil
}

// worded tells what is wrong with a line without the names of Go types.
func worded(err error) error {
	var mismatch *json.UnmarshalTypeError
	switch {
	case errors.As(err, &mismatch) && mismatch.Field == "":
		return fmt.Errorf("a query must be a JSON object; found: %s", mismatch.Value)
	case errors.As(err, &mismatch):
		return fmt.Errorf("%s cannot be a %s", mismatch.Field, mismatch.Value)
	}
	return fmt.Errorf("%w; write one JSON object a line, with query and relevant", err)
}

// Texts are what the queries ask.
func Texts(queries []Query) []string {
	var all []string
	for _, q := range queries {
		all = append(all, q.Text)
	}
	return all
}
