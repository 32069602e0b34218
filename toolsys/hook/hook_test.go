package hook_test

import (
	"context"
	"encoding/json"
	"errors"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"toolbench/toolsys/hook"
	"toolbench/toolsys/message"
	"toolbench/toolsys/permission"
	"toolbench/toolsys/tool"
)

// clock is the one of the bubble a test runs in, or the machine's.
func clock() tool.Clock {
	return tool.Clock{
		Now: time.Now,
		Sleep: func(ctx context.Context, _ string, d time.Duration) error {
			select {
			case <-time.After(d):
				return nil
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		},
		Go: func(_ string, f func()) { go f() },
	}
}

func set(t testing.TB, hooks ...hook.Hook) hook.Set {
	t.Helper()
	s, err := hook.New(clock(), hooks...)
	require.NoError(t, err)
	return s
}

// says is a hook that always answers o.
func says(name string, event hook.Event, o hook.Output) hook.Hook {
	return hook.Hook{Name: name, Event: event, Run: func(context.Context, hook.Input) (hook.Output, error) { return o, nil }}
}

func pre(tool string) hook.Input {
	return hook.Input{Event: hook.PreToolUse, Tool: tool, Call: "c1", Input: json.RawMessage(`{"a":1}`)}
}

// asked runs hooks and names those that were asked.
func asked(m hook.Merged) (names []string) {
	for _, r := range m.Reports {
		names = append(names, r.Hook)
	}
	return names
}

func TestTheZeroSetSaysNothing(t *testing.T) {
	var none hook.Set
	assert.Equal(t, hook.Merged{}, none.Run(t.Context(), pre("Bash"), nil))
	assert.False(t, none.Matches(hook.PreToolUse, "Read", nil))
	assert.Zero(t, none.Len())
}

func TestAMatcherSelectsByNameAliasOrGlob(t *testing.T) {
	for _, c := range []struct {
		matcher, tool string
		aliases       []string
		want          bool
	}{
		{"", "Bash", nil, true},
		{"*", "mcp__a__b", nil, true},
		{"Bash", "Bash", nil, true},
		{"Bash", "BashOutput", nil, false},
		{"bash", "Bash", nil, false},
		{"Edit|Write", "Write", nil, true},
		{"Edit | Write", "Write", nil, true},
		{"Edit|Write", "Read", nil, false},
		{"mcp__github__*", "mcp__github__list_issues", nil, true},
		{"mcp__github__*", "mcp__gitlab__list_issues", nil, false},
		{"Notebook*|Read", "NotebookEdit", nil, true},
		{"OldName", "NewName", []string{"OldName"}, true},
		{"[^A]ash|Bas[a-h]", "Bash", nil, true},
	} {
		h := says("h", hook.PreToolUse, hook.Output{})
		h.Matcher = c.matcher
		in := pre(c.tool)
		in.Aliases = c.aliases
		got := len(set(t, h).Run(t.Context(), in, nil).Reports) == 1
		assert.Equal(t, c.want, got, "%q on %s", c.matcher, c.tool)
	}
}

func TestAHookHearsOnlyItsEvent(t *testing.T) {
	s := set(t, says("before", hook.PreToolUse, hook.Output{}), says("after", hook.PostToolUse, hook.Output{}))
	assert.Equal(t, []string{"before"}, asked(s.Run(t.Context(), pre("Bash"), nil)))
	assert.True(t, s.Matches(hook.PostToolUse, "Read", nil))
	assert.False(t, s.Matches(hook.Elicitation, "Read", nil))
}

func TestAnIfIsJudgedByTheCallersRules(t *testing.T) {
	h := says("git only", hook.PreToolUse, hook.Output{})
	h.If = "Bash(git *)"
	s := set(t, h)
	var rules []string
	answered := func(answer hook.Extent) hook.Measure {
		return func(rule string, input json.RawMessage) hook.Extent {
			rules = append(rules, rule+" "+string(input))
			return answer
		}
	}
	assert.Len(t, s.Run(t.Context(), pre("Bash"), answered(hook.Whole)).Reports, 1)
	assert.Len(t, s.Run(t.Context(), pre("Bash"), answered(hook.Part)).Reports, 1)
	assert.Empty(t, s.Run(t.Context(), pre("Bash"), answered(hook.Nothing)).Reports)
	assert.Equal(t, slices.Repeat([]string{`Bash(git *) {"a":1}`}, 3), rules)
	assert.Len(t, s.Run(t.Context(), pre("Bash"), nil).Reports, 1, "in doubt a hook runs")
	m := s.Run(t.Context(), pre("Bash"), func(string, json.RawMessage) hook.Extent { panic("bad rule") })
	require.Len(t, m.Reports, 1)
	assert.Contains(t, m.Reports[0].Trouble, "bad rule")
}

func TestDenyBeatsAskBeatsAllow(t *testing.T) {
	decide := func(name string, b permission.Behaviour) hook.Hook {
		return says(name, hook.PreToolUse, hook.Output{Decision: b, Reason: "because " + name})
	}
	a, q, d, d2 := decide("allows", permission.Allow), decide("asks", permission.Ask), decide("denies", permission.Deny), decide("denies too", permission.Deny)
	for _, c := range []struct {
		hooks []hook.Hook
		want  permission.Behaviour
		by    string
	}{
		{[]hook.Hook{a}, permission.Allow, "allows"},
		{[]hook.Hook{a, q}, permission.Ask, "asks"},
		{[]hook.Hook{q, a}, permission.Ask, "asks"},
		{[]hook.Hook{a, d, q}, permission.Deny, "denies"},
		{[]hook.Hook{d, d2, a}, permission.Deny, "denies"},
	} {
		m := set(t, c.hooks...).Run(t.Context(), pre("Bash"), nil)
		assert.Equal(t, c.want, m.Decision)
		assert.Equal(t, c.by, m.By)
		assert.Equal(t, "because "+c.by, m.Reason)
		assert.Len(t, m.Reports, len(c.hooks), "all are asked, whatever one says")
	}
}

func TestEachSeesTheInputAsRewrittenSoFar(t *testing.T) {
	var seen []string
	rewrite := func(name, to string) hook.Hook {
		return hook.Hook{Name: name, Event: hook.PreToolUse, Run: func(_ context.Context, in hook.Input) (hook.Output, error) {
			seen = append(seen, string(in.Input))
			if to == "" {
				return hook.Output{}, nil
			}
			return hook.Output{Input: json.RawMessage(to)}, nil
		}}
	}
	m := set(t, rewrite("1", `{"a":2}`), rewrite("2", ""), rewrite("3", `{"a":3}`)).Run(t.Context(), pre("Bash"), nil)
	assert.Equal(t, []string{`{"a":1}`, `{"a":2}`, `{"a":2}`}, seen)
	assert.JSONEq(t, `{"a":3}`, string(m.Input))
	assert.Equal(t, []string{"input"}, m.Reports[0].Did)
	assert.Empty(t, m.Reports[1].Did)
}

func TestAnIfIsJudgedByTheInputAsRewrittenSoFar(t *testing.T) {
	guard := says("guard", hook.PreToolUse, hook.Output{Decision: permission.Deny})
	guard.If = "Bash(rm *)"
	removes := func(_ string, input json.RawMessage) hook.Extent {
		if strings.Contains(string(input), "rm") {
			return hook.Whole
		}
		return hook.Nothing
	}
	rewrites := says("rewrites", hook.PreToolUse, hook.Output{Input: json.RawMessage(`{"command":"rm -r x"}`)})
	assert.Equal(t, permission.Deny, set(t, rewrites, guard).Run(t.Context(), pre("Bash"), removes).Decision)
	assert.Equal(t, permission.Passthrough, set(t, guard, rewrites).Run(t.Context(), pre("Bash"), removes).Decision)
}

func TestAnAllowIsForWhatItsHookKnew(t *testing.T) {
	allows := says("allows", hook.PreToolUse, hook.Output{Decision: permission.Allow, Reason: "it is harmless"})
	input := func(text string) hook.Output { return hook.Output{Input: json.RawMessage(text)} }
	part := func(string, json.RawMessage) hook.Extent { return hook.Part }
	limited := allows
	limited.If = "Bash(git *)"
	for name, c := range map[string]struct {
		hooks   []hook.Hook
		measure hook.Measure
		want    permission.Behaviour
	}{
		"alone":                 {[]hook.Hook{allows}, part, permission.Allow},
		"a later hook rewrites": {[]hook.Hook{allows, says("other", hook.PreToolUse, input(`{"a":2}`))}, nil, permission.Passthrough},
		"a later hook rewrites a large number": {[]hook.Hook{
			says("first", hook.PreToolUse, input(`{"a":9007199254740993}`)), allows, says("other", hook.PreToolUse, input(`{"a":9007199254740992}`)),
		}, nil, permission.Passthrough},
		"a later hook leaves as it is": {[]hook.Hook{allows, says("other", hook.PreToolUse, input(`{ "a": 1 }`))}, nil, permission.Allow},
		"an earlier hook rewrites":     {[]hook.Hook{says("other", hook.PreToolUse, input(`{"a":2}`)), allows}, nil, permission.Allow},
		"it rewrites itself": {[]hook.Hook{says("self", hook.PreToolUse, hook.Output{
			Decision: permission.Allow, Input: json.RawMessage(`{"a":2}`),
		})}, nil, permission.Allow},
		"it could not rewrite": {[]hook.Hook{says("self", hook.PreToolUse, hook.Output{
			Decision: permission.Allow, Input: json.RawMessage(`[2]`),
		})}, nil, permission.Passthrough},
		"a part made no sense": {[]hook.Hook{says("self", hook.PreToolUse, hook.Output{
			Decision: permission.Allow, Garbled: []string{`there is no member "updatedInput"`},
		})}, nil, permission.Passthrough},
		"its if is about a part":    {[]hook.Hook{limited}, part, permission.Passthrough},
		"its if is about the whole": {[]hook.Hook{limited}, func(string, json.RawMessage) hook.Extent { return hook.Whole }, permission.Allow},
	} {
		m := set(t, c.hooks...).Run(t.Context(), pre("Bash"), c.measure)
		assert.Equal(t, c.want, m.Decision, name)
		assert.Equal(t, c.want != permission.Allow && len(c.hooks) == 1, strings.Contains(m.Reports[0].Trouble, "its allow does not count"), name)
	}
}

func TestTheFirstStopWinsAndLaterContextsAreKept(t *testing.T) {
	m := set(t,
		says("first", hook.PreToolUse, hook.Output{Stop: true, Reason: "one", Context: "A"}),
		says("second", hook.PreToolUse, hook.Output{Stop: true, Reason: "two", Context: "B"}),
		says("third", hook.PreToolUse, hook.Output{Context: "C", Messages: []message.Message{message.UserText("hello")}}),
	).Run(t.Context(), pre("Bash"), nil)
	assert.True(t, m.Stop)
	assert.Equal(t, "one", m.StopReason)
	assert.Equal(t, "first", m.StopBy)
	assert.Equal(t, []string{"A", "B", "C"}, m.Context)
	assert.Equal(t, []message.Message{message.UserText("hello")}, m.Messages)
}

func TestAPostHookReplacesTheOutputOfEveryTool(t *testing.T) {
	redact := says("redact", hook.PostToolUse, hook.Output{Output: []message.Block{message.Text("redacted")}})
	empty := says("empty", hook.PostToolUse, hook.Output{Output: []message.Block{}})
	for _, name := range []string{"Read", "mcp__slack__search"} {
		in := hook.Input{Event: hook.PostToolUse, Tool: name, Output: []message.Block{message.Text("secret")}}
		assert.Equal(t, []message.Block{message.Text("redacted")}, set(t, redact).Run(t.Context(), in, nil).Output)
		out := set(t, redact, empty).Run(t.Context(), in, nil).Output
		assert.NotNil(t, out)
		assert.Empty(t, out)
	}
}

func TestTheNextPostHookSeesTheOutputAsItIsByThen(t *testing.T) {
	var seen []string
	change := func(name string) hook.Hook {
		return hook.Hook{Name: name, Event: hook.PostToolUse, Run: func(_ context.Context, in hook.Input) (hook.Output, error) {
			seen = append(seen, message.PlainText(in.Output))
			return hook.Output{Output: []message.Block{message.Text(message.PlainText(in.Output) + name)}}, nil
		}}
	}
	in := hook.Input{Event: hook.PostToolUse, Tool: "Read", Output: []message.Block{message.Text("0")}}
	m := set(t, change("1"), change("2"), change("3")).Run(t.Context(), in, nil)
	assert.Equal(t, []string{"0", "01", "012"}, seen)
	assert.Equal(t, "0123", message.PlainText(m.Output))
}

// A hook that only looks changes nothing, whatever it does with what it was given.
func TestWhatAHookIsGivenIsItsOwn(t *testing.T) {
	rewriting := hook.Hook{Name: "rewriting", Event: hook.PostToolUse, Run: func(_ context.Context, in hook.Input) (hook.Output, error) {
		in.Output[0], in.Input[2] = message.Text("rewritten"), 'X'
		in.Aliases[0] = "Other"
		return hook.Output{}, nil
	}}
	in := hook.Input{Event: hook.PostToolUse, Tool: "Read", Aliases: []string{"Cat"}, Input: []byte(`{"a":1}`), Output: []message.Block{message.Text("whole")}}
	set(t, rewriting).Run(t.Context(), in, nil)
	assert.Equal(t, hook.Input{Event: hook.PostToolUse, Tool: "Read", Aliases: []string{"Cat"}, Input: []byte(`{"a":1}`), Output: []message.Block{message.Text("whole")}}, in)
}

func TestWhatHasNoMeaningAtAnEventIsReportedAndTheRestCounts(t *testing.T) {
	for _, c := range []struct {
		event   hook.Event
		out     hook.Output
		trouble string
	}{
		{hook.PostToolUse, hook.Output{Decision: permission.Deny, Context: "kept"}, "decision"},
		{hook.PostToolUse, hook.Output{Input: json.RawMessage(`{}`), Context: "kept"}, "input"},
		{hook.PreToolUse, hook.Output{Output: []message.Block{}, Context: "kept"}, "output"},
		{hook.PreToolUse, hook.Output{Input: json.RawMessage(`[1]`), Context: "kept"}, "no JSON object"},
		{hook.PreToolUse, hook.Output{Input: json.RawMessage(`null`), Context: "kept"}, "no JSON object"},
		{hook.PreToolUse, hook.Output{Input: json.RawMessage(`{`), Context: "kept"}, "no JSON object"},
		{hook.PreToolUse, hook.Output{Decision: 9, Context: "kept"}, "decision 9"},
		{hook.PermissionDenied, hook.Output{Decision: permission.Allow, Context: "kept"}, "decision"},
	} {
		m := set(t, says("h", c.event, c.out)).Run(t.Context(), hook.Input{Event: c.event, Tool: "Bash"}, nil)
		assert.Contains(t, m.Reports[0].Trouble, c.trouble)
		assert.Equal(t, []string{"context"}, m.Reports[0].Did)
		assert.Equal(t, []string{"kept"}, m.Context)
		assert.Nil(t, m.Input)
		assert.Nil(t, m.Output)
		assert.Equal(t, permission.Passthrough, m.Decision)
	}
}

func TestAFailingHookLosesNothing(t *testing.T) {
	broken := map[string]func(context.Context, hook.Input) (hook.Output, error){
		"error": func(context.Context, hook.Input) (hook.Output, error) {
			return hook.Output{Decision: permission.Deny}, errors.New("it broke")
		},
		"panic": func(context.Context, hook.Input) (hook.Output, error) { panic("it broke") },
		"nil map": func(context.Context, hook.Input) (hook.Output, error) {
			var m map[string]int
			m["x"] = 1 //lint:ignore SA5000 the hook is to panic
			return hook.Output{}, nil
		},
		"goexit": func(context.Context, hook.Input) (hook.Output, error) { runtime.Goexit(); return hook.Output{}, nil },
	}
	for name, run := range broken {
		t.Run(name, func(t *testing.T) {
			m := set(t,
				hook.Hook{Name: "broken", Event: hook.PreToolUse, Run: run},
				says("sound", hook.PreToolUse, hook.Output{Context: "still here"}),
			).Run(t.Context(), pre("Bash"), nil)
			assert.Equal(t, permission.Passthrough, m.Decision)
			assert.Equal(t, []string{"still here"}, m.Context)
			assert.NotEmpty(t, m.Reports[0].Trouble)
			assert.Empty(t, m.Reports[0].Did)
			assert.Empty(t, m.Reports[1].Trouble)
		})
	}
}

func TestAHookThatHangsCountsAsItsOnFailureSays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hangs := func(ctx context.Context, _ hook.Input) (hook.Output, error) {
			<-ctx.Done()
			return hook.Output{}, ctx.Err()
		}
		for said, want := range map[permission.Behaviour]permission.Behaviour{
			permission.Passthrough: permission.Passthrough, // of a function, the zero value allows
			permission.Allow:       permission.Passthrough,
			permission.Ask:         permission.Ask,
			permission.Deny:        permission.Deny,
		} {
			m := set(t,
				hook.Hook{Name: "hangs", Event: hook.PreToolUse, Timeout: time.Second, OnFailure: said, Run: hangs},
				says("allows", hook.PreToolUse, hook.Output{Decision: permission.Allow}),
			).Run(t.Context(), pre("Bash"), nil)
			assert.Equal(t, max(want, permission.Allow), m.Decision, "%s", said)
			if want != permission.Passthrough {
				assert.Equal(t, "the hook hangs failed: the hook's time is up after 1s", m.Reason)
			}
		}
	})
}

