package recording

// Limits keep a hostile or damaged file from exhausting memory. A zero member
// means its default.
type Limits struct {
	// Line is the longest line, in bytes; 32 MiB.
	Line int
	// Part is the largest document, interaction or response, in bytes; 64 MiB. What
	// is packed counts unpacked.
	Part int64
	// Unpacked is the largest whole file that arrives packed, in bytes; 1 GiB.
	Unpacked int64
	// Nodes and Depth bound one YAML document, aliases written out; 500,000 and 100.
	Nodes, Depth int
	// Conversations is the most in one file; 100,000.
	Conversations int
	// Waiting is the most turns that are held for their results; 256.
	Waiting int
}

func (l Limits) complete() Limits {
	or := func(to *int, n int) {
		if *to <= 0 {
			*to = n
		}
	}
	or(&l.Line, 32<<20)
	or(&l.Nodes, 500_000)
	or(&l.Depth, 100)
	or(&l.Conversations, 100_000)
	or(&l.Waiting, 256)
	if l.Part <= 0 {
		l.Part = 64 << 20
	}
	if l.Unpacked <= 0 {
		l.Unpacked = 1 << 30
	}
	return l
}
