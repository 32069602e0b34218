package shellcmd

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"toolbench/toolsys/shellcmd/sed"
)

// rule says whether a known command only reads with these arguments. A nil rule: whatever they are.
type rule func(args []word) bool

// rules are the commands known to be able to only read (L2). It is read only. Not listed: harmful.
var rules = map[string]rule{
	"[": readTest, ":": nil, "arch": nil, "b2sum": nil, "basename": nil, "break": nil, "cal": nil, "cat": nil, "cksum": nil, "cmp": nil, "column": nil, "comm": nil, "continue": nil,
	"cut": nil, "df": nil, "diff": nil, "dirname": nil, "dirs": nil, "du": nil, "echo": nil, "egrep": nil, "exit": nil, "expand": nil, "expr": nil, "false": nil, "fgrep": nil, "fmt": nil,
	"fold": nil, "free": nil, "getconf": nil, "gojq": nil, "grep": nil, "groups": nil, "head": nil, "hexdump": nil, "id": nil, "jobs": nil, "join": nil, "jq": nil, "locate": nil, "ls": nil,
	"lscpu": nil, "md5sum": nil, "nl": nil, "nproc": nil, "numfmt": nil, "od": nil, "paste": nil, "pgrep": nil, "printenv": nil, "printf": nil, "ps": nil, "pwd": nil, "readlink": nil,
	"realpath": nil, "return": nil, "rev": nil, "seq": nil, "sha1sum": nil, "sha256sum": nil, "sha512sum": nil, "shift": nil, "sleep": nil, "stat": nil, "strings": nil, "tac": nil,
	"tail": nil, "test": readTest, "times": nil, "tr": nil, "true": nil, "tty": nil, "type": nil, "uname": nil, "unexpand": nil, "uptime": nil, "wait": options("n"), "wc": nil, "whereis": nil, "which": nil,
	"whoami": nil, "yes": nil, "zgrep": nil,

	"ack": without("pager", "output"), "ag": without("pager"), "base64": options("diw:D", "decode", "ignore-garbage", "wrap="),
	"date": readDate, "file": options("bcEhiIkLNnprsSzZ0m:f:F:e:", "brief", "mime", "mime-type", "mime-encoding", "dereference", "no-dereference"), "fd": without("exec", "exec-batch", "x", "X"),
	"hostname": withoutOperands("sfiIdAy"), "less": pager("EeFfGgIiMmNnQqRrSsUuWwXx"), "more": pager("cdfilnpsu"),
	"rg": readRg, "sed": readSed, "awk": readAwk, "gawk": readAwk, "mawk": readAwk, "nawk": readAwk,
	"sort": options("bcCdfghiMmnRrsuVzk:t:S:", "ignore-leading-blanks", "check?", "dictionary-order", "ignore-case", "general-numeric-sort", "human-numeric-sort", "month-sort", "numeric-sort", "random-sort",
		"reverse", "stable", "unique", "version-sort", "zero-terminated", "key=", "field-separator=", "sort=", "parallel=", "merge"),
	"tee": readTee, "tree": options("adfilpsughDFCAqNQrtUvxJXL:P:I:", "noreport", "dirsfirst", "charset=", "filelimit=", "gitignore", "prune", "du", "si", "inodes", "device", "matchdirs", "ignore-case", "sort="),
	"uniq": atMost(1, "cdDiuzf:s:w:", "count", "repeated", "all-repeated?", "ignore-case", "unique", "skip-fields=", "skip-chars=", "check-chars=", "zero-terminated"),
	"xxd":  atMost(1, "abeEiupPc:g:l:s:o:"),

	"go": subcommands("version", "help", "env"), "npm": version("-v"), "node": version("-v"), "python": version("-V"), "python3": version("-V"), "pip": version("-V"),
	"cargo": version("-V"), "rustc": version("-V"), "java": version("-version"), "ruby": version("-v"), "make": version("-v"), "gcc": version(), "clang": version(), "docker": version("-v"), "yarn": version("-v"),
	"pnpm": version("-v"), "deno": version("-V"), "bun": version("-v"), "tsc": version("-v"), "perl": version("-v"), "php": version("-v"), "terraform": version("-v"), "kubectl": subcommands("version"),

	"git": readGit,
}

