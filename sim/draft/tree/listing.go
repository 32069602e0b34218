package tree

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"
)

// mostNames bounds what one listing tells.
const mostNames = 500

// longestGrep is how long a line may be that a search shows: longer ones are often cut.
const longestGrep = 400

var (
	// pathLine is a line that can be nothing but a path.
	pathLine = regexp.MustCompile(`^[^\s\[\](){}<>:*?"|,;]([^\[\](){}<>:*?"|;]*[^\s\[\](){}<>:*?"|,;.])?$`)
	winLine  = regexp.MustCompile(`^[A-Za-z]:[\\/][^:*?"<>|]+$`)
	treeLine = regexp.MustCompile(`^((?:  )*)- (.+)$`)
	longLine = regexp.MustCompile(`^([-dl])[rwxsStT-]{9}[@+.]?\s+\d+\s+\S+\s+\S+\s+[\d,]+\s+\S+\s+\S+\s+\S+\s(.+)$`)
	hit      = regexp.MustCompile(`^((?:[A-Za-z]:)?[^:\s][^:]*):(\d{1,7}):(.*)$`)
	around   = regexp.MustCompile(`^(\d{1,7})[:-](.*)$`)
	hitFile  = regexp.MustCompile(`^((?:[A-Za-z]:)?[^:\s]*[/\\][^:\s]*\.[^:\s]*):`)
	found    = regexp.MustCompile(`(?i)^(no (files|matches)|found \d+|\(|error)`)
)

// generic are names of tools that list files, but other things as well.
var generic = map[string]bool{"list": true, "find": true}

// plainNames are files that one knows without an ending.
var plainNames = regexp.MustCompile(`^(Makefile|Dockerfile|LICENSE|README|NOTICE|COPYING|CHANGELOG|Gemfile|Rakefile|Procfile|Jenkinsfile|go\.mod|go\.sum)$`)

// listing reads what list and glob tools answer.
func listing(in gjson.Result, c Call) []sight {
	if c.Failed {
		return nil
	}
	below, placed := member(in, "path", "dir", "directory", "dir_path", "DirectoryPath", "target_directory")
	if _, globs := member(in, "pattern", "glob", "glob_pattern"); !placed && !globs && generic[strings.ToLower(c.Tool)] {
		return nil
	}
	if treeLine.MatchString(strings.SplitN(c.Result, "\n", 2)[0]) {
		return outline(c.Result)
	}
	return names(c.Result, below)
}

// names takes a path a line; those of a folder's own listing are below it.
func names(result, below string) []sight {
	var all []sight
	for line := range strings.SplitSeq(result, "\n") {
		line = strings.TrimSuffix(line, "\r")
		if m := longLine.FindStringSubmatch(line); m != nil {
			if m[1] != "-" {
				continue
			}
			line = m[2]
		}
		s := sight{kind: listed, path: line}
		if found.MatchString(line) || len(all) >= mostNames || !isPath(line) {
			continue
		}
		if !strings.Contains(line, "/") && !strings.Contains(line, `\`) {
			s.dir = below
		}
		all = append(all, s)
	}
	return all
}

// isPath: a line is a path of a file. One without an ending may be a folder's.
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

// outline reads a tree drawn with dashes, two spaces a level; what ends in a slash is a
// folder.
func outline(result string) []sight {
	var all []sight
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
		at := strings.Join(append(append([]string{}, dirs[:level]...), name), "")
		if strings.HasSuffix(name, "/") {
			dirs = append(dirs[:level:level], name)
		} else {
			all = append(all, sight{kind: listed, path: at})
		}
	}
	return all
}

// grepped reads what search tools answer: files, or lines with file and number.
func grepped(in gjson.Result, c Call) []sight {
	if c.Failed {
		return nil
	}
	below, _ := member(in, "path", "dir", "directory", "file_path")
	return hits(c.Result, below)
}

func hits(result, one string) []sight {
	var all []sight
	known := map[string]bool{}
	tell := func(path, number, text string) {
		n, err := strconv.Atoi(number)
		s := sight{kind: listed, path: path}
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
			tell(m[1], m[2], m[3])
		} else if m := around.FindStringSubmatch(line); m != nil && isPath(one) {
			tell(one, m[1], m[2])
		} else if path, number, text, ok := context(line, known); ok {
			tell(path, number, text)
		} else if m := hitFile.FindStringSubmatch(line); m != nil {
			tell(m[1], "", "")
		} else if !found.MatchString(line) && isPath(line) {
			tell(line, "", "")
		}
	}
	return all
}

// context is a line around a hit, "path-12-text", of a file that had one.
func context(line string, known map[string]bool) (path, number, text string, ok bool) {
	for p := range known {
		rest, ours := strings.CutPrefix(line, p+"-")
		if m := around.FindStringSubmatch(rest); ours && m != nil && len(p) > len(path) {
			path, number, text, ok = p, m[1], m[2], true
		}
	}
	return path, number, text, ok
}
