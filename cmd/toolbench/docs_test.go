package main

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var updateDocs = flag.Bool("update-docs", false, "write what the samples of README.md and docs/ print into them")

// The root of the repository, seen from this package.
const root = "../.."

// A sample is one fenced block of a document. Three comments before a block say
// what is to be done with it: "not run: REASON" leaves it alone, "file: PATH" demands
// that the file holds the block's text, and without either a block of the language sh
// is run, one of the language console is run and its output compared. In an output a
// line " ..." stands for any number of lines, and "…" for any text within a line.
type sample struct {
	line       int // of the opening fence, from 1
	end        int // of the closing fence
	lang, note string
	body       []string
}

// TestDocuments runs each sample of the documents as it is written, in a folder
// that looks like a clone, and compares what it prints.
func TestDocuments(t *testing.T) {
	for _, doc := range documents(t) {
		t.Run(filepath.Base(doc), func(t *testing.T) {
			t.Parallel()
			data, err := os.ReadFile(filepath.Join(root, doc))
			require.NoError(t, err)
			lines := strings.Split(string(data), "\n")
			dir := clone(t)
			var out []string
			next := 0
			for _, s := range samples(t, doc, lines) {
				out = append(append(out, lines[next:s.line]...), checkSample(t, doc, dir, s)...)
				next = s.end - 1
			}
			out = append(out, lines[next:]...)
			if text := strings.Join(out, "\n"); *updateDocs && text != string(data) {
				require.NoError(t, os.WriteFile(filepath.Join(root, doc), []byte(text), 0o644))
			}
		})
	}
}

func documents(t *testing.T) []string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(root, "docs", "*.md"))
	require.NoError(t, err)
	docs := []string{"README.md", "CONTRIBUTING.md"}
	for _, f := range found {
		docs = append(docs, filepath.Join("docs", filepath.Base(f)))
	}
	return docs
}

// samples finds the fenced blocks of a document.
func samples(t *testing.T, doc string, lines []string) []sample {
	t.Helper()
	var all []sample
	var open *sample
	for i, line := range lines {
		fence, isFence := strings.CutPrefix(line, "```")
		switch {
		case open == nil && isFence:
			open = &sample{line: i + 1, lang: fence}
			if i > 0 {
				open.note = strings.TrimSuffix(strings.TrimPrefix(lines[i-1], "<!-- "), " -->")
			}
		case open != nil && line == "```":
			open.end = i + 1
			all, open = append(all, *open), nil
		case open != nil:
			open.body = append(open.body, line)
		}
	}
	require.Nil(t, open, "%s: a block is not closed", doc)
	return all
}

// checkSample does with a sample what its note and language demand, and returns the
// lines that should stand in the document.
func checkSample(t *testing.T, doc, dir string, s sample) []string {
	t.Helper()
	place := fmt.Sprintf("%s:%d", doc, s.line)
	if strings.HasPrefix(s.note, "not run: ") {
		return s.body
	}
	if file, ok := strings.CutPrefix(s.note, "file: "); ok {
		data, err := os.ReadFile(filepath.Join(root, file))
		if assert.NoError(t, err, place) {
			assert.Contains(t, string(data), strings.Join(s.body, "\n"), "%s differs from %s", place, file)
		}
		return s.body
	}
	switch s.lang {
	case "sh":
		out, code := bash(t, dir, "set -e\n"+strings.Join(s.body, "\n"))
		assert.Zero(t, code, "%s:\n%s", place, out)
		return s.body
	case "console":
		return checkConsole(t, place, dir, s.body)
	case "text":
		return s.body
	}
	assert.Fail(t, "a sample that nobody runs", "%s: a block of the language %q needs a note", place, s.lang)
	return s.body
}

