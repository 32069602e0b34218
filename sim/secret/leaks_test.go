package secret_test

import (
	"encoding/base64"
	"encoding/json"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"toolbench/sim/secret"
)

// leaks are texts as agents meet them, and what of each must never be written down.
var leaks = map[string]struct{ text, secret string }{
	"Slack webhook":          {"curl -d '{}' https://hooks.slack.com/services/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", "x9Kq2Lm8Pw4Rt7Yv1Bn5Hj3G"},
	"Slack workflow":         {"https://hooks.slack.com/workflows/T02AB3CD4/A05EF6GH7/412345678901234567/x9Kq2Lm8Pw4Rt7Yv1Bn5Hj3G", "x9Kq2Lm8Pw4Rt7Yv1Bn5Hj3G"},
	"Slack trigger":          {"https://hooks.slack.com/triggers/T02AB3CD4/4123456789012/9f86d081884c7d659a2feaa0c55ad015", "9f86d081884c7d659a2feaa0c55ad015"},
	"Slack webhook for gov":  {"https://hooks.slack-gov.com/services/T02AB3CD4/B05EF6GH7/x9Kq2Lm8Pw4Rt7Yv1Bn5Hj3G", "x9Kq2Lm8Pw4Rt7Yv1Bn5Hj3G"},
	"Discord webhook":        {"https://discord.com/api/webhooks/1098765432109876543/kL3-x9Kq2Lm8Pw4Rt7Yv1Bn5Hj3Gf6Ds0Ac_Zx8Kq2Lm9Pw4Rt7Yv1Bn5Hj3Gf6Ds0", "kL3-x9Kq2Lm8Pw4Rt7Yv1Bn5"},
	"Teams webhook":          {"https://acme.webhook.office.com/webhookb2/123e4567-e89b-12d3-a456-426614174000@223e4567-e89b-12d3-a456-426614174000/IncomingWebhook/9f86d081884c7d659a2feaa0c55ad015/323e4567", "9f86d081884c7d659a2feaa0c55ad015"},
	"Telegram bot":           {"https://api.telegram.org/bot7123456789:AAHx9Kq2Lm8Pw4Rt7Yv1Bn5Hj3Gf6Ds0AcZ/getMe", "AAHx9Kq2Lm8Pw4Rt7Yv1Bn5Hj3Gf6Ds0AcZ"},
	"Azure SAS":              {"https://acme.blob.core.windows.net/c/f.txt?sv=2022-11-02&st=2026-01-01T00%3A00%3A00Z&sr=b&sp=r&sig=x9Kq2Lm8Pw4Rt7Yv1Bn5Hj3Gf6Ds0AcZqW2eR5tY%2B8U%3D", "x9Kq2Lm8Pw4Rt7Yv1Bn5"},
	"Azure SAS, plain":       {"SharedAccessSignature sr=acme.servicebus.windows.net&sig=x9Kq2Lm8Pw4Rt7Yv1Bn5Hj3Gf6Ds0AcZqW2eR5tY+8U=&se=1767225600&skn=Root", "x9Kq2Lm8Pw4Rt7Yv1Bn5"},
	"Azure SAS first":        {"?sig=x9Kq2Lm8Pw4Rt7Yv1Bn5Hj3Gf6Ds0AcZqW2eR5tY%2b8U%3d&se=2026", "x9Kq2Lm8Pw4Rt7Yv1Bn5"},
	"Azure account key":      {"DefaultEndpointsProtocol=https;AccountName=acme;AccountKey=x9Kq2Lm8Pw4Rt7Yv1Bn5Hj3Gf6Ds0AcZqW2eR5tYx9Kq2Lm8Pw4Rt7Yv1Bn5Hj3Gf6Ds0AcZqW2eR5tYAbCdEf==;EndpointSuffix=core.windows.net", "x9Kq2Lm8Pw4Rt7Yv1Bn5"},
	"Google signed URL":      {"https://storage.googleapis.com/b/o?X-Goog-Expires=900&X-Goog-Signature=9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08", "9f86d081884c7d659a2feaa0c55ad015"},
	"Mailgun":                {"curl -s --user 'api:key-9f86d081884c7d659a2feaa0c55ad015'", "9f86d081884c7d659a2feaa0c55ad015"},
	"Mailgun, new":           {"mailgun 9f86d081884c7d659a2feaa0c55ad015-5f1b2b0b-822cd15d", "9f86d081884c7d659a2feaa0c55ad015-5f1b2b0b-822cd15d"},
	"Mailchimp":              {"x 9f86d081884c7d659a2feaa0c55ad015-us12", "9f86d081884c7d659a2feaa0c55ad015"},
	"Square, access":         {"sq0atp-x9Kq2Lm8Pw4Rt7Yv1Bn5Hj", "x9Kq2Lm8Pw4Rt7Yv1Bn5Hj"},
	"Square, secret":         {"sq0csp-x9Kq2Lm8Pw4Rt7Yv1Bn5Hj3Gf6Ds0AcZqW2eR5tY_Ab", "x9Kq2Lm8Pw4Rt7Yv1Bn5Hj"},
	"Square, new":            {"bearer is EAAAEx9Kq2Lm8Pw4Rt7Yv1Bn5Hj3Gf6Ds0AcZqW2eR5tY-Abx9Kq2Lm8Pw4Rt7Yv1", "x9Kq2Lm8Pw4Rt7Yv1Bn5Hj"},
	"Twilio key":             {"twilio SK9f86d081884c7d659a2feaa0c55ad015 ok", "9f86d081884c7d659a2feaa0c55ad015"},
	"Twilio key, glued":      {"TWILIO_SK9f86d081884c7d659a2feaa0c55ad015", "9f86d081884c7d659a2feaa0c55ad015"},
	"Twilio account":         {"https://api.twilio.com/2010-04-01/Accounts/AC9f86d081884c7d659a2feaa0c55ad015/Messages.json", "9f86d081884c7d659a2feaa0c55ad015"},
	"netrc":                  {"machine api.heroku.com\n  login me@example.com\n  password correcthorse\n", "correcthorse"},
	"scheme of its own":      {"curl -H 'Authorization: Token 9944b09199c62bcf9418ad846dd0e4bbdfc6ee4b' https://h", "9944b09199c62bcf"},
	"key and its secret":     {"Authorization: Key 0a1b2c3d-1111-2222-3333-0123456789ab:0123456789abcdef0123456789abcdef", "0123456789abcdef0123456789abcdef"},
	"bot":                    {"{'authorization': 'Bot MTk4NjIyNDgzNDcxOTI1MjQ4.Cl2FMQ.ZnCjm1XVW7vRze4b7Cq4se7kKWs'}", "ZnCjm1XVW7vRze4b"},
	"Azure gateway":          {"Ocp-Apim-Subscription-Key: 9f86d081884c7d659a2feaa0c55ad015", "9f86d081884c7d65"},
	"Cloudflare":             {"curl -H 'X-Auth-Key: 9f86d081884c7d659a2feaa0c55ad0159f86d'", "9f86d081884c7d65"},
	"AWS session":            {"AWS_SESSION_TOKEN=IQoJb3JpZ2luX2VjE" + strings.Repeat("J3kL9mN2pQ5rS8tV1wX4yZ7/aB+cD0eF3gH6", 14), "J3kL9mN2pQ5rS8tV1wX4yZ7"},
	"an at in a password":    {"postgres://app:p@ssw0rd@db:5432/x", "ssw0rd"},
	"netrc, one line":        {"machine api.heroku.com login me password correcthorse", "correcthorse"},
	"netrc, turned around":   {"machine git.acme.dev\n\tpassword correcthorse\n\tlogin me\n", "correcthorse"},
	"netrc, default":         {"default login anonymous password correcthorse\n", "correcthorse"},
	"netrc, short":           {"machine h login u password pw1", "pw1"},
	"netrc, quoted":          {"machine git.acme.dev login me password \"correct horse\"", "horse"},
	"netrc, numbered":        {"     1→machine api.heroku.com\n     2→  login me\n     3→  password correcthorse\n", "correcthorse"},
	"netrc, cat -n":          {"     1\tmachine api.heroku.com\n     2\tlogin me\n     3\tpassword correcthorse\n", "correcthorse"},
	"netrc, grep":            {"4:machine h\n5-  login me\n6-  password correcthorse\n", "correcthorse"},
	"netrc, second":          {"machine a.b login u password first1\nmachine c.d login u password second2\n", "second2"},
	"pgpass":                 {"db.acme.dev:5432:orders:me:correcthorse\n", "correcthorse"},
	"pgpass, any port":       {"1→db.acme.dev:*:*:me:correcthorse\n", "correcthorse"},
	"PGPASSWORD":             {"PGPASSWORD=hunter2000 psql -h db", "hunter2000"},
	"DB_PASS":                {"DB_PASS=hunter2000\n", "hunter2000"},
	"Docker's config":        {`{"auths":{"https://index.docker.io/v1/":{"auth":"bWU6cGEkJHcwcmQ="}}}`, "bWU6cGEkJHcwcmQ"},
	"mysql, glued":           {"mysql -h db -u root -phunter2000 orders", "hunter2000"},
	"mysqldump, glued":       {"mysqldump --single-transaction -phunter2000 orders", "hunter2000"},
	"sshpass":                {"sshpass -p hunter2000 ssh me@h", "hunter2000"},
	"redis":                  {"redis-cli -h r.acme.dev -a hunter2000 ping", "hunter2000"},
	"Azure client":           {"x Ab18Q~x9Kq2Lm8Pw4Rt7Yv1Bn5Hj3Gf6Ds0AcZ y", "x9Kq2Lm8Pw4Rt7Yv1Bn5Hj"},
	"Square, sandbox":        {"sandbox-sq0atb-x9Kq2Lm8Pw4Rt7Yv1Bn5Hj", "x9Kq2Lm8Pw4Rt7Yv1Bn5Hj"},
	"Mailgun, public":        {"pubkey-9f86d081884c7d659a2feaa0c55ad015", "9f86d081884c7d659a2feaa0c55ad015"},
	"Slack, browser":         {"token xoxc-123456789012-123456789012-abcdef", "123456789012-abcdef"},
	"Slack, PHP's JSON":      {`{"u":"https:\/\/hooks.slack.com\/services\/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"}`, "x9Kq2Lm8Pw4Rt7Yv1Bn5Hj3G"},
	"SAS in a member":        {`{"sv":"2022-11-02","sig":"x9Kq2Lm8Pw4Rt7Yv1Bn5Hj3Gf6Ds0AcZqW2eR5tY+8U="}`, "x9Kq2Lm8Pw4Rt7Yv1Bn5"},
	"htpasswd, Apache":       {"me:$apr1$ZxK2Lm9P$0Aq4Rt7Yv1Bn5Hj3Gf6Ds.", "0Aq4Rt7Yv1Bn5Hj3Gf6Ds."},
	"htpasswd, bcrypt":       {"me:$2y$05$ZxK2Lm9Pw4Rt7Yv1Bn5Hj3Gf6Ds0AcZqW2eR5tYUiOpAsDfGhJkLz", "ZxK2Lm9Pw4Rt7Yv1Bn5Hj3"},
	"htpasswd, SHA":          {"me:{SHA}x9Kq2Lm8Pw4Rt7Yv1Bn5Hj3Gf6D=", "x9Kq2Lm8Pw4Rt7Yv1Bn5Hj3Gf6D"},
	"shadow, SHA-512":        {"root:$6$rounds=5000$ZxK2Lm9P$0Aq4Rt7Yv1Bn5Hj3Gf6Ds0AcZqW2eR5tYUiOpAsDfGhJkLzXcVbNmQwErTyUiOpAsDfGhJkLzXcVbNm:19000:0:", "0Aq4Rt7Yv1Bn5Hj3"},
	"shadow, MD5":            {"root:$1$ZxK2Lm9P$0Aq4Rt7Yv1Bn5Hj3Gf6Ds.:19000", "0Aq4Rt7Yv1Bn5Hj3Gf6Ds."},
	"shadow, yescrypt":       {"root:$y$j9T$ZxK2Lm9Pw4Rt7Yv1Bn5Hj/$0Aq4Rt7Yv1Bn5Hj3Gf6Ds0AcZqW2eR5tYUiOpAsDfG:19000", "0Aq4Rt7Yv1Bn5Hj3"},
	"argon2":                 {"$argon2id$v=19$m=65536,t=3,p=4$c29tZXNhbHRoZXJl$0Aq4Rt7Yv1Bn5Hj3Gf6Ds0AcZqW2eR5tY", "0Aq4Rt7Yv1Bn5Hj3"},
	"Docker Hub":             {"dckr_pat_x9Kq2Lm8Pw4Rt7Yv1Bn5Hj3Gf6D", "x9Kq2Lm8Pw4Rt7Yv1Bn5Hj3Gf6D"},
	"Terraform":              {"x9Kq2Lm8Pw4Rt7.atlasv1.x9Kq2Lm8Pw4Rt7Yv1Bn5Hj3Gf6Ds0AcZqW2eR5tYx9Kq2Lm8Pw4Rt7Yv1Bn5Hj3Gf6D", "Yv1Bn5Hj3Gf6Ds0AcZqW2eR5tY"},
	"password of a flag":     {"mysql --password hunter2000 -e 'select 1'", "hunter2000"},
	"token of a flag":        {"deploy --api-token q7Rt-9uWx-2zAb-77yy now", "q7Rt-9uWx-2zAb-77yy"},
	"user of curl":           {"curl -su me:hunter2000 https://api.acme.dev", "hunter2000"},
	"user of curl, in words": {"curl --user me:hunter2000 https://api.acme.dev", "hunter2000"},
}

