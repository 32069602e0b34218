package loop_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"toolbench/toolsys/loop"
	"toolbench/toolsys/message"
	"toolbench/toolsys/permission"
	"toolbench/toolsys/pool"
	"toolbench/toolsys/schedule"
	"toolbench/toolsys/search"
	"toolbench/toolsys/settings"
	"toolbench/toolsys/tool"
	"toolbench/toolsys/trace"
)

func TestTurnsRepeatWhileThereAreCalls(t *testing.T) {
	s := &script{turns: []turn{calls("Look a", "Look b"), calls("Look c"), says("done")}}
	r := open(t, s, nil, named("Look", nil))
	out := r.send(t)
	assert.Equal(t, 3, out.Turns)
	assert.Equal(t, 3, out.Calls)
	assert.Equal(t, "end_turn", out.Stop)
	assert.Equal(t, "done", message.PlainText(out.Final.Content))
	ids, texts := s.results(1)
	assert.Equal(t, []string{"c0", "c1"}, ids)
	assert.Equal(t, map[string]string{"c0": "Look a", "c1": "Look b"}, texts)

	roles := ""
	for _, m := range r.History() {
		roles += m.Role[:1]
	}
	assert.Equal(t, "uauaua", roles, "user and assistant take turns")
	assert.Len(t, r.kinds(trace.KindRunEnd, "stop"), 1)
}

// Results leave as one message, in call order, whatever order they finish in; what
// follows results comes after them (H5, I3).
func TestResultsLeaveInCallOrderWithTheirMessagesBehind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow := named("Slow", call(func(context.Context, in, *tool.Context) (tool.Result[string], error) {
			time.Sleep(time.Second)
			return tool.Result[string]{Data: "slow", Messages: []message.Message{message.UserText("read on")}}, nil
		}))
		s := &script{turns: []turn{calls("Slow", "Look"), says("done")}}
		r := open(t, s, nil, slow, named("Look", nil))
		r.send(t)
		last := s.requests[1].Messages[2]
		require.Len(t, last.Content, 3)
		assert.Equal(t, "c0", last.Content[0].ToolUseID)
		assert.Equal(t, "c1", last.Content[1].ToolUseID)
		assert.Equal(t, "read on", last.Content[2].Text)
		assert.Equal(t, []string{"c1 ok", "c0 ok"}, r.kinds(trace.KindEnded, "status"))
		assert.Equal(t, []string{"c0 ok", "c1 ok"}, r.kinds(trace.KindEmitted, "status"))
	})
}

// Calls start while the stream goes on; jobs are added beside those that run.
func TestCallsRunBesideTheStream(t *testing.T) {
	var specs []string
	for i := range 200 {
		specs = append(specs, fmt.Sprintf("Look %d", i))
	}
	inProgress := named("Look", call(func(_ context.Context, in in, c *tool.Context) (tool.Result[string], error) {
		return tool.Done(fmt.Sprint(len(c.InProgress()) > 0)), nil
	}))
	s := &script{turns: []turn{calls(specs...), says("done")}}
	r := open(t, s, nil, inProgress)
	r.send(t)
	_, texts := s.results(1)
	assert.Len(t, texts, 200)
	for id, text := range texts {
		assert.Equal(t, "true", text, id)
	}
}

func cd(d *def) {
	exclusive(d)
	d.Call = func(_ context.Context, in in, c *tool.Context) (tool.Result[string], error) {
		return tool.Result[string]{Data: c.State.Dir, Modify: func(s tool.State) tool.State { return s.WithDir(s.Dir + "/" + in.Text) }}, nil
	}
}

func TestAModifierActsBeforeTheNextCallBegins(t *testing.T) {
	s := &script{turns: []turn{calls("Cd a", "Cd b", "Cd c"), says("done")}}
	r := open(t, s, nil, named("Cd", cd))
	r.send(t)
	_, texts := s.results(1)
	assert.Equal(t, map[string]string{"c0": "/repo", "c1": "/repo/a", "c2": "/repo/a/b"}, texts)
	assert.Equal(t, "/repo/a/b/c", r.State().Dir)
}

