package shell

import (
	"cmp"
	"context"
	_ "embed" // the prompt beside this file
	"errors"
	"fmt"
	"maps"
	"strings"
	"sync"
	"time"

	"toolbench/toolsys/permission"
	"toolbench/toolsys/tool"
)

//go:embed tungsten.md
var tungstenPrompt string

// The size of a terminal, and how long one is waited for.
const (
	TerminalCols    = 120
	TerminalRows    = 40
	TerminalWait    = 10 * time.Second
	MaxTerminalWait = 120 * time.Second
)

// Codes of calls that are refused.
const (
	CodeNoTerminal = iota + 20
	CodeControl
)

// Terminal is a program on a terminal. It may be used from several goroutines.
type Terminal interface {
	// Type sends what a keyboard would.
	Type(ctx context.Context, keys string) error
	// Screen gives what is on the screen once that has been still for a moment, or after within.
	Screen(ctx context.Context, within time.Duration) (Screen, error)
	// Close ends the program and all that it started.
	Close() error
}

// Screen is what a terminal shows. Row and Col are the cursor's, from 1.
type Screen struct {
	Text     string `json:"text"`
	Row, Col int
	// Ended is true when the program is no more.
	Ended bool `json:"ended,omitempty"`
}

// TerminalRequest is a terminal to open, with a shell in it.
type TerminalRequest struct {
	Dir        string
	Env        map[string]string
	Cols, Rows int
}

// TungstenIn is what Tungsten takes.
type TungstenIn struct {
	Text  string   `json:"text,omitempty" jsonschema:"What to type"`
	Keys  []string `json:"keys,omitempty" enum:"Enter,Tab,Escape,Backspace,Up,Down,Left,Right,Home,End,PageUp,PageDown,C-a,C-c,C-d,C-e,C-l,C-r,C-u,C-w,C-x,C-z" jsonschema:"Keys to press after it, in order"`
	Wait  int      `json:"wait_ms,omitempty" minimum:"1" maximum:"120000" default:"10000" jsonschema:"How long to wait for the screen, in milliseconds"`
	Close bool     `json:"close,omitempty" jsonschema:"End the terminal"`
}

// TungstenOut is what Tungsten answers with.
type TungstenOut struct {
	Screen
	Closed bool `json:"closed,omitempty"`
}

// keys are what keyboards send.
var keys = map[string]string{
	"Enter": "\r", "Tab": "\t", "Escape": "\x1b", "Backspace": "\x7f", "Up": "\x1b[A", "Down": "\x1b[B", "Right": "\x1b[C", "Left": "\x1b[D",
	"Home": "\x1b[H", "End": "\x1b[F", "PageUp": "\x1b[5~", "PageDown": "\x1b[6~",
}

// key is what a key sends: C-c and its like are control characters.
func key(name string) string {
	if letter, control := strings.CutPrefix(name, "C-"); control {
		return string(letter[0] - 'a' + 1)
	}
	return keys[name]
}

// Tungsten types into a terminal that is kept between calls, one for each agent (SPEC L, L7). What is typed goes
// to whatever runs there, so nothing about it is known: it is asked about, and rules about commands bind it as one
// that cannot be read. nil has no terminals; whoever made open ends them.
func Tungsten(open func(context.Context, TerminalRequest) (Terminal, error)) *tool.Tool {
	d := &tungsten{open: open, terminals: map[string]Terminal{}}
	return tool.Must(tool.Def[TungstenIn, TungstenOut]{
		Name:        "Tungsten",
		Hint:        "type into a terminal session",
		Description: "Types into a terminal that stays open, and shows its screen.",
		Describe:    func(in TungstenIn) string { return "Type into the terminal: " + in.typed() },
		Prompt:      tool.Prompt(tungstenPrompt),
		Call:        tool.Data(d.call),
		Text:        TungstenOut.text,
		Validate:    d.validate,
		Subject: func(in TungstenIn, _ *tool.Context) tool.Subject {
			if in.looks() {
				return tool.Subject{}
			}
			return tool.Subject{Shell: &permission.Shell{Command: in.typed()}, Kin: []string{"Bash"}}
		},
		Traits: tool.Traits[TungstenIn]{
			ReadOnly:    TungstenIn.looks,
			Destructive: func(in TungstenIn) bool { return !in.looks() },
			OpenWorld:   func(in TungstenIn) bool { return !in.looks() },
			Interrupt:   tool.Cancel,
		},
		Shaping: tool.Shaping[TungstenIn]{Classifier: TungstenIn.typed},
		Limits:  tool.Limits[TungstenIn]{ResultChars: ResultChars, Heartbeat: Heartbeat},
		View:    tool.Titled("Terminal", "Using the terminal", TungstenIn.typed),
		Draw:    tool.Drawing[TungstenIn, TungstenOut]{Result: drawScreen},
	})
}

