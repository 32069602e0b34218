package web_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"toolbench/toolsys/builtin/web"
	"toolbench/toolsys/message"
	"toolbench/toolsys/settings"
	"toolbench/toolsys/tool"
)

// service is one elsewhere: it answers by method and address, and notes what it was sent.
type service struct {
	mu      sync.Mutex        // a watch asks while the test looks
	answers map[string]string // "GET URL" to a body, behind a status and a blank where that is not 200
	asked   []string
	tokens  []string
}

func (s *service) do(r *http.Request) (*http.Response, error) {
	what := r.Method + " " + r.URL.String()
	if r.Body != nil {
		body, _ := io.ReadAll(r.Body)
		what = strings.TrimSpace(what + " " + string(body))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked, s.tokens = append(s.asked, what), append(s.tokens, r.Header.Get("Authorization"))
	answer, ok := s.answers[r.Method+" "+r.URL.String()]
	status := http.StatusOK
	if !ok {
		answer, status = "no such thing", http.StatusNotFound
	} else if _, err := fmt.Sscanf(answer, "%d ", &status); err == nil {
		_, answer, _ = strings.Cut(answer, " ")
	}
	return &http.Response{StatusCode: status, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(answer)), Request: r}, nil
}

// answer has the service answer so from now on; "404 " is what is not there.
func (s *service) answer(what, answer string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answers[what] = answer
}

// count is how often it was asked.
func (s *service) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.asked)
}

// set is a conversation with settings, on the time of the bubble or of the machine.
func set(t *testing.T, values map[string]string) *tool.Context {
	t.Helper()
	s, err := settings.FromMap(values)
	require.NoError(t, err)
	c := &tool.Context{}
	c.Settings = &s
	c.Clock = tool.Clock{Now: time.Now, Go: func(_ string, f func()) { go f() }, Sleep: func(ctx context.Context, _ string, d time.Duration) error {
		select {
		case <-time.After(d):
		case <-ctx.Done():
		}
		return context.Cause(ctx)
	}}
	return c
}

// ask is a call of a tool: its text, or why there is none.
func ask(t *testing.T, tl *tool.Tool, input string, c *tool.Context) (text, fail string) {
	t.Helper()
	in, problems := tl.Parse(json.RawMessage(input))
	require.Empty(t, problems, input)
	if refusal := tl.Validate(in, c); refusal != nil {
		return "", refusal.Message
	}
	out, err := tl.Call(t.Context(), in, c)
	if err != nil {
		return "", err.Error()
	}
	return message.PlainText(out.Blocks), ""
}

func TestTriggersAreKeptByTheService(t *testing.T) {
	s := &service{answers: map[string]string{
		"GET https://t.example/v1/triggers":            `[{"id":"a"}]`,
		"GET https://t.example/v1/triggers/a":          `{"id":"a","for":"tok-123456"}`,
		"POST https://t.example/v1/triggers":           `201 {"id":"b"}`,
		"PATCH https://t.example/v1/triggers/a":        `{"id":"a"}`,
		"POST https://t.example/v1/triggers/a/run":     `202 begun`,
		"GET https://t.example/v1/triggers/moved":      `302 elsewhere`,
		"POST https://t.example/v1/triggers/token/run": `403 not with tok-123456`,
	}}
	c := set(t, map[string]string{"REMOTE_TRIGGER_URL": "https://t.example/v1", "REMOTE_TRIGGER_TOKEN": "tok-123456"})
	trigger := web.RemoteTrigger(web.Deps{Do: s.do})
	for _, test := range []struct{ input, text, fail, sent string }{
		{`{"action":"list"}`, "HTTP 200\n[{\"id\":\"a\"}]", "", "GET https://t.example/v1/triggers"},
		{`{"action":"get","trigger_id":"a"}`, `HTTP 200` + "\n" + `{"id":"a","for":"[token]"}`, "", "GET https://t.example/v1/triggers/a"},
		{`{"action":"create","body":{"name":"x"}}`, `HTTP 201` + "\n" + `{"id":"b"}`, "", `POST https://t.example/v1/triggers {"name":"x"}`},
		{`{"action":"update","trigger_id":"a","body":{"name":"y"}}`, `HTTP 200` + "\n" + `{"id":"a"}`, "", `PATCH https://t.example/v1/triggers/a {"name":"y"}`},
		{`{"action":"run","trigger_id":"a"}`, "HTTP 202\nbegun", "", "POST https://t.example/v1/triggers/a/run"},
		{`{"action":"get","trigger_id":"moved"}`, "", "answered 302 Found to get moved: elsewhere", "GET https://t.example/v1/triggers/moved"},
		{`{"action":"run","trigger_id":"token"}`, "", "answered 403 Forbidden to run token: not with [token]", "POST https://t.example/v1/triggers/token/run"},
		{`{"action":"get","trigger_id":"none"}`, "", "answered 404 Not Found", "GET https://t.example/v1/triggers/none"},
		{`{"action":"get"}`, "", "get needs a trigger_id", ""},
		{`{"action":"run","trigger_id":"../x"}`, "", "run needs a trigger_id of letters", ""},
		{`{"action":"list","trigger_id":"a"}`, "", "list takes no trigger_id", ""},
		{`{"action":"create"}`, "", "create needs a body", ""},
		{`{"action":"update","trigger_id":"a","body":{}}`, "", "update needs a body", ""},
		{`{"action":"run","trigger_id":"a","body":{"x":1}}`, "", "run takes no body", ""},
	} {
		before := len(s.asked)
		text, fail := ask(t, trigger, test.input, c)
		assert.Equal(t, test.text, text, test.input)
		assert.Contains(t, fail, test.fail, test.input)
		assert.Equal(t, test.sent, strings.Join(s.asked[before:], ", "), test.input)
	}
	for _, token := range s.tokens {
		assert.Equal(t, "Bearer tok-123456", token)
	}
}

