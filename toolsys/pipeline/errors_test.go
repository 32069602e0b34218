package pipeline_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"image"
	"image/color"
	"image/color/palette"
	"image/gif"
	"image/jpeg"
	"image/png"
	"io"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	"pgregory.net/rapid"

	_ "toolbench/property/seeded"
	"toolbench/toolsys/hook"
	"toolbench/toolsys/message"
	"toolbench/toolsys/permission"
	"toolbench/toolsys/pipeline"
	"toolbench/toolsys/schedule"
	"toolbench/toolsys/tool"
	"toolbench/toolsys/trace"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestACallGoesThroughItsStages(t *testing.T) {
	w := newWorld(t)
	r := w.call(`{"path":"a.go"}`)
	assert.Equal(t, pipeline.OK, r.Status)
	assert.Equal(t, "saw a.go", text(r))
	assert.Equal(t, message.ToolResult("c1", false, message.Text("saw a.go")), r.Block())
	assert.Equal(t, "Look", r.Tool)
	assert.Equal(t, tool.DefaultResultChars, r.Limit)
	assert.True(t, r.Allowed)
	assert.Equal(t, "find:ok schema:ok validate:ok classify:ok strip:ok pre_hooks:ok permission:ok run:ok post_hooks:ok block:ok", w.stages())
	assert.Equal(t, []string{"ok"}, w.events(trace.KindEnded, "status"))
}

// Each stage ends a call in its own way, with a status, words for the model and an
// event (H1, H2).
func TestEachStageHasItsOwnError(t *testing.T) {
	boom := errors.New("disk on fire")
	cases := []struct {
		name    string
		arrange func(*world)
		call    pipeline.Call
		status  pipeline.Status
		says    []string
		last    string // the last stage that was reached
	}{
		{"an unknown tool names the nearest", func(w *world) { w.nearest = func(string) []string { return []string{"Look", "Lock"} } },
			pipeline.Call{Name: "Loook"}, pipeline.Unknown, []string{`no tool named "Loook"`, "Look, Lock"}, "find:failed"},
		{"an unknown tool without neighbours", nil, pipeline.Call{Name: "X"}, pipeline.Unknown, []string{`"X"`}, "find:failed"},
		{"a name of any length is clipped", nil, pipeline.Call{Name: strings.Repeat("x", 9000)}, pipeline.Unknown, []string{"…"}, "find:failed"},
		{"an input that is no JSON", nil, pipeline.Call{Name: "Look", Input: json.RawMessage(`{}`), Invalid: `{"path":`}, pipeline.BadJSON, []string{"not a JSON object", `{"path":`}, "find:ok"},
		{"an input that breaks the schema", nil, pipeline.Call{Name: "Look", Input: json.RawMessage(`{"paht":1}`)}, pipeline.Invalid, []string{"path", "paht"}, "schema:failed"},
		{"an input the tool refuses", func(w *world) {
			w.def.Validate = func(in, *tool.Context) *tool.Refusal { return &tool.Refusal{Message: "no such file", Code: 4} }
		}, pipeline.Call{Name: "Look", Input: json.RawMessage(`{"path":"a"}`)}, pipeline.Refused, []string{"no such file (code 4)"}, "validate:refused"},
		{"a hook that stops the call", func(w *world) { w.onPre(hook.Output{Stop: true, Reason: "not today"}) },
			pipeline.Call{Name: "Look", Input: json.RawMessage(`{"path":"a"}`)}, pipeline.Stopped, []string{"h1", "not today"}, "pre_hooks:stopped"},
		{"a rule that denies", func(w *world) { w.rule(permission.Deny, "Look") },
			pipeline.Call{Name: "Look", Input: json.RawMessage(`{"path":"a"}`)}, pipeline.Denied, []string{"denied", "deny rule Look"}, "permission:denied"},
		{"an error of the tool", func(w *world) {
			w.def.Call = func(context.Context, in, *tool.Context) (tool.Result[string], error) {
				return tool.Result[string]{}, boom
			}
		}, pipeline.Call{Name: "Look", Input: json.RawMessage(`{"path":"a"}`)}, pipeline.Failed, []string{"disk on fire"}, "block:ok"},
		{"a failure the tool reports", func(w *world) {
			w.def.Call = func(context.Context, in, *tool.Context) (tool.Result[string], error) {
				return tool.Result[string]{Data: "exit 2", Failed: true}, nil
			}
		}, pipeline.Call{Name: "Look", Input: json.RawMessage(`{"path":"a"}`)}, pipeline.Failed, []string{"exit 2"}, "block:ok"},
		{"a panic of the tool", func(w *world) {
			w.def.Call = func(context.Context, in, *tool.Context) (tool.Result[string], error) { panic("boom") }
		}, pipeline.Call{Name: "Look", Input: json.RawMessage(`{"path":"a"}`)}, pipeline.Panicked, []string{"boom"}, "block:ok"},
		{"a panic of a stage", func(w *world) { w.def.Subject = func(in, *tool.Context) tool.Subject { panic("boom") } },
			pipeline.Call{Name: "Look", Input: json.RawMessage(`{"path":"a"}`)}, pipeline.Panicked, []string{"boom"}, "pre_hooks:ok"},
		{"a time limit", func(w *world) {
			w.def.Limits.Timeout = func(in) time.Duration { return time.Millisecond }
			w.def.Call = func(ctx context.Context, _ in, _ *tool.Context) (tool.Result[string], error) {
				<-ctx.Done()
				return tool.Result[string]{}, ctx.Err()
			}
		}, pipeline.Call{Name: "Look", Input: json.RawMessage(`{"path":"a"}`)}, pipeline.TimedOut, []string{"time limit of 1ms"}, "block:ok"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t)
			if c.arrange != nil {
				c.arrange(w)
			}
			c.call.ID = "c1"
			r := w.callIn(t.Context(), c.call)
			assert.Equal(t, c.status, r.Status)
			assert.True(t, r.Error)
			assert.Equal(t, "c1", r.CallID)
			for _, s := range c.says {
				assert.Contains(t, text(r), s)
			}
			assert.Less(t, len(text(r)), 1000)
			assert.True(t, strings.HasSuffix(w.stages(), c.last), w.stages())
			assert.Equal(t, []string{string(c.status)}, w.events(trace.KindEnded, "status"), "exactly one end")
			assert.False(t, r.Fails, "only tools that say so stop their siblings")
		})
	}
}

