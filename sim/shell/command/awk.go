package command

import (
	"bufio"
	"errors"
	"io"
	"strings"

	"toolbench/sim/shell/awk"
)

// awk [-F SEP] [-v NAME=VALUE] [-f FILE] [PROGRAM] [FILE | NAME=VALUE]...; see package awk.
func runAwk(p *Proc) int {
	o, ok := p.parse("+F:v:f:", "field-separator=>F", "assign=>v", "file=>f", "posix", "re-interval")
	if !ok {
		return exitUsage
	}
	source, args := "", o.rest
	for _, name := range o.all("f") {
		data, err := p.read(name)
		if err != nil {
			return p.fail(exitUsage, "cannot open %s (%s)", name, Reason(err))
		}
		source += string(data) + "\n"
	}
	if !o.has("f") {
		if len(args) == 0 {
			return p.usage("no program text")
		}
		source, args = args[0], args[1:]
	}
	prog, err := awk.Parse(source)
	if err != nil {
		return p.usage("%v", err)
	}
	separator := o.get("F", "")
	if separator == "t" {
		separator = "\t"
	}
	code, err := prog.Run(p.Ctx, awk.Options{Args: args, Vars: o.all("v"), Separator: separator, Environ: p.environment(), Stdin: p.Stdin,
		Stdout: p.Stdout, Stderr: p.Stderr, Now: p.System.Now, Open: p.awkOpen, Create: p.Files.Create, Command: p.commandLine})
	if err != nil {
		return p.usage("%v", err)
	}
	return code
}

// awkOpen words its errors for awk's user.
func (p *Proc) awkOpen(name string) (io.ReadCloser, error) {
	f, err := p.Files.Open(name)
	if err != nil {
		return nil, errors.New(Reason(err))
	}
	return f, nil
}

func (p *Proc) commandLine(line string, stdin io.Reader, stdout io.Writer) int {
	c := p.child("sh", nil)
	c.Stdout = stdout
	c.Stdin = bufio.NewReader(stdin)
	return p.System.Script(c, line, []string{"sh"})
}

func (p *Proc) environment() map[string]string {
	out := map[string]string{}
	for _, kv := range p.Environ() {
		name, value, _ := strings.Cut(kv, "=")
		out[name] = value
	}
	return out
}
