package check

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"toolbench/toolsys/message"
)

// acceptable checks what no scenario has to ask for: that an API takes each request that
// was sent. It refuses, and a conversation is stuck for ever, when a call lacks its one
// result in the message behind it, a result its call, when two tools share a name, when there
// are too many images, and when the history refers to a tool that is not offered.
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
	images  []int // in front of each message, and behind the last
}

// remembered is how many requests a refuser keeps: as many as conversations beside each
// other are likely to be.
const remembered = 8

// block is what is looked at of a content block.
type block struct {
	Type, ID, Name, Text, ToolUseID, ToolName string
	Content                                   gjson.Result
}

// escape is what a backslash in JSON begins: two halves of a character, one alone, or all else.
var escape = regexp.MustCompile(`(?i)\\ud[89ab]..\\ud[c-f]..|\\ud[89a-f]..|\\.`)

// refusals are the reasons for which an API refuses a request.
func (r *refuser) refusals(body message.Body) []string {
	if !body.Whole() {
		return []string{"it is no JSON"}
	}
	var why, open []string // open are the calls of the message before
	first, offered, images := r.known(body)
	if offered == nil {
		why, offered = tools(body.Frame())
	}
	if first > 0 {
		open = idsOfCalls(contentOf(body.Message(first - 1)))
	}
	for i := first; i < body.Messages(); i++ {
		images = append(images, images[i]+bytes.Count(body.Message(i), []byte(`{"type":"image"`)))
		blocks := contentOf(body.Message(i))
		switch n := len(blocks); {
		case n == 0:
			why = append(why, fmt.Sprintf("messages.%d is empty", i))
		case strings.HasSuffix(blocks[n-1].Type, "thinking"):
			why = append(why, fmt.Sprintf("messages.%d ends with a thought", i))
		}
		if m := body.Message(i); bytes.Contains(m, []byte(`\u`)) && slices.ContainsFunc(escape.FindAll(m, -1), func(found []byte) bool { return len(found) == 6 }) {
			why = append(why, fmt.Sprintf("messages.%d has half a character", i))
		}
		why = append(why, unpaired(i, open, blocks)...)
		why = append(why, badBlocks(i, blocks, offered)...)
		open = idsOfCalls(blocks)
	}
	if n := images[body.Messages()]; n > 100 {
		why = append(why, fmt.Sprintf("it has %d images, of 100 at most", n))
	}
	r.taken = append(r.taken[max(0, len(r.taken)+1-remembered):], accepted{body, offered, images})
	return append(why, unpaired(body.Messages(), open, nil)...)
}

// known is how many messages at the front were taken before with the same tools, and those
// tools, nil where none were; and the images in front of each such message and behind the last.
func (r *refuser) known(body message.Body) (first int, offered map[string]int, images []int) {
	images = []int{0}
	for _, before := range r.taken {
		if !before.SameFrame(body) {
			continue
		}
		offered = before.offered
		if n := body.Shared(before.Body); n > first {
			first, images = n, slices.Clip(before.images[:n+1])
		}
	}
	return first, offered, images
}

// tools counts the tools that are offered, by name, and names those that stand there twice.
func tools(frame []byte) (why []string, offered map[string]int) {
	list := gjson.GetBytes(frame, "tools")
	if list.Type != gjson.Null && !list.IsArray() {
		return []string{"its tools cannot be read"}, nil
	}
	offered = map[string]int{}
	list.ForEach(func(_, tool gjson.Result) bool {
		name := tool.Get("name").String()
		if offered[name]++; offered[name] == 2 {
			why = append(why, "two tools are named "+name)
		}
		if Unfit(tool.Get("input_schema")) {
			why = append(why, "the schema of "+name+" combines others at the top, or names a property otherwise than with 64 of A-Z a-z 0-9 _ . -")
		}
		return true
	})
	return why, offered
}

// Unfit reports whether the API refuses a tool for its schema.
func Unfit(schema gjson.Result) bool {
	unfit := schema.Get("allOf").Exists() || schema.Get("anyOf").Exists() || schema.Get("oneOf").Exists()
	schema.Get("properties").ForEach(func(property, _ gjson.Result) bool {
		unfit = unfit || !propertyName.MatchString(property.String())
		return !unfit
	})
	return unfit
}

// propertyName is what the API takes for the name of a property.
var propertyName = regexp.MustCompile(`^[a-zA-Z0-9_.-]{1,64}$`)

// contentOf reads a message's content. Requests are long, and each run reads its own: what is
// not looked at is passed over and not decoded.
func contentOf(m []byte) []block { return blocksOf(gjson.GetBytes(m, "content")) }

// blocksOf reads content: blocks, or a text by itself.
func blocksOf(content gjson.Result) (blocks []block) {
	if !content.IsArray() {
		b := block{Type: "text"}
		if content.Exists() && text(content, &b.Text) {
			blocks = append(blocks, b)
		}
		return blocks
	}
	for _, v := range content.Array() {
		b := block{}
		if !b.read(v) {
			return nil
		}
		blocks = append(blocks, b)
	}
	return blocks
}

// members are those of a block that are texts.
var members = []string{"type", "id", "name", "text", "tool_use_id", "tool_name"}

// read reports whether v is a block.
func (b *block) read(v gjson.Result) bool {
	readable := v.IsObject()
	v.ForEach(func(name, v gjson.Result) bool {
		at := [...]*string{&b.Type, &b.ID, &b.Name, &b.Text, &b.ToolUseID, &b.ToolName}
		if i := slices.Index(members, name.Str); i >= 0 {
			readable = text(v, at[i])
		} else if name.Str == "content" {
			b.Content = v
		}
		return readable
	})
	return readable
}

// text reads a text, which may be null.
func text(v gjson.Result, into *string) bool {
	*into = v.Str
	return v.Type == gjson.String || v.Type == gjson.Null
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

// badBlocks finds texts of nothing or white space, names that are too long, and references to
// tools that the request does not offer.
func badBlocks(at int, blocks []block, offered map[string]int) []string {
	var why []string
	for _, b := range blocks {
		switch {
		case b.Type == "text" && strings.TrimSpace(b.Text) == "":
			why = append(why, fmt.Sprintf("messages.%d has an empty text", at))
		case len(b.Name) > 200:
			why = append(why, fmt.Sprintf("messages.%d has a name of more than 200 characters", at))
		case b.Type == "tool_reference" && offered[b.ToolName] == 0:
			why = append(why, fmt.Sprintf("messages.%d refers to the tool %s, which is not offered", at, b.ToolName))
		}
		if b.Content.IsArray() {
			why = append(why, badBlocks(at, blocksOf(b.Content), offered)...)
		}
	}
	return why
}
