package reports

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"

	"toolbench/sim/economics"
)

// mergeTokens joins what was counted of several catalogues, servers or recordings. A tool
// that two parts have, as sessions of one agent do, counts once. Figures are rounded before
// they are added, so a sum may be off by a token a part and a tool of two parts.
func mergeTokens(parts []tokensJSON, names []string) (tokensJSON, error) {
	all := tokensJSON{
		Version: TokensVersion, Counter: parts[0].Counter, Counts: parts[0].Counts, FullBasis: parts[0].FullBasis,
		Automatic: parts[0].Automatic, SearchTokens: parts[0].SearchTokens,
	}
	m := tokensMerge{all: &all, rows: map[string]int{}, servers: map[string]*economics.Cost{}}
	for i, p := range parts {
		a, b := all.Automatic, p.Automatic
		switch {
		case p.Counter != all.Counter:
			return all, fmt.Errorf("%s is counted with %s, and %s with %s", names[0], all.Counter, names[i], p.Counter)
		case p.Measurement != nil:
			return all, fmt.Errorf("%s was measured by the API, whose figures are of one request and do not add up; name all catalogues in one command", names[i])
		case a.Model != b.Model || a.Percent != b.Percent:
			return all, fmt.Errorf("%s is of the model %q at %d %%, and %s of %q at %d %%; give both the same --model and --percent", names[0], a.Model, a.Percent, names[i], b.Model, b.Percent)
		}
		if err := m.add(p, i, names); err != nil {
			return all, err
		}
	}
	m.end()
	return all, nil
}

// tokensMerge is a merge under way.
type tokensMerge struct {
	all     *tokensJSON
	rows    map[string]int // places in Worst, by server and name
	servers map[string]*economics.Cost
}

func (m *tokensMerge) add(p tokensJSON, part int, names []string) error {
	whole := map[string]bool{} // servers that an earlier part has in the same way
	for _, c := range p.PerServer {
		if m.servers[c.Name] == nil {
			m.servers[c.Name] = &economics.Cost{Name: c.Name}
		}
		if whole[c.Name] = *m.servers[c.Name] == c; !whole[c.Name] {
			m.servers[c.Name].Add(c, 1)
		}
	}
	deferred := p.Automatic.Deferred
	session := p.Automatic.Session
	for _, row := range p.Worst {
		key := row.Server + "\x00" + row.Name
		at, there := m.rows[key]
		if !there {
			m.rows[key] = len(m.all.Worst)
			m.all.Worst = append(m.all.Worst, row)
			continue
		}
		before := &m.all.Worst[at]
		if before.Full != row.Full || before.Modes != row.Modes {
			return fmt.Errorf("the tool %s of %s is another one than before; merge parts that have nothing in common", Safe(row.Name), names[part])
		}
		if !whole[row.Server] {
			m.servers[row.Server].Add(economics.Cost{Tools: 1, Full: row.Full, Modes: row.Modes}, -1)
		}
		if !row.Whole {
			deferred, session = deferred-row.Full, session-row.Full
		}
		if before.Calls != nil && row.Calls != nil {
			before.Calls = new(*before.Calls + *row.Calls)
		}
	}
	if part > 0 {
		m.all.Automatic = m.all.Automatic.With(deferred, session)
	}
	m.all.NoSchema, m.all.NoParameters = append(m.all.NoSchema, p.NoSchema...), append(m.all.NoParameters, p.NoParameters...)
	m.all.Failures = append(m.all.Failures, p.Failures...)
	if p.Recorded != nil {
		m.all.Recorded = cmp.Or(m.all.Recorded, &sessionsJSON{Assumptions: p.Recorded.Assumptions})
		m.all.Recorded.Sessions = append(m.all.Recorded.Sessions, p.Recorded.Sessions...)
	}
	return nil
}

// end makes the sums of what was added.
func (m *tokensMerge) end() {
	var total economics.Cost
	for _, name := range slices.Sorted(maps.Keys(m.servers)) {
		m.all.PerServer = append(m.all.PerServer, *m.servers[name])
		total.Add(*m.servers[name], 1)
	}
	m.all.Tools, m.all.Servers, m.all.FullTokens, m.all.Modes = total.Tools, len(m.servers), total.Full, total.Modes
	economics.SortToolCosts(m.all.Worst)
	m.all.NoSchema = slices.Compact(slices.Sorted(slices.Values(m.all.NoSchema)))
	m.all.NoParameters = slices.Compact(slices.Sorted(slices.Values(m.all.NoParameters)))
	if m.all.Recorded == nil {
		return
	}
	for _, row := range m.all.Worst {
		if row.Calls != nil && *row.Calls == 0 {
			m.all.Recorded.NeverCalled = append(m.all.Recorded.NeverCalled, row.Name)
		}
	}
	slices.Sort(m.all.Recorded.NeverCalled)
}

