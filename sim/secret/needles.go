package secret

// needle is a text to look for, and what to do where it stands.
type needle struct {
	text string
	// found gives the piece to blank, if this is a secret indeed: at is where the
	// needle begins.
	found func(text string, at int) (from, to int, ok bool)
	kind  string
}

// headBytes is how much of a needle the index knows; no needle is shorter.
const headBytes = 3

// index looks for many needles in one pass. Most places of a text are the head of
// none, and one look at a table says so.
type index struct {
	maybe [1 << 16 / 64]uint64
	heads map[uint32][]needle
}

func newIndex(all []needle) *index {
	x := &index{heads: map[uint32][]needle{}}
	for _, n := range all {
		h := head(n.text, 0)
		x.heads[h] = append(x.heads[h], n)
		slot := hashed(h)
		x.maybe[slot/64] |= 1 << (slot % 64)
	}
	return x
}

func head(s string, i int) uint32 { return uint32(s[i]) | uint32(s[i+1])<<8 | uint32(s[i+2])<<16 }

func hashed(h uint32) uint32 { return h * 0x9E3779B1 >> 16 }

// search gives the pieces to blank, in the order of their beginning needles. A piece
// is not searched again, so that long runs of the same cost no more than others.
func (x *index) search(text string, add func(span)) {
	for i := 0; i+headBytes <= len(text); i++ {
		h := head(text, i)
		slot := hashed(h)
		if x.maybe[slot/64]&(1<<(slot%64)) == 0 {
			continue
		}
		if to := x.at(text, i, h, add); to > i {
			i = to - 1
		}
	}
}

// at tries the needles of one head, and gives where what was found ends, or 0.
func (x *index) at(text string, i int, h uint32, add func(span)) int {
	end := 0
	for _, n := range x.heads[h] {
		if len(text)-i < len(n.text) || text[i:i+len(n.text)] != n.text {
			continue
		}
		if from, to, ok := n.found(text, i); ok {
			add(span{from, to, n.kind})
			end = max(end, to)
		}
	}
	return end
}
