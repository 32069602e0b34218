package fuzz

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"toolbench/toolsys/host"
	"toolbench/toolsys/shellcmd"
)

// ScriptConfig is what to run.
type ScriptConfig struct {
	Seed uint64
	// Scripts is how many read-only scripts are run; 0 goes on until the context ends.
	Scripts uint64
	// Shard and Shards choose every Shards-th batch of numbers; Shards 0 is all.
	Shard, Shards uint64
	// Jobs is how many run at once.
	Jobs int
	// Batch is how many numbers are looked at together; 0 is 2000.
	Batch uint64
}

// ScriptTotal is what came of a run.
type ScriptTotal struct {
	// Generated scripts were looked at; Ran of them were called read-only and run.
	Generated, Ran uint64
	// Late counts the scripts that were stopped because they took too long.
	Late uint64
	// Finding is the first script that changed or executed something; nil if none did.
	Finding *ScriptFinding
}

// ScriptFinding is a script that was called read-only and is not.
type ScriptFinding struct {
	Seed, Number uint64
	// Script is as generated, Small what is left of it after shrinking.
	Script, Small string
	// Changed are the files that differ afterwards.
	Changed []string
}

// ErrNoBash is returned where the machine has no Bash to run scripts in.
var ErrNoBash = errors.New("there is no bash on this machine")

const (
	// batchLimit is how long a batch may take, scriptLimit one script.
	batchLimit  = 60 * time.Second
	scriptLimit = 4 * time.Second
)

// RunScripts generates scripts and runs in Bash what is called read-only. It ends with the
// first finding, with the number of scripts, or with the context. progress is called
// after each batch.
func RunScripts(ctx context.Context, cfg ScriptConfig, progress func(ScriptTotal)) (ScriptTotal, error) {
	shell, err := exec.LookPath("bash")
	if err != nil {
		return ScriptTotal{}, ErrNoBash
	}
	cfg.Batch = cmp.Or(cfg.Batch, 2000)
	r := &runner{cfg: cfg, shell: shell, progress: progress}
	ctx, r.stop = context.WithCancel(ctx)
	defer r.stop()
	errs := make([]error, max(1, cfg.Jobs))
	var wait sync.WaitGroup
	for i := range errs {
		wait.Go(func() { errs[i] = r.work(ctx) })
	}
	wait.Wait()
	if r.total.Finding != nil {
		return r.total, nil
	}
	return r.total, errors.Join(errs...)
}

type runner struct {
	cfg      ScriptConfig
	shell    string
	progress func(ScriptTotal)
	stop     func()

	mu    sync.Mutex
	next  uint64
	total ScriptTotal
}

// work takes batch after batch.
func (r *runner) work(ctx context.Context) error {
	s, err := newScratch(r.shell)
	if err != nil {
		return err
	}
	defer s.remove()
	for ctx.Err() == nil {
		first, more := r.take()
		if !more {
			return nil
		}
		if err := r.batch(ctx, s, first); err != nil {
			return err
		}
	}
	return nil
}

// take gives the first number of the next batch, until enough has run.
func (r *runner) take() (first uint64, more bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.total.Finding != nil || r.cfg.Scripts > 0 && r.total.Ran >= r.cfg.Scripts {
		return 0, false
	}
	shards := max(1, r.cfg.Shards)
	first = (r.next*shards + r.cfg.Shard) * r.cfg.Batch
	r.next++
	return first, true
}

// numberedScript is a script and its number.
type numberedScript struct {
	number uint64
	text   string
}

