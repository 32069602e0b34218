package shell

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/interp"
	"mvdan.cc/sh/v3/syntax"
)

// firstJob is the process id of the first background job.
const firstJob = 2000

// builtin replaces one of the interpreter's builtins. It gives the call to make instead: it cannot touch
// the interpreter's state itself, but `eval` can.
type builtin func(r *run, hc interp.HandlerContext, args []string) []string

// call runs before each simple command, functions and builtins included.
func (r *run) call(ctx context.Context, args []string) ([]string, error) {
	hc := interp.HandlerCtx(ctx)
	r.line = max(1, int(hc.Pos.Line()))
	if err := r.step(); err != nil {
		return nil, err
	}
	if wordsSize(args) > wordsTimes*r.shell.MaxOutput {
		return nil, r.tooLarge(strconv.Itoa(r.line))
	}
	if broken(hc.Stdout) {
		return []string{"exit", "141"}, nil
	}
	if b := builtins[args[0]]; b != nil && !r.functions[args[0]] {
		return b(r, hc, args), nil
	}
	return args, nil
}

// builtins is the table of replacements. It is filled once: some of them look into it.
var builtins map[string]builtin

func init() {
	builtins = map[string]builtin{
		"printf": builtinPrintf, "read": builtinRead, "mapfile": builtinMapfile, "readarray": builtinMapfile,
		"cd": builtinCd, "eval": builtinEval, "source": builtinSource, ".": builtinSource, "trap": builtinTrap,
		"set": builtinSet, "command": builtinCommand, "builtin": builtinBuiltin, "type": builtinType,
		"wait": builtinWait, "umask": builtinUmask,
	}
	for _, name := range []string{"echo", "test", "[", "pwd", "kill"} {
		builtins[name] = asExternal
	}
	for _, name := range []string{"jobs", "disown", "hash", "bind", "complete", "compopt", "enable", "history"} {
		builtins[name] = func(*run, interp.HandlerContext, []string) []string { return []string{"true"} }
	}
}

// asExternal runs the version that commands.go lists.
func asExternal(_ *run, _ interp.HandlerContext, args []string) []string {
	return append([]string{external + args[0]}, args[1:]...)
}

// failed prints a message as the shell does, and gives a call that ends with code.
func (r *run) failed(hc interp.HandlerContext, code int, format string, a ...any) []string {
	fmt.Fprintf(hc.Stderr, "bash: line %d: %s\n", r.line, fmt.Sprintf(format, a...))
	return exitWith(code)
}

// exitWith is a call that does nothing and has code as its status.
func exitWith(code int) []string {
	switch code {
	case 0:
		return []string{"true"}
	case 1:
		return []string{"false"}
	}
	return []string{"eval", "(exit " + strconv.Itoa(code) + ")"}
}

// builtinPrintf is printf -v NAME, which assigns; all else is the command's.
func builtinPrintf(r *run, hc interp.HandlerContext, args []string) []string {
	if len(args) < 4 || args[1] != "-v" {
		return asExternal(r, hc, args)
	}
	if !syntax.ValidName(args[2]) {
		return r.failed(hc, 2, "printf: `%s': not a valid identifier", args[2])
	}
	text, errs := format(args[3], args[4:])
	for _, err := range errs {
		fmt.Fprintf(hc.Stderr, "bash: line %d: printf: %v\n", r.line, err)
	}
	return assign(args[2], text, len(errs) == 0)
}

// assign is a call that sets a variable and succeeds or fails, by the commands true and false.
func assign(name, value string, succeeds bool) []string {
	return []string{"eval", name + "=" + singleQuote(value) + "\n" + strconv.FormatBool(succeeds)}
}

