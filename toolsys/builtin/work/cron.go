package work

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	cron "github.com/netresearch/go-cron"

	"toolbench/toolsys/message"
	"toolbench/toolsys/tool"
)

// MaxCrons is how many jobs a session has at once.
const MaxCrons = 50

// Crons are the jobs of a session that a clock fires: each a background task that sleeps
// until its time and then sends its prompt to the main conversation (SPEC L). Like the
// tasks they belong to the session and are shared by agents of every depth; they end with
// it.
type Crons struct {
	tasks *tool.Tasks
	inbox *tool.Inbox

	mu   sync.Mutex
	made int
	jobs []*CronJob
}

// CronJob is a job as it stood when it was asked for.
type CronJob struct {
	// ID is cron_1, cron_2, ... in the order of Create; Task is the background task.
	ID        string    `json:"id"`
	Task      string    `json:"task"`
	Cron      string    `json:"cron"`
	Prompt    string    `json:"prompt"`
	Recurring bool      `json:"recurring"`
	Next      time.Time `json:"next"`
	// Fired is how often the job has sent its prompt.
	Fired int `json:"fired"`
}

// NewCrons makes a table without jobs.
func NewCrons(tasks *tool.Tasks, inbox *tool.Inbox) *Crons { return &Crons{tasks: tasks, inbox: inbox} }

// fiveFields reads the usual five fields. Names of intervals and time zones are left out:
// a job keeps the session's local time.
var fiveFields = cron.MustNewParser(cron.Minute | cron.Hour | cron.Dom | cron.Month | cron.Dow)

// schedule reads a line of five fields, and refuses one that never comes true.
func schedule(line string, now time.Time) (cron.Schedule, error) {
	if fields := strings.Fields(line); len(fields) != 5 || strings.ContainsAny(line, "=@") {
		return nil, fmt.Errorf("%q is no line of five fields: minute hour day-of-month month day-of-week, such as */15 9-17 * * 1-5", message.Line(line, tool.SummaryChars))
	}
	s, err := fiveFields.Parse(line)
	if err != nil {
		return nil, fmt.Errorf("the cron line %q cannot be read: %w", line, err)
	}
	if s.Next(now).IsZero() {
		return nil, fmt.Errorf("the cron line %q never comes true", line)
	}
	return s, nil
}

// Create begins a job and gives it as it stands.
func (cs *Crons) Create(line, prompt string, recurring bool, c *tool.Context) (CronJob, error) {
	if cs == nil || cs.tasks == nil || cs.inbox == nil {
		return CronJob{}, errors.New("no jobs can run here: there are no background tasks, or no inbox for their prompts")
	}
	s, err := schedule(line, c.Clock.Now())
	if err != nil {
		return CronJob{}, err
	}
	cs.mu.Lock()
	if len(cs.jobs) == MaxCrons {
		cs.mu.Unlock()
		return CronJob{}, fmt.Errorf("there are %d jobs already, which is the most; delete one with CronDelete", MaxCrons)
	}
	cs.made++
	job := &CronJob{ID: fmt.Sprintf("cron_%d", cs.made), Cron: line, Prompt: prompt, Recurring: recurring, Next: s.Next(c.Clock.Now())}
	cs.jobs = append(cs.jobs, job)
	cs.mu.Unlock()

	release, clock := cs.inbox.Expect(""), c.Clock // they outlive the call
	spec := tool.TaskSpec{Kind: "cron", Title: line + ": " + message.Line(prompt, tool.SummaryChars), Agent: c.AgentID}
	task := cs.tasks.Start(spec, func(ctx context.Context, out io.Writer) (int, error) {
		defer release()
		defer cs.drop(job)
		return cs.run(ctx, job, s, clock, out)
	})
	cs.mu.Lock()
	defer cs.mu.Unlock()
	job.Task = task
	return *job, nil
}

// run fires a job at its times. A time that passes while the job is late is left out.
func (cs *Crons) run(ctx context.Context, job *CronJob, s cron.Schedule, clock tool.Clock, out io.Writer) (int, error) {
	for {
		cs.mu.Lock()
		next := job.Next
		cs.mu.Unlock()
		if err := clock.Sleep(ctx, "cron/"+job.ID, next.Sub(clock.Now())); err != nil {
			return 1, err
		}
		if clock.Now().Before(next) {
			continue // the clock was put back meanwhile: the time would come again
		}
		if _, err := cs.inbox.Post(tool.Mail{From: "cron", Kind: tool.MailCron, About: job.ID, Text: job.Prompt}); err != nil {
			return 1, err
		}
		fmt.Fprintf(out, "%s fired\n", next.Format(time.DateTime))
		cs.mu.Lock()
		job.Fired++
		job.Next = s.Next(clock.Now())
		cs.mu.Unlock()
		if !job.Recurring || job.Next.IsZero() {
			return 0, nil
		}
	}
}

func (cs *Crons) drop(job *CronJob) {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	cs.jobs = slices.DeleteFunc(cs.jobs, func(j *CronJob) bool { return j == job })
}

// List gives the jobs as they stand, in the order of Create.
func (cs *Crons) List() []CronJob {
	if cs == nil {
		return []CronJob{}
	}
	cs.mu.Lock()
	defer cs.mu.Unlock()
	return tool.Each(cs.jobs, func(j *CronJob) CronJob { return *j })
}

