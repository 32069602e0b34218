package secret

import "strings"

// labels are the last words of names whose values are secrets, and how much must
// speak for it.
var labels = map[string]trust{
	"key": byLooks, "keys": byLooks, "token": byLooks, "tokens": byLooks, "auth": byLooks, "session": byLooks, "sid": byLooks,
	"credential": byLooks, "credentials": byLooks, "pat": byLooks, "amzsignature": bySight,
	"apikey": bySight, "secret": bySight, "password": bySight, "passwd": bySight, "pwd": bySight, "passphrase": bySight, "authtoken": bySight,
	"accesskey": bySight, "secretkey": bySight, "accesstoken": bySight, "refreshtoken": bySight, "clientsecret": bySight,
	"privatekey": bySight, "cookie": wholly, "setcookie": wholly,
	"organizationid": anyway, "organizationuuid": anyway, "orgid": anyway, "orguuid": anyway,
	"workspaceid": anyway, "workspaceuuid": anyway, "accountid": anyway, "accountuuid": anyway,
}

type trust int

const (
	// byLooks: the value must be random; names like this are also those of other things.
	byLooks trust = iota + 1
	// bySight: it must have letters and digits and some length.
	bySight
	// anyway: the value counts whatever it is, where it is quoted.
	anyway
	// wholly: the rest of the line.
	wholly
)

const longestLabel = 48

// labelled gives the pieces that are secret by what stands before them: "name: value"
// in JSON, YAML, headers, forms, shells and code.
func labelled(text string, add func(span)) {
	for i := 0; i < len(text); i++ {
		if c := text[i]; c != ':' && c != '=' {
			continue
		}
		t := trustOf(text, i)
		if t == 0 {
			continue
		}
		if from, to, ok := valueAfter(text, i, t); ok {
			add(span{from, to, kinds[t]})
			i = to - 1
		}
	}
}

var kinds = map[trust]string{byLooks: "value of a telling name", bySight: "value of a telling name", anyway: "organization, workspace or account", wholly: "cookie"}

// trustOf reads the name before a sign: its last one or two words decide.
func trustOf(text string, sign int) trust {
	to := sign
	for to > 0 && (text[to-1] == ' ' || text[to-1] == '"' || text[to-1] == '\'' || text[to-1] == '\\' || text[to-1] == ']') {
		to--
	}
	from := to
	for from > 0 && to-from < longestLabel && dashed[text[from-1]] {
		from--
	}
	last, both := lastWords(text[from:to])
	if t := labels[both]; t != 0 {
		return t
	}
	return labels[last]
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
		upper := c >= 'A' && c <= 'Z'
		if upper && (begin == 0 || !isUpper(name[begin-1]) && name[begin-1] != '_' && name[begin-1] != '-') {
			break
		}
	}
	return begin
}

func isUpper(c byte) bool { return c >= 'A' && c <= 'Z' }

var (
	between = signsOf(" \t\"'\\[>")
	values  = signsOf(lowers + uppers + digits + "_-.~+/=!@#$^*%")
)

// valueAfter reads the value after a sign, as far as it is trusted to be one.
func valueAfter(text string, sign int, t trust) (from, to int, ok bool) {
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
	return from, to, telling(value, t)
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
