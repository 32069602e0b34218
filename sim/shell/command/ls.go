package command

import (
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"
)

// ls [-1AaCdFGghilLnopRrSstUXx] [--color] [--time-style=...] [FILE...]
func runLs(p *Proc) int {
	o, ok := p.parse("1AaCdFfGghklLnoprRSstUXx", "all>a", "almost-all>A", "directory>d", "classify?>F", "human-readable>h", "recursive>R", "reverse>r", "size>s",
		"color?", "group-directories-first", "full-time", "time-style=", "file-type>F", "dereference>L", "no-group>G", "numeric-uid-gid>n", "sort=", "ignore-backups")
	if !ok {
		return exitUsage
	}
	l := &lister{p: p, o: o, long: o.has("l") || o.has("n") || o.has("g") || o.has("o") || o.has("full-time")}
	names := o.rest
	if len(names) == 0 {
		names = []string{"."}
	}
	var files, dirs []entry
	for _, name := range names {
		info, err := l.stat(name)
		if err != nil {
			l.code = p.fail(exitUsage, "cannot access '%s': %s", name, Reason(err))
			continue
		}
		if info.IsDir() && !o.has("d") {
			dirs = append(dirs, entry{name, name, info})
		} else {
			files = append(files, entry{name, name, info})
		}
	}
	l.sort(files)
	l.sort(dirs)
	l.print(files)
	for i, d := range dirs {
		if len(names) > 1 || o.has("R") {
			p.print(map[bool]string{true: "\n"}[i > 0 || len(files) > 0] + d.name + ":\n")
		}
		l.directory(d)
	}
	return l.code
}

// entry is a name to print, where it lies, and what it is.
type entry struct {
	name, path string
	fs.FileInfo
}

type lister struct {
	p    *Proc
	o    options
	long bool
	code int
}

func (l *lister) stat(name string) (fs.FileInfo, error) {
	if l.long && !l.o.has("L") || l.o.has("d") {
		return l.p.Files.Lstat(name)
	}
	info, err := l.p.Files.Stat(name)
	if err != nil {
		return l.p.Files.Lstat(name) // a link to nothing is still a name
	}
	return info, nil
}

func (l *lister) directory(d entry) {
	list, err := l.p.Files.List(d.path)
	if err != nil {
		l.code = l.p.fail(exitUsage, "cannot open directory '%s': %s", d.path, Reason(err))
		return
	}
	var entries []entry
	if l.o.last("a", "A") == "a" || l.o.has("f") {
		for _, dot := range []string{".", ".."} {
			if info, err := l.p.Files.Stat(path.Join(l.p.Files.Abs(d.path), dot)); err == nil {
				entries = append(entries, entry{dot, path.Join(l.p.Files.Abs(d.path), dot), info})
			}
		}
	}
	for _, info := range list {
		if strings.HasPrefix(info.Name(), ".") && !l.o.has("a") && !l.o.has("A") && !l.o.has("f") {
			continue
		}
		entries = append(entries, entry{info.Name(), strings.TrimSuffix(d.path, "/") + "/" + info.Name(), info})
	}
	l.sort(entries)
	if l.long || l.o.has("s") {
		l.p.printf("total %s\n", l.blocks(entries))
	}
	l.print(entries)
	if l.o.has("R") {
		l.recurse(entries)
	}
}

func (l *lister) recurse(entries []entry) {
	for _, e := range entries {
		if e.IsDir() && e.name != "." && e.name != ".." {
			l.p.printf("\n%s:\n", e.path)
			l.directory(e)
		}
	}
}

func (l *lister) sort(list []entry) {
	by := strings.Compare
	slices.SortStableFunc(list, func(a, b entry) int {
		if l.o.has("group-directories-first") && a.IsDir() != b.IsDir() {
			return map[bool]int{true: -1, false: 1}[a.IsDir()]
		}
		c := 0
		switch {
		case l.o.has("U") || l.o.has("f") || l.o.get("sort", "") == "none":
		case l.o.last("S", "t", "X", "sort") == "t" || l.o.get("sort", "") == "time":
			c = b.ModTime().Compare(a.ModTime())
		case l.o.last("S", "t", "X", "sort") == "S" || l.o.get("sort", "") == "size":
			c = int(min(max(size(b)-size(a), -1), 1))
		case l.o.last("S", "t", "X", "sort") == "X" || l.o.get("sort", "") == "extension":
			c = by(path.Ext(a.name), path.Ext(b.name))
		}
		if c == 0 {
			c = by(a.name, b.name)
		}
		if l.o.has("r") {
			return -c
		}
		return c
	})
}

// size is what a disk would show: directories take a block.
func size(e fs.FileInfo) int64 {
	if e.IsDir() {
		return 4096
	}
	return e.Size()
}

