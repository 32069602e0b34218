package oracle

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// The figures of K1 and K2, in characters; room is what a preview and its note take at most.
const (
	defaultLimit = 50_000
	maxMessage   = 200_000
	room         = 3_000
)

// largeResult is a large result in a message.
type largeResult struct {
	p     *systemCall
	full  int // as the tool made it
	shown int // as it was sent
	limit int
}

// sizes are the results of one message whose sizes are certain.
func (v *SystemView) sizes(turn int, r *request) (all []largeResult, message int) {
	for _, p := range v.calls {
		text, there := r.results[p.call.ID]
		if p.parent != nil || p.turn != turn || !there {
			continue
		}
		shown := utf8.RuneCountInString(text)
		message += shown
		t, chars := v.s.Tool(p.call.Tool), ResultChars(v.s, p.call)
		if t != nil && chars > 0 && p.ran && !p.want.Unknown && p.settled() && p.want.Output == "" && RunStatus(v.s, p.call) == "" {
			all = append(all, largeResult{p, chars, shown, cmp.Or(t.Limit, defaultLimit)})
		}
	}
	return all, message
}

func saved(v *SystemView) error {
	if v.s.BreaksDisk() || v.repeats() || v.s.Makes("Snip") {
		return nil // where a result cannot be kept, it is cut
	}
	requests := v.main()
	last := requests[len(requests)-1]
	for turn := range len(v.s.Turns) {
		all, message := v.sizes(turn+1, last)
		if err := messageFits(all, message); err != nil {
			return err
		}
	}
	return nil
}

// messageFits checks that what is over its own limit is small, and that of the rest only the
// largest are not complete, if all together are too much.
func messageFits(all []largeResult, message int) error {
	if message > maxMessage {
		return fmt.Errorf("the results of one message have %d characters", message)
	}
	var moved, kept []largeResult
	for _, z := range all {
		switch {
		case z.full > z.limit && z.shown > room:
			return fmt.Errorf("call %s: %d characters are shown of %d; the limit is %d", z.p.call.ID, z.shown, z.full, z.limit)
		case z.full > z.limit:
		case z.shown < z.full:
			moved = append(moved, z)
		case z.shown > z.full:
			return fmt.Errorf("call %s: %d characters are shown of %d", z.p.call.ID, z.shown, z.full)
		default:
			kept = append(kept, z)
		}
	}
	return largestMoved(moved, kept, message)
}

// largestMoved checks that those that were moved are the largest, and that all of them had to be.
func largestMoved(moved, kept []largeResult, message int) error {
	if len(moved) == 0 {
		return nil
	}
	smallest := slices.MinFunc(moved, func(a, b largeResult) int { return a.full - b.full })
	for _, z := range kept {
		if z.full > smallest.full {
			return fmt.Errorf("call %s with %d characters went to a file, and %s with %d did not", smallest.p.call.ID, smallest.full, z.p.call.ID, z.full)
		}
	}
	if before := message - smallest.shown + smallest.full; before <= maxMessage {
		return fmt.Errorf("call %s went to a file although the message had %d characters with it", smallest.p.call.ID, before)
	}
	return nil
}

// frozen checks that a result keeps its text. What a search found is worded anew when one of the tools comes or goes:
// a request may not refer to a tool that it does not have, nor to any where none is deferred any more.
func frozen(v *SystemView) error {
	before := map[string]*request{} // by agent and call
	for _, r := range v.requests {
		for id, text := range r.results {
			key := r.agent + "/" + id
			b := before[key]
			before[key] = r
			if b == nil || v.byID[id] == nil || v.byID[id].repeated || b.results[id] == text || v.s.Makes("Snip") {
				continue
			}
			if texts := "ToolSearch" + text + b.results[id]; v.byID[id].call.Tool == "ToolSearch" && (r.lacks(b, texts) || b.lacks(r, texts)) {
				continue
			}
			return fmt.Errorf("the result of %s had %d characters in one request, and other %d in a later one", id, len(b.results[id]), len(text))
		}
	}
	return nil
}

// lacks reports whether a tool that another request offers, and that the text names, is not offered in this one.
func (r *request) lacks(other *request, text string) bool {
	for name := range other.offered {
		if !r.offered[name] && strings.Contains(text, name) {
			return true
		}
	}
	return false
}
