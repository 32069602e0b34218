package permission_test

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"toolbench/toolsys/permission"
)

// writing is a call of Edit from /repo.
func writing(path string) permission.Query {
	q := reading(path)
	q.Tool, q.ReadOnly, q.Edits = "Edit", false, true
	return q
}

// opine is a hook's or a check's opinion.
func opine(b permission.Behaviour) permission.Opinion {
	return permission.Opinion{Behaviour: b, Text: "because"}
}

func TestWhereNoRuleSpeaksTheModeDecidesByClass(t *testing.T) {
	type outcomes map[permission.Mode]permission.Behaviour
	const allow, ask, deny = permission.Allow, permission.Ask, permission.Deny
	command := running("make")
	destructive := reading("/repo/a")
	destructive.Destructive = true
	web := permission.Query{Subject: permission.Subject{Tool: "WebFetch"}, ReadOnly: true, OpenWorld: true}
	vague := reading()
	vague.PathsUnknown = true
	pathless := writing("/repo/a")
	pathless.Paths = nil
	for name, c := range map[string]struct {
		query permission.Query
		want  outcomes
	}{
		"read inside":     {reading("/repo/a"), outcomes{permission.Default: allow, permission.Plan: allow, permission.Auto: allow, permission.AcceptEdits: allow, permission.Bypass: allow}},
		"read nothing":    {reading(), outcomes{permission.Default: allow, permission.Plan: allow, permission.Auto: allow, permission.AcceptEdits: allow, permission.Bypass: allow}},
		"read outside":    {reading("/etc/passwd"), outcomes{permission.Default: ask, permission.Plan: ask, permission.Auto: ask, permission.AcceptEdits: ask, permission.Bypass: allow}},
		"read a share":    {reading(`\\repo\a`), outcomes{permission.Default: ask, permission.Plan: ask, permission.Auto: ask, permission.AcceptEdits: ask, permission.Bypass: allow}},
		"read who knows":  {vague, outcomes{permission.Default: ask, permission.Plan: ask, permission.Auto: ask, permission.AcceptEdits: ask, permission.Bypass: allow}},
		"read the web":    {web, outcomes{permission.Default: ask, permission.Plan: ask, permission.Auto: ask, permission.AcceptEdits: ask, permission.Bypass: allow}},
		"read and break":  {destructive, outcomes{permission.Default: ask, permission.Plan: deny, permission.Auto: ask, permission.AcceptEdits: ask, permission.Bypass: allow}},
		"edit inside":     {writing("/repo/a"), outcomes{permission.Default: ask, permission.Plan: deny, permission.Auto: allow, permission.AcceptEdits: allow, permission.Bypass: allow}},
		"edit outside":    {writing("/etc/a"), outcomes{permission.Default: ask, permission.Plan: deny, permission.Auto: ask, permission.AcceptEdits: ask, permission.Bypass: allow}},
		"edit no file":    {pathless, outcomes{permission.Default: ask, permission.Plan: deny, permission.Auto: ask, permission.AcceptEdits: ask, permission.Bypass: allow}},
		"run any command": {command, outcomes{permission.Default: ask, permission.Plan: deny, permission.Auto: ask, permission.AcceptEdits: ask, permission.Bypass: allow}},
	} {
		for mode, want := range c.want {
			d := permission.Resolve(permission.Inputs{Query: c.query, Mode: mode, CanAsk: true})
			assert.Equal(t, want, d.Behaviour, "%s in %s", name, mode)
			assert.Equal(t, permission.ByMode, d.Reason.Kind)
			if want == ask {
				d = permission.Resolve(permission.Inputs{Query: c.query, Mode: mode})
				assert.Equal(t, deny, d.Behaviour, "%s in %s with nobody there", name, mode)
				assert.Equal(t, permission.ByNobody, d.Reason.Kind)
			}
		}
	}
}

