package pipeline_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"toolbench/toolsys/hook"
	"toolbench/toolsys/message"
	"toolbench/toolsys/permission"
	"toolbench/toolsys/pipeline"
	"toolbench/toolsys/schedule"
	"toolbench/toolsys/tool"
	"toolbench/toolsys/trace"
)

func sorted(names []string) []string { return slices.Sorted(slices.Values(names)) }

// answers makes the person give these replies, one a question.
func (w *world) answers(replies ...pipeline.Reply) *[]pipeline.Question {
	var asked []pipeline.Question
	w.handlers.Ask = func(_ context.Context, q pipeline.Question) (pipeline.Reply, error) {
		asked = append(asked, q)
		return replies[len(asked)-1], nil
	}
	return &asked
}

func TestAskingAPerson(t *testing.T) {
	t.Run("a yes lets the call run, and the tool knows", func(t *testing.T) {
		w := newWorld(t)
		w.rule(permission.Ask, "Look")
		asked := w.answers(pipeline.Reply{Allow: true})
		approved := false
		call := w.def.Call
		w.def.Call = func(ctx context.Context, in in, c *tool.Context) (tool.Result[string], error) {
			approved = c.Approved
			return call(ctx, in, c)
		}
		assert.Equal(t, pipeline.OK, w.call(`{"path":"a"}`).Status)
		assert.True(t, approved)
		require.Len(t, *asked, 1)
		assert.Equal(t, "c1", (*asked)[0].CallID)
		assert.JSONEq(t, `{"path":"a"}`, string((*asked)[0].Input))
	})
	t.Run("a no refuses it, and counts", func(t *testing.T) {
		w := newWorld(t)
		w.rule(permission.Ask, "Look")
		w.answers(pipeline.Reply{Text: "rather not"})
		r := w.call(`{"path":"a"}`)
		assert.Equal(t, pipeline.Denied, r.Status)
		assert.Contains(t, text(r), "rather not")
		assert.True(t, r.Denied)
		assert.Empty(t, w.got)
	})
	t.Run("nobody there means no", func(t *testing.T) {
		w := newWorld(t)
		w.rule(permission.Ask, "Look")
		assert.Equal(t, pipeline.Denied, w.call(`{"path":"a"}`).Status)
		w.answers(pipeline.Reply{Allow: true})
		w.env.NonInteractive = true
		assert.Equal(t, pipeline.Denied, w.call(`{"path":"a"}`).Status)
	})
	t.Run("a question that fails means no", func(t *testing.T) {
		w := newWorld(t)
		w.rule(permission.Ask, "Look")
		w.handlers.Ask = func(context.Context, pipeline.Question) (pipeline.Reply, error) {
			return pipeline.Reply{Allow: true}, errors.New("the screen is gone")
		}
		r := w.call(`{"path":"a"}`)
		assert.Equal(t, pipeline.Denied, r.Status)
		assert.Contains(t, text(r), "the screen is gone")
	})
	t.Run("an answer that never comes ends with the call", func(t *testing.T) {
		w := newWorld(t)
		w.rule(permission.Ask, "Look")
		ctx, cancel := context.WithCancel(t.Context())
		w.handlers.Ask = func(ctx context.Context, _ pipeline.Question) (pipeline.Reply, error) {
			cancel()
			<-ctx.Done()
			return pipeline.Reply{Allow: true}, nil
		}
		r := w.callIn(ctx, pipeline.Call{ID: "c1", Name: "Look", Input: json.RawMessage(`{"path":"a"}`)})
		assert.Equal(t, pipeline.Aborted, r.Status)
		assert.Empty(t, w.got)
	})
}

