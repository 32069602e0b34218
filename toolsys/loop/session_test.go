package loop_test

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"toolbench/toolsys/hook"
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

// datas are the data of the events of one kind, in order.
func datas[T trace.Data](r *room) (all []T) {
	for _, e := range r.log.Events() {
		if d, ok := e.Data.(T); ok {
			all = append(all, d)
		}
	}
	return all
}

// The trace has how large each block, each request and each pool is.
func TestTheTraceCountsWhatIsSentAndRead(t *testing.T) {
	s := &script{turns: []turn{calls("Look abc"), says("done")}}
	r := open(t, s, nil, named("Look", nil), named("Other", nil))
	r.send(t)
	assert.Equal(t, []trace.BlockDone{{Type: message.TypeToolUse, Chars: len(`{"text":"abc"}`)}, {Type: message.TypeText, Chars: len("done")}}, datas[trace.BlockDone](r))
	requests := datas[trace.Request](r)
	require.Len(t, requests, 2)
	for i, sent := range requests {
		body, err := s.requests[i].Body()
		require.NoError(t, err)
		assert.Equal(t, trace.Request{Bytes: body.Len(), Messages: 1 + 2*i, Tools: 2, Model: "claude-sonnet-4-5"}, sent)
	}
	pools := datas[trace.Pool](r)
	require.Len(t, pools, 2)
	bytes := 0
	for _, d := range s.requests[0].Tools {
		bytes += len(d)
	}
	for _, p := range pools {
		assert.Equal(t, []string{"Look", "Other"}, p.Tools)
		assert.Equal(t, bytes, p.SentBytes)
		assert.Equal(t, bytes, p.WholeBytes)
	}
}

// What is deferred costs its announcement and no definition.
func TestTheTraceCountsADeferredToolByItsAnnouncement(t *testing.T) {
	s := &script{turns: []turn{says("done")}}
	r := open(t, s, func(c *loop.Config) {
		c.Settings.ToolSearch = settings.ToolSearch{Kind: settings.Always, Explicit: true}
	},
		named("Look", nil), named(search.ToolName, nil), named("Rare", func(d *def) { d.Loading.Deferrable = true }))
	r.send(t)
	bytes := len(s.requests[0].Messages[0].Content[0].Text)
	for _, d := range s.requests[0].Tools {
		bytes += len(d)
	}
	p := datas[trace.Pool](r)[0]
	assert.Equal(t, []string{"Rare"}, p.Deferred)
	assert.Equal(t, bytes, p.SentBytes)
}

// A call's start names what it touches, under every policy.
func TestTheTraceNamesWhatACallTouches(t *testing.T) {
	touching := func(d *def) {
		d.Traits.Effects = func(in in, _ *tool.Context) tool.Effects { return tool.Effects{Reads: []string{in.Text}} }
	}
	for _, policy := range []schedule.Policy{schedule.Serial, schedule.Batch, schedule.Streaming, schedule.Effects} {
		r := open(t, &script{turns: []turn{calls("Look /a"), says("done")}}, func(c *loop.Config) { c.Policy = policy }, named("Look", touching))
		r.send(t)
		assert.Equal(t, []trace.Started{{Touches: trace.Touches{Reads: []string{"/a"}}}}, datas[trace.Started](r), policy.String())
	}
}

// Each new attempt at a turn has its number.
func TestTheTraceNumbersAttempts(t *testing.T) {
	broken := turn{beginning, `{"type":"error","error":{"type":"overloaded_error","message":"busy"}}`}
	r := open(t, &script{turns: []turn{broken, broken, says("done")}}, func(c *loop.Config) { c.Retries = 2 })
	r.send(t)
	var attempts []int
	for _, f := range datas[trace.Fallback](r) {
		attempts = append(attempts, f.Attempt)
	}
	assert.Equal(t, []int{1, 2}, attempts)
}

