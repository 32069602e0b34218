package command

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
)

// printf FORMAT [ARG...]; -v is the shell's affair, see [Format].
func runPrintf(p *Proc) int {
	args := p.Args
	if len(args) > 0 && args[0] == "--" {
		args = args[1:]
	}
	if len(args) == 0 {
		return p.usage("usage: printf [-v var] format [arguments]")
	}
	text, errs := Format(args[0], args[1:])
	if p.print(text) != nil {
		return exitFailure
	}
	for _, err := range errs {
		p.complain("%v", err)
	}
	if len(errs) > 0 {
		return exitFailure
	}
	return 0
}

// Format is printf: the format is used again until the arguments are used up. Errors are about
// arguments that are no numbers and directives that do not exist; the text is what printf prints all
// the same.
func Format(format string, args []string) (text string, errs []error) {
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
	args    []string
	errs    []error
	stopped bool
}

func (f *formatter) next() (string, bool) {
	if len(f.args) == 0 {
		return "", false
	}
	a := f.args[0]
	f.args = f.args[1:]
	return a, true
}

func (f *formatter) once(format string) {
	for i := 0; i < len(format) && !f.stopped; {
		switch {
		case format[i] == '\\' && i+1 < len(format):
			if format[i+1] == 'c' {
				f.stopped = true
				return
			}
			i += writeEscape(&f.out, format[i:], false)
		case format[i] == '%' && i+1 < len(format) && format[i+1] == '%':
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
	flags := ""
	i := 1
	for ; i < len(s); i++ {
		c := s[i]
		if c == '*' {
			a, _ := f.next()
			flags += strconv.Itoa(int(f.integer(a)))
			continue
		}
		if strings.IndexByte("-+ #0'123456789.", c) < 0 && strings.IndexByte("hlLqjzt", c) < 0 || c == 'q' {
			break
		}
		if strings.IndexByte("-+ #0123456789.", c) >= 0 {
			flags += string(rune(c))
		}
	}
	if i == len(s) {
		f.errs = append(f.errs, fmt.Errorf("`%s': missing format character", s))
		f.stopped = true
		return i
	}
	f.verb(s[i], flags)
	return i + 1
}

func (f *formatter) verb(verb byte, flags string) {
	if strings.IndexByte("sbqcdiouxXeEfFgG", verb) < 0 {
		f.errs = append(f.errs, fmt.Errorf("`%c': invalid format character", verb))
		f.stopped = true
		return
	}
	arg, _ := f.next()
	switch verb {
	case 's':
		fmt.Fprintf(&f.out, "%"+cleanFlags(flags)+"s", arg)
	case 'b':
		text, stopped := unescapeEcho(arg, true)
		f.stopped = stopped
		fmt.Fprintf(&f.out, "%"+cleanFlags(flags)+"s", text)
	case 'q':
		fmt.Fprintf(&f.out, "%"+cleanFlags(flags)+"s", Quote(arg))
	case 'c':
		_, n := utf8.DecodeRuneInString(arg)
		fmt.Fprintf(&f.out, "%"+cleanFlags(flags)+"s", arg[:n])
	case 'd', 'i':
		f.out.WriteString(formatInteger(flags, f.integer(arg)))
	case 'u':
		fmt.Fprintf(&f.out, "%"+cleanFlags(flags)+"d", uint64(f.integer(arg)))
	case 'o', 'x', 'X':
		fmt.Fprintf(&f.out, "%"+cleanFlags(flags)+string(rune(verb)), uint64(f.integer(arg)))
	default:
		f.float(verb, flags, arg)
	}
}

// cleanFlags drops a zero beside a minus, as C does.
func cleanFlags(flags string) string {
	if strings.HasPrefix(flags, "-") {
		return "-" + strings.TrimLeft(flags, "-0")
	}
	return flags
}

// formatInteger obeys C's precision for integers: that many digits or more.
func formatInteger(flags string, n int64) string {
	return fmt.Sprintf("%"+cleanFlags(flags)+"d", n)
}

func (f *formatter) float(verb byte, flags, arg string) {
	n, err := strconv.ParseFloat(strings.TrimSpace(arg), 64)
	if err != nil && arg != "" && !math.IsInf(n, 0) {
		if quoted, ok := quotedChar(arg); ok {
			n = float64(quoted)
		} else {
			f.errs = append(f.errs, fmt.Errorf("%s: invalid number", arg))
		}
	}
	if !strings.Contains(flags, ".") {
		flags += ".6"
	}
	fmt.Fprintf(&f.out, "%"+cleanFlags(flags)+string(rune(verb)), n)
}

// integer reads decimal, 0x hexadecimal, 0 octal, or 'c for a character's code.
func (f *formatter) integer(arg string) int64 {
	if code, ok := quotedChar(arg); ok {
		return code
	}
	s := strings.TrimSpace(arg)
	if s == "" {
		return 0
	}
	n, err := strconv.ParseInt(s, 0, 64)
	if err == nil && !strings.ContainsAny(s, "_oOb") {
		return n
	}
	f.errs = append(f.errs, fmt.Errorf("%s: invalid number", arg))
	end := 0
	for end < len(s) && (s[end] >= '0' && s[end] <= '9' || end == 0 && (s[0] == '-' || s[0] == '+')) {
		end++
	}
	n, _ = strconv.ParseInt(s[:end], 10, 64)
	return n
}

func quotedChar(arg string) (int64, bool) {
	if len(arg) < 2 || arg[0] != '\'' && arg[0] != '"' {
		return 0, false
	}
	r, _ := utf8.DecodeRuneInString(arg[1:])
	return int64(r), true
}

// Quote writes s so that a shell reads it back as one word.
func Quote(s string) string {
	if s == "" {
		return "''"
	}
	var b strings.Builder
	for i := range len(s) {
		c := s[i]
		switch {
		case c < 0x20 || c == 0x7f:
			return ansiQuote(s)
		case strings.IndexByte(" !\"#$&'()*,;<>?[\\]^`{|}", c) >= 0 || c == '~' && i == 0:
			b.WriteByte('\\')
		}
		b.WriteByte(c)
	}
	return b.String()
}

func ansiQuote(s string) string {
	var b strings.Builder
	b.WriteString("$'")
	for i := range len(s) {
		c := s[i]
		switch k := strings.IndexByte("\a\b\x1b\f\n\r\t\v\\'", c); {
		case k >= 0:
			b.WriteString(`\` + string(`abEfnrtv\'`[k]))
		case c < 0x20 || c == 0x7f:
			fmt.Fprintf(&b, `\%03o`, c)
		default:
			b.WriteByte(c)
		}
	}
	return b.String() + "'"
}

// echo [-neE] [ARG...]
func runEcho(p *Proc) int {
	args := p.Args
	newline, escapes := true, false
	for len(args) > 0 && len(args[0]) > 1 && args[0][0] == '-' && strings.Trim(args[0][1:], "neE") == "" {
		for _, c := range args[0][1:] {
			switch c {
			case 'n':
				newline = false
			case 'e':
				escapes = true
			case 'E':
				escapes = false
			}
		}
		args = args[1:]
	}
	text := strings.Join(args, " ")
	if escapes {
		var stopped bool
		if text, stopped = unescapeEcho(text, true); stopped {
			newline = false
		}
	}
	if newline {
		text += "\n"
	}
	if p.print(text) != nil {
		return exitFailure
	}
	return 0
}

// unescapeEcho resolves backslash escapes. With zero, octal numbers begin with \0, as in echo -e and
// printf's %b. stopped is set where \c ended the text.
func unescapeEcho(s string, zero bool) (out string, stopped bool) {
	if strings.IndexByte(s, '\\') < 0 {
		return s, false
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		if s[i] != '\\' || i+1 == len(s) {
			b.WriteByte(s[i])
			i++
			continue
		}
		if s[i+1] == 'c' {
			return b.String(), true
		}
		i += writeEscape(&b, s[i:], zero)
	}
	return b.String(), false
}

// writeEscape writes the escape s begins with, and gives its length.
func writeEscape(b *strings.Builder, s string, zero bool) int {
	if k := strings.IndexByte(`abefnrtv\E`, s[1]); k >= 0 {
		b.WriteByte("\a\b\x1b\f\n\r\t\v\\\x1b"[k])
		return 2
	}
	switch {
	case s[1] == '"' && !zero:
		b.WriteByte('"')
		return 2
	case s[1] == 'x':
		return numeric(b, s, 2, 2, 16, false)
	case s[1] == 'u':
		return numeric(b, s, 2, 4, 16, true)
	case s[1] == 'U':
		return numeric(b, s, 2, 8, 16, true)
	case s[1] == '0' && zero:
		return numeric(b, s, 2, 3, 8, false)
	case s[1] >= '0' && s[1] <= '7':
		return numeric(b, s, 1, 3, 8, false)
	}
	b.WriteString(s[:2])
	return 2
}

// numeric reads up to most digits at begin. Without digits the escape stands for itself, or for NUL after \0.
func numeric(b *strings.Builder, s string, begin, most int, base rune, char bool) int {
	n, end := rune(0), begin
	for end < len(s) && end < begin+most {
		d := digitValue(s[end])
		if d < 0 || d >= base {
			break
		}
		n = n*base + d
		end++
	}
	switch {
	case end == begin && s[1] != '0':
		b.WriteString(s[:begin])
	case char:
		b.WriteString(string(utf8.AppendRune(nil, n)))
	default:
		b.WriteByte(byte(n))
	}
	return end
}

func digitValue(c byte) rune {
	switch {
	case c >= '0' && c <= '9':
		return rune(c - '0')
	case c|0x20 >= 'a' && c|0x20 <= 'f':
		return rune(c|0x20-'a') + 10
	}
	return -1
}
