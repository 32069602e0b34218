package oracle

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
)

// teamModel has the teams of a session by who leads them.
type teamModel struct{ led map[string]string }

type peer struct {
	Name string
	You  bool
}

func (m *teamModel) check(w *Work) error {
	var in struct {
		Name string `json:"team_name"`
	}
	var out struct {
		Team  string `json:"team_name"`
		Peers []peer
	}
	if err := w.read(&in, &out); err != nil {
		return err
	}
	team, leads := m.led[w.Agent]
	taken := slices.Contains(slices.Collect(maps.Values(m.led)), in.Name)
	switch {
	case w.Tool == "ListPeers":
		for i, p := range out.Peers {
			if slices.ContainsFunc(out.Peers[:i], func(q peer) bool { return q.Name == p.Name }) {
				return fmt.Errorf("%s is there twice", p.Name)
			}
		}
		if you := howMany(out.Peers, func(p peer) bool { return p.You }); you > 1 || you == 0 && w.Agent == "" {
			return fmt.Errorf("%d of them are who asks", you)
		}
	case w.Tool == "TeamCreate" && w.ok():
		if leads || taken {
			return fmt.Errorf("the teams are %v already", m.led)
		}
		m.led[w.Agent] = in.Name
	case w.Tool == "TeamCreate" && w.Agent == "" && !leads && !taken:
		return fmt.Errorf("the teams are %v, and nothing is against another", m.led)
	case w.Tool == "TeamDelete" && w.ok():
		if !leads || out.Team != team {
			return fmt.Errorf("the team is %q", team)
		}
		delete(m.led, w.Agent)
	}
	return nil
}

// Fired is a message of a job: when it was sent, and by which job.
type Fired struct {
	At  time.Time
	Job string
}

// cronModel has the jobs of a session.
type cronModel struct {
	jobs  []*cronJob
	fired []Fired
}

type cronJob struct {
	id, task, line, prompt string
	recurring              bool
	made, gone             time.Time // gone is when it was ended by a call
}

func (m *cronModel) check(w *Work) error {
	var in struct {
		ID, Cron, Prompt string
		Task             string `json:"task_id"`
		Recurring        *bool
	}
	var out struct {
		ID, Task string
		Next     time.Time
		Jobs     []struct {
			ID, Cron, Prompt string
			Next             time.Time
			Fired            int
		}
	}
	if err := w.read(&in, &out); err != nil {
		return err
	}
	switch {
	case w.Tool == "CronCreate" && w.ok():
		job := &cronJob{id: fmt.Sprintf("cron_%d", len(m.jobs)+1), task: out.Task, line: in.Cron, prompt: in.Prompt, recurring: in.Recurring == nil || *in.Recurring, made: w.Ended}
		m.jobs = append(m.jobs, job)
		if next := nextOf(job.line, w.Ended); out.ID != job.id || !out.Next.Equal(next) {
			return fmt.Errorf("it is to be %s, next at %s", job.id, next)
		}
	case w.Tool == "CronCreate" && !nextOf(in.Cron, w.Ended).IsZero():
		return fmt.Errorf("the line comes true at %s", nextOf(in.Cron, w.Ended))
	case w.Tool == "CronDelete", w.Tool == "TaskStop":
		return m.end(w, in.ID, in.Task)
	case w.Tool == "CronList" && w.ok():
		var ids []string
		for _, j := range out.Jobs {
			ids = append(ids, j.ID)
			if k := m.job(j.ID); k == nil || k.line != j.Cron || k.prompt != j.Prompt || !j.Next.Equal(nextOf(j.Cron, w.Ended)) && !nextOf(j.Cron, w.Ended.Add(-time.Second)).Equal(w.Ended) {
				return fmt.Errorf("%s is not as it was made, or not next at %s", j.ID, nextOf(j.Cron, w.Ended))
			}
		}
		for _, j := range m.jobs {
			if alive, sure := m.alive(j, w.Ended); sure && alive != slices.Contains(ids, j.id) {
				return fmt.Errorf("%s is alive: %t", j.id, alive)
			}
		}
	}
	return nil
}

