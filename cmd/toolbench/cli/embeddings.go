package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/spf13/pflag"

	"toolbench/sim/cassette"
	"toolbench/sim/economics/retrieval"
)

// embeddingsFlags are how an endpoint for embeddings is reached.
type embeddingsFlags struct {
	url, model, keyEnv string
	cassette           cassetteFlags
}

func (f *embeddingsFlags) add(flags *pflag.FlagSet) {
	flags.StringVar(&f.url, "embeddings", "", "an endpoint for embeddings, as https://HOST/v1: adds a ranker by cosine")
	flags.StringVar(&f.model, "embeddings-model", "", "the endpoint's model")
	flags.StringVar(&f.keyEnv, "embeddings-key-env", "EMBEDDINGS_API_KEY", "the variable that holds the endpoint's key; unset sends none")
	f.cassette.add(flags, "embeddings-", "", "endpoint")
}

// vectors embeds a catalogue and its queries; nil where that was not asked for.
func (a *app) vectors(ctx context.Context, pool retrieval.Pool, queries []string, f embeddingsFlags) (*retrieval.Vectors, error) {
	if f.url == "" && f.cassette.file == "" && !f.cassette.record {
		return nil, nil
	}
	e, done, err := a.embedder(f)
	if err != nil {
		return nil, err
	}
	v, err := retrieval.NewVectors(ctx, e, pool, queries)
	if err == nil {
		err = done()
	}
	if err != nil {
		return nil, unembedded(ctx, err, f)
	}
	return v, nil
}

func (a *app) embedder(f embeddingsFlags) (retrieval.Embedder, func() error, error) {
	key, _ := a.lookup(f.keyEnv)
	e := retrieval.Embedder{URL: f.url, Model: f.model, Key: key}
	if err := f.cassette.check(); err != nil {
		return e, nil, err
	}
	replaying := f.cassette.replays()
	switch {
	case !replaying && f.url == "":
		return e, nil, usage("--embeddings-record asks an endpoint: name it with --embeddings https://HOST/v1")
	case !replaying && f.model == "":
		return e, nil, usage("--embeddings asks for vectors of a model: name it with --embeddings-model")
	case !replaying && !isAddress(f.url):
		return e, nil, usage("--embeddings %q: an address begins with http:// or https://", f.url)
	}
	if !replaying {
		rt, done, err := a.network(f.cassette, key)
		e.Transport = rt
		return e, done, err
	}
	c, rt, err := a.player(f.cassette.file)
	if err != nil {
		return e, nil, err
	}
	e.Transport = rt
	url, model := recordedEndpoint(c)
	e.URL, e.Model = cmp.Or(e.URL, url), cmp.Or(e.Model, model)
	return e, func() error { return nil }, nil
}

// recordedEndpoint is the address and the model of a cassette's first request, so that
// a replay needs neither flag.
func recordedEndpoint(c *cassette.Cassette) (url, model string) {
	if len(c.Interactions) == 0 {
		return "", ""
	}
	var body struct{ Model string }
	if json.Unmarshal([]byte(c.Interactions[0].Request.Body), &body) != nil {
		return "", ""
	}
	return c.Interactions[0].Request.URL, body.Model
}

// unembedded sorts what kept the endpoint from answering.
func unembedded(ctx context.Context, err error, f embeddingsFlags) error {
	missed, isMiss := errors.AsType[*cassette.MissError](err)
	switch {
	case ctx.Err() != nil:
		return interrupted("interrupted")
	case isMiss:
		return usage("%s\nthe catalogue, the queries or the model are not those of the recording; --embeddings-record asks again", firstLine(missed))
	case errors.Is(err, retrieval.ErrEmbeddings):
		return usage("%s; check --embeddings, --embeddings-model and the key in %s", err, f.keyEnv)
	case f.cassette.replays():
		return usage("%s: %s", f.cassette.file, err)
	}
	return harness(fmt.Errorf("no answer: %w", err))
}
