package cassette

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"gopkg.in/yaml.v3"
)

// The body of a request stands on one line, in single quotes, and that of a stream as a block of lines.
// They are nearly all of a cassette. A YAML parser goes over them one character at a time, some six times
// slower than what there is to do takes, and keeps three copies. So such texts are set aside before, and
// put back where they belong in what was parsed.

// asideBytes is from which length on a text is set aside.
const asideBytes = 512

// aside is a document without its long texts, which are in the order of their marks.
type aside struct {
	short []byte
	texts []asideText
}

// asideText is a text as it stands in the file: between quotes, or, where it has an indentation, as lines
// that are indented so far.
type asideText struct {
	raw    []byte
	indent int
	chomp  byte // '+' keeps line feeds at the end, '-' drops all, 0 all but one
}

// value is what the text says.
func (t asideText) value() string {
	if t.indent == 0 {
		return string(bytes.ReplaceAll(t.raw, []byte("''"), []byte("'")))
	}
	var b strings.Builder
	b.Grow(len(t.raw))
	for line := range bytes.Lines(t.raw) {
		b.Write(line[min(t.indent, len(line)-1):])
	}
	switch text := b.String(); t.chomp {
	case '+':
		return text
	case '-':
		return strings.TrimRight(text, "\n")
	default:
		return strings.TrimRight(text, "\n") + "\n"
	}
}

// mark stands for a text that was set aside. Its first character is for private use.
func mark(i int) string { return fmt.Sprintf("\ue0f5%d", i) }

// setAside reports false where there is nothing to set aside, or marks could be mistaken. Lines keep their numbers.
func setAside(raw []byte) (aside, bool) {
	var a aside
	if bytes.Contains(raw, []byte("\ue0f5")) {
		return a, false
	}
	for len(raw) > 0 {
		end := cmp.Or(bytes.IndexByte(raw, '\n')+1, len(raw))
		line := raw[:end]
		raw = raw[end:]
		if name, text, ok := quotedLine(line); ok {
			a.take(name, asideText{raw: text})
		} else if name, block, ok := blockBehind(line, raw); ok {
			a.take(name, block)
			a.short = append(a.short, bytes.Repeat([]byte("\n"), bytes.Count(block.raw, []byte("\n")))...)
			raw = raw[len(block.raw):]
		} else {
			a.short = append(a.short, line...)
		}
	}
	return a, len(a.texts) > 0
}

// take sets a text aside that stands behind a name and an opening quote.
func (a *aside) take(name []byte, t asideText) {
	a.short = append(append(append(a.short, name...), mark(len(a.texts))...), "'\n"...)
	a.texts = append(a.texts, t)
}

// quotedLine takes a long line `name: 'text'` apart; ok is false where it may be anything else.
func quotedLine(line []byte) (name, text []byte, ok bool) {
	if len(line) < asideBytes || !bytes.HasSuffix(line, []byte("'\n")) {
		return nil, nil, false
	}
	i := bytes.IndexByte(line, '\'') + 1
	if i > len(line)-2 {
		return nil, nil, false // the end of a text that began on another line
	}
	name, text = line[:i], line[i:len(line)-2]
	key, found := bytes.CutSuffix(bytes.TrimLeft(name, " "), []byte(": '"))
	if !found || len(text) == 0 || !isKey(key) {
		return nil, nil, false
	}
	return name, text, isPlainText(text, true)
}

// blockBehind takes the long block of a line `name: |` apart, which ends where a line is indented less. ok
// is false where it may be anything else.
func blockBehind(line, behind []byte) (name []byte, block asideText, ok bool) {
	key, chomp, found := bytes.Cut(bytes.TrimLeft(line, " "), []byte(": |"))
	if !found || !isKey(key) || len(chomp) > 2 || !bytes.HasSuffix(chomp, []byte("\n")) {
		return nil, block, false
	}
	if len(chomp) == 2 {
		block.chomp = chomp[0]
	}
	block.indent = len(behind) - len(bytes.TrimLeft(behind, " "))
	if block.chomp != 0 && block.chomp != '+' && block.chomp != '-' || block.indent <= bytes.Index(line, key) {
		return nil, block, false
	}
	for l := range bytes.Lines(behind) {
		text := bytes.TrimLeft(l, " ")
		if len(text) > 1 && len(l)-len(text) < block.indent {
			if text[0] == '#' {
				return nil, block, false // a comment, which belongs to somebody
			}
			break
		}
		if !bytes.HasSuffix(l, []byte("\n")) || !isPlainText(l[:len(l)-1], false) {
			return nil, block, false
		}
		block.raw = behind[:len(block.raw)+len(l)]
	}
	return slices.Concat(line[:len(line)-len(chomp)-1], []byte("'")), block, len(block.raw) >= asideBytes && behind[block.indent] != '\n'
}

func isKey(key []byte) bool {
	return len(key) > 0 && !bytes.ContainsFunc(key, func(r rune) bool { return r != '_' && (r < 'a' || r > 'z') })
}

// refused are characters that end a line for YAML, or that it may not take.
var refused = []rune{0x2028, 0x2029, 0xfeff, 0xfffe, 0xffff, utf8.RuneError}

// isPlainText reports whether a text stands for itself, but for doubled quotes in a quoted one.
func isPlainText(text []byte, quoted bool) bool {
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c < ' ' || c == 0x7f:
			return false
		case c == '\'' && quoted:
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
	a.visit(root, &left, false)
	return left == 0
}

// visit restores what is below a node, in the order of the document. Nothing in brackets can be a block.
func (a aside) visit(n *yaml.Node, left *int, brackets bool) {
	if i := len(a.texts) - *left; n.Kind == yaml.ScalarNode && n.Style == yaml.SingleQuotedStyle && i < len(a.texts) && n.Value == mark(i) {
		t := a.texts[i]
		if t.indent > 0 && brackets {
			return
		}
		if n.Value = t.value(); t.indent > 0 {
			n.Style = yaml.LiteralStyle
		}
		*left--
	}
	for _, c := range n.Content {
		a.visit(c, left, brackets || n.Style&yaml.FlowStyle != 0)
	}
}