// TestTheOrderOfResolution holds F2 stage by stage: each row would come out
// otherwise if two neighbouring stages changed places.
func TestTheOrderOfResolution(t *testing.T) {
	const allow, ask, deny, pass = permission.Allow, permission.Ask, permission.Deny, permission.Passthrough
	type row struct {
		about       string
		deny, ask   string
		allow       string
		hook, check permission.Behaviour
		mode        permission.Mode
		ruling      permission.Ruling
		want        permission.Behaviour
		by          permission.Kind
	}
	for _, r := range []row{
		{"a deny rule beats a hook's allow", "Bash", "", "", allow, allow, permission.Bypass, 0, deny, permission.ByRule},
		{"a deny rule beats an ask and an allow rule", "Bash", "Bash", "Bash", pass, pass, permission.Default, 0, deny, permission.ByRule},
		{"an ask rule beats a hook's allow", "", "Bash", "", allow, pass, permission.Default, 0, ask, permission.ByRule},
		{"an ask rule beats the tool's allow", "", "Bash", "", pass, allow, permission.Default, 0, ask, permission.ByRule},
		{"an ask rule beats bypass", "", "Bash", "Bash", pass, pass, permission.Bypass, 0, ask, permission.ByRule},
		{"an ask rule beats the classifier's clearance", "", "Bash", "", pass, pass, permission.Auto, permission.Clears, ask, permission.ByRule},
		{"an ask rule does not soften a hook's denial", "", "Bash", "", deny, pass, permission.Default, 0, deny, permission.ByHook},
		{"an ask rule does not soften the tool's denial", "", "Bash", "", pass, deny, permission.Default, 0, deny, permission.ByTool},
		{"an ask rule does not soften plan mode", "", "Bash", "", pass, pass, permission.Plan, 0, deny, permission.ByMode},
		{"a hook's denial beats the tool's allow", "", "", "Bash", deny, allow, permission.Bypass, 0, deny, permission.ByHook},
		{"the tool's denial stands against a hook's allow", "", "", "", allow, deny, permission.Default, 0, deny, permission.ByTool},
		{"the tool's denial stands against an allow rule and bypass", "", "", "Bash", pass, deny, permission.Bypass, 0, deny, permission.ByTool},
		{"a hook's allow skips the tool's ask", "", "", "", allow, ask, permission.Default, 0, allow, permission.ByHook},
		{"a hook's allow holds in plan mode", "", "", "", allow, pass, permission.Plan, 0, allow, permission.ByHook},
		{"a hook's ask beats the tool's allow", "", "", "", ask, allow, permission.Default, 0, ask, permission.ByHook},
		{"a hook's ask beats an allow rule", "", "", "Bash", ask, pass, permission.Default, 0, ask, permission.ByHook},
		{"a hook's ask does not soften plan mode", "", "", "", ask, pass, permission.Plan, 0, deny, permission.ByMode},
		{"the tool's allow is a real one", "", "", "", pass, allow, permission.Default, 0, allow, permission.ByTool},
		{"the tool's allow holds in plan mode", "", "", "", pass, allow, permission.Plan, 0, allow, permission.ByTool},
		{"the tool's ask beats an allow rule", "", "", "Bash", pass, ask, permission.Default, 0, ask, permission.ByTool},
		{"the tool's ask does not soften plan mode", "", "", "", pass, ask, permission.Plan, 0, deny, permission.ByMode},
		{"the tool's ask is answered by clearance", "", "", "", pass, ask, permission.Auto, permission.Clears, allow, permission.ByClassifier},
		{"the tool's ask is skipped in bypass", "", "", "", pass, ask, permission.Bypass, 0, allow, permission.ByMode},
		{"plan mode refuses what a rule allows", "", "", "Bash", pass, pass, permission.Plan, 0, deny, permission.ByMode},
		{"the classifier's block beats an allow rule", "", "", "Bash", pass, pass, permission.Auto, permission.Blocks, deny, permission.ByClassifier},
		{"the classifier has no say elsewhere", "", "", "Bash", pass, pass, permission.Default, permission.Blocks, allow, permission.ByRule},
		{"clearance has no say elsewhere", "", "", "", pass, pass, permission.AcceptEdits, permission.Clears, ask, permission.ByMode},
		{"an allow rule spares the question", "", "", "Bash", pass, pass, permission.Default, 0, allow, permission.ByRule},
		{"the classifier clears in auto mode", "", "", "", pass, pass, permission.Auto, permission.Clears, allow, permission.ByClassifier},
		{"a skipped classifier leaves the question", "", "", "", pass, pass, permission.Auto, permission.NoRuling, ask, permission.ByMode},
	} {
		rs := permission.Rules{}
		for b, text := range map[permission.Behaviour]string{deny: r.deny, ask: r.ask, allow: r.allow} {
			if text != "" {
				rs = rs.With(permission.User, b, rule(t, text))
			}
		}
		d := permission.Resolve(permission.Inputs{
			Rules: rs, Query: running("make"), Mode: r.mode, Hook: opine(r.hook), Check: opine(r.check),
			Verdict: permission.Verdict{Ruling: r.ruling}, CanAsk: true,
		})
		assert.Equal(t, r.want, d.Behaviour, r.about)
		assert.Equal(t, r.by, d.Reason.Kind, r.about)
	}
}

