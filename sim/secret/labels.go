package secret

import (
	"math"
	"slices"
	"strings"
)

// demand is what is demanded of the value of a name; patterns.yaml has the names.
type demand string

// The kinds of demand.
const (
	// byLooks: the value must be random; names like this are also those of other things.
	byLooks demand = "by looks"
	// bySight: it must have letters and digits and some length.
	bySight demand = "by sight"
	// anyway: the value counts whatever it is, where it is quoted.
	anyway demand = "anyway"
	// wholly: the rest of the line.
	wholly demand = "wholly"
)

const longestLabel = 48

// labelled gives the pieces that are secret by what stands before them: "name: value"
// in JSON, YAML, headers, forms, shells and code.
func labelled(text string, add func(span)) {
	for i := 0; i < len(text); i++ {
		if c := text[i]; c != ':' && c != '=' && !(c == ' ' && afterFlag(text, i)) {
			continue
		}
		t := trustOf(text, i)
		if t == "" {
			continue
		}
		if from, to, ok := valueAfter(text, i, t); ok {
			add(span{from, to, kinds[t]})
			i = to - 1
		}
	}
}

// afterFlag reports whether a flag of a command ends at a place, as "--password" does.
func afterFlag(text string, at int) bool {
	from := runBefore(&dashed, text, at, longestLabel)
	return strings.HasPrefix(text[from:at], "--") && at-from > len("--")
}

var kinds = map[demand]string{byLooks: "value of a telling name", bySight: "value of a telling name", anyway: "organization, workspace or account", wholly: "cookie"}

// trustOf reads the name before a sign: its last one or two words decide.
func trustOf(text string, sign int) demand {
	to := runBefore(&closing, text, sign, sign)
	last, both := lastWords(text[runBefore(&dashed, text, to, longestLabel):to])
	if t := data().trusts[both]; t != "" {
		return t
	}
	if strings.HasSuffix(last, "password") || strings.HasSuffix(last, "passwd") {
		return bySight
	}
	return data().trusts[last]
}

// lastWords splits a name at dashes and capitals: "x-api-key" and "apiKey" end in
// "key" and "apikey".
func lastWords(name string) (last, both string) {
	end, words := len(name), [2]string{}
	for n := range words {
		begin := wordBegin(name, end)
		words[n] = strings.ToLower(name[begin:end])
		end = len(strings.TrimRight(name[:begin], "_-"))
	}
	return words[0], words[1] + words[0]
}

func wordBegin(name string, end int) int {
	begin := end
	for begin > 0 {
		c := name[begin-1]
		if c == '_' || c == '-' {
			break
		}
		begin--
		if isUpper(c) && (begin == 0 || !isUpper(name[begin-1]) && name[begin-1] != '_' && name[begin-1] != '-') {
			break
		}
	}
	return begin
}

func isUpper(c byte) bool { return c >= 'A' && c <= 'Z' }

var (
	between = signsOf(" \t\"'\\[>")
	closing = signsOf(" \"'\\]")  // a name
	opening = signsOf("\"'\\:= ") // a value
	values  = signsOf(lowers + uppers + digits + "_-.~+/=!@#$^*%")
)

// valueAfter reads the value after a sign, as far as it is trusted to be one.
func valueAfter(text string, sign int, t demand) (from, to int, ok bool) {
	from = runOf(&between, text, sign+1, 8)
	if strings.HasPrefix(text[from:], Blanked[1:]) {
		return 0, 0, false
	}
	quoted := strings.ContainsAny(text[sign+1:from], `"'`)
	switch t {
	case anyway:
		to = runOf(&dashed, text, from, 128)
		return from, to, to > from && (quoted || text[sign] == ':' && to-from >= 8 && mixed(text[from:to]))
	case wholly:
		to = lineEnd(text, from)
		return from, to, text[sign] == ':' && to-from >= 4 && strings.Contains(text[from:to], "=")
	}
	to = runOf(&values, text, from, longBase64+1)
	value := strings.TrimRight(text[from:to], ".!")
	to = from + len(value)
	if len(value) > longBase64 {
		return 0, 0, false
	}
	return from, to, plausible(value, t) || quoted && isLogin(text[:sign], value)
}

// isLogin reports whether the member auth of a configuration is a user and a password.
func isLogin(before, value string) bool {
	if !strings.HasSuffix(strings.TrimRight(before, "\\\"' "), "auth") || len(value) < 8 {
		return false
	}
	user, _, ok := strings.Cut(decode64(strings.TrimRight(value, "=")), ":")
	return ok && user != "" && isPair(value)
}