// A rewritten input is checked again by schema, rules and safety (G2).
func TestRewrittenInputsAreCheckedAgain(t *testing.T) {
	rewrite := func(input string) hook.Output { return hook.Output{Input: json.RawMessage(input)} }
	t.Run("what a hook wrote is what runs", func(t *testing.T) {
		w := newWorld(t)
		w.onPre(rewrite(`{"path":"b"}`))
		assert.Equal(t, "saw b", text(w.call(`{"path":"a"}`)))
	})
	t.Run("by the schema", func(t *testing.T) {
		w := newWorld(t)
		w.onPre(rewrite(`{"path":7}`))
		r := w.call(`{"path":"a"}`)
		assert.Equal(t, pipeline.Invalid, r.Status)
		assert.Contains(t, text(r), "changed by a hook")
	})
	t.Run("by the tool", func(t *testing.T) {
		w := newWorld(t)
		w.onPre(rewrite(`{"path":"b"}`))
		w.def.Validate = func(in in, _ *tool.Context) *tool.Refusal {
			if in.Path == "b" {
				return &tool.Refusal{Message: "not b"}
			}
			return nil
		}
		assert.Equal(t, pipeline.Refused, w.call(`{"path":"a"}`).Status)
	})
	bySubject := func(w *world) {
		w.def.Subject = func(in in, _ *tool.Context) tool.Subject { return tool.Subject{Content: in.Path} }
	}
	t.Run("by the rules, whoever wrote it", func(t *testing.T) {
		w := newWorld(t)
		bySubject(w)
		w.rule(permission.Deny, "Look(secret)")
		w.onPre(rewrite(`{"path":"secret"}`))
		assert.Equal(t, pipeline.Denied, w.call(`{"path":"a"}`).Status)

		w = newWorld(t)
		bySubject(w)
		w.rule(permission.Deny, "Look(secret)")
		w.rule(permission.Ask, "Look(a)")
		w.answers(pipeline.Reply{Allow: true, Input: json.RawMessage(`{"path":"secret"}`)})
		assert.Equal(t, pipeline.Denied, w.call(`{"path":"a"}`).Status, "the person's too")

		w = newWorld(t)
		bySubject(w)
		w.rule(permission.Deny, "Look(secret)")
		w.def.Permit = func(in, *tool.Context) permission.Opinion {
			return permission.Opinion{Behaviour: permission.Allow, UpdatedInput: json.RawMessage(`{"path":"secret"}`)}
		}
		assert.Equal(t, pipeline.Denied, w.call(`{"path":"a"}`).Status, "the tool's too")
		assert.Empty(t, w.got)
	})
	t.Run("the person has the last word over a hook", func(t *testing.T) {
		w := newWorld(t)
		w.rule(permission.Ask, "Look")
		w.onPre(rewrite(`{"path":"hook"}`))
		asked := w.answers(pipeline.Reply{Allow: true, Input: json.RawMessage(`{"path":"person"}`)})
		assert.Equal(t, "saw person", text(w.call(`{"path":"a"}`)))
		require.Len(t, *asked, 1, "and is asked once")
		assert.JSONEq(t, `{"path":"hook"}`, string((*asked)[0].Input), "about what would run")
	})
	t.Run("the person is asked about what the tool's check wrote", func(t *testing.T) {
		for _, said := range []permission.Behaviour{permission.Ask, permission.Allow, permission.Passthrough} {
			w := newWorld(t)
			bySubject(w)
			w.rule(permission.Ask, "Look(secret)", "Look(a)")
			w.def.Permit = func(in, *tool.Context) permission.Opinion {
				return permission.Opinion{Behaviour: said, UpdatedInput: json.RawMessage(`{"path":"secret"}`)}
			}
			asked := w.answers(pipeline.Reply{Allow: true})
			r := w.call(`{"path":"a"}`)
			assert.Equal(t, "saw secret", text(r))
			require.Len(t, *asked, 1, said)
			assert.JSONEq(t, `{"path":"secret"}`, string((*asked)[0].Input), said)
			require.NotNil(t, (*asked)[0].Reason.Hit)
			assert.Equal(t, "secret", (*asked)[0].Reason.Hit.What, said)
			assert.Equal(t, permission.ByUser, r.Why.Kind)
			assert.Len(t, w.events(trace.KindDecision, ""), 1)
		}
	})
	t.Run("and is asked as often as before, but not about what may not be", func(t *testing.T) {
		for path, asks := range map[string]int{"plain": 1, "forbidden": 0} {
			w := newWorld(t)
			bySubject(w)
			w.rule(permission.Ask, "Look(a)")
			w.rule(permission.Deny, "Look(forbidden)")
			w.def.Permit = func(in, *tool.Context) permission.Opinion {
				return permission.Opinion{Behaviour: permission.Allow, UpdatedInput: json.RawMessage(`{"path":"` + path + `"}`)}
			}
			asked := w.answers(pipeline.Reply{Allow: true})
			assert.Equal(t, asks == 0, w.call(`{"path":"a"}`).Denied, path)
			assert.Len(t, *asked, asks, path)
		}
	})
	t.Run("a check that rewrites every time does so once", func(t *testing.T) {
		w := newWorld(t)
		w.def.Permit = func(in in, _ *tool.Context) permission.Opinion {
			raw, err := json.Marshal(map[string]string{"path": in.Path + "!"})
			require.NoError(t, err)
			return permission.Opinion{Behaviour: permission.Allow, UpdatedInput: raw}
		}
		assert.Equal(t, "saw a!", text(w.call(`{"path":"a"}`)))
	})
	t.Run("a call that is no longer safe waits for the floor, once", func(t *testing.T) {
		w := newWorld(t)
		w.def.Traits.Safe = func(in in) bool { return in.Path == "a" }
		w.rule(permission.Ask, "Look")
		w.answers(pipeline.Reply{Allow: true, Input: json.RawMessage(`{"path":"c"}`)})
		w.onPre(rewrite(`{"path":"b"}`))
		floors := 0
		w.alone = func(context.Context) error { floors++; return nil }
		assert.Equal(t, "saw c", text(w.call(`{"path":"a"}`)))
		assert.Equal(t, 1, floors)
		assert.Len(t, w.events(trace.KindEscalate, ""), 1)
	})
	t.Run("a call that stays safe does not", func(t *testing.T) {
		w := newWorld(t)
		w.onPre(rewrite(`{"path":"b"}`))
		w.alone = func(context.Context) error { t.Error("asked for the floor"); return nil }
		assert.Equal(t, "saw b", text(w.call(`{"path":"a"}`)))
	})
	t.Run("a call that never gets the floor says why", func(t *testing.T) {
		w := newWorld(t)
		w.def.Traits.Safe = func(in in) bool { return in.Path == "a" }
		w.onPre(rewrite(`{"path":"b"}`))
		w.alone = func(context.Context) error { return context.Canceled }
		assert.Equal(t, pipeline.Aborted, w.call(`{"path":"a"}`).Status)
		assert.Empty(t, w.got)
	})
}