func TestAToolThatExistsToAskIsAnsweredByAHookOnly(t *testing.T) {
	in := permission.Inputs{
		Query: permission.Query{Subject: permission.Subject{Tool: "AskUserQuestion"}, Interactive: true},
		Rules: rules(t, permission.Allow, "AskUserQuestion"), Check: opine(permission.Ask), CanAsk: true,
		Verdict: permission.Verdict{Ruling: permission.Clears},
	}
	for _, in.Mode = range []permission.Mode{permission.Default, permission.Plan, permission.Auto, permission.Bypass} {
		assert.Equal(t, permission.Ask, permission.Resolve(in).Behaviour, in.Mode)
	}
	in.Hook = opine(permission.Allow)
	assert.Equal(t, permission.Allow, permission.Resolve(in).Behaviour)
}

func TestTooManyDenialsMakeAutoModeAsk(t *testing.T) {
	count := permission.Denials{}
	resolve := func(ruling permission.Ruling) permission.Behaviour {
		return permission.Resolve(permission.Inputs{
			Query: running("make"), Mode: permission.Auto, Denials: count, CanAsk: true,
			Verdict: permission.Verdict{Ruling: ruling},
		}).Behaviour
	}
	for range 3 {
		assert.Equal(t, permission.Deny, resolve(permission.Blocks))
		count = count.Denied()
	}
	assert.True(t, count.FallBack())
	assert.Equal(t, permission.Ask, resolve(permission.Blocks))
	assert.Equal(t, permission.Ask, resolve(permission.Clears))
	count = count.Allowed()
	assert.False(t, count.FallBack(), "one that was allowed ends the row")
	for range 8 {
		count = count.Denied().Denied().Allowed()
	}
	assert.Equal(t, permission.Denials{InRow: 0, Total: 19}, count)
	assert.True(t, count.Denied().FallBack(), "twenty in all")
	assert.True(t, count.Denied().Allowed().FallBack(), "and nothing takes the total back")
}

func TestARewrittenInputTravelsWithTheDecision(t *testing.T) {
	in := permission.Inputs{Query: reading("/repo/a"), Hook: permission.Opinion{UpdatedInput: json.RawMessage(`{"a":1}`)}}
	assert.JSONEq(t, `{"a":1}`, string(permission.Resolve(in).UpdatedInput))
	in.Check.UpdatedInput = json.RawMessage(`{"a":2}`)
	assert.JSONEq(t, `{"a":2}`, string(permission.Resolve(in).UpdatedInput), "the check comes after the hooks")
	in.Check.Behaviour = permission.Deny
	assert.Nil(t, permission.Resolve(in).UpdatedInput)
}