// touchy panics when it is read.
type touchy struct{}

func (*touchy) UnmarshalJSON([]byte) error { panic("cannot stand being read") }

func TestATypeThatPanicsWhileItIsReadIsTheCallsResult(t *testing.T) {
	w := newWorld(t)
	w.def.InputSchema = json.RawMessage(`{"type":"object"}`)
	p, env := w.pipeline()
	bad := *mustFind(t, env, "Look")
	bad.Parse = tool.Must(tool.Def[struct{ X touchy }, string]{
		Name: "X", Description: "x", InputSchema: json.RawMessage(`{"type":"object"}`),
		Call: func(context.Context, struct{ X touchy }, *tool.Context) (tool.Result[string], error) {
			return tool.Done(""), nil
		},
	}).Parse
	*mustFind(t, env, "Look") = bad
	pre := p.Prepare(pipeline.Call{ID: "c1", Name: "Look", Input: json.RawMessage(`{"X":1}`)}, env)
	assert.False(t, pre.Safe, "it is exclusive")
	r := p.Run(t.Context(), pre, env, control{alone: w.alone, begin: func() {}})
	assert.Equal(t, pipeline.Panicked, r.Status)
	assert.Contains(t, text(r), "cannot stand being read")
}

func mustFind(t *testing.T, env *pipeline.Env, name string) *tool.Tool {
	found, ok := env.Snapshot.Pool.Find(name)
	require.True(t, ok)
	return found
}