// mergeOrderings joins reports of the simulated session, which has no parts but orderings.
func mergeOrderings(parts []cacheJSON, names []string) (cacheJSON, error) {
	all := cacheJSON{Version: CacheVersion, Counter: parts[0].Counter, Turns: parts[0].Turns, Prices: parts[0].Prices}
	refused := refusal{names: names, from: map[string]int{}}
	for i, p := range parts {
		refused.unless(p.Counter == all.Counter && p.Turns == all.Turns, "%s is of %d turns counted with %s, and %s of %d counted with %s",
			names[0], all.Turns, all.Counter, names[i], p.Turns, p.Counter)
		for _, o := range p.Orderings {
			refused.once(i, o.Name, o.Name)
		}
		all.Orderings = append(all.Orderings, p.Orderings...)
	}
	return all, refused.err
}

// mergeStandings joins what rankers did on parts of the queries, or other rankers on the
// same ones.
func mergeStandings(parts []standingsJSON, names []string) (standingsJSON, error) {
	all := parts[0]
	all.Rankers = slices.Clone(all.Rankers)
	files := map[string]bool{all.Queries.File: true}
	for i, p := range parts[1:] {
		if !sameCatalogue(all.Catalogue, p.Catalogue) || !slices.Equal(all.Ks, p.Ks) {
			return all, fmt.Errorf("%s and %s are of other catalogues or --k; give all parts the same ones", names[0], names[i+1])
		}
		if p.Queries == parts[0].Queries && len(files) == 1 {
			if err := addRankers(&all.Rankers, p.Rankers, names[0], names[i+1]); err != nil {
				return all, err
			}
			continue
		}
		if files[p.Queries.File] {
			return all, fmt.Errorf("the queries %s are in two parts, one of them %s; merge parts that have nothing in common", Safe(p.Queries.File), names[i+1])
		}
		files[p.Queries.File] = true
		if err := addQueries(&all, p, names[i+1]); err != nil {
			return all, err
		}
	}
	return all, nil
}

func sameCatalogue(a, b SearchedTools) bool {
	return slices.Equal(a.Files, b.Files) && a.Servers == b.Servers && a.Tools == b.Tools
}

func addRankers(to *[]standingJSON, more []standingJSON, first, name string) error {
	for _, r := range more {
		if slices.ContainsFunc(*to, func(o standingJSON) bool { return o.Name == r.Name }) {
			return fmt.Errorf("the ranker %s is in %s and in %s, on the same queries; merge parts that have nothing in common", Safe(r.Name), first, name)
		}
	}
	*to = append(*to, more...)
	return nil
}

func addQueries(all *standingsJSON, p standingsJSON, name string) error {
	all.Queries.File += ", " + p.Queries.File
	all.Queries.Counted += p.Queries.Counted
	all.Queries.Skipped += p.Queries.Skipped
	all.Queries.NoneExpected += p.Queries.NoneExpected
	if len(p.Rankers) != len(all.Rankers) {
		return fmt.Errorf("%s is of other rankers; give all parts the same --ranker", name)
	}
	for k := range all.Rankers {
		r := &all.Rankers[k]
		at := slices.IndexFunc(p.Rankers, func(o standingJSON) bool { return o.Name == r.Name })
		if at < 0 {
			return fmt.Errorf("%s has no ranker %s; give all parts the same --ranker", name, Safe(r.Name))
		}
		o := p.Rankers[at]
		r.All, r.Even, r.Odd = r.All.and(o.All), r.Even.and(o.Even), r.Odd.and(o.Odd)
		r.Classes, r.Languages = joined(r.Classes, o.Classes), joined(r.Languages, o.Languages)
		r.NoneGiven += o.NoneGiven
	}
	return nil
}

// and is the figures of both, each query with the same weight.
func (f figuresJSON) and(o figuresJSON) figuresJSON {
	mean := func(a, b portion) portion {
		if f.Queries+o.Queries == 0 {
			return 0
		}
		return portion(rounded((float64(a)*float64(f.Queries)+float64(b)*float64(o.Queries))/float64(f.Queries+o.Queries), 1e4))
	}
	sum := figuresJSON{Queries: f.Queries + o.Queries, Hit: map[string]portion{}, Recall: map[string]portion{}, MRR: mean(f.MRR, o.MRR)}
	for k := range f.Hit {
		sum.Hit[k], sum.Recall[k] = mean(f.Hit[k], o.Hit[k]), mean(f.Recall[k], o.Recall[k])
	}
	return sum
}

