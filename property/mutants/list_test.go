package main

import (
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Every fault fits the code, in exactly one place, and what it makes of it is Go: a
// list that no longer fits would plant nothing and prove nothing.
func TestEveryFaultFits(t *testing.T) {
	faults, err := all()
	require.NoError(t, err)
	names, texts := map[string]bool{}, map[string]string{}
	for _, m := range faults {
		assert.False(t, names[m.Name], "%s is there twice", m.Name)
		names[m.Name] = true
		file, text, err := m.planted("../..")
		if !assert.NoError(t, err) {
			continue
		}
		assert.Empty(t, texts[text], "%s plants the same", m.Name)
		texts[text] = m.Name
		_, err = parser.ParseFile(token.NewFileSet(), file, text, 0)
		assert.NoError(t, err, "%s is no Go:\n%s", m.Name, m.New)
	}
	assert.GreaterOrEqual(t, len(faults), 40)
}

// An anchor holds when comments are reworded, code is laid out anew or a declaration
// moves to another file, and only then.
func TestAnchors(t *testing.T) {
	code := func(text string) string {
		dir := t.TempDir()
		require.NoError(t, os.WriteFile(filepath.Join(dir, "moved.go"), []byte("package p\n\n"+text), 0o600))
		return dir
	}
	m := mutant{Name: "n", In: "T.f", Old: "if a && b { // why\n\treturn 1", New: "if a {\n\treturn 1", Imports: []string{"fmt"}}
	for text, want := range map[string]string{
		"type T[K any] struct{}\n\nfunc (t *T[K]) f() int {\n\tif a && // other\n\t\tb {\n\t\t// words\n\t\treturn 1\n\t}\n}": "",
		"func f() {}": "declares no T.f",
		"func (T) f() int { if a || b { return 1 } }":                          "stands 0 times",
		"func (T) f() int { if a && b { return 1 }; if a && b { return 1 }; }": "stands 2 times",
	} {
		_, got, err := m.planted(code(text))
		if want != "" {
			assert.ErrorContains(t, err, want)
			continue
		}
		require.NoError(t, err)
		assert.Equal(t, "package p\nimport \"fmt\"\n\ntype T[K any] struct{}\n\nfunc (t *T[K]) f() int {\n\tif a {\n\treturn 1\n\t}\n}", got)
	}
}
