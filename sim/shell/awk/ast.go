package awk

import "regexp"

type (
	expr interface{}

	numberLit float64
	stringLit string
	regexLit  struct{ re *regexp.Regexp }

	// variable is a global (local < 0) or a parameter of the function it stands in.
	variable struct {
		name  string
		local int
		slot  int
	}
	element struct { // name[subs]
		array variable
		subs  []expr
	}
	field  struct{ index expr }
	group  struct{ list []expr } // (a, b): a print list or a multiple subscript
	assign struct {
		op     string // "=", or the operator of +=
		target expr
		value  expr
	}
	conditional struct{ test, yes, no expr }
	binary      struct {
		op          string
		left, right expr
	}
	unary struct {
		op string
		x  expr
	}
	increment struct {
		target expr
		by     float64
		before bool
	}
	membership struct {
		subs  []expr
		array variable
	}
	match struct {
		negate      bool
		left, right expr
	}
	call struct {
		name string
		args []expr
		line int
	}
	builtin struct {
		name string
		args []expr
		line int
	}
	getline struct {
		target  expr // nil: $0
		source  expr // nil: the main input
		command bool
	}
)

type (
	stmt interface{}

	exprStmt  struct{ x expr }
	printStmt struct {
		args     []expr
		format   bool
		redirect string // "", ">", ">>", "|"
		to       expr
	}
	ifStmt struct {
		test    expr
		yes, no []stmt
	}
	whileStmt struct {
		test  expr
		body  []stmt
		after bool // do ... while
	}
	forStmt struct {
		init, step stmt
		test       expr
		body       []stmt
	}
	forInStmt struct {
		name  variable
		array variable
		body  []stmt
	}
	blockStmt  struct{ body []stmt }
	deleteStmt struct {
		array variable
		subs  []expr // nil: all
	}
	jumpStmt struct {
		kind  jump
		value expr
	}
)

// jump is how a statement leaves the normal order.
type jump int

const (
	goOn jump = iota
	jumpBreak
	jumpContinue
	jumpNext
	jumpNextFile
	jumpExit
	jumpReturn
)

type rule struct {
	from, to expr // nil from: every record
	body     []stmt
	printAll bool // no action: print the record
}

type function struct {
	name   string
	params []string
	body   []stmt
}

// Program is a parsed AWK program.
type Program struct {
	begin, end [][]stmt
	rules      []rule
	functions  map[string]*function
	globals    map[string]int
	effects    Effects
}

// Effects says what a program may do beyond its output (L2).
type Effects struct {
	Writes bool // print or printf into a file
	Runs   bool // system(), a pipe to or from a command
}

// Effects reports what running p may do beyond printing.
func (p *Program) Effects() Effects { return p.effects }
