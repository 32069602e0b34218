package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"toolbench/sim/secret"
	"toolbench/sim/serve"
	"toolbench/sim/stream"
	"toolbench/toolsys"
	"toolbench/toolsys/api"
	"toolbench/toolsys/builtin"
	agentwork "toolbench/toolsys/builtin/work"
	"toolbench/toolsys/host"
	"toolbench/toolsys/loop"
	"toolbench/toolsys/message"
	"toolbench/toolsys/permission"
	"toolbench/toolsys/pipeline"
	"toolbench/toolsys/schedule"
	"toolbench/toolsys/settings"
	"toolbench/toolsys/tool"
)

type chatFlags struct {
	looks
	rules                        rulesFlags
	baseURL, keyEnv, model, root string
	transcript, resume, sandbox  string
	writable, env                []string
	network, quiet               bool
	speed                        float64
	retries                      int
}

// The model that is asked where none is named, and how deep agents start agents.
const (
	chatModel = "claude-sonnet-4-5"
	chatDepth = 3
)

func (a *app) chatCommand() *cobra.Command {
	f := chatFlags{root: ".", sandbox: "auto", speed: 1, retries: 2}
	cmd := &cobra.Command{
		Use: "chat [RECORDING|SCENARIO]", Short: "Converse with a model that has the tools on this machine", ValidArgsFunction: a.completeNames,
		RunE: func(cmd *cobra.Command, args []string) error { return a.chat(cmd.Context(), args, f) },
	}
	flags := cmd.Flags()
	f.looks.add(flags)
	flags.StringVar(&f.baseURL, "base-url", strings.TrimSuffix(api.DefaultBaseURL, "/"), "where the API is, as `toolbench serve` prints it")
	flags.StringVar(&f.keyEnv, "key-env", "ANTHROPIC_API_KEY", "the variable that holds the key; an API on this machine needs none")
	flags.StringVar(&f.model, "model", chatModel, "the model")
	flags.StringVar(&f.root, "root", f.root, "the folder to work in; files outside of it cannot be reached")
	own(flags, &value[string]{to: &f.rules.mode, parse: knownMode, kind: "MODE"}, "mode", "default, plan, acceptEdits or bypass")
	repeatable(flags, &f.rules.allow, "allow", "a permission rule that allows, as 'Bash(git status:*)'")
	repeatable(flags, &f.rules.ask, "ask", "a rule that asks")
	repeatable(flags, &f.rules.deny, "deny", "a rule that denies")
	repeatable(flags, &f.rules.settings, "settings", "a settings file with rules")
	own(flags, choice(&f.sandbox, "WHEN", "auto", "on", "off"), "sandbox", "confine commands: auto where the machine can, on or not at all, off")
	repeatable(flags, &f.writable, "writable", "a folder that confined commands may write to, beside the root")
	flags.BoolVar(&f.network, "network", false, "let confined commands reach the network")
	repeatable(flags, &f.env, "env", "a variable with the name of a secret that commands get nonetheless")
	flags.StringVar(&f.transcript, "transcript", "", "where the conversation is kept; off keeps none; without, below .toolbench of the root")
	flags.StringVar(&f.resume, "resume", "", "go on with a transcript; last is the newest of the root")
	own(flags, &value[float64]{to: &f.speed, parse: speed, kind: "SPEED", text: "1"}, "speed", "how fast a recording's streams run: 1 as recorded, 2x, 0 at once")
	flags.Var(number(&f.retries, 0), "retries", "how often a request is sent again that the API had no time for")
	flags.BoolVarP(&f.quiet, "quiet", "q", false, "print the model's words alone, not what its tools do")
	return explained(cmd)
}

// knownMode reads a mode that a person can set.
func knownMode(text string) (string, error) {
	mode, err := permission.ParseMode(text)
	if err != nil || mode == permission.Auto {
		return "", errors.New("use default, plan, acceptEdits or bypass")
	}
	return text, nil
}

// chat is the way from arguments to the exit code.
func (a *app) chat(ctx context.Context, args []string, f chatFlags) error {
	c := &chat{a: a, flags: f, chatInput: chatInput{asked: make(chan *question)}}
	c.screen = a.chatScreen(f)
	defer c.close()
	if err := c.start(args); err != nil {
		return err
	}
	release := a.Interrupts.Take(c.interrupt)
	defer release()
	return c.run(ctx)
}