func TestASafeCallsModifier(t *testing.T) {
	tools := []*tool.Tool{named("Cd", all(cd, func(d *def) { d.Traits.Safe = tool.Always[in] }))}
	for policy, want := range map[schedule.Policy]string{schedule.Streaming: "/repo", schedule.Batch: "/repo/a/b"} {
		s := &script{turns: []turn{calls("Cd a", "Cd b"), says("done")}}
		r := open(t, s, func(c *loop.Config) { c.Policy = policy }, tools...)
		r.send(t)
		assert.Equal(t, want, r.State().Dir, policy.String())
		if policy == schedule.Streaming {
			assert.ElementsMatch(t, []string{"c0", "c1"}, r.kinds(trace.KindDropped, ""), "the trace says that it was dropped")
		}
	}
}

func TestAModifierThatPanicsChangesNothing(t *testing.T) {
	bad := named("Bad", all(exclusive, call(func(context.Context, in, *tool.Context) (tool.Result[string], error) {
		return tool.Result[string]{Modify: func(tool.State) tool.State { panic("oh") }}, nil
	})))
	s := &script{turns: []turn{calls("Bad", "Cd a"), says("done")}}
	r := open(t, s, nil, bad, named("Cd", cd))
	r.send(t)
	assert.Equal(t, "/repo/a", r.State().Dir)
	assert.Equal(t, []string{"c0 the modifier panicked: oh"}, r.kinds(trace.KindDropped, "error"))
}

// What safe calls learn is committed in call order, under every policy (B5).
func TestObservationsAreCommittedInCallOrder(t *testing.T) {
	for _, policy := range []schedule.Policy{schedule.Serial, schedule.Batch, schedule.Streaming} {
		synctest.Test(t, func(t *testing.T) {
			read := named("Read", call(func(_ context.Context, in in, _ *tool.Context) (tool.Result[string], error) {
				if in.Text == "/a" {
					time.Sleep(time.Second)
				}
				return tool.Result[string]{Observed: []tool.Observation{tool.Seen(in.Text, []byte(in.Text))}}, nil
			}))
			s := &script{turns: []turn{calls("Read /a", "Read /b"), says("done")}}
			r := open(t, s, func(c *loop.Config) { c.Policy = policy }, read)
			r.send(t)
			var paths []string
			for _, f := range r.State().Files.All() {
				paths = append(paths, f.Path)
			}
			assert.Equal(t, []string{"/a", "/b"}, paths, policy.String())
		})
	}
}

// Interrupt = the user's new message: cancel tools stop, block tools finish, queued
// calls are answered, and the message goes out with the results (J4).
func TestInterruptWhileCallsRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		wait := call(func(ctx context.Context, in in, _ *tool.Context) (tool.Result[string], error) {
			select {
			case <-time.After(time.Minute):
				return tool.Done("finished"), nil
			case <-ctx.Done():
				return tool.Result[string]{}, ctx.Err()
			}
		})
		s := &script{turns: []turn{calls("Soft", "Hard", "Late"), says("I see")}}
		r := open(t, s, nil, named("Soft", all(wait, func(d *def) { d.Traits.Interrupt = tool.Cancel })), named("Hard", wait), named("Late", exclusive))
		go func() {
			time.Sleep(time.Second)
			r.Interrupt(message.UserText("stop that"))
		}()
		out := r.send(t)
		ids, texts := s.results(1)
		assert.Equal(t, []string{"c0", "c1", "c2"}, ids)
		assert.Contains(t, texts["c0"], "the user interrupted")
		assert.Equal(t, "finished", texts["c1"])
		assert.Contains(t, texts["c2"], "was not run")
		content := s.requests[1].Messages[2].Content
		assert.Equal(t, "stop that", content[len(content)-1].Text)
		assert.Equal(t, 2, out.Turns)
	})
}

