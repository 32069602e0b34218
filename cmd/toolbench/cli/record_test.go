package cli_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	"toolbench/cmd/toolbench/cli"
)

const recordKey = "test-Zx8Kq2Lm9Pw4Rt7Yv1Bn5"

// upstream is a Messages API that answers from a script, a step a request.
type upstream struct {
	*httptest.Server
	mu    sync.Mutex
	steps []func(w http.ResponseWriter, r *http.Request)
	asked []string
}

func newUpstream(t *testing.T, steps ...func(http.ResponseWriter, *http.Request)) *upstream {
	t.Helper()
	u := &upstream{steps: steps}
	u.Server = httptest.NewServer(http.HandlerFunc(u.serve))
	t.Cleanup(u.Close)
	return u
}

func (u *upstream) serve(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	u.mu.Lock()
	u.asked = append(u.asked, string(body))
	n := len(u.asked)
	u.mu.Unlock()
	if r.Header.Get("X-Api-Key") != recordKey {
		refuse(401, "authentication_error", "invalid x-api-key")(w, r)
		return
	}
	if n > len(u.steps) {
		refuse(400, "invalid_request_error", "the script is over")(w, r)
		return
	}
	u.steps[n-1](w, r)
}

func (u *upstream) requests() int {
	u.mu.Lock()
	defer u.mu.Unlock()
	return len(u.asked)
}

func refuse(status int, kind, text string) func(http.ResponseWriter, *http.Request) {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Retry-After", "0")
		w.WriteHeader(status)
		fmt.Fprintf(w, `{"type":"error","error":{"type":%q,"message":%q}}`, kind, text)
	}
}

// streams sends events one by one; a cut one breaks the connection off.
func streams(cut bool, events ...string) func(http.ResponseWriter, *http.Request) {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		for _, e := range events {
			fmt.Fprintf(w, "event: %s\ndata: %s\n\n", gjson.Get(e, "type").Str, e)
			w.(http.Flusher).Flush()
			time.Sleep(time.Millisecond)
		}
		if cut {
			panic(http.ErrAbortHandler)
		}
	}
}

const began = `{"type":"message_start","message":{"id":"m","type":"message","role":"assistant","model":"m","content":[],"usage":{"input_tokens":10,"cache_read_input_tokens":3,"output_tokens":1}}}`

func says(parts ...string) []string {
	out := []string{began, `{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`}
	for _, p := range parts {
		out = append(out, fmt.Sprintf(`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":%q}}`, p))
	}
	return append(out, stopped("end_turn")...)
}

func stopped(why string) []string {
	return []string{`{"type":"content_block_stop","index":0}`, fmt.Sprintf(`{"type":"message_delta","delta":{"stop_reason":%q},"usage":{"output_tokens":5}}`, why), `{"type":"message_stop"}`}
}

func calls(id, tool, input string) []string {
	half := len(input) / 2
	return append([]string{began, fmt.Sprintf(`{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":%q,"name":%q,"input":{}}}`, id, tool),
		fmt.Sprintf(`{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":%q}}`, input[:half]),
		fmt.Sprintf(`{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":%q}}`, input[half:])}, stopped("tool_use")...)
}

// workdir is a working directory with a key, and what the last command line printed.
type workdir struct {
	t         *testing.T
	dir       string
	out, errs string
	stdin     string
}

func newWorkdir(t *testing.T) *workdir {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	return &workdir{t: t, dir: dir}
}

func (d *workdir) run(ctx context.Context, args ...string) int {
	var out, errs bytes.Buffer
	p := cli.Process{Args: args, Dir: d.dir, Env: []string{"ANTHROPIC_API_KEY=" + recordKey}, Stdout: &out, Stderr: &errs, Stdin: strings.NewReader(d.stdin), Interactive: d.stdin != ""}
	code := cli.Main(ctx, p, cli.Scenarios())
	d.out, d.errs = out.String(), errs.String()
	return code
}

func (d *workdir) read(name string) string {
	d.t.Helper()
	b, err := os.ReadFile(filepath.Join(d.dir, name))
	require.NoError(d.t, err)
	return string(b)
}

func (d *workdir) has(name string) bool {
	_, err := os.Stat(filepath.Join(d.dir, name))
	return err == nil
}