// What is wrong with a call that a rule denies may be that a forbidden folder has a file of another name: only the denial is given.
func TestACallThatARuleDeniesIsNotRefusedForWhatTheToolSaw(t *testing.T) {
	for rule, want := range map[string]string{"": "no key; did you mean secret/prod.pem?", "Look(secret/*)": "was denied"} {
		w := newWorld(t)
		w.def.Subject = func(in in, _ *tool.Context) tool.Subject { return tool.Subject{Content: in.Path} }
		w.def.Validate = func(in, *tool.Context) *tool.Refusal {
			return &tool.Refusal{Message: "no key; did you mean secret/prod.pem?"}
		}
		if rule != "" {
			w.rule(permission.Deny, rule)
		}
		w.onPre(hook.Output{Decision: permission.Allow})
		r := w.call(`{"path":"secret/key"}`)
		assert.Contains(t, text(r), want)
		assert.Equal(t, rule == "", strings.Contains(text(r), "prod.pem"))
		assert.Empty(t, w.got)
	}
}

// Hooks and persons see the backfilled clone; the call gets the model's own input.
func TestObserversSeeDerivedMembersAndTheCallDoesNot(t *testing.T) {
	w := newWorld(t)
	w.def.Shaping.Backfill = func(raw map[string]any, _ *tool.Context) { raw["mode"] = "derived" }
	var seen string
	w.hook(hook.PreToolUse, func(in hook.Input) hook.Output { seen = string(in.Input); return hook.Output{} })
	w.call(`{"path":"a"}`)
	assert.JSONEq(t, `{"path":"a","mode":"derived"}`, seen)
	assert.Equal(t, []in{{Path: "a"}}, w.got)

	w.hook(hook.PreToolUse, func(in hook.Input) hook.Output { // sends back what it saw, one member changed
		var members map[string]any
		require.NoError(t, json.Unmarshal(in.Input, &members))
		members["path"] = "b"
		raw, err := json.Marshal(members)
		require.NoError(t, err)
		return hook.Output{Input: raw}
	})
	w.call(`{"path":"a"}`)
	assert.Equal(t, in{Path: "b"}, w.got[1], "a derived member that came back unchanged is not sent on")
}

