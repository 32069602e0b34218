package command

import (
	"fmt"
	"strings"
	"time"
)

// touch [-acm] [-d TIME] [-r FILE] [-t STAMP] FILE...; access times are not kept.
func runTouch(p *Proc) int {
	o, ok := p.parse("acmd:r:t:f", "no-create>c", "date=>d", "reference=>r")
	if !ok {
		return exitUsage
	}
	if len(o.rest) == 0 {
		return p.fail(exitFailure, "missing file operand")
	}
	at, err := p.touchTime(o)
	if err != nil {
		return p.fail(exitFailure, "%v", err)
	}
	code := 0
	for _, name := range o.rest {
		if !p.Files.Exists(name) {
			if o.has("c") {
				continue
			}
			w, err := p.Files.Create(name, true)
			if err != nil {
				code = p.fail(exitFailure, "cannot touch '%s': %s", name, Reason(err))
				continue
			}
			w.Close()
		}
		if _, isDevice := p.Files.device(name); isDevice || o.has("a") && !o.has("m") {
			continue
		}
		if err := p.Files.FS.Chtimes(p.Files.Abs(name), at, at); err != nil {
			code = p.fail(exitFailure, "setting times of '%s': %s", name, Reason(err))
		}
	}
	return code
}

func (p *Proc) touchTime(o options) (time.Time, error) {
	switch o.last("d", "r", "t") {
	case "d":
		return parseDate(o.get("d", ""), p.System.Now())
	case "r":
		info, err := p.Files.Stat(o.get("r", ""))
		if err != nil {
			return time.Time{}, fmt.Errorf("failed to get attributes of '%s': %s", o.get("r", ""), Reason(err))
		}
		return info.ModTime(), nil
	case "t":
		return parseStamp(o.get("t", ""), p.System.Now())
	}
	return p.System.Now(), nil
}

// parseStamp reads [[CC]YY]MMDDhhmm[.ss].
func parseStamp(s string, now time.Time) (time.Time, error) {
	body, seconds, _ := strings.Cut(s, ".")
	if seconds == "" {
		seconds = "00"
	}
	switch len(body) {
	case 8:
		body = now.UTC().Format("2006") + body
	case 10:
		body = map[bool]string{true: "20", false: "19"}[body[0] < '7'] + body
	}
	at, err := time.Parse("20060102150405", body+seconds)
	if err != nil {
		return at, fmt.Errorf("invalid date format '%s'", s)
	}
	return at, nil
}

// tee [-ai] [FILE...]
func runTee(p *Proc) int {
	o, ok := p.parse("aip", "append>a", "ignore-interrupts>i")
	if !ok {
		return exitUsage
	}
	return p.tee(o)
}

// mktemp [-d] [-u] [-q] [-t] [-p DIR] [--suffix=S] [TEMPLATE]
func runMktemp(p *Proc) int {
	o, ok := p.parse("dutqp:", "directory>d", "dry-run>u", "quiet>q", "tmpdir?>p", "suffix=")
	if !ok {
		return exitUsage
	}
	template := "tmp.XXXXXXXXXX"
	inTemp := len(o.rest) == 0 || o.has("t") || o.has("p")
	if len(o.rest) > 0 {
		template = o.rest[0]
	}
	if !strings.Contains(template, "XXX") {
		return p.fail(exitFailure, "too few X's in template '%s'", template)
	}
	dir := ""
	if inTemp {
		dir = p.tempDir(o) + "/"
	}
	name := dir + p.temporary(template) + o.get("suffix", "")
	for p.Files.Exists(name) {
		name = dir + p.temporary(template) + o.get("suffix", "")
	}
	if o.has("u") {
		p.print(name + "\n")
		return 0
	}
	var err error
	if o.has("d") {
		err = p.Files.Mkdir(name)
	} else {
		err = p.Files.WriteFile(name, nil)
	}
	if err != nil {
		return p.fail(exitFailure, "failed to create file via template '%s': %s", template, Reason(err))
	}
	p.print(name + "\n")
	return 0
}

func (p *Proc) tempDir(o options) string {
	for _, dir := range []string{o.get("p", ""), p.Getenv("TMPDIR")} {
		if dir != "" {
			return strings.TrimRight(dir, "/")
		}
	}
	if !p.Files.IsDir("/tmp") {
		_ = p.Files.MkdirAll("/tmp", func(string) {}) // every machine has one
	}
	return "/tmp"
}

// temporary puts a serial number for the last run of X; the same run of the shell gives the same names.
func (p *Proc) temporary(template string) string {
	end := strings.LastIndex(template, "X") + 1
	begin := end
	for begin > 0 && template[begin-1] == 'X' {
		begin--
	}
	const letters = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
	random := make([]byte, end-begin)
	n := p.System.Serial()*0x9e3779b97f4a7c15 + 0x1234567
	for i := range random {
		random[i] = letters[n%62]
		n = n/62 ^ n<<17
	}
	return template[:begin] + string(random) + template[end:]
}
