package shellcmd

import "strings"

// findTests are find's primaries that only look, with the number of their arguments. Read only.
var findTests = map[string]int{
	"-name": 1, "-iname": 1, "-path": 1, "-ipath": 1, "-wholename": 1, "-iwholename": 1, "-regex": 1, "-iregex": 1, "-regextype": 1, "-type": 1, "-xtype": 1,
	"-maxdepth": 1, "-mindepth": 1, "-size": 1, "-newer": 1, "-newermt": 1, "-anewer": 1, "-cnewer": 1, "-mtime": 1, "-mmin": 1, "-ctime": 1, "-cmin": 1, "-atime": 1, "-amin": 1,
	"-perm": 1, "-user": 1, "-group": 1, "-uid": 1, "-gid": 1, "-links": 1, "-inum": 1, "-samefile": 1, "-lname": 1, "-ilname": 1, "-fstype": 1, "-printf": 1,
	"-print": 0, "-print0": 0, "-ls": 0, "-prune": 0, "-quit": 0, "-depth": 0, "-d": 0, "-empty": 0, "-true": 0, "-false": 0, "-not": 0, "-and": 0, "-or": 0, "-a": 0, "-o": 0,
	"-mount": 0, "-xdev": 0, "-follow": 0, "-daystart": 0, "-noleaf": 0, "-executable": 0, "-readable": 0, "-writable": 0, "-nouser": 0, "-nogroup": 0, "-L": 0, "-P": 0, "-H": 0,
}

// find judges find's expression. What -exec runs is judged as a command of its own.
func (a *analysis) find(args []word) {
	for i := 0; i < len(args); i++ {
		w := args[i]
		if w.opaque {
			a.harmful()
			return
		}
		if !strings.HasPrefix(w.text, "-") || len(w.text) == 1 {
			continue
		}
		if !w.literal {
			a.harmful()
			return
		}
		if w.text == "-exec" || w.text == "-execdir" {
			i = a.findExec(args, i)
			continue
		}
		n, known := findTests[w.text]
		if !known {
			a.harmful() // -delete, -fprint, -ok and what is not known
			continue
		}
		if n == 1 && i+1 < len(args) && args[i+1].opaque && !quotedWhole(args[i+1]) {
			a.harmful()
		}
		i += n
	}
}

// findExec judges the command up to ; or + and gives the index of that mark.
func (a *analysis) findExec(args []word, i int) int {
	end := i + 1
	for end < len(args) && args[end].text != ";" && !(args[end].text == "+" && args[end-1].text == "{}") {
		end++
	}
	if end == len(args) {
		a.harmful()
	}
	// A found path begins with the path that was given, which begins with no dash (opaque ones were refused).
	words := substitute(args[i+1:end], "{}", false)
	for j := range words {
		if words[j].source == "{}" || strings.HasPrefix(words[j].source, "'{}'") {
			words[j].text = "./"
		}
	}
	a.inner(words)
	return end
}
