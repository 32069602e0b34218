package tool

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"
	"slices"

	"toolbench/toolsys/message"
	"toolbench/toolsys/permission"
)

// State is everything of a conversation that calls may change (B2). It is a
// value: a change makes a new one, and what a call was given never moves under it.
type State struct {
	// Dir is the working directory, absolute.
	Dir string
	// Env is the shell's exported environment.
	Env map[string]string
	// Mode is the permission mode; Before is what plan mode goes back to.
	Mode, Before permission.Mode
	Rules        permission.Rules
	// Root is the working directory the conversation began in; it stays an allowed
	// root when Dir moves on. Extra are the other allowed roots (F1).
	Root  string
	Extra []string
	// Files is what was read, to refuse edits of what changed since (B5).
	Files FileCache
	// Discovered are the deferred tools loaded so far, sorted (E6).
	Discovered []string
	Todos      []Todo
	// Plan is the last plan presented.
	Plan string
	// Denials counts refusals, for the fall-back to asking (F3).
	Denials permission.Denials
	// Worktree is the isolated copy that the conversation works in; nil outside of one.
	Worktree *Worktree
	// Options are settings of the session that were changed in it, by name.
	Options map[string]string
	// Snipped is what is left out of the messages where they are sent on; they themselves
	// stay. A session that is opened again on them begins with nothing left out.
	Snipped Snips
	// Output is the answer in the form that the caller of the session asked for, once there is one.
	Output json.RawMessage
}

// Todo is one item of the to-do list.
type Todo struct {
	Content    string `json:"content"`
	Status     string `json:"status"`
	ActiveForm string `json:"activeForm"`
}

// Modifier is a pure function from state to state. Modifiers compose.
type Modifier func(State) State

// Then applies m, and next to what m made. Either may be nil.
func (m Modifier) Then(next Modifier) Modifier {
	switch {
	case m == nil:
		return next
	case next == nil:
		return m
	}
	return func(s State) State { return next(m(s)) }
}

// Roots are the folders the conversation may work in: where it began, where it is, and the additional ones (F1).
func (s State) Roots() []string {
	all := slices.Concat([]string{s.Root, s.Dir}, s.Extra)
	roots := all[:0]
	for _, r := range all {
		if r != "" && !slices.Contains(roots, r) {
			roots = append(roots, r)
		}
	}
	return roots
}

// Worktree is an isolated copy of a repository's tree, and where the conversation goes back
// to when it leaves it. It is not changed once it is made.
type Worktree struct {
	Name, Dir, Branch string
	// Main is the tree it is a copy of, of which no call changes a file meanwhile; Base is
	// what the copy began with, in the words of who made it.
	Main, Base string
	// Agent entered it; "" is the main conversation.
	Agent  string
	Before Place
}

// Left are the folders that the conversation worked in before, and the whole tree that they lie in; none without a worktree.
func (w *Worktree) Left() []string {
	if w == nil {
		return nil
	}
	return append([]string{w.Main, w.Before.Root}, w.Before.Extra...)
}

// Place is where a conversation works.
type Place struct {
	Dir, Root string
	Extra     []string
}

// Options that the tool system itself looks at; the model and what else a screen needs have names of their own.
const (
	OptionCoordinator = "coordinator"

	OptionModel    = "model"
	OptionSandbox  = "sandbox"
	OptionTheme    = "theme"
	OptionThinking = "thinking"
	OptionTodos    = "todos"
	OptionVerbose  = "verbose"
)

// Off reports whether an option is switched off.
func (s State) Off(option string) bool { return s.Options[option] == "false" }

// Coordinates reports whether the conversation only directs other agents, and which tools
// it may use is decided by their Coordinates.
func (s State) Coordinates() bool { return s.Options[OptionCoordinator] == "true" }

// WithOption changes an option; no value goes back to what it is without.
func (s State) WithOption(name, value string) State {
	options := maps.Clone(s.Options)
	if options == nil {
		options = map[string]string{}
	}
	if options[name] = value; value == "" {
		delete(options, name)
	}
	s.Options = options
	return s
}

// Snips are messages by number, counted from 1 over the whole conversation, and calls by the
// number of their message and their id, each sorted.
type Snips struct {
	Messages []int
	Calls    []message.CallAt
}

