package cli

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"

	"toolbench/sim/scenario"
	"toolbench/sim/scenario/check"
	"toolbench/sim/scenario/run"
	"toolbench/sim/serve"
	"toolbench/sim/stream"
	"toolbench/sim/world"
	"toolbench/toolsys/builtin/shell"
	"toolbench/toolsys/host"
)

// agent is somebody's program, and how it is tried.
type agent struct {
	tryFlags
	// command has the program's path in place of its name, given is as it was typed.
	command, given []string
	names          serve.Names
	shell          *host.Shell
	env            []string
	log            func(format string, args ...any)
}

// trial is one run of the agent.
type trial struct {
	*agent
	root   string // the folder that stands for the world's /
	dir    string // where the agent starts
	home   string // the world's home, below root
	prefix []string
	server *serve.Server
	url    string
	// first is what the user asks of the agent, then are further prompts when a turn is over, of which
	// so many were sent.
	first  string
	then   []string
	sent   int
	stderr world.Tail
	exit   int
}

// onScenario tries the agent on a scenario.
func (g *agent) onScenario(ctx context.Context, sc *scenario.Scenario) check.Result {
	failed := check.Result{Name: sc.Name, About: sc.About, Tags: sc.Tags, File: sc.File(), Status: check.Errored}
	script, err := serve.FromScenario(sc, stream.Pace{})
	var tree world.Snapshot
	if err == nil {
		tree, err = run.Tree(sc)
	}
	if err != nil {
		failed.Err, failed.Invalid = err, true
		return failed
	}
	script.Source = sc.Name
	dir, home := run.Dirs(sc)
	out, err := g.attempt(ctx, script, attempt{scenario: sc, prompt: sc.Prompt, then: sc.Then, tree: tree, dir: dir, home: home})
	if err != nil {
		failed.Err = err
		return failed
	}
	return out
}

// onRecording tries the agent on a recording, in an empty folder.
func (g *agent) onRecording(ctx context.Context, script *serve.Script) check.Result {
	c := script.Conversations[0]
	out, err := g.attempt(ctx, script, attempt{prompt: c.Opening, then: c.Then, dir: "/repo", home: "/home/dev"})
	if err != nil {
		return check.Result{Name: script.Source, File: script.Source, Status: check.Errored, Err: err}
	}
	return out
}

// attempt is what a trial begins with.
type attempt struct {
	scenario          *scenario.Scenario // nil for a recording
	prompt, dir, home string
	then              []string
	tree              world.Snapshot
}

// attempt runs the agent once, from its folder to the verdict. Errors are the harness's.
func (g *agent) attempt(ctx context.Context, script *serve.Script, from attempt) (out check.Result, err error) {
	began := time.Now()
	t := &trial{agent: g, first: cmp.Or(from.prompt, "Go."), stderr: world.Tail{Most: 16 << 10}}
	if g.prompting() {
		t.then = from.then
	}
	if err := t.settle(from); err != nil {
		return out, err
	}
	if g.keep {
		g.log("%s worked in %s", script.Source, t.root)
	} else {
		defer func() { err = errors.Join(err, removed(filepath.Dir(t.root))) }()
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return out, err
	}
	t.url = "http://" + listener.Addr().String()
	options := serve.Options{Speed: g.speed, Strict: g.strict, Names: g.names, World: t.real}
	if from.scenario != nil {
		options.Fault = from.scenario.StreamFaults()
	}
	t.server = serve.New(script, options)
	web := webServer(t.server)
	served := make(chan struct{})
	go func() { defer close(served); _ = web.Serve(listener) }() // it ends with Close
	failures := t.drive(ctx)
	left := endLeftovers(t.url)
	_ = web.Close() // connections that the agent left open do not matter any more
	<-served
	if ctx.Err() != nil {
		return out, context.Cause(ctx)
	}
	if out, err = t.outcome(from, failures); len(left) > 0 {
		out.Notes = append(out.Notes, "ended, since the agent left it running: "+strings.Join(left, ", "))
		out.Redact()
	}
	out.Took = time.Since(began)
	return out, err
}

// outcome is the verdict on the agent, by its requests and by what became of the world's files.
func (t *trial) outcome(from attempt, failures []check.Failure) (check.Result, error) {
	seen := serve.Trial{Scenario: from.scenario, Plain: t.plain, Prompted: t.prompting(), Failures: failures}
	if from.scenario != nil {
		after, err := readTree(t.root)
		if err != nil {
			return check.Result{}, err
		}
		seen.Files = run.FileChanges(from.scenario, from.tree, after)
	}
	return t.server.Outcome(seen), nil
}

// settle makes the folder that stands for the world.
func (t *trial) settle(from attempt) error {
	temp, err := os.MkdirTemp("", "toolbench-try-")
	if err == nil {
		temp, err = filepath.EvalSymlinks(temp)
	}
	if err != nil {
		return err
	}
	t.root = filepath.Join(temp, "world")
	t.dir, t.home = t.at(from.dir), t.at(from.home)
	t.prefix = []string{from.dir, from.home}
	for _, e := range from.tree {
		if top := "/" + strings.SplitN(strings.TrimPrefix(e.Path, "/"), "/", 2)[0]; top != "/tmp" && !slices.Contains(t.prefix, top) {
			t.prefix = append(t.prefix, top)
		}
	}
	for _, dir := range []string{t.root, t.dir, t.home} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return err
		}
	}
	return writeTree(t.root, from.tree, t.real)
}