func TestAHookThatHangsIsLeftBehindWhenItsTimeIsUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		deaf := hook.Hook{Name: "deaf", Event: hook.PreToolUse, Timeout: 2 * time.Second, Run: func(_ context.Context, in hook.Input) (hook.Output, error) {
			<-release
			in.Input[1] = 'X' // comes too late to touch anything
			return hook.Output{Decision: permission.Deny}, nil
		}}
		var cause error
		polite := hook.Hook{Name: "polite", Event: hook.PreToolUse, Run: func(ctx context.Context, _ hook.Input) (hook.Output, error) {
			<-ctx.Done()
			cause = context.Cause(ctx)
			return hook.Output{}, cause
		}}
		quick := says("quick", hook.PreToolUse, hook.Output{Context: "on time"})
		in := pre("Bash")
		began := time.Now()
		m := set(t, deaf, polite, quick).Run(t.Context(), in, nil)
		assert.Equal(t, 62*time.Second, time.Since(began), "its own two seconds and the default minute")
		assert.Equal(t, 2*time.Second, m.Reports[0].Took)
		assert.Contains(t, m.Reports[0].Trouble, "time is up after 2s")
		assert.Equal(t, time.Minute, m.Reports[1].Took)
		assert.Equal(t, []string{"on time"}, m.Context)
		close(release)
		synctest.Wait()
		assert.ErrorIs(t, cause, hook.ErrTimeout)
		assert.JSONEq(t, `{"a":1}`, string(in.Input))
		assert.Equal(t, permission.Passthrough, m.Decision)
	})
}

