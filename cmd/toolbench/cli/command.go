package cli

import (
	"bytes"
	"cmp"
	"embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"toolbench/reports"
)

// What help prints stands in files: a command's, or codes.txt for what several share.
//
//go:embed help/*.txt
var helpTexts embed.FS

func helpText(name string) string {
	text, err := helpTexts.ReadFile("help/" + name + ".txt")
	if err != nil {
		panic(err) // a command without its text is our mistake
	}
	return strings.TrimRight(string(text), "\n")
}

// explained gives a command its help: the text before the line "Examples:" of its file,
// with more behind it, and the examples.
func explained(cmd *cobra.Command, more ...string) *cobra.Command {
	long, examples, _ := strings.Cut(helpText(cmd.Name()), "\n\nExamples:\n")
	cmd.Long, cmd.Example = strings.Join(append([]string{long}, more...), "\n\n"), examples
	return cmd
}

// printing are the flags of a command that prints one report.
type printing struct {
	displayFlags
	outputs outputs
	schema  bool
	// brief leaves out what one screen has no room for, unless all of it is asked for.
	brief, all bool
}

// briefly makes the report for people one of a screen, and adds the flag that shows all.
func (p *printing) briefly(flags *pflag.FlagSet, about string) {
	p.brief = true
	flags.BoolVarP(&p.all, "all", "v", false, about)
}

// drawingOf is how a report is drawn.
func (a *app) drawingOf(p printing) reports.Options {
	options := a.drawing(p.displayFlags)
	options.Grouped = p.brief && !p.all
	return options
}

// reporter makes of a command one that prints a report, or its schema.
func (a *app) reporter(cmd *cobra.Command, p *printing, run func(cmd *cobra.Command, args []string) error) *cobra.Command {
	flags := cmd.Flags()
	p.add(flags)
	flags.BoolVar(&p.schema, "schema", false, "print the JSON Schema of --format json, and do nothing else")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if p.schema {
			return a.printAll(reports.Schema(cmd.Name()))
		}
		return run(cmd, args)
	}
	return explained(cmd)
}

func (p *printing) add(flags *pflag.FlagSet) {
	p.displayFlags.add(flags)
	p.outputs.names = append([]string{"table", "json"}, p.outputs.names...)
	own(flags, &p.outputs, "format", strings.Join(p.outputs.names, ", ")+", or to a file: json=out.json; repeatable")
}

// print writes a report to its files and on the standard output.
func (a *app) print(r reports.Report, p printing) error {
	return cmp.Or(a.printFiles(r, p), wrap(reports.Print(a.Stdout, r, p.outputs.screen, a.drawingOf(p))))
}

func (a *app) printFiles(r reports.Report, p printing) error {
	return a.writeFiles(p.outputs, func(w io.Writer, format string) error {
		return reports.Print(w, r, format, reports.Options{Secrets: a.secrets()})
	})
}

func (a *app) printAll(text []byte) error {
	_, err := io.WriteString(a.Stdout, strings.TrimRight(string(text), "\n")+"\n")
	return wrap(err)
}

// unread reports whether the reader of an output went away, as in `toolbench run | head`.
func unread(err error) bool { return errors.Is(err, syscall.EPIPE) || errors.Is(err, io.ErrClosedPipe) }

// wrap makes an error of writing one of the harness, which nil is not, nor a reader that went away:
// what is still to be done is done all the same.
func wrap(err error) error {
	if err == nil || unread(err) {
		return nil
	}
	return harness(fmt.Errorf("writing the report: %w", err))
}

// open opens a file that an argument names.
func (a *app) open(name string) (*os.File, error) {
	file, err := os.Open(a.path(name))
	if err != nil {
		return nil, usage("%s: %s", name, reason(err))
	}
	return file, nil
}

// readWith opens a file that an argument names, and gives what is read of it.
func readWith[T any](a *app, name string, read func(*os.File) (T, error)) (T, error) {
	file, err := a.open(name)
	if err != nil {
		return *new(T), err
	}
	defer file.Close()
	return read(file)
}

// readFile reads a file that an argument names, of at most so many bytes.
func (a *app) readFile(name string, most int64) ([]byte, error) {
	return readWith(a, name, func(file *os.File) ([]byte, error) {
		data, err := readLimited(file, most)
		if err != nil {
			return nil, usage("%s: %s", name, reason(err))
		}
		return data, nil
	})
}

// readLimited reads at most so many bytes, some megabytes; of what has more, not all is read.
func readLimited(r io.Reader, most int64) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(r, most+1))
	if err == nil && int64(len(data)) > most {
		err = fmt.Errorf("it has more than %d MB; split it", most>>20)
	}
	return data, err
}

// reason is the system's error without the path, which the message has.
func reason(err error) error {
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		return p.Err
	}
	if l, ok := errors.AsType[*os.LinkError](err); ok {
		return l.Err
	}
	return err
}

// outputs are where reports go: at most one to the screen, others to files. It is
// the value of a flag that can be repeated.
type outputs struct {
	// names are the formats there are to choose from; without them, those of outcomes.
	names  []string
	words  []string
	screen string
	files  []fileOutput
}

type fileOutput struct{ format, file string }

var _ pflag.Value = (*outputs)(nil)

