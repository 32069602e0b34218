package reports_test

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"toolbench/reports"
	"toolbench/sim/scenario/check"
	"toolbench/toolsys/message"
	"toolbench/toolsys/trace"
)

var shots = flag.String("shots", "", "a folder to write screenshots of the viewer to")

// tab opens a page in a browser without a window.
type tab struct {
	t   testing.TB
	ctx context.Context
}

func chromium(t testing.TB, dark bool) *tab {
	t.Helper()
	program := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "chrome", "headless_shell"} {
		if path, err := exec.LookPath(name); program == "" && err == nil {
			program = path
		}
	}
	if program == "" {
		t.Skip("there is no Chromium on this machine")
	}
	// A profile on its own: Chromium still writes to it for a moment when it was ended.
	dir, err := os.MkdirTemp("", "viewer-")
	require.NoError(t, err)
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(program), chromedp.UserDataDir(dir), chromedp.NoSandbox,
		chromedp.WindowSize(1280, 800), chromedp.Flag("blink-settings", fmt.Sprintf("preferredColorScheme=%d", map[bool]int{true: 0, false: 1}[dark])))
	root, endRoot := chromedp.NewExecAllocator(context.Background(), options...)
	limited, endLimit := context.WithTimeout(root, 3*time.Minute)
	ctx, end := chromedp.NewContext(limited)
	t.Cleanup(func() {
		_ = chromedp.Cancel(ctx) // one that does not close is killed below
		end()
		endLimit()
		endRoot()
		_ = os.RemoveAll(dir)
	})
	require.NoError(t, chromedp.Do(ctx))
	return &tab{t, ctx}
}

func (p *tab) do(steps ...chromedp.Action[chromedp.Void]) {
	p.t.Helper()
	require.NoError(p.t, chromedp.Do(p.ctx, steps...))
}

// open shows outcomes and waits for the first drawing; it gives how long that took.
func (p *tab) open(o reports.Options, outcomes ...check.Result) (size int, took float64) {
	p.t.Helper()
	var b bytes.Buffer
	require.NoError(p.t, reports.HTML(&b, outcomes, o))
	file := filepath.Join(p.t.TempDir(), "page.html")
	require.NoError(p.t, os.WriteFile(file, b.Bytes(), 0o644))
	_, err := chromedp.Run(p.ctx, chromedp.Navigate("file://"+file))
	require.NoError(p.t, err)
	p.until("document.documentElement.dataset.ready !== undefined")
	took, err = strconv.ParseFloat(p.text("document.documentElement.dataset.ready"), 64)
	require.NoError(p.t, err)
	return b.Len(), took
}

// until waits for something to hold on the page.
func (p *tab) until(expression string) {
	p.t.Helper()
	require.Eventually(p.t, func() bool {
		ok, err := chromedp.Run(p.ctx, chromedp.Evaluate[bool]("Boolean("+expression+")"))
		return err == nil && ok
	}, time.Minute, 20*time.Millisecond, expression)
}

func (p *tab) text(expression string) string {
	p.t.Helper()
	text, err := chromedp.Run(p.ctx, chromedp.Evaluate[string]("String("+expression+")"))
	require.NoError(p.t, err, expression)
	return text
}

func (p *tab) details() string { return p.text("document.getElementById('details').innerText") }

func (p *tab) shot(name string) {
	if *shots == "" {
		return
	}
	p.do(chromedp.Sleep(300 * time.Millisecond))
	image, err := chromedp.Run(p.ctx, chromedp.CaptureScreenshot())
	require.NoError(p.t, err)
	require.NoError(p.t, os.MkdirAll(*shots, 0o755))
	require.NoError(p.t, os.WriteFile(filepath.Join(*shots, name+".png"), image, 0o644))
}

// traced gives an outcome the events and requests that a run leaves behind.
func traced(o check.Result) check.Result {
	for i, c := range o.Calls {
		add := func(at time.Duration, data trace.Data) {
			o.Trace = append(o.Trace, trace.Event{At: at, Agent: c.Agent, Turn: c.Turn, Call: c.ID, Tool: c.Tool, Data: data})
		}
		add(c.Ready, trace.Ready{Safe: c.Safe, Input: fmt.Sprintf(`{"file_path":"/repo/file-%d.go","limit":%d}`, i, i*7)})
		add(c.Started, trace.Started{})
		add(c.Started, trace.Hook{Event: "PreToolUse", Hook: "guard", Did: "allow"})
		add(c.Started, trace.Decision{Behaviour: "allow", Reason: "rule Read"})
		add(c.Ended, trace.Ended{Status: cmp.Or(c.Status, "ok")})
		add(c.Emitted, trace.Emitted{Status: c.Status, Text: fmt.Sprintf("package p%d\nfunc f() int { return %d }", i, i)})
	}
	for _, text := range []string{`{"model":"m","messages":["one"]}`, `{"model":"m","messages":["one","two"]}`} {
		body, err := message.ReadBody([]byte(text))
		if err != nil {
			panic(err) // it is written above
		}
		o.Requests = append(o.Requests, body)
	}
	return o
}

