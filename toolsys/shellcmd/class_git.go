package shellcmd

import (
	"slices"
	"strings"
)

// gitReads are git's subcommands that only read whatever their options, but for those that write or run
// something. Read only.
var gitReads = map[string]rule{
	"blame": gitOptions, "cat-file": without("textconv", "filters", "batch-command"), "check-attr": nil, "check-ignore": nil, "cherry": nil, "count-objects": nil, "describe": nil, "diff": gitOptions,
	"diff-files": gitOptions, "diff-index": gitOptions, "diff-tree": gitOptions, "for-each-ref": without("shell", "perl", "python", "tcl"), "grep": without("open-files-in-pager", "O", "ext-grep"),
	"help": withoutOperands("a"), "log": gitOptions, "ls-files": nil, "ls-tree": nil, "merge-base": nil, "name-rev": nil, "rev-list": gitOptions, "rev-parse": nil, "shortlog": gitOptions, "show": gitOptions,
	"show-ref": without("exclude-existing"), "status": nil, "var": nil, "version": nil, "whatchanged": gitOptions,

	"branch": gitList("arv", "a", "all", "r", "remotes", "v", "vv", "verbose", "list", "l", "show-current", "contains", "no-contains", "merged", "no-merged", "points-at", "sort", "format", "column", "no-column", "color", "no-color", "abbrev"),
	"tag":    gitList("ln", "l", "list", "n", "contains", "no-contains", "merged", "no-merged", "points-at", "sort", "format", "column", "no-column"),
	"remote": gitRemote, "stash": gitFirst("list", "show"), "config": gitConfig, "reflog": gitFirst("", "show"), "worktree": gitFirst("list"), "submodule": gitFirst("status", ""),
	"notes": gitFirst("list", "show"), "bisect": gitFirst("log"),
}

// gitOptions forbids what writes a file or runs a program.
func gitOptions(args []word) bool { return without("output", "ext-diff", "output-directory")(args) }

// gitList allows a listing: no operand unless --list or a filter makes it a pattern.
func gitList(letters string, allowed ...string) rule {
	return func(args []word) bool {
		listing, operand := false, false
		for _, w := range args {
			if w.opaque || !w.literal {
				return false
			}
			name, _, _ := strings.Cut(strings.TrimLeft(w.text, "-"), "=")
			switch {
			case !strings.HasPrefix(w.text, "-"):
				operand = true
			case !strings.HasPrefix(w.text, "--") && strings.Trim(name, letters+"0123456789") == "" || slices.Contains(allowed, name):
				listing = listing || slices.Contains([]string{"list", "l", "contains", "no-contains", "merged", "no-merged", "points-at"}, name)
			default:
				return false
			}
		}
		return listing || !operand
	}
}

// gitFirst allows the listed second words; "" means none.
func gitFirst(names ...string) rule {
	return func(args []word) bool {
		if len(args) == 0 {
			return slices.Contains(names, "")
		}
		return args[0].literal && args[0].text != "" && slices.Contains(names, args[0].text) && gitOptions(args)
	}
}

func gitRemote(args []word) bool {
	if len(args) == 0 {
		return true
	}
	switch args[0].text {
	case "-v", "--verbose":
		return len(args) == 1
	case "get-url":
		return gitOptions(args)
	}
	return false
}

func gitConfig(args []word) bool {
	if len(args) == 0 || slices.ContainsFunc(args, func(w word) bool { return w.opaque || !w.literal }) {
		return false
	}
	switch args[0].text {
	case "--list", "-l", "list":
		return len(args) == 1
	case "--get", "--get-all", "get":
		return len(args) == 2
	}
	return false
}

// subcommand finds git's subcommand behind its own options; ok is false if an option may change what
// git runs.
func subcommand(args []word) (name string, rest []word, ok bool) {
	for len(args) > 0 {
		w := args[0]
		switch {
		case w.opaque || !w.literal:
			return "", nil, false
		case w.text == "-C" && len(args) > 1 && (!args[1].opaque || quotedWhole(args[1])):
			args = args[2:]
		case w.text == "--no-pager" || w.text == "--no-optional-locks" || w.text == "-P":
			args = args[1:]
		case w.text == "--version":
			return "version", nil, true
		case strings.HasPrefix(w.text, "-"):
			return "", args, false
		default:
			return w.text, args[1:], true
		}
	}
	return "", nil, false
}

func readGit(args []word) bool {
	name, rest, ok := subcommand(args)
	if !ok {
		return false
	}
	r, known := gitReads[name]
	return known && (r == nil || r(rest))
}

// git notes the subcommand, past options that readGit refuses.
func (a *analysis) git(name string, args []word) {
	if name != "git" {
		return
	}
	for i := 0; i < len(args); i++ {
		text := args[i].text
		if text == "-c" || text == "-C" || text == "--git-dir" || text == "--work-tree" || text == "--namespace" {
			i++
			continue
		}
		if strings.HasPrefix(text, "-") || !args[i].literal {
			continue
		}
		a.class.Git = append(a.class.Git, text)
		switch text {
		case "clone", "fetch", "pull", "push", "ls-remote":
			a.class.Network = true
		}
		return
	}
}
