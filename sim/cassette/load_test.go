package cassette_test

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gopkg.in/yaml.v3"
	"pgregory.net/rapid"

	"toolbench/sim/cassette"
)

// formatOne is a file as go-vcr v1 and v2 write it.
const formatOne = `---
version: 1
interactions:
- request:
    body: '{"model":"m","messages":[{"role":"user","content":"hi"}]}'
    form: {}
    headers:
      Accept:
      - application/json
    url: https://api.example.com/v1/messages
    method: POST
  response:
    body: |+
      event: ping
      data: {"type": "ping"}

    headers:
      Content-Type:
      - text/event-stream; charset=utf-8
      X-Toolbench-Event-Offsets:
      - "1500"
    status: 200 OK
    code: 200
    duration: ""
`

// formatTwo is a file as go-vcr v3 and v4 write it.
const formatTwo = `---
version: 2
interactions:
    - id: 0
      request:
        proto: HTTP/1.1
        proto_major: 1
        content_length: 2
        host: api.example.com
        body: '{}'
        url: https://api.example.com/v1/messages
        method: POST
      response:
        proto: HTTP/2.0
        content_length: -1
        uncompressed: true
        body: !!binary AAECAw==
        headers: {}
        status: 200 OK
        code: 200
        duration: 1.5s
`

func load(text string) (*cassette.Cassette, error) {
	return cassette.Load("c.yaml", strings.NewReader(text), cassette.Limits{})
}

func TestLoadReadsFormatOne(t *testing.T) {
	c, err := load(formatOne)
	require.NoError(t, err)
	require.Len(t, c.Interactions, 1)
	i := c.Interactions[0]
	assert.Equal(t, 1, c.Version)
	assert.Equal(t, 1, i.Number)
	assert.Equal(t, 4, i.Line)
	assert.Equal(t, "POST", i.Request.Method)
	assert.Equal(t, 200, i.Response.Code)
	assert.Zero(t, i.Response.Duration)
	assert.True(t, i.IsStream())
	events, err := i.Events()
	require.NoError(t, err)
	require.Len(t, events, 1)
	assert.Equal(t, 1500*time.Microsecond, events[0].At)
}

func TestLoadReadsFormatTwo(t *testing.T) {
	c, err := load(formatTwo)
	require.NoError(t, err)
	i := c.Interactions[0]
	assert.Equal(t, 2, c.Version)
	assert.Equal(t, "\x00\x01\x02\x03", i.Response.Body, "!!binary is decoded")
	assert.Equal(t, "200 OK", i.Response.Status)
	assert.Equal(t, 1500*ms, i.Response.Duration)
	assert.False(t, i.IsStream())
}

func TestLoadReadsEveryDuration(t *testing.T) {
	for text, want := range map[string]time.Duration{`""`: 0, "": 0, "0s": 0, "612.6ms": 612600 * time.Microsecond, "1m2s": 62 * time.Second} {
		c, err := load(strings.Replace(formatOne, `duration: ""`, "duration: "+text, 1))
		require.NoError(t, err, text)
		assert.Equal(t, want, c.Interactions[0].Response.Duration, text)
	}
	c, err := load(strings.Replace(formatOne, "    duration: \"\"\n", "", 1))
	require.NoError(t, err)
	assert.Zero(t, c.Interactions[0].Response.Duration)
}

// bomb is a few lines that stand for ten to the ninth nodes.
func bomb() string {
	var b strings.Builder
	b.WriteString("version: 1\na0: &a0 [x,x,x,x,x,x,x,x,x,x]\n")
	for i := range 9 {
		prev := "*a" + string(rune('0'+i))
		b.WriteString("a" + string(rune('1'+i)) + ": &a" + string(rune('1'+i)) + " [" + strings.TrimSuffix(strings.Repeat(prev+",", 10), ",") + "]\n")
	}
	return b.String() + "interactions: *a9\n"
}