func TestWhenTheCallEndsTheRestIsNotAsked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(t.Context())
		why := errors.New("a sibling failed")
		slow := hook.Hook{Name: "slow", Event: hook.PreToolUse, Run: func(ctx context.Context, _ hook.Input) (hook.Output, error) {
			cancel(why)
			<-ctx.Done()
			return hook.Output{}, ctx.Err()
		}}
		m := set(t, says("denies", hook.PreToolUse, hook.Output{Decision: permission.Deny}), slow, says("late", hook.PreToolUse, hook.Output{Context: "x"})).Run(ctx, pre("Bash"), nil)
		assert.Equal(t, permission.Deny, m.Decision, "what was said before stays said")
		assert.NotEmpty(t, m.Reports[1].Trouble)
		assert.Equal(t, "not asked: a sibling failed", m.Reports[2].Trouble)
		assert.Empty(t, m.Context)
	})
}

func TestABadHookIsAnErrorThatNamesIt(t *testing.T) {
	good := says("good", hook.PreToolUse, hook.Output{})
	for want, spoil := range map[string]func(*hook.Hook){
		"number 2: it has no name":                               func(h *hook.Hook) { h.Name = "" },
		`good: there is no event "Pre"`:                          func(h *hook.Hook) { h.Event = "Pre" },
		"good: it has nothing to run":                            func(h *hook.Hook) { h.Run = nil },
		"good: timeout -1s is negative":                          func(h *hook.Hook) { h.Timeout = -time.Second },
		`good: matcher "A||B"`:                                   func(h *hook.Hook) { h.Matcher = "A||B" },
		`good: matcher "[a": bad glob`:                           func(h *hook.Hook) { h.Matcher = "[a" },
		`good: matcher "Edit|mcp__.*": "mcp__.*" never matches`:  func(h *hook.Hook) { h.Matcher = "Edit|mcp__.*" },
		`good: matcher "^Bash": "^Bash" never matches`:           func(h *hook.Hook) { h.Matcher = "^Bash" },
		`good: matcher "Bash(rm *)": "Bash(rm *)" never matches`: func(h *hook.Hook) { h.Matcher = "Bash(rm *)" },
		"good: there is no decision 9":                           func(h *hook.Hook) { h.OnFailure = 9 },
		"good: nobody can be asked at PostToolUse when it fails": func(h *hook.Hook) {
			h.Event, h.OnFailure = hook.PostToolUse, permission.Ask
		},
		"good: there is nothing to deny at PermissionDenied when it fails": func(h *hook.Hook) {
			h.Event, h.OnFailure = hook.PermissionDenied, permission.Deny
		},
	} {
		bad := good
		spoil(&bad)
		_, err := hook.New(clock(), good, bad)
		require.ErrorIs(t, err, hook.ErrHook)
		assert.Contains(t, err.Error(), want)
	}
	_, err := hook.New(tool.Clock{}, good)
	assert.ErrorIs(t, err, hook.ErrHook)
	_, err = hook.New(tool.Clock{})
	assert.NoError(t, err, "without hooks no clock is needed")
}