func (m *cronModel) job(id string) *cronJob {
	if i := slices.IndexFunc(m.jobs, func(j *cronJob) bool { return j.id == id }); i >= 0 {
		return m.jobs[i]
	}
	return nil
}

// end notes a job that a call ends, by its own id or by its task's.
func (m *cronModel) end(w *Work, id, task string) error {
	for _, j := range m.jobs {
		if j.id != id && (task == "" || j.task != task) {
			continue
		}
		if alive, sure := m.alive(j, w.Ended); sure && w.Tool == "CronDelete" && alive != w.ok() {
			return fmt.Errorf("%s is alive: %t", j.id, alive)
		}
		if w.ok() && j.gone.IsZero() {
			j.gone = w.Ended
		}
		return nil
	}
	if w.Tool == "CronDelete" && w.ok() {
		return fmt.Errorf("there is no such job")
	}
	return nil
}

// alive reports whether a job is still there; sure is false in an instant in which it fires.
func (m *cronModel) alive(j *cronJob, at time.Time) (alive, sure bool) {
	if !j.gone.IsZero() {
		return false, true
	}
	next := nextOf(j.line, j.made)
	if j.recurring {
		return true, true
	}
	return at.Before(next), !at.Equal(next)
}

// over checks that every job fired at its times, none left out and none twice, until it ended.
func (m *cronModel) over() error {
	next := map[string]time.Time{}
	for _, j := range m.jobs {
		next[j.id] = nextOf(j.line, j.made)
	}
	for _, f := range m.fired {
		j := m.job(f.Job)
		switch {
		case j == nil:
			return fmt.Errorf("at %s the job %s fired, which nobody made", f.At, f.Job)
		case !f.At.Equal(next[j.id]):
			return fmt.Errorf("%s (%s) fired at %s; it was due at %s", j.id, j.line, f.At, next[j.id])
		case !j.gone.IsZero() && f.At.After(j.gone):
			return fmt.Errorf("%s fired at %s; it was ended at %s", j.id, f.At, j.gone)
		}
		if next[j.id] = nextOf(j.line, f.At); !j.recurring {
			next[j.id] = time.Time{}
		}
	}
	return nil
}

// nextOf is when a line of five fields comes true next, minute by minute; the zero time is
// never. It knows numbers, stars and steps of stars.
func nextOf(line string, from time.Time) time.Time {
	fields := strings.Fields(line)
	limits := [5][2]int{{0, 59}, {0, 23}, {1, 31}, {1, 12}, {0, 7}}
	if len(fields) != 5 {
		return time.Time{}
	}
	for i, f := range fields {
		if n, err := strconv.Atoi(f); err == nil && (n < limits[i][0] || n > limits[i][1]) {
			return time.Time{}
		}
	}
	for t := from.Truncate(time.Minute).Add(time.Minute); t.Before(from.AddDate(2, 0, 0)); {
		switch {
		case !fits(fields[3], int(t.Month())), !fits(fields[2], t.Day()), !fits(fields[4], int(t.Weekday())):
			t = time.Date(t.Year(), t.Month(), t.Day()+1, 0, 0, 0, 0, t.Location())
		case !fits(fields[1], t.Hour()):
			t = t.Truncate(time.Hour).Add(time.Hour)
		case !fits(fields[0], t.Minute()):
			t = t.Add(time.Minute)
		default:
			return t
		}
	}
	return time.Time{}
}

func fits(field string, n int) bool {
	if step, ok := strings.CutPrefix(field, "*/"); ok {
		by, err := strconv.Atoi(step)
		return err == nil && n%by == 0
	}
	exact, err := strconv.Atoi(field)
	return field == "*" || err == nil && n == exact
}
