package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/pflag"
	shellwords "mvdan.cc/sh/v3/shell"

	"toolbench/sim/secret"
	"toolbench/toolsys"
	"toolbench/toolsys/builtin"
	"toolbench/toolsys/builtin/file"
	"toolbench/toolsys/builtin/shell"
	"toolbench/toolsys/builtin/web"
	agentwork "toolbench/toolsys/builtin/work"
	"toolbench/toolsys/host"
	"toolbench/toolsys/host/browser"
	"toolbench/toolsys/permission"
	"toolbench/toolsys/settings"
	"toolbench/toolsys/tool"
	"toolbench/toolsys/trace"
)

// workplaceFlags are where tools work on this machine, and what they may do there.
type workplaceFlags struct {
	rules         rulesFlags
	root, sandbox string
	writable, env []string
	network       bool
	backends      backendFlags
}

func (f *workplaceFlags) add(flags *pflag.FlagSet) {
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
	f.backends.add(flags)
}

// knownMode reads a mode that a person can set.
func knownMode(text string) (string, error) {
	mode, err := permission.ParseMode(text)
	if err != nil || mode == permission.Auto {
		return "", errors.New("use default, plan, acceptEdits or bypass")
	}
	return text, nil
}

// workplace is a folder of this machine with tools that work in it.
type workplace struct {
	a     *app
	flags workplaceFlags
	// hidden is a variable that commands do not get, beside those with names of secrets.
	hidden string
	notice func(text string)
	// decorate may wrap each tool; nil leaves them.
	decorate func(*tool.Tool) *tool.Tool

	root    string
	mode    permission.Mode
	rules   permission.Rules
	system  *toolsys.System
	machine *host.Shell
	closers []func() error
}

func (w *workplace) onClose(f func() error) { w.closers = append(w.closers, f) }

// close ends what was started, the last first.
func (w *workplace) close() {
	for _, f := range slices.Backward(w.closers) {
		if err := f(); err != nil {
			w.notice(err.Error())
		}
	}
}

// place finds the folder, and the rules that hold in it.
func (w *workplace) place() error {
	root, err := filepath.Abs(w.a.path(w.flags.root))
	if err == nil && !isDir(root) {
		err = errors.New("it is no folder")
	}
	if err != nil {
		return usage("--root %s: %s", w.flags.root, reason(err))
	}
	w.root = host.Follow(root)
	d := &decider{dir: w.root, roots: []string{w.root}, places: map[permission.Hit]func() string{}}
	if err := d.load(w.a, w.flags.rules); err != nil {
		return err
	}
	if d.mode == permission.Auto {
		return usage("the mode auto needs a classifier, which chat has not; give another with --mode")
	}
	if len(d.roots) > 1 {
		w.notice("additional directories of the settings are not opened: files outside of " + w.root + " cannot be reached")
	}
	w.rules, w.mode = d.rules, d.mode
	return nil
}

// tools makes the built-in tools on the machine's disk and shell: those that are named, or
// all.
func (w *workplace) tools(sink trace.Sink, servers tool.Servers, only ...string) error {
	disk, err := host.Open(host.Config{Root: w.root, Write: true, Scratch: []string{toolsys.DefaultResultsDir}})
	if err != nil {
		return usage("--root %s: %s", w.flags.root, reason(err))
	}
	w.onClose(disk.Close)
	w.machine, err = w.shell()
	if err != nil {
		return err
	}
	w.onClose(w.machine.Close)
	agents, skills := []string{path.Join(w.root, ".claude/agents")}, []string{path.Join(w.root, ".claude/skills")}
	_, ofAgents := agentwork.AgentTypes(disk.FS, agents)
	_, ofSkills := agentwork.Skills(agentwork.SkillDeps{FS: disk.FS, Dirs: skills})
	if err := errors.Join(ofAgents, ofSkills); err != nil {
		w.notice(err.Error())
	}
	deps := builtin.Deps{
		FS: disk.FS, Resolve: disk.Resolve, Shell: w.machine.Run, PlainShell: w.machine.Plain(), Sandbox: w.machine.Sandbox(), Terminal: w.machine.Terminal, HTTP: http.DefaultTransport.RoundTrip,
		AgentDirs: agents, SkillDirs: skills, WorkflowDirs: []string{path.Join(w.root, ".claude/workflows")}, Depth: chatDepth,
	}
	if err := w.backends(&deps); err != nil {
		return err
	}
	w.system, err = toolsys.New(toolsys.Config{
		Trace: sink, Servers: servers, Resolve: disk.Resolve, Keep: builtin.Keep(disk.FS), Builtins: builtin.All(deps, only...), Decorate: w.decorate,
	})
	if err != nil {
		return harness(err)
	}
	w.onClose(w.endTasks)
	return nil
}

