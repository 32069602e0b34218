package sed

import (
	"regexp"
)

// Program is a parsed script.
type Program struct {
	commands []command
	labels   map[string]int
	effects  Effects
}

// Effects says what a script does beyond its output (L2).
type Effects struct {
	Writes bool // w, or s///w: writes a file
	Runs   bool // e, or s///e: starts a command; refused when run
}

// Effects reports what running p would do beyond printing.
func (p *Program) Effects() Effects { return p.effects }

// Substitution reports whether the script is a single s command without effects, the only script that
// can be shown to a person as an edit (H3).
func (p *Program) Substitution() bool {
	return len(p.commands) == 1 && p.commands[0].name == 's' && p.effects == (Effects{})
}

type command struct {
	from, to *address
	negate   bool
	name     byte
	text     string // a i c: text; b t T: label; r w: file
	code     int    // q Q: exit code; l: width
	sub      *substitution
	table    map[rune]rune // y
	jump     int           // {: index behind the matching }
	active   bool
	until    int
}

type addressKind int

const (
	byLine addressKind = iota
	byLast
	byPattern
	byStep
	byCount    // +N, second address only
	byMultiple // ~N, second address only
	byZero     // 0,/re/
)

type address struct {
	kind    addressKind
	n, step int
	re      *regexp.Regexp // nil: the last pattern used
}

type substitution struct {
	re     *regexp.Regexp
	with   []piece
	nth    int
	global bool
	print  bool
	file   string
	run    bool
}

// piece is literal text, or a group's text (group >= 0), or a change of case for what follows.
type piece struct {
	text   string
	group  int
	change byte
}
