package secret

import (
	"cmp"
	"strings"
)

// vendor is a kind of key that its beginning gives away.
type vendor struct {
	kind, prefix string
	// signs are what may follow, at least and at most how many; most 0 is no bound.
	signs       signs
	least, most int
	// random demands digits beside letters: the prefix is also the end of words.
	random bool
	// weak prefixes occur by chance in long base64, where they count for nothing.
	weak bool
}

// signs is a set of bytes.
type signs [256]bool

func signsOf(text string) (s signs) {
	for i := range len(text) {
		s[text[i]] = true
	}
	return s
}

const (
	lowers = "abcdefghijklmnopqrstuvwxyz"
	uppers = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	digits = "0123456789"
)

var (
	alnum   = signsOf(lowers + uppers + digits)
	dashed  = signsOf(lowers + uppers + digits + "_-")
	dotted  = signsOf(lowers + uppers + digits + "_-.")
	capital = signsOf(uppers + digits)
	base64s = signsOf(lowers + uppers + digits + "+/=_-")
)

var vendors = []vendor{
	{kind: "Anthropic key", prefix: "sk-ant-", signs: dashed, least: 8},
	{kind: "OpenAI key", prefix: "sk-proj-", signs: dashed, least: 16},
	{kind: "OpenAI key", prefix: "sk-svcacct-", signs: dashed, least: 16},
	{kind: "OpenAI key", prefix: "sk-admin-", signs: dashed, least: 16},
	{kind: "OpenRouter key", prefix: "sk-or-v1-", signs: dashed, least: 16},
	{kind: "key that begins with sk-", prefix: "sk-", signs: alnum, least: 20, random: true},
	{kind: "Stripe key", prefix: "sk_live_", signs: alnum, least: 16},
	{kind: "Stripe key", prefix: "sk_test_", signs: alnum, least: 16},
	{kind: "Stripe key", prefix: "rk_live_", signs: alnum, least: 16},
	{kind: "Stripe key", prefix: "rk_test_", signs: alnum, least: 16},
	{kind: "webhook secret", prefix: "whsec_", signs: base64s, least: 16},
	{kind: "AWS key id", prefix: "AKIA", signs: capital, least: 16, most: 16, weak: true},
	{kind: "AWS key id", prefix: "ASIA", signs: capital, least: 16, most: 16, weak: true},
	{kind: "GitHub token", prefix: "ghp_", signs: alnum, least: 20},
	{kind: "GitHub token", prefix: "gho_", signs: alnum, least: 20},
	{kind: "GitHub token", prefix: "ghu_", signs: alnum, least: 20},
	{kind: "GitHub token", prefix: "ghs_", signs: alnum, least: 20},
	{kind: "GitHub token", prefix: "ghr_", signs: alnum, least: 20},
	{kind: "GitHub token", prefix: "github_pat_", signs: dashed, least: 20},
	{kind: "GitLab token", prefix: "glpat-", signs: dashed, least: 16},
	{kind: "GitLab token", prefix: "glrt-", signs: dashed, least: 16},
	{kind: "GitLab token", prefix: "gldt-", signs: dashed, least: 16},
	{kind: "GitLab token", prefix: "glcbt-", signs: dashed, least: 16},
	{kind: "Slack token", prefix: "xoxa-", signs: dashed, least: 10},
	{kind: "Slack token", prefix: "xoxb-", signs: dashed, least: 10},
	{kind: "Slack token", prefix: "xoxe-", signs: dashed, least: 10},
	{kind: "Slack token", prefix: "xoxe.xox", signs: dotted, least: 10},
	{kind: "Slack token", prefix: "xoxp-", signs: dashed, least: 10},
	{kind: "Slack token", prefix: "xoxr-", signs: dashed, least: 10},
	{kind: "Slack token", prefix: "xoxs-", signs: dashed, least: 10},
	{kind: "Slack token", prefix: "xapp-", signs: dashed, least: 16},
	{kind: "Google key", prefix: "AIza", signs: dashed, least: 35, most: 35, weak: true},
	{kind: "Google token", prefix: "ya29.", signs: dashed, least: 20},
	{kind: "Google secret", prefix: "GOCSPX-", signs: dashed, least: 20},
	{kind: "Hugging Face token", prefix: "hf_", signs: alnum, least: 30},
	{kind: "npm token", prefix: "npm_", signs: alnum, least: 30},
	{kind: "PyPI token", prefix: "pypi-AgE", signs: dashed, least: 16},
	{kind: "SendGrid key", prefix: "SG.", signs: dotted, least: 40},
	{kind: "DigitalOcean token", prefix: "dop_v1_", signs: alnum, least: 32},
	{kind: "DigitalOcean token", prefix: "doo_v1_", signs: alnum, least: 32},
	{kind: "Databricks token", prefix: "dapi", signs: signsOf("abcdef" + digits), least: 32, most: 32},
	{kind: "Shopify token", prefix: "shpat_", signs: alnum, least: 32},
	{kind: "Shopify secret", prefix: "shpss_", signs: alnum, least: 32},
	{kind: "Groq key", prefix: "gsk_", signs: alnum, least: 20, random: true},
	{kind: "Perplexity key", prefix: "pplx-", signs: alnum, least: 20, random: true},
	{kind: "xAI key", prefix: "xai-", signs: alnum, least: 20, random: true},
	{kind: "NVIDIA key", prefix: "nvapi-", signs: dashed, least: 20},
	{kind: "Tavily key", prefix: "tvly-", signs: dashed, least: 20, random: true},
	{kind: "Replicate token", prefix: "r8_", signs: alnum, least: 30, random: true},
	{kind: "Linear key", prefix: "lin_api_", signs: alnum, least: 20},
	{kind: "Notion token", prefix: "ntn_", signs: alnum, least: 30, random: true},
	{kind: "Vault token", prefix: "hvs.", signs: dashed, least: 20, random: true},
	{kind: "Vault token", prefix: "hvb.", signs: dashed, least: 20, random: true},
	{kind: "Doppler token", prefix: "dp.pt.", signs: alnum, least: 30},
	{kind: "Atlassian token", prefix: "ATATT3", signs: base64s, least: 30, weak: true},
	{kind: "Sentry token", prefix: "sntrys_", signs: base64s, least: 20},
	{kind: "LangSmith key", prefix: "lsv2_", signs: dashed, least: 20},
	{kind: "Supabase token", prefix: "sbp_", signs: alnum, least: 30},
	{kind: "Figma token", prefix: "figd_", signs: dashed, least: 20},
	{kind: "Postman key", prefix: "PMAK-", signs: dashed, least: 20},
	{kind: "PlanetScale token", prefix: "pscale_tkn_", signs: dotted, least: 20},
	{kind: "Grafana token", prefix: "glsa_", signs: dashed, least: 20},
	{kind: "New Relic key", prefix: "NRAK-", signs: alnum, least: 20},
	{kind: "Brevo key", prefix: "xkeysib-", signs: dashed, least: 30},
	{kind: "age key", prefix: "AGE-SECRET-KEY-1", signs: capital, least: 20},
}