// endTasks stops what runs in the background.
func (w *workplace) endTasks() error {
	if running := tool.Count(w.system.Tasks.List(), func(t tool.Task) bool { return t.Status == tool.TaskRunning }); running > 0 {
		w.notice(fmt.Sprintf("%d still running in the background; stopped with the conversation", running))
	}
	return w.system.Close(context.Background())
}

// shell is the machine's, in a sandbox where that is wanted.
func (w *workplace) shell() (*host.Shell, error) {
	confined := &host.Sandbox{Writable: append([]string{w.root}, each(w.flags.writable, w.a.path)...), Network: w.flags.network}
	if w.flags.sandbox == "off" {
		confined = nil
	}
	machine, err := host.NewShell(host.ShellConfig{Sandbox: confined})
	if errors.Is(err, host.ErrNoSandbox) && w.flags.sandbox == "auto" {
		w.notice(err.Error() + "; commands are not confined")
		machine, err = host.NewShell(host.ShellConfig{})
	}
	if err != nil {
		return nil, usage("%s; see --sandbox and --writable", err)
	}
	return machine, nil
}

// hookEnd ends what a hook reads; no line of JSON is that.
const hookEnd = "END OF THE INPUT OF THE HOOK"

// hookExec runs a hook's command as commands of the model's are run: in the sandbox, and with
// nothing that is secret.
func (w *workplace) hookExec(ctx context.Context, command string, stdin []byte, dir string, env []string) (stdout, stderr []byte, code int, err error) {
	vars := w.commandEnv()
	maps.Copy(vars, environmentOf(env))
	var out, errs bytes.Buffer
	exit, err := w.machine.Run(ctx, shell.Request{
		Script: "{\n" + command + "\n} <<'" + hookEnd + "'\n" + strings.TrimSuffix(string(stdin), "\n") + "\n" + hookEnd + "\n", Dir: dir, Env: vars, Stdout: &out, Stderr: &errs,
	})
	return out.Bytes(), errs.Bytes(), exit.Code, err
}

// environmentOf are the variables of pairs like NAME=VALUE; of one name the last counts.
func environmentOf(pairs []string) map[string]string {
	env := map[string]string{}
	for _, pair := range pairs {
		name, value, _ := strings.Cut(pair, "=")
		env[name] = value
	}
	return env
}

// commandEnv is what commands get of the environment: all but secrets.
func (w *workplace) commandEnv() map[string]string {
	hidden := map[string]bool{w.hidden: true}
	for _, k := range secret.FromEnv(w.a.Env) {
		hidden[k.Name] = true
	}
	env := environmentOf(w.a.Env)
	maps.DeleteFunc(env, func(name, _ string) bool { return hidden[name] && !slices.Contains(w.flags.env, name) })
	return env
}

// backendFlags name what stands behind tools that need more than the disk, the shell and
// the web. A tool whose back end is named is offered.
type backendFlags struct {
	browser      bool
	languages    []string
	engine, push string
}

func (f *backendFlags) add(flags *pflag.FlagSet) {
	flags.BoolVar(&f.browser, "browser", false, "offer WebBrowser, which drives this machine's Chromium or Chrome, without a window")
	repeatable(flags, &f.languages, "lsp", "offer LSP with this language server: "+strings.Join(slices.Sorted(maps.Keys(knownServers)), ", ")+", or '.EXT[,.EXT]=COMMAND'")
	flags.StringVar(&f.engine, "search-url", "", "have WebSearch ask the SearXNG at this address, instead of DuckDuckGo")
	flags.StringVar(&f.push, "push-url", "", "offer PushNotification with the feature KAIROS; it sends to this topic, as https://ntfy.sh/my-topic")
}

