package file_test

import (
	"encoding/json"
	"testing"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"toolbench/toolsys/builtin/file"
	"toolbench/toolsys/message"
)

func TestFilesAreHandedOverAsCopiesOfTheirOwn(t *testing.T) {
	w := newWorkplace(t, "-- a.tar.gz --\none\n-- sub/a.tar.gz --\ntwo\n-- README --\nread me\n-- .env --\nx\n")
	var shown []string
	w.c.Notify = func(text string) { shown = append(shown, text) }
	require.NoError(t, w.fs.MkdirAll("/out", 0o700))
	require.NoError(t, w.fs.Chown("/out", user, user))
	send := file.SendUserFile(w.deps(), "/out/box")
	give := func(input string) (text, fail string) {
		in, problems := send.Parse(json.RawMessage(input))
		require.Empty(t, problems, input)
		if refusal := send.Validate(in, w.c); refusal != nil {
			return "", refusal.Message
		}
		out, err := send.Call(t.Context(), in, w.c)
		if err != nil {
			return "", err.Error()
		}
		return message.PlainText(out.Blocks), ""
	}

	text, fail := give(`{"files":["a.tar.gz","sub/a.tar.gz","/repo/README"],"caption":"Three files."}`)
	assert.Equal(t, "The user has /repo/a.tar.gz (4 bytes), /repo/sub/a.tar.gz (4 bytes), /repo/README (8 bytes).", text, fail)
	_, fail = give(`{"files":["README",".env"]}`)
	assert.Empty(t, fail)
	assert.Equal(t, []string{
		"Three files.\n/out/box/a.tar.gz (4 bytes)\n/out/box/a.tar-2.gz (4 bytes)\n/out/box/README (8 bytes)",
		"/out/box/README-2 (8 bytes)\n/out/box/.env (2 bytes)",
	}, shown)
	for name, want := range map[string]string{"a.tar.gz": "one\n", "a.tar-2.gz": "two\n", "README": "read me\n", "README-2": "read me\n", ".env": "x\n"} {
		content, err := afero.ReadFile(w.fs, "/out/box/"+name)
		require.NoError(t, err, name)
		assert.Equal(t, want, string(content), name)
		info, err := w.fs.Stat("/out/box/" + name)
		require.NoError(t, err)
		assert.EqualValues(t, 0o600, info.Mode().Perm(), name)
	}

	// When one of them cannot be read, none is handed over.
	for input, want := range map[string]string{`{"files":["README","none"]}`: "none", `{"files":["README","sub"]}`: "sub"} {
		_, fail = give(input)
		assert.Contains(t, fail, want, input)
	}
	assert.Len(t, shown, 2)
	left, err := afero.ReadDir(w.fs, "/out/box")
	require.NoError(t, err)
	assert.Len(t, left, 5)
}

// A folder for what is handed over that cannot be written is the call's failure, not the user's loss.
func TestFilesThatCannotBeHandedOverAreNamed(t *testing.T) {
	w := newWorkplace(t, "-- a --\none\n")
	require.NoError(t, w.fs.MkdirAll("/closed", 0o500))
	for outbox, want := range map[string]string{"/closed/box": "the files cannot be handed over", "/repo/a": "the files cannot be handed over"} {
		send := file.SendUserFile(w.deps(), outbox)
		in, problems := send.Parse(json.RawMessage(`{"files":["a"]}`))
		require.Empty(t, problems)
		_, err := send.Call(t.Context(), in, w.c)
		assert.ErrorContains(t, err, want, outbox)
	}
}
