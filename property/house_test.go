package property_test

import (
	"bufio"
	"bytes"
	"cmp"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var tree = flag.String("tree", "..", "the tree that TestHouse measures; another than this one is only measured")

var (
	// spoken are words with which comments make code a person; the field has others.
	spoken = regexp.MustCompile(`(?i)\b(hear|hears|heard|hearing|say|says|said|saying|tell|tells|told|telling|speak|speaks|spoke|spoken|speaking)\b`)
	// private are metaphors that a reader has to decode.
	private = regexp.MustCompile(`(?i)\b(door|doors|fate|fates|befall|befalls|befell|befallen|foretell|foretold|spoil|spoils|spoilt|desk|needle|needles|twins|confess|confesses|blame|blames|hearken|lean|ticket|tickets)\b`)
	word    = regexp.MustCompile(`[A-Za-z][A-Za-z'-]*`)
	// retired are words of identifiers that were renamed, and must not come back.
	retired = map[string]bool{
		"scene": true, "scenes": true, "lean": true, "promise": true, "promises": true, "situation": true, "situations": true,
		"foretell": true, "foretold": true, "spoil": true, "spoiled": true, "campaign": true, "drawn": true, "doors": true, "hear": true, "slips": true,
		"desk": true, "ticket": true, "tickets": true, "tape": true, "talk": true, "sketch": true, "judge": true, "needle": true,
		"needles": true, "packing": true, "hearken": true, "confess": true, "blame": true, "twins": true, "fate": true, "befell": true,
	}
	// meant are names that have such a word for the very thing it names.
	meant = map[string]string{"Ticket": "scenarios/support"} // the other trade opens tickets
)

// house is what a tree of Go code looks like from outside, tests and bench/ apart.
type house struct {
	lines, testLines      int
	files                 []int // lines of each
	packages              map[string]int
	comments              int // words
	spoken, private       map[string]int
	says, reports         int // "says whether", "reports whether"
	retired               map[string]map[string]int
	misnamed              []string // declarations whose comment begins with another name
	longSubjects, commits int
	bodies                int
}

// TestHouse measures the size and the words of the repository and holds their
// ceilings; with -v it prints the figures.
func TestHouse(t *testing.T) {
	h := measureHouse(t, *tree)
	h.print(t)
	if *tree != ".." {
		return
	}
	// Each figure may fall, and grows only with what is new: the whole catalogue of
	// tools, other programs on the bench, the API's newer forms, what other libraries write down and agents stream to a page. The house without them had 87,138 lines.
	assert.LessOrEqual(t, h.lines, 133_264, "lines of Go without tests")
	assert.LessOrEqual(t, len(h.packages), 55, "packages")
	assert.LessOrEqual(t, len(h.files), 619, "files of Go without tests")
	assert.Less(t, 1000*(sum(h.spoken)+sum(h.private)), 2*h.comments, "words of comments that make code a person, per 1,000")
	assert.Less(t, 10*h.says, h.reports, "says whether, beside reports whether")
	assert.Empty(t, h.retired, "identifiers with retired words")
	assert.Empty(t, h.misnamed, "a comment is a sentence that begins with what it is about")
}

// What lies at the top is what the project is made of and what its tools need; a profile that a
// measurement left there once was committed with the rest.
func TestNothingStrayLiesAtTheTop(t *testing.T) {
	cmd := exec.Command("git", "ls-tree", "--name-only", "HEAD")
	cmd.Dir = ".."
	out, err := cmd.Output()
	if err != nil {
		t.Skip("this is no clone")
	}
	assert.Equal(t, []string{
		".ci", ".gitignore", "CONTRIBUTING.md", "README.md", "bench", "cmd", "docs", "fixtures", "go.mod", "go.sum", "property", "reports",
		"scenarios", "sim", "toolsys",
	}, strings.Fields(string(out)))
}

func measureHouse(t *testing.T, root string) house {
	t.Helper()
	h := house{packages: map[string]int{}, spoken: map[string]int{}, private: map[string]int{}, retired: map[string]map[string]int{}}
	require.NoError(t, filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := e.Name()
		if e.IsDir() {
			if path != root && (name == "testdata" || name == "bench" || name == "vendor" || strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_")) {
				return filepath.SkipDir
			}
			return nil
		}
		if strings.HasSuffix(name, ".go") {
			rel, _ := filepath.Rel(root, path)
			h.add(t, path, filepath.ToSlash(rel))
		}
		return nil
	}))
	require.NotEmpty(t, h.files)
	h.history(root)
	return h
}

// add takes a file into the figures.
func (h *house) add(t *testing.T, file, rel string) {
	t.Helper()
	set := token.NewFileSet()
	parsed, err := parser.ParseFile(set, file, nil, parser.ParseComments)
	require.NoError(t, err)
	pkg := filepath.ToSlash(filepath.Dir(rel))
	lines := set.File(parsed.FileStart).LineCount()
	if strings.HasSuffix(rel, "_test.go") {
		h.testLines += lines
	} else {
		h.lines += lines
		h.files = append(h.files, lines)
		h.packages[pkg]++
		h.misnamed = append(h.misnamed, misnamed(set, parsed)...)
	}
	for _, group := range parsed.Comments {
		text := strings.Join(strings.Fields(group.Text()), " ")
		h.comments += len(word.FindAllString(text, -1))
		h.spoken[pkg] += len(spoken.FindAllString(text, -1))
		h.private[pkg] += len(private.FindAllString(text, -1))
		h.says += strings.Count(text, "says whether") + strings.Count(text, "tells whether")
		h.reports += strings.Count(text, "reports whether")
	}
	ast.Inspect(parsed, func(n ast.Node) bool {
		for _, id := range declared(n) {
			for _, w := range parts(id) {
				if retired[w] && meant[id] != pkg {
					if h.retired[pkg] == nil {
						h.retired[pkg] = map[string]int{}
					}
					h.retired[pkg][id]++
				}
			}
		}
		return true
	})
}

