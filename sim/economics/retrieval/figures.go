package retrieval

// Depth is how many tools of an answer are looked at for MRR.
const Depth = 100

// Figures are sums over queries; the methods give the means (SPEC E9).
type Figures struct {
	// Queries is how many had a relevant tool to find.
	Queries int
	// hits and recalls are by place in the list of ks.
	hits, recalls []float64
	reciprocal    float64
}

func newFigures(ks []int) *Figures {
	return &Figures{hits: make([]float64, len(ks)), recalls: make([]float64, len(ks))}
}

// count adds one query: the names that were found, best first, and those that
// would do.
func (f *Figures) count(found []string, relevant map[string]bool, ks []int) {
	f.Queries++
	for i, k := range ks {
		got := 0
		for _, name := range found[:min(k, len(found))] {
			if relevant[name] {
				got++
			}
		}
		f.hits[i] += float64(min(got, 1))
		f.recalls[i] += float64(got) / float64(len(relevant))
	}
	for rank, name := range found {
		if relevant[name] {
			f.reciprocal += 1 / float64(rank+1)
			break
		}
	}
}

// Hit is hit@k for the i-th k, from 0 to 1.
func (f *Figures) Hit(i int) float64 { return f.mean(f.hits[i]) }

// Recall is recall@k for the i-th k, from 0 to 1.
func (f *Figures) Recall(i int) float64 { return f.mean(f.recalls[i]) }

// MRR is the mean reciprocal rank, from 0 to 1.
func (f *Figures) MRR() float64 { return f.mean(f.reciprocal) }

// mean of no query is 0.
func (f *Figures) mean(sum float64) float64 { return sum / float64(max(f.Queries, 1)) }
