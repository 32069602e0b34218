package command

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"
	"time"

	"toolbench/toolsys/shellcmd/posixre"
)

// test builds the primaries that only look.
func (fp *findParser) test(name, value string) (findTest, error) {
	switch name {
	case "-name", "-iname":
		re, err := globRegexp(value, name[1] == 'i')
		if err != nil {
			return nil, err
		}
		return func(f *found) bool { return re.MatchString(baseName(f.path)) }, nil
	case "-path", "-wholename", "-ipath", "-iwholename":
		re, err := globRegexp(value, name[1] == 'i')
		if err != nil {
			return nil, err
		}
		return func(f *found) bool { return re.MatchString(f.path) }, nil
	case "-regex", "-iregex":
		re, err := posixre.Compile("^("+value+")$", posixre.Extended, name[1] == 'i')
		if err != nil {
			return nil, err
		}
		return func(f *found) bool { return re.MatchString(f.path) }, nil
	case "-type":
		return typeTest(value)
	case "-size":
		return sizeTest(value)
	}
	return fp.timeTest(name, value)
}

func baseName(name string) string {
	if trimmed := strings.TrimRight(name, "/"); trimmed != "" {
		return path.Base(trimmed)
	}
	return "/"
}

func typeTest(value string) (findTest, error) {
	want := map[string]func(fs.FileMode) bool{
		"f": fs.FileMode.IsRegular, "d": fs.FileMode.IsDir,
		"l": func(m fs.FileMode) bool { return m&fs.ModeSymlink != 0 },
	}
	var tests []func(fs.FileMode) bool
	for kind := range strings.SplitSeq(value, ",") {
		test, ok := want[kind]
		if !ok {
			return nil, fmt.Errorf("Unknown argument to -type: %s", value)
		}
		tests = append(tests, test)
	}
	return func(f *found) bool {
		for _, t := range tests {
			if t(f.info.Mode()) {
				return true
			}
		}
		return false
	}, nil
}

// compared reads +N, -N or N, and gives a test for a number.
func compared(value string) (func(int64) bool, error) {
	n, ok := natural(strings.TrimLeft(value, "+-"))
	if !ok {
		return nil, fmt.Errorf("invalid argument `%s'", value)
	}
	switch value[0] {
	case '+':
		return func(x int64) bool { return x > n }, nil
	case '-':
		return func(x int64) bool { return x < n }, nil
	}
	return func(x int64) bool { return x == n }, nil
}

// sizeTest counts in units, rounded up: blocks of 512 bytes, or c, w, k, M, G.
func sizeTest(value string) (findTest, error) {
	unit := int64(512)
	if value != "" {
		if u, ok := map[byte]int64{'c': 1, 'w': 2, 'b': 512, 'k': 1 << 10, 'M': 1 << 20, 'G': 1 << 30}[value[len(value)-1]]; ok {
			unit, value = u, value[:len(value)-1]
		}
	}
	if value == "" {
		return nil, errors.New("invalid argument to `-size'")
	}
	ok, err := compared(value)
	if err != nil {
		return nil, err
	}
	return func(f *found) bool { return ok((size(f.info) + unit - 1) / unit) }, nil
}

func (fp *findParser) timeTest(name, value string) (findTest, error) {
	now := fp.p.System.Now()
	switch name {
	case "-newer":
		info, err := fp.p.Files.Stat(value)
		if err != nil {
			return nil, fmt.Errorf("'%s': %s", value, Reason(err))
		}
		return func(f *found) bool { return f.info.ModTime().After(info.ModTime()) }, nil
	}
	unit := 24 * time.Hour
	if strings.HasSuffix(name, "min") {
		unit = time.Minute
	}
	ok, err := compared(value)
	if err != nil {
		return nil, err
	}
	return func(f *found) bool {
		age := now.Sub(f.info.ModTime())
		if unit == time.Minute && age%unit != 0 {
			age += unit // -mmin counts begun minutes, -mtime whole days
		}
		return ok(int64(age / unit))
	}, nil
}

func emptyFound(f *found) bool {
	if f.info.IsDir() {
		list, err := f.w.p.Files.List(f.path)
		return err == nil && len(list) == 0
	}
	return f.info.Mode().IsRegular() && f.info.Size() == 0
}