func TestAnAnswerSettlesAQuestionAndNothingElse(t *testing.T) {
	question := permission.Resolve(permission.Inputs{
		Query: running("make"), CanAsk: true, Hook: permission.Opinion{UpdatedInput: json.RawMessage(`1`)},
	})
	require.Equal(t, permission.Ask, question.Behaviour)
	yes := question.Answer(true, "", nil)
	assert.Equal(t, permission.Allow, yes.Behaviour)
	assert.Equal(t, permission.ByUser, yes.Reason.Kind)
	assert.Equal(t, "1", string(yes.UpdatedInput))
	assert.Equal(t, "2", string(question.Answer(true, "", json.RawMessage(`2`)).UpdatedInput))
	no := question.Answer(false, "not now", nil)
	assert.Equal(t, permission.Deny, no.Behaviour)
	assert.Equal(t, "user: not now", no.Reason.String())
	assert.Equal(t, no, no.Answer(true, "", nil))
}

func TestAReasonIsOneLine(t *testing.T) {
	ask := permission.Inputs{Rules: rules(t, permission.Ask, "Bash(git push *)"), Query: running("git push -f")}
	assert.Equal(t, `nobody can answer ask rule Bash(git push *) of project, for "git push -f"`, permission.Resolve(ask).Reason.String())
	ask.Rules, ask.Mode = permission.Rules{}, permission.Plan
	assert.Equal(t, "mode plan: only reading is possible while planning", permission.Resolve(ask).Reason.String())
	ask.Mode, ask.Check = permission.Default, permission.Opinion{Behaviour: permission.Ask, Text: "leaves the sandbox"}
	assert.Equal(t, "nobody can answer: tool: leaves the sandbox", permission.Resolve(ask).Reason.String())
	assert.Equal(t, "unknown", permission.Kind(0).String())
}

// inputs draws everything a decision depends on.
func inputs(t *rapid.T) permission.Inputs {
	texts := []string{
		"Bash", "Bash(git *)", "Bash(rm:*)", "Read", "Read(/repo/**)", "Edit(*.go)", "Edit", "*", "mcp__s", "mcp__s__*", "WebFetch(domain:*)",
	}
	behaviours := rapid.SampledFrom([]permission.Behaviour{permission.Passthrough, permission.Allow, permission.Ask, permission.Deny})
	in := permission.Inputs{
		Query: rapid.SampledFrom([]permission.Query{
			running("git status"), running("git status", "rm -rf x"), {Subject: permission.Subject{Tool: "Bash"}, Shell: &permission.Shell{Command: "rm ("}},
			reading("/repo/a.go"), reading("/etc/passwd"), writing("/repo/a.go"), writing("/etc/a.go"), reading(`\\h\s`),
			{Subject: permission.Subject{Tool: "mcp__s__t", MCP: &permission.Origin{Server: "s", Tool: "t"}}},
			{Subject: permission.Subject{Tool: "WebFetch"}, Content: "domain:a.b", OpenWorld: true, ReadOnly: true},
		}).Draw(t, "query"),
		Mode:    permission.Mode(rapid.IntRange(0, 4).Draw(t, "mode")),
		Hook:    opine(behaviours.Draw(t, "hook")),
		Check:   opine(behaviours.Draw(t, "check")),
		Verdict: permission.Verdict{Ruling: permission.Ruling(rapid.IntRange(0, 2).Draw(t, "ruling"))},
		Denials: permission.Denials{InRow: rapid.IntRange(0, 4).Draw(t, "denials")},
		CanAsk:  rapid.Bool().Draw(t, "can ask"),
	}
	in.Query.Interactive = rapid.Bool().Draw(t, "interactive")
	for range rapid.IntRange(0, 4).Draw(t, "rules") {
		in.Rules = in.Rules.With(
			permission.Source(rapid.IntRange(0, 5).Draw(t, "source")),
			permission.Behaviour(rapid.IntRange(1, 3).Draw(t, "behaviour")),
			rule(t, rapid.SampledFrom(texts).Draw(t, "rule")),
		)
	}
	return in
}