// at is where a path of the world is on the disk.
func (t *trial) at(path string) string { return filepath.Join(t.root, filepath.FromSlash(path)) }

// real rewrites the world's paths in a text to those of the disk.
func (t *trial) real(text string) string {
	for _, prefix := range t.prefix {
		text = withPrefix(text, prefix, t.at(prefix))
	}
	return text
}

// plain rewrites the disk's paths to the world's.
func (t *trial) plain(text []byte) []byte { return bytes.ReplaceAll(text, []byte(t.root), nil) }

// withPrefix puts another folder in the place of an absolute path wherever that stands as a
// path of its own: /repo in "cat /repo/a", but not in /repository or x/repo.
func withPrefix(text, from, to string) string {
	if from == "/" {
		return text
	}
	part := func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("-_.", r) }
	var b strings.Builder
	for {
		at := strings.Index(text, from)
		if at < 0 {
			return b.String() + text
		}
		end := at + len(from)
		before, _ := utf8.DecodeLastRuneInString(text[:at])
		after, _ := utf8.DecodeRuneInString(text[end:])
		b.WriteString(text[:at])
		if part(before) || before == '/' || part(after) {
			b.WriteString(from)
		} else {
			b.WriteString(to)
		}
		text = text[end:]
	}
}

// runAll runs the command, and for further prompts what goes on with them, until one fails:
// why a command was ended from here, and the error of running it.
func (t *trial) runAll(ctx context.Context) (why, err error) {
	deadline := time.Now().Add(t.timeout)
	if why, err = t.run(ctx, t.script(), deadline); t.thenRun == "" {
		return why, err
	}
	for t.sent < len(t.then) && (err == nil && t.exit == 0 || errors.Is(why, errServed)) {
		text := t.then[t.sent]
		t.sent++
		why, err = t.run(ctx, t.further(text), deadline)
	}
	return why, err
}

// run runs one command to its end.
func (t *trial) run(ctx context.Context, script string, deadline time.Time) (why, err error) {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	line, err := t.openLine()
	if err != nil {
		return nil, err
	}
	var over sync.WaitGroup
	over.Go(func() { t.watch(ctx, stop, line, deadline) })
	exit, err := t.shell.Run(ctx, shell.Request{Script: line.into(script), Dir: t.dir, Env: t.environment(), Stdout: io.Discard, Stderr: &t.stderr})
	t.exit = exit.Code
	why = context.Cause(ctx)
	stop(nil)
	over.Wait()
	line.end()
	return why, err
}

// drive runs the command to its end, and gives what was wrong with it as a process.
func (t *trial) drive(ctx context.Context) []check.Failure {
	started := time.Now()
	why, err := t.runAll(ctx)
	took := time.Since(started).Round(10 * time.Millisecond)
	var failures []check.Failure
	fail := func(key, expected, found string) {
		failures = append(failures, check.Failure{Expectation: "client." + key, Expected: expected, Found: found + t.lastWords()})
	}
	state := t.server.State()
	switch {
	case state.Requests == 0:
		fail("connects", "a request to "+t.url, t.silent(err, took))
	case errors.Is(why, errTimeout), errors.Is(why, errFlood):
		fail("ends", "the command ends", why.Error())
	case errors.Is(why, errServed): // it had its time
	case err != nil:
		fail("runs", "the command runs", err.Error())
	case t.exit != 0:
		fail("exit", "exit code 0", fmt.Sprintf("exit code %d", t.exit))
	}
	if state.Forbidden != "" {
		fail("asks", "requests in the server's own name", state.Forbidden)
	}
	return failures
}

// silent words why an agent may not have asked for anything.
func (t *trial) silent(err error, took time.Duration) string {
	how := fmt.Sprintf("it ended with exit code %d after %s", t.exit, took)
	if err != nil {
		how = fmt.Sprintf("it ran for %s", took)
	}
	return how + " and asked for nothing: " + baseURLHint(append([]string{bedrockURL}, t.urlEnv...))
}

// The reasons for which an agent is ended.
var (
	errServed  = errors.New("every answer was given")
	errTimeout = errors.New("it still runs when its time is over")
	errFlood   = fmt.Errorf("more than %d requests came", maxRequests)
)

// maxRequests is how much an agent may ask.
const maxRequests = 1_000

// watch gives the agent further prompts when its turns are over, and ends it: some time
// after the last answer that is due, when its time is over, or when it asks without end.
func (t *trial) watch(ctx context.Context, stop context.CancelCauseFunc, line *promptLine, deadline time.Time) {
	look := time.NewTicker(lookTime)
	defer look.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-look.C:
			state := t.server.State()
			waits := state.InFlight == 0 && state.Turns > t.sent
			if waits && line != nil && !line.ended {
				t.goOn(line)
			}
			switch {
			case state.Requests > maxRequests:
				stop(errFlood)
			case (state.Done || waits && line == nil && t.sent < len(t.then)) && now.Sub(state.Last) > t.linger:
				stop(errServed)
			case now.After(deadline):
				stop(fmt.Errorf("%w (%s)", errTimeout, t.timeout))
			}
		}
	}
}