// checkConsole runs the commands of a block in one shell and compares the output of each.
func checkConsole(t *testing.T, place, dir string, body []string) []string {
	t.Helper()
	type step struct{ typed, want []string }
	var steps []step
	for _, line := range body {
		switch last := len(steps) - 1; {
		case strings.HasPrefix(line, "$ "):
			steps = append(steps, step{typed: []string{line}})
		case last < 0:
			assert.Fail(t, "output before the first command", "%s: %s", place, line)
		case strings.HasPrefix(line, "> ") && len(steps[last].want) == 0:
			steps[last].typed = append(steps[last].typed, line)
		default:
			steps[last].want = append(steps[last].want, line)
		}
	}
	const mark = "-- end of an output --"
	var script strings.Builder
	for _, s := range steps {
		for _, line := range s.typed {
			script.WriteString(line[2:] + "\n")
		}
		script.WriteString("code=$?; echo; echo '" + mark + "'; (exit $code)\n")
	}
	out, _ := bash(t, dir, script.String())
	parts := strings.Split(out, mark+"\n")
	require.Len(t, parts, len(steps)+1, "%s: the shell ended early:\n%s", place, out)
	var lines []string
	for i, s := range steps {
		got := trimLines(parts[i])
		lines = append(lines, s.typed...)
		if matches(s.want, got) {
			lines = append(lines, s.want...)
			continue
		}
		lines = append(lines, got...)
		if !*updateDocs {
			assert.Fail(t, "a sample prints something else", "%s: %s\nwanted:\n%s\nfound:\n%s", place, s.typed[0], strings.Join(s.want, "\n"), strings.Join(got, "\n"))
		}
	}
	return lines
}

// trimLines splits an output into lines without trailing blanks and blank lines at the end.
func trimLines(out string) []string {
	lines := strings.Split(strings.TrimRight(out, "\n "), "\n")
	for i, l := range lines {
		lines[i] = strings.TrimRight(l, " ")
	}
	if len(lines) == 1 && lines[0] == "" {
		return nil
	}
	return lines
}

// matches compares an output with what a document shows of it.
func matches(want, got []string) bool {
	var pattern strings.Builder
	pattern.WriteString("^")
	for _, line := range want {
		if line == " ..." {
			pattern.WriteString(`(?:.*\n)*?`)
			continue
		}
		for i, part := range strings.Split(strings.TrimRight(line, " "), "…") {
			if i > 0 {
				pattern.WriteString(".*")
			}
			pattern.WriteString(regexp.QuoteMeta(part))
		}
		pattern.WriteString(`\n`)
	}
	pattern.WriteString("$")
	text := strings.Join(got, "\n")
	if len(got) > 0 {
		text += "\n"
	}
	return regexp.MustCompile(pattern.String()).MatchString(text)
}

// bash runs a script in a folder. The command toolbench is this test's binary, and
// "go run ./cmd/toolbench" is taken for it, so that nothing is built twice.
func bash(t *testing.T, dir, script string) (string, int) {
	t.Helper()
	const preamble = `go() { if [ "$1 $2" = "run ./cmd/toolbench" ]; then shift 2; toolbench "$@"; else command go "$@"; fi; }` + "\n"
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute) // what is built here is slow on a busy machine
	defer cancel()
	cmd := exec.CommandContext(ctx, "bash", "-c", preamble+"trap 'kill $(jobs -p) 2>/dev/null || true' EXIT\n"+script)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "COLUMNS=110", "NO_COLOR=1", "CI=", "GITHUB_ACTIONS=", "HOME="+dir, "GOFLAGS=", "XDG_CACHE_HOME="+filepath.Join(dir, ".cache"))
	cmd.Env = append(cmd.Env, goCaches()...) // what is built here is not built from nothing
	cmd.WaitDelay = time.Second
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	if exit := (*exec.ExitError)(nil); err != nil {
		require.ErrorAs(t, err, &exit)
		return out.String(), exit.ExitCode()
	}
	return out.String(), 0
}

// goCaches are the variables that name the caches of this machine's go command.
var goCaches = sync.OnceValue(func() []string {
	var env []string
	for _, name := range []string{"GOCACHE", "GOMODCACHE"} {
		if out, err := exec.Command("go", "env", name).Output(); err == nil {
			env = append(env, name+"="+strings.TrimSpace(string(out)))
		}
	}
	return env
})

