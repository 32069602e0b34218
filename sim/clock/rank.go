package clock

// Ranks order actors within one instant: by a hash (FNV-1a) of the seed and the actor's
// name. Whoever simulates without a gate orders alike by them.
type Ranks uint64

// RanksOf are those of a seed.
func RanksOf(seed uint64) Ranks {
	h := uint64(14695981039346656037)
	for i := range 8 {
		h = (h ^ uint64(byte(seed>>(8*i)))) * fnvPrime
	}
	return Ranks(h)
}

// Of is the rank of an actor. Its name may be given in parts, which saves putting it
// together.
func (r Ranks) Of(name ...string) uint64 {
	h := uint64(r)
	for _, part := range name {
		for i := range len(part) {
			h = (h ^ uint64(part[i])) * fnvPrime
		}
	}
	return h
}

const fnvPrime = 1099511628211
