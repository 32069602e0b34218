package serve

import (
	"net/http"

	"github.com/tidwall/gjson"
)

// threaded says that a request wants the server to keep the conversation, and would
// send only what is new. Then there would be nothing to hold against the recording:
// what a client keeps, orders and repeats.
func threaded(body []byte) bool { return gjson.GetBytes(body, "thread").IsObject() }

// withoutThreads refuses threads in the words at which the official SDKs go on with
// whole conversations.
func withoutThreads(w http.ResponseWriter) {
	answer(w, http.StatusBadRequest, map[string]any{"type": "error", "error": map[string]any{
		"type":    "invalid_request_error",
		"message": "thread: conversations are not kept here, so that what the client sends can be checked: send all messages",
		"details": map[string]any{"error_code": "thread_unsupported_request", "unsupported": []string{"thread"}},
	}})
}
