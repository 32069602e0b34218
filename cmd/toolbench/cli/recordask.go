package cli

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"strings"
	"sync"

	"toolbench/reports"
	"toolbench/sim/scenario/run"
	"toolbench/toolsys/pipeline"
)

// asker asks the person at the terminal for permission, one question at a time, and
// keeps the answers, so that they can be given again in a replay.
type asker struct {
	a       *app
	enabled bool
	lines   chan string
	turn    chan struct{} // held by who asks

	mu     sync.Mutex
	always map[string]bool
	given  []run.PermitAnswer
}

// asker gives what asks the person at the terminal. Where there is none it refuses instead.
func (a *app) asker(f recordFlags) *asker {
	return &asker{a: a, enabled: a.Interactive && f.mode != run.ReplayOnly, always: map[string]bool{}, turn: make(chan struct{}, 1)}
}

// handler is nil where there is nobody to ask: calls are refused then.
func (k *asker) handler() func(context.Context, pipeline.Question) (pipeline.Reply, error) {
	if !k.enabled {
		return nil
	}
	return k.ask
}

func (k *asker) answers() []run.PermitAnswer {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.given
}

func (k *asker) ask(ctx context.Context, q pipeline.Question) (pipeline.Reply, error) {
	select {
	case k.turn <- struct{}{}:
	case <-ctx.Done():
		return pipeline.Reply{}, context.Cause(ctx)
	}
	defer func() { <-k.turn }()
	k.mu.Lock()
	known := k.always[q.Tool]
	k.mu.Unlock()
	if known {
		return k.answered(q, pipeline.Reply{Allow: true}), nil
	}
	const most = 300
	for {
		fmt.Fprintf(k.a.Stderr, "\r\x1b[K%s wants to run with %s\nallow it? [y]es, [n]o, [a]lways: ", reports.Safe(q.Tool), reports.Cut(reports.Safe(string(q.Input)), most, !k.a.unicode()))
		line, err := k.line(ctx)
		if err != nil {
			return pipeline.Reply{}, err
		}
		switch strings.ToLower(strings.TrimSpace(line)) {
		case "y", "yes":
			return k.answered(q, pipeline.Reply{Allow: true}), nil
		case "a", "always":
			k.mu.Lock()
			k.always[q.Tool] = true
			k.mu.Unlock()
			return k.answered(q, pipeline.Reply{Allow: true}), nil
		case "n", "no":
			return k.answered(q, pipeline.Reply{}), nil
		}
	}
}

func (k *asker) answered(q pipeline.Question, r pipeline.Reply) pipeline.Reply {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.given = append(k.given, run.PermitAnswer{Call: q.CallID, Allow: r.Allow, Text: r.Text})
	return r
}

// line reads one line; a reader that is waited for in vain is left behind.
func (k *asker) line(ctx context.Context) (string, error) {
	if k.lines == nil {
		k.lines = make(chan string)
		in := bufio.NewScanner(k.a.Stdin)
		go func() {
			defer close(k.lines)
			for in.Scan() {
				k.lines <- in.Text()
			}
		}()
	}
	select {
	case line, ok := <-k.lines:
		if !ok {
			return "", io.EOF
		}
		return line, nil
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
}
