package scenario

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	_ "toolbench/property/seeded"
)

func TestAFaultReadsAsItPrints(t *testing.T) {
	for _, text := range []string{
		"panic @ call=c3", "error it broke @ tool=Read", "hang @ call=c3", "deaf @ tool=Grep", "status 529 @ request=1", "cut @ request=2 event=8",
		"say overloaded_error @ request=2 event=3", "malformed @ request=1 event=4", "stall @ request=2 event=7 for 3s", "stall @ request=2 event=7",
		"slow @ call=c3 for 2s", "progress @ call=c3 for 2s", "lags @ call=c3 for 2s", "gone @ call=c3 for 2.5s", "gone @ tool=queryOrder", "duplicate @ call=c3", "unknown @ call=c3",
		"rubbish Segmentation fault @ call=c3",
	} {
		f, err := ParseFault(text)
		require.NoError(t, err, text)
		assert.Equal(t, text, f.String())
	}
}

// An event that is late by nothing is not late.
func TestAnEventIsLateByAWhile(t *testing.T) {
	_, err := ParseFault("late @ request=1 event=4")
	assert.EqualError(t, err, "late needs a duration; write `for 2s` behind it")
}

// Whatever a fault is, it prints as what reads back as it.
func TestFaultLinesSurviveTheirText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := rapid.SampledFrom(verbs[:]).Draw(t, "verb")
		word := rapid.StringMatching(`[a-zA-Z][a-zA-Z0-9_-]{0,8}`)
		want := FaultLine{What: v.name}
		switch {
		case v.name == "status":
			want.Arg = rapid.SampledFrom([]string{"400", "429", "500", "529"}).Draw(t, "status")
		case v.arg != "":
			want.Arg = strings.Join(rapid.SliceOfN(word, 1, 3).Draw(t, "arg"), " ")
		}
		switch v.at {
		case atCall:
			if rapid.Bool().Draw(t, "by call") {
				want.Call = word.Draw(t, "call")
			} else {
				want.Tool = word.Draw(t, "tool")
			}
		case atEvent:
			want.Event = rapid.IntRange(1, 99).Draw(t, "event")
			fallthrough
		case atRequest:
			want.Request = rapid.IntRange(1, 99).Draw(t, "request")
		}
		if v.needs || v.lasts && rapid.Bool().Draw(t, "lasts") {
			want.For = time.Duration(rapid.IntRange(1, 1e6).Draw(t, "ms")) * time.Millisecond
		}
		got, err := ParseFault(want.String())
		require.NoError(t, err)
		require.Equal(t, want, got)
	})
}

func TestAnErrorHasWhatIsWrongAndWhatWouldBeRight(t *testing.T) {
	for text, says := range map[string]string{
		"":                                 "write it as `panic @ call=c3`",
		"rain @ call=c3":                   `"rain" is nothing that goes wrong; use panic, error`,
		"panic @":                          "write call= or tool=",
		"panic hard @ call=c3":             "takes no argument",
		"error @ call=c3":                  "needs a text",
		"panic @ call=c3 for 3s":           "does not last",
		"slow @ call=c3":                   "needs a duration",
		"panic @ request=1":                "is of a call",
		"panic @ call=c3 tool=Read":        "exclude each other",
		"cut @ call=c3 event=1":            "is of a request",
		"cut @ request=1":                  "write event=",
		"status 529 @ request=1 event=2":   "not at an event",
		"status 200 @ request=1":           "is no HTTP status of a failure",
		"cut @ request=0 event=1":          "counted from 1",
		"cut @ request=1 request=2":        "is there twice",
		"cut @ somewhere":                  `"somewhere" is no place`,
		"cut @ day=monday":                 `"day" is no place`,
		"stall @ request=1 event=1 for":    "one duration ends it",
		"stall @ request=1 event=1 for 3":  `"3" is no duration`,
		"stall @ request=1 event=1 for 0s": `"0s" is no duration`,
	} {
		_, err := ParseFault(text)
		assert.ErrorContains(t, err, says, text)
	}
}

func FuzzFaultLine(f *testing.F) {
	for _, seed := range []string{"panic @ call=c3", "stall @ request=2 event=7 for 3s", "status 529 @ request=1", "error a @ b @ call=c", "@", " = "} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		first, err := ParseFault(text)
		if err != nil {
			return
		}
		again, err := ParseFault(first.String())
		require.NoError(t, err)
		require.Equal(t, first, again)
	})
}
