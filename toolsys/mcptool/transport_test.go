package mcptool_test

import (
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"toolbench/toolsys"
	"toolbench/toolsys/host"
	"toolbench/toolsys/mcptool"
	"toolbench/toolsys/tool"
)

// asChild makes this test's own program an MCP server on its standard streams.
const asChild = "MCPTOOL_TEST_CHILD"

func TestMain(m *testing.M) {
	if scenario := os.Getenv(conformanceScenario); scenario != "" {
		os.Exit(conform(scenario, os.Args[len(os.Args)-1]))
	}
	if os.Getenv(asChild) == "" {
		os.Exit(m.Run())
	}
	if err := mortal(func() { os.Exit(1) }).Run(context.Background(), &mcp.IOTransport{Reader: deaf{}, Writer: os.Stdout}); err != nil {
		os.Exit(2)
	}
}

// deaf is a standard input that is not read any more where a message is long.
type deaf struct{}

func (deaf) Read(p []byte) (int, error) {
	n, err := os.Stdin.Read(p)
	if err == nil && n == len(p) {
		time.Sleep(time.Hour)
	}
	return n, err
}

func (deaf) Close() error { return nil }

// mortal is a server with a tool that answers and one that ends it.
func mortal(die func()) *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: "mortal", Version: "1"}, nil)
	s.AddTool(listed("live", nil), answers(&mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "alive"}}}, nil))
	s.AddTool(listed("die", nil), func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		die()
		return &mcp.CallToolResult{}, nil
	})
	return s
}

func fleetOf(t *testing.T, dial func(context.Context) (mcp.Transport, error)) *mcptool.Fleet {
	t.Helper()
	f, err := mcptool.Connect(mcptool.FleetConfig{
		Clock: toolsys.RealClock(), Backoff: func(int) time.Duration { return 20 * time.Millisecond }, Attempts: 200,
	}, mcptool.Endpoint{Name: "m", Dial: dial})
	require.NoError(t, err)
	t.Cleanup(f.Close)
	f.Ready(20 * time.Second)
	return f
}

func ringUp(t *testing.T, f *mcptool.Fleet, name string) error {
	return ringUpWith(t.Context(), t, f, name, "{}")
}

func ringUpWith(ctx context.Context, t *testing.T, f *mcptool.Fleet, name, input string) error {
	for _, served := range f.Served(context.Background()).Tools {
		if served.Name == name {
			in, problems := served.Parse(json.RawMessage(input))
			require.Empty(t, problems)
			_, err := served.Call(ctx, in, &tool.Context{})
			return err
		}
	}
	return mcptool.ErrNoServer
}

// comesBack holds a fleet to N4 over a real line: the call under which the server goes
// ends in one error, and later calls work again.
func comesBack(t *testing.T, f *mcptool.Fleet) {
	t.Helper()
	require.NoError(t, ringUp(t, f, "mcp__m__live"))
	require.ErrorIs(t, ringUp(t, f, "mcp__m__die"), mcptool.ErrGone)
	require.Eventually(t, func() bool { return ringUp(t, f, "mcp__m__live") == nil }, time.Minute, 20*time.Millisecond)
	assert.Empty(t, f.Served(context.Background()).Pending)
}

// child is the way to this test's own program as a server.
func child(t *testing.T) func(context.Context) (mcp.Transport, error) {
	self, err := os.Executable()
	require.NoError(t, err)
	return mcptool.Stdio(func(context.Context) (*exec.Cmd, func()) {
		cmd := exec.Command(self)
		cmd.Env = append(os.Environ(), asChild+"=1")
		return cmd, nil
	})
}

// unread is the way to a program that ended before the first message was written, and whose end was not read by then.
type unread struct{ mcp.Connection }

func (u unread) Connect(context.Context) (mcp.Connection, error) { return u, nil }
func (unread) SessionID() string                                 { return "" }
func (unread) Close() error                                      { return nil }
func (unread) Write(context.Context, jsonrpc.Message) error      { return syscall.EPIPE }
func (unread) Read(context.Context) (jsonrpc.Message, error)     { return nil, io.ErrClosedPipe }
func (u unread) dial(context.Context) (mcp.Transport, error)     { return u, nil }

