package jsonscan_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"toolbench/toolsys/jsonscan"
)

// FuzzText holds strings to encoding/json: the same are strings, and mean the same.
func FuzzText(f *testing.F) {
	for _, seed := range []string{
		`plain`, `\"\\\/\b\f\n\r\t`, `\u00e9\u00Ff`, `\ud83d\ude00`, `\ud83d`, `\ud83dx`, `\ud83d\n`, `\ude00\ud83d`, `\ud83d\u0041`,
		`\ud83d\ud83d\ude00`, "é\xff\xc3", "\u2028", `\u12`, `\x`, "\x01", `a"b`, `\ufffd`, `\u0000`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		raw := append(append([]byte{'"'}, body...), '"')
		c := jsonscan.Cursor{JSON: raw}
		got, plain, ok := c.Text()
		ok = ok && c.End()
		var want string
		require.Equal(t, json.Unmarshal(raw, &want) == nil, ok)
		if !ok {
			return
		}
		require.Equal(t, want, string(jsonscan.AppendText(nil, got)))
		require.Equal(t, !bytes.ContainsRune(body, '\\'), plain)
	})
}

// A byte ends a string, or is none of it, wherever it stands: the scan looks at several at a time.
func TestEveryByteAtEveryPlaceOfAString(t *testing.T) {
	for place := range 20 {
		for b := range 256 {
			for _, beside := range []string{"x", "\xff", "\x7f", " "} {
				body := []byte(strings.Repeat(beside, 20))
				body[place] = byte(b)
				raw := append(append([]byte{'"'}, body...), '"')
				c := jsonscan.Cursor{JSON: raw}
				got, plain, ok := c.Text()
				switch {
				case b == '"':
					require.True(t, ok && plain)
					require.Len(t, got, place)
				case b == '\\' || b < 0x20:
					require.False(t, ok, "%q", raw)
				default:
					require.True(t, ok && plain, "%q", raw)
					require.Equal(t, body, got)
				}
			}
		}
	}
}

// FuzzQuoted holds what is written to encoding/json, byte for byte.
func FuzzQuoted(f *testing.F) {
	for _, seed := range []string{
		"plain", "\"\\/\b\f\n\r\t", "é", "\xff", "\xe2\x80", "\u2028a\u2029", "\x00\x1f\x7f", "<&>", "\ufffd", "😀",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, s string) {
		var want bytes.Buffer
		enc := json.NewEncoder(&want)
		enc.SetEscapeHTML(false)
		require.NoError(t, enc.Encode(s))
		require.Equal(t, want.String(), string(jsonscan.AppendQuoted(nil, s))+"\n")
	})
}

// Numbers are held against each other by value, so that one that was rounded is another.
func TestEqualComparesValues(t *testing.T) {
	for _, c := range []struct {
		a, b  string
		equal bool
	}{
		{`{"a": 1, "b": [true, null]}`, `{"b":[true,null],"a":1.0}`, true},
		{`1e2`, `100`, true}, {`-0.50`, `-5e-1`, true}, {`"\u0061"`, `"a"`, true},
		{`9007199254740993`, `9007199254740992`, false}, {`{"a":[0.1]}`, `{"a":[0.10000000000000000001]}`, false},
		{`1`, `"1"`, false}, {`{"a":null}`, `{}`, false}, {`[1,2]`, `[2,1]`, false}, {`1e999999999`, `2e999999999`, false},
		{`no JSON`, `no JSON`, true}, {`no JSON`, `nothing`, false}, {``, `null`, false},
	} {
		require.Equal(t, c.equal, jsonscan.Equal([]byte(c.a), []byte(c.b)), "%s and %s", c.a, c.b)
		require.Equal(t, c.equal, jsonscan.Equal([]byte(c.b), []byte(c.a)), "%s and %s", c.b, c.a)
	}
}