func TestSafetyIsAskedOfTheTool(t *testing.T) {
	for name, c := range map[string]struct {
		arrange func(*world)
		call    pipeline.Call
		safe    bool
	}{
		"a safe call":               {nil, pipeline.Call{Name: "Look", Input: json.RawMessage(`{"path":"a"}`)}, true},
		"an unknown tool":           {nil, pipeline.Call{Name: "X", Input: json.RawMessage(`{}`)}, false},
		"a broken input":            {nil, pipeline.Call{Name: "Look", Input: json.RawMessage(`{}`)}, false},
		"bad JSON":                  {nil, pipeline.Call{Name: "Look", Input: json.RawMessage(`{}`), Invalid: "x"}, false},
		"a predicate that panics":   {func(w *world) { w.def.Traits.Safe = func(in) bool { panic("x") } }, pipeline.Call{Name: "Look", Input: json.RawMessage(`{"path":"a"}`)}, false},
		"a tool that says no":       {func(w *world) { w.def.Traits.Safe = nil }, pipeline.Call{Name: "Look", Input: json.RawMessage(`{"path":"a"}`)}, false},
		"it depends upon the input": {func(w *world) { w.def.Traits.Safe = func(in in) bool { return in.Path != "a" } }, pipeline.Call{Name: "Look", Input: json.RawMessage(`{"path":"a"}`)}, false},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			if c.arrange != nil {
				c.arrange(w)
			}
			p, env := w.pipeline()
			assert.Equal(t, c.safe, p.Prepare(c.call, env).Safe)
			if name == "a predicate that panics" {
				assert.Equal(t, []string{"safe"}, w.events(trace.KindPredicate, "predicate"), "the trace says so (A5)")
			}
		})
	}
}

// Every cause of a stop has its own words, for calls that ran and for calls that
// did not.
func TestStopsAreToldApart(t *testing.T) {
	for cause, want := range map[schedule.Cause]struct {
		status pipeline.Status
		says   string
	}{
		schedule.SiblingFailed:   {pipeline.Cancelled, "another call of the same message failed"},
		schedule.UserInterrupt:   {pipeline.Interrupted, "the user interrupted"},
		schedule.SessionAborted:  {pipeline.Aborted, "the conversation was stopped"},
		schedule.StreamAbandoned: {pipeline.Discarded, "was discarded"},
		schedule.Vanished:        {pipeline.Panicked, "without a result"},
	} {
		t.Run(cause.String(), func(t *testing.T) {
			w := newWorld(t)
			w.def.Limits.ResultChars = 700
			p, env := w.pipeline()
			pre := p.Prepare(pipeline.Call{ID: "c1", Name: "Look", Input: json.RawMessage(`{"path":"a"}`)}, env)
			answered := p.Answer(pre, cause)
			assert.Equal(t, 700, answered.Limit)
			assert.Equal(t, want.status, answered.Status)
			assert.Contains(t, text(answered), want.says)

			ctx, cancel := context.WithCancelCause(t.Context())
			cancel(cause)
			w.def.Call = func(ctx context.Context, _ in, _ *tool.Context) (tool.Result[string], error) {
				t.Error("a call that is stopped already does not run")
				return tool.Result[string]{}, nil
			}
			stopped := w.callIn(ctx, pre.Call)
			assert.Equal(t, want.status, stopped.Status)
			assert.True(t, stopped.Error)
		})
	}
}

func TestARunningCallThatIsStoppedKeepsWhatItLearned(t *testing.T) {
	w := newWorld(t)
	ctx, cancel := context.WithCancelCause(t.Context())
	posts := 0
	w.hook(hook.PostToolUseFailure, func(hook.Input) hook.Output { posts++; return hook.Output{} })
	w.def.Call = func(ctx context.Context, _ in, _ *tool.Context) (tool.Result[string], error) {
		cancel(schedule.SiblingFailed)
		return tool.Result[string]{Observed: []tool.Observation{tool.Seen("/a", nil)}}, ctx.Err()
	}
	r := w.callIn(ctx, pipeline.Call{ID: "c1", Name: "Look", Input: json.RawMessage(`{"path":"a"}`)})
	assert.Equal(t, pipeline.Cancelled, r.Status)
	assert.Contains(t, text(r), "was stopped before it finished")
	assert.Len(t, r.Observed, 1)
	assert.Zero(t, posts, "nothing more is done for a call that was stopped from outside")
}

func TestACallThatEndsDespiteBeingStoppedKeepsItsResult(t *testing.T) {
	w := newWorld(t)
	ctx, cancel := context.WithCancelCause(t.Context())
	w.def.Call = func(context.Context, in, *tool.Context) (tool.Result[string], error) {
		cancel(schedule.UserInterrupt)
		return tool.Done("written"), nil
	}
	r := w.callIn(ctx, pipeline.Call{ID: "c1", Name: "Look", Input: json.RawMessage(`{"path":"a"}`)})
	assert.Equal(t, pipeline.OK, r.Status)
	assert.Equal(t, "written", text(r), "what happened is what the model is told")
}

