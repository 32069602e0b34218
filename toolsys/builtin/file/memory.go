package file

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/spf13/afero"

	"toolbench/toolsys/permission"
	"toolbench/toolsys/tool"
)

// MemoryRoot is the folder of the memory as the model names it.
const MemoryRoot = "/memories"

// MemoryIn is what the memory tool takes, as the API describes it to the model.
type MemoryIn struct {
	Command    string `json:"command" enum:"view,create,str_replace,insert,delete,rename"`
	Path       string `json:"path,omitempty"`
	ViewRange  []int  `json:"view_range,omitempty" minItems:"2" maxItems:"2"`
	FileText   string `json:"file_text,omitempty"`
	OldStr     string `json:"old_str,omitempty"`
	NewStr     string `json:"new_str,omitempty"`
	InsertLine int    `json:"insert_line,omitempty" minimum:"0"`
	InsertText string `json:"insert_text,omitempty"`
	OldPath    string `json:"old_path,omitempty"`
	NewPath    string `json:"new_path,omitempty"`
}

// errOutside is why a path of the memory is not taken, whatever it leads to.
var errOutside = errors.New("paths of the memory begin with " + MemoryRoot + " and stay below it")

// Memory is the API's memory tool, whose schema and prompt the API brings: files below
// MemoryRoot, which lie in a folder of fsys. It is no built-in tool; a program that wants it
// hands it in beside them (E10).
func Memory(fsys afero.Fs, dir string) *tool.Tool {
	m := memory{fsys: fsys, dir: dir}
	return tool.Must(tool.Def[MemoryIn, string]{
		Name:        "memory",
		Description: "Keeps files from one conversation to the next.",
		Describe:    func(in MemoryIn) string { return in.Command + " " + strings.Join(in.paths(), " to ") },
		Wire:        tool.Wire{Type: "memory_20250818"},
		Call: tool.Data(func(_ context.Context, in MemoryIn, c *tool.Context) (string, error) {
			return memory{fsys: fsys, dir: dir, call: c.CallID}.do(in)
		}),
		Text:     func(s string) string { return s },
		Validate: func(in MemoryIn, _ *tool.Context) *tool.Refusal { return m.refusal(in) },
		Permit: func(in MemoryIn, _ *tool.Context) permission.Opinion {
			if in.Command != "view" {
				return permission.Opinion{}
			}
			return permission.Opinion{Behaviour: permission.Allow, Text: "it looks at the memory's own folder"}
		},
		Subject: func(in MemoryIn, _ *tool.Context) tool.Subject { return m.subject(in) },
		Traits: tool.Traits[MemoryIn]{
			ReadOnly: func(in MemoryIn) bool { return in.Command == "view" }, EditsFiles: true,
			Effects: func(in MemoryIn, _ *tool.Context) tool.Effects {
				if in.Command == "view" {
					return tool.Effects{Reads: []string{dir + "/**"}}
				}
				return tool.Effects{Writes: []string{dir + "/**"}, Shifts: []string{dir + "/**"}}
			},
		},
		Shaping: tool.Shaping[MemoryIn]{Classifier: func(in MemoryIn) string {
			return strings.TrimSpace(in.Command + " " + strings.Join(in.paths(), " ") + " " + in.FileText + in.NewStr + in.InsertText)
		}},
		View: tool.View[MemoryIn]{
			Title:    func(MemoryIn) string { return "Memory" },
			Summary:  func(in MemoryIn) string { return brief(in.Command + " " + strings.Join(in.paths(), " ")) },
			Activity: func(in MemoryIn) string { return "Memory: " + in.Command },
		},
		Draw: tool.Drawing[MemoryIn, string]{Use: drawMemory},
	})
}

// worded is an error in the API's own words, which end as sentences.
func worded(format string, args ...any) error { return fmt.Errorf(format, args...) }

// memory is the folder of the memory tool.
type memory struct {
	fsys afero.Fs
	dir  string
	call string // the id of the call that is carried out
}

// paths are those that the command is about.
func (in MemoryIn) paths() []string {
	if in.Command == "rename" {
		return []string{in.OldPath, in.NewPath}
	}
	return []string{in.Path}
}

