package command

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"
)

func printPath(f *found, end string) bool {
	if f.w.p.print(f.path+end) != nil {
		f.w.quit = true
	}
	return true
}

func deleteFound(f *found) bool {
	if f.path == "." {
		return true // as find does
	}
	if err := f.w.p.Files.Remove(f.path); err != nil {
		f.w.fail("cannot delete '%s': %s", f.path, Reason(err))
		return false
	}
	return true
}

func listFound(f *found) bool {
	p := f.w.p
	p.printf("%9d %6d %s %3d %-8s %-8s %8d %s %s\n", 1, kilobytes(f.info), modeText(f.info.Mode()), 1, p.System.User, p.System.User,
		size(f.info), f.info.ModTime().UTC().Format("Jan _2 15:04"), f.path)
	return true
}

// exec reads a command up to ; (one run for each entry) or {} + (one run for all).
func (fp *findParser) exec(name string) (findTest, error) {
	if name == "-ok" {
		return nil, errors.New("-ok: nobody is there to answer")
	}
	end := slices.IndexFunc(fp.args, func(a string) bool { return a == ";" || a == "+" })
	for end > 0 && fp.args[end] == "+" && fp.args[end-1] != "{}" {
		next := slices.IndexFunc(fp.args[end+1:], func(a string) bool { return a == ";" || a == "+" })
		if next < 0 {
			end = -1
			break
		}
		end += 1 + next
	}
	if end < 1 {
		return nil, fmt.Errorf("missing argument to `%s'", name)
	}
	command, mark := fp.args[:end], fp.args[end]
	fp.args = fp.args[end+1:]
	inDir := name == "-execdir"
	if mark == "+" {
		batch := &execBatch{command: command[:len(command)-1]}
		fp.e.batches = append(fp.e.batches, batch)
		return func(f *found) bool { batch.paths = append(batch.paths, f.path); return true }, nil
	}
	return func(f *found) bool { return f.exec(command, inDir) }, nil
}

func (f *found) exec(command []string, inDir bool) bool {
	p, name := f.w.p, f.path
	if inDir {
		files := *p.Files
		files.Dir = p.Files.Abs(path.Dir(f.path))
		p = p.child(p.Name, nil)
		p.Files = &files
		name = "./" + path.Base(f.path)
	}
	args := make([]string, len(command))
	for i, a := range command {
		args[i] = strings.ReplaceAll(a, "{}", name)
	}
	return p.exec(args[0], args[1:]) == 0
}

// execBatch is -exec ... {} +: it collects, and runs at the end.
type execBatch struct {
	command []string
	paths   []string
}

func (b *execBatch) run(w *findWalk) {
	if len(b.paths) == 0 {
		return
	}
	if w.p.exec(b.command[0], append(slices.Clone(b.command[1:]), b.paths...)) != 0 {
		w.code = exitFailure
	}
}

// findPrintf compiles a -printf format.
func findPrintf(format string) findTest {
	format = unescapeC(format)
	return func(f *found) bool {
		var b strings.Builder
		for i := 0; i < len(format); i++ {
			if format[i] != '%' || i+1 == len(format) {
				b.WriteByte(format[i])
				continue
			}
			i++
			text, used := f.field(format[i:])
			b.WriteString(text)
			i += used - 1
		}
		return f.w.p.print(b.String()) == nil
	}
}

// field gives one directive's text and its length.
func (f *found) field(s string) (text string, used int) {
	modified := f.info.ModTime().UTC()
	switch s[0] {
	case 'p':
		return f.path, 1
	case 'f':
		return baseName(f.path), 1
	case 'h':
		return path.Dir(f.path), 1
	case 'P':
		_, rest, _ := strings.Cut(f.path, "/")
		return map[bool]string{true: rest}[f.depth > 0], 1
	case 's':
		return fmt.Sprint(size(f.info)), 1
	case 'd':
		return fmt.Sprint(f.depth), 1
	case 'm':
		return fmt.Sprintf("%o", f.info.Mode().Perm()), 1
	case 'M':
		return modeText(f.info.Mode()), 1
	case 'y':
		return typeLetter(f.info.Mode()), 1
	case 'u', 'g':
		return f.w.p.System.User, 1
	case 't':
		return modified.Format("Mon Jan _2 15:04:05.0000000000 2006"), 1
	case 'T', 'A', 'C':
		if len(s) > 1 {
			return findTime(s[1], modified), 2
		}
	case '%':
		return "%", 1
	}
	return "%" + s[:1], 1
}

func findTime(c byte, t time.Time) string {
	switch c {
	case '@':
		return fmt.Sprintf("%d.%010d", t.Unix(), int64(t.Nanosecond())*10)
	case '+':
		return t.Format("2006-01-02+15:04:05.0000000000")
	}
	return strftime("%"+string(rune(c)), t)
}

func typeLetter(m fs.FileMode) string {
	switch {
	case m.IsDir():
		return "d"
	case m&fs.ModeSymlink != 0:
		return "l"
	case m&fs.ModeCharDevice != 0:
		return "c"
	}
	return "f"
}
