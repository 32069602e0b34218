package shell

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"
)

// runPrintf is printf FORMAT [ARG...]; -v is the shell's affair, see [format].
func runPrintf(p *proc) int {
	args := p.Args
	if len(args) > 0 && args[0] == "--" {
		args = args[1:]
	}
	if len(args) == 0 {
		return p.usage("usage: printf [-v var] format [arguments]")
	}
	text, errs := format(args[0], args[1:])
	code := p.printed(text)
	for _, err := range errs {
		code = p.fail(exitFailure, "%v", err)
	}
	return code
}

// format is printf: the format is used again until the arguments are used up. Errors are about arguments that are no
// numbers and directives that do not exist; the text is what printf prints all the same.
func format(format string, args []string) (text string, errs []error) {
	f := &formatter{args: args}
	for {
		before := len(f.args)
		f.once(format)
		if f.stopped || len(f.args) == 0 || len(f.args) == before {
			return f.out.String(), f.errs
		}
	}
}

type formatter struct {
	out     strings.Builder
	args    arguments
	errs    []error
	stopped bool
}

func (f *formatter) problem(format string, a ...any) {
	f.errs = append(f.errs, fmt.Errorf(format, a...))
}

func (f *formatter) once(format string) {
	for i := 0; i < len(format) && !f.stopped; {
		switch {
		case format[i] == '\\' && i+1 < len(format):
			i += writeEscape(&f.out, format[i:], "printf")
		case strings.HasPrefix(format[i:], "%%"):
			f.out.WriteByte('%')
			i += 2
		case format[i] == '%':
			i += f.directive(format[i:])
		default:
			f.out.WriteByte(format[i])
			i++
		}
	}
}

// directive formats one %-directive and gives its length.
func (f *formatter) directive(s string) int {
	flags := "%"
	for i := 1; i < len(s); i++ {
		switch c := s[i]; {
		case c == '*':
			flags += strconv.FormatInt(f.integer(f.args.next()), 10)
		case strings.IndexByte("-+ #0123456789.", c) >= 0:
			flags += s[i : i+1]
		default:
			if strings.HasPrefix(flags, "%-") { // a zero beside a minus means nothing
				flags = "%-" + strings.TrimLeft(flags, "%-0")
			}
			f.verb(c, flags)
			return i + 1
		}
	}
	f.problem("`%s': missing format character", s)
	f.stopped = true
	return len(s)
}

func (f *formatter) verb(verb byte, flags string) {
	if strings.IndexByte("sbc", verb) >= 0 {
		flags = "%" + strings.TrimLeft(flags, "%+ #0") // of which only a minus means something to text
	}
	switch verb {
	case 's':
		fmt.Fprintf(&f.out, flags+"s", f.args.next())
	case 'b':
		var text string
		text, f.stopped = unescape(f.args.next(), "%b")
		fmt.Fprintf(&f.out, flags+"s", text)
	case 'c':
		arg := f.args.next()
		_, n := utf8.DecodeRuneInString(arg)
		fmt.Fprintf(&f.out, flags+"s", arg[:n])
	case 'd', 'i':
		fmt.Fprintf(&f.out, flags+"d", f.integer(f.args.next()))
	case 'u':
		fmt.Fprintf(&f.out, flags+"d", uint64(f.integer(f.args.next())))
	case 'o', 'x', 'X':
		fmt.Fprintf(&f.out, flags+string(rune(verb)), uint64(f.integer(f.args.next())))
	case 'e', 'E', 'f', 'F', 'g', 'G':
		if !strings.Contains(flags, ".") {
			flags += ".6"
		}
		fmt.Fprintf(&f.out, flags+string(rune(verb)), f.float(f.args.next()))
	default:
		f.problem("`%c': invalid format character", verb)
		f.stopped = true
	}
}

func (f *formatter) float(arg string) float64 {
	n, err := strconv.ParseFloat(strings.TrimSpace(arg), 64)
	if err != nil && arg != "" && !math.IsInf(n, 0) {
		f.problem("%s: invalid number", arg)
	}
	return n
}

