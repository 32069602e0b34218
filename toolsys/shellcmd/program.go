package shellcmd

import (
	"strings"
)

// readers are the programs that only read, whatever files they are given (SPEC L2).
var readers = map[string]spec{
	"cat":       {any: true, operands: files},
	"tac":       {any: true, short: "s:", operands: files},
	"nl":        {any: true, short: "bdfhilnsvw:", operands: files},
	"head":      {any: true, short: "c:n:", operands: files, digits: true},
	"tail":      {any: true, short: "c:n:s:", operands: files, digits: true},
	"wc":        {any: true, operands: files, long: "files0-from=", fileValues: []string{"files0-from"}, follows: []string{"files0-from"}},
	"cut":       {any: true, short: "b:c:d:f:", operands: files},
	"paste":     {any: true, short: "d:", operands: files},
	"join":      {any: true, short: "a:e:i:j:o:t:v:1:2:", operands: files},
	"comm":      {any: true, operands: files},
	"cmp":       {any: true, short: "i:n:", operands: files},
	"rev":       {any: true, operands: files},
	"fold":      {any: true, short: "w:", operands: files},
	"fmt":       {any: true, short: "w:g:p:", operands: files},
	"expand":    {any: true, short: "t:", operands: files},
	"unexpand":  {any: true, short: "t:", operands: files},
	"column":    {any: true, short: "s:o:c:N:", operands: files},
	"od":        {any: true, short: "A:j:N:t:w::", operands: files},
	"hexdump":   {any: true, short: "e:f:n:s:", operands: files, fileValues: []string{"f"}},
	"strings":   {any: true, short: "n:t:e:", operands: files},
	"md5sum":    {any: true, operands: files, follows: []string{"c", "check"}},
	"sha1sum":   {any: true, operands: files, follows: []string{"c", "check"}},
	"sha224sum": {any: true, operands: files, follows: []string{"c", "check"}},
	"sha256sum": {any: true, operands: files, follows: []string{"c", "check"}},
	"sha512sum": {any: true, operands: files, follows: []string{"c", "check"}},
	"b2sum":     {any: true, operands: files, follows: []string{"c", "check"}},
	"cksum":     {any: true, operands: files, follows: []string{"c", "check"}},
	"base64":    {any: true, short: "w:", operands: files, refused: []string{"o", "output"}},
	"base32":    {any: true, short: "w:", operands: files, refused: []string{"o", "output"}},
	"stat":      {any: true, short: "c:", long: "format= printf=", operands: files},
	"readlink":  {any: true, operands: files},
	"realpath":  {any: true, operands: files, long: "relative-to= relative-base="},
	"tsort":     {any: true, operands: files},
	"du":        {any: true, short: "d:B:t:X:", long: "max-depth= exclude= threshold=", operands: trees, follows: []string{"L", "D", "H", "dereference", "dereference-args", "files0-from"}},
	"ls":        {any: true, short: "I:w:T:", operands: trees, follows: []string{"L", "dereference"}},
	"grep":      grepSpec, "egrep": grepSpec, "fgrep": grepSpec,
	"zgrep": {short: "ivnclLqowxhHrRE", operands: patternFiles},
	"jq":    {any: true, short: "L:f:", long: "arg= indent= from-file=", operands: patternFiles, fileValues: []string{"f", "from-file"}, follows: []string{"L", "f", "from-file", "args", "jsonargs", "arg", "argjson", "slurpfile", "rawfile"}},

	"df": {any: true, operands: files}, "free": {any: true, operands: texts}, "uptime": {any: true, operands: texts},
	"ps": {any: true, operands: texts}, "pgrep": {any: true, operands: texts}, "nproc": {any: true, operands: texts},
	"uname": {any: true, operands: texts}, "arch": {any: true, operands: texts}, "lscpu": {any: true, operands: texts},
	"whoami": {any: true, operands: texts}, "id": {any: true, operands: texts}, "groups": {any: true, operands: texts},
	"tty": {any: true, operands: texts}, "printenv": {any: true, operands: texts}, "locale": {any: true, operands: texts},
	"basename": {any: true, operands: texts}, "dirname": {any: true, operands: texts}, "seq": {any: true, operands: texts},
	"expr": {any: true, operands: texts}, "tr": {any: true, operands: texts}, "factor": {any: true, operands: texts},
	"numfmt": {any: true, operands: texts}, "sleep": {any: true, operands: texts}, "yes": {any: true, operands: texts},
	"cal": {any: true, operands: texts}, "which": {any: true, operands: texts}, "whereis": {any: true, operands: texts},
	"locate":   {any: true, operands: texts},
	"getconf":  {short: "a", operands: texts},
	"hostname": {short: "sfiIdAy", operands: nothing},

	"diff": {short: "aBbcdEehHiNnpqrstTuvwWyU:C:I:x:X:", operands: files, digits: true,
		long:       "brief recursive unified? context? side-by-side ignore-case ignore-all-space ignore-space-change ignore-blank-lines new-file text report-identical-files color? suppress-common-lines width= exclude= strip-trailing-cr minimal speed-large-files no-dereference normal",
		fileValues: []string{"X"}, follows: []string{"r", "recursive"}},
	"file": {short: "bcEhiIkLNnprsSzZ0F:e:", long: "brief mime mime-type mime-encoding dereference no-dereference extension", operands: files},
	"less": {short: "EeFfGgIiMmNnQqRrSsUuWwXx", operands: files},
	"more": {short: "cdfilnpsu", operands: files},
	"sort": {short: "bcCdfghiMmnRrsuVzk:t:S:", operands: files,
		long: "ignore-leading-blanks check? dictionary-order ignore-case general-numeric-sort human-numeric-sort month-sort numeric-sort random-sort reverse stable unique version-sort zero-terminated key= field-separator= sort= parallel= merge"},
	"uniq": {short: "cdDiuzf:s:w:", atMost: 1, operands: files,
		long: "count repeated all-repeated? ignore-case unique skip-fields= skip-chars= check-chars= zero-terminated"},
	"tree": {apart: true, short: "adfilpsughDFCAqNQrtUvxJXL:P:I:", operands: trees, follows: []string{"l"},
		long: "noreport dirsfirst charset= filelimit= gitignore prune du si inodes device matchdirs ignore-case sort="},
	"rg": {short: "nNiSsvwxclLFUPoHIhqzuap0A:B:C:e:g:t:T:m:M:j:d:E:r:f:", operands: patternTrees, walks: []string{"files"}, patterns: []string{"e", "f", "files", "regexp", "type-list"},
		long:       "line-number no-line-number ignore-case smart-case case-sensitive invert-match word-regexp line-regexp count count-matches files-with-matches files-without-match fixed-strings multiline pcre2 only-matching with-filename no-filename no-heading heading quiet hidden no-ignore no-ignore-vcs files type-list json stats trim vimgrep null column text unrestricted sort= sortr= glob= iglob= type= type-not= max-count= max-columns= max-depth= after-context= before-context= context= regexp= color= colors= replace= threads= follow no-config passthru",
		fileValues: []string{"f"}, follows: []string{"L", "follow"}},
	"ag":     {short: "ilLcvwsSQoHn0aA:B:C:G:m:", long: "nocolor nogroup hidden ignore= literal count files-with-matches", operands: patternTrees},
	"ack":    {short: "ilLcvwsQnohHrA:B:C:m:", operands: patternTrees},
	"fd":     {short: "HIusiaFlpLE:t:e:d:g", long: "hidden no-ignore type= extension= exclude= max-depth= glob full-path absolute-path fixed-strings ignore-case case-sensitive", operands: patternTrees, follows: []string{"L"}},
	"fdfind": {short: "HIusiaFlpLE:t:e:d:g", long: "hidden no-ignore type= extension= exclude= max-depth= glob full-path absolute-path", operands: patternTrees, follows: []string{"L"}},
}

