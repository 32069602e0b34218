package schedule

import "strings"

// Footprint is what a call reads and writes, as keys: paths and names (J8). A key
// that ends in "/**" stands for all below it. No footprint at all (nil) is that of a
// call that did not say: it counts as reading and writing everything.
type Footprint struct {
	Reads, Writes []string
	// Shifts are those of Writes that may stand for something else afterwards (a name
	// was removed, moved or linked): calls that touch one have to say anew what they
	// touch when this one has ended.
	Shifts []string
}

// Conflict tells whether two calls must keep their order: one writes what the other
// reads or writes.
func Conflict(a, b *Footprint) bool {
	if a == nil || b == nil {
		return true
	}
	return overlap(a.Writes, b.Writes) || overlap(a.Writes, b.Reads) || overlap(a.Reads, b.Writes)
}

// shifts tells whether by may change what the keys of a call stand for that says it
// touches e.
func shifts(by, e *Footprint) bool {
	switch {
	case by == nil:
		return true
	case len(by.Shifts) == 0:
		return false
	}
	return e == nil || overlap(by.Shifts, e.Reads) || overlap(by.Shifts, e.Writes)
}

func overlap(some, others []string) bool {
	for _, a := range some {
		for _, b := range others {
			if overlaps(a, b) {
				return true
			}
		}
	}
	return false
}

// overlaps tells whether two keys may stand for the same thing.
func overlaps(a, b string) bool {
	if a == b {
		return true
	}
	rootA, treeA := strings.CutSuffix(a, "/**")
	rootB, treeB := strings.CutSuffix(b, "/**")
	switch {
	case treeA && treeB:
		return rootA == rootB || below(rootA, rootB) || below(rootB, rootA)
	case treeA:
		return below(b, rootA)
	case treeB:
		return below(a, rootB)
	}
	return false
}

// below tells whether key lies in the tree under root.
func below(key, root string) bool {
	return len(key) > len(root) && key[len(root)] == '/' && key[:len(root)] == root
}
