package permission_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	_ "toolbench/property/seeded"
	"toolbench/toolsys/permission"
)

// A rule that can never match, or that another leaves nothing to decide, is reported with the
// reason and with what may have been meant; one that has an effect is not.
func TestRulesWithoutEffectAreReported(t *testing.T) {
	known := []permission.Known{
		{Subject: permission.Subject{Tool: "Read"}, Content: true},
		{Subject: permission.Subject{Tool: "WebFetch"}, Content: true},
		{Subject: permission.Subject{Tool: "Sleep"}},
	}
	nearest := func(name string, names []string) []string {
		assert.Equal(t, []string{"Read", "WebFetch", "Sleep"}, names)
		return map[string][]string{"Raed": {"Read"}}[name]
	}
	for _, c := range []struct {
		allow, deny []string
		want        []string
	}{
		{[]string{"Read", "WebFetch(domain:x.org)", "WebFetch(*.org)", "Sleep", "mcp__git", "mcp__git__push"}, []string{"Read(/x)"}, nil},
		{[]string{"Raed(/x)"}, nil, []string{"allow rule Raed(/x) of project never matches: there is no tool Raed; did you mean Read(/x)?"}},
		{[]string{"Nothing"}, nil, []string{"allow rule Nothing of project never matches: there is no tool Nothing"}},
		{[]string{"mcp__git(x)"}, nil, []string{"allow rule mcp__git(x) of project never matches: rules about MCP tools take no content; did you mean mcp__git?"}},
		{[]string{"WebFetch(x.org)"}, nil, []string{"allow rule WebFetch(x.org) of project never matches: WebFetch is matched by its host alone; did you mean WebFetch(domain:x.org)?"}},
		{[]string{"WebFetch(domain:127.1)", "WebFetch(domain:0x7f.0.0.1)", "WebFetch(domain:127.0.0.1)", "WebFetch(domain:1.*)"}, nil, []string{
			"allow rule WebFetch(domain:127.1) of project never matches: the network knows such an address as four numbers with dots between them",
			"allow rule WebFetch(domain:0x7f.0.0.1) of project never matches: the network knows such an address as four numbers with dots between them",
		}},
		{[]string{"Sleep(1)"}, nil, []string{"allow rule Sleep(1) of project never matches: calls of Sleep name nothing that a content could match; did you mean Sleep?"}},
		{[]string{"Read(/x)", "Read(/x)"}, nil, []string{"allow rule Read(/x) of project never decides: allow rule Read(/x) of project comes first"}},
		{[]string{"Read", "Read(/x)"}, nil, []string{"allow rule Read(/x) of project never decides: allow rule Read of project comes first"}},
		{[]string{"Read(/x)", "Read"}, nil, nil},
		{[]string{"Read(/x)"}, []string{"Read"}, []string{"allow rule Read(/x) of project never decides: deny rule Read of project comes first"}},
		{[]string{"Read"}, []string{"Sleep"}, nil},
	} {
		rs, err := permission.Rules{}.Parse(permission.Project, permission.Allow, c.allow...)
		require.NoError(t, err)
		rs, err = rs.Parse(permission.Project, permission.Deny, c.deny...)
		require.NoError(t, err)
		var lines []string
		for _, p := range rs.Problems(known, nearest) {
			lines = append(lines, p.String())
		}
		assert.Equal(t, c.want, lines, "%v", c.allow)
	}
}