var grepSpec = spec{any: true, short: "A:B:C:D:d:e:f:m:", digits: true, operands: patternFiles,
	long:     "regexp= file= max-count= after-context= before-context= context= include= exclude= exclude-dir= exclude-from= color? colour? binary-files= label= devices= directories=",
	patterns: []string{"e", "f", "regexp", "file"}, fileValues: []string{"f", "file", "exclude-from"},
	walks: []string{"r", "recursive"}, follows: []string{"R", "dereference-recursive"}}

// versions are programs that print their version, and nothing else, with these.
var versions = map[string][]string{
	"node": {"--version", "-v"}, "python": {"--version", "-V"}, "python3": {"--version", "-V"}, "java": {"-version", "--version"},
	"ruby": {"--version", "-v"}, "perl": {"--version", "-v"}, "gcc": {"--version"}, "g++": {"--version"}, "clang": {"--version"},
	"make": {"--version", "-v"}, "docker": {"--version", "-v"}, "bash": {"--version"}, "jq": {"--version"}, "rg": {"--version"},
	"cmake": {"--version"}, "curl": {"--version"}, "tar": {"--version"}, "sed": {"--version"}, "awk": {"--version"},
	"find": {"--version"}, "less": {"--version"}, "file": {"--version"}, "tree": {"--version"}, "diff": {"--version"},
}

