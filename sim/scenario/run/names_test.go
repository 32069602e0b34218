package run_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"toolbench/toolsys/hook"
	"toolbench/toolsys/pipeline"
	"toolbench/toolsys/trace"
)

// The lists of words that a scenario may use hold every constant of their type.
func TestTheListsOfWordsLackNothing(t *testing.T) {
	for kind, n := range map[string]int{"trace.Kind": len(trace.Names()), "pipeline.Status": len(pipeline.Statuses()), "hook.Event": len(hook.Events())} {
		assert.Equal(t, constants(t, kind), n, kind)
	}
}

// constants counts the constants of a type of the system.
func constants(t *testing.T, kind string) int {
	t.Helper()
	files, err := filepath.Glob("../../../toolsys/" + kind[:len(kind)-len(filepath.Ext(kind))] + "/*.go")
	require.NoError(t, err)
	n := 0
	for _, file := range files {
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		require.NoError(t, err)
		ast.Inspect(parsed, func(node ast.Node) bool {
			spec, ok := node.(*ast.ValueSpec)
			if !ok {
				return true
			}
			if of, named := spec.Type.(*ast.Ident); named && "."+of.Name == filepath.Ext(kind) {
				n += len(spec.Names)
			}
			return true
		})
	}
	return n
}