func TestInterruptWhileTheModelStreams(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &script{turns: []turn{calls("Look a", "Look b"), says("I see")}, pause: time.Second}
		r := open(t, s, nil, named("Look", nil))
		go func() {
			time.Sleep(4500 * time.Millisecond) // the first call is complete, the second open
			r.Interrupt(message.UserText("wait"))
		}()
		r.send(t)
		ids, _ := s.results(1)
		assert.Equal(t, []string{"c0"}, ids, "what was complete counts, the rest is dropped")
		assert.Len(t, s.requests[1].Messages[1].Calls(), 1)
	})
}

func TestAnInterruptNeverGetsLost(t *testing.T) {
	t.Run("before anything is sent", func(t *testing.T) {
		s := &script{turns: []turn{says("hello")}}
		r := open(t, s, nil)
		r.Interrupt(message.UserText("early"))
		r.send(t)
		require.Len(t, s.requests[0].Messages, 1)
		assert.Equal(t, "early\ngo", message.PlainText(s.requests[0].Messages[0].Content))
	})
	t.Run("between a turn and the next", func(t *testing.T) {
		s := &script{turns: []turn{calls("Look"), says("not heard"), says("heard")}}
		var r *room
		r = open(t, s, func(c *loop.Config) {
			c.Served = func(context.Context) tool.Served { // asked for between two requests
				if len(s.requests) == 1 && r != nil && len(r.kinds(trace.KindInterrupt, "text")) == 0 {
					r.Interrupt(message.UserText("meanwhile"))
				}
				return tool.Served{}
			}
		}, named("Look", nil))
		out := r.send(t)
		last := s.requests[len(s.requests)-1].Messages
		assert.Contains(t, message.PlainText(last[len(last)-1].Content), "meanwhile")
		assert.Equal(t, "heard", message.PlainText(out.Final.Content))
	})
	t.Run("while servers are waited for", func(t *testing.T) {
		s := &script{turns: []turn{calls("Look"), says("not heard"), says("heard")}}
		var r *room
		r = open(t, s, func(c *loop.Config) {
			c.Served = func(ctx context.Context) tool.Served { // of which one hangs
				if len(s.requests) == 1 && len(r.kinds(trace.KindInterrupt, "text")) == 0 {
					r.Interrupt(message.UserText("enough"))
					<-ctx.Done()
				}
				return tool.Served{}
			}
		}, named("Look", nil))
		out := r.send(t)
		assert.Equal(t, "heard", message.PlainText(out.Final.Content))
	})
	t.Run("from any goroutine at any instant", func(t *testing.T) {
		var turns []turn
		for range 20 {
			turns = append(turns, calls("Look a", "Look b"))
		}
		for range 60 { // each interrupt may cost a turn
			turns = append(turns, says("done"))
		}
		s := &script{turns: turns}
		r := open(t, s, nil, named("Look", nil))
		var wg sync.WaitGroup
		for i := range 20 {
			wg.Go(func() { r.Interrupt(message.UserText(fmt.Sprintf("[%d]", i))) })
		}
		r.send(t)
		wg.Wait()
		r.send(t)
		var said strings.Builder
		for _, m := range r.History() {
			if m.Role == message.User {
				said.WriteString(message.PlainText(m.Content))
			}
		}
		for i := range 20 {
			assert.Equal(t, 1, strings.Count(said.String(), fmt.Sprintf("[%d]", i)))
		}
	})
}