// refusal looks at the paths alone: nothing of the disk is looked at before permission.
func (m memory) refusal(in MemoryIn) *tool.Refusal {
	for _, p := range in.paths() {
		if _, err := m.place(p); err != nil {
			return &tool.Refusal{Message: fmt.Sprintf("%q: %s", p, err), Code: CodePath}
		}
	}
	return nil
}

func (m memory) subject(in MemoryIn) tool.Subject {
	s := tool.Subject{Paths: m.touched(in), Kin: []string{"Edit", "Write"}}
	if in.Command == "view" {
		s.Kin = []string{"Read"}
	}
	return s
}

func (m memory) touched(in MemoryIn) []string {
	var all []string
	for _, p := range in.paths() {
		if file, err := m.place(p); err == nil {
			all = append(all, file)
		}
	}
	return all
}

// place is where a path of the memory lies. One that is written with dots that could lead
// out, with a backslash or an escape is refused as it stands, and not made good.
func (m memory) place(p string) (string, error) {
	rest, below := strings.CutPrefix(p, MemoryRoot)
	if !below || rest != "" && rest[0] != '/' || strings.ContainsAny(p, "\\%\x00") || slices.Contains(strings.Split(p, "/"), "..") {
		return "", errOutside
	}
	return path.Join(m.dir, rest), nil
}

// unlinked refuses a path of which a part is a link: it could lead out of the folder.
func (m memory) unlinked(file string) error {
	lstater, can := m.fsys.(afero.Lstater)
	for at := file; can && len(at) > len(m.dir); at = path.Dir(at) {
		if info, _, err := lstater.LstatIfPossible(at); err == nil && info.Mode()&fs.ModeSymlink != 0 {
			return errOutside
		}
	}
	return nil
}

// do carries a command out. Its answers are worded as the API words those of its own
// examples, which the model was taught with.
func (m memory) do(in MemoryIn) (string, error) {
	for _, file := range m.touched(in) {
		if err := m.unlinked(file); err != nil {
			return "", err
		}
	}
	file, _ := m.place(in.Path) // validated
	switch in.Command {
	case "view":
		return m.view(in, file)
	case "create":
		return m.create(in, file)
	case "str_replace":
		return m.replace(in, file)
	case "insert":
		return m.insert(in, file)
	case "delete":
		return m.remove(in, file)
	}
	return m.rename(in)
}

// read gives the text of a file.
func (m memory) read(shown, file string) (string, error) {
	info, err := m.fsys.Stat(file)
	switch {
	case err != nil:
		return "", worded("The path %s does not exist. Please provide a valid path.", shown)
	case !info.Mode().IsRegular():
		return "", fmt.Errorf("%s is no file", shown)
	}
	content, err := afero.ReadFile(m.fsys, file)
	return string(content), err
}

func (m memory) view(in MemoryIn, file string) (string, error) {
	info, err := m.fsys.Stat(file)
	if err == nil && info.IsDir() || err != nil && file == m.dir {
		return m.list(in.Path, file), nil
	}
	text, err := m.read(in.Path, file)
	if err != nil {
		return "", err
	}
	lines, from := strings.Split(strings.TrimSuffix(text, "\n"), "\n"), 1
	if len(in.ViewRange) == 2 {
		last := in.ViewRange[1]
		if last == -1 {
			last = len(lines)
		}
		if from = in.ViewRange[0]; from < 1 || last > len(lines) || from > last {
			return "", fmt.Errorf("view_range [%d, %d] does not lie within the %d lines of %s", from, in.ViewRange[1], len(lines), in.Path)
		}
		lines = lines[from-1 : last]
	}
	var b strings.Builder
	fmt.Fprintf(&b, "Here's the content of %s with line numbers:", in.Path)
	for i, line := range lines {
		fmt.Fprintf(&b, "\n%6d\t%s", from+i, line)
	}
	return b.String(), nil
}

