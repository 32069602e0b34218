package secret

import (
	"slices"
	"strings"
)

// mixed reports whether text has digits beside letters.
func mixed(s string) bool {
	return strings.ContainsAny(s, digits) && strings.ContainsAny(s, lowers+uppers)
}

// longBase64 is the length from which base64 is a file, not a key.
const longBase64 = 256

// inLongBase64 reports whether a place is in the middle of a file's base64.
func inLongBase64(text string, at int) bool {
	return runOf(&base64s, text, at, longBase64)-runBefore(&base64s, text, at, longBase64) > longBase64
}

// minCredentials is how long what follows "Bearer" must be: the word is also one
// of everyday language.
const minCredentials = 16

var (
	bearerSigns = signsOf(lowers + uppers + digits + "._~+/=-")
	blanks      = signsOf(" \t")
)

func credentials(scheme int) func(string, int) (int, int, bool) {
	return func(text string, at int) (int, int, bool) {
		from := runOf(&blanks, text, at+scheme, 0)
		to := runOf(&bearerSigns, text, from, 0)
		if from == at+scheme {
			return 0, 0, false
		}
		return from, to, to-from >= minCredentials || scheme == len("Basic") && isPair(text[from:to])
	}
}

// authorization finds what stands behind the name of a scheme that is not among those above, as
// "Token" or "Bot" is.
func authorization(text string, at int) (int, int, bool) {
	from := runOf(&alnum, text, at, longestLabel)
	scheme := runOf(&assigned, text, from, 8)
	from = runOf(&letters, text, scheme, longestLabel)
	if from == scheme || from == len(text) || text[from] != ' ' || !strings.ContainsAny(text[at:scheme], ":=") {
		return 0, 0, false
	}
	to := runOf(&pairSigns, text, from+1, 0)
	return from + 1, to, to-from > minCredentials && mixed(text[from+1:to])
}

var (
	assigned  = signsOf("=: \t\"'\\[")
	pairSigns = signsOf(lowers + uppers + digits + "._~+/=:-")
)

// isPair reports whether text is base64 of "user:password".
func isPair(run string) bool {
	pair := decode64(strings.TrimRight(run, "="))
	return strings.Contains(pair, ":") && legible(pair) == 0
}

// webToken looks back from the middle of "eyJ….eyJ….…": that each run between dots is
// read once keeps a text of many beginnings cheap.
func webToken(text string, at int) (int, int, bool) {
	from := runBefore(&dashed, text, at, at)
	begin := strings.Index(text[from:at], "eyJ")
	end := runOf(&dashed, text, at+1, 0)
	if begin < 0 || at-from-begin < 13 || end-at-1 < 8 || end == len(text) || text[end] != '.' {
		return 0, 0, false
	}
	return from + begin, runOf(&dashed, text, end+1, 0), true
}

// longestKey is how far the end of a private key is looked for.
const longestKey = 16 << 10

var armour = signsOf(lowers + uppers + digits + "+/= \t\r\n\\")

// privateKey finds an armoured key, with or without its end. Quotes and braces are no
// part of it: it does not go beyond the JSON text it stands in.
func privateKey(text string, at int) (int, int, bool) {
	rest := text[at:min(len(text), at+longestKey)]
	title := strings.Index(rest[:min(len(rest), 80)], "PRIVATE KEY")
	if title < 0 || strings.ContainsAny(rest[:title], "\"{}\n") {
		return 0, 0, false
	}
	const end = "-----END "
	if i := strings.Index(rest, end); i > 0 && !strings.ContainsAny(rest[:i], `"{}`) {
		tail := rest[i+len(end):]
		if j := strings.Index(tail, "-----"); j >= 0 && j < 80 {
			return at, at + i + len(end) + j + len("-----"), true
		}
	}
	head := strings.Index(rest[title:], "-----")
	if head < 0 || head > 30 {
		return 0, 0, false
	}
	from := at + title + head + len("-----")
	return at, runOf(&armour, text, from, longestKey), true
}

