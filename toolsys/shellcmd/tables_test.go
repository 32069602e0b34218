package shellcmd

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// A table with a mistake in it is no table: the program does not start.
func TestTheTablesAreReadStrictly(t *testing.T) {
	for _, mistake := range []string{
		`{"readers": {"cat": {"anny": true}}}`, `{"readrs": {}}`, `{"readers": {"cat tac": {}, "cat": {}}}`,
		`{"readers": {"cat": {"operands": "fils"}}}`, `{"gitSeconds": {"stash": 1}}`, ``,
	} {
		assert.Panics(t, func() { readPrograms([]byte(mistake)) }, mistake)
	}
}

// Patterns are compiled when they are first used, so that a mistake in one is found here.
func TestEveryPatternOfTheTablesIsOne(t *testing.T) {
	for _, table := range []named[pattern]{tables.Shapes, tables.GitShapes, tables.Settings, tables.Printers, tables.Filters} {
		assert.NotEmpty(t, table)
		for name, p := range table {
			assert.NotPanics(t, func() { p.compiled() }, name)
		}
	}
}

// A program is in one table only, and what the code checks by itself is in none but that of its options.
func TestAProgramIsDecidedOnce(t *testing.T) {
	for name := range tables.Readers {
		_, changes := tables.Changers[name]
		_, wraps := tables.Wrappers[name]
		assert.False(t, changes || wraps || tables.Interpreters[name], name)
	}
	for name := range tables.Wrappers {
		assert.Nil(t, checkers[name], name)
	}
}
