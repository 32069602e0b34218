package command

import (
	"slices"
	"strconv"
	"strings"
)

// true
func runTrue(*Proc) int { return 0 }

// false
func runFalse(*Proc) int { return exitFailure }

// yes [TEXT...]: until nobody reads any more
func runYes(p *Proc) int {
	line := strings.Join(p.Args, " ")
	if line == "" {
		line = "y"
	}
	block := strings.Repeat(line+"\n", max(1, 8192/(len(line)+1)))
	for p.Ctx.Err() == nil {
		if p.print(block) != nil {
			break
		}
	}
	return exitFailure
}

// whoami, hostname, id [-u], uname [-s]
func runWho(p *Proc) int {
	text := map[string]string{"whoami": p.System.User, "hostname": p.System.Host, "id": "1000", "uname": "Linux"}[p.Name]
	if p.Name == "id" && len(p.Args) == 0 {
		text = "uid=1000(" + p.System.User + ") gid=1000(" + p.System.User + ") groups=1000(" + p.System.User + ")"
	}
	p.print(text + "\n")
	return 0
}

// kill: there are no processes
func runKill(p *Proc) int {
	for _, a := range p.Args {
		if !strings.HasPrefix(a, "-") {
			return p.fail(exitFailure, "(%s) - No such process", a)
		}
	}
	return p.usage("there are no processes in the in-process shell")
}

// which [-a] NAME...
func runWhich(p *Proc) int {
	o, ok := p.parse("as")
	if !ok {
		return exitUsage
	}
	code := 0
	for _, name := range o.rest {
		if strings.Contains(name, "/") || !p.System.Known(name) {
			code = exitFailure
			continue
		}
		p.print("/usr/bin/" + name + "\n")
	}
	return code
}

// git has no repository to work on here
func runGit(p *Proc) int {
	return p.fail(exitNotFound, "not available in the in-process shell")
}

// sh, bash [-c SCRIPT [NAME [ARG...]]] [-e] [-x] [-u] [-l] [FILE [ARG...]]
func runShell(p *Proc) int {
	o, ok := p.parse("+cexulio:s", "norc", "noprofile", "login>l", "posix")
	if !ok {
		return exitUsage
	}
	preset := ""
	for _, x := range o.list {
		switch x.name {
		case "e", "x", "u":
			preset += "set -" + x.name + "\n"
		case "o":
			preset += "set -o " + Quote(x.value) + "\n"
		}
	}
	if o.has("c") {
		if len(o.rest) == 0 {
			return p.usage("-c: option requires an argument")
		}
		args := o.rest[1:]
		if len(args) == 0 {
			args = []string{p.Name}
		}
		return p.System.Script(p, preset+o.rest[0], args)
	}
	name := "/dev/stdin"
	if len(o.rest) > 0 && !o.has("s") {
		name = o.rest[0]
	}
	script, err := p.Files.ReadFile(name)
	if err != nil {
		return p.fail(exitNotFound, "%s: %s", name, Reason(err))
	}
	args := o.rest
	if len(args) == 0 || o.has("s") {
		args = append([]string{p.Name}, args...)
	}
	return p.System.Script(p, preset+string(script), args)
}

// seq [-w] [-s SEP] [-f FORMAT] [FIRST [STEP]] LAST
func runSeq(p *Proc) int {
	p.Args = protectNegative(p.Args)
	o, ok := p.parse("+ws:f:", "equal-width>w", "separator=>s", "format=>f")
	if !ok {
		return exitUsage
	}
	if len(o.rest) == 0 || len(o.rest) > 3 {
		return p.fail(exitFailure, "missing or extra operand")
	}
	bounds := []float64{1, 1, 1}
	places := 0
	for i, a := range o.rest {
		n, err := strconv.ParseFloat(a, 64)
		if err != nil {
			return p.fail(exitFailure, "invalid floating point argument: '%s'", a)
		}
		at := map[int][]int{1: {2}, 2: {0, 2}, 3: {0, 1, 2}}[len(o.rest)][i]
		bounds[at] = n
		if _, fraction, ok := strings.Cut(a, "."); ok && at != 2 {
			places = max(places, len(fraction))
		}
	}
	if bounds[1] == 0 {
		return p.fail(exitFailure, "invalid Zero increment value: '%s'", o.rest[1])
	}
	return p.sequence(o, bounds[0], bounds[1], bounds[2], places)
}

// protectNegative keeps a first operand such as -5 from being read as options.
func protectNegative(args []string) []string {
	for i, a := range args {
		if !strings.HasPrefix(a, "-") {
			break
		}
		if _, err := strconv.ParseFloat(a, 64); err == nil {
			return slices.Insert(slices.Clone(args), i, "--")
		}
	}
	return args
}

func (p *Proc) sequence(o options, first, step, last float64, places int) int {
	format := func(n float64) string { return strconv.FormatFloat(n, 'f', places, 64) }
	width := 0
	if o.has("w") {
		width = max(len(format(first)), len(format(last)))
	}
	began := false
	for i := 0; p.Ctx.Err() == nil; i++ {
		n := first + float64(i)*step
		if step > 0 && n > last+1e-10 || step < 0 && n < last-1e-10 {
			break
		}
		text := format(n)
		if o.has("f") {
			text, _ = Format(o.get("f", ""), []string{format(n)})
		}
		if began {
			text = o.get("s", "\n") + pad(text, width)
		} else {
			text = pad(text, width)
		}
		began = true
		if p.print(text) != nil {
			return exitFailure
		}
	}
	if began {
		p.print("\n")
	}
	return 0
}

// pad fills with zeros behind the sign.
func pad(s string, width int) string {
	zeros := strings.Repeat("0", max(0, width-len(s)))
	if strings.HasPrefix(s, "-") {
		return "-" + zeros + s[1:]
	}
	return zeros + s
}