func singleQuote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// builtinCd is cd [-LPe@] [DIR | -]; the interpreter does it, the checks and the messages are ours.
func builtinCd(r *run, hc interp.HandlerContext, args []string) []string {
	args = args[1:]
	for len(args) > 0 && len(args[0]) > 1 && args[0][0] == '-' {
		if args[0] == "--" {
			args = args[1:]
			break
		}
		if strings.Trim(args[0][1:], "LPe@") != "" {
			return r.failed(hc, 2, "cd: %s: invalid option", args[0])
		}
		args = args[1:]
	}
	if len(args) > 1 {
		return r.failed(hc, 1, "cd: too many arguments")
	}
	target, variable := "", "HOME"
	if len(args) == 1 {
		target, variable = args[0], "OLDPWD"
	}
	if len(args) == 0 || target == "-" {
		if !hc.Env.Get(variable).IsSet() {
			return r.failed(hc, 1, "cd: %s not set", variable)
		}
		target = hc.Env.Get(variable).String()
	}
	if target == "" {
		return exitWith(0)
	}
	info, err := r.filesIn(hc.Dir, nil, nil).Stat(target)
	switch {
	case err != nil:
		return r.failed(hc, 1, "cd: %s: %s", target, reason(err))
	case !info.IsDir():
		return r.failed(hc, 1, "cd: %s: Not a directory", target)
	case info.Mode()&0o111 == 0:
		return r.failed(hc, 1, "cd: %s: Permission denied", target)
	}
	if len(args) == 1 && args[0] == "-" {
		return []string{"builtin", "cd", "-"}
	}
	return []string{"builtin", "cd", target}
}

// prepare rewrites a script's text, so that the interpreter may parse it by itself.
func (r *run) prepare(script string) (string, error) {
	file, err := parse(script)
	if err != nil {
		return "", err
	}
	r.declare(file)
	file.Stmts = []*syntax.Stmt{nesting(&syntax.Stmt{Cmd: block(file.Stmts)})}
	var b strings.Builder
	err = syntax.NewPrinter().Print(&b, file)
	return b.String(), err
}

func builtinEval(r *run, hc interp.HandlerContext, args []string) []string {
	args = args[1:]
	if len(args) > 0 && args[0] == "--" {
		args = args[1:]
	}
	text, err := r.prepare(strings.Join(args, " "))
	if err != nil {
		return r.failed(hc, 1, "eval: %v", err)
	}
	return []string{"eval", text}
}

// builtinSource is source FILE [ARG...]; a name without a slash is looked for in the working directory only.
func builtinSource(r *run, hc interp.HandlerContext, args []string) []string {
	if len(args) < 2 {
		return r.failed(hc, 2, "%s: filename argument required", args[0])
	}
	data, err := r.filesIn(hc.Dir, nil, nil).ReadFile(args[1])
	if err != nil {
		return r.failed(hc, 1, "%s: %s", args[1], reason(err))
	}
	text, err := r.prepare(string(data))
	if err != nil {
		return r.failed(hc, 1, "%s: %v", args[1], err)
	}
	name := fmt.Sprintf("%s/source/%d", nowhere, r.next())
	r.sources[name] = text
	return append([]string{"source", name}, args[2:]...)
}

// builtinTrap is trap ACTION SIGNAL... for EXIT and ERR; the other signals never come, so their traps are nothing.
func builtinTrap(r *run, hc interp.HandlerContext, args []string) []string {
	args = slices.Clone(args)
	first := 1
	if len(args) > 1 && args[1] == "--" {
		first = 2
	}
	if len(args) <= first || strings.HasPrefix(args[first], "-") && args[first] != "-" {
		return args
	}
	signals := args[first:]
	action := "-"
	if len(signals) > 1 {
		action, signals = signals[0], signals[1:]
	}
	if action != "-" {
		text, err := r.prepare(action)
		if err != nil {
			return r.failed(hc, 1, "trap: %v", err)
		}
		action = text
	}
	var kept []string
	for _, s := range signals {
		switch s = strings.TrimPrefix(strings.ToUpper(s), "SIG"); s {
		case "EXIT", "0":
			kept = append(kept, "EXIT")
		case "ERR":
			kept = append(kept, s)
		}
	}
	if len(kept) == 0 {
		return exitWith(0)
	}
	return append([]string{"trap", "--", action}, kept...)
}

// builtinSet is set, without the options that make no difference here.
func builtinSet(_ *run, _ interp.HandlerContext, args []string) []string {
	out := []string{"set"}
	for i, a := range args[1:] {
		if a == "--" || a == "-" || len(a) < 2 || a[0] != '-' && a[0] != '+' {
			return append(out, args[1+i:]...)
		}
		kept := strings.Map(func(c rune) rune {
			if strings.ContainsRune("EThmBHbv", c) {
				return -1
			}
			return c
		}, a[1:])
		if kept != "" {
			out = append(out, a[:1]+kept)
		}
	}
	if len(out) == 1 {
		return exitWith(0)
	}
	return out
}