// A cut is counted, and what stays keeps the numbers that its messages had.
func TestTheTraceCountsACut(t *testing.T) {
	var first []int
	look := named("Look", call(func(_ context.Context, _ in, c *tool.Context) (tool.Result[string], error) {
		first = append(first, c.FirstMessage)
		return tool.Done("seen"), nil
	}))
	r := open(t, &script{turns: []turn{calls("Look a"), calls("Look b"), calls("Look c"), says("done")}}, once(3, 2), look)
	r.send(t)
	assert.Equal(t, []trace.Compacted{{Cut: 3, Kept: 2}}, datas[trace.Compacted](r))
	assert.Equal(t, []int{1, 1, 3}, first, "the summary takes the number of the last message it stands for")
}

// A call that does not stop when it is asked to is left when the grace is over.
func TestACallThatDoesNotStopIsLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		deaf := named("Deaf", all(func(d *def) { d.Traits.Interrupt = tool.Cancel }, call(func(context.Context, in, *tool.Context) (tool.Result[string], error) {
			time.Sleep(time.Hour)
			return tool.Done("late"), nil
		})))
		s := &script{turns: []turn{calls("Deaf"), says("I see")}}
		r := open(t, s, func(c *loop.Config) { c.Grace = 5 * time.Second }, deaf)
		go func() {
			time.Sleep(time.Second)
			r.Interrupt(message.UserText("stop"))
		}()
		began := time.Now()
		r.send(t)
		assert.Equal(t, 6*time.Second, time.Since(began))
		_, texts := s.results(1)
		assert.NotContains(t, texts["c0"], "late")
		time.Sleep(time.Hour) // until it ends after all
	})
}

// The end of a call that was left is written down nowhere: the call has its result.
func TestTheEndOfACallThatWasLeftIsNotInTheJournal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		deaf := named("Deaf", all(func(d *def) { d.Traits.Interrupt = tool.Cancel }, call(func(context.Context, in, *tool.Context) (tool.Result[string], error) {
			time.Sleep(time.Hour)
			return tool.Done("late"), nil
		})))
		var mu sync.Mutex
		var kinds []loop.EntryKind
		r := open(t, &script{turns: []turn{calls("Deaf"), says("I see")}}, func(c *loop.Config) {
			c.Journal = func(e loop.Entry) error {
				mu.Lock()
				defer mu.Unlock()
				kinds = append(kinds, e.Kind)
				return nil
			}
		}, deaf)
		go func() {
			time.Sleep(time.Second)
			r.Interrupt(message.UserText("stop"))
		}()
		r.send(t)
		time.Sleep(time.Hour)
		assert.Contains(t, kinds, loop.CallStarted)
		assert.NotContains(t, kinds, loop.CallEnded)
	})
}

// A decision is that about the call, whatever becomes of the call.
func TestACallThatWasAllowedAndStoppedWasAllowed(t *testing.T) {
	var r *room
	stopped := named("Stopped", all(func(d *def) { d.Traits.Interrupt = tool.Cancel }, call(func(ctx context.Context, _ in, _ *tool.Context) (tool.Result[string], error) {
		r.Interrupt(message.UserText("stop"))
		<-ctx.Done()
		return tool.Result[string]{}, ctx.Err()
	})))
	barred := named("Barred", func(d *def) {
		d.Permit = func(in, *tool.Context) permission.Opinion { return permission.Opinion{Behaviour: permission.Deny} }
	})
	r = open(t, &script{turns: []turn{calls("Barred"), calls("Stopped"), says("done")}}, nil, stopped, barred)
	r.send(t)
	allowed := map[string]bool{}
	for _, d := range r.Decisions() {
		allowed[d.Tool] = d.Allowed
	}
	assert.Equal(t, map[string]bool{"Stopped": true, "Barred": false}, allowed)
	assert.Equal(t, []string{"1", "0", "0"}, r.kinds(trace.KindTurnEnd, "denied"))
}