// Only a tool that says so stops its siblings, and only by failing itself (J3).
func TestWhichFailuresStopSiblings(t *testing.T) {
	run := func(arrange func(*world)) *pipeline.Result {
		w := newWorld(t)
		w.def.Traits.FailureStopsSiblings = true
		arrange(w)
		return w.call(`{"path":"a"}`)
	}
	call := func(r tool.Result[string], err error) func(*world) {
		return func(w *world) {
			w.def.Call = func(context.Context, in, *tool.Context) (tool.Result[string], error) { return r, err }
		}
	}
	assert.True(t, run(call(tool.Result[string]{Failed: true}, nil)).Fails)
	assert.True(t, run(call(tool.Result[string]{}, errors.New("no start"))).Fails)
	assert.True(t, run(func(w *world) {
		w.def.Call = func(context.Context, in, *tool.Context) (tool.Result[string], error) { panic("x") }
	}).Fails)
	assert.False(t, run(call(tool.Done("ok"), nil)).Fails)
	assert.False(t, run(func(w *world) { w.rule(permission.Deny, "Look") }).Fails, "a denial")
	assert.False(t, run(func(w *world) {
		w.def.Validate = func(in, *tool.Context) *tool.Refusal { return &tool.Refusal{} }
	}).Fails, "a validation error")
}

func TestProgressFlowsWhileTheCallRunsAndNeverAfter(t *testing.T) {
	w := newWorld(t)
	var late func(string)
	w.def.Call = func(_ context.Context, _ in, c *tool.Context) (tool.Result[string], error) {
		c.Progress("half")
		late = c.Progress
		return tool.Done("x"), nil
	}
	w.call(`{"path":"a"}`)
	late("too late")
	assert.Equal(t, []string{"half"}, w.events(trace.KindProgress, "text"))
}

// With goroutines that go on reporting, the end is still the last that is seen.
func TestProgressRacesWithTheEndAndLoses(t *testing.T) {
	w := newWorld(t)
	var left []chan struct{}
	w.def.Call = func(_ context.Context, _ in, c *tool.Context) (tool.Result[string], error) {
		done, began := make(chan struct{}), make(chan struct{})
		left = append(left, done)
		go func() {
			defer close(done)
			close(began)
			for range 200 {
				c.Progress("still here")
				runtime.Gosched()
			}
		}()
		<-began
		return tool.Done("x"), nil
	}
	for range 50 {
		w.call(`{"path":"a"}`)
	}
	for _, done := range left {
		<-done
	}
	running := false
	for _, e := range w.log.Events() {
		switch {
		case e.Kind() == trace.KindStage && e.Get("stage") == "permission":
			running = true
		case e.Kind() == trace.KindStage && e.Get("stage") == "run":
			running = false
		case e.Kind() == trace.KindProgress:
			require.True(t, running)
		}
	}
}

func TestAToolThatWantsAHeartbeatHasOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.def.Limits.Heartbeat = 2 * time.Second
		w.def.Call = func(context.Context, in, *tool.Context) (tool.Result[string], error) {
			time.Sleep(5 * time.Second)
			return tool.Done("x"), nil
		}
		w.call(`{"path":"a"}`)
		time.Sleep(time.Minute)
		assert.Equal(t, []string{"running for 2s", "running for 4s"}, w.events(trace.KindProgress, "text"))
	})
}

func TestOnlyTheRunCountsAgainstTheTimeLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.rule(permission.Ask, "Look")
		w.def.Limits.Timeout = func(in) time.Duration { return time.Second }
		w.handlers.Ask = func(context.Context, pipeline.Question) (pipeline.Reply, error) {
			time.Sleep(time.Hour)
			return pipeline.Reply{Allow: true}, nil
		}
		r := w.call(`{"path":"a"}`)
		assert.Equal(t, pipeline.OK, r.Status)
		assert.Equal(t, []string{"", "3600000000"}, w.events(trace.KindAsk, "waited_us"))
		for _, took := range w.events(trace.KindStage, "took_us") {
			assert.Equal(t, "0", took, "no stage is charged with a person's time (H1)")
		}
	})
}

