package fuzz

import (
	"bytes"
	_ "embed" // the words beside this file
	"encoding/json"
	"fmt"
	"math/rand/v2"
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

// one reports true once in n times.
func (g *generator) one(n int) bool { return g.IntN(n) == 0 }

// script is a list of commands, nested as deep as depth allows.
func (g *generator) script(depth int) string {
	text := g.form(depth)
	for g.one(4) {
		text += g.pick([]string{"; ", " && ", " || ", "\n", " | ", " |& "}) + g.form(depth)
	}
	return text
}

func (g *generator) form(depth int) string {
	if depth == 0 || g.one(2) {
		return g.command()
	}
	sub := func() string { return g.script(depth - 1) }
	switch g.IntN(18) {
	case 0:
		return "( " + sub() + " )"
	case 1:
		return "{ " + sub() + "; }"
	case 2:
		return "if " + sub() + "; then " + sub() + "; else " + sub() + "; fi"
	case 3:
		return "for " + g.name() + " in " + g.words(3) + "; do " + sub() + "; done"
	case 4:
		return "case " + g.word() + " in " + g.word() + ") " + sub() + ";; *) " + sub() + ";; esac"
	case 5:
		return g.pick([]string{"f", "g", "ls", "npm"}) + "() { " + sub() + "; }; " + g.pick([]string{"f", "g", "ls x", "npm"})
	case 6:
		return "while read " + g.pick([]string{"-r ", ""}) + g.name() + "; do " + sub() + "; done < " + g.pick(words.PlainFiles)
	case 7:
		return "[[ " + g.test() + " ]] && " + sub()
	case 8:
		return "[ " + g.pick(append(classicTests, g.word())) + " ] && " + sub()
	case 9:
		return g.assignment() + "; " + sub()
	case 10:
		return "echo " + g.quotedly("$("+sub()+")")
	case 11:
		return "(( " + g.arithmetic() + " )); " + sub()
	case 12:
		return g.hereDocument()
	case 13:
		return "! " + sub()
	case 14:
		return "for ((i=0; i<" + g.pick([]string{"2", "3", g.arithmetic()}) + "; i++)); do " + sub() + "; done"
	case 15:
		return g.assignment() + "; f() { " + sub() + "; }; " + g.pick([]string{g.assignment(), "unset " + g.name(), g.form(0)}) + "; f"
	case 16:
		return g.form(0) + " & " + g.form(0)
	}
	return g.pick([]string{"bash -c ", "sh -c ", "env bash -c ", "eval "}) + quote(sub())
}

// hereDocument is one whose lines may be its end, in some shell's eyes, before it comes.
func (g *generator) hereDocument() string {
	text := g.pick(words.InShell) + " <<" + g.pick(words.Delimiters) + "\n"
	for g.one(2) {
		text += g.pick([]string{g.pick(words.HereLines), g.word(), g.nested()}) + "\n"
	}
	text += "E\n" + g.pick([]string{"", "", "touch PWN\nE\n", "touch PWN #'}\nE\n"})
	if g.one(3) {
		return "echo " + g.quotedly("$("+text+")")
	}
	return text
}

// nested is an expansion with text of its own in it, in quotes of one kind in those of another.
func (g *generator) nested() string {
	inner := g.pick([]string{"$(touch PWN)", "`touch PWN`", "a b", "f", "}", "\"", "'", g.pick(words.Expansions)})
	for range 1 + g.IntN(2) {
		switch g.IntN(4) {
		case 0:
			inner = "'" + inner + "'"
		case 1:
			inner = "$'" + inner + "'"
		case 2:
			inner = `"` + inner + `"`
		}
	}
	text := "${" + g.pick([]string{"x", "y", "n", "@", "1", "HOME", "a[0]"}) + g.pick([]string{":-", "-", ":+", "+", ":=", ":?", "#", "%%", "/", "//f/", "/#", "^^", ":"}) + inner + "}"
	if g.one(4) {
		text = "${y:-" + g.quotedly(text) + "}"
	}
	return text
}

func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

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
		text = g.pick(words.SettingsInFront) + " "
	}
	switch g.kind() {
	case 0:
		text += g.pick(words.Wrapping) + " " + g.plainCommand()
	case 1:
		text += "find " + g.pick([]string{".", "sub", "f", ""}) + " " + g.pick(words.FindWords) + " " + g.pick(words.FindWords)
	case 2:
		text += "sed " + g.pick([]string{"", "-n ", "-E ", "-e ", "-i ", "-s ", "-ni "}) + quote(g.pick(words.SedScripts)) + " " + g.word()
	case 3:
		text += "awk " + g.pick([]string{"", "-F: ", "-v x=1 ", "-f "}) + quote(g.pick(words.AwkPrograms)) + " " + g.word()
	case 4:
		text += g.pick(words.BuiltinUses)
	case 5:
		if g.one(3) {
			return text + g.plainCommand()
		}
		if !g.one(4) {
			return text + g.pick(words.BuiltinUses)
		}
		text += "git " + g.pick(words.GitOptions) + g.pick(words.GitUses) + g.maybe(g.word())
	default:
		text += g.plainCommand()
	}
	for g.one(6) {
		text += " " + g.pick(words.Redirections)
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
		return g.pick(words.InShell) + " " + g.words(3)
	}
	return g.pick(words.Programs) + g.maybe(g.pick(words.Options)) + " " + g.words(2)
}

