package draft

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"
	"mvdan.cc/sh/v3/syntax"

	"toolbench/toolsys/shellcmd"
	"toolbench/toolsys/tool"
)

// command is one command of a line, in plain words.
type command struct {
	words []string
	// shown: its output, or the first lines of it, is what the result shows.
	shown, cut bool
	// into is the file it writes, here the text that a heredoc gives it.
	into string
	here bool
}

// shellSights reads what a command line shows: of `cd x && cat y`, the file. Lines with more
// than one command that shows something count only for what they write.
func shellSights(in gjson.Result, c treeCall) []observation {
	line, ok := member(in, "command", "cmd", "CommandLine")
	if !ok || len(line) > maxFileBytes {
		return nil
	}
	dir := ""
	var all []observation
	var shows []command
	for _, cmd := range commands(line) {
		switch {
		case len(cmd.words) == 0:
		case cmd.words[0] == "cd" && len(cmd.words) == 2:
			dir = below(dir, cmd.words[1])
		case cmd.into != "" && cmd.here:
			all = append(all, observation{kind: written, path: cmd.into, dir: dir})
		case cmd.shown:
			shows = append(shows, cmd)
		}
	}
	if len(shows) == 1 && !refusal.MatchString(c.Result) {
		all = append(all, shows[0].sights(c.Result)...)
	}
	for i := range all {
		all[i].dir = below(dir, all[i].dir)
	}
	return all
}

// refusal is how commands begin what they write of a file that they cannot show.
var refusal = regexp.MustCompile(`(?i)^(cat|nl|head|sed|ls|find|fd|grep|rg): [^\n]*(no such file|can't read|permission denied|is a directory|not found)`)

// below goes from one folder into another.
func below(dir, to string) string {
	switch {
	case to == "":
		return dir
	case dir == "" || strings.HasPrefix(to, "/") || strings.HasPrefix(to, "~"):
		return to
	}
	return dir + "/" + to
}

// commands are those of a line that run one after the other, each whatever comes of the
// one before; what is more than that is left out.
func commands(line string) []command {
	file, err := shellcmd.Parse(line)
	if err != nil {
		return nil
	}
	return slices.Concat(tool.Each(file.Stmts, chain)...)
}

func chain(s *syntax.Stmt) []command {
	if b, ok := s.Cmd.(*syntax.BinaryCmd); ok {
		switch b.Op {
		case syntax.AndStmt, syntax.OrStmt:
			return append(chain(b.X), chain(b.Y)...)
		case syntax.Pipe:
			x, y := simple(b.X), simple(b.Y)
			x.shown, x.cut = y.shown && len(y.words) > 0 && y.words[0] == "head", true
			if !x.shown {
				return []command{{words: []string{""}, shown: true}}
			}
			return []command{x}
		}
	}
	return []command{simple(s)}
}

// simple is a command of literal words; what is no such command shows something all the same.
func simple(s *syntax.Stmt) command {
	call, ok := s.Cmd.(*syntax.CallExpr)
	out := command{shown: true, words: []string{""}}
	if !ok || s.Background || len(call.Assigns) > 0 {
		return out
	}
	var words []string
	for _, w := range call.Args {
		text, plain := literal(w)
		if !plain {
			return out
		}
		words = append(words, text)
	}
	for _, r := range s.Redirs {
		switch path, plain := literal(r.Word); {
		case r.Op == syntax.Hdoc || r.Op == syntax.DashHdoc:
			out.here = true
		case r.Op == syntax.RdrOut && plain && (r.N == nil || r.N.Value == "1"):
			out.into, out.shown = path, false
		case r.Op == syntax.AppOut || r.Op == syntax.RdrIn:
			out.shown = false
		}
	}
	out.words = words
	return out
}

func literal(w *syntax.Word) (string, bool) {
	if w == nil {
		return "", false
	}
	var b strings.Builder
	for _, p := range w.Parts {
		switch p := p.(type) {
		case *syntax.Lit:
			if strings.ContainsAny(p.Value, `*?[{\`) {
				return "", false
			}
			b.WriteString(p.Value)
		case *syntax.SglQuoted:
			b.WriteString(p.Value)
		case *syntax.DblQuoted:
			text, plain := literal(&syntax.Word{Parts: p.Parts})
			if !plain {
				return "", false
			}
			b.WriteString(text)
		default:
			return "", false
		}
	}
	return b.String(), true
}

// sights are what the output of one command shows.
func (c command) sights(result string) []observation {
	var flags, operands []string
	for _, w := range c.words[1:] {
		if strings.HasPrefix(w, "-") && w != "-" {
			flags = append(flags, w)
		} else {
			operands = append(operands, w)
		}
	}
	last := ""
	if len(operands) > 0 {
		last = operands[len(operands)-1]
	}
	switch c.words[0] {
	case "cat", "nl":
		if len(operands) == 1 && (c.words[0] == "cat" && len(flags) == 0 || strings.Join(flags, "") == "-n") {
			return shownFile(last, result, 1, 0, c.cut)
		}
	case "head":
		n := 10
		if len(flags) == 1 {
			n, _ = strconv.Atoi(strings.TrimLeft(flags[0], "-n"))
		}
		if len(flags) == 1 && flags[0] == "-n" && len(operands) == 2 {
			n, _ = strconv.Atoi(operands[0])
		}
		if n > 0 && last != "" {
			return shownFile(last, result, 1, n, c.cut)
		}
	case "sed":
		return sedShown(flags, operands, result)
	case "ls":
		if len(operands) <= 1 && !strings.Contains(strings.Join(flags, ""), "R") {
			return namesIn(result, last)
		}
	case "find", "fd":
		return namesIn(result, "")
	case "grep", "rg":
		if strings.ContainsAny(strings.Join(flags, ""), "nl") {
			return hits(result, last)
		}
	}
	return nil
}

// sedShown is `sed -n 'a,bp' file`.
func sedShown(flags, operands []string, result string) []observation {
	if len(flags) != 1 || flags[0] != "-n" || len(operands) != 2 || !strings.HasSuffix(operands[0], "p") {
		return nil
	}
	first, end, two := strings.Cut(strings.TrimSuffix(operands[0], "p"), ",")
	if !two {
		end = first
	}
	from, err := strconv.Atoi(first)
	to, endless := strconv.Atoi(end)
	if err != nil || endless != nil {
		return nil
	}
	return shownFile(operands[1], result, from, to-from+1, false)
}

// shownFile is a file's text as a command shows it, limit lines at most; 0 is no bound.
func shownFile(path, result string, from, limit int, cut bool) []observation {
	p := passageOf(result, from)
	if p.numbered || limit == 0 && !cut {
		return []observation{{kind: viewed, path: path, from: p.from, lines: p.lines, whole: p.whole && limit == 0 && !cut}}
	}
	if limit > 0 && len(p.lines) > limit {
		return []observation{{kind: listed, path: path}} // there is more in it than the file
	}
	return []observation{{kind: viewed, path: path, from: from, lines: p.lines}}
}
