package secret_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	_ "toolbench/property/seeded"
	"toolbench/sim/secret"
)

func blanked(s string, known ...string) string {
	var all []secret.Known
	for _, k := range known {
		all = append(all, secret.Known{Name: "K", Value: k})
	}
	return secret.New(all...).Text(s, nil)
}

func TestSecretsAreFoundByTheirLooks(t *testing.T) {
	long := strings.Repeat("aB3dE5gH", 12)
	for name, c := range map[string]struct{ text, secret string }{
		"Anthropic":           {"x sk-ant-api03-abcdefgh-_x y", "sk-ant-api03-abcdefgh-_x"},
		"glued to a word":     {"mysk-ant-api03-abcdefgh", "sk-ant-api03-abcdefgh"},
		"glued to a name":     {"KEY_sk-ant-api03-abcdefgh", "sk-ant-api03-abcdefgh"},
		"OpenAI":              {"sk-proj-abcdefghijklmnop", "abcdefghijklmnop"},
		"OpenAI, old":         {"K=sk-" + long[:48], long[:48]},
		"Stripe":              {"sk_live_" + long[:24], long[:24]},
		"AWS":                 {"id AKIAABCDEFGHIJKLMNOP.", "AKIAABCDEFGHIJKLMNOP"},
		"AWS, glued":          {"_AKIAABCDEFGHIJKLMNOP_", "AKIAABCDEFGHIJKLMNOP"},
		"GitHub":              {"url=ghp_abcdefghijklmnopqrst", "abcdefghijklmnopqrst"},
		"Slack":               {"xoxb-1234567890-abc", "1234567890"},
		"Google":              {"AIza" + long[:35], long[:35]},
		"SendGrid":            {"SG." + long[:22] + "." + long[:43], long[:22]},
		"web token":           {"jwt eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIx.c2ln;", "eyJzdWIiOiIx"},
		"web token, glued":    {"xeyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIx.c2ln;", "eyJzdWIiOiIx"},
		"private key":         {"-----BEGIN RSA PRIVATE KEY-----\nMIIEpAIB\n-----END RSA PRIVATE KEY-----", "MIIEpAIB"},
		"private key, cut":    {"-----BEGIN PRIVATE KEY-----\nMIIEpAIB", "MIIEpAIB"},
		"bearer":              {"authorization: bearer abcdef0123456789xyz", "abcdef0123456789xyz"},
		"basic":               {"Authorization: Basic dXNlcjpwYXNz", "dXNlcjpwYXNz"},
		"user of a URL":       {"git clone https://me:pa55@host/x", "pa55"},
		"cookie":              {"Cookie: sid=1234; theme=dark\r\n", "1234"},
		"cookie in JSON":      {`{"Set-Cookie":["sid=1234; Path=/"]}`, "1234"},
		"organization":        {`{"organization_id": "org-4711"}`, "org-4711"},
		"organization header": {"anthropic-organization-id: 1a2b3c4d-x", "1a2b3c4d-x"},
		"password":            {"password: hunter2000", "hunter2000"},
		"YAML":                {"client_secret: 'x9-abc-77'", "x9-abc-77"},
		"camel case":          {`{"clientSecret":"abc12345"}`, "abc12345"},
		"shell":               {"export API_KEY=\"q7Rt-9uWx-2zAb\"", "q7Rt-9uWx-2zAb"},
		"token, random":       {`"token": "k3J9xQ2mZ8vB4nL7"`, "k3J9xQ2mZ8vB4nL7"},
		"alone":               {"it is Zx8Kq2Lm9Pw4Rt7Yv1Bn5Hj3Gf6Ds0Ac ok", "Zx8Kq2Lm9Pw4Rt7Yv1Bn5Hj3Gf6Ds0Ac"},
		"in base64":           {"data " + base64.StdEncoding.EncodeToString([]byte(`{"k":"sk-ant-api03-abcdefgh"}`)), "c2stYW50"},
		"escaped":             {`"{\"a\":\"sk-ant-\u0061pi03-abcdefgh\"}"`, "pi03-abcdefgh"},
	} {
		t.Run(name, func(t *testing.T) {
			out := blanked(c.text)
			assert.NotContains(t, out, c.secret)
			assert.Contains(t, out, secret.Blanked)
		})
	}
}