// Add gives the snips with more of them.
func (s Snips) Add(more Snips) Snips {
	messages, calls := slices.Concat(s.Messages, more.Messages), slices.Concat(s.Calls, more.Calls)
	slices.Sort(messages)
	slices.SortFunc(calls, func(a, b message.CallAt) int {
		return cmp.Or(cmp.Compare(a.Message, b.Message), cmp.Compare(a.ID, b.ID))
	})
	return Snips{Messages: slices.Compact(messages), Calls: slices.Compact(calls)}
}

// From gives the snips without messages of a lower number and their calls.
func (s Snips) From(number int) Snips {
	return Snips{
		Messages: slices.DeleteFunc(slices.Clone(s.Messages), func(n int) bool { return n < number }),
		Calls:    slices.DeleteFunc(slices.Clone(s.Calls), func(c message.CallAt) bool { return c.Message < number }),
	}
}

// Cut is what is left out of messages of which the first has a number.
func (s Snips) Cut(first int) message.Cut {
	cut := message.Cut{Messages: slices.Clone(s.Messages), Calls: slices.Clone(s.Calls)}
	for i := range cut.Messages {
		cut.Messages[i] -= first
	}
	for i := range cut.Calls {
		cut.Calls[i].Message -= first
	}
	return cut
}

// WithDir changes the working directory.
func (s State) WithDir(dir string) State {
	s.Dir = dir
	return s
}

// WithEnv replaces the exported environment.
func (s State) WithEnv(env map[string]string) State {
	s.Env = maps.Clone(env)
	return s
}

// Discover adds names to the discovered tools.
func (s State) Discover(names ...string) State {
	all := slices.Concat(s.Discovered, names)
	slices.Sort(all)
	s.Discovered = slices.Compact(all)
	return s
}

// Observation is what a call learned. Unlike a Modifier it commutes with those of other calls, so safe calls may have
// one; it is committed in call order under every policy (B5). One of the members is set.
type Observation struct {
	// Read is a file whose content was seen or written.
	Read *FileSeen
	// Discovered are tools loaded by ToolSearch.
	Discovered []string
	// Task is a background task that began.
	Task string
}

// Observe commits o.
func (s State) Observe(o Observation) State {
	if o.Read != nil {
		s.Files = s.Files.Put(*o.Read)
	}
	if len(o.Discovered) > 0 {
		s = s.Discover(o.Discovered...)
	}
	return s
}

// FileCacheLimit is how many files a conversation remembers.
const FileCacheLimit = 100

// FileSeen is one file's content as a call saw it. Content is compared, not the
// modification time: within one virtual instant all times are equal (B5).
type FileSeen struct {
	Path string
	Hash string
	// Partial is true when only a range was seen.
	Partial bool
	Offset  int
	Limit   int
}

// Seen notes content as all of path.
func Seen(path string, content []byte) Observation {
	return Observation{Read: &FileSeen{Path: path, Hash: HashOf(content)}}
}

// HashOf is how file contents are compared.
func HashOf(content []byte) string {
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:])
}

// FileCache is a bounded list in order of use as a value: most recent last,
// "recent" being call order, so that it is the same under every policy (B5).
type FileCache struct{ seen []FileSeen }

// Put adds or renews an entry. A part of what was seen in full, unchanged since, does not make less of it.
func (c FileCache) Put(f FileSeen) FileCache {
	next := make([]FileSeen, 0, len(c.seen)+1)
	for _, e := range c.seen {
		switch {
		case e.Path != f.Path:
			next = append(next, e)
		case f.Partial && !e.Partial && f.Hash == e.Hash:
			f = e // all of it was seen, and is unchanged
		}
	}
	next = append(next, f)
	if over := len(next) - FileCacheLimit; over > 0 {
		next = next[over:]
	}
	return FileCache{next}
}

// Get finds what was seen of path.
func (c FileCache) Get(path string) (FileSeen, bool) {
	i := slices.IndexFunc(c.seen, func(e FileSeen) bool { return e.Path == path })
	if i < 0 {
		return FileSeen{}, false
	}
	return c.seen[i], true
}

// Len is how many files are remembered.
func (c FileCache) Len() int { return len(c.seen) }

// All lists the entries, oldest first.
func (c FileCache) All() []FileSeen { return slices.Clone(c.seen) }
