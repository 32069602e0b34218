package recording_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"toolbench/sim/recording"
)

// The line is the file's, not that of the interaction by itself.
func TestABrokenInteractionIsNamedByTheLineOfTheFile(t *testing.T) {
	first, second, _ := strings.Cut(promptCassette, "m1")
	before, after, _ := strings.Cut(second, "- request:\n")
	line := strings.Count(first+before, "\n") + 2
	broken := first + before + "- request:\n    x: [\n" + after
	rec := open(t, broken)
	require.Len(t, rec.Problems, 1)
	assert.Contains(t, rec.Problems[0].Text, fmt.Sprintf("line %d: did not find expected", line))
	assert.Equal(t, line-1, rec.Problems[0].Line, "where the interaction begins")

	_, err := recording.Open("file", strings.NewReader("name: x\nb: [\nc: d\n"), recording.Limits{}, nil)
	assert.ErrorContains(t, err, "(as YAML: line 2: did not find expected")
}

func TestATraceIsReadAsFarAsItGoes(t *testing.T) {
	whole := httprr(t)
	_, err := recording.Open("file", strings.NewReader("httprr trace v1\n"), recording.Limits{}, nil)
	assert.EqualError(t, err, "file: not a recording: it holds no turn of a model")

	first, _, _ := strings.Cut(whole, "\n")
	rec := open(t, whole[:len(whole)-20])
	assert.Len(t, rec.Conversations[0].Turns, 2)
	require.Len(t, rec.Problems, 1)
	assert.Equal(t, recording.CutStream, rec.Problems[0].Kind)
	assert.Equal(t, "the last exchange is cut off", rec.Problems[0].Text)
	assert.Equal(t, 1+strings.Count(whole[:strings.LastIndex(whole, "POST ")-1], "\n"), rec.Problems[0].Line, "where its lengths stand")

	rec = open(t, whole+"what is this\n")
	assert.Len(t, rec.Conversations[0].Turns, 3)
	assert.Equal(t, []string{fmt.Sprintf("malformed line %d, interaction 4: the lengths of the next exchange should stand here; the rest of the file was left out", 1+strings.Count(whole, "\n"))}, problems(rec))
	assert.Equal(t, "httprr trace v1", first)

	rec = open(t, whole+"3 3\nabcdef")
	assert.Equal(t, recording.Malformed, rec.Problems[0].Kind)
	assert.Contains(t, rec.Problems[0].Text, "the exchange cannot be read: ")
}

// Whoever takes a key out of a trace leaves its lengths as they were.
func TestATraceMayHaveBeenEdited(t *testing.T) {
	var b strings.Builder
	b.WriteString("httprr trace v1\n")
	for _, x := range exchanges(t) {
		request, response := onTheWire(x)
		request = strings.Replace(request, "Content-Length: ", "Content-Length: 1", 1)
		response = strings.Replace(response, "Content-Type:", "Transfer-Encoding: chunked\r\nContent-Type:", 1)
		head, body, _ := strings.Cut(response, "\r\n\r\n")
		response = fmt.Sprintf("%s\r\n\r\n%x\r\n%s\r\n0\r\n\r\n", head, len(body), body)
		fmt.Fprintf(&b, "%d %d\n%s%s", len(request), len(response), request, response)
	}
	rec := open(t, b.String())
	assert.Empty(t, rec.Problems)
	assert.Equal(t, []string{"call_1 text of a", "call_2 a b"}, answers(rec.Conversations[0].Turns[0]))
}

func TestAListKnowsItsLines(t *testing.T) {
	rec := open(t, "[\n  "+strings.TrimSpace(transcript(t)[:strings.Index(transcript(t), "\n")])+",\n\n"+
		`  {"type": "user", "sessionId": "session-1",
    "message": {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c9", "content": "x"}]}},
  {"type": "assistant", "sessionId": "session-1", "message": {"role": "assistant", "id": "m", "content": [{"type": "text", "text": "x"}]}}]`)
	assert.Equal(t, []string{`stray line 4, conversation 1: a result for "c9", which no call waits for`}, problems(rec))
	assert.Equal(t, 6, rec.Conversations[0].Turns[0].Line)
	assert.Equal(t, map[string]int{`values of type "summary"`: 1}, rec.Ignored)
}

func TestAListThatIsCutIsReadAsFarAsItGoes(t *testing.T) {
	whole := listed(t, transcript(t))
	rec := open(t, whole[:len(whole)-30])
	assert.Len(t, rec.Conversations[0].Turns, 2, "the last line was the third's")
	assert.Equal(t, []string{"cut the document ends too early, or is no JSON: unexpected EOF"}, problems(rec))
}

func TestWhatWentBetweenAnAgentAndWhoDrivesIt(t *testing.T) {
	said := func(direction, kind, parent, content string) string {
		return fmt.Sprintf(`{"direction":%q,"message":{"type":%q,"session_id":"s1","parent_tool_use_id":%s,"message":{"role":%q,"id":"m-%s","content":[%s]}}}`, direction, kind, parent, kind, content[9:13], content)
	}
	text := `{"metadata":{"version":"1"},"messages":[` + strings.Join([]string{
		said("send", "user", "null", `{"type":"text","text":"Go."}`),
		said("recv", "assistant", "null", `{"type":"tool_use","id":"c1","name":"Agent","input":{}}`),
		said("recv", "assistant", `"c1"`, `{"type":"tool_use","id":"c2","name":"Read","input":{}}`),
		said("recv", "user", `"c1"`, `{"type":"tool_result","tool_use_id":"c2","content":"x"}`),
		said("recv", "user", "null", `{"type":"tool_result","tool_use_id":"c1","content":"y"}`),
	}, ",") + `]}`
	rec := open(t, text)
	assert.Equal(t, recording.Blocks, rec.Format)
	require.Len(t, rec.Conversations, 2)
	assert.Equal(t, "s1", rec.Conversations[0].ID)
	assert.Equal(t, []string{"c1 y"}, answers(rec.Conversations[0].Turns[0]))
	assert.Equal(t, "c1", rec.Conversations[1].Agent)
	assert.Equal(t, []string{"c2 x"}, answers(rec.Conversations[1].Turns[0]))
}

