package shards

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"math/rand/v2"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// What is sent arrives as it was, once, however it was read; what is not as its name says does
// not stay.
func TestBytesArriveAsTheyWere(t *testing.T) {
	url, q := served(t)
	data := make([]byte, pieceBytes+3<<20+7) // more than one piece
	for i := 0; i < len(data); i += 1 + rand.IntN(100) {
		data[i] = byte(rand.Uint32())
	}
	sum := sha256.Sum256(data)
	name := hex.EncodeToString(sum[:])
	opened := 0
	for range 2 {
		require.NoError(t, q.Send(t.Context(), name, func() io.ReadCloser {
			opened++
			return io.NopCloser(iotest.HalfReader(bytes.NewReader(data)))
		}))
	}
	assert.Equal(t, 1, opened, "what is there is not sent again")

	worker, err := Join(t.Context(), connected(t, url), "run")
	require.NoError(t, err)
	var got bytes.Buffer
	require.NoError(t, worker.Fetch(t.Context(), name, &got))
	assert.True(t, bytes.Equal(data, got.Bytes()))

	other := hex.EncodeToString(make([]byte, 32))
	err = q.Send(t.Context(), other, func() io.ReadCloser { return io.NopCloser(bytes.NewReader(data)) })
	require.ErrorIs(t, err, ErrChanged)
	require.Error(t, worker.Fetch(t.Context(), other, io.Discard))
	require.NoError(t, q.Close(t.Context()))
	require.Error(t, worker.Fetch(t.Context(), name, io.Discard), "a queue that is closed keeps nothing")
}