// Whether the end of a program's output is read first, or writing to it fails, is a matter of luck and not of its server.
func TestAProgramThatEndedIsNamedAlikeHoweverItShows(t *testing.T) {
	for _, dial := range append(slices.Repeat([]func(context.Context) (mcp.Transport, error){script("exit 0", io.Discard)}, 20), unread{}.dial) {
		reported := make(chan string, 10)
		f, err := mcptool.Connect(mcptool.FleetConfig{
			Clock: toolsys.RealClock(), Attempts: -1, Report: func(r mcptool.Report) { reported <- r.String() },
		}, mcptool.Endpoint{Name: "m", Dial: dial})
		require.NoError(t, err)
		assert.Contains(t, <-reported, "it cannot be connected: EOF (a server's output has messages of JSON-RPC alone, up to its end)")
		f.Close()
	}
}

// script is the way to a server that is a script of the shell. It may call answer, which answers the request that came last.
func script(body string, stderr io.Writer) func(context.Context) (mcp.Transport, error) {
	const serve = `answer() { printf '{"jsonrpc":"2.0","id":%s,"result":%s}\n' "$id" "$1"; }
serve() {
  while read -r line; do
    id=$(expr "$line" : '.*"id":\([0-9]*\)')
    "$@"
    case $line in
    *server/discover*) echo '{"jsonrpc":"2.0","id":'$id',"error":{"code":-32601,"message":"unknown"}}' ;;
    *initialize\"*) answer '{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}' ;;
    *tools/list*) answer '{"tools":[{"name":"live","inputSchema":{"type":"object"}}]}' ;;
    *tools/call*) call ;;
    esac
  done
}
call() { answer '{"content":[{"type":"text","text":"alive"}]}'; }
`
	return mcptool.Stdio(func(context.Context) (*exec.Cmd, func()) {
		cmd := exec.Command("sh", "-c", serve+body)
		cmd.Stderr = stderr
		return cmd, nil
	})
}

// log keeps what is written to it, by whomever.
type log struct {
	mu   sync.Mutex
	kept strings.Builder
}

func (l *log) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.kept.Write(p)
}

func (l *log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.kept.String()
}

// npm, docker and libraries print to the standard output of a server; the protocol's own clients pass over that.
func TestWhatAProgramPrintsBesideItsMessagesGoesToItsLog(t *testing.T) {
	for name, c := range map[string]struct{ body, log string }{
		"a banner":             {`echo '> shop@1.0.0 start'; echo; echo '[INFO] listening'; serve`, "> shop@1.0.0 start\n[INFO] listening\n"},
		"lines between":        {`note() { case $line in *tools/*) echo "got $line" | cut -c 1-18 ;; esac; }; serve note`, "got {\"jsonrpc\":\"2.\ngot {\"jsonrpc\":\"2.\n"},
		"JSON that is no call": {`echo '{"level":30,"msg":"up"}'; echo '[1]'; echo '[]'; echo null; echo '{"level":30,"req":{"jsonrpc":"2.0"}}'; serve`, "{\"level\":30,\"msg\":\"up\"}\n[1]\n[]\nnull\n{\"level\":30,\"req\":{\"jsonrpc\":\"2.0\"}}\n"},
		"carriage returns":     {`printf 'up\r\n'; serve | while read -r l; do printf '%s\r\n' "$l"; done`, "up\n"},
		"a byte order mark":    {`printf '\357\273\277'; serve`, ""},
		"a line with a pause":  {`serve | while read -r l; do printf '%.20s' "$l"; sleep 0.1; echo "${l#????????????????????}"; done`, ""},
		"messages in a list":   {`call() { echo '[{"jsonrpc":"2.0","id":'$id',"result":{"content":[]}}]'; }; serve`, ""},
		"no end of a line":     {`call() { answer '{"content":[]}' | tr -d '\n'; exit; }; serve`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			var written log
			require.NoError(t, ringUp(t, fleetOf(t, script(c.body, &written)), "mcp__m__live"))
			assert.Equal(t, c.log, written.String())
		})
	}
}

func TestTheLogOfWhatAProgramPrintsIsBounded(t *testing.T) {
	for name, body := range map[string]string{
		"many lines": `yes 'a line of no worth' | head -n 100000; serve`,
		"long lines": `for k in 1 2 3; do head -c 4000000 /dev/zero | tr '\0' x; echo; done; serve`,
	} {
		t.Run(name, func(t *testing.T) {
			var written log
			require.NoError(t, ringUp(t, fleetOf(t, script(body, &written)), "mcp__m__live"))
			assert.NotEmpty(t, written.String())
			assert.Less(t, len(written.String()), 80<<10)
		})
	}
}

