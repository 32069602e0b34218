package generate

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// settingsLine are the variables of the case's settings.
func (s *SystemCase) settingsLine() flow {
	names, values := s.settings()
	var all []string
	for _, name := range names {
		all = append(all, name+": "+strconv.Quote(values[name]))
	}
	return inBraces(all)
}

// The services that tools work with, of which the simulated web has some pages.
var (
	triggerSettings = map[string]string{"FEATURE_AGENT_TRIGGERS": on, "REMOTE_TRIGGER_URL": "https://triggers.example/v1", "REMOTE_TRIGGER_TOKEN": "tok-0123456789"}
	pullSettings    = map[string]string{"FEATURE_KAIROS": on, "PULL_REQUEST_URL": "https://git.example/api"}
)

// pages are what the tools find in the web, by tool and address.
var pages = map[string]map[string]string{
	"WebFetch": {
		"https://example.com/page": `{body: "<title>T</title><h1>Hello</h1><p>A page.</p>", after: 2s}`,
		"https://example.com/old":  `{status: 301, redirect: /page}`,
		"https://example.com/away": `{status: 302, redirect: "https://elsewhere.example/page"}`,
	},
	"WebSearch": {
		"https://html.duckduckgo.com/html/?q=go+iterators":               searchPage,
		"https://html.duckduckgo.com/html/?q=go+iterators+site%3Ago.dev": searchPage,
		"https://html.duckduckgo.com/html/?q=nothing":                    `{body: "<div class='no-results'>No results.</div>", after: 1s}`,
	},
	"WebBrowser": {
		"https://shop.example/":     `{body: "<title>Shop</title><input id=name><a id=next href=/cart>Cart</a><a id=away href=https://bank.example/>Bank</a>"}`,
		"https://shop.example/cart": `{body: "<title>Cart</title><p>Two things</p>", after: 1s}`,
		"https://bank.example/":     `{body: "<title>Bank</title><p>secret</p>"}`,
	},
	"PushNotification": {"https://ntfy.example/my-topic": `{type: application/json, body: "{}", after: 1s}`},
	"RemoteTrigger": {
		"https://triggers.example/v1/triggers":             `{type: application/json, body: '{"data":[]}'}`,
		"POST https://triggers.example/v1/triggers":        `{status: 201, type: application/json, body: '{"id":"t1"}', after: 2s}`,
		"GET https://triggers.example/v1/triggers/t1":      `{type: application/json, body: '{"id":"t1","echo":"tok-0123456789"}'}`,
		"POST https://triggers.example/v1/triggers/t1/run": `{status: 202, type: application/json, body: '{"run":"r1"}'}`,
		"PATCH https://triggers.example/v1/triggers/t1":    `{status: 422, type: application/json, body: '{"error":"no such schedule"}'}`,
	},
	"SubscribePR": {
		pull + "pulls/7": `{type: application/json, body: '{"title":"Fix it","state":"open","merged":false,"head":{"sha":"aaa"}}', again: [{status: 502, body: bad gateway}, {type: application/json, body: '{"title":"Fix it","state":"closed","merged":true,"head":{"sha":"aaa"}}'}]}`,
		pull + "pulls/8": `{type: application/json, body: '{"title":"Old","state":"closed","merged":true,"head":{"sha":"aaa"}}'}`,
		pull + "issues/7/comments?per_page=100&page=1": `{type: application/json, body: '[{"id":1,"user":{"login":"ann"},"body":"Old."}]'}`,
		pull + "issues/8/comments?per_page=100&page=1": `{type: application/json, body: '[]'}`,
		pull + "pulls/7/comments?per_page=100&page=1":  `{type: application/json, body: '[]'}`,
		pull + "pulls/8/comments?per_page=100&page=1":  `{type: application/json, body: '[]'}`,
		pull + "commits/aaa/check-runs?per_page=100":   `{type: application/json, body: '{"check_runs":[]}'}`,
	},
}

const (
	pull       = "https://git.example/api/repos/me/thing/"
	searchPage = `{body: "<div class='result results_links web-result'><h2 class='result__title'><a class='result__a' href='https://go.dev/blog'>Range</a></h2></div>", after: 1s}`
)

