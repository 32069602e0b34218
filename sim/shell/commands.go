package shell

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"time"
)

// runYes is yes [TEXT...], which writes until nobody reads any more.
func runYes(p *proc) int {
	line := cmp.Or(strings.Join(p.Args, " "), "y")
	block := strings.Repeat(line+"\n", max(1, 8192/(len(line)+1)))
	for p.Ctx.Err() == nil {
		if p.print(block) != nil {
			break
		}
	}
	return exitFailure
}

// runShell is sh, bash [-celux] [-o OPTION] [SCRIPT | FILE] [NAME] [ARG...]
func runShell(p *proc, o options) int {
	preset := ""
	for _, x := range o.list {
		switch x.name {
		case "e", "x", "u":
			preset += "set -" + x.name + "\n"
		case "o":
			preset += "set -o '" + strings.ReplaceAll(x.value, "'", "") + "'\n"
		}
	}
	if o.has("c") {
		if len(o.rest) == 0 {
			return p.usage("-c: option requires an argument")
		}
		args := o.rest[1:]
		if len(args) == 0 {
			args = []string{p.Name}
		}
		return p.System.Script(p, preset+o.rest[0], args)
	}
	name, args := "/dev/stdin", []string{p.Name}
	if len(o.rest) > 0 {
		name, args = o.rest[0], o.rest
	}
	script, err := p.Files.ReadFile(name)
	if err != nil {
		return p.fail(exitNotFound, "%s: %s", name, reason(err))
	}
	return p.System.Script(p, preset+string(script), args)
}

// runEnv is env [-i] [-u NAME] [NAME=VALUE...] [COMMAND [ARG...]]
func runEnv(p *proc) int {
	o, ok := p.parse("+i|ignore-environment u|unset=")
	if !ok {
		return exitCannotWrap
	}
	vars, args := map[string]string{}, o.rest
	if !o.has("i") {
		vars = p.environment()
	}
	for _, name := range o.all("u") {
		delete(vars, name)
	}
	for len(args) > 0 && strings.Index(args[0], "=") > 0 {
		name, value, _ := strings.Cut(args[0], "=")
		vars[name] = value
		args = args[1:]
	}
	list := sortedEnviron(vars)
	if len(args) == 0 {
		return p.printed(strings.Join(append(list, ""), "\n"))
	}
	c := p.child(args[0], args[1:])
	c.Getenv = func(name string) string { return vars[name] }
	c.Environ = func() []string { return list }
	return p.System.Exec(c)
}

func (p *proc) environment() map[string]string {
	out := map[string]string{}
	for _, kv := range p.Environ() {
		name, value, _ := strings.Cut(kv, "=")
		out[name] = value
	}
	return out
}

func sortedEnviron(vars map[string]string) []string {
	return each(slices.Sorted(maps.Keys(vars)), func(name string) string { return name + "=" + vars[name] })
}

// runSleep is sleep N[smhd]...
func runSleep(p *proc) int {
	if len(p.Args) == 0 {
		return p.fail(exitFailure, "missing operand")
	}
	total := time.Duration(0)
	for _, a := range p.Args {
		d, err := seconds(a)
		if err != nil {
			return p.fail(exitFailure, "%v", err)
		}
		total = longerBy(total, d)
	}
	if p.System.Sleep(p.Ctx, total) != nil {
		return exitTimedOut
	}
	return 0
}

// errTimeout is why a command under timeout stopped.
var errTimeout = errors.New("timed out")

// runTimeout is timeout [-k N] [-s SIGNAL] N COMMAND [ARG...]
//
// The limit is measured on the shell's own clock: a command's sleeps end at it. A command that computes without
// sleeping takes no time and is not cut short. Nothing here outlives a signal, so -k and -s make no difference.
func runTimeout(p *proc) int {
	o, ok := p.parse("+k|kill-after= s|signal=")
	if !ok {
		return exitCannotWrap
	}
	if len(o.rest) < 2 {
		return p.fail(exitCannotWrap, "missing operand")
	}
	limit, err := seconds(o.rest[0])
	if err != nil {
		return p.fail(exitCannotWrap, "%v", err)
	}
	c := p.child(o.rest[1], o.rest[2:])
	if limit == 0 {
		return p.System.Exec(c)
	}
	ctx, cancel := context.WithCancelCause(p.Ctx)
	defer cancel(nil)
	c.Ctx = ctx
	c.System = p.System.limited(limit, cancel)
	code := p.System.Exec(c)
	if errors.Is(context.Cause(ctx), errTimeout) && p.Ctx.Err() == nil {
		return exitTimedOut
	}
	return code
}