// vendorNeedles are the vendors' prefixes, private keys, tokens of three parts,
// bearers, and credentials in URLs.
func vendorNeedles() []needle {
	var all []needle
	for _, v := range vendors {
		all = append(all, needle{v.prefix, v.found, v.kind})
	}
	for _, scheme := range []string{"Bearer", "bearer", "BEARER", "Basic", "basic", "BASIC"} {
		all = append(all, needle{scheme, credentials(len(scheme)), "credentials of " + strings.ToLower(scheme)})
	}
	return append(all,
		needle{".eyJ", webToken, "JSON web token"},
		needle{"-----BEGIN ", privateKey, "private key"},
		needle{"://", userinfo, "credentials in a URL"},
	)
}

// enough signs tell whether a run of them is long and mixed: a prefix that is repeated
// again and again must not have the same run read each time.
const enough = 128

func (v vendor) found(text string, at int) (int, int, bool) {
	begin := at + len(v.prefix)
	to := runOf(&v.signs, text, begin, cmp.Or(v.most, enough))
	switch {
	case to-begin < v.least:
		return 0, 0, false
	case v.most > 0 && to < len(text) && v.signs[text[to]]: // longer: something else
		return 0, 0, false
	case v.random && !mixed(text[begin:to]):
		return 0, 0, false
	case v.weak && inLongBase64(text, at):
		return 0, 0, false
	case v.most == 0:
		to = runOf(&v.signs, text, to, 0)
	}
	return at, to, true
}

// runOf gives where a run of signs ends that begins at a place; most 0 is no bound.
func runOf(s *signs, text string, from, most int) int {
	to := from
	for to < len(text) && s[text[to]] && (most == 0 || to-from < most) {
		to++
	}
	return to
}

// mixed reports digits beside letters.
func mixed(s string) bool {
	return strings.ContainsAny(s, digits) && strings.ContainsAny(s, lowers+uppers)
}

// longBase64 is the length from which base64 is a file, not a key.
const longBase64 = 256

// inLongBase64 reports whether a place is in the middle of a file's base64.
func inLongBase64(text string, at int) bool {
	from, to := at, at
	for from > 0 && at-from < longBase64 && base64s[text[from-1]] {
		from--
	}
	for to < len(text) && to-at < longBase64 && base64s[text[to]] {
		to++
	}
	return to-from > longBase64
}

// leastCredentials is how long what follows "Bearer" must be: the word is also one
// of everyday language.
const leastCredentials = 16

var bearerSigns = signsOf(lowers + uppers + digits + "._~+/=-")

func credentials(scheme int) func(string, int) (int, int, bool) {
	return func(text string, at int) (int, int, bool) {
		from := at + scheme
		for from < len(text) && (text[from] == ' ' || text[from] == '\t') {
			from++
		}
		to := runOf(&bearerSigns, text, from, 0)
		if from == at+scheme {
			return 0, 0, false
		}
		return from, to, to-from >= leastCredentials || scheme == len("Basic") && isPair(text[from:to])
	}
}

// isPair reports base64 of "user:password".
func isPair(run string) bool {
	pair := decode64(strings.TrimRight(run, "="))
	return strings.Contains(pair, ":") && legible(pair) == 0
}

// webToken looks back from the middle of "eyJ….eyJ….…": that each run between dots is
// read once keeps a text of many beginnings cheap.
func webToken(text string, at int) (int, int, bool) {
	from := at
	for from > 0 && dashed[text[from-1]] {
		from--
	}
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

// userinfo finds "user:password" before the host of a URL.
func userinfo(text string, at int) (int, int, bool) {
	from := at + len("://")
	const longest = 512
	for to := from; to < min(len(text), from+longest); to++ {
		switch c := text[to]; {
		case c == '@':
			colon := strings.IndexByte(text[from:to], ':')
			return from, to, colon >= 0 && text[from:to] != Blanked
		case c == '/' || c == '?' || c == '#' || c <= ' ' || c == '"' || c == '\'' || c == '<' || c == '>':
			return 0, 0, false
		}
	}
	return 0, 0, false
}