// A conversation that ends with the user's message says so, although the stream named another reason.
func TestAnAnswerThatTheUserCutOffIsNoneThatEnded(t *testing.T) {
	s := &script{turns: []turn{says("a long story")}}
	var r *room
	s.at = func(_, i int) {
		if i == 5 {
			r.Interrupt(message.UserText("stop"))
		}
	}
	r = open(t, s, func(c *loop.Config) { c.MaxTurns = 1 })
	out, err := r.Send(t.Context(), message.UserText("go"))
	require.ErrorIs(t, err, loop.ErrTurns)
	assert.Equal(t, "interrupted", out.Stop)
	assert.Equal(t, "stop", message.PlainText(r.History()[len(r.History())-1].Content))
}

// A stream that makes no progress ends in an error of its own, whatever the client made of its end.
func TestAStreamThatFallsSilentIsNamedSo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := open(t, &script{turns: []turn{says("well")}, pause: time.Minute}, func(c *loop.Config) { c.Idle = time.Second })
		_, err := r.Send(t.Context(), message.UserText("go"))
		assert.ErrorIs(t, err, loop.ErrSilent)
	})
}

// A reminder goes out with results and with what the user adds, and not behind the last answer.
func TestAReminderGoesOutWithResults(t *testing.T) {
	s := &script{turns: []turn{calls("Look a"), says("done")}}
	r := open(t, s, func(c *loop.Config) { c.Reminder = "Be brief." }, named("Look", nil))
	r.send(t)
	content := s.requests[1].Messages[2].Content
	require.Len(t, content, 2)
	assert.Equal(t, "<system-reminder>Be brief.</system-reminder>", content[1].Text)
	assert.Len(t, r.History(), 4, "nothing follows the last answer")
}

// What the user adds where no call was made is reminded of as well.
func TestAReminderGoesOutWithWhatTheUserAdds(t *testing.T) {
	var r *room
	s := &script{turns: []turn{says("well"), says("done")}}
	s.at = func(n, i int) {
		if n == 0 && i == 5 {
			r.Interrupt(message.UserText("and now this"))
		}
	}
	r = open(t, s, func(c *loop.Config) { c.Reminder = "Be brief." })
	r.send(t)
	last := s.requests[1].Messages[len(s.requests[1].Messages)-1]
	assert.Equal(t, "and now this<system-reminder>Be brief.</system-reminder>", strings.ReplaceAll(message.PlainText(last.Content), "\n", ""))
}

// What an earlier reply named stands until another names it: where the model's code runs, and which reply was the last.
func TestWhatAReplyNamesStandsUntilAnotherNamesIt(t *testing.T) {
	first, second := calls("Look a"), calls("Look b")
	first[0] = `{"type":"message_start","message":{"id":"m1","model":"x","content":[],"container":{"id":"box"},"usage":{"input_tokens":3,"output_tokens":1}}}`
	second[0] = `{"type":"message_start","message":{"model":"x","content":[],"usage":{"input_tokens":3,"output_tokens":1}}}`
	third := calls("Look c")
	third[0] = strings.NewReplacer("m1", "m3", "box", "room").Replace(first[0])
	s := &script{turns: []turn{first, second, third, says("done")}}
	open(t, s, func(c *loop.Config) { c.Diagnose = true }, named("Look", nil)).send(t)
	for n, want := range []string{" ", "box m1", "box m1", "room m3"} {
		assert.Equal(t, want, s.requests[n].Container+" "+s.requests[n].Previous, n)
	}
}

// A hook that stops the turn gives the reason, and no answer in a form is owed after it.
func TestAHookThatStopsTheTurnGivesItsReason(t *testing.T) {
	stop, err := hook.New(clock(), hook.Hook{Name: "guard", Event: hook.PostToolUse, Run: func(context.Context, hook.Input) (hook.Output, error) {
		return hook.Output{Stop: true, Reason: "that is enough"}, nil
	}})
	require.NoError(t, err)
	answer := tool.Must(tool.Def[json.RawMessage, string]{Name: "Answer", Description: "Answers.", InputSchema: json.RawMessage(`{"type":"object"}`),
		Call: func(context.Context, json.RawMessage, *tool.Context) (tool.Result[string], error) {
			return tool.Done("taken"), nil
		}})
	catalogue, err := pool.NewCatalogue([]pool.Entry{{Name: "Answer", Tool: answer, Gate: pool.Gate{Special: true, Output: true}}, {Name: "Look", Tool: named("Look", nil)}})
	require.NoError(t, err)
	s := &script{turns: []turn{calls("Look a"), says("never asked for")}}
	r := open(t, s, func(c *loop.Config) {
		c.Catalogue, c.Handlers.Hooks, c.Output = catalogue, stop, json.RawMessage(`{"type":"object"}`)
	})
	out := r.send(t)
	assert.Equal(t, "hook", out.Stop)
	assert.Equal(t, "that is enough", out.Reason)
	assert.Len(t, s.requests, 1)
}