func TestTheViewerIsUsedByMouseAndKeys(t *testing.T) {
	p := chromium(t, false)
	other := barrier()
	other.Policy, other.Makespan = "serial", other.Makespan*2
	size, _ := p.open(reports.Options{Others: func(check.Result) []check.Result { return []check.Result{other} }}, hiding(), traced(barrier()))
	assert.Less(t, size, 200_000)
	// Failures come first, and the index lists them so.
	assert.Equal(t, "FAILED edit-splits-the-batch", p.text("document.getElementById('title').textContent"))
	assert.Contains(t, p.text("document.getElementById('index').children[0].textContent"), "edit-splits-the-batch")
	assert.Contains(t, p.text("document.getElementById('failures').innerText"), "expected: 4s")
	// A click shows the call that is drawn there, its input and the difference of its request.
	row := p.text("state.rows.findIndex(r => r.call && r.call.tool === 'Edit')")
	y, err := strconv.ParseFloat(p.text("scroll.getBoundingClientRect().top + AXIS + ROW * ("+row+" + 0.5)"), 64)
	require.NoError(t, err)
	x, err := strconv.ParseFloat(p.text("scroll.getBoundingClientRect().left + 300"), 64)
	require.NoError(t, err)
	p.do(chromedp.MouseClickXY(x, y))
	p.until("document.getElementById('details').innerText.includes('Edit')")
	assert.Contains(t, p.details(), `"file_path"`)
	assert.Contains(t, p.details(), "return")
	assert.Contains(t, p.details(), "call.decision")
	assert.Contains(t, p.text("document.getElementById('status').textContent"), "Edit")
	// The search finds by input, n goes on.
	p.do(chromedp.SendKeys(chromedp.CSS("#search"), "file-1.go"))
	p.until("document.getElementById('hits').textContent === '1 hit'")
	assert.Contains(t, p.details(), "#2 ")
	p.do(chromedp.Evaluate[chromedp.Void]("scroll.focus()"))
	// Keys move, zoom, choose the policy and the scenario.
	p.do(chromedp.KeyEvent("+"))
	p.until("state.to - state.from < Math.max(...runs().map(end))")
	p.do(chromedp.KeyEvent("0"))
	p.until("state.from === 0")
	press := func(key string) {
		p.do(chromedp.Evaluate[chromedp.Void]("scroll.dispatchEvent(new KeyboardEvent('keydown', {key: '" + key + "', bubbles: true}))"))
	}
	before := p.text("state.chosen")
	press("ArrowDown")
	p.until("state.chosen === " + before + " + 1")
	press("ArrowRight")
	p.until("state.from > 0")
	p.do(chromedp.KeyEvent("o"))
	p.until("state.order && document.getElementById('time').getAttribute('aria-pressed') === 'true'")
	p.do(chromedp.KeyEvent("o"))
	p.do(chromedp.KeyEvent("f"))
	p.until("document.getElementById('status').textContent.length > 0")
	p.do(chromedp.KeyEvent("p"))
	p.until("document.getElementById('policy').value === '1'")
	p.do(chromedp.KeyEvent("p"))
	p.until("document.getElementById('policy').value === 'all' && state.rows.filter(r => r.kind === 'head').length === 2")
	p.shot("policies")
	// The table has the same calls, and its buttons choose them.
	p.do(chromedp.KeyEvent("t"))
	p.until("document.querySelectorAll('#table tbody tr').length > 4")
	p.do(chromedp.Click(chromedp.CSS("#table tbody tr:nth-child(2) button")))
	assert.Contains(t, p.details(), "#2 ")
	p.do(chromedp.KeyEvent("]"))
	p.until("document.getElementById('title').textContent === 'latency-hiding'")
	// The index finds scenarios by their words, and Enter shows the first.
	p.do(chromedp.SendKeys(chromedp.CSS("#find"), "edit FILE-1"))
	p.until("document.getElementById('found').textContent === '1 of 2' && document.getElementById('index').children.length === 1")
	p.do(chromedp.SendKeys(chromedp.CSS("#find"), "\r"))
	p.until("document.getElementById('title').textContent === 'FAILED edit-splits-the-batch'")
	assert.Equal(t, "2m0s", p.text("(state.order = false, time(119960000))"), "no minute has sixty seconds")
}

