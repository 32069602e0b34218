package recording_test

import (
	"bytes"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"toolbench/sim/recording"
)

// small are limits that a test reaches without much memory.
var small = recording.Limits{Line: 64 << 10, Part: 256 << 10, Unpacked: 1 << 20, Nodes: 10_000, Depth: 50, Conversations: 100}

// endless repeats a text.
type endless struct {
	text string
	at   int
}

func (e *endless) Read(p []byte) (int, error) {
	n := 0
	for n < len(p) {
		k := copy(p[n:], e.text[e.at:])
		n, e.at = n+k, (e.at+k)%len(e.text)
	}
	return n, nil
}

// manyA is long, so that a long line is soon made.
var manyA = strings.Repeat("a", 1<<16)

func repeated(text string, bytes int64) io.Reader { return io.LimitReader(&endless{text: text}, bytes) }

func TestHostileFilesEndWithAClearMessage(t *testing.T) {
	bomb := gzipped(t, bytes.Repeat([]byte("event: ping\n"), 1<<20))
	for name, c := range map[string]struct {
		r    io.Reader
		kind error
		text string
	}{
		"nothing":                 {strings.NewReader(""), recording.ErrNotRecording, "it is empty"},
		"blanks":                  {strings.NewReader(" \n\t\n"), recording.ErrNotRecording, "it is empty"},
		"prose":                   {strings.NewReader("# Read me\n\nNothing: to *see*.\n"), recording.ErrNotRecording, "it holds no turn"},
		"another YAML file":       {strings.NewReader("name: x\nsteps: [a, b]\n"), recording.ErrNotRecording, "it holds no turn"},
		"a program":               {strings.NewReader("\x7fELF\x00\x00"), recording.ErrNotRecording, "a binary file"},
		"a list in JSON":          {strings.NewReader(`[{"type":"message_start"}]`), recording.ErrNotRecording, "it holds no turn"},
		"JSON of another kind":    {strings.NewReader("{\n  \"name\": \"x\"\n}\n"), recording.ErrNotRecording, "it holds no turn"},
		"a line without an end":   {repeated(manyA, 1<<27), recording.ErrTooLarge, "line 1 is longer than 65536 bytes"},
		"a JSON line without end": {io.MultiReader(strings.NewReader(`{"type":"user","x":"`), repeated(manyA, 1<<27)), recording.ErrNotRecording, "it holds no turn"},
		"lines that are no JSON":  {repeated("{nonsense\n", 1<<20), recording.ErrNotRecording, "it is no JSON document"},
		"deep YAML":               {strings.NewReader("a: " + strings.Repeat("[", 60_000)), recording.ErrTooLarge, "nested too deeply"},
		"deep JSON":               {strings.NewReader(`{"log":{"x":` + strings.Repeat("[", 100_000)), recording.ErrNotRecording, "exceeded max depth"},
		"many nodes":              {repeated("- a\n", 200_000), recording.ErrTooLarge, "too many parts"},
		"nodes in a row":          {strings.NewReader("a: [" + strings.Repeat("b,", 20_000) + "]"), recording.ErrTooLarge, "too many parts"},
		"a large document":        {repeated("key: value\n", 1<<20), recording.ErrTooLarge, "larger than 262144 bytes"},
		"a large archive entry":   {io.MultiReader(strings.NewReader(`{"log":{"entries":[{"x":"`), repeated(manyA, 1<<27)), recording.ErrTooLarge, "a part of the document"},
		"a packed bomb":           {bytes.NewReader(bomb), recording.ErrTooLarge, "is larger than 262144 bytes"},
		"packed twice":            {bytes.NewReader(gzipped(t, gzipped(t, []byte("x")))), recording.ErrNotRecording, "packed twice"},
		"many conversations":      {strings.NewReader(manyConversations(t)), recording.ErrTooLarge, "more than 100 conversations"},
		"a trace without an end":  {io.MultiReader(strings.NewReader("httprr trace v1\n5 99999999\n"), repeated(manyA, 1<<27)), recording.ErrNotRecording, "line 2, interaction 1: the exchange is larger than 262144 bytes"},
		"a trace of nonsense":     {strings.NewReader("httprr trace v1\n5 -3\nx"), recording.ErrNotRecording, "line 2, interaction 1: the lengths of the next exchange should stand here"},
		"a value without an end":  {io.MultiReader(strings.NewReader("{\n\"a\": \""), repeated(manyA, 1<<27)), recording.ErrTooLarge, "a part of the document"},
		"many members":            {io.MultiReader(strings.NewReader("{\n"), repeated("\"a\": \""+manyA+"\",\n", 1<<27)), recording.ErrTooLarge, "a part of the document"},
		"a list without an end":   {io.MultiReader(strings.NewReader("[[\""), repeated(manyA, 1<<27)), recording.ErrTooLarge, "a part of the document"},
		"a list of nothing":       {strings.NewReader("[1,[2],\"x\",null]"), recording.ErrNotRecording, "only values that are no objects (4)"},
		"a reader that fails":     {io.MultiReader(strings.NewReader(transcript(t)), failing{}), recording.ErrUnreadable, "the disk is gone"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := recording.Open("hostile.yaml", c.r, small, nil)
			require.ErrorIs(t, err, c.kind)
			assert.ErrorContains(t, err, c.text)
			assert.ErrorContains(t, err, "hostile.yaml")
		})
	}
}