// A sub-agent's messages are its own, whatever its parent snipped of those of its own numbers.
func TestAChildsMessagesAreNotThoseThatItsParentSnipped(t *testing.T) {
	agent := named("Agent", call(func(ctx context.Context, in in, c *tool.Context) (tool.Result[string], error) {
		got, err := c.Spawn(ctx, tool.Job{Prompt: in.Text})
		return tool.Done(got.Text), err
	}))
	s := &script{turns: []turn{calls("Agent dig"), calls("Look a"), says("found"), says("done")}}
	r := open(t, s, func(c *loop.Config) {
		c.History = []message.Message{message.UserText("old"), {Role: message.Assistant, Content: []message.Block{message.Text("well")}}}
		c.State.Snipped = tool.Snips{Messages: []int{1, 2, 3}}
	}, agent, named("Look", nil))
	r.send(t)
	for _, request := range s.requests[1:3] {
		assert.Equal(t, "dig", message.PlainText(request.Messages[0].Content))
	}
	assert.Len(t, s.requests[2].Messages, 3)
}

// Thinking leaves room for a reply, and a budget that was chosen in the session is no adaptive one.
func TestThinkingIsWithinItsBounds(t *testing.T) {
	for budget, fits := range map[int]bool{0: true, 1023: false, 1024: true, 8191: true, 8192: false, -1: false} {
		catalogue, err := pool.NewCatalogue(nil)
		require.NoError(t, err)
		c := loop.Config{Model: (&script{}).model, Catalogue: catalogue, Settings: settings.External(), Thinking: message.Thinking{Budget: budget}}
		c.Handlers.Clock = clock()
		_, err = loop.New(c)
		assert.Equal(t, fits, err == nil, budget)
	}
	for option, want := range map[string]message.Thinking{
		"": {Adaptive: true}, "off": {}, "adaptive": {Adaptive: true}, "1024": {Budget: 1024}, "1023": {Adaptive: true}, "8192": {Adaptive: true}, "much": {Adaptive: true},
	} {
		s := &script{turns: []turn{says("done")}}
		open(t, s, func(c *loop.Config) {
			c.Thinking.Adaptive = true
			c.State = c.State.WithOption(tool.OptionThinking, option)
		}).send(t)
		assert.Equal(t, want, s.requests[0].Thinking, option)
	}
}

// What a program of the model's called is answered with results alone; what else there is
// goes out with the next message (E10).
func TestWhatGoesBesideAProgramsResultsWaits(t *testing.T) {
	bringing := named("Look", all(func(d *def) { d.Wire.Callers = []string{message.Direct, "code_execution_20250825"} }, call(func(_ context.Context, in in, _ *tool.Context) (tool.Result[string], error) {
		return tool.Result[string]{Data: in.Text, Messages: []message.Message{message.UserText("read on " + in.Text)}}, nil
	})))
	programs := calls("Look a")
	programs[1] = `{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"c0","name":"Look","input":{},"caller":{"type":"code_execution_20250825","tool_id":"srv"}}}`
	own := calls("Look b")
	own[1] = `{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"c1","name":"Look","input":{},"caller":{"type":"direct"}}}`
	s := &script{turns: []turn{programs, own, says("done")}}
	open(t, s, nil, bringing).send(t)
	assert.Len(t, s.requests[1].Messages[2].Content, 1)
	content := s.requests[2].Messages[4].Content
	require.Len(t, content, 3)
	assert.Equal(t, "read on a", content[1].Text)
	assert.Equal(t, "read on b", content[2].Text)
}

