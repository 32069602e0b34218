package economics

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"toolbench/sim/dialect"
	"toolbench/sim/recording"
)

// CacheRules are those of a provider whose cache needs no breakpoints, as it published them at a
// date: what two prompts begin with alike is read, from a minimum on, in steps.
type CacheRules struct {
	Name    string        `json:"name"`
	APIs    []dialect.API `json:"apis"`
	Date    string        `json:"date"`
	Source  string        `json:"source"`
	Step    int           `json:"step" jsonschema:"What is read is a multiple of so many tokens."`
	Expires int           `json:"expires_minutes" jsonschema:"After so long without a request nothing is left."`
	Models  []ModelRule   `json:"models"`
	Notes   []string      `json:"notes" jsonschema:"What is not published, or not modelled."`
}

// ModelRule is what holds for models whose names begin so.
type ModelRule struct {
	Model   string  `json:"model"`
	Minimum int     `json:"minimum" jsonschema:"A shorter beginning is not read."`
	Read    float64 `json:"read" jsonschema:"What a read token costs of an input token; 0 where that was not found."`
}

// ParseCacheRules reads a provider's rules. Errors are ErrPrices.
func ParseCacheRules(file string, data []byte) (CacheRules, error) {
	var r CacheRules
	if err := json.Unmarshal(data, &r); err != nil {
		return CacheRules{}, fmt.Errorf("%w: %s: %w", ErrPrices, file, err)
	}
	if r.Name == "" || r.Date == "" || r.Source == "" || r.Step < 1 || r.Expires < 1 || len(r.Models) == 0 {
		return CacheRules{}, fmt.Errorf("%w: %s: it needs a name, a date, a source, models, and step and expires_minutes above 0", ErrPrices, file)
	}
	return r, nil
}

// of is what holds for a model; ok is false where nothing is published.
func (r CacheRules) of(model string) (ModelRule, bool) {
	i := slices.IndexFunc(r.Models, func(m ModelRule) bool { return strings.HasPrefix(model, m.Model) })
	if i < 0 {
		return ModelRule{}, false
	}
	return r.Models[i], true
}

// AutomaticCache is what a session's requests would read by its provider's rules.
type AutomaticCache struct {
	Provider string  `json:"provider"`
	Date     string  `json:"date"`
	Source   string  `json:"source"`
	Model    string  `json:"model" jsonschema:"Of the first request that a rule is published for."`
	Minimum  int     `json:"minimum" jsonschema:"The shortest beginning that is read, in tokens."`
	Read     float64 `json:"read_price" jsonschema:"What a read token costs of an input token; 0 where that was not found."`
	Tokens   Usage   `json:"estimated_tokens"`
	// Left counts requests to models of which nothing is published.
	Left  int      `json:"requests_left_out"`
	Notes []string `json:"notes"`
}

// AutomateCache plays a session by the rules of its provider; nil where there are none for it.
func AutomateCache(s *recording.PromptSession, all []CacheRules, c Counter) *AutomaticCache {
	sent := s.Sent()
	i := slices.IndexFunc(all, func(r CacheRules) bool { return slices.Contains(r.APIs, s.API) })
	if i < 0 || len(sent) == 0 {
		return nil
	}
	rules := all[i]
	a := &AutomaticCache{Provider: rules.Name, Date: rules.Date, Source: rules.Source, Notes: rules.Notes}
	p := newPlaying(Ordering{}, c)
	kept := map[string]*beginnings{}
	for _, t := range sent {
		rule, ok := rules.of(t.Prompt.Model)
		if !ok {
			a.Left++
			continue
		}
		if a.Minimum == 0 {
			a.Model, a.Minimum, a.Read = t.Prompt.Model, rule.Minimum, rule.Read
		}
		if kept[t.Prompt.Model] == nil {
			kept[t.Prompt.Model] = &beginnings{}
		}
		blocks := slices.Concat(definitions(t.Prompt), pieces(t.Prompt.System), pieces(t.Prompt.Messages))
		p.count(blocks)
		a.Tokens = a.Tokens.plus(kept[t.Prompt.Model].send(blocks, t.Sent, rule.Minimum, rules))
	}
	return a
}

// beginnings are those of the prompts so far, by their digests.
type beginnings struct {
	kept map[digest]bool
	last time.Time
}

// send gives what a prompt reads. A block that differs is not read, not even as far as it is
// the same.
func (b *beginnings) send(blocks []Block, at time.Time, minimum int, rules CacheRules) Usage {
	expired := !at.IsZero() && !b.last.IsZero() && at.Sub(b.last) > time.Duration(rules.Expires)*time.Minute
	if b.kept == nil || expired {
		b.kept = map[digest]bool{}
	}
	b.last = at
	alike, all := 0, 0
	for i, h := range prefixes(blocks) {
		all += blocks[i].Tokens
		if b.kept[h] {
			alike = all
		}
		b.kept[h] = true
	}
	if alike < minimum {
		alike = 0
	}
	alike -= alike % rules.Step
	return Usage{Read: alike, Plain: all - alike}
}