// Whatever goes wrong, and wherever, a call has exactly one result and one end (H2).
func TestPropertyExactlyOneResult(t *testing.T) {
	faults := map[string]func(*world){
		"none":     func(*world) {},
		"validate": func(w *world) { w.def.Validate = func(in, *tool.Context) *tool.Refusal { panic("x") } },
		"permit":   func(w *world) { w.def.Permit = func(in, *tool.Context) permission.Opinion { panic("x") } },
		"subject":  func(w *world) { w.def.Subject = func(in, *tool.Context) tool.Subject { panic("x") } },
		"backfill": func(w *world) { w.def.Shaping.Backfill = func(map[string]any, *tool.Context) { panic("x") } },
		"call": func(w *world) {
			w.def.Call = func(context.Context, in, *tool.Context) (tool.Result[string], error) { panic("x") }
		},
		"block":     func(w *world) { w.def.Block = func(string) []message.Block { panic("x") } },
		"read-only": func(w *world) { w.def.Traits.ReadOnly = func(in) bool { panic("x") } },
		"safe":      func(w *world) { w.def.Traits.Safe = func(in) bool { panic("x") } },
		"ask": func(w *world) {
			w.handlers.Ask = func(context.Context, pipeline.Question) (pipeline.Reply, error) { panic("x") }
		},
		"classifier":     func(w *world) { w.def.Shaping.Classifier = func(in) string { panic("x") } },
		"pre hook":       func(w *world) { w.hook(hook.PreToolUse, func(hook.Input) hook.Output { panic("x") }) },
		"post hook":      func(w *world) { w.hook(hook.PostToolUse, func(hook.Input) hook.Output { panic("x") }) },
		"hook rewrites":  func(w *world) { w.onPre(hook.Output{Input: json.RawMessage(`{"path":7}`)}) },
		"denied":         func(w *world) { w.rule(permission.Deny, "Look") },
		"asked":          func(w *world) { w.rule(permission.Ask, "Look") },
		"exclusive":      func(w *world) { w.def.Traits.Safe = nil },
		"not read-only":  func(w *world) { w.def.Traits.ReadOnly = nil },
		"auto mode":      func(w *world) { w.env.Mode = permission.Auto },
		"nobody answers": func(w *world) { w.env.NonInteractive = true },
	}
	var names []string
	for name := range faults {
		names = append(names, name)
	}
	inputs := []string{`{"path":"a"}`, `{}`, `{"path":"a","mode":"b"}`, `[]`, `{"path":null}`}
	rapid.Check(t, func(rt *rapid.T) {
		w := newWorld(t)
		for _, name := range rapid.SliceOfN(rapid.SampledFrom(sorted(names)), 0, 4).Draw(rt, "faults") {
			faults[name](w)
		}
		r := w.callIn(t.Context(), pipeline.Call{ID: "c1", Name: "Look", Input: json.RawMessage(rapid.SampledFrom(inputs).Draw(rt, "input"))})
		require.NotEmpty(rt, r.Status)
		require.Equal(rt, message.TypeToolResult, r.Block().Type)
		require.Equal(rt, "c1", r.CallID)
		require.Equal(rt, r.Status != pipeline.OK, r.Error)
		require.Len(rt, w.events(trace.KindEnded, "status"), 1)
		require.LessOrEqual(rt, len(w.got), 1)
	})
}

// No API takes an empty text: a tool, or a hook in its place, that answers with nothing
// leaves a result without a block.
func TestAnEmptyTextIsNoBlockOfAResult(t *testing.T) {
	w := newWorld(t)
	w.def.Call = func(context.Context, in, *tool.Context) (tool.Result[string], error) { return tool.Done(""), nil }
	r := w.call(`{"path":"a.go"}`)
	assert.Equal(t, pipeline.OK, r.Status)
	assert.Empty(t, r.Content)

	w.def.Block = func(string) []message.Block {
		return []message.Block{message.Text(""), message.Text("b"), message.Text("")}
	}
	assert.Equal(t, []message.Block{message.Text("b")}, w.call(`{"path":"a.go"}`).Content)
}