// What waited does not wait for a message that nobody would send: a last answer without calls is none
// while something is still to be read (E10).
func TestWhatWaitedIsReadBeforeTheEnd(t *testing.T) {
	bringing := named("Look", all(func(d *def) { d.Wire.Callers = []string{message.Direct, "code_execution_20250825"} }, call(func(_ context.Context, in in, _ *tool.Context) (tool.Result[string], error) {
		return tool.Result[string]{Data: in.Text, Messages: []message.Message{message.UserText("read on " + in.Text)}}, nil
	})))
	programs := calls("Look a")
	programs[1] = `{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"c0","name":"Look","input":{},"caller":{"type":"code_execution_20250825","tool_id":"srv"}}}`
	s := &script{turns: []turn{programs, says("well"), says("done")}}
	out := open(t, s, nil, bringing).send(t)
	assert.Equal(t, "done", message.PlainText(out.Final.Content))
	assert.Equal(t, "read on a", message.PlainText(lastOf(s, 2).Content))
}

// Blocks that are complete in another order than they stand in are answered as they stand (H5, O7).
func TestBlocksThatEndOutOfOrderAreAnsweredInOrder(t *testing.T) {
	t0 := calls("Look a", "Look b")
	text := []string{`{"type":"content_block_start","index":2,"content_block":{"type":"text","text":"x"}}`, `{"type":"content_block_stop","index":2}`}
	swapped := turn{t0[0], t0[1], t0[2], t0[4], t0[5], t0[6], text[0], text[1], t0[3], t0[7], t0[8]}
	s := &script{turns: []turn{swapped, says("done")}}
	open(t, s, nil, named("Look", nil)).send(t)
	ids, _ := s.results(1)
	assert.Equal(t, []string{"c0", "c1"}, ids)
}

// The folders that a call may work in are those of its own moment.
func TestACallSeesTheFoldersOfItsMoment(t *testing.T) {
	var roots [][]string
	grow := named("Grow", all(exclusive, call(func(_ context.Context, in in, c *tool.Context) (tool.Result[string], error) {
		roots = append(roots, c.Security.Roots)
		return tool.Result[string]{Data: "ok", Modify: func(st tool.State) tool.State {
			switch in.Text {
			case "root":
				st.Root, st.Dir = "/other", "/other"
			case "dir":
				st.Dir = "/repo/sub"
			case "extra":
				st.Extra = append(st.Extra, "/more")
			}
			return st
		}}, nil
	})))
	state := tool.State{Root: "/repo", Dir: "/repo"}
	want := [][]string{state.Roots()}
	state.Dir = "/repo/sub"
	want = append(want, state.Roots())
	state.Extra = []string{"/more"}
	want = append(want, state.Roots(), state.Roots())
	state.Root, state.Dir = "/other", "/other"
	want = append(want, state.Roots())
	open(t, &script{turns: []turn{calls("Grow dir", "Grow extra", "Grow", "Grow root", "Grow"), says("done")}}, nil, grow).send(t)
	assert.Equal(t, want, roots)
}

// A session that begins has nothing in its journal before its first message, and one that goes on
// has what it goes on from.
func TestAJournalBeginsWithWhatWasThere(t *testing.T) {
	for n, history := range [][]message.Message{nil, {message.UserText("before")}} {
		var kinds []loop.EntryKind
		open(t, &script{}, func(c *loop.Config) {
			c.History = history
			c.Journal = func(e loop.Entry) error { kinds = append(kinds, e.Kind); return nil }
		})
		assert.Len(t, kinds, n)
	}
}

// An answer whose calls had begun and left nothing to answer is no message of the user's.
func TestAnAnswerWithoutResultsIsReopenedAlone(t *testing.T) {
	history, _ := loop.Reopen([]loop.Entry{
		{Kind: loop.BlockDone, Block: &message.Block{Type: message.TypeToolUse, ID: "a", Name: "Pay", Input: []byte(`{}`)}},
		{Kind: loop.CallStarted, Call: "a"},
	})
	for _, m := range history {
		assert.NotEmpty(t, m.Content)
	}
}