// limited is s with sleeps that end, and cancel, when the limit is reached.
func (s *system) limited(limit time.Duration, cancel context.CancelCauseFunc) *system {
	end := s.Now().Add(limit)
	out := *s
	out.Sleep = func(ctx context.Context, d time.Duration) error {
		left := end.Sub(s.Now())
		if d < left {
			return s.Sleep(ctx, d)
		}
		if err := s.Sleep(ctx, max(left, 0)); err != nil {
			return err
		}
		cancel(errTimeout)
		return errTimeout
	}
	return &out
}

// commands is the one list of commands. It is read only.
var commands = map[string]command{
	"[": runTest, "test": runTest, "echo": runEcho, "env": runEnv, "find": runFind, "printf": runPrintf, "seq": runSeq,
	"sleep": runSleep, "timeout": runTimeout, "xargs": runXargs, "yes": runYes,
	"false": func(*proc) int { return exitFailure }, "true": func(*proc) int { return 0 },
	"basename": withOptions("+a|multiple s|suffix=", runBasename),
	"bash":     withOptions("+c e x u l|login o=", runShell),
	"cat":      withOptions("A|show-all n|number", runCat),
	"cp":       withOptions("a|archive f|force n|no-clobber p|preserve r|R|recursive v|verbose", func(p *proc, o options) int { return p.transfer(o, p.copy) }),
	"cut":      withOptions("b|bytes= c|characters= f|fields= d|delimiter= s|only-delimited", runCut),
	"date":     withOptions("u|utc|universal d|date= r|reference=", runDate),
	"diff":     withOptions("q|brief u|unified U= label=", runDiff),
	"dirname":  withOptions("+", runDirname),
	"egrep":    withOptions(grepOptions, runGrep),
	"fgrep":    withOptions(grepOptions, runGrep),
	"grep":     withOptions(grepOptions, runGrep),
	"head":     withOptions(excerptOptions, runHead),
	"ln":       withOptions("s|symbolic f|force n|no-dereference v|verbose", runLn),
	"ls":       withOptions("1 a|all A|almost-all d|directory F|classify h|human-readable l r|reverse R|recursive S t color?", runLs),
	"mkdir":    withOptions("p|parents v|verbose", func(p *proc, o options) int { return p.eachOperand(o, p.makeDir) }),
	"mv":       withOptions("f|force n|no-clobber v|verbose", func(p *proc, o options) int { return p.transfer(o, p.move) }),
	"pwd":      withOptions("L P", runPwd),
	"rm":       withOptions("d|dir f|force r|R|recursive v|verbose", runRm),
	"sed":      withOptions("n|quiet|silent E|r|regexp-extended s|separate i|in-place? e|expression= f|file=", runSed),
	"sh":       withOptions("+c e x u l|login o=", runShell),
	"sort":     withOptions("b|ignore-leading-blanks f|ignore-case n|numeric-sort r|reverse s|stable u|unique k|key= t|field-separator= o|output=", runSort),
	"tail":     withOptions(excerptOptions, runTail),
	"tee":      withOptions("a|append", runTee),
	"touch":    withOptions("c|no-create m d|date= r|reference=", runTouch),
	"tr":       withOptions("+c|C|complement d|delete s|squeeze-repeats", runTr),
	"uniq":     withOptions("c|count d|repeated i|ignore-case u|unique", runUniq),
	"wc":       withOptions("c|bytes l|lines m|chars w|words", runWc),
}

// absent are utilities that a machine usually has and the in-process shell does not.
var absent = strings.Fields(`awk base64 chgrp chmod chown cmp comm dd df du expr file fold gawk git hostname id jq kill
	less mawk md5sum mktemp more nl nohup nproc od paste perl printenv python python3 readlink realpath rev rg rmdir
	sha256sum shuf split stat tac tar tree uname which whoami xxd`)

// lacking ends a message about what a real machine has.
const lacking = " (the in-process shell does not have it)"

// hint gives what to add to the message that a command was not found: that a real machine would have it.
func hint(name string) string {
	if slices.Contains(absent, name) {
		return lacking
	}
	return ""
}

// lookup gives the command of a name, which may be a path into one of the usual directories.
func lookup(name string) (command, bool) {
	for _, dir := range []string{"/bin/", "/usr/bin/", "/usr/local/bin/"} {
		if rest, below := strings.CutPrefix(name, dir); below && rest != "" {
			name = rest
			break
		}
	}
	f, ok := commands[name]
	return f, ok
}