// knownServers are language servers that need nothing but their name.
var knownServers = map[string]file.LanguageServer{
	"clangd":                     {Language: "cpp", Extensions: []string{".c", ".cc", ".cpp", ".cxx", ".h", ".hh", ".hpp"}, Command: []string{"clangd"}},
	"gopls":                      {Language: "go", Extensions: []string{".go"}, Command: []string{"gopls"}},
	"pyright":                    {Language: "python", Extensions: []string{".py", ".pyi"}, Command: []string{"pyright-langserver", "--stdio"}},
	"rust-analyzer":              {Language: "rust", Extensions: []string{".rs"}, Command: []string{"rust-analyzer"}},
	"typescript-language-server": {Language: "typescript", Extensions: []string{".ts", ".tsx", ".mts", ".js", ".jsx", ".mjs"}, Command: []string{"typescript-language-server", "--stdio"}},
}

// settings turns on what the back ends are for.
func (f *backendFlags) settings(set settings.Settings) settings.Settings {
	if f.browser {
		set = set.With(settings.WebBrowserTool)
	}
	if f.push != "" {
		set = set.With(settings.Kairos)
	}
	set.LSP = set.LSP || len(f.languages) > 0
	return set
}

// tools are those whose back ends are named.
func (f *backendFlags) tools() (names []string) {
	for name, named := range map[string]bool{"LSP": len(f.languages) > 0, "PushNotification": f.push != "", "WebBrowser": f.browser, "WebSearch": f.engine != ""} {
		if named {
			names = append(names, name)
		}
	}
	return names
}

// backends puts the back ends that are named behind the tools.
func (w *workplace) backends(d *builtin.Deps) error {
	f := w.flags.backends
	if f.browser {
		b, err := browser.New(browser.Config{})
		if err != nil {
			return usage("--browser: %s", err)
		}
		w.onClose(b.Close)
		d.Browser = b
	}
	if err := w.languages(d); err != nil {
		return err
	}
	if f.engine != "" {
		if err := webAddress("--search-url", f.engine); err != nil {
			return err
		}
		d.Search = web.SearXNG(d.HTTP, f.engine)
	}
	if f.push != "" {
		push, err := web.Ntfy(http.DefaultTransport.RoundTrip, f.push)
		if err != nil {
			return usage("--push-url: %s", err)
		}
		d.Push = push
	}
	return nil
}

// languages finds the language servers, which start when they are first asked.
func (w *workplace) languages(d *builtin.Deps) error {
	servers, err := tryEach(w.flags.backends.languages, w.languageServer)
	if err != nil || len(servers) == 0 {
		return err
	}
	d.Languages = file.NewLanguages(file.LanguagesConfig{Servers: servers, Start: host.StartProcess})
	w.onClose(d.Languages.Close)
	return nil
}

// languageServer reads one value of --lsp.
func (w *workplace) languageServer(text string) (file.LanguageServer, error) {
	server, known := knownServers[text]
	if extensions, command, given := strings.Cut(text, "="); given && !known {
		words, err := shellwords.Fields(command, w.a.env)
		if err != nil || len(words) == 0 {
			return server, usage("--lsp %q: behind = stands the server's command", text)
		}
		server = file.LanguageServer{Extensions: strings.Split(extensions, ","), Command: words}
		for _, e := range server.Extensions {
			named := e != strings.ToLower(e) && filepath.Base(e) == e
			if !named && (len(e) < 2 || filepath.Ext(e) != e) {
				return server, usage("--lsp %q: %q is no extension; write one like .php, or a file's name like Dockerfile", text, e)
			}
		}
		server.Language = strings.ToLower(strings.TrimPrefix(server.Extensions[0], "."))
	} else if !known {
		return server, usage("--lsp %s: it is not one of %s; name another by '.EXT=COMMAND'", text, strings.Join(slices.Sorted(maps.Keys(knownServers)), ", "))
	}
	if _, err := exec.LookPath(server.Command[0]); err != nil {
		return server, usage("--lsp %s: %s", text, err)
	}
	return server, nil
}
