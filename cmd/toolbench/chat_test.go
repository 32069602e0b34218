package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// chatting is a model's side of a session with git, go, a refusal, a background task and a
// call that is interrupted.
const chatting = `name: chatting
about: A session at a terminal with commands that really run.
stream:
  turns:
    - text: I make a repository.
      calls: [{tool: Bash, id: git, input: {command: "git init -q . && git add main.go go.mod"}}]
    - calls: [{tool: Bash, id: go, input: {command: go run .}}]
    - calls: [{tool: Bash, id: no, input: {command: touch refused}}]
    - calls: [{tool: Read, id: read, input: {file_path: main.go}}]
    - calls: [{tool: Edit, id: edit, input: {file_path: main.go, old_string: hello from go, new_string: hello from chat}}]
    - calls: [{tool: Write, id: out, input: {file_path: OUTSIDE, content: x}}]
    - calls: [{tool: Bash, id: task, input: {command: "echo $$ >task.pid; exec sleep 4242", run_in_background: true}}]
    - text: All is set up.
    - calls: [{tool: Bash, id: long, input: {command: "echo $$ >long.pid; exec sleep 4242"}}]
    - text: I stopped.
`

// terminal is a program in a pseudo-terminal.
type terminal struct {
	*os.File
	t   *testing.T
	cmd *exec.Cmd

	mu   sync.Mutex
	all  bytes.Buffer
	seen int
	over bool
}

func inTerminal(t *testing.T, cmd *exec.Cmd) *terminal {
	file, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: 50, Cols: 100})
	require.NoError(t, err)
	term := &terminal{File: file, t: t, cmd: cmd}
	go func() {
		buf := make([]byte, 4096)
		for {
			n, err := file.Read(buf)
			term.mu.Lock()
			term.all.Write(buf[:n])
			term.over = err != nil
			term.mu.Unlock()
			if err != nil {
				return
			}
		}
	}()
	t.Cleanup(func() {
		term.mu.Lock()
		defer term.mu.Unlock()
		if t.Failed() {
			t.Log(term.all.String())
		}
		_ = cmd.Process.Kill()
		file.Close()
	})
	return term
}

// patient is how long a test waits for what must come: machines are slow.
const patient = 2 * time.Minute

// waitFor waits until a condition holds.
func waitFor(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(patient); !holds(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			require.Fail(t, "it did not come", what)
		}
	}
}

// shows waits for a text behind those that were waited for before.
func (term *terminal) shows(text string) {
	term.t.Helper()
	waitFor(term.t, text, func() bool {
		term.mu.Lock()
		defer term.mu.Unlock()
		i := strings.Index(term.all.String()[term.seen:], text)
		if i >= 0 {
			term.seen += i + len(text)
		}
		require.False(term.t, i < 0 && term.over, "the program ended before it showed %q", text)
		return i >= 0
	})
}

// has reports whether a text was shown.
func (term *terminal) has(text string) bool {
	term.mu.Lock()
	defer term.mu.Unlock()
	return strings.Contains(term.all.String(), text)
}

func (term *terminal) types(keys string) {
	_, err := term.WriteString(keys)
	require.NoError(term.t, err)
}

// pid waits for a command that writes its number to a file.
func pid(t *testing.T, file string) int {
	t.Helper()
	n := 0
	waitFor(t, file, func() bool {
		text, _ := os.ReadFile(file)
		n, _ = strconv.Atoi(strings.TrimSpace(string(text)))
		return n > 0 && strings.HasSuffix(string(text), "\n")
	})
	return n
}

// gone waits until a process is there no more.
func gone(t *testing.T, pid int) {
	t.Helper()
	waitFor(t, fmt.Sprintf("the end of process %d", pid), func() bool { return syscall.Kill(pid, 0) == syscall.ESRCH })
}

