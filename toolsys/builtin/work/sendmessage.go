package work

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"toolbench/toolsys/tool"
)

// Why SendMessage refuses an input that fits its schema.
const (
	CodeNoMessage = iota + 1
	CodeToItself
	CodeBroadcast
	CodeNoRequest
)

// everyone addresses the sender's team.
const everyone = "*"

// SendIn is what SendMessage takes.
type SendIn struct {
	To      string `json:"to" minLength:"1" jsonschema:"An agent's name or id, main for the main conversation, or * for everyone else in your team"`
	Message string `json:"message,omitempty" jsonschema:"The text"`
	Type    string `json:"type,omitempty" enum:"message,shutdown_request,shutdown_response,plan_approval_request,plan_approval_response" default:"message" jsonschema:"What sort of message it is"`
	// RequestID and Approve are an answer's. Approve is a pointer because both answers mean something.
	RequestID string `json:"request_id,omitempty" jsonschema:"The id of the request that is answered, as its mark has it in about"`
	Approve   *bool  `json:"approve,omitempty" jsonschema:"The answer to a request"`
}

// SendOut is what SendMessage answers with.
type SendOut struct {
	// To are the names of who has it.
	To []string `json:"to"`
	// RequestID is the id by which a request is answered.
	RequestID string `json:"request_id,omitempty"`
	// TaskID is the background task in which an agent that had ended goes on.
	TaskID string `json:"task_id,omitempty"`
	// Leaves is true when the sender agreed to end.
	Leaves bool `json:"leaves,omitempty"`
}

// SendMessage puts a message into another agent's inbox (SPEC L, B4). Messages are put
// there in call order; nothing but the session's own agents reads them, so the call
// allows itself.
func SendMessage(d Deps) *tool.Tool {
	return tool.Must(tool.Def[SendIn, SendOut]{
		Name:        "SendMessage",
		Coordinates: true,
		Describe:    func(in SendIn) string { return "Write to " + in.To },
		Texts:       prompts.Of("sendmessage"),
		Call:        tool.Data(d.send),
		Text:        SendOut.text,
		Validate:    d.validateSend,
		Permit:      tool.Allows[SendIn]("only agents of this session read it"),
		Subject: func(in SendIn, _ *tool.Context) tool.Subject {
			p, err := d.Inbox.Peer(in.To) // by its id an agent goes by another name in rules, and * is several
			return tool.Subject{Content: in.To, OthersUnknown: err != nil || p.Name != in.To}
		},
		Traits:  tool.Traits[SendIn]{ReadOnly: tool.Always[SendIn], Effects: writes[SendIn]("inbox")},
		Loading: tool.Loading{Deferrable: true},
		Shaping: tool.Shaping[SendIn]{
			Backfill:   d.envelope,
			Classifier: func(in SendIn) string { return in.To + ": " + in.Message },
		},
		View: tool.View[SendIn]{
			Title:    func(SendIn) string { return "Message to an agent" },
			Color:    "agent",
			Summary:  func(in SendIn) string { return in.To + ": " + firstLine(cmp.Or(in.Message, in.Type)) },
			Activity: func(in SendIn) string { return "Writing to " + in.To },
		},
	})
}

// kind is the sort of message, where none is given a plain one.
func (in SendIn) kind() tool.MailKind { return cmp.Or(tool.MailKind(in.Type), tool.MailMessage) }

// envelope shows observers who sends it, what sort it is and which agent it goes to (G2).
func (d Deps) envelope(raw map[string]any, c *tool.Context) {
	if kind, ok := raw["type"].(string); !ok || kind == "" {
		raw["type"] = string(tool.MailMessage)
	}
	raw["sender"] = d.nameOf(c.AgentID)
	to, _ := raw["to"].(string)
	raw["broadcast"] = to == everyone
	if p, err := d.Inbox.Peer(to); err == nil && to != "" {
		raw["recipient"] = cmp.Or(p.Agent, tool.MainName)
	}
}

// nameOf is how an agent is called by the others.
func (d Deps) nameOf(agent string) string {
	p, err := d.Inbox.Peer(agent)
	if err != nil {
		return cmp.Or(agent, tool.MainName)
	}
	return p.Name
}

func (d Deps) validateSend(in SendIn, c *tool.Context) *tool.Refusal {
	kind := in.kind()
	switch {
	case in.To == everyone && kind != tool.MailMessage:
		return &tool.Refusal{Message: fmt.Sprintf("a %s goes to one agent: give its name in to", kind), Code: CodeBroadcast}
	case in.To == everyone && len(d.team(c.AgentID)) == 0:
		return &tool.Refusal{Message: "you have no team that * could stand for; " + d.reachable(c.AgentID), Code: CodeBroadcast}
	case strings.TrimSpace(in.Message) == "" && !kind.Answer():
		return &tool.Refusal{Message: "the message is blank; write what the other agent is to know", Code: CodeNoMessage}
	case kind.Answer():
		return d.validateAnswer(in, c)
	}
	if p, err := d.Inbox.Peer(in.To); err == nil && p.Agent == c.AgentID {
		return &tool.Refusal{Message: "that is you; " + d.reachable(c.AgentID), Code: CodeToItself}
	}
	return nil
}

