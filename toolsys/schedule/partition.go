package schedule

// Partition joins neighbouring safe calls and lets every exclusive one stand
// alone (I1). It gives the indices of each batch.
func Partition(safe []bool) [][]int {
	var batches [][]int
	joins := false // the last batch is one of safe calls
	for i, s := range safe {
		if s && joins {
			last := len(batches) - 1
			batches[last] = append(batches[last], i)
			continue
		}
		batches = append(batches, []int{i})
		joins = s
	}
	return batches
}
