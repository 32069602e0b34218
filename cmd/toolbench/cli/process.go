package cli

import (
	"bytes"
	"cmp"
	"context"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/term"

	"toolbench/reports"
	"toolbench/sim/scenario/run"
	"toolbench/sim/secret"
	"toolbench/toolsys/message"
)

// Process is what the command line has from the process it runs in.
type Process struct {
	// Args are the arguments without the program's name.
	Args []string
	// Env are "KEY=value" pairs; the last one of a key counts.
	Env            []string
	Stdout, Stderr io.Writer
	// Stdin is where answers come from; Interactive is set where a person is there.
	Stdin       io.Reader
	Interactive bool
	// Interrupts are the signals of Ctrl-C, where a command may take them.
	Interrupts *Interrupts
	// Dir is the working directory: what failed last is remembered for each. Cache
	// is where such things are kept; "" keeps nothing. Home is the user's folder, which ~ stands for.
	Dir, Cache, Home string
	// Self is the program's file, for batches in processes of their own; "" plays them
	// in this one.
	Self string
}

// ThisProcess is the process we are.
func ThisProcess() Process {
	p := Process{Args: os.Args[1:], Env: os.Environ(), Stdout: os.Stdout, Stderr: os.Stderr, Stdin: os.Stdin, Interrupts: new(Interrupts)}
	p.Interactive = term.IsTerminal(int(os.Stdin.Fd()))
	p.Dir, _ = os.Getwd()          // without one, relative paths fail where they are used
	p.Cache, _ = os.UserCacheDir() // without one, nothing is remembered
	p.Home, _ = os.UserHomeDir()   // without one, rules below ~ match nothing
	p.Self, _ = os.Executable()    // without one, no process of its own is started
	return p
}

// Interrupts lets a command take the signals of Ctrl-C, which else end the process.
type Interrupts struct {
	mu   sync.Mutex
	take func() bool
}

// Take has f asked about each signal, until release is called: f reports whether it was
// taken.
func (i *Interrupts) Take(f func() bool) (release func()) {
	if i == nil {
		return func() {}
	}
	i.set(f)
	return func() { i.set(nil) }
}

func (i *Interrupts) set(f func() bool) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.take = f
}

// Taken reports whether a command took a signal.
func (i *Interrupts) Taken() bool {
	i.mu.Lock()
	take := i.take
	i.mu.Unlock()
	return take != nil && take()
}

// lookup gives a variable and whether it is set.
func (p Process) lookup(key string) (string, bool) {
	for i := len(p.Env) - 1; i >= 0; i-- {
		if name, value, ok := strings.Cut(p.Env[i], "="); ok && name == key {
			return value, true
		}
	}
	return "", false
}

func (p Process) env(key string) string {
	value, _ := p.lookup(key)
	return value
}

// secrets are the values of variables whose names are those of secrets: no report
// prints them (O5).
func (p Process) secrets() []string {
	return each(secret.FromEnv(p.Env), func(k secret.Known) string { return k.Value })
}

// assumedWidth is that of a screen of which nothing is known: a file, or the log of
// a CI system, where there is room.
const assumedWidth = 120

// displayFlags are the flags about looks that all commands share.
type displayFlags struct {
	width                int
	wide, noColor, ascii bool
}

// drawing gives how to draw on the standard output.
func (a *app) drawing(l displayFlags) reports.Options {
	width := a.width(l.width)
	if l.wide {
		width = 0
	}
	return reports.Options{
		Width: width,
		Color: !l.noColor && a.colour(),
		ASCII: l.ascii || !a.unicode(),
	}
}

// colour reports whether to colour: for people at a terminal who did not ask to be spared.
func (a *app) colour() bool {
	seen := a.env("CI") == "" && a.env("TERM") != "dumb" && isTerminal(a.Stdout)
	return a.env("NO_COLOR") == "" && (seen || strings.Trim(a.env("FORCE_COLOR"), "0") != "")
}

// unicode reports whether to draw with more than ASCII: unless the locale is another one.
func (a *app) unicode() bool {
	locale := strings.ToLower(cmp.Or(a.env("LC_ALL"), a.env("LC_CTYPE"), a.env("LANG"), "utf-8"))
	return strings.Contains(locale, "utf-8") || strings.Contains(locale, "utf8")
}