// What replay needs, and what is merely long, stays as it is.
func TestWhatIsNoSecretStays(t *testing.T) {
	image := base64.StdEncoding.EncodeToString(bytesOf(40_000))
	for name, text := range map[string]string{
		"prose":         "the task-force asked; a bearer of bad news; organization_id is a column; sk-learn; eyJ is base64; monkey: key=1",
		"a call's id":   `{"type":"tool_use","id":"toolu_01A09q90qw90lq917835lq9","input":{"tool_use_id":"toolu_01A09q90qw90lq917835lq9"}}`,
		"another's id":  `{"id":"Zx8Kq2Lm9Pw4Rt7Yv1Bn5Hj3Gf6Ds0Ac","message_id":"Zx8Kq2Lm9Pw4Rt7Yv1Bn5Hj3Gf6Ds0Ac"}`,
		"a commit":      "commit 8bb343fdeadbeef0123456789abcdef012345678 and key: 8bb343fdeadbeef0123456789abcdef012345678",
		"a UUID":        `session 123e4567-e89b-12d3-a456-426614174000, "key":"123e4567-e89b-12d3-a456-426614174000"`,
		"a checksum":    "golang.org/x/term v0.47.0 h1:Zx8Kq2Lm9Pw4Rt7Yv1Bn5Hj3Gf6Ds0Ac+/aBcDeFgHi=",
		"an integrity":  `"integrity": "sha512-Zx8Kq2Lm9Pw4Rt7Yv1Bn5Hj3Gf6Ds0AcZx8Kq2Lm9Pw4Rt7Yv1Bn5Hj3Gf6Ds0Ac=="`,
		"an image":      `{"type":"base64","media_type":"image/png","data":"` + image + `"}`,
		"a signature":   `{"type":"thinking","thinking":"x","signature":"` + image[:400] + `"}`,
		"a signature,1": `{"type":"thinking","thinking":"x","signature":"Zx8Kq2Lm9Pw4Rt7Yv1Bn5Hj3Gf6Ds0AcZx8"}`,
		"a name":        "TestTheSameRunGivesTheSameBytesForEveryPolicyAndSeed42 in github.com/some-body/some-thing/internal/v2/pkg",
		"a count":       `{"max_tokens":8192,"input_tokens":12345678,"cache":{"key":"value"}}`,
		"code":          `token := os.Getenv("TOKEN"); password = readPassword(); key: map[string]int{}`,
		"a placeholder": "api_key: $ANTHROPIC_API_KEY, password: <your password>, secret: /run/secrets/db",
		"a URL":         "https://example.com/a/b?page=2&sort=name#top and mailto:a@b.c and http://[::1]:8080/",
	} {
		t.Run(name, func(t *testing.T) { assert.Equal(t, text, blanked(text)) })
	}
}

func bytesOf(n int) []byte {
	r := rand.New(rand.NewPCG(1, 2))
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return b
}

func TestJSONStaysValid(t *testing.T) {
	for name, c := range map[string]struct{ text, known, want string }{
		"a number":                  {`{"pin":12345678,"x":[12345678]}`, "12345678", `{"pin":"[redacted]","x":["[redacted]"]}`},
		"the end of an escape":      {`{"a":"\nabcdefg"}`, "nabcdefg", `{"a":"[redacted]"}`},
		"the middle of an escape":   {`{"a":"\u0041bcdefg"}`, "41bcdefg", `{"a":"[redacted]"}`},
		"what looks like structure": {`{"a":"b","c":"d"}`, `b","c":"d`, `{"a":"[redacted]","[redacted]":"[redacted]"}`},
		"a name":                    {`{"hunter2000":1}`, "hunter2000", `{"[redacted]":1}`},
	} {
		t.Run(name, func(t *testing.T) { assert.Equal(t, c.want, blanked(c.text, c.known)) })
	}
	rapid.Check(t, func(t *rapid.T) {
		doc := anyJSON(3).Draw(t, "doc")
		text, err := json.Marshal(doc)
		require.NoError(t, err)
		from := rapid.IntRange(0, len(text)-1).Draw(t, "from")
		known := string(text[from:min(len(text), from+rapid.IntRange(4, 20).Draw(t, "length"))])
		out := blanked(string(text), known)
		if text[0] == '{' || text[0] == '[' {
			assert.True(t, json.Valid([]byte(out)), "%s without %s is %s", text, known, out)
		}
		assert.Equal(t, out, blanked(out, known), "blanking again changes nothing")
	})
}

func anyJSON(depth int) *rapid.Generator[any] {
	leaf := rapid.OneOf(rapid.String().AsAny(), rapid.StringMatching(`[a-z"\\\n\t<&%=+: ]{0,30}`).AsAny(), rapid.Int64().AsAny(), rapid.Bool().AsAny(),
		rapid.StringMatching(`(password: |sk-ant-|"token":")[A-Za-z0-9]{0,40}`).AsAny())
	if depth == 0 {
		return leaf
	}
	below := rapid.Deferred(func() *rapid.Generator[any] { return anyJSON(depth - 1) })
	return rapid.OneOf(leaf, rapid.SliceOfN(below, 0, 4).AsAny(), rapid.MapOfN(rapid.StringN(0, 9, 20), below, 0, 4).AsAny())
}

