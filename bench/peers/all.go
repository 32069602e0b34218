package peers

import "toolbench/bench/measure"

// All are the libraries that build beside each other, and the control.
func All() []measure.Peer {
	return []measure.Peer{eino(), einoBare(), openaiAgents(), charm(), adk(), sdkRunner(), langchain(), control()}
}
