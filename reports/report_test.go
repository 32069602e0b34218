package reports_test

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"math"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	_ "toolbench/property/seeded"
	"toolbench/reports"
	"toolbench/sim/scenario/check"
)

// widths are those of real terminals, with the one the table just fits.
var widths = []int{120, 100, 83, 82, 80, 60, 40}

// fits holds every line but a command's against a width.
func fits(t require.TestingT, text string, width int) {
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		if strings.HasPrefix(line, "  again: ") {
			continue
		}
		assert.LessOrEqual(t, reports.Width(line), width, "%q", line)
	}
}

func TestNoLineIsWiderThanTheScreen(t *testing.T) {
	for _, width := range widths {
		fits(t, written(t, reports.Table, append(all(), hostile()), reports.Options{Width: width, Color: true}), width)
		for _, o := range append(all(), hostile(), crowd(200), agents(), instant()) {
			fits(t, timeline(t, o, reports.Options{Width: width}), width)
		}
	}
}

func TestAFailuresCommandIsNeverBroken(t *testing.T) {
	text := written(t, reports.Table, []check.Result{barrier()}, reports.Options{Width: 30})
	assert.Contains(t, text, "again: toolbench run edit-splits-the-batch --seed 7 --policy streaming\n")
}

func TestColourOnlyAddsColour(t *testing.T) {
	escape := regexp.MustCompile("\x1b\\[[0-9;]*m")
	for _, width := range []int{120, 60} {
		plain := written(t, reports.Table, all(), reports.Options{Width: width})
		coloured := written(t, reports.Table, all(), reports.Options{Width: width, Color: true})
		assert.NotContains(t, plain, "\x1b")
		assert.Contains(t, coloured, "\x1b[31mFAILED\x1b[0m")
		assert.Equal(t, plain, escape.ReplaceAllString(coloured, ""))
	}
}

func TestASCIIDrawsNothingElse(t *testing.T) {
	o := reports.Options{Width: 100, ASCII: true}
	text := written(t, reports.Table, []check.Result{hiding(), barrier()}, o) + timeline(t, barrier(), o) + timeline(t, crowd(30), o)
	for _, r := range text {
		require.Less(t, r, rune(0x80))
	}
}

// harmless holds a text a terminal may be given.
func harmless(t *testing.T, text string) {
	t.Helper()
	assert.True(t, utf8.ValidString(text))
	for _, r := range text {
		assert.True(t, r == '\n' || reports.Harmless(r), "%U", r)
	}
}

func TestNoReportLetsATerminalObeyAText(t *testing.T) {
	outcomes := []check.Result{hostile()}
	for _, f := range reports.Formats() {
		harmless(t, written(t, f.Write, outcomes, reports.Options{Width: 100}))
	}
	harmless(t, timeline(t, hostile(), reports.Options{Width: 100}))
	notes := written(t, reports.Annotations, outcomes, reports.Options{})
	harmless(t, notes)
	for line := range strings.Lines(notes) {
		assert.True(t, strings.HasPrefix(line, "::error "), "a text must not become a command: %q", line)
	}
}

// strict forbids fields that the schema does not name.
func strict(node any) {
	switch v := node.(type) {
	case map[string]any:
		if properties, ok := v["properties"]; ok && v["required"] != nil {
			v["additionalProperties"] = false
			_ = properties
		}
		for _, child := range v {
			strict(child)
		}
	case []any:
		for _, child := range v {
			strict(child)
		}
	}
}

func runSchema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(reports.Schema("run")))
	require.NoError(t, err)
	strict(doc)
	c := jsonschema.NewCompiler()
	require.NoError(t, c.AddResource("run.json", doc))
	schema, err := c.Compile("run.json")
	require.NoError(t, err)
	return schema
}

func TestJSONIsWhatItsSchemaSays(t *testing.T) {
	schema := runSchema(t)
	for name, outcomes := range map[string][]check.Result{"none": nil, "all": all(), "hostile": {hostile()}, "crowd": {crowd(50)}} {
		for _, o := range []reports.Options{{}, {OmitTook: true}} {
			value, err := jsonschema.UnmarshalJSON(strings.NewReader(written(t, reports.JSON, outcomes, o)))
			require.NoError(t, err, name)
			assert.NoError(t, schema.Validate(value), name)
		}
	}
}