func TestHooksAroundACall(t *testing.T) {
	t.Run("one that replaces the output, of any tool", func(t *testing.T) {
		w := newWorld(t)
		w.hook(hook.PostToolUse, func(in hook.Input) hook.Output {
			assert.Equal(t, "saw a", message.PlainText(in.Output))
			return hook.Output{Output: []message.Block{message.Text("redacted")}}
		})
		assert.Equal(t, "redacted", text(w.call(`{"path":"a"}`)))
	})
	t.Run("one that replaces the output, though the call is stopped meanwhile", func(t *testing.T) {
		w := newWorld(t)
		ctx, stop := context.WithCancelCause(t.Context())
		w.hook(hook.PostToolUse, func(hook.Input) hook.Output {
			stop(schedule.UserInterrupt)
			return hook.Output{Output: []message.Block{message.Text("redacted")}}
		})
		w.hook(hook.PostToolUse, func(in hook.Input) hook.Output {
			return hook.Output{Output: []message.Block{message.Text("still " + message.PlainText(in.Output))}}
		})
		assert.Equal(t, "still redacted", text(w.callIn(ctx, pipeline.Call{ID: "c1", Name: "Look", Input: json.RawMessage(`{"path":"a"}`), Turn: 1})))
	})
	t.Run("one for failures", func(t *testing.T) {
		w := newWorld(t)
		w.def.Call = func(context.Context, in, *tool.Context) (tool.Result[string], error) {
			return tool.Result[string]{}, errors.New("no luck")
		}
		var after string
		w.hook(hook.PostToolUseFailure, func(in hook.Input) hook.Output { after = in.Error; return hook.Output{} })
		w.hook(hook.PostToolUse, func(hook.Input) hook.Output { t.Error("not for failures"); return hook.Output{} })
		w.call(`{"path":"a"}`)
		assert.Equal(t, "no luck", after)
	})
	t.Run("one that ends the turn", func(t *testing.T) {
		w := newWorld(t)
		w.hook(hook.PostToolUse, func(hook.Input) hook.Output { return hook.Output{Stop: true, Reason: "enough"} })
		r := w.call(`{"path":"a"}`)
		assert.Equal(t, pipeline.OK, r.Status)
		assert.True(t, r.StopTurn)
		assert.Equal(t, "enough", r.Reason)
	})
	t.Run("one that ends the turn at the refusal of what a call led to", func(t *testing.T) {
		w := newWorld(t)
		w.hook(hook.PermissionDenied, func(hook.Input) hook.Output { return hook.Output{Stop: true, Reason: "enough"} })
		w.def.Permit = func(in in, _ *tool.Context) permission.Opinion {
			return permission.Opinion{Behaviour: map[bool]permission.Behaviour{true: permission.Deny, false: permission.Allow}[in.Path == "beside"]}
		}
		w.def.Call = func(ctx context.Context, _ in, c *tool.Context) (tool.Result[string], error) {
			allowed, _ := c.Running.MayAlso(ctx, "Look", in{Path: "beside"})
			assert.False(t, allowed)
			return tool.Done("left out"), nil
		}
		r := w.call(`{"path":"a"}`)
		assert.Equal(t, pipeline.OK, r.Status)
		assert.True(t, r.StopTurn)
		assert.Equal(t, "enough", r.Reason)
	})
	t.Run("what they add follows the results", func(t *testing.T) {
		w := newWorld(t)
		w.onPre(hook.Output{Context: "before"})
		w.hook(hook.PostToolUse, func(hook.Input) hook.Output { return hook.Output{Context: "after"} })
		w.def.Call = func(context.Context, in, *tool.Context) (tool.Result[string], error) {
			return tool.Result[string]{Data: "x", Messages: []message.Message{message.UserText("own")}}, nil
		}
		var said []string
		for _, m := range w.call(`{"path":"a"}`).Messages {
			said = append(said, message.PlainText(m.Content))
		}
		assert.Equal(t, []string{"own", "before", "after"}, said)
	})
	t.Run("one for refusals", func(t *testing.T) {
		w := newWorld(t)
		w.rule(permission.Deny, "Look")
		var after string
		w.hook(hook.PermissionDenied, func(in hook.Input) hook.Output { after = in.Error; return hook.Output{} })
		w.call(`{"path":"a"}`)
		assert.Contains(t, after, "deny rule Look")
	})
	t.Run("one whose condition speaks of this call, of another, or cannot be read", func(t *testing.T) {
		for condition, due := range map[string]bool{"Look": true, "Other": false, "Look(": true} {
			w := newWorld(t)
			w.onPre(hook.Output{Stop: true, Reason: "no"})
			w.hooks[0].If = condition
			assert.Equal(t, due, w.call(`{"path":"/repo/a"}`).Status == pipeline.Stopped, condition)
		}
	})
	t.Run("one whose condition speaks of what an earlier one made of the input, or may", func(t *testing.T) {
		for _, c := range []struct {
			rewritten, condition string
			due                  bool
		}{
			{"/repo/secret", "Look(/repo/secret)", true},
			{"/repo/b", "Look(/repo/secret)", false},
			{"/repo/b", "Look(/repo/a)", false},
			{"", "Look(/repo/a)", true},
			{"7", "Look(/repo/a)", true},
		} {
			w := newWorld(t)
			w.def.Subject = func(in in, _ *tool.Context) tool.Subject { return tool.Subject{Paths: []string{in.Path}} }
			switch c.rewritten {
			case "":
			case "7":
				w.onPre(hook.Output{Input: json.RawMessage(`{"path":7}`)})
			default:
				w.onPre(hook.Output{Input: json.RawMessage(`{"path":"` + c.rewritten + `"}`)})
			}
			w.onPre(hook.Output{Stop: true, Reason: "no"})
			w.hooks[len(w.hooks)-1].If = c.condition
			assert.Equal(t, c.due, w.call(`{"path":"/repo/a"}`).Status == pipeline.Stopped, "%+v", c)
		}
	})
	t.Run("one whose condition a command may get past, and which allows no more than it is about", func(t *testing.T) {
		for _, c := range []struct {
			parts            []permission.Part
			asked, permitted bool
		}{
			{[]permission.Part{{Text: "git push"}}, true, true},
			{[]permission.Part{{Text: "git push"}, {Text: "ls", ReadOnly: true}}, true, true},
			{[]permission.Part{{Text: "git push"}, {Text: "rm x"}}, true, false},
			{[]permission.Part{{Text: "git $x", Opaque: "a word is not literal"}}, true, false},
			{[]permission.Part{{Text: "rm x"}}, false, false},
		} {
			w := newWorld(t)
			w.def.Traits.ReadOnly = nil
			w.def.Subject = func(in, *tool.Context) tool.Subject {
				return tool.Subject{Shell: &permission.Shell{Known: true, Parts: c.parts}}
			}
			asked := false
			w.hook(hook.PreToolUse, func(hook.Input) hook.Output { asked = true; return hook.Output{Decision: permission.Allow} })
			w.hooks[0].If = "Look(git push)"
			assert.Equal(t, c.permitted, w.call(`{"path":"a"}`).Status == pipeline.OK, "%+v", c.parts)
			assert.Equal(t, c.asked, asked, "%+v", c.parts)
		}
	})
	t.Run("one for a server's tool that has a name of its own", func(t *testing.T) {
		w := newWorld(t)
		w.def.Origin = &tool.Origin{Server: "my files", Tool: "look"}
		w.onPre(hook.Output{Stop: true, Reason: "no"})
		w.hooks[0].Matcher = "mcp__my_files__*"
		assert.Equal(t, pipeline.Stopped, w.call(`{"path":"a"}`).Status)
	})
	t.Run("an allow skips the question, not the deny rule", func(t *testing.T) {
		w := newWorld(t)
		w.def.Traits.ReadOnly = nil
		w.onPre(hook.Output{Decision: permission.Allow})
		assert.Equal(t, pipeline.OK, w.call(`{"path":"a"}`).Status)
		w.rule(permission.Deny, "Look")
		assert.Equal(t, pipeline.Denied, w.call(`{"path":"a"}`).Status)
	})
}

