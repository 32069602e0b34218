// Chatagent is a small agent on OpenAI's Chat Completions, for trying toolbench on: it streams, has tools with names
// of its own, and asks again where an answer fails. The prompt is its last argument, else its standard input.
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strings"
)

func main() {
	prompt := ""
	if len(os.Args) > 1 {
		prompt = os.Args[1]
	} else if in, err := io.ReadAll(os.Stdin); err == nil {
		prompt = strings.TrimSpace(string(in))
	}
	if err := run(os.Getenv("OPENAI_BASE_URL"), prompt); err != nil {
		fmt.Fprintln(os.Stderr, "chatagent:", err)
		os.Exit(3)
	}
}

type call struct {
	Index    int    `json:"index"`
	ID       string `json:"id"`
	Type     string `json:"type"`
	Function struct {
		Name      string `json:"name"`
		Arguments string `json:"arguments"`
	} `json:"function"`
}

type message struct {
	Role    string `json:"role"`
	Content string `json:"content"`
	Calls   []call `json:"tool_calls,omitempty"`
	Call    string `json:"tool_call_id,omitempty"`
}

const tools = `[
{"type":"function","function":{"name":"read_file","parameters":{"type":"object","properties":{"path":{"type":"string"}},"required":["path"]}}},
{"type":"function","function":{"name":"edit","parameters":{"type":"object","properties":{"file":{"type":"string"},"old_str":{"type":"string"},"new_str":{"type":"string"}},"required":["file","old_str","new_str"]}}},
{"type":"function","function":{"name":"shell","parameters":{"type":"object","properties":{"command":{"type":"string"},"description":{"type":"string"}},"required":["command","description"]}}}]`

func run(url, prompt string) error {
	messages := []message{{Role: "user", Content: prompt}}
	for {
		answer, err := ask(url, messages)
		if err != nil {
			return err
		}
		messages = append(messages, answer)
		if len(answer.Calls) == 0 {
			return nil
		}
		for _, c := range answer.Calls {
			text, err := work(c)
			if err != nil {
				text = "Error: " + err.Error()
			}
			messages = append(messages, message{Role: "tool", Call: c.ID, Content: text})
		}
	}
}

// ask sends the conversation, and again, up to three times, where the answer fails.
func ask(url string, messages []message) (answer message, err error) {
	body, err := json.Marshal(map[string]any{"model": "gpt", "stream": true, "messages": messages, "tools": json.RawMessage(tools)})
	if err != nil {
		return answer, err
	}
	for range 4 {
		var resp *http.Response
		if resp, err = http.Post(url+"/chat/completions", "application/json", bytes.NewReader(body)); err != nil {
			continue
		}
		answer, err = read(resp)
		resp.Body.Close()
		if err == nil {
			return answer, nil
		}
	}
	return answer, err
}

// read puts the pieces of a stream together.
func read(resp *http.Response) (m message, err error) {
	if resp.StatusCode != http.StatusOK {
		return m, errors.New("the model answered " + resp.Status)
	}
	m.Role = "assistant"
	for lines := bufio.NewScanner(resp.Body); lines.Scan(); {
		data, ok := strings.CutPrefix(lines.Text(), "data: ")
		if data == "[DONE]" {
			return m, nil
		}
		var piece struct {
			Error   *struct{ Message string }
			Choices []struct{ Delta message }
		}
		if !ok {
			continue
		}
		if err := json.Unmarshal([]byte(data), &piece); err != nil {
			return m, err
		}
		if piece.Error != nil {
			return m, errors.New(piece.Error.Message)
		}
		for _, c := range piece.Choices {
			m.Content += c.Delta.Content
			for _, part := range c.Delta.Calls {
				if part.Index == len(m.Calls) {
					m.Calls = append(m.Calls, part)
					continue
				}
				m.Calls[part.Index].Function.Arguments += part.Function.Arguments
			}
		}
	}
	return m, errors.New("the stream broke off")
}

// work does one call on the real disk.
func work(c call) (string, error) {
	var in map[string]string
	if err := json.Unmarshal([]byte(c.Function.Arguments), &in); err != nil {
		return "", err
	}
	switch c.Function.Name {
	case "read_file":
		data, err := os.ReadFile(in["path"])
		return string(data), err
	case "edit":
		data, err := os.ReadFile(in["file"])
		if err != nil || !bytes.Contains(data, []byte(in["old_str"])) {
			return "", errors.Join(err, errors.New("the text is not there"))
		}
		return "edited", os.WriteFile(in["file"], bytes.Replace(data, []byte(in["old_str"]), []byte(in["new_str"]), 1), 0o644)
	case "shell":
		out, err := exec.Command("sh", "-c", in["command"]).Output()
		return string(out), err
	}
	return "", errors.New("there is no tool " + c.Function.Name)
}
