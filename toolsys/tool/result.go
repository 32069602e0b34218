package tool

import (
	"encoding/json"

	"toolbench/toolsys/message"
)

// Result is what a call gives back (A3).
type Result[Out any] struct {
	// Data is the tool's answer.
	Data Out
	// Failed marks an answer that reports a failure of the tool's own run: the
	// block is sent with is_error.
	Failed bool
	// Messages are added after the results of the turn (H5).
	Messages []message.Message
	// Modify changes the state; honoured for exclusive calls (B3).
	Modify Modifier
	// Observed is what a safe call learned; committed in call order (B5).
	Observed []Observation
	// Meta is what an MCP server sent beside the content.
	Meta *Meta
}

// Meta is the MCP side of a result.
type Meta struct {
	Meta       json.RawMessage
	Structured json.RawMessage
}

// Done is a Result of data alone.
func Done[Out any](data Out) Result[Out] { return Result[Out]{Data: data} }