// encodedKey finds an armoured key in base64 that is broken over lines, all of the first one's
// length but the last. What stands on one line is found without its first signs.
func encodedKey(text string, at int) (int, int, bool) {
	if !strings.Contains(decode64(text[at:runOf(&base64s, text, at, encodedTitle)]), "PRIVATE KEY") {
		return 0, 0, false
	}
	to := runOf(&base64s, text, at, longestKey)
	for width := to - at; to-at < longestKey; {
		next := runOf(&spaces, text, to, longestWord)
		end := runOf(&base64s, text, next, width+1)
		if next == to || end == next || end-next > width || end < len(text) && !spaces[text[end]] && text[end] != '"' {
			break
		}
		if to = end; end-next < width {
			break
		}
	}
	return at, to, true
}

// encodedTitle is how many digits a key's title takes at most.
const encodedTitle = 80

// userinfo finds "user:password" before the host of a URL. Passwords have signs that should have
// been escaped, among them the one that ends them.
func userinfo(text string, at int) (int, int, bool) {
	from := at + len("://")
	const longest = 512
	rest := text[from:min(len(text), from+longest)]
	if end := strings.IndexFunc(rest, func(r rune) bool { return r <= ' ' || strings.ContainsRune(`/?#"'<>`, r) }); end >= 0 {
		rest = rest[:end]
	}
	to := strings.LastIndexByte(rest, '@')
	if to < 0 {
		return 0, 0, false
	}
	return from, from + to, strings.Contains(rest[:to], ":") && rest[:to] != Blanked
}

// mailgunKey is how long a key of Mailgun's newer form is: 32, 8 and 8 digits.
const mailgunKey = 32 + 1 + 8 + 1 + 8

// isMailgun reports whether a run ends in such a key.
func isMailgun(run string) bool {
	if len(run) < mailgunKey || len(run) > mailgunKey && hexes[run[len(run)-mailgunKey-1]] {
		return false
	}
	key := run[len(run)-mailgunKey:]
	return key[32] == '-' && key[41] == '-' && hexadecimal(key[:32]) && hexadecimal(key[33:41]) && hexadecimal(key[42:])
}

var (
	signatures = signsOf(lowers + uppers + digits + "+/=%_~-")
	assigns    = signsOf("=\": ")
	// parameters stand before the name of a URL's parameter.
	parameters = signsOf("?&;\"' \t\r\n-")
)

// signature finds what signs a URL, such as a shared access signature: whoever has it
// may do what the URL is for.
func signature(text string, at int) (int, int, bool) {
	from := at + strings.IndexAny(text[at:], `="`)
	from = runOf(&between, text, runOf(&assigns, text, from, 4), 4)
	to := runOf(&signatures, text, from, 4*longBase64)
	return from, to, to-from >= 40 && mixed(text[from:to]) && (at == 0 || parameters[text[at-1]])
}

// words gives the words of a text one after another, and where they stand. Quotes are
// taken off; a quoted word may hold blanks.
type words struct {
	text     string
	from, to int
}

var spaces = signsOf(" \t\r\n")

// longestWord is how far the end of a word is looked for.
const longestWord = 256

// next reports whether there is another word on the way to the text's end.
func (w *words) next() bool {
	at := runOf(&spaces, w.text, w.to, longestWord)
	if at == len(w.text) {
		return false
	}
	ends := " \t\r\n\"\\"
	if c := w.text[at]; c == '"' || c == '\'' {
		at++
		ends = string(c) + "\r\n"
	}
	rest := w.text[at:min(len(w.text), at+longestWord)]
	n := strings.IndexAny(rest, ends)
	if n < 0 {
		n = len(rest)
	}
	w.from, w.to = at, at+n
	if len(ends) == len("'\r\n") && w.to < len(w.text) && w.text[w.to] == ends[0] {
		w.to++
		return true
	}
	return n > 0
}

// word is the last word that next found.
func (w *words) word() string { return strings.TrimRight(w.text[w.from:w.to], "\"'") }