// width is the asked one, else the terminal's, else COLUMNS, else that of the terminal to
// which a pipe leads in all likelihood, else an assumed one.
func (a *app) width(asked int) int {
	if asked > 0 {
		return asked
	}
	if columns, _ := terminalSize(a.Stdout); columns > 0 {
		return columns
	}
	if columns, err := strconv.Atoi(a.env("COLUMNS")); err == nil && columns > 0 {
		return columns
	}
	if columns, _ := terminalSize(a.Stderr); columns > 0 && isPipe(a.Stdout) {
		return columns // as in `toolbench run | less`; a file is read elsewhere
	}
	return assumedWidth
}

// terminalSize is 0 of what is no terminal.
func terminalSize(w io.Writer) (columns, rows int) {
	if f, ok := w.(*os.File); ok {
		columns, rows, _ = term.GetSize(int(f.Fd())) // with an error both are 0
	}
	return columns, rows
}

func isPipe(w io.Writer) bool {
	f, _ := w.(*os.File)
	info, err := f.Stat() // of no file it is an error
	return err == nil && info.Mode()&os.ModeNamedPipe != 0
}

func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// guard writes for a reader that obeys workflow commands, as GitHub's log does: a line
// that begins with "::", or "##[" anywhere, would be one. A backslash breaks both, for
// names and texts of files must not give commands.
type guard struct {
	w      io.Writer
	inside bool // something but blanks stands in the line already
	colon  bool // and it ends in the first colon of the line
	hashes int
}

// Write implements io.Writer.
func (g *guard) Write(p []byte) (int, error) {
	out := make([]byte, 0, len(p))
	for _, c := range p {
		if g.colon && c == ':' || g.hashes >= 2 && c == '[' {
			out = append(out, '\\')
		}
		out = append(out, c)
		g.colon = !g.inside && c == ':'
		if g.hashes++; c != '#' {
			g.hashes = 0
		}
		switch blank := c == ' ' || c == '\t' || c >= 0x80; { // beyond ASCII there are blanks too
		case c == '\n' || c == '\r':
			g.inside = false
		case !blank:
			g.inside = true
		}
	}
	if _, err := g.w.Write(out); err != nil {
		return 0, err
	}
	return len(p), nil
}

// onGitHub reports whether the output is read by GitHub's log of a job.
func (p Process) onGitHub() bool { return p.env("GITHUB_ACTIONS") == "true" }

// urlVariable names our address in an agent's environment. No two servers that run have the
// same, so that it tells an agent's processes from all others.
const urlVariable = "TOOLBENCH_URL"

// endLeftovers ends the processes that inherited an address and are in no group of ours any
// more, as an agent's commands are that begin a session of their own, and gives their
// commands. It looks where Linux shows environments, and finds nothing elsewhere.
func endLeftovers(url string) (ended []string) {
	const rounds = 20 // what is ended may have started others
	for range rounds {
		found := leftovers(url)
		if len(found) == 0 {
			return ended
		}
		for _, pid := range found {
			text, _ := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "cmdline")) // without it, no word of it
			if command := message.Line(strings.TrimSpace(strings.ReplaceAll(string(text), "\x00", " ")), 81); command != "" && !slices.Contains(ended, command) {
				ended = append(ended, command)
			}
			if p, err := os.FindProcess(pid); err == nil {
				_ = p.Kill() // it may be gone
			}
		}
		time.Sleep(10 * time.Millisecond)
	}
	return ended
}

// leftovers are the processes in whose environment an address stands, but for our own. One
// that has ended and that nobody has waited for has no environment any more.
func leftovers(url string) (pids []int) {
	want := []byte("\x00" + urlVariable + "=" + url + "\x00")
	files, _ := filepath.Glob("/proc/[0-9]*/environ") // the pattern is a good one
	for _, file := range files {
		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(file)))
		env, err := os.ReadFile(file)
		if err == nil && pid != os.Getpid() && bytes.Contains(append([]byte{0}, env...), want) {
			pids = append(pids, pid)
		}
	}
	return pids
}

// untilSilent waits for what reads a process and is alive each time that something came. Where nothing
// comes for so long, end is called, and hung is set.
func untilSilent(patience time.Duration, end func(), read func(alive func()) error) (hung bool, err error) {
	var came atomic.Int64
	over := make(chan error, 1)
	go func() { over <- read(func() { came.Add(1) }) }()
	err, late := run.Await(context.Background(), over, patience, 0, came.Load)
	if late != nil {
		end()
		err = <-over
	}
	return late != nil, err
}
