package file

import (
	"bytes"
	"errors"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/unicode"
)

// sniffBytes is how far into a file a zero byte is looked for.
const sniffBytes = 8000

const bomUTF8 = "\xef\xbb\xbf"

// text is a file's content as text. body is UTF-8 without byte order mark and
// with the file's own line endings; in a UTF-8 file it may hold invalid bytes.
type text struct {
	body string
	mark string // the byte order mark, as it stands in the file
}

const (
	markLE = "\xff\xfe"
	markBE = "\xfe\xff"
)

// decode takes content as text; false means that it is binary.
func decode(content []byte) (text, bool) {
	for _, mark := range []string{markLE, markBE} {
		if rest, ok := bytes.CutPrefix(content, []byte(mark)); ok {
			body, err := utf16(mark).NewDecoder().Bytes(rest)
			return text{body: string(body), mark: mark}, err == nil && !binary(body)
		}
	}
	rest, marked := bytes.CutPrefix(content, []byte(bomUTF8))
	t := text{body: string(rest)}
	if marked {
		t.mark = bomUTF8
	}
	return t, !binary(content)
}

// binary tells what is not text, by the sign that grep and git go by.
func binary(content []byte) bool {
	return bytes.IndexByte(content[:min(len(content), sniffBytes)], 0) >= 0
}

func utf16(mark string) encoding.Encoding {
	if mark == markLE {
		return unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM)
	}
	return unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM)
}

// encode turns a body back into a file like the one t came from.
//
// Errors: a body that the encoding cannot hold.
func (t text) encode(body string) ([]byte, error) {
	if t.mark != markLE && t.mark != markBE {
		return []byte(t.mark + body), nil
	}
	if !utf8.ValidString(body) {
		return nil, errors.New("the text is not valid UTF-8")
	}
	raw, err := utf16(t.mark).NewEncoder().Bytes([]byte(body))
	return append([]byte(t.mark), raw...), err
}

// lossless tells whether the file would survive being decoded and encoded.
func (t text) lossless(content []byte) bool {
	again, err := t.encode(t.body)
	return err == nil && bytes.Equal(again, content)
}

// lines are the body's lines without their endings; a line feed at the very end
// begins no line.
func (t text) lines() []string {
	if t.body == "" {
		return nil
	}
	lines := strings.Split(strings.TrimSuffix(t.body, "\n"), "\n")
	for i, line := range lines {
		lines[i] = strings.TrimSuffix(line, "\r")
	}
	return lines
}

// foreign counts the bytes that are no UTF-8.
func (t text) foreign() int {
	if utf8.ValidString(t.body) {
		return 0
	}
	n := 0
	for i := 0; i < len(t.body); {
		r, size := utf8.DecodeRuneInString(t.body[i:])
		if r == utf8.RuneError && size == 1 {
			n++
		}
		i += size
	}
	return n
}
