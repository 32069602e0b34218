package economics

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"toolbench/sim/world"
	"toolbench/toolsys/mcptool"
	"toolbench/toolsys/search"
)

// ErrQueries is wrapped by every error of a file of queries; each names the file,
// the line and what to do.
var ErrQueries = errors.New("invalid queries")

// Limits of one file of queries.
const (
	MaxQueriesBytes = 64 << 20
	MaxQueries      = 100_000
	MaxQueryText    = 20_000 // bytes of one query
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

// unknownLang is the language of a query without one, as BCP 47 has it.
const unknownLang = "und"

// ParseQueries reads a file of queries, one JSON object a line; file names it in errors.
func ParseQueries(file string, data []byte) ([]Query, error) {
	if len(data) > MaxQueriesBytes {
		return nil, fmt.Errorf("%w: %s: %d bytes; split it, a file has at most %d", ErrQueries, file, len(data), MaxQueriesBytes)
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
	case len(q.Text) > MaxQueryText:
		return q, fmt.Errorf("the query has %d bytes; shorten it to %d", len(q.Text), MaxQueryText)
	}
	q.Line = line
	q.ID = cmp.Or(q.ID, fmt.Sprintf("line %d", line))
	q.Lang = cmp.Or(q.Lang, unknownLang)
	return q, nil
}

// worded is what is wrong with a line without the names of Go types.
func worded(err error) error {
	switch mismatch, is := errors.AsType[*json.UnmarshalTypeError](err); {
	case is && mismatch.Field == "":
		return fmt.Errorf("a query must be a JSON object; found: %s", mismatch.Value)
	case is:
		return fmt.Errorf("%s cannot be a %s", mismatch.Field, mismatch.Value)
	}
	return fmt.Errorf("%w; write one JSON object a line, with query and relevant", err)
}

// QueryTexts are what the queries ask.
func QueryTexts(queries []Query) []string {
	return each(queries, func(q Query) string { return q.Text })
}

// SearchPool is a catalogue as ToolSearch sees it, all of it deferred.
type SearchPool struct {
	// Entries are the tools, in the order of the catalogue.
	Entries []search.Entry
	// labelled leads from a label to the names of the tools it means.
	labelled map[string][]string
}

// NewSearchPool makes tools of a catalogue, named as a client would name them (SPEC N1).
func NewSearchPool(c world.Catalogue) SearchPool {
	p := SearchPool{labelled: map[string][]string{}}
	taken := map[string]bool{}
	for _, s := range c {
		for _, t := range s.Tools {
			name := free(taken, mcptool.Name(s.Name, t.Name, false))
			schema, _ := t.InputSchema.(json.RawMessage) // a tool without one has no parameters
			p.Entries = append(p.Entries, search.Entry{
				Name: name, MCP: true, Server: s.Name, Description: t.Description, Params: search.Parameters(schema),
			})
			for _, label := range []string{s.Name + "::" + t.Name, t.Name, name} {
				p.labelled[label] = append(p.labelled[label], name)
			}
		}
	}
	return p
}

// free is a name that no tool has yet: names that differ in other characters than a
// client keeps become alike, and each tool is to be found.
func free(taken map[string]bool, name string) string {
	own := name
	for n := 2; taken[own]; n++ {
		own = fmt.Sprintf("%s_%d", name, n)
	}
	taken[own] = true
	return own
}

// Resolve gives the names of the tools that labels mean, and the labels that no
// tool has.
func (p SearchPool) Resolve(labels []string) (names map[string]bool, unknown []string) {
	names = map[string]bool{}
	for _, label := range labels {
		if len(p.labelled[label]) == 0 {
			unknown = append(unknown, label)
		}
		for _, name := range p.labelled[label] {
			names[name] = true
		}
	}
	return names, unknown
}