// validateAnswer holds an answer to the request it is for.
func (d Deps) validateAnswer(in SendIn, c *tool.Context) *tool.Refusal {
	refuse := func(format string, args ...any) *tool.Refusal {
		return &tool.Refusal{Message: fmt.Sprintf(format, args...), Code: CodeNoRequest}
	}
	if in.Approve == nil {
		return refuse("a %s needs approve, true or false", in.kind())
	}
	asked, ok := d.Inbox.Request(in.RequestID)
	switch {
	case !ok || asked.To != c.AgentID:
		return refuse("no request %q waits for your answer; the id stands in its mark, as about", in.RequestID)
	case asked.Kind.AnsweredBy() != in.kind():
		return refuse("%s is a %s; answer it with type %s", in.RequestID, asked.Kind, asked.Kind.AnsweredBy())
	}
	if p, err := d.Inbox.Peer(in.To); err != nil || p.Agent != asked.Sender {
		return refuse("%s came from %s; send the answer there", in.RequestID, asked.From)
	}
	return nil
}

// team are the others of an agent's team.
func (d Deps) team(agent string) []tool.Peer {
	self, err := d.Inbox.Peer(agent)
	if err != nil || self.Team == "" {
		return nil
	}
	return slices.DeleteFunc(d.Inbox.Peers(), func(p tool.Peer) bool { return p.Team != self.Team || p.Agent == agent })
}

// reachable words whom an agent can write to.
func (d Deps) reachable(agent string) string {
	var names []string
	for _, p := range d.Inbox.Peers() {
		if p.Agent != agent {
			names = append(names, fmt.Sprintf("%s (%s)", p.Name, p.Status))
		}
	}
	if len(names) == 0 {
		return "there is no other agent; start one with Agent"
	}
	return "there are " + strings.Join(names, ", ")
}

func (d Deps) send(_ context.Context, in SendIn, c *tool.Context) (SendOut, error) {
	m := tool.Mail{To: in.To, From: d.nameOf(c.AgentID), Sender: c.AgentID, Kind: in.kind(), About: in.RequestID, Text: in.text()}
	if in.To == everyone {
		return d.broadcast(m)
	}
	p, err := d.Inbox.Peer(in.To)
	if err != nil {
		return SendOut{}, fmt.Errorf("no agent %q; %s", in.To, d.reachable(c.AgentID))
	}
	sent, err := d.Inbox.Post(m)
	switch {
	case errors.Is(err, tool.ErrPeerEnded):
		return d.resume(p, m)
	case err != nil:
		return SendOut{}, err
	}
	out := SendOut{To: []string{p.Name}}
	if m.Kind.AnsweredBy() != "" {
		out.RequestID = sent.About
	}
	if m.Kind == tool.MailShutdownResponse && *in.Approve {
		d.Inbox.Dismiss(c.AgentID)
		out.Leaves = true
	}
	return out, nil
}

// text is what the other one reads; an answer begins with what it is.
func (in SendIn) text() string {
	if !in.kind().Answer() {
		return in.Message
	}
	word := map[bool]string{true: "approved", false: "not approved"}[*in.Approve]
	return strings.TrimSuffix(word+": "+in.Message, ": ")
}

// broadcast sends a message to the sender's team, but for those that have ended.
func (d Deps) broadcast(m tool.Mail) (SendOut, error) {
	var out SendOut
	for _, p := range d.team(m.Sender) {
		m.To = p.Agent
		if _, err := d.Inbox.Post(m); err == nil {
			out.To = append(out.To, p.Name)
		}
	}
	if len(out.To) == 0 {
		return out, errors.New("everyone else in the team has ended")
	}
	return out, nil
}

// resume begins an agent again that has ended, with the message.
func (d Deps) resume(p tool.Peer, m tool.Mail) (SendOut, error) {
	if m.Kind == tool.MailShutdownRequest {
		return SendOut{}, fmt.Errorf("%s has ended already", p.Name)
	}
	task, err := d.Inbox.Resume(p.Agent, m.Marked())
	if err != nil {
		return SendOut{}, fmt.Errorf("%s has ended and cannot be begun again, since only agents that run in the background can; start another with Agent", p.Name)
	}
	return SendOut{To: []string{p.Name}, TaskID: task}, nil
}

func (out SendOut) text() string {
	text := "Sent to " + strings.Join(out.To, ", ") + "."
	switch {
	case out.TaskID != "":
		text = fmt.Sprintf("%s had ended and goes on with your message in the background, as %s.", out.To[0], out.TaskID)
	case out.RequestID != "":
		text += " The answer comes as a message about " + out.RequestID + "."
	case out.Leaves:
		text += " You end with this turn: finish what you have begun."
	}
	return text
}