// baseURLs are the variables that get the address: those of the official SDKs, and others
// by name.
func baseURLs(address string, more []string) map[string]string {
	out := map[string]string{"ANTHROPIC_BASE_URL": address, "OPENAI_BASE_URL": address + "/v1", "GOOGLE_GEMINI_BASE_URL": address, "OLLAMA_HOST": address}
	for _, name := range more {
		out[name] = address
	}
	return out
}

// bedrockURL is that variable of the AWS SDKs.
const bedrockURL = "AWS_ENDPOINT_URL_BEDROCK_RUNTIME"

// baseURLHint words what an agent may lack that asks for nothing.
func baseURLHint(more []string) string {
	return "does it take its base URL from one of " + strings.Join(slices.Sorted(maps.Keys(baseURLs("", more))), ", ") +
		"? If not, name the variable with --url-env, or give it {url} as an argument"
}

// environment is the process's own, with the address, and a key that opens nothing.
func (t *trial) environment() map[string]string {
	env := environmentOf(t.agent.env)
	maps.Copy(env, baseURLs(t.url, t.urlEnv))
	env[bedrockURL] = t.url
	for _, name := range []string{"ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"} {
		env[name] = "toolbench-try"
	}
	env["AWS_REGION"] = cmp.Or(env["AWS_REGION"], env["AWS_DEFAULT_REGION"], "us-east-1")
	delete(env, "AWS_SESSION_TOKEN")
	delete(env, "ANTHROPIC_AUTH_TOKEN")
	if t.cleanHome {
		env["HOME"] = t.home
	}
	env["PWD"], env[urlVariable] = t.dir, t.url
	maps.Copy(env, environmentOf(each(t.tryFlags.env, t.values().Replace)))
	return env
}

// values are what stands for places in the command and in the values of --env.
func (t *trial) values() *strings.Replacer {
	return strings.NewReplacer("{url}", t.url, "{prompt}", t.real(t.first), "{dir}", t.dir)
}

// errorLine is how the languages of agents begin the line that names an error.
var errorLine = regexp.MustCompile(`^(?:[\w.]*(?:Error|Exception|panic)\b.*:|thread '.*' panicked)`)

// lastWords are the last lines of the agent's error output, without the frames of a stack, and the
// line before them that names the error: Node.js writes the stack and the error's members behind it.
func (t *trial) lastWords() string {
	lines := strings.Split(strings.ToValidUTF8(t.stderr.String(), "�"), "\n")
	lines = slices.DeleteFunc(lines, func(line string) bool {
		line = strings.TrimSpace(line)
		return line == "" || strings.HasPrefix(line, "at ")
	})
	if len(lines) == 0 {
		return ""
	}
	before, last := lines[:max(0, len(lines)-8)], lines[max(0, len(lines)-8):]
	if !slices.ContainsFunc(last, errorLine.MatchString) {
		for _, line := range slices.Backward(before) {
			if errorLine.MatchString(line) {
				last = append([]string{line, "…"}, last[4:]...)
				break
			}
		}
	}
	return "; its error output ends:\n" + strings.Join(last, "\n")
}

// writeTree writes a tree below a folder of the disk; links to the world's own paths lead to
// where those are.
func writeTree(root string, tree world.Snapshot, real func(string) string) error {
	for _, e := range tree { // parents stand before what is below them
		path := filepath.Join(root, filepath.FromSlash(e.Path))
		var err error
		switch e.Mode.Type() {
		case fs.ModeDir:
			err = os.MkdirAll(path, 0o755)
		case fs.ModeSymlink:
			err = os.Symlink(real(e.Target), path)
		default:
			err = os.WriteFile(path, e.Content, 0o600)
		}
		if err != nil {
			return err
		}
	}
	for _, e := range slices.Backward(tree) { // a folder that cannot be written comes after what is in it
		if e.Mode.Type() != fs.ModeSymlink {
			if err := os.Chmod(filepath.Join(root, filepath.FromSlash(e.Path)), e.Mode.Perm()); err != nil {
				return err
			}
		}
	}
	return nil
}

// readTree reads back what stands below a folder, with the world's paths.
func readTree(root string) (world.Snapshot, error) {
	var tree world.Snapshot
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || path == root {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		e := world.SnapshotEntry{Path: filepath.ToSlash(strings.TrimPrefix(path, root)), Mode: info.Mode()}
		switch {
		case info.Mode().IsRegular():
			e.Content, err = os.ReadFile(path)
		case e.Mode.Type() == fs.ModeSymlink:
			e.Target, err = os.Readlink(path)
			e.Target = strings.TrimPrefix(e.Target, root)
		}
		tree = append(tree, e)
		return err
	})
	slices.SortFunc(tree, func(a, b world.SnapshotEntry) int { return strings.Compare(a.Path, b.Path) })
	return tree, err
}
