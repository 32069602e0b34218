package permission

import (
	"path"
	"slices"
	"strings"
)

// partUnit is one part of a command.
func partUnit(p *Part) unit {
	return unit{kind: commandPart, text: p.Text, plain: strings.TrimSpace(p.Text), part: p}
}

// partCovered reports whether a rule's content covers the part. A permitting rule sees the text
// as it is, so that an assignment in front (which can change what a program does) is not
// permitted with it; a forbidding one sees it in every reading.
func (u *unit) partCovered(content string, wide, folds bool) bool {
	if !wide {
		return !u.part.Construct && textCovered(content, u.plain) && (!u.part.Foreign || textCovered(content, configured(u.plain)))
	}
	content = strings.Join(strings.Fields(content), " ")
	return wordsCovered(content, u.plain, folds) ||
		slices.ContainsFunc(u.part.Readings, func(reading string) bool { return wordsCovered(content, reading, folds) })
}

// configured is a command of git that names what it reads in place of a repository's
// configuration, so that a rule that covers it gives nothing away with such a repository.
func configured(text string) string {
	program, rest, _ := strings.Cut(text, " ")
	return program + " -c core.fsmonitor=x " + rest
}

// suspects are the commands that may begin at some word of a text, and the text.
func suspects(command string) []string {
	found := []string{command}
	for _, segment := range strings.FieldsFunc(command, func(r rune) bool { return strings.ContainsRune(";|&()`\n{}$", r) }) {
		words := strings.Fields(segment)
		for i := range words {
			found = append(found, asProgram(words[i:min(len(words), i+headWords)])...)
		}
	}
	return found
}

// headWords bounds how much of a suspected command is looked at, so that the
// work stays proportional to the text.
const headWords = 32

// asProgram writes a command as it stands and by its program's plain name.
func asProgram(words []string) []string {
	rest := strings.Join(words[1:], " ")
	return []string{
		strings.TrimSpace(words[0] + " " + rest),
		strings.TrimSpace(program(words[0]) + " " + rest),
	}
}

// program is a command's name without quotes and folders: "/bin/rm" is rm.
func program(word string) string {
	if bare := unquoted.Replace(word); bare != "" {
		return path.Base(bare)
	}
	return word
}

