package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"toolbench/reports"
	"toolbench/sim/scenario/check"
	"toolbench/sim/scenario/run"
	"toolbench/sim/secret"
	"toolbench/sim/serve"
	"toolbench/sim/stream"
	"toolbench/toolsys/host"
)

type tryFlags struct {
	runFlags
	speed           float64
	timeout, linger time.Duration
	maps, env       []string
	urlEnv          []string
	thenStdin       bool
	thenRun         string
	strict, keep    bool
	cleanHome       bool
	// sameWay are the flags, as given, that a case is tried in the same way with.
	sameWay []string
}

func (a *app) tryCommand() *cobra.Command {
	f := tryFlags{speed: 1, timeout: time.Minute, linger: 2 * time.Second}
	f.repeat, f.jobs = 1, 1
	cmd := explained(&cobra.Command{
		Use: "try NAME|PATH|RECORDING... -- COMMAND [ARG...]", Short: "Try another agent on scenarios and recordings",
		RunE: func(cmd *cobra.Command, args []string) error {
			f.sameWay = sameWay(cmd.Flags())
			return a.try(cmd.Context(), args, cmd.ArgsLenAtDash(), f)
		},
		ValidArgsFunction: a.completeNames,
	}, helpText("codes"))
	flags := cmd.Flags()
	f.addShared(flags)
	flags.VarPF(number(&f.jobs, 1), "jobs", "j", "agents at once").Annotations = map[string][]string{ownValues: nil}
	flags.Var(number(&f.repeat, 1), "repeat-each", "try each scenario so often")
	flags.BoolVarP(&f.verbose, "verbose", "v", false, "draw each timeline as the server saw it above the table")
	flags.Var(&value[float64]{to: &f.speed, parse: speed, kind: "SPEED", text: "1"}, "speed", "how fast streams run: 1 as recorded, 2x, 0 at once; times are checked at 1 only")
	repeatable(flags, &f.maps, "map", "what the agent calls a tool and its arguments, as Read=read_file,file_path=path")
	repeatable(flags, &f.env, "env", "a variable of the agent's environment, as NAME=VALUE")
	repeatable(flags, &f.urlEnv, "url-env", "a further variable that gets the address")
	flags.BoolVar(&f.thenStdin, "then-stdin", false, "give the user's further messages as lines on the agent's standard input")
	flags.StringVar(&f.thenRun, "then-run", "", "give each of the user's further messages by this command, as 'my-agent --continue {prompt}'")
	flags.Var(period(&f.timeout, time.Millisecond), "timeout", "how long an agent may take")
	flags.Var(period(&f.linger, 0), "linger", "how long an agent may stay when every answer was given")
	flags.BoolVar(&f.strict, "strict", false, "a result that differs from its recording is a failure")
	flags.BoolVar(&f.trust, "trust", false, "start the programs that "+ConfigFile+" names as checks; the tools are the agent's own")
	flags.BoolVar(&f.keep, "keep", false, "leave the folders in which the agents worked, and print where they are")
	flags.BoolVar(&f.cleanHome, "clean-home", false, "give the agent the scenario's home in place of yours")
	return cmd
}

// try runs the command and gives the error that carries its exit code.
func (a *app) try(ctx context.Context, args []string, dash int, f tryFlags) error {
	if dash < 1 || dash == len(args) {
		return usage("name scenarios or recordings, and the agent's command behind --, as in `toolbench try partition-headline -- my-agent '{prompt}'`")
	}
	agent, err := a.agentOf(args[dash:], f)
	if err != nil {
		return err
	}
	defer agent.shell.Close()
	against, err := a.readBaseline(f.baseline, "run")
	if err != nil {
		return err
	}
	plan, err := a.tryPlan(args[:dash], agent)
	if err != nil {
		return err
	}
	programs, endPrograms, err := a.ownPrograms(ctx, f.trust)
	defer endPrograms()
	if err != nil {
		return err
	}
	results, stopped := a.pool(f.runFlags).run(ctx, plan.entries)
	checkedBy(programs, results)
	judged, err := a.report(outcomes(results), reports.Options{Again: agent.again(plan), Secrets: a.secrets()}, against, f.runFlags)
	if err != nil {
		return err
	}
	return conclude(results, len(plan.entries), stopped, judged)
}

// checkedBy has a project's own checks look at what came of agents.
func checkedBy(programs *run.Own, results []result) {
	for i := range results {
		out := &results[i].outcome
		if out.Status != check.Errored {
			if failures := programs.Checked(*out); len(failures) > 0 {
				out.Failures, out.Status = append(out.Failures, failures...), check.Failed
			}
		}
	}
}