// An API refuses an image or a document that is none, and with it the conversation from then on.
func TestWhatCannotBeShownIsDescribed(t *testing.T) {
	coloured := func(encode func(io.Writer, image.Image) error, side int) string {
		var b bytes.Buffer
		require.NoError(t, encode(&b, image.NewPaletted(image.Rect(0, 0, side, 1), palette.Plan9)))
		return b.String()
	}
	dot := coloured(png.Encode, 1)
	jpg := coloured(func(w io.Writer, m image.Image) error { return jpeg.Encode(w, m, nil) }, 1)
	var grey bytes.Buffer
	require.NoError(t, png.Encode(&grey, image.NewGray(image.Rect(0, 0, 1, 1))))
	wide := grey.String()[:16] + "\x00\x00\xfa\x01\x00\x00\x03\xe8" + grey.String()[24:29]
	wide += string(binary.BigEndian.AppendUint32(nil, crc32.ChecksumIEEE([]byte(wide[12:]))))
	const webp, pdf = "RIFF\x24\x00\x00\x00WEBPVP8 ", "%PDF-1.7"
	coded := func(data string) string { return base64.StdEncoding.EncodeToString([]byte(data)) }
	w := newWorld(t)
	for _, c := range []struct {
		block message.Block
		want  string // the type that it is shown as, or why it is not
	}{
		{message.Image("image/png", coded(dot)), "image/png"},
		{message.Image("image/png", coded(jpg)), "image/jpeg"},
		{message.Image("image/png", coded(coloured(func(w io.Writer, m image.Image) error { return gif.Encode(w, m, nil) }, 1))), "image/gif"},
		{message.Image("image/gif", coded(webp)), "image/webp"},
		{message.Image("image/png", ""), "it is broken"},
		{message.Image("image/png", coded("<html>")), "it is broken"},
		{message.Image("image/png", coded(dot[:20])), "it is broken"},
		{message.Image("image/png", "no base64"), "it is not in base64"},
		{message.Image("image/png", coded(webp+strings.Repeat("x", 4_000_000))), "3750000 bytes are the most"},
		{message.Image("image/png", coded(coloured(png.Encode, 2000))), "image/png"},
		{message.Image("image/png", coded(coloured(png.Encode, 2001)[:830])), "it is broken: "},
		{message.Image("image/png", coded(wide)), "it has 64001 by 1000 pixels, and 64000000 are the most"},
		{message.Document("application/pdf", coded(pdf)), "application/pdf"},
		{message.Document("text/plain", coded(pdf)), "application/pdf"},
		{message.Document("application/pdf", coded("<html>")), "it is no PDF"},
		{message.Document("application/pdf", coded(strings.Repeat(" ", 1019)+pdf)), "application/pdf"},
		{message.Document("application/pdf", coded(strings.Repeat(" ", 1020)+pdf)), "it is no PDF"},
		{message.Document("application/pdf", coded(pdf+"\n<< /Encrypt 1 0 R >>")), "it is encrypted"},
		{message.Document("application/pdf", coded(pdf+strings.Repeat("x", 20_000_000))), "20000000 bytes are the most"},
	} {
		w.def.Block = func(string) []message.Block { return []message.Block{c.block, message.Text("b")} }
		got := w.call(`{"path":"a.go"}`).Content
		require.Len(t, got, 2)
		if !strings.Contains(c.want, " ") {
			assert.Equal(t, c.want, got[0].MediaType)
			assert.Equal(t, c.block.Data, got[0].Data)
			continue
		}
		assert.Contains(t, got[0].Text, "which cannot be shown: "+c.want)
		assert.Empty(t, got[0].Data)
	}
	raw := message.Block{Type: message.TypeImage, Raw: json.RawMessage(`{"type":"image","source":{"type":"url","url":"https://a.example/b.png"}}`)}
	w.def.Block = func(string) []message.Block { return []message.Block{raw} }
	assert.Equal(t, []message.Block{raw}, w.call(`{"path":"a.go"}`).Content)
}

