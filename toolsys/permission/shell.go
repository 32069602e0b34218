package permission

import (
	"cmp"
	_ "embed" // the words beside this file
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// partUnit is one part of a command.
func partUnit(p *Part) unit {
	return unit{kind: commandPart, text: p.Text, plain: strings.TrimSpace(p.Text), part: p}
}

// partCovered reports whether a rule's content covers the part. A permitting rule sees the text
// as it is, so that an assignment in front (which can change what a program does) is not
// permitted with it; a forbidding one sees it in every reading.
func (u *unit) partCovered(content string, wide, folds bool) bool {
	if !wide { // a rule that covers what takes the place of a strange repository's configuration gives nothing away with it
		return !u.part.Construct && textCovered(content, u.plain) && !u.part.climbs(content) && (!u.part.Foreign || textCovered(content, strings.Replace(u.plain, " ", " -c core.fsmonitor=x ", 1)))
	}
	content = strings.Join(strings.Fields(content), " ")
	others := sameAs(content)
	sure, _ := u.part.spells(others)
	return sure || slices.ContainsFunc(append([]string{u.plain}, u.part.Readings...), func(text string) bool {
		return wordsCovered(content, text, folds) || strings.HasPrefix(content, "* ") && wordsCovered(content, " "+text, folds) || slices.Contains(others, text)
	})
}

// homes matches the names of the home directory where a rule has one.
var homes = regexp.MustCompile(`(^|\s)(?:~|"?\$(?:HOME\b|\{HOME\})"?)([/*\s]|$)`)

// climbs reports whether a part leaves by .. a folder that a rule names in front of a star.
func (p *Part) climbs(content string) bool {
	return starred(content) && !strings.Contains(content, "..") && (leaving(p.Text) || slices.ContainsFunc(p.Readings, leaving))
}

var (
	starred = regexp.MustCompile(`/\S*\*`).MatchString
	leaving = regexp.MustCompile(`[^\s./]\S*/\.[.?*[{]`).MatchString
)

// The signs in [Part.Commands].
const (
	AnyWords  = "\x00" // stands for any number of words
	MadeWord  = "\x01" // begins a pattern that a word matches of which no more is known; with two stars in front it is no option
	OtherForm = "\x02" // stands between the forms of an option
)

// spelling is a rule's words behind its program, held against those of a command.
type spelling struct {
	operands, options []string // those that were not met yet
	seen              []string // the options of the command
	loose, open       bool     // some operand may be an option's value, which stands anywhere; further words may follow
	dashed, pushes    bool     // a -- is among the rule's words; it is about what git pushes, of which there may be several
	doubt             bool     // some word may be another than the rule's
	wild              int      // words that may be any option
}

// spells reports whether a command has the words of a rule's content, or of another that [sameAs] gives, with the options in any
// order and others between, and whether it may have them: where a word is made when the command runs, or is cut short.
func (p *Part) spells(same []string) (sure, may bool) {
	for i, other := range same {
		if i > 0 && strings.HasPrefix(other, "git restore") && unstages(p.Text) {
			continue
		}
		surely, maybe := p.spelled(other)
		sure, may = sure || surely, may || maybe
	}
	return sure, may
}

// unstages matches a command with which git restores no file of the tree.
var unstages = regexp.MustCompile(`\srestore (?:-[^-W\s]\S* |--[^w\s]\S* )*(?:--staged|-S)(?: [^-]|$)`).MatchString

// sameText has groups of words that do the same in some programs, with a comma between them: first the programs. Words
// with a > in front do what the others do and more, and are not those of a rule; a $ ends words that have no others behind.
//
//go:embed same.txt
var sameText string

// sameWords are the groups of each program, read when a rule is first held against a command.
var sameWords = sync.OnceValue(func() map[string][][]string {
	groups := map[string][][]string{}
	for line := range strings.Lines(sameText) {
		programs, words, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ": ")
		for name := range strings.FieldsSeq(programs) {
			groups[name] = append(groups[name], strings.Split(words, ", "))
		}
	}
	return groups
})

// sameAs are a rule's content and what does the same in other words.
func sameAs(content string) []string {
	all := []string{content}
	if plain, open := strings.CutSuffix(content, "*"); open {
		content = strings.TrimRight(plain, ": ") + " *"
	}
	name, rest, _ := strings.Cut(content, " ")
	for _, group := range sameWords()[name] {
		for _, words := range group {
			before, after, found := strings.Cut(" "+content+" ", " "+words+" ")
			if words == "" {
				before, after, found = " "+name, rest, rest != ""
			}
			for _, other := range group {
				if found && other != words && (other != "" || strings.Trim(after, "* ") != "") {
					text, _, _ := strings.Cut(before+" "+strings.TrimPrefix(other, ">")+" "+after, "$ ")
					all = append(all, strings.Join(strings.Fields(text), " "))
				}
			}
		}
	}
	return all
}

