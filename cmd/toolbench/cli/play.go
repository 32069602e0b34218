package cli

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"toolbench/reports"
	"toolbench/sim/recording"
	"toolbench/sim/replay"
	"toolbench/sim/scenario/check"
	"toolbench/sim/scenario/run"
	"toolbench/toolsys/schedule"
	"toolbench/toolsys/tool"
	"toolbench/toolsys/trace"
)

type playFlags struct {
	displayFlags
	assumptionFlags
	outputs        outputs
	speed          float64
	verbose, links bool
	seed           uint64
}

func (a *app) playCommand() *cobra.Command {
	f := playFlags{speed: 4, outputs: outputs{names: []string{"html"}}}
	cmd := &cobra.Command{
		Use: "play SCENARIO|RECORDING", Short: "Show a session as a person would have seen it", ValidArgsFunction: a.completeNames,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error { return a.play(cmd.Context(), args, f) },
	}
	flags := cmd.Flags()
	f.displayFlags.add(flags)
	f.assumptionFlags.add(flags)
	own(flags, &value[float64]{to: &f.speed, parse: playSpeed, kind: "SPEED", text: "4"}, "speed", "how fast it plays in a terminal: 1 as it was, 10 ten times as fast, max at once")
	flags.BoolVarP(&f.verbose, "verbose", "v", false, "open all that is folded")
	flags.BoolVar(&f.links, "links", false, "make places in a recording's files links that the terminal opens")
	flags.Uint64Var(&f.seed, "seed", 1, "what orders things that happen in one instant")
	own(flags, &f.outputs, "format", "write it to a file: html=FILE")
	return explained(cmd)
}

// playSpeed reads a speed; max is 0, which waits for nothing.
func playSpeed(text string) (float64, error) {
	if text == "max" {
		return 0, nil
	}
	return speed(text)
}

// play runs the command and gives the error that carries its exit code.
func (a *app) play(ctx context.Context, args []string, f playFlags) error {
	switch {
	case len(args) != 1:
		return usage("name one scenario or recording, as in `toolbench play tools-files`")
	case f.outputs.screen != "":
		return usage("a page goes to a file: --format html=FILE")
	}
	sessions, failed, err := a.playable(ctx, args[0], f)
	if err != nil {
		return err
	}
	if len(f.outputs.files) > 0 {
		err = a.writeFiles(f.outputs, func(w io.Writer, _ string) error { return a.whole(sessions).HTML(w, args[0]) })
	} else {
		err = a.show(ctx, sessions, f)
	}
	return cmp.Or(err, failed)
}

// seenSession is what there is to see of one conversation.
type seenSession struct {
	// title tells it from others; the only one has none.
	title string
	seen  []trace.Seen
	tools []*tool.Tool
	// real: its files are those of a machine, and not simulated.
	real bool
}

// playable are the conversations of an argument. A failure of the scenario itself is given
// beside what there is to see of it.
func (a *app) playable(ctx context.Context, arg string, f playFlags) (all []seenSession, failed, err error) {
	if info, err := os.Stat(a.path(arg)); err == nil && info.Mode().IsRegular() {
		all, err := a.recordedSessions(ctx, arg, f)
		if !errors.Is(err, recording.ErrNotRecording) || !isYAML(arg) {
			return all, nil, err
		}
	} else if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, nil, usage("%s: %s", arg, reason(err))
	}
	entries, err := a.find([]string{arg})
	if err != nil {
		return nil, nil, err
	}
	e := entries[0]
	switch {
	case e.broken != nil && isDir(a.path(e.File)):
		return nil, nil, usage("%w; of recordings, name one", e.broken)
	case e.broken != nil:
		return nil, nil, invalid(e.broken)
	}
	if len(entries) > 1 && !strings.HasPrefix(entries[1].Name, e.Name+"/") {
		return nil, nil, usage("%s has %d scenarios; name one", arg, len(entries))
	}
	watched := &run.Watched{}
	out := e.Run(ctx, run.Options{Seed: f.seed, Watched: watched})
	switch {
	case out.Err != nil && out.Invalid:
		return nil, nil, invalid(out.Err)
	case out.Err != nil:
		return nil, nil, harness(out.Err)
	case out.Status != check.Passed:
		failed = &exitError{ExitFailed, fmt.Errorf("what %s expects did not hold; see `toolbench run %s`", e.Name, e.target)}
	}
	return []seenSession{{seen: watched.Seen}}, failed, nil
}