// One call at once is enough for a session.
func TestOneCallAtOnceIsEnough(t *testing.T) {
	r := open(t, &script{turns: []turn{calls("Look a", "Look b"), says("done")}}, func(c *loop.Config) { c.Settings.MaxConcurrency = 1 }, named("Look", nil))
	assert.Equal(t, 2, r.send(t).Calls)
}

// answering is the tool through which an answer of a given form comes.
func answering(t *testing.T, s *script) *loop.Session {
	answer := tool.Must(tool.Def[json.RawMessage, string]{
		Name: "Answer", Description: "Answers.", InputSchema: json.RawMessage(`{"type":"object"}`),
		Traits: tool.Traits[json.RawMessage]{ReadOnly: tool.Always[json.RawMessage]},
		Call: func(_ context.Context, in json.RawMessage, _ *tool.Context) (tool.Result[string], error) {
			return tool.Result[string]{Modify: func(st tool.State) tool.State { st.Output = in; return st }}, nil
		},
	})
	catalogue, err := pool.NewCatalogue([]pool.Entry{{Name: "Answer", Tool: answer, Gate: pool.Gate{Special: true, Output: true}}})
	require.NoError(t, err)
	return open(t, s, func(c *loop.Config) {
		c.Catalogue, c.Output = catalogue, json.RawMessage(`{"type":"object","properties":{"text":{"type":"string"}}}`)
	}).Session
}

// An answer in a form is given to one message: the next one asks for its own.
func TestAnAnswerIsThatToItsOwnMessage(t *testing.T) {
	s := &script{turns: []turn{calls("Answer one"), says("done"), says("no"), calls("Answer two"), says("done")}}
	session := answering(t, s)
	for n, want := range []string{`{"text":"one"}`, `{"text":"two"}`} {
		out, err := session.Send(t.Context(), message.UserText("go"))
		require.NoError(t, err)
		assert.JSONEq(t, want, string(out.Output), n)
	}
	assert.Equal(t, []string{"Answer"}, toolNames(s.requests[0]))
}

// How often the model was asked for an answer to one message does not count for the next.
func TestEachMessagesAnswerIsAskedForTwice(t *testing.T) {
	s := &script{turns: []turn{says("no"), says("no"), calls("Answer one"), says("done"), says("no"), says("no"), calls("Answer two"), says("done")}}
	session := answering(t, s)
	for range 2 {
		_, err := session.Send(t.Context(), message.UserText("go"))
		require.NoError(t, err)
	}
	assert.Len(t, s.requests, 8)
}

// Where no form is asked for, the tool that gives an answer of one is not offered.
func TestWithoutAFormNoAnswerIsOffered(t *testing.T) {
	catalogue, err := pool.NewCatalogue([]pool.Entry{{Name: "Answer", Tool: named("Answer", nil), Gate: pool.Gate{Special: true, Output: true}}})
	require.NoError(t, err)
	s := &script{turns: []turn{says("done")}}
	open(t, s, func(c *loop.Config) { c.Catalogue = catalogue }).send(t)
	assert.Empty(t, toolNames(s.requests[0]))
}

// What a search on the API's side found can be called in the same message, and stays known (E10).
func TestWhatTheAPIFoundIsKnown(t *testing.T) {
	for _, found := range []string{`[{"type":"tool_reference","tool_name":"Rare"}]`, `[]`} {
		searched := calls("Rare a")
		searched = append(turn{searched[0],
			`{"type":"content_block_start","index":1,"content_block":{"type":"server_tool_use","id":"s","name":"tool_search_tool_regex","input":{}}}`, `{"type":"content_block_stop","index":1}`,
			`{"type":"content_block_start","index":2,"content_block":{"type":"tool_search_tool_result","tool_use_id":"s","content":{"type":"tool_search_tool_search_result","tool_references":` + found + `}}}`,
			`{"type":"content_block_stop","index":2}`}, searched[1:]...)
		s := &script{turns: []turn{searched, says("done")}}
		r := open(t, s, func(c *loop.Config) {
			c.Settings.ToolSearch = settings.ToolSearch{Kind: settings.Always, Explicit: true}
		},
			named(search.ToolName, nil), named("Rare", func(d *def) { d.Loading.Deferrable = true }))
		r.send(t)
		_, texts := s.results(1)
		if found == "[]" {
			assert.Empty(t, r.State().Discovered)
			continue
		}
		assert.Equal(t, []string{"Rare"}, r.State().Discovered)
		assert.Equal(t, "Rare a", texts["c0"])
	}
}