// batch runs the read-only scripts of one together, and one by one where that
// changed something or took too long.
func (r *runner) batch(ctx context.Context, s *scratch, first uint64) error {
	var scripts []numberedScript
	for n := first; n < first+r.cfg.Batch; n++ {
		if text := GenerateScript(r.cfg.Seed, n); ReadOnly(text) {
			scripts = append(scripts, numberedScript{n, text})
		}
	}
	changed, late, err := s.run(ctx, batchLimit, scripts...)
	done := ScriptTotal{Generated: r.cfg.Batch, Ran: uint64(len(scripts))}
	if err == nil && (len(changed) > 0 || late) {
		done.Finding, done.Late, err = r.single(ctx, s, scripts)
	}
	if ctx.Err() != nil { // whatever it did to the run, what was counted before stands
		return nil
	}
	if err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.total.Generated += done.Generated
	r.total.Ran += done.Ran
	r.total.Late += done.Late
	if done.Finding != nil && r.total.Finding == nil {
		r.total.Finding = done.Finding
		r.stop()
	}
	if r.progress != nil {
		r.progress(r.total)
	}
	return nil
}

// single runs scripts one by one, each in a fresh folder.
func (r *runner) single(ctx context.Context, s *scratch, scripts []numberedScript) (*ScriptFinding, uint64, error) {
	late := uint64(0)
	for _, one := range scripts {
		changed, slow, err := s.run(ctx, scriptLimit, one)
		if err != nil {
			return nil, late, err
		}
		if slow {
			late++
		}
		if len(changed) > 0 {
			f := &ScriptFinding{Seed: r.cfg.Seed, Number: one.number, Script: one.text, Changed: changed}
			f.Small = s.shrink(ctx, one.text)
			return f, late, nil
		}
	}
	return nil, late, nil
}

// ReadOnly reports whether a script is called read-only.
func ReadOnly(script string) bool {
	return shellcmd.Read(script, shellcmd.Env{Dir: "/scratch", Home: "/home"}).ReadOnly
}

// ReplayScript runs one script, whatever it is called, and gives the files it changed.
func ReplayScript(ctx context.Context, script string) ([]string, error) {
	shell, err := exec.LookPath("bash")
	if err != nil {
		return nil, ErrNoBash
	}
	s, err := newScratch(shell)
	if err != nil {
		return nil, err
	}
	defer s.remove()
	changed, _, err := s.run(ctx, scriptLimit, numberedScript{text: script})
	return changed, err
}

// scratch is a folder in which scripts run, with a home beside it.
type scratch struct {
	shell, root string
	dirty       bool
	want        map[string]string
}

// files are what the folder holds, and what the executables among them do.
var files = map[string]string{
	"f": "a b\nx\n", "x": "y\n", "b.go": "package b\n", "sub/s": "s\n",
	"bare/HEAD": "ref: refs/heads/main\n", "bare/config": "[core]\n\tbare = true\n\tfsmonitor = touch PWN; false\n",
	"bare/refs/heads/.keep": "", "bare/objects/.keep": "",
}

var executables = []string{"evil.sh", "bin/ls", "bin/cat", "bin/npm", "bin/git", "1/ls", "7/ls", "2/cat"}

func newScratch(shell string) (*scratch, error) {
	root, err := os.MkdirTemp("", "toolbench-bash-")
	return &scratch{shell: shell, root: root, dirty: true}, err
}

func (s *scratch) remove() { os.RemoveAll(s.root) }

func (s *scratch) dir() string  { return filepath.Join(s.root, "w") }
func (s *scratch) home() string { return filepath.Join(s.root, "home") }

// fresh makes the folders anew if a script has changed them.
func (s *scratch) fresh() error {
	if !s.dirty {
		return nil
	}
	for _, dir := range []string{s.dir(), s.home()} {
		if err := os.RemoveAll(dir); err != nil {
			return err
		}
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return err
		}
	}
	put := func(name, content string, mode fs.FileMode) error {
		path := filepath.Join(s.dir(), name)
		return errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(content), mode))
	}
	var err error
	for name, content := range files {
		err = errors.Join(err, put(name, content, 0o644))
	}
	for _, name := range executables {
		err = errors.Join(err, put(name, "#!/bin/bash\n: > "+filepath.Join(s.dir(), "PWN")+"\n", 0o755))
	}
	if git, missing := exec.LookPath("git"); missing == nil {
		init := exec.Command(git, "init", "-q", s.dir())
		init.Env = s.env()
		err = errors.Join(err, init.Run())
	}
	if err != nil {
		return err
	}
	s.dirty = false
	s.want, err = s.snapshot()
	return err
}

