package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"toolbench/reports"
	"toolbench/sim/world"
	"toolbench/toolsys"
	"toolbench/toolsys/mcptool"
	"toolbench/toolsys/message"
	"toolbench/toolsys/render"
	"toolbench/toolsys/tool"
)

// mcpCommand groups what is done with live MCP servers.
func (a *app) mcpCommand() *cobra.Command {
	cmd := explained(&cobra.Command{Use: "mcp", Short: "Look at MCP servers, call their tools, and be one"})
	cmd.AddCommand(a.mcpListCommand(), a.mcpCallCommand(), a.mcpLoginCommand(), a.mcpServeCommand())
	return cmd
}

func (a *app) mcpListCommand() *cobra.Command {
	var p printing
	var f serverFlags
	cmd := &cobra.Command{
		Use: "list", Short: "List what servers offer, under the names that a model sees",
		Long: "Lists the tools, resources and prompts of servers, under the names that a model sees, with\nwhat is odd about each.",
		Args: none,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.withServers(cmd.Context(), f, func(servers tool.Servers, reported *toolReports) error {
				return a.mcpList(cmd.Context(), servers, reported.all, p)
			})
		},
	}
	f.add(cmd.Flags(), 30*time.Second)
	p.add(cmd.Flags())
	return cmd
}

func (a *app) mcpCallCommand() *cobra.Command {
	var f serverFlags
	var answers []string
	cmd := &cobra.Command{
		Use: "call TOOL [INPUT]", Short: "Call a server's tool as an agent would",
		Long: "Calls a tool by the name that `toolbench mcp list` gives, or by its own where one server has\nit, with a JSON object as its input, and prints the result. The input is validated first.\nWhat the server asks meanwhile is answered with --answer, in order, and then declined.\nThe exit code is 1 where the tool failed.",
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 || len(args) > 2 {
				return usage("name a tool and its input, as in `toolbench mcp call --mcp 'my-server' add '{\"a\": 1}'`")
			}
			input := "{}"
			if len(args) == 2 {
				input = args[1]
			}
			asked, err := answering(answers)
			if err != nil {
				return err
			}
			return a.withServers(cmd.Context(), f, func(servers tool.Servers, reported *toolReports) error {
				err := a.mcpCall(cmd.Context(), servers, args[0], input, asked, f.limit)
				if errors.Is(err, mcptool.ErrGone) { // the call has no reason, and the server has
					select {
					case <-reported.lost:
					case <-time.After(serverEnd):
					}
				}
				return err
			})
		},
	}
	f.add(cmd.Flags(), mcptool.CallLimit)
	repeatable(cmd.Flags(), &answers, "answer", "the content of the answer to the server's next question, a JSON object")
	return cmd
}

// elicit answers a server's question.
type elicit func(ctx context.Context, server string, params []byte) ([]byte, error)

// answering gives the answers in order; what is asked after the last is declined.
func answering(texts []string) (elicit, error) {
	for _, text := range texts {
		if !json.Valid([]byte(text)) || !strings.HasPrefix(strings.TrimSpace(text), "{") {
			return nil, usage("--answer %s: write a JSON object", text)
		}
	}
	var mu sync.Mutex
	return func(context.Context, string, []byte) ([]byte, error) {
		mu.Lock()
		defer mu.Unlock()
		if len(texts) == 0 {
			return []byte(`{"action":"decline"}`), nil
		}
		content := texts[0]
		texts = texts[1:]
		return []byte(`{"action":"accept","content":` + content + `}`), nil
	}, nil
}

// withServers connects the servers that the flags name, and closes them in the end.
func (a *app) withServers(ctx context.Context, f serverFlags, do func(servers tool.Servers, reported *toolReports) error) error {
	fleet, reported, err := a.fleet(ctx, f)
	if err != nil {
		return err
	}
	defer fleet.Close()
	return do(mcptool.Join(fleet), reported)
}

