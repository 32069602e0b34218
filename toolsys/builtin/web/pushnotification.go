package web

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strings"
	"time"
	"unicode"

	"toolbench/toolsys/render"
	"toolbench/toolsys/tool"
)

// CodeBlankPush refuses a notification that has nothing to read.
const CodeBlankPush = 1

// pushTimeout is how long a channel may take.
const pushTimeout = 30 * time.Second

// PushIn is what PushNotification takes.
type PushIn struct {
	Message  string `json:"message" minLength:"1" maxLength:"1000" jsonschema:"What the user is to read, in one or two lines"`
	Title    string `json:"title,omitempty" maxLength:"100" jsonschema:"A few words above it"`
	Priority string `json:"priority,omitempty" enum:"low,normal,high" default:"normal" jsonschema:"How much it matters"`
}

// PushOut is what PushNotification answers with.
type PushOut struct {
	// ID is the channel's own, where it gives one.
	ID string `json:"id,omitempty"`
}

// Channel brings a notification to the user and gives the id by which the channel knows
// it, if any.
type Channel func(ctx context.Context, p PushIn) (id string, err error)

// PushNotification sends the user a notification (SPEC L). It leaves this machine, so
// the call reaches out, and a rule or a person has to allow it.
func PushNotification(send Channel) *tool.Tool {
	return tool.Must(tool.Def[PushIn, PushOut]{
		Name:  "PushNotification",
		Texts: prompts.Of("pushnotification"),
		Call: tool.Data(func(ctx context.Context, in PushIn, _ *tool.Context) (PushOut, error) {
			if send == nil {
				return PushOut{}, errors.New("no channel for notifications is set up here; put it into your last message")
			}
			id, err := send(ctx, in)
			if err != nil {
				return PushOut{}, fmt.Errorf("the notification was not sent: %w", err)
			}
			return PushOut{ID: id}, nil
		}),
		Text: func(PushOut) string { return "The notification is sent." },
		Validate: func(in PushIn, _ *tool.Context) *tool.Refusal {
			if strings.TrimSpace(in.Message) == "" {
				return &tool.Refusal{Message: "the notification is blank; write what the user is to read", Code: CodeBlankPush}
			}
			return nil
		},
		Traits: tool.Traits[PushIn]{
			OpenWorld: tool.Always[PushIn],
			Effects:   func(PushIn, *tool.Context) tool.Effects { return tool.Effects{Writes: []string{"user"}} },
		},
		Shaping: tool.Shaping[PushIn]{Classifier: func(in PushIn) string { return in.Title + ": " + in.Message }},
		Limits:  tool.Limits[PushIn]{Timeout: func(PushIn) time.Duration { return pushTimeout }},
		View: tool.Titled("Notification", "Notifying the user",
			func(in PushIn) string { return cmp.Or(in.Title, in.Message) }),
		Draw: tool.Drawing[PushIn, PushOut]{Use: drawNotification},
	})
}

// drawNotification draws the message below its title.
func drawNotification(in PushIn) []render.Node {
	if in.Title == "" || in.Message == "" {
		return nil
	}
	return []render.Node{render.Text{Text: in.Message, Role: render.Dim}}
}

// Ntfy is a channel that needs no account: a topic of an ntfy server, ntfy.sh or one's
// own, to which whoever knows its address is subscribed. Topic is that address.
func Ntfy(do func(*http.Request) (*http.Response, error), topic string) (Channel, error) {
	u, err := url.Parse(topic)
	if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" || strings.Trim(u.Path, "/") == "" {
		return nil, fmt.Errorf("%q is no address of a topic: it is like https://ntfy.sh/my-topic", topic)
	}
	return func(ctx context.Context, p PushIn) (string, error) {
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, topic, strings.NewReader(p.Message))
		if err != nil {
			return "", err
		}
		req.Header.Set("Content-Type", "text/plain; charset=utf-8")
		inOneLine := strings.FieldsFunc(p.Title, func(r rune) bool { return unicode.IsControl(r) || unicode.IsSpace(r) })
		if title := strings.Join(inOneLine, " "); title != "" {
			req.Header.Set("Title", mime.QEncoding.Encode("utf-8", title))
		}
		if p.Priority == "low" || p.Priority == "high" { // which ntfy calls the same
			req.Header.Set("Priority", p.Priority)
		}
		resp, err := do(req)
		if err != nil {
			return "", err
		}
		return ntfyID(resp)
	}, nil
}

// ntfyID reads the server's answer: the message as it was published.
func ntfyID(resp *http.Response) (string, error) {
	raw, err := io.ReadAll(io.LimitReader(resp.Body, 64<<10))
	_ = resp.Body.Close() // what was read counts
	if err != nil {
		return "", err
	}
	var published struct {
		ID    string `json:"id"`
		Error string `json:"error"`
	}
	readable := json.Unmarshal(raw, &published)
	switch {
	case resp.StatusCode == http.StatusTooManyRequests:
		return "", errors.New("the channel takes no more for now; try again later, or put it into your last message")
	case resp.StatusCode/100 != 2:
		return "", fmt.Errorf("the channel answered %d %s", resp.StatusCode, cmp.Or(published.Error, http.StatusText(resp.StatusCode)))
	case readable != nil:
		return "", nil // it was taken; an id is no must
	}
	return published.ID, nil
}