// agentOf checks the command and what it is to be given, before anything is started.
func (a *app) agentOf(command []string, f tryFlags) (*agent, error) {
	program, err := a.program(command)
	if err != nil {
		return nil, err
	}
	names, err := parseNames(f.maps)
	if err != nil {
		return nil, err
	}
	if err := checkEnv(f.env, f.urlEnv); err != nil {
		return nil, err
	}
	if err := f.checkThen(); err != nil {
		return nil, err
	}
	shell, err := host.NewShell(host.ShellConfig{})
	if err != nil {
		return nil, harness(err)
	}
	return &agent{tryFlags: f, command: program, given: command, names: names, shell: shell, env: a.Env, log: a.logf}, nil
}

// program gives a command with the file of its program, which must be there.
func (a *app) program(command []string) ([]string, error) {
	path := command[0]
	if strings.ContainsRune(path, filepath.Separator) { // the agent runs in another folder
		abs, err := filepath.Abs(a.path(path))
		if err != nil {
			return nil, usage("the agent's command %s: %s", path, err)
		}
		path = abs
	}
	if _, err := exec.LookPath(path); err != nil {
		return nil, usage("the agent's command %s: %s", command[0], cmp.Or(errors.Unwrap(err), err))
	}
	return slices.Concat([]string{path}, command[1:]), nil
}

// checkThen checks how further prompts are given.
func (f *tryFlags) checkThen() error {
	switch {
	case f.thenStdin && f.thenRun != "":
		return usage("--then-stdin and --then-run exclude each other; give one")
	case f.thenRun != "" && !strings.Contains(f.thenRun, "{prompt}"):
		return usage("--then-run %q: write {prompt} where the message belongs", f.thenRun)
	}
	return nil
}

func checkEnv(pairs, addresses []string) error {
	if i := slices.IndexFunc(addresses, func(name string) bool { return strings.Contains(name, "=") }); i >= 0 {
		return usage("--url-env %q: write the name of a variable alone; it gets the address", addresses[i])
	}
	for _, pair := range pairs {
		if name, _, ok := strings.Cut(pair, "="); !ok || name == "" {
			return usage("--env %q: write NAME=VALUE", pair)
		}
	}
	return nil
}

// parseNames reads the values of --map.
func parseNames(maps []string) (serve.Names, error) {
	names := serve.Names{}
	for _, text := range maps {
		tool, named, err := serve.ParseName(text)
		if err != nil {
			return nil, usage("--map %s", err)
		}
		names[tool] = named
	}
	return names, nil
}

// tryPlan chooses what the agent is tried on: recordings as they are, and scenarios, of
// which those that are planned to fail are none.
func (a *app) tryPlan(args []string, agent *agent) (*plan, error) {
	p := &plan{}
	var named []string
	for _, arg := range args {
		script, err := a.recorded(arg, stream.Pace{})
		switch {
		case err != nil:
			return nil, err
		case script == nil:
			named = append(named, arg)
		default:
			p.entries = append(p.entries, agent.recordedEntries(arg, script)...)
		}
	}
	if len(named) > 0 {
		found, err := a.find(named)
		if err != nil {
			return nil, err
		}
		for _, e := range agent.choose(found) {
			if sc := e.Scenario; sc != nil {
				e.Run = func(ctx context.Context, _ run.Options) check.Result { return agent.onScenario(ctx, sc) }
			} else if e.broken == nil {
				continue
			}
			p.entries = append(p.entries, e)
		}
	}
	var err error
	if p.entries, err = a.dealt(agent.selection, p.entries); err != nil {
		return nil, err
	}
	if len(p.entries) == 0 {
		return nil, usage("no scenario matches; see `toolbench list`")
	}
	return p, nil
}

// recordedEntries makes a case of each conversation of a recording.
func (g *agent) recordedEntries(arg string, script *serve.Script) []entry {
	var all []entry
	for _, c := range script.Conversations {
		one := &serve.Script{Source: arg, Conversations: []*serve.Conversation{c}, Problems: script.Problems}
		if len(script.Conversations) > 1 {
			one.Source = fmt.Sprintf("%s, conversation %d", arg, c.Number)
		}
		all = append(all, entry{target: arg, Case: Case{Name: one.Source, File: arg, Run: func(ctx context.Context, _ run.Options) check.Result {
			out := g.onRecording(ctx, one)
			out.File = arg
			return out
		}}})
	}
	return all
}

// again names the command that shows an outcome again.
func (g *agent) again(p *plan) func(check.Result) string {
	targets := p.targets()
	return func(o check.Result) string {
		target := reports.Quoted(targets[caseKey(o.File, o.Name)])
		return strings.Join(slices.Concat([]string{"toolbench", "try", target}, g.sameWay, []string{"--"}, each(g.given, reports.Quoted)), " ")
	}
}