// misnamed lists the functions and types of a file whose comment does not begin with their name,
// be there an article before it.
func misnamed(set *token.FileSet, file *ast.File) []string {
	var found []string
	look := func(name *ast.Ident, doc *ast.CommentGroup) {
		about := strings.Fields(doc.Text())
		if len(about) > 1 && slices.Contains([]string{"A", "An", "The"}, about[0]) {
			about = about[1:]
		}
		if len(about) > 0 && strings.TrimSuffix(about[0], ",") != name.Name {
			found = append(found, fmt.Sprintf("%s: %s", set.Position(name.Pos()), name.Name))
		}
	}
	for _, d := range file.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			look(d.Name, d.Doc)
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				if t, isType := spec.(*ast.TypeSpec); isType {
					look(t.Name, t.Doc) // the parser gives a lone type's to the declaration
					if len(d.Specs) == 1 {
						look(t.Name, d.Doc)
					}
				}
			}
		}
	}
	return found
}

// declared lists the names that a node declares.
func declared(n ast.Node) []string {
	var ids []*ast.Ident
	switch n := n.(type) {
	case *ast.File:
		ids = append(ids, n.Name)
	case *ast.FuncDecl:
		ids = append(ids, n.Name)
	case *ast.TypeSpec:
		ids = append(ids, n.Name)
	case *ast.ValueSpec:
		ids = n.Names
	case *ast.Field:
		ids = n.Names
	case *ast.AssignStmt:
		if n.Tok == token.DEFINE {
			for _, l := range n.Lhs {
				if id, ok := l.(*ast.Ident); ok {
					ids = append(ids, id)
				}
			}
		}
	}
	var names []string
	for _, id := range ids {
		names = append(names, id.Name)
	}
	return names
}

// parts splits an identifier at capitals and underscores, in small letters.
func parts(id string) []string {
	var all []string
	for _, chunk := range strings.FieldsFunc(id, func(r rune) bool { return r == '_' }) {
		start := 0
		for i, r := range chunk {
			if i > start && unicode.IsUpper(r) && !unicode.IsUpper(rune(chunk[i-1])) {
				all = append(all, strings.ToLower(chunk[start:i]))
				start = i
			}
		}
		all = append(all, strings.ToLower(chunk[start:]))
	}
	return all
}

// history counts commits, where there are any.
func (h *house) history(root string) {
	cmd := exec.Command("git", "log", "--no-merges", "--format=%s%x00%b%x01")
	cmd.Dir = root
	out, err := cmd.Output()
	if err != nil {
		return
	}
	for c := range bytes.SplitSeq(out, []byte{1}) {
		subject, body, _ := strings.Cut(strings.TrimSpace(string(c)), "\x00")
		if subject == "" {
			continue
		}
		h.commits++
		if len([]rune(subject)) > 72 {
			h.longSubjects++
		}
		if strings.TrimSpace(body) != "" {
			h.bodies++
		}
	}
}

func (h *house) print(t *testing.T) {
	t.Helper()
	slices.Sort(h.files)
	perMille := func(n int) string { return fmt.Sprintf("%.1f", 1000*float64(n)/float64(max(h.comments, 1))) }
	var b strings.Builder
	fmt.Fprintf(&b, "\nlines / packages / files          %d / %d / %d\n", h.lines, len(h.packages), len(h.files))
	fmt.Fprintf(&b, "median of a file                  %d\n", h.files[len(h.files)/2])
	fmt.Fprintf(&b, "test : code                       %.2f\n", float64(h.testLines)/float64(h.lines))
	fmt.Fprintf(&b, "hear, say, tell, speak per 1,000  %s of %d comment words\n", perMille(sum(h.spoken)), h.comments)
	fmt.Fprintf(&b, "private metaphors per 1,000       %s\n", perMille(sum(h.private)))
	fmt.Fprintf(&b, "says / reports whether            %d / %d\n", h.says, h.reports)
	if h.commits > 0 {
		fmt.Fprintf(&b, "subjects over 72 / with a body    %d %% / %d %% of %d commits\n", 100*h.longSubjects/h.commits, 100*h.bodies/h.commits, h.commits)
	}
	b.WriteString("most of these words:\n")
	for _, pkg := range top(h.spoken, 25) {
		fmt.Fprintf(&b, "  %-32s %4d %4d\n", pkg, h.spoken[pkg], h.private[pkg])
	}
	b.WriteString("identifiers with retired words:\n")
	for _, pkg := range slices.Sorted(maps.Keys(h.retired)) {
		fmt.Fprintf(&b, "  %-32s %s\n", pkg, strings.Join(slices.Sorted(maps.Keys(h.retired[pkg])), " "))
	}
	for s := bufio.NewScanner(strings.NewReader(b.String())); s.Scan(); {
		t.Log(s.Text())
	}
}

func sum(m map[string]int) (n int) {
	for _, v := range m {
		n += v
	}
	return n
}

// top lists the keys with the highest counts.
func top(m map[string]int, n int) []string {
	keys := slices.SortedFunc(maps.Keys(m), func(a, b string) int { return cmp.Or(m[b]-m[a], strings.Compare(a, b)) })
	return keys[:min(n, len(keys))]
}