// An agent stands one below its parent, with the words of its kind.
func TestAnAgentIsOneBelow(t *testing.T) {
	var depths []int
	look := named("Look", call(func(_ context.Context, _ in, c *tool.Context) (tool.Result[string], error) {
		depths = append(depths, c.Chain.Depth)
		return tool.Done("seen"), nil
	}))
	agent := named("Agent", call(func(ctx context.Context, in in, c *tool.Context) (tool.Result[string], error) {
		got, err := c.Spawn(ctx, tool.Job{Prompt: "dig", Kind: tool.AgentKind{System: in.Text}})
		return tool.Done(got.Text), err
	}))
	s := &script{turns: []turn{calls("Agent", "Look"), calls("Look"), says("found"), calls("Agent digger"), says("none"), says("done")}}
	open(t, s, func(c *loop.Config) {
		c.Policy, c.System = schedule.Serial, []message.Block{message.Text("all")}
	}, agent, look).send(t)
	assert.Equal(t, []int{1, 0}, depths)
	var systems []string
	for _, req := range s.requests {
		systems = append(systems, message.PlainText(req.System))
	}
	assert.Equal(t, []string{"all", "all", "all", "all", "digger", "all"}, systems)
}

// A pause keeps what the API has begun and will go on with; an end has it dropped.
func TestAPauseKeepsWhatTheAPIBegan(t *testing.T) {
	for stop, want := range map[string]int{"pause_turn": 2, "end_turn": 1} {
		paused := turn{beginning, `{"type":"content_block_start","index":0,"content_block":{"type":"text","text":"x"}}`, `{"type":"content_block_stop","index":0}`,
			`{"type":"content_block_start","index":1,"content_block":{"type":"server_tool_use","id":"s","name":"web_search","input":{}}}`, `{"type":"content_block_stop","index":1}`,
			`{"type":"message_delta","delta":{"stop_reason":"` + stop + `"},"usage":{"output_tokens":5}}`, `{"type":"message_stop"}`}
		r := open(t, &script{turns: []turn{paused, says("done")}}, nil)
		r.send(t)
		assert.Len(t, r.History()[1].Content, want, stop)
	}
}

// An answer without content is no message.
func TestAnEmptyAnswerIsNoMessage(t *testing.T) {
	empty := turn{beginning, `{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":1}}`, `{"type":"message_stop"}`}
	r := open(t, &script{turns: []turn{empty}}, nil)
	r.send(t)
	assert.Len(t, r.History(), 1)
}

// A model that gives no answer in the form that is asked for is reminded twice.
func TestAnAnswerInAFormIsAskedForTwice(t *testing.T) {
	s := &script{turns: []turn{says("no"), says("no"), says("no"), says("no"), says("no")}}
	_, err := answering(t, s).Send(t.Context(), message.UserText("go"))
	require.ErrorIs(t, err, loop.ErrNoOutput)
	assert.Len(t, s.requests, 3)
}

// Definitions are deferred by themselves from a tenth of what the model reads at once: 20,000
// tokens, of four bytes each.
func TestDefinitionsAreDeferredFromATenth(t *testing.T) {
	for size, deferred := range map[int]bool{70_000: false, 90_000: true} {
		s := &script{turns: []turn{says("done")}}
		open(t, s, func(c *loop.Config) {
			c.Settings.ToolSearch = settings.ToolSearch{Kind: settings.Auto, Percent: 10, Explicit: true}
		}, named(search.ToolName, nil), named("Rare", func(d *def) {
			d.Loading.Deferrable, d.Description = true, strings.Repeat("wide ", size/5)
		})).send(t)
		assert.Equal(t, !deferred, slices.Contains(toolNames(s.requests[0]), "Rare"), size)
	}
}

