package cassette

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"gopkg.in/yaml.v3"
)

// The body of a request stands on one line, in single quotes, and is most of a cassette. A
// YAML parser goes over it one character at a time, some six times slower than what there
// is to do takes, and keeps three copies. So such lines are set aside before, and put back
// where they belong in what was parsed.

// asideBytes is from which length on a line is set aside.
const asideBytes = 4 << 10

// aside are lines of a document without their texts, which are in the order of their marks.
type aside struct {
	short []byte
	texts [][]byte
}

// mark stands for a text that was set aside. Its first character is for private use.
func mark(i int) string { return fmt.Sprintf("\ue0f5%d", i) }

// setAside reports false where there is nothing to set aside, or marks could be mistaken.
func setAside(raw []byte) (aside, bool) {
	var a aside
	if bytes.Contains(raw, []byte("\ue0f5")) {
		return a, false
	}
	for line := range bytes.Lines(raw) {
		name, text, ok := quotedLine(line)
		if !ok {
			a.short = append(a.short, line...)
			continue
		}
		a.short = append(append(append(a.short, name...), mark(len(a.texts))...), "'\n"...)
		a.texts = append(a.texts, text)
	}
	return a, len(a.texts) > 0
}

// quotedLine takes a long line `name: 'text'` apart; ok is false where it may be anything else.
func quotedLine(line []byte) (name, text []byte, ok bool) {
	if len(line) < asideBytes || !bytes.HasSuffix(line, []byte("'\n")) {
		return nil, nil, false
	}
	i := bytes.IndexByte(line, '\'') + 1
	name, text = line[:i], line[i:len(line)-2]
	key, found := bytes.CutSuffix(bytes.TrimLeft(name, " "), []byte(": '"))
	if !found || len(text) == 0 || bytes.ContainsFunc(key, func(r rune) bool { return r != '_' && (r < 'a' || r > 'z') }) {
		return nil, nil, false
	}
	return name, text, isPlainText(text)
}

// refused are characters that end a line for YAML, or that it may not take.
var refused = []rune{0x2028, 0x2029, 0xfeff, 0xfffe, 0xffff, utf8.RuneError}

// isPlainText reports whether a single-quoted text stands for itself but for doubled quotes.
func isPlainText(text []byte) bool {
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c < ' ' || c == 0x7f:
			return false
		case c == '\'':
			if i++; i == len(text) || text[i] != '\'' {
				return false
			}
		case c >= utf8.RuneSelf:
			r, size := utf8.DecodeRune(text[i:])
			if r < 0xa0 || slices.Contains(refused, r) {
				return false
			}
			i += size - 1
		}
	}
	return true
}

// restore puts the texts back; it reports false where one of them was no value of its own.
func (a aside) restore(root *yaml.Node) bool {
	left := len(a.texts)
	a.visit(root, &left)
	return left == 0
}

func (a aside) visit(n *yaml.Node, left *int) {
	if n.Kind == yaml.ScalarNode && n.Style == yaml.SingleQuotedStyle && strings.HasPrefix(n.Value, "\ue0f5") {
		i := len(a.texts) - *left
		if i < len(a.texts) && n.Value == mark(i) { // in the order of the document
			n.Value = string(bytes.ReplaceAll(a.texts[i], []byte("''"), []byte("'")))
			*left--
		}
	}
	for _, c := range n.Content {
		a.visit(c, left)
	}
}
