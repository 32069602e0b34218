package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"toolbench/toolsys/loop"
	"toolbench/toolsys/mcptool"
)

// Two conversations in one transcript would be neither of them: who comes second is told.
func TestATranscriptHasOneWriter(t *testing.T) {
	name := filepath.Join(t.TempDir(), "chat.jsonl")
	open := func() *transcript {
		file, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
		require.NoError(t, err)
		t.Cleanup(func() { _ = file.Close() })
		return &transcript{file: file, shown: "chat.jsonl"}
	}
	one, other := open(), open()
	require.NoError(t, one.journal()(loop.Entry{}))
	require.NoError(t, one.journal()(loop.Entry{}))
	before, err := os.ReadFile(name)
	require.NoError(t, err)
	assert.ErrorContains(t, other.journal()(loop.Entry{}), "chat.jsonl: another chat writes into it; end one of the two, and resume it then")
	after, err := os.ReadFile(name)
	require.NoError(t, err)
	assert.Equal(t, string(before), string(after))
}

// Each login keeps its grant, though others keep theirs at the same time.
func TestGrantsAreKeptBesideEachOther(t *testing.T) {
	g := grants{filepath.Join(t.TempDir(), "of", "grants.json")}
	const logins = 12
	var all sync.WaitGroup
	for i := range logins {
		all.Go(func() { assert.NoError(t, g.keep(fmt.Sprint("https://server-", i), mcptool.Grant{})) })
	}
	all.Wait()
	kept, err := g.read()
	require.NoError(t, err)
	assert.Len(t, kept, logins)
	entries, err := os.ReadDir(filepath.Dir(g.file))
	require.NoError(t, err)
	assert.Len(t, entries, 1)
}

func TestALockThatStaysIsNamed(t *testing.T) {
	t.Parallel() // it waits
	g := grants{filepath.Join(t.TempDir(), "grants.json")}
	require.NoError(t, os.WriteFile(g.file+".lock", nil, 0o600))
	assert.EqualError(t, g.keep("https://server", mcptool.Grant{}), g.file+".lock: another toolbench keeps a grant and does not end; remove the file if none runs")
}
