package command

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"toolbench/sim/shell/awk"
	"toolbench/toolsys/shellcmd/sed"
)

// sed [-nErsuz] [-i[SUFFIX]] [-e SCRIPT] [-f FILE] [SCRIPT] [FILE...]; see package sed.
func runSed(p *Proc) int {
	o, ok := p.parse("nErsuzi::e:f:", "quiet>n", "silent>n", "expression=>e", "file=>f", "regexp-extended>E", "in-place?>i", "separate>s", "unbuffered>u", "null-data>z", "posix", "debug>?")
	if !ok {
		return exitUsage
	}
	source, names, err := p.sedScript(o)
	if err != nil {
		return p.fail(exitFailure, "%v", err)
	}
	prog, err := sed.Parse(source, o.has("E") || o.has("r"))
	if err != nil {
		return p.fail(exitFailure, "%v", err)
	}
	s := &sedRun{p: p, o: o, prog: prog}
	defer s.close()
	if o.has("i") {
		return s.inPlace(names)
	}
	if o.has("s") {
		return s.separate(names)
	}
	return s.stream(names)
}

// sedScript joins -e and -f in order, or takes the first operand.
func (p *Proc) sedScript(o options) (source string, names []string, err error) {
	var parts []string
	for _, x := range o.list {
		switch x.name {
		case "e":
			parts = append(parts, x.value)
		case "f":
			data, err := p.read(x.value)
			if err != nil {
				return "", nil, fmt.Errorf("couldn't open file %s: %s", x.value, Reason(err))
			}
			parts = append(parts, strings.TrimSuffix(string(data), "\n"))
		}
	}
	if parts != nil {
		return strings.Join(parts, "\n"), o.rest, nil
	}
	if len(o.rest) == 0 {
		return "", nil, fmt.Errorf("no script specified")
	}
	return o.rest[0], o.rest[1:], nil
}

type sedRun struct {
	p     *Proc
	o     options
	prog  *sed.Program
	files []io.Closer
}

func (s *sedRun) options(out io.Writer) sed.Options {
	return sed.Options{Quiet: s.o.has("n"), Null: s.o.has("z"), Out: out, ReadFile: s.p.Files.ReadFile, Create: s.create}
}

func (s *sedRun) create(name string) (io.Writer, error) {
	switch name {
	case "/dev/stdout":
		return s.p.Stdout, nil
	case "/dev/stderr":
		return s.p.Stderr, nil
	}
	w, err := s.p.Files.Create(name, false)
	if err == nil {
		s.files = append(s.files, w)
	}
	return w, err
}

func (s *sedRun) close() {
	for _, f := range s.files {
		f.Close()
	}
}

// stream runs the script over all inputs as one.
func (s *sedRun) stream(names []string) int {
	if len(names) == 0 {
		return s.run(s.p.Stdin, s.p.Stdout, 0)
	}
	var all bytes.Buffer
	code := 0
	for _, name := range names {
		data, err := s.p.read(name)
		if err != nil {
			code = s.cannotRead(name, err)
			continue
		}
		if all.Len() > 0 && !bytes.HasSuffix(all.Bytes(), []byte("\n")) && !s.o.has("z") {
			all.WriteByte('\n')
		}
		all.Write(data)
	}
	return s.run(&all, s.p.Stdout, code)
}

func (s *sedRun) cannotRead(name string, err error) int {
	if Reason(err) == "Is a directory" {
		return s.p.fail(exitUsage, "couldn't edit %s: not a regular file", name)
	}
	return s.p.fail(exitUsage, "can't read %s: %s", name, Reason(err))
}

func (s *sedRun) run(in io.Reader, out io.Writer, code int) int {
	asked, _, err := s.prog.Run(in, s.options(out))
	if err != nil {
		return s.p.fail(4, "%v", err)
	}
	if asked != 0 {
		return asked
	}
	return code
}

func (s *sedRun) separate(names []string) int {
	code := 0
	for _, name := range names {
		data, err := s.p.read(name)
		if err != nil {
			code = s.cannotRead(name, err)
			continue
		}
		code = s.run(bytes.NewReader(data), s.p.Stdout, code)
	}
	return code
}

// inPlace edits each file: the new text is complete before the file is touched.
func (s *sedRun) inPlace(names []string) int {
	if len(names) == 0 {
		return s.p.fail(exitFailure, "no input files")
	}
	code := 0
	for _, name := range names {
		data, err := s.p.Files.ReadFile(name)
		if err != nil {
			code = s.cannotRead(name, err)
			continue
		}
		asked, quit, err := s.edit(name, data)
		if err != nil {
			return s.p.fail(4, "couldn't edit %s: %s", name, Reason(err))
		}
		code = max(code, asked)
		if quit {
			break
		}
	}
	return code
}

func (s *sedRun) edit(name string, data []byte) (code int, quit bool, err error) {
	var out bytes.Buffer
	code, quit, err = s.prog.Run(bytes.NewReader(data), s.options(&out))
	if err != nil {
		return 4, true, err
	}
	if suffix := s.o.get("i", ""); suffix != "" {
		backup := name + suffix
		if strings.Contains(suffix, "*") {
			backup = strings.ReplaceAll(suffix, "*", name)
		}
		if err := s.p.Files.WriteFile(backup, data); err != nil {
			return 4, true, err
		}
	}
	return code, quit, s.p.Files.WriteFile(name, out.Bytes())
}

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
