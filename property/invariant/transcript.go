package invariant

import (
	"encoding/json"
	"fmt"
	"slices"
	"unicode/utf8"

	"toolbench/property/des"
	"toolbench/sim/scenario/check"
)

// said is one message of a request, as an API reads it.
type Message struct {
	Role    string  `json:"role"`
	Content []Block `json:"content"`
}

type Block struct {
	Type    string `json:"type"`
	ID      string `json:"id"`
	For     string `json:"tool_use_id"`
	Content []Part `json:"content"`
}

type Part struct {
	Text string `json:"text"`
}

// transcript reads the messages of a request.
func transcript(body []byte) ([]Message, error) {
	var req struct {
		Messages []Message `json:"messages"`
	}
	err := json.Unmarshal(body, &req)
	return req.Messages, err
}

func allWellFormed(_ *des.Case, out check.Result) error {
	for n, body := range out.Requests {
		messages, err := transcript(body)
		if err == nil {
			err = WellFormed(messages)
		}
		if err != nil {
			return fmt.Errorf("request %d: %w", n+1, err)
		}
	}
	return nil
}

// wellFormed: who speaks changes from message to message, the user begins and ends,
// and the results of a message answer the calls of the one before it.
func WellFormed(messages []Message) error {
	var open []string
	for i, m := range messages {
		if want := [...]string{"user", "assistant"}[i%2]; m.Role != want {
			return fmt.Errorf("message %d is of %s, not of %s", i+1, m.Role, want)
		}
		calls, results, behind := m.blocks()
		switch {
		case len(m.Content) == 0:
			return fmt.Errorf("message %d is empty", i+1)
		case behind:
			return fmt.Errorf("message %d has a result behind other content", i+1)
		case !slices.Equal(results, open):
			return fmt.Errorf("message %d answers %v; called were %v", i+1, results, open)
		}
		open = calls
	}
	if len(messages)%2 == 0 || len(open) > 0 {
		return fmt.Errorf("the last message is not the user's, or leaves %v open", open)
	}
	return nil
}

// blocks lists the calls and the answered calls of a message; behind tells that a
// result stands behind something else.
func (m *Message) blocks() (calls, results []string, behind bool) {
	other := false
	for _, b := range m.Content {
		switch b.Type {
		case "tool_use":
			calls = append(calls, b.ID)
		case "tool_result":
			results = append(results, b.For)
			behind = behind || other
		default:
			other = true
		}
	}
	return calls, results, behind
}

func messagesFit(_ *des.Case, out check.Result) error {
	for n, body := range out.Requests {
		messages, err := transcript(body)
		if err == nil {
			err = FitTogether(messages)
		}
		if err != nil {
			return fmt.Errorf("request %d: %w", n+1, err)
		}
	}
	return nil
}

// sized: the results of each message fit together.
func FitTogether(messages []Message) error {
	for i := range messages {
		total := 0
		for _, b := range messages[i].Content {
			for _, p := range b.Content {
				total += utf8.RuneCountInString(p.Text)
			}
		}
		if total > maxMessage {
			return fmt.Errorf("message %d: its results have %d characters", i+1, total)
		}
	}
	return nil
}
