package cli

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"toolbench/reports"
	"toolbench/sim/dialect"
	"toolbench/sim/recording"
	"toolbench/sim/replay"
	"toolbench/sim/secret"
	"toolbench/toolsys"
)

type driftFlags struct {
	printing
	baseURL, keyEnv, model string
	retries                int
	timeout                time.Duration
}

func (a *app) driftCommand() *cobra.Command {
	f := driftFlags{retries: 2, timeout: 10 * time.Minute}
	cmd := &cobra.Command{Use: "drift RECORDING", Short: "Send recorded requests again, and show what changed in shape"}
	flags := cmd.Flags()
	flags.StringVar(&f.baseURL, "base-url", "", "where the API is")
	flags.StringVar(&f.keyEnv, "key-env", "", "the variable that holds the key; without, the usual one of the recorded API")
	flags.StringVar(&f.model, "model", "", "ask this model in place of the recorded one")
	flags.Var(number(&f.retries, 0), "retries", "how often a request is sent again that the API had no time for")
	own(flags, &value[time.Duration]{to: &f.timeout, parse: time.ParseDuration, kind: "DURATION", text: f.timeout.String()}, "timeout", "how long one answer may take")
	return a.reporter(cmd, &f.printing, func(cmd *cobra.Command, args []string) error { return a.drift(cmd.Context(), args, f) })
}

// drift runs the command and gives the error that carries its exit code.
func (a *app) drift(ctx context.Context, args []string, f driftFlags) error {
	if len(args) != 1 {
		return usage("name one recording, as in `toolbench drift session.yaml --base-url https://api.anthropic.com`")
	}
	if f.baseURL == "" {
		return usage("name the API to send the requests to with --base-url, as https://api.anthropic.com")
	}
	to, err := a.newRoutes("--base-url", f.baseURL)
	if err != nil {
		return err
	}
	recorded, err := a.exchanges(args[0])
	if err != nil {
		return err
	}
	again := &resending{app: a, flags: f, to: to, line: &statusLine{w: a.Stderr, enabled: isTerminal(a.Stderr) && a.env("CI") == ""}}
	if err := again.keys(recorded); err != nil {
		return err
	}
	report := reports.DriftReport{Version: reports.DriftVersion, Source: args[0], BaseURL: f.baseURL, Model: f.model, Requests: len(recorded)}
	var compared replay.Drift
	ended := again.all(ctx, recorded, &compared, &report)
	again.line.clear()
	if ended != nil && report.Sent == 0 {
		return ended
	}
	report.Changes = compared.Changes()
	report.Blank(again.finder)
	report.Same = ended == nil && len(report.Changes) == 0
	if err := a.print(report, f.printing); err != nil {
		return err
	}
	switch {
	case ended != nil:
		return ended
	case report.Sent == 0:
		return usage("%s: nothing in it can be compared: %s", args[0], report.LeftOut[0].Reason)
	case !report.Same:
		return failed()
	}
	return nil
}

// exchanges are the requests that a recording holds, as they were sent.
func (a *app) exchanges(name string) ([]recording.Exchange, error) {
	if isDir(a.path(name)) {
		return nil, usage("%s: it is a folder; name one recording", name)
	}
	file, err := a.open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	var all []recording.Exchange
	sum, err := recording.Scan(name, file, recording.Limits{}, recording.Handler{Exchange: func(e recording.Exchange) error {
		all = append(all, e)
		return nil
	}})
	switch {
	case err != nil && len(all) == 0:
		return nil, invalid(err)
	case len(all) == 0:
		return nil, usage("%s: a recording of the format %s holds no requests to send; record the session with `toolbench tap` or `toolbench record`", name, sum.Format)
	}
	return all, nil
}

// resending is the way of recorded requests to an API.
type resending struct {
	app    *app
	flags  driftFlags
	to     routes
	line   *statusLine
	key    map[string]string // by variable
	finder *secret.Finder
}

func (r *resending) variable(e recording.Exchange) string {
	return cmp.Or(r.flags.keyEnv, replay.KeyVariable(e.API))
}