func TestAnswersOfABatchBelongToNoneOfTheOthers(t *testing.T) {
	var b strings.Builder
	for n, turn := range script {
		fmt.Fprintf(&b, `{"custom_id":"q%d","result":{"type":"succeeded","message":%s}}`+"\n", n, reply(t, turn))
	}
	rec := open(t, b.String())
	assert.Equal(t, recording.History, rec.Format)
	require.Len(t, rec.Conversations, 3)
	assert.Equal(t, "the recording holds no requests, so no results", rec.Conversations[0].Turns[0].Unanswered[0].Reason)
	for _, form := range []string{
		`{"custom_id":"q%d","response":{"status_code":200,"body":{"object":"chat.completion","choices":[{"message":{"role":"assistant","tool_calls":[{"id":"c","function":{"name":"ls","arguments":"{}"}}]}}]}},"error":null}`,
		`{"key":"q%d","response":{"candidates":[{"content":{"parts":[{"functionCall":{"name":"ls","args":{}}}]},"finishReason":"STOP"}]}}`,
		`{"status_code":200,"request_id":"q%d","body":{"object":"chat.completion","choices":[{"message":{"role":"assistant","tool_calls":[{"id":"c","function":{"name":"ls","arguments":"{}"}}]}}]}}`,
		`{"type":"succeeded","message":{"id":"q%d","type":"message","role":"assistant","content":[{"type":"tool_use","id":"c","name":"ls","input":{}}]}}`,
	} {
		one, two := fmt.Sprintf(form, 1), fmt.Sprintf(form, 2)
		for _, text := range []string{one + "\n" + two + "\n", "{\n" + `"version":1,"batch":{"id":"b","status":"completed"},"results":[` + one + "," + two + `]}`} {
			rec := open(t, text)
			require.Len(t, rec.Conversations, 2, text)
			assert.Len(t, rec.Conversations[1].Turns[0].Calls, 1, text)
		}
	}
}

// A history that ends, or passes a call over, reports which of the two.
func TestAHistoryHasItsReasons(t *testing.T) {
	rec := open(t, `{"messages":[{"role":"user","content":"Go."},
		{"role":"assistant","content":[{"type":"tool_use","id":"c1","name":"n","input":{}}]},{"role":"user","content":"Never mind."},
		{"role":"assistant","content":[{"type":"tool_use","id":"c2","name":"n","input":{}}]}]}`)
	turns := rec.Conversations[0].Turns
	require.Len(t, turns, 2)
	assert.Equal(t, "the conversation goes on without its result", turns[0].Unanswered[0].Reason)
	assert.Equal(t, "the recording ends before its result", turns[1].Unanswered[0].Reason)
	rec = open(t, `{"messages":[{"role":"assistant","content":null,"tool_calls":[{"id":"c1","function":{"name":"n","arguments":"{}"}}]},{"role":"tool","tool_call_id":"c1","content":"r"}]}`)
	assert.Equal(t, []string{"c1 r"}, answers(rec.Conversations[0].Turns[0]), "another API's messages")
	rec = open(t, strings.Repeat(`{"messages":`+calledOnce("c1")+`,"response":{"type":"message","role":"assistant","content":[{"type":"text","text":"x"}]}}`+"\n", 2))
	assert.Equal(t, []string{"1 c1", "2 c1"}, askedOf(rec), "an answer beside them is none of a batch")
}

// What stands behind the end of what is packed costs nothing of it, be it short, long, or packed as well.
func TestBytesBehindAPackedFileAreLeftOut(t *testing.T) {
	line := []byte(transcript(t))
	for _, z := range [][]byte{gzipped(t, line), packed(t, "zstd", line)} {
		turns := len(open(t, string(z)).Conversations[0].Turns)
		for _, behind := range []string{"abcd", strings.Repeat("\x00", 512), "a longer text that is no header"} {
			rec := open(t, string(z)+behind)
			assert.Len(t, rec.Conversations[0].Turns, turns)
			assert.Contains(t, problems(rec), "malformed what stands behind the end of the packed file is not packed; it was left out")
		}
		assert.Equal(t, problems(open(t, string(line)+string(line))), problems(open(t, string(z)+string(z))))
	}
}

// A log that is packed may be cut, or still be written, as any other.
func TestAPackedFileIsReadAsFarAsItGoes(t *testing.T) {
	var lines strings.Builder
	for range 200 { // more than is packed at once
		lines.WriteString(transcript(t))
	}
	inGzip, inZstd := gzipped(t, []byte(lines.String())), packed(t, "zstd", []byte(lines.String()))
	for _, cut := range [][]byte{inGzip[:len(inGzip)-len(inGzip)/3], inZstd[:len(inZstd)-9]} {
		rec := open(t, string(cut))
		assert.Greater(t, len(rec.Conversations[0].Turns), 100)
		assert.Contains(t, problems(rec), "cut the packed file is cut off; it was read as far as it goes")
		_, err := recording.Open("file", strings.NewReader(string(cut[:12])), recording.Limits{}, nil)
		assert.ErrorIs(t, err, recording.ErrNotRecording)
		assert.ErrorContains(t, err, "before any of it can be read")
	}
}
