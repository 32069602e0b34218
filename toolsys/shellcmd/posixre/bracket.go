package posixre

import "strings"

// bracket reads a bracket expression, in which a backslash is an ordinary character and ] may come first.
func (t *translator) bracket() error {
	body, next, err := bracketEnd(t.in, t.at)
	if err != nil {
		return err
	}
	t.at = next
	text, err := bracketBody(body)
	if err != nil {
		return err
	}
	t.put(text)
	return nil
}

// bracketEnd gives what stands between the brackets and where the pattern goes on.
func bracketEnd(in string, at int) (body string, next int, err error) {
	i := at
	if i < len(in) && in[i] == '^' {
		i++
	}
	if i < len(in) && in[i] == ']' {
		i++
	}
	for i < len(in) {
		switch {
		case in[i] == ']':
			return in[at:i], i + 1, nil
		case in[i] == '[' && i+1 < len(in) && strings.IndexByte(":.=", in[i+1]) >= 0:
			end := strings.Index(in[i+2:], in[i+1:i+2]+"]")
			if end < 0 {
				return "", 0, errBracket
			}
			i += end + 4
		default:
			i++
		}
	}
	return "", 0, errBracket
}

func bracketBody(body string) (string, error) {
	var out strings.Builder
	out.WriteByte('[')
	if strings.HasPrefix(body, "^") {
		out.WriteByte('^')
		body = body[1:]
	}
	for i := 0; i < len(body); {
		if body[i] == '[' && i+1 < len(body) && strings.IndexByte(":.=", body[i+1]) >= 0 {
			n, text, err := bracketClass(body[i:])
			if err != nil {
				return "", err
			}
			out.WriteString(text)
			i += n
			continue
		}
		out.WriteString(bracketByte(body, i))
		i++
	}
	out.WriteByte(']')
	return out.String(), nil
}

// bracketByte quotes what Go would read as syntax. A dash keeps its meaning, except at either end.
func bracketByte(body string, i int) string {
	c := body[i]
	if c == '-' && i > 0 && i < len(body)-1 {
		return "-"
	}
	if strings.IndexByte(`\[]^-&~`, c) >= 0 {
		return `\` + string(rune(c))
	}
	return body[i : i+1]
}

func bracketClass(s string) (n int, text string, err error) {
	end := strings.Index(s[2:], s[1:2]+"]")
	if end < 0 {
		return 0, "", errBracket
	}
	name := s[2 : 2+end]
	if s[1] != ':' {
		return end + 4, bracketByte(name, 0), nil
	}
	if !strings.Contains(" alnum alpha blank cntrl digit graph lower print punct space upper xdigit ", " "+name+" ") {
		return 0, "", errClass
	}
	return end + 4, "[:" + name + ":]", nil
}

// UnescapeBrackets rewrites an awk pattern, in which a backslash escapes inside brackets too, so that
// brackets follow POSIX: each escaped character becomes a collating symbol or the plain character.
func UnescapeBrackets(pattern string) string {
	var out strings.Builder
	for i := 0; i < len(pattern); {
		switch c := pattern[i]; {
		case c == '\\' && i+1 < len(pattern):
			out.WriteString(pattern[i : i+2])
			i += 2
		case c == '[':
			i = unescapeOne(&out, pattern, i)
		default:
			out.WriteByte(c)
			i++
		}
	}
	return out.String()
}

// unescapeOne copies the bracket expression that opens at i and gives the index after it.
func unescapeOne(out *strings.Builder, in string, i int) int {
	begin := i + 1
	out.WriteByte('[')
	for i++; i < len(in); i++ {
		first := i == begin || (i == begin+1 && in[begin] == '^')
		switch {
		case in[i] == '\\' && i+1 < len(in):
			i++
			out.WriteString(collating(in[i]))
		case in[i] == '[' && i+1 < len(in) && in[i+1] == ':' && strings.Contains(in[i:], ":]"):
			n := strings.Index(in[i:], ":]") + 2
			out.WriteString(in[i : i+n])
			i += n - 1
		case in[i] == ']' && !first:
			out.WriteByte(']')
			return i + 1
		default:
			out.WriteByte(in[i])
		}
	}
	return i
}

func collating(c byte) string {
	switch c {
	case 'n':
		return "\n"
	case 't':
		return "\t"
	case 'r':
		return "\r"
	case '\\':
		return `[.\.]`
	}
	if strings.IndexByte("]-^[", c) >= 0 {
		return "[." + string(rune(c)) + ".]"
	}
	return string(rune(c))
}
