package work

import (
	"context"
	_ "embed" // the prompts beside this file
	"fmt"
	"strings"
	"time"

	"toolbench/toolsys/message"
	"toolbench/toolsys/tool"
)

//go:embed croncreate.md
var cronCreatePrompt string

// CodeBadCron refuses a line that is no schedule.
const CodeBadCron = 1

// CronIn is what CronCreate takes.
type CronIn struct {
	Cron   string `json:"cron" minLength:"9" maxLength:"200" jsonschema:"Five fields in local time: minute hour day-of-month month day-of-week"`
	Prompt string `json:"prompt" minLength:"1" maxLength:"10000" jsonschema:"What is sent to you each time"`
	// Recurring is a pointer because its default is true.
	Recurring *bool `json:"recurring,omitempty" default:"true" jsonschema:"false: once, at the next time, and then no more"`
}

func (in CronIn) recurring() bool { return in.Recurring == nil || *in.Recurring }

// CronCreate begins a job that sends a prompt to the conversation at its times.
func CronCreate(crons *Crons) *tool.Tool {
	return tool.Must(tool.Def[CronIn, CronJob]{
		Name:        "CronCreate",
		Hint:        "create scheduled cron task",
		Description: "Sends you a prompt at given times, once or again and again.",
		Describe:    func(in CronIn) string { return "Schedule " + in.Cron },
		Prompt:      tool.Prompt(cronCreatePrompt),
		Call: func(_ context.Context, in CronIn, c *tool.Context) (tool.Result[CronJob], error) {
			job, err := crons.Create(in.Cron, in.Prompt, in.recurring(), c)
			if err != nil {
				return tool.Result[CronJob]{}, err
			}
			return tool.Result[CronJob]{Data: job, Observed: []tool.Observation{{Task: job.Task}}}, nil
		},
		Text: func(job CronJob) string {
			how := "once"
			if job.Recurring {
				how = "again and again"
			}
			return fmt.Sprintf("%s is scheduled (%s), %s; next at %s. It ends with the session.", job.ID, job.Cron, how, at(job.Next))
		},
		Validate: func(in CronIn, c *tool.Context) *tool.Refusal {
			if c.Clock.Now == nil {
				return nil
			}
			if _, err := schedule(in.Cron, c.Clock.Now()); err != nil {
				return &tool.Refusal{Message: err.Error(), Code: CodeBadCron}
			}
			return nil
		},
		Traits:  tool.Traits[CronIn]{Effects: cronEffects[CronIn]},
		Loading: tool.Loading{Deferrable: true},
		Shaping: tool.Shaping[CronIn]{Classifier: func(in CronIn) string { return in.Cron + ": " + in.Prompt }},
		View: tool.View[CronIn]{
			Title:    func(CronIn) string { return "Schedule" },
			Summary:  func(in CronIn) string { return in.Cron + ": " + in.Prompt },
			Activity: func(CronIn) string { return "Scheduling a prompt" },
		},
	})
}

// cronEffects are those of a call that changes the jobs.
func cronEffects[In any](In, *tool.Context) tool.Effects {
	return tool.Effects{Reads: []string{"crons"}, Writes: []string{"crons"}}
}

// at is a time of a schedule as the model reads it, in the session's local time.
func at(t time.Time) string { return t.Format("2006-01-02 15:04 MST") }

//go:embed crondelete.md
var cronDeletePrompt string

// CronRef names a job.
type CronRef struct {
	ID string `json:"id" minLength:"1" jsonschema:"The job's id, as CronCreate and CronList give it"`
}

// CronDelete ends a job. What it ends was begun by this very session.
func CronDelete(crons *Crons) *tool.Tool {
	return tool.Must(tool.Def[CronRef, CronJob]{
		Name:        "CronDelete",
		Hint:        "delete scheduled cron task",
		Description: "Ends a scheduled job.",
		Describe:    func(in CronRef) string { return "Delete the job " + in.ID },
		Prompt:      tool.Prompt(cronDeletePrompt),
		Call: tool.Data(func(ctx context.Context, in CronRef, _ *tool.Context) (CronJob, error) {
			return crons.Delete(ctx, in.ID)
		}),
		Text: func(job CronJob) string {
			return fmt.Sprintf("%s (%s) is deleted; it had fired %d times.", job.ID, job.Cron, job.Fired)
		},
		Permit:  tool.Allows[CronRef]("the job is the session's own"),
		Traits:  tool.Traits[CronRef]{Effects: cronEffects[CronRef]},
		Loading: tool.Loading{Deferrable: true},
		View: tool.View[CronRef]{
			Title:    func(CronRef) string { return "Delete schedule" },
			Summary:  func(in CronRef) string { return in.ID },
			Activity: func(in CronRef) string { return "Deleting " + in.ID },
		},
	})
}

//go:embed cronlist.md
var cronListPrompt string

// CronListIn is what CronList takes: nothing.
type CronListIn struct{}

// CronListOut is what CronList answers with.
type CronListOut struct {
	Jobs []CronJob `json:"jobs"`
}

// CronList lists the jobs of the session.
func CronList(crons *Crons) *tool.Tool {
	return tool.Must(tool.Def[CronListIn, CronListOut]{
		Name:        "CronList",
		Hint:        "list scheduled cron tasks",
		Description: "Lists the scheduled jobs of this session.",
		Prompt:      tool.Prompt(cronListPrompt),
		Call: tool.Data(func(context.Context, CronListIn, *tool.Context) (CronListOut, error) {
			return CronListOut{Jobs: crons.List()}, nil
		}),
		Text:    CronListOut.text,
		Traits:  tool.Looks(tool.Class{List: true}, func(CronListIn, *tool.Context) []string { return []string{"crons"} }),
		Loading: tool.Loading{Deferrable: true},
		View: tool.View[CronListIn]{
			Title:    func(CronListIn) string { return "Schedules" },
			Activity: func(CronListIn) string { return "Listing schedules" },
		},
		Draw: tool.Drawing[CronListIn, CronListOut]{Result: drawJobs},
	})
}

func (out CronListOut) text() string {
	if len(out.Jobs) == 0 {
		return "There are no scheduled jobs."
	}
	var b strings.Builder
	for _, j := range out.Jobs {
		how := "once"
		if j.Recurring {
			how = "recurring"
		}
		fmt.Fprintf(&b, "%s: %s, %s, next at %s, fired %d times: %s\n", j.ID, j.Cron, how, at(j.Next), j.Fired, message.Line(j.Prompt, tool.SummaryChars))
	}
	return b.String()
}
