package tool_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"toolbench/toolsys/tool"
)

// withInbox runs f on virtual time with an inbox; sent are the messages as the sink has them.
func withInbox(t *testing.T, f func(t *testing.T, b *tool.Inbox, sent *log)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		sent := &log{}
		f(t, tool.NewInbox(clock(&log{}), func(m tool.Mail) { sent.add(m.ID + " to " + m.To + ": " + m.Text) }), sent)
	})
}

func texts(all []tool.Mail) []string {
	var out []string
	for _, m := range all {
		out = append(out, m.Text)
	}
	return out
}

func TestAMessageIsTakenOnceAndInOrder(t *testing.T) {
	withInbox(t, func(t *testing.T, b *tool.Inbox, sent *log) {
		_, err := b.Join(tool.Peer{Agent: "agent_1", Name: "scout"})
		require.NoError(t, err)
		time.Sleep(3 * time.Second)
		first, err := b.Post(tool.Mail{To: "scout", From: "main", Kind: tool.MailMessage, Text: "one"})
		require.NoError(t, err)
		assert.Equal(t, "agent_1", first.To, "a name leads to the agent")
		assert.Equal(t, time.Now(), first.At)
		_, err = b.Post(tool.Mail{To: "agent_1", Text: "two"})
		require.NoError(t, err)
		_, err = b.Post(tool.Mail{To: "", Text: "for main"})
		require.NoError(t, err)
		assert.Equal(t, []string{"one", "two"}, texts(b.Take("agent_1")))
		assert.Empty(t, b.Take("agent_1"))
		assert.Equal(t, []string{"for main"}, texts(b.Take("")))
		assert.Equal(t, []string{"mail_1 to agent_1: one", "mail_2 to agent_1: two", "mail_3 to : for main"}, sent.lines)
	})
}

func TestWhoCannotBeReached(t *testing.T) {
	withInbox(t, func(t *testing.T, b *tool.Inbox, sent *log) {
		_, err := b.Post(tool.Mail{To: "nobody"})
		require.ErrorIs(t, err, tool.ErrNoPeer)
		_, err = b.Join(tool.Peer{Agent: "agent_1", Name: "scout"})
		require.NoError(t, err)
		for _, taken := range []tool.Peer{{Agent: "agent_2", Name: "scout"}, {Agent: "agent_2", Name: "agent_1"}, {Agent: "agent_1"}, {Agent: "agent_2", Name: tool.MainName}} {
			_, err = b.Join(taken)
			require.ErrorIs(t, err, tool.ErrPeerName, taken)
		}
		b.Ended("agent_1", nil)
		_, err = b.Post(tool.Mail{To: "scout"})
		require.ErrorIs(t, err, tool.ErrPeerEnded)
		_, err = b.Resume("agent_1", "go on")
		require.ErrorIs(t, err, tool.ErrPeerEnded)
		_, err = b.Join(tool.Peer{Agent: "agent_2", Name: "scout"})
		require.NoError(t, err, "one that has ended gives its name up")
		p, err := b.Peer("scout")
		require.NoError(t, err)
		assert.Equal(t, "agent_2", p.Agent)
		assert.Empty(t, sent.lines)
	})
}

func TestAnEndedAgentIsResumedOnce(t *testing.T) {
	withInbox(t, func(t *testing.T, b *tool.Inbox, _ *log) {
		_, err := b.Join(tool.Peer{Agent: "agent_1"})
		require.NoError(t, err)
		b.Ended("agent_1", func(text string) (string, error) {
			_, err := b.Resume("agent_1", "again") // the lock is not held
			require.ErrorIs(t, err, tool.ErrPeerEnded)
			return "task_2 " + text, nil
		})
		task, err := b.Resume("agent_1", "go on")
		require.NoError(t, err)
		assert.Equal(t, "task_2 go on", task)
	})
}

// What is due decides how long an agent waits: nothing, a job, a peer that reports, and
// one that waits itself for another.
func TestAnAgentWaitsForWhatIsDue(t *testing.T) {
	withInbox(t, func(t *testing.T, b *tool.Inbox, _ *log) {
		began := time.Now()
		waits := func(most time.Duration) string {
			start := time.Now()
			return fmt.Sprint(b.Await(t.Context(), "", most), " after ", time.Since(start))
		}
		assert.Equal(t, "false after 0s", waits(time.Hour), "nothing is due")
		deleted := b.Expect("")
		assert.Equal(t, "false after 1m0s", waits(time.Minute), "a job that does not come")
		go func() { time.Sleep(time.Second); deleted(); deleted() }()
		assert.Equal(t, "false after 1s", waits(time.Hour), "the job was deleted")

		for _, p := range []tool.Peer{
			{Agent: "agent_1", Reports: true}, {Agent: "agent_1.1", Parent: "agent_1", Reports: true}, {Agent: "agent_2"},
		} {
			_, err := b.Join(p)
			require.NoError(t, err)
		}
		go func() { b.Await(t.Context(), "agent_1", time.Hour) }()
		go func() { time.Sleep(5 * time.Second); b.Ended("agent_1.1", nil); b.Ended("agent_1", nil) }()
		assert.Equal(t, "false after 5s", waits(time.Hour), "an agent's own agent keeps both waiting")
		go func() {
			time.Sleep(time.Second)
			_, err := b.Post(tool.Mail{Text: "hello"})
			assert.NoError(t, err)
		}()
		defer b.Expect("")()
		assert.Equal(t, "true after 1s", waits(time.Hour))
		assert.Equal(t, "true after 0s", waits(time.Hour), "it was not taken")
		assert.Equal(t, 67*time.Second, time.Since(began))
	})
}

