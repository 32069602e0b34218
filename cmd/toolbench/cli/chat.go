package cli

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"toolbench/reports"
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
	displayFlags
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
	f.displayFlags.add(flags)
	flags.StringVar(&f.baseURL, "base-url", strings.TrimSuffix(api.DefaultBaseURL, "/"), "where the API is: an address, as toolbench serve prints one")
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
	if err := c.start(ctx, args); err != nil {
		return err
	}
	defer a.Interrupts.Take(c.interrupt)()
	return cmp.Or(c.run(ctx), wrap(c.screen.out.err))
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
func (c *chat) start(ctx context.Context, args []string) error {
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
	servers, err := c.servers(ctx)
	if err != nil {
		return err
	}
	if err := c.tools(c.screen.event, servers); err != nil {
		return err
	}
	return c.begin(set, reach, past)
}

// servers connects the MCP servers that are named.
func (c *chat) servers(ctx context.Context) (tool.Servers, error) {
	if !c.flags.servers.named() {
		return tool.Servers{}, nil
	}
	fleet, _, err := c.a.fleet(ctx, c.flags.servers)
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
func (c *chat) begin(set settings.Settings, reach api.Config, past []loop.Entry) error {
	history, reader := loop.Reopen(past)
	handlers := pipeline.Handlers{Notify: c.screen.notice}
	if c.a.Interactive {
		handlers.Ask, handlers.AskUser = c.permission, c.answers
	}
	session, err := c.system.Open(loop.Config{
		Model: api.New(reach), ModelName: c.flags.model, Settings: set, Policy: schedule.Streaming, Handlers: handlers,
		System: []message.Block{message.Text(c.instructions())}, History: history, Reader: reader, Journal: c.kept.journal(), Watch: c.screen.stream,
		State: tool.State{Dir: c.root, Root: c.root, Rules: c.rules, Mode: c.mode, Env: c.commandEnv()},
		Home:  cmp.Or(c.a.Home, "/"), NonInteractive: !c.a.Interactive, HookExec: c.hookExec,
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

// transcript is the file that keeps a conversation; nil keeps none.
type transcript struct {
	file  *os.File
	shown string
	began bool
	// size is how long it is by what was read of it and written into it here.
	size int64
}

// Write adds to the file, unless another process has: two conversations in one transcript would
// be neither of them.
func (t *transcript) Write(p []byte) (int, error) {
	info, err := t.file.Stat()
	if err == nil && info.Size() != t.size {
		err = fmt.Errorf("%s: another chat writes into it; end one of the two, and resume it then", t.shown)
	}
	if err != nil {
		return 0, err
	}
	n, err := t.file.Write(p)
	t.size += int64(n)
	return n, err
}

// Where transcripts are unless another place is named, below the root.
const (
	ownFolder = ".toolbench"
	chatsIn   = "chats"
)

// journal is what the session writes into; nil keeps nothing.
func (t *transcript) journal() func(loop.Entry) error {
	if t == nil {
		return nil
	}
	write := loop.WriteJournal(t)
	return func(e loop.Entry) error {
		t.began = true
		return write(e)
	}
}

// where names the transcript, for the end of a conversation.
func (t *transcript) where() string {
	if t == nil || !t.began {
		return ""
	}
	return "; go on with `toolbench chat --resume " + reports.Quoted(t.shown) + "`"
}

// close leaves no file behind in which nothing stands.
func (t *transcript) close() error {
	if info, err := t.file.Stat(); err == nil && info.Size() == 0 {
		_ = os.Remove(t.file.Name()) // it may stay: it is empty
	}
	return t.file.Close()
}

// openTranscript opens the file that the conversation goes on in, and reads what it has.
func (c *chat) openTranscript() ([]loop.Entry, error) {
	f := c.flags
	switch {
	case f.resume != "" && f.transcript != "":
		return nil, usage("--resume goes on in the transcript that it names; leave --transcript out")
	case f.resume != "":
		return c.resumed()
	case f.transcript == "off":
		return nil, nil
	case f.transcript != "":
		return nil, c.keep(c.a.path(f.transcript), f.transcript, os.O_EXCL)
	}
	dir, err := c.ownFolder()
	if err != nil {
		return nil, usage("no transcript can be kept below %s: %s; name a file with --transcript, or write --transcript off", c.root, reason(err))
	}
	file := filepath.Join(dir, time.Now().UTC().Format("20060102-150405.000")+".jsonl")
	return nil, c.keep(file, file, os.O_EXCL)
}

// ownFolder is the folder of transcripts, which no version control takes up. A link in its
// place could lead out of the root.
func (c *chat) ownFolder() (string, error) {
	root, err := os.OpenRoot(c.root)
	if err != nil {
		return "", err
	}
	defer root.Close()
	if err := root.MkdirAll(filepath.Join(ownFolder, chatsIn), 0o700); err != nil {
		return "", err
	}
	err = root.WriteFile(filepath.Join(ownFolder, ".gitignore"), []byte("*\n"), 0o600)
	return filepath.Join(c.root, ownFolder, chatsIn), err
}

// keep opens the file for what is to come.
func (c *chat) keep(file, shown string, flag int) error {
	out, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_APPEND|flag, 0o600)
	switch {
	case errors.Is(err, fs.ErrExist):
		return usage("--transcript %s: the file is there already; go on with it by --resume, or name another", shown)
	case err != nil:
		return usage("%s: %s", shown, reason(err))
	}
	if rel, err := filepath.Rel(c.a.Dir, file); err == nil && filepath.IsLocal(rel) {
		shown = rel
	}
	c.kept = &transcript{file: out, shown: shown}
	c.onClose(c.kept.close)
	return nil
}

// maxTranscript is how long a transcript may be to be gone on with.
const maxTranscript = 256 << 20

// resumed reads a transcript. A last line that was being written when the process died is
// cut off, so that what follows begins a line.
func (c *chat) resumed() ([]loop.Entry, error) {
	name := c.flags.resume
	if name == "last" {
		all, _ := filepath.Glob(filepath.Join(c.root, ownFolder, chatsIn, "*.jsonl")) // the pattern is sound
		if len(all) == 0 {
			return nil, usage("--resume last: there is no transcript below %s", filepath.Join(c.root, ownFolder))
		}
		name = slices.Max(all)
	}
	data, err := c.a.readFile(name, maxTranscript)
	if err != nil {
		return nil, err
	}
	entries, err := loop.ReadJournal(bytes.NewReader(data))
	if err != nil {
		return nil, usage("%s: it is no transcript of chat: %s", name, err)
	}
	if len(entries) == 0 {
		return nil, usage("%s: it is no transcript of chat: nothing is in it", name)
	}
	if err := c.keep(c.a.path(name), name, 0); err != nil {
		return nil, err
	}
	whole := int64(bytes.LastIndexByte(data, '\n') + 1)
	if c.kept.size = whole; whole < int64(len(data)) {
		if err := c.kept.file.Truncate(whole); err != nil {
			return nil, usage("%s: %s", name, reason(err))
		}
	}
	_, err = c.kept.file.Seek(0, io.SeekEnd)
	return entries, err
}