func (s *scratch) env() []string {
	return []string{"PATH=/usr/local/bin:/usr/bin:/bin", "HOME=" + s.home(), "TERM=dumb", "LANG=C.UTF-8", "GIT_OPTIONAL_LOCKS=0", "GIT_CONFIG_NOSYSTEM=1"}
}

// snapshot is a line for each file and folder. Git's own folder is left out but for
// its configuration: reading commands refresh the index.
func (s *scratch) snapshot() (map[string]string, error) {
	seen := map[string]string{}
	err := filepath.WalkDir(s.root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, _ := filepath.Rel(s.root, path)
		if d.IsDir() && d.Name() == ".git" {
			config, _ := os.ReadFile(filepath.Join(path, "config"))
			seen[name] = string(config)
			return fs.SkipDir
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		line := info.Mode().String()
		if info.Mode().IsRegular() {
			content, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			line += fmt.Sprintf("%x", sha256.Sum256(content))
		}
		seen[name] = line
		return nil
	})
	return seen, err
}

// driver runs each script in a shell of its own; the scripts come on descriptor 3.
const driver = `exec 2>/dev/null; while IFS= read -r -d '' s <&3; do ( exec 3<&-; builtin eval "$s" ) </dev/null >/dev/null 2>&1; done`

// run runs scripts one after the other and gives what is different afterwards. late
// reports whether they had to be stopped.
func (s *scratch) run(ctx context.Context, limit time.Duration, scripts ...numberedScript) (changed []string, late bool, err error) {
	if err := s.fresh(); err != nil {
		return nil, false, err
	}
	timed, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	if err := s.start(timed, scripts); err != nil {
		return nil, false, err
	}
	late = timed.Err() != nil && ctx.Err() == nil
	now, err := s.snapshot()
	if err != nil {
		return nil, late, err
	}
	all := maps.Clone(now)
	maps.Copy(all, s.want)
	for name := range all {
		if now[name] != s.want[name] {
			changed = append(changed, name)
		}
	}
	slices.Sort(changed)
	s.dirty = len(changed) > 0
	return changed, late, nil
}

// start runs the driver to its end; the whole process group goes with it. How the
// scripts end does not matter.
func (s *scratch) start(ctx context.Context, scripts []numberedScript) error {
	var text bytes.Buffer
	for _, one := range scripts {
		text.WriteString(one.text + "\x00")
	}
	in, out, err := os.Pipe()
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, s.shell, "--norc", "--noprofile", "-c", driver)
	cmd.Dir, cmd.Env, cmd.ExtraFiles = s.dir(), s.env(), []*os.File{in}
	host.Grouped(cmd)
	if err := cmd.Start(); err != nil {
		return errors.Join(err, in.Close(), out.Close())
	}
	in.Close()
	written := make(chan struct{})
	go func() {
		out.Write(text.Bytes()) // a shell that is killed reads no more
		out.Close()
		close(written)
	}()
	cmd.Wait() // how the scripts ended does not matter
	out.SetDeadline(time.Now())
	<-written
	return nil
}

// shrink makes a script smaller as long as it is called read-only and still changes
// something.
func (s *scratch) shrink(ctx context.Context, script string) string {
	fails := func(text string) bool {
		if !ReadOnly(text) {
			return false
		}
		changed, _, err := s.run(ctx, scriptLimit, numberedScript{text: text})
		return err == nil && len(changed) > 0
	}
	for again := true; again && ctx.Err() == nil; {
		again = false
		words := strings.SplitAfter(script, " ")
		for size := len(words) / 2; size > 0 && !again; size /= 2 {
			for at := 0; at+size <= len(words); at++ {
				if text := strings.Join(slices.Delete(slices.Clone(words), at, at+size), ""); fails(text) {
					script, again = text, true
					break
				}
			}
		}
	}
	return strings.TrimSpace(script)
}