func joined(a, b map[string]figuresJSON) map[string]figuresJSON {
	all := maps.Clone(a)
	for name, f := range b {
		if before, ok := all[name]; ok {
			f = before.and(f)
		}
		all[name] = f
	}
	return all
}

// mergeFound joins what several rankers found for the same words.
func mergeFound(parts []findingsJSON, names []string) (findingsJSON, error) {
	all := findingsJSON{Version: SearchVersion, Catalogue: parts[0].Catalogue, Query: parts[0].Query}
	refused := refusal{names: names, from: map[string]int{}}
	for i, p := range parts {
		refused.unless(p.Query == all.Query && sameCatalogue(all.Catalogue, p.Catalogue),
			"%s looks for %q, and %s for %q or in other tools; merge what rankers found for the same words", names[0], all.Query, names[i], p.Query)
		for _, r := range p.Rankers {
			refused.once(i, r.Name, "the ranker "+r.Name)
		}
		all.Rankers = append(all.Rankers, p.Rankers...)
	}
	return all, refused.err
}

// mergeFuzz adds up what parts of one seed saw; the failure is that of the lowest case.
func mergeFuzz(parts []fuzzJSON, names []string) (fuzzJSON, error) {
	for i, p := range parts {
		if p.Seed != parts[0].Seed || p.Engine != parts[0].Engine || !slices.Equal(p.Policies, parts[0].Policies) {
			return p, fmt.Errorf("%s and %s are not parts of one run: seed, engine and policies must be the same", names[0], names[i])
		}
		if (p.Range == nil) != (parts[0].Range == nil) {
			return p, fmt.Errorf("of %s and %s one is of a --range of cases and one is not; merge those of one kind", names[0], names[i])
		}
	}
	if parts[0].Range != nil {
		var err error
		if parts, err = adjoining(parts, names); err != nil {
			return fuzzJSON{}, err
		}
	}
	all := parts[0]
	all.Seen = slices.Clone(all.Seen)
	for _, p := range parts[1:] {
		all.Cases, all.Calls, all.Seconds = all.Cases+p.Cases, all.Calls+p.Calls, math.Max(all.Seconds, p.Seconds)
		for _, g := range p.Seen {
			at := slices.IndexFunc(all.Seen, func(o goalJSON) bool { return o.Name == g.Name })
			if at < 0 {
				all.Seen = append(all.Seen, g)
				continue
			}
			all.Seen[at].Times += g.Times
		}
		if p.Failure != nil && (all.Failure == nil || p.Failure.Case < all.Failure.Case) {
			all.Failure = p.Failure
		}
	}
	if all.Range != nil {
		all.Range = &FuzzRange{all.Range.From, parts[len(parts)-1].Range.To}
	}
	return all, nil
}

// adjoining puts the parts of ranges in order. A part that is there twice, as one that was
// played again is, counts once; none may be missing, cut off or overlap another.
func adjoining(parts []fuzzJSON, names []string) ([]fuzzJSON, error) {
	type named struct {
		fuzzJSON
		name string
	}
	all := make([]named, len(parts))
	for i, p := range parts {
		if n := p.Range.To - p.Range.From; p.Range.From >= p.Range.To || p.Cases != n {
			return nil, fmt.Errorf("%s has %d of the %d cases %s: it was cut off; play them again", names[i], p.Cases, n, p.Range)
		}
		all[i] = named{p, names[i]}
	}
	slices.SortStableFunc(all, func(a, b named) int {
		return cmp.Or(cmp.Compare(a.Range.From, b.Range.From), cmp.Compare(a.Range.To, b.Range.To))
	})
	out := []fuzzJSON{all[0].fuzzJSON}
	for i, p := range all[1:] {
		before := all[i]
		switch {
		case reflect.DeepEqual(p.fuzzJSON, before.fuzzJSON):
			continue
		case p.Range.From < before.Range.To:
			return nil, fmt.Errorf("%s and %s both have case %d; merge parts that have nothing in common", before.name, p.name, p.Range.From)
		case p.Range.From > before.Range.To:
			missing := FuzzRange{before.Range.To, p.Range.From}
			return nil, fmt.Errorf("between %s and %s the cases %s are missing; play them with --seed %d --range %s", before.name, p.name, missing, p.Seed, missing)
		}
		out = append(out, p.fuzzJSON)
	}
	return out, nil
}
