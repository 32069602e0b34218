package main

import "slices"

// scheduleFaults are slips in what starts when, what stops it, and what may overtake
// what.
var scheduleFaults = slices.Concat(
	in("toolsys/schedule",
		fault("results are let out as they finish", "Core.emit",
			"for c.emitted < len(c.calls) && c.calls[c.emitted].status == finished {",
			"for c.emitted < len(c.calls) && (c.calls[c.emitted].status == finished || c.next > c.emitted+1 && c.calls[c.emitted+1].status == finished) {"),
		fault("an exclusive call starts while safe ones run", "Core.mayStart",
			"return k.safe && !c.exclusive && c.active < c.limit",
			"return !c.exclusive && c.active < c.limit"),
		fault("a safe call starts beside an exclusive one", "Core.mayStart",
			"return k.safe && !c.exclusive && c.active < c.limit",
			"return k.safe && c.active < c.limit"),
		fault("a safe call overtakes a waiting exclusive one", "Core.admit",
			"for c.next < len(c.calls) && c.mayStart(c.calls[c.next]) {",
			`if n := c.next; n+1 < len(c.calls) && !c.calls[n].safe && !c.mayStart(c.calls[n]) && c.mayStart(c.calls[n+1]) && c.calls[n+1].status == queued {
					c.calls[n+1].status = active
					c.active++
					out = append(out, Action{Kind: Start, Index: n + 1})
				}
				for c.next < len(c.calls) && c.mayStart(c.calls[c.next]) {`),
		fault("the limit is off by one", "Core.mayStart",
			"c.active < c.limit",
			"c.active <= c.limit"),
		fault("a safe call's modifier acts at once", "Core.modify",
			`case !c.calls[i].safe:
				return append(out, Action{Kind: Apply, Index: i})`,
			`case true:
				return append(out, Action{Kind: Apply, Index: i})`),
		fault("a cancelled call has no result", "Core.emit",
			"out = append(out, Action{Kind: Emit, Index: c.emitted})",
			`if c.calls[c.emitted].stopped == NoCause {
					out = append(out, Action{Kind: Emit, Index: c.emitted})
				}`),
		fault("a call that arrives after a failure is a sibling of it", "Core.stopSiblings",
			`out = c.stopOne(i, SiblingFailed, out)
					}
				}`,
			`out = c.stopOne(i, SiblingFailed, out)
					}
				}
				c.stopping = SiblingFailed`),
		fault("a call queued at a failure still runs", "Core.stopOne",
			`switch k.status {
				case queued:
					return c.answer(i, cause, out)`,
			`switch k.status {
				case queued:
					if cause != SiblingFailed {
						return c.answer(i, cause, out)
					}`),
		fault("an interrupt stops calls that are to be waited for", "Core.stop",
			"|| k.status != active || !k.began {",
			"|| k.status != finished {"),
		fault("an interrupt waits for calls that have not begun", "Core.stop",
			"|| !k.began {",
			"{"),
		fault("an interrupt lets the queue run on", "Core.stop",
			`c.next = len(c.calls)
				return out`,
			"return out"),
		fault("a call is cancelled twice", "Core.stopOne",
			`if k.stopped == NoCause {
				k.stopped = cause`,
			`if true {
				k.stopped = cause`),
		fault("what an abandoned stream left queued is answered", "Core.abandon",
			`if c.calls[i].status == queued {
					c.calls[i].status = finished
				}`,
			`if c.calls[i].status == queued {
					out = c.answer(i, StreamAbandoned, out)
				}`),
		fault("a call that turned exclusive goes on beside others", "Core.resume",
			`if c.active > 0 {
					return out
				}
				for i := range c.calls {
					if c.calls[i].status == suspended {`,
			`for i := range c.calls {
				if c.calls[i].status == suspended {`),
		fault("modifiers of a batch act in the order of their results' arrival", "Core.endBatch",
			"for _, i := range c.modified {",
			`for k := range c.modified {
				i := c.modified[len(c.modified)-1-k]`),
		fault("a batch starts before the stream has ended", "Core.mayStart",
			`if c.rules.holds && !c.streamEnded {
				return false`,
			`if c.rules.holds && !c.streamEnded && c.next > 0 {
				return false`),
		fault("a writer does not wait for a reader", "Conflict",
			"return overlap(a.Writes, b.Writes) || overlap(a.Writes, b.Reads) || overlap(a.Reads, b.Writes)",
			"return overlap(a.Writes, b.Writes) || overlap(a.Writes, b.Reads)", "./toolsys/schedule", "./property"),
		fault("two writers of one file do not wait for each other", "Conflict",
			"return overlap(a.Writes, b.Writes) || overlap(a.Writes, b.Reads)",
			"return overlap(a.Writes, b.Reads)", "./toolsys/schedule", "./property"),
		fault("a tree does not hold what is below it", "overlaps",
			`case treeA:
				return below(b, rootA)`,
			`case treeA:
				return b == rootA`, "./toolsys/schedule", "./property"),
		fault("a call without a footprint touches nothing", "Conflict",
			`if a == nil || b == nil {
				return true`,
			`if a == nil || b == nil {
				return false`, "./toolsys/schedule", "./property"),
		fault("a call's keys are taken before a cd has ended", "shifts",
			`case len(by.Shifts) == 0:
					return false
				}`,
			`case len(by.Shifts) >= 0:
					return false
				}`, "./toolsys/schedule", "./property"),
		fault("a call does not wait for what it reads to be written", "Conflict",
			"overlap(a.Writes, b.Reads) ||",
			""),
		fault("a call goes by names that an earlier one moves", "shifts",
			"return e == nil || overlap(by.Shifts, e.Reads) || overlap(by.Shifts, e.Writes)",
			"return false"),
	),
	in("toolsys/footprint",
		fault("a link is not the file it leads to", "names",
			"all = append(all, next)",
			"_ = next"),
	),
)
