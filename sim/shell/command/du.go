package command

import (
	"fmt"
	"path"
	"strings"
)

// du [-abchkms] [-d N] [--exclude=PATTERN] [FILE...]
func runDu(p *Proc) int {
	o, ok := p.parse("abchkmsd:S", "all>a", "bytes>b", "total>c", "human-readable>h", "summarize>s", "max-depth=>d", "apparent-size", "exclude=")
	if !ok {
		return exitUsage
	}
	depth, ok := natural(o.get("d", "9999"))
	if !ok {
		return p.fail(exitFailure, "invalid maximum depth '%s'", o.get("d", ""))
	}
	if o.has("s") {
		depth = 0
	}
	d := &usage{p: p, o: o, depth: int(depth)}
	names := o.rest
	if len(names) == 0 {
		names = []string{"."}
	}
	total := int64(0)
	for _, name := range names {
		info, err := p.Files.Lstat(name)
		if err != nil {
			d.code = p.fail(exitFailure, "cannot access '%s': %s", name, Reason(err))
			continue
		}
		total += d.walk(entry{name, name, info}, 0)
	}
	if o.has("c") {
		d.row(total, "total")
	}
	return d.code
}

type usage struct {
	p     *Proc
	o     options
	depth int
	code  int
}

// walk prints a tree's entries from the leaves up, and gives its bytes.
func (d *usage) walk(e entry, depth int) int64 {
	sum := kilobytes(e) * 1024
	if d.o.has("b") || d.o.has("apparent-size") {
		sum = size(e)
	}
	if e.IsDir() {
		list, err := d.p.Files.List(e.path)
		if err != nil {
			d.code = d.p.fail(exitFailure, "cannot read directory '%s': %s", e.path, Reason(err))
		}
		for _, info := range list {
			if d.excluded(info.Name()) {
				continue
			}
			sum += d.walk(entry{info.Name(), strings.TrimSuffix(e.path, "/") + "/" + info.Name(), info}, depth+1)
		}
	}
	if depth <= d.depth && (e.IsDir() || d.o.has("a") || depth == 0) {
		d.row(sum, e.path)
	}
	return sum
}

func (d *usage) excluded(name string) bool {
	for _, pattern := range d.o.all("exclude") {
		if glob(pattern, path.Base(name)) {
			return true
		}
	}
	return false
}

func (d *usage) row(bytes int64, name string) {
	text := fmt.Sprint((bytes + 1023) / 1024)
	switch d.o.last("b", "h", "k", "m") {
	case "b":
		text = fmt.Sprint(bytes)
	case "h":
		text = human(bytes)
	case "m":
		text = fmt.Sprint((bytes + 1<<20 - 1) >> 20)
	}
	d.p.printf("%s\t%s\n", text, name)
}
