package work_test

import (
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"toolbench/toolsys/builtin/work"
	"toolbench/toolsys/message"
	"toolbench/toolsys/permission"
	"toolbench/toolsys/pipeline"
	"toolbench/toolsys/tool"
)

// peers gives the tools an inbox with two agents of a team and one that has ended.
func peers(t *testing.T) work.Deps {
	t.Helper()
	d := deps
	d.Tasks = newTasks(nil)
	d.Inbox = newInbox()
	for _, p := range []tool.Peer{{Agent: "agent_1", Name: "left", Team: "pair"}, {Agent: "agent_2", Name: "right", Team: "pair"}, {Agent: "agent_3", Name: "gone"}} {
		_, err := d.Inbox.Join(p)
		require.NoError(t, err)
	}
	d.Inbox.Ended("agent_3", nil)
	return d
}

func as(agent string) *tool.Context {
	c := &tool.Context{}
	c.AgentID = agent
	return c
}

func TestWhatSendMessageRefuses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := peers(t)
		_, err := d.Inbox.Post(tool.Mail{To: "agent_1", From: "right", Sender: "agent_2", Kind: tool.MailShutdownRequest, Text: "Please."})
		require.NoError(t, err)
		send := work.SendMessage(d)
		for _, bad := range []struct {
			agent, input string
			code         int // 0: the call itself fails
			words        string
		}{
			{"", `{"to":"nobody","message":"x"}`, 0, `no agent "nobody"; there are left (working), right (working), gone (ended)`},
			{"", `{"to":"gone","message":"x"}`, 0, "cannot be begun again"},
			{"", `{"to":"gone","message":"x","type":"shutdown_request"}`, 0, "has ended already"},
			{"", `{"to":"*","message":"x"}`, work.CodeBroadcast, "no team"},
			{"agent_1", `{"to":"*","message":"x","type":"shutdown_request"}`, work.CodeBroadcast, "one agent"},
			{"agent_1", `{"to":"left","message":"x"}`, work.CodeToItself, "that is you"},
			{"agent_1", `{"to":"right","message":" "}`, work.CodeNoMessage, "blank"},
			{"agent_1", `{"to":"right"}`, work.CodeNoMessage, "blank"},
			{"agent_1", `{"to":"right","type":"shutdown_response","request_id":"mail_1"}`, work.CodeNoRequest, "needs approve"},
			{"agent_1", `{"to":"right","type":"shutdown_response","request_id":"mail_7","approve":true}`, work.CodeNoRequest, `no request "mail_7"`},
			{"agent_2", `{"to":"left","type":"shutdown_response","request_id":"mail_1","approve":true}`, work.CodeNoRequest, `no request "mail_1"`},
			{"agent_1", `{"to":"main","type":"shutdown_response","request_id":"mail_1","approve":true}`, work.CodeNoRequest, "came from right"},
			{"agent_1", `{"to":"right","type":"plan_approval_response","request_id":"mail_1","approve":true}`, work.CodeNoRequest, "answer it with type shutdown_response"},
		} {
			c := as(bad.agent)
			in := parse(t, send, bad.input)
			refusal := send.Validate(in, c)
			if bad.code != 0 {
				require.NotNil(t, refusal, bad.input)
				assert.Equal(t, bad.code, refusal.Code, bad.input)
				assert.Contains(t, refusal.Message, bad.words)
				continue
			}
			require.Nil(t, refusal, bad.input)
			_, err := send.Call(t.Context(), in, c)
			assert.ErrorContains(t, err, bad.words, bad.input)
		}
	})
}

