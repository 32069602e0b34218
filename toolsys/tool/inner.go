package tool

import (
	"encoding/json"

	"toolbench/toolsys/message"
)

// InnerCall is a call that another call makes.
type InnerCall struct {
	Tool  string
	Input json.RawMessage
}

// InnerResult is what came of one: the tool that was found, how the call ended, and the
// content of its result.
type InnerResult struct {
	Tool, Status string
	Failed       bool
	Blocks       []message.Block
}

// InnerReport is what came of all that were made. Modify is what they changed, which the
// call that made them hands on with Messages as its own.
type InnerReport struct {
	Results  []InnerResult
	Modify   Modifier
	Messages []message.Message
}
