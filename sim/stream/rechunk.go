package stream

// Rechunk cuts b into chunks, the i-th of sizes(i) bytes, for proving that the
// way a body is split does not matter (O6). A size below 1 counts as 1; the
// last chunk is what is left. The chunks are slices of b.
func Rechunk(b []byte, sizes func(i int) int) [][]byte {
	var chunks [][]byte
	for i := 0; len(b) > 0; i++ {
		n := min(max(sizes(i), 1), len(b))
		chunks = append(chunks, b[:n:n])
		b = b[n:]
	}
	return chunks
}
