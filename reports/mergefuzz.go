package reports

import (
	"cmp"
	"fmt"
	"math"
	"reflect"
	"slices"
)

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
