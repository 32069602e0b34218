package cli

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/pflag"

	"toolbench/sim/cassette"
	"toolbench/sim/tokens"
	"toolbench/sim/tokens/endpoint"
)

// endpointFlags say how the API's count_tokens is reached.
type endpointFlags struct {
	baseURL, keyEnv string
	tape            tapeFlags
	worst           int
}

// apiAddress is the Messages API's official address.
const apiAddress = "https://api.anthropic.com/"

func (f *endpointFlags) add(flags *pflag.FlagSet) {
	f.worst = 5
	flags.StringVar(&f.baseURL, "base-url", apiAddress, "with count_tokens: the API's address")
	flags.StringVar(&f.keyEnv, "key-env", "ANTHROPIC_API_KEY", "with count_tokens: the variable that holds the API's key")
	flags.StringVar(&f.tape.file, "cassette", "", "with count_tokens: a cassette that answers in place of the API")
	flags.BoolVar(&f.tape.record, "record", false, "with --cassette: ask the API and write the cassette anew")
	flags.Var(&value[int]{to: &f.worst, parse: atLeast(0), kind: "N", text: "5"}, "measure", "with count_tokens: how many of the dearest tools are measured one by one")
}

// counterNames are the counters there are, the default first.
func counterNames() []string { return append(tokens.Names(), tokens.CountTokens) }

// provisional is the counter to begin with: what count_tokens will say is not known
// before the tools are.
func (a *app) provisional(f tokensFlags) (tokens.Counter, error) {
	name := f.counter
	if name == tokens.CountTokens {
		name = tokens.Names()[0]
	} else if f.endpoint.tape.file != "" || f.endpoint.tape.record {
		return tokens.Counter{}, usage("--cassette and --record are of --counter %s; --counter %s asks nobody", tokens.CountTokens, name)
	}
	c, err := tokens.NewCounter(name)
	if err != nil {
		return tokens.Counter{}, harness(err)
	}
	return c, nil
}

// measured asks the API.
func (a *app) measured(ctx context.Context, tools []tokens.Tool, searcher tokens.Tool, o tokens.Options, f endpointFlags) (tokens.Report, error) {
	if o.Model == "" {
		return tokens.Report{}, usage("--counter %s counts for a model; name it with --model", tokens.CountTokens)
	}
	key, _ := a.lookup(f.keyEnv)
	rt, done, err := a.transport(f.tape, key, f.keyEnv)
	if err != nil {
		return tokens.Report{}, err
	}
	m, err := endpoint.Measure(ctx, endpoint.Config{BaseURL: f.baseURL, Key: key, Model: o.Model, Transport: rt, Retries: f.tape.retries()}, tools, searcher, f.worst)
	if err == nil {
		err = done()
	}
	if err != nil {
		return tokens.Report{}, unanswered(ctx, err, f.tape)
	}
	r, err := tokens.Measured(tools, o, m)
	if err != nil {
		return tokens.Report{}, harness(err)
	}
	return r, nil
}

// unanswered sorts what kept a service from answering.
func unanswered(ctx context.Context, err error, f tapeFlags) error {
	var refused *endpoint.Refused
	var missed *cassette.MissError
	switch {
	case ctx.Err() != nil:
		return &exitError{ExitInterrupted, errors.New("interrupted")}
	case errors.As(err, &refused):
		return usage("%s; check --model, --base-url and the key", refused)
	case errors.As(err, &missed):
		return usage("%s\nthe tools, the model or the number to measure are not those of the recording; --record asks again", missed)
	case f.file != "" && !f.record:
		return usage("%s: %s", f.file, err)
	}
	return harness(fmt.Errorf("no answer: %w", err))
}

// tapeFlags name a cassette between the program and a service.
type tapeFlags struct {
	file   string
	record bool
}

// retries are for the network only.
func (f tapeFlags) retries() int {
	if f.file != "" && !f.record {
		return 0
	}
	return 2
}

// transport is the way to a service: a cassette, the network, or the network with a
// cassette that takes it down; done ends it. The key is blanked in the cassette.
func (a *app) transport(f tapeFlags, key, keyEnv string) (rt http.RoundTripper, done func() error, err error) {
	nothing := func() error { return nil }
	switch {
	case f.file == "" && f.record:
		return nil, nil, usage("--record needs the cassette to write: --cassette FILE.yaml")
	case f.file != "" && !f.record:
		_, rt, err = a.player(f.file)
		return rt, nothing, err
	case key == "":
		return nil, nil, usage("there is no key: set %s, or name a recorded cassette with --cassette", keyEnv)
	}
	return a.taped(f, key)
}

// network is the machine's own way out, with its proxy settings.
func (a *app) network() http.RoundTripper { return http.DefaultTransport }

// player answers from a cassette at once: how long the service took says nothing here.
func (a *app) player(file string) (*cassette.Cassette, http.RoundTripper, error) {
	path := a.path(file)
	c, err := cassette.LoadFile(os.DirFS(filepath.Dir(path)), filepath.Base(path), cassette.Limits{})
	if err != nil {
		return nil, nil, usage("%s", err)
	}
	c.Name = file
	p, err := cassette.NewPlayer(c, cassette.Options{Wait: func(context.Context, string, time.Duration) error { return nil }})
	if err != nil {
		return nil, nil, usage("%s", err)
	}
	return c, p, nil
}
