package run

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"gopkg.in/yaml.v3"

	"toolbench/sim/cassette"
	"toolbench/sim/scenario"
	"toolbench/sim/secret"
	"toolbench/toolsys/message"
	"toolbench/toolsys/tool"
)

// CaptureConfig is what to record, and how.
type CaptureConfig struct {
	// Scenario gives the prompt and the world.
	Scenario *scenario.Scenario
	// Cassette is the file; it ends in ".yaml".
	Cassette string
	Mode     CaptureMode
	// Live is where the model is and who answers questions; its Transport is the
	// network.
	Live LiveConfig
	// Known are values that must not be written.
	Known []secret.Known
	// Retries is how often a request is sent again that the API had no time for; Wait
	// waits in between.
	Retries int
	Wait    func(ctx context.Context, d time.Duration) error
	// Now is the clock on the wall.
	Now func() time.Time
	// Progress gets how far it has come, Notice what is worth a line; both may be nil.
	Progress func(CaptureProgress)
	Notice   func(text string)
}

// CaptureReport is what came of it.
type CaptureReport struct {
	Mode     CaptureMode
	Cassette string
	// Recorded and Replayed count exchanges.
	Recorded, Replayed int
	Turns, Calls       int
	Bytes              int64
	Usage              CaptureUsage
	Took               time.Duration
	// Partial is the file of a recording that did not come to its end.
	Partial string
	// Blanked are the secrets that were kept out, Unused what the cassette has beside
	// what was asked for, Missing why a request had no answer.
	Blanked []secret.Count
	Unused  []string
	Missing []string
	// Err is what the session ended with.
	Err error
}

// ErrNoCassette is wrapped when there is nothing to replay.
var ErrNoCassette = errors.New("there is no cassette")

// Capture holds the session. The error is what kept it from beginning or its result from
// being written; how the session itself ended is in the Report.
func Capture(ctx context.Context, cfg CaptureConfig) (CaptureReport, error) {
	s, err := beginCapture(cfg)
	if err != nil {
		return CaptureReport{}, err
	}
	start := cfg.Now()
	cfg.Live.Transport = s.meter
	failed := Live(ctx, cfg.Scenario, cfg.Live)
	if ctx.Err() != nil {
		failed = context.Cause(ctx)
	}
	s.report.Took = cfg.Now().Sub(start)
	return s.end(failed)
}

// captureSession is one run on its way.
type captureSession struct {
	cfg      CaptureConfig
	report   CaptureReport
	meter    *meter
	player   *cassette.Player
	recorder *cassette.Recorder
	recorded *exchangeCounter
}

func beginCapture(cfg CaptureConfig) (*captureSession, error) {
	s := &captureSession{cfg: cfg, report: CaptureReport{Mode: cfg.Mode, Cassette: cfg.Cassette}}
	if s.cfg.Notice == nil {
		s.cfg.Notice = func(string) {}
	}
	_, err := os.Stat(cfg.Cassette)
	exists := err == nil
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var earlier *cassette.Cassette
	if exists && cfg.Mode != RecordAll {
		if earlier, err = s.replay(); err != nil {
			return nil, err
		}
	}
	switch records := cfg.Mode.Records(exists); {
	case !records && !exists:
		return nil, fmt.Errorf("%s: %w; record it with --mode once", cfg.Cassette, ErrNoCassette)
	case records:
		err = s.record(earlier)
	}
	if err != nil {
		return nil, err
	}
	s.meter = &meter{next: s.transport(), progress: cfg.Progress}
	return s, nil
}

// replay prepares the cassette that there is.
func (s *captureSession) replay() (*cassette.Cassette, error) {
	f, err := os.Open(s.cfg.Cassette)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	c, err := cassette.Load(s.cfg.Cassette, f, cassette.Limits{})
	if err != nil {
		return nil, err
	}
	secrets := tool.Each(s.cfg.Known, func(k secret.Known) string { return k.Value })
	s.player, err = cassette.NewPlayer(c, cassette.Options{Secrets: secrets, Wait: func(ctx context.Context, _ string, _ time.Duration) error { return context.Cause(ctx) }})
	return c, err
}

func (s *captureSession) record(earlier *cassette.Cassette) error {
	network := retrying{next: s.cfg.Live.Transport, tries: s.cfg.Retries, wait: s.cfg.Wait, notice: s.cfg.Notice}
	s.recorded = &exchangeCounter{next: network}
	if err := Writable(filepath.Dir(s.cfg.Cassette)); err != nil {
		return err
	}
	var err error
	s.recorder, err = cassette.RecordAfter(s.cfg.Cassette, s.recorded, secret.New(s.cfg.Known...), earlier)
	return err
}

// Writable finds out before the session, which costs money, whether its recording can
// be written.
func Writable(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	f, err := os.CreateTemp(dir, ".toolbench-*")
	if err != nil {
		return err
	}
	return errors.Join(f.Close(), os.Remove(f.Name()))
}

// exchangeCounter counts what goes through it.
type exchangeCounter struct {
	next     http.RoundTripper
	requests atomic.Int64
	answers  atomic.Int64
}

// RoundTrip implements http.RoundTripper.
func (c *exchangeCounter) RoundTrip(req *http.Request) (*http.Response, error) {
	c.requests.Add(1)
	resp, err := c.next.RoundTrip(req)
	if err == nil && resp.StatusCode == http.StatusOK {
		c.answers.Add(1)
	}
	return resp, err
}

func (s *captureSession) transport() http.RoundTripper {
	switch {
	case s.recorder == nil:
		return s.player
	case s.player == nil:
		return s.recorder
	}
	return fallbackTransport{s.player, s.recorder}
}