// A token in clear text is anybody's who is on the way.
func TestATokenGoesNowhereUnencrypted(t *testing.T) {
	s := &service{answers: map[string]string{"GET http://localhost:8080/triggers": "[]", "GET http://t.example/triggers": "[]"}}
	trigger, subscribe := web.RemoteTrigger(web.Deps{Do: s.do}), web.SubscribePR(web.Deps{Do: s.do, Tasks: &tool.Tasks{}, Inbox: &tool.Inbox{}})
	_, fail := ask(t, trigger, `{"action":"list"}`, set(t, map[string]string{"REMOTE_TRIGGER_URL": "http://t.example", "REMOTE_TRIGGER_TOKEN": "tok-123456"}))
	assert.Contains(t, fail, "t.example would get the token unencrypted")
	_, fail = ask(t, subscribe, `{"repo":"a/b","number":1}`, set(t, map[string]string{"PULL_REQUEST_URL": "http://git.example", "PULL_REQUEST_TOKEN": "tok-123456"}))
	assert.Contains(t, fail, "git.example would get the token unencrypted")
	assert.Empty(t, s.asked)
	for _, values := range []map[string]string{{"REMOTE_TRIGGER_URL": "http://localhost:8080", "REMOTE_TRIGGER_TOKEN": "tok-123456"}, {"REMOTE_TRIGGER_URL": "http://t.example"}} {
		text, fail := ask(t, trigger, `{"action":"list"}`, set(t, values))
		assert.Equal(t, "HTTP 200\n[]", text, fail)
	}
	assert.Equal(t, []string{"Bearer tok-123456", ""}, s.tokens)
	_, fail = ask(t, trigger, `{"action":"list"}`, set(t, nil))
	assert.Contains(t, fail, "no trigger service is configured")
}

func TestAPullRequestIsWatchedToItsEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const base = "GET https://api.github.com/repos/a/b/"
		s := &service{answers: map[string]string{
			base + "pulls/7": `{"title":"Faster","state":"open","head":{"sha":"c1"}}`,
			base + "issues/7/comments?per_page=100&page=1": `[{"id":1,"user":{"login":"ann"},"body":"Old."}]`,
			base + "pulls/7/comments?per_page=100&page=1":  `[]`,
			base + "commits/c1/check-runs?per_page=100":    `{"check_runs":[{"name":"test","status":"in_progress"}]}`,
			base + "commits/c2/check-runs?per_page=100":    `{"check_runs":[{"name":"test","status":"completed","conclusion":"failure"},{"name":"lint","status":"queued"}]}`,
			base + "pulls/8": `{"title":"Done","state":"closed","merged":true,"head":{"sha":"c1"}}`,
			base + "issues/8/comments?per_page=100&page=1": `[]`,
			base + "pulls/8/comments?per_page=100&page=1":  `[]`,
		}}
		c := set(t, nil)
		d := web.Deps{Do: s.do, Tasks: tool.NewTasks(c.Clock, nil), Inbox: tool.NewInbox(c.Clock, nil)}
		subscribe := web.SubscribePR(d)
		for input, want := range map[string]string{
			`{"repo":"a","number":7}`: "too short", `{"repo":"a/..","number":7}`: "is no repository", `{"repo":"a/b/c","number":7}`: "is no repository",
			`{"repo":"a/b","number":9}`: "a/b#9 cannot be watched: repos/a/b/pulls/9 answered 404 Not Found", `{"repo":"a/b","number":8}`: "a/b#8 is merged; there will be no news",
		} {
			if _, problems := subscribe.Parse(json.RawMessage(input)); len(problems) > 0 {
				continue
			}
			_, fail := ask(t, subscribe, input, c)
			assert.Contains(t, fail, want, input)
		}
		text, fail := ask(t, subscribe, `{"repo":"a/b","number":7,"interval_seconds":60}`, c)
		assert.Equal(t, `Watching as task_1: "Faster", open. News come to you as messages; TaskStop ends it.`, text, fail)

		news := func(after time.Duration) (texts []string) {
			time.Sleep(after)
			synctest.Wait()
			for _, m := range d.Inbox.Take("") {
				texts = append(texts, m.Text)
			}
			return texts
		}
		assert.Empty(t, news(5*time.Minute), "nothing has changed")
		s.answer(base+"pulls/7", `{"title":"Faster","state":"open","head":{"sha":"c2"}}`)
		s.answer(base+"pulls/7/comments?per_page=100&page=1", `[{"id":2,"user":{"login":"bob"},"body":"Why?","path":"x.go"}]`)
		assert.Equal(t, []string{"a/b#7: bob commented on x.go: Why?\nnew commits, the last is c2\ncheck lint: queued\ncheck test: failure"}, news(time.Minute))
		assert.Empty(t, news(3*time.Minute), "news are told once")

		s.answer(base+"pulls/7", "404 no such thing")
		assert.Empty(t, news(4*time.Minute), "a look that fails is made again")
		s.answer(base+"pulls/7", `{"title":"Faster","state":"closed","merged":true,"head":{"sha":"c2"}}`)
		assert.Equal(t, []string{"a/b#7: it is merged now"}, news(time.Minute))
		asked := s.count()
		assert.Empty(t, news(time.Hour))
		assert.Equal(t, asked, s.count(), "it is looked at no more")
		task, err := d.Tasks.Get("task_1")
		require.NoError(t, err)
		assert.Equal(t, tool.TaskCompleted, task.Status)
	})
}

func TestAPullRequestThatCannotBeSeenIsGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const base = "GET https://git.example/api/repos/a/b/"
		s := &service{answers: map[string]string{
			base + "pulls/7": `{"title":"Faster","state":"open","head":{"sha":"c1"}}`,
			base + "issues/7/comments?per_page=100&page=1": `[` + strings.Repeat(`{"id":1},`, 99) + `{"id":1}]`,
			base + "issues/7/comments?per_page=100&page=2": `[]`,
			base + "pulls/7/comments?per_page=100&page=1":  `[]`,
			base + "commits/c1/check-runs?per_page=100":    `{}`,
		}}
		c := set(t, map[string]string{"PULL_REQUEST_URL": "https://git.example/api"})
		d := web.Deps{Do: s.do, Tasks: tool.NewTasks(c.Clock, nil), Inbox: tool.NewInbox(c.Clock, nil)}
		_, fail := ask(t, web.SubscribePR(d), `{"repo":"a/b","number":7}`, c)
		require.Empty(t, fail)
		assert.Equal(t, 5, s.count(), "a full page is followed by the next")
		s.answer(base+"pulls/7", "<html>")
		time.Sleep(4*5*time.Minute + time.Second)
		synctest.Wait()
		assert.Empty(t, d.Inbox.Take(""))
		time.Sleep(5 * time.Minute)
		synctest.Wait()
		mail := d.Inbox.Take("")
		require.Len(t, mail, 1)
		assert.Contains(t, mail[0].Text, "a/b#7 is watched no more: 5 looks in a row failed, the last with: repos/a/b/pulls/7: the answer cannot be read")
		task, err := d.Tasks.Get("task_1")
		require.NoError(t, err)
		assert.Equal(t, tool.TaskFailed, task.Status)
	})
}
