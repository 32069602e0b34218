package work_test

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"toolbench/toolsys/builtin/work"
	"toolbench/toolsys/message"
	"toolbench/toolsys/tool"
)

// from is a clock that stands still at a time of a zone.
func from(t *testing.T, zone, at string) *tool.Context {
	t.Helper()
	place, err := time.LoadLocation(zone)
	require.NoError(t, err)
	now, err := time.ParseInLocation(time.DateTime, at, place)
	require.NoError(t, err)
	c := &tool.Context{}
	c.Clock.Now = func() time.Time { return now }
	c.Clock.Go = func(string, func()) {}
	return c
}

// A job keeps local time when the clocks change: what falls into the hour that is left
// out comes after it, and what falls into the hour that comes twice comes once.
func TestAJobKeepsLocalTime(t *testing.T) {
	for _, c := range []struct{ now, line, next string }{
		{"2026-03-28 12:00:00", "30 2 * * *", "2026-03-29 03:30 CEST"},
		{"2026-03-29 03:00:00", "30 2 * * *", "2026-03-30 02:30 CEST"},
		{"2026-10-25 00:00:00", "30 2 * * *", "2026-10-25 02:30 CEST"},
		{"2026-02-28 23:59:00", "0 0 29 2 *", "2028-02-29 00:00 CET"},
		{"2026-11-22 10:00:00", "5 14 * * MON-FRI", "2026-11-23 14:05 CET"},
		{"2026-11-22 10:00:00", "0 9 1,15 * *", "2026-12-01 09:00 CET"},
	} {
		ctx := from(t, "Europe/Berlin", c.now)
		crons := work.NewCrons(tool.NewTasks(ctx.Clock, nil), tool.NewInbox(ctx.Clock, nil))
		job, err := crons.Create(c.line, "x", true, ctx)
		require.NoError(t, err)
		assert.Equal(t, c.next, job.Next.Format("2006-01-02 15:04 MST"), "%s after %s", c.line, c.now)
	}
}

func TestCronLinesThatAreNoneAreRefused(t *testing.T) {
	create := work.CronCreate(nil)
	for raw, want := range map[string]string{
		`{"cron":"* * * * * *","prompt":"x"}`:         "five fields",
		`{"cron":"@every 1s","prompt":"x"}`:           "five fields",
		`{"cron":"TZ= * * * *","prompt":"x"}`:         "five fields",
		`{"cron":"CRON_TZ=UTC * * * *","prompt":"x"}`: "five fields",
		`{"cron":"60 * * * *","prompt":"x"}`:          "60",
		`{"cron":"* 24 * * *","prompt":"x"}`:          "24",
		`{"cron":"*/0 * * * *","prompt":"x"}`:         "cannot be read",
		`{"cron":"\u0000 * * * *","prompt":"x"}`:      "cannot be read",
		`{"cron":"* * * * FOO","prompt":"x"}`:         "cannot be read",
		`{"cron":"0 0 30 2 *","prompt":"x"}`:          "never comes true",
	} {
		refusal := create.Validate(parse(t, create, raw), from(t, "UTC", "2026-01-01 00:00:00"))
		require.NotNil(t, refusal, raw)
		assert.Contains(t, refusal.Message, want, raw)
		assert.Equal(t, work.CodeBadCron, refusal.Code)
	}
	_, err := create.Call(t.Context(), parse(t, create, `{"cron":"* * * * *","prompt":"x"}`), from(t, "UTC", "2026-01-01 00:00:00"))
	assert.ErrorContains(t, err, "no jobs can run here")
	assert.Equal(t, "There are no scheduled jobs.", message.PlainText(call(t, work.CronList(nil), `{}`, &tool.Context{}).Blocks))
	_, err = work.CronDelete(nil).Call(t.Context(), parse(t, work.CronDelete(nil), `{"id":"cron_1"}`), &tool.Context{})
	assert.ErrorContains(t, err, "there are none")
}

// A job that could not run at its times fires once for all that it missed.
func TestTimesThatWereMissedDoNotPileUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		late := true
		clock := bubbleClock(nil)
		sleep := clock.Sleep
		clock.Sleep = func(ctx context.Context, actor string, d time.Duration) error {
			if late {
				late, d = false, 5*time.Hour
			}
			return sleep(ctx, actor, d)
		}
		inbox, tasks := tool.NewInbox(clock, nil), tool.NewTasks(clock, nil)
		crons := work.NewCrons(tasks, inbox)
		c := &tool.Context{}
		c.Clock = clock
		_, err := crons.Create("0 * * * *", "x", true, c)
		require.NoError(t, err)
		time.Sleep(5*time.Hour + time.Minute)
		assert.Len(t, inbox.Take(""), 1)
		assert.Equal(t, 1, crons.List()[0].Fired)
		require.NoError(t, tasks.StopAll(t.Context()))
		assert.Empty(t, crons.List())
	})
}

// A clock that is put back while a job waits has its time come once all the same.
func TestAClockThatIsPutBackFiresNothingTwice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var off atomic.Int64
		clock := bubbleClock(nil)
		clock.Now = func() time.Time { return time.Now().UTC().Add(time.Duration(off.Load())) }
		inbox := tool.NewInbox(clock, nil)
		crons := work.NewCrons(tool.NewTasks(clock, nil), inbox)
		c := &tool.Context{}
		c.Clock = clock
		job, err := crons.Create("0 * * * *", "Look.", true, c)
		require.NoError(t, err)
		time.Sleep(30 * time.Minute)
		off.Store(int64(-5 * time.Minute))
		time.Sleep(31 * time.Minute)
		synctest.Wait()
		assert.Empty(t, inbox.Take(""), "it is four minutes to the hour")
		time.Sleep(5 * time.Minute)
		synctest.Wait()
		assert.Len(t, inbox.Take(""), 1)
		assert.Equal(t, job.Next.Add(time.Hour), crons.List()[0].Next)
		_, err = crons.Delete(t.Context(), job.ID)
		require.NoError(t, err)
	})
}
