package shards

import (
	"cmp"
	"fmt"
	"slices"
)

// Range are the cases from a number up to, and without, another.
type Range struct {
	From uint64 `json:"from"`
	To   uint64 `json:"to"`
}

// Len is how many cases there are.
func (r Range) Len() uint64 { return r.To - r.From }

func (r Range) String() string { return fmt.Sprintf("%d..%d", r.From, r.To) }

// key is the range's name in a store, whose keys may have no two points in a row.
func (r Range) key() string { return fmt.Sprintf("%d-%d", r.From, r.To) }

// rangeOf reads a key.
func rangeOf(key string) (r Range, ok bool) {
	n, err := fmt.Sscanf(key, "%d-%d", &r.From, &r.To)
	return r, err == nil && n == 2 && r.From < r.To && r.key() == key
}

// split deals a range into parts of a size; the last may be smaller.
func split(all Range, size uint64) (parts []Range) {
	for from := all.From; from < all.To; {
		to := from + min(size, all.To-from)
		parts = append(parts, Range{from, to})
		from = to
	}
	return parts
}

// halves gives the two halves of a range of more than one case.
func halves(r Range) [2]Range {
	middle := r.From + r.Len()/2
	return [2]Range{{r.From, middle}, {middle, r.To}}
}

// cover chooses parts, none of which overlap, that make up as much as can be of a range, from
// its start on, and gives what is missing. Of parts that begin at one case it takes the largest:
// a part may have been done as a whole and, by another worker, in halves.
func cover(all Range, done []Range) (chosen, missing []Range) {
	done = slices.Clone(done)
	slices.SortFunc(done, func(a, b Range) int { return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(b.To, a.To)) })
	at := all.From
	for _, r := range done {
		if r.From < at || r.To > all.To {
			continue
		}
		if r.From > at {
			missing = append(missing, Range{at, r.From})
		}
		chosen = append(chosen, r)
		at = r.To
	}
	if at < all.To {
		missing = append(missing, Range{at, all.To})
	}
	return chosen, missing
}
