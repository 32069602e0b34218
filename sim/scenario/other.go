package scenario

import (
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/goccy/go-yaml/ast"
)

// settingsFile is a project's file of flags, which lies beside scenarios.
const settingsFile = "toolbench.yaml"

// otherFile is what a file is that has nothing of a scenario, and which command takes it;
// nil for one that may be meant as a scenario.
func otherFile(name string, doc ast.Node) *FileError {
	keys := topKeys(doc)
	has := func(wanted ...string) bool {
		return slices.ContainsFunc(wanted, func(k string) bool { return slices.Contains(keys, k) })
	}
	recorded := fmt.Sprintf("`toolbench replay %s` plays it, and `toolbench init --from %s` makes a scenario of it", name, name)
	what, remedy := "", "see `toolbench schema scenario` for what a scenario has; `toolbench init` writes one, and `toolbench replay` takes recordings"
	switch {
	case len(keys) == 0 || has("name", "about", "stream"):
		return nil
	case has("interactions", "http_interactions"):
		what, remedy = "a cassette, that is a recording", recorded
	case has("messages", "log", "events"):
		what, remedy = "what may be a recording", recorded
	case path.Base(name) == settingsFile:
		what, remedy = "a project's file of flags", "`toolbench doctor` shows what it sets"
	default:
		what = "another file, with " + strings.Join(keys[:min(len(keys), 3)], ", ")
	}
	return &FileError{File: name, Line: 1, Column: 1, Problem: "this is no scenario, but " + what, Remedy: remedy}
}

func topKeys(doc ast.Node) []string {
	var values []*ast.MappingValueNode
	switch m := doc.(type) {
	case *ast.MappingNode:
		values = m.Values
	case *ast.MappingValueNode:
		values = []*ast.MappingValueNode{m}
	}
	var keys []string
	for _, v := range values {
		keys = append(keys, v.Key.GetToken().Value)
	}
	return keys
}

// liesBeside reports whether a file of a folder belongs to scenarios and is none: a
// cassette, or a project's file of flags.
func liesBeside(fsys fs.FS, name string) bool {
	if path.Base(name) == settingsFile {
		return true
	}
	f, err := fsys.Open(name)
	if err != nil {
		return false // the error comes when it is loaded
	}
	defer f.Close()
	head, err := io.ReadAll(io.LimitReader(f, cassetteHead))
	return err == nil && looksLikeCassette(head)
}

// cassetteHead is how much of a file shows that it is a cassette.
const cassetteHead = 4 << 10
