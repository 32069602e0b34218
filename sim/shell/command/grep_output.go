package command

import (
	"errors"
	"io/fs"
	"strconv"
	"strings"
)

const symlink = fs.ModeSymlink

var errNoPattern = errors.New("no pattern given")

// lineOutput writes the lines of a file that match, or what stands for them; grep and rg share it.
type lineOutput struct {
	p             *Proc
	m             *matcher
	invert        bool
	quiet         bool
	count, files  bool
	without       bool // -L
	only, offset  bool
	number        bool
	withName      bool
	before, after int
	separator     string
	noSeparator   bool
	replace       *string // rg -r

	printed bool // something was printed, so that the next group needs a separator
	broken  bool // the reader of the output went away
	rg      bool // rg's wording for binary files and counts
}

func newLineOutput(p *Proc, o options, m *matcher) (lineOutput, error) {
	out := lineOutput{p: p, m: m, invert: o.has("v"), quiet: o.has("q"), count: o.has("c"), files: o.has("l"), without: o.has("L"),
		only: o.has("o"), offset: o.has("b"), number: o.has("n"), separator: o.get("group-separator", "--"), noSeparator: o.has("no-group-separator")}
	for _, x := range o.list {
		n, ok := natural(x.value)
		switch x.name {
		case "A":
			out.after = int(n)
		case "B":
			out.before = int(n)
		case "C":
			if !o.has("A") {
				out.after = int(n)
			}
			if !o.has("B") {
				out.before = int(n)
			}
		default:
			continue
		}
		if !ok {
			return out, errors.New(x.value + ": invalid context length argument")
		}
	}
	if out.only {
		out.before, out.after = 0, 0
	}
	return out, nil
}

// file prints what one file has and gives the number of selected lines.
func (l *lineOutput) file(name string, data []byte, limit int, isBinary bool) int {
	lines, _ := splitLines(string(data))
	selected := 0
	last := -1 // the last line printed
	byteAt := 0
	summary := l.quiet || l.count || l.files || l.without || isBinary
	for i, line := range lines {
		if selected >= limit {
			l.trail(name, lines, last, i, summary)
			break
		}
		if l.m.match(line) != l.invert {
			selected++
			if summary && !l.count {
				break
			}
			if !summary {
				l.group(name, lines, &last, i)
				l.selected(name, line, i, byteAt)
				last = i
			}
		} else if !summary && last >= 0 && i-last <= l.after {
			l.context(name, line, i)
		}
		byteAt += len(line) + 1
		if l.broken {
			break
		}
	}
	l.summary(name, selected, isBinary)
	return selected
}

// trail prints the context behind the last line that -m lets through.
func (l *lineOutput) trail(name string, lines []string, last, i int, summary bool) {
	for ; !summary && i < len(lines) && i-last <= l.after; i++ {
		if l.m.match(lines[i]) != l.invert {
			return
		}
		l.context(name, lines[i], i)
	}
}

// group prints the lines before a selected one, and a separator where lines are left out.
func (l *lineOutput) group(name string, lines []string, last *int, i int) {
	if l.before == 0 && l.after == 0 {
		return
	}
	begin := max(i-l.before, 0)
	if *last >= 0 {
		begin = max(begin, *last+1+l.after)
		begin = min(begin, i)
	}
	gap := *last < 0 || begin > *last+1+l.after
	if l.printed && gap && !l.noSeparator {
		l.write(l.separator + "\n")
	}
	for ; begin < i; begin++ {
		l.context(name, lines[begin], begin)
	}
}

func (l *lineOutput) selected(name, line string, i, byteAt int) {
	switch {
	case l.only && l.invert:
	case l.only:
		for _, loc := range l.m.all(line) {
			l.write(l.prefix(name, i, byteAt+loc[0], ":") + l.replaced(line[loc[0]:loc[1]]) + "\n")
		}
	default:
		l.write(l.prefix(name, i, byteAt, ":") + l.replaced(line) + "\n")
	}
	l.printed = true
}

func (l *lineOutput) replaced(line string) string {
	if l.replace == nil {
		return line
	}
	return l.m.re.ReplaceAllString(line, *l.replace)
}

func (l *lineOutput) context(name, line string, i int) {
	l.write(l.prefix(name, i, -1, "-") + line + "\n")
	l.printed = true
}

func (l *lineOutput) prefix(name string, i, byteAt int, mark string) string {
	var b strings.Builder
	if l.withName {
		b.WriteString(name + mark)
	}
	if l.number {
		b.WriteString(strconv.Itoa(i+1) + mark)
	}
	if l.offset && byteAt >= 0 {
		b.WriteString(strconv.Itoa(byteAt) + mark)
	}
	return b.String()
}

func (l *lineOutput) write(s string) {
	if l.p.print(s) != nil {
		l.broken = true
	}
}

func (l *lineOutput) summary(name string, n int, isBinary bool) {
	switch {
	case l.quiet:
	case l.without:
		if n == 0 {
			l.write(name + "\n")
		}
	case l.files:
		if n > 0 {
			l.write(name + "\n")
		}
	case l.count:
		if n == 0 && l.rg {
			return
		}
		if l.withName {
			name += ":"
		} else {
			name = ""
		}
		l.write(name + strconv.Itoa(n) + "\n")
	case isBinary && n > 0 && l.rg:
		if l.withName {
			name += ": "
		} else {
			name = ""
		}
		l.write(name + "binary file matches (found \"\\0\" byte)\n")
	case isBinary && n > 0:
		l.p.complain("%s: binary file matches", name)
	}
}
