package shell

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"toolbench/toolsys/shellcmd"
)

// runSed is sed [-nErs] [-i[SUFFIX]] [-e SCRIPT] [-f FILE] [SCRIPT] [FILE...]; see package sed.
func runSed(p *proc, o options) int {
	source, names, err := p.sedScript(o)
	if err != nil {
		return p.fail(exitFailure, "%v", err)
	}
	prog, err := shellcmd.ParseSed(source, o.has("E"))
	if err != nil {
		return p.fail(exitFailure, "%v", err)
	}
	s := &sedRun{proc: p, options: o, prog: prog, files: map[string]io.WriteCloser{}}
	defer s.close()
	switch {
	case o.has("i") && len(names) == 0:
		return p.fail(exitFailure, "no input files")
	case len(names) > 0 && o.has("i", "s"):
		return s.separate(names)
	}
	return s.stream(names)
}

// sedScript joins -e and -f in order, or takes the first operand.
func (p *proc) sedScript(o options) (source string, names []string, err error) {
	var parts []string
	for _, x := range o.list {
		switch x.name {
		case "e":
			parts = append(parts, x.value)
		case "f":
			data, err := p.read(x.value)
			if err != nil {
				return "", nil, fmt.Errorf("couldn't open file %s: %s", x.value, reason(err))
			}
			parts = append(parts, strings.TrimSuffix(string(data), "\n"))
		}
	}
	switch {
	case parts != nil:
		return strings.Join(parts, "\n"), o.rest, nil
	case len(o.rest) == 0:
		return "", nil, errors.New("no script specified")
	}
	return o.rest[0], o.rest[1:], nil
}

type sedRun struct {
	*proc
	options
	prog  *shellcmd.SedProgram
	files map[string]io.WriteCloser // that the script writes, open until it ends
	code  int                       // of inputs that could not be read
	owed  bool                      // the output's last line has no newline, which goes before the next file's lines
}

// run runs the script over one input.
func (s *sedRun) run(in io.Reader, out io.Writer) (code int, quit bool, err error) {
	return s.prog.Run(in, shellcmd.SedOptions{Quiet: s.has("n"), Out: out, ReadFile: s.Files.ReadFile, Create: s.create})
}

func (s *sedRun) create(name string) (io.Writer, error) {
	w, err := s.files[name], error(nil)
	if w == nil {
		if w, err = s.Files.Create(name, false); err == nil {
			s.files[name] = w
		}
	}
	return w, err
}

func (s *sedRun) close() {
	for _, f := range s.files {
		f.Close()
	}
}

// input reads a file; one that cannot be read is reported.
func (s *sedRun) input(name string) ([]byte, bool) {
	data, err := s.read(name)
	switch {
	case err == nil:
		return data, true
	case reason(err) == "Is a directory":
		s.code = s.fail(exitUsage, "couldn't edit %s: not a regular file", name)
	default:
		s.code = s.fail(exitUsage, "can't read %s: %s", name, reason(err))
	}
	return nil, false
}

// stream runs the script over all inputs as one.
func (s *sedRun) stream(names []string) int {
	in := io.Reader(s.Stdin)
	if len(names) > 0 {
		var all bytes.Buffer
		for _, name := range names {
			data, _ := s.input(name)
			if all.Len() > 0 && !bytes.HasSuffix(all.Bytes(), []byte("\n")) {
				all.WriteByte('\n')
			}
			all.Write(data)
		}
		in = &all
	}
	code, _, err := s.run(in, s.Stdout)
	if err != nil {
		return s.fail(sedFailure, "%v", err)
	}
	return max(code, s.code)
}

// sedFailure is sed's exit code for what goes wrong while it runs.
const sedFailure = 4

// separate runs the script over each file, with -i in place: the new text is complete before the file is touched.
func (s *sedRun) separate(names []string) int {
	for _, name := range names {
		data, ok := s.input(name)
		if !ok {
			continue
		}
		var out bytes.Buffer
		code, quit, err := s.run(bytes.NewReader(data), &out)
		if err == nil {
			err = s.store(name, data, out.Bytes())
		}
		if err != nil {
			return s.fail(sedFailure, "couldn't edit %s: %s", name, reason(err))
		}
		if s.code = max(s.code, code); quit {
			break
		}
	}
	return s.code
}

// store prints the new text, or with -i writes it to the file, whose old text may go to another.
func (s *sedRun) store(name string, before, after []byte) error {
	if !s.has("i") {
		text := string(after)
		if s.owed && text != "" {
			text = "\n" + text
		}
		s.owed = !strings.HasSuffix(text, "\n") && (s.owed || text != "")
		return s.print(text)
	}
	if suffix := s.get("i", ""); suffix != "" {
		if err := s.Files.WriteFile(name+suffix, before); err != nil {
			return err
		}
	}
	return s.Files.WriteFile(name, after)
}