// changers are programs that change the files they name and run no other program.
var changers = map[string]changer{
	"rm":       {short: "dfiIrRv", long: "recursive force verbose dir", moved: true},
	"rmdir":    {short: "pv", long: "parents verbose", moved: true},
	"unlink":   {moved: true},
	"mkdir":    {short: "pvm:", long: "parents verbose mode="},
	"touch":    {short: "acmd:t:r:", long: "no-create date= reference="},
	"tee":      {short: "aip", long: "append ignore-interrupts"},
	"truncate": {short: "cos:r:", long: "size= no-create"},
	"chmod":    {short: "Rvcf", long: "recursive verbose", leading: 1},
	"chown":    {short: "Rvcfh", long: "recursive verbose", leading: 1},
	"mv":       {short: "fnvi", long: "force verbose no-clobber", moved: true, last: true},
	"cp":       {short: "afnprRvidPLHu", long: "recursive archive force verbose no-clobber parents update?", last: true, copies: true},
	"ln":       {short: "sfnvrT", long: "symbolic force verbose relative", last: true, copies: true},
	"install":  {short: "dDvm:o:g:", last: true, copies: true},
}

// changer describes a program that changes what its operands name.
type changer struct {
	short, long string
	// moved reports whether names stand for something else afterwards; last, whether
	// the last operand is a target that the others go to; copies, whether those are
	// only read; leading operands are no files.
	moved, last, copies bool
	leading             int
}

// check notes the files that are changed.
func (ch changer) check(c *call) {
	c.doubt(c.name + " changes files")
	readOnly := c.step.ReadOnly
	p, ok := c.parse(spec{short: ch.short, long: ch.long, operands: files})
	c.step.ReadOnly = readOnly
	if !ok {
		c.step.FilesUnknown = true
		return
	}
	operands := p.operands[min(ch.leading, len(p.operands)):]
	if c.name == "tee" && !hasMany(operands) && allHarmless(operands) {
		c.step.ReadOnly, c.step.Doubt = true, ""
		return
	}
	for i, f := range operands {
		target := i == len(operands)-1
		if ch.copies && !target {
			c.readsTree(f)
			continue
		}
		c.w.touch(c.step, f, File{Write: true, Tree: ch.last && target || c.name == "rm" || c.name == "mv" || p.given("R", "r", "recursive"), Moved: ch.moved})
	}
}

func allHarmless(words []Word) bool {
	for _, f := range words {
		if f.Kind != Literal || !harmlessTarget(f.Text) {
			return false
		}
	}
	return true
}

// interpreters run commands of their arguments or their input, which are not looked into.
var interpreters = words(`ssh su runuser pkexec script at batch crontab parallel tmux screen xterm expect gdb lldb ed ex m4
	nsenter unshare chroot firejail bwrap proot strace ltrace perf busybox toybox socat nc ncat rlwrap unbuffer entr
	csh tcsh fish ksh zsh pwsh powershell cmd osascript dc sqlite3 vi vim nvim emacs source . eval exec trap alias
	enable bind complete compgen hash fc let coproc`)

// scripted are interpreters of other languages: they run a script in a file, which
// is a program like any other, or code of their options or their input.
var scripted = words(`python python2 python3 pypy pypy3 perl ruby node nodejs deno bun php lua luajit tclsh Rscript R julia
	groovy irb jshell scala ghci`)

// runOptions are options whose values programs run.
var runOptions = map[string][]string{
	"tar": {"--checkpoint-action", "--to-command", "-I", "--use-compress-program", "--rsh-command", "--info-script", "-F", "--new-volume-script"},
	"zip": {"-T", "-TT", "--unzip-command"}, "rsync": {"-e", "--rsh", "--rsync-path"}, "make": {"-f", "--file", "--makefile", "--eval", "-E", "SHELL="},
	"gmake": {"-f", "--file", "--eval", "-E", "SHELL="}, "man": {"-P", "--pager", "-H"}, "scp": {"-S", "-o"}, "sftp": {"-S", "-o", "-b"},
	"sort": {"--compress-program"}, "rg": {"--pre"}, "fd": {"-x", "-X", "--exec", "--exec-batch"}, "fdfind": {"-x", "-X", "--exec", "--exec-batch"},
	"ag": {"--pager"}, "ack": {"--pager"}, "npm": {"exec", "x"}, "docker": {"exec", "run"}, "podman": {"exec", "run"}, "kubectl": {"exec", "run"},
	"cargo": {"--config"}, "go": {"-exec", "-toolexec", "-vettool"}, "openssl": {"-engine"}, "psql": {"-c", "-f"}, "mysql": {"-e"},
	"less": {"+"}, "more": {"+"}, "wget": {"--use-askpass", "-e", "--execute"}, "curl": {"-K", "--config"},
}

