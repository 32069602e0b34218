package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"toolbench/reports"
	"toolbench/scenarios"
	"toolbench/sim/recording"
	"toolbench/sim/replay"
	"toolbench/sim/scenario"
	"toolbench/sim/serve"
	"toolbench/sim/stream"
	"toolbench/toolsys/host"
)

const serveLong = `Serves a recording, or a scenario's stream, as a Messages API on this machine, so
that any client that takes a base URL can be tried: POST /v1/messages, streaming with
the recorded times or in one piece, count_tokens and models.

The first line of the output is the address. Conversations are recognized by their
first user message, else served in turn; the next answer is the one behind the last
that the client sent back. What the recording has no answer for is an API error.

A request whose Host or Origin is another's is refused (403), so that no page in a
browser reaches the server: the names of loopback, the address that was listened on and
those of --allow-host are its own.

What the client sends back is checked, and reported when the server ends: at Ctrl-C,
with --exit-when-done, or when nothing was asked for --idle: one result for each call,
in call order and place; the assistant's messages unchanged; tools and cache
breakpoints stable; results as recorded (which a client's own tools need not give).`

const serveExample = `  toolbench serve session.yaml
  ANTHROPIC_BASE_URL=http://127.0.0.1:8080 my-agent      in another terminal
  toolbench serve session.yaml --addr 127.0.0.1:8080 --speed 0 --exit-when-done
  toolbench serve partition-headline --format json --report report.json`

const serveCodes = `Exit codes:
  0    every check held
  1    a check failed, a request was refused, or nothing was asked
  2    the command line is wrong, or the file is no recording and no scenario
  3    the harness itself failed
  130  interrupted before anything was asked`

type serveFlags struct {
	looks
	addr, format, report        string
	expose, again, strict, done bool
	schema                      bool
	speed                       float64
	idle                        time.Duration
	pace                        stream.Pace
	hosts                       []string
}

func (a *app) serveCommand() *cobra.Command {
	f := serveFlags{format: "table", speed: 1, pace: replay.DefaultPace(), addr: "127.0.0.1:0"}
	cmd := &cobra.Command{
		Use: "serve RECORDING|SCENARIO", Short: "Serve a recording to any client", Long: serveLong + "\n\n" + serveCodes, Example: serveExample,
		RunE: func(cmd *cobra.Command, args []string) error { return a.serve(cmd.Context(), args, f) },
	}
	flags := cmd.Flags()
	f.looks.add(flags)
	flags.StringVar(&f.addr, "addr", f.addr, "where to listen; port 0 takes a free one")
	flags.BoolVar(&f.expose, "expose", false, "let --addr be one that other machines reach")
	flags.StringArrayVar(&f.hosts, "allow-host", nil, "answer under this name too, beside loopback's and --addr's; repeatable")
	flags.Var(&value[float64]{to: &f.speed, parse: speed, kind: "SPEED", text: "1"}, "speed", "how fast streams run: 1 as recorded, 2x, 0 at once")
	flags.Var(&value[stream.Pace]{to: &f.pace, parse: replay.ParsePace, kind: "PACE"}, "pace", "the speed of streams without times; without, first_byte=400ms,tps=80")
	flags.BoolVar(&f.again, "again", false, "serve conversations once more when all were served")
	flags.BoolVar(&f.strict, "strict", false, "a result that differs from its recording is a failure")
	flags.BoolVar(&f.done, "exit-when-done", false, "end when every conversation was served to its end")
	flags.DurationVar(&f.idle, "idle", 0, "end when nothing was asked for so long; 0 never")
	flags.StringVar(&f.report, "report", "", "write the report to this file instead")
	flags.BoolVar(&f.schema, "schema", false, "print the JSON Schema of --format json, and serve nothing")
	format := &value[string]{to: &f.format, parse: oneOf("table", "json"), kind: "FORMAT", text: "table"}
	flags.VarPF(format, "format", "", "table or json").Annotations = map[string][]string{ownValues: {"serve"}}
	cmd.ValidArgsFunction = a.completeNames
	return cmd
}

// speed reads "1", "2x" and "0".
func speed(text string) (float64, error) {
	x, err := strconv.ParseFloat(strings.TrimSuffix(text, "x"), 64)
	if err != nil || x < 0 || x > 1e6 {
		return 0, errors.New("write 1, 2x or 0")
	}
	return x, nil
}

// serve is the way from arguments to the exit code.
func (a *app) serve(ctx context.Context, args []string, f serveFlags) error {
	switch {
	case f.schema:
		return a.printAll(reports.Schema("serve"))
	case len(args) != 1:
		return usage("name one recording or scenario, as in `toolbench serve session.yaml`")
	}
	host, err := reachable(f)
	if err != nil {
		return err
	}
	script, err := a.served(args[0], f.pace)
	if err != nil {
		return err
	}
	for _, p := range script.Problems {
		a.logf("%s: %s", args[0], p)
	}
	listener, err := net.Listen("tcp", f.addr)
	if err != nil {
		return usage("--addr %s: %s", f.addr, err)
	}
	server := serve.New(script, serve.Options{Speed: f.speed, Again: f.again, Strict: f.strict, Hosts: append(f.hosts, host)})
	if _, err := fmt.Fprintf(a.Stdout, "http://%s\n", listener.Addr()); err != nil {
		return errors.Join(wrap(err), listener.Close())
	}
	if err := listen(ctx, listener, server, f); err != nil {
		return harness(err)
	}
	return a.concludeServe(ctx, server, f)
}

