package shellcmd

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
)

// findFollows are the options that stand in front of find's folders, the last two on BSD.
var findFollows = []string{"-L", "-H", "-P", "-O1", "-O2", "-O3", "-E", "-s"}

// checkFind goes through find's folders and predicates. Every word that could be a predicate has to be literal.
func checkFind(c *call) {
	c.step.Leaf = true
	args := c.args
	for len(args) > 0 && args[0].Kind == Literal && slices.Contains(findFollows, args[0].Text) {
		c.step.FilesUnknown = c.step.FilesUnknown || args[0].Text == "-L" || args[0].Text == "-H"
		args = args[1:]
	}
	var starts []Word
	for len(args) > 0 && !args[0].wild() && !isFindWord(args[0]) {
		starts = append(starts, args[0])
		args = args[1:]
	}
	if len(starts) == 0 {
		starts = []Word{here()}
	}
	c.touches(File{Tree: true, Names: true}, starts...)
	found := Word{Kind: Unknown, Source: "{}", Undashed: !slices.ContainsFunc(starts, func(f Word) bool { return oddStart(f.Text) }), Below: true, Regular: !c.step.FilesUnknown && findsFiles(args)}
	if len(starts) == 1 && (starts[0].Kind == Literal || starts[0].Bound != "") {
		found.Bound = cmp.Or(starts[0].Bound, starts[0].Text)
	}
	for len(args) > 0 { // whoever allows a find with a word that is not known has not allowed what others behind it run
		args = args[max(c.predicate(args, found), 1):]
	}
}

// findsFiles reports whether find's words begin with tests all of which are asked, and one of which
// lets pass nothing but plain files, no links.
func findsFiles(args []Word) bool {
	found := false
	for i, f := range args {
		switch {
		case f.Kind == Literal && slices.Contains([]string{"-o", "-or", ",", "!", "-not", "(", "-L", "-H"}, f.Text):
			return false
		case f.Kind == Literal && (strings.HasPrefix(f.Text, "-exec") || strings.HasPrefix(f.Text, "-ok")):
			return found
		}
		found = found || f.isLiteral("f") && i > 0 && args[i-1].isLiteral("-type")
	}
	return found
}

// oddStart matches names of folders by which what is found in them may be a command of a pager or a file of options.
var oddStart = regexp.MustCompile(`^[@+]`).MatchString

// isFindWord reports whether a word begins find's expression.
func isFindWord(f Word) bool {
	return f.Kind == Literal && (strings.HasPrefix(f.Text, "-") || slices.Contains([]string{"(", ")", "!", ","}, f.Text))
}

// predicate takes one predicate; n is how many words it is, 0 where find is doubtful.
func (c *call) predicate(args []Word, found Word) (n int) {
	f := args[0]
	if f.Kind != Literal {
		c.opaque("a word of find that is not literal may be a predicate that runs something")
		return 0
	}
	if f.Text == "-exec" || f.Text == "-execdir" || f.Text == "-ok" || f.Text == "-okdir" {
		return c.findRuns(args, found)
	}
	takes, known := tables.FindTests[f.Text]
	if !known || len(args) <= takes {
		why := f.Text + " is no predicate of find that is known to be harmless"
		if f.Text == "-delete" || strings.HasPrefix(f.Text, "-fprint") || f.Text == "-fls" {
			why = "find writes with " + f.Text
		}
		c.unbounded(why)
		c.suspect()
		return 0
	}
	if takes == 1 && hasMany(args[1:2]) {
		c.opaque("a word of find that is not literal may be several")
		return 0
	}
	if strings.HasSuffix(f.Text, "newer") || f.Text == "-samefile" {
		c.reads(args[1])
	}
	return 1 + takes
}

// findRuns is -exec COMMAND ; or +.
func (c *call) findRuns(args []Word, found Word) int {
	for i := 1; i < len(args); i++ {
		f := args[i]
		if f.Kind != Literal {
			break
		}
		if f.Text == ";" || f.Text == "+" && i > 1 && args[i-1].isLiteral("{}") {
			if i == 1 {
				break
			}
			if strings.HasPrefix(args[0].Text, "-ok") {
				c.doubt("find asks before it runs something")
			}
			elsewhere := strings.HasSuffix(args[0].Text, "dir") // it runs in the folder of each match, and some finds give the bare name
			if f.Text == "+" {
				found.Kind = Many
			}
			words := place(args[1:i], found)
			c.elsewhere = elsewhere
			c.then(words)
			run := c.inner[len(c.inner)-1]
			c.inner[len(c.inner)-1] = func() {
				for i := range words {
					if strings.Contains(words[i].Source, "{}") && (elsewhere || !c.step.ReadOnly) { // it is not surely below the folders that stand there
						words[i].Bound, words[i].Undashed = "", false
					}
				}
				run()
			}
			return i + 1
		}
	}
	c.opaque("what find runs is not literal")
	c.suspect()
	return 0
}

// place puts what find has found in place of {}.
func place(words []Word, found Word) []Word {
	out := make([]Word, len(words))
	for i, f := range words {
		out[i] = f
		if at := strings.Index(f.Text, "{}"); at >= 0 {
			out[i] = found
			out[i].Source = f.Source
			if f.Text != "{}" {
				out[i] = Word{Kind: Unknown, Text: f.Text[:at], Source: f.Source, Undashed: at == 0 && found.Undashed}
			}
		}
	}
	return out
}
