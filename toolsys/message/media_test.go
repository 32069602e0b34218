package message_test

import (
	"encoding/base64"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"pgregory.net/rapid"

	"toolbench/toolsys/message"
)

const left = "[An image or a document stood here. A request holds so many only, and the oldest are left out.]"

// withRoom is history as it is sent, and how many are left out.
func withRoom(history []message.Message) ([]message.Message, int) {
	return message.WithRoom(history, (&message.Places{Of: message.IsMedia}).In(history))
}

func pdf(pages string) message.Block {
	return message.Document("application/pdf", base64.StdEncoding.EncodeToString([]byte("%PDF-1.4 /Type/Pages /Type /Pages "+pages)))
}

func images(n int) (all []message.Block) {
	for range n {
		all = append(all, message.Image("image/png", "iVBO"))
	}
	return all
}

// An API refuses a request with more than 100 images and pages of documents, or of more than
// 32 MB, and with it each later one.
func TestTheOldestImagesAreLeftOut(t *testing.T) {
	large := message.Image("image/png", strings.Repeat("a", 5_000_000))
	for name, c := range map[string]struct {
		blocks []message.Block
		left   int
	}{
		"none":                               {nil, 0},
		"as many as there may be":            {images(100), 0},
		"one too many":                       {images(101), 51},
		"half of the room is free then":      {images(151), 51},
		"and is full again":                  {images(152), 102},
		"in the result of a call":            {[]message.Block{message.ToolResult("c", false, images(101)...)}, 51},
		"pages beside images":                {append(images(1), pdf(strings.Repeat("/Type/Page /Type /Page ", 50))), 1},
		"a document of too many pages alone": {[]message.Block{pdf(strings.Repeat("/Type/Page ", 101)), message.Image("image/png", "iVBO")}, 1},
		"a document whose pages are packed":  {append(images(99), pdf("")), 0},
		"a page that cannot be read counts":  {append(images(100), message.Document("application/pdf", "%")), 51},
		"bytes":                              {[]message.Block{large, large, large, large, large}, 0},
		"too many bytes":                     {[]message.Block{large, large, large, large, large, large}, 4},
		"blocks that are not read":           {append(images(100), message.Block{Type: "image", Raw: []byte(`{"type":"image","source":{"type":"url"}}`)}), 51},
	} {
		t.Run(name, func(t *testing.T) {
			history := []message.Message{by(message.User, message.Text("look")), by(message.User, c.blocks...)}
			sent, n := withRoom(history)
			assert.Equal(t, c.left, n)
			body, err := message.Request{Messages: sent}.Body()
			assert.NoError(t, err)
			assert.Equal(t, c.left, strings.Count(string(body.Bytes()), left))
			assert.Equal(t, c.blocks, history[1].Content, "what was seen stays as it was")
		})
	}
}

// What is left out of one request is left out of the next, and only when there is no room is more.
func TestPropertyARequestBeginsAsTheOneBefore(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var history []message.Message
		before, changes, total := 0, 0, 0
		places := message.Places{Of: message.IsMedia}
		for range rapid.IntRange(1, 40).Draw(t, "messages") {
			some := rapid.IntRange(0, 20).Draw(t, "images")
			total += some
			history = append(history, by(message.User, append(images(some), message.Text("on"))...))
			sent, n := message.WithRoom(history, places.In(history))
			again, same := withRoom(history)
			assert.Equal(t, again, sent, "in one go it is the same")
			assert.Equal(t, same, n)
			assert.GreaterOrEqual(t, n, before)
			assert.LessOrEqual(t, total-n, 100)
			if n > before {
				changes++
			}
			before = n
		}
		assert.LessOrEqual(t, changes, total/50)
	})
}
