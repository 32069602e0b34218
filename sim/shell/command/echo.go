package command

import (
	"strings"
	"unicode/utf8"
)

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
// printf's %b. stopped says that \c ended the text.
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