// builtinCommand is command [-pvV] NAME [ARG...]
func builtinCommand(r *run, hc interp.HandlerContext, args []string) []string {
	rest := args[1:]
	show := ""
	for len(rest) > 0 && len(rest[0]) > 1 && rest[0][0] == '-' {
		switch rest[0] {
		case "-p", "--":
		case "-v", "-V":
			show = rest[0]
		default:
			return r.failed(hc, 2, "command: %s: invalid option", rest[0])
		}
		rest = rest[1:]
	}
	switch {
	case len(rest) == 0:
		return exitWith(0)
	case show != "":
		return r.describe(hc, rest, show == "-V", "command")
	}
	return r.beneath(hc, rest)
}

// builtinBuiltin is builtin NAME [ARG...]
func builtinBuiltin(r *run, hc interp.HandlerContext, args []string) []string {
	if len(args) < 2 {
		return exitWith(0)
	}
	if !interp.IsBuiltin(args[1]) {
		return r.failed(hc, 1, "builtin: %s: not a shell builtin", args[1])
	}
	return r.beneath(hc, args[1:])
}

// beneath calls what a function of that name hides.
func (r *run) beneath(hc interp.HandlerContext, args []string) []string {
	if b := builtins[args[0]]; b != nil {
		return b(r, hc, args)
	}
	if interp.IsBuiltin(args[0]) {
		return append([]string{"builtin"}, args...)
	}
	return asExternal(r, hc, args)
}

// builtinType is type [-t] [-p] NAME...
func builtinType(r *run, hc interp.HandlerContext, args []string) []string {
	rest := args[1:]
	mode := ""
	for len(rest) > 0 && len(rest[0]) > 1 && rest[0][0] == '-' {
		mode = rest[0]
		if strings.Trim(mode[1:], "tpPaf") != "" {
			return r.failed(hc, 2, "type: %s: invalid option", mode)
		}
		rest = rest[1:]
	}
	if mode == "" || mode == "-a" || mode == "-f" {
		return r.describe(hc, rest, true, "type")
	}
	code := 0
	for _, name := range rest {
		kind, where := r.kind(name)
		switch {
		case kind == "":
			code = 1
		case mode == "-t":
			fmt.Fprintln(hc.Stdout, kind)
		case kind == "file":
			fmt.Fprintln(hc.Stdout, where)
		}
	}
	return exitWith(code)
}

// kind is what a name would run: keyword, function, builtin, file, or nothing.
func (r *run) kind(name string) (kind, where string) {
	switch {
	case syntax.IsKeyword(name):
		return "keyword", name
	case r.functions[name]:
		return "function", name
	case interp.IsBuiltin(name):
		return "builtin", name
	}
	if _, ok := lookup(name); ok {
		return "file", "/usr/bin/" + name
	}
	return "", ""
}

// describe answers command -v, command -V and type.
func (r *run) describe(hc interp.HandlerContext, names []string, words bool, who string) []string {
	code := 1
	for _, name := range names {
		kind, where := r.kind(name)
		switch {
		case kind == "" && words:
			fmt.Fprintf(hc.Stderr, "bash: line %d: %s: %s: not found\n", r.line, who, name)
			continue
		case kind == "":
			continue
		case !words:
			fmt.Fprintln(hc.Stdout, where)
		case kind == "file":
			fmt.Fprintf(hc.Stdout, "%s is %s\n", name, where)
		case kind == "function":
			fmt.Fprintf(hc.Stdout, "%s is a function\n", name)
		default:
			fmt.Fprintf(hc.Stdout, "%s is a shell %s\n", name, kind)
		}
		code = 0
	}
	return exitWith(code)
}

// builtinWait is wait [-n] [ID...]; all jobs have ended already.
func builtinWait(r *run, hc interp.HandlerContext, args []string) []string {
	code := 0
	for _, a := range args[1:] {
		if strings.HasPrefix(a, "-") {
			continue
		}
		n, err := strconv.Atoi(strings.TrimPrefix(a, "%"))
		if strings.HasPrefix(a, "%") {
			n += firstJob - 1
		}
		if err != nil || n < firstJob || n >= firstJob+len(r.jobs) {
			return r.failed(hc, 127, "wait: pid %s is not a child of this shell", a)
		}
		code = r.jobs[n-firstJob]
	}
	return exitWith(code)
}

func builtinUmask(_ *run, hc interp.HandlerContext, args []string) []string {
	if len(args) == 1 {
		fmt.Fprintln(hc.Stdout, "0022")
	}
	return exitWith(0)
}
