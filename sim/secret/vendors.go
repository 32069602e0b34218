package secret

import (
	"cmp"
	"strings"
)

// vendor is a kind of key that its beginning gives away.
type vendor struct {
	kind string
	// prefixes are the beginnings, with blanks between them.
	prefixes string
	// signs are the bytes that may follow, and how many of them must; a max of 0 is no
	// bound.
	signs    signs
	min, max int
	when     condition
}

// condition is what must hold beside a prefix that alone proves little.
type condition uint8

const (
	// random demands digits beside letters: the prefix is also the end of words.
	random condition = 1 << iota
	// short prefixes occur by chance in long base64, where they count for nothing.
	short
	// first demands that no letter or digit stands before the prefix.
	first
)

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
	small   = signsOf(lowers + digits)
	hexes   = signsOf("abcdef" + digits)
	base64s = signsOf(lowers + uppers + digits + "+/=_-")
	crypts  = signsOf(lowers + uppers + digits + "./$=,-")
)

// vendors is the table of keys that have a beginning of their own.
var vendors = []vendor{
	{"Anthropic key", "sk-ant-", dashed, 8, 0, 0},
	{"OpenAI key", "sk-proj- sk-svcacct- sk-admin-", dashed, 16, 0, 0},
	{"OpenRouter key", "sk-or-v1-", dashed, 16, 0, 0},
	{"key that begins with sk-", "sk-", alnum, 20, 0, random},
	{"Stripe key", "sk_live_ sk_test_ rk_live_ rk_test_", alnum, 16, 0, 0},
	{"webhook secret", "whsec_", base64s, 16, 0, 0},
	{"AWS key id", "AKIA ASIA", capital, 16, 16, short},
	{"GitHub token", "ghp_ gho_ ghu_ ghs_ ghr_", alnum, 20, 0, 0},
	{"GitHub token", "github_pat_", dashed, 20, 0, 0},
	{"GitLab token", "glpat- glrt- gldt- glcbt- glptt- gloas-", dashed, 16, 0, 0},
	{"Slack token", "xoxa- xoxb- xoxe- xoxp- xoxr- xoxs-", dashed, 10, 0, 0},
	{"Slack token", "xoxe.xox", dotted, 10, 0, 0},
	{"Slack token", "xoxc- xoxd-", base64s, 10, 0, 0},
	{"Slack token", "xapp-", dashed, 16, 0, 0},
	{"Google key", "AIza", dashed, 35, 35, short},
	{"Google token", "ya29.", dashed, 20, 0, 0},
	{"Google secret", "GOCSPX-", dashed, 20, 0, 0},
	{"Hugging Face token", "hf_", alnum, 30, 0, 0},
	{"npm token", "npm_", alnum, 30, 0, 0},
	{"PyPI token", "pypi-AgE", dashed, 16, 0, 0},
	{"RubyGems key", "rubygems_", hexes, 40, 0, 0},
	{"Docker Hub token", "dckr_pat_ dckr_oat_", dashed, 20, 0, 0},
	{"SendGrid key", "SG.", dotted, 40, 0, 0},
	{"Mailgun key", "key- pubkey-", small, 32, 32, random | first},
	{"Square token", "sq0atp- sq0csp- sq0atb- sq0csb- sq0i-", dashed, 20, 0, 0},
	{"Square token", "EAAA", dashed, 54, 64, random | short | first},
	{"Twilio key", "SK", hexes, 32, 32, random | short | first},
	{"Twilio account", "AC", hexes, 32, 32, random | short | first},
	{"DigitalOcean token", "dop_v1_ doo_v1_ dor_v1_", alnum, 32, 0, 0},
	{"Fly token", "fm2_ fo1_", base64s, 40, 0, 0},
	{"Netlify token", "nfp_", alnum, 36, 0, 0},
	{"Mapbox token", "sk.eyJ", dotted, 40, 0, 0},
	{"Plaid token", "access-sandbox- access-development- access-production-", dashed, 36, 36, 0},
	{"Razorpay key", "rzp_live_ rzp_test_", alnum, 14, 0, 0},
	{"Databricks token", "dapi", hexes, 32, 32, 0},
	{"Shopify token", "shpat_ shpca_ shppa_", alnum, 32, 0, 0},
	{"Shopify secret", "shpss_", alnum, 32, 0, 0},
	{"Groq key", "gsk_", alnum, 20, 0, random},
	{"Perplexity key", "pplx-", alnum, 20, 0, random},
	{"xAI key", "xai-", alnum, 20, 0, random},
	{"NVIDIA key", "nvapi-", dashed, 20, 0, 0},
	{"Tavily key", "tvly-", dashed, 20, 0, random},
	{"Replicate token", "r8_", alnum, 30, 0, random},
	{"Linear key", "lin_api_", alnum, 20, 0, 0},
	{"Notion token", "ntn_", alnum, 30, 0, random},
	{"Vault token", "hvs. hvb.", dashed, 20, 0, random},
	{"Doppler token", "dp.pt.", alnum, 30, 0, 0},
	{"Atlassian token", "ATATT3", base64s, 30, 0, short},
	{"Sentry token", "sntrys_ sntryu_", base64s, 20, 0, 0},
	{"LangSmith key", "lsv2_", dashed, 20, 0, 0},
	{"Supabase token", "sbp_", alnum, 30, 0, 0},
	{"Figma token", "figd_", dashed, 20, 0, 0},
	{"Postman key", "PMAK-", dashed, 20, 0, 0},
	{"PlanetScale token", "pscale_tkn_ pscale_pw_", dotted, 20, 0, 0},
	{"Grafana token", "glsa_", dashed, 20, 0, 0},
	{"New Relic key", "NRAK-", alnum, 20, 0, 0},
	{"Brevo key", "xkeysib-", dashed, 30, 0, 0},
	{"Buildkite token", "bkua_", alnum, 30, 0, 0},
	{"Dynatrace token", "dt0c01.", dotted, 40, 0, 0},
	{"1Password token", "ops_eyJ", base64s, 40, 0, 0},
	{"age key", "AGE-SECRET-KEY-1", capital, 20, 0, 0},
	{"hash of a password", "$apr1$ $1$ $5$ $6$ $7$ $y$", crypts, 24, 0, random},
	{"hash of a password", "$2a$ $2b$ $2y$", crypts, 50, 0, random},
	{"hash of a password", "$argon2i$ $argon2d$ $argon2id$ $scrypt$ $pbkdf2", crypts, 24, 0, random},
	{"hash of a password", "{SHA} {SSHA}", base64s, 27, 0, 0},
	{"webhook", "discord.com/api/webhooks/ discordapp.com/api/webhooks/ hooks.zapier.com/hooks/catch/", paths, 20, 0, 0},
	{"webhook", "hooks.slack.com/services/ hooks.slack.com/workflows/ hooks.slack.com/triggers/", paths, 20, 0, 0},
	{"webhook", "hooks.slack-gov.com/services/ hooks.slack-gov.com/workflows/ hooks.slack-gov.com/triggers/", paths, 20, 0, 0},
	{"webhook", ".webhook.office.com/webhookb2/ outlook.office.com/webhook/", paths, 20, 0, 0},
}