// Calls that a call makes of its own are numbered from one; each sees what those before it changed, and
// what they changed and said stands in their order. A hook that stops the turn ends them.
func TestCallsOfACallStandInTheirOrder(t *testing.T) {
	step := named("Step", all(exclusive, func(d *def) {
		d.Permit = func(in, *tool.Context) permission.Opinion { return permission.Opinion{Behaviour: permission.Allow} }
	}, call(func(_ context.Context, in in, c *tool.Context) (tool.Result[string], error) {
		n := len(c.State.Todos)
		return tool.Result[string]{Messages: []message.Message{message.UserText("said " + in.Text)}, Modify: func(s tool.State) tool.State {
			s.Todos = append(s.Todos[:n:n], tool.Todo{Content: in.Text})
			return s
		}}, nil
	})))
	wrap := named("Wrap", all(exclusive, func(d *def) {
		d.Permit = func(in, *tool.Context) permission.Opinion { return permission.Opinion{Behaviour: permission.Allow} }
	}, call(func(ctx context.Context, _ in, c *tool.Context) (tool.Result[string], error) {
		report := c.Inner(ctx, func(done []tool.InnerResult) (tool.InnerCall, bool) {
			return tool.InnerCall{Tool: "Step", Input: json.RawMessage(`{"text":"` + "abc"[len(done):len(done)+1] + `"}`)}, len(done) < 2
		})
		return tool.Result[string]{Modify: report.Modify, Messages: report.Messages}, nil
	})))
	catalogue, err := pool.NewCatalogue([]pool.Entry{{Name: "Step", Tool: step, Repl: true}, {Name: "Wrap", Tool: wrap}})
	require.NoError(t, err)
	stop, err := hook.New(clock(), hook.Hook{Name: "guard", Event: hook.PostToolUse, Matcher: "Step", Run: func(context.Context, hook.Input) (hook.Output, error) {
		return hook.Output{Stop: true}, nil
	}})
	require.NoError(t, err)
	for want, hooks := range map[string]hook.Set{"ab": {}, "a": stop} {
		s := &script{turns: []turn{calls("Wrap"), says("done")}}
		r := open(t, s, func(c *loop.Config) { c.Catalogue, c.Handlers.Hooks = catalogue, hooks })
		r.send(t)
		todos, said, ids := "", "", ""
		for _, todo := range r.State().Todos {
			todos += todo.Content
		}
		for _, m := range r.History() {
			for _, b := range m.Content {
				if _, text, ok := strings.Cut(b.Text, "said "); ok {
					said += text
				}
			}
		}
		for _, e := range r.log.Events() {
			if e.Kind() == trace.KindStarted && e.Tool == "Step" {
				ids += " " + e.Call
			}
		}
		assert.Equal(t, []string{want, want, " c0.1 c0.2"[:5*len(want)]}, []string{todos, said, ids})
	}
}

// Of a system prompt in several blocks each counts for what a request carries beside its messages.
func TestEachBlockOfTheSystemPromptCounts(t *testing.T) {
	counted := map[string]int{}
	for name, system := range map[string][]message.Block{
		"none": nil, "one": {message.Text("Be brief.")}, "other": {message.Text("Answer in verse, and in no other way.")}, "both": {message.Text("Be brief."), message.Text("Answer in verse, and in no other way.")},
	} {
		look := named("Look", call(func(_ context.Context, _ in, c *tool.Context) (tool.Result[string], error) {
			counted[name] = c.Overhead().System
			return tool.Done(""), nil
		}))
		open(t, &script{turns: []turn{calls("Look"), says("done")}}, func(c *loop.Config) { c.System = system }, look).send(t)
	}
	assert.Zero(t, counted["none"])
	assert.Greater(t, counted["other"], counted["one"])
	assert.Equal(t, counted["one"]+counted["other"], counted["both"])
}
