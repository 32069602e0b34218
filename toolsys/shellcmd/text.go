package shellcmd

import (
	"path"
	"regexp"
	"slices"
	"strings"
)

// checkSed reads sed's script: w and e, and the options -i and -f, do more than print.
func checkSed(c *call) {
	c.step.Leaf = true
	inPlace := slices.ContainsFunc(c.args, func(f Word) bool { return shortWith(f, "i") || strings.HasPrefix(f.Text, "--in") })
	if inPlace {
		c.doubt("sed changes files in place")
	}
	p, ok := c.parse(spec{Short: "nErsuzi::e:f:", Operands: patternFiles, Long: "quiet silent expression= file= in-place? regexp-extended separate unbuffered null-data posix"})
	script, operands, literal := sedScript(p)
	piped := func(o option) bool {
		return o.value.Kind != Literal || o.value.Text == "-" || device.MatchString(path.Clean(o.value.Text))
	}
	switch inFile := p.given("f", "file"); {
	case !ok && inPlace:
		c.opaque("sed's options are not literal")
	case inFile && (inPlace || slices.ContainsFunc(p.options, piped)):
		c.opaque("sed's script is what is piped in")
	case ok && !inFile && !literal:
		c.opaque("sed's script is not literal")
	}
	if !ok || p.given("f", "file") {
		c.unread("sed's script is in a file")
		return
	}
	if p.late && len(operands) == len(p.operands) {
		c.unbounded("on some systems sed's script is its first operand, whatever stands behind")
	}
	c.reads(operands...)
	writes := literal && c.sedDoes(script, p).Writes
	if writes && inPlace {
		c.opaque("sed's script may write something")
	} else if writes {
		c.doubt("sed's script writes a file")
	}
	if inPlace {
		keeps := func(o option) bool { return strings.HasPrefix(o.name, "i") && o.value != Word{} }
		c.step.FilesUnknown = c.step.FilesUnknown || slices.ContainsFunc(p.options, keeps) // a copy is kept, wherever the value has it
		c.touches(File{Write: true}, operands...)
	}
}

// sedDoes notes what a script does beside printing.
func (c *call) sedDoes(script string, p parsed) (effects SedEffects) {
	program, err := ParseSed(script, p.given("E", "r", "regexp-extended"))
	if err == nil {
		effects = program.Effects()
	}
	if err != nil || effects.Runs || oddLabel.MatchString(script) || strings.Contains(script, quotedEnd) {
		c.opaque("sed's script may run something")
	}
	c.step.FilesUnknown = c.step.FilesUnknown || effects.Reads || effects.Writes
	return effects
}

// oddLabel matches a label with blanks in it, which seds end in different places.
var oddLabel = regexp.MustCompile(`(?:^|[;{}!\s]):[^;\n]*[ \t\v\f\r][^;\n]*[^;\s]`)

// quotedEnd ends a line of text for some seds, and goes on with it for others.
const quotedEnd = "\\\\\n"

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

// checkAwk looks at an awk program's text, not at its grammar, since awks differ in where a regular expression ends.
func checkAwk(c *call) {
	c.step.Leaf = true
	p, ok := c.parse(spec{Short: "F:v:", Operands: patternFiles})
	if !ok || len(p.operands) == 0 || p.operands[0].Kind != Literal {
		c.opaque("awk's program is not literal")
		return
	}
	program := bareAwk(p.operands[0].Text)
	switch {
	case awkRuns(program):
		c.opaque("awk's program may run something")
		return
	case awkWrites(program):
		c.unbounded("awk's program may write a file")
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

// leadingPattern matches a regular expression that a program begins with, where all awks end it in one place.
var leadingPattern = regexp.MustCompile(`^\s*!?/[\w .:;|^$()-]*/`)

var (
	// plainAwk matches programs in which a quote can only begin or end a text, and awkText such a text.
	plainAwk = regexp.MustCompile(`^(?:[^"/\\#]|"(?:[^"\\\n]|\\[^\n])*")*$`)
	awkText  = regexp.MustCompile(`"(?:[^"\\\n]|\\[^\n])*"`)
	// awkDevice matches where a statement prints to what is open already.
	awkDevice = regexp.MustCompile(`>[ \t]*"/dev/(?:stderr|stdout|null)"\s*([;}\n]|$)`)
)

// bareAwk is a program without what it begins with, if that is a regular expression, and without its texts where all
// awks end them in one place.
func bareAwk(program string) string {
	program = leadingPattern.ReplaceAllString(program, "")
	if plainAwk.MatchString(program) {
		return awkText.ReplaceAllString(awkDevice.ReplaceAllString(program, "$1"), `""`)
	}
	return program
}

// awkRuns reports whether a program may run a command, or load code. Two bars are an or.
var awkRuns = regexp.MustCompile(`system|getline|@|close|fflush|namespace|(?:^|[^|])(?:\|\|)*\|(?:[^|]|$)`).MatchString

// awkWrites reports whether a program may print into a file: > behind a print.
var awkWrites = regexp.MustCompile(`(?s)print.*>`).MatchString
