package message_test

import (
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"pgregory.net/rapid"

	"toolbench/toolsys/message"
)

func TestAnExcerptIsTheBeginningWithItsMark(t *testing.T) {
	for text, want := range map[string]string{"": "", "abcd": "abcd", "abcde": "abc…", "äöüß": "äöüß", "äöüßx": "äöü…"} {
		assert.Equal(t, want, message.Excerpt(text, 4), text)
	}
	assert.Equal(t, "a b…", message.Line("  a\n\tb  c ", 4))
}

func TestAnExcerptIsNeverLongerThanAsked(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text, most := rapid.String().Draw(t, "text"), rapid.IntRange(1, 20).Draw(t, "most")
		got := message.Excerpt(text, most)
		assert.LessOrEqual(t, utf8.RuneCountInString(got), most)
		assert.Equal(t, utf8.RuneCountInString(text) <= most, got == text)
	})
}