// clone makes a folder with the repository's files in it, so that samples may write
// beside them: copies of what commands search, and links to the rest.
func clone(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	from, err := filepath.Abs(root)
	require.NoError(t, err)
	entries, err := os.ReadDir(from)
	require.NoError(t, err)
	for _, e := range entries {
		source, target := filepath.Join(from, e.Name()), filepath.Join(dir, e.Name())
		switch e.Name() {
		case ".git":
		case "docs", "fixtures", "scenarios":
			require.NoError(t, os.CopyFS(target, os.DirFS(source)))
		default:
			require.NoError(t, os.Symlink(source, target))
		}
	}
	return dir
}

var (
	link = regexp.MustCompile(`\]\(([^)#]+)[^)]*\)`)
	path = regexp.MustCompile("`((?:toolsys|sim|property|reports|cmd|scenarios|fixtures|docs|bench)/[\\w./-]*)`")
)

// TestDocumentsNameWhatExists follows the links of the documents, and the paths that
// stand in them as code.
func TestDocumentsNameWhatExists(t *testing.T) {
	for _, doc := range documents(t) {
		data, err := os.ReadFile(filepath.Join(root, doc))
		require.NoError(t, err)
		for _, m := range link.FindAllStringSubmatch(string(data), -1) {
			if !strings.Contains(m[1], "://") {
				assert.FileExists(t, filepath.Join(root, filepath.Dir(doc), m[1]), "%s links to it", doc)
			}
		}
		for _, m := range path.FindAllStringSubmatch(string(data), -1) {
			_, err := os.Stat(filepath.Join(root, m[1]))
			assert.NoError(t, err, "%s names it", doc)
		}
	}
}

// TestReadmeIsAFrontPage holds the README's size and its table of commands.
func TestReadmeIsAFrontPage(t *testing.T) {
	data, err := os.ReadFile(filepath.Join(root, "README.md"))
	require.NoError(t, err)
	text := string(data)
	assert.LessOrEqual(t, strings.Count(text, "\n"), 200, "lines")
	assert.LessOrEqual(t, len(strings.Fields(text)), 1300, "words")
	help, err := exec.Command("toolbench", "--help").Output()
	require.NoError(t, err)
	_, commands, found := strings.Cut(string(help), "Available Commands:\n")
	require.True(t, found)
	commands, _, _ = strings.Cut(commands, "\n\n")
	for line := range strings.Lines(commands) {
		if name := strings.Fields(line)[0]; name != "help" {
			assert.True(t, strings.Contains(text, "`toolbench "+name), "the table of commands lacks %s", name)
		}
	}
}

// Samples that are not run, and commands within a sentence, name commands and flags that there are.
func TestDocumentsNameFlagsThatThereAre(t *testing.T) {
	helps := map[string]string{}
	help := func(command string) string {
		if _, asked := helps[command]; !asked {
			helps[command], _ = bash(t, t.TempDir(), "toolbench "+command+" --help")
		}
		return helps[command]
	}
	written := regexp.MustCompile(`(?:toolbench|go run \./cmd/toolbench) ((?:mcp )?[a-z]+)((?: [^\x60\n|;&]*)?)`)
	quoted := regexp.MustCompile(`'[^']*'`)
	flags := regexp.MustCompile(`(?:^|\s)(--[a-z][a-z0-9-]*)`)
	for _, doc := range documents(t) {
		data, err := os.ReadFile(filepath.Join(root, doc))
		require.NoError(t, err)
		for _, m := range written.FindAllStringSubmatch(string(data), -1) {
			own, _, _ := strings.Cut(quoted.ReplaceAllString(m[2], "''"), " -- ")
			for _, f := range flags.FindAllStringSubmatch(own, -1) {
				assert.Regexp(t, regexp.QuoteMeta(f[1])+`\b`, help(m[1]), "%s: toolbench %s%s", doc, m[1], m[2])
			}
		}
	}
}
