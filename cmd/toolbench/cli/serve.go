package cli

import (
	"bytes"
	"cmp"
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
	"toolbench/sim/scenario"
	"toolbench/sim/serve"
	"toolbench/sim/stream"
	"toolbench/toolsys/host"
)

type serveFlags struct {
	printing
	addr, report                string
	expose, again, strict, done bool
	speed                       float64
	idle                        time.Duration
	pace                        stream.Pace
	hosts, maps                 []string
	log                         bool
}

func (a *app) serveCommand() *cobra.Command {
	f := serveFlags{printing: printing{outputs: outputs{names: append(timelines(), "junit")}}, speed: 1, addr: "127.0.0.1:0"}
	cmd := &cobra.Command{Use: "serve RECORDING|SCENARIO", Short: "Serve a recording to any client", ValidArgsFunction: a.completeNames}
	flags := cmd.Flags()
	flags.StringVar(&f.addr, "addr", f.addr, "where to listen; port 0 takes a free one")
	flags.BoolVar(&f.expose, "expose", false, "let --addr be one that other machines reach")
	repeatable(flags, &f.hosts, "allow-host", "answer under this name too, beside loopback's and --addr's")
	flags.Var(&value[float64]{to: &f.speed, parse: speed, kind: "SPEED", text: "1"}, "speed", "how fast streams run: 1 as recorded, 2x, 0 at once")
	addPace(flags, &f.pace)
	flags.BoolVar(&f.again, "again", false, "serve conversations once more when all were served")
	flags.BoolVar(&f.strict, "strict", false, "a result that differs from its recording is a failure")
	flags.BoolVar(&f.done, "exit-when-done", false, "end when every conversation was served to its end")
	flags.Var(period(&f.idle, 0), "idle", "end when nothing was asked for so long; 0 never")
	flags.StringVar(&f.report, "report", "", "write the report to this file instead")
	repeatable(flags, &f.maps, "map", "what the client calls a tool and its arguments, as Read=read_file,file_path=path")
	flags.BoolVar(&f.log, "log", false, "print a line for each request as it comes, on the error output")
	return a.reporter(cmd, &f.printing, func(cmd *cobra.Command, args []string) error { return a.serve(cmd.Context(), args, f) })
}

// speed reads "1", "2x" and "0".
func speed(text string) (float64, error) {
	x, err := strconv.ParseFloat(strings.TrimSuffix(text, "x"), 64)
	if err != nil || !(x >= 0 && x <= 1e6) {
		return 0, errors.New("write 1, 2x or 0")
	}
	return x, nil
}

// serve runs the command and gives the error that carries its exit code.
func (a *app) serve(ctx context.Context, args []string, f serveFlags) error {
	if len(args) != 1 {
		return usage("name one recording or scenario, as in `toolbench serve session.yaml`")
	}
	host, err := reachable("--addr", f.addr, f.expose)
	if err != nil {
		return err
	}
	names, err := parseNames(f.maps)
	if err != nil {
		return err
	}
	script, sc, err := a.served(args[0], f.pace)
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
	options := serve.Options{Speed: f.speed, Again: f.again, Strict: f.strict, Hosts: append(f.hosts, host), Names: names}
	if sc != nil {
		options.Fault = sc.StreamFaults()
	}
	if f.log {
		options.Log = a.logServed
	}
	server := serve.New(script, options)
	if _, err := fmt.Fprintf(a.Stdout, "http://%s\n", listener.Addr()); err != nil {
		return errors.Join(harness(err), listener.Close())
	}
	if err := listen(ctx, listener, server, f); err != nil {
		return harness(err)
	}
	return a.concludeServe(ctx, server, sc, f)
}

// logServed prints a line for what happened.
func (a *app) logServed(l serve.Line) {
	where := ""
	if l.Conversation > 0 {
		where = fmt.Sprintf(" conversation %d:", l.Conversation)
	}
	a.logf("%s %s%s %s", l.At.Round(time.Millisecond), l.What, where, l.Text)
}

// reachable gives the host of an address to listen on. It refuses to let other machines in unless that is
// asked for.
func reachable(flag, addr string, expose bool) (string, error) {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return "", usage("%s %s: %s; write HOST:PORT, as 127.0.0.1:8080", flag, addr, err)
	}
	ip := net.ParseIP(host)
	if expose || host == "localhost" || ip != nil && ip.IsLoopback() {
		return host, nil
	}
	return "", usage("%s %s can be reached from other machines; use 127.0.0.1, or add --expose", flag, addr)
}