// chat is a conversation at the terminal, or with a script.
type chat struct {
	a      *app
	flags  chatFlags
	root   string
	screen *chatScreen
	mode   permission.Mode
	rules  permission.Rules

	system  *toolsys.System
	session *loop.Session
	kept    *transcript
	closers []func() error

	chatInput
}

func (c *chat) onClose(f func() error) { c.closers = append(c.closers, f) }

// close ends what was started, the last first.
func (c *chat) close() {
	for _, f := range slices.Backward(c.closers) {
		if err := f(); err != nil {
			c.screen.notice(err.Error())
		}
	}
}

// start makes the tools and the session.
func (c *chat) start(args []string) error {
	if err := c.place(); err != nil {
		return err
	}
	reach, err := c.reach(args)
	if err != nil {
		return err
	}
	set, err := settings.FromEnv(c.a.lookup)
	if err != nil {
		return usage("%s", err)
	}
	set.BaseURL = reach.BaseURL
	past, err := c.openTranscript()
	if err != nil {
		return err
	}
	if err := c.tools(); err != nil {
		return err
	}
	return c.begin(set, reach, past)
}

// place finds the folder, and the rules that hold in it.
func (c *chat) place() error {
	root, err := filepath.Abs(c.a.path(c.flags.root))
	if err == nil && !isDir(root) {
		err = errors.New("it is no folder")
	}
	if err != nil {
		return usage("--root %s: %s", c.flags.root, reason(err))
	}
	c.root = host.Follow(root)
	d := &decider{dir: c.root, roots: []string{c.root}}
	if err := d.load(c.a, c.flags.rules); err != nil {
		return err
	}
	if d.mode == permission.Auto {
		return usage("the mode auto needs a classifier, which chat has not; give another with --mode")
	}
	if len(d.roots) > 1 {
		c.screen.notice("additional directories of the settings are not opened: files outside of " + c.root + " cannot be reached")
	}
	c.rules, c.mode = d.rules, d.mode
	return nil
}

// reach is where the model is: an API, or what was recorded, served to this process.
func (c *chat) reach(args []string) (api.Config, error) {
	if len(args) > 1 {
		return api.Config{}, usage("name one recording or scenario, or none for a model at --base-url")
	}
	cfg := api.Config{Key: c.a.env(c.flags.keyEnv), Retries: c.flags.retries, BaseURL: strings.TrimSuffix(c.flags.baseURL, "/") + "/"}
	if len(args) == 1 {
		address, err := c.serveTo(args[0])
		cfg.BaseURL, cfg.Key = address, "served"
		return cfg, err
	}
	if err := reachableBase("--base-url", c.flags.baseURL); err != nil {
		return cfg, err
	}
	if u, err := url.Parse(c.flags.baseURL); err == nil && cfg.Key == "" {
		if ip := net.ParseIP(u.Hostname()); u.Hostname() != "localhost" && (ip == nil || !ip.IsLoopback()) {
			return cfg, usage("there is no key: set %s, name the variable that holds it with --key-env, or name a recording to converse with", c.flags.keyEnv)
		}
		cfg.Key = "none"
	}
	return cfg, nil
}

// serveTo serves a recording or a scenario on this machine, for as long as the chat lasts.
func (c *chat) serveTo(arg string) (string, error) {
	script, _, err := c.a.served(arg, stream.Pace{})
	if err != nil {
		return "", err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", harness(err)
	}
	h := webServer(serve.New(script, serve.Options{Speed: c.flags.speed}))
	go h.Serve(listener) // its error is that it was closed
	c.onClose(h.Close)
	return "http://" + listener.Addr().String() + "/", nil
}

