package cli

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"toolbench/reports"
	"toolbench/toolsys/host"
)

// prompts are what the user asks of an agent: the first, and further ones when a turn is
// over, of which so many were sent.
type prompts struct {
	first string
	then  []string
	sent  int
}

// prompting reports whether the user's further messages are given.
func (f *tryFlags) prompting() bool { return f.thenStdin || f.thenRun != "" }

// script is the command for the shell. Without {prompt} in it, the prompt comes on its
// standard input.
func (t *trial) script() string {
	values := t.values()
	var words []string
	for _, w := range t.command {
		words = append(words, reports.ShellWord(values.Replace(w)))
	}
	line := strings.Join(words, " ")
	if t.asLines() || t.promptAsWord() {
		return line
	}
	// An agent that does not read its input is none of printf's errors.
	return "printf '%s\\n' " + reports.ShellWord(t.real(t.first)) + " 2> /dev/null | " + line
}

// asLines reports whether prompts come as lines: where there is one alone, its input ends
// behind it.
func (t *trial) asLines() bool { return t.thenStdin && len(t.then) > 0 }

func (t *trial) promptAsWord() bool {
	return slices.ContainsFunc(t.command, func(w string) bool { return strings.Contains(w, "{prompt}") })
}

// further is the command that goes on with a prompt, which a shell reads: what stands for
// it is one word, whatever quotes are around it.
func (t *trial) further(text string) string {
	var pairs []string
	for name, value := range map[string]string{"{prompt}": t.real(text), "{url}": t.url, "{dir}": t.dir} {
		word := reports.ShellWord(value)
		for _, quote := range []string{"'", `"`} {
			pairs = append(pairs, quote+name+quote, word)
		}
		pairs = append(pairs, name, word)
	}
	return strings.NewReplacer(pairs...).Replace(t.thenRun)
}

// promptLine is a standard input on which prompts come as lines; nil where none do.
type promptLine struct {
	file  *os.File
	ended bool
}

// openLine opens the input of an agent that takes further prompts there. It stays open
// until there is none left: who reads to its end has to wait for that.
func (t *trial) openLine() (*promptLine, error) {
	if !t.asLines() {
		return nil, nil
	}
	file, err := host.MakeFIFO(filepath.Join(filepath.Dir(t.root), "prompts"))
	if err != nil {
		return nil, err
	}
	l := &promptLine{file: file}
	if !t.promptAsWord() {
		l.send(t.real(t.first))
	}
	return l, nil
}

// into redirects the input of a command to the line.
func (l *promptLine) into(script string) string {
	if l == nil {
		return script
	}
	return script + " < " + reports.ShellWord(l.file.Name())
}

// goOn gives the next prompt, or ends the input.
func (t *trial) goOn(l *promptLine) {
	if t.sent == len(t.then) {
		l.end()
		return
	}
	l.send(t.real(t.then[t.sent]))
	t.sent++
}

var oneLine = strings.NewReplacer("\r\n", " ", "\n", " ", "\r", " ")

// send writes a prompt as one line.
func (l *promptLine) send(text string) {
	line := oneLine.Replace(text) + "\n"
	go func() { _, _ = l.file.WriteString(line) }() // an error means that nobody reads any more
}

// end closes the input.
func (l *promptLine) end() {
	if l != nil && !l.ended {
		l.ended = true
		_ = l.file.Close() // nobody reads any more
	}
}