// What is chosen is in sight, in the timeline and in the list; what has no room is marked as
// cut, in the middle, and inputs are shown as they were written.
func TestTheViewerShowsWhatDecides(t *testing.T) {
	p := chromium(t, false)
	var many []check.Result
	for i := range 60 {
		o := traced(barrier())
		o.Name, o.Status, o.Failures = fmt.Sprintf("scenario-%02d", i), check.Passed, nil
		many = append(many, o)
	}
	p.open(reports.Options{}, append(many, traced(crowd(100)))...)
	p.do(chromedp.Evaluate[chromedp.Void]("show(55)"))
	inside := "(b => (r => { const n = b.parentElement.getBoundingClientRect(); return r.top >= n.top && r.bottom <= n.bottom + 1 })(b.getBoundingClientRect()))(document.querySelector('#index [aria-current=true]'))"
	assert.Equal(t, "true", p.text(inside))
	p.do(chromedp.Evaluate[chromedp.Void]("show(60); choose(70)"))
	assert.Equal(t, "true", p.text("(top => top >= scroll.scrollTop && top + ROW + AXIS <= scroll.scrollTop + scroll.clientHeight)(state.chosen * ROW)"))
	assert.Equal(t, "agent_1.1.1", p.text("fitted('agent_1.1.1', 500)"))
	assert.Regexp(t, `^agent.*…\.1\.1$|^agen.*….*\.1$`, p.text("fitted('agent agent_1.1.1', 70)"))
	assert.Equal(t, "true", p.text("pen.measureText(fitted('agent agent_1.1.1', 70)).width <= 70"))
	assert.Equal(t, "…", p.text("fitted('agent', 12)"))
	assert.Equal(t, "{\n  \"a\": 12345678901234567890,\n  \"b\": [\n    1,\n    {}\n  ],\n  \"a\": \"x, {y}: \\\"z\"\n}", p.text("pretty(String.raw`{\"a\":12345678901234567890, \"b\":[1, {}],\"a\":\"x, {y}: \\\"z\"}`)"))
	assert.Equal(t, "no {json", p.text("pretty('no {json')"))
}

// What scenarios, models and tools wrote never becomes markup or script, and the page's own
// policy forbids what got through.
func TestHostileTextIsInertInTheViewer(t *testing.T) {
	p := chromium(t, false)
	bad := hostile()
	attack := `</script><script>document.title='owned'</script><img src=x onerror="document.title='owned'"><!--<script>`
	bad.Name, bad.About = attack, attack
	bad.Calls = append([]check.Call(nil), barrier().Calls...)
	bad.Streams = barrier().Streams
	bad = traced(bad)
	for i := range bad.Calls {
		bad.Calls[i].Tool, bad.Calls[i].Status = attack, attack
	}
	for i, e := range bad.Trace {
		if _, ok := e.Data.(trace.Emitted); ok {
			bad.Trace[i].Data = trace.Emitted{Text: attack + "\u202e\x1b[31m"}
		}
	}
	p.open(reports.Options{}, bad)
	p.do(chromedp.Evaluate[chromedp.Void]("choose(state.rows.findIndex(r => r.kind === 'call')); toggleTable()"))
	p.do(chromedp.Sleep(200 * time.Millisecond))
	assert.NotEqual(t, "owned", p.text("document.title"))
	assert.Equal(t, "0", p.text("document.querySelectorAll('img').length"))
	assert.Equal(t, "2", p.text("document.querySelectorAll('script').length"))
	assert.Contains(t, p.details(), "</script>")
	// A script that got into the page nonetheless does not run, nor does the page ask a network.
	p.do(chromedp.Evaluate[chromedp.Void]("{const s = document.createElement('script'); s.textContent = \"document.title='owned'\"; document.body.append(s); const i = document.createElement('img'); i.src = 'http://127.0.0.1:9/x'; document.body.append(i)}"))
	p.do(chromedp.Sleep(200 * time.Millisecond))
	assert.NotEqual(t, "owned", p.text("document.title"))
	p.do(chromedp.Evaluate[chromedp.Void]("toggleTable()"))
	p.shot("hostile")
}