// reachable gives the host of --addr. It refuses to let other machines in unless that is
// asked for.
func reachable(f serveFlags) (string, error) {
	host, _, err := net.SplitHostPort(f.addr)
	if err != nil {
		return "", usage("--addr %s: %s; write HOST:PORT, as 127.0.0.1:8080", f.addr, err)
	}
	ip := net.ParseIP(host)
	if f.expose || host == "localhost" || ip != nil && ip.IsLoopback() {
		return host, nil
	}
	return "", usage("--addr %s can be reached from other machines; use 127.0.0.1, or add --expose", f.addr)
}

// The server's patience with its clients.
const (
	headerTime = 10 * time.Second
	bodyTime   = time.Minute
	quietTime  = 2 * time.Minute
	partTime   = 2 * time.Second
	lookTime   = 20 * time.Millisecond
)

// listen serves until the end that was asked for.
func listen(ctx context.Context, listener net.Listener, server *serve.Server, f serveFlags) error {
	h := &http.Server{Handler: server, ReadHeaderTimeout: headerTime, ReadTimeout: bodyTime, IdleTimeout: quietTime}
	failed := make(chan error, 1)
	go func() { failed <- h.Serve(listener) }()
	over := time.NewTicker(lookTime)
	defer over.Stop()
	for {
		select {
		case err := <-failed:
			return err
		case <-ctx.Done():
			return shutdown(h)
		case now := <-over.C:
			state := server.State()
			if f.done && state.Done || f.idle > 0 && state.InFlight == 0 && now.Sub(state.Last) > f.idle {
				return shutdown(h)
			}
		}
	}
}

// shutdown lets answers come to their end, for a while.
func shutdown(h *http.Server) error {
	ctx, cancel := context.WithTimeout(context.Background(), partTime)
	defer cancel()
	if err := h.Shutdown(ctx); err != nil {
		return h.Close()
	}
	return nil
}

// concludeServe prints the report and gives the error that carries the exit code.
func (a *app) concludeServe(ctx context.Context, server *serve.Server, f serveFlags) error {
	r := server.Report()
	var text bytes.Buffer
	var err error
	if f.format == "json" {
		err = reports.ServeJSON(&text, r)
	} else {
		err = reports.ServeTable(&text, r, a.drawing(f.looks))
	}
	if err != nil {
		return harness(err)
	}
	if f.report != "" {
		if err := writeWhole(a.path(f.report), text.Bytes()); err != nil {
			return harness(fmt.Errorf("writing %s: %w", f.report, err))
		}
	} else if err := a.printAll(text.Bytes()); err != nil {
		return err
	}
	state := server.State()
	if state.Forbidden != "" {
		a.logf("a request was refused: %s", state.Forbidden)
	}
	switch {
	case state.Requests == 0 && ctx.Err() != nil:
		return &exitError{ExitInterrupted, errors.New("interrupted before anything was asked")}
	case state.Requests == 0:
		return &exitError{ExitFailed, errors.New("nothing was asked; give the client the address of the first line as its base URL")}
	case !r.Held():
		return &exitError{code: ExitFailed}
	}
	return nil
}

// script finds what is to be served: a file that is a recording, else one that is a
// scenario, else a scenario of the suite.
func (a *app) served(arg string, pace stream.Pace) (*serve.Script, error) {
	info, err := os.Stat(a.path(arg))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return a.servedOfSuite(arg, pace)
	case err != nil:
		return nil, usage("%s: %s", arg, reason(err))
	case !info.Mode().IsRegular():
		return nil, usage("%s: it is no file; name one recording or scenario", arg)
	}
	file, err := os.Open(a.path(arg))
	if err != nil {
		return nil, usage("%s: %s", arg, reason(err))
	}
	defer file.Close()
	script, err := serve.FromRecording(arg, file, recording.Limits{}, pace)
	switch {
	case err == nil:
		return script, nil
	case !errors.Is(err, recording.ErrNotRecording) || !isYAML(arg):
		return nil, &exitError{ExitUsage, err}
	}
	abs := a.path(arg)
	return servedScenario(host.DirFS(filepath.Dir(abs)), filepath.Base(abs), arg, pace)
}

func isYAML(name string) bool {
	ext := strings.ToLower(filepath.Ext(name))
	return ext == ".yaml" || ext == ".yml"
}

// servedOfSuite takes a scenario of the suite by its name.
func (a *app) servedOfSuite(name string, pace stream.Pace) (*serve.Script, error) {
	for _, e := range a.suite() {
		if e.Name == name {
			return servedScenario(scenarios.Files, strings.TrimPrefix(e.File, "scenarios/"), name, pace)
		}
	}
	return nil, usage("%s is no file and no scenario of the suite; see `toolbench list`", name)
}

func servedScenario(fsys fs.FS, file, name string, pace stream.Pace) (*serve.Script, error) {
	sc, err := scenario.Load(fsys, file)
	if err != nil {
		return nil, &exitError{ExitUsage, err}
	}
	script, err := serve.FromScenario(sc, pace)
	if err != nil {
		return nil, &exitError{ExitUsage, err}
	}
	script.Source = name
	return script, nil
}
