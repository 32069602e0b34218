package cli

import (
	"fmt"
	"io"
	"time"

	"toolbench/property/campaign"
	"toolbench/reports/screen"
)

// fuzzLineEvery is how often a line goes to a standard error that is no terminal.
const fuzzLineEvery = 10 * time.Second

// fuzzProgress tells how far a campaign is: to people at a terminal on one line that
// is drawn again, else with a line now and then.
type fuzzProgress struct {
	w           io.Writer
	began, last time.Time
	terminal    bool
	shown       bool
	cases       int
}

func (a *app) fuzzProgress(f fuzzFlags) *fuzzProgress {
	now := time.Now()
	return &fuzzProgress{w: a.Stderr, began: now, last: now, terminal: isTerminal(a.Stderr), cases: f.runs}
}

func (p *fuzzProgress) took() time.Duration { return time.Since(p.began) }

// told hears of what was played so far; one call at a time.
func (p *fuzzProgress) told(r campaign.Result) {
	every := fuzzLineEvery
	if p.terminal {
		every = progressEvery
	}
	if time.Since(p.last) < every {
		return
	}
	p.last = time.Now()
	line := p.line(r)
	if !p.terminal {
		say(p.w, "%s", line)
		return
	}
	p.shown = true
	fmt.Fprintf(p.w, "\r\x1b[K%s", screen.Cut(line, progressWidth, true))
}

func (p *fuzzProgress) line(r campaign.Result) string {
	of := ""
	if p.cases > 0 {
		of = fmt.Sprintf(" of %d", p.cases)
	}
	seconds := time.Since(p.began).Seconds()
	return fmt.Sprintf("%d%s cases, %d calls, %.0f cases/s", r.Cases, of, r.Calls, float64(r.Cases)/seconds)
}

func (p *fuzzProgress) clear() {
	if p.shown {
		fmt.Fprint(p.w, "\r\x1b[K")
	}
}