// A session with the disk is recorded without the key, though the model and a file
// tell it, and is replayed from the files alone.
func TestASessionIsRecordedAndReplayed(t *testing.T) {
	d := newWorkdir(t)
	require.NoError(t, os.WriteFile(filepath.Join(d.dir, "a.txt"), []byte("the key is "+recordKey+"\n"), 0o644))
	edit := fmt.Sprintf(`{"file_path":%q,"content":"new\n"}`, filepath.Join(d.dir, "b.txt"))
	u := newUpstream(t, refuse(529, "overloaded_error", "Overloaded"),
		streams(false, calls("toolu_1", "Read", fmt.Sprintf(`{"file_path":%q}`, filepath.Join(d.dir, "a.txt")))...),
		streams(false, calls("toolu_2", "Write", edit)...),
		streams(false, says("It says ", recordKey[:9], recordKey[9:], ".")...))
	d.stdin = "what?\ny\n"
	code := d.run(t.Context(), "record", "--prompt", "What is in a.txt?", "--tools", "disk", "--out", "say.yaml", "--mode", "once", "--base-url", u.URL, "--format", "json")
	require.Equal(t, cli.ExitHeld, code, d.errs)
	assert.Contains(t, d.errs, "the API answered 529; trying again")
	assert.Contains(t, d.errs, "Write wants to run")
	assert.False(t, d.has("b.txt"), "nothing is written to the disk unless it is asked for")
	report := gjson.Parse(d.out)
	assert.EqualValues(t, 3, report.Get("turns").Int())
	assert.EqualValues(t, 2, report.Get("calls").Int())
	assert.EqualValues(t, 3, report.Get("recorded").Int())
	assert.EqualValues(t, 30, report.Get("usage.input_tokens").Int())
	assert.EqualValues(t, 15, report.Get("usage.output_tokens").Int())
	assert.Positive(t, report.Get("blanked.#").Int())
	fits(t, output(t, "record", "--schema"), []byte(d.out))
	for _, file := range []string{"say.yaml", "say.scenario.yaml"} {
		assert.NotContains(t, d.read(file), recordKey)
	}
	assert.Equal(t, "say.scenario.yaml", report.Get("scenario").Str)
	assert.NotContains(t, d.read("say.scenario.yaml"), "lenient", d.errs)
	assert.Contains(t, d.read("say.scenario.yaml"), "  called: # the calls as the model made them\n    - {id: \"toolu_1\", tool: \"Read\",")
	assert.Equal(t, cli.ExitHeld, d.run(t.Context(), "run", "say.scenario.yaml"), d.out+d.errs)

	asked := u.requests()
	for _, mode := range []string{"replay-only", "once", "new-episodes"} {
		code := d.run(t.Context(), "record", "say.scenario.yaml", "--mode", mode, "--base-url", u.URL)
		assert.Equal(t, cli.ExitHeld, code, "%s: %s", mode, d.errs)
		assert.Contains(t, d.out, "3 answers replayed from say.yaml; the network was not used")
	}
	assert.Equal(t, asked, u.requests())
}

func TestNewEpisodesAreRecordedBehindTheOld(t *testing.T) {
	d := newWorkdir(t)
	u := newUpstream(t, streams(false, says("one")...), streams(false, says("two")...), streams(false, says("three")...))
	for _, words := range []string{"first", "second", "first"} {
		require.Equal(t, cli.ExitHeld, d.run(t.Context(), "record", "--prompt", words, "--out", "c.yaml", "--mode", "new-episodes", "--base-url", u.URL), d.errs)
		if words == "second" {
			assert.Contains(t, d.errs, "does not replay the session as it stands", "it asks for one of two")
			assert.NotContains(t, d.out, "replays it")
		}
	}
	assert.Equal(t, 2, u.requests(), "the third was there already")
	assert.Equal(t, 2, strings.Count(d.read("c.yaml"), "- request:"))
	assert.Contains(t, d.out, "Not asked for")
	require.NoError(t, os.WriteFile(filepath.Join(d.dir, "c.scenario.yaml"), []byte("# edited"), 0o600))
	require.Equal(t, cli.ExitHeld, d.run(t.Context(), "record", "--prompt", "first", "--out", "c.yaml", "--mode", "all", "--base-url", u.URL), d.errs)
	assert.Equal(t, 1, strings.Count(d.read("c.yaml"), "- request:"), "all records anew")
	assert.Equal(t, "# edited", d.read("c.scenario.yaml.bak"), "nothing that somebody wrote is lost")
	assert.Contains(t, d.errs, "what stood in c.scenario.yaml is kept in c.scenario.yaml.bak")
}

func TestWhatIsNotInTheCassetteIsSaid(t *testing.T) {
	d := newWorkdir(t)
	u := newUpstream(t, streams(false, says("one")...))
	require.Equal(t, cli.ExitHeld, d.run(t.Context(), "record", "--prompt", "first", "--out", "c.yaml", "--mode", "once", "--base-url", u.URL), d.errs)
	assert.Equal(t, cli.ExitFailed, d.run(t.Context(), "record", "--prompt", "other", "--out", "c.yaml", "--base-url", u.URL))
	assert.Contains(t, d.errs, "cassette")
	assert.Contains(t, d.out, "Missing")
	assert.Equal(t, 1, u.requests(), "the default never uses the network")
}

