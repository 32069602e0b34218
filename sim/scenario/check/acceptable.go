package check

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"toolbench/toolsys/message"
)

// acceptable checks what no scenario has to ask for: that an API takes each request that
// was sent. It refuses, and a conversation is stuck for ever, when a call lacks its one
// result in the message behind it, a result its call, when two tools share a name, and
// when the history refers to a tool that is not offered.
func (j *checker) acceptable() {
	var r refuser
	for i, body := range j.rec.Requests {
		if why := r.refusals(body); len(why) > 0 {
			j.fail("requests", "requests that an API takes", fmt.Sprintf("request %d: %s", i+1, strings.Join(why, "; ")))
			return // what follows repeats it
		}
	}
}

// refuser reads requests one after another, and of each what was not in those before.
type refuser struct{ taken []accepted }

// accepted is a request that was taken, and the tools it offered.
type accepted struct {
	message.Body
	offered map[string]int
}

// remembered is how many requests a refuser keeps: as many as conversations beside each
// other are likely to be.
const remembered = 8

// block is what is looked at of a content block.
type block struct {
	Type      string          `json:"type"`
	ID        string          `json:"id"`
	Text      *string         `json:"text"`
	ToolUseID string          `json:"tool_use_id"`
	ToolName  string          `json:"tool_name"`
	Content   json.RawMessage `json:"content"`
}

// refusals are the reasons for which an API refuses a request.
func (r *refuser) refusals(body message.Body) []string {
	if !body.Whole() {
		return []string{"it is no JSON"}
	}
	var why, open []string // open are the calls of the message before
	first, offered := r.known(body)
	if offered == nil {
		why, offered = tools(body.Frame())
	}
	if first > 0 {
		open = idsOfCalls(contentOf(body.Message(first - 1)))
	}
	for i := first; i < body.Messages(); i++ {
		blocks := contentOf(body.Message(i))
		if len(blocks) == 0 {
			why = append(why, fmt.Sprintf("messages.%d is empty", i))
		}
		why = append(why, unpaired(i, open, blocks)...)
		why = append(why, badBlocks(i, blocks, offered)...)
		open = idsOfCalls(blocks)
	}
	r.taken = append(r.taken[max(0, len(r.taken)+1-remembered):], accepted{body, offered})
	return append(why, unpaired(body.Messages(), open, nil)...)
}

// known is how many messages at the front were taken before with the same tools, and those
// tools; nil where none were.
func (r *refuser) known(body message.Body) (first int, offered map[string]int) {
	for _, before := range r.taken {
		if before.SameFrame(body) {
			first, offered = max(first, body.Shared(before.Body)), before.offered
		}
	}
	return first, offered
}

// tools counts the tools that are offered, by name, and names those that stand there twice.
func tools(frame []byte) (why []string, offered map[string]int) {
	var req struct {
		Tools []struct {
			Name string `json:"name"`
		} `json:"tools"`
	}
	if json.Unmarshal(frame, &req) != nil {
		return []string{"its tools cannot be read"}, nil
	}
	offered = map[string]int{}
	for _, t := range req.Tools {
		if offered[t.Name]++; offered[t.Name] == 2 {
			why = append(why, "two tools are named "+t.Name)
		}
	}
	return why, offered
}

// contentOf reads a message's content.
func contentOf(m []byte) []block {
	var read struct {
		Content json.RawMessage `json:"content"`
	}
	if json.Unmarshal(m, &read) != nil {
		return nil
	}
	return blocksOf(read.Content)
}

// blocksOf reads content: blocks, or a text by itself.
func blocksOf(content json.RawMessage) []block {
	var blocks []block
	var text string
	if json.Unmarshal(content, &text) == nil {
		return []block{{Type: "text", Text: &text}}
	}
	if json.Unmarshal(content, &blocks) != nil {
		return nil
	}
	return blocks
}

func idsOfCalls(blocks []block) []string {
	var ids []string
	for _, b := range blocks {
		if b.Type == "tool_use" {
			ids = append(ids, b.ID)
		}
	}
	return ids
}

// unpaired compares the results at the front of a message with the calls before it.
func unpaired(at int, calls []string, blocks []block) []string {
	var why []string
	count := map[string]int{}
	for i, b := range blocks {
		if b.Type != "tool_result" {
			continue
		}
		count[b.ToolUseID]++
		switch {
		case !slices.Contains(calls, b.ToolUseID):
			why = append(why, fmt.Sprintf("messages.%d has a result for %s, which the message before did not call", at, b.ToolUseID))
		case i > 0 && blocks[i-1].Type != "tool_result":
			why = append(why, fmt.Sprintf("messages.%d has the result for %s behind other content", at, b.ToolUseID))
		}
	}
	for _, id := range calls {
		if n := count[id]; n != 1 {
			why = append(why, fmt.Sprintf("messages.%d has %d results for %s", at, n, id))
		}
	}
	return why
}

// badBlocks finds empty texts and references to tools that
// the request does not offer.
func badBlocks(at int, blocks []block, offered map[string]int) []string {
	var why []string
	for _, b := range blocks {
		switch {
		case b.Type == "text" && (b.Text == nil || *b.Text == ""):
			why = append(why, fmt.Sprintf("messages.%d has an empty text", at))
		case b.Type == "tool_reference" && offered[b.ToolName] == 0:
			why = append(why, fmt.Sprintf("messages.%d refers to the tool %s, which is not offered", at, b.ToolName))
		}
		if len(b.Content) > 0 && b.Content[0] == '[' {
			why = append(why, badBlocks(at, blocksOf(b.Content), offered)...)
		}
	}
	return why
}
