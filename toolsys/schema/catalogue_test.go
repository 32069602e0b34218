package schema_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"toolbench/toolsys/schema"
)

// Real servers' schemas either compile or give the reason, and canonical bytes mean
// the same schema.
func TestCataloguesOfRealServersCompile(t *testing.T) {
	files, _ := filepath.Glob(filepath.Join("..", "..", "..", "shared", "catalogues", "*.jsonl"))
	if len(files) == 0 {
		t.Skip("no catalogues beside the repository")
	}
	good, bad := 0, map[string]int{}
	for _, file := range files {
		for _, raw := range inputSchemas(t, file) {
			s, err := schema.Compile(raw)
			if err != nil {
				bad[err.Error()]++
				continue
			}
			good++
			canonical, err := schema.Canonical(raw)
			require.NoError(t, err)
			require.JSONEq(t, string(raw), string(canonical))
			_ = s.Validate(json.RawMessage(`{"x":1}`))
		}
	}
	t.Logf("%d compiled, refused: %v", good, bad)
	assert.Greater(t, good, 100)
}

func inputSchemas(t *testing.T, file string) []json.RawMessage {
	t.Helper()
	content, err := os.ReadFile(file)
	require.NoError(t, err)
	var out []json.RawMessage
	lines := bufio.NewScanner(bytes.NewReader(content))
	lines.Buffer(nil, 1<<24)
	for lines.Scan() {
		var tool struct {
			InputSchema json.RawMessage `json:"inputSchema"`
		}
		require.NoError(t, json.Unmarshal(lines.Bytes(), &tool))
		if len(tool.InputSchema) > 0 && string(tool.InputSchema) != "null" {
			out = append(out, tool.InputSchema)
		}
	}
	return out
}