// spelled is spells for just these words.
func (p *Part) spelled(content string) (sure, may bool) {
	name, rest, _ := strings.Cut(strings.ReplaceAll(content, "*-", "* -"), " ")
	plain, prefix := strings.CutSuffix(rest, ":*")
	name = strings.TrimLeft(name, "*")
	whatever := name == "" && strings.HasPrefix(rest, "-") // options of any program
	for _, words := range p.Commands {
		if rest == "" || len(words) == 0 || !whatever && !strings.EqualFold(path.Base(name), words[0]) {
			continue
		}
		if rest[0] == '-' && name == "git" && len(words) > 1 && !strings.HasPrefix(words[1], "-") {
			continue // what stands in front of git's subcommand is another option than behind it
		}
		s := spelling{pushes: name == "git" && strings.HasPrefix(plain, "push "), open: prefix || whatever || slices.Contains(listing, name) || strings.Contains(plain, "*")}
		for word := range strings.FieldsSeq(plain) {
			switch word = strings.TrimLeft(word, "*"); {
			case word == "--":
				s.dashed = true
			case strings.HasPrefix(word, "-"):
				s.options = append(s.options, word)
			case word != "":
				s.operands, s.loose = append(s.operands, word), s.loose || len(s.options) > 0
			}
		}
		if missing := s.missing(words); missing == 0 || missing <= s.wild && !p.ReadOnly { // what only reads does with any option
			sure, may = sure || missing == 0 && !s.doubt && !strings.Contains(name, "/"), true
		}
	}
	return sure, may
}

// missing goes through a command's words, and gives how many of the rule's options it does not surely have; one more
// than it may have where the rule is not about it.
func (s *spelling) missing(words []string) int {
	began, last, plain := false, "", false // plain: behind a --, no word is an option
	for _, word := range words[1:] {
		left := len(s.options)
		switch {
		case word == AnyWords:
			s.doubt = s.doubt || len(s.operands)+len(slices.DeleteFunc(s.options, s.together)) > 0
			return 0
		case word == "--" && !plain:
			plain = true
		case len(word) > 1 && !plain && strings.HasPrefix(strings.TrimPrefix(word, MadeWord), "-"):
			s.seen = append(s.seen, strings.Split(word, OtherForm)...)
			s.options = slices.DeleteFunc(s.options, func(o string) bool { return s.fits(o, word, strings.HasPrefix(word, "--")) })
			if strings.HasPrefix(word, MadeWord) && !strings.HasPrefix(word, MadeWord+"--") {
				s.wild++
			}
			if value := attached.FindStringSubmatch(word); s.loose && value != nil && len(s.operands) > 0 && value[1] == s.operands[0] {
				s.operands = s.operands[1:]
			}
			if left == len(s.options) && len(s.operands) == 0 && !s.open && !s.doubt {
				return s.wild + 1
			}
		case len(s.operands) > 0 && s.fits(s.operands[0], word, slices.Contains(shortening, words[0])):
			s.operands, began = s.operands[1:], true
		case len(s.operands) > 0 && !began && slices.Contains(placing, words[0]+" "+word):
			word = "-" + word
		case len(s.operands) > 0 && (slices.Contains(listing, words[0]) || began && (s.pushes || s.dashed && !plain) || !began && strings.HasPrefix(word, "+")):
			// It is one more operand, or says which version runs.
		case len(s.operands) > 0 && (strings.HasPrefix(last, "-") || s.loose || s.wild > 0):
			s.doubt = s.doubt || began && !s.loose
		case len(s.operands) > 0, !s.open && !s.doubt:
			return s.wild + 1
		case word == MadeWord+"*" && !plain && !(slices.Contains(messages, last) && (words[0] == "git" || words[0] == "gh")):
			s.wild++
		}
		last, _, _ = strings.Cut(word, OtherForm)
	}
	s.doubt = s.doubt || s.dashed && !plain
	if s.dashed && !plain && s.open && !slices.ContainsFunc(words[1:], pathLike) {
		return s.wild + 1
	}
	return len(slices.DeleteFunc(s.options, s.together)) + len(s.operands)*(s.wild+1)
}

// pathLike matches words that are files rather than branches.
var pathLike = regexp.MustCompile(`^(?:[.:/]|[^-].*(?:/$|[*?]|\.[A-Za-z]\w*$)|--pathspec)`).MatchString