// leaves are further programs that run no program that their arguments name.
var leaves = words(`git date curl wget ping dig host nslookup echo printf kill pkill killall mktemp gzip gunzip bzip2 xz zstd
	chgrp mkfifo mknod shred sync df mount umount ifconfig ip ss netstat lsof lsblk dmesg systemctl service apt apt-get
	brew pip pip3 patch split csplit shuf xxd`)

// roaming are programs that only read and open files of their own too: settings,
// an index, the folders of the search path.
var roaming = words(`rg ag ack fd fdfind less more zgrep tree locate which whereis git go ps pgrep df jobs`)

// networkPrograms are clients of the network.
var networkPrograms = words(`curl wget ssh scp sftp rsync nc ncat netcat telnet ftp dig nslookup host ping traceroute whois socat http https aria2c gh`)

func words(list string) map[string]bool {
	set := map[string]bool{}
	for _, name := range strings.Fields(list) {
		set[name] = true
	}
	return set
}

// isProgram reports whether a name means something to this package, so that no
// function may take it.
func isProgram(name string) bool {
	_, reader := readers[name]
	_, changer := changers[name]
	_, version := versions[name]
	_, wrapper := wrappers[name]
	_, special := checkers[name]
	return reader || changer || version || wrapper || special || interpreters[name] || scripted[name] || leaves[name] || networkPrograms[name]
}

// check decides about a command by its program. full is the name as it is written.
func (c *call) check(full string) {
	base := c.name
	if networkPrograms[base] {
		c.w.s.Network = true
	}
	if c.w.functions[full] {
		c.step.Leaf, c.step.Confined = true, true // its body is read where it is defined
		c.patterns(c.args)
		return
	}
	if !usual(full) {
		c.doubt(full + " is a program of its own")
		c.step.FilesUnknown = true
		return
	}
	sp, reader := readers[base]
	ch, changes := changers[base]
	special := checkers[base]
	c.step.Leaf = reader || changes || leaves[base]
	c.step.Confined = !roaming[base] && (reader || special != nil || wraps(base))
	switch {
	case c.printsVersion():
		c.step.Leaf = true
	case special != nil:
		special(c)
	case wraps(base):
		c.wrapped(wrappers[base])
	case reader:
		sp.check(c)
	case changes:
		ch.check(c)
	case interpreters[base] || scripted[base] && !c.runsScript():
		c.opaque(base + " runs what it is told to")
	default:
		c.doubt(base + " is not known to only read")
		c.step.FilesUnknown = true
	}
	c.runsOption()
}

// runsScript reports whether an interpreter is given a script in a file, by a name
// that looks like one.
func (c *call) runsScript() bool {
	return len(c.args) > 0 && c.args[0].Kind == Literal && !strings.HasPrefix(c.args[0].Text, "-") &&
		strings.ContainsAny(c.args[0].Text, "./") && c.step.Input == ""
}

// runsOption makes a command opaque that runs the value of an option.
func (c *call) runsOption() {
	for _, option := range runOptions[c.name] {
		for _, f := range c.args {
			short := len(option) == 2 && option[0] == '-' && f.Kind == Literal && len(f.Text) > 1 && f.Text[0] == '-' && f.Text[1] != '-' && strings.Contains(f.Text, option[1:])
			if short || strings.HasPrefix(f.Text, option) {
				c.opaque(c.name + " runs the value of " + option)
				return
			}
		}
	}
	if !c.step.Leaf && c.step.Input != "" && c.step.Opaque == "" && !c.step.ReadOnly {
		c.opaque(c.name + " may run what it reads")
	}
}

// printsVersion reports whether the command only prints a version.
func (c *call) printsVersion() bool {
	return len(c.args) == 1 && c.args[0].Kind == Literal && contains(versions[c.name], c.args[0].Text)
}
