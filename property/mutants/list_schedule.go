package main

// scheduleFaults are slips in what starts when, what stops it, and what may overtake
// what.
var scheduleFaults = []mutant{
	{
		name: "results are let out as they finish",
		pkg:  "toolsys/schedule",
		in:   "Core.emit",
		old:  "for c.emitted < len(c.calls) && c.calls[c.emitted].status == finished {",
		new:  "for c.emitted < len(c.calls) && (c.calls[c.emitted].status == finished || c.next > c.emitted+1 && c.calls[c.emitted+1].status == finished) {",
	},
	{
		name: "an exclusive call starts while safe ones run",
		pkg:  "toolsys/schedule",
		in:   "Core.mayStart",
		old:  "return k.safe && !c.exclusive && c.active < c.limit",
		new:  "return !c.exclusive && c.active < c.limit",
	},
	{
		name: "a safe call starts beside an exclusive one",
		pkg:  "toolsys/schedule",
		in:   "Core.mayStart",
		old:  "return k.safe && !c.exclusive && c.active < c.limit",
		new:  "return k.safe && c.active < c.limit",
	},
	{
		name: "a safe call overtakes a waiting exclusive one",
		pkg:  "toolsys/schedule",
		in:   "Core.admit",
		old:  "for c.next < len(c.calls) && c.mayStart(c.calls[c.next]) {",
		new: `if n := c.next; n+1 < len(c.calls) && !c.calls[n].safe && !c.mayStart(c.calls[n]) && c.mayStart(c.calls[n+1]) && c.calls[n+1].status == queued {
				c.calls[n+1].status = active
				c.active++
				out = append(out, Action{Kind: Start, Index: n + 1})
			}
			for c.next < len(c.calls) && c.mayStart(c.calls[c.next]) {`,
	},
	{
		name: "the limit is off by one",
		pkg:  "toolsys/schedule",
		in:   "Core.mayStart",
		old:  "c.active < c.limit",
		new:  "c.active <= c.limit",
	},
	{
		name: "a safe call's modifier acts at once",
		pkg:  "toolsys/schedule",
		in:   "Core.modify",
		old: `case !c.calls[i].safe:
			return append(out, Action{Kind: Apply, Index: i})`,
		new: `case true:
			return append(out, Action{Kind: Apply, Index: i})`,
	},
	{
		name: "a cancelled call has no result",
		pkg:  "toolsys/schedule",
		in:   "Core.emit",
		old:  "out = append(out, Action{Kind: Emit, Index: c.emitted})",
		new: `if c.calls[c.emitted].stopped == NoCause {
				out = append(out, Action{Kind: Emit, Index: c.emitted})
			}`,
	},
	{
		name: "a call that arrives after a failure is a sibling of it",
		pkg:  "toolsys/schedule",
		in:   "Core.stopSiblings",
		old: `out = c.stopOne(i, SiblingFailed, out)
				}
			}`,
		new: `out = c.stopOne(i, SiblingFailed, out)
				}
			}
			c.stopping = SiblingFailed`,
	},
	{
		name: "a call queued at a failure still runs",
		pkg:  "toolsys/schedule",
		in:   "Core.stopOne",
		old: `switch k.status {
			case queued:
				return c.answer(i, cause, out)`,
		new: `switch k.status {
			case queued:
				if cause != SiblingFailed {
					return c.answer(i, cause, out)
				}`,
	},
	{
		name: "an interrupt stops calls that are to be waited for",
		pkg:  "toolsys/schedule",
		in:   "Core.stop",
		old:  "|| k.status != active || !k.began {",
		new:  "|| k.status != finished {",
	},
	{
		name: "an interrupt waits for calls that have not begun",
		pkg:  "toolsys/schedule",
		in:   "Core.stop",
		old:  "|| !k.began {",
		new:  "{",
	},
	{
		name: "an interrupt lets the queue run on",
		pkg:  "toolsys/schedule",
		in:   "Core.stop",
		old: `c.next = len(c.calls)
			return out`,
		new: "return out",
	},
	{
		name: "a call is cancelled twice",
		pkg:  "toolsys/schedule",
		in:   "Core.stopOne",
		old: `if k.stopped == NoCause {
			k.stopped = cause`,
		new: `if true {
			k.stopped = cause`,
	},
	{
		name: "what an abandoned stream left queued is answered",
		pkg:  "toolsys/schedule",
		in:   "Core.abandon",
		old: `if c.calls[i].status == queued {
				c.calls[i].status = finished
			}`,
		new: `if c.calls[i].status == queued {
				out = c.answer(i, StreamAbandoned, out)
			}`,
	},
	{
		name: "a call that turned exclusive goes on beside others",
		pkg:  "toolsys/schedule",
		in:   "Core.resume",
		old: `if c.active > 0 {
				return out
			}
			for i := range c.calls {
				if c.calls[i].status == suspended {`,
		new: `for i := range c.calls {
			if c.calls[i].status == suspended {`,
	},
	{
		name: "modifiers of a batch act in the order of their results' arrival",
		pkg:  "toolsys/schedule",
		in:   "Core.endBatch",
		old:  "for _, i := range c.modified {",
		new: `for k := range c.modified {
			i := c.modified[len(c.modified)-1-k]`,
	},
	{
		name: "a batch starts before the stream has ended",
		pkg:  "toolsys/schedule",
		in:   "Core.mayStart",
		old: `if c.rules.holds && !c.streamEnded {
			return false`,
		new: `if c.rules.holds && !c.streamEnded && c.next > 0 {
			return false`,
	},
	{
		name:  "a writer does not wait for a reader",
		pkg:   "toolsys/schedule",
		in:    "Conflict",
		old:   "return overlap(a.Writes, b.Writes) || overlap(a.Writes, b.Reads) || overlap(a.Reads, b.Writes)",
		new:   "return overlap(a.Writes, b.Writes) || overlap(a.Writes, b.Reads)",
		tests: []string{"./toolsys/schedule", "./property"},
	},
	{
		name:  "two writers of one file do not wait for each other",
		pkg:   "toolsys/schedule",
		in:    "Conflict",
		old:   "return overlap(a.Writes, b.Writes) || overlap(a.Writes, b.Reads)",
		new:   "return overlap(a.Writes, b.Reads)",
		tests: []string{"./toolsys/schedule", "./property"},
	},
	{
		name: "a tree does not hold what is below it",
		pkg:  "toolsys/schedule",
		in:   "overlaps",
		old: `case treeA:
			return below(b, rootA)`,
		new: `case treeA:
			return b == rootA`,
		tests: []string{"./toolsys/schedule", "./property"},
	},
	{
		name: "a call without a footprint touches nothing",
		pkg:  "toolsys/schedule",
		in:   "Conflict",
		old: `if a == nil || b == nil {
			return true`,
		new: `if a == nil || b == nil {
			return false`,
		tests: []string{"./toolsys/schedule", "./property"},
	},
	{
		name: "a call's keys are taken before a cd has ended",
		pkg:  "toolsys/schedule",
		in:   "shifts",
		old: `case len(by.Shifts) == 0:
				return false
			}`,
		new: `case len(by.Shifts) >= 0:
				return false
			}`,
		tests: []string{"./toolsys/schedule", "./property"},
	},
	{
		name:  "a call does not wait for what it reads to be written",
		pkg:   "toolsys/schedule",
		in:    "Conflict",
		old:   "overlap(a.Writes, b.Reads) ||",
		new:   "",
		tests: []string{"./toolsys/schedule"},
	},
	{
		name:  "a call goes by names that an earlier one moves",
		pkg:   "toolsys/schedule",
		in:    "shifts",
		old:   "return e == nil || overlap(by.Shifts, e.Reads) || overlap(by.Shifts, e.Writes)",
		new:   "return false",
		tests: []string{"./toolsys/schedule"},
	},
	{
		name:  "a link is not the file it leads to",
		pkg:   "toolsys/footprint",
		in:    "names",
		old:   "all = append(all, next)",
		new:   "_ = next",
		tests: []string{"./toolsys/footprint"},
	},
}