func TestALoadErrorHasPlaceAndRemedy(t *testing.T) {
	edit := func(old, new string) string {
		require.Contains(t, formatOne, old)
		return strings.Replace(formatOne, old, new, 1)
	}
	cut := func(at string) string { return formatOne[:strings.Index(formatOne, at)+len(at)] }
	for name, c := range map[string]struct {
		text string
		kind error
		want string // how the message begins
	}{
		"empty":             {" \n\n", cassette.ErrEmpty, "c.yaml: is empty; restore it"},
		"only comments":     {"# nothing\n", cassette.ErrEmpty, "c.yaml: holds nothing but comments"},
		"binary":            {"version: 1\x00\xff", cassette.ErrBinary, "c.yaml: is a binary file, not YAML; name a"},
		"gzip":              {"\x1f\x8b\x08\x00", cassette.ErrBinary, "c.yaml: is compressed with gzip; unpack it"},
		"no interactions":   {"---\nversion: 1\ninteractions: []\n", cassette.ErrEmpty, "c.yaml:3:15: holds no interactions; record"},
		"null interactions": {"---\nversion: 1\ninteractions:\n", cassette.ErrEmpty, "c.yaml:3:14: holds no interactions"},
		"other YAML":        {"name: x\n", cassette.ErrNotCassette, "c.yaml:1:1: is not a go-vcr cassette: it has no list of interactions; name"},
		"a list":            {"- a\n", cassette.ErrNotCassette, "c.yaml:1:1: is not a go-vcr cassette"},
		"prose":             {"hello\n", cassette.ErrNotCassette, "c.yaml:1:1: is not a go-vcr cassette"},
		"Ruby VCR":          {"http_interactions: []\n", cassette.ErrNotCassette, "c.yaml:1:1: is not a go-vcr cassette: it has no list of interactions; it looks like Ruby VCR's"},
		"httpmock":          {"when: {}\nthen: {}\n---\nwhen: {}\nthen: {}\n", cassette.ErrNotCassette, "c.yaml:3:1: holds several YAML documents; it looks like httpmock's"},
		"vcrpy":             {"interactions:\n- request: {uri: x}\n  response: {status: {code: 200}}\nversion: 1\n", cassette.ErrNotCassette, "c.yaml:2:3: is not a go-vcr cassette: it looks like vcrpy's"},
		"a later version":   {edit("version: 1", "version: 3"), cassette.ErrInvalid, `c.yaml:2:10: has format version "3"; 1 and 2 are known`},
		"bad YAML":          {edit("    form: {}", "    form: {"), cassette.ErrSyntax, "c.yaml:6:5: is not valid YAML: did not find expected"},
		"an open list":      {edit("      - application/json", "      - [application/json"), cassette.ErrSyntax, "c.yaml:9:7: is not valid YAML: did not find expected ',' or ']'"},
		"a stray key":       {edit("    form: {}", "  form: {}"), cassette.ErrSyntax, "c.yaml:7:5: is not valid YAML"},
		"no such anchor":    {edit("    form: {}", "    form: *x"), cassette.ErrSyntax, "c.yaml:6:5: is not valid YAML: unknown anchor"},
		"a tab":             {edit("    form: {}", "\tform: {}"), cassette.ErrSyntax, "c.yaml:6:1: is not valid YAML"},
		"bad duration":      {edit(`duration: ""`, `duration: soon`), cassette.ErrInvalid, `c.yaml:24:15: the duration "soon" is none; write it like "1.5s"`},
		"negative duration": {edit(`duration: ""`, `duration: -1s`), cassette.ErrInvalid, `c.yaml:24:15: the duration "-1s" is none`},
		"bad code":          {edit("code: 200", "code: two"), cassette.ErrInvalid, "c.yaml:23:11: code cannot be read: cannot unmarshal !!str `two` into int; restore"},
		"no such status":    {edit("code: 200", "code: 20"), cassette.ErrInvalid, "c.yaml:13:5: 20 is no HTTP status"},
		"bad headers":       {edit("      Accept:\n      - application/json", "      - x"), cassette.ErrInvalid, "c.yaml:8:7: headers cannot be read"},
		"bad base64":        {strings.Replace(formatTwo, "AAECAw==", "'?'", 1), cassette.ErrInvalid, "c.yaml:17:15: body cannot be read"},
		"no url":            {edit("url: https://api.example.com/v1/messages", "url: ''"), cassette.ErrInvalid, "c.yaml:5:5: the request has no valid url"},
		"cut in a text":     {cut(`"content":"h`), cassette.ErrTruncated, "c.yaml:5:5: is cut off in the middle"},
		"cut in a body":     {cut("event: ping\n"), cassette.ErrTruncated, "c.yaml:13:5: the response of interaction 1 has no code: the file was cut off; restore"},
		"cut after a half":  {cut("method: POST\n"), cassette.ErrTruncated, "c.yaml:4:3: interaction 1 has no request and response: the file was cut off"},
		"an alias bomb":     {bomb(), cassette.ErrTooLarge, "c.yaml:"},
		"an alias loop":     {"interactions: &a [*a]\n", cassette.ErrTooLarge, "c.yaml:"},
		"deep nesting":      {"interactions: " + strings.Repeat("[", 200) + strings.Repeat("]", 200), cassette.ErrTooLarge, "c.yaml:1:115: is nested deeper than 100 levels"},
		"many keys":         {"interactions: [{request: {headers: {" + strings.Repeat("a: [], ", 1001) + "}}}]", cassette.ErrTooLarge, "c.yaml:1:36: has more than 1000 keys in one mapping"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := load(c.text)
			le, ok := errors.AsType[*cassette.LoadError](err)
			require.True(t, ok, "got %v", err)
			assert.ErrorIs(t, err, c.kind)
			assert.True(t, strings.HasPrefix(err.Error(), c.want), "got %s", err)
			assert.NotEmpty(t, le.Remedy)
		})
	}
}

