package permission_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"toolbench/toolsys/permission"
)

// What is proposed lets the call run, and no other than it shows.
func TestProposedRulesLetTheCallRun(t *testing.T) {
	bash := permission.Subject{Tool: "Bash"}
	shell := func(parts ...permission.Part) *permission.Shell { return &permission.Shell{Known: true, Parts: parts} }
	edit := permission.Query{Subject: permission.Subject{Tool: "Edit"}, Paths: []string{"/repo/a/b.go"}, Roots: []string{"/repo"}, Edits: true}
	for name, c := range map[string]struct {
		query permission.Query
		rules func(permission.Rules) (permission.Rules, error)
		check permission.Opinion
		want  []string
	}{
		"a command": {query: permission.Query{Subject: bash, Shell: shell(permission.Part{Text: "go test ./..."}, permission.Part{Text: "ls", ReadOnly: true}, permission.Part{Text: "git push"}, permission.Part{Text: "git push"})},
			want: []string{"Bash(go test ./...)", "Bash(git push)"}},
		"a star would mean more":    {query: permission.Query{Subject: bash, Shell: shell(permission.Part{Text: "rm *"})}},
		"so would a closing colon":  {query: permission.Query{Subject: bash, Shell: shell(permission.Part{Text: "run x:"})}},
		"nobody knows what it runs": {query: permission.Query{Subject: bash, Shell: shell(permission.Part{Text: "eval x", Opaque: "eval"})}},
		"a construct":               {query: permission.Query{Subject: bash, Shell: shell(permission.Part{Text: "$(x)", Construct: true})}},
		"a file in a root":          {query: edit, want: []string{"Edit(/repo/**)"}},
		"a file elsewhere":          {query: permission.Query{Subject: permission.Subject{Tool: "Read"}, Paths: []string{"/etc/x/hosts"}, Roots: []string{"/repo"}, ReadOnly: true}, want: []string{"Read(/etc/x/**)"}},
		"a file of the top folder":  {query: permission.Query{Subject: permission.Subject{Tool: "Read"}, Paths: []string{"/hosts"}, Roots: []string{"/repo"}, ReadOnly: true}},
		"a folder like a glob":      {query: permission.Query{Subject: permission.Subject{Tool: "Read"}, Paths: []string{"/e[t]c/hosts"}, ReadOnly: true}},
		"a share":                   {query: permission.Query{Subject: permission.Subject{Tool: "Read"}, Paths: []string{"//host/share/x"}, ReadOnly: true}},
		"a domain":                  {query: permission.Query{Subject: permission.Subject{Tool: "WebFetch"}, Content: "domain:example.com"}, want: []string{"WebFetch(domain:example.com)"}},
		"a content like a pattern":  {query: permission.Query{Subject: permission.Subject{Tool: "Skill"}, Content: "a*"}},
		"a tool of a server":        {query: permission.Query{Subject: permission.Subject{Tool: "mcp__s__t", MCP: &permission.Origin{Server: "s", Tool: "t"}}}, want: []string{"mcp__s__t"}},
		"a tool about nothing":      {query: permission.Query{Subject: permission.Subject{Tool: "Sleep"}}, want: []string{"Sleep"}},
		"a rule wants it asked": {query: edit, rules: func(rs permission.Rules) (permission.Rules, error) {
			return rs.Parse(permission.Project, permission.Ask, "Edit(/repo/a/**)")
		}},
		"the tool wants it asked": {query: edit, check: permission.Opinion{Behaviour: permission.Ask, Text: "sure?"}},
	} {
		t.Run(name, func(t *testing.T) {
			in := permission.Inputs{Query: c.query, Check: c.check, CanAsk: true}
			if c.rules != nil {
				var err error
				in.Rules, err = c.rules(in.Rules)
				assert.NoError(t, err)
			}
			assert.Equal(t, permission.Ask, permission.Resolve(in).Behaviour)
			var got []string
			for _, r := range permission.Propose(in) {
				got = append(got, r.String())
			}
			assert.Equal(t, c.want, got)
		})
	}
}

// A server may call its tools what it likes, also *: the model and people know such a tool by a name with underscores, which
// is what a rule that forbids it names, and a rule that is proposed for it covers no other.
func TestAStarInTheNameOfATool(t *testing.T) {
	of := func(tool string) permission.Query {
		return permission.Query{Subject: permission.Subject{Tool: "mcp__s__x", MCP: &permission.Origin{Server: "s", Tool: tool}}}
	}
	for tool, named := range map[string]string{"*": "mcp__s", "drop*": "mcp__s__drop_", "drop all": "mcp__s__drop_all"} {
		q := of(tool)
		denied := permission.Inputs{Rules: rules(t, permission.Deny, named), Query: q, Mode: permission.Bypass, CanAsk: true}
		assert.Equal(t, permission.Deny, permission.Resolve(denied).Behaviour, named)
		proposed := permission.Propose(permission.Inputs{Query: q, CanAsk: true})
		for _, rule := range proposed {
			again, err := permission.ParseRule(rule.String())
			assert.NoError(t, err)
			assert.Equal(t, rule, again)
			assert.False(t, rule.Covers(of("drop table")) || rule.Covers(of("get")), "%s for %s", rule, tool)
		}
		assert.Equal(t, tool != "*", len(proposed) == 1, tool)
	}
}
