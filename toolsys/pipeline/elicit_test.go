package pipeline_test

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"toolbench/toolsys/hook"
	"toolbench/toolsys/permission"
	"toolbench/toolsys/pipeline"
	"toolbench/toolsys/tool"
)

// asking is a world whose tool is a server's and asks before it answers with what it
// was told.
func asking(t *testing.T, answer func(pipeline.Elicitation) (json.RawMessage, error)) *world {
	w := newWorld(t)
	w.def.Origin = &tool.Origin{Server: "s", Tool: "Look"}
	w.def.Name = "mcp__s__Look"
	w.def.Call = func(ctx context.Context, in in, c *tool.Context) (tool.Result[string], error) {
		told, err := c.Elicit(ctx, "s", []byte(`{"message":"Which?"}`))
		return tool.Done(string(told)), err
	}
	if answer != nil {
		w.handlers.Elicit = func(_ context.Context, q pipeline.Elicitation) (json.RawMessage, error) { return answer(q) }
	}
	return w
}

func (w *world) ask() *pipeline.Result {
	return w.callIn(w.t.Context(), pipeline.Call{ID: "c1", Name: "mcp__s__Look", Input: json.RawMessage(`{"path":"a"}`), Turn: 1})
}

const yes, no = `{"action":"accept","content":{"n":1}}`, `{"action":"decline"}`

func TestAServersQuestionReachesThePerson(t *testing.T) {
	var after pipeline.Elicitation
	w := asking(t, func(q pipeline.Elicitation) (json.RawMessage, error) {
		after = q
		return json.RawMessage(yes), nil
	})
	r := w.ask()
	require.Equal(t, pipeline.OK, r.Status, text(r))
	assert.Equal(t, yes, text(r))
	assert.Equal(t, pipeline.Elicitation{CallID: "c1", Tool: "mcp__s__Look", Server: "s", Params: json.RawMessage(`{"message":"Which?"}`)}, after)
	assert.Contains(t, w.stages(), "elicit:accept run:ok")
}

func TestWhereNobodyAnswersAQuestionIsDeclined(t *testing.T) {
	assert.Equal(t, no, text(asking(t, nil).ask()))
	assert.Equal(t, no, text(asking(t, func(pipeline.Elicitation) (json.RawMessage, error) { return nil, errors.New("away") }).ask()))
	w := asking(t, func(pipeline.Elicitation) (json.RawMessage, error) {
		t.Error("nobody may be asked")
		return nil, nil
	})
	w.env.NonInteractive = true
	assert.Equal(t, no, text(w.ask()))
}

func TestHooksStandBeforeAndBehindThePerson(t *testing.T) {
	w := asking(t, func(q pipeline.Elicitation) (json.RawMessage, error) {
		assert.JSONEq(t, `{"message":"Which, please?"}`, string(q.Params))
		return json.RawMessage(yes), nil
	})
	w.hook(hook.Elicitation, func(in hook.Input) hook.Output {
		assert.JSONEq(t, `{"message":"Which?"}`, string(in.Input))
		return hook.Output{Input: json.RawMessage(`{"message":"Which, please?"}`)}
	})
	w.hook(hook.ElicitationResult, func(in hook.Input) hook.Output {
		assert.JSONEq(t, yes, string(in.Input))
		return hook.Output{Input: json.RawMessage(`{"action":"cancel"}`)}
	})
	assert.Equal(t, `{"action":"cancel"}`, text(w.ask()))
}

func TestAHookThatForbidsAnAnswerIsObeyed(t *testing.T) {
	for _, event := range []hook.Event{hook.Elicitation, hook.ElicitationResult} {
		asked := 0
		w := asking(t, func(pipeline.Elicitation) (json.RawMessage, error) {
			asked++
			return json.RawMessage(yes), nil
		})
		w.hook(event, func(hook.Input) hook.Output { return hook.Output{Decision: permission.Deny} })
		assert.Equal(t, no, text(w.ask()))
		assert.Equal(t, event == hook.ElicitationResult, asked == 1, "a question that is forbidden reaches nobody")
	}
}

// Two questions of one call may be open at once; the limit stands still until the last is
// answered.
func TestTheLimitStandsStillForTheLastQuestion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var asked atomic.Int64
		w := asking(t, func(pipeline.Elicitation) (json.RawMessage, error) {
			time.Sleep(time.Duration(asked.Add(1)) * time.Hour)
			return json.RawMessage(yes), nil
		})
		ask := w.def.Call
		w.def.Call = func(ctx context.Context, in in, c *tool.Context) (r tool.Result[string], err error) {
			var both sync.WaitGroup
			both.Go(func() { _, _ = ask(ctx, in, c) })
			r, err = ask(ctx, in, c)
			both.Wait()
			return r, errors.Join(err, context.Cause(ctx))
		}
		w.env.Clock = clock()
		w.def.Limits.Timeout = func(in) time.Duration { return time.Second }
		assert.Equal(t, pipeline.OK, w.ask().Status)
	})
}

// Who decides upon a call beside the call takes none of its time, where the tool says so.
func TestADecisionBesideTheCallTakesNoneOfItsTime(t *testing.T) {
	for asks, want := range map[bool]pipeline.Status{true: pipeline.OK, false: pipeline.TimedOut} {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t)
			w.def.Call = func(ctx context.Context, _ in, c *tool.Context) (tool.Result[string], error) {
				allowed, why := c.Running.MayAlso(ctx, "Look", in{Path: "beside"})
				if allowed {
					why = "allowed"
				}
				return tool.Done(why), context.Cause(ctx)
			}
			w.def.Permit = func(in in, _ *tool.Context) permission.Opinion {
				return permission.Opinion{Behaviour: map[bool]permission.Behaviour{true: permission.Ask, false: permission.Allow}[in.Path == "beside"]}
			}
			w.handlers.Ask = func(context.Context, pipeline.Question) (pipeline.Reply, error) {
				time.Sleep(time.Hour)
				return pipeline.Reply{Allow: true}, nil
			}
			w.def.Limits = tool.Limits[in]{Asks: asks, Timeout: func(in) time.Duration { return time.Minute }}
			assert.Equal(t, want, w.call(`{"path":"a"}`).Status)
		})
	}
}

// The limit counts the server's time and not the person's: an hour's thought costs
// nothing, and what was left before it is left after it (N4, N5).
func TestAPersonsTimeIsNotTheCalls(t *testing.T) {
	for limit, want := range map[time.Duration]pipeline.Status{3 * time.Second: pipeline.OK, 1900 * time.Millisecond: pipeline.TimedOut} {
		synctest.Test(t, func(t *testing.T) {
			w := asking(t, func(pipeline.Elicitation) (json.RawMessage, error) {
				time.Sleep(time.Hour)
				return json.RawMessage(yes), nil
			})
			ask := w.def.Call
			w.def.Call = func(ctx context.Context, in in, c *tool.Context) (tool.Result[string], error) {
				if err := c.Clock.Sleep(ctx, "before", time.Second); err != nil {
					return tool.Result[string]{}, err
				}
				r, err := ask(ctx, in, c)
				if err == nil {
					err = c.Clock.Sleep(ctx, "after", time.Second)
				}
				return r, err
			}
			w.env.Clock = clock()
			w.def.Limits.Timeout = func(in) time.Duration { return limit }
			began := time.Now()
			assert.Equal(t, want, w.ask().Status)
			assert.Equal(t, time.Hour+min(limit, 2*time.Second), time.Since(began))
		})
	}
}
