package draft

import (
	"regexp"
	"strconv"
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

// observation is what one call shows of one file.
type observation struct {
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

// usesByName are what tools are for, by their names in small letters without signs.
var usesByName = named()

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
		for name := range strings.FieldsSeq(names) {
			all[name] = use
		}
	}
	return all
}

var signs = regexp.MustCompile(`[^a-z0-9]+`)

// useOf is what a tool is for, "" if that is none of its names. A server's prefix does not count.
func useOf(tool string) string {
	if i := strings.LastIndex(tool, "__"); i >= 0 && i+2 < len(tool) {
		tool = tool[i+2:]
	}
	return usesByName[signs.ReplaceAllString(strings.ToLower(tool), "")]
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

// sightsOf is what a call shows.
func sightsOf(c treeCall) []observation {
	in := gjson.ParseBytes(c.Input)
	what := useOf(c.Tool)
	if what == "any" {
		what = map[string]string{"view": "read", "create": "write", "str_replace": "edit", "insert": "insert"}[in.Get("command").Str]
	}
	if !c.Answered || c.Failed && what != "read" { // of failures, only a reader's shows something
		return nil
	}
	switch what {
	case "shell":
		return shellSights(in, c)
	case "list":
		return listing(in, c)
	case "grep":
		below, _ := member(in, "path", "dir", "directory", "file_path")
		return hits(c.Result, below)
	}
	path, ok := member(in, "file_path", "path", "filename", "file", "filePath", "target_file", "notebook_path", "filepath", "absolute_path", "AbsolutePath", "TargetFile")
	if !ok {
		return nil
	}
	switch what {
	case "read":
		return readSights(path, in, c)
	case "write":
		if _, ok := member(in, "content", "file_text", "text", "contents", "CodeContent"); ok {
			return []observation{{kind: written, path: path, existed: updated.MatchString(c.Result)}}
		}
	case "edit", "insert":
		return editSights(path, in, c)
	}
	return nil
}

var (
	nowhere = regexp.MustCompile(`(?i)no such file|does not exist|not found|ENOENT|doesn't exist|cannot find`)
	updated = regexp.MustCompile(`(?i)\b(updated|overwr\w+|modified|replaced)\b`)
	// complaint is how a result begins that is no file's text.
	complaint = regexp.MustCompile(`(?i)^\s*(<tool_use_error>|\{\s*"error"|error\b|(the )?(file|path|directory)\b[^\n]*\b(does(n't| not) exist|not found|unchanged)|` +
		`(could not|cannot|can't|unable to|failed to) (find|open|read|access|locate)\b|(access|permission) denied|no such file|ENOENT)`)
	hollow = regexp.MustCompile(`(?i)\b(exists but|is|are) (the contents are )?empty\b`)
)

func readSights(path string, in gjson.Result, c treeCall) []observation {
	brief := len(c.Result) < 300
	switch {
	case (c.Failed || brief && complaint.MatchString(c.Result)) && nowhere.MatchString(c.Result):
		return []observation{{kind: missing, path: path}}
	case c.Failed, brief && complaint.MatchString(c.Result):
		return nil
	case brief && hollow.MatchString(c.Result):
		return []observation{{kind: viewed, path: path, from: 1, whole: true}}
	case in.Get("pages").Exists() || strings.HasSuffix(path, ".ipynb") || pictured(c.Result):
		return []observation{{kind: listed, path: path}}
	}
	from, limit := in.Get("offset").Int(), in.Get("limit").Int()
	if r := in.Get("view_range").Array(); len(r) == 2 {
		from, limit = r[0].Int(), max(1, r[1].Int()-r[0].Int()+1)
		if r[1].Int() < 0 {
			limit = 0
		}
	}
	if v := in.Get("start_line"); v.Exists() {
		from, limit = v.Int(), max(1, in.Get("end_line").Int()-v.Int()+1)
	}
	p := passageOf(c.Result, int(min(from, maxLine)))
	if p.listing {
		return nil
	}
	return []observation{{kind: viewed, path: path, from: p.from, lines: p.lines, whole: p.whole && limit == 0}}
}

// pictured reports whether the result is an image or a document, of which only the kind is recorded.
func pictured(result string) bool {
	return result == "[image]" || result == "[document]" || strings.HasPrefix(result, "[image]\n") || strings.HasSuffix(result, "\n[image]")
}

// mostSwaps bounds the edits of one call.
const mostSwaps = 1000

func editSights(path string, in gjson.Result, c treeCall) []observation {
	s := observation{kind: edited, path: path}
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
			return []observation{{kind: written, path: path, existed: updated.MatchString(c.Result)}}
		}
	}
	if p := passageOf(c.Result, 0); p.numbered {
		s.from, s.lines = p.from, p.lines
	}
	return []observation{s}
}

// mostNames bounds what one listing shows.
const mostNames = 500

// longestGrep is how long a line may be that a search shows: longer ones are often cut.
const longestGrep = 400

