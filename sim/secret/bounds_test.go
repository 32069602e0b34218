package secret

import (
	"encoding/base64"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// The signs of a text are counted by class, at the edges of each.
func TestClassesAreCountedToTheirEdges(t *testing.T) {
	assert.Equal(t, class{lower: 2, upper: 2, digit: 2, other: 5, turns: 5, numbers: 1}, classes("az`{AZ@[09/"))
	assert.Equal(t, class{lower: 1, digit: 2, turns: 2, numbers: 2}, classes("0a9"))
	for text, kinds := range map[string]int{"a": 1, "aA": 2, "aA0": 3, "aA0-": 4, "": 0} {
		assert.Equal(t, kinds, classes(text).kinds(), text)
	}
}

func TestNamesAreCutIntoWords(t *testing.T) {
	for name, want := range map[string][2]string{
		"myApiKey": {"key", "apikey"}, "x-api-key": {"key", "apikey"}, "MY_API_KEY": {"key", "apikey"}, "xAlphaZulu": {"zulu", "alphazulu"},
		"xZuluAlpha": {"alpha", "zulualpha"}, "key": {"key", "key"}, "API_Key": {"key", "apikey"},
	} {
		last, both := lastWords(name)
		assert.Equal(t, want, [2]string{last, both}, name)
	}
	for c, upper := range map[byte]bool{'@': false, 'A': true, 'Z': true, '[': false} {
		assert.Equal(t, upper, isUpper(c), string(c))
	}
	assert.True(t, afterFlag("x --pw y", 6))
	assert.False(t, afterFlag("x -- y", 4), "two dashes alone end the flags")
}

// What stands alone is taken for a key from some randomness on; each text here has just enough of one kind.
func TestRandomTextHasEnoughOfEachClass(t *testing.T) {
	key := "qZ3wX1eC4rV1tB5yN9uM2iA6oS5pD7aF"
	long := strings.Repeat(key, 5)
	for text, want := range map[string]bool{
		key:                                        true,
		key[1:]:                                    false, // too short
		long:                                       true,
		long + "q":                                 false, // too long
		"name=" + key:                              true,
		strings.Repeat("n", 160) + "=" + key:       true,
		"=" + long:                                 true,
		"qZwXeCrVtByN3MuAiSoDpFaG1sHdJfKgLhQ4":     true,  // three digits in 36
		"qZwXeCrVtByN3MuAiSoDpFaG1sHdJfKgLhQ4j":    false, // and in 37
		"qZwXeCrVtByN34MuAiSoDpFaG1sHdJfKgLhQg":    false, // two numbers
		"q3w1e4r1t5y9u2i6o5p7a3s1d4Z1X5Cf":         true,  // three capitals
		"q3w1e4r1t5y9u2i6o5p7a3s1d4Z1X5cf":         false,
		"Z3X1C4V1B5N9M2A6S5D7F3G1H4q1w5eJ":         true, // three small letters
		"Z3X1C4V1B5N9M2A6S5D7F3G1H4q1w5EJ":         false,
		"qZ3_wX1erC4t_yV1uB5ioN9p_aM2_s6A":         true, // an eighth of other signs
		"qZ3_wX1erC4t_yV1uB5_oN9p_aM2_s6A":         false,
		"qwertZXCVB3141uiopaNMASD592sdfGHJK65ZX":   false, // too few changes
		"qwZX31erCV59tyBN26uiMA53opSD58asDF97dfGH": true,
		"qwZX31erCV59tyBN26uiMA53opSD58asDFGH97df": true, // 18 in 40
		"qwZX31erCV59tyBN26uiMA53opSD58DFGHas97df": true,
		"qwZX31erCV59tyBN26uiMA53opSD58DFGHKL9784": false, // 17 in 40
	} {
		assert.Equal(t, want, isRandom(text, 0, len(text)), "%s: %+v", text, classes(text))
	}
}

func TestTheNameOfAnotherThingIsReadOverAFewSigns(t *testing.T) {
	assert.True(t, isOther("id      x", 8), "six blanks")
	assert.False(t, isOther("id       x", 9), "seven")
	assert.Empty(t, trustOf(" =x", 1), "no name stands there")
}

func TestValuesOfNamesAreLongEnough(t *testing.T) {
	for text, want := range map[string]string{
		`org: abc12345`: "abc12345", `org: abc1234`: "", `org: ""`: "", `org="a"`: "a", `"org":abc`: "", `org=abc12345`: "",
	} {
		sign := strings.IndexAny(text, ":=")
		from, to, ok := valueAfter(text, sign, anyway)
		assert.Equal(t, want != "", ok, text)
		if ok {
			assert.Equal(t, want, text[from:to])
		}
	}
	for text, want := range map[string]bool{"cookie: a=b1": true, "cookie: a=b": false, "cookie=a=b1": false} {
		_, _, ok := valueAfter(text, len("cookie"), wholly)
		assert.Equal(t, want, ok, text)
	}
	long := strings.Repeat("aB3dE5gH", longBase64/8)
	for value, want := range map[string]bool{long: true, long + "a": false, "hunter20": true, "hunter2": false} {
		_, _, ok := valueAfter("password: "+value, len("password"), bySight)
		assert.Equal(t, want, ok, "%d signs", len(value))
	}
	for value, want := range map[string]bool{
		"a1b2c3d4e5g6h7i8":     true,
		"a1b2c3d4e5g6h7i":      false, // 15
		"abCDefGHijKLmnOP":     false, // no digit
		"g1h2i3j4g1h2i3j4":     true,  // of three bits a sign
		"g1h2g1h2g1h2g1h2":     false,
		"ghi1jkl2mno3pqrstuvw": true,  // six changes in twenty
		"ghi1jkl2mnopqrstuvwx": false, // four
		"0123456789abcdef0":    false, // hexadecimal
	} {
		assert.Equal(t, want, plausible(value, byLooks), value)
	}
	assert.True(t, isLogin(`{"auth`, base64.StdEncoding.EncodeToString([]byte("me:pw1"))), "eight digits")
	assert.False(t, isLogin(`{"auth`, "bWU6cHc"), "seven")
	for text, end := range map[string]int{`"x`: 0, `ab"c`: 2, "abc": 3, "ab\nc": 2} {
		assert.Equal(t, end, lineEnd(text, 0), text)
		assert.Equal(t, end+2, lineEnd(".."+text, 2), text)
	}
	assert.NotContains(t, New().Text("secret: my1-password:hunter2000", nil), "hunter2000", "a value may be the name of another")
}

func TestLongBase64IsCountedOnBothSides(t *testing.T) {
	run := func(n int) string { return strings.Repeat("A", n) }
	for _, c := range []struct {
		text string
		at   int
		want bool
	}{
		{run(256), 128, false}, {run(257), 128, true}, {run(257), 257, false}, {run(300), 200, true}, {run(300), 0, false}, {run(300), 1, true}, {run(257), 0, false},
		{run(300), 100, true}, {strings.Repeat(" ", 300) + "AAAA", 301, false},
	} {
		assert.Equal(t, c.want, inLongBase64(c.text, c.at), "%d of %d", c.at, len(c.text))
	}
}

// found gives what a pattern finds, "" where it finds nothing.
func found(find func(string, int) (int, int, bool), text string, at int) string {
	from, to, ok := find(text, at)
	if !ok {
		return ""
	}
	return text[from:to]
}

func TestPatternsFindTheWholeSecretAndNothingShorter(t *testing.T) {
	bearer, basic := credentials(len("Bearer")), credentials(len("Basic"))
	assert.Equal(t, "abcdefghijklmnop", found(bearer, "Bearer abcdefghijklmnop", 0))
	assert.Empty(t, found(bearer, "Bearer abcdefghijklmno", 0))
	assert.Empty(t, found(bearer, "Bearerabcdefghijklmnop", 0))
	assert.Empty(t, found(bearer, "x: Bearerabcdefghijklmnop", 3))
	assert.Empty(t, found(bearer, "Bearer ", 0))
	assert.Equal(t, "YTpi", found(basic, "Basic YTpi", 0))

	token := func(header, payload string) string {
		text := ". a eyJ" + header + ".eyJ" + payload + ".c2ln x"
		return found(webToken, text, strings.Index(text, ".eyJ"))
	}
	assert.Equal(t, "eyJabcdefghij.eyJabcde.c2ln", token("abcdefghij", "abcde"))
	assert.Empty(t, token("abcdefghi", "abcde"), "the first part is too short")
	assert.Empty(t, token("abcdefghij", "abcd"), "the second is")
	assert.Empty(t, found(webToken, "xeyJabcdefghi.eyJabcde.c2ln", 13), "also within a word")

	const pem = "-----BEGIN PRIVATE KEY-----\nMIIEpAIB\n-----END PRIVATE KEY-----"
	assert.Equal(t, pem, found(privateKey, pem+" and ----- more", 0))
	assert.Equal(t, pem, found(privateKey, "x "+pem+" and ----- more", 2))
	const bare = "-----BEGIN PRIVATE KEY-----\nMIIEpAIB\n-----END -----"
	assert.Equal(t, bare, found(privateKey, bare+" x", 0))
	cut := "-----BEGIN PRIVATE KEY-----\nMIIEpAIB\n"
	assert.Equal(t, cut, found(privateKey, cut+"-----END "+strings.Repeat("x", 80)+"----- x", 0), "an end that is too long is none")
	assert.Equal(t, cut+"-----END "+strings.Repeat("x", 79)+"-----", found(privateKey, cut+"-----END "+strings.Repeat("x", 79)+"----- x", 0))
	for title, want := range map[string]bool{strings.Repeat(" ", 19): true, strings.Repeat(" ", 20): false} {
		_, _, ok := privateKey("-----BEGIN PRIVATE KEY"+title+"-----\nMIIE", 0)
		assert.Equal(t, want, ok, "%d signs behind the title", len(title))
	}

	assert.Equal(t, ":hunter2", found(userinfo, "redis://:hunter2@h", 5))
	assert.Empty(t, found(userinfo, "see http://a b:c@d", 8), "a blank ends a URL")
	key := "9f86d081884c7d659a2feaa0c55ad015-5f1b2b0b-822cd15d"
	assert.True(t, isMailgun(key))
	assert.True(t, isMailgun("x-"+key))
	assert.False(t, isMailgun("a"+key))
	assert.False(t, isMailgun(key[1:]))

	forty := strings.Repeat("aB3d", 10)
	assert.Equal(t, forty, found(signature, "sig="+forty, 0))
	assert.Equal(t, forty, found(signature, "?sig="+forty, 1))
	assert.Empty(t, found(signature, "?sig="+forty[1:], 1))
	assert.Empty(t, found(signature, "design="+forty, 3))
}

func TestWordsAreReadWithTheirQuotes(t *testing.T) {
	w := words{text: `a "b c" 'd'  e "" f`}
	var all []string
	for w.next() {
		all = append(all, w.word())
	}
	assert.Equal(t, []string{"a", "b c", "d", "e", "", "f"}, all)
	w = words{text: `a \ b`}
	assert.True(t, w.next())
	assert.False(t, w.next(), "an escape ends the words")
}

func TestPasswordsOfFilesAndCommands(t *testing.T) {
	assert.Equal(t, "pw1", found(netrc, "machine h.x login u password pw1", 0))
	assert.Empty(t, found(netrc, `machine h.x login u password ""`, 0))
	for password, want := range map[string]string{
		"correcthorse": "correcthorse", "abcd": "abcd", "abc": "", "abcd efgh": "abcd", strings.Repeat("x", 300): strings.Repeat("x", longestWord),
	} {
		assert.Equal(t, want, found(pgpass, "db.acme.dev:5432:orders:me:"+password, len("db.acme.dev")), password)
	}
	for line, want := range map[string]string{
		"sshpass -p p1 ssh me@h":      "sshpass -p p1 ssh me@h",
		"sshpass -p pw1 ssh me@h":     "sshpass -p [redacted] ssh me@h",
		"mysql -phunter2000 orders":   "mysql -p[redacted] orders",
		"curl -u :hunter2 https://h":  "curl -u :hunter2 https://h",
		"curl -u m:hunter2 https://h": "curl -u m:[redacted] https://h",
		"curl - -u m:hunter2":         "curl - -u m:[redacted]",
		"redis-cli -n 1 -a hunter2":   "redis-cli -n 1 -a [redacted]",
	} {
		assert.Equal(t, want, New().Text(line, nil))
	}
}

func TestRunsEndAtTheirBound(t *testing.T) {
	assert.Equal(t, []int{2, 3, 4}, []int{runOf(&alnum, "aaaa", 0, 2), runOf(&alnum, "aaaa", 1, 2), runOf(&alnum, "aaaa", 0, 0)})
	assert.Equal(t, []int{2, 0}, []int{runBefore(&alnum, "aaaa", 4, 2), runBefore(&alnum, "aaaa", 4, 9)})
	assert.Equal(t, Blanked, New().Text("sk-ant-"+strings.Repeat("aB3d", 80), nil), "a long key to its end")
}

func TestEscapesAreReadAtTheEndOfAText(t *testing.T) {
	for text, want := range map[string]string{`\u0041`: "A", `\x41`: "A", "%41": "A", `\n`: "\n", "&#65;": "A", `\ud83d\ude00`: "😀"} {
		got, n := escape(text, 0)
		assert.Equal(t, want, got, text)
		assert.Equal(t, len(text), n, text)
	}
	for _, text := range []string{"%4", "%g1", "%1g", `\u004`, `\x4`, `\`, "%", "&#65", "&no;"} {
		_, n := escape(text, 0)
		assert.Zero(t, n, text)
	}
	for text, want := range map[string]string{
		"ab\ncd": "abcd", "ab\r\n \t cd": "abcd", "ab\n": "ab", "ab=\ncd": "abcd", "ab=\r\ncd": "abcd", "ab=41cd": "abAcd", "ab=41": "abA",
	} {
		assert.Equal(t, want, flat(text, mailed).text, "%q", text)
	}
}

func TestTextEndsWhereItCannotBeRead(t *testing.T) {
	for text, want := range map[string]int{
		"abc": 0, "\x01abc": 1, "a\x7fb": 2, "a\nb\rc\td": 0, "abc\xc3": 0, "\xffabcd": 0, "\xffabcde": 1, "\ufffdabcdefgh": 0, "xy\xffabcde": 3, "a\x1fb": 2,
	} {
		assert.Equal(t, want, legible(text), "%q", text)
	}
	assert.Equal(t, []span{{0, 2, "a"}, {2, 4, "b"}}, merged([]span{{2, 4, "b"}, {0, 2, "a"}}), "what adjoins does not overlap")
}

func TestWhatIsEncodedIsFoundToItsBounds(t *testing.T) {
	in64 := base64.RawStdEncoding.EncodeToString
	finder := New()
	fifteen, fourteen := in64([]byte("pwd=hunter2000x")), in64([]byte("pwd=hunter2000"))
	assert.NotEqual(t, "<"+fifteen+">", finder.Text("<"+fifteen+">", nil), "20 digits")
	text := strings.Repeat("<", 30) + fourteen + ">"
	assert.Equal(t, text, finder.Text(text, nil), "19 digits")

	once := func(s string) string { return in64([]byte("so it is, as was written down before: " + s)) }
	key := "the sk-ant-api03-abcdefgh1 key"
	assert.NotEqual(t, once(once(key)), finder.Text(once(once(key)), nil))
	assert.Equal(t, once(once(once(key))), finder.Text(once(once(once(key))), nil), "base64 is read twice and no deeper")

	value := New(Known{Name: "K", Value: "s3cr3t"})
	for skip := range 3 {
		text := in64([]byte(strings.Repeat("x", skip) + "s3cr3tyy"))
		assert.Contains(t, value.Text("<"+text+">", nil), Blanked, "%d bytes in front", skip)
	}
	assert.Equal(t, "x [redacted] y", value.Text("x 733363723374 y", nil), "its hexadecimal")
	assert.Equal(t, "x 7333637233 y", New(Known{Name: "K", Value: "s3cr3"}).Text("x 7333637233 y", nil), "too short for that")
	assert.Equal(t, "x [redacted] y", New(Known{Name: "K", Value: "abcd"}).Text("x abcd y", nil))
	assert.Equal(t, "x abc y", New(Known{Name: "K", Value: "abc"}).Text("x abc y", nil))
	assert.Equal(t, []Known{{"A_KEY", "12345678"}, {"URL", "pass"}}, FromEnv([]string{"A_KEY=12345678", "B_KEY=1234567", "URL=postgres://u:pass@h", "V=postgres://u:pas@h"}))
}

func TestDocumentsKeepTheirForm(t *testing.T) {
	for _, c := range []struct{ text, known, want string }{
		{`["a",12345678]`, "12345678", `["a","[redacted]"]`},
		{`12345678`, "12345678", "[redacted]"},
		{`{"a":"b","c":"d"}`, `","c`, `{"a":"b","[redacted]":"d"}`},
		{`{"a":"xx abcdefgh yy"}`, "abcdefgh", `{"a":"xx [redacted] yy"}`},
		{`[0.12345678]`, "0.12345678", `["[redacted]"]`},
		{`[98765432]`, "98765432", `["[redacted]"]`},
		{`[1e+123456]`, "123456", `["[redacted]"]`},
		{`[-5551234]`, "5551234", `["[redacted]"]`},
		{"event: x\ndata: {\"pin\":12345678}\n\n", "12345678", "event: x\ndata: {\"pin\":\"[redacted]\"}\n\n"},
		{"data: {\"delta\":{\"text\":\"so\"}}\n\ndata: [\"12345678\"]\n\n", "12345678", "data: {\"delta\":{\"text\":\"so\"}}\n\ndata: [\"[redacted]\"]\n\n"},
	} {
		assert.Equal(t, c.want, New(Known{Name: "K", Value: c.known}).Text(c.text, nil), c.text)
	}
}
