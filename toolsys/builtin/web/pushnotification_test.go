package web_test

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"toolbench/toolsys/builtin/web"
	"toolbench/toolsys/message"
	"toolbench/toolsys/tool"
)

// A server as ntfy is one: the text is the body, the rest stands in headers.
func TestNtfyPublishesToATopic(t *testing.T) {
	var got *http.Request
	var body []byte
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got = r
		body, _ = io.ReadAll(r.Body)
		_, _ = io.WriteString(w, `{"id":"abc","event":"message"}`)
	}))
	defer server.Close()
	channel, err := web.Ntfy(http.DefaultClient.Do, server.URL+"/my-topic")
	require.NoError(t, err)
	id, err := channel(t.Context(), web.PushIn{Message: "Fertig: läuft.", Title: "Grüße\r\nX-Evil: 1", Priority: "high"})
	require.NoError(t, err)
	assert.Equal(t, "abc", id)
	assert.Equal(t, "/my-topic", got.URL.Path)
	assert.Equal(t, http.MethodPost, got.Method)
	assert.Equal(t, "Fertig: läuft.", string(body))
	assert.Equal(t, "=?utf-8?q?Gr=C3=BC=C3=9Fe_X-Evil:_1?=", got.Header.Get("Title"), "no header of its own")
	assert.Equal(t, "high", got.Header.Get("Priority"))
}

func TestWhatPushNotificationAnswersWhenItFails(t *testing.T) {
	answers := func(status int, body string) func(*http.Request) (*http.Response, error) {
		return func(*http.Request) (*http.Response, error) {
			w := httptest.NewRecorder()
			w.WriteHeader(status)
			_, _ = w.WriteString(body)
			return w.Result(), nil
		}
	}
	for _, bad := range []struct {
		do    func(*http.Request) (*http.Response, error)
		words string
	}{
		{answers(429, `{"error":"limit reached"}`), "takes no more for now"},
		{answers(403, `{"error":"forbidden"}`), "answered 403 forbidden"},
		{answers(500, "<html>"), "answered 500 Internal Server Error"},
		{func(*http.Request) (*http.Response, error) { return nil, errors.New("no route to host") }, "no route to host"},
	} {
		channel, err := web.Ntfy(bad.do, "https://ntfy.example/t")
		require.NoError(t, err)
		push := web.PushNotification(channel)
		in, problems := push.Parse(json.RawMessage(`{"message":"x"}`))
		require.Empty(t, problems)
		_, err = push.Call(t.Context(), in, &tool.Context{})
		assert.ErrorContains(t, err, bad.words)
	}
	channel, err := web.Ntfy(answers(200, "ok"), "https://ntfy.example/t")
	require.NoError(t, err)
	push := web.PushNotification(channel)
	in, _ := push.Parse(json.RawMessage(`{"message":"x"}`))
	out, err := push.Call(t.Context(), in, &tool.Context{})
	require.NoError(t, err, "an answer that cannot be read is no failure of what was taken")
	assert.Equal(t, "The notification is sent.", message.PlainText(out.Blocks))

	none := web.PushNotification(nil)
	_, err = none.Call(t.Context(), in, &tool.Context{})
	require.ErrorContains(t, err, "no channel")
	blank, _ := none.Parse(json.RawMessage(`{"message":" \n"}`))
	assert.NotNil(t, none.Validate(blank, &tool.Context{}))
	for _, topic := range []string{"", "ntfy.sh/x", "https://ntfy.sh", "https://ntfy.sh/", "file:///etc/passwd", "https://%zz/x"} {
		_, err := web.Ntfy(http.DefaultClient.Do, topic)
		assert.Error(t, err, topic)
	}
}