// chatPlace is a folder with a Go program in it, beside one for all else.
func chatPlace(t *testing.T) (root string, env []string) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	root = filepath.Join(dir, "repo")
	for name, text := range map[string]string{
		"repo/go.mod": "module example.com/hello\n", "repo/main.go": "package main\n\nfunc main() { println(\"hello from go\") }\n", "tmp/home/.keep": "",
	} {
		file := filepath.Join(dir, filepath.FromSlash(name))
		require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
		require.NoError(t, os.WriteFile(file, []byte(text), 0o644))
	}
	cache, err := exec.Command("go", "env", "GOCACHE").Output()
	require.NoError(t, err)
	env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + filepath.Join(dir, "tmp/home"), "TMPDIR=" + filepath.Join(dir, "tmp"), "GOCACHE=" + strings.TrimSpace(string(cache)),
		"GOTOOLCHAIN=local", "GOFLAGS=-trimpath", "GOTELEMETRY=off", "NO_COLOR=1", "TERM=xterm", "LANG=C.UTF-8", "TOOLBENCH_CONFIG=off", "SERVICE_TOKEN=hidden-from-commands",
	}
	for _, key := range planted {
		env = append(env, key+"="+os.Getenv(key))
	}
	return root, env
}

// serving starts toolbench serve, and gives its address.
func serving(t *testing.T, env []string, scenario string) string {
	file := filepath.Join(t.TempDir(), "served.yaml")
	require.NoError(t, os.WriteFile(file, []byte(scenario), 0o644))
	cmd := exec.Command("toolbench", "serve", file, "--speed", "0")
	cmd.Env = env
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // it was killed
	})
	url, err := bufio.NewReader(out).ReadString('\n')
	require.NoError(t, err)
	return strings.TrimSpace(url)
}

// A person at a terminal: git and go run on the disk, one call is refused, one may not
// leave the root, a background task runs on, a turn is interrupted, and nothing is left.
func TestChatAtATerminal(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("no git on this machine")
	}
	root, env := chatPlace(t)
	outside := filepath.Join(filepath.Dir(root), "outside.txt")
	url := serving(t, env, strings.ReplaceAll(chatting, "OUTSIDE", outside))
	cmd := exec.Command("toolbench", "chat", "--base-url", url, "--root", root, "--writable", envOf(env, "GOCACHE"))
	cmd.Env, cmd.Dir = env, filepath.Dir(root)
	term := inTerminal(t, cmd)

	term.shows("mode default")
	term.types("set it up\n")
	term.shows("I make a repository.")
	term.shows("always would allow, in this session: Bash(git init -q .), Bash(git add main.go go.mod)")
	term.shows("allow it?") // what is typed before is a message
	term.types("a\n")
	term.shows("└ (no output)")
	term.shows("Bash(go run .)")
	term.shows("allow it?")
	term.types("what?\n")
	term.shows("Bash(go run .)") // it is asked again
	term.shows("allow it?")
	term.types("y\n")
	term.shows("└ hello from go")
	term.shows("Bash(touch refused)")
	term.shows("allow it?")
	term.types("n not this one\n")
	term.shows("was denied (user: not this one)")
	term.shows("Edit asks to run:")
	term.shows("  - hello from go\r\n  + hello from chat\r\n")
	term.shows("allow it?")
	term.types("y\n")
	term.shows("Edited " + filepath.Join(root, "main.go"))
	term.shows("outside.txt cannot be read")
	term.shows("echo $$ >task.pid")
	term.shows("allow it?")
	term.types("y\n")
	term.shows("task_1 began")
	term.shows("All is set up.")
	task := pid(t, filepath.Join(root, "task.pid"))

	term.types("and now wait\n")
	term.shows("echo $$ >long.pid")
	term.shows("allow it?")
	term.types("y\n")
	long := pid(t, filepath.Join(root, "long.pid"))
	term.types("\x03")
	term.shows("interrupted; Ctrl-C again ends")
	term.shows("was stopped before it finished")
	gone(t, long)
	require.NoError(t, syscall.Kill(task, 0), "the background task outlives the turn")
	term.types("/tasks\n")
	term.shows("task_1 running")
	term.types("and?\n")
	term.shows("I stopped.")
	term.types("/mode plan\n")
	term.shows("the mode is plan")
	term.types("/exit\n")
	term.shows("1 still running in the background")
	require.NoError(t, cmd.Wait())
	gone(t, task)

	assert.DirExists(t, filepath.Join(root, ".git"))
	assert.NoFileExists(t, filepath.Join(root, "refused"))
	assert.NoFileExists(t, outside)
	left, err := os.ReadDir(filepath.Dir(root))
	require.NoError(t, err)
	assert.Len(t, left, 2, "the root and the folder for temporary files")
}

func envOf(env []string, name string) string {
	for _, pair := range env {
		if value, ok := strings.CutPrefix(pair, name+"="); ok {
			return value
		}
	}
	return ""
}

