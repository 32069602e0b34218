package secret

import (
	"cmp"
	"slices"
)

// span is a piece of a text that is to be blanked, and why.
type span struct {
	from, to int
	kind     string
}

// merged sorts spans and joins those that overlap; the first of them names the
// kind, unless another is surer.
func merged(spans []span) []span {
	slices.SortStableFunc(spans, func(a, b span) int {
		return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(b.to, a.to))
	})
	out := spans[:0]
	for _, s := range spans {
		if n := len(out); n > 0 && s.from < out[n-1].to {
			out[n-1].to = max(out[n-1].to, s.to)
			if out[n-1].kind == randomKind {
				out[n-1].kind = s.kind
			}
			continue
		}
		out = append(out, s)
	}
	return out
}
