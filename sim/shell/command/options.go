package command

import (
	"slices"
	"strings"
)

type option struct{ name, value string }

// options are the parsed options, in order, and the operands.
type options struct {
	list []option
	rest []string
}

func (o options) has(name string) bool {
	return slices.ContainsFunc(o.list, func(x option) bool { return x.name == name })
}

// get gives the last value of an option.
func (o options) get(name, otherwise string) string {
	for _, x := range slices.Backward(o.list) {
		if x.name == name {
			return x.value
		}
	}
	return otherwise
}

func (o options) all(name string) []string {
	var out []string
	for _, x := range o.list {
		if x.name == name {
			out = append(out, x.value)
		}
	}
	return out
}

// last gives which of several options that override each other came last.
func (o options) last(names ...string) string {
	for _, x := range slices.Backward(o.list) {
		if slices.Contains(names, x.name) {
			return x.name
		}
	}
	return ""
}

// parse reads options as getopt_long does. short lists letters, a colon behind one that takes a value; a
// plus in front stops at the first operand. long lists names: "x" takes no value, "x=" one, "x?" perhaps
// one, and "x>y" stands for option y. An option that is not listed is reported; ok is then false, and
// the command ends with exit code 2.
func (p *Proc) parse(short string, long ...string) (o options, ok bool) {
	short, inOrder := strings.CutPrefix(short, "+")
	args := p.Args
	for len(args) > 0 {
		arg := args[0]
		args = args[1:]
		switch {
		case arg == "--":
			o.rest = append(o.rest, args...)
			return o, true
		case strings.HasPrefix(arg, "--"):
			args, ok = p.longOption(&o, arg[2:], args, short, long)
		case len(arg) > 1 && arg[0] == '-':
			args, ok = p.shortOptions(&o, arg[1:], args, short)
		case inOrder:
			o.rest = append(append(o.rest, arg), args...)
			return o, true
		default:
			o.rest = append(o.rest, arg)
			continue
		}
		if !ok {
			return o, false
		}
	}
	return o, true
}

func (p *Proc) unsupported(opt string) bool {
	p.complain("option '%s' is not supported in the in-process shell", opt)
	return false
}

func (p *Proc) shortOptions(o *options, letters string, args []string, short string) ([]string, bool) {
	for i := range len(letters) {
		name := letters[i : i+1]
		at := strings.Index(short, name)
		if at < 0 || name == ":" {
			return nil, p.unsupported("-" + name)
		}
		if !strings.HasPrefix(short[at+1:], ":") {
			o.list = append(o.list, option{name: name})
			continue
		}
		value := letters[i+1:]
		if value == "" && !strings.HasPrefix(short[at+1:], "::") {
			if len(args) == 0 {
				p.complain("option requires an argument -- '%s'", name)
				return nil, false
			}
			value, args = args[0], args[1:]
		}
		o.list = append(o.list, option{name, value})
		break
	}
	return args, true
}

func (p *Proc) longOption(o *options, text string, args []string, short string, long []string) ([]string, bool) {
	name, value, given := strings.Cut(text, "=")
	spec, ok := findLong(name, long)
	if !ok {
		return nil, p.unsupported("--" + name)
	}
	spec, alias, _ := strings.Cut(spec, ">")
	full := strings.TrimRight(spec, "=?")
	takes := strings.HasSuffix(spec, "=")
	switch {
	case takes && !given:
		if len(args) == 0 {
			p.complain("option '--%s' requires an argument", full)
			return nil, false
		}
		value, args = args[0], args[1:]
	case given && full == spec:
		p.complain("option '--%s' doesn't allow an argument", full)
		return nil, false
	}
	if alias != "" {
		full = alias
	}
	o.list = append(o.list, option{full, value})
	return args, true
}

// findLong takes a full name or one that only one option begins with.
func findLong(name string, long []string) (spec string, ok bool) {
	found := 0
	for _, s := range long {
		full, _, _ := strings.Cut(s, ">")
		full = strings.TrimRight(full, "=?")
		if full == name {
			return s, true
		}
		if strings.HasPrefix(full, name) {
			spec = s
			found++
		}
	}
	return spec, found == 1
}

// count reads a size with GNU's suffixes (k, M, G in 1024s; b is 512).
func count(s string) (int64, bool) {
	end := len(strings.TrimRight(s, "bkKMGB"))
	n, ok := natural(s[:end])
	if !ok {
		return 0, false
	}
	switch s[end:] {
	case "":
		return n, true
	case "b":
		return n * 512, true
	case "k", "K":
		return n << 10, true
	case "M":
		return n << 20, true
	case "G":
		return n << 30, true
	case "kB", "KB":
		return n * 1000, true
	case "MB":
		return n * 1000 * 1000, true
	}
	return 0, false
}

// natural reads digits only.
func natural(s string) (int64, bool) {
	if s == "" || len(s) > 15 {
		return 0, false
	}
	n := int64(0)
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return 0, false
		}
		n = n*10 + int64(s[i]-'0')
	}
	return n, true
}

// dashNumber rewrites the old form -NUM as `option NUM`: head -5, grep -3.
func dashNumber(args []string, opt string) []string {
	out := make([]string, 0, len(args)+1)
	for i, a := range args {
		if a == "--" {
			return append(out, args[i:]...)
		}
		if len(a) > 1 && a[0] == '-' {
			if _, ok := natural(a[1:]); ok && (i == 0 || !valued(args[i-1], opt)) {
				out = append(out, opt, a[1:])
				continue
			}
		}
		out = append(out, a)
	}
	return out
}

// valued reports whether the argument before takes the next one as its value.
func valued(before, opt string) bool {
	return before == opt || before == "-e" || before == "-f" || before == "-m" || before == "-A" || before == "-B" || before == "-C" || before == "-c"
}