// places are the files that tools need, by tool and path.
var places = map[string]map[string]string{
	"NotebookEdit": {"/repo/nb.ipynb": `{"cells":[{"id":"one","cell_type":"code","metadata":{},"outputs":[],"execution_count":null,"source":["print(1)"]}],"metadata":{"language_info":{"name":"python"}},"nbformat":4,"nbformat_minor":5}`},
	"Workflow": {
		"/repo/.claude/workflows/copy.yaml":   "args: {name: What}\nsteps:\n  - {id: look, tool: Read, input: {file_path: /repo/a.go}, keep_going: true}\n  - {id: write, tool: Write, input: {file_path: \"/repo/a/copied.txt\", content: \"{{args.name}} {{steps.look}}\"}}\n",
		"/repo/.claude/workflows/broken.yaml": "stepps: []\n",
	},
	"Skill": {"/repo/.claude/skills/greet/SKILL.md": "---\nname: greet\ndescription: Greets.\n---\nGreet $ARGUMENTS.\n"},
}

// surroundings are what the kit's tools work with outside of the conversation.
func (w *systemWriter) surroundings(s *SystemCase) {
	web, files := map[string]string{}, map[string]string{}
	for _, name := range s.Kit {
		maps.Copy(web, pages[name])
		maps.Copy(files, places[name])
	}
	if len(files) > 0 {
		w.line(1, "files:")
		for _, path := range slices.Sorted(maps.Keys(files)) {
			w.line(2, "%s: %s", path, strconv.Quote(files[path]))
		}
	}
	if len(web) > 0 {
		w.line(1, "web:")
		for _, address := range slices.Sorted(maps.Keys(web)) {
			w.line(2, "%q: %s", address, web[address])
		}
	}
	if s.InKit("WebBrowser") {
		w.line(1, `browser: {values: {document.title: '"Shop"'}}`)
	}
	if s.InKit("PushNotification") {
		w.keys(1, "push", "https://ntfy.example/my-topic")
	}
	if s.InKit("SyntheticOutput") {
		w.line(1, "output: {type: object, properties: {n: {type: integer}}, required: [n], additionalProperties: false}")
	}
	if s.InKit("LSP") {
		w.line(1, "languages:")
		w.line(2, "- {name: go, extensions: [.go], ends: textDocument/implementation, answers: {%s}}", strings.Join([]string{
			`textDocument/definition: {uri: "file:///repo/b.go", range: {start: {line: 0, character: 0}, end: {line: 0, character: 3}}}`,
			`textDocument/hover: {contents: {kind: markdown, value: func greet()}}`,
		}, ", "))
		w.line(2, "- {name: python, extensions: [.py], refused: true}")
	}
}

// resources are what servers have to be read.
func (s *SystemCase) resources() flow {
	if !s.InKit("ReadMcpResource") {
		return ""
	}
	return `{"note:one": One.}`
}

// startsAgent reports whether a tool of the kit starts a sub-agent by itself.
func startsAgent(name string) bool {
	return name == "VerifyPlanExecution" || name == "SuggestBackgroundPR"
}

// lastWords are those of a sub-agent.
func lastWords(c *Call) string {
	if c.Tool == "VerifyPlanExecution" {
		return "Looked.\n\n**VERDICT: partly**"
	}
	return "Done."
}

// maxTurns bounds a conversation that jobs wake again and again; 0 leaves the bound that all have.
func (s *SystemCase) maxTurns() int {
	if !s.Lively() {
		return 0
	}
	return len(s.Turns) + len(s.Interrupts) + 8
}

// answerLines are the answers of the person to the questions of the model.
func (s *SystemCase) answerLines() (answers []string) {
	s.Each(func(c *Call, _ int, _ *Call) {
		choose := map[string]string{"AskUserQuestion": "Blue", "SuggestBackgroundPR": "Yes, in the background"}[c.Tool]
		if !s.Person || choose == "" {
			return
		}
		for range 1 + len(s.Faults) { // the question comes again when a stream is tried again
			answers = append(answers, fmt.Sprintf("{choose: [%q], after: 2s}", choose))
		}
	})
	return answers
}