// looks reports whether a call changes nothing.
func (in TungstenIn) looks() bool { return in.Text == "" && len(in.Keys) == 0 && !in.Close }

// typed words what is typed.
func (in TungstenIn) typed() string {
	words := in.Keys
	if in.Text != "" {
		words = append([]string{in.Text}, words...)
	}
	switch {
	case in.Close:
		words = append(words[:len(words):len(words)], "(close)")
	case len(words) == 0:
		return "(look)"
	}
	return strings.Join(words, " ")
}

// tungsten is what the tool works with: the terminals of the agents.
type tungsten struct {
	open func(context.Context, TerminalRequest) (Terminal, error)

	mu        sync.Mutex
	terminals map[string]Terminal
}

func (d *tungsten) validate(in TungstenIn, _ *tool.Context) *tool.Refusal {
	switch {
	case d.open == nil:
		return &tool.Refusal{Message: "there are no terminals here; run commands with Bash", Code: CodeNoTerminal}
	case strings.ContainsFunc(in.Text, func(r rune) bool { return r < ' ' && r != '\n' && r != '\t' || r == 0x7f }):
		return &tool.Refusal{Message: "text holds a control character; press it with keys, such as C-c", Code: CodeControl}
	}
	return nil
}

func (d *tungsten) call(ctx context.Context, in TungstenIn, c *tool.Context) (TungstenOut, error) {
	if in.Close {
		return d.close(c)
	}
	t, err := d.terminal(ctx, c)
	if err != nil {
		return TungstenOut{}, fmt.Errorf("the terminal did not open: %w", err)
	}
	sent := strings.ReplaceAll(in.Text, "\n", "\r")
	for _, name := range in.Keys {
		sent += key(name)
	}
	if sent != "" {
		if err := t.Type(ctx, sent); err != nil {
			return TungstenOut{}, fmt.Errorf("nothing more can be typed: %w", err)
		}
	}
	within := cmp.Or(time.Duration(max(in.Wait, 0))*time.Millisecond, TerminalWait)
	screen, err := t.Screen(ctx, min(within, MaxTerminalWait))
	if screen.Ended {
		d.forget(c.AgentID, t)
	}
	return TungstenOut{Screen: screen}, err
}

// terminal gives the agent's terminal, which is opened where there is none.
func (d *tungsten) terminal(ctx context.Context, c *tool.Context) (Terminal, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if t := d.terminals[c.AgentID]; t != nil {
		return t, nil
	}
	if d.open == nil {
		return nil, errors.New("there are none here")
	}
	t, err := d.open(ctx, TerminalRequest{Dir: c.State.Dir, Env: maps.Clone(c.State.Env), Cols: TerminalCols, Rows: TerminalRows})
	if err == nil {
		d.terminals[c.AgentID] = t
	}
	return t, err
}

func (d *tungsten) close(c *tool.Context) (TungstenOut, error) {
	d.mu.Lock()
	t := d.terminals[c.AgentID]
	d.mu.Unlock()
	if t == nil {
		return TungstenOut{}, errors.New("no terminal is open")
	}
	d.forget(c.AgentID, t)
	return TungstenOut{Closed: true}, nil
}

// forget ends a terminal.
func (d *tungsten) forget(agent string, t Terminal) {
	d.mu.Lock()
	delete(d.terminals, agent)
	d.mu.Unlock()
	_ = t.Close() // it is no more in either case
}

func (out TungstenOut) text() string {
	switch {
	case out.Closed:
		return "The terminal is closed."
	case out.Ended:
		return out.Text + "\n[the shell ended; the next call opens another]"
	}
	return fmt.Sprintf("%s\n[cursor at row %d, column %d]", out.Text, out.Row, out.Col)
}