func TestADenyRuleAlwaysWins(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := inputs(t)
		denied := false
		for _, h := range in.Rules.All() {
			denied = denied || h.Behaviour == permission.Deny && h.Rule.Covers(in.Query)
		}
		d := permission.Resolve(in)
		assert.NotEqual(t, permission.Passthrough, d.Behaviour)
		if denied {
			assert.Equal(t, permission.Deny, d.Behaviour)
			assert.Equal(t, permission.ByRule, d.Reason.Kind)
		}
	})
}

func TestAddingAForbiddingRuleOnlyMakesThingsStricter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := inputs(t)
		before := permission.Resolve(in).Behaviour
		in.Rules = in.Rules.With(
			permission.Source(rapid.IntRange(0, 5).Draw(t, "new source")),
			rapid.SampledFrom([]permission.Behaviour{permission.Ask, permission.Deny}).Draw(t, "new behaviour"),
			rule(t, rapid.SampledFrom([]string{"Bash(rm *)", "Read(/etc/**)", "Edit", "*", "mcp__s__t"}).Draw(t, "new rule")),
		)
		assert.GreaterOrEqual(t, permission.Resolve(in).Behaviour, before)
	})
}

func TestADeniedPartDeniesTheWholeCommand(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		parts := rapid.SliceOfN(rapid.SampledFrom([]string{"git log", "ls -l", "npm test"}), 0, 5).Draw(t, "parts")
		at := rapid.IntRange(0, len(parts)).Draw(t, "at")
		parts = append(parts[:at:at], append([]string{"rm -rf /"}, parts[at:]...)...)
		in := permission.Inputs{
			Query: running(parts...), Mode: permission.Bypass, Hook: opine(permission.Allow), CanAsk: true,
			Rules: rules(t, permission.Allow, "Bash").With(permission.User, permission.Deny, rule(t, "Bash(rm:*)")),
		}
		assert.Equal(t, permission.Deny, permission.Resolve(in).Behaviour)
	})
}

func TestWithNobodyThereNothingIsAsked(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := inputs(t)
		in.CanAsk = true
		asked := permission.Resolve(in)
		in.CanAsk = false
		alone := permission.Resolve(in)
		assert.NotEqual(t, permission.Ask, alone.Behaviour)
		if asked.Behaviour == permission.Ask {
			assert.Equal(t, permission.Deny, alone.Behaviour)
		} else {
			assert.Equal(t, asked, alone)
		}
	})
}

func TestWithoutAnySayOnlyTheModesOwnClassRuns(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := inputs(t)
		in.Rules, in.Hook, in.Check, in.Verdict = permission.Rules{}, permission.Opinion{}, permission.Opinion{}, permission.Verdict{}
		in.CanAsk = false
		d := permission.Resolve(in)
		q := in.Query
		inside := !q.OpenWorld
		for _, p := range q.Paths {
			inside = inside && permission.Within(p, q.Roots)
		}
		class := q.ReadOnly && inside || in.Mode == permission.Bypass ||
			(in.Mode == permission.AcceptEdits || in.Mode == permission.Auto) && q.Edits && inside
		assert.Equal(t, class, d.Behaviour == permission.Allow)
	})
}