// An abandoned stream is tried again; nothing of the first try is emitted and the
// state goes back (J5).
func TestFallbackStartsOver(t *testing.T) {
	cut := calls("Cd a", "Cd b")
	for name, first := range map[string]turn{
		"a stream that is cut":        cut[:5],
		"an error event":              append(append(turn{}, cut[:7]...), `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`),
		"a malformed event":           append(append(turn{}, cut[:7]...), `{"type":`),
		"an end without message_stop": cut[:len(cut)-1],
	} {
		t.Run(name, func(t *testing.T) {
			s := &script{turns: []turn{first, calls("Cd x"), says("done")}}
			r := open(t, s, func(c *loop.Config) { c.Retries = 1 }, named("Cd", cd))
			r.send(t)
			assert.Equal(t, "/repo/x", r.State().Dir)
			ids, texts := s.results(2)
			assert.Equal(t, []string{"c0"}, ids)
			assert.Equal(t, "/repo", texts["c0"], "the state is that before the first try")
			assert.Len(t, r.kinds(trace.KindFallback, "error"), 1)
			assert.Equal(t, s.requests[0].Messages, s.requests[1].Messages, "the same request again")
		})
	}
	t.Run("retries are used up", func(t *testing.T) {
		s := &script{turns: []turn{cut[:5], cut[:5]}}
		r := open(t, s, func(c *loop.Config) { c.Retries = 1 }, named("Cd", cd))
		_, err := r.Send(t.Context(), message.UserText("go"))
		require.ErrorIs(t, err, message.ErrIncomplete)
		assert.Equal(t, "/repo", r.State().Dir)
		assert.Len(t, r.History(), 1, "what was committed stays: the question")
	})
}

func TestCallCutOffNeverRuns(t *testing.T) {
	cut := calls("Look a", "Look b")
	cut = append(append(turn{}, cut[:6]...), `{"type":"message_delta","delta":{"stop_reason":"max_tokens"}}`, `{"type":"message_stop"}`)
	s := &script{turns: []turn{cut, says("done")}}
	r := open(t, s, nil, named("Look", nil))
	r.send(t)
	ids, _ := s.results(1)
	assert.Equal(t, []string{"c0"}, ids)
	assert.Equal(t, []string{"c1"}, r.kinds(trace.KindStreamCut, "id"))
}

func TestAbortStopsEverythingAndKeepsWhatIsKnown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		block := call(func(ctx context.Context, _ in, _ *tool.Context) (tool.Result[string], error) {
			<-ctx.Done()
			return tool.Result[string]{}, ctx.Err()
		})
		s := &script{turns: []turn{calls("Hang", "Hang")}}
		r := open(t, s, nil, named("Hang", all(block, exclusive)))
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		_, err := r.Send(ctx, message.UserText("go"))
		require.ErrorIs(t, err, context.DeadlineExceeded)
		history := r.History()
		require.Len(t, history, 3, "each committed call has its result")
		for _, b := range history[2].Results() {
			assert.Contains(t, message.PlainText(b.Content), "the conversation was stopped")
		}
	})
}

func TestAConversationThatNeverEndsIsEnded(t *testing.T) {
	s := &script{turns: []turn{calls("Look"), calls("Look"), calls("Look")}}
	r := open(t, s, func(c *loop.Config) { c.MaxTurns = 2 }, named("Look", nil))
	out, err := r.Send(t.Context(), message.UserText("go"))
	require.ErrorIs(t, err, loop.ErrTurns)
	assert.Equal(t, 2, out.Turns)

	s = &script{turns: slices.Repeat([]turn{calls("Look")}, 200)}
	out, err = open(t, s, nil, named("Look", nil)).Send(t.Context(), message.UserText("go"))
	require.ErrorIs(t, err, loop.ErrTurns)
	assert.Equal(t, 100, out.Turns, "the limit where none is given")
}