func TestEveryBehaviourHasItsNameInReports(t *testing.T) {
	o := hook.Output{Input: json.RawMessage(`{}`), Decision: permission.Ask, Stop: true, Context: "c", Messages: []message.Message{{}}}
	m := set(t, says("h", hook.PreToolUse, o)).Run(t.Context(), pre("Bash"), nil)
	assert.Equal(t, "input ask stop context messages", strings.Join(m.Reports[0].Did, " "))
}

func BenchmarkRunOneSilentHook(b *testing.B) {
	s := set(b, says("h", hook.PreToolUse, hook.Output{}))
	for b.Loop() {
		s.Run(b.Context(), pre("Bash"), nil)
	}
}

func TestHooksThatAreAddedAreSharedByCopies(t *testing.T) {
	closed := set(t, says("own", hook.PreToolUse, hook.Output{}))
	require.ErrorIs(t, closed.Add(says("late", hook.PreToolUse, hook.Output{})), hook.ErrClosed)
	assert.Equal(t, 1, closed.Len())

	open := closed.Open(clock())
	copied := open.Open(clock()) // it is open already
	require.ErrorIs(t, open.Add(hook.Hook{Name: "bad", Event: "Sometime"}), hook.ErrHook)
	require.NoError(t, copied.Add(says("late", hook.PreToolUse, hook.Output{Context: "first"})))
	require.NoError(t, open.Add(says("last", hook.PostToolUse, hook.Output{})))
	require.NoError(t, open.Add(says("late", hook.PreToolUse, hook.Output{Context: "second"})))
	assert.Equal(t, 1, closed.Len())
	for _, s := range []hook.Set{open, copied} {
		assert.Equal(t, 3, s.Len())
		assert.True(t, s.Matches(hook.PostToolUse, "Read", nil))
		assert.True(t, s.Matches("", "Read", nil))
		m := s.Run(t.Context(), pre("Read"), nil)
		assert.Equal(t, []string{"own", "late"}, asked(m))
		assert.Equal(t, []string{"second"}, m.Context, "the one of the same name took its place")
	}
}
