package pipeline

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"hash/maphash"
	"maps"
	"strings"
	"sync"
	"unicode/utf8"

	"toolbench/toolsys/message"
	"toolbench/toolsys/tool"
)

// SizeVerdict is what became of a result's text.
type SizeVerdict int

// Kept text is sent as it is. Persisted text is in a file in full and sent as a
// preview. Truncated text is cut short with a note, and the rest is nowhere.
const (
	Kept SizeVerdict = iota
	Persisted
	Truncated
)

func (v SizeVerdict) String() string { return [...]string{"kept", "persisted", "truncated"}[v] }

// Sizing is what was decided on one result, for the trace (K1, K2).
type Sizing struct {
	CallID  string
	Verdict SizeVerdict
	// Path is the file that holds all of it; "" unless persisted.
	Path string
	// Chars is the size of all of it and Inline of what is sent, in code points of text.
	Chars, Inline int
	// Why names the limit that was passed, and for a truncated result why it could not be saved; "" when kept.
	Why string
}

const (
	// PreviewChars is about how much of a saved result is shown, in code points; the cut is at a line end.
	PreviewChars = 2_000
	// MaxMessageChars bounds the text of all results of one message (K2).
	MaxMessageChars = 200_000
	// MaxInlineBytes is what no result's text ever reaches: 100,000 tokens of four bytes (K2).
	MaxInlineBytes = 400_000
)

// Ledger keeps what tools give back from filling the model's window (SPEC K1-K3). A result over its tool's own limit,
// and the largest results of a message over the message's limit, go to a file in full; the model gets the beginning,
// the size and the path. Only text counts and only text is moved: images and documents have limits of their own where
// they are made.
//
// A decision, once sent, is frozen: asked again about the same result, a Ledger gives
// the same bytes, because a request that repeats the conversation with other bytes
// loses the prompt cache. That is why the decisions are kept and not worked out anew.
//
// A tool that limits itself (Read) is never chosen, neither by its own size nor by the message's: a saved result is
// read with Read, and would be saved again, and read again. One bound holds for it too: text of [MaxInlineBytes] is
// cut short with a note, since no window can hold it.
//
// A Ledger holds the decisions of one conversation. It is safe for concurrent use; no
// lock is held while a file is written.
type Ledger struct {
	store ResultStore
	seed  maphash.Seed

	files *files

	mu      sync.Mutex
	entries map[key]*entry
}

// files holds which result a path belongs to. A ledger and its clones share one, since they save into one folder.
type files struct {
	mu sync.Mutex
	of map[string]key
}

// key is a result: its turn, its call and its text, by a hash that nobody outside can foresee
// and by its size. A call id alone would do for an honest server; one that gives two calls
// the same id must not get one's result for the other's, nor one message's for another's.
type key struct {
	turn   int
	callID string
	hash   uint64
	size   int
}

func (l *Ledger) key(turn int, callID, text string) key {
	return key{turn, callID, maphash.String(l.seed, text), len(text)}
}

// entry is what the ledger holds of one result. One that is in the ledger never changes; a message that decides
// otherwise puts another in its place and seals it. Sealed means that a request with it went out.
type entry struct {
	Sizing
	limit  int
	full   string // the original text, or its beginning once the rest is in a file
	inline string
	sealed bool
}

// NewLedger makes the ledger of a new conversation, whose results go to store.
func NewLedger(store ResultStore) *Ledger {
	return &Ledger{store: store, seed: maphash.MakeSeed(), entries: map[key]*entry{}, files: &files{of: map[string]key{}}}
}

// Clone gives a ledger that starts from the same decisions, for a conversation that
// forks off this one and so repeats its messages.
func (l *Ledger) Clone() *Ledger {
	l.mu.Lock()
	defer l.mu.Unlock()
	return &Ledger{store: l.store, seed: l.seed, entries: maps.Clone(l.entries), files: l.files}
}

// One holds one call's result to the limit of its tool (K1), in code points of text: 0 means 50,000 and a negative
// limit that the tool limits itself. Over it, or at MaxInlineBytes whatever the limit, the text goes to a file and a
// preview takes its place; text of a tool that limits itself is cut short at that bound instead. When the file cannot
// be written the text is cut to the limit with a note that gives the reason (K3); this never fails.
//
// The same turn, call and text give the same bytes again, whatever the disk does later.
func (l *Ledger) One(turn int, callID string, limit int, blocks []message.Block) ([]message.Block, Sizing) {
	text := message.PlainText(blocks)
	e := l.decide(l.key(turn, callID, text), limit, text)
	return e.apply(blocks), e.Sizing
}

