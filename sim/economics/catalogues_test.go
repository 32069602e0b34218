package economics_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"toolbench/sim/economics"
	"toolbench/sim/world"
)

// published are figures that others have taken of the same files by the same rules.
var published = []struct {
	file                    string
	servers, tools          int
	bytes4, o200k           int
	namesBytes4, namesO200k float64
	hintsO200k              float64
	without, empty          int // tools without a schema, and with one that names no parameter
}{
	{"github.jsonl", 1, 117, 29348, 26154, 96.7, 95.8, 90.5, 0, 1},
	{"docker-registry.jsonl", 28, 755, 72030, 64650, 88.4, 83.4, 70.5, 0, 419},
	{"azure.jsonl", 1, 200, 108934, 89804, 98.3, 97.6, 94.6, 0, 2},
	{"mcpproxy.jsonl", 7, 45, 6043, 5255, 94.9, 92.7, 84.3, 0, 3},
	{"ironclaw.jsonl", 23, 50, 3297, 2967, 86.6, 82.3, 70.0, 0, 0},
	{"ace-zh.jsonl", 1, 1455, 323230, 293180, 94.9, 93.1, 84.1, 1, 1},
}

func TestCatalogueFiguresAgreeWithPublishedOnes(t *testing.T) {
	bytes4, o200k := counter(t, "bytes4"), counter(t, "o200k")
	for _, p := range published {
		t.Run(p.file, func(t *testing.T) {
			data, err := os.ReadFile(filepath.Join("..", "..", "..", "shared", "catalogues", p.file))
			if errors.Is(err, fs.ErrNotExist) {
				t.Skip("the catalogue is not on this machine")
			}
			require.NoError(t, err)
			catalogue, err := world.ParseCatalogue(p.file, data)
			require.NoError(t, err)
			b := economics.CountTools(economics.Served(catalogue), economics.CountOptions{Counter: bytes4})
			o := economics.CountTools(economics.Served(catalogue), economics.CountOptions{Counter: o200k})
			assert.Len(t, b.Servers, p.servers)
			assert.Equal(t, p.tools, b.Total.Tools)
			assert.Len(t, b.NoSchema, p.without)
			assert.Len(t, b.Empty, p.empty)
			assert.InEpsilon(t, p.bytes4, b.Total.Full, 0.001, "bytes / 4: %d", b.Total.Full)
			assert.InEpsilon(t, p.o200k, o.Total.Full, 0.001, "o200k: %d", o.Total.Full)
			assert.InDelta(t, p.namesBytes4, b.Total.Modes.Names.Saved, 0.06)
			assert.InDelta(t, p.namesO200k, o.Total.Modes.Names.Saved, 0.06)
			assert.InDelta(t, p.hintsO200k, o.Total.Modes.Hints.Saved, 0.06)
		})
	}
}

func counter(t testing.TB, name string) economics.Counter {
	t.Helper()
	c, err := economics.NewCounter(name)
	require.NoError(t, err)
	return c
}