// attached matches an option with its value in the same word.
var attached = regexp.MustCompile(`^(?:-\w|--[\w-]+=)([^\x02]+)`)

// together reports whether a command has all letters of an option, though not in one word.
func (s *spelling) together(option string) bool {
	return option[1:] != "" && option[1] != '-' && !strings.ContainsFunc(option[1:], func(r rune) bool { return !slices.Contains(s.seen, "-"+string(r)) })
}

// fits reports whether a word of the command is, or may be, one of the rule; short, also where it is but its beginning.
func (s *spelling) fits(want, word string, short bool) bool {
	pattern, made := strings.CutPrefix(word, MadeWord)
	fixed, sure := strings.TrimRight(want, "*"), false
	may := made && (star(pattern, fixed) || star(want, pattern))
	for form := range strings.SplitSeq(word, OtherForm) {
		name, _, _ := strings.Cut(form, "=")
		sure = sure || star(want, form) || star(want, name)
		may = may || short && begun(name) && strings.HasPrefix(fixed, name)
	}
	s.doubt = s.doubt || may && !sure
	return may || sure
}

// begun matches the beginnings of long options and of other words, but not short options, which are never cut.
var begun = regexp.MustCompile(`^(?:--)?[^-]`).MatchString

var (
	// shortening are programs that take the beginning of a subcommand for it.
	shortening = []string{"bundle", "gem", "hg", "ip", "npm", "tmux", "vagrant"}
	// listing are programs whose operands are all of one kind, whatever stands between them.
	listing = []string{"ant", "dd", "gmake", "gradle", "gradlew", "just", "make", "mvn", "mvnw", "ninja", "rails", "rake", "task"}
	// placing are words with which a package manager runs a subcommand in the packages that come behind them.
	placing = []string{"yarn workspace", "yarn workspaces", "yarn foreach", "pnpm recursive", "pnpm multi", "pnpm m"}
	// messages are options of git and gh whose values are texts for people.
	messages = []string{"-m", "-am", "--message", "--body", "--title"}
)

// suspects are the commands that may begin at some word of a text, and the text.
func suspects(command string) []string {
	found := []string{command}
	for _, segment := range strings.FieldsFunc(command, func(r rune) bool { return strings.ContainsRune(";|&()`\n{}$", r) }) {
		words := strings.Fields(segment)
		for i, word := range words {
			rest := " " + strings.Join(words[i+1:min(len(words), i+headWords)], " ")
			found = append(found, strings.TrimSpace(word+rest), strings.TrimSpace(program(word)+rest))
		}
	}
	return found
}

// headWords bounds how much of a suspected command is looked at, so that the
// work stays proportional to the text.
const headWords = 32

// program is a command's name without quotes and folders: "/bin/rm" is rm.
func program(word string) string { return path.Base(cmp.Or(unquoted.Replace(word), word)) }

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
	reads, writes := r.namesAny(readTools), r.namesAny(writeTools)
	if q.Shell == nil || !reads && !writes {
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
		if names && q.OthersUnknown {
			return "what else it is about is not known", q.Content, true
		}
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
	same := sameAs(r.content)
	for i := range q.Shell.Parts {
		p := &q.Shell.Parts[i]
		_, may := p.spells(same)
		_, launches := (&Part{Commands: p.Launched, ReadOnly: p.ReadOnly}).spells(same)
		switch {
		case names && (p.Opaque != "" || may) && !rs.vouched(q, p, true):
			why = cmp.Or(p.Opaque, "a word of it that is not literal, or cut short, may be the rule's")
		case names && !p.Leaf && (launches || p.mentions(r.content)) && !rs.vouched(q, p, false):
			why = "it may run what its words name"
		case names && !q.reads() && p.renames(r.content):
			why = "the program that the rule names may get another name"
		case names && p.readsNamed(r.content, q):
			why = "it reads the file that the rule names"
		case reads && p.mayTouch(r, q, false) && !rs.vouched(q, p, false), writes && !p.ReadOnly && p.mayTouch(r, q, true) && !rs.vouched(q, p, false):
			why = "which files it touches is not known"
		default:
			continue
		}
		return why, p.Text, true
	}
	return "", "", false
}

