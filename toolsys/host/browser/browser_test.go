package browser_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"toolbench/toolsys/builtin/web"
	"toolbench/toolsys/host/browser"
	"toolbench/toolsys/message"
	"toolbench/toolsys/tool"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const form = `<!doctype html><title>Form</title><h1>Hello</h1>
<form action="/sent"><input name="who" value="old"></form><button onclick="document.querySelector('h1').textContent='Clicked'">go</button>
<a id="away" href="AWAY">away</a><div id="late"></div><script>setTimeout(() => late.innerHTML = '<b id=came>came</b>', 200)</script>`

// The tool and a real browser, on pages of this process.
func TestARealBrowserIsDriven(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	b, err := browser.New(browser.Config{Wait: 2 * time.Second})
	if err != nil {
		require.ErrorIs(t, err, browser.ErrNone)
		t.Skip(err)
	}
	closed := false
	defer func() {
		if !closed {
			b.Close()
		}
	}()
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "<p>secret</p>") }))
	defer other.Close()
	away := strings.Replace(other.URL, "127.0.0.1", "localhost", 1)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		switch r.URL.Path {
		case "/":
			io.WriteString(w, strings.Replace(form, "AWAY", away, 1))
		case "/sent":
			io.WriteString(w, "<title>Sent</title><p>got "+r.FormValue("who")+"</p>")
		case "/asks":
			io.WriteString(w, "<title>?</title><script>document.title = 'answered ' + confirm('Well?'); onbeforeunload = e => e.preventDefault()</script>")
		case "/loops":
			io.WriteString(w, "<script>setTimeout(() => { for (;;) {} }, 100)</script>")
		case "/hangs":
			<-r.Context().Done()
		}
	}))
	defer server.Close()
	w := web.WebBrowser(b)
	do := func(ctx context.Context, members map[string]any) (tool.Output, error) {
		t.Helper()
		raw, err := json.Marshal(members)
		require.NoError(t, err)
		in, problems := w.Parse(raw)
		require.Empty(t, problems)
		return w.Call(ctx, in, &tool.Context{})
	}
	text := func(members map[string]any) string {
		t.Helper()
		out, err := do(t.Context(), members)
		require.NoError(t, err)
		return message.PlainText(out.Blocks)
	}
	open := map[string]any{"action": "navigate", "url": server.URL + "/"}
	assert.Contains(t, text(open), "(Form)\n\n# Hello")
	text(map[string]any{"action": "click", "selector": "button"})
	assert.Contains(t, text(map[string]any{"action": "read"}), "# Clicked", "the page's own script ran")
	text(map[string]any{"action": "click", "selector": "#came"})
	assert.Contains(t, text(map[string]any{"action": "read", "format": "html"}), `<b id="came">came</b>`, "what comes late is waited for")
	assert.Contains(t, text(map[string]any{"action": "evaluate", "script": "({a: 1+1})"}), `{"a":2}`)
	for _, full := range []bool{false, true} {
		out, err := do(t.Context(), map[string]any{"action": "screenshot", "full_page": full})
		require.NoError(t, err)
		assert.Equal(t, "\x89PNG", string(out.Data.(web.BrowserOut).PNG[:4]))
		assert.Equal(t, message.TypeImage, out.Blocks[0].Type)
	}
	assert.Contains(t, text(map[string]any{"action": "type", "selector": "input", "text": "Ada", "submit": true}), "/sent?who=Ada (Sent)")
	assert.Contains(t, text(map[string]any{"action": "read"}), "got Ada")

	text(open)
	_, err = do(t.Context(), map[string]any{"action": "click", "selector": "#gone"})
	assert.ErrorContains(t, err, `nothing that can be seen matches "#gone"`)
	_, err = do(t.Context(), map[string]any{"action": "evaluate", "script": "nowhere.at.all"})
	assert.ErrorContains(t, err, "nowhere is not defined")
	moved := text(map[string]any{"action": "click", "selector": "#away"})
	assert.Contains(t, moved, "another host")
	assert.NotContains(t, moved, "secret")
	assert.Contains(t, text(map[string]any{"action": "read"}), "secret", "who may read that host sees it")

	hanging, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	_, err = do(hanging, map[string]any{"action": "navigate", "url": server.URL + "/hangs"})
	assert.ErrorIs(t, err, context.DeadlineExceeded)
	assert.Contains(t, text(open), "# Hello", "the browser goes on after a page that hangs")
	assert.Contains(t, text(map[string]any{"action": "navigate", "url": server.URL + "/asks"}), "(answered false)", "nobody is there to answer")
	text(map[string]any{"action": "navigate", "url": server.URL + "/loops"})
	require.Eventually(t, func() bool { // the script begins a moment later
		looping, stop := context.WithTimeout(t.Context(), 2*time.Second)
		defer stop()
		_, err := do(looping, map[string]any{"action": "read"})
		return errors.Is(err, context.DeadlineExceeded)
	}, time.Minute, 50*time.Millisecond)
	assert.Contains(t, text(open), "# Hello", "the browser goes on after a script without end")
	_, err = do(t.Context(), map[string]any{"action": "navigate", "url": "http://127.0.0.1:1/"})
	assert.Error(t, err)

	require.NoError(t, b.Close())
	closed = true
	left, err := filepath.Glob(filepath.Join(os.TempDir(), "browser-*"))
	require.NoError(t, err)
	assert.Empty(t, left, "its profile is gone")
}

func TestAMachineWithoutABrowserSaysSo(t *testing.T) {
	_, err := browser.New(browser.Config{Program: "/no/such/browser"})
	require.ErrorIs(t, err, browser.ErrNone)
	t.Setenv("PATH", "")
	_, err = browser.New(browser.Config{})
	require.ErrorIs(t, err, browser.ErrNone)
}

// A browser that was never asked for a page, or that does not start, leaves nothing behind.
func TestABrowserWithoutAPageIsClosed(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	for _, asked := range []bool{false, true} {
		b, err := browser.New(browser.Config{Program: "true"})
		require.NoError(t, err)
		if asked {
			require.Error(t, b.Navigate(t.Context(), "http://127.0.0.1:1/"))
		}
		closed := make(chan error, 1)
		go func() { closed <- b.Close() }()
		select {
		case err := <-closed:
			require.NoError(t, err)
		case <-time.After(time.Minute):
			require.Fail(t, "Close does not come back")
		}
		left, err := filepath.Glob(filepath.Join(os.TempDir(), "browser-*"))
		require.NoError(t, err)
		assert.Empty(t, left)
	}
}
