package command

import (
	"fmt"
	"strconv"
	"strings"
)

// sortFlags are the ordering options, of a key or of the whole command.
type sortFlags struct {
	blanks, dictionary, fold, general, human, numeric, reverse, version, printable bool
}

func (f *sortFlags) set(letter byte) bool {
	switch letter {
	case 'b':
		f.blanks = true
	case 'd':
		f.dictionary = true
	case 'f':
		f.fold = true
	case 'g':
		f.general = true
	case 'h':
		f.human = true
	case 'i':
		f.printable = true
	case 'n':
		f.numeric = true
	case 'r':
		f.reverse = true
	case 'V':
		f.version = true
	default:
		return false
	}
	return true
}

// sortKey is -k F[.C][OPTS][,F[.C][OPTS]]; to is 0 for the line's end.
type sortKey struct {
	from, fromChar, to, toChar int
	flags                      sortFlags
}

func newSorter(o options) (*sorter, error) {
	s := &sorter{end: '\n', stable: o.has("s"), unique: o.has("u")}
	if o.has("z") {
		s.end = 0
	}
	for _, x := range o.list {
		switch x.name {
		case "k":
			k, err := parseKey(x.value)
			if err != nil {
				return nil, err
			}
			s.keys = append(s.keys, k)
		case "t":
			if x.value == `\0` {
				x.value = "\x00"
			}
			if len(x.value) != 1 {
				return nil, fmt.Errorf("multi-character tab '%s'", x.value)
			}
			s.separator = x.value
		default:
			s.global.set(x.name[0])
		}
	}
	return s, nil
}

func parseKey(text string) (k sortKey, err error) {
	from, to, both := strings.Cut(text, ",")
	if k.from, k.fromChar, err = k.position(from); err != nil || k.from == 0 {
		return k, fmt.Errorf("invalid key: '%s'", text)
	}
	if both {
		if k.to, k.toChar, err = k.position(to); err != nil || k.to == 0 {
			return k, fmt.Errorf("invalid key: '%s'", text)
		}
	}
	return k, nil
}

func (k *sortKey) position(s string) (fieldNo, char int, err error) {
	end := strings.IndexFunc(s, func(r rune) bool { return (r < '0' || r > '9') && r != '.' })
	if end >= 0 {
		for i := end; i < len(s); i++ {
			if !k.flags.set(s[i]) {
				return 0, 0, fmt.Errorf("stray character in field spec")
			}
		}
		s = s[:end]
	}
	f, c, dotted := strings.Cut(s, ".")
	if fieldNo, err = strconv.Atoi(f); err == nil && dotted {
		char, err = strconv.Atoi(c)
	}
	return fieldNo, char, err
}

// of cuts the key out of a line.
func (k sortKey) of(line, separator string, flags sortFlags) string {
	spans := fieldSpans(line, separator)
	begin := len(line)
	if k.from <= len(spans) {
		begin = spans[k.from-1][0]
		if flags.blanks {
			begin += len(line[begin:]) - len(strings.TrimLeft(line[begin:], " \t"))
		}
		begin = min(begin+max(k.fromChar-1, 0), len(line))
	}
	end := len(line)
	if k.to > 0 && k.to <= len(spans) {
		end = spans[k.to-1][1]
		if k.toChar > 0 {
			at := spans[k.to-1][0]
			if flags.blanks {
				at += len(line[at:]) - len(strings.TrimLeft(line[at:], " \t"))
			}
			end = min(at+k.toChar, len(line))
		}
	}
	return line[begin:max(begin, end)]
}

// fieldSpans gives begin and end of each field. Without a separator a field takes the blanks before it.
func fieldSpans(line, separator string) [][2]int {
	var out [][2]int
	if separator != "" {
		at := 0
		for part := range strings.SplitSeq(line, separator) {
			out = append(out, [2]int{at, at + len(part)})
			at += len(part) + 1
		}
		return out
	}
	for i := 0; i < len(line); {
		begin := i
		for i < len(line) && (line[i] == ' ' || line[i] == '\t') {
			i++
		}
		for i < len(line) && line[i] != ' ' && line[i] != '\t' {
			i++
		}
		out = append(out, [2]int{begin, i})
	}
	return out
}
