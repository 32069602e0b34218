package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"time"

	"github.com/spf13/afero"
	"github.com/spf13/cobra"
	"golang.org/x/term"

	"toolbench/reports"
	"toolbench/sim/recording"
	"toolbench/sim/replay"
	"toolbench/sim/scenario/check"
	"toolbench/sim/scenario/run"
	"toolbench/toolsys/builtin"
	toolpool "toolbench/toolsys/pool"
	"toolbench/toolsys/schedule"
	"toolbench/toolsys/tool"
	"toolbench/toolsys/trace"
)

type playFlags struct {
	looks
	assumed
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
	f.looks.add(flags)
	f.assumed.add(flags)
	own(flags, &value[float64]{to: &f.speed, parse: playSpeed, kind: "SPEED", text: "4"}, "speed", "how fast it plays in a terminal: 1 as it was, 10 ten times as fast, max at once")
	flags.BoolVarP(&f.verbose, "verbose", "v", false, "open all that is folded")
	flags.BoolVar(&f.links, "links", false, "make places in files links that the terminal opens")
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

// play is the way from arguments to the exit code.
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
		err := a.writeFiles(f.outputs, func(w io.Writer, _ string) error {
			return a.page(w, args[0], sessions)
		})
		if err != nil {
			return err
		}
		return failed
	}
	for i, s := range sessions {
		if i > 0 {
			fmt.Fprintf(a.Stdout, "\n%s\n", strings.Repeat("-", 20))
		}
		if err := a.show(ctx, s, f); err != nil {
			return err
		}
	}
	return failed
}

// seenSession is what there is to see of one conversation.
type seenSession struct {
	seen  []trace.Seen
	tools []*tool.Tool
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
	if e.broken != nil {
		return nil, nil, invalid(e.broken)
	}
	if len(entries) > 1 && !strings.HasPrefix(entries[1].Name, e.Name+"/") {
		return nil, nil, usage("%s has %d scenarios; name one", arg, len(entries))
	}
	watched := &run.Watched{}
	out := e.Run(ctx, RunOptions{Seed: f.seed, Watched: watched})
	switch {
	case out.Err != nil && out.Invalid:
		return nil, nil, invalid(out.Err)
	case out.Err != nil:
		return nil, nil, harness(out.Err)
	case out.Status != check.Passed:
		failed = &exitError{ExitFailed, fmt.Errorf("what %s expects did not hold; see `toolbench run %s`", e.Name, e.target)}
	}
	return []seenSession{{watched.Seen, watched.Tools}}, failed, nil
}

func (a *app) recordedSessions(ctx context.Context, arg string, f playFlags) ([]seenSession, error) {
	report := a.replayFile(ctx, found{arg, true}, replay.Options{
		Safe: f.safe, Durations: f.durations, Pace: &f.pace, Policies: []schedule.Policy{schedule.Streaming}, Seed: f.seed, Secrets: a.secrets(), Seen: true,
	})
	if errors.Is(report.Err, recording.ErrNotRecording) {
		return nil, invalid(report.Err)
	}
	tools, err := builtinTools()
	if err != nil {
		return nil, harness(err)
	}
	var all []seenSession
	for _, c := range report.Conversations {
		all = append(all, seenSession{c.Seen, tools})
	}
	if len(all) == 0 {
		if report.Err != nil {
			return nil, invalid(report.Err)
		}
		return nil, usage("%s: there is no answer of a model in it to play", arg)
	}
	return all, nil
}

// builtinTools draw the calls of recordings: most agents' tools take what ours of the name
// do.
func builtinTools() ([]*tool.Tool, error) {
	kit, err := builtin.All(builtin.Deps{FS: afero.NewMemMapFs()})(toolpool.Host{Inbox: tool.NewInbox(tool.Clock{}, nil), Work: &tool.WorkList{}})
	var tools []*tool.Tool
	for _, e := range kit.Entries {
		if e.Tool != nil {
			tools = append(tools, e.Tool)
		}
	}
	return tools, err
}

func (a *app) transcript(s seenSession) *reports.Transcript {
	return &reports.Transcript{Tools: s.tools, Blank: reports.Options{Secrets: a.secrets()}.Blank()}
}

// page writes the conversations as one page.
func (a *app) page(w io.Writer, title string, sessions []seenSession) error {
	all := a.transcript(seenSession{})
	for _, s := range sessions {
		all.Tools = s.tools
		for _, e := range s.seen {
			all.Take(e)
		}
		all.Break()
	}
	return all.HTML(w, title)
}

// show prints a conversation: at a terminal as it went, else as it stands at its end.
func (a *app) show(ctx context.Context, s seenSession, f playFlags) error {
	draw := a.drawing(f.looks)
	screen := reports.Terminal{Width: draw.Width, Colour: draw.Color, ASCII: draw.ASCII, Links: f.links, Verbose: f.verbose}
	t := a.transcript(s)
	if isTerminal(a.Stdout) && f.speed > 0 {
		return a.live(ctx, t, s.seen, screen, f.speed)
	}
	for _, e := range s.seen {
		t.Take(e)
	}
	for _, l := range t.Lines(screen, 0, true) {
		if _, err := fmt.Fprintln(a.Stdout, l); err != nil {
			return err
		}
	}
	return nil
}

// frame is how often a screen is drawn anew.
const frame = 40 * time.Millisecond

// live plays a conversation in a terminal: what will not change any more is printed for
// good, and below it what may is drawn over and over.
func (a *app) live(ctx context.Context, t *reports.Transcript, seen []trace.Seen, screen reports.Terminal, speed float64) error {
	height := 24
	if file, ok := a.Stdout.(*os.File); ok {
		if _, h, err := term.GetSize(int(file.Fd())); err == nil && h > 4 {
			height = h
		}
	}
	p := player{w: a.Stdout, height: height, screen: screen, transcript: t}
	var at, owed time.Duration
	for _, e := range seen {
		owed += reports.Wait(e.At-at, speed)
		at = max(at, e.At)
		if owed >= frame {
			p.draw()
			select {
			case <-ctx.Done():
				return interrupted("interrupted")
			case <-time.After(owed):
			}
			owed = 0
		}
		t.Take(e)
	}
	p.draw()
	p.end()
	return ctx.Err()
}

// player draws a conversation that goes on.
type player struct {
	w          io.Writer
	height     int
	screen     reports.Terminal
	transcript *reports.Transcript
	// printed are the parts that stand for good, below is how many lines may change.
	printed, below int
}

func (p *player) draw() {
	var b strings.Builder
	if p.below > 0 {
		fmt.Fprintf(&b, "\x1b[%dA\x1b[J", p.below)
	}
	settled := p.transcript.Settled()
	for _, l := range p.transcript.Between(p.screen, p.printed, settled) {
		b.WriteString(l + "\n")
	}
	p.printed = settled
	rest := p.transcript.Lines(p.screen, settled, false)
	if over := len(rest) - (p.height - 2); over > 0 {
		rest = rest[over:]
	}
	for _, l := range rest {
		b.WriteString(l + "\n")
	}
	p.below = len(rest)
	io.WriteString(p.w, b.String()) // a screen that is gone ends the program elsewhere
}

// end prints what is left for good.
func (p *player) end() {
	if p.below > 0 {
		fmt.Fprintf(p.w, "\x1b[%dA\x1b[J", p.below)
	}
	for _, l := range p.transcript.Lines(p.screen, p.printed, false) {
		fmt.Fprintln(p.w, l)
	}
}
