package stream

import (
	"encoding/json"
	"math/rand/v2"
	"strconv"
	"strings"
)

// head is the content_block of a block's start. Calls start with an empty
// input: the deltas bring it.
func (b Block) head(t Turn, i int) any {
	kind := string(b.Kind)
	switch {
	case b.Kind == Text:
		return wireText{kind, ""}
	case b.Kind == Thinking:
		return wireThinking{kind, "", ""}
	case b.Kind == Redacted:
		return wireRedacted{kind, b.Text}
	case b.takesInput():
		return wireCall{Type: kind, ID: or(b.ID, t.callID(i)), Name: b.Name, Server: b.Server}
	}
	return wireResult{kind, b.ID, b.content()}
}

// content is the block's content as valid JSON: a string if it was none.
func (b Block) content() json.RawMessage {
	if len(b.Content) == 0 || json.Valid(b.Content) {
		return b.Content
	}
	return compact(string(b.Content))
}

// pieces are the block's deltas. Those of a call begin with an empty one, as
// recorded streams do; a call without arguments has no other.
// Where they are split is decided by the turn's seed and the block's place.
func (b Block) pieces(seed uint64, place int) []Delta {
	switch {
	case b.Deltas != nil:
		return b.Deltas
	case b.Kind == Text || b.Kind == Thinking:
		return derived(splitText(b.cut(b.Text), rand.New(rand.NewPCG(seed, uint64(place)))))
	case b.takesInput():
		input := b.input()
		if input == "" {
			return silence
		}
		return derived(append([]string{""}, splitJSON(b.cut(input), rand.New(rand.NewPCG(seed, uint64(place))))...))
	}
	return nil
}

// silence is a call without arguments. It is only read.
var silence = []Delta{{}}

// input is the JSON that a call's deltas spell; {} is spelt by silence.
func (b Block) input() string {
	if string(b.Input) == "{}" { // most calls: nothing to squeeze
		return ""
	}
	if s := string(squeeze(b.Input)); s != "{}" {
		return s
	}
	return ""
}

func (b Block) cut(s string) string {
	if b.CutAt == 0 {
		return s
	}
	return cutText(s, b.CutAt)
}

// wrap puts a piece into the delta that its kind of block uses.
func (b Block) wrap(text string) wirePiece {
	switch b.Kind {
	case Thinking:
		return wirePiece{Type: "thinking_delta", Thinking: &text}
	case Text:
		return wirePiece{Type: "text_delta", Text: &text}
	}
	return wirePiece{Type: "input_json_delta", JSON: &text}
}

func derived(texts []string) []Delta {
	ds := make([]Delta, len(texts))
	for i, s := range texts {
		ds[i].Text = s
	}
	return ds
}

func (t Turn) id() string { return or(t.ID, "msg_scripted") }

func (t Turn) callID(i int) string {
	return "toolu_" + strings.TrimPrefix(t.id(), "msg_") + "_" + strconv.Itoa(i)
}

func or(s, otherwise string) string {
	if s != "" {
		return s
	}
	return otherwise
}