var networkNames = map[string]bool{"curl": true, "wget": true, "ssh": true, "scp": true, "sftp": true, "rsync": true, "nc": true, "ncat": true, "netcat": true, "telnet": true,
	"ftp": true, "dig": true, "nslookup": true, "host": true, "ping": true, "traceroute": true, "whois": true, "socat": true, "http": true, "https": true, "aria2c": true, "gh": true}

// without allows all long and short options but those named (or what begins them: they may be shortened).
func without(names ...string) rule {
	return func(args []word) bool {
		for _, w := range args {
			if w.text == "--" {
				return true
			}
			if w.opaque || strings.HasPrefix(w.text, "-") && (!w.literal || forbidden(w.text, names)) {
				return false
			}
		}
		return true
	}
}

func forbidden(arg string, names []string) bool {
	name, isLong := strings.CutPrefix(arg, "--")
	name, _, _ = strings.Cut(name, "=")
	for _, f := range names {
		if isLong && strings.HasPrefix(f, name) || !isLong && len(f) == 1 && strings.Contains(arg[1:], f) {
			return true
		}
	}
	return false
}

// options allows the listed options only, and any operands.
func options(short string, long ...string) rule {
	return func(args []word) bool {
		_, ok := operands(args, short, long)
		return ok
	}
}

// operands takes the options off; ok is false if one is not listed, or a word is opaque.
func operands(args []word, short string, long []string) (rest []word, ok bool) {
	for i := 0; i < len(args); i++ {
		w := args[i]
		switch {
		case w.opaque:
			return nil, false
		case w.text == "--" && w.literal:
			return append(rest, args[i+1:]...), true
		case strings.HasPrefix(w.text, "-") && len(w.text) > 1:
			n := optionWords(w, short, long)
			if n == 0 || n == 2 && i+1 >= len(args) {
				return nil, false
			}
			if n == 2 && args[i+1].opaque && (!quotedWhole(args[i+1])) {
				return nil, false
			}
			i += n - 1
		default:
			rest = append(rest, w)
		}
	}
	return rest, true
}

// quotedWhole says that a word stays one word, though its text is not known: as an option's value it is
// harmless.
func quotedWhole(w word) bool {
	return strings.HasPrefix(w.source, `"`) && !strings.Contains(w.source, "@")
}

// atMost allows the listed options and n operands, all of them known: a further one would be written to.
func atMost(n int, short string, long ...string) rule {
	return func(args []word) bool {
		rest, ok := operands(args, short, long)
		return ok && len(rest) <= n && !slices.ContainsFunc(rest, func(w word) bool { return w.pattern || !w.literal })
	}
}

func withoutOperands(short string) rule {
	return func(args []word) bool {
		rest, ok := operands(args, short, nil)
		return ok && len(rest) == 0
	}
}

// pager allows single-letter options; +COMMAND would run something.
func pager(short string) rule {
	return func(args []word) bool {
		rest, ok := operands(args, short, nil)
		return ok && !slices.ContainsFunc(rest, func(w word) bool { return strings.HasPrefix(w.text, "+") })
	}
}

// subcommands allows the listed first words; `go env -w` writes.
func subcommands(names ...string) rule {
	return func(args []word) bool {
		return len(args) > 0 && args[0].literal && slices.Contains(names, args[0].text) &&
			!slices.ContainsFunc(args[1:], func(w word) bool {
				return w.opaque || !w.literal || strings.HasPrefix(w.text, "-") && w.text != "-json"
			})
	}
}

// version allows --version, and other single words that only print.
func version(others ...string) rule {
	return func(args []word) bool {
		return len(args) == 1 && args[0].literal && (args[0].text == "--version" || slices.Contains(others, args[0].text))
	}
}

// readTest forbids -v with anything but a plain name: a subscript would be evaluated.
func readTest(args []word) bool {
	for i, w := range args {
		if w.text == "-v" && (i+1 == len(args) || !args[i+1].literal || !syntax.ValidName(args[i+1].text)) {
			return false
		}
	}
	return true
}