// paths are the bytes of a webhook's address, of which all that follows the service is
// the secret.
var paths = signsOf(lowers + uppers + digits + "_-/@")

// vendorPatterns are the vendors' prefixes and the shapes of this file, each with a text
// that it cannot be without.
func vendorPatterns() []pattern {
	var all []pattern
	for _, v := range vendors {
		for prefix := range strings.FieldsSeq(v.prefixes) {
			for _, text := range atLeast(headBytes, prefix, v.signs) {
				all = append(all, pattern{text, v.finder(prefix), v.kind})
			}
		}
	}
	for _, scheme := range []string{"Bearer", "bearer", "BEARER", "Basic", "basic", "BASIC"} {
		all = append(all, pattern{scheme, credentials(len(scheme)), "credentials of " + strings.ToLower(scheme)})
	}
	return append(all,
		pattern{".eyJ", webToken, "JSON web token"},
		pattern{"-----BEGIN ", privateKey, "private key"},
		pattern{"://", userinfo, "credentials in a URL"},
		pattern{":AA", telegram, "Telegram token"},
		pattern{".atlasv1.", terraform, "Terraform token"},
		pattern{"-us", mailchimp, "Mailchimp key"},
		pattern{"sig=", signature, "signature of a URL"},
		pattern{`sig"`, signature, "signature of a URL"},
		pattern{"Signature=", signature, "signature of a URL"},
		pattern{"machine", netrc, "password of a netrc"},
		pattern{"default", netrc, "password of a netrc"},
		pattern{":5432:", pgpass, "password of a pgpass"},
		pattern{":*:*:", pgpass, "password of a pgpass"},
		pattern{"curl ", command{"-u --user --proxy-user", afterColon}.password, "password of a command"},
		pattern{"mysql", command{"-p", glued}.password, "password of a command"},
		pattern{"sshpass ", command{"-p", nextWord}.password, "password of a command"},
		pattern{"redis-cli ", command{"-a", nextWord}.password, "password of a command"},
		pattern{"8Q~", azureSecret, "Azure secret"},
		pattern{"7Q~", azureSecret, "Azure secret"},
	)
}