// A session that fails leaves the old cassette as it was.
func TestFailuresAreToldApart(t *testing.T) {
	closed := httptest.NewServer(nil)
	closed.Close()
	for name, c := range map[string]struct {
		step    func(http.ResponseWriter, *http.Request)
		base    string
		code    int
		says    string
		partial bool
	}{
		"no time":        {step: refuse(429, "rate_limit_error", "slow down"), code: cli.ExitHarness, says: "429 rate_limit_error: slow down; try again later"},
		"bad request":    {step: refuse(400, "invalid_request_error", "no such model"), code: cli.ExitUsage, says: "400 invalid_request_error: no such model"},
		"wrong key":      {step: refuse(401, "authentication_error", "invalid x-api-key"), code: cli.ExitUsage, says: "check the key in ANTHROPIC_API_KEY"},
		"cut stream":     {step: streams(true, says("one")[:3]...), code: cli.ExitHarness, says: "what was recorded is in c.partial.yaml", partial: true},
		"no server":      {base: closed.URL, code: cli.ExitUsage, says: "cannot be reached"},
		"no address":     {base: "localhost:80", code: cli.ExitUsage, says: "is no address of an API"},
		"not encrypted":  {base: "http://example.com", code: cli.ExitUsage, says: "unencrypted"},
		"holds a secret": {base: "https://u:p@example.com", code: cli.ExitUsage, says: "holds credentials"},
	} {
		t.Run(name, func(t *testing.T) {
			d := newWorkdir(t)
			require.NoError(t, os.WriteFile(filepath.Join(d.dir, "c.yaml"), []byte("old"), 0o644))
			base := c.base
			if c.step != nil {
				base = newUpstream(t, c.step, c.step, c.step).URL
			}
			code := d.run(t.Context(), "record", "--prompt", "x", "--out", "c.yaml", "--mode", "all", "--base-url", base)
			assert.Equal(t, c.code, code, d.errs)
			assert.Contains(t, d.errs, c.says)
			assert.NotContains(t, d.errs+d.out, recordKey)
			assert.Equal(t, "old", d.read("c.yaml"))
			assert.Equal(t, c.partial, d.has("c.partial.yaml"))
			assert.False(t, d.has("c.recording.yaml"), "nothing is left beside it")
		})
	}
}

func TestAnInterruptedSessionIsKept(t *testing.T) {
	d := newWorkdir(t)
	ctx, cancel := context.WithCancel(t.Context())
	u := newUpstream(t, streams(false, calls("toolu_1", "Sleep", `{"duration_ms":1}`)...), func(_ http.ResponseWriter, r *http.Request) {
		cancel()
		<-r.Context().Done()
	})
	assert.Equal(t, cli.ExitInterrupted, d.run(ctx, "record", "--prompt", "x", "--out", "c.yaml", "--mode", "all", "--base-url", u.URL), d.errs)
	assert.Contains(t, d.errs, "interrupted; what was recorded is in c.partial.yaml")
	assert.True(t, strings.HasPrefix(d.read("c.partial.yaml"), "# This recording is partial: "))
	assert.False(t, d.has("c.yaml"))
}