// keys finds the key of each API that is asked.
func (r *resending) keys(all []recording.Exchange) error {
	r.key = map[string]string{}
	known := secret.FromEnv(r.app.Env)
	for _, e := range all {
		name := r.variable(e)
		if r.key[name] != "" {
			continue
		}
		r.key[name] = r.app.env(name)
		switch {
		case r.key[name] != "":
			known = append(known, secret.Known{Name: name, Value: r.key[name]})
		case e.API != dialect.Ollama: // which asks for none on one's own machine
			return usage("there is no key: set %s, or name the variable that holds it with --key-env", name)
		}
	}
	r.finder = secret.New(known...)
	return nil
}

// all sends one request after the other, up to the first that gets no answer.
func (r *resending) all(ctx context.Context, recorded []recording.Exchange, compared *replay.Drift, report *reports.DriftReport) error {
	for i, e := range recorded {
		if why := replay.LeftOut(e); why != "" {
			report.LeftOut = append(report.LeftOut, reports.DriftLeftOut{Request: e.Number, Reason: why})
			continue
		}
		r.line.draw(fmt.Sprintf("request %d of %d", i+1, len(recorded)))
		now, err := r.send(ctx, replay.Again(e, r.flags.model), e.Status)
		if ctx.Err() != nil {
			return interrupted("interrupted after %d of %d requests", report.Sent, len(recorded))
		}
		if err != nil {
			return r.unanswered(e, err)
		}
		report.Sent++
		compared.Add(e, now)
	}
	return nil
}

// send sends a request until the API has time for it.
func (r *resending) send(ctx context.Context, q replay.Request, recorded int) (recording.Exchange, error) {
	name := r.variable(q.Exchange)
	q.Authorize(r.key[name])
	for n := 0; ; n++ {
		now, err := r.once(ctx, q)
		switch {
		case err != nil:
			return now, err
		case now.Status == recorded || !replay.Passing(now.Status) && now.Status != http.StatusUnauthorized && now.Status != http.StatusForbidden:
			return now, nil
		case !replay.Passing(now.Status):
			return now, usage("request %d was answered with status %d; check the key in %s, or name another variable with --key-env", q.Number, now.Status, name)
		case n == r.flags.retries:
			return now, harness(fmt.Errorf("request %d was answered with status %d; try again later, or with more --retries", q.Number, now.Status))
		}
		if err := toolsys.RealClock().Sleep(ctx, "drift", time.Second<<min(n, 5)); err != nil {
			return now, err
		}
	}
}

// mostAnswered is the largest answer that is read.
const mostAnswered = 64 << 20

// once sends a request and reads the whole answer. It follows no redirection: the key
// goes to the address that was named, and nowhere else.
func (r *resending) once(ctx context.Context, q replay.Request) (recording.Exchange, error) {
	ctx, cancel := context.WithTimeout(ctx, r.flags.timeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, q.URL, bytes.NewReader(q.Body))
	if err != nil {
		return recording.Exchange{}, err
	}
	req.Header = q.Sent.Clone()
	req.URL = r.to.to(req)
	resp, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		return recording.Exchange{}, err
	}
	defer resp.Body.Close()
	body, err := readLimited(resp.Body, mostAnswered)
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
		return recording.Exchange{}, err
	}
	return q.Answered(resp.StatusCode, resp.Header, body, recording.Limits{}), nil
}

// unanswered words why a request got no answer.
func (r *resending) unanswered(e recording.Exchange, err error) error {
	if coded, ok := errors.AsType[*exitError](err); ok {
		return coded
	}
	if dial, ok := errors.AsType[*net.OpError](err); ok && dial.Op == "dial" {
		return usage("%s cannot be reached: %s; check --base-url and the network", r.flags.baseURL, dial.Err)
	}
	text := strings.TrimSpace(r.finder.Text(err.Error(), nil))
	if errors.Is(err, context.DeadlineExceeded) {
		text = fmt.Sprintf("it took longer than %s; allow more with --timeout", r.flags.timeout)
	}
	return harness(fmt.Errorf("request %d got no answer: %s", e.Number, text))
}