// The server's patience with its clients.
const (
	headerTime = 10 * time.Second
	bodyTime   = time.Minute
	quietTime  = 2 * time.Minute
	partTime   = 2 * time.Second
	lookTime   = 20 * time.Millisecond
)

// webServer answers in HTTP/2 too, without being asked to change to it: so AWS's clients
// begin.
func webServer(h http.Handler) *http.Server {
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true)
	protocols.SetUnencryptedHTTP2(true)
	return &http.Server{Handler: h, ReadHeaderTimeout: headerTime, Protocols: protocols}
}

// listen serves until the end that was asked for.
func listen(ctx context.Context, listener net.Listener, server *serve.Server, f serveFlags) error {
	h := webServer(server)
	h.ReadTimeout, h.IdleTimeout = bodyTime, quietTime
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
func (a *app) concludeServe(ctx context.Context, server *serve.Server, sc *scenario.Scenario, f serveFlags) error {
	r := reports.ServeReport{Report: server.Report()}
	if len(r.Sessions) > 0 {
		out := server.Outcome(serve.Trial{Scenario: sc})
		r.Seen = &out
		if sc != nil {
			r.Outcome = &out
		}
	}
	unwritten := a.printFiles(r, f.printing)
	var text bytes.Buffer
	if err := reports.Print(&text, r, f.outputs.screen, a.drawing(f.displayFlags)); err != nil {
		return harness(err)
	}
	if f.report != "" {
		unwritten = cmp.Or(a.writeNamed(f.report, text.Bytes()), unwritten)
	}
	if f.report == "" || unwritten != nil { // what came of a session is not there a second time
		unwritten = cmp.Or(unwritten, a.printAll(text.Bytes()))
	}
	state := server.State()
	if state.Forbidden != "" {
		a.logf("a request was refused: %s", state.Forbidden)
	}
	switch {
	case unwritten != nil:
		return unwritten
	case state.Requests == 0 && ctx.Err() != nil:
		return interrupted("interrupted before anything was asked")
	case state.Requests == 0:
		return &exitError{ExitFailed, errors.New("nothing was asked; give the client the address of the first line as its base URL")}
	case !r.Held():
		return failed()
	}
	return nil
}

// served finds what is to be served: a file that is a recording, else one that is a
// scenario, else a scenario of the suite.
func (a *app) served(arg string, pace stream.Pace) (*serve.Script, *scenario.Scenario, error) {
	info, err := os.Stat(a.path(arg))
	switch {
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return nil, nil, usage("%s: %s", arg, reason(err))
	case err == nil && !info.Mode().IsRegular():
		return nil, nil, usage("%s: it is no file; name one recording or scenario", arg)
	}
	if script, err := a.recorded(arg, pace); script != nil || err != nil {
		return script, nil, err
	}
	return a.servedScenario(arg, pace)
}

// recorded reads a file that is a recording; nil is something else.
func (a *app) recorded(arg string, pace stream.Pace) (*serve.Script, error) {
	if !isFile(a.path(arg)) {
		return nil, nil
	}
	script, err := readWith(a, arg, func(r *os.File) (*serve.Script, error) { return serve.FromRecording(arg, r, recording.Limits{}, pace) })
	switch {
	case err == nil:
		return script, nil
	case errors.Is(err, recording.ErrNotRecording) && isYAML(arg):
		return nil, nil
	}
	return nil, invalid(err)
}

func isYAML(name string) bool {
	ext := strings.ToLower(filepath.Ext(name))
	return ext == ".yaml" || ext == ".yml"
}

func (a *app) servedScenario(arg string, pace stream.Pace) (*serve.Script, *scenario.Scenario, error) {
	sc, err := a.scenario(arg)
	if err != nil {
		return nil, nil, err
	}
	script, err := serve.FromScenario(sc, pace)
	if err != nil {
		return nil, nil, invalid(err)
	}
	script.Source = arg
	return script, sc, nil
}

// scenario loads what an argument names: a file, else a scenario of the suite.
func (a *app) scenario(arg string) (*scenario.Scenario, error) {
	fsys, name := fs.FS(scenarios.Files), ""
	if path := a.path(arg); isFile(path) {
		fsys, name = host.DirFS(filepath.Dir(path)), filepath.Base(path)
	} else {
		for _, e := range a.named(arg) {
			if e.Name == arg {
				name = strings.TrimPrefix(e.File, "scenarios/")
			}
		}
	}
	if name == "" {
		return nil, usage("%s is no file and no scenario of the suite; see `toolbench list`", arg)
	}
	sc, err := scenario.Load(fsys, name)
	if err != nil {
		return nil, invalid(err)
	}
	return sc, nil
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}
