package search

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"pgregory.net/rapid"

	_ "toolbench/property/seeded"
)

func TestFormsOfAWordHaveOneRoot(t *testing.T) {
	for _, forms := range []string{
		"list lists listed listing", "file files filing", "query queries queried", "directory directories", "create creates created creating",
		"delete deleted deleting", "message messages messaging", "connect connected connecting connection connections", "cancel cancels canceled",
		"translate translation translating", "notify notified notifies",
	} {
		words := strings.Fields(forms)
		for _, w := range words {
			assert.Equal(t, rootOf(words[0]), rootOf(w), w)
		}
	}
}

func TestRootsAreThoseOfThePublishedRules(t *testing.T) {
	for word, root := range map[string]string{
		"caresses": "caress", "ponies": "poni", "cats": "cat", "feed": "feed", "agreed": "agre", "plastered": "plaster", "motoring": "motor",
		"sing": "sing", "conflated": "conflat", "troubled": "troubl", "sized": "size", "hopping": "hop", "falling": "fall", "failing": "fail",
		"filing": "file", "happy": "happi", "sky": "sky", "relational": "relat", "conditional": "condit", "rational": "ration",
		"digitizer": "digit", "triplicate": "triplic", "electrical": "electr", "goodness": "good", "revival": "reviv", "inference": "infer",
		"adjustable": "adjust", "replacement": "replac", "adoption": "adopt", "effective": "effect", "rate": "rate", "cease": "ceas", "controll": "control", "roll": "roll",
	} {
		assert.Equal(t, root, rootOf(word), word)
	}
}

func TestNewsAreNotNew(t *testing.T) {
	assert.NotEqual(t, rootOf("new"), rootOf("news"))
}

func TestOtherWordsStayAsTheyAre(t *testing.T) {
	for _, word := range []string{"", "a", "is", "s3", "天气", "prüfungen", "Lists", strings.Repeat("lists", 100)} {
		assert.Equal(t, word, rootOf(word))
	}
}

func TestARootIsNoLongerThanItsWord(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		word := rapid.StringMatching(`[a-z]{1,20}`).Draw(t, "word")
		assert.LessOrEqual(t, len(rootOf(word)), len(word))
		assert.NotEmpty(t, rootOf(word))
	})
}

func TestTextsAreCutByScript(t *testing.T) {
	for text, want := range map[string][]string{
		"send a_message":   {"send", "a", "message"},
		"天气 API预报":         {"天气", "API", "预报"},
		"ファイルを読むtool":      {"ファイルを読む", "tool"},
		"ＡＢＣ １２":           {"ABC", "12"},
		"Prüfung, déjà-vu": {"Prüfung", "déjà", "vu"},
		"พยากรณ์อากาศ ok":  {"พยากรณ์อากาศ", "ok"},
		" ?! ": nil,
	} {
		var got []string
		for _, r := range runsOf(text) {
			got = append(got, r.Text)
			assert.Equal(t, r.Text, nfkc(text)[r.Start:r.End])
		}
		assert.Equal(t, want, got, text)
	}
	assert.True(t, runsOf("天气")[0].Unbroken)
	assert.False(t, runsOf("weather")[0].Unbroken)
}

func TestUnbrokenWordsArePairsOfNeighbours(t *testing.T) {
	assert.Equal(t, []string{"天气", "气预", "预报"}, gramsOf("天气预报"))
	assert.Equal(t, []string{"天"}, gramsOf("天"))
}

func TestNamesArePartedWhereTheirCaseChanges(t *testing.T) {
	for name, want := range map[string][]string{
		"createPRComment": {"create", "pr", "comment"}, "plain": {"plain"}, "HTTPServer": {"http", "server"}, "ABC": {"abc"}, "X": {"x"}, "天气": {"天气"},
	} {
		assert.Equal(t, want, caseParts(name), name)
	}
}

func TestFoldingForgetsCaseAndAccentsThatFewWriteOut(t *testing.T) {
	for word, want := range map[string]string{
		"Météo": "meteo", "STRASSE": "strasse", "Straße": "strasse", "Œuvre": "oeuvre", "Прогноз": "прогноз", "Йод": "йод", "Ещё": "еще", "إِرْسَال": "ارسال", "رسالة": "رساله", "が": "が", "天气": "天气", "각": "각",
	} {
		assert.Equal(t, want, fold(word), word)
	}
}

func FuzzRuns(f *testing.F) {
	for _, seed := range []string{"send a_message", "天气API", "ﬀ\u0301", "\xff", "ก็", "e\u0301\u0301"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		normal, last := nfkc(text), 0
		for _, r := range runsOf(text) {
			assert.NotEmpty(t, r.Text)
			assert.GreaterOrEqual(t, r.Start, last)
			assert.Equal(t, r.Text, normal[r.Start:r.End])
			last = r.End
			if r.Unbroken {
				assert.Len(t, gramsOf(r.Text), max(1, utf8.RuneCountInString(r.Text)-1))
			}
			assert.NotEmpty(t, caseParts(r.Text))
			rootOf(fold(r.Text))
		}
	})
}
