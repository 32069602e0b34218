package work

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"toolbench/toolsys/message"
	"toolbench/toolsys/tool"
)

// bytesPerToken is how tokens are estimated here, as everywhere in the tool system.
const bytesPerToken = 4

func tokens(bytes int) int { return (bytes + bytesPerToken - 1) / bytesPerToken }

// held is one message of a conversation as the tools that look at the context see it.
type held struct {
	number int
	role   string
	// bytes are those of texts and all else that is neither a call nor a result; text is
	// the first text.
	bytes   int
	text    string
	calls   []heldCall
	snipped bool
	// kept is the reason why the message cannot be snipped; "" where it can.
	kept string
}

// heldCall is a call with its result.
type heldCall struct {
	id, tool      string
	input, result int
	snipped       bool
	kept          string
	// file holds the result in full where its beginning alone is sent.
	file string
}

// what names the call in a list of the largest parts.
func (c heldCall) what() string {
	if c.file == "" {
		return c.tool
	}
	return c.tool + ", in full in " + c.file
}

func (c heldCall) bytes() int { return c.input + c.result }

// id is the message's name in a list and in a call of Snip.
func (h held) id() string { return "m" + strconv.Itoa(h.number) }

// holding lists the messages of a conversation, those that are snipped too.
func holding(c *tool.Context) []held {
	results := map[string]message.Block{} // the nearest that follow
	all := make([]held, len(c.Messages))
	for i, m := range slices.Backward(c.Messages) {
		all[i] = held{number: c.FirstMessage + i, role: m.Role, snipped: slices.Contains(c.State.Snipped.Messages, c.FirstMessage+i)}
		for _, b := range m.Content {
			all[i].add(b, results, c.State.Snipped)
		}
		for _, b := range m.Results() {
			results[b.ToolUseID] = b
			if refers(b) {
				all[i].kept = keptReference
			}
		}
	}
	for _, h := range all {
		for i := range h.calls {
			if c.Replaced != nil {
				h.calls[i].file = c.Replaced(h.calls[i].id)
			}
		}
	}
	keepLastAsked(all, c.Messages)
	return all
}

const (
	keptReference = "its result loads tools, which would be gone"
	keptAsked     = "it is what the user asked last"
)

func (h *held) add(b message.Block, results map[string]message.Block, s tool.Snips) {
	switch b.Type {
	case message.TypeToolResult: // counted with its call
	case message.TypeToolUse:
		r := results[b.ID]
		call := heldCall{id: b.ID, tool: b.Name, input: message.Size(b), snipped: h.snipped || slices.Contains(s.Calls, message.CallAt{Message: h.number, ID: b.ID})}
		if r.Type != "" {
			call.result = message.Size(r)
		}
		if refers(r) {
			call.kept, h.kept = keptReference, keptReference
		}
		h.calls = append(h.calls, call)
	default:
		h.bytes += message.Size(b)
		if b.Type == message.TypeText && h.text == "" {
			h.text = b.Text
		}
	}
}

// refers reports whether a result holds references by which an API loads tools (E5).
func refers(result message.Block) bool {
	return slices.ContainsFunc(result.Content, func(b message.Block) bool { return b.Type == message.TypeToolReference })
}

// keepLastAsked marks the user's last words: a message without results, and a text that
// came beside results.
func keepLastAsked(all []held, messages []message.Message) {
	plain, texts := true, true
	for i, m := range slices.Backward(messages) {
		if m.Role != message.User {
			continue
		}
		results := len(m.Results()) > 0
		if plain && !results || texts && all[i].text != "" {
			all[i].kept = keptAsked
		}
		plain, texts = plain && results, texts && all[i].text == ""
	}
}

// listed is a list of messages and calls, a line each.
func listed(all []held) string {
	var b strings.Builder
	for _, h := range all {
		fmt.Fprintf(&b, "%s %s, %d tokens%s", h.id(), h.role, tokens(h.bytes), mark(h.snipped, h.kept))
		if h.text != "" {
			fmt.Fprintf(&b, ": %s", message.Line(h.text, tool.SummaryChars))
		}
		b.WriteByte('\n')
		for _, c := range h.calls {
			fmt.Fprintf(&b, "  %s %s, %d tokens%s\n", c.id, c.tool, tokens(c.bytes()), mark(c.snipped, c.kept))
		}
	}
	return b.String()
}

func mark(snipped bool, kept string) string {
	switch {
	case snipped:
		return " (snipped)"
	case kept != "":
		return " (stays: " + kept + ")"
	}
	return ""
}