// A secret that several deltas spell is blanked in the text they make, once.
func TestASecretSpelledOverDeltasIsBlankedOnce(t *testing.T) {
	var b strings.Builder
	for _, part := range []string{"the key ", "sk-", "ant-api0", "3-abcde", "fgh\\", "n is", " it"} {
		fmt.Fprintf(&b, "event: content_block_delta\r\ndata: {\"type\":\"content_block_delta\",\"index\":1,\"delta\":{\"type\":\"text_delta\",\"text\":\"%s\"}}\r\n\r\n", part)
	}
	body := strings.ReplaceAll(b.String(), "fgh\\\"}}", "fgh\"}}")
	kinds := map[string]int{}
	out := secret.New().Text(body, func(kind string) { kinds[kind]++ })
	assert.Equal(t, map[string]int{"Anthropic key": 1}, kinds)
	assert.Equal(t, 1, strings.Count(out, secret.Blanked))
	assert.Equal(t, 7, strings.Count(out, "text_delta"), "no event is lost")
	assert.NotContains(t, out, "ant-api")
	assert.Contains(t, out, `"text":" it"`)
}

func TestOnlyVariablesWithNamesOfSecretsAreOnes(t *testing.T) {
	known := secret.FromEnv([]string{"ANTHROPIC_API_KEY=abcdefgh1", "PATH=/usr/bin:/bin", "SSH_AUTH_SOCK=/tmp/agent.1", "HOME=/home/dev", "my_token=short", "gh_token=long enough", "KEYBOARD=qwertyuiop",
		"DATABASE_URL=postgres://me:pa55word@db/x", "EMPTY_KEY=", "NOEQUALS"})
	assert.Equal(t, []secret.Known{{Name: "ANTHROPIC_API_KEY", Value: "abcdefgh1"}, {Name: "gh_token", Value: "long enough"}, {Name: "DATABASE_URL", Value: "pa55word"}}, known)
}

func TestATallyNamesKindsAndPlacesInOrder(t *testing.T) {
	var tally secret.Tally
	f := secret.New(secret.Known{Name: "K", Value: "abcdefgh"})
	f.Text("abcdefgh abcdefgh sk-ant-api03-abcdefgh1", tally.At("b"))
	f.Text("abcdefgh", tally.At("a"))
	assert.Equal(t, []secret.Count{{Kind: "Anthropic key", Where: "b", Times: 1}, {Kind: "known value of K", Where: "a", Times: 1}, {Kind: "known value of K", Where: "b", Times: 2}}, tally.Counts())
}

// body is a request of n bytes as agents send them: prose, code, escapes, an image.
func body(n int) string {
	r := rand.New(rand.NewPCG(7, 7))
	var b strings.Builder
	b.WriteString(`{"messages":[`)
	for i := 0; b.Len() < n; i++ {
		fmt.Fprintf(&b, `{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_%024d","content":"line %d: \tif err != nil {\n\t\treturn fmt.Errorf(\"read %%q: %%w\", name, err) // key=%d\n\t}\nhttps://example.com/a%%20b?x=%d&y=2\n"}]},`, i, i, i, i)
		if i%200 == 0 {
			b.WriteString(`{"data":"` + base64.StdEncoding.EncodeToString(bytesOf(30_000+r.IntN(100))) + `"},`)
		}
	}
	return b.String() + `{"key":"sk-ant-api03-abcdefgh"}]}`
}

func BenchmarkText(b *testing.B) {
	text := body(10 << 20)
	f := secret.New(secret.Known{Name: "K", Value: "Zx8Kq2Lm9Pw4Rt7Yv1Bn5Hj3"}, secret.Known{Name: "L", Value: "hunter2 and more"})
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		if f.Text(text, nil) == text {
			b.Fatal("the key is still there")
		}
	}
}

func FuzzText(f *testing.F) {
	f.Add(`{"a":"\u0041bcdefg sk-ant-api03-abcdefgh"}`, "41bcdefg")
	f.Add("data: {\"delta\":{\"text\":\"abc\\u00e9\"}}\n\ndata: {\"delta\":{\"text\":\"def\"}}\n", "abc\u00e9def")
	f.Add("-----BEGIN PRIVATE KEY-----\nTUlJ=41=\n\n%41&#65;\\x41://a:b@c Basic YTpi cookie: a=b", "AAAA")
	f.Fuzz(func(t *testing.T, text, known string) {
		out := blanked(text, known)
		if json.Valid([]byte(text)) && strings.HasPrefix(strings.TrimSpace(text), "{") && !json.Valid([]byte(out)) {
			t.Fatalf("%q became %q", text, out)
		}
		if len(strings.TrimSpace(known)) >= secret.MinKnown && !strings.Contains(secret.Blanked, known) && strings.Contains(out, strings.TrimSpace(known)) && !strings.Contains(known, "[") && !strings.Contains(known, "]") {
			t.Fatalf("%q is still in %q", known, out)
		}
	})
}