// integer reads decimal, 0x hexadecimal, 0 octal, or 'c for a character's code.
func (f *formatter) integer(arg string) int64 {
	if len(arg) > 1 && (arg[0] == '\'' || arg[0] == '"') {
		r, _ := utf8.DecodeRuneInString(arg[1:])
		return int64(r)
	}
	s := strings.TrimSpace(arg)
	n, err := strconv.ParseInt(s, 0, 64)
	if s == "" || err == nil && !strings.ContainsAny(s, "_oOb") {
		return n
	}
	f.problem("%s: invalid number", arg)
	n, _ = strconv.ParseInt(leadingInteger.FindString(s), 10, 64)
	return n
}

// leadingInteger is what counts of a text that is no number.
var leadingInteger = regexp.MustCompile(`^[+-]?[0-9]*`)

// runEcho is echo [-neE] [ARG...]
func runEcho(p *proc) int {
	args := p.Args
	newline, escapes := "\n", false
	for len(args) > 0 && len(args[0]) > 1 && args[0][0] == '-' && strings.Trim(args[0][1:], "neE") == "" {
		for _, c := range args[0][1:] {
			if c == 'n' {
				newline = ""
			} else {
				escapes = c == 'e'
			}
		}
		args = args[1:]
	}
	text := strings.Join(args, " ")
	if escapes {
		var stopped bool
		if text, stopped = unescape(text, "echo"); stopped {
			newline = ""
		}
	}
	return p.printed(text + newline)
}

// unescape resolves backslash escapes as echo -e or printf's %b do. stopped is set where \c ended the text.
func unescape(s, by string) (out string, stopped bool) {
	var b strings.Builder
	for s != "" {
		n := strings.IndexByte(s, '\\')
		switch {
		case n < 0 || n+1 == len(s):
			b.WriteString(s)
			return b.String(), false
		case s[n+1] == 'c':
			b.WriteString(s[:n])
			return b.String(), true
		}
		b.WriteString(s[:n])
		s = s[n:]
		s = s[writeEscape(&b, s, by):]
	}
	return b.String(), false
}

// writeEscape writes the escape s begins with, and gives its length. For echo octal numbers begin with \0, for %b they may.
func writeEscape(b *strings.Builder, s, by string) int {
	if k := strings.IndexByte(`abefnrtv\E`, s[1]); k >= 0 {
		b.WriteByte("\a\b\x1b\f\n\r\t\v\\\x1b"[k])
		return 2
	}
	switch {
	case s[1] == '"' && by == "printf":
		b.WriteByte('"')
		return 2
	case s[1] == 'x':
		return numeric(b, s, 2, 2, 16)
	case s[1] == 'u':
		return numeric(b, s, 2, 4, 16)
	case s[1] == 'U':
		return numeric(b, s, 2, 8, 16)
	case s[1] == '0' && by != "printf":
		return numeric(b, s, 2, 3, 8)
	case s[1] >= '0' && s[1] <= '7' && by != "echo":
		return numeric(b, s, 1, 3, 8)
	}
	b.WriteString(s[:2])
	return 2
}

// numeric reads up to most digits at begin: a character's code after u and U, else a byte. Without digits
// the escape stands for itself, or for NUL after \0.
func numeric(b *strings.Builder, s string, begin, most, base int) int {
	digits := "0123456789abcdefABCDEF"
	if base == 8 {
		digits = digits[:8]
	}
	end := begin
	for end < len(s) && end < begin+most && strings.IndexByte(digits, s[end]) >= 0 {
		end++
	}
	n, _ := strconv.ParseUint(s[begin:end], base, 64)
	switch {
	case end == begin && s[1] != '0':
		b.WriteString(s[:begin])
	case s[1] == 'u' || s[1] == 'U':
		b.WriteRune(rune(n))
	default:
		b.WriteByte(byte(n))
	}
	return end
}
