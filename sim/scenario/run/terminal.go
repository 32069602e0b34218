package run

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	simshell "toolbench/sim/shell"
	shelltool "toolbench/toolsys/builtin/shell"
)

// terminal opens a terminal with the simulated shell in it: it runs line by line, and knows Enter and C-c.
func (r *runner) terminal(_ context.Context, req shelltool.TerminalRequest) (shelltool.Terminal, error) {
	actor := fmt.Sprintf("terminal/%d", r.runs.Add(1))
	return &terminal{r: r, actor: actor, sh: r.simulated(actor), dir: req.Dir, env: req.Env, rows: req.Rows, lines: []string{prompt}}, nil
}

const prompt = "$ "

type terminal struct {
	r     *runner
	actor string
	sh    simshell.Shell
	rows  int

	mu     sync.Mutex
	dir    string
	env    map[string]string
	lines  []string // of the screen, the last one being written to
	typed  string
	queue  []string
	stop   context.CancelFunc // ends the command that runs; nil where none does
	ended  bool
	screen int // how often the screen was looked at
}

var errEnded = errors.New("the shell ended")

// Type implements shell.Terminal.
func (t *terminal) Type(_ context.Context, keys string) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.ended {
		return errEnded
	}
	for _, k := range keys {
		switch k {
		case '\r':
			t.queue, t.typed = append(t.queue, t.typed), ""
			t.lines = append(t.lines, "")
		case 'c' - 'a' + 1:
			t.print("^C")
			if t.stop != nil {
				t.stop()
			}
		default:
			t.typed += string(k)
			t.print(string(k))
		}
	}
	if len(t.queue) > 0 && t.stop == nil {
		ctx, cancel := context.WithCancel(context.Background())
		t.stop = cancel
		t.r.gate.Go(t.actor, func() { t.run(ctx) })
	}
	return nil
}

// print adds to the screen. The caller holds the lock.
func (t *terminal) print(text string) {
	for i, part := range strings.Split(text, "\n") {
		if i > 0 {
			t.lines = append(t.lines, "")
		}
		t.lines[len(t.lines)-1] += part
	}
}

// Write implements io.Writer for what commands print.
func (t *terminal) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.print(string(p))
	return len(p), nil
}

// run runs the lines that were typed, until there is none left.
func (t *terminal) run(ctx context.Context) {
	for {
		t.mu.Lock()
		if len(t.queue) == 0 || t.ended {
			t.stop = nil
			t.mu.Unlock()
			return
		}
		line := t.queue[0]
		t.queue = t.queue[1:]
		cmd := simshell.Command{Script: line, Dir: t.dir, Env: t.env, Stdout: t, Stderr: t}
		t.mu.Unlock()
		exit, err := t.sh.Run(ctx, cmd)
		t.mu.Lock()
		switch {
		case ctx.Err() != nil:
			ctx, t.stop = context.WithCancel(context.Background())
			t.print("\n")
		case err != nil:
			t.print(err.Error() + "\n")
		default:
			t.dir, t.env = exit.Dir, exit.Env
		}
		t.ended = t.ended || strings.TrimSpace(line) == "exit"
		if !t.ended {
			t.print(prompt)
		}
		t.mu.Unlock()
	}
}

// Screen implements shell.Terminal: it waits until nothing runs.
func (t *terminal) Screen(ctx context.Context, within time.Duration) (shelltool.Screen, error) {
	const step = 100 * time.Millisecond
	t.mu.Lock()
	t.screen++
	actor := fmt.Sprintf("%s/screen/%d", t.actor, t.screen)
	t.mu.Unlock()
	for waited := time.Duration(0); waited < within; waited += step {
		if err := t.r.gate.Sleep(ctx, actor, step); err != nil {
			return shelltool.Screen{}, err
		}
		t.mu.Lock()
		idle := t.stop == nil
		t.mu.Unlock()
		if idle {
			break
		}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	shown := t.lines[max(0, len(t.lines)-t.rows):]
	return shelltool.Screen{Text: strings.Join(shown, "\n"), Row: len(shown), Col: len(shown[len(shown)-1]) + 1, Ended: t.ended}, nil
}

// Close implements shell.Terminal.
func (t *terminal) Close() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.ended = true
	if t.stop != nil {
		t.stop()
	}
	return nil
}
