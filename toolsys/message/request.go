package message

import (
	"encoding/json"
	"strconv"
)

// Request is what is sent to the model. Tools are ready-made definitions, so that
// their bytes are the pool's business alone (D3).
type Request struct {
	Model     string
	MaxTokens int
	System    []Block
	Tools     []json.RawMessage
	Messages  []Message
	// Betas are sent in the anthropic-beta header.
	Betas []string
}

// MarshalJSON writes the request body: model, max_tokens, system, tools,
// messages, stream.
func (r Request) MarshalJSON() (buf []byte, err error) {
	buf = appendQuoted(append(make([]byte, 0, 4096), `{"model":`...), r.Model)
	buf = strconv.AppendInt(append(buf, `,"max_tokens":`...), int64(r.MaxTokens), 10)
	if len(r.System) > 0 {
		if buf, err = appendBlocks(append(buf, `,"system":`...), r.System); err != nil {
			return nil, err
		}
	}
	if len(r.Tools) > 0 {
		buf = appendRaw(append(buf, `,"tools":`...), r.Tools)
	}
	buf = append(buf, `,"messages":[`...)
	for i, m := range r.Messages {
		if i > 0 {
			buf = append(buf, ',')
		}
		if buf, err = appendMessage(buf, m); err != nil {
			return nil, err
		}
	}
	return append(buf, `],"stream":true}`...), nil
}

func appendRaw(buf []byte, items []json.RawMessage) []byte {
	buf = append(buf, '[')
	for i, raw := range items {
		if i > 0 {
			buf = append(buf, ',')
		}
		buf = append(buf, raw...)
	}
	return append(buf, ']')
}