// atLeast are the texts of n bytes or more that a prefix begins when one of the signs
// follows it.
func atLeast(n int, prefix string, follow signs) []string {
	if len(prefix) >= n {
		return []string{prefix}
	}
	var all []string
	for c, ok := range follow {
		if ok {
			all = append(all, atLeast(n, prefix+string(rune(c)), follow)...)
		}
	}
	return all
}

// enough signs decide whether a run of them is long and mixed: a prefix that is repeated
// again and again must not have the same run read each time.
const enough = 128

// finder finds the vendor's keys of one prefix.
func (v vendor) finder(prefix string) func(string, int) (int, int, bool) {
	return func(text string, at int) (int, int, bool) {
		begin := at + len(prefix)
		to := runOf(&v.signs, text, begin, cmp.Or(v.max, enough))
		switch {
		case to-begin < v.min:
			return 0, 0, false
		case v.max > 0 && to < len(text) && v.signs[text[to]]: // longer: something else
			return 0, 0, false
		case v.when&random != 0 && !mixed(text[begin:to]):
			return 0, 0, false
		case v.when&first != 0 && at > 0 && alnum[text[at-1]]:
			return 0, 0, false
		case v.when&short != 0 && inLongBase64(text, at):
			return 0, 0, false
		case v.max == 0:
			to = runOf(&v.signs, text, to, 0)
		}
		return at, to, true
	}
}

// runOf gives where a run of signs ends that begins at a place; a max of 0 is no bound.
func runOf(s *signs, text string, from, max int) int {
	to := from
	for to < len(text) && s[text[to]] && (max == 0 || to-from < max) {
		to++
	}
	return to
}

// runBefore gives where a run of signs begins that ends at a place.
func runBefore(s *signs, text string, to, max int) int {
	from := to
	for from > 0 && s[text[from-1]] && to-from < max {
		from--
	}
	return from
}

// examples are keys that vendors print in their documentation: they open nothing. A web
// token stands here with its parts.
var examples = func() map[string]bool {
	all := map[string]bool{}
	for _, key := range []string{
		"sk_test_4eC39HqLyjWDarjtT1zdp7dc", "sk_test_BQokikJOvBiI2HlWgH4olfQ2",
		"key-3ax6xnjp29jd6fds4gc373sgvjxteol0",
		"QWxhZGRpbjpvcGVuIHNlc2FtZQ==",
		"hooks.slack.com/services/T00000000/B00000000/XXXXXXXXXXXXXXXXXXXXXXXX",
		"Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==",
		"eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiIxMjM0NTY3ODkwIiwibmFtZSI6IkpvaG4gRG9lIiwiaWF0IjoxNTE2MjM5MDIyfQ.SflKxwRJSMeKKF2QT4fwpMeJf36POk6yJV_adQssw5c",
	} {
		all[key] = true
		for part := range strings.SplitSeq(key, ".") {
			all[part] = true
		}
	}
	return all
}()

// isExample reports a documented example, of which AWS marks its own by their end.
func isExample(s string) bool {
	return examples[s] || strings.HasSuffix(s, "EXAMPLEKEY") || len(s) == 20 && strings.HasSuffix(s, "EXAMPLE")
}
