package builtin_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"toolbench/toolsys/builtin"
	"toolbench/toolsys/builtin/web"
	"toolbench/toolsys/builtin/work"
	"toolbench/toolsys/permission"
	"toolbench/toolsys/pipeline"
	"toolbench/toolsys/pool"
	"toolbench/toolsys/tool"
)

// page is a browser at a page.
type page struct{ web.Browser }

func (page) Location() string { return "https://open.example/x" }

var modes = []permission.Mode{permission.Default, permission.Plan, permission.Auto, permission.AcceptEdits, permission.Bypass}

// boundTools are all built-in tools by name, in a folder with files, skills and agents.
func boundTools(t *testing.T) map[string]*tool.Tool {
	t.Helper()
	fs := afero.NewMemMapFs()
	for name, text := range map[string]string{"/repo/a.go": "x\n", "/repo/.env": "K=1\n", "/repo/n.ipynb": "{}"} {
		require.NoError(t, afero.WriteFile(fs, name, []byte(text), 0o644))
	}
	inbox := tool.NewInbox(tool.Clock{}, nil)
	_, err := inbox.Join(tool.Peer{Agent: "agent_2", Name: "bob"})
	require.NoError(t, err)
	deps := builtin.Deps{FS: fs, Agents: []work.AgentType{{Name: "general", When: "anything"}, {Name: "explore", When: "reading only"}}, Browser: page{}}
	kit, err := builtin.All(deps)(pool.Host{ResultsDir: "/results", Inbox: inbox, Work: &tool.WorkList{}})
	require.NoError(t, err)
	all := map[string]*tool.Tool{}
	for _, e := range kit.Entries {
		if e.Tool != nil {
			all[e.Tool.Name] = e.Tool
		}
	}
	require.Len(t, all, len(samples))
	return all
}

// decided is what becomes of a call from /repo, of which a person may be asked, with one rule or none.
func decided(t *testing.T, tl *tool.Tool, input string, mode permission.Mode, b permission.Behaviour, rule string) permission.Decision {
	t.Helper()
	c := &tool.Context{State: tool.State{Dir: "/repo", Root: "/repo", Mode: mode}}
	c.Home, c.Roots, c.Mode = "/home/me", []string{"/repo"}, mode
	if rule != "" {
		rules, err := permission.Rules{}.Parse(permission.Project, b, rule)
		require.NoError(t, err)
		c.Rules = rules
	}
	d, _, err := pipeline.Decide(tl, json.RawMessage(input), c, nil)
	require.NoError(t, err, "%s %s", tl.Name, input)
	return d
}

// A rule about a tool as a whole binds it in every mode, by each of its names and by a star.
func TestEachToolIsBoundByTheRulesAboutIt(t *testing.T) {
	for name, tl := range boundTools(t) {
		for _, mode := range modes {
			for _, rule := range append([]string{name, name + "(*)", "*", name[:1] + "*"}, tl.Aliases...) {
				assert.Equal(t, permission.Deny, decided(t, tl, samples[name], mode, permission.Deny, rule).Behaviour, "%s of %s in %s", rule, name, mode)
				assert.NotEqual(t, permission.Allow, decided(t, tl, samples[name], mode, permission.Ask, rule).Behaviour, "%s of %s in %s", rule, name, mode)
			}
		}
	}
}

// What each mode lets run without a rule, of the samples of all tools: nothing beyond these.
func TestWhatRunsUnaskedInEachMode(t *testing.T) {
	always := strings.Fields("Agent Brief CoordinatorMode CronDelete CtxInspect Monitor OverflowTest REPL SendMessage Snip SuggestBackgroundPR " +
		"SyntheticOutput TaskCreate TaskStop TaskUpdate TeamCreate TeamDelete TodoWrite VerifyPlanExecution Workflow") // they decide that themselves, as their declarations give
	reads := strings.Fields("AskUserQuestion CronList Glob Grep LSP ListMcpResources ListPeers PowerShell ReadMcpResource SendUserFile Sleep TaskGet TaskList TaskOutput ToolSearch")
	edits := strings.Fields("Edit NotebookEdit Write")
	asks := strings.Fields("EnterPlanMode ExitPlanMode TestingPermission") // asking is what they are for
	for name, tl := range boundTools(t) {
		for _, mode := range modes {
			runs := slices.Contains(always, name) || slices.Contains(reads, name) ||
				slices.Contains(edits, name) && mode != permission.Default && mode != permission.Plan || mode == permission.Bypass && !slices.Contains(asks, name)
			d := decided(t, tl, samples[name], mode, permission.Allow, "")
			assert.Equal(t, runs, d.Behaviour == permission.Allow, "%s in %s: %s", name, mode, d.Reason)
			if mode == permission.Plan && !runs && !slices.Contains(asks, name) && !tl.Behaviour.ReadOnly(parsed(t, tl, samples[name])) {
				assert.Equal(t, permission.Deny, d.Behaviour, "%s while planning: %s", name, d.Reason)
			}
		}
	}
}

func parsed(t *testing.T, tl *tool.Tool, input string) tool.Input {
	t.Helper()
	in, problems := tl.Parse(json.RawMessage(input))
	require.Empty(t, problems, input)
	return in
}