// A request is answered once; one that approves of its end is dismissed.
func TestAShutdownIsAgreedUpon(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := peers(t)
		_, err := d.Inbox.Join(tool.Peer{Agent: "agent_4", Name: "stayer", Team: "pair", Stays: true})
		require.NoError(t, err)
		send := work.SendMessage(d)
		asked := call(t, send, `{"to":"stayer","message":"We are done.","type":"shutdown_request"}`, as(""))
		assert.Equal(t, "mail_1", asked.Data.(work.SendOut).RequestID)
		assert.Contains(t, message.PlainText(asked.Blocks), "about mail_1")

		agreed := call(t, send, `{"to":"main","type":"shutdown_response","request_id":"mail_1","approve":true}`, as("agent_4"))
		assert.Contains(t, message.PlainText(agreed.Blocks), "You end with this turn")
		taken := d.Inbox.Take("")
		require.Len(t, taken, 1)
		assert.Equal(t, "approved", taken[0].Text)
		p, err := d.Inbox.Peer("stayer")
		require.NoError(t, err)
		assert.False(t, p.Stays)
		assert.NotNil(t, send.Validate(parse(t, send, `{"to":"main","type":"shutdown_response","request_id":"mail_1","approve":false}`), as("agent_4")), "answered already")
	})
}

func TestABroadcastReachesTheOthersOfTheTeam(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := peers(t)
		send := work.SendMessage(d)
		out := call(t, send, `{"to":"*","message":"Meet at noon."}`, as("agent_1"))
		assert.Equal(t, work.SendOut{To: []string{"right"}}, out.Data)
		assert.Len(t, d.Inbox.Take("agent_2"), 1)
		assert.Empty(t, d.Inbox.Take("agent_1"))
		assert.Empty(t, d.Inbox.Take(""))
		d.Inbox.Ended("agent_2", nil)
		_, err := send.Call(t.Context(), parse(t, send, `{"to":"*","message":"Hello?"}`), as("agent_1"))
		assert.ErrorContains(t, err, "has ended")
	})
}

// Observers see the envelope whatever the model left out, and twice the same (G2).
// A rule about an agent holds for its id as well, and for a message to all of which it may be one.
func TestAMessageIsBoundByWhicheverNameItsReaderHas(t *testing.T) {
	send := work.SendMessage(peers(t))
	for _, b := range []permission.Behaviour{permission.Deny, permission.Ask} {
		rules, err := permission.Rules{}.Parse(permission.Project, b, "SendMessage(right)")
		require.NoError(t, err)
		c := as("agent_1")
		c.Rules, c.Mode = rules, permission.Bypass
		for to, want := range map[string]permission.Behaviour{
			"right": b, "RIGHT": b, "agent_2": permission.Ask, "*": permission.Ask, "left": permission.Allow, "main": permission.Allow,
		} {
			d, _, err := pipeline.Decide(send, []byte(`{"to":"`+to+`","message":"x"}`), c, nil)
			require.NoError(t, err)
			assert.Equal(t, want, d.Behaviour, "%s to %s: %s", b, to, d.Reason)
		}
	}
}

func TestObserversSeeTheEnvelope(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		send := work.SendMessage(peers(t))
		raw := map[string]any{"to": "right", "message": "x"}
		want := map[string]any{"to": "right", "message": "x", "type": "message", "sender": "left", "recipient": "agent_2", "broadcast": false}
		for range 2 {
			send.Shape.Backfill(raw, as("agent_1"))
			assert.Equal(t, want, raw)
		}
		raw = map[string]any{"to": "*"}
		send.Shape.Backfill(raw, as(""))
		assert.Equal(t, map[string]any{"to": "*", "type": "message", "sender": "main", "broadcast": true}, raw)
	})
}

func TestBriefNeedsAReader(t *testing.T) {
	b := work.Brief()
	_, err := b.Call(t.Context(), parse(t, b, `{"message":"x"}`), &tool.Context{})
	require.ErrorContains(t, err, "nobody is there")
	var shown []string
	c := as("agent_1")
	c.Notify = func(text string) { shown = append(shown, text) }
	assert.Equal(t, work.BriefOut{Message: "x", Status: "normal", From: "agent_1"}, call(t, b, `{"message":"x"}`, c).Data)
	assert.Equal(t, []string{"agent_1: x"}, shown)
	assert.NotNil(t, b.Validate(parse(t, b, `{"message":"\n "}`), c))
}
