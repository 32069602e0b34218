package dialect

import (
	"encoding/binary"
	"hash/crc32"
)

// AppendFrame appends one frame of an AWS event stream: its length, that of its headers, a
// checksum of the two, headers that are texts, the payload, a checksum of all.
func AppendFrame(dst []byte, headers [][2]string, payload []byte) []byte {
	const text, sums = 7, 16
	var head []byte
	for _, h := range headers {
		head = append(append(head, byte(len(h[0]))), h[0]...)
		head = append(binary.BigEndian.AppendUint16(append(head, text), uint16(len(h[1]))), h[1]...)
	}
	at := len(dst)
	dst = binary.BigEndian.AppendUint32(dst, uint32(sums+len(head)+len(payload)))
	dst = binary.BigEndian.AppendUint32(dst, uint32(len(head)))
	dst = binary.BigEndian.AppendUint32(dst, crc32.ChecksumIEEE(dst[at:]))
	dst = append(append(dst, head...), payload...)
	return binary.BigEndian.AppendUint32(dst, crc32.ChecksumIEEE(dst[at:]))
}