// Delete ends a job, and gives it as it last was. Whatever stops the call meanwhile, the job is ended then.
func (cs *Crons) Delete(ctx context.Context, id string) (CronJob, error) {
	all := cs.List()
	if i := slices.IndexFunc(all, func(j CronJob) bool { return j.ID == id }); i >= 0 {
		_, err := cs.tasks.Stop(context.WithoutCancel(ctx), all[i].Task)
		return all[i], err
	}
	return CronJob{}, errors.New(unknown("job", id, tool.Each(all, func(j CronJob) string { return j.ID })))
}

// CodeBadCron refuses a line that is no schedule.
const CodeBadCron = 1

// CronIn is what CronCreate takes.
type CronIn struct {
	Cron   string `json:"cron" minLength:"9" maxLength:"200" jsonschema:"Five fields in local time: minute hour day-of-month month day-of-week"`
	Prompt string `json:"prompt" minLength:"1" maxLength:"10000" jsonschema:"What is sent to you each time"`
	// Recurring is a pointer because its default is true.
	Recurring *bool `json:"recurring,omitempty" default:"true" jsonschema:"false: once, at the next time, and then no more"`
}

// CronCreate begins a job that sends a prompt to the conversation at its times.
func CronCreate(crons *Crons) *tool.Tool {
	return tool.Must(tool.Def[CronIn, CronJob]{
		Name:     "CronCreate",
		Describe: func(in CronIn) string { return "Schedule " + in.Cron },
		Texts:    prompts.Of("croncreate"),
		Call: func(_ context.Context, in CronIn, c *tool.Context) (tool.Result[CronJob], error) {
			job, err := crons.Create(in.Cron, in.Prompt, in.Recurring == nil || *in.Recurring, c)
			if err != nil {
				return tool.Result[CronJob]{}, err
			}
			return tool.Result[CronJob]{Data: job, Observed: []tool.Observation{{Task: job.Task}}}, nil
		},
		Text: func(job CronJob) string {
			how := map[bool]string{true: "again and again", false: "once"}[job.Recurring]
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
		Traits:  tool.Traits[CronIn]{Effects: changes[CronIn]("crons")},
		Loading: tool.Loading{Deferrable: true},
		Shaping: tool.Shaping[CronIn]{Classifier: func(in CronIn) string { return in.Cron + ": " + in.Prompt }},
		View:    tool.Titled("Schedule", "Scheduling a prompt", func(in CronIn) string { return in.Cron + ": " + in.Prompt }),
	})
}

// at is a time of a schedule as the model reads it, in the session's local time.
func at(t time.Time) string { return t.Format("2006-01-02 15:04 MST") }

// CronRef names a job.
type CronRef struct {
	ID string `json:"id" minLength:"1" jsonschema:"The job's id, as CronCreate and CronList give it"`
}

// CronDelete ends a job. What it ends was begun by this very session.
func CronDelete(crons *Crons) *tool.Tool {
	return tool.Must(tool.Def[CronRef, CronJob]{
		Name:     "CronDelete",
		Describe: func(in CronRef) string { return "Delete the job " + in.ID },
		Texts:    prompts.Of("crondelete"),
		Call: tool.Data(func(ctx context.Context, in CronRef, _ *tool.Context) (CronJob, error) {
			return crons.Delete(ctx, in.ID)
		}),
		Text: func(job CronJob) string {
			return fmt.Sprintf("%s (%s) is deleted; it had fired %d times.", job.ID, job.Cron, job.Fired)
		},
		Permit:  tool.Allows[CronRef]("the job is the session's own"),
		Traits:  tool.Traits[CronRef]{Effects: changes[CronRef]("crons")},
		Loading: tool.Loading{Deferrable: true},
		View:    tool.Doing("Delete schedule", "Deleting ", func(in CronRef) string { return in.ID }),
	})
}

// CronListOut is what CronList answers with.
type CronListOut struct {
	Jobs []CronJob `json:"jobs"`
}

// CronList lists the jobs of the session.
func CronList(crons *Crons) *tool.Tool {
	return tool.Must(tool.Def[Nothing, CronListOut]{
		Name:  "CronList",
		Texts: prompts.Of("cronlist"),
		Call: tool.Data(func(context.Context, Nothing, *tool.Context) (CronListOut, error) {
			return CronListOut{Jobs: crons.List()}, nil
		}),
		Text:    CronListOut.text,
		Traits:  tool.Looks(tool.Class{List: true}, func(Nothing, *tool.Context) []string { return []string{"crons"} }),
		Loading: tool.Loading{Deferrable: true},
		View:    tool.Titled[Nothing]("Schedules", "Listing schedules", nil),
		Draw:    tool.Drawing[Nothing, CronListOut]{Result: drawJobs},
	})
}

func (out CronListOut) text() string {
	if len(out.Jobs) == 0 {
		return "There are no scheduled jobs."
	}
	var b strings.Builder
	for _, j := range out.Jobs {
		how := map[bool]string{true: "recurring", false: "once"}[j.Recurring]
		fmt.Fprintf(&b, "%s: %s, %s, next at %s, fired %d times: %s\n", j.ID, j.Cron, how, at(j.Next), j.Fired, message.Line(j.Prompt, tool.SummaryChars))
	}
	return b.String()
}
