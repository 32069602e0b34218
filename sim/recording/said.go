package recording

import (
	"strings"
	"unicode/utf8"

	"github.com/tidwall/gjson"
)

// MaxSaid bounds what a transcript's Turn.Said keeps, in bytes.
const MaxSaid = 256 << 10

// voice are the user's words that wait for the model's next answer.
type voice struct {
	texts []string
	size  int
	// command: the last of them is a command of the agent's own.
	command bool
}

// hear takes a user's message of a transcript. An agent also writes there what it has
// to say itself, and what its own commands print: those are not the user's words, and a
// command that the agent answered was never put to the model.
func (u *voice) hear(v, content gjson.Result) {
	text := uttered(content)
	switch {
	case text == "" || v.Get("isMeta").Bool() || strings.HasPrefix(text, "Caveat: The messages below"):
	case strings.HasPrefix(text, "<local-command-"):
		if u.command {
			u.drop()
		}
	default:
		name, command := commandIn(text)
		if command {
			text = name
		}
		u.add(text, command)
	}
}

func (u *voice) add(text string, command bool) {
	room := MaxSaid - u.size
	if room <= 0 {
		return
	}
	if len(text) > room {
		for room > 0 && !utf8.RuneStart(text[room]) {
			room--
		}
		text = text[:room]
	}
	u.size += len(text)
	u.texts, u.command = append(u.texts, strings.Clone(text)), command
}

func (u *voice) drop() {
	last := len(u.texts) - 1
	u.size -= len(u.texts[last])
	u.texts, u.command = u.texts[:last], false
}

// take gives what was said, once.
func (u *voice) take() []string {
	texts := u.texts
	*u = voice{}
	return texts
}

// uttered is the text of a user's message, results apart; what is no text is named.
func uttered(content gjson.Result) string {
	if content.Type == gjson.String {
		return strings.TrimSpace(content.Str)
	}
	var parts []string
	for _, b := range content.Array() {
		switch kind := b.Get("type").String(); kind {
		case "tool_result", "toolResult":
		case "text":
			parts = append(parts, b.Get("text").String())
		default:
			parts = append(parts, "["+kind[:min(len(kind), 40)]+"]")
		}
	}
	return strings.TrimSpace(strings.Join(parts, "\n"))
}

// commandIn reads a command of the agent's own, as the user typed it.
func commandIn(text string) (command string, ok bool) {
	name, ok := enclosed(text, "<command-name>", "</command-name>")
	if !ok || !strings.HasPrefix(text, "<command-") {
		return "", false
	}
	args, _ := enclosed(text, "<command-args>", "</command-args>")
	return strings.TrimSpace("/" + strings.TrimPrefix(name, "/") + " " + args), true
}

// enclosed is what stands between two marks.
func enclosed(text, open, end string) (string, bool) {
	_, rest, found := strings.Cut(text, open)
	inner, _, ended := strings.Cut(rest, end)
	return strings.TrimSpace(inner), found && ended
}
