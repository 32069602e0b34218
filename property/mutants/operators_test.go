package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A small package whose tests notice all changes but three: two that change nothing, and one
// that no test looks at. What is never run is not asked about.
func TestEachOperatorIsChangedInTurn(t *testing.T) {
	dir, temp := t.TempDir(), t.TempDir()
	for name, text := range map[string]string{
		"go.mod": "module small\n\ngo 1.26\n",
		"small.go": `package small

import "time"

const limit = 2 + 3

func Max(a, b int) int {
	if a > b {
		return a
	}
	return b
}

func Sum(list []time.Duration) (n time.Duration, text string) {
	for i := 0; i < len(list); i++ {
		n = n + -list[i] * -1
	}
	if n == limit*time.Second { text = "is " + "much" }
	return n, text
}

func Never(a int) bool { return a%2 == 0 }

func Panics(f func()) (does bool) {
	defer func() { does = recover() != nil }()
	f()
	return false
}
`,
		"small_test.go": `package small

import (
	"testing"
	"time"
)

func TestSmall(t *testing.T) {
	if !Panics(func() { panic("") }) {
		t.Fatal()
	}
	if n, _ := Sum([]time.Duration{1, 2}); Max(1, 2) != 2 || Max(2, 1) != 2 || n != 3 {
		t.Fatal()
	}
}
`,
	} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	o, err := operate(t.Context(), dir, temp, ".")
	require.NoError(t, err)
	base, err := o.reach(t.Context(), temp)
	require.NoError(t, err)

	var alive, never []string
	for _, c := range o.changes {
		if !base.reached[c.id] {
			never = append(never, c.String())
			continue
		}
		noticed, err := base.notices(t.Context(), c.id)
		require.NoError(t, err)
		if !noticed {
			alive = append(alive, c.String())
		}
	}
	assert.Equal(t, []string{
		"small.go:8:7 > → >=  if a > b {",
		"small.go:16:20 * → /  n = n + -list[i] * -1",
		"small.go:18:7 == → !=  if n == limit*time.Second { text = \"is \" + \"much\" }",
	}, alive)
	assert.Len(t, never, 2)

	noticed := len(o.changes) - len(alive) - len(never)
	share := 100 * float64(noticed) / float64(noticed+len(alive))
	require.NoError(t, operators(t.Context(), dir, temp, ".", share), "the least share is enough")
	require.ErrorContains(t, operators(t.Context(), dir, temp, ".", share+0.1), "less than")

	require.NoError(t, os.Remove(o.path))
	_, err = base.notices(t.Context(), 0)
	require.ErrorIs(t, err, fs.ErrNotExist, "tests that cannot begin notice nothing")
}