// Set takes one more "FORMAT" or "FORMAT=FILE".
func (outs *outputs) Set(word string) error {
	name, file, toFile := strings.Cut(word, "=")
	if file == "-" || file == "/dev/stdout" {
		toFile = false
	}
	switch {
	case !slices.Contains(outs.names, name):
		return fmt.Errorf("use %s", strings.Join(outs.names, ", "))
	case toFile && file == "":
		return errors.New("it names no file after the =")
	case toFile && slices.ContainsFunc(outs.files, func(f fileOutput) bool { return f.file == file && !descriptor(file) }):
		return fmt.Errorf("%s is to have another report already; name another file", file)
	case toFile && strings.Contains(file, ",") && slices.ContainsFunc(outs.names, func(n string) bool { return strings.Contains(file, ","+n+"=") }):
		return errors.New("give --format once for each report")
	case toFile:
		outs.files = append(outs.files, fileOutput{name, file})
	case outs.screen != "":
		return fmt.Errorf("%s goes to the standard output already; send one of them to a file: %s=FILE", outs.screen, name)
	default:
		outs.screen = name
	}
	outs.words = append(outs.words, word)
	return nil
}

// String is what was set.
func (outs *outputs) String() string { return strings.Join(outs.words, ",") }

// Type is how help names the value.
func (outs *outputs) Type() string { return "FORMAT[=FILE]" }

// forPeople reports whether the screen shows the report as a text.
func (outs *outputs) forPeople() bool { return outs.screen == "" || outs.screen == "table" }

// timelines are the formats that show what was played over time.
func timelines() []string { return []string{"html", "perfetto", "otlp"} }

// wants reports whether one of some formats was asked for.
func (outs *outputs) wants(formats ...string) bool {
	return slices.Contains(formats, outs.screen) || slices.ContainsFunc(outs.files, func(f fileOutput) bool { return slices.Contains(formats, f.format) })
}

// formatNames are the reports of outcomes.
func formatNames() []string {
	return each(reports.Formats(), func(f reports.Format) string { return f.Name })
}

// formatNamed is a report of outcomes; outputs know their names.
func formatNamed(name string) reports.Format {
	return reports.Formats()[slices.Index(formatNames(), name)]
}

// writeFiles writes a report to each file that was asked for, the others where one cannot be written.
func (a *app) writeFiles(outs outputs, write func(w io.Writer, format string) error) (failed error) {
	for _, f := range outs.files {
		var b bytes.Buffer
		if err := write(&b, f.format); err != nil {
			return harness(fmt.Errorf("writing %s: %w", f.file, err))
		}
		failed = errors.Join(failed, a.writeNamed(f.file, b.Bytes()))
	}
	return failed
}

// writeNamed writes a file whose name somebody gave. Where that is a folder, or no place to
// write to, the command line is wrong; where a disk is full, it is not.
func (a *app) writeNamed(name string, data []byte) error {
	err := writeWhole(a.path(name), data)
	wrong := func(cause error) bool { return errors.Is(err, cause) }
	switch {
	case err == nil:
		return nil
	case slices.ContainsFunc([]error{fs.ErrPermission, syscall.EISDIR, syscall.ENOTDIR, syscall.EROFS, syscall.ENAMETOOLONG, syscall.ELOOP}, wrong):
		return usage("writing %s: %w; name a file in a folder that you may write to", name, reason(err))
	}
	return harness(fmt.Errorf("writing %s: %w", name, reason(err)))
}

// writeWhole replaces a file in one step, with the folders above it: whoever stops it,
// and whatever fails, the file is as it was or as it is to be. Its mode stays; of a link,
// the file it leads to is replaced. A device, a pipe or a socket is written into, for to
// replace it would take it from everybody else.
func writeWhole(file string, data []byte) error {
	mode := fs.FileMode(0o644)
	if info, err := os.Stat(file); err == nil {
		switch {
		case info.IsDir():
			return &fs.PathError{Op: "write", Path: file, Err: syscall.EISDIR}
		case !info.Mode().IsRegular() || descriptor(file):
			return writeInto(file, data)
		}
		mode = info.Mode().Perm()
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	if real, err := filepath.EvalSymlinks(file); err == nil {
		file = real
	}
	return replaceFile(file, data, mode)
}

// replaceFile puts a file in the place of another as a whole, so that a reader never finds half of
// it. Until it is there, only its owner reads it.
func replaceFile(file string, data []byte, mode fs.FileMode) error {
	temp, err := os.CreateTemp(filepath.Dir(file), ".toolbench-*")
	if err != nil {
		return err
	}
	defer os.Remove(temp.Name()) // fails when it was renamed, as it should
	_, err = temp.Write(data)
	if err == nil {
		err = temp.Sync() // a full disk may only be noticed here
	}
	if err := errors.Join(err, temp.Chmod(mode), temp.Close()); err != nil {
		return err
	}
	return os.Rename(temp.Name(), file)
}

// descriptor reports whether a path names what the process has open, as /dev/stderr does.
func descriptor(file string) bool {
	file = filepath.Clean(file)
	return slices.Contains([]string{"/dev/stdout", "/dev/stderr", "/dev/stdin"}, file) || strings.HasPrefix(file, "/dev/fd/") || strings.HasPrefix(file, "/proc/")
}

// writeInto writes to what stands at a path, behind what is there.
func writeInto(file string, data []byte) error {
	to, err := os.OpenFile(file, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return err
	}
	_, err = to.Write(data)
	return errors.Join(err, to.Close())
}
