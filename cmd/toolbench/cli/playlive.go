package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"time"

	"golang.org/x/term"

	"toolbench/reports"
)

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
	if file, ok := w.(*os.File); ok {
		if _, height, err := term.GetSize(int(file.Fd())); err == nil && height > 4 {
			return height
		}
	}
	return 24
}