// Members that only the permission layer may set never reach the tool from the
// model, even where its schema would let them; after approval they may (H3).
func TestInternalMembersComeFromThePermissionLayerOnly(t *testing.T) {
	internal := func(w *world) {
		w.def.Internal = []string{"mode"}
		w.def.Complete = func(i in, _ *tool.Context) (json.RawMessage, bool) {
			return json.RawMessage(`{"path":"` + i.Path + `","mode":"approved"}`), true
		}
	}
	t.Run("stripped from the model's input", func(t *testing.T) {
		w := newWorld(t)
		internal(w)
		w.call(`{"path":"a","mode":"forged"}`)
		assert.Equal(t, []in{{Path: "a"}}, w.got)
	})
	t.Run("stripped from a hook's", func(t *testing.T) {
		w := newWorld(t)
		internal(w)
		w.onPre(hook.Output{Input: json.RawMessage(`{"path":"b","mode":"forged"}`)})
		w.call(`{"path":"a"}`)
		assert.Equal(t, []in{{Path: "b"}}, w.got)
	})
	t.Run("added after a person's yes, and only then", func(t *testing.T) {
		w := newWorld(t)
		internal(w)
		w.rule(permission.Ask, "Look")
		w.answers(pipeline.Reply{Allow: true}, pipeline.Reply{})
		assert.Equal(t, pipeline.OK, w.call(`{"path":"a"}`).Status)
		assert.Equal(t, []in{{Path: "a", Mode: "approved"}}, w.got)
		assert.Equal(t, pipeline.Denied, w.call(`{"path":"a"}`).Status)
	})
}