// fleet connects the servers that the flags name, with what is odd about their tools. It
// is an error when none is reached.
func (a *app) fleet(ctx context.Context, f serverFlags) (*mcptool.Fleet, *toolReports, error) {
	specs, failures, err := a.specs(f)
	if err != nil {
		return nil, nil, err
	}
	if len(specs)+len(failures) == 0 {
		return nil, nil, usage("name a server with --mcp, --mcp-url or --mcp-config")
	}
	a.unreached(failures)
	endpoints, addresses := a.endpoints(specs)
	r := &toolReports{logged: a.logServer, addresses: addresses, lost: make(chan struct{}, 1)}
	fleet, err := mcptool.Connect(mcptool.FleetConfig{
		Clock: toolsys.RealClock(), Attempts: -1, ConnectLimit: f.limit, Report: r.add,
	}, endpoints...)
	if err != nil {
		return nil, nil, usage("%s", err)
	}
	defer context.AfterFunc(ctx, fleet.Close)() // programs end with us, also those that never answer
	answered := a.awaiting(len(specs), f.limit)
	fleet.Ready(f.limit + serverEnd)
	answered()
	if ctx.Err() != nil {
		fleet.Close()
		return nil, nil, interrupted("interrupted")
	}
	if !slices.ContainsFunc(endpoints, func(e mcptool.Endpoint) bool { return fleet.Up(e.Name) }) {
		fleet.Close()
		return nil, nil, usage("none of the servers could be reached")
	}
	return fleet, r, nil
}

// serverEnd is what a program that gave no answer has to end, before it is reported why it was given up.
const serverEnd = 6 * time.Second

// endpoints are the servers by names that differ: their own in a configuration, else that of
// their program or host. addresses are those that have one, by name.
func (a *app) endpoints(specs []world.ServerConfig) (out []mcptool.Endpoint, addresses map[string]string) {
	addresses = map[string]string{}
	for _, s := range specs {
		name := s.Name
		if name == "" {
			at, err := url.Parse(s.URL)
			if err == nil {
				name = at.Hostname()
			}
			name = cmp.Or(name, strings.TrimSuffix(filepath.Base(s.Command), filepath.Ext(s.Command)))
		}
		for i, base := 2, name; slices.ContainsFunc(out, func(e mcptool.Endpoint) bool { return e.Name == name }); i++ {
			name = fmt.Sprintf("%s-%d", base, i)
		}
		addresses[name] = s.URL
		out = append(out, mcptool.Endpoint{Name: name, Dial: s.Dial(a.processes(), a.Stderr)})
	}
	return out, addresses
}

// toolReports takes the reports of a fleet. One about a server is logged at once; one about a
// tool is kept, to be printed below the list of tools.
type toolReports struct {
	logged    func(format string, args ...any)
	addresses map[string]string
	mu        sync.Mutex
	kept      []string
	// lost is there for who waits until something about a server was logged.
	lost chan struct{}
}

func (r *toolReports) add(one mcptool.Report) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if one.Tool == "" {
		r.logged("%s%s", one, loginHint(r.addresses[one.Server], one.What))
		select {
		case r.lost <- struct{}{}:
		default:
		}
		return
	}
	r.kept = append(r.kept, one.String())
}

func (r *toolReports) all() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.kept)
}

func (a *app) mcpList(ctx context.Context, servers tool.Servers, remarks func() []string, p printing) error {
	report := reports.ServersReport{Version: reports.ListVersion}
	for _, t := range servers.Served(ctx).Tools {
		in, _ := t.Decode(json.RawMessage("{}")) // a server's traits do not depend on it
		b := t.Behaviour
		report.Tools = append(report.Tools, reports.ServedTool{
			Name: t.Name, Server: t.Origin.Server, Tool: t.Origin.Tool, About: t.Description, Hint: t.Hint,
			ReadOnly: b.ReadOnly(in), Destructive: b.Destructive(in), OpenWorld: b.OpenWorld(in), Always: t.Loading.Always,
		})
	}
	var err, other error
	report.Resources, err = servers.Resources(ctx, "")
	report.Prompts, other = servers.Prompts(ctx)
	report.Remarks = remarks()
	for _, err := range []error{err, other} {
		if err != nil {
			a.logf("%s", err)
		}
	}
	return a.print(report, p)
}

// mcpCall finds the tool, holds the input to its schema and calls it.
func (a *app) mcpCall(ctx context.Context, servers tool.Servers, name, input string, asked elicit, within time.Duration) error {
	t, err := chosen(servers.Served(ctx).Tools, name)
	if err != nil {
		return err
	}
	in, problems := t.Parse(json.RawMessage(input))
	if len(problems) > 0 {
		return usage("the input of %s: %s", t.Name, problems)
	}
	limited, end := context.WithTimeoutCause(ctx, within, fmt.Errorf("%s did not answer within %s; --timeout gives it longer", t.Name, within))
	defer end()
	out, err := t.Call(limited, in, &tool.Context{Core: tool.Core{Clock: toolsys.RealClock()}, Extensions: tool.Extensions{Elicit: asked}})
	switch {
	case ctx.Err() != nil:
		return interrupted("interrupted")
	case err != nil:
		return &exitError{ExitFailed, err}
	}
	for _, b := range out.Blocks {
		if err := a.printBlock(b); err != nil {
			return err
		}
	}
	if out.Failed {
		return &exitError{ExitFailed, errors.New(t.Name + " failed")}
	}
	return nil
}