func (a *app) recordedSessions(ctx context.Context, arg string, f playFlags) ([]seenSession, error) {
	report := a.replayFile(ctx, found{arg, true}, replay.Options{
		Safe: f.safe, Durations: f.durations, Pace: &f.pace, Policies: []schedule.Policy{schedule.Streaming}, Seed: f.seed, Secrets: a.secrets(), Seen: true,
	})
	if errors.Is(report.Err, recording.ErrNotRecording) {
		return nil, invalid(report.Err)
	}
	var all []seenSession
	tools := toolsOf(builtins()) // most agents' tools take what ours of the name do
	for _, c := range report.Conversations {
		all = append(all, seenSession{"", c.Seen, tools, true})
		if len(report.Conversations) > 1 {
			all[len(all)-1].title = conversationTitle(c, len(report.Conversations))
		}
	}
	if len(all) == 0 {
		if report.Err != nil {
			return nil, invalid(report.Err)
		}
		return nil, usage("%s: there is no answer of a model in it to play", arg)
	}
	return all, nil
}

// conversationTitle tells a conversation of a recording from its others.
func conversationTitle(c replay.Conversation, of int) string {
	words := []string{fmt.Sprintf("conversation %d of %d", c.Number, of)}
	if c.Agent != "" {
		words = append(words, "agent "+c.Agent)
	}
	if c.ID != "" {
		words = append(words, c.ID)
	}
	return strings.Join(words, ", ")
}

// transcript is one without conversations yet.
func (a *app) transcript() *reports.Transcript {
	return &reports.Transcript{Blank: reports.Options{Secrets: a.secrets()}.Blank()}
}

// begin begins a conversation in a transcript.
func (s seenSession) begin(t *reports.Transcript) {
	if t.Tools, t.Places = s.tools, s.real; s.title != "" {
		t.Break(s.title)
	}
}

// whole are conversations as they stand at their ends.
func (a *app) whole(sessions []seenSession) *reports.Transcript {
	t := a.transcript()
	for _, s := range sessions {
		s.begin(t)
		for _, e := range s.seen {
			t.Take(e)
		}
	}
	return t
}

// show prints conversations: at a terminal as they went, else as they stand at their ends.
func (a *app) show(ctx context.Context, sessions []seenSession, f playFlags) error {
	screen := a.drawing(f.displayFlags).Terminal()
	screen.Links, screen.Verbose = f.links && sessions[0].real, f.verbose
	if isTerminal(a.Stdout) && a.env("TERM") != "dumb" && f.speed > 0 {
		return a.live(ctx, sessions, screen, f.speed)
	}
	for _, l := range a.whole(sessions).Lines(screen) {
		if _, err := fmt.Fprintln(a.Stdout, l); err != nil {
			return wrap(err)
		}
	}
	return nil
}

// frame is how often a screen is drawn anew.
const frame = 40 * time.Millisecond

// player plays conversations in a terminal, at a speed that keys change.
type player struct {
	reports.Live
	speed  float64
	paused bool
	// jumping goes on without waiting until there is something new to see.
	jumping bool
	keys    <-chan playKey
}

// errQuit ends a player by its key.
var errQuit = errors.New("the player was quit")

// live plays conversations in a terminal.
func (a *app) live(ctx context.Context, sessions []seenSession, screen reports.Terminal, speed float64) error {
	p := player{speed: speed, Live: reports.Live{W: a.Stdout, Height: terminalHeight(a.Stdout), Screen: screen, Transcript: a.transcript()}}
	release, err := p.listen(a)
	if err != nil {
		return harness(err)
	}
	defer release()
	for _, s := range sessions {
		s.begin(p.Transcript)
		if err := p.play(ctx, s); err != nil {
			p.End()
			if errors.Is(err, errQuit) {
				return nil
			}
			return interrupted("interrupted")
		}
	}
	p.End()
	return nil
}

