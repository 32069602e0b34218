package reports

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"toolbench/toolsys/schema"
)

// Stored is a JSON report that was read back. Command is the one that wrote it; try
// writes the report of run.
type Stored struct {
	Command string
	doc     any
}

// storable are the reports that can be read back: a member that no other has, and the
// type that writes it. Their order decides where two fit.
var storable = []struct {
	command string
	members []string
	version int
	read    func([]byte) (any, error)
}{
	{"run", []string{"outcomes", "totals"}, Version, decoded[runJSON]},
	{"tokens", []string{"full_tokens"}, TokensVersion, decoded[tokensJSON]},
	{"cache", []string{"orderings", "prices"}, CacheVersion, decoded[cacheJSON]},
	{"cache", []string{"recordings", "prices"}, CacheVersion, decoded[recordedCacheJSON]},
	{"replay", []string{"recordings", "skipped"}, ReplayVersion, decoded[replayJSON]},
	{"search", []string{"rankers", "queries"}, SearchVersion, decoded[standingsJSON]},
	{"fuzz", []string{"engine", "goals"}, FuzzVersion, decoded[fuzzJSON]},
	{"search", []string{"rankers", "query"}, SearchVersion, decoded[findingsJSON]},
}

func decoded[T any](data []byte) (any, error) {
	var doc T
	err := json.Unmarshal(data, &doc)
	return doc, err
}

// ErrNotReport is what is no JSON report of this program.
var ErrNotReport = errors.New("no JSON report of toolbench; write one with --format json=FILE")

// Read reads a JSON report back. It is held against its published schema, so that an
// error names the place.
func Read(data []byte) (Stored, error) {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(data, &members); err != nil {
		var syntax *json.SyntaxError
		if errors.As(err, &syntax) {
			line := 1 + strings.Count(string(data[:min(int(syntax.Offset), len(data))]), "\n")
			return Stored{}, fmt.Errorf("line %d: %w: %w", line, ErrNotReport, err)
		}
		return Stored{}, ErrNotReport
	}
	for _, kind := range storable {
		if slices.ContainsFunc(kind.members, func(m string) bool { return members[m] == nil }) {
			continue
		}
		if err := versioned(members["version"], kind.version); err != nil {
			return Stored{}, fmt.Errorf("version: a report of %s %w", kind.command, err)
		}
		if err := fits(kind.command, data); err != nil {
			return Stored{}, err
		}
		doc, err := kind.read(data)
		if err != nil {
			return Stored{}, fmt.Errorf("%w: %w", ErrNotReport, err)
		}
		return Stored{kind.command, doc}, nil
	}
	return Stored{}, fmt.Errorf("%w: it has members of none of run, replay, tokens, cache, search, fuzz, try", ErrNotReport)
}

func versioned(raw json.RawMessage, want int) error {
	if text := strings.TrimSpace(string(raw)); text != fmt.Sprint(want) {
		return fmt.Errorf("has version %d here, not %s; write it again with this program", want, Safe(cmp.Or(text, "none")))
	}
	return nil
}

// fits holds a report against the published schema of its command.
func fits(command string, data []byte) error {
	s, err := schema.Compile(Schema(command))
	if err != nil {
		return fmt.Errorf("the schema of %s cannot be used: %w", command, err)
	}
	problems := s.Validate(data)
	if len(problems) == 0 {
		return nil
	}
	first := problems[0]
	more := ""
	if n := len(problems) - 1; n > 0 {
		more = " (and " + plural(n, "problem", "problems") + " more)"
	}
	return fmt.Errorf("%s: %s%s; write the report again with `toolbench %s --format json=FILE`", Safe(cmp.Or(first.Path, "the report")), Safe(first.Message), more, command)
}

// StoredOf is a report as it would be read back.
func StoredOf(command string, r Report) Stored { return Stored{command, r.document()} }

// Write writes a stored report as it was read.
func (s Stored) Write(w io.Writer) error { return printJSON(w, s.doc) }

// UnmarshalJSON reads a number of milliseconds back.
func (d *ms) UnmarshalJSON(data []byte) error {
	var number float64
	if err := json.Unmarshal(data, &number); err != nil {
		return err
	}
	*d = ms(int64(number*1e6 + 0.5*sign(number)))
	return nil
}

func sign(x float64) float64 {
	if x < 0 {
		return -1
	}
	return 1
}