func TestRecordExplainsWhatIsMissing(t *testing.T) {
	d := newWorkdir(t)
	require.NoError(t, os.Mkdir(filepath.Join(d.dir, "folder.yaml"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(d.dir, "file"), nil, 0o644))
	for says, args := range map[string][]string{
		"name one scenario":                        {},
		"exclude each other":                       {"partition-headline", "--prompt", "x"},
		"with --out FILE.yaml":                     {"--prompt", "x"},
		"names no cassette of its own":             {"partition-headline"},
		"ends in .yaml":                            {"--prompt", "x", "--out", "c.txt"},
		"it is no file":                            {"--prompt", "x", "--out", "folder.yaml"},
		"no file and no scenario":                  {"nothing-like-it"},
		"a scenario has these under world":         {"partition-headline", "--model", "m"},
		"no such cassette":                         {"--prompt", "x", "--out", "new.yaml"},
		"is no value for --mode":                   {"--prompt", "x", "--mode", "sometimes"},
		"use replay-only, once, new-episodes, all": {"--prompt", "x", "--mode", "sometimes"},
		"--write goes with":                        {"--prompt", "x", "--out", "c.yaml", "--write"},
		"--root nowhere":                           {"--prompt", "x", "--out", "c.yaml", "--tools", "disk", "--root", "nowhere"},
		"set NO_KEY":                               {"--prompt", "x", "--out", "c.yaml", "--mode", "once", "--key-env", "NO_KEY"},
		"write default, plan":                      {"--prompt", "x", "--out", "c.yaml", "--permission-mode", "yolo"},
		"file/c.yaml cannot be recorded":           {"--prompt", "x", "--out", "file/c.yaml", "--mode", "all", "--base-url", "http://127.0.0.1:1"},
	} {
		assert.Equal(t, cli.ExitUsage, d.run(t.Context(), append([]string{"record"}, args...)...), says)
		assert.Contains(t, d.errs, says)
	}
}

// An API on this machine is recorded without a key; nothing is blanked for want of one.
func TestAnAPIOnThisMachineNeedsNoKey(t *testing.T) {
	d := newWorkdir(t)
	u := httptest.NewServer(http.HandlerFunc(streams(false, says("none of it")...)))
	t.Cleanup(u.Close)
	require.Equal(t, cli.ExitHeld, d.run(t.Context(), "record", "--prompt", "x", "--out", "c.yaml", "--mode", "once", "--key-env", "NO_KEY", "--base-url", u.URL), d.errs)
	assert.Contains(t, d.read("c.yaml"), "none of it")
	// A request that the cassette lacks is named in a line; its difference is the error's.
	assert.Equal(t, 1, d.run(t.Context(), "record", "--prompt", "y", "--out", "c.yaml"))
	assert.Contains(t, d.out, "is nearest (99 % alike)")
	assert.NotContains(t, d.out, `\n`)
	assert.Contains(t, d.errs, "+++ this request")
}

// Nobody at the terminal: what needs permission is refused, unless a rule allows it.
func TestWithoutAPersonRulesDecide(t *testing.T) {
	for _, allowed := range []bool{false, true} {
		d := newWorkdir(t)
		file := filepath.Join(d.dir, "b.txt")
		u := newUpstream(t, streams(false, calls("toolu_1", "Write", fmt.Sprintf(`{"file_path":%q,"content":"new\n"}`, file))...), streams(false, says("ok")...))
		args := []string{"record", "--prompt", "x", "--tools", "disk", "--write", "--out", "c.yaml", "--mode", "all", "--base-url", u.URL}
		if allowed {
			args = append(args, "--allow", "Write")
		}
		require.Equal(t, cli.ExitHeld, d.run(t.Context(), args...), d.errs)
		assert.Equal(t, allowed, d.has("b.txt"))
	}
}

// The server that replays is one to record from.
func TestRecordFromServe(t *testing.T) {
	d := newWorkdir(t)
	u := newUpstream(t, streams(false, says("one")...))
	require.Equal(t, cli.ExitHeld, d.run(t.Context(), "record", "--prompt", "hello", "--out", "c.yaml", "--mode", "all", "--base-url", u.URL), d.errs)
	s := serveBeside(t, filepath.Join(d.dir, "c.yaml"), "--exit-when-done")
	require.Equal(t, cli.ExitHeld, d.run(t.Context(), "record", "--prompt", "hello", "--out", "d.yaml", "--mode", "all", "--base-url", s.url), d.errs)
	assert.Contains(t, d.out, "1 answer recorded in d.yaml")
	_, err := net.ResolveTCPAddr("tcp", strings.TrimPrefix(s.url, "http://"))
	require.NoError(t, err)
}

// Times that were recorded are not those of the script: the command names what no longer
// holds, and the ways out work.
func TestRecordNamesExpectationsThatTheNewTimesBreak(t *testing.T) {
	d := newWorkdir(t)
	u := newUpstream(t, streams(false, says("Hello.")...))
	const file = "name: timed\nabout: It is timed.\nprompt: Hi\nworld: {only: []}\nstream: {cassette: timed.cassette.yaml}\nexpect: {makespan: 1h}\n"
	require.NoError(t, os.WriteFile(filepath.Join(d.dir, "timed.yaml"), []byte(file), 0o600))
	require.Equal(t, cli.ExitHeld, d.run(t.Context(), "record", "timed.yaml", "--mode", "once", "--base-url", u.URL), d.errs)
	assert.Contains(t, d.errs, "not all expectations hold for what was recorded: 1 do not; the first: makespan: expected 1h, found ")
	assert.Equal(t, cli.ExitFailed, d.run(t.Context(), "run", "timed.yaml"))
	assert.Equal(t, cli.ExitHeld, d.run(t.Context(), "run", "--update", "timed.yaml"), d.errs)
	require.NoError(t, os.WriteFile(filepath.Join(d.dir, "timed.yaml"), []byte(strings.Replace(file, "{cassette", "{tolerance: 1h, cassette", 1)), 0o600))
	assert.Equal(t, cli.ExitHeld, d.run(t.Context(), "run", "timed.yaml"), d.errs)
}
