package permission_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

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
		{[]string{"WebFetch(x.org)"}, nil, []string{"allow rule WebFetch(x.org) of project never matches: WebFetch is matched by its host; did you mean WebFetch(domain:x.org)?"}},
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