// A sub-agent has a state of its own; nothing flows back, and it ends with its
// parent's call (B4).
func TestSubAgents(t *testing.T) {
	agent := func(t *testing.T, report *tool.Report) *tool.Tool {
		return named("Agent", call(func(ctx context.Context, in in, c *tool.Context) (tool.Result[string], error) {
			got, err := c.Spawn(ctx, tool.Job{Prompt: in.Text, Isolate: func(s tool.State) tool.State { return s.WithDir(s.Dir + "/wt") }})
			if report != nil {
				*report = got
			}
			return tool.Done(got.Text), err
		}))
	}
	t.Run("a conversation of its own", func(t *testing.T) {
		var report tool.Report
		s := &script{turns: []turn{calls("Agent dig"), calls("Cd deep"), says("found it"), says("done")}}
		r := open(t, s, nil, agent(t, &report), named("Cd", cd))
		r.send(t)
		assert.Len(t, report.History, 4, "what it would be resumed with")
		assert.Equal(t, "/repo/wt/deep", report.State.Dir)
		report.History, report.State = nil, tool.State{}
		assert.Equal(t, tool.Report{Text: "found it", Turns: 2, Calls: 1}, report)
		assert.Equal(t, "/repo", r.State().Dir, "the child's modifier stays with the child")
		assert.Equal(t, "dig", message.PlainText(s.requests[1].Messages[0].Content))
		_, texts := s.results(2)
		assert.Equal(t, "/repo/wt", texts["c0"], "the child began in a state of its own")
		assert.Len(t, r.History(), 4, "and its messages are its own")
		agents := map[string]bool{}
		for _, e := range r.log.Events() {
			agents[e.Agent] = true
		}
		assert.Equal(t, map[string]bool{"": true, "agent_1": true}, agents)
	})
	t.Run("a denial count of its own", func(t *testing.T) {
		s := &script{turns: []turn{calls("Agent x"), says("child"), says("done")}}
		r := open(t, s, func(c *loop.Config) { c.State.Denials = permission.Denials{InRow: 2, Total: 5} }, agent(t, nil))
		r.send(t)
		var child string
		for _, e := range r.log.Events() {
			if e.Kind() == trace.KindState && e.Agent != "" {
				child = e.Get("state")
			}
		}
		assert.NotContains(t, child, "denials")
	})
	t.Run("stopping the parent stops the child", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			hang := named("Hang", call(func(ctx context.Context, _ in, _ *tool.Context) (tool.Result[string], error) {
				<-ctx.Done()
				return tool.Result[string]{}, ctx.Err()
			}))
			s := &script{turns: []turn{calls("Agent x"), calls("Hang")}}
			r := open(t, s, nil, agent(t, nil), hang)
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			_, err := r.Send(ctx, message.UserText("go"))
			require.ErrorIs(t, err, context.DeadlineExceeded)
		})
	})
	t.Run("a child that fails is the call's error", func(t *testing.T) {
		s := &script{turns: []turn{calls("Agent x"), {beginning}, says("done")}}
		r := open(t, s, nil, agent(t, nil))
		r.send(t)
		assert.Equal(t, []string{"c0 failed"}, r.kinds(trace.KindEnded, "status"))
	})
}

func TestDenialsAreCounted(t *testing.T) {
	s := &script{turns: []turn{calls("No", "No"), calls("Look"), calls("No"), says("done")}}
	r := open(t, s, nil, named("No", func(d *def) {
		d.Permit = func(in, *tool.Context) permission.Opinion { return permission.Opinion{Behaviour: permission.Deny} }
	}), named("Look", nil))
	r.send(t)
	assert.Equal(t, permission.Denials{InRow: 1, Total: 3}, r.State().Denials)
}

// Discovered tools are loaded from the next request on, and read back from the
// history by a session that begins with it (E6).
func TestDiscoverySurvivesARestart(t *testing.T) {
	searchTool := named(search.ToolName, call(func(ctx context.Context, in in, c *tool.Context) (tool.Result[string], error) {
		found, err := c.Search(ctx, in.Text, 5)
		return tool.Result[string]{Data: strings.Join(found.Names, ","), Observed: []tool.Observation{{Discovered: found.Names}}}, err
	}))
	rare := named("Rare", func(d *def) { d.Loading.Deferrable = true })
	s := &script{turns: []turn{calls("ToolSearch select:Rare"), says("done")}}
	r := open(t, s, nil, searchTool, rare)
	r.send(t)
	assert.Equal(t, []string{"ToolSearch"}, toolNames(s.requests[0]))
	assert.Contains(t, s.requests[0].Messages[0].Content[0].Text, "Rare", "its name stands before the conversation")
	assert.Equal(t, []string{"ToolSearch", "Rare"}, toolNames(s.requests[1]), "behind the cached prefix")
	assert.Equal(t, []string{"Rare"}, r.State().Discovered)

	raw, err := json.Marshal(r.History())
	require.NoError(t, err)
	var history []message.Message
	require.NoError(t, json.Unmarshal(raw, &history))
	again := &script{turns: []turn{says("hello")}}
	r = open(t, again, func(c *loop.Config) { c.History = history }, searchTool, rare)
	r.send(t)
	assert.Equal(t, []string{"ToolSearch", "Rare"}, toolNames(again.requests[0]))
}