// The content of a rule is looked at as its tool takes it: what describes no call is told, with what may
// have been meant, and what describes one is not.
func TestAContentThatDescribesNoCallIsTold(t *testing.T) {
	for text, want := range map[string]string{
		"WebFetch(domain:https://x.org)":       "WebFetch(domain:x.org)",
		"WebFetch(domain:x.org:443)":           "WebFetch(domain:x.org)",
		"WebFetch(domain:x.org/path)":          "WebFetch(domain:x.org)",
		"WebFetch(domain: x.org)":              "WebFetch(domain:x.org)",
		"WebFetch(domain:*.x.org/*)":           "WebFetch(domain:*.x.org)",
		"WebFetch(domain:me@x.org)":            "WebFetch(domain:x.org)",
		"WebFetch(domain:[::1])":               "",
		"WebFetch(domain:[::1]:80)":            "WebFetch(domain:::1)",
		"WebFetch(domain:[*])":                 "WebFetch(domain:*)",
		"WebFetch(domain:)":                    "it names none",
		"WebFetch(domain=x.org)":               "WebFetch(domain:x.org)",
		"WebFetch(https://x.org:8080/a/*)":     "WebFetch(domain:x.org)",
		"WebBrowser(x.org)":                    "WebBrowser(domain:x.org)",
		"WebFetch(domain:x.org)":               "",
		"WebFetch(Domain:X.org)":               "",
		"WebFetch(domain:x.org:*)":             "",
		"WebFetch(domain:*)":                   "",
		"WebFetch(domain:::1)":                 "",
		"WebFetch(dom*)":                       "",
		"WebFetch(*.org)":                      "",
		"Skill(/deploy)":                       "Skill(deploy)",
		"Skill(deploy:*)":                      "",
		"Read(file:///etc/x)":                  "Read(/etc/x)",
		"Edit($HOME/x)":                        "Edit(~/x)",
		"Write(${HOME}/a/b)":                   "Write(~/a/b)",
		"Read(!x)":                             "a rule has no exceptions",
		`Read(".env")`:                         "Read(.env)",
		"Grep('a b')":                          "Grep(a b)",
		"Read(it's)":                           "",
		"Edit(file_path=**/a.json)":            "Edit(**/a.json)",
		"Read(path:.env)":                      "Read(.env)",
		"NotebookEdit(notebook_path: a.ipynb)": "NotebookEdit(a.ipynb)",
		"Read(paths:x)":                        "",
		"Read(src:*)":                          "Read(src)",
		"Read(a:b)":                            "",
		"Read(a(b).txt)":                       "",
		`Bash("rm *")`:                         "Bash(rm *)",
		"Bash(^rm)":                            "* stands for any text",
		"Bash(:*)":                             "Bash(*)",
		"Bash(rm *), Bash(mv *)":               "several rules in one text",
		"Bash(rm *) Edit(x)":                   "several rules in one text",
		"Bash(rm :*)":                          "",
		`Bash("my tool" *)`:                    "",
		`Bash("a" "b")`:                        "",
		"Bash(python -c 'print(1), len(x)' *)": "",
		"Bash(echo (a) b)":                     "",
		"Agent(Explore)":                       "",
	} {
		r := rule(t, text)
		known := []permission.Known{{Subject: permission.Subject{Tool: r.Tool()}, Content: true}}
		problems := permission.Rules{}.With(permission.Project, permission.Deny, r).Problems(known, nil)
		if want == "" {
			assert.Empty(t, problems, text)
			continue
		}
		if assert.Len(t, problems, 1, text) {
			assert.Contains(t, problems[0].String()+"?", want, text)
			assert.Contains(t, problems[0].Why, "never matches: ", text)
		}
	}
}

// A rule without effect is the one that comparing each with each other finds, and the one named is the first that leaves it none.
func TestTheRuleThatLeavesNothingToDecideIsTheFirst(t *testing.T) {
	known := []permission.Known{{Subject: permission.Subject{Tool: "Read"}, Content: true}, {Subject: permission.Subject{Tool: "Edit"}, Content: true}}
	rapid.Check(t, func(t *rapid.T) {
		var rs permission.Rules
		for range rapid.IntRange(0, 12).Draw(t, "rules") {
			rule, err := permission.ParseRule(rapid.SampledFrom([]string{"Read", "Read(*)", "Read(/a)", "Read(/b)", "Edit", "Edit(/a)", "mcp__a", "mcp__a__b"}).Draw(t, "rule"))
			require.NoError(t, err)
			rs = rs.With(permission.Source(rapid.IntRange(0, 3).Draw(t, "source")), rapid.SampledFrom([]permission.Behaviour{permission.Allow, permission.Ask, permission.Deny}).Draw(t, "behaviour"), rule)
		}
		var want []string
		for i, h := range rs.All() {
			for j, o := range rs.All() {
				if before := o.Behaviour > h.Behaviour || o.Behaviour == h.Behaviour && j < i; before && o.Rule.Tool() == h.Rule.Tool() && (o.Rule.Blanket() || o.Rule == h.Rule) {
					want = append(want, h.String()+" never decides: "+o.String()+" comes first")
					break
				}
			}
		}
		var got []string
		for _, p := range rs.Problems(known, nil) {
			got = append(got, p.String())
		}
		assert.Equal(t, want, got)
	})
}

// Settings with very many rules, as agents that note each permission write them, are looked through for those
// without effect in proportion to their number: in its square that would take longer than tests may.
func TestManyRulesTakeLinearTime(t *testing.T) {
	const n = 100_000
	var allow, deny []permission.Rule
	for i := range n {
		allow = append(allow, rule(t, fmt.Sprintf("Bash(echo %d)", i)))
		deny = append(deny, rule(t, fmt.Sprintf("Bash(harm%d)", i)))
	}
	rs := permission.Rules{}.With(permission.Project, permission.Allow, allow...).With(permission.Project, permission.Deny, deny...)
	assert.Empty(t, rs.Problems([]permission.Known{{Subject: permission.Subject{Tool: "Bash"}, Content: true}}, nil))
}
