package property_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var (
	// A mark refers to rows of the specification: "(J8)", "(C1, L2)", "SPEC F4-F6".
	mark    = regexp.MustCompile(`\((?:SPEC )?([A-Q]\d{1,2}(?:(?:-|, | and )[A-Q]?\d{0,2})*)\)|SPEC ([A-Q]\d{1,2}(?:(?:-|, )[A-Q]\d{1,2})*)`)
	row     = regexp.MustCompile(`[A-Q]\d{1,2}`)
	specRow = regexp.MustCompile(`(?m)^\| ([A-Q]\d{1,2}) \|`)
)

// TestEveryMarkHasARow demands a row of docs/spec.md for each mark in the repository,
// so that no comment refers to a rule that nobody can look up.
func TestEveryMarkHasARow(t *testing.T) {
	spec, err := os.ReadFile("../docs/spec.md")
	require.NoError(t, err)
	rows := map[string]bool{}
	for _, m := range specRow.FindAllSubmatch(spec, -1) {
		assert.False(t, rows[string(m[1])], "row %s stands twice", m[1])
		rows[string(m[1])] = true
	}
	require.NotEmpty(t, rows)
	for _, file := range sources(t) {
		data, err := os.ReadFile(file)
		require.NoError(t, err)
		for _, m := range mark.FindAllSubmatch(data, -1) {
			for _, r := range row.FindAllString(string(m[1])+" "+string(m[2]), -1) {
				assert.True(t, rows[r], "%s refers to %s, which has no row in docs/spec.md", file, r)
			}
		}
	}
}

// sources lists the repository's texts that people write.
func sources(t *testing.T) []string {
	t.Helper()
	var all []string
	require.NoError(t, filepath.WalkDir("..", func(path string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case e.IsDir() && (e.Name() == ".git" || e.Name() == "node_modules" || e.Name() == "cassettes"):
			return filepath.SkipDir
		case slices.Contains([]string{".go", ".md", ".yaml", ".txtar"}, filepath.Ext(path)):
			all = append(all, path)
		}
		return nil
	}))
	return all
}