func TestALaxerModeLetsRunWhatAStricterOneDoes(t *testing.T) {
	order := []permission.Mode{permission.Plan, permission.Default, permission.AcceptEdits, permission.Auto, permission.Bypass}
	rapid.Check(t, func(t *rapid.T) {
		in := inputs(t)
		if in.Verdict.Ruling == permission.Blocks {
			in.Verdict.Ruling = permission.NoRuling // a block is the one thing auto has and others lack
		}
		strictest := permission.Deny
		listed := in.Query.Shell != nil && slices.ContainsFunc(in.Rules.All(), func(h permission.Hit) bool {
			return h.Behaviour == permission.Allow && h.Rule.Tool() == "Bash" && !h.Rule.Blanket()
		})
		for _, in.Mode = range order {
			if in.Mode == permission.Bypass && listed && in.Verdict.Ruling == permission.Clears {
				continue // a list of commands holds in bypass mode, where no classifier clears what it leaves out
			}
			got := permission.Resolve(in).Behaviour
			assert.LessOrEqual(t, got, strictest, in.Mode)
			strictest = got
		}
	})
}

func BenchmarkResolve(b *testing.B) {
	rs := permission.Rules{}
	for range 20 {
		rs = rs.With(permission.User, permission.Deny, rule(b, "Read(/secrets/**)"))
		rs = rs.With(permission.User, permission.Allow, rule(b, "Read(/repo/**)"))
	}
	in := permission.Inputs{Rules: rs, Query: reading("/repo/a/b/c.go")}
	for b.Loop() {
		if permission.Resolve(in).Behaviour != permission.Allow {
			b.Fatal("not allowed")
		}
	}
}

// A short name such as ENV~1 may be that of a file that is forbidden, so that it is asked about wherever that file may be.
func TestAShortNameIsAskedAbout(t *testing.T) {
	for _, mode := range []permission.Mode{permission.Default, permission.Bypass} {
		for text, want := range map[string]permission.Behaviour{"Read(.env)": permission.Ask, "Read(./.env)": permission.Ask, "Read(./prod/**)": permission.Ask, "Read(/etc/**)": permission.Allow, "Edit(.env)": permission.Allow, "Read": permission.Deny} {
			q := permission.Query{Subject: permission.Subject{Tool: "Read"}, Paths: []string{"/repo/ENV~1"}, Dir: "/repo", Roots: []string{"/repo"}, ReadOnly: true}
			in := permission.Inputs{Rules: rules(t, permission.Deny, text), Query: q, Mode: mode, CanAsk: true}
			assert.Equal(t, want, permission.Resolve(in).Behaviour, text)
			in.Query.Tool, in.Query.Paths = "Bash", nil
			in.Query.Shell = &permission.Shell{Known: true, Parts: []permission.Part{{Text: "cat ENV~1", ReadOnly: true, Leaf: true, Files: []permission.File{{Path: "/repo/ENV~1"}}}}}
			assert.Equal(t, want == permission.Ask, permission.Resolve(in).Behaviour == permission.Ask, text)
		}
	}
}