// decide gives the entry of a result. One that is kept is not entered until it is sent:
// nothing but its text and its limit decides on it.
func (l *Ledger) decide(k key, limit int, text string) entry {
	if e := l.find(k); e != nil {
		return *e
	}
	limit = cmp.Or(limit, tool.DefaultResultChars)
	chars := characters(text)
	e := entry{limit: limit, full: text, inline: text, Sizing: Sizing{CallID: k.callID, Chars: chars, Inline: chars}}
	switch {
	case limit >= 0 && e.Chars > limit:
		l.move(&e, k, min(PreviewChars, limit), limit, fmt.Sprintf("over the tool's limit of %d characters", limit))
	case limit >= 0 && len(text) >= MaxInlineBytes:
		l.move(&e, k, PreviewChars, limit, fmt.Sprintf("not under %d bytes", MaxInlineBytes))
	case len(text) >= MaxInlineBytes:
		why := fmt.Sprintf("A result must stay under %d bytes", MaxInlineBytes)
		e.cut(e.Chars, why, why)
	default:
		return e
	}
	return l.keep(e, k)
}

// characters counts code points. Nearly all text is ASCII, and every result is counted: eight
// bytes are looked at at a time.
func characters(text string) (n int) {
	for rest := []byte(text); len(rest) > 0; {
		if len(rest) >= 8 && binary.LittleEndian.Uint64(rest)&0x80_80_80_80_80_80_80_80 == 0 {
			rest, n = rest[8:], n+8
			continue
		}
		_, size := utf8.DecodeRune(rest)
		rest, n = rest[size:], n+1
	}
	return n
}

// move saves an entry's text and shows n code points of it, or cuts it to room code points where it cannot be saved.
func (l *Ledger) move(e *entry, k key, n, room int, why string) {
	file := l.reserve(k)
	if err := l.store.save(file, e.full); err != nil {
		e.cut(room, "The rest could not be saved: "+err.Error(), why+"; not saved: "+err.Error())
		return
	}
	e.Verdict, e.Path, e.Why = Persisted, file, why
	// One more than is ever shown, so that head still sees a cut; cloned, so that the rest is not kept in memory.
	e.full = strings.Clone(prefix(e.full, PreviewChars+1))
	e.show(n)
}

// show sets the length of a saved result's preview.
func (e *entry) show(n int) {
	e.inline = preview(e.full, e.Path, e.Chars, n)
	e.Inline = characters(e.inline)
}

// cut truncates to room code points; note is for the model, why for the trace.
func (e *entry) cut(room int, note, why string) {
	e.Verdict, e.Why = Truncated, why
	e.inline = truncate(e.full, e.Chars, room, note)
	e.Inline = characters(e.inline)
}

func (e *entry) apply(blocks []message.Block) []message.Block {
	if e.Verdict == Kept {
		return blocks
	}
	return withText(blocks, e.inline)
}

// File is the file that holds the result of a call in full; "" where all of it is sent, or none
// was kept. Of calls that share an id it is that of the first by name.
func (l *Ledger) File(callID string) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	file := ""
	for _, e := range l.entries {
		if e.CallID == callID && e.Verdict == Persisted && (file == "" || e.Path < file) {
			file = e.Path
		}
	}
	return file
}

func (l *Ledger) find(k key) *entry {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.entries[k]
}

// keep enters e under its own text and under what is sent of it, so that a caller
// may ask again with either. Who came first stays.
func (l *Ledger) keep(e entry, k key) entry {
	l.mu.Lock()
	defer l.mu.Unlock()
	if first := l.entries[k]; first != nil {
		return *first
	}
	l.entries[k], l.entries[l.sent(&e, k)] = &e, &e
	return e
}

// sent is the key of what is sent of the result that has the key k.
func (l *Ledger) sent(e *entry, k key) key {
	if e.Verdict == Kept {
		return k
	}
	return l.key(k.turn, e.CallID, e.inline)
}

// reserve gives k a file that no other result has.
func (l *Ledger) reserve(k key) string {
	l.files.mu.Lock()
	defer l.files.mu.Unlock()
	for n := 1; ; n++ {
		file := l.store.path(k.callID, n)
		owner, taken := l.files.of[file]
		if !taken || owner == k {
			l.files.of[file] = k
			return file
		}
	}
}
