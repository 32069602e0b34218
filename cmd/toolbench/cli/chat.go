package cli

import (
	"cmp"
	"context"
	"net"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"toolbench/sim/serve"
	"toolbench/sim/stream"
	"toolbench/toolsys/api"
	"toolbench/toolsys/loop"
	"toolbench/toolsys/mcptool"
	"toolbench/toolsys/message"
	"toolbench/toolsys/pipeline"
	"toolbench/toolsys/schedule"
	"toolbench/toolsys/settings"
	"toolbench/toolsys/tool"
)

type chatFlags struct {
	looks
	workplaceFlags
	servers                serverFlags
	baseURL, keyEnv, model string
	transcript, resume     string
	quiet                  bool
	speed                  float64
	retries                int
}

// The model that is asked where none is named, and how deep agents start agents.
const (
	chatModel = "claude-sonnet-4-5"
	chatDepth = 3
)

func (a *app) chatCommand() *cobra.Command {
	f := chatFlags{workplaceFlags: workplaceFlags{root: ".", sandbox: "auto"}, speed: 1, retries: 2}
	cmd := &cobra.Command{
		Use: "chat [RECORDING|SCENARIO]", Short: "Converse with a model that has the tools on this machine", ValidArgsFunction: a.completeNames,
		RunE: func(cmd *cobra.Command, args []string) error { return a.chat(cmd.Context(), args, f) },
	}
	flags := cmd.Flags()
	f.looks.add(flags)
	flags.StringVar(&f.baseURL, "base-url", strings.TrimSuffix(api.DefaultBaseURL, "/"), "where the API is, as `toolbench serve` prints it")
	flags.StringVar(&f.keyEnv, "key-env", "ANTHROPIC_API_KEY", "the variable that holds the key; an API on this machine needs none")
	flags.StringVar(&f.model, "model", chatModel, "the model")
	f.workplaceFlags.add(flags)
	f.servers.add(flags, 30*time.Second)
	flags.StringVar(&f.transcript, "transcript", "", "where the conversation is kept; off keeps none; without, below .toolbench of the root")
	flags.StringVar(&f.resume, "resume", "", "go on with a transcript; last is the newest of the root")
	own(flags, &value[float64]{to: &f.speed, parse: speed, kind: "SPEED", text: "1"}, "speed", "how fast a recording's streams run: 1 as recorded, 2x, 0 at once")
	flags.Var(number(&f.retries, 0), "retries", "how often a request is sent again that the API had no time for")
	flags.BoolVarP(&f.quiet, "quiet", "q", false, "print the model's words alone, not what its tools do")
	return explained(cmd)
}

// chat runs the command and gives the error that carries its exit code.
func (a *app) chat(ctx context.Context, args []string, f chatFlags) error {
	c := &chat{flags: f, screen: a.chatScreen(f), chatInput: chatInput{asked: make(chan *question)}}
	c.workplace = workplace{a: a, flags: f.workplaceFlags, hidden: f.keyEnv, notice: c.screen.notice}
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
	workplace
	flags  chatFlags
	screen *chatScreen

	session *loop.Session
	kept    *transcript

	chatInput
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
	set = c.flags.backends.settings(set)
	set.BaseURL = reach.BaseURL
	past, err := c.openTranscript()
	if err != nil {
		return err
	}
	servers, err := c.servers()
	if err != nil {
		return err
	}
	if err := c.tools(c.screen.event, servers); err != nil {
		return err
	}
	return c.begin(set, reach, past)
}

// servers connects the MCP servers that are named.
func (c *chat) servers() (tool.Servers, error) {
	if !c.flags.servers.named() {
		return tool.Servers{}, nil
	}
	fleet, _, err := c.a.fleet(c.flags.servers)
	if err != nil {
		return tool.Servers{}, err
	}
	c.onClose(func() error { fleet.Close(); return nil })
	return mcptool.Join(fleet), nil
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
	if cfg.Key == "" && !onThisMachine(c.flags.baseURL) {
		return cfg, usage("there is no key: set %s, name the variable that holds it with --key-env, or name a recording to converse with", c.flags.keyEnv)
	}
	cfg.Key = cmp.Or(cfg.Key, noKey)
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
		Home:  cmp.Or(home, "/"), NonInteractive: !c.a.Interactive, HookExec: c.hookExec,
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
