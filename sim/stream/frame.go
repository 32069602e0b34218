package stream

import (
	"encoding/binary"
	"hash/crc32"
)

// A frame of an AWS event stream is its length, that of its headers, a checksum of the two,
// headers, the payload, and a checksum of all. Numbers are big-endian.
const (
	framePrelude = 12
	frameSums    = 16
)

// FrameHead writes a frame's headers, names and values that are texts.
func FrameHead(pairs ...string) (head []byte) {
	const text = 7
	for i := 0; i+1 < len(pairs); i += 2 {
		head = append(append(head, byte(len(pairs[i]))), pairs[i]...)
		head = append(binary.BigEndian.AppendUint16(append(head, text), uint16(len(pairs[i+1]))), pairs[i+1]...)
	}
	return head
}

// AppendFrame appends a frame of these headers and payload.
func AppendFrame(dst, head, payload []byte) []byte {
	at := len(dst)
	dst = binary.BigEndian.AppendUint32(dst, uint32(frameSums+len(head)+len(payload)))
	dst = binary.BigEndian.AppendUint32(dst, uint32(len(head)))
	dst = binary.BigEndian.AppendUint32(dst, crc32.ChecksumIEEE(dst[at:]))
	dst = append(append(dst, head...), payload...)
	return binary.BigEndian.AppendUint32(dst, crc32.ChecksumIEEE(dst[at:]))
}

// NextFrame gives the headers and the payload of the frame with which bytes begin, and its
// size; ok is false where no whole frame is.
func NextFrame(b []byte) (head, payload []byte, size int, ok bool) {
	if len(b) < frameSums {
		return nil, nil, 0, false
	}
	all, headers := uint64(binary.BigEndian.Uint32(b)), uint64(binary.BigEndian.Uint32(b[4:]))
	if all > uint64(len(b)) || headers+frameSums > all || crc32.ChecksumIEEE(b[:8]) != binary.BigEndian.Uint32(b[8:]) {
		return nil, nil, 0, false
	}
	head, payload = b[framePrelude:framePrelude+headers], b[framePrelude+headers:all-frameSums+framePrelude]
	return head, payload, int(all), true
}
