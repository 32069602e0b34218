package cli

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/gob"
	"encoding/hex"
	"fmt"
	"hash"
	"io"
	"os"
	"reflect"
	"time"

	"toolbench/property/shards"
	"toolbench/sim/cassette"
	"toolbench/sim/replay"
)

// spreadReplay replays files on all workers that join the run. The report keeps the order of the files; one
// that no worker could replay has an error in its place.
func (a *app) spreadReplay(ctx context.Context, files []found, o replay.Options, f spreadFlags, patience time.Duration) (*replayed, error) {
	l, err := a.sentList(ctx, files, f)
	if err != nil {
		return nil, err
	}
	var text bytes.Buffer
	if err := gob.NewEncoder(&text).Encode(l); err != nil {
		return nil, harness(err)
	}
	digest := fmt.Sprintf("%x", sha256.Sum256(text.Bytes()))
	o.Secrets = nil
	got, err := a.spread(ctx, f, spreadWork{
		spec: spec{Replay: &replaySpec{Options: o, List: digest, Files: len(files), Patience: patience}},
		name: "replay", things: "files", all: shards.Range{To: uint64(len(files))},
		send: func(ctx context.Context, q *shards.Queue) error {
			err := q.Send(ctx, digest, func() io.ReadCloser { return io.NopCloser(bytes.NewReader(text.Bytes())) })
			for n, pack := range l.Packs {
				if err == nil {
					err = q.Send(ctx, pack, func() io.ReadCloser { return a.packed(l.Files, n+1) })
				}
			}
			if err != nil {
				err = fmt.Errorf("sending the files: %w", err)
			}
			return err
		},
	})
	if err != nil {
		return nil, err
	}
	return a.replayedOf(got, files)
}

// replayedOf puts the files of all parts in their order.
func (a *app) replayedOf(got *shards.Gathered, files []found) (*replayed, error) {
	all := make([]replay.Report, len(files))
	for i, data := range got.Results {
		var some []replayedFile
		part := got.Parts[i]
		err := gob.NewDecoder(bytes.NewReader(data)).Decode(&some)
		if err == nil && uint64(len(some)) != part.Len() {
			err = fmt.Errorf("it has %d results", len(some))
		}
		if err != nil {
			return nil, harness(fmt.Errorf("part %s: %w", part, err))
		}
		for k, one := range some {
			all[part.From+uint64(k)] = one.report()
		}
	}
	for _, c := range got.Aside {
		path := files[c.Case].path
		all[c.Case] = replay.Report{File: path, Err: fmt.Errorf("%s: set aside, as nobody could replay it: %s", path, c.Why)}
	}
	done := &replayed{}
	secrets := a.secrets()
	for i, file := range files {
		if len(secrets) > 0 {
			blankAll(reflect.ValueOf(&all[i]), func(text string) string { return cassette.Blank(text, secrets...) })
		}
		all[i].File = file.path
		done.take(file, all[i])
	}
	return done, nil
}

// blankAll blanks every text of a value, also behind its pointers and in its lists. The value has to be settable.
func blankAll(v reflect.Value, blank func(string) string) {
	switch v.Kind() {
	case reflect.String:
		v.SetString(blank(v.String()))
	case reflect.Pointer:
		if !v.IsNil() {
			blankAll(v.Elem(), blank)
		}
	case reflect.Slice:
		for i := range v.Len() {
			blankAll(v.Index(i), blank)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			blankAll(v.Field(i), blank)
		}
	}
}

// sentList reads the files for their digests and, where workers come from elsewhere, puts the bytes of each
// part into a pack, equal ones once.
func (a *app) sentList(ctx context.Context, files []found, f spreadFlags) (*sentList, error) {
	l, sends := &sentList{}, f.others() && !f.unsent
	at := map[string]sentFile{}
	pack, size := sha256.New(), int64(0)
	for i, file := range files {
		if ctx.Err() != nil {
			return nil, interrupted("interrupted: nothing was replayed")
		}
		s := sentFile{Path: file.path}
		with, err := pack.(hash.Cloner).Clone()
		if err != nil {
			return nil, harness(err)
		}
		to := io.Writer(with)
		if !sends {
			to = io.Discard
		}
		if s.Digest, s.Size, err = a.digest(file.path, to); err != nil {
			s.Why = reason(err).Error()
		}
		earlier, there := at[s.Digest]
		switch {
		case !sends || s.Why != "" || s.Size == 0:
		case there:
			s.Pack, s.At = earlier.Pack, earlier.At
		default:
			pack = with
			s.Pack, s.At = len(l.Packs)+1, size
			size += s.Size
			at[s.Digest] = s
		}
		l.Files = append(l.Files, s)
		if size > 0 && ((i+1)%f.part == 0 || i+1 == len(files)) {
			l.Packs = append(l.Packs, hex.EncodeToString(pack.Sum(nil)))
			pack, size = sha256.New(), 0
		}
	}
	return l, nil
}

// digest reads a file for its digest and its size, and for another sum.
func (a *app) digest(path string, to io.Writer) (digest string, size int64, err error) {
	file, err := os.Open(a.path(path))
	if err != nil {
		return "", 0, err
	}
	defer file.Close()
	sum := sha256.New()
	size, err = io.Copy(io.MultiWriter(sum, to), file)
	return hex.EncodeToString(sum.Sum(nil)), size, err
}

// packed gives the bytes of a pack: of the files that are in it, each once.
func (a *app) packed(files []sentFile, pack int) io.ReadCloser {
	r, w := io.Pipe()
	go func() {
		var err error
		at := int64(0)
		for _, f := range files {
			if f.Pack != pack || f.At != at || err != nil {
				continue // an equal file has put these bytes in
			}
			var file io.ReadCloser
			if file, err = (replayInput{sentFile{Size: f.Size}, a.path(f.Path)}).open(); err == nil {
				_, err = io.Copy(w, file)
				file.Close()
			}
			at += f.Size
		}
		w.CloseWithError(err)
	}()
	return r
}
