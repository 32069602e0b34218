package loop

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"toolbench/toolsys/jsonscan"
	"toolbench/toolsys/message"
)

// Entry is one line of a journal: what a session writes down before it acts on it, so
// that after a kill another can be opened that accounts for what may have been done (H6).
type Entry struct {
	Kind EntryKind `json:"kind"`
	// Messages are those of HistorySet and MessagesAdded, with the model that the last request
	// went to, Block that of BlockDone and CallEnded, Call the id of CallStarted.
	Messages []message.Message `json:"messages,omitempty"`
	Model    string            `json:"model,omitempty"`
	Block    *message.Block    `json:"block,omitempty"`
	Call     string            `json:"call,omitempty"`
}

// EntryKind is what an entry reports.
type EntryKind string

// The kinds. BlockDone, CallStarted and CallEnded belong to the answer that is being read, up to AnswerAbandoned,
// after which it is asked for again, or MessagesAdded, which has the answer and all its results in one entry.
const (
	HistorySet      EntryKind = "history"   // the conversation begins with, or was cut to, these messages
	MessagesAdded   EntryKind = "messages"  // these messages joined the conversation
	BlockDone       EntryKind = "block"     // a block of the answer is complete
	CallStarted     EntryKind = "start"     // a call is about to run
	CallEnded       EntryKind = "result"    // a call has its result
	AnswerAbandoned EntryKind = "abandoned" // the answer was given up (J5)
)

// ErrJournal is wrapped by the errors of ReadJournal.
var ErrJournal = errors.New("broken journal")

// WriteJournal gives a Config.Journal that writes each entry as one line of JSON, in one write.
func WriteJournal(w io.Writer) func(Entry) error {
	return func(e Entry) error {
		line, err := jsonscan.Marshal(e) // blocks keep their bytes
		if err != nil {
			return err
		}
		_, err = w.Write(append(line, '\n'))
		return err
	}
}

// ReadJournal reads what WriteJournal wrote. A last line without its end was being
// written when the process died: nothing of it had happened yet, and it is left out.
func ReadJournal(r io.Reader) ([]Entry, error) {
	data, err := io.ReadAll(r)
	if err != nil {
		return nil, err
	}
	lines := bytes.Split(data, []byte("\n"))
	var entries []Entry
	for i, line := range lines[:len(lines)-1] {
		var e Entry
		if err := json.Unmarshal(line, &e); err != nil {
			return nil, fmt.Errorf("%w: line %d: %w", ErrJournal, i+1, err)
		}
		if (e.Kind == BlockDone || e.Kind == CallEnded) && e.Block == nil {
			return nil, fmt.Errorf("%w: line %d: an entry of kind %s has no block", ErrJournal, i+1, e.Kind)
		}
		entries = append(entries, e)
	}
	return entries, nil
}

// Reopen gives the Config.History with which a session goes on from a journal, and its Config.Reader. Where the
// session before was killed within an answer of which calls had begun, that answer stands in it, as far as it was
// complete, with the results that were there. A call that had not begun gets a result that it was not run; to one
// that had begun and left no result New gives one by which what it did is uncertain.
func Reopen(entries []Entry) (history []message.Message, reader string) {
	open := []openAnswer{{}}
	for _, e := range entries {
		last := &open[len(open)-1]
		reader = cmp.Or(e.Model, reader)
		switch e.Kind {
		case HistorySet:
			history, open = slices.Clone(e.Messages), []openAnswer{{}}
		case MessagesAdded:
			for _, m := range e.Messages {
				history = joined(history, m)
			}
			open = []openAnswer{{}}
		case AnswerAbandoned:
			open = append(open, openAnswer{})
		case BlockDone:
			last.blocks = append(last.blocks, *e.Block)
		case CallStarted:
			last.started = append(last.started, e.Call)
		case CallEnded:
			last.results = append(last.results, *e.Block)
		}
	}
	for i := range open {
		history = onto(history, open, i)
	}
	return history, reader
}

// openAnswer is an answer that was not committed, or the attempt at one.
type openAnswer struct {
	blocks, results []message.Block
	started         []string
}

// onto appends the i-th attempt at an answer to the history. Nothing had happened as long as no call had begun: then
// the model is asked again. A call whose id several attempts have stands in the last one that began it.
func onto(history []message.Message, attempts []openAnswer, i int) []message.Message {
	o := attempts[i]
	owned := func(id string) bool { return owner(attempts, id) == i }
	if !slices.ContainsFunc(o.started, owned) {
		return history
	}
	answer, user := message.Message{Role: message.Assistant}, message.Message{Role: message.User}
	for _, b := range o.blocks {
		if b.Type == message.TypeToolUse && !owned(b.ID) {
			continue
		}
		answer.Content = append(answer.Content, b)
		if r, ok := o.result(b); ok {
			user.Content = append(user.Content, r)
		}
	}
	history = append(history, message.Message{Role: answer.Role, Content: message.Finished(answer.Content)})
	if len(user.Content) > 0 {
		history = append(history, user)
	}
	return history
}

// owner is the place of the last attempt that began a call, or the first that has it.
func owner(attempts []openAnswer, id string) int {
	for i, o := range slices.Backward(attempts) {
		if slices.Contains(o.started, id) {
			return i
		}
	}
	return slices.IndexFunc(attempts, func(o openAnswer) bool { return hasCall(o.blocks, id) })
}

// result answers a block that is a call, unless it had begun and left nothing.
func (o openAnswer) result(b message.Block) (message.Block, bool) {
	if b.Type != message.TypeToolUse {
		return message.Block{}, false
	}
	if at := slices.IndexFunc(o.results, func(r message.Block) bool { return r.ToolUseID == b.ID }); at >= 0 {
		return o.results[at], true
	}
	if slices.Contains(o.started, b.ID) {
		return message.Block{}, false
	}
	return message.ToolResult(b.ID, true, message.Text(b.Name+" was not run: the session ended before.")), true
}

// joined appends a message to a history; one of the user joins the user's before it. What
// has history as it was keeps it.
func joined(history []message.Message, m message.Message) []message.Message {
	if n := len(history); n > 0 && history[n-1].Role == m.Role && m.Role == message.User {
		last := history[n-1]
		last.Content = slices.Concat(last.Content, m.Content)
		return append(slices.Clip(history[:n-1]), last)
	}
	return append(history, m)
}

// record writes an entry into the journal. After the first that could not be written
// there are no more: calls do not run then, and Send ends with the error.
func (s *Session) record(e Entry) error {
	if s.cfg.Journal == nil {
		return nil
	}
	s.journal.Lock()
	defer s.journal.Unlock()
	if s.unwritten == nil {
		if err := s.cfg.Journal(e); err != nil {
			s.unwritten = fmt.Errorf("the journal could not be written: %w", err)
		}
	}
	return s.unwritten
}

// unjournaled gives the error for which the journal ended, or nil.
func (s *Session) unjournaled() error {
	s.journal.Lock()
	defer s.journal.Unlock()
	return s.unwritten
}
