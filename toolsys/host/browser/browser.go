// Package browser drives the machine's own Chromium, without a window, over the DevTools
// protocol. It is a package of its own, so that only programs that want a browser link it.
package browser

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"os/exec"
	"sync"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"toolbench/toolsys/builtin/web"
)

// ErrNone is New's error where the machine has no browser.
var ErrNone = errors.New("there is no Chromium or Chrome on this machine")

// programs are the names under which it is looked for.
var programs = []string{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "microsoft-edge"}

// Config configures a Browser. The zero value is usable.
type Config struct {
	// Program is the browser's file; empty looks for Chromium, then Chrome.
	Program string
	// Wait is how long an element is waited for; 0 means five seconds.
	Wait time.Duration
}

// Browser is a web.Browser. It starts with its first page, and the caller closes it.
type Browser struct {
	tab  context.Context
	wait time.Duration
	dir  string
	// endTab waits for the browser's end, end leaves it to itself.
	endTab, end func()

	starting sync.Mutex // held while the browser starts, of which the library would start one for each that asks
	started  bool

	mu       sync.Mutex
	location string
}

var _ web.Browser = (*Browser)(nil)

// New finds the browser; nothing is started yet. Its profile is a folder of its own, which Close removes.
func New(cfg Config) (*Browser, error) {
	program := cfg.Program
	for _, name := range programs {
		if program == "" {
			program, _ = exec.LookPath(name)
		}
	}
	if program == "" {
		return nil, ErrNone
	}
	if _, err := exec.LookPath(program); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNone, err)
	}
	dir, err := os.MkdirTemp("", "browser-")
	if err != nil {
		return nil, err
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(program), chromedp.UserDataDir(dir), chromedp.WindowSize(1280, 800))
	root, endRoot := chromedp.NewExecAllocator(context.Background(), options...)
	tab, endTab := chromedp.NewContext(root)
	return &Browser{tab: tab, wait: cmp.Or(max(cfg.Wait, 0), 5*time.Second), dir: dir, endTab: endTab, end: endRoot}, nil
}

// Close ends the browser and removes its profile.
func (b *Browser) Close() error {
	closing, done := context.WithTimeout(b.tab, 5*time.Second)
	defer done()
	if chromedp.Cancel(closing) != nil { // one that does not close by itself is killed
		b.endTab()
	}
	b.end()
	return os.RemoveAll(b.dir)
}

// run runs an action in the tab for as long as ctx lasts, and notes where the page is after it. It does not wait for
// the library beyond that, which may hold a lock while a page does not answer.
func run[T any](ctx context.Context, b *Browser, action chromedp.Action[T]) (T, error) {
	var value, nothing T
	if err := b.start(); err != nil {
		return nothing, err
	}
	over := make(chan error, 1)
	go func() {
		over <- b.perform(ctx, func(ctx context.Context) (err error) { value, err = chromedp.Run(ctx, action); return err })
	}()
	select {
	case err := <-over:
		return value, err
	case <-ctx.Done():
		go send(b, runtime.TerminateExecution, cdp.Empty{}) // a script without end would keep the tab
		return nothing, context.Cause(ctx)
	}
}

// send sends the tab a command whose failure changes nothing.
func send[P any](b *Browser, command cdp.Command[P, cdp.Empty], params P) {
	_, _ = chromedp.Run(b.tab, func(ctx context.Context, t *chromedp.Target) (cdp.Empty, error) {
		return cdp.Call(ctx, t, command, params)
	})
}

// start starts the browser, which lives as long as the context of that very call.
func (b *Browser) start() error {
	b.starting.Lock()
	defer b.starting.Unlock()
	if b.started {
		return nil
	}
	if err := chromedp.Do(b.tab); err != nil {
		return err
	}
	b.started = true
	go b.dismiss(chromedp.Events(b.tab, page.JavascriptDialogOpening))
	return nil
}

// perform does something in the tab until ctx ends, and notes where the page is then.
func (b *Browser) perform(ctx context.Context, do func(context.Context) error) error {
	within, done := context.WithCancelCause(b.tab)
	defer done(nil)
	stop := context.AfterFunc(ctx, func() { done(context.Cause(ctx)) })
	defer stop()
	err := do(within)
	if err != nil && context.Cause(ctx) != nil {
		return context.Cause(ctx)
	}
	if at, e := chromedp.Run(within, chromedp.Location()); e == nil {
		b.mu.Lock()
		b.location = at
		b.mu.Unlock()
	}
	return err
}

// dismiss answers what a page asks in a dialog, since it stands still until then: it may be left, and all else is
// declined.
func (b *Browser) dismiss(dialogs iter.Seq2[page.EventJavascriptDialogOpening, error]) {
	for dialog, err := range dialogs {
		if err != nil {
			return
		}
		send(b, page.HandleJavaScriptDialog, page.HandleJavaScriptDialogParams{Accept: dialog.Type == page.DialogTypeBeforeunload})
	}
}

// Navigate implements web.Browser.
func (b *Browser) Navigate(ctx context.Context, address string) error {
	_, err := run(ctx, b, chromedp.Navigate(address))
	return err
}

// Page implements web.Browser.
func (b *Browser) Page(ctx context.Context) (open web.OpenPage, err error) {
	if open.HTML, err = run(ctx, b, chromedp.OuterHTML(chromedp.CSS("html"))); err != nil {
		return open, err
	}
	open.Title, err = run(ctx, b, chromedp.Title())
	open.URL = b.Location()
	return open, err
}

// Click implements web.Browser.
func (b *Browser) Click(ctx context.Context, selector string) error {
	return b.at(ctx, selector, chromedp.Click(chromedp.CSS(selector)))
}

// Type implements web.Browser.
func (b *Browser) Type(ctx context.Context, selector, text string, submit bool) error {
	if submit {
		text += "\r"
	}
	return b.at(ctx, selector, chromedp.Clear(chromedp.CSS(selector)), chromedp.SendKeys(chromedp.CSS(selector), text))
}

// at does something to an element, which is waited for, and lets a page that it leads to come.
func (b *Browser) at(ctx context.Context, selector string, steps ...chromedp.Action[chromedp.Void]) error {
	waiting, done := context.WithTimeout(ctx, b.wait)
	defer done()
	if _, err := run(waiting, b, chromedp.WaitVisible(chromedp.CSS(selector))); err != nil {
		if ctx.Err() == nil && waiting.Err() != nil {
			return fmt.Errorf("nothing that can be seen matches %q", selector)
		}
		return err
	}
	if _, err := run(ctx, b, chromedp.Steps(steps...)); err != nil {
		return err
	}
	const settle = 300 * time.Millisecond // for what a click begins, such as another page
	_, err := run(ctx, b, chromedp.Steps(chromedp.Sleep(settle), chromedp.WaitReady(chromedp.CSS("html"))))
	return err
}

// Evaluate implements web.Browser.
func (b *Browser) Evaluate(ctx context.Context, script string) (string, error) {
	raw, err := run(ctx, b, chromedp.Evaluate[[]byte](script))
	return string(raw), err
}

// Screenshot implements web.Browser.
func (b *Browser) Screenshot(ctx context.Context, full bool) ([]byte, error) {
	if full {
		return run(ctx, b, chromedp.FullScreenshot(100))
	}
	return run(ctx, b, chromedp.CaptureScreenshot())
}

// Location implements web.Browser.
func (b *Browser) Location() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.location
}