func TestTheSchemaRefusesWhatIsNoReport(t *testing.T) {
	schema := runSchema(t)
	for _, text := range []string{
		`{}`,
		`{"version":2,"seed":1,"totals":{"passed":0,"failed":0,"errors":0},"outcomes":[]}`,
		`{"version":1,"seed":-1,"totals":{"passed":0,"failed":0,"errors":0},"outcomes":[]}`,
		`{"version":1,"seed":1,"totals":{"passed":0,"failed":0,"errors":0},"outcomes":[{"name":"x"}]}`,
	} {
		value, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
		require.NoError(t, err)
		assert.Error(t, schema.Validate(value), text)
	}
}

func TestJSONKeepsTheTrueText(t *testing.T) {
	o := hostile()
	o.Name = "a\x1b\u009b\u202e\U000e0041z"
	var run struct{ Outcomes []struct{ Name string } }
	text := written(t, reports.JSON, []check.Result{o}, reports.Options{})
	require.NoError(t, json.Unmarshal([]byte(text), &run))
	assert.Equal(t, o.Name, run.Outcomes[0].Name)
}

func TestMillisecondsAreExactAndPlain(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := time.Duration(rapid.Int64Range(-1<<62, 1<<62).Draw(t, "ns"))
		var out bytes.Buffer
		require.NoError(t, reports.JSON(&out, []check.Result{{Status: check.Passed, Makespan: d}}, reports.Options{}))
		var run struct {
			Outcomes []struct {
				MakespanMS json.Number `json:"makespan_ms"`
			}
		}
		require.NoError(t, json.Unmarshal(out.Bytes(), &run))
		text := run.Outcomes[0].MakespanMS.String()
		assert.NotContains(t, strings.ToLower(text), "e")
		back, err := time.ParseDuration(text + "ms")
		require.NoError(t, err)
		assert.Equal(t, d, back)
	})
}

func TestAShareThatIsNoNumberIsZero(t *testing.T) {
	for _, p := range []float64{math.NaN(), math.Inf(1), math.Inf(-1), math.Copysign(0, -1)} {
		assert.Contains(t, written(t, reports.JSON, []check.Result{{Hidden: p}}, reports.Options{}), `"hidden_percent": 0,`)
	}
}

type junit struct {
	Tests    int `xml:"tests,attr"`
	Failures int `xml:"failures,attr"`
	Errors   int `xml:"errors,attr"`
	Suites   []struct {
		Cases []struct {
			Name    string   `xml:"name,attr"`
			Time    string   `xml:"time,attr"`
			Failure []string `xml:"failure"`
			Error   []string `xml:"error"`
		} `xml:"testcase"`
	} `xml:"testsuite"`
}

func TestJUnitTellsFailuresFromErrors(t *testing.T) {
	var suites junit
	require.NoError(t, xml.Unmarshal([]byte(written(t, reports.JUnit, all(), reports.Options{})), &suites))
	assert.Equal(t, []int{5, 1, 2}, []int{suites.Tests, suites.Failures, suites.Errors})
	cases := suites.Suites[0].Cases
	require.Len(t, cases, 5)
	assert.Equal(t, "0.001234567", cases[0].Time)
	assert.Len(t, cases[1].Failure, 1)
	assert.Contains(t, cases[1].Failure[0], "expected: 4s")
	assert.Len(t, cases[2].Error, 1)
	assert.Empty(t, cases[0].Failure)
}

func TestJUnitIsValidWhateverTheTextIs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string { return string(b) }).Draw(t, "text")
		o := check.Result{Name: text, File: text, Policy: text, Status: check.Failed, Notes: []string{text},
			Failures: []check.Failure{{Expectation: text, Expected: text, Found: text + "\nx", At: text}}}
		var out bytes.Buffer
		require.NoError(t, reports.JUnit(&out, []check.Result{o}, reports.Options{}))
		decoder := xml.NewDecoder(&out)
		for {
			_, err := decoder.Token()
			if errors.Is(err, io.EOF) {
				break
			}
			require.NoError(t, err)
		}
	})
}

func TestMarkdownRowsHaveEightCellsWhateverTheText(t *testing.T) {
	text := written(t, reports.Markdown, append(all(), hostile()), reports.Options{})
	rows := 0
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(line, "| ") {
			continue
		}
		rows++
		assert.NotContains(t, line, "<b>", "no HTML")
		bars := strings.Count(line, "|") - strings.Count(line, `\|`)
		assert.Equal(t, 9, bars, line)
	}
	assert.Equal(t, 2+6, rows)
}

