// Agent is a small agent, for trying toolbench on: it calls its tools otherwise than the
// scenarios do, asks for a title first, and does wrong what its first argument names. The
// prompt is its last argument, else its standard input, of which each line is one if the first
// argument is lines; keep and continue hold a conversation over several runs.
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
	"slices"
	"strings"
	"time"

	"toolbench/toolsys/message"
)

func main() {
	a := &agentRun{url: os.Getenv("ANTHROPIC_BASE_URL")}
	prompt, mode := "", ""
	if len(os.Args) > 1 {
		mode = os.Args[1]
	}
	if len(os.Args) > 2 {
		prompt = os.Args[2]
	} else if mode == "lines" {
		prompt = "lines"
	} else if in, err := io.ReadAll(os.Stdin); err == nil {
		prompt = strings.TrimSpace(string(in))
	}
	if err := a.run(mode, prompt); err != nil {
		fmt.Fprintln(os.Stderr, "agent:", err)
		os.Exit(3)
	}
}

type agentRun struct {
	url      string
	mode     string
	messages []message.Message
}

const agentTools = `[
{"name":"read_file","input_schema":{"type":"object","properties":{"path":{"type":"string"}},"required":["path"]}},
{"name":"edit","input_schema":{"type":"object","properties":{"file":{"type":"string"},"old_str":{"type":"string"},"new_str":{"type":"string"}},"required":["file","old_str","new_str"]}},
{"name":"shell","input_schema":{"type":"object","properties":{"command":{"type":"string"},"description":{"type":"string"}},"required":["command","description"]}}]`

func (a *agentRun) run(mode, prompt string) error {
	a.mode = mode
	switch mode {
	case "silent":
		return nil
	case "crash":
		return errors.New("out of luck")
	case "hang":
		time.Sleep(time.Hour)
	case "children":
		return exec.Command("sleep", "3600").Start()
	}
	if mode != "plain" {
		if _, err := a.ask(nil, message.UserText("A title for: "+prompt)); err != nil {
			return err
		}
	}
	if mode == "lines" {
		for in := bufio.NewScanner(os.Stdin); in.Scan(); {
			if err := a.turn(in.Text()); err != nil {
				return err
			}
		}
		return nil
	}
	if mode == "continue" {
		data, err := os.ReadFile(session)
		if err != nil || json.Unmarshal(data, &a.messages) != nil {
			return errors.Join(err, errors.New("there is no session"))
		}
	}
	if err := a.turn(prompt); err != nil {
		return err
	}
	if mode == "stay" {
		time.Sleep(time.Hour)
	}
	if mode != "keep" && mode != "continue" {
		return nil
	}
	data, err := json.Marshal(a.messages)
	if err != nil {
		return err
	}
	return os.WriteFile(session, data, 0o600)
}

// session is where modes that go on keep what was said, beside the folder they work in.
const session = "../session.json"

// turn is one prompt, to the answer without calls.
func (a *agentRun) turn(prompt string) error {
	a.messages = append(a.messages, message.UserText(prompt))
	for {
		reply, err := a.ask(json.RawMessage(agentTools), a.messages...)
		if err != nil {
			return err
		}
		if a.mode == "flood" {
			for range 1_500 {
				if _, err := a.ask(json.RawMessage(agentTools), a.messages...); err != nil {
					return err
				}
			}
		}
		a.messages = append(a.messages, reply)
		results := a.results(reply)
		if len(results) == 0 {
			return nil
		}
		a.messages = append(a.messages, message.Message{Role: "user", Content: results})
	}
}

func (a *agentRun) results(reply message.Message) (results []message.Block) {
	for _, call := range reply.Calls() {
		text, err := a.work(call)
		if err != nil {
			text = err.Error()
		}
		results = append(results, message.ToolResult(call.ID, err != nil, message.Text(text)))
	}
	switch a.mode {
	case "swap":
		slices.Reverse(results)
	case "lose":
		if len(results) > 1 {
			results = results[1:]
		}
	}
	return results
}

// work does one call on the real disk.
func (a *agentRun) work(call message.Block) (string, error) {
	var in map[string]string
	if err := json.Unmarshal(call.Input, &in); err != nil {
		return "", err
	}
	switch call.Name {
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
	return "", errors.New("there is no tool " + call.Name)
}

// ask sends the conversation, and again, up to three times, where the answer fails.
func (a *agentRun) ask(tools json.RawMessage, messages ...message.Message) (reply message.Message, err error) {
	body, err := json.Marshal(map[string]any{"model": "m", "max_tokens": 100, "messages": messages, "tools": tools})
	if tools == nil {
		body, err = json.Marshal(map[string]any{"model": "m", "max_tokens": 100, "messages": messages})
	}
	if err != nil {
		return reply, err
	}
	for range 3 {
		var resp *http.Response
		if resp, err = http.Post(a.url+"/v1/messages", "application/json", bytes.NewReader(body)); err != nil {
			continue
		}
		err = json.NewDecoder(resp.Body).Decode(&reply)
		resp.Body.Close()
		if err == nil && resp.StatusCode != http.StatusOK {
			err = errors.New("the model answered " + resp.Status)
		}
		if err == nil {
			return reply, nil
		}
	}
	return reply, err
}