// vouched reports whether an allow rule with a content covers the part, one without a star where exact is set.
func (rs Rules) vouched(q *Query, p *Part, exact bool) bool {
	u := partUnit(p)
	return slices.ContainsFunc(rs.hits, func(h Hit) bool {
		counts := h.Behaviour == Allow && !h.Rule.Blanket() && !(exact && strings.Contains(h.Rule.content, "*"))
		return counts && h.Rule.names(q.Subject) && u.covered(q, h.Rule.content, false)
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

// mentions reports whether the words that begin a rule's content stand in a part one after the other, as it is
// written or without quotes.
func (p *Part) mentions(content string) bool {
	content, _, _ = strings.Cut(strings.TrimSuffix(content, ":*"), "*")
	wanted := tokens(started.ReplaceAllString(content, "$1$2$3"))
	found := tokens(strings.Join(append(slices.Clone(p.Readings), p.Text+" "+p.Input), " _ "))
	for i := 0; len(wanted) > 0 && i+len(wanted) <= len(found); i++ {
		if begins(found[i], wanted[0]) && slices.Equal(found[i+1:i+len(wanted)], wanted[1:]) {
			return true
		}
	}
	return false
}

// started matches what may be left out where a rule names a script or a program by its file, or in a package: an
// interpreter, the folder and the launcher.
var started = regexp.MustCompile(`^(?:(?:npx|bunx|pnpx|uvx|(?:npm|pnpm|yarn|bundle) exec|(?:pnpm|yarn) dlx|bun x|(?:uv|poetry|pipx) run) (?:-\S+ )*(\w))|^(?:bash|bun|deno|node|perl|php|python3?|ruby|sh|tsx|zsh) (?:(?:[^-\s]\S*)?/(\w)|(artisan\b|\w[\w.-]*\.(?:[cm]?[jt]s|php|pl|py|rb|sh)\b))|^\S*/`)

// renames reports whether a part names the file of a rule's program, asks where that is or reads it for others to write.
func (p *Part) renames(content string) bool {
	name, _, _ := strings.Cut(strings.TrimLeft(content, "* "), " ")
	words := strings.FieldsFunc(unquoted.Replace(p.Text), func(r rune) bool { return strings.ContainsRune(" \t\n=$(){}`", r) })
	_, text, _ := strings.Cut(strings.Join(words, " ")+" ", " ")
	named := func(before string) bool { return strings.Contains(text, before+name+" ") }
	if (!p.ReadOnly || p.FilesUnknown) && slices.ContainsFunc([]string{"bin/", "which ", "-v ", "-p ", "-P "}, named) || packsPrograms(p.Text) {
		return true
	}
	copies := slices.ContainsFunc(p.Commands, func(words []string) bool {
		return len(words) > 0 && slices.Contains([]string{"cp", "install", "ln", "mv"}, words[0])
	})
	unbound := copies && p.FilesUnknown && (strings.Contains(p.Text, "bin/{}") || len(p.Files) == 0 && strings.Contains(p.Text, "{}")) // names of which no more is known
	return unbound || !looksOnly(p.Text) && slices.ContainsFunc(p.Files, func(f File) bool {
		is := func(dir string) bool {
			file := dir + caseless(name)
			return globbed(caseless(f.Path), file, false) || copies && f.Tree && meets(elements(caseless(f.Path)+"/**"), elements(file))
		}
		return !f.Write && !f.Names && slices.ContainsFunc([]string{"/bin/", "/usr/bin/", "/usr/local/bin/"}, is)
	})
}

// packsPrograms matches commands that pack or copy the folders of all programs.
var packsPrograms = regexp.MustCompile(`^(?:\S*/)?(?:7z|bsdtar|cpio|pax|rsync|scp|tar|zip)\s(?:.*[\s=])?/(?:usr/(?:local/)?)?s?bin(?:/\.?)?(?:\s|$)`).MatchString

// looksOnly matches commands that ask about a file and show nothing of it.
var looksOnly = regexp.MustCompile(`^(?:\[|test )`).MatchString

// begins reports whether a word is a program's name, or short options with the name as the value of the last.
func begins(word, name string) bool {
	return word == name || len(word) > len(name)+1 && word[0] == '-' && word[1] != '-' && strings.HasSuffix(word, name)
}

// version matches which one of a package is meant, what ends a launcher's options and the folder that is at hand.
var version = regexp.MustCompile(`(?:@(?:[\d^~*v][\w.^~*-]*|latest|next|beta|canary)|\s--)(?:\s|$)|(?:^|\s)(?:\./+)+`)

// tokens are the words of a text, whatever stands between them.
func tokens(text string) []string {
	return strings.FieldsFunc(version.ReplaceAllLiteralString(unquoted.Replace(text), " "), func(r rune) bool {
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
	return slices.ContainsFunc(words[1:], func(name string) bool {
		named := path.Join(map[bool]string{false: q.Dir}[path.IsAbs(name)], name)
		return strings.Trim(name, "*?[]/.") != "" && !strings.HasPrefix(name, "-") && slices.ContainsFunc(p.Files, func(f File) bool {
			return star(named, f.Path) && !(f.Names && strings.Contains(name, "*"))
		})
	})
}
