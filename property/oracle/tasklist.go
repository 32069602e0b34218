package oracle

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
)

// taskModel is the shared list of tasks (SPEC L) as a set of tasks and a list of pairs, of which
// the first comes before the second.
type taskModel struct {
	last   int
	tasks  map[int]task
	before [][2]int
}

type task struct {
	Subject, Description, ActiveForm, Owner, Status string
}

// shownTask is a task as the tools give it.
type shownTask struct {
	Task struct {
		ID string
		task
		Blocks, BlockedBy []string
	}
	Open, Ready []string
}

type taskInput struct {
	ID                      string `json:"taskId"`
	Subject, Description    *string
	ActiveForm, Owner       *string
	Status                  string
	AddBlocks, AddBlockedBy []string
}

func (m *taskModel) check(w *Work) error {
	var in taskInput
	var out shownTask
	var all struct{ Tasks []shownTask }
	if w.Tool == "TaskList" {
		if err := w.read(&in, &all); err != nil {
			return err
		}
		return m.list(all.Tasks)
	}
	if err := w.read(&in, &out); err != nil {
		return err
	}
	id, _ := strconv.Atoi(in.ID)
	switch w.Tool {
	case "TaskCreate":
		m.create(in)
		id = m.last
	case "TaskUpdate":
		next, err := m.update(id, in, w.Name, out.Task.Owner)
		if (err == nil) != w.ok() {
			return fmt.Errorf("by the rules of the list it is %v", err)
		}
		if err != nil {
			return nil
		}
		if *m = next; in.Status == "deleted" {
			return nil
		}
	}
	if _, there := m.tasks[id]; there != w.ok() {
		return fmt.Errorf("the list has task %d: %t", id, there)
	}
	if !w.ok() {
		return nil
	}
	return m.same(id, out)
}

func (m *taskModel) create(in taskInput) {
	if m.tasks == nil {
		m.tasks = map[int]task{}
	}
	m.last++
	t := task{Status: "pending", Subject: *in.Subject, Description: *in.Description}
	if in.ActiveForm != nil {
		t.ActiveForm = *in.ActiveForm
	}
	m.tasks[m.last] = t
}

func (m *taskModel) list(shown []shownTask) error {
	if len(shown) != len(m.tasks) {
		return fmt.Errorf("it lists %d tasks; there are %d", len(shown), len(m.tasks))
	}
	for i, id := range slices.Sorted(maps.Keys(m.tasks)) {
		if err := m.same(id, shown[i]); err != nil {
			return err
		}
	}
	return nil
}

// same checks that a task is shown as it is.
func (m *taskModel) same(id int, shown shownTask) error {
	t := m.tasks[id]
	var blocks, blockedBy, open []string
	for _, other := range slices.Sorted(maps.Keys(m.tasks)) {
		if slices.Contains(m.before, [2]int{id, other}) {
			blocks = append(blocks, strconv.Itoa(other))
		}
		if slices.Contains(m.before, [2]int{other, id}) {
			blockedBy = append(blockedBy, strconv.Itoa(other))
			if m.tasks[other].Status != "completed" {
				open = append(open, strconv.Itoa(other))
			}
		}
	}
	s := shown.Task
	if s.ID != strconv.Itoa(id) || s.task != t || !slices.Equal(s.Blocks, blocks) || !slices.Equal(s.BlockedBy, blockedBy) || !slices.Equal(shown.Open, open) {
		return fmt.Errorf("task %d is %+v, blocks %v, waits for %v, of which %v are open", id, t, blocks, blockedBy, open)
	}
	return nil
}

var (
	errTaskGone   = errors.New("refused: no such task")
	errTaskCircle = errors.New("refused: they would wait for each other")
	errTaskBegun  = errors.New("refused: it has begun already")
	errTaskTaken  = errors.New("refused: another agent works on it")
	errTaskStep   = errors.New("refused: no such step")
	errTaskWaits  = errors.New("refused: it waits for others")
)

// update changes a copy of the list. Owner is the name of the owner that was given, as the tool resolved it.
func (m *taskModel) update(id int, in taskInput, by, owner string) (taskModel, error) {
	next := taskModel{last: m.last, tasks: maps.Clone(m.tasks), before: slices.Clone(m.before)}
	t, there := next.tasks[id]
	if !there {
		return next, errTaskGone
	}
	after := each(in.AddBlocks, func(other string) [2]string { return [2]string{in.ID, other} })
	before := each(in.AddBlockedBy, func(other string) [2]string { return [2]string{other, in.ID} })
	for _, p := range append(after, before...) {
		if err := next.order(p); err != nil {
			return next, err
		}
	}
	for to, from := range map[*string]*string{&t.Subject: in.Subject, &t.Description: in.Description, &t.ActiveForm: in.ActiveForm} {
		if from != nil {
			*to = *from
		}
	}
	if t.Status == "in_progress" && t.Owner != "" && t.Owner != by && by != "main" && (in.Status != "" || in.Owner != nil) {
		return next, errTaskTaken
	}
	if in.Owner != nil {
		if t.Owner = owner; *in.Owner == "" && in.Status != "in_progress" {
			t.Owner = ""
		}
	}
	next.tasks[id] = t
	if in.Status == "" || in.Status == t.Status {
		return next, nil
	}
	return next, next.step(id, in, by)
}

// order notes that one task comes before another.
func (m *taskModel) order(pair [2]string) error {
	first, _ := strconv.Atoi(pair[0])
	then, _ := strconv.Atoi(pair[1])
	a, there1 := m.tasks[first]
	b, there2 := m.tasks[then]
	switch {
	case !there1 || !there2:
		return errTaskGone
	case m.leads(then, first):
		return errTaskCircle
	case b.Status != "pending" && a.Status != "completed":
		return errTaskBegun
	}
	m.before = append(m.before, [2]int{first, then})
	return nil
}

// leads reports whether one task is another, or comes before it.
func (m *taskModel) leads(from, to int) bool {
	return from == to || slices.ContainsFunc(m.before, func(pair [2]int) bool { return pair[0] == from && m.leads(pair[1], to) })
}

func (m *taskModel) step(id int, in taskInput, by string) error {
	t := m.tasks[id]
	switch t.Status + " " + in.Status {
	case "pending in_progress":
		if slices.ContainsFunc(m.before, func(pair [2]int) bool { return pair[1] == id && m.tasks[pair[0]].Status != "completed" }) {
			return errTaskWaits
		}
		t.Owner = cmp.Or(t.Owner, by)
		if t.Owner != by && in.Owner == nil {
			return errTaskTaken
		}
	case "in_progress pending":
		t.Owner = ""
	case "in_progress completed":
	case "pending deleted", "in_progress deleted", "completed deleted":
		delete(m.tasks, id)
		m.before = slices.DeleteFunc(m.before, func(pair [2]int) bool { return pair[0] == id || pair[1] == id })
		return nil
	default:
		return errTaskStep
	}
	t.Status = in.Status
	m.tasks[id] = t
	return nil
}
