package draft

import (
	"cmp"
	"context"
	_ "embed" // the smallest scenario
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"

	"toolbench/sim/cassette"
	"toolbench/sim/recording"
	"toolbench/sim/replay"
	"toolbench/sim/scenario"
	"toolbench/sim/scenario/check"
	"toolbench/sim/scenario/run"
	"toolbench/sim/stream"
	"toolbench/toolsys/tool"
)

// Options are how to draft, and what to assume where nothing was measured.
type Options struct {
	// Name begins the names of the drafts; "" makes it of the file's.
	Name   string
	Limits recording.Limits
	// Pace is that of streams without times; its zero value sends all at once.
	Pace stream.Pace
	// Safe are tools that may run beside others, besides those that are marked so.
	Safe replay.Globs
	// Durations are those of calls that were not measured; without, replay.DefaultDuration.
	Durations replay.Durations
	// Real puts built-in tools in the place of recorded ones of the same name, where they give what was recorded.
	Real bool
	// Secrets are values to blank, besides what looks like one.
	Secrets []string
}

// Draft is one scenario that was written.
type Draft struct {
	// File, Cassette and Tree are below the folder.
	Name     string `json:"name"`
	File     string `json:"file"`
	Cassette string `json:"cassette,omitempty" jsonschema:"Absent when the scenario scripts its stream."`
	Tree     string `json:"tree,omitempty" jsonschema:"The files that the session saw, as they stood at its start. Absent where it saw none."`
	Files    int    `json:"files" jsonschema:"How many those are, with those that stand in the scenario itself."`
	Turns    int    `json:"turns" jsonschema:"Of the recording; 0 without one."`
	Calls    int    `json:"calls"`
	Answered int    `json:"answered" jsonschema:"Calls with a recorded result."`
	// Notes stand in the scenario's file too.
	Notes []string `json:"notes" jsonschema:"What was assumed, and what does not fit the recording."`
	// Outcome is that of the scenario as it stands: status, batches and makespan.
	Outcome check.Result `json:"-"`
}

// ErrFails is given where a draft does not pass as it stands, which is a defect of this package or of the system.
var ErrFails = errors.New("the draft does not pass")

// Write drafts a scenario for each conversation of a recording, into a folder of the disk (go-vcr's recorder writes
// files only), and runs each as it stands. Nothing in the folder may have the same names. One that cannot be made
// leaves no file, and the others are made all the same. Errors are those of recording.Scan, ErrFails, those of the
// scenario's format (a conversation may be too large for it), and those of the disk.
func Write(ctx context.Context, dir, name string, r io.Reader, o Options) ([]Draft, error) {
	conversations, format, err := collect(name, r, o.Limits)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(filepath.Join(dir, "cassettes"), 0o755); err != nil {
		return nil, err
	}
	var all []Draft
	var failed []error
	for i, t := range conversations {
		conversations[i] = nil // its memory is for the next
		title := cmp.Or(o.Name, Slug(name))
		if len(conversations) > 1 {
			title = fmt.Sprintf("%s-%d", title, i+1)
		}
		s := &builder{conversation: t, o: o, dir: dir, source: path.Base(filepath.ToSlash(name)), format: format, of: len(conversations)}
		s.out = Draft{Name: title, File: title + ".yaml", Cassette: "cassettes/" + title + ".yaml"}
		if err := s.write(ctx); err != nil {
			failed = append(failed, fmt.Errorf("conversation %d: %w", t.Number, err), s.remove())
		} else {
			all = append(all, s.out)
		}
		if err := ctx.Err(); err != nil {
			return all, err
		}
	}
	return all, errors.Join(failed...)
}

// remove takes away what was written of a draft that cannot be made.
func (s *builder) remove() (err error) {
	for _, file := range []string{s.out.File, s.out.Cassette, s.out.Tree} {
		if file == "" {
			continue
		}
		if failed := os.Remove(filepath.Join(s.dir, filepath.FromSlash(file))); !errors.Is(failed, fs.ErrNotExist) {
			err = errors.Join(err, failed)
		}
	}
	return err
}

var unfit = regexp.MustCompile(`[^a-z0-9]+`)

// Slug makes a scenario's name of a file's. In YAML, null is no name.
func Slug(file string) string {
	base := path.Base(filepath.ToSlash(file))
	base = strings.ToLower(strings.TrimSuffix(base, path.Ext(base)))
	slug := unfit.ReplaceAllString(base, "-")
	if slug = strings.Trim(slug[:min(len(slug), maxTitle)], "-"); slug != "" && slug != "null" {
		return harmless(slug)
	}
	return "recording"
}

