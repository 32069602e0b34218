package web

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"toolbench/toolsys/permission"
	"toolbench/toolsys/tool"
)

// Why a call of RemoteTrigger is refused.
const (
	CodeNoTrigger = iota + 1
	CodeNoBody
)

// maxReply is how much of a service's answer is read.
const maxReply = 1 << 20

// TriggerIn is what RemoteTrigger takes.
type TriggerIn struct {
	Action  string         `json:"action" enum:"list,get,create,update,run" jsonschema:"What to do"`
	Trigger string         `json:"trigger_id,omitempty" jsonschema:"The trigger, for get, update and run"`
	Body    map[string]any `json:"body,omitempty" jsonschema:"For create and update: the trigger as the service takes it, such as name, schedule and prompt"`
}

// TriggerOut is what RemoteTrigger answers with.
type TriggerOut struct {
	Status int    `json:"status"`
	Body   string `json:"body"`
}

// RemoteTrigger lists, reads, makes, changes and runs triggers of a service elsewhere: jobs
// that go on when this session is over (SPEC L). Where the service is, and the token for it,
// come from the settings; the token is never part of an answer.
func RemoteTrigger(d Deps) *tool.Tool {
	return tool.Must(tool.Def[TriggerIn, TriggerOut]{
		Name:     "RemoteTrigger",
		Describe: TriggerIn.what,
		Texts:    prompts.Of("remotetrigger"),
		Call:     tool.Data(d.trigger),
		Text:     func(out TriggerOut) string { return fmt.Sprintf("HTTP %d\n%s", out.Status, out.Body) },
		Validate: func(in TriggerIn, _ *tool.Context) *tool.Refusal { return in.refusal() },
		Subject:  func(in TriggerIn, _ *tool.Context) tool.Subject { return tool.Subject{Content: in.Action} },
		Traits: tool.Traits[TriggerIn]{
			Safe: TriggerIn.reads, ReadOnly: TriggerIn.reads, OpenWorld: tool.Always[TriggerIn], Interrupt: tool.Cancel,
			Effects: func(in TriggerIn, _ *tool.Context) tool.Effects {
				if in.reads() {
					return tool.Effects{Reads: []string{"triggers"}}
				}
				return tool.Effects{Reads: []string{"triggers"}, Writes: []string{"triggers"}}
			},
		},
		Loading: tool.Loading{Deferrable: true},
		Shaping: tool.Shaping[TriggerIn]{Classifier: func(in TriggerIn) string {
			body, _ := json.Marshal(in.Body) // it came as JSON
			return in.what() + " " + string(body)
		}},
		Limits: tool.Limits[TriggerIn]{Timeout: func(TriggerIn) time.Duration { return Timeout }},
		View:   tool.Doing("Remote trigger", "Calling the trigger service: ", TriggerIn.what),
	})
}

func (in TriggerIn) reads() bool { return in.Action == "list" || in.Action == "get" }

func (in TriggerIn) what() string { return strings.TrimSpace(in.Action + " " + in.Trigger) }

// triggerID is what may stand in the path of an address.
var triggerID = regexp.MustCompile(`^[A-Za-z0-9_-]{1,128}$`)

func (in TriggerIn) refusal() *tool.Refusal {
	named := slices.Contains([]string{"get", "update", "run"}, in.Action)
	filled := slices.Contains([]string{"create", "update"}, in.Action)
	switch {
	case named && !triggerID.MatchString(in.Trigger):
		return &tool.Refusal{Message: fmt.Sprintf("%s needs a trigger_id of letters, digits, _ and -; action list shows them", in.Action), Code: CodeNoTrigger}
	case !named && in.Trigger != "":
		return &tool.Refusal{Message: fmt.Sprintf("%s takes no trigger_id", in.Action), Code: CodeNoTrigger}
	case filled && len(in.Body) == 0:
		return &tool.Refusal{Message: fmt.Sprintf("%s needs a body with the trigger's members", in.Action), Code: CodeNoBody}
	case !filled && len(in.Body) > 0:
		return &tool.Refusal{Message: fmt.Sprintf("%s takes no body", in.Action), Code: CodeNoBody}
	}
	return nil
}

// route is the method of an action and where it goes below the service's address.
func (in TriggerIn) route() (method string, path []string) {
	method = map[string]string{"create": http.MethodPost, "update": http.MethodPatch, "run": http.MethodPost}[in.Action]
	return cmp.Or(method, http.MethodGet), []string{"triggers", in.Trigger, map[bool]string{true: "run"}[in.Action == "run"]}
}

func (d Deps) trigger(ctx context.Context, in TriggerIn, c *tool.Context) (TriggerOut, error) {
	set := c.CurrentSettings()
	base, token := set.TriggerURL, set.TriggerToken.Reveal()
	if base == "" {
		return TriggerOut{}, errors.New("no trigger service is configured here; the user can set REMOTE_TRIGGER_URL and REMOTE_TRIGGER_TOKEN")
	}
	method, below := in.route()
	status, body, err := d.exchange(ctx, request{method: method, base: base, path: below, token: token, body: in.Body})
	if err != nil {
		return TriggerOut{}, fmt.Errorf("the trigger service: %w", err)
	}
	if status >= 300 {
		return TriggerOut{}, fmt.Errorf("the trigger service answered %d %s to %s: %s", status, http.StatusText(status), in.what(), body)
	}
	return TriggerOut{Status: status, Body: body}, nil
}

// request is one to a service that takes and gives JSON.
type request struct {
	method, base string
	path         []string
	query        string
	token        string
	body         map[string]any
}

// exchange sends a request and gives the answer's text, in which the token is blanked
// should the service repeat it. No redirect is followed: the token is for this address.
func (d Deps) exchange(ctx context.Context, r request) (status int, text string, err error) {
	u, err := url.Parse(r.base)
	if err != nil {
		return 0, "", err
	}
	if r.token != "" && u.Scheme != "https" && !permission.ThisMachine(u.Hostname()) {
		return 0, "", fmt.Errorf("%s would get the token unencrypted; give it an address with https", u.Host)
	}
	u = u.JoinPath(r.path...)
	u.RawQuery = r.query
	var body []byte
	if len(r.body) > 0 {
		body, _ = json.Marshal(r.body) // it came as JSON
	}
	req, err := http.NewRequestWithContext(ctx, r.method, u.String(), bytes.NewReader(body))
	if err != nil {
		return 0, "", err
	}
	req.Header.Set("Accept", "application/json")
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if r.token != "" {
		req.Header.Set("Authorization", "Bearer "+r.token)
	}
	resp, err := d.Do(req)
	if err != nil {
		return 0, "", errors.New(without(r.token, err.Error()))
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(io.LimitReader(resp.Body, maxReply+1))
	if err != nil {
		return 0, "", fmt.Errorf("the answer broke off: %w", err)
	}
	if len(raw) > maxReply {
		return 0, "", fmt.Errorf("the answer is longer than %d bytes", maxReply)
	}
	return resp.StatusCode, without(r.token, strings.ToValidUTF8(string(raw), "\uFFFD")), nil
}

// without is a text in which a token is blanked.
func without(token, text string) string {
	if token == "" {
		return text
	}
	return strings.ReplaceAll(text, token, "[token]")
}