// What is too large to be read again and again has its error in time, at the library's own line.
func TestTheErrorOfALargeFileTakesNoLongerThanItself(t *testing.T) {
	body := strings.Index(formatOne, "- request:")
	large := formatOne[:body] + strings.Repeat(formatOne[body:], 2<<20/len(formatOne[body:])) + "  x: [\n"
	began := time.Now()
	_, err := load(large)
	assert.ErrorContains(t, err, "did not find expected node content")
	once := time.Now()
	assert.Error(t, yaml.Unmarshal([]byte(large), new(yaml.Node)))
	assert.Less(t, once.Sub(began), 8*time.Since(once)+time.Second)
}

func TestLoadKeepsToItsLimits(t *testing.T) {
	_, err := cassette.Load("c.yaml", strings.NewReader(formatOne), cassette.Limits{Bytes: 100})
	assert.ErrorIs(t, err, cassette.ErrTooLarge)
	assert.EqualError(t, err, "c.yaml: is larger than the limit of 100 bytes; split it, or raise the limit")
	_, err = cassette.Load("c.yaml", strings.NewReader(formatOne), cassette.Limits{Bytes: int64(len(formatOne))})
	assert.NoError(t, err, "the limit itself is allowed")
	_, err = cassette.Load("c.yaml", strings.NewReader(formatOne), cassette.Limits{Nodes: 10})
	assert.ErrorIs(t, err, cassette.ErrTooLarge)
}

func TestAMissingFileIsAnErrorOfItsOwn(t *testing.T) {
	fsys := fstest.MapFS{"a/c.yaml": {Data: []byte(formatOne)}}
	c, err := cassette.LoadFile(fsys, "a/c.yaml", cassette.Limits{})
	require.NoError(t, err)
	assert.Equal(t, "a/c.yaml", c.Name)
	_, err = cassette.LoadFile(fsys, "a/d.yaml", cassette.Limits{})
	assert.ErrorIs(t, err, cassette.ErrMissing)
	assert.ErrorContains(t, err, "a/d.yaml: there is no such cassette")
	assert.ErrorContains(t, err, "record it first")
}

func TestLoadCountsTheBytesThatAliasesStandFor(t *testing.T) {
	text := "interactions: [x]\na: &a " + strings.Repeat("y", 1000) + "\nb: [" + strings.Repeat("*a,", 100) + "]\n"
	_, err := cassette.Load("c.yaml", strings.NewReader(text), cassette.Limits{Bytes: 50_000})
	assert.ErrorContains(t, err, "expands to more than 50000 bytes")
}