// shortPart is how much of a part of a name is kept where the whole looks like a secret.
const shortPart = 8

// harmless shortens the parts of a name that looks like a secret, as ids in the names of files
// may: it would be blanked in the scenario, with or without the number that a draft may get.
func harmless(name string) string {
	if numbered := name + "-1"; cassette.Blank(numbered) == numbered && cassette.Blank(name) == name {
		return name
	}
	parts := strings.Split(name, "-")
	for i, part := range parts {
		parts[i] = part[:min(len(part), shortPart)]
	}
	return strings.Join(parts, "-")
}

// maxTitle is how long a name may be, with its folders: with number and ending it is a file's.
const maxTitle = 150

// Names are names for the drafts of a file, the shortest first: its own, then with the folders
// it lies in, since some recorders name all their files alike.
func Names(file string) []string {
	names := []string{Slug(file)}
	for dir := path.Dir(filepath.ToSlash(file)); dir != path.Dir(dir); dir = path.Dir(dir) {
		name := harmless(Slug(path.Base(dir)+".") + "-" + names[len(names)-1])
		if len(name) > maxTitle {
			break
		}
		names = append(names, name)
	}
	return names
}

// builder is one draft in the making.
type builder struct {
	*conversation
	o       Options
	dir     string
	source  string
	format  recording.Format
	of      int
	out     Draft
	answers [][]stream.Event
	// prompt and then are the user's messages; closed: an end was added to the stream.
	prompt string
	then   []string
	closed bool
	// between are the messages that came while the model was at work, interjections what of
	// them is sent here; made are the turns before which the user's messages are made up.
	between, interjections []interjection
	made, moved            []string
	answered               *recording.Turn // the last that ended whole, so far
	// cwd is where the session works, apart the files that no archive can hold.
	cwd   string
	apart []treeFile
	// seen is what the recorded times show of the calls.
	seen evidence
	// recorded are the names that the tools with other names here had in the recording.
	recorded map[string]string
	// real are the built-ins that take the place of recorded tools.
	real map[string]bool
	// expect is the text of the expectations, once they are known.
	expect string
}

func (s *builder) blank(text string) string { return cassette.Blank(text, s.o.Secrets...) }

func (s *builder) note(format string, args ...any) {
	s.out.Notes = append(s.out.Notes, s.blank(fmt.Sprintf(format, args...)))
}

// noteAll notes what holds for all of some names or turns, if there are any; %s stands for them.
func (s *builder) noteAll(all []string, format string, args ...any) {
	if len(all) > 0 {
		s.note(format, append([]any{strings.Join(all, ", ")}, args...)...)
	}
}

// write records the cassette, runs the scenario, and writes what was found into it.
func (s *builder) write(ctx context.Context) error {
	s.renameCalls()
	s.renameTools()
	if err := s.plant(); err != nil { // of the whole session
		return err
	}
	s.seen = s.evidence()
	s.bound()
	s.out.Turns = len(s.Turns)
	s.script()
	out, err := s.settle(ctx)
	if err == nil && out.Status == check.Passed {
		out, err = s.interject(ctx, out)
	}
	if err != nil {
		return err
	}
	if out.Status != check.Passed {
		return fmt.Errorf("%w: %s: %s", ErrFails, s.out.Name, why(out))
	}
	s.remark(out)
	for _, grows := range []bool{true, false} { // an answer without content is not sent back
		s.expect = Expectations(out, grows) + s.files(out)
		if s.out.Outcome, err = s.run(ctx); err != nil {
			return err
		}
		if f := s.out.Outcome.Failures; len(f) != 1 || f[0].Expectation != "requests.grows" {
			break
		}
	}
	if s.out.Outcome.Status != check.Passed {
		return fmt.Errorf("%w: %s: %s", ErrFails, s.out.Name, why(s.out.Outcome))
	}
	ran := s.out.Outcome // the rest has all that was sent
	s.out.Outcome = check.Result{Status: ran.Status, Batches: ran.Batches, Makespan: ran.Makespan}
	return nil
}

// why words what went wrong with a run.
func why(out check.Result) string {
	if out.Err != nil {
		return out.Err.Error()
	}
	return strings.Join(tool.Each(out.Failures, func(f check.Failure) string {
		return fmt.Sprintf("%s: expected %s, found %s", f.Expectation, f.Expected, f.Found)
	}), "; ")
}

