package shards

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"toolbench/sim/clock"
)

// Server is a NATS server with JetStream within this process.
type Server struct{ s *server.Server }

// ErrServer means that the server did not start.
var ErrServer = errors.New("the NATS server did not start")

// Serve starts a server that keeps its files in a folder and listens on a host and a port; port
// -1 is any. Whoever has the token may come. What it stores is on the disk before it is
// acknowledged.
func Serve(host string, port int, dir, token string) (*Server, error) {
	if l, err := net.Listen("tcp", net.JoinHostPort(host, strconv.Itoa(max(0, port)))); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrServer, err) // the server itself would try for seconds
	} else if err := l.Close(); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrServer, err)
	}
	s, err := start(&server.Options{Host: host, Port: port, JetStream: true, StoreDir: dir, Authorization: token})
	if err != nil {
		return nil, err
	}
	return s, s.ready()
}

func start(o *server.Options) (*Server, error) {
	o.SyncAlways, o.NoLog, o.NoSigs = true, true, true
	s, err := server.NewServer(o)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrServer, err)
	}
	s.Start()
	return &Server{s}, nil
}

// ready waits until the server takes connections, and closes one that does not.
func (s *Server) ready() error {
	if s.s.ReadyForConnections(10 * time.Second) {
		return nil
	}
	s.Close()
	return fmt.Errorf("%w within 10s", ErrServer)
}

// URL is where it listens.
func (s *Server) URL() string { return s.s.ClientURL() }

// Empty waits for a moment until one client is left at most: a worker that sees that its queue is
// closed goes, and one that only sees the server end waits for another.
func (s *Server) Empty(ctx context.Context) {
	for tries := 100; tries > 0 && s.s.NumClients() > 1 && clock.Pause(ctx, 100*time.Millisecond) == nil; {
		tries--
	}
}

// Close ends it.
func (s *Server) Close() {
	s.s.Shutdown()
	s.s.WaitForShutdown()
}

// Connect connects to a server, again whenever it was away. The token may be "".
func Connect(url, token string) (*nats.Conn, error) {
	options := []nats.Option{nats.MaxReconnects(-1), nats.ReconnectWait(200 * time.Millisecond), nats.Timeout(5 * time.Second), nats.Name("toolbench")}
	if token != "" {
		options = append(options, nats.Token(token))
	}
	return nats.Connect(url, options...)
}
