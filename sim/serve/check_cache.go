package serve

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/tidwall/gjson"
)

// tools checks that the array keeps its bytes from turn to turn (D3), since it is the very
// beginning of what a prompt cache holds.
func (c *checker) tools() {
	for i := 1; i < len(c.log); i++ {
		before, now := c.log[i-1], c.log[i].req.tools
		c.tested = c.tested || len(now) > 0
		if why := difference(before.req.tools, now); why != "" {
			c.report(before.answer+1, "%s", why)
		}
	}
}

// difference is where two lists of tools first differ, "" when they do not.
func difference(before, now []gjson.Result) string {
	offset := len("[")
	for i := range max(len(before), len(now)) {
		switch {
		case i >= len(now):
			return fmt.Sprintf("byte %d: tools.%d %q is gone", offset, i, before[i].Get("name").Str)
		case i >= len(before) && now[i].Get("defer_loading").Bool():
			continue // it is named in a message, and no part of the prefix
		case i >= len(before):
			return fmt.Sprintf("byte %d: tools.%d %q was added", offset, i, now[i].Get("name").Str)
		}
		a, b := withoutBreakpoint(before[i]), withoutBreakpoint(now[i])
		if a != b {
			at := common([]byte(a), []byte(b))
			was, is := excerpts(a, b)
			name := before[i].Get("name").Str
			if other := now[i].Get("name").Str; other != name {
				return fmt.Sprintf("byte %d: tools.%d was %q and is %q", offset+at, i, name, other)
			}
			return fmt.Sprintf("byte %d: tools.%d %q differs at its byte %d: was %s, is %s", offset+at, i, name, at, was, is)
		}
		offset += len(a) + len(",")
	}
	return ""
}

// common is how much two texts begin with alike.
func common[T comparable](a, b []T) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

// place is where a cache breakpoint stands, in the order of a prompt: tools, system, messages.
type place struct{ section, item, block int }

// The sections of a prompt, in its order.
const (
	inTools = iota
	inSystem
	inMessages
)

func (p place) String() string {
	switch p.section {
	case inTools:
		return fmt.Sprintf("tools.%d", p.item)
	case inSystem:
		return fmt.Sprintf("system.%d", p.item)
	}
	return fmt.Sprintf("messages.%d.content.%d", p.item, p.block)
}

func (p place) before(q place) bool {
	return cmp.Or(p.section-q.section, p.item-q.item, p.block-q.block) < 0
}

// breakpoints are a request's cache breakpoints, in the order of the prompt.
func breakpoints(r *request) []place {
	var out []place
	look := func(list []gjson.Result, at func(i int) place) {
		for i, v := range list {
			if v.Get("cache_control").IsObject() {
				out = append(out, at(i))
			}
		}
	}
	look(r.tools, func(i int) place { return place{inTools, i, 0} })
	look(r.system.Array(), func(i int) place { return place{inSystem, i, 0} })
	for m, message := range r.messages {
		look(blocks(message), func(i int) place { return place{inMessages, m, i} })
	}
	return out
}

// maxBreakpoints is how many the API takes.
const maxBreakpoints = 4

// cache checks that there are no more breakpoints than the API takes, and that the last of
// them does not move back while what is before it stays the same (D4).
func (c *checker) cache() {
	for i, x := range c.log {
		now := breakpoints(x.req)
		c.tested = c.tested || len(now) > 0 || x.req.auto
		turn := 0
		if i > 0 {
			turn = c.log[i-1].answer + 1
		}
		if n := len(now); n > maxBreakpoints {
			c.report(turn, "%d breakpoints; the API takes %d", n, maxBreakpoints)
		}
		if i == 0 || x.req.auto || !continues(c.log[i-1].req, x.req) {
			continue
		}
		before := breakpoints(c.log[i-1].req)
		switch {
		case len(before) == 0:
		case len(now) == 0:
			c.report(turn, "the breakpoint at %s is gone, and there is no other", before[len(before)-1])
		case now[len(now)-1].before(before[len(before)-1]):
			c.report(turn, "the last breakpoint moved back from %s to %s", before[len(before)-1], now[len(now)-1])
		}
	}
}

// continues reports whether a request begins with the messages of the one before.
func continues(before, now *request) bool {
	n := len(before.messages)
	return len(now.messages) >= n && slices.EqualFunc(before.messages, now.messages[:n], func(a, b gjson.Result) bool {
		return slices.EqualFunc(blocks(a), blocks(b), func(x, y gjson.Result) bool { return withoutBreakpoint(x) == withoutBreakpoint(y) })
	})
}