// requests is an API that answers each request with a call of Bash, or with words where
// there is a result, and keeps what it was sent.
type requests struct {
	*httptest.Server
	command string

	mu   sync.Mutex
	sent []string
}

func newRequests(t *testing.T, command string) *requests {
	r := &requests{command: command}
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		body, _ := io.ReadAll(req.Body)
		r.mu.Lock()
		r.sent = append(r.sent, string(body))
		n := len(r.sent)
		r.mu.Unlock()
		var parsed struct {
			Messages []struct{ Content json.RawMessage }
		}
		_ = json.Unmarshal(body, &parsed)
		block := `{"type":"text","text":"Understood."}`
		if last := parsed.Messages[len(parsed.Messages)-1].Content; !bytes.Contains(last, []byte("tool_result")) {
			block = fmt.Sprintf(`{"type":"tool_use","id":"call_%d","name":"Bash","input":{"command":%q}}`, n, r.command)
		}
		w.Header().Set("Content-Type", "text/event-stream")
		for _, e := range []string{`{"type":"message_start","message":{"id":"m","content":[]}}`, `{"type":"content_block_start","index":0,"content_block":` + block + `}`,
			`{"type":"content_block_stop","index":0}`, `{"type":"message_stop"}`} {
			fmt.Fprintf(w, "data: %s\n\n", e)
		}
	}))
	t.Cleanup(r.Close)
	return r
}

// scripted runs chat with lines of prompts.
func (r *requests) scripted(t *testing.T, root string, env []string, prompts string, args ...string) (stdout, stderr string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patient)
	defer cancel()
	cmd := exec.CommandContext(ctx, "toolbench", append([]string{"chat", "--base-url", r.URL, "--root", root}, args...)...)
	cmd.Env, cmd.Dir, cmd.Stdin = env, root, strings.NewReader(prompts)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	require.NoError(t, cmd.Run(), "%s", &errs)
	return out.String(), errs.String()
}

// A script: each line is a prompt, what would be asked about is refused unless a rule or
// the mode lets it run, commands do not get secrets, and a transcript can be gone on with.
func TestChatOfAScript(t *testing.T) {
	root, env := chatPlace(t)
	const command = `echo "${SERVICE_TOKEN-none}" >seen`
	model := newRequests(t, command)
	out, errs := model.scripted(t, root, env, "one\n\ntwo\n")
	assert.Equal(t, "Understood.\nUnderstood.\n", out)
	assert.Equal(t, 2, strings.Count(errs, "└ Permission to use Bash was denied (nobody can answer"))
	assert.NoFileExists(t, filepath.Join(root, "seen"))

	all, err := filepath.Glob(filepath.Join(root, ".toolbench/chats/*.jsonl"))
	require.NoError(t, err)
	require.Len(t, all, 1)
	whole, err := os.ReadFile(all[0])
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(all[0], append(whole, `{"kind":"mess`...), 0o600), "a line that was being written when the process died")
	settings := filepath.Join(t.TempDir(), "settings.json")
	require.NoError(t, os.WriteFile(settings, []byte(`{"permissions": {"allow": ["Bash"]}}`), 0o600))
	for _, args := range [][]string{{"--resume", "last", "--mode", "bypass"}, {"--resume", "last", "--allow", "Bash"}, {"--resume", "last", "--settings", settings}} {
		_, errs = model.scripted(t, root, env, "again\n", args...)
		assert.NotContains(t, errs, "denied")
		seen, err := os.ReadFile(filepath.Join(root, "seen"))
		require.NoError(t, err)
		assert.Equal(t, "none\n", string(seen))
		require.NoError(t, os.Remove(filepath.Join(root, "seen")))
	}
	last := model.sent[len(model.sent)-1]
	assert.Equal(t, 5, strings.Count(last, `"tool_use"`), "the calls of all sessions are in the request")
	assert.Equal(t, 1, strings.Count(last, `"two"`))
	all, err = filepath.Glob(filepath.Join(root, ".toolbench/chats/*.jsonl"))
	require.NoError(t, err)
	assert.Len(t, all, 1, "a conversation that goes on stays in its file")

	out, errs = model.scripted(t, root, env, "quiet\n", "--quiet", "--transcript", "off")
	assert.Equal(t, "Understood.\n", out)
	assert.Empty(t, errs)
}