func TestDeltaModeTellsWhatChanged(t *testing.T) {
	served := func(names ...string) (out []*tool.Tool) {
		for _, n := range names {
			out = append(out, named("mcp__s__"+n, func(d *def) { d.Origin = &tool.Origin{Server: "s", Tool: n} }))
		}
		return out
	}
	s := &script{turns: []turn{says("one"), says("two"), says("three")}}
	offer := served("a", "b")
	r := open(t, s, func(c *loop.Config) {
		c.Settings = c.Settings.With(settings.DeltaDiscovery)
		c.Served = func(context.Context) tool.Served { return tool.Served{Tools: offer} }
	}, named(search.ToolName, nil))
	r.send(t)
	offer = served("b", "c")
	r.send(t)
	r.send(t)
	last := func(n int) string {
		m := s.requests[n].Messages
		return message.PlainText(m[len(m)-1].Content)
	}
	assert.Contains(t, last(0), "+ mcp__s__a\n+ mcp__s__b")
	assert.Contains(t, last(1), "+ mcp__s__c\n- mcp__s__a")
	assert.NotContains(t, last(2), "system-reminder")
	assert.Equal(t, s.requests[0].Messages[0], s.requests[2].Messages[0], "the beginning stays as it was")
}

// The pool is assembled anew for every request, the automatic decision is made once
// (C1, D4).
func TestAServerThatArrivesLateFlipsNothing(t *testing.T) {
	big := strings.Repeat("long ", 50_000)
	var offer []*tool.Tool
	s := &script{turns: []turn{says("one"), says("two")}}
	r := open(t, s, func(c *loop.Config) {
		c.Settings.ToolSearch = settings.ToolSearch{Kind: settings.Auto, Percent: 10, Explicit: true}
		c.Served = func(context.Context) tool.Served { return tool.Served{Tools: offer} }
	}, named(search.ToolName, nil), named("Rare", func(d *def) { d.Loading.Deferrable = true }))
	r.send(t)
	offer = []*tool.Tool{named("mcp__s__big", func(d *def) { d.Origin = &tool.Origin{Server: "s", Tool: "big"}; d.Description = big })}
	r.send(t)
	assert.Equal(t, []string{"Rare"}, toolNames(s.requests[0]))
	assert.Equal(t, []string{"Rare", "mcp__s__big"}, toolNames(s.requests[1]))
	assert.Equal(t, s.requests[0].Tools[0], s.requests[1].Tools[0], "the prefix is the same, byte for byte")
}

func TestSessionsThatCannotWorkAreErrors(t *testing.T) {
	catalogue, err := pool.NewCatalogue(nil)
	require.NoError(t, err)
	good := loop.Config{Model: (&script{}).model, Catalogue: catalogue, Settings: settings.External()}
	good.Handlers.Clock = clock()
	_, err = loop.New(good)
	require.NoError(t, err)
	for says, change := range map[string]func(*loop.Config){
		"no model": func(c *loop.Config) { c.Model = nil }, "no catalogue": func(c *loop.Config) { c.Catalogue = nil },
		"clock": func(c *loop.Config) { c.Handlers.Clock.Sleep = nil }, "at least 1": func(c *loop.Config) { c.Settings.MaxConcurrency = 0 },
	} {
		bad := good
		change(&bad)
		_, err := loop.New(bad)
		require.ErrorIs(t, err, loop.ErrConfig)
		assert.ErrorContains(t, err, says)
	}
}