func TestWhatReachedRecordingsIsBlanked(t *testing.T) {
	for name, c := range leaks {
		t.Run(name, func(t *testing.T) {
			require.Contains(t, c.text, c.secret)
			inJSON, err := json.Marshal(map[string]string{"content": c.text + "\n"})
			require.NoError(t, err)
			twice, err := json.Marshal(string(inJSON))
			require.NoError(t, err)
			for way, text := range map[string]string{
				"as it is": c.text, "in JSON": string(inJSON), "in JSON in JSON": string(twice), "in base64": base64.StdEncoding.EncodeToString([]byte(c.text)),
				"in a URL": "https://h/?q=" + url.QueryEscape(c.text),
			} {
				out := blanked(text)
				assert.NotContains(t, out, c.secret, way)
				assert.Contains(t, out, secret.Blanked, way)
				assert.Equal(t, out, blanked(out), "%s: blanking again changes nothing", way)
			}
		})
	}
}

// A key that a command has put into base64 goes over many lines, of which each is part of it.
func TestAKeyInBase64IsBlankedToItsEnd(t *testing.T) {
	pem := "-----BEGIN RSA PRIVATE KEY-----\n" + strings.Repeat("MIIEpAIBAAKCAQEA7bq9Zt3kF8vXcLw1yQpR5sT2uV6xA0bC4dE8fG2hJ6kL1mN3\n", 12) + "-----END RSA PRIVATE KEY-----\n"
	text := base64.StdEncoding.EncodeToString([]byte(pem))
	for _, width := range []int{64, 76, len(text)} {
		var lines []string
		for rest := text; rest != ""; rest = rest[min(len(rest), width):] {
			lines = append(lines, rest[:min(len(rest), width)])
		}
		assert.Equal(t, "$ base64 key\n[redacted]\n$ ls\n", blanked("$ base64 key\n"+strings.Join(lines, "\n")+"\n$ ls\n"), width)
		assert.Equal(t, "key: |\n  [redacted]\nnext: 1\n", blanked("key: |\n  "+strings.Join(lines, "\n  ")+"\nnext: 1\n"), width)
	}
}