func TestNoTextEndsItsCodeBlock(t *testing.T) {
	o := barrier()
	o.Failures = []check.Failure{{Expectation: "x", Expected: "a\n````\nb", Found: "c"}}
	text := written(t, reports.Markdown, []check.Result{o}, reports.Options{})
	assert.Contains(t, text, "\n`````diff\n")
	assert.Contains(t, text, "\n-````\n")
	assert.Contains(t, text, "\n`````\n")
}

func TestAnnotationsPointAtTheScenariosLine(t *testing.T) {
	text := written(t, reports.Annotations, []check.Result{hiding(), barrier(), broken()}, reports.Options{})
	assert.Contains(t, text, "::error file=scenarios/edit-splits-the-batch.yaml,line=31,title=edit-splits-the-batch%3A makespan::expected: 4s%0Afound: 4.2s%0A")
	assert.Contains(t, text, "::error file=mine/broken.yaml,line=3,col=5,title=broken::")
	assert.NotContains(t, text, "latency-hiding")
}

func TestACommandSurvivesTheShell(t *testing.T) {
	assert.Equal(t, `toolbench run 'it'\''s; rm -rf' --seed 3`, reports.Again(check.Result{Name: "it's; rm -rf", Seed: 3}))
}

// refusing is a writer that fails, as a closed pipe does.
type refusing struct{}

func (refusing) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }

func TestWritersReportTheFailureOfWhatTheyWriteTo(t *testing.T) {
	for _, f := range reports.Formats() {
		assert.ErrorIs(t, f.Write(refusing{}, all(), reports.Options{}), io.ErrClosedPipe, f.Name)
	}
	assert.ErrorIs(t, reports.Timeline(refusing{}, hiding(), reports.Options{}), io.ErrClosedPipe)
	assert.ErrorIs(t, reports.Annotations(refusing{}, all(), reports.Options{}), io.ErrClosedPipe)
}

func TestReportsChangeNoOutcome(t *testing.T) {
	outcomes := append(all(), hostile(), crowd(20))
	for _, f := range reports.Formats() {
		written(t, f.Write, outcomes, reports.Options{Width: 60})
	}
	timeline(t, outcomes[1], reports.Options{})
	assert.Equal(t, append(all(), hostile(), crowd(20)), outcomes)
}

func TestTimelineTakesAnyTimes(t *testing.T) {
	moment := rapid.Map(rapid.Int64Range(0, 1<<40), func(ns int64) time.Duration { return time.Duration(ns) })
	rapid.Check(t, func(t *rapid.T) {
		width := rapid.IntRange(reports.Narrowest, 200).Draw(t, "width")
		var o check.Result
		for i := range rapid.IntRange(0, 6).Draw(t, "calls") {
			o.Calls = append(o.Calls, check.Call{ID: string(rune('a' + i)), Tool: "Read", Turn: rapid.IntRange(1, 2).Draw(t, "turn"),
				Ready: moment.Draw(t, "ready"), Started: moment.Draw(t, "started"), Ended: moment.Draw(t, "ended"), Emitted: moment.Draw(t, "emitted")})
		}
		o.Streams = []check.Stream{{Turn: 1, Sent: moment.Draw(t, "sent"), First: moment.Draw(t, "first"), End: moment.Draw(t, "end")}}
		var out bytes.Buffer
		require.NoError(t, reports.Timeline(&out, o, reports.Options{Width: width}))
		fits(t, out.String(), width)
		assert.Equal(t, len(o.Calls), strings.Count(out.String(), " #"), "a lane a call")
	})
}

func BenchmarkTable(b *testing.B)    { bench(b, reports.Table) }
func BenchmarkJSON(b *testing.B)     { bench(b, reports.JSON) }
func BenchmarkJUnit(b *testing.B)    { bench(b, reports.JUnit) }
func BenchmarkMarkdown(b *testing.B) { bench(b, reports.Markdown) }

func bench(b *testing.B, write reports.Writer) {
	var outcomes []check.Result
	for range 50 {
		outcomes = append(outcomes, hiding(), barrier())
	}
	for b.Loop() {
		if err := write(io.Discard, outcomes, reports.Options{Width: 120}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkTimeline200(b *testing.B) {
	o := crowd(200)
	for b.Loop() {
		if err := reports.Timeline(io.Discard, o, reports.Options{Width: 120}); err != nil {
			b.Fatal(err)
		}
	}
}
