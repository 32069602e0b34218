package tree

import (
	"regexp"
	"strings"

	"github.com/tidwall/gjson"
)

type kind int

const (
	listed kind = iota
	missing
	viewed
	written
	edited
)

// sight is what one call tells of one file.
type sight struct {
	kind kind
	path string
	dir  string // what a relative path is below; "" for the session's own
	// from and lines are what was seen, counted from 1; whole: to the file's end.
	from    int
	lines   []string
	whole   bool
	swaps   []swap
	existed bool
}

// uses are what tools are for, by their names in small letters without signs.
var uses = named()

func named() map[string]string {
	all := map[string]string{}
	for use, names := range map[string]string{
		"read":  "read readfile view viewfile cat openfile open readtextfile getfile getfilecontents fileread showfile readmediafile",
		"write": "write writefile create createfile savefile filewrite writetofile createnewfile",
		"edit":  "edit editfile strreplace replace replaceinfile multiedit multieditfile searchreplace searchandreplace updatefile fileedit",
		"list":  "ls list listdir listdirectory listfiles glob find findfiles fileglob filesearch globfiles directorytree",
		"grep":  "grep ripgrep rg searchfiles searchfilecontent grepsearch searchcontent filesgrep",
		"shell": "bash shell sh runcommand runterminalcmd runshellcommand execute executecommand exec terminal runinterminal execcommand",
		"any":   "strreplacebasededittool strreplaceeditor texteditor",
	} {
		for _, name := range strings.Fields(names) {
			all[name] = use
		}
	}
	return all
}

var signs = regexp.MustCompile(`[^a-z0-9]+`)

// use says what a tool is for, "" if that is none of its names. A server's prefix does
// not count.
func use(tool string) string {
	if i := strings.LastIndex(tool, "__"); i >= 0 && i+2 < len(tool) {
		tool = tool[i+2:]
	}
	return uses[signs.ReplaceAllString(strings.ToLower(tool), "")]
}

// member is the first of some members that is a text.
func member(input gjson.Result, names ...string) (string, bool) {
	for _, name := range names {
		if v := input.Get(name); v.Type == gjson.String {
			return v.Str, true
		}
	}
	return "", false
}

// look says what a call tells.
func look(c Call) []sight {
	if !c.Answered {
		return nil
	}
	in := gjson.ParseBytes(c.Input)
	what := use(c.Tool)
	if what == "any" {
		what = map[string]string{"view": "read", "create": "write", "str_replace": "edit", "insert": "insert"}[in.Get("command").Str]
	}
	switch what {
	case "shell":
		return shell(in, c)
	case "list":
		return listing(in, c)
	case "grep":
		return grepped(in, c)
	}
	path, ok := member(in, "file_path", "path", "filename", "file", "filePath", "target_file", "notebook_path", "filepath", "absolute_path", "AbsolutePath", "TargetFile")
	if !ok {
		return nil
	}
	switch what {
	case "read":
		return read(path, in, c)
	case "write":
		return wrote(path, in, c)
	case "edit", "insert":
		return changed(path, in, c)
	}
	return nil
}

var (
	nowhere = regexp.MustCompile(`(?i)no such file|does not exist|not found|ENOENT|doesn't exist|cannot find`)
	updated = regexp.MustCompile(`(?i)\b(updated|overwr\w+|modified|replaced)\b`)
	// complaint is how a result begins that is no file's text.
	complaint = regexp.MustCompile(`(?i)^\s*(<tool_use_error>|error\b|file (does not exist|not found|(is )?unchanged)|no such file|ENOENT)`)
	hollow    = regexp.MustCompile(`(?i)\b(exists but|is|are) (the contents are )?empty\b`)
)

func read(path string, in gjson.Result, c Call) []sight {
	brief := len(c.Result) < 300
	switch {
	case (c.Failed || brief && complaint.MatchString(c.Result)) && nowhere.MatchString(c.Result):
		return []sight{{kind: missing, path: path}}
	case c.Failed, brief && complaint.MatchString(c.Result):
		return nil
	case hollow.MatchString(c.Result) && brief:
		return []sight{{kind: viewed, path: path, from: 1, whole: true}}
	case in.Get("pages").Exists() || strings.HasSuffix(path, ".ipynb") || pictured(c.Result):
		return []sight{{kind: listed, path: path}}
	}
	from, limit := int(in.Get("offset").Int()), in.Get("limit").Int()
	if r := in.Get("view_range").Array(); len(r) == 2 {
		from, limit = int(r[0].Int()), max(1, r[1].Int()-r[0].Int()+1)
		if r[1].Int() < 0 {
			limit = 0
		}
	}
	if v := in.Get("start_line"); v.Exists() {
		from, limit = int(v.Int()), max(1, in.Get("end_line").Int()-v.Int()+1)
	}
	p := text(c.Result, from)
	if p.listing {
		return nil
	}
	return []sight{{kind: viewed, path: path, from: p.from, lines: p.lines, whole: p.whole && limit == 0}}
}

// pictured: the result is an image or a document, of which only the kind is recorded.
func pictured(result string) bool {
	return result == "[image]" || result == "[document]" || strings.HasPrefix(result, "[image]\n") || strings.HasSuffix(result, "\n[image]")
}

func wrote(path string, in gjson.Result, c Call) []sight {
	if _, ok := member(in, "content", "file_text", "text", "contents", "CodeContent"); !ok || c.Failed {
		return nil
	}
	return []sight{{kind: written, path: path, existed: updated.MatchString(c.Result)}}
}

// mostSwaps bounds the edits of one call.
const mostSwaps = 1000

func changed(path string, in gjson.Result, c Call) []sight {
	if c.Failed {
		return nil
	}
	s := sight{kind: edited, path: path}
	edits := in.Get("edits").Array()
	if !in.Get("edits").IsArray() {
		edits = []gjson.Result{in}
	}
	for _, e := range edits[:min(len(edits), mostSwaps)] {
		old, _ := member(e, "old_string", "old_str", "oldText", "old_text", "oldString", "old", "search")
		now, ok := member(e, "new_string", "new_str", "newText", "new_text", "newString", "new", "replace")
		switch {
		case old != "":
			s.swaps = append(s.swaps, swap{old, now, e.Get("replace_all").Bool() || e.Get("replaceAll").Bool()})
		case ok && old == "" && len(edits) == 1 && in.Get("command").Str != "insert":
			return []sight{{kind: written, path: path, existed: updated.MatchString(c.Result)}}
		}
	}
	if p := text(c.Result, 0); p.numbered {
		s.from, s.lines = p.from, p.lines
	}
	return []sight{s}
}
