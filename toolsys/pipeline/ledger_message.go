package pipeline

import (
	"fmt"

	"toolbench/toolsys/message"
)

// SizedResult is a tool_result block and the limit of the tool it comes from, in code points as for [Ledger.One].
type SizedResult struct {
	Result message.Block
	Limit  int
}

// previews are the lengths tried one after the other, in code points: hundreds of
// previews are themselves too much for one message.
var previews = [...]int{PreviewChars, PreviewChars / 5, 0}

// Message holds all results of one turn's message to MaxMessageChars together (K2), after it has held each to its own
// limit as One does. While they are over, the largest goes to a file, of equals the earlier one, until the rest fits;
// when that is not enough, previews are shortened in the same order. Results of tools that limit themselves are never
// chosen and so may leave the message over.
//
// What comes out is sent, so it is frozen: results of a turn that were seen before stay as they were then, count as
// they are, and give the same bytes again, whether they are handed in as the tool made them or as they were sent.
func (l *Ledger) Message(turn int, results []SizedResult) ([]message.Block, []Sizing) {
	group := make([]item, len(results))
	total := 0
	for i, r := range results {
		group[i] = l.item(turn, r)
		total += group[i].Inline
	}
	for _, n := range previews {
		for total > MaxMessageChars {
			it := l.largest(group, n)
			if it == nil {
				break
			}
			before := it.Inline
			l.shrink(it, n, total-MaxMessageChars)
			total += it.Inline - before
		}
	}
	return l.seal(results, group)
}

// item is one result under decision: a copy of the ledger's entry.
type item struct {
	entry
	key, was key // of the text handed in, and of what One made of it
	shown    int // the preview length it last had its turn at
}

func (l *Ledger) item(turn int, r SizedResult) item {
	text := message.PlainText(r.Result.Content)
	k := l.key(turn, r.Result.ToolUseID, text)
	e := l.decide(k, r.Limit, text)
	return item{entry: e, shown: PreviewChars + 1, key: k, was: l.sent(&e, k)}
}

// noteChars is more than the words around a preview or a cut take, the path apart.
const noteChars = 400

// largest picks what to shrink to n code points next: nothing frozen, of no tool
// that limits itself, and only where there is something to win.
func (l *Ledger) largest(group []item, n int) *item {
	var best *item
	for i := range group {
		it := &group[i]
		fixed := it.sealed || it.limit < 0 || it.shown <= n
		if fixed || best != nil && it.Inline <= best.Inline {
			continue
		}
		if it.Inline > n+noteChars+len(l.store.path(it.CallID, 1)) {
			best = it
		}
	}
	return best
}

// shrink saves the item, or shortens what is shown of it. Text that cannot be saved
// loses no more than the message is over.
func (l *Ledger) shrink(it *item, n, over int) {
	it.shown = n
	room := max(n, it.Inline-over)
	switch it.Verdict {
	case Kept:
		l.move(&it.entry, it.key, n, room, fmt.Sprintf("among the largest of a message over %d characters", MaxMessageChars))
	case Persisted:
		it.show(n)
	case Truncated:
		it.cut(room, "The rest could not be saved", it.Why)
	}
}

// seal freezes the message's decisions under every text the caller may ask with.
func (l *Ledger) seal(results []SizedResult, group []item) ([]message.Block, []Sizing) {
	blocks, decisions := make([]message.Block, len(results)), make([]Sizing, len(results))
	sealed := make([]entry, len(results))
	l.mu.Lock()
	defer l.mu.Unlock()
	for i := range group {
		it := &group[i]
		if !it.sealed {
			e := &sealed[i]
			*e = it.entry
			e.sealed, e.full = true, ""
			for _, k := range [...]key{it.key, it.was, l.sent(e, it.key)} {
				l.entries[k] = e
			}
		}
		blocks[i], decisions[i] = results[i].Result, it.Sizing
		blocks[i].Content = it.apply(results[i].Result.Content)
	}
	return blocks, decisions
}
