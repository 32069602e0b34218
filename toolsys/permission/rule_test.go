package permission_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"toolbench/toolsys/permission"
)

// rule is a rule that the test's author spelt right.
func rule(t require.TestingT, text string) permission.Rule {
	r, err := permission.ParseRule(text)
	require.NoError(t, err)
	return r
}

func TestARuleIsAToolAndOptionallyAContent(t *testing.T) {
	for text, want := range map[string][2]string{
		"Bash":                            {"Bash", ""},
		"Bash(git *)":                     {"Bash", "git *"},
		" Bash( git * ) ":                 {"Bash", "git *"},
		"Bash(npm run test:*)":            {"Bash", "npm run test:*"},
		"Read(~/x)":                       {"Read", "~/x"},
		`Read(\\host\share\**)`:           {"Read", `\\host\share\**`},
		`Read(C:\dir\\)`:                  {"Read", `C:\dir\`},
		`Bash(grep \d+)`:                  {"Bash", `grep \d+`},
		`Bash(echo \(a\))`:                {"Bash", "echo (a)"},
		"Bash(echo (a) b)":                {"Bash", "echo (a) b"},
		`Bash(echo \\\(x)`:                {"Bash", `echo \(x`},
		"mcp__git_hub__*":                 {"mcp__git_hub__*", ""},
		"WebFetch(domain:example.com)":    {"WebFetch", "domain:example.com"},
		"wechat_pay__queryRefundStatus":   {"wechat_pay__queryRefundStatus", ""},
		"Skill(天气:*)":                     {"Skill", "天气:*"},
		"Bash(python -c 'print(1, 2)' *)": {"Bash", "python -c 'print(1, 2)' *"},
	} {
		r := rule(t, text)
		assert.Equal(t, want[0], r.Tool(), text)
		assert.Equal(t, want[1], r.Content(), text)
	}
}

func TestAnErrorSaysWhatIsWrongAndWhere(t *testing.T) {
	for text, want := range map[string]string{
		"":                "no tool name at byte 0",
		"(x)":             "no tool name at byte 0",
		"Bash git":        "' ' at byte 4",
		"Bash)":           "')' at byte 4",
		"Bash,Read":       "',' at byte 4",
		"Bash(git":        "parenthesis at byte 4 is never closed",
		"Bash(git) x":     `" x" at byte 9`,
		"Bash()x":         `"x" at byte 6 follows`,
		`Bash(git\)`:      "closing parenthesis at byte 9 is escaped",
		"Bash()":          "write Bash for every call",
		"Bash( )":         "nothing between",
		"mcp__":           "no server",
		"mcp__server__":   "write mcp__server for all",
		"Bash(\xff)":      "UTF-8",
		"Ba\x1b[31msh(x)": "at byte 2",
	} {
		_, err := permission.ParseRule(text)
		assert.ErrorContains(t, err, want, text)
	}
}

func TestARuleReadsBackAsItself(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		content := rapid.StringOfN(rapid.RuneFrom([]rune(`ab ()\*:/é~`)), 1, 12, -1).Draw(t, "content")
		text := "Bash(" + strings.NewReplacer(`(`, `\(`, `)`, `\)`).Replace(strings.ReplaceAll(content, `\`, ``)) + ")"
		r, err := permission.ParseRule(text)
		if err != nil {
			return
		}
		assert.Equal(t, r, rule(t, r.String()))
		assert.Equal(t, r.String(), rule(t, r.String()).String())
	})
}

func TestPlainRulesKeepTheirSpelling(t *testing.T) {
	for _, text := range []string{
		"Bash", "Bash(git *)", `Read(\\host\share\**)`, `Bash(grep \d *)`, "mcp__a__b", `Bash(echo \(x\))`, `Read(C:\x\\)`,
	} {
		assert.Equal(t, text, rule(t, text).String())
	}
}

func TestARuleIsTextInJSON(t *testing.T) {
	data, err := json.Marshal([]permission.Rule{rule(t, "Bash(git *)")})
	require.NoError(t, err)
	assert.JSONEq(t, `["Bash(git *)"]`, string(data))
	var back []permission.Rule
	require.NoError(t, json.Unmarshal(data, &back))
	assert.Equal(t, []permission.Rule{rule(t, "Bash(git *)")}, back)
	assert.Error(t, json.Unmarshal([]byte(`["Bash("]`), &back))
}

func TestModesAndBehavioursReadBack(t *testing.T) {
	for _, m := range []permission.Mode{
		permission.Default, permission.Plan, permission.Auto, permission.AcceptEdits, permission.Bypass,
	} {
		back, err := permission.ParseMode(m.String())
		require.NoError(t, err)
		assert.Equal(t, m, back)
	}
	for text, want := range map[string]permission.Mode{
		"accept-edits": permission.AcceptEdits, "PLAN": permission.Plan, "bypassPermissions": permission.Bypass,
	} {
		got, err := permission.ParseMode(text)
		require.NoError(t, err)
		assert.Equal(t, want, got)
	}
	_, err := permission.ParseMode("yolo")
	assert.ErrorContains(t, err, "acceptEdits")
	_, err = permission.ParseMode("")
	assert.Error(t, err)
	for _, b := range []permission.Behaviour{permission.Passthrough, permission.Allow, permission.Ask, permission.Deny} {
		back, err := permission.ParseBehaviour(b.String())
		require.NoError(t, err)
		assert.Equal(t, b, back)
	}
	_, err = permission.ParseBehaviour("Mode")
	assert.ErrorContains(t, err, "passthrough")
}

func FuzzParseRule(f *testing.F) {
	for _, seed := range []string{"Bash", "Bash(git *)", `A(\)\\\()`, "mcp__a__*", `R(\\h\s\)`, "X((()))", `X(\\\\)`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		r, err := permission.ParseRule(text)
		if err != nil {
			return
		}
		again, err := permission.ParseRule(r.String())
		require.NoError(t, err)
		assert.Equal(t, r, again)
		r.Covers(permission.Query{
			Subject: permission.Subject{Tool: r.Tool()}, Paths: []string{"/a/b"}, Dir: "/a", Home: "/h", Roots: []string{"/a"},
		})
	})
}
