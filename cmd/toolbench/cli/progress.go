package cli

import (
	"fmt"
	"io"
	"sync"
	"time"

	"toolbench/reports/screen"
)

// Progress is told after a second and then five times a second.
const (
	progressAfter = time.Second
	progressEvery = 200 * time.Millisecond
	progressWidth = 60
)

// progress tells people at a terminal how far a long run is, on one line that is
// gone when the run ends.
type progress struct {
	w       io.Writer
	enabled bool

	mu          sync.Mutex
	total, done int
	last        string
}

func newProgress(w io.Writer, enabled bool) *progress { return &progress{w: w, enabled: enabled} }

func (p *progress) began(name string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.last = name
}

func (p *progress) ended() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.done++
}

// start shows progress until the function it gives is called, which clears the line.
func (p *progress) start(total int) (stop func()) {
	if !p.enabled {
		return func() {}
	}
	p.mu.Lock()
	p.total = total
	p.mu.Unlock()
	quit, gone := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(gone)
		p.loop(quit)
	}()
	return func() {
		close(quit)
		<-gone
	}
}

func (p *progress) loop(quit <-chan struct{}) {
	wait := time.NewTimer(progressAfter)
	defer wait.Stop()
	shown := false
	for {
		select {
		case <-quit:
			if shown {
				fmt.Fprint(p.w, "\r\x1b[K")
			}
			return
		case <-wait.C:
			shown = true
			fmt.Fprintf(p.w, "\r\x1b[K%s", screen.Cut(p.text(), progressWidth, true))
			wait.Reset(progressEvery)
		}
	}
}

func (p *progress) text() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return fmt.Sprintf("%d of %d  %s", p.done, p.total, screen.Safe(p.last))
}
