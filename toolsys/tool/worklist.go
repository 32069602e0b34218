package tool

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// WorkStatus is how far an item of the shared list is.
type WorkStatus string

// An item goes from one status to the next. One in progress can be given back.
const (
	WorkPending    WorkStatus = "pending"
	WorkInProgress WorkStatus = "in_progress"
	WorkCompleted  WorkStatus = "completed"
	// WorkDeleted takes an item off the list.
	WorkDeleted WorkStatus = "deleted"
)

// WorkItem is one item of the shared list.
type WorkItem struct {
	// ID is 1, 2, ... in the order of Add; it is never given again.
	ID          string `json:"id"`
	Subject     string `json:"subject"`
	Description string `json:"description,omitempty"`
	ActiveForm  string `json:"activeForm,omitempty"`
	// Owner is the name of the agent that has it, "" nobody.
	Owner  string     `json:"owner,omitempty"`
	Status WorkStatus `json:"status"`
	// Blocks are the items that cannot begin before this one is completed, BlockedBy
	// those that this one waits for; both in order of id.
	Blocks    []string `json:"blocks,omitempty"`
	BlockedBy []string `json:"blockedBy,omitempty"`
}

// WorkChange is what is to become of an item. What is nil or empty stays.
type WorkChange struct {
	Subject, Description, ActiveForm, Owner *string
	Status                                  WorkStatus
	Blocks, BlockedBy                       []string
	// By is the name of the agent that changes it.
	By string
}

// ErrWork is wrapped by the errors of a WorkList, which are worded for the model.
var ErrWork = errors.New("the task list stays as it is")

// WorkList is the list of what is to be done that the agents of a session share (SPEC L). Like the background tasks
// it is no part of a conversation's state. It is safe for concurrent use; a change is made as a whole or not at all.
type WorkList struct {
	mu    sync.Mutex
	added int
	items []WorkItem // by id
}

// Add puts an item at the end of the list, pending and without an owner.
func (l *WorkList) Add(item WorkItem) WorkItem {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.added++
	item.ID, item.Status, item.Owner, item.Blocks, item.BlockedBy = strconv.Itoa(l.added), WorkPending, "", nil, nil
	l.items = append(l.items, item)
	return item
}

// All gives the items, by id.
func (l *WorkList) All() []WorkItem {
	l.mu.Lock()
	defer l.mu.Unlock()
	return copied(l.items)
}

func copied(items []WorkItem) []WorkItem {
	all := slices.Clone(items)
	for i := range all {
		all[i].Blocks, all[i].BlockedBy = slices.Clone(all[i].Blocks), slices.Clone(all[i].BlockedBy)
	}
	return all
}

// Get gives an item.
func (l *WorkList) Get(id string) (WorkItem, error) {
	all := l.All()
	i, err := place(all, id)
	if err != nil {
		return WorkItem{}, err
	}
	return all[i], nil
}

// place finds an item by its id.
func place(items []WorkItem, id string) (int, error) {
	i := slices.IndexFunc(items, func(w WorkItem) bool { return w.ID == id })
	if i >= 0 {
		return i, nil
	}
	if len(items) == 0 {
		return -1, fmt.Errorf("%w: there is no task %q, the list is empty", ErrWork, id)
	}
	ids := Each(items, func(w WorkItem) string { return w.ID })
	return -1, fmt.Errorf("%w: there is no task %q; there are %s", ErrWork, id, strings.Join(ids, ", "))
}

// Open gives the ids of the items that one waits for and that are not completed.
func (l *WorkList) Open(item WorkItem) []string { return open(l.All(), item) }

func open(items []WorkItem, item WorkItem) []string {
	return slices.DeleteFunc(slices.Clone(item.BlockedBy), func(id string) bool {
		i, err := place(items, id)
		return err != nil || items[i].Status == WorkCompleted
	})
}

// Change changes an item and gives it before and after. A deleted one comes back as it was, with the status deleted.
func (l *WorkList) Change(id string, c WorkChange) (before, after WorkItem, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	next := copied(l.items)
	i, err := place(next, id)
	if err != nil {
		return WorkItem{}, WorkItem{}, err
	}
	before = l.items[i]
	if err := connect(next, id, c); err != nil {
		return before, before, err
	}
	if err := next[i].change(next, c); err != nil {
		return before, before, err
	}
	after = next[i]
	if after.Status == WorkDeleted {
		next = without(next, id)
	}
	l.items = next
	return before, copied([]WorkItem{after})[0], nil
}