// unquoted takes out what a shell would.
var unquoted = strings.NewReplacer(`"`, "", "'", "", `\`, "")

// readTools and writeTools are the tools whose rules about files bind what a command
// reads and writes (SPEC F5).
var (
	readTools  = []string{"Read"}
	writeTools = []string{"Edit", "Write"}
)

// coversFile reports whether a rule about files covers one that a command touches.
func (r Rule) coversFile(q *Query) (string, bool) {
	if q.Shell == nil {
		return "", false
	}
	reads, writes := r.namesAny(readTools), r.namesAny(writeTools)
	if !reads && !writes {
		return "", false
	}
	for _, p := range q.Shell.Parts {
		for _, f := range p.Files {
			if (f.Write && writes || !f.Write && reads) && pathCovered(r.content, f.Path, q, true) {
				return f.Path, true
			}
		}
	}
	return "", false
}

// evades finds a forbidding rule of which it is not known whether the command gets
// past it: what runs is opaque, or which files are touched is not known. No mode
// lets such a command run unasked (SPEC F6).
func (rs Rules) evades(q *Query) (h *Hit, why string) {
	for i := range rs.hits {
		h := &rs.hits[i]
		if h.Behaviour == Allow || h.Rule.Blanket() {
			continue
		}
		if why, what, ok := rs.mayEvade(h.Rule, q); ok {
			return h.about(what), why
		}
	}
	return nil, ""
}

func (rs Rules) mayEvade(r Rule, q *Query) (why, what string, evades bool) {
	names := r.matchesTool(q) || r.binds(q)
	if q.Shell == nil {
		at := slices.IndexFunc(q.Paths, func(p string) bool { return names && shortened(p) && (File{Path: p}).overlaps(r.content, q) })
		if at < 0 {
			return "", "", false
		}
		return "the short name of a file may be that of another", q.Paths[at], true
	}
	reads, writes := r.namesAny(readTools), r.namesAny(writeTools)
	if !names && !reads && !writes {
		return "", "", false
	}
	if !q.Shell.Known {
		return "the command does not parse", q.Shell.Command, true
	}
	for i := range q.Shell.Parts {
		p := &q.Shell.Parts[i]
		switch {
		case names && p.Opaque != "" && !rs.allowed(q, p, func(content string) bool { return !strings.Contains(content, "*") }):
			why = p.Opaque
		case names && !p.Leaf && p.mentions(r.content) && !rs.vouched(q, p):
			why = "it may run what its words name"
		case names && p.readsNamed(r.content, q):
			why = "it reads the file that the rule names"
		case reads && p.mayTouch(r, q, false) && !rs.vouched(q, p), writes && !p.ReadOnly && p.mayTouch(r, q, true) && !rs.vouched(q, p):
			why = "which files it touches is not known"
		default:
			continue
		}
		return why, p.Text, true
	}
	return "", "", false
}

// vouched reports whether an allow rule with a content covers the part.
func (rs Rules) vouched(q *Query, p *Part) bool {
	return rs.allowed(q, p, func(content string) bool { return true })
}

func (rs Rules) allowed(q *Query, p *Part, counts func(content string) bool) bool {
	u := partUnit(p)
	return slices.ContainsFunc(rs.hits, func(h Hit) bool {
		return h.Behaviour == Allow && !h.Rule.Blanket() && h.Rule.names(q.Subject) && counts(h.Rule.content) && u.covered(q, h.Rule.content, false)
	})
}

// mayTouch reports whether a part may touch a file that a rule is about, though it
// does not name it.
func (p *Part) mayTouch(r Rule, q *Query, write bool) bool {
	if p.FilesUnknown {
		return true
	}
	return slices.ContainsFunc(p.Files, func(f File) bool {
		return (f.Write == write || f.Named && write) && (f.Tree || f.Glob || f.Named || f.Names || shortened(f.Path)) && f.overlaps(r.content, q)
	})
}

// overlaps reports whether a pattern may cover something that a tree, a glob or a short name means.
func (f File) overlaps(content string, q *Query) bool {
	patterns := pathPatterns(content, q, true)
	if !path.IsAbs(content) && !strings.HasPrefix(content, "~") {
		patterns = append(patterns, pathPatterns(".worktrees/*/"+content, q, true)...)
		patterns = append(patterns, pathPatterns(".claude/worktrees/*/"+content, q, true)...)
	}
	return slices.ContainsFunc(q.led(patterns, true), func(pattern string) bool {
		spelled := f.Path
		switch {
		case f.Names && !f.Tree:
			spelled += "/\x00"
		case f.Names && strings.Trim(path.Base(pattern), "*") != "":
			return false // a name is secret only where a rule forbids all that is in a folder
		case f.Tree:
			spelled += "/**"
		}
		return meets(elements(caseless(spelled)), elements(caseless(pattern)+"/**"))
	})
}

// mentions reports whether a part names what a rule is about, as it is written or without quotes.
func (p *Part) mentions(content string) bool {
	return mentions(content, p.Text+" "+p.Input) || slices.ContainsFunc(p.Readings, func(text string) bool { return mentions(content, text) })
}

// mentions reports whether the words that begin a rule's content stand in a text one
// after the other.
func mentions(content, text string) bool {
	content = strings.TrimSuffix(content, ":*")
	if at := strings.IndexByte(content, '*'); at >= 0 {
		content = content[:at]
	}
	wanted, found := tokens(content), tokens(text)
	for i := 0; len(wanted) > 0 && i+len(wanted) <= len(found); i++ {
		if begins(found[i], wanted[0]) && slices.Equal(found[i+1:i+len(wanted)], wanted[1:]) {
			return true
		}
	}
	return false
}

// begins reports whether a word is a program's name, or short options with the name as the value of the last.
func begins(word, name string) bool {
	return word == name || len(word) > len(name)+1 && word[0] == '-' && word[1] != '-' && strings.HasSuffix(word, name)
}

// tokens are the words of a text, whatever stands between them.
func tokens(text string) []string {
	return strings.FieldsFunc(unquoted.Replace(text), func(r rune) bool {
		return !(r == '_' || r == '-' || r == '.' || r >= '0' && r <= '9' || r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z' || r > 0x7f)
	})
}

// printers are commands whose rules are understood to be about the file they name.
var printers = []string{"cat", "head", "tail", "less", "more", "bat", "nl", "tac", "strings", "xxd", "od", "hexdump", "base64", "view"}

// readsNamed reports whether a part reads a file that a rule for a printing command
// names: who forbids "cat .env" means the file.
func (p *Part) readsNamed(content string, q *Query) bool {
	words := strings.Fields(content)
	if len(words) < 2 || !slices.Contains(printers, words[0]) {
		return false
	}
	for _, name := range words[1:] {
		if strings.ContainsAny(name, "*?[") || strings.HasPrefix(name, "-") {
			continue
		}
		named := path.Join(q.Dir, name)
		if path.IsAbs(name) {
			named = path.Clean(name)
		}
		if slices.ContainsFunc(p.Files, func(f File) bool { return f.Path == named }) {
			return true
		}
	}
	return false
}