func TestBlindCallsToDeferredToolsAreToldHowToLoadThem(t *testing.T) {
	const broken = `{"paht":"a"}`
	for name, c := range map[string]struct {
		deferring  bool
		discovered []string
		input      string
		hint       bool
	}{
		"a deferred tool, called blindly": {true, nil, broken, true},
		"a discovered one":                {true, []string{"Look"}, broken, false},
		"deferral off":                    {false, nil, broken, false},
		"an input that fits":              {true, nil, `{"path":"a"}`, false},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.def.Loading.Deferrable = true
			w.deferring, w.discovered = c.deferring, c.discovered
			assert.Equal(t, c.hint, strings.Contains(text(w.call(c.input)), "select:Look"))
		})
	}
}

func TestTheClassifierDelaysOnlyWhatItDecides(t *testing.T) {
	auto := func(w *world, verdict permission.Ruling) {
		w.env.Mode = permission.Auto
		w.def.Shaping.Classifier = func(in in) string { return in.Path }
		w.handlers.Classify = func(ctx context.Context, _, _ string) (permission.Verdict, error) {
			return permission.Verdict{Ruling: verdict, Text: "judged"}, w.handlers.Clock.Sleep(ctx, "judge", time.Minute)
		}
	}
	run := func(t *testing.T, verdict permission.Ruling, arrange func(*world)) (r *pipeline.Result, took time.Duration) {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t)
			auto(w, verdict)
			arrange(w)
			began := time.Now()
			ctx, cancel := context.WithCancel(t.Context())
			r = w.callIn(ctx, pipeline.Call{ID: "c1", Name: "Look", Input: json.RawMessage(`{"path":"a"}`)})
			took = time.Since(began)
			cancel()
		})
		return r, took
	}
	t.Run("what a hook allows does not wait", func(t *testing.T) {
		r, took := run(t, permission.Blocks, func(w *world) { w.onPre(hook.Output{Decision: permission.Allow}) })
		assert.Equal(t, pipeline.OK, r.Status)
		assert.Zero(t, took)
	})
	t.Run("what it clears runs", func(t *testing.T) {
		r, took := run(t, permission.Clears, func(w *world) { w.def.Traits.ReadOnly = nil })
		assert.Equal(t, pipeline.OK, r.Status)
		assert.Equal(t, time.Minute, took)
	})
	t.Run("what it blocks does not", func(t *testing.T) {
		r, _ := run(t, permission.Blocks, func(w *world) { w.def.Traits.ReadOnly = nil })
		assert.Equal(t, pipeline.Denied, r.Status)
		assert.Contains(t, text(r), "judged")
	})
	t.Run("no input for it skips it", func(t *testing.T) {
		_, took := run(t, permission.Blocks, func(w *world) { w.def.Shaping.Classifier = nil })
		assert.Zero(t, took)
	})
	t.Run("one that fails has no opinion, which means asking", func(t *testing.T) {
		r, _ := run(t, permission.Clears, func(w *world) {
			w.def.Traits.ReadOnly = nil
			w.handlers.Classify = func(context.Context, string, string) (permission.Verdict, error) { panic("x") }
			w.answers(pipeline.Reply{Text: "I say no"})
		})
		assert.Contains(t, text(r), "I say no")
	})
}

