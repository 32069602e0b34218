package recording_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"toolbench/sim/recording"
)

// batchCassette is what a client sent and got, in the words of one provider: each three are an address, a request and its answer.
func batchCassette(t *testing.T, parts ...string) string {
	t.Helper()
	var docs []string
	for i := 0; i < len(parts); i += 3 {
		docs = append(docs, inYAML(t, object{"when": object{"path": parts[i], "body": parts[i+1]}, "then": object{"status": 200, "body": parts[i+2]}}))
	}
	return strings.Join(docs, "---\n")
}

// batchOf is a batch of two requests, with a tool each, of which the second is answered first, in each provider's words.
func batchOf(t *testing.T) map[string]string {
	t.Helper()
	two := func(form, sep string) string {
		return fmt.Sprintf(form, 0, "Zero?", "nought") + sep + fmt.Sprintf(form, 1, "One?", "unit")
	}
	turned := func(form, sep string) string {
		return fmt.Sprintf(form, 1, "b", "unit") + sep + fmt.Sprintf(form, 0, "a", "nought")
	}
	chat := `{"messages":[{"role":"user","content":"%[2]s"}],"tools":[{"type":"function","function":{"name":"%[3]s","parameters":{}}}]}`
	chatted := `{"id":"m%[1]d","object":"chat.completion","choices":[{"message":{"role":"assistant","tool_calls":[{"id":"%[2]s","function":{"name":"%[3]s","arguments":"{}"}}]},"finish_reason":"tool_calls"}]}`
	gemini := `{"contents":[{"role":"user","parts":[{"text":"%[2]s"}]}],"tools":[{"functionDeclarations":[{"name":"%[3]s"}]}]}`
	generated := `{"candidates":[{"content":{"parts":[{"functionCall":{"name":"%[3]s","args":{}}}]},"finishReason":"STOP"}]}`
	messages := `{"messages":[{"role":"user","content":"%[2]s"}],"tools":[{"name":"%[3]s","input_schema":{}}]}`
	message := `{"id":"m%[1]d","type":"message","role":"assistant","content":[{"type":"tool_use","id":"%[2]s","name":"%[3]s","input":{}}]}`
	lines := `{"custom_id":"%[1]d","method":"POST","url":"/v1/chat/completions","body":` + chat + `}`
	output := `{"custom_id":"%[1]d","response":{"status_code":200,"body":` + chatted + `},"error":null}`
	inlined := `"inlinedResponses":{"inlinedResponses":[` + turned(`{"response":`+generated+`,"metadata":{"key":"%[1]d"}}`, ",") + `]}`
	return map[string]string{
		"Anthropic": batchCassette(t,
			"/v1/messages/batches", `{"requests":[`+two(`{"custom_id":"%[1]d","params":`+messages+`}`, ",")+`]}`, `{"id":"b1","type":"message_batch","results_url":null}`,
			"/v1/messages/batches/b1/results", "", turned(`{"custom_id":"%[1]d","result":{"type":"succeeded","message":`+message+`}}`, "\n")),
		"OpenAI": batchCassette(t,
			"/v1/files", "--x\r\nContent-Disposition: form-data; name=\"file\"\r\n\r\n"+two(lines, "\n")+"\r\n--x--\r\n", `{"object":"file","id":"file-in"}`,
			"/v1/batches", `{"input_file_id":"file-in","endpoint":"/v1/chat/completions"}`, `{"id":"batch_1","object":"batch","output_file_id":null}`,
			"/v1/batches/batch_1", "", `{"id":"batch_1","object":"batch","output_file_id":"file-out"}`,
			"/v1/files/file-out/content", "", turned(output, "\n")),
		"Gemini": batchCassette(t,
			"/v1beta/models/gemini-2.5-flash:batchGenerateContent", `{"batch":{"inputConfig":{"requests":{"requests":[`+two(`{"request":`+gemini+`,"metadata":{"key":"%[1]d"}}`, ",")+`]}}}}`, `{"name":"batches/b1","metadata":{"name":"batches/b1"}}`,
			"/v1beta/batches/b1", "", `{"name":"batches/b1","metadata":{"output":{`+inlined+`}},"done":true,"response":{`+inlined+`}}`),
		"Mistral": batchCassette(t,
			"/v1/batch/jobs", `{"endpoint":"/v1/chat/completions","model":"m","requests":[`+two(`{"custom_id":"%[1]d","body":`+chat+`}`, ",")+`]}`, `{"id":"j1","object":"batch","outputs":null}`,
			"/v1/batch/jobs/j1?inline=true", "", `{"id":"j1","object":"batch","outputs":[`+turned(output, ",")+`]}`),
		"xAI": batchCassette(t,
			"/v1/batches", `{"name":"x"}`, `{"batch_id":"b1"}`,
			"/v1/batches/b1/requests", `{"batch_requests":[`+two(`{"batch_request_id":"%[1]d","batch_request":{"chat_get_completion":`+chat+`}}`, ",")+`]}`, `null`,
			"/v1/batches/b1/results?limit=100", "", `{"results":[`+turned(`{"batch_request_id":"%[1]d","batch_result":{"response":{"chat_get_completion":`+chatted+`}}}`, ",")+`]}`),
	}
}

