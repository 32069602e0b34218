package main

import (
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Every fault fits the code, in exactly one place, and what it makes of it is Go: a
// list that no longer fits would plant nothing and prove nothing.
func TestEveryFaultFits(t *testing.T) {
	faults, err := all()
	require.NoError(t, err)
	names, texts := map[string]bool{}, map[string]string{}
	for id, m := range faults {
		assert.False(t, names[m.Name], "%s is there twice", m.Name)
		names[m.Name] = true
		f, err := m.fit("../..", id)
		if !assert.NoError(t, err) {
			continue
		}
		place := f.pkg + "." + f.In + f.instead
		assert.Empty(t, texts[place], "%s plants the same", m.Name)
		texts[place] = m.Name
		_, err = parser.ParseFile(token.NewFileSet(), m.Name, f.text([]fault{f}), 0)
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
		"func f() {}": "declares no function T.f",
		"func (T) f() int { if a || b { return 1 } }":                          "stands 0 times",
		"func (T) f() int { if a && b { return 1 }; if a && b { return 1 }; }": "stands 2 times",
	} {
		f, err := m.fit(code(text), 7)
		if want != "" {
			assert.ErrorContains(t, err, want)
			continue
		}
		require.NoError(t, err)
		assert.Equal(t, "\n\tif a {\n\treturn 1\n\t}\n", f.instead)
	}
}

// Each fault is on when it is turned on, and only then, in functions of every kind; one that is no
// Go is left out and named, and does not keep the others from being built.
func TestFaultsArePlantedTogether(t *testing.T) {
	root := t.TempDir()
	for name, text := range map[string]string{
		"go.mod": "module small\n\ngo 1.26\n",
		"part/part.go": `package part

type List[K any] []K

func (l *List[K]) Add(_ int, items ...K) (n int, err error) {
	defer func() { n++ }()
	*l = append(*l, items...)
	if len(items) > 2 {
		n = 3
	}
	return len(*l), nil
}

func Close(done *string) { *done = "closed" }
`,
		"cmd/toolbench/main.go": `package main

import "small/part"

func main() {
	var l part.List[int]
	n, err := l.Add(0, 1, 2)
	done := ""
	part.Close(&done)
	print(n, " ", len(l), " ", err == nil, " ", done)
}
`,
	} {
		require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(root, name)), 0o700))
		require.NoError(t, os.WriteFile(filepath.Join(root, name), []byte(text), 0o600))
	}
	var faults []fault
	for id, m := range []mutant{
		{Name: "keeps nothing", In: "List.Add", Old: "*l = append(*l, items...)", New: ""},
		{Name: "is no Go", In: "List.Add", Old: "n++", New: "none++"},
		{Name: "fails", In: "List.Add", Old: "len(*l), nil", New: `len(*l), errors.New("full")`, Imports: []string{"errors"}},
		{Name: "needs what is no package", In: "Close", Old: `"closed"`, New: "strings.Closed", Imports: []string{"strings"}},
		{Name: "shouts", In: "Close", Old: `"closed"`, New: `strings.ToUpper("closed")`, Imports: []string{"strings"}},
		{Name: "does nothing", In: "Close", Old: `*done = "closed"`, New: ""},
		{Name: "is not come to", In: "List.Add", Old: "n = 3", New: "n = 4"},
		{Name: "is in two parts", In: "List.Add", Old: "n = 3 } return", New: "}\nreturn"},
	} {
		m.pkg = "part"
		f, err := m.fit(root, id)
		require.NoError(t, err)
		faults = append(faults, f)
	}
	s := newSite(t.Context(), root, t.TempDir())
	require.NoError(t, s.plant(t.Context(), faults))
	assert.Equal(t, map[int]string{1: "undefined: none", 3: "undefined: strings.Closed"}, s.broken)
	for id, want := range map[int]string{-1: "3 2 true closed", 0: "1 0 true closed", 2: "3 2 false closed", 4: "3 2 true CLOSED", 5: "3 2 true "} {
		end, err := s.toolbench().with(t.Context(), id, time.Minute)
		require.NoError(t, err)
		assert.Equal(t, want, string(end.errs), id)
	}
	base, err := s.toolbench().reach(t.Context(), s.dir)
	require.NoError(t, err)
	assert.Equal(t, map[int]bool{0: true, 2: true, 4: true, 5: true, 7: true}, base.reached)
	assert.Equal(t, "undefined: none", s.notice(t.Context(), faults[1]).Error)
}