// key is the next word, without the number that a tool has put before its line.
func (w *words) key() string {
	for range 2 {
		if !w.next() {
			return ""
		}
		word := w.word()
		bare := strings.TrimLeft(word, digits)
		for _, sign := range []string{"→", ":", "-", "|"} {
			bare = strings.TrimPrefix(bare, sign)
		}
		if bare != "" {
			return bare
		}
	}
	return ""
}

// netrc finds the password in an entry of a netrc file. "machine" and "password" are
// also words of prose, so a login or a host's name must be there too.
func netrc(text string, at int) (from, to int, ok bool) {
	if at > 0 && alnum[text[at-1]] {
		return 0, 0, false
	}
	w := words{text: text, to: at}
	sure := w.next() && w.word() == "machine" && w.next() && strings.Contains(w.word(), ".")
	for range 4 {
		key := w.key()
		if key != "login" && key != "account" && key != "port" && key != "password" || !w.next() {
			break
		}
		if key == "password" {
			from, to = w.from, w.from+len(w.word())
		}
		sure = sure || key == "login"
	}
	return from, to, sure && to > from && text[from:to] != Blanked
}

// pgpass finds the password of a line "host:5432:database:user:password".
func pgpass(text string, at int) (int, int, bool) {
	if runBefore(&hosts, text, at, longestWord) == at {
		return 0, 0, false
	}
	from := at + strings.IndexByte(text[at+1:], ':') + 2
	for range 2 {
		to := runOf(&hosts, text, from, longestWord)
		if to == from || to == len(text) || text[to] != ':' {
			return 0, 0, false
		}
		from = to + 1
	}
	to := from
	for to < len(text) && text[to] > ' ' && text[to] != '"' && text[to] != '\'' && text[to] != '\\' && to-from < longestWord {
		to++
	}
	return from, to, to-from >= MinKnown && text[from:to] != Blanked
}

var hosts = signsOf(lowers + uppers + digits + "_-.*")

// command is a program that is given a password after one of its flags.
type command struct {
	flags string
	form  form
}

// form is how a password is written.
type form int

const (
	nextWord   form = iota // "-p secret", or "-psecret"
	glued                  // "-psecret" only
	afterColon             // "-u user:secret"
)

// commandWords is how many words of a command are looked at.
const commandWords = 24

// password finds the password in a command's line.
func (c command) password(text string, at int) (int, int, bool) {
	line := text[:min(len(text), at+2*longestWord)]
	if end := strings.IndexByte(line[at:], '\n'); end >= 0 && !strings.HasSuffix(line[:at+end], `\`) {
		line = line[:at+end]
	}
	w := words{text: line, to: at}
	for range commandWords {
		if !w.next() {
			return 0, 0, false
		}
		from, to, ok := c.after(&w)
		if !ok {
			continue
		}
		value := line[from:to]
		plain := len(value) > 2 && !strings.ContainsAny(value[:1], "$<{[-")
		return from, to, plain && (c.form != glued || mixed(value))
	}
	return 0, 0, false
}

// after gives the value of the flag that the last word is, and reports whether it is one.
func (c command) after(w *words) (from, to int, ok bool) {
	flag := w.word()
	short := c.flags[:len("-x")]
	switch {
	case c.form != afterColon && len(flag) > len(short) && strings.HasPrefix(flag, short):
		return w.from + len(short), w.from + len(flag), true
	case c.form == glued:
		return 0, 0, false
	case slices.Contains(strings.Fields(c.flags), flag):
	case len(flag) > 1 && flag[0] == '-' && flag[1] != '-' && flag[len(flag)-1] == short[1]: // flags in one word
	default:
		return 0, 0, false
	}
	if !w.next() {
		return 0, 0, false
	}
	value := w.word()
	if c.form == nextWord {
		return w.from, w.from + len(value), true
	}
	colon := strings.IndexByte(value, ':')
	return w.from + colon + 1, w.from + len(value), colon > 0
}