var (
	// pathLine is a line that can be nothing but a path.
	pathLine  = regexp.MustCompile(`^[^\s\[\](){}<>:*?"|,;]([^\[\](){}<>:*?"|;]*[^\s\[\](){}<>:*?"|,;.])?$`)
	winLine   = regexp.MustCompile(`^[A-Za-z]:[\\/][^:*?"<>|]+$`)
	treeLine  = regexp.MustCompile(`^((?:  )*)- (.+)$`)
	longLine  = regexp.MustCompile(`^([-dl])[rwxsStT-]{9}[@+.]?\s+\d+\s+\S+\s+\S+\s+[\d,]+\s+\S+\s+\S+\s+\S+\s(.+)$`)
	hit       = regexp.MustCompile(`^((?:[A-Za-z]:)?[^:\s][^:]*):(\d{1,7}):(.*)$`)
	around    = regexp.MustCompile(`^(\d{1,7})[:-](.*)$`)
	hitFile   = regexp.MustCompile(`^((?:[A-Za-z]:)?[^:\s]*[/\\][^:\s]*\.[^:\s]*):`)
	foundLine = regexp.MustCompile(`(?i)^(no (files|matches)|found \d+|\(|error)`)
)

// generic are names of tools that list files, but other things as well.
var generic = map[string]bool{"list": true, "find": true}

// plainNames are files that are recognized without an ending.
var plainNames = regexp.MustCompile(`^(Makefile|Dockerfile|LICENSE|README|NOTICE|COPYING|CHANGELOG|Gemfile|Rakefile|Procfile|Jenkinsfile|go\.mod|go\.sum)$`)

// listing reads what list and glob tools answer.
func listing(in gjson.Result, c treeCall) []observation {
	below, placed := member(in, "path", "dir", "directory", "dir_path", "DirectoryPath", "target_directory")
	if _, globs := member(in, "pattern", "glob", "glob_pattern"); !placed && !globs && generic[strings.ToLower(c.Tool)] {
		return nil
	}
	if treeLine.MatchString(strings.SplitN(c.Result, "\n", 2)[0]) {
		return outline(c.Result)
	}
	return namesIn(c.Result, below)
}

// namesIn takes a path a line; those of a folder's own listing are below it.
func namesIn(result, below string) []observation {
	var all []observation
	for line := range strings.SplitSeq(result, "\n") {
		line = strings.TrimSuffix(line, "\r")
		if m := longLine.FindStringSubmatch(line); m != nil {
			if m[1] != "-" {
				continue
			}
			line = m[2]
		}
		s := observation{kind: listed, path: line}
		if foundLine.MatchString(line) || len(all) >= mostNames || !isPath(line) {
			continue
		}
		if !strings.Contains(line, "/") && !strings.Contains(line, `\`) {
			s.dir = below
		}
		all = append(all, s)
	}
	return all
}

// isPath reports whether a line is a path of a file. One without an ending may be a folder's.
func isPath(line string) bool {
	if winLine.MatchString(line) {
		return true
	}
	if !pathLine.MatchString(line) || strings.HasSuffix(line, "/") || len(line) > maxPath || strings.Count(line, " ") > 3 {
		return false
	}
	name := line[strings.LastIndex(line, "/")+1:]
	dot := strings.LastIndex(name, ".")
	ending := dot > 0 && dot < len(name)-1 && len(name)-dot <= 12 && !strings.Contains(name[dot:], " ")
	return ending || plainNames.MatchString(name)
}

// outline reads a tree written with dashes, two spaces a level; what ends in a slash is a folder.
func outline(result string) []observation {
	var all []observation
	var dirs []string
	for line := range strings.SplitSeq(result, "\n") {
		m := treeLine.FindStringSubmatch(strings.TrimSuffix(line, "\r"))
		if m == nil {
			continue
		}
		level, name := len(m[1])/2, m[2]
		if level > len(dirs) || len(all) >= mostNames {
			continue
		}
		if strings.HasSuffix(name, "/") {
			dirs = append(dirs[:level:level], name)
		} else {
			all = append(all, observation{kind: listed, path: strings.Join(dirs[:level], "") + name})
		}
	}
	return all
}

// hits reads what search tools answer: files, or lines with file and number; one is the file that
// was searched, if it was one.
func hits(result, one string) []observation {
	var all []observation
	known := map[string]bool{}
	add := func(path, number, text string) {
		n, err := strconv.Atoi(number)
		s := observation{kind: listed, path: path}
		if err == nil && n > 0 && len(text) <= longestGrep && !more.MatchString(text) {
			s.kind, s.from, s.lines = viewed, n, []string{text}
		}
		known[path] = true
		all = append(all, s)
	}
	for line := range strings.SplitSeq(result, "\n") {
		line = strings.TrimSuffix(line, "\r")
		if len(all) >= 4*mostNames {
			break
		}
		if m := hit.FindStringSubmatch(line); m != nil && (strings.ContainsAny(m[1], "./\\") || plainNames.MatchString(m[1])) {
			add(m[1], m[2], m[3])
		} else if m := around.FindStringSubmatch(line); m != nil && isPath(one) {
			add(one, m[1], m[2])
		} else if path, number, text, ok := contextLine(line, known); ok {
			add(path, number, text)
		} else if m := hitFile.FindStringSubmatch(line); m != nil {
			add(m[1], "", "")
		} else if !foundLine.MatchString(line) && isPath(line) {
			add(line, "", "")
		}
	}
	return all
}

// contextLine is a line around a hit, "path-12-text", of a file that had one.
func contextLine(line string, known map[string]bool) (path, number, text string, ok bool) {
	for p := range known {
		rest, ours := strings.CutPrefix(line, p+"-")
		if m := around.FindStringSubmatch(rest); ours && m != nil && len(p) > len(path) {
			path, number, text, ok = p, m[1], m[2], true
		}
	}
	return path, number, text, ok
}