// Acceptance of edits covers neither what git runs nor the settings that hold the
// rules: who can edit those decides about every other call.
func TestAcceptanceOfEditsLeavesOutWhatDecidesAboutOtherCalls(t *testing.T) {
	for _, mode := range []permission.Mode{permission.AcceptEdits, permission.Auto} {
		for path, want := range map[string]permission.Behaviour{
			"/repo/a.go": permission.Allow, "/repo/git/config": permission.Allow,
			"/repo/.git/config": permission.Ask, "/repo/sub/.git/hooks/pre-commit": permission.Ask, "/repo/.GIT/config": permission.Ask,
			"/repo/.claude/settings.json": permission.Ask, "/repo/.mcp.json": permission.Ask, "/repo/.bashrc": permission.Ask,
			"/repo/.git./config": permission.Ask, "/repo/.git /config": permission.Ask, "/repo/GIT~1/config": permission.Ask,
			"/repo/.g\u200cit/config": permission.Ask, "/repo/.git::$INDEX_ALLOCATION/config": permission.Ask, "/repo/.zshenv": permission.Ask,
			"/repo/.hu\u017fky/pre-commit": permission.Ask, "/repo/.v\u017fcode/tasks.json": permission.Ask, "/repo/.git\ufb01g": permission.Allow, "/repo/.pro\ufb01le": permission.Ask,
			"/repo/.vscode/tasks.json": permission.Ask, "/repo/.cursor/mcp.json": permission.Ask, "/repo/.github/x": permission.Allow, "/repo/gitignore": permission.Allow,
			"/repo/CLAUDE~1/settings.json": permission.Ask, "/repo/sub/VSCODE~2": permission.Ask, "/repo/MCP~1.JSO": permission.Ask, "/repo/a.go~1": permission.Allow,
			"/repo/.gemini/settings.json": permission.Ask, "/repo/.Codex/config.toml": permission.Ask, "/repo/.claude.json": permission.Ask, "/repo/.ssh/config": permission.Ask,
			"/repo/.cargo/config.toml": permission.Ask, "/repo/.hg/hgrc": permission.Ask, "/repo/.config/git/config": permission.Ask, "/repo/.gdbinit": permission.Ask,
			"/repo/.Rprofile": permission.Ask, `/repo/.git\config`: permission.Ask, `/repo/sub\..\.claude\settings.json`: permission.Ask, "/repo/.pre-commit-config.yaml": permission.Ask, "/repo/.mvn/jvm.config": permission.Ask, "/repo/config/x": permission.Allow,
			"/repo/.yarnrc.yml": permission.Ask, "/repo/package.json": permission.Allow, "/repo/Makefile": permission.Allow, "/repo/CLAUDE.md": permission.Allow,
		} {
			d := permission.Resolve(permission.Inputs{Query: writing(path), Mode: mode, CanAsk: true})
			assert.Equal(t, want, d.Behaviour, "%s in %s", path, mode)
		}
	}
}

// Programs take what they run from more files than their main ones: from those that stand beside these for one machine, from
// the start-up files of interpreters, and from agents' own.
func TestAcceptanceOfEditsLeavesOutFilesThatProgramsLookForUnasked(t *testing.T) {
	for path, want := range map[string]permission.Behaviour{
		"/repo/lefthook-local.yml": permission.Ask, "/repo/.lefthook/pre-commit/x.sh": permission.Ask, "/repo/mise.local.toml": permission.Ask, "/repo/.mise/config.toml": permission.Ask, "/repo/.grok/config.toml": permission.Ask, "/repo/.pi/extensions/x.ts": permission.Ask, "/repo/.tabnine/agent/settings.json": permission.Ask, "/repo/.mux/init": permission.Ask, "/repo/gptme.toml": permission.Ask,
		"/repo/.dir-locals-2.el": permission.Ask, "/repo/.helix/languages.toml": permission.Ask, "/repo/.nvim.lua": permission.Ask, "/repo/App.code-workspace": permission.Ask,
		"/repo/crush.json": permission.Ask, "/repo/.agents/skills/x/SKILL.md": permission.Ask, "/repo/toolbench.yaml": permission.Ask,
		"/repo/.pryrc": permission.Ask, "/repo/.ghci": permission.Ask, "/repo/.ocamlinit": permission.Ask, "/repo/.octaverc": permission.Ask, "/repo/.zcompdump": permission.Ask,
		"/repo/pip.conf": permission.Ask, "/repo/.bundle/config": permission.Ask, "/repo/NuGet.Config": permission.Ask, "/repo/_darcs/prefs/defaults": permission.Ask,
		"/repo/mise/a.go": permission.Allow, "/repo/agents/a.md": permission.Allow, "/repo/hooks/a.go": permission.Allow, "/repo/.env": permission.Allow, "/repo/.local/x": permission.Allow,
	} {
		d := permission.Resolve(permission.Inputs{Query: writing(path), Mode: permission.AcceptEdits, CanAsk: true})
		assert.Equal(t, want, d.Behaviour, path)
	}
}