func TestOneThatStaysIsIdleUntilItIsDismissed(t *testing.T) {
	withInbox(t, func(t *testing.T, b *tool.Inbox, _ *log) {
		_, err := b.Join(tool.Peer{Agent: "agent_1", Name: "scout", Team: "t", Reports: true, Stays: true})
		require.NoError(t, err)
		status := func() tool.PeerStatus { p, _ := b.Peer("scout"); return p.Status }
		assert.Equal(t, tool.PeerWorking, status())
		over := make(chan bool)
		go func() { over <- b.Await(t.Context(), "agent_1", time.Hour) }()
		synctest.Wait()
		assert.Equal(t, tool.PeerIdle, status())
		assert.False(t, b.Await(t.Context(), "", time.Hour), "an idle agent brings nothing")
		b.Dismiss("agent_1")
		assert.False(t, <-over)
		p, _ := b.Peer("scout")
		assert.Empty(t, p.Team)
		ctx, cancel := context.WithCancel(t.Context())
		release := b.Expect("agent_1")
		defer release()
		cancel()
		assert.False(t, b.Await(ctx, "agent_1", time.Hour), "the wait is given up")
	})
}

// Whatever is written, the mark of the message is the only one.
func TestAMarkCannotBeForged(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		part := rapid.SliceOf(rapid.SampledFrom([]string{`</message>`, `<message from="main">`, `"`, "<", ">", "&lt;", "\n", "from=", "x"}))
		wild := func(what string) string { return strings.Join(part.Draw(rt, what), "") }
		m := tool.Mail{From: wild("from"), Kind: tool.MailMessage, About: wild("about"), Text: wild("text")}
		marked := m.Marked()
		head, body, _ := strings.Cut(marked, "\n")
		if strings.Count(marked, "<") != 2 || !strings.HasPrefix(head, `<message from="`) || strings.Count(head, `"`) != 4+2*min(1, len(m.About)) || !strings.HasSuffix(body, "\n</message>") {
			rt.Fatalf("%q", marked)
		}
	})
	plain := tool.Mail{From: "scout", Kind: tool.MailTask, About: "task_1", Text: "a < b && \"c\""}
	assert.Equal(t, "<message from=\"scout\" kind=\"task\" about=\"task_1\">\na &lt; b &amp;&amp; \"c\"\n</message>", plain.Marked())
}

// What an agent has not read when it ends goes back to who wrote it, not to a timer, and not to
// one that has ended itself.
func TestWhatWasNotReadGoesBack(t *testing.T) {
	withInbox(t, func(t *testing.T, b *tool.Inbox, sent *log) {
		for _, p := range []tool.Peer{{Agent: "agent_1", Name: "scout"}, {Agent: "agent_2", Name: "guide"}} {
			_, err := b.Join(p)
			require.NoError(t, err)
		}
		for _, m := range []tool.Mail{{Text: "look", Kind: tool.MailMessage}, {Text: "tick", From: "cron", Kind: tool.MailCron}, {Text: "wait", Sender: "agent_2", Kind: tool.MailMessage}} {
			m.To = "scout"
			_, err := b.Post(m)
			require.NoError(t, err)
		}
		b.Ended("agent_2", nil)
		woken := false
		release := b.Expect("")
		go func() { woken = b.Await(t.Context(), "", time.Hour) }()
		synctest.Wait()
		b.Ended("agent_1", nil)
		synctest.Wait()
		assert.True(t, woken)
		release()
		back := b.Take("")
		require.Len(t, back, 1)
		assert.Equal(t, []string{"scout", "agent_1", "mail_1", "I ended before I read your message, which was: look"}, []string{back[0].From, back[0].Sender, back[0].About, back[0].Text})
		assert.Empty(t, b.Take("agent_1"))
		assert.Equal(t, "mail_4 to : "+back[0].Text, sent.lines[3])
	})
}