func TestWhetherAMessageWouldStopWhatRuns(t *testing.T) {
	for _, test := range []struct {
		calls []string
		want  bool
	}{{[]string{"Quick"}, true}, {[]string{"Quick", "Stubborn"}, false}, {[]string{"Stubborn"}, false}} {
		synctest.Test(t, func(t *testing.T) {
			var r *room
			var mu sync.Mutex
			var seen []bool
			look := call(func(context.Context, in, *tool.Context) (tool.Result[string], error) {
				time.Sleep(time.Second)
				would := r.Interruptible()
				mu.Lock()
				seen = append(seen, would)
				mu.Unlock()
				time.Sleep(time.Second)
				return tool.Done(""), nil
			})
			quick := named("Quick", all(look, func(d *def) { d.Traits.Interrupt = tool.Cancel }))
			model := &script{turns: []turn{calls(test.calls...), says("done")}}
			model.at = func(n, _ int) { assert.False(t, n == 1 && r.Interruptible(), "the model writes, and no call runs") }
			r = open(t, model, nil, quick, named("Stubborn", look))
			assert.False(t, r.Interruptible(), "nothing runs")
			r.send(t)
			assert.Len(t, seen, len(test.calls))
			assert.NotContains(t, seen, !test.want)
			assert.False(t, r.Interruptible())
		})
	}
}

// What stands behind a command's name is its own, on whatever line it begins, and what the
// session adds to a message is not written into the sender's.
func TestACommandsNameEndsAtABlank(t *testing.T) {
	for text, want := range map[string]string{"/check": "", "/check a b": "a b", "/check\na\nb": "a\nb", "/check\ta ": "a"} {
		var got []string
		s := &script{turns: []turn{says("done")}}
		r := open(t, s, func(c *loop.Config) {
			c.Commands = func(context.Context) []tool.Command {
				return []tool.Command{{Name: "check", Expand: func(_ context.Context, args string) (tool.Expansion, error) {
					got = append(got, args)
					return tool.Expansion{Blocks: []message.Block{message.Text("look")}}, nil
				}}}
			}
		})
		_, err := r.Send(t.Context(), message.UserText(text))
		require.NoError(t, err)
		assert.Equal(t, []string{want}, got, "%q", text)
	}
}

func TestASentMessageIsItsSenders(t *testing.T) {
	blocks := []message.Block{message.Text("go"), message.Text("mine")}
	r := open(t, &script{turns: []turn{says("done")}}, func(c *loop.Config) { c.Reminder = "be brief" })
	_, err := r.Send(t.Context(), message.Message{Role: message.User, Content: blocks[:1]})
	require.NoError(t, err)
	assert.Equal(t, message.Text("mine"), blocks[1])
}

func TestACommandThatFailsSendsNothing(t *testing.T) {
	broken := errors.New("it needs a file")
	s := &script{turns: []turn{says("done")}}
	r := open(t, s, func(c *loop.Config) {
		c.Commands = func(context.Context) []tool.Command {
			return []tool.Command{
				{Name: "check", Expand: func(context.Context, string) (tool.Expansion, error) { return tool.Expansion{}, broken }},
				{Name: "guard", Expand: func(context.Context, string) (tool.Expansion, error) {
					return tool.Expansion{Hooks: []tool.HookSpec{{Name: "g", Event: "PreToolUse", Command: "true"}}}, nil
				}},
			}
		}
	})
	_, err := r.Send(t.Context(), message.UserText("/check"))
	require.ErrorIs(t, err, broken)
	_, err = r.Send(t.Context(), message.UserText("/guard"))
	require.ErrorContains(t, err, "commands of hooks cannot be run here")
	assert.Empty(t, s.requests)
	assert.Empty(t, r.History())
}
