package run

import (
	"context"
	"errors"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/spf13/afero"

	"toolbench/sim/clock"
	"toolbench/sim/scenario"
	"toolbench/toolsys/pipeline"
	"toolbench/toolsys/tool"
	"toolbench/toolsys/trace"
)

// LiveConfig is what a run in real time has in place of the scenario's stream (O5).
type LiveConfig struct {
	// Transport carries the requests to the model, which is at BaseURL ("": the
	// official address), with Key.
	Transport    http.RoundTripper
	BaseURL, Key string
	// Web does WebFetch's requests for pages that the scenario does not have; nil
	// refuses them.
	Web func(*http.Request) (*http.Response, error)
	// Disk, when set, stands in place of the scenario's world.
	Disk *Disk
	// Ask and AskUser answer where the scenario's user has no script; nil is nobody.
	Ask     func(context.Context, pipeline.Question) (pipeline.Reply, error)
	AskUser func(ctx context.Context, callID string, qs []tool.Question) ([]tool.Answer, error)
	// Trace takes the events; nil drops them.
	Trace trace.Sink
}

// Disk is a world that is there already.
type Disk struct {
	FS      afero.Fs
	Resolve func(path string) string
}

// timing is the run's clock: a gate in virtual time, or the one on the wall.
type timing interface {
	Now() time.Time
	Since() time.Duration
	Sleep(ctx context.Context, actor string, d time.Duration) error
	Go(actor string, f func())
	Close()
}

var (
	_ timing = (*clock.Gate)(nil)
	_ timing = (*clock.Real)(nil)
)

// errNoWeb answers requests that go nowhere.
var errNoWeb = errors.New("there is no network here; give the page under world.web")

// Live runs a scenario's prompt against a model that is really there, in real time.
// Nothing is checked. The error is what the conversation ended with, or what kept it
// from beginning: a *FileError then.
func Live(ctx context.Context, sc *scenario.Scenario, live LiveConfig) error {
	r := &runner{sc: sc, o: Options{Seed: 1}, gate: clock.Now(), log: &trace.Log{}, moved: new(atomic.Int64), live: &live}
	defer func() { r.servers.close() }() // also of those that an error leaves behind
	if err := r.build(ctx); err != nil {
		return err
	}
	rec, err := r.run(ctx)
	if err != nil {
		return err
	}
	return rec.Err
}

// liveWire passes the model's requests on, and answers others from the scenario's web
// where it has the page.
func (r *runner) liveWire() http.RoundTripper {
	return r.beside(r.sc.World.Web, roundTrip(func(req *http.Request) (*http.Response, error) {
		switch {
		case isModel(req.URL.String()):
			return r.live.Transport.RoundTrip(req)
		case r.live.Web == nil:
			return nil, errNoWeb
		}
		return r.live.Web(req)
	}))
}

type roundTrip func(*http.Request) (*http.Response, error)

// RoundTrip implements http.RoundTripper.
func (f roundTrip) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }

// handlersOf lets people answer who are really there.
func (l *LiveConfig) handlersOf(d pipeline.Handlers) pipeline.Handlers {
	if d.Ask == nil {
		d.Ask = l.Ask
	}
	if d.AskUser == nil {
		d.AskUser = l.AskUser
	}
	return d
}
