package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"net"
	"net/http"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"toolbench/sim/cassette"
	"toolbench/sim/scenario"
	"toolbench/sim/scenario/run"
	"toolbench/sim/secret"
	"toolbench/sim/serve"
	"toolbench/sim/stream"
	"toolbench/toolsys/host"
	"toolbench/toolsys/render"
)

type tapFlags struct {
	out, listen, upstream string
	expose, log           bool
	faults, env, urlEnv   []string
	timeout               time.Duration
}

func (a *app) tapCommand() *cobra.Command {
	var f tapFlags
	cmd := explained(&cobra.Command{
		Use: "tap --out FILE.yaml [--listen ADDR | -- COMMAND [ARG...]]", Short: "Record what an agent and its API exchange",
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.tap(cmd.Context(), args, cmd.ArgsLenAtDash(), f)
		},
	})
	flags := cmd.Flags()
	flags.StringVar(&f.out, "out", "", "the cassette to write; one that is there is replaced with the first answer")
	flags.StringVar(&f.listen, "listen", "", "without a command: where to listen, as 127.0.0.1:8080, until Ctrl-C")
	flags.BoolVar(&f.expose, "expose", false, "let --listen be an address that other machines reach")
	flags.StringVar(&f.upstream, "upstream", "", "where the API is; without, where the agent's variables lead, else the provider's own host")
	repeatable(flags, &f.faults, "fault", "what goes wrong on the way, as 'cut @ request=3 event=8' or 'status 529 @ request=1'")
	repeatable(flags, &f.env, "env", "a variable of the agent's environment, as NAME=VALUE")
	repeatable(flags, &f.urlEnv, "url-env", "a further variable that gets the address")
	flags.Var(period(&f.timeout, 0), "timeout", "how long the agent may take; 0 as long as it likes")
	flags.BoolVar(&f.log, "log", false, "print a line for each request as it comes, on the error output")
	return cmd
}

// tap runs the command and gives the error that carries its exit code.
func (a *app) tap(ctx context.Context, args []string, dash int, f tapFlags) error {
	t, err := a.newTap(args, dash, f)
	if err != nil {
		return err
	}
	addr := cmp.Or(f.listen, "127.0.0.1:0")
	listener, err := net.Listen("tcp", addr)
	if err != nil {
		return usage("--listen %s: %s", addr, err)
	}
	known := secret.FromEnv(slices.Concat(a.Env, f.env))
	if t.journal, err = cassette.NewJournal(t.file, cassette.Disturbed{Next: t.network(), Fault: t.fault}, known); err != nil {
		return errors.Join(harness(err), listener.Close())
	}
	web := webServer(t.proxy())
	served := make(chan error, 1)
	go func() { served <- web.Serve(listener) }()
	t.url = "http://" + listener.Addr().String()
	var ended error
	if t.command == nil {
		ended = t.stay(ctx, served)
	} else {
		ended = t.child(ctx)
	}
	_ = shutdown(web) // connections that are still open do not matter any more
	over, cancel := context.WithTimeout(context.Background(), partTime)
	defer cancel()
	return t.conclude(t.journal.Close(over), ended)
}

// tapSession is an agent and its API, and what goes between them.
type tapSession struct {
	app     *app
	flags   tapFlags
	command []string // nil: the agent is started by others
	file    string
	faults  []scenario.FaultLine
	routes  routes
	url     string
	journal *cassette.Journal

	mu       sync.Mutex
	requests int            // that ask a model
	strange  map[string]int // requests of no known API
	failures []string       // why the API could not be reached
	total    int
}

// newTap checks everything before anything is started.
func (a *app) newTap(args []string, dash int, f tapFlags) (*tapSession, error) {
	t := &tapSession{app: a, flags: f, strange: map[string]int{}}
	switch {
	case f.out == "":
		return nil, usage("name the cassette to write with --out FILE.yaml")
	case dash > 0 || dash < 0 && len(args) > 0:
		return nil, usage("put the agent's command behind --, as in `toolbench tap --out session.yaml -- my-agent`")
	case len(args) == 0 && f.listen == "":
		return nil, usage("give the agent's command behind --, or an address with --listen, as in `toolbench tap --out session.yaml -- my-agent`")
	case len(args) > 0 && f.listen != "":
		return nil, usage("--listen and a command exclude each other; give one")
	}
	if f.listen != "" {
		if _, err := reachable("--listen", f.listen, f.expose); err != nil {
			return nil, err
		}
	}
	var err error
	if len(args) > 0 {
		if t.command, err = a.program(args); err != nil {
			return nil, err
		}
	}
	if err := checkEnv(f.env, f.urlEnv); err != nil {
		return nil, err
	}
	if t.file, err = a.cassetteFile(f.out); err != nil {
		return nil, err
	}
	if !isDir(filepath.Dir(t.file)) {
		return nil, usage("--out %s: there is no folder %s", f.out, filepath.Dir(f.out))
	}
	if err := run.Writable(filepath.Dir(t.file)); err != nil {
		return nil, usage("--out %s: %s; name another file", f.out, reason(err))
	}
	if t.faults, err = parseFaults(f.faults); err != nil {
		return nil, err
	}
	t.routes, err = a.newRoutes("--upstream", f.upstream)
	return t, err
}

