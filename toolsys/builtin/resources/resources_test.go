package resources_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"toolbench/toolsys/builtin/resources"
	"toolbench/toolsys/message"
	"toolbench/toolsys/tool"
)

func run(t *testing.T, tl *tool.Tool, raw string) (string, error) {
	t.Helper()
	in, problems := tl.Parse(json.RawMessage(raw))
	require.Empty(t, problems)
	out, err := tl.Call(t.Context(), in, &tool.Context{})
	return message.PlainText(out.Blocks), err
}

func TestAListIsALineForEachResource(t *testing.T) {
	asked := "?"
	d := resources.Deps{List: func(_ context.Context, server string) ([]resources.Resource, error) {
		asked = server
		return []resources.Resource{{Server: "s", URI: "u://1", Name: "one"}, {Server: "s", URI: "u://2", Name: "two", Description: "The second.", MediaType: "text/plain"}}, nil
	}}
	text, err := run(t, resources.List(d), `{"server":"s"}`)
	require.NoError(t, err)
	assert.Equal(t, "s", asked)
	assert.Equal(t, `{"server":"s","uri":"u://1","name":"one"}`+"\n"+`{"server":"s","uri":"u://2","name":"two","description":"The second.","mimeType":"text/plain"}`, text)
	d.List = func(context.Context, string) ([]resources.Resource, error) { return nil, nil }
	text, err = run(t, resources.List(d), `{}`)
	require.NoError(t, err)
	assert.Equal(t, "There are no resources.", text)
}

func TestAResourceIsReadAsItIs(t *testing.T) {
	d := resources.Deps{Read: func(_ context.Context, server, uri string) ([]message.Block, error) {
		if uri == "u://none" {
			return nil, nil
		}
		return []message.Block{message.Text(server + " " + uri)}, nil
	}}
	text, err := run(t, resources.Read(d), `{"server":"s","uri":"u://1"}`)
	require.NoError(t, err)
	assert.Equal(t, "s u://1", text)
	text, err = run(t, resources.Read(d), `{"server":"s","uri":"u://none"}`)
	require.NoError(t, err)
	assert.Equal(t, "The resource is empty.", text)
}

func TestWhatTheServersSayIsHandedOn(t *testing.T) {
	broken := errors.New("broken")
	d := resources.Deps{
		List: func(context.Context, string) ([]resources.Resource, error) { return nil, broken },
		Read: func(context.Context, string, string) ([]message.Block, error) { return nil, broken },
	}
	_, err := run(t, resources.List(d), `{}`)
	assert.ErrorIs(t, err, broken)
	_, err = run(t, resources.Read(d), `{"server":"s","uri":"u"}`)
	assert.ErrorIs(t, err, broken)
	_, err = run(t, resources.List(resources.Deps{}), `{}`)
	assert.ErrorIs(t, err, resources.ErrNone)
	_, err = run(t, resources.Read(resources.Deps{}), `{"server":"s","uri":"u"}`)
	assert.ErrorIs(t, err, resources.ErrNone)
	_, problems := resources.Read(d).Parse(json.RawMessage(`{"uri":"u"}`))
	assert.NotEmpty(t, problems, "the server must be named")
}