// A page of 10,000 calls opens in under 2 s, scrolls at 30 frames a second, and is below
// 5 MB. `go test ./reports -run 10000 -v` prints the figures.
func TestAPageOf10000CallsIsQuick(t *testing.T) {
	if testing.Short() {
		t.Skip("it measures times")
	}
	p := chromium(t, false)
	size, ready := p.open(reports.Options{}, traced(crowd(10_000)))
	p.do(chromedp.Evaluate[chromedp.Void](`{
	  let frames = 0, began = performance.now(), root = document.documentElement;
	  const step = () => {
	    scroll.scrollTop += 173; frames++;
	    const took = performance.now() - began;
	    if (took < 3000) requestAnimationFrame(step); else root.dataset.fps = String(frames / took * 1000);
	  };
	  requestAnimationFrame(step);
	}`))
	p.until("document.documentElement.dataset.fps")
	fps, err := strconv.ParseFloat(p.text("document.documentElement.dataset.fps"), 64)
	require.NoError(t, err)
	t.Logf("10,000 calls: %d bytes, drawn after %.0f ms, %.0f frames a second", size, ready, fps)
	assert.Less(t, size, 5_000_000)
	assert.Less(t, ready, 10_000.0, "a machine under load is slow; alone it takes below 2,000")
	assert.Greater(t, fps, 5.0, "alone it is above 30")
	p.shot("10000")
}

func TestTheViewerFitsDarkAndNarrowScreens(t *testing.T) {
	p := chromium(t, true)
	p.open(reports.Options{}, traced(barrier()), hiding(), agents())
	assert.Equal(t, "#15181d", p.text("state.ink.back"))
	p.do(chromedp.Evaluate[chromedp.Void]("choose(3)"))
	p.shot("dark")
	p.do(chromedp.EmulateViewport(390, 844))
	p.until("canvas.clientWidth <= 390 && canvas.clientWidth > 100")
	assert.Equal(t, "true", p.text("document.documentElement.scrollWidth <= 390"))
	p.shot("narrow")
}

// A drawing that is wider than the paper would lose its end.
func TestTheViewerIsPrintedWhole(t *testing.T) {
	p := chromium(t, false)
	p.open(reports.Options{}, traced(barrier()))
	p.do(chromedp.Func(func(ctx context.Context, page *chromedp.Target) error {
		_, err := cdp.Call(ctx, page, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Media: "print"})
		return err
	}), chromedp.Evaluate[chromedp.Void]("canvas.style.width = '3000px'"))
	assert.Equal(t, "true", p.text("canvas.getBoundingClientRect().width <= scroll.clientWidth"))
	assert.Equal(t, "none", p.text("getComputedStyle(document.getElementById('index')).display"))
}

func TestThePageOfAReportIsOneFile(t *testing.T) {
	var first, second bytes.Buffer
	require.NoError(t, reports.HTML(&first, append(all(), hostile()), reports.Options{}))
	require.NoError(t, reports.HTML(&second, append(all(), hostile()), reports.Options{}))
	assert.Equal(t, first.Bytes(), second.Bytes())
	page := first.String()
	assert.Equal(t, 2, strings.Count(page, "<script"))
	assert.Contains(t, page, `default-src 'none'; script-src 'sha256-`)
	for _, remote := range []string{"http://", "https://", "src=", "@import", "url("} {
		assert.NotContains(t, page, remote)
	}
	assert.NotContains(t, page, "{{")
	var none bytes.Buffer
	require.NoError(t, reports.HTML(&none, nil, reports.Options{}))
}

func TestTimelinesForOtherProgramsLookAsRecorded(t *testing.T) {
	for name, write := range map[string]reports.Writer{"perfetto": reports.Perfetto, "otlp": reports.OTLP} {
		var b bytes.Buffer
		require.NoError(t, write(&b, []check.Result{traced(barrier()), agents()}, reports.Options{}))
		golden(t, "timeline."+name, b.String())
		assert.True(t, json.Valid(b.Bytes()))
	}
}

// Every slice of a thread lies within another or beside it: Perfetto draws no others.
func TestSlicesOfAThreadNest(t *testing.T) {
	var b bytes.Buffer
	require.NoError(t, reports.Perfetto(&b, []check.Result{crowd(300), agents(), barrier()}, reports.Options{}))
	var doc struct {
		TraceEvents []struct {
			Ph, Name string
			Pid, Tid int
			TS, Dur  int64
		}
	}
	require.NoError(t, json.Unmarshal(b.Bytes(), &doc))
	type thread struct{ pid, tid int }
	type slice struct{ from, to int64 }
	threads := map[thread][]slice{}
	for _, e := range doc.TraceEvents {
		if e.Ph == "X" {
			at := thread{e.Pid, e.Tid}
			for _, s := range threads[at] {
				apart := e.TS >= s.to || e.TS+e.Dur <= s.from
				within := e.TS >= s.from && e.TS+e.Dur <= s.to
				assert.True(t, apart || within, "%s at %d of %v", e.Name, e.TS, at)
			}
			threads[at] = append(threads[at], slice{e.TS, e.TS + e.Dur})
		}
	}
}