// tools makes the tools on the machine's disk and shell.
func (c *chat) tools() error {
	disk, err := host.Open(host.Config{Root: c.root, Write: true, Scratch: []string{toolsys.DefaultResultsDir}})
	if err != nil {
		return usage("--root %s: %s", c.flags.root, reason(err))
	}
	c.onClose(disk.Close)
	shell, err := c.shell()
	if err != nil {
		return err
	}
	c.onClose(shell.Close)
	agents := []string{path.Join(c.root, ".claude/agents")}
	if _, err := agentwork.AgentTypes(disk.FS, agents); err != nil {
		c.screen.notice(err.Error())
	}
	c.system, err = toolsys.New(toolsys.Config{
		Trace: c.screen.event, Resolve: disk.Resolve, Keep: builtin.Keep(disk.FS),
		Builtins: builtin.All(builtin.Deps{
			FS: disk.FS, Resolve: disk.Resolve, Shell: shell.Run, Sandbox: shell.Sandbox(), Terminal: shell.Terminal, HTTP: http.DefaultTransport.RoundTrip,
			AgentDirs: agents, SkillDirs: []string{path.Join(c.root, ".claude/skills")}, WorkflowDirs: []string{path.Join(c.root, ".claude/workflows")}, Depth: chatDepth,
		}),
	})
	if err != nil {
		return harness(err)
	}
	c.onClose(c.endTasks)
	c.screen.tools = c.system.Catalogue
	return nil
}

// endTasks stops what runs in the background.
func (c *chat) endTasks() error {
	running := 0
	for _, t := range c.system.Tasks.List() {
		if t.Status == tool.TaskRunning {
			running++
		}
	}
	if running > 0 {
		c.screen.notice(fmt.Sprintf("%d still running in the background; stopped with the conversation", running))
	}
	return c.system.Close(context.Background())
}

// shell is the machine's, in a sandbox where that is wanted.
func (c *chat) shell() (*host.Shell, error) {
	confined := &host.Sandbox{Writable: []string{c.root}, Network: c.flags.network}
	for _, dir := range c.flags.writable {
		confined.Writable = append(confined.Writable, c.a.path(dir))
	}
	if c.flags.sandbox == "off" {
		confined = nil
	}
	shell, err := host.NewShell(host.ShellConfig{Sandbox: confined})
	if errors.Is(err, host.ErrNoSandbox) && c.flags.sandbox == "auto" {
		c.screen.notice(err.Error() + "; commands are not confined")
		shell, err = host.NewShell(host.ShellConfig{})
	}
	if err != nil {
		return nil, usage("%s; see --sandbox and --writable", err)
	}
	return shell, nil
}

// commandEnv is what commands get of the environment: all but secrets.
func (c *chat) commandEnv() map[string]string {
	hidden := map[string]bool{c.flags.keyEnv: true}
	for _, k := range secret.FromEnv(c.a.Env) {
		hidden[k.Name] = true
	}
	env := map[string]string{}
	for _, pair := range c.a.Env {
		if name, value, ok := strings.Cut(pair, "="); ok && (!hidden[name] || slices.Contains(c.flags.env, name)) {
			env[name] = value
		}
	}
	return env
}

// begin opens the session.
func (c *chat) begin(set settings.Settings, reach api.Config, past []message.Message) error {
	home, _ := os.UserHomeDir() // without one, paths below ~ are as they stand
	handlers := pipeline.Handlers{Notify: c.screen.notice}
	if c.a.Interactive {
		handlers.Ask, handlers.AskUser = c.permission, c.answers
	}
	session, err := c.system.Open(loop.Config{
		Model: api.New(reach), ModelName: c.flags.model, Settings: set, Policy: schedule.Streaming, Handlers: handlers,
		System: []message.Block{message.Text(c.instructions())}, History: past, Journal: c.kept.journal(), Watch: c.screen.stream,
		State: tool.State{Dir: c.root, Root: c.root, Rules: c.rules, Mode: c.mode, Env: c.commandEnv()},
		Home:  cmp.Or(home, "/"), NonInteractive: !c.a.Interactive,
	})
	if err != nil {
		return usage("%s", err)
	}
	c.session = session
	return nil
}

// instructions are what the model reads before the conversation.
func (c *chat) instructions() string {
	text := "You work for the user on their machine, with tools, in the folder " + c.root + ". Files outside of it cannot be reached. " +
		"Answer briefly and in plain text: your words are shown in a terminal."
	if !c.a.Interactive {
		text += " Nobody can be asked anything: what is not allowed is refused."
	}
	return text
}