// run writes the file as it is now and runs it.
func (s *builder) run(ctx context.Context) (check.Result, error) {
	sc, err := s.save()
	if err != nil {
		return check.Result{}, err
	}
	return run.Scenario(ctx, sc, run.Options{Seed: 1}), nil
}

// save writes the file and reads it back.
func (s *builder) save() (*scenario.Scenario, error) {
	if err := os.WriteFile(filepath.Join(s.dir, s.out.File), []byte(s.text()), 0o644); err != nil {
		return nil, err
	}
	return scenario.Load(os.DirFS(s.dir), s.out.File)
}

// headBytes is how much of a recording is looked at for where the session worked.
const headBytes = 64 << 10

var (
	// cwd is how transcripts name the working directory, promptDir how prompts do.
	cwd       = regexp.MustCompile(`"cwd":\s*("(?:[^"\\\n]|\\.)+")`)
	promptDir = regexp.MustCompile(`(?i)\b(?:working directory|cwd)(?: is)?[:=]?[ \x60*]{1,4}((?:/|~/|[A-Za-z]:\\)[^\s"'<>\x60]*)`)
)

// dirNames are how the name of a working directory may be written, and dirWindow is how much of a text may hold it
// with its path. Requests repeat the whole conversation: only what has one of the names is searched closer.
var dirNames = []string{"orking directory", "orking Directory", "ORKING DIRECTORY", "cwd", "CWD", "Cwd"}

const dirWindow = 4 << 10

// workingDir is the first one that a request's prompts name.
func workingDir(body string) string {
	first, found := len(body), ""
	for _, name := range dirNames {
		for from := 0; ; {
			i := strings.Index(body[from:first], name)
			if i < 0 {
				break
			}
			at := from + i
			begin := max(0, at-2) // a letter of its own, and what stands before the word
			if m := promptDir.FindStringSubmatch(body[begin:min(len(body), at+dirWindow)]); m != nil {
				first, found = at, m[1]
				break
			}
			from = at + len(name)
		}
	}
	var dir string
	if found == "" || json.Unmarshal([]byte(`"`+found+`"`), &dir) != nil { // the body is JSON, and may have been cut in an escape
		return ""
	}
	dir, _, _ = strings.Cut(dir, "\n")       // which JSON writes as two characters that a path may have
	return strings.TrimRight(dir, ".,;:!)*") // the end of a sentence, or of a mark around it
}

// Smallest is the text of the smallest scenario worth having: a file, an edit that
// waits for a read, and a read that sees what was edited.
func Smallest(name string) string { return schemaLine + fmt.Sprintf(smallest, name) }

// SchemaFile is the published schema's, beside a scenario, and schemaLine what has editors
// check the scenario against it.
const (
	SchemaFile = "scenario.schema.json"
	schemaLine = "# yaml-language-server: $schema=" + SchemaFile + "\n"
)

//go:embed smallest.yaml
var smallest string

// Limits of a draft, in bytes. Each request of a session has all messages before, so that
// together they grow with the square of its length; they are all compared when the draft
// runs. A scenario's file has the answers of its stand-ins.
const (
	maxRequests = 64 << 20
	maxAnswers  = scenario.MaxFileBytes * 2 / 3
)

// bound keeps as many turns of a long session as make a cassette and a file that can be read, and notes it. A first
// turn that is too long by itself is kept: the file's own limit words what is wrong with it.
func (s *builder) bound() {
	var size extent
	for _, d := range s.definitions() {
		size.history += len(d.Description) + len(d.Schema)
	}
	for i, turn := range s.Turns {
		prompt := s.prompts[turn.Number]
		more, scripted := weight(turn)
		if size.add(more+len(prompt), scripted+len(quote(prompt))); i > 0 && size.over() {
			s.note("the first %d of %d turns: what follows would make its files larger than they may be, since each request has all messages before", i, len(s.Turns))
			s.Turns = s.Turns[:i]
			return
		}
	}
}

// weight is how much a turn adds to each later request, and how much of it comes into
// the scenario's file, as JSON writes it.
func weight(t *recording.Turn) (size, scripted int) {
	for _, e := range t.Events {
		size += len(e.Data) / 2 // the rest of a delta is its frame
	}
	for _, c := range t.Calls {
		scripted += len(c.Input) + 200
		if r := t.Result(c.ID); r != nil {
			n := len(quote(r.Text))
			scripted += n
			size += n
		}
	}
	return size, scripted
}