// Keys that vendors print in their documentation open nothing: blanking them hides what
// a session was about.
func TestDocumentedExamplesStay(t *testing.T) {
	for name, text := range map[string]string{
		"AWS":            "aws_access_key_id = AKIAIOSFODNN7EXAMPLE\naws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
		"AWS, second":    `{"AccessKeyId":"AKIAI44QH8DHBEXAMPLE","SecretAccessKey":"je7MtGbClwBF/2Zp9Utk/h3yCo8nvbEXAMPLEKEY"}`,
		"AWS, temporary": "ASIAIOSFODNN7EXAMPLE",
		"Stripe":         "sk_test_4eC39HqLyjWDarjtT1zdp7dc and sk_test_BQokikJOvBiI2HlWgH4olfQ2",
		"web token":      "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiIxMjM0NTY3ODkwIiwibmFtZSI6IkpvaG4gRG9lIiwiaWF0IjoxNTE2MjM5MDIyfQ.SflKxwRJSMeKKF2QT4fwpMeJf36POk6yJV_adQssw5c",
		"Slack":          "https://hooks.slack.com/services/T00000000/B00000000/XXXXXXXXXXXXXXXXXXXXXXXX",
		"Azurite":        "AccountName=devstoreaccount1;AccountKey=Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==;",
		"Mailgun":        "api:key-3ax6xnjp29jd6fds4gc373sgvjxteol0",
		"basic":          "Authorization: Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==",
	} {
		t.Run(name, func(t *testing.T) { assert.Equal(t, text, blanked(text)) })
	}
	assert.NotContains(t, blanked("AKIAIOSFODNN7EXAMPLE", "AKIAIOSFODNN7EXAMPLE"), "IOSFODNN", "a value that is known to be in use is blanked all the same")
	assert.NotContains(t, blanked("AKIAIOSFODNN7EXAMPL3"), "IOSFODNN")
}