func (a *app) printBlock(b message.Block) error {
	if b.Type == message.TypeText {
		return a.printAll([]byte(strings.Join(reports.SafeLines(b.Text), "\n")))
	}
	raw, _ := json.Marshal(b) // it came as JSON
	return a.printAll(raw)
}

// chosen is the tool of that name, or the only one that its server calls so.
func chosen(all []*tool.Tool, name string) (*tool.Tool, error) {
	var own, names []string
	for _, t := range all {
		if t.Name == name {
			return t, nil
		}
		if t.Origin.Tool == name {
			own = append(own, t.Name)
		}
		names = append(names, t.Name, t.Origin.Tool)
	}
	switch len(own) {
	case 0:
		return nil, usage("no server has a tool %q%s; see `toolbench mcp list`", name, closest(name, names))
	case 1:
		return chosen(all, own[0])
	}
	return nil, usage("%q is a tool of several servers: name %s", name, strings.Join(own, " or "))
}

func (a *app) mcpLoginCommand() *cobra.Command {
	var f serverFlags
	cmd := &cobra.Command{
		Use: "login", Short: "Log in to servers that ask for OAuth, and keep what they grant",
		Long: "Logs in to servers that ask for OAuth: prints the address of a page to agree on, waits for the\nanswer on this machine, and keeps what was granted for the commands that use servers, in a\nfile that only its owner can read. --timeout is how long a person has.",
		Args: none,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.mcpLogin(cmd.Context(), f) },
	}
	f.add(cmd.Flags(), 5*time.Minute)
	return cmd
}

func (a *app) mcpLogin(ctx context.Context, f serverFlags) error {
	specs, failures, err := a.specs(f)
	if err != nil {
		return err
	}
	kept, err := a.grantsFile(f.grants)
	if err != nil {
		return err
	}
	specs = slices.DeleteFunc(specs, func(s world.ServerConfig) bool { return s.URL == "" })
	if len(specs)+len(failures) == 0 {
		return usage("name a server with an address, by --mcp-url or --mcp-config")
	}
	a.unreached(failures)
	for _, s := range specs {
		if err := a.logIn(ctx, s, kept, f.limit); err != nil {
			return err
		}
	}
	if len(failures) > 0 {
		return &exitError{code: ExitUsage}
	}
	return nil
}

// logIn has a person agree and keeps what is granted; a server that lets everybody in is
// named as such.
func (a *app) logIn(ctx context.Context, s world.ServerConfig, kept grants, limit time.Duration) error {
	page, err := listenForCallback(s.OAuth.Port, func(page string) {
		a.logServer("to log in to %s, open this page:", s.URL)
		fmt.Fprintln(a.Stderr, reports.Safe(page))
	})
	if err != nil {
		return err
	}
	defer page.listener.Close()
	granted := false
	let := &mcptool.Authorization{Redirect: "http://" + page.listener.Addr().String() + "/callback", Visit: page.visit, Keep: func(g mcptool.Grant) error {
		granted = true
		return kept.keep(s.URL, g)
	}}
	if s.OAuth.ID != "" {
		let.Client = &mcptool.Client{ID: s.OAuth.ID, Secret: s.OAuth.Secret}
	}
	if s.Let == nil || !s.OAuth.Unattended() {
		s.Let = let
	}
	listed, failures := world.ListServers(ctx, []world.ServerConfig{s}, a.processes(), limit)
	switch {
	case ctx.Err() != nil:
		return interrupted("interrupted")
	case len(failures) > 0:
		a.logServer("MCP server %q: %s", failures[0].Server, failures[0].Err)
		return &exitError{code: ExitUsage}
	case !granted:
		a.logServer("%s let us in without a login: %s", s.URL, render.Count(listed.Tools(), "tool"))
		return nil
	}
	a.logServer("logged in to %s: %s; what it granted is kept in %s", s.URL, render.Count(listed.Tools(), "tool"), kept.file)
	return nil
}
