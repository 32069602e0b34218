package cli

import (
	"embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

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
	looks
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
	options := a.drawing(p.looks)
	options.Grouped = p.brief && !p.all
	return options
}

// reporter makes of a command one that prints a report, or its schema.
func (a *app) reporter(cmd *cobra.Command, p *printing, run func(cmd *cobra.Command, args []string) error) *cobra.Command {
	flags := cmd.Flags()
	p.looks.add(flags)
	p.addFormat(flags)
	flags.BoolVar(&p.schema, "schema", false, "print the JSON Schema of --format json, and do nothing else")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if p.schema {
			return a.printAll(reports.Schema(cmd.Name()))
		}
		return run(cmd, args)
	}
	return explained(cmd)
}

func (p *printing) addFormat(flags *pflag.FlagSet) {
	p.outputs.names = append([]string{"table", "json"}, p.outputs.names...)
	own(flags, &p.outputs, "format", strings.Join(p.outputs.names, ", ")+", or to a file: json=out.json; repeatable")
}

// print writes a report to its files and on the standard output.
func (a *app) print(r reports.Report, p printing) error {
	if err := a.printFiles(r, p); err != nil {
		return err
	}
	return wrap(reports.Print(a.Stdout, r, p.outputs.screen, a.drawingOf(p)))
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

// wrap makes an error of writing one of the harness, which nil is not.
func wrap(err error) error {
	if err == nil {
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

// readFile reads a file that an argument names, of at most so many bytes.
func (a *app) readFile(name string, most int64) ([]byte, error) {
	file, err := a.open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	data, err := readLimited(file, most)
	if err != nil {
		return nil, usage("%s: %s", name, reason(err))
	}
	return data, nil
}

// readLimited reads at most so many bytes; of what has more, not all is read.
func readLimited(r io.Reader, most int64) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(r, most+1))
	if err == nil && int64(len(data)) > most {
		err = fmt.Errorf("it has more than %s; split it", size(most))
	}
	return data, err
}

func size(bytes int64) string {
	if bytes >= 1<<20 {
		return fmt.Sprintf("%d MB", bytes>>20)
	}
	return fmt.Sprintf("%d bytes", bytes)
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