// A call would wait in vain for the answer that a broken message was to be.
func TestAProgramThatBreaksAMessageIsGoneAtOnce(t *testing.T) {
	for name, body := range map[string]string{
		"cut":          `call() { echo '{"jsonrpc":"2.0","id":'; }; serve`,
		"two in one":   `call() { printf '{"jsonrpc":"2.0","method":"notifications/x"}'; answer '{}'; }; serve`,
		"without end":  `call() { yes 'x' | tr -d '\n'; }; serve`,
		"20 MB of one": `call() { printf '{"jsonrpc":"2.0","id":%s,"result":"' "$id"; head -c 20000000 /dev/zero | tr '\0' x; echo '"}'; }; serve`,
	} {
		t.Run(name, func(t *testing.T) {
			var written log
			began := time.Now()
			require.ErrorIs(t, ringUp(t, fleetOf(t, script(body, &written)), "mcp__m__live"), mcptool.ErrGone)
			assert.Less(t, time.Since(began), 50*time.Second)
			assert.Empty(t, written.String())
		})
	}
}

// What is no longer of its group cannot be killed with it; its call does not wait for that.
func TestAProgramThatDiesLeavesNoCallWithWhoKeepsItsOutput(t *testing.T) {
	began := time.Now()
	require.ErrorIs(t, ringUp(t, fleetOf(t, script(`call() { sleep 60 & exit 1; }; serve`, io.Discard)), "mcp__m__live"), mcptool.ErrGone)
	assert.Less(t, time.Since(began), 50*time.Second)
}

func TestAProgramThatIgnoresItsEndIsKilled(t *testing.T) {
	f := fleetOf(t, script(`trap '' TERM; serve; while :; do sleep 1; done`, io.Discard))
	require.NoError(t, ringUp(t, f, "mcp__m__live"))
	began := time.Now()
	f.Close()
	assert.Less(t, time.Since(began), 30*time.Second)
}

// What a program leaves behind when it dies would keep its output open, and its call waiting.
func TestAProgramThatDiesTakesWithItWhatItStarted(t *testing.T) {
	self, err := os.Executable()
	require.NoError(t, err)
	began := time.Now()
	comesBack(t, fleetOf(t, mcptool.Stdio(func(ctx context.Context) (*exec.Cmd, func()) {
		cmd := exec.CommandContext(ctx, "sh", "-c", `sleep 100 & exec "$0"`, self)
		cmd.Env = append(os.Environ(), asChild+"=1")
		return cmd, host.Grouped(cmd)
	})))
	assert.Less(t, time.Since(began), 50*time.Second)
}

func TestAProgramThatDiesIsStartedAgain(t *testing.T) { comesBack(t, fleetOf(t, child(t))) }

// A pipe holds 64 KB; what a call has beyond waits until the program reads, but no longer than the call.
func TestAProgramThatDoesNotReadKeepsNoCall(t *testing.T) {
	f := fleetOf(t, child(t))
	long, end := context.WithTimeout(t.Context(), time.Second)
	defer end()
	for _, ctx := range []context.Context{long, long} {
		began := time.Now()
		assert.ErrorIs(t, ringUpWith(ctx, t, f, "mcp__m__live", `{"a":"`+strings.Repeat("x", 1<<20)+`"}`), context.DeadlineExceeded)
		assert.Less(t, time.Since(began), 20*time.Second)
	}
	began := time.Now()
	f.Close()
	assert.Less(t, time.Since(began), 20*time.Second)
}

func TestAnAddressThatFallsSilentIsCalledAgain(t *testing.T) {
	address := ""
	var current *http.Server
	start := func() {
		listener, err := net.Listen("tcp", address)
		require.NoError(t, err)
		address = listener.Addr().String()
		stopped := make(chan struct{})
		var die func()
		made := mortal(func() { die() })
		current = &http.Server{Handler: mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return made }, nil)}
		server := current
		die = func() { _ = server.Close() }
		go func() {
			_ = server.Serve(listener)
			close(stopped)
		}()
		t.Cleanup(func() {
			_ = server.Close()
			<-stopped
		})
	}
	if address == "" {
		address = "127.0.0.1:0"
	}
	start()
	f := fleetOf(t, mcptool.HTTP("http://"+address, &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}, nil))
	require.NoError(t, ringUp(t, f, "mcp__m__live"))
	require.ErrorIs(t, ringUp(t, f, "mcp__m__die"), mcptool.ErrGone)
	start()
	require.Eventually(t, func() bool { return ringUp(t, f, "mcp__m__live") == nil }, time.Minute, 20*time.Millisecond)
	assert.Empty(t, f.Served(context.Background()).Pending)
}