func TestResultsTooLargeGoToAFile(t *testing.T) {
	w := newWorld(t)
	fs := afero.NewMemMapFs()
	w.handlers.Budget = pipeline.NewLedger(pipeline.ResultStore{Save: func(file, text string) error { return afero.WriteFile(fs, file, []byte(text), 0o600) }, Dir: "/results"})
	w.def.Limits.ResultChars = 100
	w.call(`{"path":"` + strings.Repeat("x", 90) + `"}`)
	assert.Empty(t, w.events(trace.KindPersisted, "path"))
	r := w.call(`{"path":"` + strings.Repeat("x", 5000) + `"}`)
	paths := w.events(trace.KindPersisted, "path")
	require.Len(t, paths, 1)
	assert.Contains(t, text(r), paths[0])
	whole, err := afero.ReadFile(fs, paths[0])
	require.NoError(t, err)
	assert.Equal(t, "saw "+strings.Repeat("x", 5000), string(whole))
	assert.Equal(t, 100, r.Limit)
}

func TestAToolMayAskThePersonItself(t *testing.T) {
	w := newWorld(t)
	w.handlers.AskUser = func(_ context.Context, callID string, q []tool.Question) ([]tool.Answer, error) {
		return []tool.Answer{{Chosen: []string{callID, q[0].Text}}}, nil
	}
	var chosen []string
	w.def.Call = func(ctx context.Context, _ in, c *tool.Context) (tool.Result[string], error) {
		if c.AskUser == nil {
			return tool.Done("nobody"), nil
		}
		got, err := c.AskUser(ctx, []tool.Question{{Text: "which?"}})
		chosen = got[0].Chosen
		c.Notify("a door that is not there does no harm")
		return tool.Done("asked"), err
	}
	assert.Equal(t, "asked", text(w.call(`{"path":"a"}`)))
	assert.Equal(t, []string{"c1", "which?"}, chosen)
	w.env.NonInteractive = true
	assert.Equal(t, "nobody", text(w.call(`{"path":"a"}`)))
}

// Links are followed before rules are asked, and never for a UNC path (L6).
func TestRulesSpeakOfWhatALinkLeadsTo(t *testing.T) {
	w := newWorld(t)
	w.env.Roots = []string{"/repo"}
	w.def.Subject = func(in in, _ *tool.Context) tool.Subject { return tool.Subject{Paths: []string{in.Path}} }
	w.handlers.Resolve = func(path string) string {
		if strings.HasPrefix(path, `\\`) || strings.HasPrefix(path, "//") {
			t.Errorf("%s was looked at", path)
		}
		return strings.Replace(path, "/repo/link", "/etc", 1)
	}
	assert.Equal(t, pipeline.OK, w.call(`{"path":"/repo/a"}`).Status)
	assert.Equal(t, pipeline.Denied, w.call(`{"path":"/repo/link/passwd"}`).Status)
	assert.Equal(t, pipeline.Denied, w.call(`{"path":"//host/share"}`).Status)
}

// Who works in a worktree leaves the main tree as it is, by whatever link it is reached or named.
func TestTheMainTreeOfAWorktreeIsLeftAloneBehindALinkToo(t *testing.T) {
	write := tool.Must(tool.Def[in, string]{
		Name: "Put", Description: "Writes a file.", Traits: tool.Traits[in]{EditsFiles: true},
		Call:    func(context.Context, in, *tool.Context) (tool.Result[string], error) { return tool.Done("done"), nil },
		Subject: func(in in, _ *tool.Context) tool.Subject { return tool.Subject{Paths: []string{in.Path}} },
	})
	resolve := func(path string) string { return strings.Replace(path, "/link", "/real", 1) }
	for path, behaviour := range map[string]permission.Behaviour{
		"/link/a": permission.Deny, "/real/a": permission.Deny, "/real": permission.Deny, "/really/a": permission.Allow, "/wt/a": permission.Allow,
	} {
		c := &tool.Context{State: tool.State{Dir: "/wt", Root: "/wt", Worktree: &tool.Worktree{Dir: "/wt", Main: "/link"}}}
		c.Roots, c.Mode = []string{"/wt"}, permission.Bypass
		raw, err := json.Marshal(in{Path: path})
		require.NoError(t, err)
		d, _, err := pipeline.Decide(write, raw, c, resolve)
		require.NoError(t, err)
		assert.Equal(t, behaviour, d.Behaviour, path)
	}
}
