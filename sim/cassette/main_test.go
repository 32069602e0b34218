package cassette_test

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"toolbench/sim/cassette"
	"toolbench/sim/stream"
)

const ms = time.Millisecond

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// need is what assertions want: a test's T or a property's.
type need interface {
	Errorf(format string, args ...any)
	FailNow()
}

// ask sends a Messages request with the given body through the transport.
func ask(t need, rt http.RoundTripper, body string) (*http.Response, error) {
	req, err := http.NewRequest(http.MethodPost, "https://api.example.com/v1/messages", strings.NewReader(body))
	require.NoError(t, err)
	return rt.RoundTrip(req)
}

// mustAsk is ask for requests that have an answer.
func mustAsk(t need, rt http.RoundTripper, body string) *http.Response {
	resp, err := ask(t, rt, body)
	require.NoError(t, err)
	return resp
}

// listen reads a body to its end and returns the events with the times, since
// start, at which a reader sees them.
func listen(body io.ReadCloser, start time.Time) ([]stream.Event, error) {
	defer body.Close()
	var d stream.Decoder
	var events []stream.Event
	buf := make([]byte, 4096)
	for {
		n, err := body.Read(buf)
		feedErr := d.Feed(buf[:n], func(e stream.Event) error {
			e = e.Clone()
			e.At = time.Since(start)
			events = append(events, e)
			return nil
		})
		if feedErr != nil {
			return events, feedErr
		}
		if err == io.EOF {
			return events, d.Close()
		}
		if err != nil {
			return events, err
		}
	}
}

// play asks and listens.
func play(t need, rt http.RoundTripper, body string) []stream.Event {
	start := time.Now()
	resp := mustAsk(t, rt, body)
	events, err := listen(resp.Body, start)
	require.NoError(t, err)
	return events
}

func player(t need, c *cassette.Cassette, o cassette.Options) *cassette.Player {
	p, err := cassette.NewPlayer(c, o)
	require.NoError(t, err)
	return p
}

// turn is a short scripted answer: a text, and a call that is complete at 500 ms.
func turn(id string) []stream.Event {
	return stream.Script(stream.Turn{ID: "msg_" + id, FirstByte: 200 * ms, End: 700 * ms, Blocks: []stream.Block{
		{Kind: stream.Text, Text: "Reading " + id + ".", At: 300 * ms},
		{Kind: stream.ToolUse, Name: "Read", Input: []byte(`{"file_path":"/` + id + `.go"}`), At: 500 * ms},
	}})
}
