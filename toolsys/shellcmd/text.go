package shellcmd

import (
	"path"
	"regexp"
	"strings"

	"toolbench/toolsys/shellcmd/sed"
)

// checkSed reads sed's script: w and e, and the options -i and -f, do more than print.
func checkSed(c *call) {
	c.step.Leaf = true
	if c.sedInPlace() {
		return
	}
	p, ok := c.parse(spec{Short: "nErsuze:f:", Operands: patternFiles, Long: "quiet silent expression= file= regexp-extended separate unbuffered null-data posix"})
	if !ok {
		return
	}
	if p.given("f", "file") {
		for _, o := range p.options {
			if o.value.Kind != Literal || o.value.Text == "-" || device.MatchString(path.Clean(o.value.Text)) {
				c.opaque("sed's script is what is piped in")
			}
		}
		c.unread("sed's script is in a file")
		return
	}
	script, operands, ok := sedScript(p)
	if !ok {
		c.opaque("sed's script is not literal")
		return
	}
	c.reads(operands...)
	effects, err := sedEffects(script, p)
	switch {
	case err != nil || effects.Runs || oddLabel.MatchString(script) || strings.Contains(script, quotedEnd):
		c.opaque("sed's script may run something")
	case effects.Writes:
		c.doubt("sed's script writes a file")
		c.step.FilesUnknown = true
	case !sedSteps.MatchString(script):
		c.step.FilesUnknown = true // it may read a file with r
	}
}

// sedEffects parses a script and gives what it does beside printing.
func sedEffects(script string, p parsed) (sed.Effects, error) {
	program, err := sed.Parse(script, p.given("E", "r", "regexp-extended"))
	if err != nil {
		return sed.Effects{}, err
	}
	return program.Effects(), nil
}

// oddLabel matches a label with blanks in it, which seds end in different places.
var oddLabel = regexp.MustCompile(`(?:^|[;{}!\s]):[^;\n]*[ \t\v\f\r][^;\n]*[^;\s]`)

// quotedEnd ends a line of text for some seds, and goes on with it for others.
const quotedEnd = "\\\\\n"

// sedSteps matches scripts that open no file beside sed's operands.
var sedSteps = func() *regexp.Regexp {
	const address = `(?:\d+|\$|/(?:[^/\\]|\\.)*/)`
	const slash = `s/(?:[^/\\]|\\.)*/(?:[^/\\]|\\.)*/[gpiI0-9]*`
	const bar = `s\|(?:[^|\\]|\\.)*\|(?:[^|\\]|\\.)*\|[gpiI0-9]*`
	const hash = `s#(?:[^#\\]|\\.)*#(?:[^#\\]|\\.)*#[gpiI0-9]*`
	const step = `\s*(?:` + address + `(?:,` + address + `)?)?\s*!?(?:[pdq=]|` + slash + `|` + bar + `|` + hash + `)\s*`
	return regexp.MustCompile(`^` + step + `(?:[;\n]` + step + `)*;?$`)
}()

// sedScript joins the scripts of -e, or takes the first operand.
func sedScript(p parsed) (script string, operands []Word, ok bool) {
	var parts []string
	for _, o := range p.options {
		if o.name == "e" || o.name == "expression" {
			if o.value.Kind != Literal {
				return "", nil, false
			}
			parts = append(parts, o.value.Text)
		}
	}
	operands = p.operands
	if parts == nil {
		if len(operands) == 0 || operands[0].Kind != Literal {
			return "", nil, false
		}
		parts, operands = []string{operands[0].Text}, operands[1:]
	}
	return strings.Join(parts, "\n"), operands, true
}

// sedInPlace notes what sed -i changes.
func (c *call) sedInPlace() bool {
	inPlace := false
	for _, f := range c.args {
		inPlace = inPlace || strings.HasPrefix(f.Text, "-") && !strings.HasPrefix(f.Text, "--") && strings.ContainsAny(f.Text, "i") || strings.HasPrefix(f.Text, "--in")
	}
	if !inPlace {
		return false
	}
	c.doubt("sed changes files in place")
	p, ok := c.parse(spec{Short: "nErsuzi::e:", Operands: patternFiles, Long: "quiet silent expression= regexp-extended separate null-data in-place?"})
	if !ok {
		c.opaque("sed's options are not literal")
		return true
	}
	script, operands, ok := sedScript(p)
	effects, err := sedEffects(script, p)
	if !ok || err != nil || effects != (sed.Effects{}) {
		c.opaque("sed's script may run something")
		return true
	}
	for _, f := range operands {
		c.w.touch(c.step, f, File{Write: true, Moved: true})
	}
	return true
}

// checkAwk looks at an awk program's text, not at its grammar, since awks differ in
// where a regular expression ends.
func checkAwk(c *call) {
	c.step.Leaf = true
	p, ok := c.parse(spec{Short: "F:v:", Operands: patternFiles})
	if !ok || len(p.operands) == 0 || p.operands[0].Kind != Literal {
		c.opaque("awk's program is not literal")
		return
	}
	program := p.operands[0].Text
	switch {
	case awkRuns(program):
		c.opaque("awk's program may run something")
		return
	case awkWrites(program):
		c.doubt("awk's program may write a file")
		c.step.FilesUnknown = true
		return
	case strings.Contains(program, "ARG") || strings.Contains(program, "SYMTAB"):
		c.step.FilesUnknown = true
	}
	for _, f := range p.operands[1:] {
		name, _, is := strings.Cut(f.Text, "=")
		if is && f.Kind == Literal && awkName.MatchString(name) {
			continue // an assignment
		}
		c.reads(f)
	}
}

var awkName = regexp.MustCompile(`^[A-Za-z_]\w*$`)

// awkRuns reports whether a program may run a command, or load code.
func awkRuns(program string) bool {
	for _, word := range []string{"system", "getline", "@", "close", "fflush", "namespace"} {
		if strings.Contains(program, word) {
			return true
		}
	}
	return strings.Contains(strings.ReplaceAll(program, "||", ""), "|")
}

// awkWrites reports whether a program may print into a file: > behind a print.
func awkWrites(program string) bool {
	at := strings.Index(program, "print")
	return at >= 0 && strings.Contains(program[at:], ">")
}
