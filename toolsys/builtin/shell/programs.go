package shell

import (
	"regexp"
	"slices"
	"strings"

	"toolbench/toolsys/shellcmd"
)

// programReads tells whether a command's own program may open files that no
// argument names: awk's getline and ARGV, jq's imports, sed's r, and any program
// that is itself in a file.
func programReads(p shellcmd.Part) bool {
	switch p.Name {
	case "awk", "gawk", "mawk", "nawk":
		return slices.ContainsFunc(p.Args, awkReads)
	case "gojq", "jq":
		return slices.ContainsFunc(p.Args, jqReads)
	case "sed":
		return sedReads(p.Args)
	}
	return false
}

// awkReads allows two options only, -F and -v, and no word by which a program
// gets at files.
func awkReads(arg string) bool {
	if len(arg) > 1 && arg[0] == '-' && arg[1] != 'F' && arg[1] != 'v' {
		return true
	}
	return holdsAny(arg, "getline", "ARGV", "@include", "@load")
}

func jqReads(arg string) bool {
	if isCluster(arg) {
		return strings.ContainsAny(arg, "fL")
	}
	return holdsAny(arg, "import", "include", "--from-file", "--library-path")
}

func holdsAny(s string, words ...string) bool {
	return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(s, w) })
}

// plainSed is a sed script that prints, deletes or substitutes and opens no file.
var plainSed = func() *regexp.Regexp {
	const address = `(?:\d+|\$|/(?:[^/\\]|\\.)*/)`
	const slash = `s/(?:[^/\\]|\\.)*/(?:[^/\\]|\\.)*/[gpiI0-9]*`
	const bar = `s\|(?:[^|\\]|\\.)*\|(?:[^|\\]|\\.)*\|[gpiI0-9]*`
	const step = `\s*(?:` + address + `(?:,` + address + `)?)?\s*!?(?:[pdq=]|` + slash + `|` + bar + `)\s*`
	return regexp.MustCompile(`^` + step + `(?:;` + step + `)*;?$`)
}()

// sedReads tells whether any of sed's scripts is more than a plain one, or is
// given in a way that is not looked into.
func sedReads(args []string) bool {
	var scripts []string
	for i, arg := range args {
		if strings.HasPrefix(arg, "--e") || strings.HasPrefix(arg, "--f") {
			return true
		}
		if at := strings.IndexAny(arg, "ef"); isCluster(arg) && at > 0 {
			if arg[at] == 'f' || at != len(arg)-1 || i+1 == len(args) {
				return true
			}
			scripts = append(scripts, args[i+1])
		}
	}
	if len(scripts) == 0 {
		scripts = firstOperand(args)
	}
	return len(scripts) == 0 || slices.ContainsFunc(scripts, func(s string) bool { return !plainSed.MatchString(s) })
}

func firstOperand(args []string) []string {
	i := slices.IndexFunc(args, func(arg string) bool { return !strings.HasPrefix(arg, "-") })
	if i < 0 {
		return nil
	}
	return args[i : i+1]
}