func readDate(args []word) bool {
	rest, ok := operands(args, "uRd:r:I::", []string{"utc", "universal", "rfc-email", "date=", "reference=", "iso-8601?", "rfc-3339="})
	return ok && !slices.ContainsFunc(rest, func(w word) bool { return !strings.HasPrefix(w.text, "+") })
}

func readTee(args []word) bool {
	rest, ok := operands(args, "aip", []string{"append", "ignore-interrupts"})
	return ok && !slices.ContainsFunc(rest, func(w word) bool { return !w.literal || !harmlessTarget(w.text) })
}

func readRg(args []word) bool {
	return without("pre", "pre-glob", "hostname-bin", "search-zip", "z")(args)
}

// readSed reads the script: w and e, and the options -i and -f, are harmful.
func readSed(args []word) bool {
	short, long := "nErsuze:", []string{"quiet", "silent", "expression=", "regexp-extended", "separate", "unbuffered", "null-data", "posix"}
	rest, ok := operands(args, short, long)
	if !ok {
		return false
	}
	script, extended, given := sedOptions(args)
	if !given {
		if len(rest) == 0 || !rest[0].literal || rest[0].pattern && strings.ContainsAny(rest[0].source, "*?[{") && !strings.ContainsAny(rest[0].source, `'"`) {
			return false
		}
		script = rest[0].text
	}
	prog, err := sed.Parse(script, extended)
	return err == nil && prog.Effects() == (sed.Effects{})
}

// sedOptions joins the -e scripts. One that is not literal gives a script that does not parse.
func sedOptions(args []word) (script string, extended, given bool) {
	var parts []string
	for i := 0; i < len(args); i++ {
		w := args[i]
		name, isLong := strings.CutPrefix(w.text, "--")
		switch {
		case w.text == "--":
			i = len(args)
		case isLong && strings.HasPrefix(name, "expression"):
			_, value, has := strings.Cut(name, "=")
			if !has {
				i++
				value = scriptText(args, i)
			}
			parts = append(parts, value)
		case isLong:
			extended = extended || name == "regexp-extended"
		case strings.HasPrefix(w.text, "-") && len(w.text) > 1:
			extended = extended || strings.ContainsAny(strings.SplitN(w.text, "e", 2)[0], "Er")
			if at := strings.IndexByte(w.text, 'e'); at >= 0 {
				value := w.text[at+1:]
				if value == "" {
					i++
					value = scriptText(args, i)
				}
				parts = append(parts, value)
			}
		}
	}
	return strings.Join(parts, "\n"), extended, parts != nil
}

const noScript = "?"

func scriptText(args []word, i int) string {
	if i >= len(args) || !args[i].literal {
		return noScript
	}
	return args[i].text
}

// readAwk reads the program: printing into files, pipes and system() are harmful.
func readAwk(args []word) bool {
	for i := 0; i < len(args); i++ {
		w := args[i]
		if w.opaque || strings.HasPrefix(w.text, "-") && !w.literal {
			return false
		}
		if !strings.HasPrefix(w.text, "-") || w.text == "--" {
			if w.text == "--" {
				i++
			}
			return i < len(args) && awkReads(args[i]) && !slices.ContainsFunc(args[i+1:], func(w word) bool { return w.opaque })
		}
		n := optionWords(w, "F:v:", nil)
		if n == 0 || n == 2 && i+1 < len(args) && args[i+1].opaque && !quotedWhole(args[i+1]) {
			return false
		}
		i += n - 1
	}
	return false
}

func awkReads(w word) bool {
	if !w.literal {
		return false
	}
	return awkOnlyReads(w.text)
}

// awkOnlyReads reports whether an awk program can neither write, nor run a command,
// nor load code. It looks at the text, not the grammar: awks differ in where a
// regular expression ends.
func awkOnlyReads(program string) bool {
	for _, word := range []string{"system", "getline", "@", "close", "fflush"} {
		if strings.Contains(program, word) {
			return false
		}
	}
	if strings.Contains(strings.ReplaceAll(program, "||", ""), "|") {
		return false
	}
	at := strings.Index(program, "print")
	return at < 0 || !strings.Contains(program[at:], ">")
}
