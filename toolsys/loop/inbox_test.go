package loop_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"toolbench/toolsys/hook"
	"toolbench/toolsys/loop"
	"toolbench/toolsys/message"
	"toolbench/toolsys/tool"
	"toolbench/toolsys/trace"
)

// posting gives a session an inbox, and a tool that sends its text to the main conversation.
func posting(stay time.Duration) (change func(*loop.Config), inbox *tool.Inbox, post *tool.Tool) {
	inbox = tool.NewInbox(clock(), nil)
	post = named("Post", call(func(_ context.Context, in in, c *tool.Context) (tool.Result[string], error) {
		_, err := inbox.Post(tool.Mail{From: "scout", Kind: tool.MailMessage, Text: in.Text})
		return tool.Done("sent"), err
	}))
	return func(c *loop.Config) { c.Inbox, c.Stay = inbox, stay }, inbox, post
}

func lastOf(s *script, n int) message.Message {
	sent := s.requests[n].Messages
	return sent[len(sent)-1]
}

// A message is read before the next request, behind the results, and once.
func TestAMessageGoesOutWithTheNextRequest(t *testing.T) {
	change, _, post := posting(0)
	s := &script{turns: []turn{calls("Post hello"), says("done")}}
	r := open(t, s, change, post)
	r.send(t)
	last := lastOf(s, 1)
	require.Len(t, last.Content, 2)
	assert.Equal(t, message.TypeToolResult, last.Content[0].Type)
	assert.Equal(t, "<message from=\"scout\" kind=\"message\">\nhello\n</message>", last.Content[1].Text)
	assert.Equal(t, []string{"hello"}, r.kinds(trace.KindMailTaken, "text"))
	assert.Len(t, s.requests, 2)
}

// A turn without calls is not the end while a message is there.
func TestATurnGoesOnWithAMessage(t *testing.T) {
	change, inbox, post := posting(0)
	s := &script{turns: []turn{says("done"), says("and that too")}}
	s.at = func(n, i int) {
		if n == 0 && i == 3 {
			_, err := inbox.Post(tool.Mail{From: "scout", Text: "one more thing"})
			require.NoError(t, err)
		}
	}
	r := open(t, s, change, post)
	out := r.send(t)
	assert.Equal(t, 2, out.Turns)
	assert.Equal(t, "and that too", message.PlainText(out.Final.Content))
	assert.Contains(t, lastOf(s, 1).Content[0].Text, "one more thing")
}

// A session stays for what is due, not longer than it may, and not without anything due.
func TestASessionStaysForWhatIsDue(t *testing.T) {
	for _, test := range []struct {
		name   string
		stay   time.Duration
		due    bool
		comes  time.Duration
		turns  int
		lasted time.Duration
	}{
		{"it does not stay", 0, true, time.Minute, 1, 0},
		{"nothing is due", time.Hour, false, time.Minute, 1, 0},
		{"it comes", time.Hour, true, time.Minute, 2, time.Minute + time.Hour},
		{"it comes too late", time.Minute, true, time.Hour, 1, time.Minute},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				change, inbox, post := posting(test.stay)
				if test.due {
					defer inbox.Expect("")()
				}
				go func() {
					time.Sleep(test.comes)
					_, err := inbox.Post(tool.Mail{From: "cron", Kind: tool.MailCron, Text: "tick"})
					assert.NoError(t, err)
				}()
				began := time.Now()
				r := open(t, &script{turns: []turn{says("done"), says("ticked")}}, change, post)
				assert.Equal(t, test.turns, r.send(t).Turns)
				assert.Equal(t, test.lasted, time.Since(began))
				time.Sleep(2 * time.Hour)
			})
		})
	}
}

// The user's message ends the wait as a message of an agent does.
func TestTheUserEndsTheWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		change, inbox, post := posting(time.Hour)
		release := inbox.Expect("")
		r := open(t, &script{turns: []turn{says("done"), says("at once")}}, change, post)
		go func() {
			time.Sleep(time.Minute)
			r.Interrupt(message.UserText("come back"))
			release()
		}()
		began := time.Now()
		assert.Equal(t, 2, r.send(t).Turns)
		assert.Equal(t, time.Minute, time.Since(began))
	})
}

// What the user said stands before what agents sent at the same time.
func TestTheUsersMessageStandsBeforeAnAgents(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		change, inbox, post := posting(time.Hour)
		release := inbox.Expect("")
		s := &script{turns: []turn{says("done"), says("at once")}}
		r := open(t, s, change, post)
		go func() {
			time.Sleep(time.Minute)
			_, err := inbox.Post(tool.Mail{From: "scout", Text: "found it"})
			assert.NoError(t, err)
			r.Interrupt(message.UserText("come back"))
			release()
		}()
		r.send(t)
		content := lastOf(s, 1).Content
		require.Len(t, content, 2)
		assert.Equal(t, "come back", content[0].Text)
		assert.Contains(t, content[1].Text, "found it")
	})
}

// A hook that stops the turn stops the conversation, although a message for it is there.
func TestAMessageDoesNotUndoAHooksStop(t *testing.T) {
	change, _, post := posting(time.Hour)
	stop, err := hook.New(clock(), hook.Hook{Name: "guard", Event: hook.PostToolUse, Run: func(context.Context, hook.Input) (hook.Output, error) {
		return hook.Output{Stop: true, Reason: "enough"}, nil
	}})
	require.NoError(t, err)
	s := &script{turns: []turn{calls("Post hello"), says("never asked for")}}
	out := open(t, s, func(c *loop.Config) {
		change(c)
		c.Handlers.Hooks = stop
	}, post).send(t)
	assert.Equal(t, "hook", out.Stop)
	assert.Len(t, s.requests, 1)
}

// What the calls of an agent are is seen as progress of the calls above it, at any depth.
func TestAnAgentsCallsAreProgressOfItsParents(t *testing.T) {
	agent := named("Agent", call(func(ctx context.Context, in in, c *tool.Context) (tool.Result[string], error) {
		got, err := c.Spawn(ctx, tool.Job{Prompt: in.Text, Progress: c.Progress})
		return tool.Done(got.Text), err
	}))
	s := &script{turns: []turn{calls("Agent one"), calls("Agent two"), calls("Look"), says("deep"), says("middle"), says("done")}}
	inbox := tool.NewInbox(clock(), nil)
	r := open(t, s, func(c *loop.Config) { c.Inbox = inbox }, agent, named("Look", nil))
	r.send(t)
	seen := map[string][]string{}
	for _, e := range r.log.Events() {
		if e.Kind() == trace.KindProgress {
			seen[e.Agent] = append(seen[e.Agent], e.Get("text"))
		}
	}
	assert.Equal(t, map[string][]string{"": {"Agent", "agent_1.1: Look"}, "agent_1": {"Look"}}, seen)
	var ended []tool.PeerStatus
	for _, p := range inbox.Peers() {
		ended = append(ended, p.Status)
	}
	assert.Equal(t, []tool.PeerStatus{tool.PeerWorking, tool.PeerEnded, tool.PeerEnded}, ended)
}