// What only resembles the shapes above stays.
func TestWhatResemblesALeakStays(t *testing.T) {
	for name, text := range map[string]string{
		"a hash after capitals": "task9f86d081884c7d659a2feaa0c55ad015 and DISK9f86d081884c7d659a2feaa0c55ad015",
		"a longer hash":         "SK9f86d081884c7d659a2feaa0c55ad0159f86d081",
		"prose":                 "a machine learning password reset; the machine lets users login and asks for a password twice; default password policy",
		"a shell's parameters":  `awk '{print $1$2}' f; echo "$1$y$2"; sed 's/$6$/x/'; test "$2a" = b`,
		"variables":             "mysql --password $DB_PASSWORD --token-file /run/token; curl -u $USER:$PASS https://h; docker run -u 1000:1000 x; curl -u me https://h",
		"passing":               "pass: 12/15 on 2026-01-01, bypass=true, PASS=ok, tests pass: TestX1",
		"other -p":              "mysql -p orders; mkdir -p a1/b2/c3; ssh -p 2222 h; mysql -port; redis-cli --raw -a $REDIS_AUTH; cp -p key1 key2",
		"auth of other kinds":   `{"auth":"required","sig":"func(a1 int) string","x":"8Q~"}`,
		"a file's name":         "key-value store, key-9 and monkey-patching",
		"a signature of Go":     "func sig=1; sig=abc&x=1; design=modern",
		"ports":                 "127.0.0.1:5432:5432 and -p 5432:5432",
		"Slack's site":          "https://hooks.slack.com/services/ and https://api.slack.com/messaging/webhooks",
		"ids of tasks":          "task-a1b2c3d4e5f6a7b8c9d0e1f2, disk-0a1b2c3d4e5f60718293a4b5, flask-sqlalchemy2024extended01",
		"schemes of prose":      "authorization: the code is f47ac10b58cc4372a5670e02b2c3d479; Authorization code f47ac10b58cc4372a5670e02b2c3d479",
		"addresses":             "https://h/@scope/pkg:1@2 and http://a:80/x@y and mailto://me@h",
		"a flag alone":          "--password --verbose; use --token to sign in; --token stdin",
	} {
		t.Run(name, func(t *testing.T) { assert.Equal(t, text, blanked(text)) })
	}
}

func TestLeaksAreFoundOverDeltas(t *testing.T) {
	c := leaks["netrc"]
	var b strings.Builder
	for part := range strings.SplitSeq(c.text, " ") {
		text, err := json.Marshal(part + " ")
		require.NoError(t, err)
		b.WriteString("data: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":" + string(text) + "}}\n\n")
	}
	assert.NotContains(t, blanked(b.String()), c.secret)
}