// change applies c to an item; all has the items with the dependencies that c adds.
func (w *WorkItem) change(all []WorkItem, c WorkChange) error {
	for _, text := range []struct{ to, from *string }{{&w.Subject, c.Subject}, {&w.Description, c.Description}, {&w.ActiveForm, c.ActiveForm}} {
		if text.from != nil {
			*text.to = *text.from
		}
	}
	if taken := w.Owner != "" && w.Owner != c.By && c.By != MainName; taken && w.Status == WorkInProgress && (c.Status != "" || c.Owner != nil) {
		return fmt.Errorf("%w: task %s is in progress and %s has it; write to %s", ErrWork, w.ID, w.Owner, w.Owner)
	}
	if c.Owner != nil {
		w.Owner = *c.Owner
	}
	if c.Status == "" || c.Status == w.Status {
		return nil
	}
	return w.move(all, c)
}

// nextStatus has the steps that an item may take.
var nextStatus = map[WorkStatus][]WorkStatus{
	WorkPending:    {WorkInProgress, WorkDeleted},
	WorkInProgress: {WorkCompleted, WorkPending, WorkDeleted},
	WorkCompleted:  {WorkDeleted},
}

// move changes an item's status. To begin it is to claim it.
func (w *WorkItem) move(all []WorkItem, c WorkChange) error {
	if steps := nextStatus[w.Status]; !slices.Contains(steps, c.Status) {
		words := Each(steps, func(s WorkStatus) string { return string(s) })
		return fmt.Errorf("%w: task %s is %s and cannot become %s; from there it can become %s",
			ErrWork, w.ID, w.Status, c.Status, strings.Join(words, ", "))
	}
	switch c.Status {
	case WorkInProgress:
		if waits := open(all, *w); len(waits) > 0 {
			return fmt.Errorf("%w: task %s cannot begin before %s is completed; take another one", ErrWork, w.ID, strings.Join(waits, ", "))
		}
		w.Owner = cmp.Or(w.Owner, c.By)
		if w.Owner != c.By && c.Owner == nil {
			return fmt.Errorf("%w: task %s is %s's; take another one, or set owner to take it over before it begins", ErrWork, w.ID, w.Owner)
		}
	case WorkPending:
		w.Owner = ""
	}
	w.Status = c.Status
	return nil
}

// connect adds the dependencies of c to item id, in both directions.
func connect(items []WorkItem, id string, c WorkChange) error {
	waits := Each(c.BlockedBy, func(other string) [2]string { return [2]string{other, id} })
	blocks := Each(c.Blocks, func(other string) [2]string { return [2]string{id, other} })
	for _, edge := range slices.Concat(blocks, waits) {
		first, err := place(items, edge[0])
		if err != nil {
			return err
		}
		then, err := place(items, edge[1])
		if err != nil {
			return err
		}
		if reaches(items, edge[1], edge[0], map[string]bool{}) {
			return fmt.Errorf("%w: task %s cannot wait for task %s, which itself waits for it", ErrWork, edge[1], edge[0])
		}
		if items[then].Status != WorkPending && items[first].Status != WorkCompleted {
			return fmt.Errorf("%w: task %s is %s already and cannot wait for task %s any more", ErrWork, edge[1], items[then].Status, edge[0])
		}
		items[first].Blocks = withID(items[first].Blocks, edge[1])
		items[then].BlockedBy = withID(items[then].BlockedBy, edge[0])
	}
	return nil
}

// reaches reports whether from is to, or blocks it over any number of others. Each item is
// looked at once: there may be more ways through a list than anybody could wait for.
func reaches(items []WorkItem, from, to string, seen map[string]bool) bool {
	if from == to || seen[from] {
		return from == to
	}
	seen[from] = true
	i, err := place(items, from)
	return err == nil && slices.ContainsFunc(items[i].Blocks, func(next string) bool { return reaches(items, next, to, seen) })
}

// withID adds an id in its place: ids are numbers.
func withID(ids []string, id string) []string {
	at, there := slices.BinarySearchFunc(ids, id, func(a, b string) int {
		if len(a) != len(b) {
			return len(a) - len(b)
		}
		return strings.Compare(a, b)
	})
	if there {
		return ids
	}
	return slices.Insert(ids, at, id)
}

// without takes an item off the list and out of what waits for it.
func without(items []WorkItem, id string) []WorkItem {
	isIt := func(other string) bool { return other == id }
	items = slices.DeleteFunc(items, func(w WorkItem) bool { return w.ID == id })
	for i := range items {
		items[i].Blocks = slices.DeleteFunc(items[i].Blocks, isIt)
		items[i].BlockedBy = slices.DeleteFunc(items[i].BlockedBy, isIt)
	}
	return items
}
