package stream

import (
	"encoding/binary"
	"hash/crc32"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// What is written as a frame is read as it was, and no part of one is a whole one.
func TestFramesReadBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		head := FrameHead(":event-type", rapid.String().Draw(t, "type"), ":message-type", "event")
		payload := rapid.SliceOf(rapid.Byte()).Draw(t, "payload")
		frame := AppendFrame(nil, head, payload)
		gotHead, got, size, ok := NextFrame(append(frame, "more"...))
		require.True(t, ok)
		assert.Equal(t, head, gotHead)
		assert.Equal(t, string(payload), string(got))
		assert.Equal(t, len(frame), size)
		_, _, _, ok = NextFrame(frame[:rapid.IntRange(0, len(frame)-1).Draw(t, "cut")])
		assert.False(t, ok)
	})
	_, _, size, ok := NextFrame(AppendFrame(nil, nil, nil))
	assert.True(t, ok, "the shortest frame holds nothing")
	assert.Equal(t, frameSums, size)

	// A frame that was damaged is none: its checksum does not fit, or its headers reach into what follows it.
	frame := AppendFrame(nil, FrameHead("a", "b"), []byte("payload"))
	damaged := append([]byte(nil), frame...)
	damaged[8]++
	_, _, _, ok = NextFrame(damaged)
	assert.False(t, ok)
	long := binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(nil, frameSums), 1)
	long = append(binary.BigEndian.AppendUint32(long, crc32.ChecksumIEEE(long)), make([]byte, frameSums-framePrelude)...)
	_, _, _, ok = NextFrame(append(long, "more"...))
	assert.False(t, ok)
}
