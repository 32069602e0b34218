package message

import "encoding/json"

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
func (r Request) MarshalJSON() ([]byte, error) {
	buf := make([]byte, 0, 4096)
	buf = append(append(buf, `{"model":`...), quote(r.Model)...)
	n, err := json.Marshal(r.MaxTokens)
	if err != nil {
		return nil, err
	}
	buf = append(append(buf, `,"max_tokens":`...), n...)
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
		raw, err := m.MarshalJSON()
		if err != nil {
			return nil, err
		}
		buf = append(buf, raw...)
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