// Each answer of a batch is a turn of its own, with the request that its client gave the same name.
func TestAnswersOfABatchHaveTheirRequests(t *testing.T) {
	for whose, text := range batchOf(t) {
		t.Run(whose, func(t *testing.T) {
			seen := func(rec *recording.Recording) (out []string) {
				for _, c := range rec.Conversations {
					for _, turn := range c.Turns {
						require.Len(t, turn.Calls, 1)
						require.Len(t, turn.Tools, 1)
						out = append(out, fmt.Sprint(turn.UserTexts, turn.Tools[0].Name, " ", turn.Calls[0].Name))
					}
				}
				return out
			}
			want := []string{"[One?]unit unit", "[Zero?]nought nought"}
			rec := open(t, text)
			assert.Empty(t, rec.Problems)
			assert.Equal(t, want, seen(rec))
			assert.Len(t, rec.Conversations, 2)

			docs := strings.Split(text, "---\n")
			again := open(t, text+"---\n"+docs[len(docs)-1])
			assert.Equal(t, want, seen(again), "results that were fetched twice are answers once")
		})
	}
}

// A name that requests of two batches have leads to neither: nothing in the results of one shows whose they are.
func TestRequestsOfAnotherBatchAreNotJoined(t *testing.T) {
	docs := strings.Split(batchOf(t)["Anthropic"], "---\n")
	other := batchCassette(t, "/v1/messages/batches", `{"requests":[{"custom_id":"0","params":{"messages":[{"role":"user","content":"Other."}]}}]}`, `{"id":"b2"}`)
	rec := open(t, docs[0]+"---\n"+other+"---\n"+docs[1])
	require.Len(t, rec.Conversations, 2)
	assert.Equal(t, []string{"One?"}, rec.Conversations[0].Turns[0].UserTexts)
	assert.Empty(t, rec.Conversations[1].Turns[0].UserTexts)
	assert.Equal(t, []string{"1 b", "2 a"}, askedOf(rec))
}

// What a batch did not answer is named: an error is one of the recording's problems, and what expired is counted.
func TestRequestsOfABatchMayHaveNoAnswer(t *testing.T) {
	text := batchCassette(t,
		"/v1/messages/batches", `{"requests":[{"custom_id":"0","params":{"messages":[{"role":"user","content":"Zero?"}]}},{"custom_id":"1","params":{"messages":[{"role":"user","content":"One?"}]}},{"custom_id":"2","params":{"messages":[{"role":"user","content":"Two?"}]}}]}`, `{"id":"b1"}`,
		"/v1/messages/batches/b1/results", "", `{"custom_id":"0","result":{"type":"errored","error":{"type":"error","error":{"type":"invalid_request_error","message":"No."}}}}
{"custom_id":"1","result":{"type":"expired"}}
{"custom_id":"2","result":{"type":"succeeded","message":{"id":"m","type":"message","role":"assistant","content":[{"type":"text","text":"Two."}]}}}`)
	rec := open(t, text)
	require.Len(t, rec.Conversations, 1)
	assert.Equal(t, []string{"Two?"}, rec.Conversations[0].Turns[0].UserTexts)
	assert.Equal(t, []string{"error line 8, interaction 2: the request was answered with status 200: invalid_request_error: No."}, problems(rec))
	assert.Equal(t, 1, rec.Ignored["requests of a batch that were not answered"])
}