// list names what lies in a folder, two levels deep; hidden files are left out.
func (m memory) list(shown, dir string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Here're the files and directories up to 2 levels deep in %s, excluding hidden items and node_modules:", shown)
	_ = afero.Walk(m.fsys, dir, func(file string, info os.FileInfo, err error) error {
		rel := strings.TrimPrefix(strings.TrimPrefix(file, dir), "/")
		switch {
		case err != nil:
			return nil // what cannot be read is not listed
		case strings.HasPrefix(path.Base(rel), ".") && rel != "" || path.Base(rel) == "node_modules" || strings.Count(rel, "/") > 1:
			if info.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		fmt.Fprintf(&b, "\n%s\t%s", size(info), path.Join(MemoryRoot, strings.TrimPrefix(file, m.dir)))
		return nil
	})
	return b.String()
}

func size(info os.FileInfo) string {
	if info.IsDir() {
		return "4.0K"
	}
	return fmt.Sprintf("%.1fK", float64(info.Size())/1024)
}

func (m memory) create(in MemoryIn, file string) (string, error) {
	if _, err := m.fsys.Stat(file); err == nil || file == m.dir {
		return "", worded("Error: File %s already exists", in.Path)
	}
	if err := m.write(in.Path, file, in.FileText); err != nil {
		return "", err
	}
	return "File created successfully at: " + in.Path, nil
}

func (m memory) write(shown, file, text string) error {
	return Deps{FS: m.fsys}.put(place{abs: shown, real: file}, []byte(text), m.call)
}

func (m memory) replace(in MemoryIn, file string) (string, error) {
	text, err := m.read(in.Path, file)
	if err != nil {
		return "", err
	}
	switch n := strings.Count(text, in.OldStr); {
	case in.OldStr == "" || n == 0:
		return "", worded("No replacement was performed, old_str `%s` did not appear verbatim in %s.", in.OldStr, in.Path)
	case n > 1:
		return "", worded("No replacement was performed. Multiple occurrences of old_str `%s` in %s: %d. Please ensure it is unique", in.OldStr, in.Path, n)
	}
	return "The memory file has been edited.", m.write(in.Path, file, strings.Replace(text, in.OldStr, in.NewStr, 1))
}

func (m memory) insert(in MemoryIn, file string) (string, error) {
	text, err := m.read(in.Path, file)
	if err != nil {
		return "", err
	}
	lines := slices.Collect(strings.Lines(text))
	if in.InsertLine > len(lines) {
		return "", worded("Error: Invalid `insert_line` parameter: %d. It should be within the range of lines of the file: [0, %d]", in.InsertLine, len(lines))
	}
	if n := in.InsertLine; n > 0 && !strings.HasSuffix(lines[n-1], "\n") {
		lines[n-1] += "\n"
	}
	added := strings.TrimSuffix(in.InsertText, "\n") + "\n"
	text = strings.Join(slices.Insert(lines, in.InsertLine, added), "")
	return fmt.Sprintf("The file %s has been edited.", in.Path), m.write(in.Path, file, text)
}

func (m memory) remove(in MemoryIn, file string) (string, error) {
	if file == m.dir {
		return "", fmt.Errorf("%s itself stays; delete what is in it", MemoryRoot)
	}
	if _, err := m.fsys.Stat(file); err != nil {
		return "", worded("Error: The path %s does not exist", in.Path)
	}
	return "Successfully deleted " + in.Path, m.fsys.RemoveAll(file)
}

func (m memory) rename(in MemoryIn) (string, error) {
	from, _ := m.place(in.OldPath) // validated
	to, _ := m.place(in.NewPath)
	if to == m.dir || permission.Within(to, []string{from}) { // as all is of the folder itself
		return "", fmt.Errorf("%s cannot become %s", in.OldPath, in.NewPath)
	}
	if _, err := m.fsys.Stat(from); err != nil {
		return "", worded("Error: The path %s does not exist", in.OldPath)
	}
	if _, err := m.fsys.Stat(to); err == nil {
		return "", worded("Error: The destination %s already exists", in.NewPath)
	}
	if err := m.fsys.MkdirAll(path.Dir(to), newFolderMode); err != nil {
		return "", err
	}
	return fmt.Sprintf("Successfully renamed %s to %s", in.OldPath, in.NewPath), m.fsys.Rename(from, to)
}