// An API refuses an image of more than 2,000 pixels on a side once there are more than twenty in a
// request, and one of more than 5 MB always.
func TestALargeImageIsMadeSmaller(t *testing.T) {
	halves := func(w, h int) *image.Gray {
		m := image.NewGray(image.Rect(0, 0, w, h))
		for i := range m.Pix {
			m.Pix[i] = uint8(i % w / (w / 2) * 200)
		}
		return m
	}
	noise, some := image.NewNRGBA64(image.Rect(0, 0, 700, 700)), make([]byte, 64<<10)
	rand.NewChaCha8([32]byte{}).Read(some)
	for at := 0; at < len(noise.Pix); {
		at += copy(noise.Pix[at:], some)
	}
	w := newWorld(t)
	for name, c := range map[string]struct {
		of     image.Image
		encode func(io.Writer, image.Image) error
		format string
		size   image.Point
	}{
		"wide":         {halves(3000, 150), png.Encode, "png", image.Pt(2000, 100)},
		"a long page":  {halves(300, 15_000), png.Encode, "png", image.Pt(40, 2000)},
		"a hair":       {halves(8002, 1), png.Encode, "png", image.Pt(2000, 1)},
		"a photograph": {halves(4000, 300), func(w io.Writer, m image.Image) error { return jpeg.Encode(w, m, nil) }, "jpeg", image.Pt(2000, 150)},
		"animated":     {halves(2002, 2), func(w io.Writer, m image.Image) error { return gif.Encode(w, m, nil) }, "png", image.Pt(2000, 1)},
		"many bytes":   {noise, png.Encode, "jpeg", image.Pt(700, 700)},
	} {
		t.Run(name, func(t *testing.T) {
			var b bytes.Buffer
			require.NoError(t, c.encode(&b, c.of))
			w.def.Block = func(string) []message.Block {
				return []message.Block{message.Image("image/png", base64.StdEncoding.EncodeToString(b.Bytes()))}
			}
			got := w.call(`{"path":"a.go"}`).Content
			require.Len(t, got, 2)
			assert.Equal(t, "image/"+c.format, got[0].MediaType)
			full := c.of.Bounds().Size()
			assert.Equal(t, fmt.Sprintf("[The image has %d by %d pixels and is shown with %d by %d.]", full.X, full.Y, c.size.X, c.size.Y), got[1].Text)
			data, err := base64.StdEncoding.DecodeString(got[0].Data)
			require.NoError(t, err)
			assert.Less(t, len(data), 3_750_000)
			small, format, err := image.Decode(bytes.NewReader(data))
			require.NoError(t, err)
			assert.Equal(t, c.format, format)
			assert.Equal(t, c.size, small.Bounds().Size())
			if name == "many bytes" {
				return
			}
			for x, want := range map[int]int{c.size.X / 4: 0, 3 * c.size.X / 4: 200} {
				assert.InDelta(t, want, color.GrayModel.Convert(small.At(x, c.size.Y/2)).(color.Gray).Y, 3, "what was right is right still")
			}
		})
	}
}

// A picture of a GIF may have no pixels, though its canvas has, and an API takes no image without.
func TestAnImageOfNoPixelsIsDescribed(t *testing.T) {
	var b bytes.Buffer
	none := image.NewPaletted(image.Rect(0, 0, 0, 1), palette.Plan9)
	require.NoError(t, gif.EncodeAll(&b, &gif.GIF{Image: []*image.Paletted{none}, Delay: []int{0}, Config: image.Config{Width: 2001, Height: 1}}))
	w := newWorld(t)
	w.def.Block = func(string) []message.Block {
		return []message.Block{message.Image("image/gif", base64.StdEncoding.EncodeToString(b.Bytes()))}
	}
	assert.Contains(t, text(w.call(`{"path":"a.go"}`)), "which cannot be shown: it cannot be made small enough")
}

// A tool that nothing is near to is not said to have neighbours, and what stops a call is the
// tool's own choice.
func TestWhatIsFoundOfATool(t *testing.T) {
	w := newWorld(t)
	w.nearest = func(string) []string { return nil }
	r := w.callIn(t.Context(), pipeline.Call{ID: "c1", Name: "X"})
	assert.NotContains(t, text(r), "nearest")
	for interrupt, cancellable := range map[tool.Interrupt]bool{tool.Cancel: true, tool.Block: false} {
		w.def.Traits.Interrupt = interrupt
		p, env := w.pipeline()
		assert.Equal(t, cancellable, p.Prepare(pipeline.Call{ID: "c1", Name: "Look", Input: json.RawMessage(`{"path":"a"}`)}, env).Cancellable)
	}
}

// What a tool answered is there to be drawn as long as the model reads it whole.
func TestAnAnswerIsShownOnlyAsItIsRead(t *testing.T) {
	w := newWorld(t)
	w.handlers.Budget, _ = ledger()
	assert.Equal(t, "saw a", w.call(`{"path":"a"}`).Data)
	w.def.Limits.ResultChars = 3
	w.handlers.Budget, _ = ledger()
	assert.Nil(t, w.call(`{"path":"a"}`).Data)
}