// longestCookie is how far the end of a line of cookies is looked for.
const longestCookie = 8 << 10

func lineEnd(text string, from int) int {
	rest := text[from:min(len(text), from+longestCookie)]
	if i := strings.IndexAny(rest, "\"'\\\r\n"); i >= 0 {
		return from + i
	}
	return from + len(rest)
}

// plausible reports whether the value of such a name looks like a secret.
func plausible(value string, t demand) bool {
	c := classes(value)
	if t == bySight {
		return len(value) >= 8 && c.kinds() >= 2 && c.digit > 0 && !strings.HasPrefix(value, "/") && !strings.HasPrefix(value, "$")
	}
	isUUID := len(value) == 36 && strings.Count(value, "-") == 4 && hexadecimal(strings.ReplaceAll(value, "-", ""))
	return !isUUID && !hexadecimal(value) && !checksum(value) && len(value) >= 16 && c.digit > 0 && c.kinds() >= 2 && !strings.ContainsAny(value, "$@#*%") && entropy(value) >= 3 && c.turns*10 >= len(value)*3
}

// randomKind is what a report calls what only its looks give away.
const randomKind = "random text"

// The bounds of the length of what stands alone and is taken for a key.
const (
	minAlone = 32
	maxAlone = 160
)

// alone gives long tokens of mixed classes that no word explains.
func alone(text string, add func(span)) {
	for i := 0; i < len(text); {
		if !base64s[text[i]] {
			i++
			continue
		}
		to := runOf(&base64s, text, i, 0)
		switch {
		case isMailgun(text[i:to]):
			add(span{to - mailgunKey, to, "Mailgun key"})
		case isRandom(text, i, to):
			add(span{i, to, randomKind})
		}
		i = to
	}
}

func isRandom(text string, from, to int) bool {
	s := strings.TrimRight(text[from:to], "=")
	if eq := strings.LastIndexByte(s, '='); eq >= 0 { // name=value
		s = s[eq+1:]
	}
	if len(s) < minAlone || len(s) > maxAlone || strings.ContainsAny(s, "+/") || checksum(s) {
		return false
	}
	c := classes(s)
	return c.digit*12 >= len(s) && c.numbers >= 3 && c.upper >= 3 && c.lower >= 3 && c.other*8 <= len(s) && c.turns*100 >= len(s)*45 && entropy(s) >= 4.2 && !isOther(text, from)
}

// isOther reports whether a value's name is that of something else: an id, a signature, a
// checksum, the data of an image.
func isOther(text string, from int) bool {
	to := runBefore(&opening, text, from, 6)
	begin := runBefore(&dashed, text, to, longestLabel)
	if begin == to || to == from {
		return false
	}
	last, _ := lastWords(text[begin:to])
	return slices.Contains(data().Others, last)
}

// checksum reports whether a value is an id, or the sum of a package.
func checksum(s string) bool {
	return slices.ContainsFunc(data().IDs, func(prefix string) bool { return strings.HasPrefix(s, prefix) })
}

// class counts what a text is made of; turns is how often the
// class changes, numbers how often digits begin.
type class struct{ lower, upper, digit, other, turns, numbers int }

func (c class) kinds() int {
	return min(c.lower, 1) + min(c.upper, 1) + min(c.digit, 1) + min(c.other, 1)
}

func classes(s string) class {
	var c class
	last := byte(0)
	for i := range len(s) {
		var is byte
		switch b := s[i]; {
		case b >= 'a' && b <= 'z':
			c.lower++
			is = 'a'
		case b >= 'A' && b <= 'Z':
			c.upper++
			is = 'A'
		case b >= '0' && b <= '9':
			c.digit++
			is = '0'
		default:
			c.other++
			is = '-'
		}
		if i > 0 && is != last {
			c.turns++
		}
		if is == '0' && is != last {
			c.numbers++
		}
		last = is
	}
	return c
}

// entropy is Shannon's, in bits a byte, of the text's own bytes.
func entropy(s string) float64 {
	var count [256]int
	for i := range len(s) {
		count[s[i]]++
	}
	bits := 0.0
	for _, n := range count {
		if n > 0 {
			p := float64(n) / float64(len(s))
			bits -= p * math.Log2(p)
		}
	}
	return bits
}

func hexadecimal(s string) bool { return strings.Trim(s, "0123456789abcdefABCDEF") == "" }
