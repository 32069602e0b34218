package cli

import (
	"bufio"
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"toolbench/sim/draft"
	"toolbench/sim/scenario"
)

// project is what init writes of a project: where its scenarios stand, whether programs of
// its own are tools, and which CI runs it.
type project struct {
	folder, tools, ci string
}

// ciNone and ciGitHub are the answers about CI, toolsNone and toolsOwn those about tools.
const (
	ciNone    = "none"
	ciGitHub  = "github"
	toolsNone = "built-in"
	toolsOwn  = "own"
)

// askProject asks the person at the terminal; an empty line takes what is proposed.
func (a *app) askProject() (project, error) {
	p := project{folder: "scenarios", tools: toolsNone, ci: ciNone}
	lines := bufio.NewScanner(a.Stdin)
	for _, q := range []struct {
		text string
		to   *string
		of   []string
	}{
		{"Folder for scenarios", &p.folder, nil},
		{"Tools of your own, as programs (built-in, own)", &p.tools, []string{toolsNone, toolsOwn}},
		{"CI (none, github)", &p.ci, []string{ciNone, ciGitHub}},
	} {
		fmt.Fprintf(a.Stderr, "%s [%s]: ", q.text, *q.to)
		if !lines.Scan() {
			return p, usage("init was not answered; `toolbench init --project` asks nothing")
		}
		*q.to = cmp.Or(strings.TrimSpace(lines.Text()), *q.to)
		if q.of != nil && !slices.Contains(q.of, *q.to) {
			return p, usage("%q is no answer; write %s", *q.to, strings.Join(q.of, " or "))
		}
	}
	return p, nil
}

// writeProject writes the project's file, a first scenario, and what CI needs.
func (a *app) writeProject(p project, f initFlags) error {
	if !filepath.IsLocal(p.folder) {
		return usage("the folder %s leads out of the project; name one inside", p.folder)
	}
	config := fmt.Sprintf("# Flags that this project always gives; `toolbench doctor` shows what is in force.\nrun: {paths: [%q]}\nlist: {paths: [%q]}\n", p.folder, p.folder)
	files := []struct{ name, text string }{
		{filepath.Join(p.folder, "first.yaml"), draft.Smallest("first")},
		{filepath.Join(p.folder, draft.SchemaFile), string(scenario.Schema())},
	}
	if p.tools == toolsOwn {
		config += projectTool
		files = append(files, struct{ name, text string }{"lookup.sh", projectProgram})
	}
	if p.ci == ciGitHub {
		files = append(files, struct{ name, text string }{filepath.Join(".github", "workflows", "toolbench.yml"), fmt.Sprintf(projectWorkflow, p.folder)})
	}
	files = append(files, struct{ name, text string }{ConfigFile, config})
	for _, file := range files {
		if err := a.absent(f, filepath.Join(f.out, file.name)); err != nil {
			return err
		}
	}
	for _, file := range files {
		name := filepath.Join(f.out, file.name)
		if err := a.writeNamed(name, []byte(file.text)); err != nil {
			return err
		}
		if _, err := fmt.Fprintf(a.Stdout, "wrote %s\n", name); err != nil {
			return wrap(err)
		}
	}
	_, err := fmt.Fprintln(a.Stdout, "run it with: toolbench run")
	return wrap(err)
}

const projectTool = `# A program that is a tool; it is started with ` + "`toolbench run --trust`" + ` only.
tools:
  Lookup:
    command: [sh, lookup.sh]
    about: Looks a word up.
    schema: {type: object, properties: {word: {type: string}}, required: [word]}
`

const projectProgram = `# It reads a line like {"tool":"Lookup","call":"call_1","input":{"word":"tool"}}, and answers with one.
read -r line
echo '{"text":"no such word","failed":true}'
`

// projectWorkflow runs the scenarios of a folder. OWNER in it is for the reader to replace.
const projectWorkflow = `name: toolbench
on: [push, pull_request]
jobs:
  scenarios:
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@v4
      # OWNER is who hosts toolbench. The action builds it, and writes report.json and report.html.
      - uses: OWNER/toolbench/.ci/action@main
        with: {paths: %q, arguments: "--format junit=junit.xml"}
`