func (g *generator) words(most int) string {
	list := make([]string, 1+g.IntN(most))
	for i := range list {
		list[i] = g.word()
	}
	return strings.Join(list, " ")
}

// word is a word of any make; one in four is made to do harm.
func (g *generator) word() string {
	switch g.IntN(13) {
	case 0:
		return g.quotedly(g.pick(words.Expansions))
	case 1:
		if g.inside {
			return g.quotedly("$(" + g.pick(words.InsidePayloads) + ")")
		}
		return g.quotedly("$(" + g.pick(words.Payloads) + ")")
	case 2:
		return "{" + g.pick(words.PlainFiles) + "," + g.pick(words.Options) + "}"
	case 3:
		return g.pick(words.OddWords)
	case 4:
		return g.quotedly(`$((` + g.arithmetic() + `))`)
	case 5:
		return "<(" + g.plainCommand() + ")"
	case 12:
		return g.quotedly(g.nested())
	case 6:
		return `"` + g.pick([]string{"-", "--", "", "x"}) + g.pick(words.Expansions) + `"`
	}
	return g.pick(words.PlainFiles)
}

func (g *generator) name() string { return g.pick(words.Names) }

func (g *generator) assignment() string {
	switch g.IntN(6) {
	case 0:
		return g.name() + "=(" + g.pick([]string{"a b", "['a[$(touch PWN)]']=1", "[0]=x", "*"}) + ")"
	case 1:
		return g.pick([]string{"export ", "declare ", "declare -i ", "declare -n ", "readonly ", "local ", "typeset -a "}) + g.name() + "=" + g.word()
	case 2:
		return "read " + g.name() + " <<< " + g.pick([]string{"x", "'a[$(touch PWN)]'", "7"})
	case 3:
		return "printf -v " + g.name() + " " + g.pick([]string{"x", "'a[$(touch PWN)]'", "7", "-oPWN"})
	}
	return g.name() + "=" + g.pick([]string{"f", "7", "-oPWN", "'a[$(touch PWN)]'", "\"touch PWN\"", "$(cat f)", "$((2+3))", "*", "'-delete'", g.word()})
}

func (g *generator) arithmetic() string {
	return g.pick([]string{"1", "n", "i", "x", "n+1", "n=3", "x++", "$n", "${n}", "a[0]", "a[x]", "'a[$(touch PWN)]'", `"x"`, "REPLY", "_", "$(touch PWN)", "${#x}", "x ? 1 : 2", "RANDOM", "PATH=1"})
}

func (g *generator) test() string {
	switch g.IntN(5) {
	case 0:
		return g.pick([]string{"-f", "-d", "-v", "-n", "-z", "-R", "-e"}) + " " + g.word()
	case 1:
		return g.word() + " " + g.pick([]string{"==", "!=", "=~", "<"}) + " " + g.word()
	case 2:
		return g.word() + " " + g.pick([]string{"-eq", "-lt", "-nt"}) + " " + g.pick([]string{"1", "x", "$n", `"$x"`})
	}
	return "-f f"
}

var classicTests = []string{
	"-f f", "-d sub", `"$x" = y`, `-n "$x"`, "-v x", "-v 'a[$(touch PWN)]'", `"$x" "$y"`, `"$x" 'a[$(touch PWN)]'`, "$x f", `"$n" -eq 1`, `! -f "$x"`, `-f f -a "$x" 'a[$(touch PWN)]'`,
}

//go:embed script.json
var wordsJSON []byte

// words are the pieces that scripts are put together from.
var words = func() (w struct {
	Names, PlainFiles, InShell, Programs, Options, InsidePayloads, Payloads, Expansions, OddWords, Redirections, Delimiters, HereLines,
	Wrapping, FindWords, SedScripts, AwkPrograms, BuiltinUses, GitOptions, GitUses, SettingsInFront []string
}) {
	dec := json.NewDecoder(bytes.NewReader(wordsJSON))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&w); err != nil {
		panic("script.json: " + err.Error()) // the file is part of the program, which shows at start
	}
	return w
}()

// ScriptName is the name under which a case is saved.
func ScriptName(seed, number uint64) string { return fmt.Sprintf("fuzz-%d-%d.shell.sh", seed, number) }