const reaching = `name: reaching
about: What stands behind tools is asked.
stream:
  turns:
    - calls: [{tool: WebSearch, id: search, input: {query: gophers}}]
    - calls: [{tool: PushNotification, id: push, input: {message: built}}]
    - calls: [{tool: LSP, id: hover, input: {operation: hover, file_path: main.go, line: 3, symbol: main}}]
    - calls: [{tool: WebBrowser, id: page, input: {action: navigate, url: "PAGE"}}]
    - text: All were asked.
`

// What stands behind tools is named by flags, which also offer the tools; it is asked, and
// ends with the conversation. Without a flag the tool is not there.
func TestChatReachesWhatFlagsName(t *testing.T) {
	root, env := chatPlace(t)
	var mu sync.Mutex
	asked := map[string]string{}
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		body, _ := io.ReadAll(req.Body)
		mu.Lock()
		defer mu.Unlock()
		asked[req.URL.Path] = req.URL.RawQuery + string(body)
		switch req.URL.Path {
		case "/search":
			fmt.Fprint(w, `{"results":[{"title":"The gopher","url":"http://gopher.test/","content":"It digs."}]}`)
		case "/topic":
			fmt.Fprint(w, `{"id":"push-1","event":"message"}`)
		default:
			fmt.Fprint(w, `<title>Burrow</title><p>Here it lives.</p>`)
		}
	}))
	t.Cleanup(web.Close)
	model := serving(t, env, strings.ReplaceAll(reaching, "PAGE", web.URL+"/page"))
	args := []string{"chat", "--base-url", model, "--root", root, "--mode", "bypass", "--transcript", "off",
		"--search-url", web.URL, "--push-url", web.URL + "/topic", "--lsp", ".go=languageserver"}
	_, err := exec.LookPath("chromium")
	if err == nil {
		args = append(args, "--browser")
	}
	cmd := exec.CommandContext(t.Context(), "toolbench", args...)
	cmd.Env, cmd.Dir, cmd.Stdin = append(env, "LANGUAGESERVER_PID="+filepath.Join(root, "ls.pid")), root, strings.NewReader("ask\n")
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	require.NoError(t, cmd.Run(), "%s", &errs)
	assert.Contains(t, out.String(), "All were asked.")
	assert.Contains(t, errs.String(), "● Web search(gophers)\n  └ ")
	assert.Contains(t, errs.String(), "└ The notification is sent.")
	assert.Contains(t, errs.String(), "└ what main is")
	assert.Equal(t, "format=json&q=gophers", asked["/search"])
	assert.Equal(t, "built", asked["/topic"])
	gone(t, pid(t, filepath.Join(root, "ls.pid")))
	if err == nil {
		assert.Contains(t, errs.String(), "└ "+web.URL+"/page (Burrow)")
	} else {
		assert.Contains(t, errs.String(), "● WebBrowser(navigate)\n  └ There is no tool named \"WebBrowser\".")
	}
}

// A skill that the user asks for by a slash is in force from then on: its text is what the
// model reads, and its hook, which really runs, decides on calls in every mode.
func TestChatWithASkillOfTheUsers(t *testing.T) {
	root, env := chatPlace(t)
	skill := filepath.Join(root, ".claude/skills/guard/SKILL.md")
	require.NoError(t, os.MkdirAll(filepath.Dir(skill), 0o755))
	require.NoError(t, os.WriteFile(skill, []byte("---\nname: guard\ndescription: Guards.\nhooks:\n  PreToolUse:\n    - matcher: Bash\n      hooks:\n"+
		"        - {type: command, command: 'grep -q \"touch it.s\" && { echo \"not $HOOK_TOOL, ${SERVICE_TOKEN-none}\" >&2; exit 2; }; exit 0'}\n---\nTake care of $ARGUMENTS."), 0o600))
	model := newRequests(t, "touch it.s")
	_, errs := model.scripted(t, root, env, "/nosuch\n/commands\n/guard\tall\n/decisions\t\n", "--mode", "bypass")
	assert.Contains(t, errs, "/mode [default", "a name that is no command's shows those there are")
	assert.Contains(t, errs, "/guard: Guards.")
	assert.Contains(t, errs, "not Bash, none")
	assert.Contains(t, errs, "denied Bash: hook")
	assert.NoFileExists(t, filepath.Join(root, "it.s"))
	require.Len(t, model.sent, 2)
	assert.Contains(t, model.sent[0], "Take care of all.")
}
