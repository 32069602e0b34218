package web_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"toolbench/toolsys/builtin/web"
	"toolbench/toolsys/message"
	"toolbench/toolsys/permission"
	"toolbench/toolsys/pipeline"
	"toolbench/toolsys/tool"
)

// fixed is a browser that is at one page and stays there.
type fixed struct {
	web.Browser
	at string
}

func (f fixed) Location() string                       { return f.at }
func (f fixed) Navigate(context.Context, string) error { return nil }
func (f fixed) Page(context.Context) (web.OpenPage, error) {
	return web.OpenPage{URL: f.at, Title: "T", HTML: "<p>text</p>"}, nil
}

func TestActionsThatCannotBeDoneAreRefused(t *testing.T) {
	at := fixed{at: "https://e.org/"}
	for input, want := range map[string]struct {
		browser web.Browser
		code    int
	}{
		`{"action":"read"}`:                                    {nil, web.CodeNoBrowser},
		`{"action":"navigate"}`:                                {at, web.CodeIncomplete},
		`{"action":"click"}`:                                   {at, web.CodeIncomplete},
		`{"action":"type","text":"x"}`:                         {at, web.CodeIncomplete},
		`{"action":"evaluate","script":" "}`:                   {at, web.CodeIncomplete},
		`{"action":"screenshot"}`:                              {fixed{}, web.CodeNoPage},
		`{"action":"navigate","url":"file:///etc/passwd"}`:     {at, web.CodeBadURL},
		`{"action":"navigate","url":"javascript:alert(1)"}`:    {at, web.CodeBadURL},
		`{"action":"navigate","url":"chrome://settings"}`:      {at, web.CodeBadURL},
		`{"action":"navigate","url":"https://user:pw@e.org/"}`: {at, web.CodeBadURL},
	} {
		w := web.WebBrowser(want.browser)
		in, problems := w.Parse(json.RawMessage(input))
		require.Empty(t, problems, input)
		if refusal := w.Validate(in, &tool.Context{}); assert.NotNil(t, refusal, input) {
			assert.Equal(t, want.code, refusal.Code, input)
		}
		_, err := w.Call(t.Context(), in, &tool.Context{})
		assert.Error(t, err, input)
	}
}

// Rules are about the page that is opened, or else the one that is open.
func TestRulesForABrowserAreAboutTheHost(t *testing.T) {
	w := web.WebBrowser(fixed{at: "https://Open.example/x"})
	for input, want := range map[string]string{
		`{"action":"navigate","url":"http://New.example/"}`: "domain:new.example",
		`{"action":"read"}`:                  "domain:open.example",
		`{"action":"click","selector":"a"}`:  "domain:open.example",
		`{"action":"evaluate","script":"1"}`: "domain:open.example",
	} {
		in, problems := w.Parse(json.RawMessage(input))
		require.Empty(t, problems)
		assert.Equal(t, want, w.Subject(in, &tool.Context{}).Content)
		assert.True(t, w.Behaviour.OpenWorld(in))
	}
	script, _ := w.Parse(json.RawMessage(`{"action":"evaluate","script":"1"}`))
	assert.Equal(t, permission.Ask, w.Permit(script, &tool.Context{}).Behaviour)
	assert.False(t, w.Behaviour.ReadOnly(script))
	planning := &tool.Context{}
	planning.Mode = permission.Plan
	assert.Equal(t, permission.Passthrough, w.Permit(script, planning).Behaviour, "plan mode refuses it without a question")
}

// A script may reach any host, so that it is asked about beside each rule that forbids one, also where all else runs.
func TestAScriptIsAskedAboutBesideARuleThatForbidsAHost(t *testing.T) {
	w := web.WebBrowser(fixed{at: "https://open.example/"})
	for rule, asked := range map[string]bool{
		"WebFetch(domain:evil.example)": true, "WebBrowser(domain:evil.example)": true, "Bash(curl *)": false, "Read(.env)": false,
	} {
		for _, b := range []permission.Behaviour{permission.Deny, permission.Ask} {
			rules, err := permission.Rules{}.Parse(permission.Project, b, rule)
			require.NoError(t, err)
			c := &tool.Context{}
			c.Rules, c.Mode = rules, permission.Bypass
			for input, script := range map[string]bool{`{"action":"evaluate","script":"fetch('https://evil.example')"}`: true, `{"action":"read"}`: false} {
				d, _, err := pipeline.Decide(w, json.RawMessage(input), c, nil)
				require.NoError(t, err)
				assert.Equal(t, asked && script, d.Behaviour == permission.Ask, "%s %s: %s", rule, input, d.Reason)
			}
		}
	}
}

func TestAPageOnAnotherHostIsNotShown(t *testing.T) {
	w := web.WebBrowser(fixed{at: "https://elsewhere.example/"})
	in, _ := w.Parse(json.RawMessage(`{"action":"navigate","url":"https://e.org/"}`))
	out, err := w.Call(t.Context(), in, &tool.Context{})
	require.NoError(t, err)
	assert.True(t, out.Data.(web.BrowserOut).Moved)
	assert.NotContains(t, message.PlainText(out.Blocks), "text")
}