// Each member by which a call names a file, a host, a command, an agent, a server or what else rules are about: a rule about
// that keeps the call from running unasked in every mode, whichever tool the rule names.
func TestEachMemberIsBoundByTheRulesAboutIt(t *testing.T) {
	all, seen := boundTools(t), map[string]bool{}
	for _, c := range []struct{ rule, tool, input string }{
		{"Agent(general)", "Agent", `{"description":"d","prompt":"p"}`},
		{"Task(Explore)", "Agent", `{"description":"d","prompt":"p","subagent_type":"explore","run_in_background":true}`},
		{"Bash(git push *)", "Bash", `{"command":"git 'push'","run_in_background":true}`},
		{"PowerShell(git push *)", "Bash", `{"command":"git push"}`},
		{"Read(.env)", "Bash", `{"command":"cat .env"}`},
		{"Edit(.env)", "Bash", `{"command":"date > .env"}`},
		{"Config(theme)", "Config", `{"setting":"theme","value":"light"}`},
		{"Edit(.env)", "Edit", `{"file_path":"x/../.env","old_string":"x","new_string":"y"}`},
		{"Write(.env)", "Edit", `{"file_path":"/repo/.ENV","old_string":"x","new_string":"y"}`},
		{"Read(/repo/secret/**)", "Glob", `{"pattern":"*","path":"secret"}`},
		{"Read(secret)", "Glob", `{"pattern":"*","path":"/repo/secret/a"}`},
		{"Read(.env)", "Grep", `{"pattern":"K","path":".env"}`},
		{"Read(.env)", "LSP", `{"operation":"document_symbols","file_path":"./.env"}`},
		{"mcp__docs", "ListMcpResources", `{"server":"Docs"}`},
		{"Edit(n.ipynb)", "NotebookEdit", `{"notebook_path":"N.ipynb","cell_id":"c","new_source":""}`},
		{"Write(*.ipynb)", "NotebookEdit", `{"notebook_path":"/repo/n.ipynb","cell_id":"c","edit_mode":"delete"}`},
		{"Bash(git push *)", "PowerShell", `{"command":"GIT push"}`},
		{"Bash(rm *)", "PowerShell", `{"command":"iex 'rm x'"}`},
		{"Read(.env)", "PowerShell", `{"command":"Get-Content a.go,.env"}`},
		{"Edit(.env)", "PowerShell", `{"command":"Set-Content .env x"}`},
		{"Read(~/.ssh/**)", "Read", `{"file_path":"~/.ssh/id"}`},
		{"Read(**/id)", "Read", `{"file_path":"/home/you/.ssh/id"}`},
		{"mcp__docs__*", "ReadMcpResource", `{"server":"docs","uri":"file:///a"}`},
		{"RemoteTrigger(run)", "RemoteTrigger", `{"action":"run","trigger_id":"t1"}`},
		{"SendMessage(bob)", "SendMessage", `{"to":"Bob","message":"x"}`},
		{"SendMessage(bob)", "SendMessage", `{"to":"agent_2","message":"x"}`},
		{"SendMessage(bob)", "SendMessage", `{"to":"*","message":"x"}`},
		{"Read(.env)", "SendUserFile", `{"files":["a.go",".env"]}`},
		{"Skill(deploy)", "Skill", `{"skill":"/Deploy"}`},
		{"mcp__docs", "Skill", `{"skill":"mcp__docs__ask"}`},
		{"SubscribePR(me/thing)", "SubscribePR", `{"repo":"Me/Thing","number":7}`},
		{"Bash(git push *)", "Tungsten", `{"text":"gi"}`},
		{"PowerShell(rm *)", "Tungsten", `{"keys":["Up","Enter"]}`},
		{"Read(.env)", "Tungsten", `{"text":"cat .e*"}`},
		{"WebFetch(domain:example.com)", "WebBrowser", `{"action":"navigate","url":"http://EXAMPLE.com./"}`},
		{"WebFetch(domain:open.example)", "WebBrowser", `{"action":"click","selector":"a"}`},
		{"WebFetch(domain:example.com)", "WebBrowser", `{"action":"evaluate","script":"fetch('https://example.com')"}`},
		{"WebBrowser(domain:*.example.com)", "WebFetch", `{"url":"https://a.example.com:8443/","prompt":"p"}`},
		{"WebBrowser(domain:localhost)", "WebFetch", `{"url":"http://[::1]:80/","prompt":"p"}`},
		{"WebFetch(domain:127.0.0.1)", "WebFetch", `{"url":"http://0.0.0.0/","prompt":"p"}`},
		{"Workflow(release)", "Workflow", `{"workflow":"Release"}`},
		{"Edit(.env)", "Write", `{"file_path":"/repo/.env","content":"x"}`},
		{"Write(**)", "Write", `{"file_path":"/tmp/x","content":"x"}`},
	} {
		seen[c.tool] = true
		without := decided(t, all[c.tool], c.input, permission.Bypass, permission.Allow, "")
		assert.Equal(t, permission.Allow, without.Behaviour, "%s %s without a rule: %s", c.tool, c.input, without.Reason)
		for _, mode := range modes {
			for _, b := range []permission.Behaviour{permission.Deny, permission.Ask} {
				d := decided(t, all[c.tool], c.input, mode, b, c.rule)
				assert.NotEqual(t, permission.Allow, d.Behaviour, "%s %s on %s %s in %s: %s", b, c.rule, c.tool, c.input, mode, d.Reason)
			}
		}
	}
	for name, tl := range all {
		assert.Equal(t, tl.TakesContent, seen[name], "%s: each tool whose calls name what rules may be about has its rows", name)
	}
}