type broken struct{}

func (broken) Read([]byte) (int, error) { return 0, io.ErrClosedPipe }

func TestLoadReportsAReaderThatFails(t *testing.T) {
	_, err := cassette.Load("c.yaml", broken{}, cassette.Limits{})
	assert.ErrorIs(t, err, io.ErrClosedPipe)
}

func TestACutCassetteNeverGainsInteractions(t *testing.T) {
	for _, text := range []string{formatOne, formatTwo} {
		whole, err := load(text)
		require.NoError(t, err)
		rapid.Check(t, func(t *rapid.T) {
			c, err := load(text[:rapid.IntRange(0, len(text)-1).Draw(t, "cut")])
			if err != nil {
				_, ok := errors.AsType[*cassette.LoadError](err)
				assert.True(t, ok, "got %T", err)
				return
			}
			assert.Equal(t, whole.Interactions[0].Response.Body, c.Interactions[0].Response.Body)
		})
	}
}

func TestEventTimesMustFitTheBody(t *testing.T) {
	for _, offsets := range []string{"1,2", "x", "-1", "9223372036854775807", ","} {
		c, err := load(strings.Replace(formatOne, `"1500"`, `"`+offsets+`"`, 1))
		require.NoError(t, err)
		_, err = cassette.NewPlayer(c, cassette.Options{})
		assert.ErrorContains(t, err, "cassette c.yaml: interaction 1: X-Toolbench-Event-Offsets", offsets)
	}
}

// TestRealRecordingsLoad runs over recordings made by others, where present.
func TestRealRecordingsLoad(t *testing.T) {
	root := "../../../shared/corpus"
	files, err := filepath.Glob(filepath.Join(root, "*", "*.yaml"))
	require.NoError(t, err)
	if len(files) == 0 {
		t.Skip("no corpus of real recordings beside the repository")
	}
	var loaded, streams, events int
	for _, file := range files {
		c, err := cassette.LoadFile(os.DirFS(filepath.Dir(file)), filepath.Base(file), cassette.Limits{})
		if errors.Is(err, cassette.ErrNotCassette) {
			continue // another recorder's
		}
		require.NoError(t, err, file)
		loaded++
		for k := range c.Interactions {
			i := &c.Interactions[k]
			if !i.IsStream() {
				continue
			}
			es, err := i.Events()
			require.NoError(t, err, "%s interaction %d", file, i.Number)
			require.Equal(t, "message_start", es[0].Type, file)
			streams++
			events += len(es)
		}
		replayAll(t, c)
	}
	t.Logf("%d go-vcr files, %d streams, %d events", loaded, streams, events)
	assert.GreaterOrEqual(t, loaded, 10)
	assert.Positive(t, streams)
}

// replayAll sends a cassette's own requests and expects its own bodies.
func replayAll(t *testing.T, c *cassette.Cassette) {
	fast := player(t, c, cassette.Options{Wait: instantly})
	for _, i := range c.Interactions {
		resp, err := fast.RoundTrip(again(t, i))
		require.NoError(t, err)
		body, err := io.ReadAll(resp.Body)
		require.NoError(t, err)
		require.Equal(t, i.Response.Body, string(body))
		require.NoError(t, resp.Body.Close())
	}
	require.Empty(t, fast.Leftover())
}

func FuzzLoad(f *testing.F) {
	f.Add([]byte(formatOne))
	f.Add([]byte(formatTwo))
	f.Add([]byte(bomb()))
	f.Add([]byte("interactions:\n- &a {request: *a, response: *a}\n"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		c, err := load(string(raw))
		if err != nil {
			if _, ok := errors.AsType[*cassette.LoadError](err); !ok {
				t.Fatalf("%T: %v", err, err)
			}
			return
		}
		if len(c.Interactions) == 0 {
			t.Fatal("a cassette without interactions")
		}
		_, _ = cassette.NewPlayer(c, cassette.Options{})
	})
}