// end writes the cassette, or what there is of it.
func (s *captureSession) end(failed error) (CaptureReport, error) {
	r := &s.report
	s.meter.mu.Lock()
	progress, usage := s.meter.at, s.meter.usage
	s.meter.mu.Unlock()
	r.Turns, r.Calls, r.Bytes, r.Usage, r.Err = progress.Turns, progress.Calls, progress.Bytes, usage, failed
	if miss, ok := errors.AsType[*cassette.MissError](failed); ok {
		r.Missing = append(r.Missing, miss.Error())
	}
	if s.player != nil {
		r.Unused = leftover(s.player)
	}
	r.Replayed = r.Turns
	if s.recorder == nil {
		return *r, nil
	}
	r.Recorded = int(s.recorded.answers.Load())
	r.Replayed = r.Turns - r.Recorded
	err := s.write(failed)
	r.Blanked = s.recorder.Blanked()
	return *r, err
}

// write puts a whole recording in the cassette's place. One that ended too soon goes
// beside it, if anything in it is worth keeping.
func (s *captureSession) write(failed error) error {
	switch {
	case failed == nil && s.recorded.requests.Load() > 0:
		return s.recorder.Stop()
	case failed == nil, s.recorded.answers.Load() == 0:
		return s.recorder.Discard()
	}
	var err error
	s.report.Partial, err = s.recorder.Partial(failed.Error())
	return err
}

// CaptureMode is when the network is used.
type CaptureMode string

// The modes, as the VCR family names them.
const (
	// ReplayOnly never uses it: what the cassette does not have is an error.
	ReplayOnly CaptureMode = "replay-only"
	// RecordOnce records when there is no cassette, and replays otherwise.
	RecordOnce CaptureMode = "once"
	// RecordNew replays what the cassette has and records the rest behind it.
	RecordNew CaptureMode = "new-episodes"
	// RecordAll records everything anew.
	RecordAll CaptureMode = "all"
)

// CaptureModes lists them, the safest first.
func CaptureModes() []string {
	return []string{string(ReplayOnly), string(RecordOnce), string(RecordNew), string(RecordAll)}
}

// Records reports whether a session may use the network, given whether there is a
// cassette.
func (m CaptureMode) Records(exists bool) bool {
	return m == RecordAll || m == RecordNew || m == RecordOnce && !exists
}

// PromptScenario is a session without a scenario, from which one is made.
type PromptScenario struct {
	// Name is the scenario's; Text the user's message.
	Name, Text string
	// Cassette is its file, as the scenario is to name it.
	Cassette string
	// Dir is the working directory, Files what is in it.
	Dir   string
	Files map[string]string
	Mode  string
	Allow []string
	Model string
	// Answers are those to questions for permission.
	Answers []PermitAnswer
	// Lenient: the world is not whole, so requests may differ from their recording.
	Lenient bool
}

// PermitAnswer is a person's to a question for permission.
type PermitAnswer struct {
	Call  string `yaml:"call"`
	Allow bool   `yaml:"allow"`
	Text  string `yaml:"text,omitempty"`
}

// YAML is a scenario that replays the session (O1).
func (p PromptScenario) YAML() ([]byte, error) {
	type permissions struct {
		Mode  string   `yaml:"mode,omitempty"`
		Allow []string `yaml:"allow,omitempty,flow"`
	}
	type world struct {
		CWD         string            `yaml:"cwd,omitempty"`
		Files       map[string]string `yaml:"files,omitempty"`
		Permissions *permissions      `yaml:"permissions,omitempty"`
		Model       string            `yaml:"model,omitempty"`
	}
	type streamed struct {
		Cassette string `yaml:"cassette"`
		Requests string `yaml:"requests,omitempty"`
	}
	type user struct {
		Permits []PermitAnswer `yaml:"permits"`
	}
	doc := struct {
		Format int      `yaml:"format"`
		Name   string   `yaml:"name"`
		About  string   `yaml:"about"`
		World  world    `yaml:"world,omitempty"`
		Prompt string   `yaml:"prompt"`
		Stream streamed `yaml:"stream"`
		User   *user    `yaml:"user,omitempty"`
	}{Format: scenario.FormatVersion, Name: p.Name, About: "A recorded session: " + message.Line(p.Text, briefChars), Prompt: p.Text,
		World:  world{CWD: p.Dir, Files: p.Files, Model: p.Model},
		Stream: streamed{Cassette: p.Cassette},
	}
	if p.Mode != "" || len(p.Allow) > 0 {
		doc.World.Permissions = &permissions{p.Mode, p.Allow}
	}
	if len(p.Answers) > 0 {
		doc.User = &user{p.Answers}
	}
	if p.Lenient {
		doc.Stream.Requests = "lenient"
	}
	text, err := yaml.Marshal(doc)
	if err != nil {
		return nil, fmt.Errorf("the scenario: %w", err)
	}
	return text, nil
}

// Scenario is what YAML gives, read back.
func (p PromptScenario) Scenario() (*scenario.Scenario, error) {
	text, err := p.YAML()
	if err != nil {
		return nil, err
	}
	return scenario.Parse(p.Name+".yaml", text)
}

// briefChars is how much of a prompt its scenario quotes.
const briefChars = 61

// ScenarioName makes a scenario's name of a cassette's file.
func ScenarioName(file string) string {
	base := strings.ToLower(strings.TrimSuffix(path.Base(file), ".yaml"))
	name := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '.' || r == '_' || r == '-' {
			return r
		}
		return '-'
	}, base)
	return strings.TrimLeft(name, "-._")
}