type failing struct{}

func (failing) Read([]byte) (int, error) { return 0, fmt.Errorf("the disk is gone") }

func manyConversations(t *testing.T) string {
	var lines []object
	for n := range 200 {
		l := said(1, "assistant", "m", object{"type": "text", "text": "x"})
		l["sessionId"] = fmt.Sprint("s", n)
		lines = append(lines, l)
	}
	return jsonLines(t, lines...)
}

func TestAPartThatIsTooLargeIsLeftOutAndTheRestIsRead(t *testing.T) {
	long := `{"type":"user","sessionId":"session-1","message":{"content":"` + strings.Repeat("a", 100_000) + "\"}}\n"
	rec, err := recording.Open("file", strings.NewReader(long+transcript(t)), small, nil)
	require.NoError(t, err)
	assert.Equal(t, []string{"too-large line 1: the line is longer than the limit and was left out"}, problems(rec))
	assert.Len(t, rec.Conversations[0].Turns, 3)

	bomb := vcrPy(t, textRequest, func(x httpExchange) object {
		return object{"body": object{"string": binaryNode(gzipped(t, append(x.response, bytes.Repeat([]byte(": \n"), 1<<19)...)))}}
	})
	rec, err = recording.Open("file", strings.NewReader(bomb), small, nil)
	require.ErrorIs(t, err, recording.ErrNotRecording, "nothing is left")
	require.Len(t, rec.Problems, 3)
	assert.Contains(t, problems(rec)[0], "too-large line 2, interaction 1: the response cannot be read: it decodes to more than the limit of 262144 bytes")
}

// The same through every content encoding a recorder keeps: what decodes to more than the
// limit is named, and what is cut off shows what there is.
func TestABombIsABombInEveryEncoding(t *testing.T) {
	for _, encoding := range []string{"br", "zstd", "deflate"} {
		bomb := vcrPy(t, textRequest, func(x httpExchange) object {
			body := packed(t, encoding, append(x.response, bytes.Repeat([]byte(": \n"), 1<<19)...))
			return object{"headers": object{"content-encoding": []string{encoding}}, "body": object{"string": binaryNode(body)}}
		})
		rec, err := recording.Open("file", strings.NewReader(bomb), small, nil)
		require.ErrorIs(t, err, recording.ErrNotRecording, encoding)
		require.Len(t, rec.Problems, 3, encoding)
		assert.Contains(t, problems(rec)[0], "it decodes to more than the limit of 262144 bytes", encoding)

		broken := vcrPy(t, textRequest, func(x httpExchange) object {
			body := packed(t, encoding, x.response)
			return object{"headers": object{"content-encoding": []string{encoding}}, "body": object{"string": binaryNode(body[:6])}}
		})
		rec, err = recording.Open("file", strings.NewReader(broken), small, nil)
		require.ErrorIs(t, err, recording.ErrNotRecording, encoding)
		assert.Contains(t, problems(rec)[0], "the response cannot be read", encoding)
	}
}

func TestABombOfAliasesIsNotWrittenOut(t *testing.T) {
	var b strings.Builder
	b.WriteString("a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n")
	for n := 1; n < 12; n++ {
		fmt.Fprintf(&b, "a%d: &a%d [%s*a%d]\n", n, n, strings.Repeat(fmt.Sprintf("*a%d,", n-1), 9), n-1)
	}
	_, err := recording.Open("file", strings.NewReader(b.String()), recording.Limits{}, nil)
	require.ErrorIs(t, err, recording.ErrTooLarge)

	item := "interactions:\n- request:\n    url: " + endpoint + "\n    x: " + strings.ReplaceAll(b.String(), "\n", "\n    ") + "\n  response: {}\n"
	rec, err := recording.Open("file", strings.NewReader(item), recording.Limits{}, nil)
	require.ErrorIs(t, err, recording.ErrNotRecording)
	assert.NotEmpty(t, rec.Problems)
}

func TestMemoryDoesNotGrowWithTheFile(t *testing.T) {
	heap := func() int64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	for name, text := range map[string]string{
		"transcript": transcript(t), "session log": sessionLog(t), "server-sent events": bareSSE(t), "an event a line": eventLines(t),
		"httpmock": httpMock(t) + "---\n", "go-vcr": goVCR(t, 1), "binary frames": bareFrames(t),
		"Converse, frames": converseBare(t), "formatted": formatted(t, transcript(t)),
	} {
		turns, early, late := 0, int64(0), int64(0)
		_, err := recording.Scan("file", repeated(text, int64(len(text)*400)), recording.Limits{}, recording.Handler{
			Turn: func(*recording.Conversation, *recording.Turn) error {
				switch turns++; turns {
				case 300:
					early = heap()
				case 1150:
					late = heap()
				}
				return nil
			},
		})
		require.NoError(t, err, name)
		assert.Equal(t, 1200, turns, name)
		assert.Less(t, late-early, int64(len(text)*850/3/10), "%s: a tenth of what was read", name)
	}
}