// What is forbidden to one shell is forbidden to the others, and where commands are listed for one in bypass, the others run none
// beside the list; who allows one shell a command allows the others nothing.
func TestShellsAreBoundByEachOthersRules(t *testing.T) {
	for _, tool := range []string{"Bash", "PowerShell", "Tungsten"} {
		run := func(b permission.Behaviour, rule, text, opaque string) permission.Behaviour {
			q := permission.Query{Subject: permission.Subject{Tool: tool}, Shell: &permission.Shell{Command: text, Known: true, Parts: []permission.Part{{Text: text, Opaque: opaque}}}}
			return permission.Resolve(permission.Inputs{Rules: rules(t, b, rule), Query: q, Mode: permission.Bypass, CanAsk: true}).Behaviour
		}
		for _, shell := range []string{"Bash", "PowerShell"} {
			assert.Equal(t, permission.Deny, run(permission.Deny, shell+"(git push *)", "git push origin", ""), "%s by %s", tool, shell)
			assert.Equal(t, permission.Ask, run(permission.Deny, shell+"(git push *)", "& $x", "its program is not known"), "%s by %s", tool, shell)
			assert.Equal(t, permission.Allow, run(permission.Deny, shell+"(git push *)", "git status", ""), "%s by %s", tool, shell)
			assert.Equal(t, permission.Ask, run(permission.Allow, shell+"(git status)", "git push", ""), "%s beside the list of %s", tool, shell)
			assert.Equal(t, tool == shell, run(permission.Allow, shell+"(git status)", "git status", "") == permission.Allow, "%s by %s", tool, shell)
			assert.Equal(t, tool == shell, run(permission.Deny, shell, "git status", "") == permission.Deny, "%s by all of %s", tool, shell)
		}
	}
}

// What is sealed is changed by no call, in any mode and under any rule; it may be read, and
// what lies below the roots is the worktree's own.
func TestASealHoldsInEveryMode(t *testing.T) {
	rules, err := permission.Rules{}.Parse(permission.Policy, permission.Allow, "Write", "Write(/repo/**)", "Bash")
	require.NoError(t, err)
	query := permission.Query{
		Subject: permission.Subject{Tool: "Write"}, Edits: true,
		Dir: "/repo/.worktrees/x", Roots: []string{"/repo/.worktrees/x"}, Sealed: []string{"/repo"},
	}
	for _, mode := range []permission.Mode{permission.Default, permission.AcceptEdits, permission.Auto, permission.Bypass} {
		for path, want := range map[string]permission.Behaviour{
			"/repo/a.txt": permission.Deny, "/repo/.worktrees/y/a.txt": permission.Deny, "/repo": permission.Deny,
			"/repo/.worktrees/x/a.txt": permission.Allow, "/repository/a.txt": permission.Allow,
		} {
			in := permission.Inputs{Rules: rules, Query: query, Mode: mode, CanAsk: true, Hook: permission.Opinion{Behaviour: permission.Allow}}
			in.Query.Paths = []string{path}
			assert.Equal(t, want, permission.Resolve(in).Behaviour, "%s in %s", path, mode)
			in.Query.ReadOnly = true
			assert.Equal(t, permission.Allow, permission.Resolve(in).Behaviour, "reading %s in %s", path, mode)
		}
		shell := permission.Inputs{Rules: rules, Query: query, Mode: mode, CanAsk: true}
		shell.Query.Tool = "Bash"
		for write, want := range map[bool]permission.Behaviour{true: permission.Deny, false: permission.Allow} {
			shell.Query.Shell = &permission.Shell{Command: "x", Known: true, Parts: []permission.Part{{Text: "x", Leaf: true, Files: []permission.File{{Path: "/repo/a*.txt", Glob: true, Write: write}}}}}
			assert.Equal(t, want, permission.Resolve(shell).Behaviour, "a command in %s", mode)
		}
	}
}
