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

// Errors of the table.
var (
	errNoCrons   = errors.New("no jobs can run here: there are no background tasks, or no inbox for their prompts")
	errManyCrons = fmt.Errorf("there are %d jobs already, which is the most; delete one with CronDelete", MaxCrons)
)

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
		return CronJob{}, errNoCrons
	}
	s, err := schedule(line, c.Clock.Now())
	if err != nil {
		return CronJob{}, err
	}
	cs.mu.Lock()
	if len(cs.jobs) == MaxCrons {
		cs.mu.Unlock()
		return CronJob{}, errManyCrons
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
		_, err := cs.inbox.Post(tool.Mail{From: "cron", Kind: tool.MailCron, About: job.ID, Text: job.Prompt})
		if err != nil {
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
	jobs := []CronJob{}
	if cs == nil {
		return jobs
	}
	cs.mu.Lock()
	defer cs.mu.Unlock()
	for _, j := range cs.jobs {
		jobs = append(jobs, *j)
	}
	return jobs
}

// Delete ends a job, and gives it as it last was.
func (cs *Crons) Delete(ctx context.Context, id string) (CronJob, error) {
	all := cs.List()
	i := slices.IndexFunc(all, func(j CronJob) bool { return j.ID == id })
	if i >= 0 {
		_, err := cs.tasks.Stop(ctx, all[i].Task)
		return all[i], err
	}
	var ids []string
	for _, j := range all {
		ids = append(ids, j.ID)
	}
	if len(ids) == 0 {
		return CronJob{}, fmt.Errorf("no job %q: there are no jobs", id)
	}
	return CronJob{}, fmt.Errorf("no job %q; there are %s", id, strings.Join(ids, ", "))
}
