package search

import "math"

// group is one thing that a query asks for, and the terms that stand for it.
type group struct {
	said   string
	weight float64
	// most is what a member's rarity counts at most: a rare word of like meaning is
	// worth no more than the word that was said.
	most    float64
	members []member
}

// member is a term of the index, what it counts, and how it came in; empty for the
// word itself.
type member struct {
	term   int32
	weight float64
	how    string
}

// newGroup is one without a limit.
func newGroup(said string, weight float64, members ...member) group {
	return group{said: said, weight: weight, most: math.Inf(1), members: members}
}
