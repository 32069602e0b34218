package world_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"toolbench/sim/world"
)

func sleep(ctx context.Context, _ string, d time.Duration) error {
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
	return context.Cause(ctx)
}

// hosted is a host of the weather servers in virtual time.
func hosted(t *testing.T, o world.HostOptions) *world.Host {
	t.Helper()
	h, err := world.NewHost(parse(t, "c.jsonl", weather), o, world.HostClock{Now: time.Now, Sleep: sleep})
	require.NoError(t, err)
	t.Cleanup(h.Close)
	return h
}

// dialled is a client's session with a hosted server.
func dialled(t *testing.T, h *world.Host, o *mcp.ClientOptions) (*mcp.ClientSession, error) {
	t.Helper()
	way, err := h.Dial(t.Context(), "weather")
	if err != nil {
		return nil, err
	}
	session, err := mcp.NewClient(&mcp.Implementation{Name: "c", Version: "1"}, o).Connect(t.Context(), way, nil)
	if err == nil {
		t.Cleanup(func() {
			h.Close()
			_ = session.Close()
		})
	}
	return session, err
}

func today(call string) *mcp.CallToolParams {
	return &mcp.CallToolParams{Meta: mcp.Meta{world.MetaCall: call}, Name: "today", Arguments: map[string]any{"city": "Bern"}}
}

func TestAServerThatIsTakenAwayComesBackWhenItIsTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := hosted(t, world.HostOptions{Faults: []world.ServerFault{{Call: "last", Gone: true, Back: time.Minute}}})
		session, err := dialled(t, h, nil)
		require.NoError(t, err)
		_, err = session.CallTool(t.Context(), today("first"))
		require.NoError(t, err)
		_, err = session.CallTool(t.Context(), today("last"))
		require.Error(t, err)
		_, err = dialled(t, h, nil)
		require.ErrorIs(t, err, world.ErrDown)
		time.Sleep(time.Minute)
		session, err = dialled(t, h, nil)
		require.NoError(t, err)
		_, err = session.CallTool(t.Context(), today("then"))
		assert.NoError(t, err)
	})
}

func TestAConnectionFailsByItsNumber(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := hosted(t, world.HostOptions{Faults: []world.ServerFault{{Connect: 1, Refused: true}, {Connect: 2, ListFails: true}, {Server: "mail", Connect: 3, Refused: true}}})
		_, err := dialled(t, h, nil)
		require.ErrorIs(t, err, world.ErrDown)
		session, err := dialled(t, h, nil)
		require.NoError(t, err)
		_, err = session.ListTools(t.Context(), nil)
		require.ErrorContains(t, err, "the list is not to be had")
		session, err = dialled(t, h, nil)
		require.NoError(t, err)
		_, err = session.ListTools(t.Context(), nil)
		assert.NoError(t, err)
	})
}

func TestClientsAreNotifiedOfAnotherList(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, notified := hosted(t, world.HostOptions{}), 0
		session, err := dialled(t, h, &mcp.ClientOptions{ToolListChangedHandler: func(context.Context, *mcp.ToolListChangedRequest) { notified++ }})
		require.NoError(t, err)
		require.NoError(t, h.Relist("weather", []*mcp.Tool{{Name: "tomorrow"}}))
		time.Sleep(time.Second)
		synctest.Wait()
		assert.Equal(t, 1, notified)
		list, err := session.ListTools(t.Context(), nil)
		require.NoError(t, err)
		require.Len(t, list.Tools, 1)
		assert.Equal(t, "tomorrow", list.Tools[0].Name)
		assert.ErrorIs(t, h.Relist("nobody", nil), world.ErrCatalogue)
	})
}

func TestASlowAnswerEndsWithItsCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		session, err := dialled(t, hosted(t, world.HostOptions{Faults: []world.ServerFault{{Tool: "today", Slow: time.Hour}}}), nil)
		require.NoError(t, err)
		began := time.Now()
		ctx, cancel := context.WithTimeoutCause(t.Context(), time.Minute, errors.New("enough"))
		defer cancel()
		_, err = session.CallTool(ctx, today("x"))
		require.Error(t, err)
		assert.Equal(t, time.Minute, time.Since(began))
	})
}

func TestAQuestionIsAskedOverBothProtocols(t *testing.T) {
	for _, version := range []string{"", "2025-11-25"} {
		synctest.Test(t, func(t *testing.T) {
			h := hosted(t, world.HostOptions{Asks: map[string]world.ServerAsk{"today": {Message: "Which one?", Schema: []byte(`{"type":"object","properties":{"n":{"type":"integer"}}}`)}}})
			way, err := h.Dial(t.Context(), "weather")
			require.NoError(t, err)
			asked := ""
			session, err := mcp.NewClient(&mcp.Implementation{Name: "c", Version: "1"}, &mcp.ClientOptions{
				ElicitationHandler: func(_ context.Context, r *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
					asked = r.Params.Message
					return &mcp.ElicitResult{Action: "accept", Content: map[string]any{"n": 2}}, nil
				},
			}).Connect(t.Context(), way, &mcp.ClientSessionOptions{ProtocolVersion: version})
			require.NoError(t, err)
			r, err := session.CallTool(t.Context(), today("x"))
			require.NoError(t, err)
			assert.Equal(t, "Which one?", asked)
			assert.Equal(t, `Done with {"n":2}`, r.Content[0].(*mcp.TextContent).Text)
			h.Close()
			_ = session.Close()
		})
	}
}

// A server has the calls it was sent, those that were called off, and how its connections
// ended: by the client, or by itself.
func TestAServerShowsWhatReachedIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := hosted(t, world.HostOptions{Faults: []world.ServerFault{{Call: "slow", Slow: time.Hour}, {Call: "last", Gone: true, Back: time.Minute}}})
		session, err := dialled(t, h, nil)
		require.NoError(t, err)
		_, err = session.CallTool(t.Context(), today("first"))
		require.NoError(t, err)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		_, err = session.CallTool(ctx, today("slow"))
		require.Error(t, err)
		synctest.Wait() // the library notifies beside the call's return
		_, err = session.CallTool(t.Context(), today("last"))
		require.Error(t, err)
		_ = session.Close() // the server ended it before
		synctest.Wait()
		want := world.ServerReceived{Called: []string{"first", "slow", "last"}, Cancelled: []string{"slow"}, Opened: 1}
		assert.Equal(t, want, h.Received()["weather"])

		time.Sleep(time.Minute)
		session, err = dialled(t, h, nil)
		require.NoError(t, err)
		require.NoError(t, session.Close())
		want.Opened, want.Closed = 2, 1
		assert.Equal(t, want, h.Received()["weather"])
	})
}
