package shell

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/afero"
	"mvdan.cc/sh/v3/syntax"

	"toolbench/toolsys/shellcmd"
)

// ErrSyntax is wrapped by Run's error for a script that does not parse.
var ErrSyntax = errors.New("syntax error")

// DefaultMaxOutput is the limit of a Shell that names none, in bytes.
const DefaultMaxOutput = 4 << 20

// DefaultMaxSteps is the limit of a Shell that names none.
const DefaultMaxSteps = 1_000_000

// ErrRunaway is Run's error for a script that was stopped at its MaxSteps.
var ErrRunaway = errors.New("stopped: the script runs too many commands")

// Shell is what commands run on (L5). FS, Now and Sleep are needed; the rest has defaults. A Shell is a
// value without state: it may run several commands at once, as far as its FS allows it.
type Shell struct {
	FS  afero.Fs
	Now func() time.Time
	// Sleep waits, in whatever time the caller has, and gives ctx's error when cut short.
	Sleep func(ctx context.Context, d time.Duration) error
	// MaxOutput bounds each stream in bytes: what a stage hands to the next one, what Run writes to Stdout and to
	// Stderr, one written file, and the value of a variable, beyond which the script ends. A writer that passes it
	// ends as if its reader had gone away (exit code 141); a file is then full. 0 means DefaultMaxOutput.
	MaxOutput int64
	// MaxSteps bounds the simple commands and turns of loops of one script, those of the scripts it starts included:
	// a script that never sleeps and never ends would stop virtual time. 0 means DefaultMaxSteps.
	MaxSteps int
	User     string // "user" if empty
	Host     string // "localhost" if empty
}

// Command is one script to run.
type Command struct {
	Script string
	Dir    string            // absolute
	Env    map[string]string // all of the environment; nothing is added to it but PWD
	Args   []string          // $1, $2, ...
	Stdin  io.Reader         // nil: empty
	Stdout io.Writer         // nil: thrown away
	Stderr io.Writer         // nil: thrown away
}

// Exit is how a script ended. Dir and Env are what a following command would start from (L4: cd becomes a modifier).
type Exit struct {
	Code int               // 0 to 255
	Dir  string            // the working directory
	Env  map[string]string // the exported variables
}

// Run runs c and returns when all of it has ended, jobs in the background included. A script that fails
// is an exit code, not an error. The error is one of: it does not parse (ErrSyntax), it uses what the
// in-process shell does not have ([ErrUnsupported]), ctx was cancelled (its error), it never ends ([ErrRunaway]) or fills the memory ([ErrTooLarge]), or Dir is no directory.
func (s Shell) Run(ctx context.Context, c Command) (Exit, error) {
	s = s.withDefaults()
	file, err := parse(c.Script)
	if err != nil {
		return Exit{Code: 2, Dir: c.Dir, Env: c.Env}, err
	}
	if info, err := s.FS.Stat(c.Dir); err != nil || !info.IsDir() || !strings.HasPrefix(c.Dir, "/") {
		return Exit{Code: 1, Dir: c.Dir, Env: c.Env}, fmt.Errorf("working directory %q does not exist", c.Dir)
	}
	file.Name = "bash"
	return newRun(s, c).start(ctx, file, c.Args)
}

func (s Shell) withDefaults() Shell {
	s.MaxOutput = cmp.Or(s.MaxOutput, DefaultMaxOutput)
	s.MaxSteps = cmp.Or(s.MaxSteps, DefaultMaxSteps)
	s.User = cmp.Or(s.User, "user")
	s.Host = cmp.Or(s.Host, "localhost")
	return s
}

// parse reads a script and prepares it for running.
func parse(script string) (*syntax.File, error) {
	file, err := shellcmd.Parse(script)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrSyntax, err)
	}
	if err := rewrite(file, script); err != nil {
		return nil, err
	}
	return file, nil
}

func reader(in io.Reader) *bufio.Reader {
	return bufio.NewReader(cmp.Or[io.Reader](in, strings.NewReader("")))
}
