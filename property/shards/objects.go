package shards

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"toolbench/sim/clock"
)

// ErrChanged means that what was sent is not what its name says.
var ErrChanged = errors.New("it has changed while it was read")

// sendTries is how often a server may be away while bytes are sent, fetchTime how long a worker
// may take to fetch a piece of them, and pieceBytes what a piece has: of an object that is some
// times larger the server delivers nothing.
const (
	sendTries  = 20
	fetchTime  = 5 * time.Minute
	pieceBytes = 32 << 20
)

// Send stores bytes that the workers of a queue need, under their SHA-256 in hex. What is there
// already is not sent again.
func (q *Queue) Send(ctx context.Context, digest string, open func() io.ReadCloser) error {
	store, err := q.js.CreateOrUpdateObjectStore(ctx, jetstream.ObjectStoreConfig{Bucket: streamName(q.name), Storage: jetstream.FileStorage, Replicas: q.o.Replicas})
	if err != nil {
		return fmt.Errorf("the store: %w", err)
	}
	for try := 1; ; try++ {
		if _, err = store.GetInfo(ctx, digest); err == nil {
			return nil
		}
		if errors.Is(err, jetstream.ErrObjectNotFound) {
			if err = q.send(ctx, store, digest, open()); err == nil || errors.Is(err, ErrChanged) {
				return err
			}
		}
		if try == sendTries || !q.passing(ctx, err) {
			return fmt.Errorf("the store: %w", err)
		}
		if err := clock.Pause(ctx, 250*time.Millisecond); err != nil {
			return err
		}
	}
}

// send stores the pieces, and then under the digest how many they are.
func (q *Queue) send(ctx context.Context, store jetstream.ObjectStore, digest string, r io.ReadCloser) error {
	defer r.Close() // it was read to its end, or is sent again
	chunks := &jetstream.ObjectMetaOptions{ChunkSize: uint32(min(q.largest, 512<<10))}
	sum := sha256.New()
	for n := 0; ; n++ {
		part := io.LimitReader(io.TeeReader(r, sum), pieceBytes)
		info, err := store.Put(ctx, jetstream.ObjectMeta{Name: piece(digest, n), Opts: chunks}, fullReader{part})
		switch {
		case err != nil:
			return err
		case info.Size == pieceBytes:
			continue
		case hex.EncodeToString(sum.Sum(nil)) != digest:
			return ErrChanged
		}
		_, err = store.PutString(ctx, digest, strconv.Itoa(n+1))
		return err
	}
}

func piece(digest string, n int) string { return fmt.Sprintf("%s.%d", digest, n) }

// fullReader reads as much as there is room for: each chunk of a store is written to the disk by itself.
type fullReader struct{ io.Reader }

// Read implements io.Reader.
func (f fullReader) Read(p []byte) (int, error) {
	n, err := io.ReadFull(f.Reader, p)
	if errors.Is(err, io.ErrUnexpectedEOF) {
		err = nil
	}
	return n, err
}

// Fetch copies what was sent; bytes that were changed on the way are an error.
func (q *Queue) Fetch(ctx context.Context, digest string, to io.Writer) error {
	store, err := q.js.ObjectStore(ctx, streamName(q.name))
	if err != nil {
		return fmt.Errorf("the store: %w", err)
	}
	text, err := store.GetString(ctx, digest)
	if err != nil {
		return fmt.Errorf("the store: %w", err)
	}
	pieces, err := strconv.Atoi(text)
	for n := 0; n < pieces && err == nil; n++ {
		err = fetch(ctx, store, piece(digest, n), to)
	}
	return err
}

func fetch(ctx context.Context, store jetstream.ObjectStore, name string, to io.Writer) error {
	ctx, cancel := context.WithTimeout(ctx, fetchTime)
	defer cancel()
	r, err := store.Get(ctx, name)
	if err != nil {
		return fmt.Errorf("the store: %w", err)
	}
	_, err = io.Copy(to, r)
	return errors.Join(err, r.Close())
}