// kilobytes is the room an entry takes on a disk with blocks of 4 KiB.
func kilobytes(e fs.FileInfo) int64 {
	if e.Mode()&fs.ModeSymlink != 0 {
		return 0
	}
	return (size(e) + 4095) / 4096 * 4
}

func (l *lister) blocks(list []entry) string {
	sum := int64(0)
	for _, e := range list {
		sum += kilobytes(e)
	}
	if l.o.has("h") {
		return human(sum * 1024)
	}
	return fmt.Sprint(sum)
}

func (l *lister) print(list []entry) {
	if l.long {
		l.printLong(list)
		return
	}
	for _, e := range list {
		blocks := ""
		if l.o.has("s") {
			blocks = fmt.Sprintf("%d ", kilobytes(e))
		}
		l.p.print(blocks + e.name + l.suffix(e) + "\n")
	}
}

// suffix is -F's mark, -p's for directories alone.
func (l *lister) suffix(e entry) string {
	switch mode := e.Mode(); {
	case e.IsDir() && (l.o.has("F") || l.o.has("p")):
		return "/"
	case !l.o.has("F"):
		return ""
	case mode&fs.ModeSymlink != 0:
		return "@"
	case mode&fs.ModeNamedPipe != 0:
		return "|"
	case mode.IsRegular() && mode&0o111 != 0:
		return "*"
	}
	return ""
}

func (l *lister) printLong(list []entry) {
	rows := make([][]string, len(list))
	var width [6]int
	for i, e := range list {
		rows[i] = l.columns(e)
		for j, cell := range rows[i][:6] {
			width[j] = max(width[j], len(cell))
		}
	}
	for i, e := range list {
		r := rows[i]
		line := fmt.Sprintf("%s %*s", r[0], width[1], r[1])
		if !l.o.has("g") {
			line += fmt.Sprintf(" %-*s", width[2], r[2])
		}
		if !l.o.has("o") && !l.o.has("G") {
			line += fmt.Sprintf(" %-*s", width[3], r[3])
		}
		line += fmt.Sprintf(" %*s %s %s", width[4], r[4], r[5], r[6])
		l.p.print(line + l.arrow(e) + "\n")
	}
}

func (l *lister) columns(e entry) []string {
	bytes := fmt.Sprint(size(e))
	if l.o.has("h") {
		bytes = human(size(e))
	}
	user := l.p.System.User
	if l.o.has("n") {
		user = "1000"
	}
	return []string{modeText(e.Mode()), fmt.Sprint(l.links(e)), user, user, bytes, l.when(e.ModTime().UTC()), e.name}
}

// links counts as a disk does: a directory is named in its parent, in itself and in each child.
func (l *lister) links(e entry) int {
	if !e.IsDir() {
		return 1
	}
	n := 2
	list, _ := l.p.Files.List(e.path)
	for _, c := range list {
		if c.IsDir() {
			n++
		}
	}
	return n
}

func (l *lister) when(t time.Time) string {
	style := l.o.get("time-style", "")
	if strings.HasPrefix(style, "+") {
		return strftime(style[1:], t)
	}
	switch {
	case l.o.has("full-time") || style == "full-iso":
		return t.Format("2006-01-02 15:04:05.000000000 -0700")
	case style == "long-iso":
		return t.Format("2006-01-02 15:04")
	case style == "iso":
		return t.Format("01-02 15:04")
	}
	if age := l.p.System.Now().Sub(t); age > 182*24*time.Hour || age < 0 {
		return t.Format("Jan _2  2006")
	}
	return t.Format("Jan _2 15:04")
}

func (l *lister) arrow(e entry) string {
	if e.Mode()&fs.ModeSymlink == 0 {
		return l.suffix(e)
	}
	target, err := l.p.Files.Readlink(e.path)
	if err != nil {
		return ""
	}
	return " -> " + target
}

// modeText is the ten letters of ls -l.
func modeText(m fs.FileMode) string {
	kind := "-"
	switch {
	case m.IsDir():
		kind = "d"
	case m&fs.ModeSymlink != 0:
		return "lrwxrwxrwx"
	case m&fs.ModeCharDevice != 0:
		kind = "c"
	case m&fs.ModeNamedPipe != 0:
		kind = "p"
	}
	return kind + m.Perm().String()[1:]
}

// human writes a size in powers of 1024, rounded up, with at most two digits before a letter.
func human(n int64) string {
	if n < 1024 {
		return fmt.Sprint(n)
	}
	value := float64(n)
	for _, unit := range "KMGTPE" {
		value /= 1024
		if value < 9.95 {
			up := float64(int64(value*10)) / 10
			if up < value {
				up += 0.1
			}
			return fmt.Sprintf("%.1f%c", up, unit)
		}
		if value < 1023.5 || unit == 'E' {
			up := int64(value)
			if float64(up) < value {
				up++
			}
			return fmt.Sprintf("%d%c", up, unit)
		}
	}
	return fmt.Sprint(n)
}