// sameWay are the flags that were given and that change what becomes of an agent.
func sameWay(flags *pflag.FlagSet) (words []string) {
	for _, name := range []string{
		"map", "env", "url-env", "clean-home", "then-stdin", "then-run", "speed", "timeout", "linger", "strict", "trust",
	} {
		flag := flags.Lookup(name)
		list, several := flag.Value.(pflag.SliceValue)
		switch {
		case several:
			for _, text := range list.GetSlice() {
				words = append(words, "--"+name, quotedPair(text))
			}
		case !flag.Changed:
		case flag.Value.Type() == "bool" && flag.Value.String() == "true":
			words = append(words, "--"+name)
		default:
			words = append(words, "--"+name+"="+reports.Quoted(flag.Value.String()))
		}
	}
	return words
}

// quotedPair is a pair for a shell; of a secret's variable it takes the value from the shell.
func quotedPair(pair string) string {
	if name, _, _ := strings.Cut(pair, "="); len(secret.FromEnv([]string{pair})) > 0 {
		return fmt.Sprintf("%s=\"$%s\"", name, name)
	}
	return reports.Quoted(pair)
}

// removed deletes a folder of an agent; what it left unwritable is made writable first.
func removed(dir string) error {
	if err := os.RemoveAll(dir); err == nil {
		return nil
	}
	_ = filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			_ = os.Chmod(path, 0o700) // what stays so is the next error
		}
		return nil
	})
	if err := os.RemoveAll(dir); err != nil {
		return fmt.Errorf("removing %s: %w", dir, err)
	}
	return nil
}

// prompting reports whether the user's further messages are given.
func (f *tryFlags) prompting() bool { return f.thenStdin || f.thenRun != "" }

// script is the command for the shell. Without {prompt} in it, the prompt comes on its
// standard input.
func (t *trial) script() string {
	values := t.values()
	words := each(t.command, func(w string) string { return reports.ShellWord(values.Replace(w)) })
	line := strings.Join(words, " ")
	if t.asLines() || t.promptAsWord() {
		return line
	}
	// An agent that does not read its input is none of printf's errors.
	return "printf '%s\\n' " + reports.ShellWord(t.real(t.first)) + " 2> /dev/null | " + line
}

// asLines reports whether prompts come as lines: where there is one alone, its input ends
// behind it.
func (t *trial) asLines() bool { return t.thenStdin && len(t.then) > 0 }

func (t *trial) promptAsWord() bool {
	return slices.ContainsFunc(t.command, func(w string) bool { return strings.Contains(w, "{prompt}") })
}

// further is the command that goes on with a prompt, which a shell reads: what stands for
// it is one word, whatever quotes are around it.
func (t *trial) further(text string) string {
	var pairs []string
	for name, value := range map[string]string{"{prompt}": t.real(text), "{url}": t.url, "{dir}": t.dir} {
		word := reports.ShellWord(value)
		for _, quote := range []string{"'", `"`} {
			pairs = append(pairs, quote+name+quote, word)
		}
		pairs = append(pairs, name, word)
	}
	return strings.NewReplacer(pairs...).Replace(t.thenRun)
}

// promptLine is a standard input on which prompts come as lines; nil where none do.
type promptLine struct {
	file  *os.File
	ended bool
}

// openLine opens the input of an agent that takes further prompts there. It stays open
// until there is none left: who reads to its end has to wait for that.
func (t *trial) openLine() (*promptLine, error) {
	if !t.asLines() {
		return nil, nil
	}
	file, err := host.MakeFIFO(filepath.Join(filepath.Dir(t.root), "prompts"))
	if err != nil {
		return nil, err
	}
	l := &promptLine{file: file}
	if !t.promptAsWord() {
		l.send(t.real(t.first))
	}
	return l, nil
}

// into redirects the input of a command to the line.
func (l *promptLine) into(script string) string {
	if l == nil {
		return script
	}
	return script + " < " + reports.ShellWord(l.file.Name())
}

// goOn gives the next prompt, or ends the input.
func (t *trial) goOn(l *promptLine) {
	if t.sent == len(t.then) {
		l.end()
		return
	}
	l.send(t.real(t.then[t.sent]))
	t.sent++
}

var oneLine = strings.NewReplacer("\r\n", " ", "\n", " ", "\r", " ")

// send writes a prompt as one line.
func (l *promptLine) send(text string) {
	line := oneLine.Replace(text) + "\n"
	go func() { _, _ = l.file.WriteString(line) }() // an error means that nobody reads any more
}

// end closes the input.
func (l *promptLine) end() {
	if l != nil && !l.ended {
		l.ended = true
		_ = l.file.Close() // nobody reads any more
	}
}