// parseFaults reads what goes wrong on the way: of a scenario's faults those of requests.
func parseFaults(texts []string) ([]scenario.FaultLine, error) {
	return tryEach(texts, func(text string) (scenario.FaultLine, error) {
		line, err := scenario.ParseFault(text)
		if err == nil && line.Request == 0 {
			err = errors.New("a call goes wrong at the agent, not on the way: use those of requests")
		}
		if err != nil {
			err = usage("--fault %q: %s", text, err)
		}
		return line, err
	})
}

// fault gives what goes wrong with the answer to a request.
func (t *tapSession) fault(r *http.Request) (out cassette.Transit) {
	if !asks(r) {
		return out
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.requests++
	for _, line := range t.faults {
		if line.Request == t.requests {
			transit(r, line, &out)
		}
	}
	return out
}

// transit sets what a line of faults does to the answer on its way.
func transit(r *http.Request, line scenario.FaultLine, to *cassette.Transit) {
	switch line.What {
	case "status":
		asked, _ := strconv.Atoi(line.Arg) // the parser of the line has checked it
		kind, text := cassette.Refusal(asked)
		status, head, body := serve.ErrorOf(r, asked, kind, text)
		to.Refused = &cassette.Refused{Status: status, Header: head, Body: string(body)}
	case "cut":
		to.CutAfter = line.Event
	case "say":
		to.CutAfter, to.LastWords = line.Event, string(serve.LastWords(r, stream.Error{Type: line.Arg, Message: "injected"}))
	case "stall":
		to.StallAfter, to.Stall = line.Event, line.For
	case "malformed":
		to.Malformed = line.Event
	case "twice":
		to.Twice = line.Event
	case "late":
		to.Late, to.LateFor = line.Event, line.For
	}
}

// stay serves until somebody stops it.
func (t *tapSession) stay(ctx context.Context, served <-chan error) error {
	if _, err := fmt.Fprintln(t.app.Stdout, t.url); err != nil {
		return harness(err)
	}
	select {
	case err := <-served:
		return harness(err)
	case <-ctx.Done():
		return nil
	}
}

// child runs the agent to its end.
func (t *tapSession) child(ctx context.Context) error {
	shell, err := host.NewShell(host.ShellConfig{})
	if err != nil {
		return harness(err)
	}
	defer shell.Close()
	run, cancel := context.WithTimeoutCause(ctx, cmp.Or(t.flags.timeout, math.MaxInt64), fmt.Errorf("%w (%s)", errTimeout, t.flags.timeout))
	defer cancel()
	values := strings.NewReplacer("{url}", t.url)
	cmd := exec.Command(t.command[0], each(t.command[1:], values.Replace)...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr, cmd.Dir = t.app.Stdin, t.app.Stdout, t.app.Stderr, t.app.Dir
	cmd.Env, cmd.WaitDelay = t.environment(values), partTime
	code, err := shell.Attached(run, cmd)
	for _, command := range endLeftovers(t.url) {
		t.app.logf("ended, since the agent left it running: %s", command)
	}
	switch {
	case ctx.Err() != nil:
		return interrupted("interrupted")
	case errors.Is(err, errTimeout):
		return &exitError{ExitFailed, fmt.Errorf("the agent was ended: %w", err)}
	case err != nil:
		return usage("the agent's command %s: %s", t.command[0], cmp.Or(errors.Unwrap(err), err))
	case code != 0:
		return &exitError{ExitFailed, fmt.Errorf("the agent ended with exit code %d", code)}
	}
	return nil
}

// environment is the process's own, with the address.
func (t *tapSession) environment(values *strings.Replacer) []string {
	env := slices.Clone(t.app.Env)
	for name, value := range baseURLs(t.url, t.flags.urlEnv) {
		env = append(env, name+"="+value)
	}
	env = append(env, urlVariable+"="+t.url)
	return append(env, each(t.flags.env, values.Replace)...)
}

// conclude prints what was recorded, and gives the error that carries the exit code.
func (t *tapSession) conclude(written, ended error) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, why := range t.failures {
		t.app.logf("%s", why)
	}
	for _, what := range slices.Sorted(maps.Keys(t.strange)) {
		t.app.logf("passed on, of no API that is known: %s (%d)", what, t.strange[what])
	}
	switch {
	case errors.Is(written, cassette.ErrNothingRecorded) && ended != nil:
		t.app.logf("nothing was recorded")
		return ended
	case errors.Is(written, cassette.ErrNothingRecorded) && t.total > 0:
		return &exitError{ExitFailed, errors.New("nothing was recorded: no request had an answer")}
	case errors.Is(written, cassette.ErrNothingRecorded) && t.command == nil:
		return interrupted("interrupted before anything was asked; give the agent the address of the first line as its base URL")
	case errors.Is(written, cassette.ErrNothingRecorded):
		return &exitError{ExitFailed, errors.New("the agent asked for nothing: " + baseURLHint(t.flags.urlEnv))}
	case written != nil:
		kept := map[bool]string{true: "what came before is in it", false: "nothing of it is kept"}[t.journal.Begun()]
		return harness(fmt.Errorf("writing %s: %w; %s", t.flags.out, reason(written), kept))
	}
	text := render.Count(t.journal.Recorded(), "exchange") + " recorded in " + t.flags.out
	if secrets := secret.Total(t.journal.Blanked()); secrets > 0 {
		text += ", " + render.Count(secrets, "secret") + " blanked"
	}
	t.app.logf("%s", text)
	return ended
}