// play plays one conversation.
func (p *player) play(ctx context.Context, s seenSession) error {
	var at, owed time.Duration
	for _, e := range s.seen {
		owed += reports.Wait(e.At-at, p.speed)
		at = max(at, e.At)
		if owed >= frame {
			if err := p.wait(ctx, owed); err != nil {
				return err
			}
			owed = 0
		}
		p.Transcript.Take(e)
	}
	p.Draw()
	return ctx.Err()
}

// wait shows the screen until so much time has passed or a key ends the wait.
func (p *player) wait(ctx context.Context, left time.Duration) error {
	for {
		p.Status = p.status()
		if changed := p.Draw(); p.jumping && !changed {
			return nil
		}
		p.jumping = false
		began := time.Now()
		var over <-chan time.Time
		if !p.paused {
			over = time.After(left)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-over:
			return nil
		case k := <-p.keys:
			if !p.paused {
				left = max(0, left-time.Since(began))
			}
			before := p.speed
			if done, err := p.press(k); done || err != nil {
				return err
			}
			left = time.Duration(float64(left) * before / p.speed)
		}
	}
}

// playKey is what a person at a player asks for.
type playKey int

const (
	quitKey playKey = iota
	breakKey
	pauseKey
	nextKey
	fasterKey
	slowerKey
)

// Bounds of the speed that keys set.
const slowest, fastest = 1.0 / 16, 256

// press does what a key asks for, and reports whether that ends the waiting.
func (p *player) press(k playKey) (done bool, err error) {
	switch k {
	case quitKey:
		return true, errQuit
	case breakKey:
		return true, context.Canceled
	case pauseKey:
		p.paused = !p.paused
	case nextKey:
		p.jumping = true
		return true, nil
	case fasterKey:
		p.speed = min(p.speed*2, fastest)
	case slowerKey:
		p.speed = max(p.speed/2, slowest)
	}
	return false, nil
}

// status is the line below all where there are keys.
func (p *player) status() string {
	if p.keys == nil {
		return ""
	}
	how := strconv.FormatFloat(p.speed, 'g', 3, 64) + "x"
	if p.paused {
		how = "paused at " + how
	}
	return fmt.Sprintf("%s: space pauses, n goes on, + - change the speed, q quits", how)
}

// listen takes keys, where there is a terminal to take them from: it gives them one by one,
// and to the program alone, until it is released.
func (p *player) listen(a *app) (release func(), err error) {
	in, ok := a.Stdin.(*os.File)
	if !ok || !a.Interactive {
		return func() {}, nil
	}
	fd := int(in.Fd())
	before, err := term.MakeRaw(fd)
	if err != nil {
		return nil, err
	}
	p.W = rawLines{p.W}
	keys := make(chan playKey)
	p.keys = keys
	go readKeys(in, keys)
	return func() { _ = term.Restore(fd, before) }, nil // a terminal that is gone needs no state
}

// rawLines writes for a terminal that takes a line feed for no more than that.
type rawLines struct{ w io.Writer }

// Write implements io.Writer.
func (r rawLines) Write(p []byte) (int, error) {
	if _, err := r.w.Write(bytes.ReplaceAll(p, []byte("\n"), []byte("\r\n"))); err != nil {
		return 0, err
	}
	return len(p), nil
}

// keySequences are what terminals send for keys.
var keySequences = map[string]playKey{
	"q": quitKey, "Q": quitKey, "\x03": breakKey, "\x04": quitKey, " ": pauseKey, "n": nextKey, "\x1b[C": nextKey, "\x1b[B": nextKey, "\x1bOC": nextKey, "\x1bOB": nextKey,
	"+": fasterKey, "=": fasterKey, "-": slowerKey,
}

// readKeys gives the keys of a terminal until it is gone, or the process.
func readKeys(in io.Reader, keys chan<- playKey) {
	buf := make([]byte, 64)
	for {
		n, err := in.Read(buf)
		for rest := string(buf[:n]); rest != ""; {
			size := 1
			if len(rest) >= 3 && rest[0] == '\x1b' {
				size = 3
			}
			if k, ok := keySequences[rest[:size]]; ok {
				keys <- k
			}
			rest = rest[size:]
		}
		if err != nil {
			return
		}
	}
}

// terminalHeight is 24 where nothing better is known.
func terminalHeight(w io.Writer) int {
	if _, rows := terminalSize(w); rows > 4 {
		return rows
	}
	return 24
}
