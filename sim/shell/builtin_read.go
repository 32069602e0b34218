package shell

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/interp"
	"mvdan.cc/sh/v3/syntax"
)

// readOptions are those of read.
type readOptions struct {
	raw       bool
	array     string
	delimiter byte
	chars     int // -n
	names     []string
}

// builtinRead is read [-r] [-a NAME] [-d DELIM] [-n N] [-p PROMPT] [NAME...]; nobody sees a prompt
func builtinRead(r *run, hc interp.HandlerContext, args []string) []string {
	o, problem := parseRead(args[1:])
	if problem != "" {
		return r.failed(hc, 2, "read: %s", problem)
	}
	line, ended := r.readUnit(o)
	fields := newFields(line, o.raw, hc.Env.Get("IFS"))
	switch {
	case o.array != "":
		return []string{"eval", o.array + "=(" + quoteAll(fields.all()) + ")\n" + strconv.FormatBool(ended)}
	case len(o.names) == 0:
		return assign("REPLY", string(fields.chars), ended)
	}
	var b strings.Builder
	for i, value := range fields.of(len(o.names)) {
		b.WriteString(o.names[i] + "=" + singleQuote(value) + "\n")
	}
	return []string{"eval", b.String() + strconv.FormatBool(ended)}
}

func parseRead(args []string) (o readOptions, problem string) {
	o.delimiter = '\n'
	for len(args) > 0 && len(args[0]) > 1 && args[0][0] == '-' {
		letters := args[0][1:]
		args = args[1:]
		if letters == "-" {
			break
		}
		for i := 0; i < len(letters); i++ {
			c := letters[i]
			switch {
			case c == 'r':
				o.raw = true
			case strings.IndexByte("adnp", c) >= 0:
				value := letters[i+1:]
				if value == "" {
					if len(args) == 0 {
						return o, "-" + string(rune(c)) + ": option requires an argument"
					}
					value, args = args[0], args[1:]
				}
				if problem := o.set(c, value); problem != "" {
					return o, problem
				}
				i = len(letters)
			default:
				return o, "-" + string(rune(c)) + ": option not supported in the in-process shell"
			}
		}
	}
	o.names = args
	names := o.names
	if o.array != "" {
		names = []string{o.array}
	}
	for _, name := range names {
		if !syntax.ValidName(name) {
			return o, "`" + name + "': not a valid identifier"
		}
	}
	return o, ""
}

func (o *readOptions) set(c byte, value string) (problem string) {
	switch c {
	case 'a':
		o.array = value
	case 'd':
		o.delimiter = (value + "\x00")[0]
	case 'n':
		n, err := strconv.ParseUint(value, 10, 16)
		if err != nil {
			return value + ": invalid number"
		}
		o.chars = int(n)
	}
	return ""
}

// readUnit takes a line, or so many characters, from standard input. A backslash joins lines unless raw.
func (r *run) readUnit(o readOptions) (text string, ended bool) {
	var b strings.Builder
	for o.chars == 0 || utf8.RuneCountInString(b.String()) < o.chars {
		c, err := r.stdin.ReadByte()
		if err != nil {
			return b.String(), false
		}
		if c == o.delimiter {
			return b.String(), true
		}
		if c == '\\' && !o.raw {
			next, err := r.stdin.ReadByte()
			if err != nil {
				return b.String(), false
			}
			if next != '\n' {
				b.WriteByte(c)
				b.WriteByte(next)
			}
			continue
		}
		b.WriteByte(c)
	}
	return b.String(), true
}

// fields cuts a line that was read into the fields of `read`, as Bash does and the interpreter does not: two
// delimiters beside each other have an empty field between them, unless they are blanks.
type fields struct {
	chars   []byte // without the backslashes that escape
	escaped []bool // a backslash was before the character, which then delimits nothing
	ifs     string
}

func newFields(line string, raw bool, ifs expand.Variable) *fields {
	f := &fields{ifs: " \t\n"}
	if ifs.IsSet() {
		f.ifs = ifs.String()
	}
	for i := 0; i < len(line); i++ {
		escaped := !raw && line[i] == '\\' && i+1 < len(line)
		if escaped {
			i++
		}
		f.chars, f.escaped = append(f.chars, line[i]), append(f.escaped, escaped)
	}
	return f
}

// all are the fields of an array.
func (f *fields) all() (list []string) {
	for at := f.blanks(0); at < len(f.chars); {
		word, next := f.word(at)
		list, at = append(list, word), next
	}
	return list
}

// of are the fields of so many names. The last name has what is left, without a delimiter that only ends it.
func (f *fields) of(names int) []string {
	list := make([]string, names)
	at := f.blanks(0)
	for i := range list[:names-1] {
		list[i], at = f.word(at)
	}
	word, next := f.word(at)
	if next < len(f.chars) {
		end := len(f.chars)
		for end > at && f.blank(end-1) {
			end--
		}
		word = string(f.chars[at:end])
	}
	list[names-1] = word
	return list
}

// word is the field that begins at a place, and where the next one does.
func (f *fields) word(at int) (word string, next int) {
	next = at
	for next < len(f.chars) && !f.delimits(next) {
		next++
	}
	word, next = string(f.chars[at:next]), f.blanks(next)
	if next < len(f.chars) && f.delimits(next) {
		next = f.blanks(next + 1)
	}
	return word, next
}

// blanks passes over the blanks that delimit.
func (f *fields) blanks(at int) int {
	for at < len(f.chars) && f.blank(at) {
		at++
	}
	return at
}

func (f *fields) blank(at int) bool {
	return f.delimits(at) && strings.IndexByte(" \t\n", f.chars[at]) >= 0
}

func (f *fields) delimits(at int) bool {
	return !f.escaped[at] && strings.IndexByte(f.ifs, f.chars[at]) >= 0
}

func quoteAll(list []string) string { return strings.Join(each(list, singleQuote), " ") }

// builtinMapfile is mapfile, readarray [-t] [NAME]
func builtinMapfile(r *run, hc interp.HandlerContext, args []string) []string {
	rest, name := args[1:], "MAPFILE"
	trim := len(rest) > 0 && rest[0] == "-t"
	if trim {
		rest = rest[1:]
	}
	if len(rest) > 0 {
		name = rest[0]
	}
	switch {
	case strings.HasPrefix(name, "-"):
		return r.failed(hc, 2, "%s: %s: option not supported in the in-process shell", args[0], name)
	case !syntax.ValidName(name):
		return r.failed(hc, 1, "%s: `%s': not a valid identifier", args[0], name)
	}
	var lines []string
	for {
		line, err := r.stdin.ReadString('\n')
		if line == "" && err != nil {
			return []string{"eval", name + "=(" + quoteAll(lines) + ")"}
		}
		if trim {
			line = strings.TrimSuffix(line, "\n")
		}
		lines = append(lines, line)
	}
}
