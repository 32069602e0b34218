package cassette

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"syscall"
	"testing"

	vcr "github.com/dnaeon/go-vcr/v2/cassette"
	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"
	"gopkg.in/yaml.v3"
)

// change is one that was made to a file: bytes written at a place, or, without any, a new end.
type change struct {
	text []byte
	at   int64
}

// watchedFile notes its changes; it has room for so many bytes more.
type watchedFile struct {
	afero.File
	changes []change
	room    int
}

func (w *watchedFile) WriteAt(p []byte, at int64) (int, error) {
	n := min(w.room, len(p))
	w.room -= n
	w.changes = append(w.changes, change{bytes.Clone(p), at})
	_, err := w.File.WriteAt(p[:n], at)
	if err == nil && n < len(p) {
		err = syscall.ENOSPC
	}
	return n, err
}

func (w *watchedFile) Truncate(size int64) error {
	w.changes = append(w.changes, change{nil, size})
	return w.File.Truncate(size)
}

// killed is a file of which only so many bytes of its changes came to be; whole is true if those are all. A new
// end counts as one.
func killed(file []byte, changes []change, n int) (cut []byte, whole bool) {
	file = bytes.Clone(file)
	for _, c := range changes {
		if n <= 0 {
			return file, false
		}
		if c.text == nil {
			file = file[:c.at]
			n--
			continue
		}
		some := c.text[:min(n, len(c.text))]
		file = append(file[:min(int(c.at), len(file))], append(some, file[min(int(c.at)+len(some), len(file)):]...)...)
		n -= len(c.text)
	}
	return file, n >= 0
}

// answered are exchanges, by what has come of their answers.
type answered []string

func (a answered) yaml(t *testing.T) []byte {
	t.Helper()
	if len(a) == 0 {
		return nil
	}
	list := []*vcr.Interaction{}
	for _, body := range a {
		list = append(list, &vcr.Interaction{
			Request:  vcr.Request{Method: http.MethodPost, URL: "http://example.com/", Body: `{"messages":"` + strings.Repeat("it's ", 104) + `"}`},
			Response: vcr.Response{Code: http.StatusOK, Headers: http.Header{"Content-Type": {"text/event-stream"}}, Body: body},
		})
	}
	text, err := yaml.Marshal(map[string]any{"interactions": list})
	require.NoError(t, err)
	_, text, _ = bytes.Cut(text, []byte("\n"))
	return text
}

// state is what is complete, and what is on its way, of what a journal writes at a time.
type state struct{ whole, part answered }

// Wherever a kill ends what a journal writes, the file has either all that it had or all that was being
// written: no exchange is lost that was there, and none has parts of two moments.
func TestAJournalIsWholeWhereverItIsKilled(t *testing.T) {
	events := func(n int) (text string) {
		for i := range n {
			text += fmt.Sprintf("data: {\"n\":%d}\n\n", i)
		}
		return text
	}
	for name, c := range map[string]struct{ before, after state }{
		"one on its way grows":           {state{nil, answered{events(3)}}, state{nil, answered{events(9)}}},
		"one ends":                       {state{nil, answered{events(3)}}, state{answered{events(5)}, nil}},
		"one ends and another has begun": {state{nil, answered{events(2)}}, state{answered{events(2)}, answered{""}}},
		"the later one ends, and is cut": {state{nil, answered{events(5), events(9)}}, state{answered{"data: {}\n\n"}, answered{"data: 1\n\n"}}},
		"another came at once":           {state{answered{events(2)}, nil}, state{answered{events(1), "{}"}, nil}},
		"another begins":                 {state{answered{events(2)}, nil}, state{nil, answered{events(1)}}},
		"texts look like comments":       {state{nil, answered{"#\n#\n"}}, state{answered{"#\n\n#\n##\n#\n", " #\n"}, nil}},
	} {
		t.Run(name, func(t *testing.T) {
			j, text := journalWith(t, c.before)
			require.Equal(t, c.before.file(t, state{}), text)
			out := &watchedFile{File: j.out, room: math.MaxInt}
			j.out = out
			require.NoError(t, j.put(c.after.whole.yaml(t), c.after.part.yaml(t)))
			require.NoError(t, j.out.Close())
			at, err := os.ReadFile(j.file)
			require.NoError(t, err)
			require.Equal(t, c.before.file(t, c.after), string(at), "a file at rest has nothing else")
			before, after := read(t, []byte(text)), read(t, at)
			var cut []byte
			for n, whole := 0, false; !whole; n++ {
				cut, whole = killed([]byte(text), out.changes, n)
				if got := read(t, cut); !reflect.DeepEqual(before, got) || whole {
					require.Equal(t, after, got, "killed after %d bytes", n)
				}
			}
			require.Equal(t, string(at), string(cut))
		})
	}
}

// A disk that is full leaves the file as it was before.
func TestAJournalOnAFullDiskStaysAsItWas(t *testing.T) {
	for room := 0; room < 400; room += 7 {
		before := state{answered{"one"}, answered{"tw"}}
		j, text := journalWith(t, before)
		j.out = &watchedFile{File: j.out, room: room}
		require.ErrorIs(t, j.put(answered{"two"}.yaml(t), answered{"three"}.yaml(t)), syscall.ENOSPC)
		require.NoError(t, j.out.Close())
		at, err := os.ReadFile(j.file)
		require.NoError(t, err)
		require.Equal(t, text, string(at))
	}
}

// A line of another's that is like the one of a journal that was killed is a comment.
func TestOnlyAJournalsOwnCommentMovesText(t *testing.T) {
	_, text := journalWith(t, state{answered{"one"}, nil})
	want := read(t, []byte(text))
	for _, numbers := range [][2]int{{-1, 0}, {0, -1}, {20, 10}, {0, len(text) + 1}, {len(text) + 1, len(text) + 1}} {
		require.Equal(t, want, read(t, fmt.Appendf([]byte(text), "#"+comingFormat, numbers[0], numbers[1])))
	}
	require.Equal(t, want, read(t, []byte(text+strings.TrimSuffix(fmt.Sprintf("#"+comingFormat, 0, len(text)), "\n"))))
}

// journalWith is a journal with what it has written.
func journalWith(t *testing.T, s state) (*Journal, string) {
	t.Helper()
	j := &Journal{file: filepath.Join(t.TempDir(), "session.yaml")}
	require.NoError(t, j.put(s.whole.yaml(t), s.part.yaml(t)))
	text, err := os.ReadFile(j.file)
	require.NoError(t, err)
	return j, string(text)
}

// file is what a file holds in a state, or in the one behind it.
func (s state) file(t *testing.T, next state) string {
	t.Helper()
	part := s.part
	if next.whole != nil || next.part != nil {
		part = next.part
	}
	return string(slices.Concat([]byte("---\nversion: 1\ninteractions:\n"), s.whole.yaml(t), next.whole.yaml(t), part.yaml(t)))
}

func read(t *testing.T, text []byte) []Interaction {
	t.Helper()
	c, err := Load("session.yaml", bytes.NewReader(text), Limits{})
	require.NoError(t, err, "%s", text)
	streamed, err := io.ReadAll(Settled(bytes.NewReader(text))) // as recordings are read
	require.NoError(t, err)
	require.Equal(t, string(settled(text)), string(streamed))
	return c.Interactions
}
