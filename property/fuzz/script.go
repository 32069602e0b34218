package fuzz

import (
	_ "embed" // the words beside this file
	"encoding/json"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
)

// GenerateScript makes the script of a seed and a number, the same each time.
func GenerateScript(seed, number uint64) string {
	g := &generator{Rand: rand.New(rand.NewPCG(seed, number))}
	g.inside = g.IntN(4) > 0
	return g.script(2)
}

type generator struct {
	*rand.Rand
	// inside keeps to what Bash does itself: such scripts cost a tenth of those that
	// start programs, and it is Bash's own grammar that is hard to read.
	inside bool
}

func (g *generator) pick(list []string) string { return list[g.IntN(len(list))] }

// either is a piece of a list, or one of those that are made for it.
func (g *generator) either(list string, made ...string) string {
	return g.pick(slices.Concat(words[list], made))
}

// one reports true once in n times.
func (g *generator) one(n int) bool { return g.IntN(n) == 0 }

// script is a list of commands, nested as deep as depth allows.
func (g *generator) script(depth int) string {
	text := g.form(depth)
	for g.one(4) {
		text += g.either("separators") + g.form(depth)
	}
	return text
}

func (g *generator) form(depth int) string {
	if depth == 0 || g.one(2) {
		return g.command()
	}
	return g.piece("forms", depth)
}

// named is where another piece stands in a piece: <'name> is in quotes, <?name> may be.
var named = regexp.MustCompile(`<['?]?\w+>`)

// fill puts the pieces that a text names into it.
func (g *generator) fill(text string, depth int) string {
	return named.ReplaceAllStringFunc(text, func(name string) string {
		name = name[1 : len(name)-1]
		if quoted, is := strings.CutPrefix(name, "'"); is {
			return "'" + strings.ReplaceAll(g.piece(quoted, depth), "'", `'\''`) + "'"
		}
		if quoted, is := strings.CutPrefix(name, "?"); is {
			return g.quotedly(g.piece(quoted, depth))
		}
		return g.piece(name, depth)
	})
}

// piece is one of those of a list, or what takes more than a list.
func (g *generator) piece(name string, depth int) string {
	switch name {
	case "script":
		return g.script(depth - 1)
	case "command":
		return g.command()
	case "plainCommand":
		return g.plainCommand()
	case "hereDocument":
		return g.hereDocument()
	case "nested":
		return g.nested()
	case "words":
		return g.words(3)
	case "payload":
		if g.inside {
			return g.fill("$(<insidePayloads>)", depth)
		}
		return g.fill("$(<payloads>)", depth)
	case "classicTest":
		return g.either("classicTests", g.word())
	case "value":
		return g.either("values", g.word())
	case "bound":
		return g.pick([]string{"2", "3", g.either("arithmetic")})
	case "change":
		return g.pick([]string{g.fill("<assignments>", 0), g.fill("unset <names>", 0), g.command()})
	case "inner", "sum": // a list of one is no choice
		return g.fill(words[name][0], depth)
	}
	return g.fill(g.either(name), depth)
}

// hereDocument is one whose lines may be its end, in some shell's eyes, before it comes.
func (g *generator) hereDocument() string {
	text := g.fill("<inShell> <<<delimiters>\n", 0)
	for g.one(2) {
		text += g.pick([]string{g.either("hereLines"), g.word(), g.nested()}) + "\n"
	}
	text += "E\n" + g.either("hereEnds")
	if g.one(3) {
		return "echo " + g.quotedly("$("+text+")")
	}
	return text
}

// nested is an expansion with text of its own in it, in quotes of one kind in those of another.
func (g *generator) nested() string {
	inner := g.either("innerTexts", g.either("expansions"))
	for range 1 + g.IntN(2) {
		quotes := [...][2]string{{"'", "'"}, {"$'", "'"}, {`"`, `"`}, {}}[g.IntN(4)]
		inner = quotes[0] + inner + quotes[1]
	}
	text := g.fill("${<expanded><operators>", 0) + inner + "}"
	if g.one(4) {
		text = "${y:-" + g.quotedly(text) + "}"
	}
	return text
}

func (g *generator) quotedly(s string) string {
	if g.one(2) {
		return `"` + s + `"`
	}
	return s
}

// command is one simple command with redirections.
func (g *generator) command() string {
	text := ""
	if g.one(8) {
		text = g.either("settingsInFront") + " "
	}
	switch kind := g.kind(); {
	case kind < len(words["commands"]):
		text += g.fill(words["commands"][kind], 0)
	case kind > len(words["commands"]):
		text += g.plainCommand()
	case g.one(3):
		return text + g.plainCommand()
	case !g.one(4):
		return text + g.either("builtinUses")
	default:
		text += g.fill("git <gitOptions><gitUses>", 0) + g.maybe(g.word())
	}
	for g.one(6) {
		text += " " + g.either("redirections")
	}
	return text
}

// kind draws what a command is: a number below 6 is one of a kind.
func (g *generator) kind() int {
	if !g.inside {
		return g.IntN(12)
	}
	if g.one(3) {
		return 4
	}
	return 12
}

func (g *generator) maybe(s string) string {
	if g.one(2) {
		return " " + s
	}
	return ""
}

func (g *generator) plainCommand() string {
	if g.inside || g.one(2) {
		return g.either("inShell") + " " + g.words(3)
	}
	return g.either("programs") + g.maybe(g.either("options")) + " " + g.words(2)
}

func (g *generator) words(most int) string {
	list := make([]string, 1+g.IntN(most))
	for i := range list {
		list[i] = g.word()
	}
	return strings.Join(list, " ")
}

// word is a word of any make; one in four is made to do harm.
func (g *generator) word() string { return g.piece("word", 0) }

//go:embed script.json
var wordsJSON []byte

// words are the pieces that scripts are put together from, which may name others.
var words = func() (w map[string][]string) {
	if err := json.Unmarshal(wordsJSON, &w); err != nil {
		panic("script.json: " + err.Error()) // the file is part of the program, which shows at start
	}
	return w
}()