// What goes on in a server is stopped there, and not only forgotten here.
func TestAServerIsNotifiedOfACallThatIsGivenUp(t *testing.T) {
	begun, given := make(chan any, 1), make(chan struct{})
	s := mcp.NewServer(&mcp.Implementation{Name: "slow", Version: "1"}, nil)
	s.AddTool(listed("wait", nil), func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		begun <- req.Params.GetProgressToken()
		<-ctx.Done()
		close(given)
		return nil, ctx.Err()
	})
	f := fleetOf(t, func(ctx context.Context) (mcp.Transport, error) {
		ours, theirs := mcp.NewInMemoryTransports()
		_, err := s.Connect(context.WithoutCancel(ctx), theirs, nil)
		return ours, err
	})
	served := f.Served(t.Context()).Tools[0]
	in, problems := served.Parse(json.RawMessage(`{}`))
	require.Empty(t, problems)
	ctx, giveUp := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		_, err := served.Call(ctx, in, &tool.Context{})
		ended <- err
	}()
	assert.NotNil(t, <-begun, "the server may report progress")
	giveUp()
	require.ErrorIs(t, <-ended, context.Canceled)
	select {
	case <-given:
	case <-time.After(time.Minute):
		t.Fatal("the server goes on with a call that nobody waits for")
	}
}

// older is a server of the protocol's older transport, and how many streams were asked for.
func older(t *testing.T) (address string, streams *atomic.Int32) {
	t.Helper()
	streams = &atomic.Int32{}
	served := mcp.NewSSEHandler(func(*http.Request) *mcp.Server { return mortal(func() {}) }, nil)
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			streams.Add(1)
		}
		served.ServeHTTP(w, r)
	}))
	t.Cleanup(func() { web.CloseClientConnections(); web.Close() })
	return web.URL, streams
}

func TestAStreamOfTheOlderTransportOutlivesTheHandshake(t *testing.T) {
	address, streams := older(t)
	f := fleetOf(t, func(context.Context) (mcp.Transport, error) { return &mcp.SSEClientTransport{Endpoint: address}, nil })
	for range 5 {
		require.NoError(t, ringUp(t, f, "mcp__m__live"))
		time.Sleep(20 * time.Millisecond)
	}
	assert.EqualValues(t, 1, streams.Load(), "the server was connected anew")
}

func TestAStreamOfTheOlderTransportThatNeverBeginsIsGivenUp(t *testing.T) {
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	}))
	t.Cleanup(web.Close)
	var what reports
	f, err := mcptool.Connect(mcptool.FleetConfig{
		Clock: toolsys.RealClock(), ConnectLimit: 50 * time.Millisecond, Report: what.report,
	}, mcptool.Endpoint{Name: "m", Dial: func(context.Context) (mcp.Transport, error) {
		return &mcp.SSEClientTransport{Endpoint: web.URL}, nil
	}})
	require.NoError(t, err)
	t.Cleanup(f.Close)
	f.Ready(20 * time.Second)
	require.Eventually(t, func() bool { return strings.Contains(what.all(), "no answer within 50ms") }, time.Minute, 10*time.Millisecond)
}

// A question that belongs to no call is declined: there is nobody in whose name it could be answered.
func TestAQuestionWithoutACallIsDeclined(t *testing.T) {
	s := mcp.NewServer(&mcp.Implementation{Name: "s", Version: "1"}, nil)
	here, there := mcp.NewInMemoryTransports()
	serving, err := s.Connect(t.Context(), there, nil)
	require.NoError(t, err)
	f, err := mcptool.Connect(mcptool.FleetConfig{Clock: toolsys.RealClock()}, mcptool.Endpoint{
		Name: "m", Protocol: "2025-06-18", Dial: func(context.Context) (mcp.Transport, error) { return here, nil },
	})
	require.NoError(t, err)
	t.Cleanup(f.Close)
	f.Ready(20 * time.Second)
	answer, err := serving.Elicit(t.Context(), &mcp.ElicitParams{Message: "Which?", RequestedSchema: map[string]any{"type": "object"}})
	require.NoError(t, err)
	assert.Equal(t, "decline", answer.Action)
	assert.Empty(t, answer.Content)
}
