package command

import (
	"fmt"
	"io/fs"
	"strings"
	"time"
)

// stat [-L] [-c FORMAT | --format=FORMAT | --printf=FORMAT] FILE...
func runStat(p *Proc) int {
	o, ok := p.parse("Lc:t", "dereference>L", "format=>c", "printf=")
	if !ok || o.has("t") {
		return exitUsage
	}
	if len(o.rest) == 0 {
		return p.fail(exitFailure, "missing operand")
	}
	code := 0
	for _, name := range o.rest {
		get := p.Files.Lstat
		if o.has("L") {
			get = p.Files.Stat
		}
		info, err := get(name)
		if err != nil {
			code = p.fail(exitFailure, "cannot statx '%s': %s", name, Reason(err))
			continue
		}
		e := entry{name, name, info}
		switch o.last("c", "printf") {
		case "c":
			p.print(p.statFormat(o.get("c", ""), e) + "\n")
		case "printf":
			p.print(p.statFormat(unescapeC(o.get("printf", "")), e))
		default:
			p.statFull(e)
		}
	}
	return code
}

// statFormat fills a format's %-directives.
func (p *Proc) statFormat(format string, e entry) string {
	var b strings.Builder
	for i := 0; i < len(format); i++ {
		if format[i] != '%' || i+1 == len(format) {
			b.WriteByte(format[i])
			continue
		}
		i++
		b.WriteString(p.statField(format[i], e))
	}
	return b.String()
}

func (p *Proc) statField(c byte, e entry) string {
	modified := e.ModTime().UTC()
	switch c {
	case 'n':
		return e.name
	case 'N':
		return p.quotedLink(e)
	case 's':
		return fmt.Sprint(size(e))
	case 'b':
		return fmt.Sprint(kilobytes(e) * 2)
	case 'B':
		return "512"
	case 'o':
		return "4096"
	case 'a':
		return fmt.Sprintf("%o", e.Mode().Perm())
	case 'A':
		return modeText(e.Mode())
	case 'f':
		return fmt.Sprintf("%x", unixMode(e.Mode()))
	case 'F':
		return kindOf(e)
	case 'U', 'G':
		return p.System.User
	case 'u', 'g':
		return "1000"
	case 'h':
		return fmt.Sprint((&lister{p: p}).links(e))
	case 'i':
		return "1"
	case 'X', 'Y', 'Z':
		return fmt.Sprint(modified.Unix())
	case 'x', 'y', 'z':
		return statTime(modified)
	case 'W':
		return "0"
	case 'w':
		return "-"
	case '%':
		return "%"
	}
	return "?"
}

func (p *Proc) quotedLink(e entry) string {
	if e.Mode()&fs.ModeSymlink == 0 {
		return "'" + e.name + "'"
	}
	target, _ := p.Files.Readlink(e.path)
	return "'" + e.name + "' -> '" + target + "'"
}

func statTime(t time.Time) string { return t.Format("2006-01-02 15:04:05.000000000 -0700") }

func unixMode(m fs.FileMode) uint32 {
	kind := uint32(0o100000)
	switch {
	case m.IsDir():
		kind = 0o040000
	case m&fs.ModeSymlink != 0:
		kind = 0o120000
	}
	return kind | uint32(m.Perm())
}

func kindOf(e fs.FileInfo) string {
	switch m := e.Mode(); {
	case m.IsDir():
		return "directory"
	case m&fs.ModeSymlink != 0:
		return "symbolic link"
	case m&fs.ModeCharDevice != 0:
		return "character special file"
	case m.IsRegular() && e.Size() == 0:
		return "regular empty file"
	}
	return "regular file"
}

func (p *Proc) statFull(e entry) {
	at := statTime(e.ModTime().UTC())
	p.printf("  File: %s\n  Size: %-10d\tBlocks: %-10d IO Block: 4096   %s\nAccess: (%04o/%s)  Uid: ( 1000/%8s)   Gid: ( 1000/%8s)\nAccess: %s\nModify: %s\nChange: %s\n",
		p.quotedLink(e), size(e), kilobytes(e)*2, kindOf(e), e.Mode().Perm(), modeText(e.Mode()), p.System.User, p.System.User, at, at, at)
}
